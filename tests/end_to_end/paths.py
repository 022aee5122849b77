"""Levels, distances and components as textbooks compute them, for tests to compare with. Graphs are reference.Graph."""

import collections
import heapq
import math

import numpy as np


def rows(graph, both_ways=False):
    """[v]: the (target, weight) pairs of v; weight 1 where the graph has none."""
    found = [[] for _ in range(graph.vertices)]
    weights = np.ones(len(graph.sources)) if graph.weights is None else np.asarray(graph.weights, float)
    for source, target, weight in zip(graph.sources.tolist(), graph.targets.tolist(), weights.tolist()):
        found[source].append((target, weight))
        if both_ways:
            found[target].append((source, weight))
    return found


def levels(graph, source):
    """Breadth first; inf where no path leads."""
    found, neighbours, queue = [math.inf] * graph.vertices, rows(graph), collections.deque([source])
    found[source] = 0
    while queue:
        u = queue.popleft()
        for v, _ in neighbours[u]:
            if found[v] == math.inf:
                found[v] = found[u] + 1
                queue.append(v)
    return found


def distances(graph, source, unit_weights=False):
    """Dijkstra's, in double precision."""
    found, neighbours, heap = [math.inf] * graph.vertices, rows(graph), [(0.0, source)]
    found[source] = 0.0
    while heap:
        distance, u = heapq.heappop(heap)
        if distance > found[u]:
            continue
        for v, weight in neighbours[u]:
            way = distance + (1 if unit_weights else weight)
            if way < found[v]:
                found[v] = way
                heapq.heappush(heap, (way, v))
    return found


def components(graph):
    """[v]: the smallest vertex that edges in any direction join to v."""
    found, neighbours = [None] * graph.vertices, rows(graph, both_ways=True)
    for root in range(graph.vertices):
        if found[root] is not None:
            continue
        found[root], stack = root, [root]
        while stack:
            for v, _ in neighbours[stack.pop()]:
                if found[v] is None:
                    found[v] = root
                    stack.append(v)
    return found
