"""What one may choose of the RDMA backend, and what is chosen between hosts; see test_verbs.py."""

import json
import pathlib
import subprocess

import pytest

import lab
from job import Job, check_report
from processes import PATIENCE_S
from test_verbs import INFINIBAND, packets_of, run_suite

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def graph(kronecker):
    return kronecker(12)


@pytest.fixture(scope="module")
def wide(kronecker):
    """A graph with columns for several workers."""
    return kronecker(16)


@pytest.fixture
def two_devices():
    """The names of two devices, each on an interface and in a network of its own."""
    try:
        for command in ("ip link add eth2 mtu 4200 type veth peer name eth3 mtu 4200", "ip link set eth3 up",
                        "ip addr add 10.9.0.1/24 dev eth2", "ip link set eth2 up", "rdma link add rxe1 type rxe netdev eth2"):
            subprocess.run(command.split(), check=True)
        yield ["rxe0", "rxe1"]
    finally:
        for command in ("rdma link delete rxe1", "ip link delete eth2"):  # the first that fails shall not keep the second
            subprocess.run(command.split())
        assert not (INFINIBAND / "rxe1").exists()


def sent_packets(device):
    return int(pathlib.Path(f"/sys/class/infiniband/{device}/ports/1/hw_counters/sent_pkts").read_text())


@pytest.mark.machine
def test_two_devices_share_the_traffic_of_two_workers(edgewire, wide, two_devices, tmp_path):
    before = [sent_packets(device) for device in two_devices]
    options = ["-p", 2, "-w", 2, "--transport", "verbs", "--strategy", "edge", "--deterministic", "--iterations", 3, "--peer-timeout", PATIENCE_S]
    both = Job(edgewire, tmp_path, wide, *options, "--verbs-device", "rxe0,rxe1")
    sent = [sent_packets(device) - old for device, old in zip(two_devices, before)]
    packets = 3 * both.report["bound"]["payload_bytes"] / 4096
    # The lanes are not exactly even.
    assert sum(sent) > packets and min(sent) > packets / 4, (sent, packets)
    assert all("rxe0 port 1 and rxe1 port 1 (RoCE v2, packets of 4096 bytes)" in place for place in both.report["placement"])
    one = Job(edgewire, tmp_path, wide, *options, "--verbs-device", "rxe1")
    assert one.report["checksum"] == both.report["checksum"]


@pytest.mark.machine
def test_the_suite_of_the_backend_holds_over_two_devices(two_devices):
    run_suite("-tc=*rails*,*signals*,*writes*", EDGEWIRE_TEST_VERBS_RAILS=",".join(two_devices))


@pytest.mark.machine
@pytest.mark.parametrize("option, said", [("--verbs-progress=worker", "taken by the workers"), ("--verbs-progress=thread", "taken by a thread"),
                                          ("--verbs-no-immediates", "signals sent"), ("--verbs-memory=pinned", "memory pinned")])
def test_ranks_do_not_depend_on_the_way_and_the_run_says_which_it_was(edgewire, graph, tmp_path, option, said):
    for transport in ("shm", "verbs"):
        (tmp_path / transport).mkdir()
    options = ["-p", 2, "-w", 1, "--strategy", "slots", "--deterministic", "--iterations", 5, "--peer-timeout", PATIENCE_S]
    shm = Job(edgewire, tmp_path / "shm", graph, *options, "--transport", "shm")
    verbs = Job(edgewire, tmp_path / "verbs", graph, *options, "--transport", "verbs", option)
    assert verbs.text == shm.text
    assert all(said in place for place in verbs.report["placement"]), verbs.report["placement"]


@pytest.mark.machine
def test_choices_that_the_device_does_not_have_are_refused(edgewire, graph):
    def refused(*options, **more):
        return edgewire.refused("pagerank", graph, "-p", 2, "--transport", "verbs", *options, **more)

    # Soft-RoCE of this kernel. Memory that may be paged needs no lock, so the limit is not the cause.
    assert "rxe0 has no on-demand paging (--verbs-memory pinned)" in refused("--verbs-memory", "on-demand")
    assert "--verbs-device names rxe0 port 1 twice" in refused("--verbs-device", "rxe0,rxe0", status=2)
    assert "NAME[:PORT[:GID_INDEX]], and is 'rxe0,'" in refused("--verbs-device", "rxe0,", status=2)
    assert "there is no RDMA device 'mlx5_0' (known: rxe0)" in refused("--verbs-device", "rxe0,mlx5_0")


@pytest.fixture(scope="module")
def network(edgewire, graph, wide, tmp_path_factory):
    """The folder with the reports and packets of two machines with two networks between them; they lose one device
    after the other."""
    folder = tmp_path_factory.mktemp("network")
    lab.write_job(folder, ("g.ew", graph), ("wide.ew", wide))
    (folder / "four").write_text("10.8.0.1:7001\n10.8.0.1:7002\n10.8.0.2:7001\n10.8.0.2:7002\n")
    lab.run(f"""
        cd {folder}
        run() {{
          {edgewire.program} pagerank "$@" --secret-file secret --peer-timeout {PATIENCE_S} --start-timeout {PATIENCE_S} \\
            --strategy edge --iterations 3 --verify
        }}
        pair() {{ run "$@" --hosts hosts --rank $MACHINE; }}
        set -e
        ip link add link eth0 name eth2 type macvlan mode bridge
        ip addr add 10.9.0.$((MACHINE + 1))/24 dev eth2
        ip link set eth2 up
        rdma link add rxe1 type rxe netdev eth2
        pair wide.ew -w 2 --json rails.$MACHINE
        rdma link delete rxe1
        pair g.ew -w 1 --verbs-no-immediates --json sends.$MACHINE
        run g.ew --hosts four --rank $((2 * MACHINE)) -w 1 --json mixed.$MACHINE &
        run g.ew --hosts four --rank $((2 * MACHINE + 1)) -w 1
        wait $!
        [ $MACHINE = 0 ] || rdma link delete rxe0
        pair g.ew -w 1 --json tcp.$MACHINE
        """, "-d", f"{folder}/packets", "-c", "2", machines=2, share=folder)
    return folder


def report_of(network, run):
    report = json.loads((network / f"{run}.0").read_text())
    if run != "mixed":  # whose bound counts what stays on a host
        check_report(report)
    return report["transport"], report["transport_reason"], report["placement"]


@pytest.mark.machine(own=True)
def test_auto_uses_all_cards_that_two_hosts_share(network):
    transport, reason, placement = report_of(network, "rails")
    assert (transport, reason) == ("verbs", "all hosts are on 10.8.0.0/24 and 10.9.0.0/24")
    assert len(placement) == 2 and all("rxe0 port 1 and rxe1 port 1" in place for place in placement)
    payload = {}
    for (host, _), _, opcode, length in packets_of(network / "packets"):
        payload[host] = payload.get(host, 0) + length
    assert set(payload) == {"10.8.0.1", "10.8.0.2", "10.9.0.1", "10.9.0.2"}
    assert min(payload.values()) > 1_000_000, payload


@pytest.mark.machine(own=True)
def test_without_immediates_signals_are_sends(network):
    transport, _, placement = report_of(network, "sends")
    assert transport == "verbs" and all("signals sent" in place for place in placement)
    # InfiniBand Architecture Specification 1.4, table 38: the run between those with immediates.
    send, with_immediate = 4, 11
    kinds = [opcode for _, _, opcode, _ in packets_of(network / "packets") if opcode in (send, with_immediate)]
    first, last = kinds.index(send), len(kinds) - kinds[::-1].index(send)
    assert 10 < first and last < len(kinds) and set(kinds[first:last]) == {send}


@pytest.mark.machine(own=True)
def test_auto_shares_memory_inside_hosts_and_uses_cards_between_them(network):
    transport, reason, placement = report_of(network, "mixed")
    assert (transport, reason) == ("shm+verbs", "all hosts are on 10.8.0.0/24")
    assert len(placement) == 4 and all("rxe0 port 1 (RoCE v2" in place for place in placement)


@pytest.mark.machine(own=True)
def test_auto_is_tcp_when_one_host_has_no_card_and_says_which(network):
    transport, reason, placement = report_of(network, "tcp")
    assert transport == "tcp" and reason.startswith("no RDMA between the hosts: rank 1: no RDMA device")
    assert not any("rxe" in place for place in placement)
