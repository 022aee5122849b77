"""All kernels on a path of 300,000 vertices and on stars of a million leaves, beside what these shapes must give.

What is expected is written down here, or computed with numpy: it shares no code with the kernels, nor with their --verify."""

import json
import math

import numpy as np
import pytest

import reference
from frontier import UNREACHED
from reference import Graph

pytestmark = pytest.mark.slow

LENGTH = 300_000
LEAVES = 1_000_000
EDGES = {  # (vertices, sources, targets)
    "path": lambda: (LENGTH, np.arange(LENGTH - 1), np.arange(1, LENGTH)),
    "star out": lambda: (LEAVES + 1, np.zeros(LEAVES, np.int64), np.arange(1, LEAVES + 1)),
    "star in": lambda: (LEAVES + 1, np.arange(1, LEAVES + 1), np.zeros(LEAVES, np.int64)),
    "star both ways": lambda: (LEAVES + 1, np.concatenate((np.zeros(LEAVES, np.int64), np.arange(1, LEAVES + 1))),
                               np.concatenate((np.arange(1, LEAVES + 1), np.zeros(LEAVES, np.int64)))),
}
SHAPES = list(EDGES)
PROCESSES = [1, 3]
LIMIT_S = 3600  # a search along the path has 300,000 supersteps, in each of which all processes wait for all


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """made(shape): (path of the graph file, graph); weights are whole numbers from 1 to 1000."""
    folder, known = tmp_path_factory.mktemp("large"), {}

    def make(shape):
        if shape not in known:
            vertices, sources, targets = EDGES[shape]()
            weights = np.random.default_rng(4).integers(1, 1001, len(sources)).astype(np.float32)
            graph = Graph(vertices, sources, targets, weights=weights)
            known[shape] = reference.write_graph(folder / f"{shape.replace(' ', '-')}.ew", graph), graph
        return known[shape]

    return make


def values(edgewire, folder, *arguments):
    """Values by vertex, and the report."""
    output, report = folder / "values.tsv", folder / "report.json"
    edgewire.ok(*arguments, "-o", output, "--json", report, timeout=LIMIT_S)
    words = output.read_text().split()
    np.testing.assert_array_equal(np.array(words[::2], np.int64), np.arange(len(words) // 2))
    found = np.array(words[1::2], float)
    return np.where(found == float(UNREACHED), math.inf, found), json.loads(report.read_text())


def personalised(graph, sources, iterations, weights, damping=0.85):
    """Ranks as seen from the sources."""
    n, start = graph.vertices, np.zeros(graph.vertices)
    start[sources] = 1 / len(sources)
    out = np.bincount(graph.sources, weights, n)
    ranks = start
    for _ in range(iterations):
        sums = np.bincount(graph.targets, ranks[graph.sources] * weights / out[graph.sources], n)
        ranks = damping * sums + (1 - damping + damping * ranks[out == 0].sum()) * start
    return ranks


@pytest.mark.parametrize("processes", PROCESSES)
@pytest.mark.parametrize("precision, near", [("f32", 1e-6), ("f64", 1e-9)])
@pytest.mark.parametrize("shape", SHAPES)
def test_ranks(edgewire, made, tmp_path, shape, precision, near, processes):
    path, graph = made(shape)
    n = graph.vertices
    options = ["--precision", precision, "-p", processes, "-w", 1, "--verify"]
    plain, weights = np.ones(len(graph.sources)), graph.weights.astype(float)
    for kernel, more, expected in (
            ("pagerank", [], lambda: personalised(graph, np.arange(n), 20, plain)),
            ("pagerank", ["--weighted"], lambda: personalised(graph, np.arange(n), 20, weights)),
            ("ppr", ["--sources", f"0,5,{n - 1}"], lambda: personalised(graph, np.array([0, 5, n - 1]), 20, plain))):
        found, report = values(edgewire, tmp_path, kernel, path, *more, *options)
        np.testing.assert_allclose(found, expected(), rtol=near)
        assert report["verify"]["passed"] and report["verify"]["limit_share"] < 0.7
        assert report["verify"]["vertex_limit"] < (1e-5 if precision == "f32" else 1e-8)


@pytest.mark.parametrize("processes", PROCESSES)
@pytest.mark.parametrize("precision", ["f32", "f64"])
@pytest.mark.parametrize("shape", SHAPES)
def test_products(edgewire, made, tmp_path, shape, precision, processes):
    """Whole numbers: those below 2^24 are exact as floats, all of these as doubles."""
    path, graph = made(shape)
    expected = np.ones(graph.vertices)
    for _ in range(2):
        expected = np.bincount(graph.targets, expected[graph.sources] * graph.weights.astype(float), graph.vertices)
    found, _ = values(edgewire, tmp_path, "spmv", path, "--iterations", 2, "--precision", precision, "-p", processes, "-w", 1,
                      "--verify")
    np.testing.assert_allclose(found, expected, rtol=0 if precision == "f64" else 2e-7)


def expected_labels(graph, rounds):
    """The most frequent label around, the smallest on a tie: no vertex but the hub has more than two neighbours."""
    labels = np.arange(graph.vertices)
    for _ in range(rounds):
        if graph.vertices == LENGTH:
            before, behind = labels[:-1], labels[1:]
            labels = np.concatenate(([labels[1]], np.minimum(before[:-1], behind[1:]), [labels[-2]]))
        else:
            counts = np.bincount(labels[1:])
            labels = np.concatenate(([np.argmax(counts)], np.full(LEAVES, labels[0])))
    return labels


@pytest.mark.parametrize("processes", PROCESSES)
@pytest.mark.parametrize("shape", SHAPES)
def test_kernels_that_follow_a_frontier(edgewire, made, tmp_path, shape, processes):
    path, graph = made(shape)
    n, v = graph.vertices, np.arange(graph.vertices)
    # Neighbours of the path have one owner, but where a range ends.
    options = ["-p", processes, "-w", 1, "--ownership", "ranges" if shape == "path" else "hash", "--verify"]
    weight_to = np.zeros(n)  # of the edge from the vertex before, or from the hub
    forwards = graph.targets > graph.sources
    weight_to[graph.targets[forwards]] = graph.weights[forwards]
    leads = shape != "star in"  # from vertex 0 to the others
    levels = v if shape == "path" else np.where(v == 0, 0, 1 if leads else math.inf)
    distances = np.cumsum(weight_to) if shape == "path" else np.where(v == 0, 0, weight_to if leads else math.inf)
    scores = np.zeros(n)
    if shape == "path":  # from 0 and from the middle, over each vertex to all behind it
        scores[1:] += n - 1 - v[1:]
        scores[n // 2 + 1:] += n - 1 - v[n // 2 + 1:]
    elif shape == "star both ways":  # from a leaf over the hub to all other leaves
        scores[0] = LEAVES - 1
    for kernel, more, expected in (("bfs", ["--source", 0], levels), ("wcc", [], np.zeros(n)), ("cdlp", [], expected_labels(graph, 10)),
                                   ("lcc", [], np.zeros(n)), ("tc", [], np.zeros(n)), ("bc", ["--sources", f"0,{n // 2}"], scores),
                                   ("sssp", ["--source", 0], distances)):
        found, _ = values(edgewire, tmp_path, kernel, path, *more, *options)
        np.testing.assert_array_equal(found, expected, err_msg=kernel)
