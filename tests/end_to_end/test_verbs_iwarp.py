"""The RDMA backend on an iWARP stack: SoftiWARP, Linux' own, in the machines of tests/lab/rdma-vm."""

import contextlib
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess

import pytest

import lab
from job import Job, check_report
from test_failures import Running, check_survivors, cpu_seconds, wait_for
from test_verbs import STRATEGIES

pytestmark = pytest.mark.slow
OVER = ["--transport", "verbs", "--verbs-device", "siw0"]


@pytest.fixture(scope="module")
def graph(kronecker):
    return kronecker(10)


@pytest.fixture(scope="module")
def siw():
    """A device siw0 on the second card, whose address no other device has."""
    if reason := os.environ.get("EDGEWIRE_NO_IWARP"):
        pytest.skip(reason)
    before = resource.getrlimit(resource.RLIMIT_MEMLOCK)
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))  # it heeds it for root, too
    subprocess.run("rdma link add siw0 type siw netdev eth1".split(), check=True)
    yield
    subprocess.run("rdma link delete siw0".split(), check=True)
    resource.setrlimit(resource.RLIMIT_MEMLOCK, before)


@pytest.mark.machine
@pytest.mark.parametrize("processes, strategy", [*((2, strategy) for strategy in STRATEGIES), (3, "edge"), (3, "cover")])
def test_ranks_are_those_of_shared_memory_and_bytes_those_of_the_plan_over_iwarp(edgewire, graph, siw, tmp_path, processes, strategy):
    options = ["-p", processes, "-w", 1, "--strategy", strategy, "--iterations", 5, "--peer-timeout", 30]
    jobs = []
    for transport in (OVER, ["--transport", "shm"]):
        folder = tmp_path / transport[1]
        folder.mkdir()
        jobs.append(Job(edgewire, folder, graph, *options, *transport))
    iwarp, shm = jobs
    assert all("siw0 port 1 (iWARP" in place and "signals sent" in place for place in iwarp.report["placement"])
    assert iwarp.text == shm.text
    assert iwarp.report["bound"]["payload_bytes"] == shm.report["bound"]["payload_bytes"]


@pytest.mark.machine
def test_an_iwarp_device_is_named_and_measured(edgewire, siw):
    assert "siw0 port 1: iWARP" in edgewire.ok("transports")
    rows = json.loads(edgewire.ok("netbench", *OVER, "--sizes", "64,64k", "--count", 50, "--json", "-"))["rows"]
    assert {row["payload_bytes"] for row in rows if row["test"] == "bandwidth"} == {50 * 64, 50 << 16}


@pytest.mark.machine
def test_writes_signals_and_tokens_over_iwarp(siw):
    suite = pathlib.Path(os.environ["EDGEWIRE"]).parent / "tests/unit/transport_test"
    done = subprocess.run([suite, "-tc=*iWARP*,*signals*,*writes*", "-tce=*dpdk*,*card*"], capture_output=True, text=True, timeout=200,
                          env={**os.environ, "EDGEWIRE_TEST_BACKEND": "verbs", "EDGEWIRE_TEST_VERBS_RAILS": "siw0", "EDGEWIRE_TEST_IWARP": "siw0"})
    assert done.returncode == 0, done.stdout


@pytest.mark.machine
def test_a_killed_peer_is_named_over_iwarp(edgewire, graph, siw, tmp_path):
    job = Running(edgewire, ["pagerank", graph, "--iterations", 1000000, "-w", 1, *OVER, "--peer-timeout", 5, "-o", tmp_path / "ranks.tsv"], 2)
    try:
        wait_for(lambda: min(map(cpu_seconds, job.pids)) > 2, "iterations")
        os.kill(job.pids[1], signal.SIGKILL)
        status, lines, seconds = job.end(timeout=20)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(job.process.pid, signal.SIGKILL)
    assert status == 1 and seconds < 5
    check_survivors(lines, 1, 2)
    assert not (tmp_path / "ranks.tsv").exists()


@pytest.mark.machine
def test_iwarp_without_its_library_is_refused_with_the_remedy(edgewire, graph, siw):
    library = next(line.split()[-1] for line in subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=True).stdout.splitlines()
                   if "librdmacm.so.1 " in line)
    subprocess.run(["mount", "--bind", "/dev/null", library], check=True)
    try:
        said = edgewire.refused("pagerank", graph, "-p", 2, *OVER)
    finally:
        subprocess.run(["umount", library], check=True)
    assert "siw0: librdmacm.so.1" in said and "apt-get install librdmacm1" in said


def test_two_machines_over_iwarp(edgewire, graph, tmp_path):
    if reason := lab.missing() or lab.missing_iwarp():
        pytest.skip(reason)
    (tmp_path / "hosts").write_text("10.8.0.1\n10.8.0.2\n")
    secret = tmp_path / "secret"
    secret.write_bytes(os.urandom(32))
    secret.chmod(0o600)
    shutil.copy(graph, tmp_path / "g.ew")
    lab.run(f"""
        cd {tmp_path}
        set -e
        ulimit -l unlimited
        rdma link delete rxe0
        rdma link add siw0 type siw netdev eth0
        for strategy in slots cover; do
          {edgewire.program} pagerank g.ew --hosts hosts --rank $MACHINE --secret-file secret -w 2 --strategy $strategy \
            --peer-timeout 30 --iterations 5 --verify --json $strategy.$MACHINE
        done
        """, "-w", "-c", "2", machines=2, share=tmp_path)
    for strategy in ("slots", "cover"):
        report = json.loads((tmp_path / f"{strategy}.0").read_text())
        check_report(report)
        assert (report["transport"], report["transport_reason"]) == ("verbs", "all hosts are on iWARP:10.8.0.0/24")
        assert all("siw0 port 1 (iWARP" in place for place in report["placement"])
