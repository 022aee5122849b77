"""Nothing is left of calls, be it memory, files or processes; and the check (leaks.py) finds what is left."""

import subprocess
import sys

import leaks
import pytest

SANITIZED = hasattr(leaks.PROCESS, "__lsan_do_recoverable_leak_check")


def run(*arguments):
    """Bad inputs also make warnings of columns that are taken by their places."""
    return subprocess.run([sys.executable, "-W", "ignore::UserWarning", leaks.__file__, *arguments], capture_output=True, text=True, timeout=1200)


def test_nothing_is_left():
    """Nor does nanobind tell at the end of instances, types and functions that are left."""
    done = run()
    assert (done.returncode, done.stdout, done.stderr) == (0, "nothing is left\n", "")


@pytest.mark.parametrize("plant", [plant for plant in leaks.PLANTS if SANITIZED or plant not in ("memory", "bytes")])
def test_what_is_left_is_found(plant):
    done = run(plant)
    kind = "memory" if plant == "bytes" else plant
    assert done.returncode == 1 and f"left: {kind}" in done.stdout, done
