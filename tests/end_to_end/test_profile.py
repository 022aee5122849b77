"""Where the time of a run went: the figures, the page, the trace, and verdicts on runs whose limit is known."""

import contextlib
import gzip
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET

import pytest

import rights
import viewer
from control_groups import cpu_group
from job import check_schema, on
from processes import LIMIT_S, own_places


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
    assert f"limit: {found['verdict']['limit']} " in text
    assert found["iterations"] == 12 and len(found["processes"]) == 2
    for rank, process in enumerate(found["processes"]):
        assert len(process["iterations"]) == 12 and len(process["worker"]) == 2
        assert process["wire_bytes_to"][rank] == 0 and process["wire_bytes_to"][1 - rank] > 0
        assert all(one["seconds"] > 0 and max(one["phases"].values()) > 0 for one in process["iterations"])
        for worker in process["worker"]:
            assert worker["all"]["task_clock_ns"] > 0
    edges = sum(process["edges_computed"] for process in found["processes"])
    assert edges == report["edges"]
    sent = sum(sum(process["wire_bytes_to"]) for process in found["processes"])
    assert sent == pytest.approx(sum(one["wire_bytes_sent"] for one in report["iterations"]), rel=0.02)


@pytest.mark.measured
def test_the_times_add_up(edgewire, tmp_path, graph):
    """Workers begin one after the other; from then on each moment of each is in one phase."""
    report, _ = profile(edgewire, tmp_path, graph, "-p", 2, "-w", 2, "--transport", "tcp", "--iterations", 12)
    for process in report["profile"]["processes"]:
        for one in process["iterations"][1:]:
            assert sum(one["phases"].values()) == pytest.approx(2 * one["seconds"], rel=0.05, abs=1e-4)
        waited = sum(one["phases"]["wait"] for one in process["iterations"])
        assert sum(process["waited_for"]) == pytest.approx(waited, rel=0.02, abs=1e-3)


# ---- other jobs than pagerank, ppr and spmv ---------------------------------------------------------------------------

# A command line of each kernel that follows a frontier, without the graph.
FRONTIER = {"bfs": ["--source", 1], "sssp": ["--source", 1, "--unit-weights"], "wcc": [], "scc": [], "cdlp": ["--iterations", 3], "lcc": [], "tc": [],
            "bc": ["--samples", 2]}


def checked_profile(report, step, processes, workers):
    """Facts that hold of any profile; returns the section."""
    found = report["profile"]
    assert found["step"] == step and len(found["processes"]) == processes
    if "missing_counters" not in found:
        assert any("instructions" in worker["all"] for process in found["processes"] for worker in process["worker"])
    for rank, process in enumerate(found["processes"]):
        assert len(process["worker"]) == workers and len(process["iterations"]) == found["iterations"]
        assert process["wire_bytes_to"][rank] == 0
        for one in process["iterations"]:
            assert one["seconds"] > 0 and one["what"]
            # Nothing is told twice, whatever time the machine takes.
            assert sum(one["phases"].values()) == pytest.approx(workers * one["seconds"], rel=1e-3, abs=1e-5)
        for worker in process["worker"]:
            assert worker["all"]["task_clock_ns"] > 0
            assert sum(worker["seconds"].values()) == pytest.approx(sum(one["seconds"] for one in process["iterations"]), rel=1e-3, abs=1e-5)
    return found


def checked_lanes(trace, processes, workers):
    """One lane for each worker, and all steps in one more of each process; returns the names of the steps by process."""
    events = json.loads(trace.read_bytes())["traceEvents"]
    check_trace(events)
    assert {(one["pid"], one["tid"]) for one in events if one["ph"] == "X"} == {(p, w) for p in range(processes) for w in range(workers)}
    assert sum(one["ph"] == "M" and one["name"] == "thread_name" for one in events) == processes * workers
    return [[one["name"] for one in events if one["ph"] == "b" and one["pid"] == p] for p in range(processes)]


@pytest.mark.parametrize("kernel", FRONTIER)
def test_supersteps(edgewire, tmp_path, graph, kernel):
    """Each superstep of the report, in all processes; as many bytes as the report counts."""
    path, trace = tmp_path / "report.json", tmp_path / "trace.json"
    text = edgewire.ok(kernel, graph, *FRONTIER[kernel], "-p", 2, "-w", 2, "--transport", "tcp", "--profile", "--json", path, "--trace", trace)
    report = json.loads(path.read_text())
    check_schema(report)
    found = checked_profile(report, "superstep", 2, 2)
    assert f"limit: {found['verdict']['limit']} " in text and "(of a superstep and worker" in text
    names = checked_lanes(trace, 2, 2)
    assert found["iterations"] == len(names[0]) and names[0] == names[1]
    if kernel != "bc":  # it adds up those of all sources
        assert names[0] == [one["phase"] for one in report["supersteps"]]
    edges = sum(process["edges_computed"] for process in found["processes"]) * len(report["supersteps"])
    assert edges == pytest.approx(sum(one["edges"] for one in report["supersteps"]), rel=1e-6)
    for rank, process in enumerate(found["processes"]):
        assert process["wire_bytes_to"][1 - rank] > 0
    sent = sum(sum(process["wire_bytes_to"]) for process in found["processes"])
    assert sent >= sum(one["wire_bytes_sent"] for one in report["supersteps"])


def test_several_runs_are_profiled_together(edgewire, tmp_path, graph):
    path = tmp_path / "report.json"
    edgewire.ok("bfs", graph, "--sources", "1,2,3", "--verify", "--profile", "--json", path, "-p", 1, "-w", 1)
    report = json.loads(path.read_text())
    found = checked_profile(report, "superstep", 1, 1)
    assert found["iterations"] == len(report["supersteps"]) == sum(run["supersteps"] for run in report["runs"])


def test_searches_that_are_tasks(edgewire, tmp_path, graph):
    path = tmp_path / "report.json"
    edgewire.ok("bfs", graph, "--samples", 64, "--parallel", "sources", "--profile", "--json", path, "-p", 2, "-w", 1)
    report = json.loads(path.read_text())
    check_schema(report)
    found = checked_profile(report, "superstep", 2, 1)
    assert found["iterations"] == 1 < len(report["supersteps"])  # told once, whatever searches tell of their own levels


def test_edges_on_disk_count(edgewire, tmp_path, graph):
    path = tmp_path / "report.json"
    edgewire.ok("wcc", graph, "--profile", "--json", path, "-p", 1, "-w", 2, *on(tmp_path))
    report = json.loads(path.read_text())
    check_schema(report)
    process = checked_profile(report, "superstep", 1, 2)["processes"][0]
    assert process["disk_bytes"] == report["disk"]["bytes_read"] // len(report["supersteps"])
    if process["disk_busy_seconds"] > 0:  # the system tells it
        assert "disk" in [one["cause"] for one in report["profile"]["verdict"]["limiters"]]


def checked_balance(report, steps, has_wire):
    """The section `balance`, whose intervals are the whole run."""
    balance = report["balance"]
    assert [step["step"] for step in balance["steps"]] == steps
    assert ("seconds_wire_busy" in balance) == has_wire == ("line_bits_per_second" in balance)
    busy = {name: balance.get(f"seconds_{name}_busy", 0) for name in ("disk", "wire", "cores")}
    assert busy[balance["busiest"]] == max(busy.values()) > 0
    assert balance["times_busiest"] == pytest.approx(balance["seconds"] / max(busy.values()))
    # The slowest process may be another one in each step.
    assert balance["seconds"] <= sum(step["seconds"] for step in balance["steps"]) * 1.001
    length = balance["interval_seconds"] * len(balance["intervals"])
    assert length == pytest.approx(balance["seconds"], abs=0.2 + 0.1 * balance["seconds"])
    cores = sum(one["cores"] for one in balance["intervals"]) * balance["interval_seconds"]
    assert cores > 0.5 * balance["seconds_cores_busy"] - 0.1
    assert all(("disk" in one) == ("seconds_disk_busy" in balance) and ("wire" in one) == has_wire for one in balance["intervals"])
    return balance


def test_steps_of_a_sort(edgewire, tmp_path):
    path, trace, page = tmp_path / "report.json", tmp_path / "trace.json", tmp_path / "page.html"
    edgewire.ok("generate", "records", "--bytes", 5_000_000, "-o", tmp_path / "in")
    text = edgewire.ok("profile", "-o", page, "--trace", trace, "--", "sort", *(tmp_path / "in").iterdir(), "-o", tmp_path / "out", "--json", path,
                       "-p", 2, "-w", 2, "--transport", "tcp", "--check")
    report = json.loads(path.read_text())
    check_schema(report, "sort_report")
    found = checked_profile(report, "step", 2, 2)
    steps = ["sample", "read and send", "merge"]
    assert checked_lanes(trace, 2, 2) == [steps, steps]
    for process in found["processes"]:
        assert [one["what"] for one in process["iterations"]] == steps
        assert process["iterations"][1]["phases"]["send"] > 0 and process["iterations"][1]["phases"]["apply"] > 0
    assert sum(process["records_computed"] for process in found["processes"]) * 3 == pytest.approx(50_000)
    sent = sum(sum(process["wire_bytes_to"]) for process in found["processes"])
    assert sent >= report["bytes_sent"]
    balance = checked_balance(report, steps, has_wire=True)
    assert report["bytes_sent"] / 2 <= balance["wire_bytes"] <= sent
    assert report["seconds_cores_busy"] == balance["seconds_cores_busy"]
    assert "on wire" in text and "Busy disk, wire and cores, %" in page.read_text()
    assert f"limit: {found['verdict']['limit']} " in text and "(of a step and worker" in text
    assert "Steps of rank 0, ms" in page.read_text()


@pytest.mark.parametrize("processes, transport", [(1, "shm"), (2, "tcp")])
def test_steps_of_a_load(edgewire, tmp_path, processes, transport):
    path, trace, page = tmp_path / "report.json", tmp_path / "trace.json", tmp_path / "page.html"
    (tmp_path / "g.el").write_text("".join(f"{v * 7919 % 10007} {v * 31 % 10009}\n" for v in range(100_000)))
    text = edgewire.ok("profile", "-o", page, "--trace", trace, "--", "convert", tmp_path / "g.el", "-o", tmp_path / "g.ew", "--json", path,
                       "-p", processes, "-w", 2, "--transport", transport, "--memory", "128M")
    report = json.loads(path.read_text())
    check_schema(report, "convert_report")
    found = checked_profile(report, "step", processes, 2)
    steps = ["read and send", "number", "merge", "finish"]
    assert checked_lanes(trace, processes, 2) == [steps] * processes
    assert sum(process["edges_computed"] for process in found["processes"]) * 4 == pytest.approx(100_000)
    balance = checked_balance(report, steps, has_wire=processes > 1)
    assert processes == 1 or balance["wire_bytes"] * 2 >= report["bytes_sent"] > 0
    assert f"the run took {balance['times_busiest']:.2f} x the time of its busiest resource ({balance['busiest']})" in text
    assert f"limit: {found['verdict']['limit']} " in text and "(of a step and worker" in text and "read and send" in text
    assert "Busy disk, wire and cores, %" in page.read_text()


def test_loads_in_memory_are_not_profiled(edgewire, tmp_path):
    (tmp_path / "g.el").write_text("0 1\n")
    assert "give --memory or -p" in edgewire.refused("convert", tmp_path / "g.el", "-o", tmp_path / "g.ew", "--profile", status=2)


def test_runs_of_tasks(edgewire, tmp_path):
    path, trace = tmp_path / "report.json", tmp_path / "trace.json"
    text = edgewire.ok("profile", "--trace", trace, "--", "tasks", "iterative", "--count", 200, "--width", 8, "--repeat", 3, "-p", 2, "-w", 2,
                       "--transport", "tcp", "--json", path)
    report = json.loads(path.read_text())
    check_schema(report, "tasks_report")
    found = checked_profile(report, "run", 2, 2)
    runs = ["run 1", "run 2", "run 3"]
    assert checked_lanes(trace, 2, 2) == [runs, runs] and found["iterations"] == 3
    assert sum(process["tasks_computed"] for process in found["processes"]) == pytest.approx(report["tasks"])
    first = found["processes"][0]["iterations"]
    assert all(one["phases"]["compute"] > 0 for one in first)
    assert f"limit: {found['verdict']['limit']} " in text and "(of a run and worker" in text


def test_who_asks_for_no_profile_gets_none(edgewire, tmp_path, graph):
    edgewire.ok("generate", "records", "--bytes", 10_000, "-o", tmp_path / "in")
    for words in (["bfs", graph, "--source", 1], ["sort", *(tmp_path / "in").iterdir(), "-o", tmp_path / "out"], ["tasks", "yield", "--count", 5]):
        path = tmp_path / f"{words[0]}.json"
        assert "limit: " not in edgewire.ok(*words, "--json", path)
        assert "profile" not in json.loads(path.read_text())


def test_covers_share_the_computing(edgewire, tmp_path):
    graph = tmp_path / "g.ew"
    edgewire.ok("generate", "kronecker", "--scale", 13, "-o", graph)
    how = ["-p", 4, "-w", 1, "--ownership", "hash"]
    slots, cover = (
        next(row for row in json.loads(edgewire.ok("bound", graph, *how, "--strategy", "slots,cover", "--json", "-"))["rows"]
             if (row["strategy"], row["encoding"]) == (strategy, "f32"))
        for strategy in ("slots", "cover"))
    assert slots["edges_max"] > 1.05 * slots["edges_mean"]  # so there is something to balance
    assert cover["edges_max"] < 1.02 * cover["edges_mean"]
    report, _ = profile(edgewire, tmp_path, graph, *how, "--strategy", "cover", "--iterations", 3, "--verify")
    computed = [process["edges_computed"] for process in report["profile"]["processes"]]
    assert sum(computed) == report["edges"]
    assert max(computed) == pytest.approx(cover["edges_max"], rel=0.01)


def test_nothing_is_profiled_unasked_and_no_iterations_are_no_failure(edgewire, tmp_path, graph):
    path = tmp_path / "report.json"
    text = edgewire.ok("pagerank", graph, "--json", path)
    report = json.loads(path.read_text())
    check_schema(report)
    assert "profile" not in report and "limit:" not in text
    report, _ = profile(edgewire, tmp_path, graph, "--iterations", 0, "--profile-page", tmp_path / "page.html",
                        "--trace", tmp_path / "trace.json")
    assert report["profile"]["iterations"] == 0
    json.loads((tmp_path / "trace.json").read_bytes())


def check_trace(events):
    """The rules of the published Trace Event Format that viewers rely on."""
    complete, begun, ended = {}, {}, set()
    for event in events:
        assert event["ph"] in ("M", "X", "C", "b", "n", "e") and isinstance(event["pid"], int)
        if event["ph"] == "M":
            assert event["name"] in ("process_name", "thread_name") and isinstance(event["args"]["name"], str)
            continue
        assert isinstance(event["name"], str) and event["ts"] >= 0
        if event["ph"] == "X":
            assert event["dur"] >= 0
            complete.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["ts"] + event["dur"]))
        elif event["ph"] == "C":
            assert event["args"] and all(isinstance(value, (int, float)) for value in event["args"].values())
        else:  # async: told apart by category and id, ended under the name of their beginning
            key = event["cat"], event["id"]
            if event["ph"] == "b":
                assert key not in begun
                begun[key] = event
            else:
                assert key in begun and key not in ended and event["ts"] >= begun[key]["ts"]
            if event["ph"] == "e":
                assert event["name"] == begun[key]["name"]
                ended.add(key)
    assert begun.keys() == ended
    for spans in complete.values():  # of one thread: one inside the other, or one after the other
        spans.sort()
        for (_, before), (after, _) in zip(spans, spans[1:]):
            assert after >= before - 0.002


def test_profile_command_writes_page_and_trace(edgewire, tmp_path, graph):
    page, trace = tmp_path / "page.html", tmp_path / "run.json.gz"
    text = edgewire.ok("profile", "--trace", trace, "--sample-interval", 0.01, "--", "pagerank", graph, "-p", 2, "-w", 1,
                       "--transport", "tcp", "--iterations", 150, "-o", page)
    assert "limit: " in text
    html = page.read_text()
    ET.fromstring(html[html.index("<html"):])
    assert "What limited the run" in html and "<script" not in html and "http" not in html.replace("http-equiv", "")
    events = json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]
    check_trace(events)
    kinds = {}
    for event in events:
        kinds.setdefault(event["ph"], []).append(event)
    assert {event["name"] for event in kinds["X"]} == {"compute", "send", "wait", "apply"}
    assert {event["pid"] for event in kinds["X"]} == {0, 1}
    begun = {event["id"]: event["ts"] for event in kinds["b"]}
    assert len(begun) > 150
    ended = {event["id"]: event["ts"] for event in kinds["e"]}
    assert begun.keys() == ended.keys() and all(begun[id_] <= ended[id_] for id_ in begun)
    gauges = {event["name"] for event in kinds["C"] if event["pid"] == 0}
    assert gauges >= {"worker 0", "system", "stolen", "resident memory", "lo sent", "ready", "arrived", "in flight", "to rank 1",
                      "for rank 1", "for own workers"}
    for name in ("worker 0", "to rank 1", "ready", "arrived"):
        assert any(value > 0 for event in kinds["C"] if event["name"] == name for value in event["args"].values()), name


@pytest.mark.slow
def test_a_public_viewer_shows_the_trace(edgewire, tmp_path, graph):
    """All threads and all slices of each, as long as they were."""
    trace = tmp_path / "run.json.gz"
    edgewire.ok("profile", "--trace", trace, "--", "pagerank", graph, "-p", 2, "-w", 2, "--transport", "tcp", "--iterations", 5)
    ours = {}
    for event in json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]:
        if event["ph"] == "X":
            ours.setdefault((event["pid"], event["tid"]), []).append((event["name"], event["dur"]))
    shown = viewer.view(trace, tmp_path)
    names = [frame["name"].split()[0] for frame in shown["shared"]["frames"]]
    assert len(shown["profiles"]) == len(ours) == 4
    for profile in shown["profiles"]:
        assert profile["unit"] == "microseconds"
        pid, tid = map(int, re.fullmatch(r"rank (\d) \(pid \1\), worker (\d) \(tid \2\)", profile["name"]).groups())
        begun, found = [], []
        for event in profile["events"]:
            if event["type"] == "O":
                begun.append(event)
            else:
                one = begun.pop()
                assert one["frame"] == event["frame"]
                found.append((names[event["frame"]], event["at"] - one["at"]))
        expected = ours[pid, tid]
        assert not begun and [name for name, _ in found] == [name for name, _ in expected]
        assert [time for _, time in found] == pytest.approx([time for _, time in expected], abs=0.01)


def test_page_opens_in_a_browser(edgewire, tmp_path, graph):
    browser = viewer.find_browser()
    page = tmp_path / "page.html"
    edgewire.ok("profile", "-o", page, "--", "pagerank", graph, "-p", 2, "-w", 1)
    result = subprocess.run([browser, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/browser",
                             "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=LIMIT_S)
    assert "What limited the run" in result.stdout and "<svg" in result.stdout


@pytest.mark.slow
@pytest.mark.machine
def test_ports_of_rdma_cards_are_watched(edgewire, tmp_path):
    graph, trace = tmp_path / "graph.ew", tmp_path / "run.json.gz"
    edgewire.ok("generate", "kronecker", "--scale", 14, "-o", graph)
    edgewire.ok("profile", "--trace", trace, "--sample-interval", 0.05, "--", "pagerank", graph, "-p", 2, "-w", 1,
                "--transport", "verbs", "--iterations", 40, "--peer-timeout", 30)
    events = json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]
    for name in ("rxe0 port 1 sent", "rxe0 port 1 received"):
        assert any(value > 0 for event in events if event["name"] == name for value in event["args"].values()), name


def test_no_run_to_profile(edgewire):
    assert "run" in edgewire.refused("profile", status=2)
    assert edgewire.refused("profile", "--", "pagerank", "/nowhere.ew").startswith("/nowhere.ew")


def test_a_page_that_cannot_be_written_is_refused_before_the_run(edgewire, tmp_path, graph):
    path = tmp_path / "missing" / "page.html"
    line = edgewire.refused("profile", "-o", path, "--", "pagerank", graph)
    assert str(path) in line


def test_what_fits_is_in_the_cache(edgewire, tmp_path, graph):
    report, _ = profile(edgewire, tmp_path, graph, "-p", 1, "-w", 1)
    assert report["profile"]["processes"][0]["in_cache"]


# ---- verdicts on what was measured: tests/unit/verdict_test.cpp has the same cases with given figures -----------------

@pytest.mark.measured
def test_known_answer_cache(edgewire, tmp_path, graph):
    report, _ = profile(edgewire, tmp_path, graph, "-p", 1, "-w", 1)
    assert report["profile"]["verdict"]["limit"] == "cores"


def on_core(core):
    """Before a program starts: it runs there, and other programs of the machine hardly do meanwhile."""
    os.sched_setaffinity(0, {core} if isinstance(core, int) else core)
    try:
        pathlib.Path("/proc/self/autogroup").write_text("-18")  # its session against the others'
    except OSError:
        pass  # no such groups here, or no right to


def two_cores():
    cores = sorted(os.sched_getaffinity(0))
    if len(cores) < 2:
        pytest.skip("needs two cores")
    return cores[:2]


@pytest.mark.slow
@pytest.mark.measured
def test_known_answer_shaped_link(edgewire, tmp_path, graph):
    """At 20 Mbit/s sending takes many times as long as computing."""
    rights.need_hosts()
    report, text = profile(edgewire, tmp_path, graph, "-p", 2, "-w", 1, "--local-hosts", "--rate", "20M", "--strategy",
                           "process", "--iterations", 5, preexec_fn=lambda: on_core(os.sched_getaffinity(0)))
    verdict = report["profile"]["verdict"]
    assert verdict["limit"] == "wire", text
    assert verdict["limiters"][0]["share"] > 0.7
    assert verdict["seconds_with_10x_link"] < verdict["seconds_per_iteration"] / 2


@pytest.mark.slow
@pytest.mark.measured
@pytest.mark.parametrize("slow, fast, limit_then", [("20M", "200M", "wire"), ("1G", "10G", "cores")])
def test_what_a_faster_link_brings(edgewire, tmp_path, slow, fast, limit_then):
    """The time that is predicted for ten times the rate is near what a link of that rate gives."""
    rights.need_hosts()
    large = tmp_path / "large.ew"
    edgewire.ok("generate", "kronecker", "--scale", 19, "--edge-factor", 16, "--seed", 1, "-o", large)
    for turn in range(3):  # other programs of the machine can spoil one
        now, then = (profile(edgewire, tmp_path, large, "-p", 2, "-w", 1, "--local-hosts", "--rate", rate, "--strategy",
                             "process", "--iterations", 10, preexec_fn=lambda: on_core(os.sched_getaffinity(0)))[0]["profile"]["verdict"]
                     for rate in (slow, fast))
        ratio = now["seconds_with_10x_link"] / then["seconds_per_iteration"]
        if 0.75 < ratio < 1.3:
            break
    assert 0.75 < ratio < 1.3, (now, then)
    assert now["limit"] == "wire"
    assert (then["limit"] == "wire") == (limit_then == "wire"), then


@pytest.mark.slow
@pytest.mark.measured
@pytest.mark.parametrize("scale, iterations, transport", [(19, 40, "shm"), (16, 400, "shm"), (16, 300, "tcp")])
def test_known_answer_busy_neighbour(edgewire, tmp_path, scale, iterations, transport):
    """Rank 1 shares its core with programs that never rest: of long iterations it loses work, of short ones (0.4 ms
    when it is alone) also the moments in which values come while it waits for them."""
    cores = two_cores()
    path = tmp_path / "graph.ew"
    edgewire.ok("generate", "kronecker", "--scale", scale, "--edge-factor", 16, "--seed", 1, "-o", path)
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"], start_new_session=True,
                             preexec_fn=lambda: on_core(cores[1])) for _ in range(3)]
    try:
        report, text = profile(edgewire, tmp_path, path, "-p", 2, "-w", 1, "--transport", transport, "--iterations",
                               iterations, preexec_fn=lambda: on_core(set(cores)))
    finally:
        for process in busy:
            process.send_signal(signal.SIGKILL)
            process.wait()
    verdict = report["profile"]["verdict"]
    assert verdict["limit"] == "a slow peer" and verdict["limiters"][0]["rank"] == 1, text
    assert "had no core for" in verdict["limiters"][0]["why"], text


@pytest.fixture
def half_a_core():
    """Gives a function that lets the calling process run for half of the time only."""
    with cpu_group(5000, 10000) as enter:
        yield enter


@pytest.mark.slow
@pytest.mark.measured
@pytest.mark.parametrize("scale, iterations", [(19, 40), (16, 400)])
def test_known_answer_half_the_cores(edgewire, tmp_path, half_a_core, scale, iterations):
    """Rank 1 may use its core for half of the time, as a container with too small a limit."""
    cores = two_cores()
    path, hosts, secret = tmp_path / "graph.ew", tmp_path / "hosts", tmp_path / "secret"
    edgewire.ok("generate", "kronecker", "--scale", scale, "--edge-factor", 16, "--seed", 1, "-o", path)
    hosts.write_text("".join(f"{place}\n" for place in own_places(2)))
    secret.write_bytes(os.urandom(32))
    secret.chmod(0o600)

    def prepare(rank):
        on_core(cores[rank])
        if rank == 1:
            half_a_core()
        else:  # rank 0 loses its core to nobody
            with contextlib.suppress(OSError):
                os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))

    json_path = tmp_path / "report.json"
    ranks = [edgewire.start("pagerank", path, "--hosts", hosts, "--rank", rank, "--secret-file", secret, "-w", 1,
                            "--profile", "--iterations", iterations, *(["--json", json_path] if rank == 0 else []),
                            preexec_fn=lambda rank=rank: prepare(rank)) for rank in range(2)]
    texts = [process.communicate(timeout=LIMIT_S) for process in ranks]
    assert [process.returncode for process in ranks] == [0, 0], texts
    verdict = json.loads(json_path.read_text())["profile"]["verdict"]
    assert verdict["limit"] == "a slow peer" and verdict["limiters"][0]["rank"] == 1, texts
    assert "had no core for" in verdict["limiters"][0]["why"], texts
