"""The RDMA backend on an iWARP stack: SoftiWARP, Linux' own, in the machines of tests/lab/rdma-vm."""

import json
import os
import re
import resource
import signal
import subprocess

import pytest

import lab
from job import check_report
from processes import PATIENCE_S, causes
from test_failures import check_survivors
from test_verbs import INFINIBAND, STRATEGIES, TIMEOUT_S, device_deleted, endless, link_down, run_suite, same_as_over_shm

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
    try:
        subprocess.run("rdma link add siw0 type siw netdev eth1".split(), check=True)
        yield
    finally:
        if (INFINIBAND / "siw0").exists():
            subprocess.run("rdma link delete siw0".split(), check=True)
        resource.setrlimit(resource.RLIMIT_MEMLOCK, before)


@pytest.mark.machine
@pytest.mark.parametrize("processes, strategy", [*((2, strategy) for strategy in STRATEGIES), (3, "edge"), (3, "cover")])
def test_ranks_are_those_of_shared_memory_and_bytes_those_of_the_plan_over_iwarp(edgewire, graph, siw, tmp_path, processes, strategy):
    options = ["-p", processes, "-w", 1, "--strategy", strategy, "--iterations", 5, "--peer-timeout", PATIENCE_S]
    report = same_as_over_shm(edgewire, tmp_path, graph, options, OVER)
    assert all("siw0 port 1 (iWARP" in place and "signals sent" in place for place in report["placement"])


@pytest.mark.machine
def test_an_iwarp_device_is_named_and_measured(edgewire, siw):
    assert "siw0 port 1: iWARP" in edgewire.ok("transports")
    rows = json.loads(edgewire.ok("netbench", *OVER, "--peer-timeout", PATIENCE_S, "--sizes", "64,64k", "--count", 50, "--json", "-"))["rows"]
    assert {row["payload_bytes"] for row in rows if row["test"] == "bandwidth"} == {50 * 64, 50 << 16}


@pytest.mark.machine
def test_writes_signals_and_tokens_over_iwarp(siw):
    run_suite("-tc=*iWARP*,*signals*,*writes*", "-tce=*dpdk*,*card*", EDGEWIRE_TEST_VERBS_RAILS="siw0", EDGEWIRE_TEST_IWARP="siw0")


@pytest.mark.machine
def test_a_killed_peer_is_named_over_iwarp(edgewire, graph, siw, tmp_path):
    with endless(edgewire, graph, tmp_path, *OVER) as job:
        os.kill(job.pids[1], signal.SIGKILL)
        status, lines = job.end()
        assert status == 1
        check_survivors(lines, 1, 2, "was lost")  # at once, long before the peer timeout


@pytest.mark.machine
def test_an_iwarp_device_that_is_deleted_ends_the_run(edgewire, graph, siw, tmp_path):
    with endless(edgewire, graph, tmp_path, *OVER) as job, device_deleted("siw0", "siw", "eth1"):
        status, lines = job.end()
    assert status == 1, lines
    assert lines and all("an iWARP device was removed" in line for line in lines), lines


@pytest.mark.machine
def test_an_iwarp_port_that_goes_down_ends_the_run(edgewire, graph, siw, tmp_path):
    with endless(edgewire, graph, tmp_path, *OVER) as job, link_down("eth1"):
        status, lines = job.end()
    assert status == 1, lines
    assert lines and all("siw0 port 1" in line for line in lines), lines


@pytest.fixture
def second_siw(siw):
    """second_siw(address) gives a device on an interface of its own."""
    def make(address):
        for command in ("ip link add eth2 mtu 4200 type veth peer name eth3 mtu 4200", "ip link set eth3 up",
                        f"ip addr add {address} dev eth2", "ip link set eth2 up", "rdma link add siw1 type siw netdev eth2"):
            subprocess.run(command.split(), check=True)
        return "siw1"

    yield make
    for command in ("rdma link delete siw1", "ip link delete eth2"):  # the first that fails shall not keep the second
        subprocess.run(command.split())
    assert not (INFINIBAND / "siw1").exists()


@pytest.mark.machine
def test_two_iwarp_devices_share_the_traffic(edgewire, graph, second_siw, tmp_path):
    both = f"siw0,{second_siw('10.9.0.1/24')}"
    options = ["-p", 2, "-w", 2, "--strategy", "slots", "--iterations", 5, "--peer-timeout", PATIENCE_S]
    report = same_as_over_shm(edgewire, tmp_path, graph, options, ["--transport", "verbs", "--verbs-device", both])
    assert all("siw0 port 1 and siw1 port 1 (iWARP" in place for place in report["placement"])
    run_suite("-tc=*signals*,*writes*", "-tce=*dpdk*,*card*", EDGEWIRE_TEST_VERBS_RAILS=both, EDGEWIRE_TEST_IWARP="siw0")


@pytest.mark.machine
def test_iwarp_over_ipv6(edgewire, graph, second_siw, tmp_path):
    device = second_siw("fd00:9::1/64 nodad")
    options = ["-p", 2, "-w", 1, "--strategy", "slots", "--iterations", 5, "--peer-timeout", PATIENCE_S]
    report = same_as_over_shm(edgewire, tmp_path, graph, options, ["--transport", "verbs", "--verbs-device", device])
    assert all("siw1 port 1 (iWARP" in place for place in report["placement"])


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


@pytest.mark.machine(own=True)
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
            --peer-timeout {PATIENCE_S} --start-timeout {PATIENCE_S} --iterations 5 --verify --json $strategy.$MACHINE
        done
        """, "-w", "-c", "2", machines=2, share=tmp_path)
    for strategy in ("slots", "cover"):
        report = json.loads((tmp_path / f"{strategy}.0").read_text())
        check_report(report)
        assert (report["transport"], report["transport_reason"]) == ("verbs", "all hosts are on iWARP:10.8.0.0/24")
        assert all("siw0 port 1 (iWARP" in place for place in report["placement"])


@pytest.fixture(scope="module")
def cut(edgewire, graph, tmp_path_factory):
    """The folder with what two machines said whose iWARP link, over IPv6 on an interface of its own, lost all packets; and
    then, of another run, the cable between them."""
    if reason := lab.missing() or lab.missing_iwarp():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("cut")
    lab.write_job(folder, ("g.ew", graph))
    lab.run(f"""
        cd {folder}
        ulimit -l unlimited
        rdma link delete rxe0
        ip link add link eth0 name eth2 type macvlan mode bridge
        ip addr add fd00:9::$((MACHINE + 1))/64 dev eth2 nodad
        ip link set eth2 up
        rdma link add siw0 type siw netdev eth0
        rdma link add siw1 type siw netdev eth2
        run() {{
          exec {edgewire.program} pagerank g.ew --hosts hosts --rank $MACHINE --secret-file secret -w 1 --transport verbs \
            --start-timeout {PATIENCE_S} "$@"
        }}
        (run --verbs-device siw1 --verify --iterations 5 --peer-timeout {PATIENCE_S} --json well.$MACHINE) || exit 1
        lose() {{ # NAME DEVICE COMMAND: a run, in which machine 1 does this
          run --verbs-device $2 --iterations 1000000 --checkpoint $1.state --every 50 --peer-timeout {TIMEOUT_S} \\
            2>$1.said.$MACHINE & job=$!
          wait_for is_there $1.state/manifest $job
          [ $MACHINE = 0 ] || eval "$3"
          wait_for has_ended $job
          status=0
          wait $job || status=$?
          echo $status >$1.ended.$MACHINE
        }}
        lose packets siw1 'tc qdisc add dev eth2 clsact; for way in ingress egress; do tc filter add dev eth2 $way matchall action drop; done'
        lose cable siw0 'ip link set eth0 down'
        """, "-w", "-c", "2", machines=2, share=folder)
    return folder


@pytest.mark.machine(own=True)
def test_two_machines_over_iwarp_and_ipv6(cut):
    report = json.loads((cut / "well.0").read_text())
    check_report(report)
    assert all("siw1 port 1 (iWARP" in place for place in report["placement"])


@pytest.mark.machine(own=True)
@pytest.mark.parametrize("what", ["packets", "cable"])
def test_a_cut_iwarp_link_is_named_on_both(cut, what):
    for rank in (0, 1):
        lines = causes((cut / f"{what}.said.{rank}").read_text().splitlines())
        assert (cut / f"{what}.ended.{rank}").read_text() == "1\n"
        assert len(lines) == 1 and re.search(r"rank \d .*(does not answer|silent|lost)|cannot be connected over siw|siw0 port 1 went down",
                                             lines[0]), lines  # slow machines may still connect when the link is cut
