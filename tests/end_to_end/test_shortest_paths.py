"""sssp over weights of all types: distances, paths, and what rounding may do, beside exact sums."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

import paths
import reference
from job import check_schema, on
from reference import Graph

TYPES = ["<f4", "<f8", "<u4", "<u8"]
FAR = math.inf


def exact_distances(graph, source):
    """[v]: in whole numbers or fractions."""
    return paths.distances(graph, source, number=int if "u" in graph.weight_type else Fraction)


def drawn(weight_type, vertices=300, edges=1200):
    """Duplicates, loops, weights of 0, and vertices without a path to them."""
    random = np.random.default_rng(3)
    graph = Graph(vertices, random.integers(0, vertices, edges), random.integers(0, vertices * 9 // 10, edges))
    whole = {"<u4": 1 << 32, "<u8": 1 << 56}.get(weight_type)
    graph.weights = random.integers(0, whole, edges, np.uint64) if whole else random.random(edges) * 10.0 ** random.integers(-3, 3, edges)
    graph.weights[::9] = 0
    graph.weight_type = weight_type
    return graph


def chain(weights, weight_type):
    count = len(weights)
    return Graph(count + 1, np.arange(count), np.arange(1, count + 1), None, np.array(weights), weight_type)


def texts(path):
    """[v]: its value as it is written."""
    return [line.split("\t")[1] for line in path.read_text().splitlines()]


def run(edgewire, folder, path, *options, source=0):
    """(what was written, the report as text, as JSON) of a run with --verify."""
    output, report = folder / "values.tsv", folder / "report.json"
    text = edgewire.ok("sssp", path, "--source", source, *options, "--verify", "--verbose", "-o", output, "--json", report)
    found = json.loads(report.read_text())
    check_schema(found)
    return texts(output), text, found


@pytest.mark.sanitize
@pytest.mark.parametrize("weight_type", TYPES)
def test_distances_are_those_of_exact_sums(edgewire, tmp_path, devices, weight_type):
    graph = drawn(weight_type)
    path = reference.write_graph(tmp_path / "g.ew", graph)
    source = int(graph.sources[0])
    known = exact_distances(graph, source)
    assert known.count(FAR) > 3
    for options in (["-p", 1, "-w", 1], ["-p", 1, "-w", 2], ["-p", 2, "-w", 1], ["-p", 3, "-w", 1, "--transport", "tcp"],
                    ["-p", 1, "-w", 1, *on(*devices)], ["-p", 2, "-w", 1, *on(*devices)]):
        for precision in ("auto", "f64", "f32") if "disk" not in options else ("auto",):
            found, _, report = run(edgewire, tmp_path, path, *options, "--precision", precision, source=source)
            kind = precision if precision != "auto" else "u64" if "u" in weight_type else "f64"
            assert (report["wire"], report["options"]["precision"]) == (kind, precision)
            for value, right in zip(found, known, strict=True):
                if right == FAR:
                    assert value == "infinity"
                elif kind == "u64":
                    assert value == str(right)
                else:  # some 20 edges
                    assert abs(Fraction(float(value)) - right) <= right * 20 * 2.0 ** (-53 if kind == "f64" else -24)


def test_a_long_chain(edgewire, tmp_path):
    path = reference.write_graph(tmp_path / "g.ew", chain([0.1] * 12_000, "<f8"))
    for processes in (1, 3):
        found, text, _ = run(edgewire, tmp_path, path, "-p", processes)
        assert float(found[-1]) == pytest.approx(1200, rel=2e-12)
        assert "and may by 1.3e-12, since paths have up to 12000 edges" in text
        found, text, report = run(edgewire, tmp_path, path, "-p", processes, "--precision", "f32")
        assert float(found[-1]) == pytest.approx(1199.8541, rel=1e-7)
        assert "differ from those of a sequential search by at most 0.00012 of their value, and may by 0.00072" in text
        assert "since paths have up to 12000 edges" in report["rules_kept"][0]


@pytest.mark.slow
def test_a_chain_of_a_million_edges(edgewire, tmp_path):
    path = reference.write_graph(tmp_path / "g.ew", chain([0.1] * 1_000_000, "<f8"))
    found, _, _ = run(edgewire, tmp_path, path, "-p", 1, "-w", 2)
    assert float(found[-1]) == pytest.approx(100_000, rel=1.2e-10)


def test_whole_weights_are_added_exactly(edgewire, tmp_path):
    most = 2**64 - 1
    for weights, weight_type in (([16_777_216, 1, 1, 1], "<u4"), ([2**53, 1, 1, 1], "<u8"), ([most - 9, 1, 5, 0], "<u8")):
        path = reference.write_graph(tmp_path / "g.ew", chain(np.array(weights, np.uint64), weight_type))
        for processes in (1, 2):
            found, text, report = run(edgewire, tmp_path, path, "-p", processes, "--target", 4, "--top", 5)
            assert found == [str(sum(weights[:v])) for v in range(5)]
            assert f"path from 0 to 4, length {sum(weights)}: 0 -> 1 -> 2 -> 3 -> 4\n" in text
            assert "exactly" in text
            listed = sorted(((sum(weights[:v]), -v) for v in range(5)), reverse=True)
            assert [(one["value"], -one["id"]) for one in report["answer"]["top"]] == listed
            assert "".join(f"{-v}\t{distance}\n" for distance, v in listed) in text


def refused(edgewire, folder, path, processes, *options):
    """The one line that says why."""
    result = edgewire("sssp", path, "--source", 0, "-p", processes, *options, "-o", folder / "none")
    lines = [line for line in result.stderr.splitlines() if "warning" not in line]
    assert result.returncode == 1 and len(lines) == 1 and not (folder / "none").exists()
    return lines[0]


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_an_edge_that_is_too_long_for_the_type(edgewire, tmp_path, processes):
    def write(*edges, weight_type="<f8"):
        sources, targets, weights = zip(*edges)
        kind = np.uint64 if weight_type == "<u8" else float
        return reference.write_graph(tmp_path / "g.ew", Graph(3, sources, targets, None, np.array(weights, kind), weight_type))

    for weight_type in ("<f4", "<f8"):
        path = write((0, 1, 2e38), (1, 2, 3e38), (0, 2, 1), weight_type=weight_type)
        for precision in ("auto", "f32"):
            found, _, _ = run(edgewire, tmp_path, path, "-p", processes, "--precision", precision)
            assert float(found[1]) == pytest.approx(2e38) and found[2] == "1"
    path = write((0, 1, 2e38), (1, 2, 3e38), weight_type="<f4")
    found, _, _ = run(edgewire, tmp_path, path, "-p", processes)
    assert float(found[2]) == pytest.approx(5e38)
    line = refused(edgewire, tmp_path, path, processes, "--precision", "f32")
    assert "the shortest path to vertex 2 is longer than f32 can hold" in line and "--precision f64" in line
    path = write((0, 1, 1e308), (1, 2, 1e308))
    line = refused(edgewire, tmp_path, path, processes)
    assert "vertex 2 is longer than f64 can hold" in line and "divide the weights" in line
    path = write((0, 1, 2**64 - 9), (1, 2, 10), weight_type="<u8")
    line = refused(edgewire, tmp_path, path, processes)
    assert "vertex 2 is longer than u64 can hold" in line and "--precision f64" in line
    found, _, _ = run(edgewire, tmp_path, path, "-p", processes, "--precision", "f64")
    assert float(found[2]) == 2.0**64


@pytest.mark.parametrize("weight_type", TYPES)
@pytest.mark.parametrize("processes", [1, 3])
def test_parents_and_paths(edgewire, tmp_path, weight_type, processes):
    graph = drawn(weight_type)
    path = reference.write_graph(tmp_path / "g.ew", graph)
    source = int(graph.sources[0])
    options = ["-p", processes, "-w", 1, "--precision", "f64"]
    distances, _, _ = run(edgewire, tmp_path, path, *options, source=source)
    parents, _, report = run(edgewire, tmp_path, path, *options, "--parents", source=source)
    assert report["options"]["parents"] is True
    distances, parents = [float(one.replace("infinity", "inf")) for one in distances], [int(one) for one in parents]
    weights = np.asarray(graph.weights, weight_type).astype(float).tolist()
    explains = [set() for _ in range(graph.vertices)]
    for u, v, weight in zip(graph.sources.tolist(), graph.targets.tolist(), weights):
        if distances[u] + weight == distances[v] < FAR:
            explains[v].add(u)
    edges, level = {source: 0}, [source]  # the fewest of a shortest path
    while level:
        level = [v for v in range(graph.vertices) if v not in edges and any(u in edges for u in explains[v])]
        edges |= {v: 1 + min(edges[u] for u in explains[v] if u in edges) for v in level}
    for v, parent in enumerate(parents):
        if v == source or v not in edges:
            assert parent == (source if v == source else -1)
        else:
            assert parent == min(u for u in explains[v] if edges.get(u) == edges[v] - 1)

    reached, lost = max(edges, key=edges.get), distances.index(FAR)
    way = [reached]
    while way[-1] != source:
        way.append(parents[way[-1]])
    way.reverse()
    for target, vertices, length in (reached, way, distances[reached]), (lost, None, None), (source, [source], 0):
        _, text, report = run(edgewire, tmp_path, path, *options, "--target", target, source=source)
        assert (report["answer"]["path"], report["answer"]["path_length"]) == (vertices, length)
        assert (f"no path from {source} to {lost}\n" if target == lost else " -> ".join(map(str, vertices)) + "\n") in text


def test_paths_with_names_and_from_several_sources(edgewire, tmp_path):
    (tmp_path / "in.tsv").write_text("home shop 2.5\nshop park 1.5\nhome park 9\nfar home 1\n")
    edgewire.ok("convert", tmp_path / "in.tsv", "--labels", "-o", tmp_path / "g.ew")
    text = edgewire.ok("sssp", tmp_path / "g.ew", "--sources", "home,park", "--target", "park", "--json", tmp_path / "report.json")
    assert "path from home to park, length 4: home -> shop -> park\n" in text
    assert "path from park to park, length 0: park\n" in text
    answers = [run["answer"] for run in json.loads((tmp_path / "report.json").read_text())["runs"]]
    assert [one["path"] for one in answers] == [["home", "shop", "park"], ["park"]]
    assert [one["path_length"] for one in answers] == [4, 0]
    assert "--target" in edgewire.refused("sssp", tmp_path / "g.ew", "--source", "home", "--target", "moon")
