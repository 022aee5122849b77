"""edgewire tasks: the shapes by which the cost of a task is measured, their reports, and what ends them."""

import contextlib
import json
import os
import signal

import pytest

from job import check_schema
from processes import PATIENCE_S, causes, children, cpu_seconds, wait_for

SHAPES = ["number-inc", "yield", "suspend", "iterative", "iterative-j"]
CUTS = [(1, 1, "shm"), (1, 2, "shm"), (2, 1, "shm"), (3, 2, "shm"), (2, 2, "tcp")]


def simulated(shape, count, width):
    """The number that comes out, and how many tasks run: counted as the shape is described."""
    number = tasks = 0
    if shape == "yield":
        return count, count + 1
    for _ in range(count):
        if shape == "number-inc":
            number, tasks = number + 2, tasks + 3
        elif shape == "suspend":
            number, tasks = number + 1, tasks + 1
        else:
            number, tasks = number + width, tasks + width + (shape == "iterative-j")
    return number, tasks + 1


@pytest.mark.sanitize
@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_run_their_tasks_wherever_these_are(edgewire, tmp_path, shape):
    path = tmp_path / "report.json"
    for processes, workers, transport in CUTS:
        text = edgewire.ok("tasks", shape, "--count", 70, *(["--width", 5] if "iter" in shape else []), "-p", processes, "-w", workers,
                           "--transport", transport, "--repeat", 2, "--json", path)
        report = json.loads(path.read_text())
        check_schema(report, "tasks_report")
        number, tasks = simulated(shape, 70, 5)
        assert (report["result"], report["tasks"]) == (str(number), tasks)
        assert f"result: {number}\n" in text and f"{tasks} tasks in " in text
        assert len(report["tasks_run"]) == processes and sum(report["tasks_run"]) == tasks and min(report["tasks_run"]) > 0
        assert len(report["seconds_runs"]) == 2 and sum(report["seconds_runs"]) < report["seconds_total"]
        phases = report["seconds_a_task_by_phase"]
        assert (phases["send"] > 0) == (processes > 1) == (report["tasks_sent"] > 0) == (report["payload_bytes_sent"] > 0)
        assert phases["queue"] > 0 and phases["run"] > 0


def test_tasks_cross_the_link_as_the_shape_says(edgewire, tmp_path):
    path = tmp_path / "report.json"
    for shape, sent in (("number-inc", 750), ("yield", 500), ("suspend", 250), ("iterative", 1000), ("iterative-j", 1000)):
        edgewire.ok("tasks", shape, "--count", 500, *(["--width", 4] if "iter" in shape else []), "-p", 2, "-w", 1, "--repeat", 1, "--json", path)
        report = json.loads(path.read_text())
        assert report["tasks_sent"] - report["tasks_moved"] == sent


def test_what_is_refused(edgewire, tmp_path):
    assert "--count" in edgewire.refused("tasks", "yield", "--count", 0, status=2)
    assert "--width" in edgewire.refused("tasks", "iterative", "--width", 0, status=2)
    assert "--width" in edgewire.refused("tasks", "yield", "--width", 3, status=2)
    assert edgewire("tasks").returncode == 2
    assert "missing/report.json" in edgewire.refused("tasks", "yield", "--json", tmp_path / "missing/report.json")


@pytest.mark.parametrize("transport", ["shm", "tcp"])
@pytest.mark.parametrize("blow", [signal.SIGKILL, signal.SIGSTOP])
def test_a_lost_process_ends_the_job(edgewire, transport, blow):
    with edgewire.start("tasks", "iterative", "--count", 1 << 39, "-p", 3, "-w", 1, "--transport", transport, "--peer-timeout", 1) as process:
        ranks = wait_for(lambda: len(found := children(process.pid)) == 3 and found, "three processes")
        wait_for(lambda: all(cpu_seconds(pid) > 0.05 for pid in ranks), "tasks that run")
        os.kill(ranks[1], blow)
        try:
            _, stderr = process.communicate(timeout=PATIENCE_S)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 1
    lines = causes(stderr.splitlines())
    assert lines and all("rank 1" in line for line in lines), stderr

