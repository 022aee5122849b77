"""The backend of NetworkX: functions that NetworkX calls in place of its own, with its signatures and its results.

A function is offered for those arguments only for which it gives what NetworkX gives; can_run() says why it is not, and NetworkX then
runs its own.
"""

import inspect
from itertools import repeat
from types import SimpleNamespace

import networkx as nx
import numpy as np

from . import kernels
from .nx_graph import convert_from_nx, convert_to_nx  # noqa: F401: NetworkX looks for them here
from .nx_limits import LIMITS, no_limit, version

# Nodes and entries of adjacency from which on the library is faster than NetworkX. Other functions, without weights, look at an edge so
# few times that a conversion takes longer.
ENOUGH = {**dict.fromkeys(("average_clustering", "betweenness_centrality", "clustering", "pagerank", "transitivity", "triangles"), 30_000),
          **dict.fromkeys(("bfs_edges", "bfs_successors", "bfs_tree", "is_strongly_connected", "is_weakly_connected",
                           "number_strongly_connected_components", "number_weakly_connected_components", "weakly_connected_components"),
                          100_000)}
ENOUGH_WEIGHTED = 30_000
ENOUGH_CONVERTED = 20_000
PARALLEL = 100_000  # edges from which on several threads pay
LARGEST = 2**53  # doubles hold whole numbers up to here


def can_run(name, args, kwargs):
    """True, or a reason why NetworkX must run the function itself. NetworkX before 3.4 takes a reason for True, and gets False."""
    reason = limit_of(name, args, kwargs)
    return True if reason is None else reason if version() >= (3, 4) else False


def limit_of(name, args, kwargs):
    """A reason why NetworkX must run the function itself, or None."""
    try:
        return LIMITS.get(name, no_limit)(arguments_of(name, args, kwargs))
    except TypeError as error:
        return str(error)


def arguments_of(name, args, kwargs):
    bound = inspect.signature(globals()[name]).bind(*args, **kwargs)
    bound.apply_defaults()
    return SimpleNamespace(**bound.arguments)


def should_run(name, args, kwargs):
    """True, or a reason why NetworkX is faster. NetworkX asks where the backend was not named in the call."""
    asked = arguments_of(name, args, kwargs)
    if getattr(asked.G, "__networkx_backend__", None) == "edgewire":
        return True
    if "edgewire" in (getattr(asked.G, "__networkx_cache__", None) or {}).get("backends", ()):
        enough = ENOUGH_CONVERTED
    elif getattr(asked, "depth_limit", None) is None and (name in ENOUGH or getattr(asked, "weight", None) is not None):
        enough = ENOUGH.get(name, ENOUGH_WEIGHTED)
    else:
        return "a conversion takes longer" if version() >= (3, 4) else False
    if name == "betweenness_centrality":  # searches from each source
        enough /= max(1, len(asked.G) if asked.k is None else asked.k)
    size = 0
    for row in asked.G._adj.values():
        size += 1 + len(row)
        if size >= enough:
            return True
    return "the graph is small" if version() >= (3, 4) else False


def on_start_tests(items):
    """Called by NetworkX before its own tests run with this backend: marks those that are expected to fail."""
    if version() >= (3, 4):
        return
    import pytest

    for item in items:
        if "test_connected.py" in item.nodeid and item.name == "test_connected_components[convert]":
            item.add_marker(pytest.mark.xfail(reason="NetworkX before 3.4 hands graphs of other backends on without a conversion"))


def job(engine):
    return {"workers": 1 if engine.edges < PARALLEL else None, "progress": False}


def weights_fault(G, weight, zero=True):
    """A reason why the library would not add weights up exactly as NetworkX does, or None."""
    weights = G.weights_of(weight)
    if weights is None or not len(weights):
        return None
    least, most = weights.min(), weights.max()
    if not (least >= 0 and (zero or least > 0) and np.isfinite(most)):
        return "weights must be finite, and " + ("none below 0" if zero else "above 0")
    if weights.dtype.kind == "i" and int(most) * len(G) >= LARGEST:
        return "paths may be longer than 2^53"
    if weights.dtype.kind == "f" and (most > 1e280 or weights[weights > 0].min(initial=1) < 1e-280):
        return "weights are too large or too small"
    if not zero and most * len(G) >= least * LARGEST:
        return "weights differ so much that sums lose the small ones"
    return None


def check_weights(G, weight, zero=True):
    """Raises NotImplementedError, which has NetworkX run the function itself, where weights_fault() has a reason."""
    fault = weights_fault(G, weight, zero)
    if fault is not None:
        raise NotImplementedError(fault)


# PageRank.

def pagerank(G, alpha=0.85, personalization=None, max_iter=100, tol=1.0e-6, nstart=None, weight="weight", dangling=None):
    if len(G) == 0:
        return {}
    steps = min(len(range(max_iter)), 2**31 - 1)
    usual = personalization is nstart is dangling is None and 0 <= alpha < 1 and tol > 0 and steps > 0
    if not usual or weights_fault(G, weight) is not None:
        return G.by_node(walk(G, alpha, personalization, max_iter, tol, nstart, weight, dangling).tolist())
    engine = G.engine(weight)
    ranks = kernels.pagerank(engine, damping=alpha, tolerance=tol * len(G), iterations=steps, weight=engine.weighted, wire="f64",
                             **job(engine))
    if not ranks.report["converged"]:
        raise nx.PowerIterationFailedConvergence(max_iter)
    return G.by_node(ranks.tolist())


def walk(G, alpha, personalization, max_iter, tol, nstart, weight, dangling):
    """NetworkX's iterations, for arguments that the library does not take."""
    def given(values):
        return np.ones(len(G)) if values is None else np.array([values.get(node, 0) for node in G], np.float64)

    start, again, lost = map(given, (nstart, personalization, personalization if dangling is None else dangling))
    if again.sum() == 0:
        raise ZeroDivisionError
    ranks, again, lost = start / start.sum(), again / again.sum(), lost / lost.sum()
    sources, weights = G.sources(), G.weights_of(weight)
    shares = np.ones(len(sources)) if weights is None else weights.astype(np.float64)
    sums = np.bincount(sources, shares, len(G))
    if not np.isfinite(sums).all():
        raise NotImplementedError("weights must be finite")
    shares *= np.divide(1, sums, out=np.zeros(len(G)), where=sums != 0)[sources]
    for _ in range(max_iter):
        before = ranks
        moved = np.bincount(G.targets, shares * before[sources], len(G)) + before[sums == 0].sum() * lost
        ranks = alpha * moved + (1 - alpha) * again
        if np.abs(ranks - before).sum() < tol * len(G):
            return ranks
    raise nx.PowerIterationFailedConvergence(max_iter)


# Breadth-first search.

def levels(G, source, limit=None):
    """Yields (before, found) for each level behind the source: the nodes of the level, and for each one the node that it was found
    from."""
    vertex = G.vertex_of.get(source)
    if vertex is None:
        raise nx.NetworkXError(f"The node {source} is not in the {'digraph' if G.is_directed() else 'graph'}.")
    for before, found in G.search(vertex, limit):
        yield repeat(source) if before[0] == vertex else G.named(before), G.named(found)


def bfs_edges(G, source, reverse=False, depth_limit=None, sort_neighbors=None):
    for before, found in levels(G, source, depth_limit):
        yield from zip(before, found)


def bfs_successors(G, source, depth_limit=None, sort_neighbors=None):
    parent, children = source, []
    for before, found in bfs_edges(G, source, depth_limit=depth_limit):
        if before != parent:
            yield parent, children
            parent, children = before, []
        children.append(found)
    yield parent, children


def bfs_tree(G, source, reverse=False, depth_limit=None, sort_neighbors=None):
    tree = nx.DiGraph()
    tree.add_node(source)
    tree.add_edges_from(bfs_edges(G, source, depth_limit=depth_limit))
    return tree


def bfs_layers(G, sources):
    yield [sources]
    for _, found in levels(G, sources):
        yield list(found)


def descendants_at_distance(G, source, distance):
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the graph.")
    for depth, layer in enumerate(bfs_layers(G, source)):
        if depth == distance:
            return set(layer)
    return set()


# Lengths of paths.

def single_source_shortest_path_length(G, source, cutoff=None):
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} is not in G")
    lengths = {source: 0}
    for depth, (_, found) in enumerate(levels(G, source, cutoff), 1):
        lengths.update(dict.fromkeys(found, depth))
    return lengths


def single_source_dijkstra_path_length(G, source, cutoff=None, weight="weight"):
    start = G.vertex_of.get(source)
    if start is None:
        raise nx.NodeNotFound(f"Node {source} not found in graph")
    weights = G.weights_of(weight)
    if weights is None:
        lengths = single_source_shortest_path_length(G, source, cutoff)  # which rounds a cutoff up
        return lengths if cutoff is None else {node: length for node, length in lengths.items() if length <= max(cutoff, 0)}
    check_weights(G, weight)
    engine = G.engine(weight)
    distances = np.asarray(kernels.sssp(engine, start, **job(engine)))
    reached = np.flatnonzero(np.isfinite(distances) & (distances <= (np.inf if cutoff is None else cutoff)))
    reached = reached[np.argsort(distances[reached], kind="stable")]
    lengths = distances[reached].astype(weights.dtype).tolist()
    return {source: 0, **dict(zip(G.named(reached), lengths)), source: 0}


def shortest_path_length(G, source=None, target=None, weight=None, method="dijkstra"):
    if weight is None:
        return single_source_shortest_path_length(G, source)
    return single_source_dijkstra_path_length(G, source, weight=weight)


# Components.

def labels_of(G, kernel):
    """[vertex]: the first vertex of its component."""
    if len(G) == 0:
        return np.empty(0, np.int64)
    engine = G.engine()
    return np.asarray(kernel(engine, **job(engine)))


def number_of_components(G, kernel):
    labels = labels_of(G, kernel)
    return int((labels == np.arange(len(labels))).sum())


def is_one_component(G, kernel):
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return not labels_of(G, kernel).any()


def connected_components(G):
    labels = labels_of(G, kernels.wcc)
    order = np.argsort(labels, kind="stable")
    members = list(G.named(order))
    ends = np.append(np.flatnonzero(np.diff(labels[order])) + 1, len(order)).tolist()
    for begin, end in zip([0, *ends], ends if members else []):
        yield set(members[begin:end])


def number_connected_components(G):
    return number_of_components(G, kernels.wcc)


def is_connected(G):
    return is_one_component(G, kernels.wcc)


def node_connected_component(G, n):
    vertex, labels = G.vertex_of[n], labels_of(G, kernels.wcc)
    return set(G.named(np.flatnonzero(labels == labels[vertex])))


weakly_connected_components = connected_components
number_weakly_connected_components = number_connected_components
is_weakly_connected = is_connected


# There is no strongly_connected_components(): NetworkX's condensation() numbers its nodes in the order of NetworkX's search.

def number_strongly_connected_components(G):
    return number_of_components(G, kernels.scc)


def is_strongly_connected(G):
    return is_one_component(G, kernels.scc)


# Betweenness.

def betweenness_centrality(G, k=None, normalized=True, weight=None, endpoints=False, seed=None):
    check_weights(G, weight, zero=False)  # first: NetworkX must not find `seed` used
    sources = None
    if k is not None and k != len(G):
        sources = [G.vertex_of[node] for node in nx.utils.create_py_random_state(seed).sample(list(G), k)]
    if len(G) == 0:
        return {}
    engine = G.engine(weight, simple=True)
    scores = np.array(kernels.bc(engine, sources, weight=engine.weighted, endpoints=endpoints, **job(engine)))
    return G.by_node((scores * betweenness_scale(G, sources, normalized, endpoints)).tolist())


def betweenness_scale(G, sources, normalized, endpoints):
    """What scores are multiplied by: a number, or one for each vertex."""
    targets = len(G) if endpoints else len(G) - 1  # of a vertex: those that paths over it may start at
    if targets < 2:
        return 1

    def scale(starts):
        if starts == 0:
            return np.nan  # a sampled vertex is no start of paths over itself, so a sample of one says nothing of it
        return 1 / (starts * (targets - 1)) if normalized else targets / (starts * (1 if G.is_directed() else 2))

    if sources is None:
        return scale(targets)
    if endpoints:
        return scale(len(sources))
    scales = np.full(len(G), scale(len(sources)))
    scales[sources] = scale(len(sources) - 1)
    return scales


# Triangles.

def triangle_counts(G, vertices=True):
    """([vertex]: triangles, or how many there are; [vertex]: ordered pairs of neighbours)."""
    if len(G) == 0:
        return np.zeros(0 if vertices else (), np.int64), np.empty(0, np.int64)
    engine = G.engine(simple=True)
    degrees = np.diff(engine.offsets).astype(np.int64)
    return np.asarray(kernels.tc(engine, vertices, **job(engine))), degrees * (degrees - 1)


def of_nodes(G, nodes, values):
    """The value of a node, or a dict with the values of those nodes that are in the graph; None stands for all."""
    if nodes in G:
        return values[G.vertex_of[nodes]]
    return {node: values[G.vertex_of[node]] for node in nx.Graph.nbunch_iter(G, nodes)}


def triangles(G, nodes=None):
    return of_nodes(G, nodes, triangle_counts(G)[0].tolist())


def clustering(G, nodes=None, weight=None):
    counts, pairs = triangle_counts(G)
    return of_nodes(G, nodes, [value or 0 for value in (2 * counts / np.maximum(pairs, 1)).tolist()])


def average_clustering(G, nodes=None, weight=None, count_zeros=True):
    values = clustering(G, nodes).values()
    if not count_zeros:
        values = [value for value in values if value]
    return sum(values) / len(values)


def transitivity(G):
    count, pairs = triangle_counts(G, vertices=False)
    return 6 * int(count) / int(pairs.sum()) if count else 0
