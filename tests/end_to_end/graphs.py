"""Small graphs of every shape that has ever been trouble."""

import numpy as np

from reference import Graph


def random_edges(vertices, edges, seed):
    random = np.random.default_rng(seed)
    return random.integers(0, vertices, edges), random.integers(0, vertices, edges)


def make(name):
    return GRAPHS[name]()


def _star_out():
    return Graph(300, np.zeros(299), np.arange(1, 300))


def _star_in():
    return Graph(300, np.arange(1, 300), np.zeros(299))


def _path():
    return Graph(500, np.arange(499), np.arange(1, 500))


def _cycle():
    return Graph(64, np.arange(64), (np.arange(64) + 1) % 64)


def _self_loops():
    sources, targets = random_edges(100, 300, 1)
    return Graph(100, np.concatenate((sources, np.arange(0, 100, 3))), np.concatenate((targets, np.arange(0, 100, 3))))


def _only_self_loops():
    return Graph(10, np.arange(10), np.arange(10))


def _duplicates():
    sources, targets = random_edges(80, 200, 2)
    return Graph(80, np.repeat(sources, 5), np.repeat(targets, 5))


def _dangling():
    """Nine of ten vertices have no out-edge."""
    sources, targets = random_edges(1000, 2000, 3)
    return Graph(1000, sources // 10, targets)


def _complete():
    return Graph(40, np.repeat(np.arange(40), 40), np.tile(np.arange(40), 40))


def _original_ids():
    sources, targets = random_edges(200, 1500, 4)
    return Graph(200, sources, targets, np.arange(200) * 1_000_000_007 + 5_000_000_000)


GRAPHS = {
    "no vertices": lambda: Graph(0, [], []),
    "one vertex": lambda: Graph(1, [], []),
    "one vertex with a loop": lambda: Graph(1, [0], [0]),
    "two vertices": lambda: Graph(2, [0], [1]),
    "no edges": lambda: Graph(100, [], []),
    "star out": _star_out,
    "star in": _star_in,
    "path": _path,
    "cycle": _cycle,
    "self loops": _self_loops,
    "only self loops": _only_self_loops,
    "duplicates": _duplicates,
    "dangling": _dangling,
    "complete": _complete,
    "original ids": _original_ids,
}
