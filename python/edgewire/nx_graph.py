"""Graphs of NetworkX as arrays, and back."""

from itertools import chain

import numpy as np

from .graph import Graph as EngineGraph

FEW = 16  # a level of so few vertices is searched faster without arrays


class Graph:
    """What the backend keeps of a NetworkX graph: its nodes, and for each one its out-edges in NetworkX's order.

    A vertex is the position of a node. `weights` has an array, one number for each edge, for each edge attribute that was asked
    for, or None where all numbers are 1.
    """

    __networkx_backend__ = "edgewire"

    def __init__(self, nodes, offsets, targets, weights, directed, multigraph):
        self.nodes_in_order = nodes
        self.vertex_of = self._adj = {node: vertex for vertex, node in enumerate(nodes)}  # NetworkX's nbunch_iter() looks into _adj
        self.offsets, self.targets, self.weights = offsets, targets, weights
        self._directed, self._multigraph = directed, multigraph
        self._engines = {}

    def is_directed(self):
        return self._directed

    def is_multigraph(self):
        return self._multigraph

    def __len__(self):
        return len(self.nodes_in_order)

    def __iter__(self):
        return iter(self.nodes_in_order)

    def __contains__(self, node):
        try:
            return node in self.vertex_of
        except TypeError:  # nothing that cannot be a key is a node
            return False

    def __getstate__(self):
        return {**self.__dict__, "_engines": {}}  # files of the library are not copied; they are made again

    def number_of_nodes(self):
        return len(self)

    def number_of_edges(self):
        return len(self.edges_once()[0])

    def named(self, vertices):
        """An iterator over the nodes of these vertices."""
        return map(self.nodes_in_order.__getitem__, np.asarray(vertices).tolist())

    def by_node(self, values):
        """The dict that has a value for each node, in the order of nodes."""
        return dict(zip(self.nodes_in_order, values))

    def sources(self):
        """[edge]: where it starts."""
        return np.repeat(np.arange(len(self), dtype=np.uint32), np.diff(self.offsets))

    def edges_once(self):
        """(source, target, chosen): the edges, those of an undirected graph one way only; `chosen` is what chooses them."""
        sources = self.sources()
        chosen = slice(None) if self._directed else sources <= self.targets
        return sources[chosen], self.targets[chosen], chosen

    def weights_of(self, weight):
        """[edge]: the numbers of an edge attribute, or None where all are 1."""
        if weight is None:
            return None
        if weight not in self.weights:
            raise NotImplementedError(f"this graph was converted without its edge attribute {weight!r}")
        return self.weights[weight]

    def engine(self, weight=None, simple=False):
        """The graph as the library has it, which is made once. simple: without self loops, and of parallel edges the lightest one."""
        weights = self.weights_of(weight)
        simple = simple and (self._multigraph or bool((self.sources() == self.targets).any()))
        key = (None if weights is None else weight, simple)
        if key not in self._engines:
            sources, targets, chosen = self.edges_once()
            self._engines[key] = EngineGraph.from_numpy(sources, targets, None if weights is None else weights[chosen], progress=False,
                                                        vertices=len(self), undirected=not self._directed, simple=simple)
        return self._engines[key]

    def search(self, source, limit=None):
        """Breadth-first search from a vertex in NetworkX's order. Yields (before, found) for each level behind the source: the
        vertices of the level, and for each one the vertex that it was found from. limit: the most levels."""
        marks = bytearray(len(self))
        marks[source] = 1
        seen = np.frombuffer(marks, np.uint8)
        place = np.empty(len(self), np.int64)
        found, depth = [source], 0
        while limit is None or depth < limit:
            before, found = self._next_few(found, marks) if len(found) <= FEW else self._next_level(found, seen, place)
            if not len(found):
                return
            yield before, found
            depth += 1

    def _next_few(self, level, marks):
        before, found = [], []
        for v in level:
            for w in self.targets[self.offsets[v]:self.offsets[v + 1]].tolist():
                if not marks[w]:
                    marks[w] = 1
                    before.append(v)
                    found.append(w)
        return before, found

    def _next_level(self, level, seen, place):
        level = np.asarray(level)
        starts, counts = self.offsets[level], self.offsets[level + 1] - self.offsets[level]
        before = np.repeat(level, counts)
        edges = np.arange(len(before)) + np.repeat(starts - (np.cumsum(counts) - counts), counts)
        found = self.targets[edges].astype(np.int64)
        new = seen[found] == 0
        before, found = before[new], found[new]
        positions = np.arange(len(found))
        place[found[::-1]] = positions[::-1]  # the first position of each vertex is written last
        first = place[found] == positions
        before, found = before[first], found[first]
        seen[found] = 1
        return before, found


def convert_from_nx(graph, edge_attrs=None, node_attrs=None, preserve_edge_attrs=False, preserve_node_attrs=False,
                    preserve_graph_attrs=False, preserve_all_attrs=False, name=None, graph_name=None):
    """Called by NetworkX, which keeps the result with the graph."""
    if preserve_edge_attrs or preserve_all_attrs:
        raise NotImplementedError("edgewire keeps only edge attributes that are named, and numbers")
    nodes = list(graph)
    rows = [graph._adj[node] for node in nodes]
    if not all(isinstance(row, dict) for row in rows):  # views, whose lengths count edges that they hide
        rows = [{node: dict(edges.items()) for node, edges in row.items()} for row in rows]
    degrees = np.fromiter(map(len, rows), np.int64, len(nodes))
    targets = chain.from_iterable(rows)
    if nodes != list(range(len(nodes))):
        vertex_of = {node: vertex for vertex, node in enumerate(nodes)}
        targets = map(vertex_of.__getitem__, targets)
    targets = np.fromiter(targets, np.uint32, int(degrees.sum()))
    between = [keys for row in rows for keys in row.values()] if edge_attrs or graph.is_multigraph() else ()
    if graph.is_multigraph():
        counts = np.fromiter(map(len, between), np.int64, len(between))
        sources = np.repeat(np.repeat(np.arange(len(nodes)), degrees), counts)
        targets, degrees = np.repeat(targets, counts), np.bincount(sources, minlength=len(nodes))
        between = [attributes for keys in between for attributes in keys.values()] if edge_attrs else ()
    offsets = np.concatenate([[0], np.cumsum(degrees)]).astype(np.int64)
    weights = {attribute: numbers([attributes.get(attribute, default) for attributes in between], attribute)
               for attribute, default in (edge_attrs or {}).items()}
    return Graph(nodes, offsets, targets, weights, graph.is_directed(), graph.is_multigraph())


def numbers(values, attribute):
    """An array of int64 where all values are whole, else of doubles; None where all are the whole number 1."""
    kinds = set(map(type, values))
    whole = (int, np.integer, np.bool_)
    try:
        if all(issubclass(kind, whole) for kind in kinds):
            array = np.array(values, np.int64)
            return None if (array == 1).all() else array
        if all(issubclass(kind, (*whole, float)) for kind in kinds):
            array = np.array(values, np.float64)
            if kinds & {float, np.float64} == kinds or np.abs(array).max() * len(array) < 2**53:
                return array
            raise NotImplementedError(f"the edge attribute {attribute!r} has whole numbers among large doubles")
    except OverflowError:
        raise NotImplementedError(f"the edge attribute {attribute!r} has numbers that are too large") from None
    raise NotImplementedError(f"the edge attribute {attribute!r} has values that are neither whole numbers nor doubles")


def convert_to_nx(result, *, name=None):
    """Called by NetworkX. All but graphs of this backend stays as it is."""
    if not isinstance(result, Graph):
        return result
    import networkx

    kind = {(False, False): networkx.Graph, (True, False): networkx.DiGraph, (False, True): networkx.MultiGraph,
            (True, True): networkx.MultiDiGraph}[result.is_directed(), result.is_multigraph()]
    graph = kind()
    graph.add_nodes_from(result)
    sources, targets, chosen = result.edges_once()
    ends = zip(result.named(sources), result.named(targets))
    columns = {attribute: np.ones(len(sources), np.int64) if values is None else values[chosen]
               for attribute, values in result.weights.items()}
    if columns:
        rows = zip(*(values.tolist() for values in columns.values()))
        graph.add_edges_from((u, v, dict(zip(columns, row))) for (u, v), row in zip(ends, rows))
    else:
        graph.add_edges_from(ends)
    return graph
