"""The RDMA backend, on a real RDMA stack in virtual machines (tests/lab/rdma-vm).

The tests that are marked `machine` run inside one virtual machine, all in one go; see lab.py.
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess

import pytest

import frontier
import lab
from iterating import iterating
from job import Job, check_report, check_tasks, on
from processes import PATIENCE_S, causes, wait_for
from test_failures import check_survivors

pytestmark = pytest.mark.slow

STRATEGIES = ["edge", "worker", "process", "slots", "cover"]
TIMEOUT_S = 10  # of jobs that have to notice silence; nobody else may be silent for so long, however busy the machine is
INFINIBAND = pathlib.Path("/sys/class/infiniband")


@pytest.fixture(scope="module")
def graph(kronecker):
    return kronecker(12)


@contextlib.contextmanager
def endless(edgewire, graph, folder, *transport, peer_timeout_s=PATIENCE_S):
    """A job of two processes that iterates; it leaves no ranks."""
    with iterating(edgewire, graph, 2, "-w", 1, *transport, "--peer-timeout", peer_timeout_s, "-o", folder / "ranks.tsv") as job:
        yield job
    assert not (folder / "ranks.tsv").exists()


@pytest.fixture
def running(edgewire, graph, tmp_path):
    with endless(edgewire, graph, tmp_path, "--transport", "verbs") as job:
        yield job


def state_of_ports():
    """Of each device: state of its port and addresses."""
    return {device.name: [(device / "ports/1/state").read_text(), *(gid.read_text() for gid in sorted(device.glob("ports/1/gids/*")))]
            for device in INFINIBAND.iterdir()}


@contextlib.contextmanager
def link_down(interface):
    """It is down; later tests find it, and the devices on it, as they were."""
    before = state_of_ports()
    subprocess.run(["ip", "link", "set", interface, "down"], check=True)
    try:
        yield
    finally:
        subprocess.run(["ip", "link", "set", interface, "up"], check=True)
        wait_for(lambda: state_of_ports() == before, f"the devices on {interface}")


@contextlib.contextmanager
def device_deleted(device, kind, interface):
    """A process that deletes the device, at once or when nobody uses it any more; afterwards there is one again."""
    deleting = subprocess.Popen(["rdma", "link", "delete", device])
    try:
        yield deleting
    finally:
        try:
            assert deleting.wait(timeout=PATIENCE_S) == 0
        finally:
            deleting.kill()
            deleting.wait()
            if not (INFINIBAND / device).exists():
                subprocess.run(["rdma", "link", "add", device, "type", kind, "netdev", interface], check=True)


def run_suite(*filters, **environment):
    """What the unit tests of the backends say; they pass."""
    suite = pathlib.Path(os.environ["EDGEWIRE"]).parent / "tests/unit/transport_test"
    done = subprocess.run([suite, *filters], capture_output=True, text=True, timeout=lab.TEST_LIMIT_S,
                          env={**os.environ, "EDGEWIRE_TEST_BACKEND": "verbs", **environment})
    assert done.returncode == 0, done.stdout
    return done.stdout


def same_as_over_shm(edgewire, folder, graph, options, transport):
    """The report of a job over this transport; ranks and bytes are those of shared memory."""
    jobs = []
    for name, over in (("other", transport), ("shm", ["--transport", "shm"])):
        (folder / name).mkdir()
        jobs.append(Job(edgewire, folder / name, graph, "--deterministic", *options, *over))
    assert jobs[0].report["transport"] == transport[1]
    assert jobs[0].report["checksum"] == jobs[1].report["checksum"]
    assert jobs[0].text == jobs[1].text
    assert jobs[0].report["bound"]["payload_bytes"] == jobs[1].report["bound"]["payload_bytes"]
    return jobs[0].report


@pytest.mark.machine
def test_a_machine_comes_up():
    """It takes as long as the machine does until its first test begins (lab.py)."""
    assert os.listdir("/sys/class/infiniband") == ["rxe0"]


@pytest.mark.machine
def test_the_suites_of_all_backends_hold():
    skipped = [line for line in run_suite().splitlines() if "skipped:" in line]
    # What names devices of its own has a run of its own.
    assert all("no DPDK ports" in line or "EDGEWIRE_TEST_" in line for line in skipped), skipped


@pytest.mark.machine
@pytest.mark.parametrize("processes, strategy, ownership", [*((2, strategy, "hash") for strategy in STRATEGIES), (4, "slots", "hash"),
                                                            (4, "cover", "hash"), (4, "slots", "hilbert"), (4, "cover", "grid")])
def test_ranks_are_those_of_shared_memory_and_bytes_those_of_the_plan(edgewire, graph, tmp_path, processes, strategy, ownership):
    options = ["-p", processes, "-w", 1, "--strategy", strategy, "--ownership", ownership, "--iterations", 5, "--peer-timeout", PATIENCE_S]
    same_as_over_shm(edgewire, tmp_path, graph, options, ["--transport", "verbs"])


@pytest.mark.machine
def test_several_lanes_three_processes_and_half_the_bytes(edgewire, graph):
    options = ["-p", 3, "-w", 2, "--transport", "verbs", "--peer-timeout", PATIENCE_S]
    edgewire.ok("pagerank", graph, *options, "--wire", "bf16")
    edgewire.ok("pagerank", graph, *options, "--verbs-device", "rxe0:1:1", "--verbs-traffic-class", 106, "--verify")


@pytest.mark.machine
@pytest.mark.parametrize("kernel", frontier.KERNELS)
@pytest.mark.parametrize("processes, workers", [(2, 1), (3, 2)])
def test_kernels_that_follow_a_frontier(edgewire, made_graph, tmp_path, kernel, processes, workers):
    path, graph = made_graph("kronecker both ways")
    source = int(graph.sources[0])
    found, report = frontier.run(edgewire, tmp_path, kernel, path, "-p", processes, "-w", workers, "--transport", "verbs",
                                 "--peer-timeout", PATIENCE_S, source=source)
    frontier.check(kernel, found, frontier.expected(kernel, graph, source))
    assert report["transport"] == "verbs" and sum(step["wire_bytes_sent"] for step in report["supersteps"]) > 0


@pytest.mark.machine
def test_tiles_on_disk(edgewire, graph, tmp_path, devices):
    """The other job has its edges in memory."""
    report = same_as_over_shm(edgewire, tmp_path, graph, ["-p", 3, "-w", 1, "--strategy", "slots", "--peer-timeout", PATIENCE_S],
                              ["--transport", "verbs", f"--plan-cache={devices[0]}", *on(*devices)])
    assert report["disk"]["edges"] == "written" and report["disk"]["bytes_read"] > 0


@pytest.mark.machine
@pytest.mark.parametrize("kernel", ["bfs", "sssp", "wcc", "bc"])
def test_rows_on_disk(edgewire, made_graph, tmp_path, devices, kernel):
    path, graph = made_graph("kronecker both ways")
    source = int(graph.sources[0])
    for edges in ("written", "found"):
        found, report = frontier.run(edgewire, tmp_path, kernel, path, "-p", 2, "-w", 1, "--transport", "verbs", "--peer-timeout", PATIENCE_S,
                                     *on(*devices), source=source)
        frontier.check(kernel, found, frontier.expected(kernel, graph, source))
        assert report["transport"] == "verbs" and report["disk"]["edges"] == edges


@pytest.mark.machine
def test_long_messages_between_tasks_are_read_where_they_lie():
    suite = pathlib.Path(os.environ["EDGEWIRE"]).parent / "tests/unit/tasks_test"
    done = subprocess.run([suite, "-tc=*bodies*"], capture_output=True, text=True, timeout=lab.TEST_LIMIT_S)
    assert done.returncode == 0 and "skipped:" not in done.stdout, done.stdout


@pytest.mark.machine
def test_tasks_and_their_results_arrive(edgewire):
    check_tasks(edgewire, 3, ["--transport", "verbs"])


@pytest.mark.machine
def test_a_killed_peer_is_named(edgewire, running):
    os.kill(running.pids[1], signal.SIGKILL)
    status, lines = running.end()
    assert status == 1
    check_survivors(lines, 1, 2, "was lost")  # at once, long before the peer timeout


@pytest.mark.machine
def test_a_stopped_peer_is_named(edgewire, graph, tmp_path):
    with endless(edgewire, graph, tmp_path, "--transport", "verbs", peer_timeout_s=TIMEOUT_S) as job:
        os.kill(job.pids[0], signal.SIGSTOP)
        status, lines = job.end()
    assert status == 1
    check_survivors(lines, 0, 2)


def verbs_of(edgewire):
    backends = {one["name"]: one for one in json.loads(edgewire.ok("transports", "--json", "-"))}
    assert backends["verbs"]["usable"] == (backends["verbs"]["reason"] == "")
    return backends["verbs"]["reason"]


@pytest.mark.machine
def test_wrong_choices_of_a_device_are_refused(edgewire, graph):
    def refused(device, **options):
        return edgewire.refused("pagerank", graph, "-p", 2, "--transport", "verbs", "--verbs-device", device, **options)

    assert verbs_of(edgewire) == ""
    assert re.fullmatch(r"rank \d: transport verbs: there is no RDMA device 'mlx5_0' \(known: rxe0\)", refused("mlx5_0"))
    assert re.fullmatch(r"rank \d: transport verbs: rxe0 port 1 has no GID 9", refused("rxe0:1:9"))
    assert "NAME[:PORT[:GID_INDEX]], and is 'rxe0:x'" in refused("rxe0:x", status=2)


@pytest.mark.machine
def test_too_little_locked_memory_is_said_with_the_remedy(edgewire, graph):
    """Root may lock any amount, so without that right."""
    command = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all", "--reuid", "65534", "--clear-groups",
               "prlimit", "--memlock=65536", edgewire.program]
    os.chmod("/dev/infiniband/uverbs0", 0o666)
    for folder in [graph, *graph.parents]:
        folder.chmod(folder.stat().st_mode | 0o055)
    listed = subprocess.run([*command, "transports"], capture_output=True, text=True, timeout=60)
    assert listed.returncode == 0 and "`ulimit -l` allows 64 KiB" in listed.stdout, listed
    run = subprocess.run([*command, "pagerank", str(graph), "-p", "2", "--transport", "verbs"], capture_output=True,
                         text=True, timeout=60)
    assert run.returncode == 1 and run.stderr.count("\n") == 1, run
    assert re.search(r"cannot register \d+ bytes with rxe0: `ulimit -l` allows 64 KiB.*limits.conf", run.stderr)


@pytest.mark.machine
def test_a_port_that_goes_down_ends_the_run(edgewire, graph, running):
    with link_down("eth0"):
        status, lines = running.end()
        assert verbs_of(edgewire) == "rxe0 port 1 is down (is its cable in? ip link set dev ... up)"
    assert status == 1
    assert lines and all("rxe0 port 1" in line for line in lines), lines


@pytest.mark.machine
def test_a_device_that_is_deleted_ends_the_run_or_waits_for_it(edgewire, graph):
    """Soft-RoCE, unlike a card, waits for those who use it."""
    with iterating(edgewire, graph, 2, "-w", 1, "--transport", "verbs", "--peer-timeout", PATIENCE_S, "--verify",
                   iterations=4000) as job, device_deleted("rxe0", "rxe", "eth0") as deleting:
        stdout, stderr = job.process.communicate(timeout=lab.TEST_LIMIT_S)
        assert (job.process.returncode == 0 and "passed" in stdout) or "rxe0" in stderr, (stdout, stderr)
        assert deleting.wait(timeout=PATIENCE_S) == 0
        assert "no RDMA device" in verbs_of(edgewire)
        assert "rdma link add" in edgewire.refused("pagerank", graph, "-p", 2, "--transport", "verbs")
    assert verbs_of(edgewire) == ""


@pytest.fixture(scope="module")
def network(edgewire, graph, tmp_path_factory):
    """The folder with all that two machines on a network of their own, two CPU cores each, left behind."""
    folder = tmp_path_factory.mktemp("network")
    lab.write_job(folder, ("g.ew", graph))
    lab.run(f"""
        cd {folder}
        run() {{
          exec {edgewire.program} pagerank g.ew --hosts hosts --rank $MACHINE --secret-file secret --transport verbs \
            --start-timeout {PATIENCE_S} "$@"
        }}
        set -e
        for_sure="--peer-timeout {PATIENCE_S}"
        (run -w 1 $for_sure --json short.$MACHINE --strategy slots --iterations 4)
        (run -w 1 $for_sure --json long.$MACHINE --strategy slots --iterations 9)
        (run -w 2 $for_sure --json several.$MACHINE --verify)
        (run -w 1 $for_sure --json cover.$MACHINE --strategy cover --verify)
        # Then the second machine loses its link while both iterate.
        run -w 1 --iterations 1000000 --checkpoint state --every 50 --peer-timeout {TIMEOUT_S} 2>said.$MACHINE & job=$!
        wait_for is_there state/manifest $job
        [ $MACHINE = 0 ] || ip link set eth0 down
        wait_for has_ended $job
        status=0
        wait $job || status=$?
        echo $status >ended.$MACHINE
        """, "-d", f"{folder}/packets", "-c", "2", machines=2, share=folder)
    return folder


@pytest.mark.machine(own=True)
def test_two_machines_on_a_network_of_their_own(network):
    for run in ("several", "cover", "short", "long"):
        report = json.loads((network / f"{run}.0").read_text())
        check_report(report)
        assert report["transport"] == "verbs" and report["processes"] == 2


@pytest.mark.machine(own=True)
def test_a_cut_link_between_machines_is_named_on_both(network):
    for rank in (0, 1):
        assert (network / f"ended.{rank}").read_text() == "1\n"
        lines = causes((network / f"said.{rank}").read_text().splitlines())
        assert len(lines) == 1 and re.search(rf"rank {1 - rank} .*(silent .*link|acknowledge.*port)|rxe0 port 1 went down", lines[0]), lines


def packets_of(path):
    """Of each RoCE v2 packet: receiver and queue pair, sequence number, opcode, bytes that a write announces."""
    if not shutil.which("tshark"):
        pytest.skip("tshark is not installed")
    fields = ["ip.dst", "infiniband.bth.destqp", "infiniband.bth.psn", "infiniband.bth.opcode", "infiniband.reth.dmalen"]
    listed = subprocess.run(["tshark", "-r", path, "-Y", "infiniband", "-T", "fields", *(word for name in fields for word in ("-e", name))],
                            capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        host, pair, number, opcode, length = line.split("\t")
        yield (host, pair), number, int(opcode), int(length or 0)


@pytest.mark.machine(own=True)
def test_the_packets_are_writes_of_the_planned_bytes_and_their_acknowledgements(network):
    # InfiniBand Architecture Specification 1.4, table 38: reliable connections.
    first, middle, last, only, only_with_immediate, acknowledge = 6, 7, 8, 10, 11, 17
    writes = {}
    for connection, number, opcode, length in packets_of(network / "packets"):
        assert opcode in {first, middle, last, only, only_with_immediate, acknowledge}
        if opcode != acknowledge:
            sent = writes.setdefault(connection, {})
            sent[number] = length if opcode in (first, only) else 0  # what is sent again counts once
    hosts = {}
    for (host, _), sent in writes.items():
        hosts.setdefault(host, []).append(sum(sent.values()))
    assert set(hosts) == {"10.8.0.1", "10.8.0.2"}
    # The first two runs have one connection each. They differ by five iterations, in each of which a process also sends its two sums over
    # all vertices, 16 bytes.
    short, long = (sum(runs[which] for runs in hosts.values()) for which in (0, 1))
    payload = json.loads((network / "long.0").read_text())["bound"]["payload_bytes"]
    assert long - short == 5 * (payload + 2 * 16)
