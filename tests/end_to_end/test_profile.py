"""Where the time of a run went: the figures, the page, the trace, and verdicts on runs whose limit is known."""

import gzip
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

from job import check_schema


@pytest.fixture(scope="session")
def graph(edgewire, tmp_path_factory):
    path = tmp_path_factory.mktemp("graphs") / "kronecker-16.ew"
    edgewire.ok("generate", "kronecker", "--scale", 16, "--edge-factor", 16, "--seed", 1, "-o", path)
    return path


def profile(edgewire, folder, graph, *options, **more):
    """The run's report and what it printed."""
    path = folder / "report.json"
    text = edgewire.ok("pagerank", graph, "--profile", "--json", path, *options, **more)
    report = json.loads(path.read_text())
    check_schema(report)
    return report, text


def test_the_figures_add_up(edgewire, tmp_path, graph):
    report, text = profile(edgewire, tmp_path, graph, "-p", 2, "-w", 2, "--transport", "tcp", "--iterations", 12)
    found = report["profile"]
    assert "limit: " in text
    assert found["iterations"] == 12 and len(found["processes"]) == 2
    for rank, process in enumerate(found["processes"]):
        assert len(process["iterations"]) == 12 and len(process["worker"]) == 2
        assert process["wire_bytes_to"][rank] == 0 and process["wire_bytes_to"][1 - rank] > 0
        # Workers begin one after the other; from then on each moment of each is in one phase.
        for one, reported in list(zip(process["iterations"], report["iterations"]))[1:]:
            assert sum(one["phases"].values()) == pytest.approx(2 * one["seconds"], rel=0.05, abs=1e-4)
            assert one["seconds"] <= reported["seconds"] * 1.05 + 1e-3
        waited = sum(one["phases"]["wait"] for one in process["iterations"])
        assert sum(process["waited_for"]) == pytest.approx(waited, rel=0.02, abs=1e-3)
        for worker in process["worker"]:
            assert worker["all"]["task_clock_ns"] > 0
    edges = sum(process["edges_computed"] for process in found["processes"])
    assert edges == report["edges"]
    sent = sum(sum(process["wire_bytes_to"]) for process in found["processes"])
    assert sent == pytest.approx(sum(one["wire_bytes_sent"] for one in report["iterations"]), rel=0.02)


def test_nothing_is_profiled_unasked_and_no_iterations_are_no_failure(edgewire, tmp_path, graph):
    path = tmp_path / "report.json"
    text = edgewire.ok("pagerank", graph, "--json", path)
    report = json.loads(path.read_text())
    check_schema(report)
    assert "profile" not in report and "limit:" not in text
    report, _ = profile(edgewire, tmp_path, graph, "--iterations", 0, "--profile-page", tmp_path / "page.html",
                        "--trace", tmp_path / "trace.json.gz")
    assert report["profile"]["iterations"] == 0
    json.loads(gzip.decompress((tmp_path / "trace.json.gz").read_bytes()))


def test_profile_command_writes_page_and_trace(edgewire, tmp_path, graph):
    page, trace = tmp_path / "page.html", tmp_path / "run.json.gz"
    text = edgewire.ok("profile", "--trace", trace, "--sample-interval", 0.01, "--", "pagerank", graph, "-p", 2, "-w", 1,
                       "--transport", "tcp", "--iterations", 50, "-o", page)
    assert "limit: " in text
    html = page.read_text()
    ET.fromstring(html[html.index("<html"):])
    assert "What limited the run" in html and "<script" not in html and "http" not in html.replace("http-equiv", "")
    events = json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]
    kinds = {}
    for event in events:
        kinds.setdefault(event["ph"], []).append(event)
    assert {event["name"] for event in kinds["X"]} == {"compute", "send", "wait", "apply"}
    assert {event["pid"] for event in kinds["X"]} == {0, 1}
    begun = {event["id"]: event["ts"] for event in kinds["b"]}
    assert len(begun) > 50
    ended = {event["id"]: event["ts"] for event in kinds["e"]}
    assert begun.keys() == ended.keys() and all(begun[id_] <= ended[id_] for id_ in begun)
    assert any(event["name"] == "resident memory" for event in kinds["C"])


def test_page_opens_in_a_browser(edgewire, tmp_path, graph):
    browser = next((path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None)
    if browser is None:
        pytest.skip("no chromium here (apt-get install chromium)")
    page = tmp_path / "page.html"
    edgewire.ok("profile", "-o", page, "--", "pagerank", graph, "-p", 2, "-w", 1)
    result = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/browser",
                             "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=120)
    assert "What limited the run" in result.stdout and "<svg" in result.stdout


def test_no_run_to_profile(edgewire):
    assert "run" in edgewire.refused("profile", status=2)
    assert edgewire.refused("profile", "--", "pagerank", "/nowhere.ew").startswith("/nowhere.ew")


def test_a_page_that_cannot_be_written_is_refused_before_the_run(edgewire, tmp_path, graph):
    path = tmp_path / "missing" / "page.html"
    line = edgewire.refused("profile", "-o", path, "--", "pagerank", graph)
    assert str(path) in line


def test_known_answer_cache(edgewire, tmp_path, graph):
    report, _ = profile(edgewire, tmp_path, graph, "-p", 1, "-w", 1)
    assert report["profile"]["processes"][0]["in_cache"]
    assert report["profile"]["verdict"]["limit"] == "cores"


@pytest.mark.slow
def test_known_answer_shaped_link(edgewire, tmp_path, graph):
    """At 20 Mbit/s sending takes many times as long as computing."""
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root")
    report, text = profile(edgewire, tmp_path, graph, "-p", 2, "-w", 1, "--local-hosts", "--rate", "20M", "--strategy",
                           "process", "--iterations", 5)
    verdict = report["profile"]["verdict"]
    assert verdict["limit"] == "wire", text
    assert verdict["limiters"][0]["share"] > 0.7
    assert verdict["seconds_with_10x_link"] < verdict["seconds_per_iteration"] / 2


@pytest.mark.slow
def test_known_answer_busy_neighbour(edgewire, tmp_path, graph):
    """Rank 1 shares its core with programs that never rest. Iterations are longer than the scheduler's slices."""
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        pytest.skip("needs two cores")
    large = tmp_path / "large.ew"
    edgewire.ok("generate", "kronecker", "--scale", 19, "--edge-factor", 16, "--seed", 1, "-o", large)
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"],
                             preexec_fn=lambda: os.sched_setaffinity(0, {cores[1]})) for _ in range(6)]
    try:
        report, text = profile(edgewire, tmp_path, large, "-p", 2, "-w", 1, "--transport", "shm", "--iterations", 30,
                               preexec_fn=lambda: os.sched_setaffinity(0, set(cores[:2])))
    finally:
        for process in busy:
            process.send_signal(signal.SIGKILL)
            process.wait()
    verdict = report["profile"]["verdict"]
    assert verdict["limit"] == "a slow peer" and verdict["limiters"][0]["rank"] == 1, text
