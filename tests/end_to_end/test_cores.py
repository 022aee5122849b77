"""Which cores and how much memory a job takes: not those of other jobs, and no more than control groups allow."""

import contextlib
import json
import os
import pathlib
import select
import signal
import socket

import pytest

from control_groups import cpu_group, memory_group
from processes import children, wait_for


@pytest.fixture
def two_cores(tmp_path):
    """Options of programs that have two cores, and share them with nobody but each other."""
    cores = sorted(os.sched_getaffinity(0))[:2]
    if len(cores) < 2:
        pytest.skip("needs two cores")
    runtime = tmp_path / "runtime"
    runtime.mkdir(0o700)
    return {"env": {"XDG_RUNTIME_DIR": str(runtime)}, "preexec_fn": lambda: os.sched_setaffinity(0, cores)}


@pytest.fixture
def running(edgewire):
    """running(arguments, options) starts a program, which is killed at the end of the test."""
    with contextlib.ExitStack() as stack:
        def start(*arguments, **options):
            process = stack.enter_context(edgewire.start(*arguments, **options))
            stack.callback(process.kill)
            return process

        yield start


def pinned(process):
    """The cores that threads of a job are pinned to and that it has locked. While hwloc looks at the machine, its thread
    goes from core to core, but that is before any are locked."""
    found = set()
    for pid in (process.pid, *children(process.pid)):
        with contextlib.suppress(OSError):
            files = [os.readlink(file) for file in pathlib.Path(f"/proc/{pid}/fd").glob("*")]
            locked = {int(name.rpartition("core-")[2]) for name in files if "/edgewire/core-" in name}
            for task in pathlib.Path(f"/proc/{pid}/task").glob("*"):
                cores = os.sched_getaffinity(int(task.name))
                found |= cores & locked if len(cores) == 1 else set()
    return found


def endless(graph):
    """Arguments of a run that takes longer than any test."""
    return "pagerank", graph, "-w", 1, "--iterations", 1_000_000


@pytest.fixture
def placed(edgewire, tmp_path):
    """placed(arguments, options) runs a job; gives the place of each process from its report, and the lines on stderr."""
    def run(*arguments, **options):
        result = edgewire(*arguments, "--json", tmp_path / "report.json", **options)
        assert result.returncode == 0, result.stderr
        return json.loads((tmp_path / "report.json").read_text())["placement"], result.stderr.splitlines()

    return run


@pytest.mark.parametrize("command", [["pagerank", "--iterations", 3], ["bfs", "--source", 0]])
def test_jobs_side_by_side_have_different_cores(running, placed, two_cores, kronecker, command):
    kernel, *options = command
    graph = kronecker(14)
    first = running(*endless(graph), **two_cores)
    (a,) = wait_for(lambda: pinned(first), "the cores of the first job")
    second = running(*endless(graph), **two_cores)
    (b,) = wait_for(lambda: pinned(second), "the cores of the second job")
    assert a != b
    places, lines = placed(kernel, graph, *options, "-w", 1, **two_cores)
    assert lines == ["edgewire: warning: 2 of 2 cores are pinned by other jobs: workers are not pinned, and wait by blocking"]
    assert "1 worker on any core (2 of 2 cores are pinned by other jobs); memory on node" in places[0]
    second.send_signal(signal.SIGKILL)
    second.wait()
    places, lines = placed(kernel, graph, *options, "-w", 1, **two_cores)
    assert f"1 worker on cores {b}; memory on node" in places[0] and not lines
    places, lines = placed(kernel, graph, *options, "-p", 2, "-w", 1, **two_cores)
    assert len(lines) == 1 and "1 of 2 cores is pinned by other jobs" in lines[0]
    assert len(places) == 2 and all("1 worker on any core (1 of 2 cores is pinned" in place for place in places)


def test_topology_shows_the_cores_that_a_job_has_pinned(edgewire, running, two_cores, kronecker):
    assert json.loads(edgewire.ok("topology", "--json", "-", **two_cores))["cores_pinned"] == []
    assert "pinned" not in edgewire.ok("topology", **two_cores)
    job = running(*endless(kronecker(14)), **two_cores)
    (core,) = wait_for(lambda: pinned(job), "the core of the job")
    assert json.loads(edgewire.ok("topology", "--json", "-", **two_cores))["cores_pinned"] == [core]
    assert f"\n            jobs have pinned {core}\n" in edgewire.ok("topology", **two_cores)


def test_processes_of_a_job_share_what_the_first_one_claims(running, two_cores, kronecker):
    job = running(*endless(kronecker(14)), "-p", 2, "--transport", "tcp", **two_cores)
    cores = wait_for(lambda: len(found := pinned(job)) == 2 and found, "the cores of the job")
    files = pathlib.Path(two_cores["env"]["XDG_RUNTIME_DIR"], "edgewire").glob("core-*")
    assert {int(file.name.removeprefix("core-")) for file in files} == cores


def test_cores_of_processes_that_are_started_one_by_one(several, hosts, two_cores, kronecker, tmp_path):
    """On addresses of their own, so that each takes itself for the only one of its host."""
    report = tmp_path / "report.json"
    options = ["pagerank", kronecker(12), "-w", 1, *hosts(2), "--json", report]
    results = several([[*options, "--rank", rank] for rank in range(2)], **two_cores)
    assert [(status, lines) for status, lines, _ in results] == [(0, []), (0, [])]
    assert len({place.split(" on ")[1].split(";")[0] for place in json.loads(report.read_text())["placement"]}) == 2


def test_a_cpu_quota_bounds_workers(edgewire, placed, two_cores, kronecker):
    with cpu_group(15_000, 10_000) as enter:
        def prepare():
            two_cores["preexec_fn"]()
            enter()

        options = {**two_cores, "preexec_fn": prepare}
        found = json.loads(edgewire.ok("topology", "--json", "-", **options))
        assert found["cpu_quota"] == 1.5 and len(found["processes"][0]["workers"]) == 1
        text = edgewire.ok("topology", "-w", 2, **options)
        assert "cores       2 on" in text and "; CPU quota 1.5\n" in text
        assert "more workers (2) than cores (1 by the CPU quota of 1.5)" in text
        places, lines = placed("pagerank", kronecker(12), "--iterations", 3, **options)
        assert "1 worker on cores" in places[0] and not lines
        places, lines = placed("pagerank", kronecker(12), "--iterations", 3, "-w", 2, **options)
        assert "2 workers on any core; memory" in places[0]
        assert lines == ["edgewire: warning: 2 workers on 2 cores with a CPU quota of 1.5: they wait for each other"]
    assert json.loads(edgewire.ok("topology", "--json", "-", **two_cores))["cpu_quota"] is None


def test_memory_that_a_group_allows_is_what_there_is(edgewire, tmp_path):
    limit = 300 << 20
    with memory_group(limit) as enter:
        assert json.loads(edgewire.ok("topology", "--json", "-", preexec_fn=enter))["memory_bytes"] == limit
        assert ", of which control groups allow 300 MiB\n" in edgewire.ok("topology", preexec_fn=enter)
        refused = edgewire.refused("generate", "kronecker", "--scale", 24, "-o", tmp_path / "g.ew", preexec_fn=enter)
        assert " of memory, " in refused and refused.endswith(" MB are available"), refused
        assert int(refused.split()[-4]) < limit / 1e6


def test_sort_and_convert_keep_to_the_memory_that_a_group_allows(edgewire, tmp_path):
    (tmp_path / "g.txt").write_text("1 2\n2 3\n")
    edgewire.ok("generate", "records", "--bytes", "100k", "-o", tmp_path / "in")
    report = tmp_path / "report.json"
    commands = (("sort", *sorted((tmp_path / "in").iterdir()), "--record", 100), ("convert", tmp_path / "g.txt"))
    with memory_group(400 << 20) as enter:
        for name, options in (("limited", {"preexec_fn": enter}), ("free", {})):
            for command, *more in commands:
                edgewire.ok(command, *more, "-o", tmp_path / f"{command}-{name}.ew", "-p", 2, "-w", 1, "--json", report, **options)
                took = json.loads(report.read_text())["memory_bytes"]
                assert took == 1 << 30 if name == "free" else (50 << 20) < took <= (150 << 20)
    with memory_group(100 << 20) as enter:  # an input that needs little of the least memory
        edgewire.ok("convert", tmp_path / "g.txt", "-o", tmp_path / "small.ew", "-p", 2, "-w", 1, preexec_fn=enter)


def test_no_display_is_asked_for_the_machine(running, tmp_path):
    """hwloc's plug-in for GL connects to the first ten X11 displays. This one never answers."""
    if not list(pathlib.Path("/usr/lib").glob("*/hwloc/hwloc_gl.so")):
        pytest.skip("hwloc has no plug-in for GL here (apt-get install libhwloc-plugins)")
    with socket.socket(socket.AF_UNIX) as display:
        try:
            display.bind("\0/tmp/.X11-unix/X0")
        except OSError as error:
            pytest.skip(f"there is an X11 display: {error}")
        display.listen()
        # The program leaves plug-ins out by this variable, and their use by itself, which is what other callers of the library get.
        for more in ({}, {"HWLOC_PLUGINS_BLACKLIST": "none"}):
            process = running("topology", "--json", tmp_path / "machine.json", env={"DISPLAY": ":0", **more})
            wait_for(lambda: process.poll() is not None or select.select([display], [], [], 0)[0], "the end of the program")
            assert not select.select([display], [], [], 0)[0], "a connection to the display"
            assert process.returncode == 0 and json.loads((tmp_path / "machine.json").read_text())["nodes"]
