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
import time

import pytest

import frontier
import lab
from job import Job, check_report, check_tasks
from processes import cpu_seconds, wait_for
from test_failures import Running, check_survivors

pytestmark = pytest.mark.slow

STRATEGIES = ["edge", "worker", "process", "slots", "cover"]


@pytest.fixture(scope="module")
def graph(kronecker):
    return kronecker(12)


@contextlib.contextmanager
def iterating(edgewire, graph, folder, *transport):
    """A job of two processes that iterates; it is killed at the end, and leaves no ranks."""
    job = Running(edgewire, ["pagerank", graph, "--iterations", 1000000, "-w", 1, *transport,
                             "--peer-timeout", 5, "-o", folder / "ranks.tsv"], 2)
    try:
        wait_for(lambda: min(map(cpu_seconds, job.pids)) > 3, "iterations")  # everything takes longer there
        yield job
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(job.process.pid, signal.SIGKILL)
        job.process.wait()
    assert not (folder / "ranks.tsv").exists()


@pytest.fixture
def running(edgewire, graph, tmp_path):
    with iterating(edgewire, graph, tmp_path, "--transport", "verbs") as job:
        yield job


def run_suite(*filters, **environment):
    """What the unit tests of the backends say; they pass."""
    suite = pathlib.Path(os.environ["EDGEWIRE"]).parent / "tests/unit/transport_test"
    done = subprocess.run([suite, *filters], capture_output=True, text=True, timeout=200,
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
def test_the_suites_of_all_backends_hold():
    skipped = [line for line in run_suite().splitlines() if "skipped:" in line]
    # What names devices of its own has a run of its own.
    assert all("no DPDK ports" in line or "EDGEWIRE_TEST_" in line for line in skipped), skipped


@pytest.mark.machine
@pytest.mark.parametrize("processes, strategy", [*((2, strategy) for strategy in STRATEGIES), (4, "slots"), (4, "cover")])
def test_ranks_are_those_of_shared_memory_and_bytes_those_of_the_plan(edgewire, graph, tmp_path, processes, strategy):
    options = ["-p", processes, "-w", 1, "--strategy", strategy, "--iterations", 5, "--peer-timeout", 30]
    same_as_over_shm(edgewire, tmp_path, graph, options, ["--transport", "verbs"])


@pytest.mark.machine
def test_several_lanes_three_processes_and_half_the_bytes(edgewire, graph):
    edgewire.ok("pagerank", graph, "-p", 3, "-w", 2, "--transport", "verbs", "--wire", "bf16")
    edgewire.ok("pagerank", graph, "-p", 3, "-w", 2, "--transport", "verbs", "--verbs-device", "rxe0:1:1",
                "--verbs-traffic-class", 106, "--verify")


@pytest.mark.machine
@pytest.mark.parametrize("kernel", frontier.KERNELS)
@pytest.mark.parametrize("processes, workers", [(2, 1), (3, 2)])
def test_kernels_that_follow_a_frontier(edgewire, made_graph, tmp_path, kernel, processes, workers):
    path, graph = made_graph("kronecker both ways")
    source = int(graph.sources[0])
    found, report = frontier.run(edgewire, tmp_path, kernel, path, "-p", processes, "-w", workers, "--transport", "verbs",
                                 "--peer-timeout", 30, source=source)
    frontier.check(kernel, found, frontier.expected(kernel, graph, source))
    assert report["transport"] == "verbs" and sum(step["wire_bytes_sent"] for step in report["supersteps"]) > 0


@pytest.mark.machine
def test_sort_and_tasks(edgewire, tmp_path):
    over = ["-p", 3, "-w", 1, "--transport", "verbs", "--peer-timeout", 30, "--json", tmp_path / "report.json"]
    edgewire.ok("generate", "records", "--bytes", "200k", "-o", tmp_path / "in")
    edgewire.ok("sort", *(tmp_path / "in").iterdir(), "-o", tmp_path / "out", "--partitions", 4, "--check", *over)
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["transport"] == "verbs" and report["bytes_sent"] > 0
    edgewire.ok("tasks", "number-inc", "--count", 100, "--repeat", 1, *over)
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["transport"] == "verbs" and report["result"] == "200" and min(report["tasks_run"]) > 0


@pytest.mark.machine
def test_long_messages_between_tasks_are_read_where_they_lie():
    suite = pathlib.Path(os.environ["EDGEWIRE"]).parent / "tests/unit/tasks_test"
    done = subprocess.run([suite, "-tc=*bodies*"], capture_output=True, text=True, timeout=200)
    assert done.returncode == 0 and "skipped:" not in done.stdout, done.stdout


@pytest.mark.machine
def test_tasks_and_their_results_arrive(edgewire):
    check_tasks(edgewire, 3, ["--transport", "verbs"])


@pytest.mark.machine
def test_a_killed_peer_is_named(edgewire, running):
    os.kill(running.pids[1], signal.SIGKILL)
    status, lines = running.end()
    assert status == 1
    check_survivors(lines, 1, 2)


@pytest.mark.machine
def test_a_stopped_peer_is_named(edgewire, running):
    os.kill(running.pids[0], signal.SIGSTOP)
    status, lines = running.end()
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
    assert "NAME[:PORT[:GID_INDEX]], not 'rxe0:x'" in refused("rxe0:x", status=2)


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
    subprocess.run(["ip", "link", "set", "eth0", "down"], check=True)
    try:
        status, lines = running.end()
        assert verbs_of(edgewire) == "rxe0 port 1 is down (is its cable in? ip link set dev ... up)"
    finally:
        subprocess.run(["ip", "link", "set", "eth0", "up"], check=True)
        time.sleep(1)
    assert status == 1
    assert lines and all("rxe0 port 1" in line for line in lines), lines


@pytest.mark.machine
def test_a_device_that_is_deleted_ends_the_run_or_waits_for_it(edgewire, graph):
    """Soft-RoCE, unlike a card, waits for those who use it."""
    job = Running(edgewire, ["pagerank", graph, "--iterations", 4000, "-w", 1, "--transport", "verbs", "--verify"], 2)
    wait_for(lambda: min(map(cpu_seconds, job.pids)) > 3, "iterations")
    deleting = subprocess.Popen(["rdma", "link", "delete", "rxe0"])
    stdout, stderr = job.process.communicate(timeout=120)
    assert (job.process.returncode == 0 and "passed" in stdout) or "rxe0" in stderr, (stdout, stderr)
    assert deleting.wait(timeout=30) == 0
    assert "no RDMA device" in verbs_of(edgewire)
    assert "rdma link add" in edgewire.refused("pagerank", graph, "-p", 2, "--transport", "verbs")
    subprocess.run(["rdma", "link", "add", "rxe0", "type", "rxe", "netdev", "eth0"], check=True)
    assert verbs_of(edgewire) == ""


@pytest.fixture(scope="module")
def network(edgewire, graph, tmp_path_factory):
    """The folder with all that two machines on a network of their own, two CPU cores each, left behind."""
    folder = tmp_path_factory.mktemp("network")
    lab.write_job(folder, ("g.ew", graph))
    lab.run(f"""
        cd {folder}
        run() {{
          {edgewire.program} pagerank g.ew --hosts hosts --rank $MACHINE --secret-file secret --transport verbs "$@"
        }}
        set -e
        run -w 1 --json short.$MACHINE --strategy slots --iterations 4
        run -w 1 --json long.$MACHINE --strategy slots --iterations 9
        run -w 2 --json several.$MACHINE --verify
        run -w 1 --json cover.$MACHINE --strategy cover --verify
        # Then the second machine loses its link while both iterate.
        run -w 1 --iterations 1000000 --peer-timeout 5 2>said.$MACHINE & job=$!
        until [ "$(ps -o cputimes= -C edgewire)" -gt 1 ]; do kill -0 $job; sleep 0.2; done
        touch iterates.$MACHINE
        if [ $MACHINE = 1 ]; then
          until [ -e iterates.0 ]; do sleep 0.2; done
          touch cut
          ip link set eth0 down
        fi
        status=0
        wait $job || status=$?
        echo $status >ended.$MACHINE
        """, "-d", f"{folder}/packets", "-c", "2", machines=2, share=folder)
    return folder


def test_two_machines_on_a_network_of_their_own(network):
    for run in ("several", "cover", "short", "long"):
        report = json.loads((network / f"{run}.0").read_text())
        check_report(report)
        assert report["transport"] == "verbs" and report["processes"] == 2


def test_a_cut_link_between_machines_is_named_on_both(network):
    cut = (network / "cut").stat().st_mtime
    for rank in (0, 1):
        ended = network / f"ended.{rank}"
        assert ended.read_text() == "1\n"
        assert ended.stat().st_mtime - cut < 5 + 3  # to end, and all that on slow machines
        lines = (network / f"said.{rank}").read_text().splitlines()
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
