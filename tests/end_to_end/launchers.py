"""Jobs that a launcher starts on hosts which are network namespaces of this machine (tests/lab/hosts): what the tests of Open
MPI's mpirun and of Slurm share."""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import tempfile

import numpy as np
import pytest

import graphs
import job as jobs
import reference
import rights
from conftest import MARK, heed_signals, started_processes
from processes import PATIENCE_S, is_gone, status_fields, wait_for

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LAB = ROOT / "tests/lab"
GRAPH = "self loops"
TIMEOUT_S = 8  # of jobs that have to notice silence; nobody else may be silent for so long, however busy the machine is
STATE = "a folder of the job's own"
ENDLESS = ["--iterations", 1000000, "--checkpoint", STATE, "--every", 50]
PATIENT = ["--peer-timeout", PATIENCE_S, "--start-timeout", PATIENCE_S]


@pytest.fixture
def path(tmp_path):
    return reference.write_graph(tmp_path / "g.ew", graphs.make(GRAPH))


def need(*programs):
    rights.need_hosts()
    for program in programs:
        if shutil.which(program, path=os.environ["PATH"] + ":/usr/sbin:/sbin") is None:
            pytest.skip(f"{program} is not installed (tools/install-packages)")


@pytest.fixture(scope="module")
def lab_environment():
    """Names of their own for the hosts of this test run."""
    number = os.getpid()
    return {**os.environ, "EDGEWIRE_LAB": f"ew{number}n", "EDGEWIRE_LAB_NET": str(number % 200),
            "PATH": os.environ["PATH"] + ":/usr/sbin:/sbin"}


def lab(environment, script, *arguments):
    """Their own waits end within a minute each."""
    done = subprocess.run([LAB / script, *map(str, arguments)], env=environment, capture_output=True, text=True,
                          timeout=4 * PATIENCE_S, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def large(edgewire, tmp_path_factory):
    path = tmp_path_factory.mktemp("large") / "g.ew"
    edgewire.ok("generate", "kronecker", "--scale", 10, "-o", path)
    return path


class Ranks:
    """A job under a launcher. Each process leaves its number and its stderr in a file of `folder`."""

    def __init__(self, edgewire, environment, launch, folder, arguments, first=""):
        self.folder = folder
        self.state = tempfile.TemporaryDirectory()
        each = folder / "each"
        each.write_text(f'#!/bin/sh\necho $$ >{folder}/pid.$PMIX_RANK\n{first}\nexec {edgewire.program} "$@" 2>{folder}/stderr.$PMIX_RANK\n')
        each.chmod(0o755)
        self.process = subprocess.Popen([*map(str, launch), str(each),
                                         *(self.state.name if word == STATE else str(word) for word in arguments)], stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                                        start_new_session=True, cwd=folder, preexec_fn=heed_signals,
                                        env={**environment, "TMPDIR": str(folder), **dict([MARK.split("=")])})

    def end(self, timeout=2 * PATIENCE_S):
        output, _ = self.process.communicate(timeout=timeout)
        return self.process.returncode, output

    def pids(self, count):
        files = [self.folder / f"pid.{rank}" for rank in range(count)]
        return [int(wait_for(lambda: file.exists() and file.read_text(), file)) for file in files]

    def iterate(self, count):
        """The processes of an ENDLESS job once it has iterated: it has written a checkpoint."""
        manifest = pathlib.Path(self.state.name, "manifest")
        wait_for(lambda: manifest.exists() or self.process.poll() is not None, "iterations")
        return self.pids(count)

    def stderr(self, rank):
        return (self.folder / f"stderr.{rank}").read_text().splitlines()


@pytest.fixture
def clean_up():
    """Launchers have to end by themselves, with all that they have started."""
    started = []
    yield started.append
    try:
        for ranks in started:
            ranks.process.communicate(timeout=2 * PATIENCE_S)
        wait_for(lambda: not started_processes(), "the end of all that was started")
    finally:
        for ranks in started:
            if ranks.process.poll() is None:
                os.killpg(ranks.process.pid, signal.SIGKILL)
                ranks.process.communicate()
            ranks.state.cleanup()


def check_result(folder, processes, transport):
    report = json.loads((folder / "report.json").read_text())
    jobs.check_schema(report)
    assert report["processes"] == processes and report["transport"] == transport
    ids, ranks = jobs.read_ranks((folder / "ranks.tsv").read_text())
    expected, _ = reference.pagerank(graphs.make(GRAPH))
    assert ids.tolist() == graphs.make(GRAPH).ids().tolist()
    np.testing.assert_allclose(ranks, expected, rtol=1e-6)


def ancestor(pid, name):
    """The process of this name above `pid`."""
    while pid > 1:
        pid = int(status_fields(pid)[1])
        if pathlib.Path(f"/proc/{pid}/comm").read_text().strip() == name:
            return pid
    raise AssertionError(f"no {name} above")


def check_survivors(ranks, pids, victims, names, cause=""):
    """Every other process ends, with one line that names one of the victims and what has become of it: one that was lost is
    noticed at once, one that has been silent at the peer timeout."""
    others = [rank for rank in range(len(pids)) if rank not in victims]
    wait_for(lambda: all(is_gone(pids[rank]) for rank in others), "the end of the others")
    for rank in others:
        lines = [line for line in ranks.stderr(rank) if "warning" not in line]
        assert len(lines) == 1 and re.match(rf"edgewire: rank {rank}: rank ({names})\b.*{cause}", lines[0]), (rank, lines)
    assert not (ranks.folder / "ranks.tsv").exists()


@contextlib.contextmanager
def lost_host(environment, how, *back):
    """Host 1 is not there: `hosts cut` or `hosts vanish`, and what brings it back."""
    lab(environment, "hosts", how, 1)
    try:
        yield
    finally:
        lab(environment, *(back or ("hosts", "mend", 1)))
