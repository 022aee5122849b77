"""What NetworkX reads of the backend when it is imported itself. This module is not inside the package, whose import loads NumPy and
the library."""

FUNCTIONS = {
    "average_clustering": "Undirected graphs without parallel edges, without weights.",
    "betweenness_centrality": "Weights are numbers above 0. k and seed choose the vertices that NetworkX 3.6 chooses.",
    "bfs_edges": "Without sort_neighbors; reverse only in undirected graphs.",
    "bfs_layers": "From one source.",
    "bfs_successors": "Without sort_neighbors.",
    "bfs_tree": "Without sort_neighbors; reverse only in undirected graphs.",
    "clustering": "Undirected graphs without parallel edges, without weights.",
    "connected_components": "",
    "descendants_at_distance": "",
    "is_connected": "",
    "is_strongly_connected": "",
    "is_weakly_connected": "",
    "node_connected_component": "",
    "number_connected_components": "",
    "number_strongly_connected_components": "",
    "number_weakly_connected_components": "",
    "pagerank": "",
    "shortest_path_length": "From one source to all vertices, by the method 'dijkstra'.",
    "single_source_dijkstra_path_length": "Weights are numbers from 0 on.",
    "single_source_shortest_path_length": "",
    "transitivity": "Undirected graphs without parallel edges.",
    "triangles": "Graphs without parallel edges.",
    "weakly_connected_components": "",
}


def get_info():
    """The description of the backend, as NetworkX asks for it."""
    return {
        "backend_name": "edgewire",
        "project": "edgewire",
        "package": "edgewire",
        "short_summary": "Graph kernels that use all cores.",
        "functions": {name: {"additional_docs": limits} if limits else {} for name, limits in FUNCTIONS.items()},
    }
