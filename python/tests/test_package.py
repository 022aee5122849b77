"""What is installed: the module, the command, and what a process leaves behind."""

import os
import re
import subprocess
import sys
import sysconfig
import textwrap

import pytest

import edgewire as ew

COMMAND = os.path.join(sysconfig.get_path("scripts"), "edgewire")


def run(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, timeout=120, **options)


def run_script(text, **options):
    return run(sys.executable, "-c", textwrap.dedent(text), **options)


@pytest.mark.parametrize("command", [[COMMAND], [sys.executable, "-m", "edgewire"]])
def test_the_command_is_the_program_of_this_version(command):
    ended = run(*command, "--version")
    assert (ended.returncode, ended.stderr) == (0, "")
    assert re.match(rf"edgewire {re.escape(ew.__version__)}\b", ended.stdout)


@pytest.mark.parametrize("command", [[COMMAND], [sys.executable, "-m", "edgewire"]])
def test_the_command_ranks_a_saved_graph_in_two_processes(command, tmp_path):
    path = str(tmp_path / "small.ew")
    ew.Graph.from_numpy([0, 1, 2, 3], [1, 2, 0, 0]).save(path)
    ended = run(*command, "pagerank", path, "--processes", "2", "--workers", "1")
    assert ended.returncode == 0, ended.stderr


def test_the_command_passes_the_exit_status_on(tmp_path):
    ended = run(COMMAND, "pagerank", str(tmp_path / "none.ew"))
    assert ended.returncode == 1 and "none.ew" in ended.stderr
    assert run(COMMAND, "pagerank", "--no-such-option").returncode == 2


def test_the_version_is_that_of_the_distribution():
    from importlib.metadata import version

    assert version("edgewire") == ew.__version__


def test_errors_are_of_the_package(tmp_path):
    with pytest.raises(ew.Error, match="none.ew"):
        ew.read(str(tmp_path / "none.ew"))
    assert issubclass(ew.UsageError, ew.Error) and issubclass(ew.Error, Exception)
    assert ew.Error.__name__ == "Error"


def test_import_loads_nothing_but_numpy_and_the_standard_library():
    ended = run_script("""
        import sys
        import numpy
        before = set(sys.modules)
        import edgewire
        print(*sorted({name.partition(".")[0] for name in set(sys.modules) - before}))
        print(len(set(sys.modules) - before))
    """)
    names, count = ended.stdout.splitlines()
    assert not {"pandas", "pyarrow", "scipy", "networkx", "tqdm", "matplotlib", "asyncio"} & set(names.split()), names
    assert int(count) < 60


def test_nothing_is_left_after_an_interrupt(tmp_path):
    """The signal arrives while edges are ordered: the function that is told of progress sends it."""
    ended = run_script("""
        import os, signal
        import numpy as np
        import edgewire as ew
        def interrupt(*step):
            os.kill(os.getpid(), signal.SIGINT)
        edges = np.random.default_rng(1).integers(0, 1 << 20, (2, 1 << 23))
        try:
            ew.Graph.from_numpy(*edges, workers=1, progress=interrupt)
        except KeyboardInterrupt:
            print("interrupted")
    """, env={**os.environ, "TMPDIR": str(tmp_path)})
    assert (ended.stdout, ended.stderr) == ("interrupted\n", "")
    assert os.listdir(tmp_path) == []
