"""What happens to a job when one of its processes dies, stops or never comes."""

import contextlib
import os
import re
import signal
import socket
import time

import pytest

import graphs
import reference
from processes import (DEAD_PEER_S, LIMIT_S, LIVE_PEER_S, PATIENCE_S, causes, children, cpu_seconds, has_file_in, is_gone,
                       start_seconds, status_fields, wait_for)


def threads_are_stopped(pid):
    with contextlib.suppress(OSError):
        return all(status_fields(f"{pid}/task/{task}")[:1] == ["T"] for task in os.listdir(f"/proc/{pid}/task"))
    return False


@pytest.fixture(scope="session")
def endless(edgewire, tmp_path_factory):
    """Arguments of a run that would take hours."""
    path = tmp_path_factory.mktemp("endless") / "g.ew"
    edgewire.ok("generate", "kronecker", "--scale", 10, "-o", path)
    return ["pagerank", path, "--iterations", 1000000]


class Running:
    """A local job and its processes, by rank."""

    def __init__(self, edgewire, arguments, processes):
        self.process = edgewire.start(*arguments, "-p", processes)
        self.pids = wait_for(lambda: len(found := children(self.process.pid)) == processes and found, "the processes")

    def iterates(self):
        """Setting up takes some hundredths of a second; more than this is iterations."""
        wait_for(lambda: min(map(cpu_seconds, self.pids)) > 0.15, "iterations")
        return self

    def end(self):
        """Exit status and lines on stderr. It ends by itself, however busy the machine is."""
        stdout, stderr = self.process.communicate(timeout=PATIENCE_S)
        assert stdout == ""
        return self.process.returncode, stderr.splitlines()


@pytest.fixture
def job(edgewire, endless, tmp_path):
    """job(processes, options...) starts a job; what is left of it is killed when the test ends."""
    jobs = []

    def start(processes, *options):
        jobs.append(Running(edgewire, [*endless, "-w", 1, "-o", tmp_path / "ranks.tsv", *options], processes))
        return jobs[-1]

    yield start
    for one in jobs:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(one.process.pid, signal.SIGKILL)
        one.process.wait()
    assert not (tmp_path / "ranks.tsv").exists()


def check_survivors(lines, victim, processes, cause=""):
    """Each survivor has said a line of its own that names the victim and what has become of it: one that was lost is
    noticed at once, one that has been silent at the peer timeout."""
    for rank in range(processes):
        if rank != victim:
            told = [line for line in lines if line.startswith(f"edgewire: rank {rank}: ")]
            assert len(told) == 1, lines
            assert re.search(rf"\brank {victim}\b.*{cause}", told[0].removeprefix(f"edgewire: rank {rank}:")), lines


@pytest.mark.sanitize
@pytest.mark.parametrize("transport", ["shm", "tcp"])
@pytest.mark.parametrize("victim", [0, 1, 2])
def test_a_process_is_killed_in_an_iteration(job, victim, transport):
    running = job(3, "--peer-timeout", LIVE_PEER_S, "--transport", transport).iterates()
    os.kill(running.pids[victim], signal.SIGKILL)
    status, lines = running.end()
    assert status == 1
    check_survivors(lines, victim, 3, "was lost")


@pytest.mark.parametrize("transport", ["shm", "tcp"])
@pytest.mark.parametrize("victim", [0, 1])
def test_a_process_is_killed_while_the_job_is_set_up(job, victim, transport):
    """It is stopped as soon as it is there, so that the others wait for it in their first common step."""
    running = job(3, "--peer-timeout", LIVE_PEER_S, "--transport", transport)
    os.kill(running.pids[victim], signal.SIGSTOP)
    wait_for(lambda: threads_are_stopped(running.pids[victim]), "the stop")
    os.kill(running.pids[victim], signal.SIGKILL)
    status, lines = running.end()
    assert status == 1
    check_survivors(lines, victim, 3, "was lost")


@pytest.mark.sanitize
@pytest.mark.parametrize("transport", ["shm", "tcp"])
@pytest.mark.parametrize("victim, when", [pytest.param(0, "iterating", marks=pytest.mark.slow), (2, "iterating"), pytest.param(1, "starting", marks=pytest.mark.slow)])
def test_a_process_is_stopped(job, victim, when, transport):
    running = job(3, "--peer-timeout", DEAD_PEER_S, "--transport", transport)
    if when == "iterating":
        running.iterates()
    os.kill(running.pids[victim], signal.SIGSTOP)
    status, lines = running.end()  # when the survivors have ended, the stopped one is killed
    assert status == 1
    check_survivors(lines, victim, 3, "has been silent")


def test_a_process_is_stopped_for_less_than_the_timeout(edgewire, endless, tmp_path):
    path = endless[1]
    started = edgewire.start("pagerank", path, "-p", 2, "-w", 1, "--iterations", 30000, "--peer-timeout", DEAD_PEER_S, "-o",
                             tmp_path / "ranks.tsv")
    pids = wait_for(lambda: len(found := children(started.pid)) == 2 and found, "the processes")
    wait_for(lambda: cpu_seconds(pids[1]) > 0.03 or started.poll() is not None, "iterations")
    with contextlib.suppress(ProcessLookupError):
        os.kill(pids[1], signal.SIGSTOP)
        time.sleep(DEAD_PEER_S / 5)  # so long it is stopped
        os.kill(pids[1], signal.SIGCONT)
    _, stderr = started.communicate(timeout=LIMIT_S)
    assert started.returncode == 0, stderr
    assert (tmp_path / "ranks.tsv").exists()


@pytest.mark.sanitize
@pytest.mark.parametrize("when", ["starting", "iterating"])
def test_the_parent_is_killed(job, when):
    running = job(3)
    if when == "iterating":
        running.iterates()
    os.kill(running.process.pid, signal.SIGKILL)
    running.end()
    wait_for(lambda: all(map(is_gone, running.pids)), "the end of the children")


@pytest.mark.sanitize
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
@pytest.mark.parametrize("processes", [1, 3])
def test_a_signal_ends_the_job(job, edgewire, endless, tmp_path, processes, number):
    if processes == 1:
        started = edgewire.start(*endless, "-w", 1, "-o", tmp_path / "ranks.tsv")
        begun = 2 * start_seconds() + 0.15
        wait_for(lambda: cpu_seconds(started.pid) > begun, "iterations")
        started.send_signal(number)
        started.communicate(timeout=PATIENCE_S)
        assert started.returncode in (-number, 128 + number)
        assert not (tmp_path / "ranks.tsv").exists()
        return
    running = job(processes).iterates()
    running.process.send_signal(number)
    status, _ = running.end()
    assert status == 128 + number


# ---- host lists: each process is started on its own ------------------------------------------------------------------

TIME_TO_COME_S = 10  # for a process that comes; one that does not is given up then


@pytest.fixture
def path(tmp_path):
    return reference.write_graph(tmp_path / "g.ew", graphs.make("self loops"))


@pytest.mark.sanitize
@pytest.mark.parametrize("transport", ["auto", "tcp"])
def test_a_host_list(several, hosts, path, tmp_path, transport):
    options = ["pagerank", path, *hosts(3), "--transport", transport]
    output = tmp_path / "ranks.tsv"
    results = several([[*options, "--rank", 0, "-o", output]] + [[*options, "--rank", rank] for rank in (1, 2)])
    assert [status for status, _, _ in results] == [0, 0, 0], results
    lines = output.read_text().splitlines()
    expected, _ = reference.pagerank(graphs.make("self loops"))
    assert [float(line.split("\t")[1]) for line in lines] == pytest.approx(expected, rel=1e-6)


def test_a_host_list_from_the_environment(several, hosts, path, edgewire):
    options = hosts(2)
    started = [edgewire.start("pagerank", path, env={
        "EDGEWIRE_HOSTS": str(options[1]), "EDGEWIRE_RANK": str(rank), "EDGEWIRE_SECRET_FILE": str(options[3])})
        for rank in (0, 1)]
    for process in started:
        _, stderr = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0, stderr


@pytest.mark.sanitize
@pytest.mark.parametrize("other", [
    ["--iterations", 21], ["--damping", 0.8], ["--tolerance", 0.1], ["--pagerank-2015"], ["--strategy", "edge"],
    ["--ownership", "ranges"], ["-w", 2], ["--transport", "tcp"], ["--integrity", "off"], "another graph",
    "another graph of the same size",
], ids=str)
def test_processes_that_do_not_agree(several, hosts, path, tmp_path, other):
    graph = graphs.make("self loops")
    arguments = [path, "-w", 1, "--transport", "shm"]
    if other == "another graph":
        others = [reference.write_graph(tmp_path / "other.ew", graphs.make("path")), *arguments[1:]]
    elif other == "another graph of the same size":
        graph.targets[0] = (graph.targets[0] + 1) % 100
        others = [reference.write_graph(tmp_path / "other.ew", graph), *arguments[1:]]
    else:
        others = [*arguments, *other] if "-w" not in other and "--transport" not in other else \
            [path, *({"-w": 1, "--transport": "shm"} | {other[0]: other[1]}).popitem(), *arguments[1:]][:1] + \
            [item for pair in ({"-w": 1, "--transport": "shm"} | {other[0]: other[1]}).items() for item in pair]
    options = hosts(2)
    results = several([["pagerank", *arguments, *options, "--rank", 0], ["pagerank", *others, *options, "--rank", 1]])
    for rank, (status, lines, _) in enumerate(results):
        assert status == 1
        assert len(causes(lines)) == 1 and "different graphs or options: " in causes(lines)[0], (rank, lines)


@pytest.mark.sanitize
@pytest.mark.parametrize("victim", [0, 1])
@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGSTOP], ids=lambda number: number.name)
def test_a_host_is_lost(edgewire, endless, hosts, victim, how):
    options = hosts(3)
    if how == signal.SIGSTOP:
        options[options.index("--peer-timeout") + 1] = DEAD_PEER_S
    started = [edgewire.start(*endless, *options, "-w", 1, "--transport", "tcp", "--rank", rank) for rank in range(3)]
    try:
        begun = 2 * start_seconds() + 0.15
        wait_for(lambda: min(cpu_seconds(process.pid) for process in started) > begun, "iterations")
        started[victim].send_signal(how)
        for rank, process in enumerate(started):
            if rank == victim:
                continue
            _, stderr = process.communicate(timeout=PATIENCE_S)
            assert process.returncode == 1
            cause = causes(stderr.splitlines())
            assert len(cause) == 1 and cause[0].startswith(f"edgewire: rank {rank}: rank {victim}"), stderr
    finally:
        for process in started:
            process.kill()
            process.communicate()


@pytest.mark.parametrize("kernel", [["bfs", "--source", 0], ["pagerank"]], ids=lambda words: words[0])
def test_other_options_in_another_process_are_named(several, hosts, path, kernel):
    options = [*kernel, path, *hosts(2)]
    results = several([[*options, "--rank", 0], [*options, "--rank", 1, "--edges", "disk"]])
    for status, lines, _ in results:  # of its own comparison, or of the other one's
        assert status == 1 and len(lines) == 1, results
        assert "different graphs or options: --edges is memory at rank 0, disk at rank 1" in lines[0], lines


def test_one_host_never_comes(several, hosts, path):
    options = ["pagerank", path, *hosts(3)]
    address = options[3].read_text().partition(":")[0]
    impatient = list(options)
    impatient[impatient.index("--start-timeout") + 1] = TIME_TO_COME_S
    results = several([[*impatient, "--rank", 0], [*options, "--rank", 1]])
    assert f"rank 2 ({address}) has not connected within {TIME_TO_COME_S}" in causes(results[0][1])[0]
    assert "rank 0" in causes(results[1][1])[0]
    assert [status for status, _, _ in results] == [1, 1]


@pytest.mark.parametrize("secret", ["another secret of the tests", pytest.param("a secret of the test", marks=pytest.mark.slow)])
def test_a_wrong_secret(several, hosts, path, tmp_path, secret):
    options = hosts(2)
    options[options.index("--start-timeout") + 1] = TIME_TO_COME_S
    wrong = tmp_path / "wrong"
    wrong.write_text(secret)
    wrong.chmod(0o600)
    others = [*options[:3], wrong, *options[4:]]
    results = several([["pagerank", path, *options, "--rank", 0], ["pagerank", path, *others, "--rank", 1]])
    assert [status for status, _, _ in results] == [1, 1]
    assert any("refused" in line and "secret" in line for line in results[0][1]), results
    assert "secret" in causes(results[1][1])[-1], results


@pytest.mark.sanitize
@pytest.mark.parametrize("transport", ["shm", "tcp"])
def test_a_port_that_is_taken(edgewire, hosts, path, transport):
    options = hosts(2)
    address, port = options[1].read_text().split()[0].split(":")
    with socket.create_server((address, int(port))):
        line = edgewire.refused("pagerank", path, *options, "--rank", 0, "--transport", transport)
    assert port in line and "in use" in line


@pytest.mark.parametrize("content, cause", [
    ("", "no hosts"), ("# nobody\n\n", "no hosts"), ("127.0.0.1:0\n", "line 1: not a port"),
    ("127.0.0.1:70000\n", "line 1: not a port"), ("127.0.0.1:x\n", "line 1: not a port"),
    ("127.0.0.1\nb c\n", "line 2: 'c' after the address"), ("[::1\n", "line 1: no closing bracket"),
    ("127.0.0.1:7000\n127.0.0.1:7000\n", "listed twice"),
])
def test_a_bad_hosts_file(edgewire, hosts, path, content, cause):
    options = hosts(2)
    options[1].write_text(content)
    line = edgewire.refused("pagerank", path, *options, "--rank", 0)
    assert line.startswith(f"{options[1]}: ") and cause in line


def test_host_options_that_make_no_sense(edgewire, hosts, path, tmp_path):
    options = hosts(2)
    for rank in (2, 1000):
        assert "--rank must be below 2" in edgewire.refused("pagerank", path, *options, "--rank", rank, status=2)
    assert "--rank" in edgewire.refused("pagerank", path, *options, status=2)
    assert "--processes 3" in edgewire.refused("pagerank", path, *options, "--rank", 0, "-p", 3, status=2)
    assert "secret" in edgewire.refused("pagerank", path, *options[:2], "--rank", 0, status=2)
    options[1].unlink()
    assert str(options[1]) in edgewire.refused("pagerank", path, *options, "--rank", 0)
    for content, mode, cause in (("short", 0o600, "at least 16 bytes"), ("a secret of the tests", 0o640, "others can read")):
        bad = tmp_path / "bad"
        bad.write_text(content)
        bad.chmod(mode)
        line = edgewire.refused("pagerank", path, *hosts(2)[:2], "--secret-file", bad, "--rank", 0)
        assert str(bad) in line and cause in line


@pytest.mark.parametrize("option", ["--hosts", "--secret-file"])
def test_pipes_and_devices_are_no_host_lists_and_no_secrets(edgewire, hosts, path, tmp_path, option):
    os.mkfifo(tmp_path / "fifo")
    for odd in (tmp_path / "fifo", "/dev/zero"):
        options = hosts(2)
        options[options.index(option) + 1] = odd
        assert edgewire.refused("pagerank", path, *options, "--rank", 0, timeout=PATIENCE_S) == f"{odd}: is not a regular file"


def test_a_graph_file_that_is_not_finished_was_never_there(edgewire, tmp_path):
    try:
        os.close(os.open(tmp_path, os.O_TMPFILE | os.O_WRONLY))
    except OSError as error:
        pytest.skip(f"{tmp_path}: no files without a name: {error.strerror}")
    for how in (signal.SIGKILL, signal.SIGINT):
        process = edgewire.start("generate", "kronecker", "--scale", 21, "-o", tmp_path / "g.ew")
        wait_for(lambda: has_file_in(process.pid, tmp_path), "the file without a name")
        os.killpg(process.pid, how)
        process.communicate(timeout=PATIENCE_S)
        assert process.returncode == -how
        assert os.listdir(tmp_path) == []
