"""Control groups, of version 1 or 2, with limits for the programs that a script starts."""

import contextlib
import pathlib
import tempfile
import time

from measure import Failed

PATIENCE_S = 30


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


def remove(group):
    """The control group, when the last process has left it."""
    end = time.monotonic() + PATIENCE_S
    while (group / "cgroup.procs").read_text():
        if time.monotonic() > end:
            raise Failed(f"{group}: processes are still in this control group")
        time.sleep(0.01)
    group.rmdir()


@contextlib.contextmanager
def control_group(controllers, *versions):
    """The folder of a control group with the limits [(file, value)] of the first of `versions` that can be set. `controllers`: the names
    that one controller has, of version 1 and 2. The group goes at the end. Raises Failed where none can be made."""
    for folder in (folder for controller in controllers for folder in folders_of(controller)):  # not every group may have others below it
        try:
            made = pathlib.Path(tempfile.mkdtemp(prefix="edgewire-", dir=folder))  # process numbers are not one machine's
        except OSError:
            continue
        for limits in versions:
            with contextlib.suppress(OSError):
                for name, value in limits:
                    with (made / name).open("r+") as file:
                        file.write(str(value))
                break
        else:
            made.rmdir()
            continue
        try:
            yield made
        finally:
            remove(made)
        return
    raise Failed(f"no control group with a limit of {controllers[0]} can be made here (this needs root)")


def memory_group(bytes_):
    """Of what its processes have, and of the page cache that they fill."""
    return control_group(["memory"], [("memory.limit_in_bytes", bytes_)], [("memory.max", bytes_)])


def cpu_group(quota_us, period_us):
    """The time that a group may run in each period, of all CPUs."""
    return control_group(["cpu"], [("cpu.cfs_period_us", period_us), ("cpu.cfs_quota_us", quota_us)],
                         [("cpu.max", f"{quota_us} {period_us}")])


def read_group(devices, bytes_per_second):
    """What may be read in a second from each of these block devices, given as `major:minor`."""
    return control_group(["blkio", "io"],
                         [("blkio.throttle.read_bps_device", f"{device} {bytes_per_second}") for device in devices],
                         [("io.max", f"{device} rbps={bytes_per_second}") for device in devices])


def within(group, command):
    """The command that runs a command in a control group."""
    return ["sh", "-c", 'echo $$ > "$0" && exec "$@"', group / "cgroup.procs", *command]
