"""Disks that are soon full, or that break, and jobs that use files on them."""

import contextlib
import os
import pathlib
import signal
import subprocess

import pytest

import rights
from processes import children, wait_for


def mounted(command, folder, why):
    """Skips the test where the command, which mounts a file system in the folder, cannot do so."""
    folder.mkdir(exist_ok=True)
    if subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip(f"{why} cannot be mounted here: this needs root who may mount")


@contextlib.contextmanager
def small_disk(folder, size):
    """A file system of `size`, as mount takes it, in the folder as long as the context lasts. Skips the test where none can be mounted."""
    mounted(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder], folder, "a small file system")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


@contextlib.contextmanager
def bind_mount(folder, name):
    """Another name of the folder, a bind mount, as long as the context lasts. Skips the test where none can be made."""
    mounted(["mount", "--bind", folder, name], name, "a second name of a folder")
    try:
        yield name
    finally:
        subprocess.run(["umount", name], check=True)


class BreakableDisk:
    """A file system on a block device, which can break: it is a file, and what is read behind its end is an error of the device."""

    def __init__(self, folder, image):
        self.folder, self.image = folder, image

    def break_down(self):
        """From now on every read from the device fails with EIO."""
        subprocess.run(["sync", "-f", self.folder], check=True)
        os.truncate(self.image, 0)


@contextlib.contextmanager
def breakable_disk(folder):
    """A BreakableDisk in the folder as long as the context lasts. Skips the test where none can be mounted."""
    image = folder.with_name(f"{folder.name}.image")
    with image.open("wb") as file:
        file.truncate(64 << 20)
    if rights.refusal("mkfs.ext4", "-q", "-O", "^has_journal", image):
        pytest.skip("a file system on a block device cannot be made here")
    mounted(["mount", "-o", "loop", image, folder], folder, "a file system on a block device")
    try:
        yield BreakableDisk(folder, image)
    finally:  # the system gives files of a killed process's io_uring back some time after the process has ended
        wait_for(lambda: subprocess.run(["umount", folder], capture_output=True).returncode == 0, "a file system without open files")


def processes_of(job):
    return [job.pid, *children(job.pid)]


def open_files(job):
    """The names of the files that any process of the job has open."""
    names = set()
    for pid in processes_of(job):
        for file in pathlib.Path(f"/proc/{pid}/fd").glob("*"):
            with contextlib.suppress(OSError):
                names.add(os.readlink(file))
    return names


def tell(pid, number):
    with contextlib.suppress(ProcessLookupError):  # it has ended by itself
        os.kill(pid, number)


@contextlib.contextmanager
def held(edgewire, files, *arguments, **options):
    """A job once it has all of these files open; it stands still as long as the context lasts. None when the job has ended before."""
    job = edgewire.start(*arguments, **options)
    try:
        wait_for(lambda: set(map(str, files)) <= open_files(job) or job.poll() is not None, "a job that uses its files")
        stopped = [] if job.poll() is not None else processes_of(job)
        for pid in stopped:
            tell(pid, signal.SIGSTOP)
        yield job if stopped else None
        for pid in stopped:
            tell(pid, signal.SIGCONT)
    except BaseException:
        os.killpg(job.pid, signal.SIGKILL)
        job.communicate()
        raise
