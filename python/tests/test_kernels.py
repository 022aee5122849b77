"""Kernels against SciPy, NetworkX and plain loops, in one process and in several."""

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import scipy.sparse.csgraph as csgraph

import edgewire as ew

JOBS = [{}, {"processes": 2}, {"processes": 3, "transport": "tcp", "workers": 1}]


def matrix_of(src, dst, vertices, values=None):
    return sp.coo_array((np.ones(len(src)) if values is None else values, (src, dst)), shape=(vertices, vertices)).tocsr()


def plain_pagerank(matrix, damping, iterations, start=None):
    n = matrix.shape[0]
    degrees = np.asarray(matrix.sum(axis=1)).ravel()
    start = np.full(n, 1 / n) if start is None else start
    ranks = start.copy()
    for _ in range(iterations):
        sent = np.divide(ranks, degrees, out=np.zeros(n), where=degrees > 0)
        ranks = damping * (matrix.T @ sent + ranks[degrees == 0].sum() * start) + (1 - damping) * start
    return ranks


@pytest.mark.parametrize("job", JOBS)
def test_pagerank(random_graph, job):
    graph, src, dst = random_graph
    ranks = ew.pagerank(graph, damping=0.9, iterations=15, wire="f64", **job)
    assert np.abs(ranks - plain_pagerank(matrix_of(src, dst, 200), 0.9, 15)).max() < 1e-15
    assert ranks.dtype == np.float64 and ranks.shape == (200,)
    report = ranks.report
    assert report["kernel"] == "pagerank" and report["processes"] == job.get("processes", 1)
    assert len(report["iterations"]) == 15 and report["vertices"] == 200 and report["edges"] == 1500


def test_pagerank_stops_at_its_tolerance(random_graph):
    ranks = ew.pagerank(random_graph[0], damping=0.99, tolerance=1e-12, wire="f64")
    assert ranks.report["converged"] and ranks.report["change"] < 1e-12 and 20 < len(ranks.report["iterations"]) < 1000
    assert len(ew.pagerank(random_graph[0]).report["iterations"]) == 20


@pytest.mark.parametrize("job", JOBS)
def test_pagerank_with_weights(random_graph, job):
    _, src, dst = random_graph
    weights = np.random.default_rng(5).random(len(src)) + 0.1
    graph = ew.Graph.from_numpy(src, dst, weights, vertices=200)
    ranks = ew.pagerank(graph, weight=True, iterations=10, wire="f64", **job)
    assert np.abs(ranks - plain_pagerank(matrix_of(src, dst, 200, weights), 0.85, 10)).max() < 1e-15


@pytest.mark.parametrize("job", JOBS)
def test_personalized_pagerank(random_graph, job):
    graph, src, dst = random_graph
    for chosen, share in (([7, 3], 0.5), (np.array([3, 7]), 0.5), ({3: 2, 7: 2, 9: 0}, 0.5), ({7: 30, 3: 10}, 0.25)):
        start = np.zeros(200)
        start[[3, 7]] = share, 1 - share
        expected = plain_pagerank(matrix_of(src, dst, 200), 0.85, 12, start)
        ranks = ew.pagerank(graph, personalization=chosen, iterations=12, wire="f64", **job)
        assert np.abs(ranks - expected).max() < 1e-15
        assert np.abs(ew.pagerank(graph, personalization=chosen, iterations=12, verify=True, **job) - expected).max() < 1e-7


@pytest.mark.parametrize("job", JOBS)
def test_bfs(random_graph, job):
    graph, src, dst = random_graph
    levels = ew.bfs(graph, 5, **job)
    expected = csgraph.shortest_path(matrix_of(src, dst, 200), unweighted=True, indices=5)
    assert levels.dtype == np.int64
    assert np.array_equal(levels, np.where(np.isinf(expected), -1, expected).astype(np.int64))
    parents = ew.bfs(graph, 5, parents=True, **job)
    edges = set(zip(src.tolist(), dst.tolist()))
    for vertex, parent in enumerate(parents.tolist()):
        if vertex == 5 or levels[vertex] < 0:
            assert parent == (5 if vertex == 5 else -1)
        else:
            assert (parent, vertex) in edges and levels[parent] == levels[vertex] - 1


@pytest.mark.parametrize("job", JOBS)
def test_sssp(random_graph, job):
    _, src, dst = random_graph
    pairs = np.unique(np.array([src, dst]).T, axis=0)
    weights = np.random.default_rng(6).random(len(pairs)) + 0.01
    graph = ew.Graph.from_numpy(pairs[:, 0], pairs[:, 1], weights, vertices=200)
    expected = csgraph.dijkstra(matrix_of(pairs[:, 0], pairs[:, 1], 200, weights), indices=9)
    assert np.allclose(ew.sssp(graph, 9, **job), expected, rtol=1e-12)
    assert np.array_equal(ew.sssp(graph, 9, weight=False, **job),
                          csgraph.dijkstra(matrix_of(pairs[:, 0], pairs[:, 1], 200), unweighted=True, indices=9))


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("kernel, connection", [(ew.wcc, "weak"), (ew.scc, "strong")])
def test_components(job, kernel, connection):
    src, dst = np.random.default_rng(2).integers(0, 300, (2, 280))
    graph = ew.Graph.from_numpy(src, dst, vertices=300)
    _, labels = csgraph.connected_components(matrix_of(src, dst, 300), connection=connection)
    first = {}
    expected = [first.setdefault(label, v) for v, label in enumerate(labels.tolist())]
    components = kernel(graph, **job)
    assert components.dtype == np.int64 and components.tolist() == expected


@pytest.mark.parametrize("job", JOBS)
def test_betweenness(job):
    theirs = nx.gnm_random_graph(60, 150, seed=4, directed=True)
    graph = ew.Graph.from_networkx(theirs)
    expected = nx.betweenness_centrality(theirs, normalized=False)
    assert np.allclose(ew.bc(graph, **job), [expected[v] for v in range(60)], rtol=1e-9)
    normalized = nx.betweenness_centrality(theirs)
    assert np.allclose(ew.bc(graph, normalized=True, **job), [normalized[v] for v in range(60)], rtol=1e-9)


@pytest.mark.parametrize("job", JOBS)
def test_clustering(job):
    theirs = nx.gnm_random_graph(80, 400, seed=8)
    graph = ew.Graph.from_networkx(theirs)
    expected = nx.clustering(theirs)
    coefficients = ew.lcc(graph, **job)
    assert np.allclose(coefficients, [expected[v] for v in range(80)], rtol=1e-12)


@pytest.mark.parametrize("job", JOBS)
def test_triangles(job):
    theirs = nx.gnm_random_graph(80, 400, seed=9)
    graph = ew.Graph.from_networkx(theirs)
    expected = nx.triangles(theirs)
    of_vertices = ew.tc(graph, vertices=True, **job)
    assert of_vertices.dtype == np.int64 and of_vertices.tolist() == [expected[v] for v in range(80)]
    assert list(of_vertices.to_frame().columns) == ["vertex", "triangles"]
    count = ew.tc(graph, **job)
    assert count.shape == () and int(count) == sum(expected.values()) // 3 == count.report["triangles"]
    with pytest.raises(ew.UsageError, match="to_frame"):
        count.to_frame()
    with pytest.raises(ew.UsageError, match="^vertices=2: True or False"):
        ew.tc(graph, vertices=2)


def test_label_propagation():
    # Two cliques with one edge between them: each agrees on its smallest vertex.
    theirs = nx.disjoint_union(nx.complete_graph(6), nx.complete_graph(6))
    theirs.add_edge(5, 6)
    labels = ew.cdlp(ew.Graph.from_networkx(theirs), 10)
    assert set(labels[:5].tolist()) == {labels[0]} and set(labels[7:].tolist()) == {labels[8]} and labels[0] != labels[8]


def test_spmv_beside_products_of_scipy():
    matrix = sp.csr_array(np.random.default_rng(6).integers(-4, 5, (7, 7)).astype(float))
    x = np.arange(1.0, 8)
    assert (matrix.toarray() != matrix.toarray().T).any()
    assert (ew.spmv(ew.Graph.from_scipy(matrix), x) == matrix.T @ x).all()
    assert (ew.spmv(ew.Graph.from_scipy(matrix.T), x) == matrix @ x).all()


def test_edges_listed_both_ways_are_no_undirected_graph():
    undirected, listed = ew.Graph.from_numpy([0], [1], undirected=True), ew.Graph.from_numpy([0, 1], [1, 0])
    assert undirected.undirected and not listed.undirected and undirected.edges == listed.edges == 2
    assert ew.spmv(undirected).tolist() == ew.spmv(listed).tolist() == [1, 1]


def test_spmv(random_graph):
    graph, src, dst = random_graph
    x = np.random.default_rng(7).random(200)
    matrix = matrix_of(src, dst, 200).T
    assert np.allclose(ew.spmv(graph, x, wire="f64"), matrix @ x)
    assert np.allclose(ew.spmv(graph, wire="f64", iterations=2), matrix @ (matrix @ np.ones(200)))


def test_one_vertex_and_none():
    one = ew.Graph.from_numpy([], [], vertices=1)
    assert ew.pagerank(one).tolist() == [1] and ew.bfs(one, 0).tolist() == [0] and ew.wcc(one).tolist() == [0]
    assert ew.bc(one).tolist() == [0] and ew.lcc(one).tolist() == [0] and ew.tc(one).tolist() == 0


def test_frames(random_graph):
    ranks = ew.pagerank(random_graph[0])
    frame = ranks.to_frame()
    assert list(frame.columns) == ["vertex", "rank"] and np.array_equal(frame["rank"], ranks)
    labelled = ew.Graph.from_edges(["b", "a"], ["a", "b"])
    assert ew.wcc(labelled).to_frame()["vertex"].tolist() == ["a", "b"]
    with pytest.raises(ew.UsageError, match="no whole result"):
        ranks[:5].to_frame()


@pytest.mark.parametrize("processes", [1, 2])
def test_the_peak_of_memory_is_that_of_the_call(random_graph, processes):
    held = np.ones(500 << 17)  # 500 MiB of Python's process
    report = ew.pagerank(random_graph[0], processes=processes).report
    assert 100_000 < report["peak_rss_bytes"] < held.nbytes / 4


def test_results_are_arrays(random_graph):
    ranks = ew.pagerank(random_graph[0])
    assert isinstance(ranks, np.ndarray) and type(ranks * 2) is np.ndarray and type(ranks.sum()) is np.float64
    ranks[0] = 7  # the caller's own
    assert ranks[0] == 7


def test_bound(random_graph):
    bound = ew.bound(random_graph[0], processes=[2, 4], rate=["1G", "10G"])
    frame = bound.to_frame()
    assert frame["processes"].tolist() == [2, 2, 4, 4] and frame["strategy"].tolist() == ["slots", "cover"] * 2
    assert np.allclose(frame["seconds_at_1G"], 10 * frame["seconds_at_10G"])
    ranks = ew.pagerank(random_graph[0], processes=2, strategy="cover")
    assert ranks.report["bound"]["payload_bytes"] == frame["payload_bytes"][1]
    assert "cover" in str(bound) and bound._repr_html_().startswith("<iframe srcdoc=")
    assert bound.page.startswith("<!DOCTYPE html>") and bound.page.count("<svg") == 3 and "4 processes, hash" in bound.page
    with pytest.raises(ew.Error, match="rate"):
        ew.bound(random_graph[0], processes=2, rate="1 parsec")


def test_profile(random_graph, tmp_path):
    profile = ew.profile(ew.pagerank, random_graph[0], iterations=40, processes=2, workers=1)
    assert len(profile.result.report["iterations"]) == 40 and isinstance(profile.limit, str)
    frame = profile.to_frame()
    assert frame["rank"].tolist() == [0, 1] and (frame["compute"] > 0).all()
    profile.save(tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert page.startswith("<!DOCTYPE html>") and "<svg" in page and "pagerank" in page
    assert profile._repr_html_().startswith("<iframe srcdoc=")
    assert "wcc" in ew.profile(ew.wcc, random_graph[0]).page
