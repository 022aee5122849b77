"""Jobs that Slurm starts on several hosts."""

import os
import signal
import subprocess

import pytest

from conftest import started_processes
from launchers import (ENDLESS, LAB, PATIENT, ROOT, TIMEOUT_S, Ranks, ancestor, check_result, check_survivors, clean_up, lab,  # noqa: F401
                       lab_environment, large, lost_host, need, path)
from processes import PATIENCE_S, is_gone, wait_for

pytestmark = [pytest.mark.slow, pytest.mark.launcher]


@pytest.fixture(scope="module")
def slurm(lab_environment, tmp_path_factory):
    need("slurmctld", "slurmd", "srun", "munged", "ip", "nsenter")
    environment = {**lab_environment, "EDGEWIRE_LAB": lab_environment["EDGEWIRE_LAB"][:-1] + "s"}
    folder = tmp_path_factory.mktemp("slurm")
    try:
        lab(environment, "slurm", "up", folder)
        yield environment, folder
    finally:
        lab(environment, "slurm", "down", folder)


@pytest.fixture
def srun(edgewire, slurm, tmp_path, clean_up):
    """srun(options, arguments...)"""
    environment, folder = slurm

    def start(options, *arguments):
        launch = [LAB / "slurm", "run", folder, "srun", "--kill-on-bad-exit=1", *options]
        ranks = Ranks(edgewire, environment, launch, tmp_path, ["pagerank", *arguments])
        clean_up(ranks)
        return ranks

    yield start
    lab(environment, "slurm", "run", folder, "scancel", "--user", "root")


@pytest.mark.parametrize("nodes, tasks, transport", [(3, 3, "tcp"), (3, 6, "shm+tcp"), (1, 2, "shm")])
def test_srun(srun, path, tmp_path, nodes, tasks, transport):
    ranks = srun(["--mpi=pmix", "-N", nodes, "-n", tasks], path, *PATIENT, "-o", tmp_path / "ranks.tsv", "--json",
                 tmp_path / "report.json")
    status, output = ranks.end()
    assert status == 0, output
    check_result(tmp_path, tasks, transport)


def test_srun_without_pmix(edgewire, slurm, path):
    environment, folder = slurm
    done = subprocess.run([LAB / "slurm", "run", folder, "srun", "-N2", "-n2", edgewire.program, "pagerank", path],
                          env=environment, capture_output=True, text=True, timeout=PATIENCE_S)
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.count("edgewire: srun started 2 processes, but they cannot find each other") == 2, done.stderr
    assert "srun --mpi=pmix" in done.stderr


def test_a_batch_script(edgewire, slurm, path, tmp_path):
    environment, folder = slurm
    lab({**environment, "EDGEWIRE": edgewire.program}, "slurm", "run", folder, "sbatch", "--wait", "--output",
        tmp_path / "log", "--nodes", 3, "--ntasks-per-node", 1, ROOT / "examples/pagerank.sbatch", path,
        tmp_path / "ranks.tsv")
    (tmp_path / "ranks.json").rename(tmp_path / "report.json")
    check_result(tmp_path, 3, "tcp")
    # The script's own process is alone, whatever the allocation holds.
    script = tmp_path / "alone"
    script.write_text(f"#!/bin/sh\n{edgewire.program} pagerank {path} -o {tmp_path}/alone.tsv\n")
    lab(environment, "slurm", "run", folder, "sbatch", "--wait", "--output", tmp_path / "log", "-N2", "-n4", script)
    assert (tmp_path / "alone.tsv").exists()


@pytest.mark.parametrize("victim, how, timeout_s, cause", [
    (0, signal.SIGKILL, PATIENCE_S, "was lost"), (3, signal.SIGKILL, PATIENCE_S, "was lost"), (2, signal.SIGSTOP, TIMEOUT_S, "(silent|stopped)")])
def test_srun_loses_a_rank(srun, large, tmp_path, victim, how, timeout_s, cause):
    ranks = srun(["--mpi=pmix", "-N2", "-n4"], large, *ENDLESS, "--peer-timeout", timeout_s, "-o", tmp_path / "ranks.tsv")
    pids = ranks.iterate(4)
    os.kill(pids[victim], how)
    check_survivors(ranks, pids, {victim}, str(victim), cause)
    status, output = ranks.end()
    assert status not in (0, None), output


@pytest.mark.parametrize("how", ["scancel", "SIGKILL"])
def test_srun_is_ended(srun, slurm, large, tmp_path, how):
    ranks = srun(["--mpi=pmix", "-N2", "-n4"], large, *ENDLESS, *PATIENT, "-o", tmp_path / "ranks.tsv")
    pids = ranks.iterate(4)
    if how == "scancel":
        lab(slurm[0], "slurm", "run", slurm[1], "scancel", "--user", "root")
    else:
        os.kill(ranks.process.pid, signal.SIGKILL)
    wait_for(lambda: all(map(is_gone, pids)), "the end of all")
    assert ranks.end()[0] not in (0, None) and not (tmp_path / "ranks.tsv").exists()


@pytest.mark.parametrize("wrapper", [(), ("sh", "-c", '"$@"; exit $?', "sh")], ids=["parent", "behind a shell"])
def test_a_step_daemon_is_killed(srun, large, tmp_path, wrapper):
    """slurmstepd is the parent of a step's processes on a host."""
    ranks = srun(["--mpi=pmix", "-N2", "-n4", *wrapper], large, *ENDLESS, *PATIENT, "-o", tmp_path / "ranks.tsv")
    pids = ranks.iterate(4)
    os.kill(ancestor(pids[3], "slurmstepd"), signal.SIGKILL)
    wait_for(lambda: all(map(is_gone, pids)), "the end of all")
    assert not (tmp_path / "ranks.tsv").exists()


def test_srun_loses_a_host(srun, slurm, large, tmp_path):
    """All of it at once, with Slurm's own daemon."""
    ranks = srun(["--mpi=pmix", "-N2", "-n4"], large, *ENDLESS, "--peer-timeout", TIMEOUT_S, "-o", tmp_path / "ranks.tsv")
    pids = ranks.iterate(4)
    environment, folder = slurm
    with lost_host(environment, "vanish", "slurm", "back", folder, 1):
        check_survivors(ranks, pids, {2, 3}, "[23]")
        assert ranks.end()[0] not in (0, None)
        wait_for(lambda: not started_processes(), "the end of all that was started")
