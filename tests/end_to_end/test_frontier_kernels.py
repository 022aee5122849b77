"""Kernels that follow a frontier give what textbooks give, however the job is cut, and what LDBC Graphalytics and others publish."""

import math

import numpy as np
import pytest

import graphs
import paths
import reference
from frontier import GENERATED, KERNELS, NAMES, both_ways, check, check_published, expected, make, partition, run
from job import check_schema
from reference import Graph
from test_real_graphs import FOLDER, GRAPHS, convert, published

PUBLISHED = ["bfs", "sssp", "wcc", "lcc", "cdlp"]
LDBC = [(folder, kernel, kind) for folder in ("ldbc-tests", "ldbc-example") for kernel in PUBLISHED
        for kind in ("directed", "undirected")]


@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no real graphs in {FOLDER} (EDGEWIRE_GRAPHS names a folder)")
@pytest.mark.parametrize("folder, kernel, kind", LDBC, ids=["-".join(one) for one in LDBC])
def test_results_that_ldbc_publishes(edgewire, tmp_path, folder, kernel, kind):
    name = f"test-{kernel}-{kind}" if folder == "ldbc-tests" else f"example-{kind}"
    path = convert(edgewire, tmp_path, folder, f"{name}.e", "--format", "snap", "--vertices",
                   FOLDER / folder / f"{name}.v", *(["--undirected"] if kind == "undirected" else []))
    source = 2 if name == "example-undirected" else 1
    known = published(FOLDER / folder / f"{name}-{kernel.upper()}")
    rounds = ["--iterations", 5 if folder == "ldbc-tests" else 2] if kernel == "cdlp" else []
    for processes in (1, 3):
        found, _ = run(edgewire, tmp_path, kernel, path, "-p", processes, "-w", 1, *rounds, source=source)
        check_published(kernel, found, known)


@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no real graphs in {FOLDER} (EDGEWIRE_GRAPHS names a folder)")
def test_published_results_of_a_peer_to_peer_network(edgewire, tmp_path):
    path = convert(edgewire, tmp_path, "p2p-31", "p2p-31.e.gz", "--undirected", "--format", "snap")
    for kernel in ("bfs", "sssp", "wcc"):
        known = published(FOLDER / f"p2p-31/p2p-31-{kernel.upper()}.gz")
        for options in (["-p", 1, "-w", 2], ["-p", 3, "-w", 1]):
            found, report = run(edgewire, tmp_path, kernel, path, *options, source=6)
            assert (report["kernel"], report["vertices"], report["edges"]) == (kernel, 62_586, 2 * 147_892)
            check_published(kernel, found, known)


def run_and_check(edgewire, folder, kernel, path, graph, *, processes, workers, transport, ownership, source):
    if ownership == "file":  # a partition file gives every process a vertex
        ownership = "hash" if graph.vertices < processes else partition(folder, graph, processes)
    found, report = run(edgewire, folder, kernel, path, "-p", processes, "-w", workers, "--transport", transport,
                        "--ownership", ownership, source=graph.ids()[source])
    check(kernel, found, expected(kernel, graph, source))
    assert (report["kernel"], report["vertices"], report["edges"], report["processes"], report["workers"]) == (
        kernel, graph.vertices, len(graph.sources), processes, workers)
    if kernel in ("lcc", "tc"):
        check_schema(report)
        assert report["triangles"] == paths.clustering(graph)[1]


ROUNDS = [(name, kernel, transport) for name in [*NAMES, *GENERATED] for kernel in KERNELS
          for transport in ("shm", "tcp")]


@pytest.mark.matrix(1 / 6)
@pytest.mark.parametrize("number", range(len(ROUNDS)), ids=["-".join(one).replace(" ", "_") for one in ROUNDS])
def test_every_graph(edgewire, made_graph, tmp_path, number):
    name, kernel, transport = ROUNDS[number]
    if name in GENERATED:
        path, graph = made_graph(name)
    else:
        graph = make(name)
        path = reference.write_graph(tmp_path / "g.ew", graph)
    run_and_check(edgewire, tmp_path, kernel, path, graph, processes=[2, 1, 4, 2, 3][number % 5],
                  workers=[1, 2][number // 2 % 2], transport=transport,
                  ownership=["hash", "ranges", "file"][number // 2 % 3], source=number * 7919 % graph.vertices)


@pytest.mark.sanitize
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("transport", ["shm", pytest.param("tcp", marks=pytest.mark.core)])
def test_two_processes_with_two_workers(edgewire, made_graph, tmp_path, kernel, transport):
    path, graph = made_graph("kronecker both ways")
    run_and_check(edgewire, tmp_path, kernel, path, graph, processes=2, workers=2, transport=transport, ownership="hash",
                  source=int(graph.sources[0]))


@pytest.mark.matrix(1 / 3)
@pytest.mark.parametrize("name", ["kronecker", "kronecker both ways"])
@pytest.mark.parametrize("ownership", ["hash", "ranges", "file"])
def test_triangles_over_many_processes(edgewire, made_graph, tmp_path, name, ownership):
    """Most corners of a triangle belong to different processes."""
    path, graph = made_graph(name)
    for processes in (1, 2, 3, 8):
        for kernel in ("lcc", "tc"):
            run_and_check(edgewire, tmp_path, kernel, path, graph, processes=processes, workers=1, transport="shm", ownership=ownership,
                          source=0)


@pytest.mark.parametrize("kernel", [kernel for kernel in KERNELS if kernel not in ("lcc", "tc")])
def test_a_long_path(edgewire, tmp_path, kernel):
    """One vertex a superstep. Its neighbours belong to the same process, but for one edge."""
    n = 20_000
    graph = Graph(n, np.arange(n - 1), np.arange(1, n))
    graph.weights = np.full(n - 1, 0.5)
    path = reference.write_graph(tmp_path / "g.ew", graph)
    for processes in (1, 2):
        run_and_check(edgewire, tmp_path, kernel, path, graph, processes=processes, workers=1, transport="shm",
                      ownership="ranges", source=0)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_large_star(edgewire, tmp_path, kernel):
    n = 20_000
    star = Graph(n, np.zeros(n - 1), np.arange(1, n))
    graph = both_ways(star)
    graph.weights = np.concatenate([np.arange(1, n) % 7] * 2)
    path = reference.write_graph(tmp_path / "g.ew", graph)
    run_and_check(edgewire, tmp_path, kernel, path, graph, processes=2, workers=2, transport="tcp", ownership="hash",
                  source=n - 1)


@pytest.mark.sanitize
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", ["one vertex", "two vertices"])
def test_more_processes_than_vertices(edgewire, tmp_path, kernel, name):
    graph = make(name)
    path = reference.write_graph(tmp_path / "g.ew", graph)
    run_and_check(edgewire, tmp_path, kernel, path, graph, processes=4, workers=1, transport="shm", ownership="hash",
                  source=0)


def _random(vertices, edges):
    return Graph(vertices, *graphs.random_edges(vertices, edges, 7))


@pytest.mark.parametrize("graph", [_random(60, 160), both_ways(_random(60, 160)), both_ways(_random(40, 30)),
                                   Graph(12, np.arange(11), np.arange(1, 12))], ids=["random", "ways", "parts", "path"])
def test_betweenness_is_what_its_definition_says(edgewire, tmp_path, graph):
    """All pairs of vertices, all sources; duplicates and loops included."""
    path = reference.write_graph(tmp_path / "g.ew", graph)
    for options in (["-p", 1, "-w", 2], ["-p", 3, "-w", 1]):
        found, report = run(edgewire, tmp_path, "bc", path, *options)
        check_schema(report)
        check("bc", found, list(zip(graph.ids().tolist(), paths.betweenness_of_pairs(graph))))


def test_sources_of_betweenness_add_up(edgewire, made_graph, tmp_path):
    path, graph = made_graph("kronecker both ways")
    chosen = [int(v) for v in np.unique(graph.sources)[[3, 50, 200]]]
    names = tmp_path / "names"
    names.write_text("".join(f"{v}\n" for v in chosen))
    known = list(enumerate(paths.betweenness(graph, chosen)))
    for options in (["-p", 1, "-w", 1], ["-p", 2, "-w", 2], ["-p", 3, "-w", 1, "--transport", "tcp"]):
        for sources in (",".join(map(str, chosen)), f"@{names}"):
            found, report = run(edgewire, tmp_path, "bc", path, "--sources", sources, *options)
            check("bc", found, known)
            steps = report["supersteps"]
            assert steps[0]["frontier"] == len(chosen)
            # Both sweeps took less than following each edge once would.
            assert sum(step["edges"] for step in steps) < len(chosen) * len(graph.sources)


@pytest.mark.sanitize
@pytest.mark.parametrize("name", ["kronecker", "kronecker both ways", "grid"])
def test_workers_with_sources_of_their_own(edgewire, made_graph, tmp_path, name):
    path, graph = made_graph(name)
    chosen = np.unique(graph.sources)[::len(graph.ids()) // 25 + 1].tolist()
    known = list(enumerate(paths.betweenness(graph, chosen)))
    for processes, workers, transport, ownership in ((1, 2, "shm", "hash"), (2, 2, "tcp", "ranges"), (3, 1, "shm", "file")):
        options = ["-p", processes, "-w", workers, "--transport", transport, "--sources", ",".join(map(str, chosen)), "--ownership",
                   partition(tmp_path, graph, processes) if ownership == "file" else ownership]
        for parallel in ("sources", "auto", "levels"):
            found, report = run(edgewire, tmp_path, "bc", path, *options, "--parallel", parallel)
            check_schema(report)
            check("bc", found, known)
            searches, sums = report["supersteps"] if parallel != "levels" else (report["supersteps"][0], None)
            assert (sums is None) == (searches["phase"] == "level 1, paths")
            if sums:
                assert searches["phase"] == f"searches from {len(chosen)} sources" and searches["record_bytes"] == 0
                assert sums["frontier"] == (processes - 1) * graph.vertices and sums["record_bytes"] == 8 * sums["frontier"]


@pytest.mark.parametrize("name", ["kronecker", "kronecker both ways"])
def test_communities_are_the_same_however_the_job_is_cut(edgewire, made_graph, tmp_path, name):
    path, graph = made_graph(name)
    ids = graph.ids().tolist()
    for iterations in (1, 3):
        known = [ids[label] for label in paths.propagation(graph, iterations)]
        for options in (["-p", 1, "-w", 1], ["-p", 1, "-w", 3], ["-p", 3, "-w", 2, "--ownership", "ranges"]):
            found, report = run(edgewire, tmp_path, "cdlp", path, "--iterations", iterations, *options)
            assert found == list(zip(ids, known))
            assert len(report["supersteps"]) == iterations
    for iterations in (0, -1, "x"):
        edgewire.refused("cdlp", path, "--iterations", iterations, status=2)


def test_communities_that_no_longer_change_end_a_run(edgewire, tmp_path):
    pairs = Graph(1000, np.arange(0, 1000, 2), np.arange(1, 1000, 2))
    path = reference.write_graph(tmp_path / "g.ew", both_ways(pairs))
    for processes in (1, 2):
        # The ends of an edge swap their labels for ever.
        _, report = run(edgewire, tmp_path, "cdlp", path, "--iterations", 7, "-p", processes, "-w", 1)
        assert len(report["supersteps"]) == 7
    triangle = Graph(3, [0, 1, 2], [1, 2, 0])
    path = reference.write_graph(tmp_path / "t.ew", both_ways(triangle))
    for processes in (1, 2):
        found, report = run(edgewire, tmp_path, "cdlp", path, "--iterations", 1000, "-p", processes, "-w", 1)
        assert found == list(enumerate(paths.propagation(triangle, 1000))) and len(report["supersteps"]) < 10


def is_tree(graph, source, parents, levels):
    """Whether each reached vertex hangs on an edge from the level before."""
    edges = set(zip(graph.sources.tolist(), graph.targets.tolist()))
    return all(parents[v] == (-1 if level == math.inf else v) if level in (0, math.inf) else
               (parents[v], v) in edges and levels[parents[v]] == level - 1 for v, level in enumerate(levels))


@pytest.mark.sanitize
@pytest.mark.parametrize("name, options", [
    ("kronecker both ways", ["-p", 1, "-w", 2]), ("kronecker both ways", ["-p", 3, "-w", 1, "--transport", "tcp"]),
    ("kronecker", ["-p", 2, "-w", 2]), ("grid", ["-p", 2, "-w", 1, "--ownership", "ranges"])], ids=str)
def test_parents_are_a_tree_of_shortest_paths(edgewire, made_graph, tmp_path, name, options):
    path, graph = made_graph(name)
    source = int(graph.sources[len(graph.sources) // 2])
    found, _ = run(edgewire, tmp_path, "bfs", path, "--parents", *options, source=source)
    assert [v for v, _ in found] == list(range(graph.vertices))
    assert is_tree(graph, source, [int(parent) for _, parent in found], paths.levels(graph, source))


@pytest.mark.parametrize("name", ["kronecker both ways", "kronecker", "grid"])
def test_deterministic_parents_are_the_smallest_ones(edgewire, made_graph, tmp_path, name):
    path, graph = made_graph(name)
    source = int(graph.sources[len(graph.sources) // 2])
    levels = np.array(paths.levels(graph, source))
    known = [-1] * graph.vertices
    for u, v in sorted(zip(graph.sources.tolist(), graph.targets.tolist()), reverse=True):
        if levels[v] == levels[u] + 1 < math.inf:
            known[v] = u
    known[source] = source
    for options in (["-p", 1, "-w", 1], ["-p", 1, "-w", 3], ["-p", 2, "-w", 2, "--transport", "tcp"], ["-p", 3, "-w", 1, "--ownership", "ranges"]):
        found, _ = run(edgewire, tmp_path, "bfs", path, "--parents", "--deterministic", *options, source=source)
        assert [int(parent) for _, parent in found] == known


def test_deterministic_scores_have_the_same_bits(edgewire, made_graph, tmp_path):
    path, graph = made_graph("kronecker both ways")
    chosen = np.unique(graph.sources)[:40].tolist()
    known = list(enumerate(paths.betweenness(graph, chosen)))
    for options in (["-p", 1, "-w", 3], ["-p", 3, "-w", 2], ["-p", 4, "-w", 1, "--transport", "tcp"]):
        checksums = set()
        for _ in range(3):
            found, report = run(edgewire, tmp_path, "bc", path, "--sources", ",".join(map(str, chosen)), "--deterministic", *options)
            check("bc", found, known)
            checksums.add(report["checksum"])
        assert len(checksums) == 1
    line = edgewire.refused("bc", path, "--sources", 1, "--deterministic", "--parallel", "levels", status=2)
    assert "--parallel levels" in line


@pytest.mark.sanitize
def test_the_same_bits_however_the_job_is_cut(edgewire, made_graph, tmp_path):
    path, graph = made_graph("kronecker")
    reports = [run(edgewire, tmp_path, "sssp", path, *options, source=int(graph.sources[0]))[1] for options in (
        ["-p", 1, "-w", 1], ["-p", 1, "-w", 3], ["-p", 3, "-w", 2], ["-p", 2, "-w", 1, "--delta", 0.001],
        ["-p", 2, "-w", 1, "--delta", 1e9, "--transport", "tcp"])]
    assert len({report["checksum"] for report in reports}) == 1
    assert len(reports[4]["supersteps"]) < len(reports[0]["supersteps"]) < len(reports[3]["supersteps"])


def test_unit_weights_count_edges(edgewire, tmp_path):
    graph = graphs.make("dangling")
    path = reference.write_graph(tmp_path / "g.ew", graph)
    found, _ = run(edgewire, tmp_path, "sssp", path, "-p", 2, "-w", 1, "--unit-weights", source=0)
    assert found == list(enumerate(paths.levels(graph, 0)))


def test_a_long_cycle_of_all_processes_takes_few_supersteps(edgewire, tmp_path):
    """With hash no edge of it stays in a process. It ends in a path."""
    n, cycle = 300_000, 200_000
    path = reference.write_graph(tmp_path / "g.ew", Graph(n, np.arange(n), np.append(np.arange(1, n), n - cycle)))
    for processes in (1, 3):
        found, report = run(edgewire, tmp_path, "scc", path, "-p", processes, "-w", 1)
        assert [label for _, label in found] == [min(v, n - cycle) for v in range(n)]
        assert len(report["supersteps"]) < 10
        check_schema(report)


def _path(order, cut=None):
    """Vertices in this order, each with an edge to the next one, but one that is cut."""
    keep = np.arange(len(order) - 1) != cut
    return both_ways(Graph(len(order), order[:-1][keep], order[1:][keep]))


def _grid(side):
    at = np.arange(side * side).reshape(side, side)
    return both_ways(Graph(side * side, np.concatenate([at[:, :-1].ravel(), at[:-1].ravel()]), np.concatenate([at[:, 1:].ravel(), at[1:].ravel()])))


@pytest.mark.parametrize("shape", ["path", "path in other order", "path with directions", "grid"])
@pytest.mark.parametrize("ownership", ["hash", "ranges", "file"])
def test_components_that_span_all_processes(edgewire, tmp_path, shape, ownership):
    """A chain of components of several processes takes supersteps as its logarithm, and a few records for each."""
    n, cut = 32_400, 12_000
    order = np.random.default_rng(5).permutation(n) if shape == "path in other order" else np.arange(n)
    if shape == "path with directions":
        graph = Graph(n, np.delete(np.arange(n - 1), cut), np.delete(np.arange(1, n), cut))
    else:
        graph = _grid(180) if shape == "grid" else _path(order, cut)
    label = np.zeros(n, int)
    if shape != "grid":
        for part in order[:cut + 1], order[cut + 1:]:
            label[part] = part.min()
    path = reference.write_graph(tmp_path / "g.ew", graph)
    for processes in (1, 2, 3, 8):
        owners = tmp_path / "owners"
        owners.write_text("".join(f"{v % processes}\n" for v in range(n)))
        found, report = run(edgewire, tmp_path, "wcc", path, "-p", processes, "-w", 1, "--ownership", owners if ownership == "file" else ownership)
        assert [label for _, label in found] == label.tolist()
        assert len(report["supersteps"]) < 60
        assert sum(step["record_bytes"] for step in report["supersteps"]) < 40 * n


def _small(seed):
    """Sparse or not so sparse, some with loops and with edges that occur twice, some mostly forward."""
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 400))
    sources, targets = random.integers(0, n, (2, int(n * random.uniform(0.5, 3))))
    if seed % 4 == 0:
        targets = np.minimum(sources + random.integers(-1, 8, len(sources)).clip(-sources, None), n - 1)
    if seed % 3 == 0:
        sources, targets = np.repeat(sources, 2), np.repeat(targets, 2)
    return Graph(n, sources, targets)


@pytest.mark.parametrize("seeds", [range(6), pytest.param(range(6, 200), marks=pytest.mark.slow)], ids=["few", "all"])
def test_strong_components_of_random_graphs(edgewire, tmp_path, seeds):
    for seed in seeds:
        graph = _small(seed)
        path = reference.write_graph(tmp_path / "g.ew", graph)
        known = expected("scc", graph, None)
        for processes in (1, 2, 3):
            found, _ = run(edgewire, tmp_path, "scc", path, "-p", processes, "-w", 1, "--ownership", ["hash", "ranges"][seed % 2])
            assert found == known, (seed, processes)


@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no real graphs in {FOLDER} (EDGEWIRE_GRAPHS names a folder)")
@pytest.mark.parametrize("name", ["soc-Slashdot0902", *(pytest.param(name, marks=pytest.mark.slow) for name in GRAPHS
                                                        if name != "soc-Slashdot0902")])
def test_strong_components_of_real_graphs(edgewire, tmp_path, name):
    path = convert(edgewire, tmp_path, name, GRAPHS[name][0])
    known = expected("scc", reference.read_graph(path), None)
    for processes in (1, 2, 3):
        found, _ = run(edgewire, tmp_path, "scc", path, "-p", processes, "-w", 1)
        assert found == known
