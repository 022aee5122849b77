"""tests/lab/kills.py, of which `make test-all` runs hundreds: some of its runs, and that it finds what is wrong."""

import os
import pathlib
import subprocess

import pytest

from processes import LIMIT_S

KILLS = pathlib.Path(__file__).resolve().parent.parent / "lab/kills.py"


def kills(*options, program=os.environ["EDGEWIRE"]):
    seed = os.environ.get("EDGEWIRE_TEST_SEED") or "1"
    return subprocess.run([KILLS, seed, "--program", program, *options], capture_output=True, text=True, timeout=LIMIT_S)


@pytest.mark.slow
def test_some_runs():
    done = kills("--runs", "6", "--ways", "shm,tcp,hosts")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "6 passed, 0 failed, 0 skipped" and "ways: shm 2; tcp 2; hosts 2\n" in done.stdout


def test_what_is_left_is_found(tmp_path):
    """A program that leaves a file beside its result."""
    careless = tmp_path / "careless"
    careless.write_text(f'#!/bin/sh\n[ ! -d out ] || touch out/left\nexec {os.path.abspath(os.environ["EDGEWIRE"])} "$@"\n')
    careless.chmod(0o755)
    done = kills("--runs", "1", "--ways", "shm", "--commands", "generate records", program=careless)
    assert done.returncode == 1 and "files are left: " in done.stdout and "1 runs, 1 violations" in done.stdout, done.stdout + done.stderr


def test_a_way_that_is_not_there_is_refused():
    done = kills("--ways", "shm,pigeons")
    assert done.returncode == 2 and "unknown: pigeons" in done.stderr
