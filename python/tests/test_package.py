"""What is installed: the module, the command, and what a process leaves behind."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import textwrap
from pathlib import Path

import pytest

import edgewire as ew

ROOT = Path(__file__).parents[2]
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


def test_pages_of_the_manual_and_completions_are_installed():
    share = Path(sysconfig.get_path("data")) / "share"
    for page in ("man1/edgewire.1", "man1/edgewire-pagerank.1", "man7/edgewire-options.7"):
        assert (share / "man" / page).read_text().startswith(".TH ")
    for completion in ("bash-completion/completions/edgewire.bash", "zsh/site-functions/_edgewire",
                       "fish/vendor_completions.d/edgewire.fish"):
        assert "pagerank" in (share / completion).read_text()


def test_a_source_distribution_knows_its_commit(tmp_path):
    """It is unpacked in the repository of another project, whose commit is not its own."""
    pytest.importorskip("mesonpy")
    head = run("git", "rev-parse", "HEAD", cwd=ROOT)
    if head.returncode != 0:
        pytest.skip("the tests do not lie in a repository")
    ended = run_script(f"""
        import mesonpy
        mesonpy.build_sdist({str(tmp_path)!r}, {{"build-dir": {str(tmp_path / "build-sdist")!r}}})
    """, cwd=ROOT)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    name = f"edgewire-{ew.__version__}"
    for command in (["tar", "-xf", name + ".tar.gz"], ["git", "init", "--quiet"],
                    ["git", "-c", "user.name=A", "-c", "user.email=a@b", "commit", "--quiet", "--allow-empty", "--message=other"],
                    ["meson", "setup", "build", name, "-Dtests=false"]):
        ended = run(*command, cwd=tmp_path)
        assert ended.returncode == 0, ended.stdout + ended.stderr
    assert f'"{head.stdout[:10]}"' in (tmp_path / "build/src/base/version.cpp").read_text()


@pytest.mark.parametrize("tool", ["python-test", "wheel"])
@pytest.mark.parametrize("environment, module, message", [
    ({"PYTHON": "no-python"}, "", "there is no interpreter 'no-python'; PYTHON names one"),
    ({}, "sitecustomize: import sys; sys.version_info = (3, 8, 1)", "is version 3.8; the package needs 3.9 or later"),
    ({}, "venv: raise ImportError", "makes no virtual environments; install its module venv"),
    ({"CXX": "no-compiler -O2"}, "", "there is no compiler 'no-compiler -O2'; install one"),
])
def test_tools_say_what_is_missing(tool, environment, module, message, tmp_path):
    """A module of this name stands before that of the standard library."""
    shutil.copytree(ROOT / "tools", tmp_path / "tools")
    if module:
        name, text = module.split(": ", 1)
        (tmp_path / f"{name}.py").write_text(text)
    ended = run(tmp_path / "tools" / tool, env={**os.environ, "PYTHON": sys.executable, "PYTHONPATH": str(tmp_path), **environment})
    assert (ended.returncode, ended.stdout) == (2, "")
    assert re.fullmatch(rf"{tool}: .*{re.escape(message)}.*\n", ended.stderr)


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
