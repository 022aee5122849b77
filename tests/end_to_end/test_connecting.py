"""How the processes of a job find each other, and what they say when they do not."""

import contextlib
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time

import pytest

import graphs
import reference
import rights
from conftest import Edgewire
from processes import LIMIT_S, LIVE_PEER_S, PATIENCE_S, causes, children, status_fields, wait_for

TIMEOUT_S = 2  # of peers, where one is stopped
MARGIN_S = 15  # for busy machines; the start timeout is much longer
START_S = 120


@pytest.fixture
def path(tmp_path):
    return reference.write_graph(tmp_path / "g.ew", graphs.make("self loops"))


def changed(options, **others):
    """The options with other values: changed(options, peer_timeout=2)."""
    options = list(options)
    for name, value in others.items():
        options[options.index("--" + name.replace("_", "-")) + 1] = value
    return options


@pytest.fixture
def running(edgewire):
    """running(arguments, through, program) starts a process that is killed at the end of the test."""
    started = []

    def start(arguments, through=(), program=edgewire.program, **options):
        started.append(Edgewire(program, through).start(*arguments, **options))
        return started[-1]

    yield start
    for process in started:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def lines_of(process, status=1):
    """What it says when it has ended."""
    _, stderr = process.communicate(timeout=LIMIT_S)
    assert process.returncode == status, stderr
    return causes(stderr.splitlines())


# ---- a process that is stopped before the job has formed -----------------------------------------------------------------


def connections(pid, timer=""):
    """The number of established TCP connections of a process, of all or of those with this timer running (proc(5), "tr")."""
    inodes = set()
    for name in os.listdir(f"/proc/{pid}/fd"):
        with contextlib.suppress(OSError):
            inodes.add(os.readlink(f"/proc/{pid}/fd/{name}"))
    rows = [line.split() for line in open(f"/proc/{pid}/net/tcp").read().splitlines()[1:]]
    return sum(row[3] == "01" and row[5].startswith(timer) and f"socket:[{row[9]}]" in inodes for row in rows)


def joined(hub):
    """The number of processes that rank 0 has let in: it has asked the system for keepalives (timer 02) for these connections only. A process
    that is killed before has never been one of the job."""
    return connections(hub.pid, timer="02:")


def listens(pid):
    inodes = {os.readlink(f"/proc/{pid}/fd/{name}") for name in os.listdir(f"/proc/{pid}/fd")
              if os.path.lexists(f"/proc/{pid}/fd/{name}")}
    rows = [line.split() for line in open(f"/proc/{pid}/net/tcp").read().splitlines()[1:]]
    return any(row[3] == "0A" and f"socket:[{row[9]}]" in inodes for row in rows)


def stop(process):
    process.send_signal(signal.SIGSTOP)
    wait_for(lambda: status_fields(process.pid)[:1] == ["T"], "the stop")
    return time.monotonic()


def start_options(path, options):
    return ["pagerank", path, *changed(options, peer_timeout=TIMEOUT_S, start_timeout=START_S), "-w", 1, "--transport", "tcp"]


@pytest.mark.slow
def test_a_rank_that_has_connected_is_stopped_while_another_is_missing(running, hosts, path):
    options = start_options(path, hosts(3))
    ranks = [running([*options, "--rank", rank]) for rank in (0, 1)]
    wait_for(lambda: joined(ranks[0]) == 1, "the connection")
    since = stop(ranks[1])
    line, = lines_of(ranks[0])
    assert re.match(r"edgewire: rank 1 \(.*\) has been silent for \d\.\d s .* before all processes had connected", line)
    assert time.monotonic() - since < TIMEOUT_S + MARGIN_S


@pytest.mark.slow
@pytest.mark.parametrize("when", ["it listens", "the others have connected"])
def test_rank_0_is_stopped_before_all_have_come(running, hosts, path, when):
    options = start_options(path, hosts(4))
    hub = running([*options, "--rank", 0])
    wait_for(lambda: listens(hub.pid), "its port")
    if when == "it listens":
        since = stop(hub)
    ranks = [running([*options, "--rank", rank]) for rank in (1, 2)]
    if when == "the others have connected":
        wait_for(lambda: joined(hub) == 2, "the connections")
        since = stop(hub)
    for rank in ranks:
        line, = lines_of(rank)
        assert line.startswith("edgewire: rank 0 (") and ("silent" in line or "takes connections, but nothing was said" in line), line
    assert time.monotonic() - since < TIMEOUT_S + MARGIN_S


@pytest.mark.slow
@pytest.mark.parametrize("victim", [0, 1])
def test_a_rank_is_stopped_when_all_have_come(running, hosts, path, victim):
    """The last one comes while it is stopped, or has just come: between the rendezvous and the first common steps."""
    options = start_options(path, hosts(3))
    ranks = [running([*options, "--rank", rank]) for rank in (0, 1)]
    wait_for(lambda: joined(ranks[0]) == 1, "the connection")
    ranks.append(running([*options, "--rank", 2]))
    since = stop(ranks[victim])
    for rank in set(range(3)) - {victim}:
        line, = lines_of(ranks[rank])
        assert f"rank {victim} (" in line and line.count("rank") <= 3, line
    assert time.monotonic() - since < TIMEOUT_S + MARGIN_S


def test_one_that_comes_late_learns_who_was_lost(running, hosts, path):
    options = changed(["pagerank", path, *hosts(3), "-w", 1], start_timeout=START_S)
    ranks = [running([*options, "--rank", rank]) for rank in (0, 1)]
    wait_for(lambda: joined(ranks[0]) == 1, "the connection")
    ranks[1].kill()
    wait_for(lambda: connections(ranks[0].pid) == 0, "the loss")
    line, = lines_of(running([*options, "--rank", 2]))
    lost = r"rank 1 \(.*\) was lost(: Connection reset by peer)? before all processes had connected"
    assert re.fullmatch(rf"edgewire: rank 0 \(.*\) gave up: {lost}", line), line
    line, = lines_of(ranks[0])
    assert re.fullmatch(f"edgewire: {lost}", line), line


# ---- what is on disk before the job has formed ------------------------------------------------------------------------


@pytest.mark.parametrize("command", [
    ["sort", "in", "-o", "out"], ["sort", "in", "-o", "out", "--temp", ".", "--json", "report", "--trace", "trace"],
    ["convert", "in.el", "--parts", "-o", "out", "--json", "report"],
    ["pagerank", "g.ew", "--checkpoint", "kept/here", "--every", 1, "-o", "ranks", "--json", "report"],
    ["pagerank", "g.ew", "--plan-cache=cache", "-o", "ranks", "--output-parts"], ["cdlp", "g.ew", "--checkpoint", "kept", "-o", "ranks"],
    ["pagerank", "g.ew", "--edges", "disk", "--devices", "."],
], ids=lambda words: " ".join(map(str, words[:5])))
@pytest.mark.usefixtures("path")
def test_nothing_is_made_before_all_have_come(running, hosts, tmp_path, command):
    """Nobody would remove what is left by a process that is killed then."""
    (tmp_path / "in").write_bytes(bytes(100))
    (tmp_path / "in.el").write_text("0 1\n")
    options = hosts(2)
    address, port = options[1].read_text().split()[0].split(":")
    before = sorted(tmp_path.rglob("*"))
    with socket.create_server((address, int(port))) as hub:
        hub.settimeout(PATIENCE_S)
        process = running([*command, *options, "--rank", 1], cwd=tmp_path)
        hub.accept()[0].close()
        process.kill()
        process.wait(PATIENCE_S)
    assert sorted(tmp_path.rglob("*")) == before


# ---- what the system says of a connection ------------------------------------------------------------------------------


class Host:
    """A network namespace, which goes with the process that holds it."""

    def __init__(self):
        self.holder = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo; exec cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.holder.stdout.readline()
        self.through = ["nsenter", "-t", str(self.holder.pid), "-n"]
        self.do("ip link set lo up")

    def do(self, command):
        done = subprocess.run([*self.through, *command.split()], capture_output=True, text=True)
        assert done.returncode == 0, (command, done.stderr)

    def end(self):
        self.holder.communicate()


@pytest.fixture
def net_hosts():
    """Two hosts with a link between them, 10.9.0.1 and 10.9.0.2 on eth0."""
    rights.need_hosts()
    both = [Host(), Host()]
    both[0].do(f"ip link add eth0 type veth peer name eth0 netns {both[1].holder.pid}")
    for number, host in enumerate(both, 1):
        host.do(f"ip addr add 10.9.0.{number}/24 dev eth0")
        host.do("ip link set eth0 up")
    yield both
    for host in both:
        host.end()


@pytest.fixture
def net_options(hosts):
    """net_options(addresses...) gives the options of a host list of these."""
    def options(*addresses):
        given = hosts(2)
        given[1].write_text("".join(f"{address}:7471\n" for address in addresses))
        return given
    return options


@pytest.mark.parametrize("route, there, said", [
    ("", "10.66.0.1", "Network is unreachable"),
    ("ip route add unreachable 10.66.0.0/16", "10.66.0.1", "No route to host"),
    ("", "10.9.0.2", "Connection refused (from 10.9.0.1 on eth0)"),
    ("ip neigh add 10.9.0.77 lladdr 02:00:00:00:00:77 dev eth0", "10.9.0.77",
     r"no answer from 10.9.0.77 port 7471 within 0\.\d s .*\(from 10.9.0.1 on eth0\)"),
], ids=["no way", "a host that a router does not find", "nobody listens", "packets are dropped"])
def test_why_rank_0_cannot_be_reached(edgewire, net_hosts, net_options, path, route, there, said):
    if route:
        net_hosts[0].do(route)
    options = changed(net_options(there, "10.9.0.1"), start_timeout=0.6)
    line = Edgewire(edgewire.program, net_hosts[0].through).refused("pagerank", path, *options, "--rank", 1)
    assert line.startswith(f"rank 0 ({there} port 7471) cannot be reached within 0.6 s: "), line
    assert re.search(said if "\\" in said else re.escape(said), line), line


@pytest.fixture
def dropping(net_hosts):
    """dropping(sender, takes): the sender's MTU is 9000, and so is what the other host says that it takes, but its link takes less.
    Gives the end of the line that names it."""
    def make(sender, takes=1500):
        there = f"10.9.0.{2 - sender}"
        net_hosts[sender].do("ip link set eth0 mtu 9000 gso_max_segs 1")
        net_hosts[1 - sender].do(f"ip link set eth0 mtu {takes}")
        net_hosts[1 - sender].do(f"ip route change 10.9.0.0/24 dev eth0 advmss 8960 src {there}")
        return f"MTU 9000 here; ping -M do -s 8972 {there} tells)"
    return make


@pytest.mark.slow
@pytest.mark.links
@pytest.mark.parametrize("sender", [0, 1])
def test_a_way_that_drops_large_packets_of_values(running, edgewire, net_hosts, net_options, dropping, tmp_path, sender):
    cause = dropping(sender, takes=4000)  # messages of control are smaller
    edgewire.ok("generate", "kronecker", "--scale", 14, "-o", tmp_path / "g.ew")
    options = changed(net_options("10.9.0.1", "10.9.0.2"), peer_timeout=3)
    ranks = [running(["pagerank", tmp_path / "g.ew", *options, "-w", 1, "--transport", "tcp", "--rank", rank], net_hosts[rank].through)
             for rank in (0, 1)]
    lines = [lines_of(rank)[0] for rank in ranks]
    assert any("drops large packets: " + cause in line for line in lines), lines


@pytest.mark.slow
@pytest.mark.links
def test_a_way_that_drops_large_packets_of_control(running, net_hosts, net_options, dropping, path):
    """Messages of rank 0 to all others are larger than a packet, those to it are not. These may be lost, too: a system that only acknowledges
    by the large packets that it sends again makes the other one hold back what is small."""
    cause = dropping(0)
    options = net_options(*["10.9.0.1"] * 6, "10.9.0.2")
    options[1].write_text("".join(f"10.9.0.1:{7471 + rank}\n" for rank in range(6)) + "10.9.0.2:7471\n")
    options = changed(options, peer_timeout=3)
    ranks = [running(["pagerank", path, *options, "-w", 1, "--rank", rank], net_hosts[rank == 6].through) for rank in range(7)]
    lines = [lines_of(rank) for rank in ranks]
    assert all(len(one) == 1 for one in lines), lines
    assert re.fullmatch(r"edgewire: rank 0: rank 6 \(10.9.0.2\) (does not get what is sent to it, though its small messages arrive: the way there "
                        r"drops large packets \(|has been silent for \d.\d s, .*\? Or the way drops large packets: )" + re.escape(cause), lines[0][0]), lines
    assert "rank 0 (10.9.0.1)" in lines[6][0], lines


# ---- processes that do not run the same --------------------------------------------------------------------------------


def test_another_command_is_named(several, hosts, path):
    options = hosts(3)
    results = several([["pagerank", path, *options, "--rank", 0], ["wcc", path, *options, "--rank", 1],
                       ["bfs", path, "--source", 0, *options, "--rank", 2]])
    for status, lines, _ in results:
        line, = causes(lines)
        assert status == 1 and line.endswith("the processes run with different graphs or options: the command is pagerank at rank 0, "
                                             "wcc at rank 1, bfs at rank 2"), results


def test_other_options_are_named_and_nothing_else(several, hosts, path):
    options = ["pagerank", path, *hosts(3)]
    results = several([[*options, "--rank", 0], *([*options, "--damping", 0.8, "--rank", rank] for rank in (1, 2))])
    for status, lines, _ in results:
        line, = causes(lines)
        assert status == 1 and line.endswith(": --damping is 0.85 at rank 0, 0.8 at ranks 1, 2"), results


PROFILED = "--profile, --profile-page or --trace is given at rank 0, not given at rank 1"


@pytest.mark.parametrize("command, mine, said", [
    (["pagerank", "g.ew"], ["--checkpoint", "kept"], "--checkpoint is a file at rank 0, not given at rank 1"),
    (["pagerank", "g.ew", "--checkpoint", "kept"], ["--every", 5], "--every is 5 at rank 0, 10 at rank 1"),
    (["pagerank", "g.ew", "-o", "ranks"], ["--output-parts"], "--output-parts is true at rank 0, not given at rank 1"),
    (["convert", "g.el", "-o", "made.ew"], ["--undirected"], "--undirected is true at rank 0, not given at rank 1"),
    (["sort", "g.el", "--record", 1, "--key", "0:1", "-o", "sorted"], ["--partitions", 3], "--partitions is 3 at rank 0, not given at rank 1"),
    (["tasks", "yield"], ["--count", 7], "--count is 7 at rank 0, "),
    (["tasks", "yield"], ["--repeat", 2], "--repeat is 2 at rank 0, "),
    (["bfs", "g.ew"], ["--source", 1], "--source is 1 at rank 0, 0 at rank 1"),
    (["pagerank", "g.ew"], ["--profile"], PROFILED),
    (["wcc", "g.ew"], ["--profile-page", "page.html"], PROFILED),
    (["sort", "g.el", "--record", 1, "--key", "0:1", "-o", "sorted"], ["--trace", "trace.json"], PROFILED),
    (["tasks", "yield"], ["--profile"], PROFILED),
], ids=lambda words: str(words[0])[:20])
def test_no_option_that_matters_differs(edgewire, several, hosts, path, tmp_path, command, mine, said):
    edgewire.ok("convert", path, "-o", tmp_path / "g.el")
    options = [{"g.ew": path, "g.el": tmp_path / "g.el"}.get(word, word) for word in command] + hosts(2)
    other = ["--source", 0] if command[0] == "bfs" else []
    for status, lines, _ in several([[*options, *mine, "--rank", 0], [*options, *other, "--rank", 1]], cwd=tmp_path):
        line, = causes(lines)
        assert status == 1 and said in line, line


def test_options_of_equal_meaning_agree(edgewire, several, hosts, path, tmp_path):
    """Numbers by their value, files by what is in them."""
    vertices = json.loads(edgewire.ok("info", path, "--json", "-"))["vertices"]
    halves = "".join(f"{v % 2}\n" for v in range(vertices))
    for name in ("one", "other"):
        (tmp_path / name).write_text(halves)
    (tmp_path / "wrong").write_text("".join(f"{2 * v // vertices}\n" for v in range(vertices)))
    options = ["pagerank", path, "--iterations", 3, *hosts(2)]
    of = [[*options, "--damping", "0.850", "--ownership", tmp_path / "one", "--rank", 0],
          [*options, "--damping", "0.85", "--ownership", tmp_path / "other", "--rank", 1]]
    assert [status for status, _, _ in several(of)] == [0, 0]
    of[1][of[1].index(tmp_path / "other")] = tmp_path / "wrong"
    for status, lines, _ in several(of)[2:]:  # those of the first two are before them
        line, = causes(lines)
        assert status == 1 and ": the ownership is a partition file with checksum " in line, line


# ---- containers of one pod -----------------------------------------------------------------------------------------------


@pytest.fixture
def container():
    """What starts a process with PIDs and mounts of its own, and the network of this one."""
    command = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    if why := rights.refusal(*command, "true"):
        pytest.skip(f"no PID namespaces here ({why})")
    return command


@pytest.mark.parametrize("kernel", [["pagerank", "--iterations", 3], ["wcc"]], ids=lambda words: words[0])
def test_containers_of_one_pod_take_tcp(running, container, hosts, path, tmp_path, kernel):
    options = [kernel[0], path, *kernel[1:], *hosts(3), "-w", 1]
    ranks = [running([*options, "--rank", 0, "--json", tmp_path / "report.json"]), running([*options, "--rank", 1]),
             running([*options, "--rank", 2], container)]
    for rank in ranks:
        lines_of(rank, 0)
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["transport"] == "tcp"
    assert re.fullmatch(r"no shared memory: rank \d cannot share memory with rank \d: it is in another container \(PID namespace\)",
                        report["transport_reason"])


def test_containers_of_one_pod_say_why_there_is_no_shared_memory(running, container, hosts, path):
    options = ["pagerank", path, *hosts(2), "-w", 1, "--transport", "shm"]
    for rank in [running([*options, "--rank", 0]), running([*options, "--rank", 1], container)]:
        line, = lines_of(rank)
        assert line.endswith("cannot share memory with rank 1: it is in another container (PID namespace) "
                             "(--transport tcp or auto goes another way)"), line


def test_another_user_in_the_pod(running, run_by, hosts, tmp_path, open_folder):
    """Its process may not look into others; a copy of the secret is its own."""
    another = run_by(rights.ANOTHER)
    options = hosts(2)
    path = reference.write_graph(open_folder / "g.ew", graphs.make("self loops"))
    secret = shutil.copy(options[3], open_folder / "secret")
    os.chown(secret, rights.ANOTHER, rights.ANOTHER)
    options[1] = shutil.copy(options[1], open_folder / "hosts")
    arguments = ["pagerank", path, "-w", 1, "--iterations", 3]
    ranks = [running([*arguments, *options, "--rank", 0, "--json", tmp_path / "report.json"]),
             running([*arguments, *options[:3], secret, *options[4:], "--rank", 1], another.through, another.program)]
    for rank in ranks:
        lines_of(rank, 0)
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["transport"] == "tcp" and "Permission denied" in report["transport_reason"]


# ---- many processes ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_many_processes_say_a_loss_once(running, path):
    """More than a few survivors say the same: one line is enough."""
    process = running(["pagerank", path, "-p", 40, "-w", 1, "--iterations", 1000000, "--peer-timeout", LIVE_PEER_S])
    pids = wait_for(lambda: len(found := children(process.pid)) == 40 and found, "the processes")
    os.kill(pids[7], signal.SIGSTOP)
    os.kill(pids[7], signal.SIGKILL)
    lines = lines_of(process)
    assert len([line for line in lines if "rank 7 was lost" in line]) == 1 and len(lines) <= 2, lines
