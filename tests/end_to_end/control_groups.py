"""Control groups for the programs that tests start; a test is skipped where none can be made."""

import contextlib
import os
import pathlib
import sys

import pytest

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "perf"))

import limits  # noqa: E402
from measure import Failed  # noqa: E402


@contextlib.contextmanager
def entered(group):
    """A function that puts the calling process into the group."""
    with contextlib.ExitStack() as stack:
        try:
            folder = stack.enter_context(group)
        except Failed as error:
            pytest.skip(str(error))
        yield lambda: (folder / "cgroup.procs").write_text(str(os.getpid()))


def memory_group(limit):
    return entered(limits.memory_group(limit))


def cpu_group(quota_us, period_us):
    return entered(limits.cpu_group(quota_us, period_us))
