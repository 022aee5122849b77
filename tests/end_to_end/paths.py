"""Levels, distances, components and triangles as textbooks compute them, for tests to compare with. Graphs are reference.Graph."""

import collections
import heapq
import math

import numpy as np

from reference import Graph


def rows(graph, both_ways=False, number=float):
    """[v]: the (target, weight) pairs of v, weights of this type; weight 1 where the graph has none."""
    found = [[] for _ in range(graph.vertices)]
    weights = np.ones(len(graph.sources)) if graph.weights is None else np.asarray(graph.weights, graph.weight_type)
    for source, target, weight in zip(graph.sources.tolist(), graph.targets.tolist(), weights.tolist()):
        found[source].append((target, number(weight)))
        if both_ways:
            found[target].append((source, number(weight)))
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


def distances(graph, source, unit_weights=False, number=float):
    """Dijkstra's, in numbers of this type: by default double precision."""
    found, neighbours, heap = [math.inf] * graph.vertices, rows(graph, number=number), [(number(0), source)]
    found[source] = number(0)
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


def betweenness(graph, sources):
    """Brandes's: the sum over the sources of the share of shortest paths to all others."""
    scores, neighbours = [0.0] * graph.vertices, rows(graph)
    for source in sources:
        level, shortest, order = levels(graph, source), [0] * graph.vertices, []
        shortest[source] = 1
        for u in sorted((v for v in range(graph.vertices) if level[v] < math.inf), key=lambda v: level[v]):
            order.append(u)
            for v, _ in neighbours[u]:
                if level[v] == level[u] + 1:
                    shortest[v] += shortest[u]
        share = [0.0] * graph.vertices
        for u in reversed(order):
            share[u] = sum(shortest[u] / shortest[v] * (1 + share[v]) for v, _ in neighbours[u]
                           if level[v] == level[u] + 1)
            if u != source:
                scores[u] += share[u]
    return scores


def exact_betweenness(graph, sources, weighted=False, endpoints=False):
    """The same by whole numbers of any size: paths are exact, and so is all but the last rounding of what each source
    adds. Distances are floats or whole numbers, as the weights are."""
    n, scores, neighbours = graph.vertices, [0.0] * graph.vertices, [[] for _ in range(graph.vertices)]
    weights = [1] * len(graph.sources) if not weighted else np.asarray(graph.weights, graph.weight_type).tolist()
    for u, v, weight in zip(graph.sources.tolist(), graph.targets.tolist(), weights):
        neighbours[u].append((v, weight))
    for source in sources:
        distance, order, heap, shortest = {source: 0}, [], [(0, source)], [0] * n
        while heap:
            way, u = heapq.heappop(heap)
            if way > distance[u]:
                continue
            order.append(u)
            for v, weight in neighbours[u]:
                if way + weight < distance.get(v, math.inf):
                    distance[v] = way + weight
                    heapq.heappush(heap, (way + weight, v))
        following = {u: [v for v, weight in neighbours[u] if distance[u] + weight == distance[v]] for u in order}
        shortest[source] = 1
        for u in order:
            for v in following[u]:
                shortest[v] += shortest[u]
        one = 1 << (max(shortest).bit_length() + 200)
        share = [0] * n  # of `one`: 1 / shortest, and what lies behind
        for u in reversed(order):
            behind = sum(share[v] for v in following[u])
            share[u] = one // shortest[u] + behind
            if u != source:
                scores[u] += shortest[u] * behind / one + endpoints
        scores[source] += endpoints * (len(order) - 1)
    return scores


def betweenness_of_pairs(graph):
    """By the definition: for each pair s, t the shortest paths, counted, and those of them over v."""
    n = graph.vertices
    adjacency = np.zeros((n, n))
    np.add.at(adjacency, (graph.sources, graph.targets), 1)
    level, shortest = np.full((n, n), np.inf), np.zeros((n, n))
    walks = np.eye(n)
    for length in range(n):  # the walks of the first length that leads from s to t are its shortest paths
        new = (walks > 0) & np.isinf(level)
        level[new], shortest[new] = length, walks[new]
        walks = np.where(new, walks, 0) @ adjacency
    scores = np.zeros(n)
    for v in range(n):
        over = level[:, [v]] + level[[v], :] == level
        over &= np.isfinite(level) & (shortest > 0)
        over[v, :] = over[:, v] = False
        np.fill_diagonal(over, False)
        both = shortest[:, [v]] * shortest[[v], :]
        scores[v] = (both[over] / shortest[over]).sum()
    return scores.tolist()


def propagation(graph, rounds):
    """Labels by so many rounds of taking the most frequent label around, the smallest on a tie."""
    labels, neighbours = list(range(graph.vertices)), rows(graph, both_ways=True)
    for _ in range(rounds):
        new = []
        for v, row in enumerate(neighbours):
            votes = collections.Counter(labels[u] for u, _ in row)
            new.append(min((-count, label) for label, count in votes.items())[1] if votes else labels[v])
        if new == labels:
            break
        labels = new
    return labels


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


def strong_components(graph):
    """[v]: the smallest vertex to and from which paths lead. Kosaraju's: backward along edges, last left first."""
    backward = Graph(graph.vertices, graph.targets, graph.sources)
    targets, sources = ([[v for v, _ in row] for row in rows(one)] for one in (graph, backward))
    seen, left = [False] * graph.vertices, []
    for root in range(graph.vertices):
        stack = [] if seen[root] else [(root, iter(targets[root]))]
        seen[root] = True
        while stack:
            v, ahead = stack[-1]
            following = next((w for w in ahead if not seen[w]), None)
            if following is None:
                left.append(v)
                stack.pop()
            else:
                seen[following] = True
                stack.append((following, iter(targets[following])))
    found = [None] * graph.vertices
    for root in reversed(left):
        if found[root] is not None:
            continue
        found[root], component, stack = root, [root], [root]
        while stack:
            for v in sources[stack.pop()]:
                if found[v] is None:
                    found[v] = root
                    component.append(v)
                    stack.append(v)
        first = min(component)
        for v in component:
            found[v] = first
    return found


def triangles(graph):
    """[v]: the triangles without directions that it is a corner of."""
    neighbours = [{v for v, _ in row} - {u} for u, row in enumerate(rows(graph, both_ways=True))]
    return [sum(v in neighbours[u] for u in around for v in around if u < v) for around in neighbours]


def clustering(graph):
    """([v]: the local clustering coefficient as LDBC has it, the number of triangles without directions)."""
    targets = [{v for v, _ in row} - {u} for u, row in enumerate(rows(graph))]
    neighbours = [{v for v, _ in row} - {u} for u, row in enumerate(rows(graph, both_ways=True))]
    found, corners = [], 0
    for around in neighbours:
        edges = sum(len(targets[u] & around) for u in around)
        found.append(edges / (len(around) * (len(around) - 1)) if len(around) > 1 else 0.0)
        corners += sum(len(neighbours[u] & around) for u in around) // 2
    return found, corners // 3
