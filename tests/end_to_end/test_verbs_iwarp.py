"""The RDMA backend on an iWARP stack: SoftiWARP, Linux' own, in the machines of tests/lab/rdma-vm."""

import json
import os
import resource
import signal
import subprocess

import pytest

import lab
from job import check_report
from test_failures import check_survivors
from test_verbs import STRATEGIES, iterating, run_suite, same_as_over_shm

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
    report = same_as_over_shm(edgewire, tmp_path, graph, options, OVER)
    assert all("siw0 port 1 (iWARP" in place and "signals sent" in place for place in report["placement"])


@pytest.mark.machine
def test_an_iwarp_device_is_named_and_measured(edgewire, siw):
    assert "siw0 port 1: iWARP" in edgewire.ok("transports")
    rows = json.loads(edgewire.ok("netbench", *OVER, "--sizes", "64,64k", "--count", 50, "--json", "-"))["rows"]
    assert {row["payload_bytes"] for row in rows if row["test"] == "bandwidth"} == {50 * 64, 50 << 16}


@pytest.mark.machine
def test_writes_signals_and_tokens_over_iwarp(siw):
    run_suite("-tc=*iWARP*,*signals*,*writes*", "-tce=*dpdk*,*card*", EDGEWIRE_TEST_VERBS_RAILS="siw0", EDGEWIRE_TEST_IWARP="siw0")


@pytest.mark.machine
def test_a_killed_peer_is_named_over_iwarp(edgewire, graph, siw, tmp_path):
    with iterating(edgewire, graph, tmp_path, *OVER) as job:
        os.kill(job.pids[1], signal.SIGKILL)
        status, lines, seconds = job.end(timeout=20)
        assert status == 1 and seconds < 5
        check_survivors(lines, 1, 2)


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
    lab.write_job(tmp_path, ("g.ew", graph))
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
