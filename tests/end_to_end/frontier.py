"""Kernels that follow a frontier: graphs, runs and what is expected of them."""

import json
import math

import numpy as np

import graphs
import paths
from reference import Graph

KERNELS = ["bfs", "sssp", "wcc", "scc", "bc", "lcc", "tc", "cdlp"]
WITHOUT_SOURCE = ["wcc", "scc", "lcc", "tc", "cdlp"]
UNREACHED = 9223372036854775807


def values(text):
    """[(id, value)] of `id<TAB>value` lines; inf where no path leads."""
    lines = [line.split("\t") for line in text.splitlines()]
    return [(int(id_), math.inf if value in ("infinity", str(UNREACHED)) else float(value)) for id_, value in lines]


def asked(kernel, source):
    """The option that names the source."""
    return [] if kernel in WITHOUT_SOURCE else ["--sources" if kernel == "bc" else "--source", source]


def run(edgewire, folder, kernel, path, *options, source=None):
    """([(id, value)] of a run with --verify, its report)."""
    output, report = folder / "values.tsv", folder / "report.json"
    edgewire.ok(kernel, path, *([] if source is None else asked(kernel, source)), *options, "--verify", "-o", output, "--json", report)
    return values(output.read_text()), json.loads(report.read_text())


def expected(kernel, graph, source):
    """[(id, value)] of all vertices."""
    ids = graph.ids().tolist()
    if kernel == "wcc":
        found = [ids[root] for root in paths.components(graph)]
    elif kernel == "scc":
        found = [ids[first] for first in paths.strong_components(graph)]
    elif kernel == "bc":
        found = paths.betweenness(graph, [source])
    elif kernel == "lcc":
        found = paths.clustering(graph)[0]
    elif kernel == "tc":
        found = paths.triangles(graph)
    elif kernel == "cdlp":
        found = [ids[label] for label in paths.propagation(graph, 10)]
    else:
        found = {"bfs": paths.levels, "sssp": paths.distances}[kernel](graph, source)
    return list(zip(ids, found))


def check(kernel, found, known):
    assert [id_ for id_, _ in found] == [id_ for id_, _ in known]
    if kernel == "sssp":  # both round once an edge
        np.testing.assert_allclose([value for _, value in found], [value for _, value in known], rtol=1e-13)
    elif kernel == "bc":
        np.testing.assert_allclose([value for _, value in found], [value for _, value in known], rtol=1e-9)
    elif kernel == "lcc":
        np.testing.assert_allclose([value for _, value in found], [value for _, value in known], rtol=1e-12)
    else:
        assert found == known


def same_partition(found, known):
    """Labels are compared as LDBC does: each label of one side goes with one label of the other."""
    pairs = {(found[id_], known[id_]) for id_ in known}
    return found.keys() == known.keys() and len(pairs) == len(set(found.values())) == len(set(known.values()))


def check_published(kernel, found, known):
    found = dict(found)
    if kernel == "wcc":
        assert same_partition(found, known)
        return
    known = {id_: math.inf if value == float(UNREACHED) else value for id_, value in known.items()}
    assert found.keys() == known.keys()
    limit = 1e-4 if kernel in ("sssp", "lcc") else 0
    np.testing.assert_allclose([found[id_] for id_ in known], list(known.values()), rtol=limit)


def weighted(graph, seed=1):
    """The same with weights, some of them 0, some huge."""
    random = np.random.default_rng(seed)
    graph.weights = random.choice([0, 0.125, 1, 3, 1000.5, 1e30], len(graph.sources), p=[.2, .2, .3, .2, .09, .01])
    return graph


def both_ways(graph):
    return Graph(graph.vertices, np.concatenate((graph.sources, graph.targets)),
                 np.concatenate((graph.targets, graph.sources)))


def parts():
    """Several components, isolated vertices between them."""
    sources, targets = graphs.random_edges(60, 80, 5)
    return Graph(300, np.concatenate((sources, sources + 100, [298])), np.concatenate((targets, targets + 100, [299])))


# What graphs.GRAPHS lacks.
MORE = {
    "star both ways": lambda: both_ways(graphs.make("star out")),
    "cycle both ways": lambda: both_ways(graphs.make("cycle")),
    "parts": parts,
}
NAMES = [name for name in [*graphs.GRAPHS, *MORE] if name != "no vertices"]


def make(name):
    return weighted(MORE[name]() if name in MORE else graphs.make(name))


GENERATED = ["kronecker", "kronecker both ways", "grid"]


def partition(folder, graph, processes):
    """A partition file in which the last process has a single vertex."""
    owners = np.random.default_rng(graph.vertices).integers(0, max(1, processes - 1), graph.vertices)
    owners[:processes] = range(processes)
    path = folder / "partition.txt"
    path.write_text("".join(f"{owner}\n" for owner in owners))
    return path
