"""The dpdk backend over real ports of DPDK: net_af_packet on veth pairs that a bridge joins, with frames lost at the
bridge, or lost, repeated, overtaken, cut and changed by seeded faults behind the port. All of it is in a network
namespace without a name, which ends with the processes in it."""

import contextlib
import functools
import json
import os
import pathlib
import re
import signal
import subprocess

import pytest

import frontier
import rights
from conftest import Edgewire
from iterating import iterating
from job import Job, check_tasks, on
from processes import PATIENCE_S
from test_failures import check_survivors

pytestmark = pytest.mark.dpdk

TIMEOUT_S = 10  # of jobs that have to notice silence; nobody else may be silent for so long, however busy the machine is
FAULTS = "seed=5,drop=0.01,duplicate=0.01,reorder=0.05,corrupt=0.005,truncate=0.005"

# The interfaces p0, p1... of as many hosts as $1 says; each frame is lost with a probability of $2 / 2^32 at the bridge.
SETUP = """
echo 1 >/proc/sys/net/ipv6/conf/default/disable_ipv6
ip link set lo up
ip link add switch type bridge
ip link set switch up
for ((i = 0; i < $1; i++)); do
  # The driver tells its sockets apart by process number XOR interface number, which must not meet by chance.
  ip link add p$i index $((4096 * (i + 1))) type veth peer name q$i
  ip link set q$i master switch up
  ip link set p$i mtu $3 up
  ip addr add 10.77.0.$((i + 1))/24 dev p$i
  ip link set q$i mtu $3
  [ "$2" = 0 ] || { tc qdisc add dev q$i clsact
    tc filter add dev q$i ingress protocol all bpf da bytecode "4,32 0 0 4294963256,53 1 0 $2,6 0 0 2,6 0 0 0"; }
done
shift 3
exec "$@"
"""


@functools.cache
def missing():
    """Why there can be no port here; empty when there can."""
    listed = subprocess.run([os.environ["EDGEWIRE"], "transports", "--json", "-"], capture_output=True, text=True)
    reason = next(one["reason"] for one in json.loads(listed.stdout) if one["name"] == "dpdk")
    return reason or rights.no_hosts()


@pytest.fixture(autouse=True)
def needs_a_port():
    if missing():
        pytest.skip(missing())


def in_network(hosts, loss=0.0, mtu=1500):
    return ["unshare", "--net", "bash", "-ec", SETUP, "bash", str(hosts), str(int(loss * 2**32)), str(mtu)]


def ports(hosts):
    return ";".join(f"net_af_packet{i},iface=p{i}" for i in range(hosts))


@pytest.fixture
def network(edgewire):
    """network(hosts, ...) gives the program as it runs there."""
    return lambda hosts, **options: Edgewire(edgewire.program, in_network(hosts, **options))


@pytest.fixture(scope="module")
def graph(kronecker):
    return kronecker(14)


def suite(files, faults="", loss=0.0):
    program = pathlib.Path(os.environ["EDGEWIRE"]).parent / "tests/unit/transport_test"
    done = subprocess.run([*in_network(4, loss=loss), program, f"-sf={files}"], capture_output=True, text=True, timeout=500,
                          env={**os.environ, "EDGEWIRE_TEST_BACKEND": "dpdk", "EDGEWIRE_TEST_DPDK_PORTS": ports(4),
                               "EDGEWIRE_TEST_DPDK_FAULTS": faults})
    assert done.returncode == 0, done.stdout + done.stderr
    assert "skipped:" not in done.stdout and not re.search(r"test cases: +0", done.stdout)


@pytest.mark.slow
@pytest.mark.parametrize("faults, loss", [("", 0.0), (FAULTS, 0.0), ("seed=2,drop=0.1", 0.0), ("", 0.01)])
def test_the_suite_of_all_backends_holds(faults, loss):
    suite("*/transport_test.cpp,*/dpdk_test.cpp", faults, loss)


@pytest.mark.slow
@pytest.mark.parametrize("faults", ["", FAULTS])
def test_the_suite_of_forked_processes_holds(faults):
    suite("*/transport_job_test.cpp", faults)


def compare_with_shm(edgewire, lab, tmp_path, graph, hosts, *options, more=()):
    """The report of a job over dpdk, whose result and bytes are those of the same job over shared memory."""
    jobs = []
    for name, program, choice in (("dpdk", lab, ["--transport", "dpdk", "--dpdk-port", ports(hosts), *more]),
                                  ("shm", edgewire, ["--transport", "shm"])):
        folder = tmp_path / name
        folder.mkdir()
        # What is measured may be chosen otherwise in the other job.
        jobs.append(Job(program, folder, graph, "-p", hosts, "-w", 1, "--deterministic", "--peer-timeout", PATIENCE_S, *options, *choice))
    assert jobs[0].report["transport"] == "dpdk"
    assert jobs[0].report["checksum"] == jobs[1].report["checksum"]
    assert jobs[0].text == jobs[1].text
    assert jobs[0].report["bound"]["payload_bytes"] == jobs[1].report["bound"]["payload_bytes"]
    return jobs[0].report


@pytest.mark.parametrize("hosts, strategy, ownership", [(2, "slots", "hash"), (2, "cover", "hash"), (3, "process", "hash"), (4, "slots", "hash"),
                                                        (3, "slots", "hilbert"), (4, "cover", "grid")])
def test_ranks_are_those_of_shared_memory_and_bytes_those_of_the_plan(edgewire, network, graph, tmp_path, hosts, strategy, ownership):
    report = compare_with_shm(edgewire, network(hosts), tmp_path, graph, hosts, "--strategy", strategy, "--ownership", ownership)
    assert report["link"]["corrupt_frames"] == 0
    assert report["link"]["sending"] == "in place"
    assert report["link"]["path"] == "plain Ethernet; one queue"


@pytest.mark.parametrize("kernel", frontier.KERNELS)
@pytest.mark.parametrize("hosts, more", [(2, []), (3, ["--dpdk-faults", FAULTS])], ids=["plain", "faults"])
def test_kernels_that_follow_a_frontier(network, made_graph, tmp_path, kernel, hosts, more):
    path, graph = made_graph("kronecker both ways")
    source = int(graph.sources[0])
    found, report = frontier.run(network(hosts), tmp_path, kernel, path, "-p", hosts, "-w", 1, "--peer-timeout", PATIENCE_S,
                                 "--transport", "dpdk", "--dpdk-port", ports(hosts), *more, source=source)
    frontier.check(kernel, found, frontier.expected(kernel, graph, source))
    assert report["transport"] == "dpdk" and sum(step["wire_bytes_sent"] for step in report["supersteps"]) > 0


@pytest.mark.parametrize("more", [[], ["--dpdk-faults", FAULTS]], ids=["plain", "faults"])
def test_tiles_on_disk(edgewire, network, graph, tmp_path, devices, more):
    """The other job has its edges in memory."""
    report = compare_with_shm(edgewire, network(3), tmp_path, graph, 3, "--strategy", "slots",
                              more=[*more, f"--plan-cache={devices[0]}", *on(*devices)])
    assert report["disk"]["edges"] == "written" and report["disk"]["bytes_read"] > 0


@pytest.mark.parametrize("kernel", ["bfs", "sssp", "wcc", "bc"])
def test_rows_on_disk(network, made_graph, tmp_path, devices, kernel):
    path, graph = made_graph("kronecker both ways")
    source = int(graph.sources[0])
    for edges in ("written", "found"):
        found, report = frontier.run(network(2), tmp_path, kernel, path, "-p", 2, "-w", 1, "--peer-timeout", PATIENCE_S, "--transport", "dpdk",
                                     "--dpdk-port", ports(2), *on(*devices), source=source)
        frontier.check(kernel, found, frontier.expected(kernel, graph, source))
        assert report["transport"] == "dpdk" and report["disk"]["edges"] == edges


@pytest.mark.parametrize("hosts, more", [(2, []), (3, ["--dpdk-faults", FAULTS])])
def test_tasks_and_their_results_arrive(network, hosts, more):
    check_tasks(network(hosts), hosts, ["--transport", "dpdk", "--dpdk-port", ports(hosts), *more])


def check_frames(report, mtu, udp=True):
    """Between two processes: preamble 8, Ethernet 14, check sequence 4, gap 12, and 28 or none of IP and UDP and our 32,
    which take their place from the payload."""
    bound, inside = report["bound"], 32 + 28 * udp
    frames, rest = divmod(bound["wire_bytes"] - bound["payload_bytes"], 38 + inside)
    least = -(-bound["payload_bytes"] // (mtu - inside))
    assert rest == 0 and least <= frames <= least + 1


@pytest.mark.parametrize("hosts, more", [(2, []), (3, ["--dpdk-faults", FAULTS])])
def test_frames_in_udp_are_counted_with_its_headers(edgewire, network, graph, tmp_path, hosts, more):
    report = compare_with_shm(edgewire, network(hosts), tmp_path, graph, hosts, "--strategy", "process",
                              more=["--dpdk-udp", "auto", *more])
    assert report["link"]["path"] == "UDP without checksums; one queue"
    if hosts == 2:
        check_frames(report, 1500)
    else:
        assert report["link"]["corrupt_frames"] > 0 and report["link"]["retransmitted_bytes"] > 0


@pytest.mark.parametrize("udp, mtu", [([], 1500), (["--dpdk-udp", "auto"], 1500), (["--dpdk-udp", "auto"], 9000)])
def test_lanes_are_spread_over_queues(network, graph, tmp_path, udp, mtu):
    """net_af_packet's queues share what comes in by a hash: what came in by one that nobody looked at would be lost."""
    report = tmp_path / "report.json"
    queues = ";".join(f"{port},qpairs=2" for port in ports(2).split(";"))
    network(2, mtu=mtu).ok("pagerank", graph, "-p", 2, "-w", 2, "--peer-timeout", PATIENCE_S, "--transport", "dpdk", "--dpdk-port",
                           queues, *udp, "--verify", "--strategy", "edge", "--json", report)
    report = json.loads(report.read_text())
    check_frames(report, mtu, bool(udp))
    link = report["link"]
    assert link["path"].endswith("; 2 queues, spread by the driver")
    assert link["missed_frames"] == 0


# A router between p0 and p1, in a network namespace of its own, which ends with this one.
ROUTER = """
setpriv --pdeathsig KILL unshare --net sleep infinity &
router=$!
until [ "$(readlink /proc/$router/ns/net)" != "$(readlink /proc/self/ns/net)" ]; do sleep 0.01; done
inside="nsenter --net=/proc/$router/ns/net"
for i in 0 1; do
  ip addr flush dev p$i
  ip addr add 10.77.$((i + 1)).2/24 dev p$i
  ip link set q$i nomaster netns $router
  $inside ip link set q$i address 02:00:00:00:00:0$i up
  $inside ip addr add 10.77.$((i + 1)).1/24 dev q$i
done
$inside sysctl -qw net.ipv4.ip_forward=1
trap "kill $router" EXIT
"$@"
"""


def test_udp_passes_a_router(edgewire, graph):
    setup = in_network(2)
    setup[4] = setup[4].replace('exec "$@"', ROUTER)
    text = Edgewire(edgewire.program, setup).ok(
        "pagerank", graph, "-v", "-p", 2, "-w", 1, "--peer-timeout", PATIENCE_S, "--transport", "dpdk", "--dpdk-port", ports(2), "--verify",
        "--dpdk-udp", "10.77.1.2/24@02:00:00:00:00:00;10.77.2.2/24@02:00:00:00:00:01")
    assert "payload leaves in place; UDP without checksums; one queue; sent again" in text


@pytest.mark.parametrize("hosts, loss", [(2, 0.001), (2, 0.01), (3, 0.01), (2, 0.1)])
def test_what_the_switch_loses_is_sent_again_and_counted_apart(edgewire, network, graph, tmp_path, hosts, loss):
    report = compare_with_shm(edgewire, network(hosts, loss=loss), tmp_path, graph, hosts, "--strategy", "slots",
                              "--iterations", 40)
    if loss >= 0.01:
        assert report["link"]["retransmitted_bytes"] > 0


@pytest.mark.parametrize("hosts, faults", [(2, FAULTS), (4, FAULTS), (2, "seed=3,drop=0.1,reorder=0.2")])
def test_faults_of_every_kind_are_survived_and_counted(edgewire, network, graph, tmp_path, hosts, faults):
    report = compare_with_shm(edgewire, network(hosts), tmp_path, graph, hosts, "--strategy", "process",
                              more=["--dpdk-faults", faults])
    link = report["link"]
    assert link["retransmitted_bytes"] > 0 and link["reordered_frames"] > 0
    if "corrupt" in faults:
        assert link["corrupt_frames"] > 0 and link["duplicate_frames"] > 0


# Frames of our ethertype and of another one, to all, from before the job begins until it has ended.
STRANGER = """
import os, random, socket, sys, time
port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
port.bind(("p1", 0))
chance = random.Random(1)
told = 0
while os.getppid() == int(sys.argv[1]):
    body = chance.randbytes(chance.choice((0, 3, 31, 32, 60, 1400)))
    port.send(bytes([255] * 6) + bytes(6) + bytes(chance.choice(([0x88, 0xB5], [0x08, 0x00]))) + body)
    told = told or os.write(1, b"sent\\n")
    time.sleep(0.0005)  # leaves the job its link
"""


def test_frames_of_strangers_are_counted_and_change_nothing(edgewire, graph, tmp_path):
    setup = in_network(2)
    setup[4] = setup[4].replace('exec "$@"', f"""
        exec 3< <(exec setpriv --pdeathsig KILL /usr/bin/python3 -c '{STRANGER}' $$)
        read -r <&3
        "$@" """)
    report = compare_with_shm(edgewire, Edgewire(edgewire.program, setup), tmp_path, graph, 2, "--strategy", "slots",
                              "--iterations", 300)
    assert report["link"]["foreign_frames"] > 0


def test_several_lanes_large_frames_and_half_the_bytes(network, graph):
    lab = network(2, mtu=9000)
    options = ["-p", 2, "--peer-timeout", PATIENCE_S, "--transport", "dpdk", "--dpdk-port", ports(2), "--verify"]
    lab.ok("pagerank", graph, *options, "-w", 2)
    lab.ok("pagerank", graph, *options, "-w", 1, "--wire", "bf16", "--dpdk-rate", "1G")


@pytest.mark.parametrize("more, path", [([], "plain Ethernet"), (["--dpdk-udp", "auto"], "UDP without checksums")])
def test_hosts_of_their_own(edgewire, graph, more, path):
    text = edgewire.ok("pagerank", graph, "-p", 3, "-w", 1, "--local-hosts", "--peer-timeout", PATIENCE_S, "--transport", "dpdk",
                       "--dpdk-port", "net_af_packet0,iface=eth0", "--verify", "--verbose", *more)
    assert f"payload leaves in place; {path}; one queue; sent again" in text


def test_netbench_counts_what_was_sent_again(network):
    """Some thousand frames, of which one in fifty is lost."""
    rows = json.loads(network(2, loss=0.02).ok("netbench", "--peer-timeout", PATIENCE_S, "--transport", "dpdk", "--dpdk-port", ports(2),
                                               "--sizes", "8,64k", "--count", 100, "--json", "-"))["rows"]
    assert {row["test"] for row in rows} == {"bandwidth", "rate", "latency"}
    assert sum(row["retransmitted_bytes"] for row in rows) > 0


# Both ends of a net_memif, the one with role $1 and rank $2 first: it waits for the other one, as rank 0 behind its socket,
# as rank 1 with a connection that it has tried to open.
MEMIF = """
ip link set lo up
cd "$3"
printf '127.0.0.1:7691\n127.0.0.1:7692\n' >hosts
(umask 077; head -c 32 /dev/urandom >secret)
job() { "$EDGEWIRE" pagerank "$4" --hosts hosts --secret-file secret -w 2 --transport dpdk --verify --verbose --start-timeout 60 \\
  --peer-timeout 60 --dpdk-port "net_memif0,id=0,socket=edgewire,role=$1" --rank $2; }
waits() { [ $1 = 0 ] && grep -q ':1E0B 00000000:0000 0A' /proc/net/tcp || awk '/^Tcp: [0-9]/ { exit $6 == 0 }' /proc/net/snmp; }
job $1 $2 "$3" "$4" &
until waits $2; do kill -0 $! || exit; sleep 0.01; done
job $5 $((1 - $2)) "$3" "$4"
wait $!
"""


@pytest.mark.parametrize("first", ["server", "client"])
@pytest.mark.parametrize("rank", ["0", "1"])
def test_either_end_of_a_memif_may_come_first(graph, tmp_path, first, rank):
    done = subprocess.run(["unshare", "--net", "bash", "-c", MEMIF, "bash", first, rank, tmp_path, graph, "client" if first == "server" else "server"], capture_output=True,
                          text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "plain Ethernet; 2 queues, spread by the driver; sent again" in done.stdout


@pytest.fixture
def running(network, graph, tmp_path):
    """running(peer timeout) gives a job of three processes that iterates; it is killed when the test ends."""
    with contextlib.ExitStack() as jobs:
        yield lambda timeout_s: jobs.enter_context(iterating(
            network(3), graph, 3, "-w", 1, "--transport", "dpdk", "--dpdk-port", ports(3), "--peer-timeout", timeout_s, "-o",
            tmp_path / "ranks.tsv"))
    assert not (tmp_path / "ranks.tsv").exists()


@pytest.mark.slow
@pytest.mark.parametrize("victim", [0, 2])
def test_a_killed_peer_is_named(running, victim):
    job = running(PATIENCE_S)
    os.kill(job.pids[victim], signal.SIGKILL)
    status, lines = job.end()
    assert status == 1
    check_survivors(lines, victim, 3, "was lost")  # at once, long before the peer timeout


@pytest.mark.slow
@pytest.mark.parametrize("victim", [0, 2])
def test_a_stopped_peer_is_named(running, victim):
    job = running(TIMEOUT_S)
    os.kill(job.pids[victim], signal.SIGSTOP)
    status, lines = job.end()
    assert status == 1
    check_survivors(lines, victim, 3)


@pytest.mark.slow
def test_a_port_that_is_cut_off_is_named(running):
    """The processes still hear each other over 127.0.0.1: only the frames stop."""
    job = running(TIMEOUT_S)
    subprocess.run(["nsenter", f"--net=/proc/{job.pids[1]}/ns/net", "ip", "link", "set", "q1", "down"], check=True)
    status, lines = job.end()
    assert status == 1
    silent = f"has been silent for {TIMEOUT_S:.1f} s over net_af_packet"
    assert any(f"rank 1 {silent}" in line or f"{silent}1,iface=p1" in line for line in lines), lines


def test_wrong_ports_and_arguments_are_refused_in_one_line(network, graph):
    def refused(*options, status=1):
        return network(2).refused("pagerank", graph, "-p", 2, "-w", 1, "--transport", "dpdk", *options, status=status)

    assert "--transport dpdk needs --dpdk-port: name a PCI address" in refused(status=2)
    assert re.fullmatch(r"rank \d: transport dpdk: there is no network interface 'p9'",
                        refused("--dpdk-port", "net_af_packet0,iface=p9"))
    assert "'eth0' is neither a PCI address (0000:01:00.0) nor a virtual device" in refused("--dpdk-port", "eth0")
    assert "cannot open net_nonsense0" in refused("--dpdk-port", "net_nonsense0")
    assert "there is no PCI device 0000:7f:00.0 (dpdk-devbind.py --status" in refused("--dpdk-port", "0000:7f:00.0")
    assert "'9k' of 0000:7f:00.0,mtu=9k is no number of bytes" in refused("--dpdk-port", "0000:7f:00.0,mtu=9k")
    assert "DPDK does not start: unrecognized option '--nonsense' (--dpdk-args '--nonsense')" in refused(
        "--dpdk-port", ports(2), "--dpdk-args=--nonsense")
    assert "--dpdk-udp must be ADDRESS[/PREFIX][@GATEWAY]" in refused("--dpdk-port", ports(2), "--dpdk-udp", "p0", status=2)
    one_sided = network(2)("pagerank", graph, "-p", 2, "-w", 1, "--transport", "dpdk", "--dpdk-port", ports(2), "--dpdk-udp", "auto;")
    assert one_sided.returncode == 1 and one_sided.stderr  # whoever finds out before it hears of it speaks
    for line in one_sided.stderr.splitlines():
        assert re.fullmatch(r"edgewire: rank (0: rank 1|1: rank 0)( failed: rank \d)? cannot be connected over dpdk: "
                            "one of the two processes has --dpdk-udp, the other one has not", line)
    assert "frame faults are a list" in refused("--dpdk-port", ports(2), "--dpdk-faults", "drop=2", status=2)


def test_without_root_it_is_said_what_is_missing(edgewire):
    rights.need_user(rights.ANOTHER, edgewire.program)  # with the plug-in beside it
    listed = subprocess.run(["setpriv", "--bounding-set", "-all", "--inh-caps", "-all", "--reuid", "65534", "--clear-groups",
                             edgewire.program, "transports"], capture_output=True, text=True)
    assert listed.returncode == 0 and re.search(r"dpdk +no .*no permission: virtual devices need root", listed.stdout), listed
