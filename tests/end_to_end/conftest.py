"""What all end-to-end tests share: the program, a way to run it, and the real graphs."""

import os
import pathlib
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
EDGEWIRE = pathlib.Path(os.environ.get("EDGEWIRE", ROOT / "build" / "edgewire")).resolve()
GRAPHS = pathlib.Path(os.environ.get("EDGEWIRE_GRAPHS", ROOT.parent / "shared" / "graphs"))


@pytest.fixture
def edgewire(tmp_path):
    """Runs the program in tmp_path: edgewire("info", "g.ew") -> CompletedProcess with text output."""

    def run(*arguments, timeout=60, **options):
        command = [str(EDGEWIRE), *map(str, arguments)]
        options = {"cwd": tmp_path, "capture_output": True, "text": True, **options}
        return subprocess.run(command, timeout=timeout, check=False, **options)

    return run


@pytest.fixture
def refused(edgewire):
    """As edgewire, for a run that must fail with one line on stderr and nothing on stdout; returns the line."""

    def run(*arguments, status=1, **options):
        result = edgewire(*arguments, **options)
        assert result.returncode == status, result
        assert result.stdout == ""
        assert result.stderr.startswith("edgewire: ") and result.stderr.count("\n") == 1, result.stderr
        return result.stderr[len("edgewire: "):-1]

    return run


@pytest.fixture
def real_graph():
    """The path of a file of the real graphs; skips the test where they are not there."""

    def path(name):
        file = GRAPHS / name
        if not file.exists():
            pytest.skip(f"{file} is not there")
        return file

    return path
