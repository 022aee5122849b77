"""What the tests compare with, made without any of Edgewire's code: graph files, owners, traffic and ranks.

Graphs are `Graph` objects: edges in any order, duplicates and self loops included. The file format is that of
src/graph/file/format.h, the hash that of the XXH3 library.
"""

import ctypes
import ctypes.util
import dataclasses
import os
import struct

import numpy as np

PAGE_BYTES = 4096
BLOCK_BYTES = 1 << 20
ORIGINAL_IDS = 8
WEIGHTED = 1
SYMMETRIC = 4
WIDE_IDS = 512
TARGETS = {False: "<u4", True: "<u8"}  # by whether ids are wide
WEIGHT_TYPES = {0: "<f4", 32: "<f8", 64: "<u4", 96: "<u8"}  # by kWideWeights and kWholeWeights

_xxhash = ctypes.CDLL(ctypes.util.find_library("xxhash") or "libxxhash.so.0")
_xxhash.XXH3_64bits.restype = ctypes.c_uint64
_xxhash.XXH3_64bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]


def xxh3(data):
    return _xxhash.XXH3_64bits(bytes(data), len(data))


@dataclasses.dataclass
class Graph:
    vertices: int
    sources: np.ndarray
    targets: np.ndarray
    original_ids: np.ndarray | None = None
    weights: np.ndarray | None = None  # of the edges
    weight_type: str = "<f4"  # in the file: also <f8, <u4, <u8

    def __post_init__(self):
        self.sources = np.asarray(self.sources, np.int64)
        self.targets = np.asarray(self.targets, np.int64)

    def ids(self):
        return np.arange(self.vertices) if self.original_ids is None else self.original_ids

    def out_degrees(self):
        return np.bincount(self.sources, minlength=self.vertices)


def padded(data):
    return data + bytes(-len(data) % PAGE_BYTES)


def weight_flags(graph):
    return WEIGHTED | next(flag for flag, one in WEIGHT_TYPES.items() if one == graph.weight_type)


def is_wide():
    """Whether the program that is tested has 64-bit ids."""
    return os.environ.get("EDGEWIRE", "").endswith("-wide")


def graph_bytes(graph, **faults):
    """The .ew file. `faults` replace header fields (version, flags, vertices, edges) or whole sections (offsets,
    targets, ids) by others, with right checksums, as an ill-willed writer would."""
    wide = is_wide()
    order = np.lexsort((graph.targets, graph.sources))
    offsets = np.concatenate(([0], np.cumsum(graph.out_degrees())))
    sections = [np.asarray(faults.get("offsets", offsets), "<u8").tobytes(),
                np.asarray(faults.get("targets", graph.targets[order]), TARGETS[wide]).tobytes(),
                b"", b""]
    flags = WIDE_IDS if wide else 0
    if graph.weights is not None:
        flags |= weight_flags(graph)
        sections[2] = np.asarray(graph.weights, graph.weight_type)[order].tobytes()
    if graph.original_ids is not None:
        flags |= ORIGINAL_IDS
        sections[3] = np.asarray(graph.original_ids, "<u8").tobytes()
    body, table, blocks = b"", [], []
    for section in sections:
        table.append((PAGE_BYTES + len(body), len(section)))
        section = padded(section)
        body += section
        blocks += [xxh3(section[at:at + BLOCK_BYTES]) for at in range(0, len(section), BLOCK_BYTES)]
    checksums = struct.pack(f"<{len(blocks)}Q", *blocks)
    table.append((PAGE_BYTES + len(body), len(checksums)))
    header = struct.pack("<8sIIQQ10QQ", b"EDGEWIRE", faults.get("version", 1), faults.get("flags", flags),
                         faults.get("vertices", graph.vertices), faults.get("edges", len(graph.sources)),
                         *[number for entry in table for number in entry], xxh3(checksums))
    header += bytes(PAGE_BYTES - 8 - len(header))
    return header + struct.pack("<Q", xxh3(header)) + body + checksums


def write_graph(path, graph):
    path.write_bytes(graph_bytes(graph))
    return path


def read_graph(path):
    """A graph file of at most 2^31 edges; its checksums are not looked at."""
    data = path.read_bytes()
    magic, version, flags, vertices, edges, *sections = struct.unpack_from("<8sIIQQ8Q", data)
    assert magic == b"EDGEWIRE" and version == 1
    offsets = np.frombuffer(data, "<u8", vertices + 1, sections[0]).astype(np.int64)
    targets = np.frombuffer(data, TARGETS[bool(flags & WIDE_IDS)], edges, sections[2]).astype(np.int64)
    ids = np.frombuffer(data, "<u8", vertices, sections[6]) if flags & ORIGINAL_IDS else None
    weights = np.frombuffer(data, WEIGHT_TYPES[flags & 96], edges, sections[4]) if flags & WEIGHTED else None
    return Graph(vertices, np.repeat(np.arange(vertices), np.diff(offsets)), targets, ids, weights)


def pagerank(graph, iterations=20, damping=0.85, tolerance=0, form_2015=False):
    """Ranks in double precision, and the number of iterations made."""
    n = graph.vertices
    degrees = graph.out_degrees()
    dangling = degrees == 0
    shares = np.divide(1.0, degrees, out=np.zeros(n), where=~dangling)
    ranks = np.zeros(n) if form_2015 else np.full(n, 1 / n) if n else np.zeros(0)
    for iteration in range(1, iterations + 1):
        sums = np.bincount(graph.targets, weights=(ranks * shares)[graph.sources], minlength=n)
        if form_2015:
            new = 1 - damping + damping * sums
        else:
            new = (1 - damping) / n + damping * (sums + ranks[dangling].sum() / n) if n else ranks
        change = np.abs(new - ranks).sum()
        ranks = new
        if change < tolerance:
            return ranks, iteration
    return ranks, iterations


def hash_owners(vertices, processes):
    """Blocks of P ids are dealt out, rotated by a hash of the block (src/partition/ownership.h)."""
    ids = np.arange(vertices, dtype=np.uint64)
    blocks = ids // np.uint64(processes)
    mixed = (blocks + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    rotation = ((mixed >> np.uint64(32)) * np.uint64(processes)) >> np.uint64(32)
    return ((ids % np.uint64(processes) + rotation) % np.uint64(processes)).astype(np.int64)


def range_owners(graph, processes):
    """Contiguous ranges; each ends where its share of the edges (without edges: of the vertices) is reached."""
    edges = len(graph.sources)
    before = np.concatenate(([0], np.cumsum(graph.out_degrees())))
    bounds = [0]
    for p in range(1, processes):
        if edges == 0:
            cut = graph.vertices * p // processes
        else:
            cut = int(np.searchsorted(before[:-1], edges * p // processes))
        bounds.append(max(bounds[-1], cut))
    bounds.append(graph.vertices)
    return np.repeat(np.arange(processes), np.diff(bounds))


def payload_bytes(graph, owners, strategy, workers):
    """What all processes together send in an iteration."""
    senders, receivers = owners[graph.sources], owners[graph.targets]
    crossing = senders != receivers
    if strategy == "edge":
        return 8 * int(crossing.sum())
    if strategy == "cover":  # by Koenig's theorem; each pair of processes has a bipartite graph of its own
        processes = int(owners.max(initial=0)) + 1
        return 4 * maximum_matching(graph.sources[crossing] * processes + receivers[crossing],
                                    graph.targets[crossing] * processes + senders[crossing])
    groups = senders[crossing]
    if strategy == "worker":
        groups = groups * workers + local_numbers(graph, owners)[graph.sources[crossing]] % workers
    pairs = np.unique(groups * max(graph.vertices, 1) + graph.targets[crossing])
    return len(pairs) * (4 if strategy == "slots" else 8)


def local_numbers(graph, owners):
    """The number of each vertex among those of its owner, by id."""
    order = np.lexsort((np.arange(graph.vertices), owners))
    starts = np.searchsorted(owners[order], owners)
    found = np.empty(graph.vertices, np.int64)
    found[order] = np.arange(graph.vertices)
    return found - starts


def maximum_matching(lefts, rights):
    """Size of the largest matching of the bipartite graph with edges (lefts[i], rights[i]): Hopcroft and Karp, 1973."""
    _, lefts = np.unique(lefts, return_inverse=True)
    _, rights = np.unique(rights, return_inverse=True)
    neighbours = [[] for _ in range(lefts.max(initial=-1) + 1)]
    for left, right in set(zip(lefts.tolist(), rights.tolist())):
        neighbours[left].append(right)
    match_left = [-1] * len(neighbours)
    match_right = [-1] * (int(rights.max(initial=-1)) + 1)
    while True:
        # Layers of shortest alternating paths from the free left vertices.
        depth = [0 if match == -1 else -1 for match in match_left]
        layer = [left for left, match in enumerate(match_left) if match == -1]
        found = False
        while layer and not found:
            following = []
            for left in layer:
                for right in neighbours[left]:
                    other = match_right[right]
                    if other == -1:
                        found = True
                    elif depth[other] == -1:
                        depth[other] = depth[left] + 1
                        following.append(other)
            layer = following
        if not found:
            return sum(match != -1 for match in match_left)
        # Disjoint augmenting paths along the layers, depth first.
        tried = [0] * len(neighbours)
        for root in [left for left, match in enumerate(match_left) if match == -1]:
            path = [root]
            while path:
                left = path[-1]
                if tried[left] == len(neighbours[left]):
                    path.pop()
                    continue
                right = neighbours[left][tried[left]]
                tried[left] += 1
                other = match_right[right]
                if other == -1:
                    for left in reversed(path):
                        match_left[left], match_right[right], right = right, left, match_left[left]
                    break
                if depth[other] == depth[left] + 1:
                    path.append(other)
