"""One script in all processes that mpirun or Slurm's srun starts. Slurm has hosts that are network namespaces of this machine, as in
tests/end_to_end/test_slurm.py: tests/lab/slurm starts it."""

import os
import pathlib
import shutil
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import edgewire as ew

LAB = pathlib.Path(__file__).resolve().parents[2] / "tests/lab"
LIMIT_S = 240
ENVIRONMENT = {**os.environ, "EDGEWIRE_LAB": f"ew{os.getpid()}p", "EDGEWIRE_LAB_NET": str(os.getpid() % 200),
               "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}
EDGES = "np.random.default_rng(1).integers(0, 1000, (2, 20000))"
RANKS = f"""
    import os, pathlib, sys
    import numpy as np
    import edgewire as ew
    g = ew.Graph.from_numpy(*{EDGES})
    for _ in range(3):
        ranks = ew.pagerank(g, workers=1)
    np.save(os.environ["PMIX_RANK"], ranks)
    assert ranks.report["processes"] == int(sys.argv[1])
    levels = ew.bfs(g, 0, workers=1)
    assert levels[0] == 0 and len(levels) == 1000
    try:
        ew.pagerank(g, workers=1, damping=3)
    except ew.Error as error:  # a UsageError where it was found; others may hear of it first
        pathlib.Path(os.environ["PMIX_RANK"] + ".error").write_text(str(error))
    assert ew.wcc(g, workers=1).max() == 0  # an error ends the call only
"""


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=LIMIT_S, stdin=subprocess.DEVNULL,
                          env=ENVIRONMENT, **options)


def need(*programs):
    for program in programs:
        if shutil.which(program, path=ENVIRONMENT["PATH"]) is None:
            pytest.skip(f"{program} is not installed (tools/install-packages --all)")


def script(folder, text):
    path = folder / "script.py"
    path.write_text(textwrap.dedent(text))
    return sys.executable, path


def check(done, folder, processes):
    """All have the same values, which are those of one process, and the same line of the error."""
    assert done.returncode == 0, done
    values = [np.load(folder / f"{rank}.npy") for rank in range(processes)]
    assert all(np.array_equal(value, values[0]) for value in values)
    assert np.allclose(values[0], ew.pagerank(ew.Graph.from_numpy(*eval(EDGES))), rtol=1e-5)
    for rank in range(processes):
        line = (folder / f"{rank}.error").read_text()
        assert "damping=3 is outside the range 0 to 1" in line and "\n" not in line


def test_mpirun(tmp_path):
    need("mpirun")
    options = ["--oversubscribe", *(["--allow-run-as-root"] if os.geteuid() == 0 else [])]
    check(run("mpirun", *options, "-np", 3, *script(tmp_path, RANKS), 3, cwd=tmp_path), tmp_path, 3)


@pytest.fixture(scope="module")
def slurm(tmp_path_factory):
    """srun(arguments...)"""
    need("slurmctld", "slurmd", "srun", "munged", "ip", "nsenter")
    if os.geteuid() != 0 or run("unshare", "--net", "true").returncode != 0:
        pytest.skip("hosts for Slurm are network namespaces, which need root")
    folder = tmp_path_factory.mktemp("slurm")
    try:
        up = run(LAB / "slurm", "up", folder)
        assert up.returncode == 0, up
        yield lambda *arguments, **options: run(LAB / "slurm", "run", folder, "srun", "--kill-on-bad-exit=1", *arguments, **options)
    finally:
        run(LAB / "slurm", "down", folder)


@pytest.mark.parametrize("nodes, processes", [(1, 2), (2, 2), (2, 4)])
def test_srun(slurm, tmp_path, nodes, processes):
    check(slurm("--mpi=pmix", "-N", nodes, "-n", processes, *script(tmp_path, RANKS), processes, cwd=tmp_path), tmp_path, processes)


def test_srun_ends_with_the_error_of_every_rank(slurm, tmp_path):
    done = slurm("--mpi=pmix", "-N2", "-n2", *script(tmp_path, """
        import sys, time
        import edgewire as ew
        g = ew.Graph.from_numpy([0], [1])
        try:
            ew.pagerank(g, workers=1, damping=3)
        except ew.Error as error:
            sys.exit(str(error))
    """), cwd=tmp_path)
    assert done.returncode != 0
    assert len([line for line in done.stderr.splitlines() if line.endswith("damping=3 is outside the range 0 to 1")]) == 2, done


def test_srun_without_pmix(slurm, tmp_path):
    done = slurm("--mpi=none", "--kill-on-bad-exit=0", "-N2", "-n2", *script(tmp_path, """
        import sys
        import edgewire as ew
        g = ew.Graph.from_numpy([0], [1])
        try:
            ew.pagerank(g, workers=1)
        except ew.Error as error:
            sys.exit(str(error))
    """), cwd=tmp_path)
    assert done.returncode != 0
    lines = [line for line in done.stderr.splitlines() if line.startswith("srun started 2 processes, but they cannot find each other")]
    assert len(lines) == 2 and all("srun --mpi=pmix" in line for line in lines), done
