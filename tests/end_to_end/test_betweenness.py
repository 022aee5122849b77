"""bc where paths are more than doubles can count, have weights, or are normalized: as whole numbers of any size, and NetworkX, have them."""

import fractions
import itertools
import json
import math

import numpy as np
import pytest

import graphs
import paths
import reference
from frontier import both_ways, check, run
from job import check_schema
from reference import Graph

CUTS = [["-p", 1, "-w", 1], ["-p", 1, "-w", 2], ["-p", 2, "-w", 2, "--ownership", "ranges"], ["-p", 3, "-w", 1, "--transport", "tcp"],
        ["-p", 1, "-w", 2, "--parallel", "sources"], ["-p", 2, "-w", 1, "--deterministic"]]
CUTS_OF_WEIGHTED = [["-p", 1, "-w", 1], ["-p", 1, "-w", 2, "--deterministic"], ["-p", 3, "-w", 2, "--transport", "tcp"]]


def write(path, graph, symmetric=False):
    flags = reference.SYMMETRIC if symmetric else 0
    if graph.weights is not None:
        flags |= reference.weight_flags(graph)
    path.write_bytes(reference.graph_bytes(graph, flags=flags))
    return path


def layers(count, width=8):
    """Most vertices of a layer have edges to most of the next one, some of them twice. Beside them a path leads from the first layer to
    the last one, so that some vertices of a level have one path and others more than 1e300."""
    random = np.random.default_rng(count)
    u, v = np.divmod(np.arange(count * width * width), width)
    some = random.random(len(u)) < 0.8
    u, v = u[some], (u[some] // width + 1) * width + v[some]
    twice = random.random(len(u)) < 0.1
    side = (count + 1) * width + np.arange(count - 1)
    return Graph((count + 1) * width + count - 1,
                 np.concatenate((u, u[twice], [0], side[:-1], side[-1:])),
                 np.concatenate((v, v[twice], side[:1], side[1:], [(count + 1) * width - 1])))


def listed(sources):
    return ["--sources", ",".join(map(str, sources))]


@pytest.mark.sanitize
@pytest.mark.parametrize("symmetric", [False, True], ids=["one way", "both ways"])
def test_more_paths_than_doubles_can_count(edgewire, tmp_path, symmetric):
    graph = both_ways(layers(400)) if symmetric else layers(400)
    path = write(tmp_path / "g.ew", graph, symmetric)
    sources = [0, 5, graph.vertices - 1, 1600, 3000]
    known = list(enumerate(paths.exact_betweenness(graph, sources)))
    for options in CUTS:
        found, report = run(edgewire, tmp_path, "bc", path, *listed(sources), *options)
        check_schema(report)
        check("bc", found, known)


def test_deterministic_scores_beyond_doubles_have_the_same_bits(edgewire, tmp_path):
    graph = both_ways(layers(400))
    path = write(tmp_path / "g.ew", graph, symmetric=True)
    for options in (["-w", 2], ["-w", 2, "-p", 2], ["-w", 1, "-p", 3]):
        reports = [json.loads(edgewire.ok("bc", path, "--samples", 12, "--deterministic", *options, "--json", "-")) for _ in range(4)]
        assert len({report["checksum"] for report in reports}) == 1


@pytest.mark.slow
def test_a_grid(edgewire, tmp_path):
    """From a corner and from within; 1e359 paths lead to the corner that is farthest."""
    side = 600
    cells = np.arange(side * side)
    right, down = cells[cells % side < side - 1], cells[cells < side * (side - 1)]
    graph = both_ways(Graph(side * side, np.concatenate((right, down)), np.concatenate((right + 1, down + side))))
    graph.weights, graph.weight_type = np.full(len(graph.sources), 7), "<u4"
    path = write(tmp_path / "g.ew", graph, symmetric=True)
    sources = [0, 37 * side + 5]
    known = list(enumerate(paths.exact_betweenness(graph, sources)))
    for options in (["-w", 2], ["-p", 2, "-w", 1], ["-w", 2, "--deterministic"], ["-w", 2, "--weighted"]):
        found, _ = run(edgewire, tmp_path, "bc", path, *listed(sources), *options)
        check("bc", found, known)


def weighted_graph(weight_type, symmetric):
    """With many ties."""
    sources, targets = graphs.random_edges(120, 700, 3)
    graph = Graph(120, sources, targets)
    graph = both_ways(graph) if symmetric else graph
    pairs = np.minimum(graph.sources, graph.targets) * 120 + np.maximum(graph.sources, graph.targets)
    random = np.random.default_rng(4)
    weights = {"<f4": [0.5, 0.75, 1.25, 2], "<f8": [0.1, 0.2, 0.3, 0.4], "<u4": [1, 2, 3, 4],
               "<u8": [2**53, 2**53 + 1, 2**54 + 1, 2**60]}[weight_type]
    graph.weights, graph.weight_type = random.choice(np.array(weights, weight_type), 120 * 120)[pairs], weight_type
    return graph


@pytest.mark.parametrize("weight_type", reference.WEIGHT_TYPES.values())
@pytest.mark.parametrize("symmetric", [False, True], ids=["one way", "both ways"])
def test_paths_of_least_weight(edgewire, tmp_path, weight_type, symmetric):
    graph = weighted_graph(weight_type, symmetric)
    path = write(tmp_path / "g.ew", graph, symmetric)
    for endpoints in (False, True):
        known = list(enumerate(paths.exact_betweenness(graph, range(graph.vertices), weighted=True, endpoints=endpoints)))
        for options in CUTS_OF_WEIGHTED:
            found, report = run(edgewire, tmp_path, "bc", path, "--weighted", *["--endpoints"] * endpoints, *options)
            check_schema(report)
            check("bc", found, known)
            assert report["options"]["weighted"] and report["options"]["endpoints"] == endpoints


def test_weighted_paths_beyond_doubles(edgewire, tmp_path):
    graph = layers(400)
    graph.weights, graph.weight_type = np.full(len(graph.sources), 0.3), "<f8"
    path = write(tmp_path / "g.ew", graph)
    known = list(enumerate(paths.exact_betweenness(graph, [0, 7, 2000], weighted=True)))
    for options in CUTS_OF_WEIGHTED:
        found, _ = run(edgewire, tmp_path, "bc", path, "--weighted", *listed([0, 7, 2000]), *options)
        check("bc", found, known)


@pytest.mark.parametrize("symmetric", [False, True], ids=["one way", "both ways"])
def test_scores_are_normalized_as_networkx_does(edgewire, tmp_path, symmetric):
    """NetworkX 3.6 divides the sum over ordered pairs by the number of pairs, in graphs with and without directions."""
    graph = weighted_graph("<u4", symmetric)
    n, path = graph.vertices, write(tmp_path / "g.ew", graph, symmetric)
    for options in CUTS[1:5]:
        for endpoints, pairs in ((False, (n - 1) * (n - 2)), (True, n * (n - 1))):
            more = ["--normalized", *["--endpoints"] * endpoints, *options]
            for sources in (range(n), [3, 50, 51]):
                scores = np.array(paths.exact_betweenness(graph, sources, endpoints=endpoints)) / pairs
                found, report = run(edgewire, tmp_path, "bc", path, *(listed(sources) if len(sources) < n else []), *more)
                check_schema(report)
                check("bc", found, list(enumerate(scores)))
                assert report["options"]["normalized"]


def test_samples_are_normalized_as_networkx_does(edgewire, tmp_path):
    """With k sources, NetworkX 3.6 counts for a source the k - 1 others."""
    graph = weighted_graph("<u4", True)
    n, k, path = graph.vertices, 9, write(tmp_path / "g.ew", graph, True)
    for options in CUTS:
        sampled = ["--samples", k, "--seed", 5, *options]
        plain = np.array(run(edgewire, tmp_path, "bc", path, *sampled)[0])[:, 1]
        found = np.array(run(edgewire, tmp_path, "bc", path, "--normalized", *sampled)[0])[:, 1]
        drawn = np.flatnonzero(found * k * (n - 2) > plain * (1 + 1 / k))
        assert len(drawn) == k
        np.testing.assert_allclose(plain, paths.exact_betweenness(graph, drawn), rtol=1e-9)
        np.testing.assert_allclose(found[drawn], plain[drawn] / ((k - 1) * (n - 2)), rtol=1e-9)
        others = np.setdiff1d(np.arange(n), drawn)
        np.testing.assert_allclose(found[others], plain[others] / (k * (n - 2)), rtol=1e-9)
        ends = np.array(run(edgewire, tmp_path, "bc", path, "--normalized", "--endpoints", *sampled)[0])[:, 1]
        np.testing.assert_allclose(ends, np.array(paths.exact_betweenness(graph, drawn, endpoints=True)) / (k * (n - 1)), rtol=1e-9)


@pytest.mark.parametrize("vertices", [1, 2, 3])
def test_few_vertices_are_normalized(edgewire, tmp_path, vertices):
    """From 0 over 1 to 2."""
    path = write(tmp_path / "g.ew", Graph(vertices, np.arange(vertices - 1), np.arange(1, vertices)))
    known = {1: ([0], [0]), 2: ([0, 0], [.5, .5]), 3: ([0, .5, 0], [2 / 6, 3 / 6, 2 / 6])}[vertices]
    for endpoints in (False, True):
        for options in CUTS:
            found, _ = run(edgewire, tmp_path, "bc", path, "--normalized", *["--endpoints"] * endpoints, *options)
            check("bc", found, list(enumerate(known[endpoints])))


ODD_WEIGHTS = {"<u8": [1, 2, 3, 2**62, 2**63, 2**64 - 2, 2**64 - 1], "<f8": [1e-20, 0.5, 1.0, 2.0, 1e20, 9e307]}


def small_graphs(weight_type, count, seed):
    """Graphs of a few vertices with loops, several edges from one vertex to another, and weights that are much too different."""
    random = np.random.default_rng(seed)
    for _ in range(count):
        vertices, edges = random.integers(2, 6), random.integers(1, 12)
        kinds = random.choice(len(ODD_WEIGHTS[weight_type]), random.integers(1, 4), replace=False)
        weights = [ODD_WEIGHTS[weight_type][kind] for kind in random.choice(kinds, edges)]
        yield Graph(vertices, random.integers(0, vertices, edges), random.integers(0, vertices, edges), weights=weights, weight_type=weight_type)


def least_sums(graph, source, weights):
    """[vertex]: the least sum of weights of a path, infinity where none leads; by rounds over all edges."""
    sums = [0 if v == source else math.inf for v in range(graph.vertices)]
    for _ in range(graph.vertices):
        for u, v, weight in zip(graph.sources.tolist(), graph.targets.tolist(), weights):
            sums[v] = min(sums[v], sums[u] + weight)
    return sums


def expected_scores(graph):
    """(scores or None where bc must refuse, whether no sum of weights is rounded). A path is too long where its exact length is no distance; it
    cannot be told where the weight of an edge is lost and another vertex is then as far as the one before it."""
    exact = [fractions.Fraction(weight) for weight in graph.weights]
    edges = [edge for edge in zip(graph.sources.tolist(), graph.targets.tolist(), graph.weights, exact)]
    weights, rounded = graph.weights if graph.weight_type == "<f8" else exact, False
    for source in range(graph.vertices):
        sums = least_sums(graph, source, weights)
        if graph.weight_type == "<u8" and any(2**64 - 1 <= one < math.inf for one in sums):
            return None, False
        if any((one == math.inf) != (other == math.inf) for one, other in zip(sums, least_sums(graph, source, exact))):
            return None, False
        for u, v, weight, true in edges:
            if graph.weight_type == "<u8" or math.isinf(sums[u]):
                continue
            if u != v and sums[u] + weight == sums[u] == sums[v]:
                return None, False
            rounded = rounded or (u != v and (math.isinf(sums[u] + weight) or fractions.Fraction(sums[u] + weight) != fractions.Fraction(sums[u]) + true))
    apart = [i for i, (u, v, _, _) in enumerate(edges) if u != v]  # a loop is on no shortest path
    known = Graph(graph.vertices, graph.sources[apart], graph.targets[apart])
    known.weights, known.weight_type = [weights[i] if rounded else exact[i] for i in apart], object
    return paths.exact_betweenness(known, range(graph.vertices), weighted=True), rounded


def side_by_side(made):
    """One graph of all of these, whose vertices follow those of the one before."""
    first = np.concatenate(([0], np.cumsum([graph.vertices for graph in made])))
    joined = Graph(int(first[-1]), np.concatenate([graph.sources + at for graph, at in zip(made, first)]),
                   np.concatenate([graph.targets + at for graph, at in zip(made, first)]))
    joined.weight_type = made[0].weight_type
    joined.weights = np.array(list(itertools.chain(*[graph.weights for graph in made])), joined.weight_type)
    return joined


def check_odd_weights(edgewire, tmp_path, weight_type, count, refused_alone, seed):
    made = [(graph, *expected_scores(graph)) for graph in small_graphs(weight_type, count, seed)]
    taken = [(graph, scores) for graph, scores, _ in made if scores is not None]
    refused = [graph for graph, scores, _ in made if scores is None]
    assert len(taken) > count / 4 and len(refused) > count / 20
    assert weight_type == "<u8" or sum(not rounded for _, scores, rounded in made if scores is not None) > count / 8
    path = write(tmp_path / "g.ew", side_by_side([graph for graph, _ in taken]))
    known = list(enumerate(itertools.chain(*[scores for _, scores in taken])))
    for options in CUTS_OF_WEIGHTED:
        found, _ = run(edgewire, tmp_path, "bc", path, "--weighted", *options)
        check("bc", found, known)
    for graph in refused[:refused_alone]:
        graph.weights = np.array(graph.weights, weight_type)
        message = edgewire.refused("bc", write(tmp_path / "g.ew", graph), "--weighted", "-w", 1, "-o", tmp_path / "values")
        assert "the shortest path that ends with it is longer" in message or "is lost in the distance" in message


@pytest.mark.parametrize("weight_type", ODD_WEIGHTS)
def test_odd_weights_matter_on_shortest_paths_alone(edgewire, tmp_path, weight_type):
    check_odd_weights(edgewire, tmp_path, weight_type, 300, 4, 1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2, 6))
@pytest.mark.parametrize("weight_type", ODD_WEIGHTS)
def test_more_odd_weights(edgewire, tmp_path, weight_type, seed):
    check_odd_weights(edgewire, tmp_path, weight_type, 1500, 60, seed)


def test_edges_that_no_shortest_path_has(edgewire, tmp_path):
    """A loop whose sum is no distance, one whose weight is lost, and ways that are too long beside shorter ones."""
    for weight_type, edges, known in (("<u8", [(0, 1, 1), (1, 1, 2**64 - 1)], [0, 0]),
                                      ("<f8", [(0, 1, 1e20), (1, 1, 1e-20), (1, 2, 1e20)], [0, 1, 0]),
                                      ("<u8", [(0, 1, 5), (1, 2, 2**64 - 2), (0, 2, 3)], [0, 0, 0]),
                                      ("<f8", [(0, 1, 9e307), (1, 2, 1e308), (0, 2, 1e308), (2, 0, 1.0), (1, 0, 1.0)], None)):
        graph = Graph(max(max(u, v) for u, v, _ in edges) + 1, [u for u, _, _ in edges], [v for _, v, _ in edges])
        graph.weights, graph.weight_type = [weight for _, _, weight in edges], weight_type
        known = expected_scores(graph)[0] if known is None else known
        assert known is not None and known == expected_scores(graph)[0]
        graph.weights = np.array(graph.weights, weight_type)
        path = write(tmp_path / "g.ew", graph)
        for options in CUTS_OF_WEIGHTED:
            check("bc", run(edgewire, tmp_path, "bc", path, "--weighted", *options)[0], list(enumerate(known)))


def test_what_bc_refuses(edgewire, tmp_path):
    graph = Graph(3, [0, 1], [1, 2])
    plain = write(tmp_path / "plain.ew", graph)
    for options, named in ((["--samples", 0], "--samples"), (["--sources", ""], "--sources"), (["--sources", "@"], "--sources"),
                           (["--weighted", "--parallel", "levels"], "--weighted"), (["--weighted", "--edges", "disk"], "--weighted"),
                           (["--normalized", "--samples", 1], "--endpoints")):
        for processes in (1, 2):
            assert named in edgewire.refused("bc", plain, *options, "-p", processes, "-o", tmp_path / "values", status=2)
    assert "--weighted" in edgewire.refused("bc", plain, "--weighted", "-o", tmp_path / "values")
    for weight_type, weights, said in (("<f4", [1, 0], "edge 1 -> 2 has weight 0;"), ("<f8", [-0.5, 1], "edge 0 -> 1 has weight -0.5;"),
                                       ("<u8", [0, 1], "edge 0 -> 1 has weight 0;"), ("<f8", [1e9, 1e-9], "edge 1 -> 2: its weight 1e-09 is lost"),
                                       ("<u8", [2**63, 2**63], "edge 1 -> 2: the shortest path that ends with it is longer than 64 bits"),
                                       ("<f8", [1.7e308, 1.7e308], "edge 1 -> 2: the shortest path that ends with it is longer than a double")):
        graph.weights, graph.weight_type = np.array(weights, weight_type), weight_type
        path = write(tmp_path / "g.ew", graph)
        for options in (["-p", 1], ["-p", 2, "-w", 1]):
            assert said in edgewire.refused("bc", path, "--weighted", *options, "-o", tmp_path / "values")
    assert not (tmp_path / "values").exists()
