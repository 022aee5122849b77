"""The backend of NetworkX against NetworkX itself, on random graphs of all its kinds. (docs/python-networkx.md says how NetworkX's own
tests run with it.) EDGEWIRE_GRAPHS says how many graphs of each kind and shape are drawn."""

import collections
import inspect
import itertools
import math
import os
import pickle
import random
import subprocess
import sys

import pytest

nx = pytest.importorskip("networkx")
pytest.importorskip("scipy")  # NetworkX's own PageRank needs it

from edgewire import nx_backend  # noqa: E402
from edgewire.nx_graph import Graph, convert_from_nx, convert_to_nx  # noqa: E402
from edgewire.nx_limits import version  # noqa: E402

VERSION = version()
GRAPHS = int(os.environ.get("EDGEWIRE_GRAPHS", 1))

pytestmark = pytest.mark.filterwarnings("ignore")  # NetworkX notes each use of a graph that was converted before


def random_graph(kind, nodes, edges, seed, weight=None):
    """A graph with self loops, with parallel edges where its kind has them, and with isolated nodes."""
    draw = random.Random(seed)
    graph = kind(name="drawn")
    names = [("node", i) if i % 3 == 0 else f"n{i}" if i % 3 == 1 else -i for i in range(nodes)]
    draw.shuffle(names)
    graph.add_nodes_from(names)
    for _ in range(edges if nodes else 0):
        u, v = draw.choice(names[:nodes // 2 + 1]), draw.choice(names)
        attributes = {} if weight is None or draw.random() < 0.1 else {"w": weight(draw)}
        graph.add_edge(u, v, **attributes)
    return graph


KINDS = [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph]
UNDIRECTED, DIRECTED = KINDS[::2], KINDS[1::2]
SHAPES = [(0, 0), (1, 0), (1, 2), (2, 1), (7, 0), (12, 14), (40, 70), (90, 700)]
WEIGHTS = {"whole": lambda draw: draw.randint(1, 9), "tenths": lambda draw: draw.randint(1, 9) / 10,
           "zeros": lambda draw: draw.choice([0, 1, 5])}


def graphs(kinds, weight=None):
    for (kind, (nodes, edges)), seed in itertools.product(itertools.product(kinds, SHAPES), range(GRAPHS)):
        yield random_graph(kind, nodes, edges, seed, weight)


def both(function, graph, *args, **kwargs):
    """What NetworkX gives, and what the backend gives for the same call: results, or the types of errors."""
    results = []
    for backend in ("networkx", "edgewire"):
        own = {} if backend == "networkx" and VERSION < (3, 4) else {"backend": backend}
        try:
            result = getattr(nx, function)(graph, *args, **kwargs, **own)
            results.append(list(result) if hasattr(result, "__next__") else result)
        except NotImplementedError:
            raise
        except Exception as error:
            results.append(type(error))
    return results


def same(function, graph, *args, **kwargs):
    wanted, got = both(function, graph, *args, **kwargs)
    assert got == wanted, f"{function} of {graph}"
    assert_plain(got)


def near(function, graph, *args, **kwargs):
    wanted, got = both(function, graph, *args, **kwargs)
    if type(got) is not dict:
        assert got == wanted
        return
    assert list(got) == list(wanted), "nodes in their order"
    assert list(got.values()) == pytest.approx(list(wanted.values()), rel=1e-9, abs=1e-12, nan_ok=True), f"{function} of {graph}"
    assert_plain(got)


def assert_plain(result):
    """Numbers are those of Python, not of NumPy."""
    if isinstance(result, (list, set, tuple)):
        for part in result:
            assert_plain(part)
    elif isinstance(result, dict):
        assert_plain(list(result.values()))
    elif not isinstance(result, (str, nx.Graph, type)):
        assert type(result) in (int, float, bool)


def nodes_of(graph):
    return list(graph)[:3] + ["nowhere"]


@pytest.mark.parametrize("kinds", [UNDIRECTED, DIRECTED])
def test_searches_give_the_same_in_the_same_order(kinds):
    for graph in graphs(kinds):
        for source in nodes_of(graph):
            for function in ("bfs_edges", "bfs_successors"):
                same(function, graph, source)
                same(function, graph, source, depth_limit=2)
            same("descendants_at_distance", graph, source, 2)
            same("single_source_shortest_path_length", graph, source)
            same("single_source_shortest_path_length", graph, source, cutoff=1.5)
            if source in graph:
                same("bfs_layers", graph, source)
                wanted, got = both("bfs_tree", graph, source)
                assert list(wanted.edges) == list(got.edges)
                wanted, got = both("single_source_shortest_path_length", graph, source)
                assert list(wanted.items()) == list(got.items())


def test_a_search_through_large_levels_has_the_same_order():
    same("bfs_edges", nx.gnm_random_graph(3000, 12000, seed=5, directed=True), 7)
    same("bfs_layers", nx.path_graph(3000), 1500)
    star = nx.star_graph(2000)
    star.add_edges_from((i, 3000 - i % 50) for i in range(1, 2000))
    same("bfs_edges", star, 5)


@pytest.mark.parametrize("weight", WEIGHTS)
def test_lengths_of_paths(weight):
    for graph in graphs(KINDS, WEIGHTS[weight]):
        for source in nodes_of(graph):
            same("single_source_dijkstra_path_length", graph, source, weight="w")
            same("single_source_dijkstra_path_length", graph, source, weight="w", cutoff=4)
            same("single_source_dijkstra_path_length", graph, source, weight="nothing has it")
            if source in graph:
                same("shortest_path_length", graph, source)
                same("shortest_path_length", graph, source, weight="w")


def test_components():
    for graph in graphs(UNDIRECTED):
        for function in ("connected_components", "number_connected_components", "is_connected"):
            same(function, graph)
        for node in nodes_of(graph):
            same("node_connected_component", graph, node)
    for graph in [*graphs(DIRECTED), nx.cycle_graph(9, create_using=nx.DiGraph)]:
        for function in ("weakly_connected_components", "number_weakly_connected_components", "is_weakly_connected",
                         "number_strongly_connected_components", "is_strongly_connected"):
            same(function, graph)


@pytest.mark.parametrize("weight", WEIGHTS)
def test_pagerank(weight):
    for graph in graphs(KINDS, WEIGHTS[weight]):
        for name in ("w", None, "nothing has it"):
            near("pagerank", graph, weight=name)
        near("pagerank", graph, alpha=0.5, tol=1e-12, max_iter=200, weight="w")
    wanted, got = both("pagerank", nx.path_graph(50), tol=1e-9, max_iter=4)
    assert wanted is got is nx.PowerIterationFailedConvergence


def test_pagerank_with_all_arguments():
    draw = random.Random(4)
    weights = {**WEIGHTS, "signs": lambda draw: draw.choice([-1, 1, 2.5])}
    for weight, kind, _ in itertools.product(weights.values(), KINDS, range(20)):
        graph = random_graph(kind, 15, 40, draw.random(), weight)
        some = {name: {**{node: draw.choice([0, 1, 2, 0.5]) for node in draw.sample(list(graph), 3)}, "nowhere": 3}
                for name in ("personalization", "nstart", "dangling") if draw.random() < 0.5}
        near("pagerank", graph, alpha=draw.choice([0, 0.5, 0.85, 1, -0.1]), tol=draw.choice([0, 1e-3, 1e-6, 1e-13]),
             max_iter=draw.choice([0, 1, 20, 1000]), weight="w", **some)


@pytest.mark.parametrize("weight", [None, "whole", "tenths"])
@pytest.mark.parametrize("kinds", [UNDIRECTED, DIRECTED])
def test_betweenness(kinds, weight):
    name = None if weight is None else "w"
    for graph in graphs(kinds, WEIGHTS.get(weight)):
        for normalized, endpoints in itertools.product((True, False), repeat=2):
            options = {"normalized": normalized, "endpoints": endpoints, "weight": name}
            near("betweenness_centrality", graph, **options)
            if VERSION >= (3, 6):
                for k in sorted({1, len(graph) // 2, len(graph)} - {0}) if len(graph) else []:
                    near("betweenness_centrality", graph, k=k, seed=42, **options)


def test_triangles():
    for graph in graphs([nx.Graph]):
        for function in ("triangles", "clustering"):
            same(function, graph)
            same(function, graph, nodes=nodes_of(graph))
            for node in nodes_of(graph)[:-1]:
                same(function, graph, node)
        same("average_clustering", graph)
        same("average_clustering", graph, count_zeros=False)
        same("transitivity", graph)


class Alike:
    """A node that cannot be sorted and whose hash is that of all others."""

    def __hash__(self):
        return 1


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("names", [[Alike() for _ in range(12)], [False, True, 2.0, *range(3, 12)],
                                   [math.nan, int, frozenset(), *range(3, 12)]], ids=["alike", "equal", "other"])
def test_nodes_of_any_kind(names, directed):
    graph = nx.relabel_nodes(nx.gnm_random_graph(12, 20, seed=3, directed=directed), dict(enumerate(names)))
    calls = [(function, source) for source in (names[0], names[1], 1, 2, [], "nowhere")  # some are equal to a node and not the same
             for function in ("bfs_edges", "bfs_successors", "single_source_shortest_path_length",
                              "single_source_dijkstra_path_length")]
    calls += [(function, nodes) for nodes in (names[3], names[:3], ["nowhere", 1, 1.0], [[]], 1.0, "nowhere", 5.5)
              for function in ("triangles", "clustering") if not directed]
    for function, argument in calls:
        wanted, got = both(function, graph, argument)
        assert repr(got) == repr(wanted), f"{function} of {argument}"
    near("pagerank", graph)


def test_what_a_search_cuts_off():
    for graph in graphs(KINDS, WEIGHTS["whole"]):
        source = next(iter(graph), None)
        for cutoff, weight in itertools.product((math.inf, 1.5, 0, -1), ("w", None, "nothing has it")):
            same("single_source_dijkstra_path_length", graph, source, cutoff=cutoff, weight=weight)
            same("single_source_shortest_path_length", graph, source, cutoff=cutoff)


def test_a_sample_is_not_drawn_twice():
    graph = random_graph(nx.Graph, 20, 40, seed=1, weight=WEIGHTS["zeros"])
    draw = random.Random(5)
    with pytest.raises(NotImplementedError):
        nx_backend.betweenness_centrality(convert_from_nx(graph, edge_attrs={"w": 1}), k=3, weight="w", seed=draw)
    assert draw.random() == random.Random(5).random(), "NetworkX, which runs it then, must draw the same"


# What is not offered.

ROAD = nx.path_graph(4)
NO = [
    ("bfs_edges", ROAD, {"source": 0, "sort_neighbors": sorted}), ("bfs_edges", ROAD.to_directed(), {"source": 0, "reverse": True}),
    ("bfs_layers", ROAD, {"sources": [0, 1]}), ("bfs_layers", ROAD, {"sources": 9}),
    ("pagerank", ROAD, {"weight": len}), ("shortest_path_length", ROAD, {}), ("shortest_path_length", ROAD, {"source": 0, "target": 1}),
    ("shortest_path_length", ROAD, {"source": 0, "weight": "w", "method": "bellman-ford"}),
    ("shortest_path_length", ROAD, {"source": 0, "method": "none of this name"}),
    ("single_source_dijkstra_path_length", ROAD, {"source": 0, "weight": lambda u, v, d: 1}),
    ("triangles", nx.MultiGraph(ROAD), {}), ("clustering", ROAD.to_directed(), {}), ("clustering", ROAD, {"weight": "w"}),
    ("betweenness_centrality", ROAD, {"k": 0}), ("pagerank", ROAD, {"no_such_argument": 1}), ("is_weakly_connected", ROAD, {}),
    ("is_connected", ROAD.to_directed(), {}),
]


@pytest.mark.parametrize("function, graph, arguments", NO)
def test_a_reason_is_given_for_what_is_not_offered(function, graph, arguments):
    reason = nx_backend.limit_of(function, (graph,), arguments)
    assert isinstance(reason, str)
    assert nx_backend.can_run(function, (graph,), arguments) == (reason if VERSION >= (3, 4) else False)


@pytest.mark.parametrize("values", [[1, -1, 1], [1, None, 1], ["1", 1, 1], [1, math.inf, 1], [1, math.nan, 1], [1, 1 << 70, 1],
                                    [1, 1 << 52, 1.5], [1 << 52, 1, 1], [1e300, 1e300, 1]])
def test_weights_that_the_library_cannot_take(values):
    graph = ROAD.copy()
    for (_, _, attributes), value in zip(graph.edges(data=True), values):
        attributes["w"] = value
    with pytest.raises(NotImplementedError):
        nx_backend.single_source_dijkstra_path_length(convert_from_nx(graph, edge_attrs={"w": 1}), 0, weight="w")


@pytest.mark.parametrize("values", [[1, 0, 1], [1e-20, 1, 1.5]])
def test_betweenness_needs_weights_whose_sums_differ(values):
    graph = nx.Graph((i, i + 1, {"weight": value}) for i, value in enumerate(values))
    with pytest.raises(NotImplementedError):
        nx_backend.betweenness_centrality(convert_from_nx(graph, edge_attrs={"weight": 1}), weight="weight")


def test_versions_that_are_not_released_have_a_number(monkeypatch):
    monkeypatch.setattr(nx, "__version__", "3.7rc0.dev0")
    assert version() == (3, 7)


def test_networkx_runs_small_graphs_itself():
    graph, small = nx.gnm_random_graph(5000, 15000, seed=1), nx.gnm_random_graph(100, 300, seed=1)
    large = nx.circulant_graph(5000, range(1, 11))
    for wanted, function, asked, arguments in [
            (True, "pagerank", graph, {}), (False, "is_connected", graph, {}), (False, "bfs_edges", graph, {"source": 0}),
            (True, "shortest_path_length", graph, {"source": 0, "weight": "w"}), (True, "betweenness_centrality", small, {}),
            (True, "bfs_edges", large, {"source": 0}), (False, "bfs_edges", large, {"source": 0, "depth_limit": 2}),
            (False, "is_connected", large, {}), (True, "is_strongly_connected", large.to_directed(), {}),
            (False, "betweenness_centrality", small, {"k": 10}), (True, "triangles", convert_from_nx(ROAD), {})]:
        assert (nx_backend.should_run(function, (), {"G": asked, **arguments}) is True) == wanted, function
    if VERSION >= (3, 4):  # which keep converted graphs
        nx.pagerank(graph, backend="edgewire")
        assert nx_backend.should_run("is_connected", (graph,), {}) is True
        graph.remove_node(7)
        assert nx_backend.should_run("is_connected", (graph,), {}) is not True


# Conversion.

@pytest.mark.skipif(VERSION < (3, 4), reason="this NetworkX keeps no converted graphs")
def test_a_graph_is_converted_once(monkeypatch):
    calls = []
    monkeypatch.setattr(nx_backend, "convert_from_nx", lambda *args, **kwargs: calls.append(1) or convert_from_nx(*args, **kwargs))
    graph = random_graph(nx.Graph, 30, 60, seed=1)
    for _ in range(2):
        nx.pagerank(graph, weight="w", backend="edgewire")
        nx.is_connected(graph, backend="edgewire")  # needs less than what is there
    assert len(calls) == 1
    [kept] = graph.__networkx_cache__["backends"]["edgewire"].values()
    assert len(kept._engines) == 1
    graph.add_edge("new", "newer")
    assert nx.number_connected_components(graph, backend="edgewire") == nx.number_connected_components(graph.copy())
    assert len(calls) == 2


def test_a_graph_comes_back_as_it_was():
    for graph in graphs(KINDS, WEIGHTS["tenths"]):
        back = convert_to_nx(convert_from_nx(graph, edge_attrs={"w": 1}))
        assert type(back) is type(graph) and list(back) == list(graph)
        assert back.number_of_edges() == graph.number_of_edges() == convert_from_nx(graph).number_of_edges()
        wanted, got = (collections.Counter(((u, v) if graph.is_directed() else frozenset((u, v)), weight)
                                           for u, v, weight in one.edges(data="w", default=1)) for one in (graph, back))
        assert got == wanted


def test_graphs_of_the_backend_have_what_networkx_asks_for():
    graph = convert_from_nx(ROAD)
    assert isinstance(graph, Graph)
    assert graph.__networkx_backend__ == "edgewire" and not graph.is_directed() and not graph.is_multigraph()
    assert len(graph) == 4 and list(graph) == [0, 1, 2, 3] and 2 in graph and 9 not in graph and [] not in graph
    assert nx.pagerank(graph, weight=None) == pytest.approx(nx.pagerank(ROAD))
    with pytest.raises(NotImplementedError):
        nx_backend.pagerank(graph, weight="weight")  # it was converted without


def test_a_graph_with_a_conversion_can_be_copied_by_pickle():
    graph = random_graph(nx.Graph, 20, 30, seed=2)
    converted = convert_from_nx(graph)
    wanted = nx_backend.number_connected_components(converted)
    assert nx_backend.number_connected_components(pickle.loads(pickle.dumps(converted))) == wanted


def test_a_view_is_converted_as_it_is_seen():
    graph = random_graph(nx.DiGraph, 50, 200, seed=4)
    same("weakly_connected_components", graph.subgraph(list(graph)[10:40]))
    same("number_strongly_connected_components", graph.reverse(copy=False))
    for kind in KINDS:
        graph = random_graph(kind, 40, 90, seed=6, weight=WEIGHTS["whole"])
        draw, hidden = random.Random(7), set()
        for edge in list(graph.edges(keys=True) if graph.is_multigraph() else graph.edges()):
            if draw.random() < 0.4:
                hidden |= {edge, (edge[1], edge[0], *edge[2:])}
        view = nx.subgraph_view(graph, filter_edge=lambda *edge, hidden=hidden: edge not in hidden)
        assert view.number_of_edges() < graph.number_of_edges()
        source = next(iter(view))
        same("bfs_edges", view, source)
        same("single_source_dijkstra_path_length", view, source, weight="w")
        near("pagerank", view, weight="w")


# Entry points.

def test_the_description_names_what_is_there():
    from _edgewire_nx import get_info

    names = set(get_info()["functions"])
    offered = {name for name, value in vars(nx_backend).items() if inspect.isfunction(value) and value.__module__ == nx_backend.__name__}
    assert names <= offered
    dispatched = set(nx.utils.backends._registered_algorithms)
    assert offered & dispatched == names
    assert set(vars(nx_backend)) & dispatched == names, "NetworkX would take anything of this name for a function that is offered"
    assert set(nx_backend.LIMITS) <= names
    for name in names:
        wanted = inspect.signature(nx.utils.backends._registered_algorithms[name].orig_func)
        assert list(inspect.signature(vars(nx_backend)[name]).parameters) == list(wanted.parameters)
        defaults = [parameter.default for parameter in wanted.parameters.values()]
        assert [parameter.default for parameter in inspect.signature(vars(nx_backend)[name]).parameters.values()] == defaults


def test_the_description_imports_nothing_heavy():
    code = """import sys, _edgewire_nx
_edgewire_nx.get_info()
print([name for name in sys.modules if name.split('.')[0] in ('numpy', 'edgewire', 'networkx')])"""
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == "[]"


def test_networkx_finds_the_backend_by_its_name():
    code = """
import networkx as nx, logging
graph = nx.gnm_random_graph(5000, 30000, seed=1)
logging.basicConfig(level=logging.DEBUG)
ranks = nx.pagerank(graph)
assert graph.__networkx_cache__["backends"]["edgewire"]
"""
    if VERSION < (3, 4):
        pytest.skip("this NetworkX keeps no converted graphs")
    done = subprocess.run([sys.executable, "-c", code], text=True, capture_output=True, check=True,
                          env={**os.environ, "NETWORKX_BACKEND_PRIORITY": "edgewire"})
    assert "edgewire" in done.stderr
