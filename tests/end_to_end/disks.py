"""Disks that are soon full."""

import contextlib
import subprocess

import pytest


@contextlib.contextmanager
def small_disk(folder, size):
    """A file system of `size`, as mount takes it, in the folder as long as the context lasts. Skips the test where none can be mounted."""
    folder.mkdir(exist_ok=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", folder], capture_output=True).returncode != 0:
        pytest.skip("a small file system cannot be mounted here: this needs root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)
