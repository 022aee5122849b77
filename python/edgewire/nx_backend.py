"""The backend of NetworkX: functions that NetworkX calls in place of its own, with its signatures and its results.

A function is offered for those arguments only for which it gives what NetworkX gives; can_run() says why it is not, and NetworkX then
runs its own.
"""

import inspect
from types import SimpleNamespace

import networkx as nx
import numpy as np

from . import kernels
from .nx_graph import convert_from_nx, convert_to_nx  # noqa: F401: NetworkX looks for them here
from .nx_limits import LIMITS, no_limit, version

ENOUGH = 20_000  # entries of adjacency from which on a process of its own pays
PARALLEL = 100_000  # edges from which on several threads pay
LARGEST = 2**53  # doubles hold whole numbers up to here


def can_run(name, args, kwargs):
    """True, or a reason why NetworkX must run the function itself. NetworkX before 3.4 takes a reason for True, and gets False."""
    reason = limit_of(name, args, kwargs)
    return True if reason is None else reason if version() >= (3, 4) else False


def limit_of(name, args, kwargs):
    """A reason why NetworkX must run the function itself, or None."""
    try:
        bound = inspect.signature(globals()[name]).bind(*args, **kwargs)
    except TypeError as error:
        return str(error)
    bound.apply_defaults()
    return LIMITS.get(name, no_limit)(SimpleNamespace(**bound.arguments))


def should_run(name, args, kwargs):
    """True, or a reason why NetworkX is faster. NetworkX asks where the backend was not named in the call."""
    graph = args[0] if args else kwargs["G"]
    if getattr(graph, "__networkx_backend__", None) == "edgewire":
        return True
    size = 0
    for row in graph._adj.values():
        size += 1 + len(row)
        if size >= ENOUGH:
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


def checked_weights(G, weight, zero=True):
    """Raises NotImplementedError, which has NetworkX run the function itself, unless weights are such that the library adds them up
    exactly as NetworkX does."""
    weights = G.weights_of(weight)
    if weights is None or not len(weights):
        return
    least, most = weights.min(), weights.max()
    if not (least >= 0 and (zero or least > 0) and np.isfinite(most)):
        raise NotImplementedError("weights must be finite, and " + ("none below 0" if zero else "above 0"))
    if weights.dtype.kind == "i" and int(most) * len(G) >= LARGEST:
        raise NotImplementedError("paths may be longer than 2^53")
    if weights.dtype.kind == "f" and (most > 1e280 or weights[weights > 0].min(initial=1) < 1e-280):
        raise NotImplementedError("weights are too large or too small")
    if not zero and most * len(G) >= least * LARGEST:
        raise NotImplementedError("weights differ so much that sums lose the small ones")


# PageRank.

def pagerank(G, alpha=0.85, personalization=None, max_iter=100, tol=1.0e-6, nstart=None, weight="weight", dangling=None):
    if len(G) == 0:
        return {}
    checked_weights(G, weight)
    if max_iter < 1:
        raise nx.PowerIterationFailedConvergence(max_iter)
    engine = G.engine(weight)
    chosen = personalization and [G.vertex_of[node] for node, value in personalization.items() if node in G and value]
    ranks = kernels.pagerank(engine, damping=alpha, tolerance=tol * len(G), iterations=max_iter, personalization=chosen,
                             weight=engine.weighted, wire="f64", **job(engine))
    if not ranks.report["converged"]:
        raise nx.PowerIterationFailedConvergence(max_iter)
    return G.by_node(ranks.tolist())


# Breadth-first search.

def start_of(G, source):
    if source not in G:
        raise nx.NetworkXError(f"The node {source} is not in the {'digraph' if G.is_directed() else 'graph'}.")
    return G.vertex_of[source]


def bfs_edges(G, source, reverse=False, depth_limit=None, sort_neighbors=None):
    for before, found in G.search(start_of(G, source), depth_limit):
        yield from zip(G.named(before), G.named(found))


def bfs_predecessors(G, source, depth_limit=None, sort_neighbors=None):
    for before, found in G.search(start_of(G, source), depth_limit):
        yield from zip(G.named(found), G.named(before))


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
    for _, found in G.search(start_of(G, sources)):
        yield list(G.named(found))


def descendants_at_distance(G, source, distance):
    start_of(G, source)
    for depth, layer in enumerate(bfs_layers(G, source)):
        if depth == distance:
            return set(layer)
    return set()


# Lengths of paths.

def single_source_shortest_path_length(G, source, cutoff=None):
    if source not in G:
        raise nx.NodeNotFound(f"Source {source} is not in G")
    lengths = {source: 0}
    for depth, (_, found) in enumerate(G.search(G.vertex_of[source], cutoff), 1):
        lengths.update(dict.fromkeys(G.named(found), depth))
    return lengths


def single_source_dijkstra_path_length(G, source, cutoff=None, weight="weight"):
    if source not in G:
        raise nx.NodeNotFound(f"Node {source} not found in graph")
    weights = G.weights_of(weight)
    if weights is None:
        return single_source_shortest_path_length(G, source, cutoff)
    checked_weights(G, weight)
    engine = G.engine(weight)
    distances = np.asarray(kernels.sssp(engine, G.vertex_of[source], **job(engine)))
    reached = np.flatnonzero(distances <= (np.finfo(float).max if cutoff is None else cutoff))
    reached = reached[np.argsort(distances[reached], kind="stable")]
    lengths = distances[reached]
    lengths = dict(zip(G.named(reached), (lengths.astype(np.int64) if weights.dtype.kind == "i" else lengths).tolist()))
    return {source: 0, **lengths}


def shortest_path_length(G, source=None, target=None, weight=None, method="dijkstra"):
    if weight is None:
        return single_source_shortest_path_length(G, source)
    return single_source_dijkstra_path_length(G, source, weight=weight)


# Components.

def needs(G, directed):
    if G.is_directed() != directed:
        raise nx.NetworkXNotImplemented(f"not implemented for {'undirected' if directed else 'directed'} type")


def labels_of(G, kernel):
    """[vertex]: the first vertex of its component."""
    if len(G) == 0:
        return np.empty(0, np.int64)
    engine = G.engine()
    return np.asarray(kernel(engine, **job(engine)))


def components(G, kernel):
    """Yields the sets of nodes in the order of their first nodes."""
    labels = labels_of(G, kernel)
    order = np.argsort(labels, kind="stable")
    members = list(G.named(order))
    ends = np.append(np.flatnonzero(np.diff(labels[order])) + 1, len(order)).tolist() if len(order) else []
    for begin, end in zip([0, *ends], ends):
        yield set(members[begin:end])


def number_of_components(G, kernel):
    labels = labels_of(G, kernel)
    return int((labels == np.arange(len(labels))).sum())


def is_one_component(G, kernel):
    if len(G) == 0:
        raise nx.NetworkXPointlessConcept("Connectivity is undefined for the null graph.")
    return not labels_of(G, kernel).any()


def connected_components(G):
    needs(G, directed=False)
    yield from components(G, kernels.wcc)


def number_connected_components(G):
    needs(G, directed=False)
    return number_of_components(G, kernels.wcc)


def is_connected(G):
    needs(G, directed=False)
    return is_one_component(G, kernels.wcc)


def node_connected_component(G, n):
    needs(G, directed=False)
    vertex, labels = G.vertex_of[n], labels_of(G, kernels.wcc)
    return set(G.named(np.flatnonzero(labels == labels[vertex])))


def weakly_connected_components(G):
    needs(G, directed=True)
    yield from components(G, kernels.wcc)


def number_weakly_connected_components(G):
    needs(G, directed=True)
    return number_of_components(G, kernels.wcc)


def is_weakly_connected(G):
    needs(G, directed=True)
    return is_one_component(G, kernels.wcc)


# There is no strongly_connected_components(): NetworkX's condensation() numbers its nodes in the order of NetworkX's search.

def number_strongly_connected_components(G):
    needs(G, directed=True)
    return number_of_components(G, kernels.scc)


def is_strongly_connected(G):
    needs(G, directed=True)
    return is_one_component(G, kernels.scc)


# Betweenness.

def betweenness_centrality(G, k=None, normalized=True, weight=None, endpoints=False, seed=None):
    if k is not None and k != len(G):
        chosen = nx.utils.create_py_random_state(seed).sample(list(G), k)
        sources = [G.vertex_of[node] for node in chosen]
    else:
        sources = None
    if len(G) == 0:
        return dict.fromkeys(G, 0.0)
    checked_weights(G, weight, zero=False)
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

def triangle_counts(G):
    """([vertex]: triangles, [vertex]: ordered pairs of neighbours), as doubles that are whole."""
    engine = G.engine(simple=True)
    degrees = np.diff(engine.offsets).astype(np.float64)
    pairs = degrees * (degrees - 1)
    coefficients = np.asarray(kernels.lcc(engine, **job(engine)))
    return np.rint(coefficients * pairs / 2), pairs


def vertices_in(G, nodes):
    """The vertices of an iterable of nodes; others are left out, as in NetworkX. None stands for all."""
    return np.arange(len(G)) if nodes is None else np.array(list(dict.fromkeys(G.vertex_of[v] for v in nodes if v in G)), np.int64)


def triangles(G, nodes=None):
    if len(G) == 0:
        return {}
    counts = triangle_counts(G)[0].astype(np.int64)
    if nodes in G:
        return int(counts[G.vertex_of[nodes]])
    chosen = vertices_in(G, nodes)
    return dict(zip(G.named(chosen), counts[chosen].tolist()))


def clustering(G, nodes=None, weight=None):
    if len(G) == 0:
        return {}
    counts, pairs = triangle_counts(G)
    coefficients = 2 * counts / np.maximum(pairs, 1)
    if nodes in G:
        return coefficients[G.vertex_of[nodes]].item() or 0
    chosen = vertices_in(G, nodes)
    return {node: value or 0 for node, value in zip(G.named(chosen), coefficients[chosen].tolist())}


def average_clustering(G, nodes=None, weight=None, count_zeros=True):
    values = clustering(G, nodes).values()
    if not count_zeros:
        values = [value for value in values if value]
    return sum(values) / len(values)


def transitivity(G):
    if len(G) == 0:
        return 0
    counts, pairs = triangle_counts(G)
    closed = int(2 * counts.sum())
    return closed / int(pairs.sum()) if closed else 0
