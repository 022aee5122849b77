"""Control groups, of version 1 or 2, with limits for the programs that tests start."""

import contextlib
import os
import pathlib
import tempfile

import pytest

from processes import wait_for


def folders_of(controller):
    """The folders of the control groups above this process, the nearest first."""
    groups = [line.split(":", 2) for line in pathlib.Path("/proc/self/cgroup").read_text().splitlines()]
    folders = []
    for _, controllers, path in groups:
        if not controllers or controller in controllers.split(","):
            mount = pathlib.Path("/sys/fs/cgroup", controller if controllers else "")
            place = mount / path.lstrip("/")
            folders += [folder for folder in (place, *place.parents) if folder.is_relative_to(mount) and folder.is_dir()]
    return folders


@contextlib.contextmanager
def group(controller, *versions):
    """A function that puts the calling process into a control group with the limits {file: value} of the first of
    `versions` that can be set. The group goes at the end."""
    for folder in folders_of(controller):  # not every group may have others below it
        try:
            made = pathlib.Path(tempfile.mkdtemp(prefix="edgewire-test-", dir=folder))  # process numbers are not one machine's
        except OSError:
            continue
        for limits in versions:
            with contextlib.suppress(OSError):
                for name, value in limits.items():
                    with (made / name).open("r+") as file:
                        file.write(str(value))
                break
        else:
            made.rmdir()
            continue
        try:
            yield lambda: (made / "cgroup.procs").write_text(str(os.getpid()))
        finally:
            wait_for(lambda: not (made / "cgroup.procs").read_text(), "an empty control group")
            made.rmdir()
        return
    pytest.skip(f"no control group with a limit of {controller} can be made here")


def memory_group(limit):
    return group("memory", {"memory.limit_in_bytes": limit}, {"memory.max": limit})


def cpu_group(quota_us, period_us):
    """The time that a group may run in each period, of all CPUs."""
    return group("cpu", {"cpu.cfs_period_us": period_us, "cpu.cfs_quota_us": quota_us}, {"cpu.max": f"{quota_us} {period_us}"})
