"""Runs of kernels that follow a frontier: what they send and report, several sources, and what is refused."""

import json
import os
import pathlib
import re
import signal

import numpy as np
import pytest

import graphs
import paths
import reference
from frontier import KERNELS, WITHOUT_SOURCE, asked, check, expected, make, partition, run, values, weighted
from job import check_schema
from processes import PATIENCE_S, wait_for
from reference import Graph


@pytest.mark.parametrize("kernel", ["bfs", "sssp", "bc"])
def test_sources_that_do_not_exist(edgewire, tmp_path, kernel):
    path = reference.write_graph(tmp_path / "g.ew", weighted(graphs.make("original ids")))
    empty = reference.write_graph(tmp_path / "empty.ew", weighted(graphs.make("no vertices")))
    for graph, source in ((path, 1), (path, "x"), (empty, 0)):
        for processes in (1, 2):
            line = edgewire.refused(kernel, graph, *asked(kernel, source), "-p", processes, "-o", tmp_path / "values")
            assert "--source" in line and str(source) in line
    assert not (tmp_path / "values").exists()


@pytest.mark.parametrize("kernel", WITHOUT_SOURCE)
def test_no_vertices(edgewire, tmp_path, kernel):
    empty = reference.write_graph(tmp_path / "empty.ew", weighted(graphs.make("no vertices")))
    for processes in (1, 2):
        found, report = run(edgewire, tmp_path, kernel, empty, "-p", processes)
        assert found == [] and report["vertices"] == 0


@pytest.mark.parametrize("kernel", ["bfs", "sssp"])
def test_runs_from_several_sources(edgewire, made_graph, tmp_path, kernel):
    path, graph = made_graph("kronecker both ways")
    chosen = [int(v) for v in np.unique(graph.sources)[[3, 50, 200]]] + [int(np.setdiff1d(graph.ids(), graph.sources)[0])]
    names = tmp_path / "names"
    names.write_text("".join(f"{v}\n" for v in chosen))
    report = tmp_path / "report.json"
    for processes in (1, 3):
        edgewire.ok(kernel, path, "--sources", f"@{names}", "-p", processes, "-w", 1, "--verify",
                    "-o", tmp_path / "values-{}.tsv", "--json", report)
        for source in chosen:
            check(kernel, values((tmp_path / f"values-{source}.tsv").read_text()), expected(kernel, graph, source))
            (tmp_path / f"values-{source}.tsv").unlink()
        found = json.loads(report.read_text())
        check_schema(found)
        runs = found["runs"]
        assert [run["source"] for run in runs] == [str(source) for source in sorted(chosen)]
        assert sum(run["supersteps"] for run in runs) == len(found["supersteps"])
        for figure in ("edges", "record_bytes", "payload_bytes_sent"):
            assert sum(run[figure] for run in runs) == sum(step[figure] for step in found["supersteps"])
        assert sum(run["edges"] for run in runs) > 0 and runs[sorted(chosen).index(chosen[-1])]["edges"] == 0


@pytest.mark.matrix(1 / 3)
@pytest.mark.sanitize
@pytest.mark.parametrize("name", ["kronecker", "kronecker both ways", "grid"])
@pytest.mark.parametrize("cut", [(1, 1, "shm"), (1, 3, "shm"), (2, 2, "shm"), (3, 1, "tcp"), (3, 2, "tcp")], ids=str)
def test_searches_from_sources_of_their_own(edgewire, made_graph, tmp_path, name, cut):
    """Each search as a run by itself gives it, and as a reference does."""
    path, graph = made_graph(name)
    processes, workers, transport = cut
    chosen = np.unique(graph.sources)[::len(graph.ids()) // 15 + 1].tolist()
    options = ["--sources", ",".join(map(str, chosen)), "-p", processes, "-w", workers, "--transport", transport]
    report = tmp_path / "report.json"
    known = {source: expected("bfs", graph, source) for source in chosen}
    found = {}
    for parallel in ("levels", "sources", "auto"):
        edgewire.ok("bfs", path, *options, "--parallel", parallel, "--verify", "-o", tmp_path / "values-{}.tsv", "--json", report)
        for source in chosen:
            check("bfs", values((tmp_path / f"values-{source}.tsv").read_text()), known[source])
            (tmp_path / f"values-{source}.tsv").unlink()
        found[parallel] = json.loads(report.read_text())
        check_schema(found[parallel])
        runs = found[parallel]["runs"]
        assert [run["source"] for run in runs] == list(map(str, chosen))
        for run, source in zip(runs, chosen):
            levels = [level for _, level in known[source] if np.isfinite(level)]
            assert run["frontier"] == len(levels) and run["supersteps"] == max(levels) + 1
    assert len({one["checksum"] for one in found.values()}) == 1
    assert (sum(run["record_bytes"] for run in found["levels"]["runs"]) > 0) == (processes > 1)
    assert sum(run["record_bytes"] for run in found["sources"]["runs"]) == 0
    together = len(chosen) >= 2 * processes * workers > 2
    assert (sum(run["record_bytes"] for run in found["auto"]["runs"]) == 0) == (together or processes == 1)


@pytest.mark.parametrize("options", [["-p", 1, "-w", 3], ["-p", 3, "-w", 2, "--transport", "tcp"]], ids=["workers", "processes"])
def test_parents_of_searches_from_sources_of_their_own(edgewire, made_graph, tmp_path, options):
    path, graph = made_graph("kronecker both ways")
    chosen = np.unique(graph.sources)[[1, 3, 50, 200]].tolist()
    parents = {}
    for parallel in ("levels", "sources"):
        edgewire.ok("bfs", path, *options, "--sources", ",".join(map(str, chosen)), "--parents", "--deterministic", "--verify",
                    "--parallel", parallel, "-o", tmp_path / "parents-{}.tsv")
        parents[parallel] = [(tmp_path / f"parents-{source}.tsv").read_text() for source in chosen]
    assert parents["levels"] == parents["sources"] and len(set(parents["levels"])) == len(chosen)


@pytest.mark.parametrize("kernel", ["bfs", "sssp"])
def test_samples_are_vertices_with_edges(edgewire, made_graph, tmp_path, kernel):
    path, graph = made_graph("kronecker both ways")
    with_edges = np.unique(graph.sources)
    drawn = []
    for seed in (1, 1, 2):
        report = json.loads(edgewire.ok(kernel, path, "--samples", 20, "--seed", seed, "-w", 2, "--verify", "--json", "-"))
        check_schema(report)
        assert report["options"]["samples"] == 20 and report["options"]["seed"] == seed
        drawn.append([int(run["source"]) for run in report["runs"]])
        assert len(set(drawn[-1])) == 20 and np.isin(drawn[-1], with_edges).all()
    assert drawn[0] == drawn[1] != drawn[2]
    report = json.loads(edgewire.ok(kernel, path, "--samples", len(with_edges), "-w", 1, "--json", "-"))
    assert [int(run["source"]) for run in report["runs"]] == with_edges.tolist()
    for options, status, named in ((["--samples", len(with_edges) + 1], 1, f"{len(with_edges)} vertices with edges"),
                                   (["--samples", 0], 2, "--samples"), (["--samples", 2, "--source", 0], 2, "--source"),
                                   (["--samples", 2, "--sources", "0,1"], 2, "--sources"), (["--seed", 2, "--source", 0], 2, "--samples"),
                                   (["--samples", 2, "-o", tmp_path / "values"], 2, "{}")):
        assert named in edgewire.refused(kernel, path, *options, status=status)


def test_searches_from_sources_of_their_own_read_rows_from_memory(edgewire, made_graph):
    path, _ = made_graph("kronecker both ways")
    line = edgewire.refused("bfs", path, "--samples", 4, "--parallel", "sources", "--edges", "disk", status=2)
    assert "--edges" in line and "--parallel sources" in line


def test_several_sources_that_are_refused(edgewire, tmp_path):
    path = reference.write_graph(tmp_path / "g.ew", weighted(graphs.make("cycle")))
    for options, named in ((["--sources", "0,1", "-o", tmp_path / "values"], "{}"), ([], "--source"),
                           (["--source", 0, "--sources", 1], "--sources")):
        for processes in (1, 2):
            assert named in edgewire.refused("bfs", path, *options, "-p", processes, status=2)
    assert "99" in edgewire.refused("bfs", path, "--sources", "0,99", "-o", tmp_path / "{}")
    assert "twice" in edgewire.refused("bfs", path, "--sources", "1,0,1", status=2)
    assert [one.name for one in tmp_path.iterdir()] == ["g.ew"]


def test_samples_are_drawn_by_their_seed(edgewire, made_graph, tmp_path):
    path, _ = made_graph("kronecker")
    draws = [run(edgewire, tmp_path, "bc", path, "--samples", 9, "--seed", seed, "-p", processes, "-w", 1)[0]
             for seed, processes in ((1, 1), (1, 2), (2, 1))]
    np.testing.assert_allclose([v for _, v in draws[0]], [v for _, v in draws[1]], rtol=1e-9)
    assert draws[0] != draws[2]
    for options, status in ((["--samples", 5000], 1), (["--samples", 0], 2), (["--seed", 3], 2),
                            (["--samples", 2, "--sources", "1"], 2)):
        assert "--s" in edgewire.refused("bc", path, *options, status=status)


def test_a_search_pulls_only_where_edges_are_storedboth_ways(edgewire, made_graph, tmp_path):
    for name, pulls in (("kronecker both ways", True), ("kronecker", False)):
        path, graph = made_graph(name)
        for processes in (1, 2):
            source = int(graph.sources[0])
            _, report = run(edgewire, tmp_path, "bfs", path, "-p", processes, "-w", 1, source=source)
            check_schema(report)
            steps = report["supersteps"]
            assert any("pull" in step["phase"] for step in steps) == pulls
            levels = np.array(paths.levels(graph, source))
            assert [step["frontier"] for step in steps] == [(levels == i).sum() for i in range(len(steps))]
            assert (sum(step["payload_bytes_sent"] for step in steps) > 0) == (processes > 1)


def test_credits_travel_once_for_each_vertex(edgewire, made_graph, tmp_path):
    """A record for each vertex of the other process at most. One process sends nothing."""
    path, graph = made_graph("kronecker both ways")
    for processes in (1, 2):
        _, report = run(edgewire, tmp_path, "lcc", path, "-p", processes, "-w", 1)
        steps = report["supersteps"]
        assert [step["payload_bytes_sent"] > 0 for step in steps] == ([False] * 2 if processes == 1 else [True] * 3)
        assert sum(step["frontier"] for step in steps[2:]) <= graph.vertices
        assert [step["edges"] for step in steps[:1]] == [len(graph.sources)]
        assert report["rules_kept"]


def test_a_damaged_file_gives_one_line(edgewire, tmp_path):
    path = reference.write_graph(tmp_path / "g.ew", graphs.make("complete"))
    data = bytearray(path.read_bytes())
    data[2 * reference.PAGE_BYTES] ^= 1
    path.write_bytes(data)
    for processes in (1, 2):
        line = edgewire.refused("lcc", path, "-p", processes, "-o", tmp_path / "values")
        assert f"byte {2 * reference.PAGE_BYTES}" in line
    assert not (tmp_path / "values").exists()


def test_what_a_report_says_of_supersteps(edgewire, made_graph, tmp_path):
    path, graph = made_graph("kronecker both ways")
    source = int(graph.sources[0])
    reached = np.isfinite(paths.distances(graph, source))
    for processes in (1, 2):
        _, report = run(edgewire, tmp_path, "sssp", path, "-p", processes, "-w", 1, source=source)
        check_schema(report)
        steps = report["supersteps"]
        assert sum(step["frontier"] for step in steps) >= reached.sum()
        assert sum(step["edges"] for step in steps) >= reached[graph.sources].sum()
        assert (sum(step["payload_bytes_sent"] for step in steps) > 0) == (processes > 1)
        assert report["options"]["source"] == str(source) and report["options"]["delta"] > 0
        assert len(report["rules_kept"]) == 2


@pytest.mark.parametrize("kernel", KERNELS)
def test_little_is_sent_that_is_no_record(edgewire, made_graph, tmp_path, kernel):
    path, graph = made_graph("kronecker both ways")
    for transport in ("shm", "tcp"):
        _, report = run(edgewire, tmp_path, kernel, path, "-p", 2, "-w", 1, "--transport", transport,
                        source=int(graph.sources[0]))
        steps = report["supersteps"]
        needed, sent = (sum(step[key] for step in steps) for key in ("record_bytes", "payload_bytes_sent"))
        assert 0 < needed < sent <= 1.1 * needed + 250 * len(steps)  # a superstep has counts and end marks
    _, report = run(edgewire, tmp_path, kernel, path, "-p", 1, "-w", 1, source=int(graph.sources[0]))
    assert all(step["record_bytes"] == step["payload_bytes_sent"] == 0 for step in report["supersteps"])


def test_what_a_star_must_send(edgewire, tmp_path):
    """8 bytes for each leaf of the other process, once, though its edge occurs three times."""
    leaves = np.tile(np.arange(1, 1000), 3)
    path = reference.write_graph(tmp_path / "g.ew", Graph(1000, np.zeros(len(leaves)), leaves))
    owners = partition(tmp_path, Graph(1000, [], []), 2)
    moved = owners.read_text().splitlines().count("1")
    _, report = run(edgewire, tmp_path, "bfs", path, "-p", 2, "--ownership", owners, source=0)
    assert [step["record_bytes"] for step in report["supersteps"]] == [8 * moved, 0]


def weights_of_a_path(folder, *weights):
    graph = Graph(len(weights) + 1, np.arange(len(weights)), np.arange(1, len(weights) + 1))
    graph.weights = np.array(weights)
    return reference.write_graph(folder / "g.ew", graph)


@pytest.mark.parametrize("weights, words", [
    ((1, -2.5), "edge 1 -> 2 has weight -2.5; sssp needs weights that are not negative"),
], ids=["negative"])
def test_weights_that_have_no_shortest_paths(edgewire, tmp_path, weights, words):
    path = weights_of_a_path(tmp_path, *weights)
    for processes in (1, 2):
        result = edgewire("sssp", path, "--source", 0, "-p", processes, "-o", tmp_path / "values")
        assert result.returncode == 1 and words in result.stderr, result.stderr
        assert not (tmp_path / "values").exists()


@pytest.mark.parametrize("kernel, words", [("sssp", "not negative"), ("bc", "above 0"), ("ppr", "not negative")])
def test_of_several_weights_that_cannot_be_used_one_is_named(edgewire, tmp_path, kernel, words):
    """Each process finds others, all at the same time."""
    path = weights_of_a_path(tmp_path, *-np.arange(1.0, 200))
    options = ["--source", 0] if kernel == "sssp" else ["--weighted", "--sources", 0]
    for _ in range(5):
        assert words in edgewire.refused(kernel, path, *options, "-p", 2, "-w", 1, "-o", tmp_path / "values")


@pytest.mark.parametrize("kernel", KERNELS)
def test_ownerships_that_do_not_fit(edgewire, tmp_path, kernel):
    path = reference.write_graph(tmp_path / "g.ew", weighted(graphs.make("path")))
    for ownership, status, words in (("auto", 2, "hash, ranges"), (tmp_path / "none", 1, "partition file")):
        result = edgewire(kernel, path, *asked(kernel, 0), "--ownership", ownership)
        assert result.returncode == status and words in result.stderr, result.stderr


def catches(pid, number):
    """Whether the process has a handler for the signal."""
    caught = re.search(r"SigCgt:\s*(\w+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1]
    return int(caught, 16) >> (number - 1) & 1


@pytest.mark.parametrize("number, verb", [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "told to end")])
def test_an_interrupted_run_says_after_which_superstep(edgewire, tmp_path, number, verb):
    n = 1_000_000  # supersteps: seconds
    path = reference.write_graph(tmp_path / "g.ew", Graph(n, np.arange(n - 1), np.arange(1, n)))
    process = edgewire.start("sssp", path, "--unit-weights", "--source", 0, "-p", 1, "-w", 1)
    wait_for(lambda: process.poll() is not None or catches(process.pid, number), "a handler")
    os.killpg(process.pid, number)
    _, stderr = process.communicate(timeout=PATIENCE_S)
    assert process.returncode in (-number, 128 + number)
    assert re.fullmatch(rf"edgewire: {verb} (before the first superstep|after superstep \d+)\n", stderr)


def test_a_graph_without_weights(edgewire, tmp_path):
    path = reference.write_graph(tmp_path / "g.ew", graphs.make("path"))
    line = edgewire.refused("sssp", path, "--source", 0, "-p", 2)
    assert "no weights" in line and "--unit-weights" in line
    for delta in (0, -1, "nan", "x"):
        edgewire.refused("sssp", path, "--source", 0, "--delta", delta, status=2)
