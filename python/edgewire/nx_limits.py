"""Why NetworkX must run a function itself: each function here takes the arguments of a call, and returns a reason or None."""

import re

import networkx as nx


def no_limit(_):
    return None


def search_limits(a):
    if getattr(a, "sort_neighbors", None) is not None:
        return "neighbours are searched in the order of the graph only"
    if getattr(a, "reverse", False) and a.G.is_directed():
        return "edges are not followed backwards"
    return None


def layer_limits(a):
    return None if a.sources in a.G else "the search starts at one node"


def weight_limits(a):
    return "weights that are functions are not supported" if callable(a.weight) else None


def length_limits(a):
    if a.source is None or a.target is not None:
        return "paths lead from one node to all"
    if a.method != "dijkstra":
        return "the only method is dijkstra"
    return weight_limits(a)


def betweenness_limits(a):
    if a.k is not None and version() < (3, 6):
        return "NetworkX before 3.6 scales samples in another way"
    if a.k is not None and a.k < 1:
        return "k must be above 0"
    return weight_limits(a)


def triangle_limits(a):
    if a.G.is_directed() or a.G.is_multigraph():
        return "the graph must be undirected, without parallel edges"
    if getattr(a, "weight", None) is not None:
        return "weights are not supported"
    return None


def undirected_limits(a):
    return "the graph must be undirected" if a.G.is_directed() else None


def directed_limits(a):
    return None if a.G.is_directed() else "the graph must be directed"


LIMITS = {
    **dict.fromkeys(("connected_components", "is_connected", "node_connected_component", "number_connected_components"),
                    undirected_limits),
    **dict.fromkeys(("is_strongly_connected", "is_weakly_connected", "number_strongly_connected_components",
                     "number_weakly_connected_components", "weakly_connected_components"), directed_limits),
    "average_clustering": triangle_limits, "betweenness_centrality": betweenness_limits, "bfs_edges": search_limits,
    "bfs_layers": layer_limits, "bfs_successors": search_limits, "bfs_tree": search_limits,
    "clustering": triangle_limits, "pagerank": weight_limits, "shortest_path_length": length_limits,
    "single_source_dijkstra_path_length": weight_limits, "transitivity": triangle_limits, "triangles": triangle_limits,
}


def version():
    return tuple(map(int, re.match(r"(\d+)\.(\d+)", nx.__version__).groups()))  # of 3.7rc1, too
