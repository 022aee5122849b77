"""Kernels that follow a frontier give what textbooks give, however the job is cut, and what LDBC Graphalytics and others publish."""

import functools
import json
import math
import os
import pathlib
import re
import signal

import numpy as np
import pytest

import graphs
import paths
import reference
from job import check_schema
from reference import Graph
from test_real_graphs import FOLDER, convert, published

KERNELS = ["bfs", "sssp", "wcc", "bc", "lcc", "cdlp"]
PUBLISHED = ["bfs", "sssp", "wcc", "lcc", "cdlp"]
WITHOUT_SOURCE = ["wcc", "lcc", "cdlp"]
UNREACHED = 9223372036854775807


def values(text):
    """[(id, value)] of `id<TAB>value` lines; inf where no path leads."""
    lines = [line.split("\t") for line in text.splitlines()]
    return [(int(id_), math.inf if value in ("infinity", str(UNREACHED)) else float(value)) for id_, value in lines]


def asked(kernel, source):
    """The option that names the source."""
    return [] if kernel in WITHOUT_SOURCE else ["--sources" if kernel == "bc" else "--source", source]


def run(edgewire, folder, kernel, path, *options, source=None):
    """([(id, value)] of a run with --verify, its report)."""
    output, report = folder / "values.tsv", folder / "report.json"
    edgewire.ok(kernel, path, *([] if source is None else asked(kernel, source)), *options, "--verify", "-o", output, "--json", report)
    return values(output.read_text()), json.loads(report.read_text())


def expected(kernel, graph, source):
    """[(id, value)] of all vertices."""
    ids = graph.ids().tolist()
    if kernel == "wcc":
        found = [ids[root] for root in paths.components(graph)]
    elif kernel == "bc":
        found = paths.betweenness(graph, [source])
    elif kernel == "lcc":
        found = paths.clustering(graph)[0]
    elif kernel == "cdlp":
        found = [ids[label] for label in paths.propagation(graph, 10)]
    else:
        found = {"bfs": paths.levels, "sssp": paths.distances}[kernel](graph, source)
    return list(zip(ids, found))


def check(kernel, found, known):
    assert [id_ for id_, _ in found] == [id_ for id_, _ in known]
    if kernel == "sssp":  # floats, which round once an edge
        np.testing.assert_allclose([value for _, value in found], [value for _, value in known], rtol=2e-5)
    elif kernel == "bc":
        np.testing.assert_allclose([value for _, value in found], [value for _, value in known], rtol=1e-9)
    elif kernel == "lcc":
        np.testing.assert_allclose([value for _, value in found], [value for _, value in known], rtol=1e-12)
    else:
        assert found == known


def same_partition(found, known):
    """Labels are compared as LDBC does: each label of one side goes with one label of the other."""
    pairs = {(found[id_], known[id_]) for id_ in known}
    return found.keys() == known.keys() and len(pairs) == len(set(found.values())) == len(set(known.values()))


def check_published(kernel, found, known):
    found = dict(found)
    if kernel == "wcc":
        assert same_partition(found, known)
        return
    known = {id_: math.inf if value == float(UNREACHED) else value for id_, value in known.items()}
    assert found.keys() == known.keys()
    limit = 1e-4 if kernel in ("sssp", "lcc") else 0
    np.testing.assert_allclose([found[id_] for id_ in known], list(known.values()), rtol=limit)


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


def weighted(graph, seed=1):
    """The same with weights, some of them 0, some huge."""
    random = np.random.default_rng(seed)
    graph.weights = random.choice([0, 0.125, 1, 3, 1000.5, 1e30], len(graph.sources), p=[.2, .2, .3, .2, .09, .01])
    return graph


def _both_ways(graph):
    return Graph(graph.vertices, np.concatenate((graph.sources, graph.targets)),
                 np.concatenate((graph.targets, graph.sources)))


def _parts():
    """Several components, isolated vertices between them."""
    sources, targets = graphs.random_edges(60, 80, 5)
    return Graph(300, np.concatenate((sources, sources + 100, [298])), np.concatenate((targets, targets + 100, [299])))


# What graphs.GRAPHS lacks.
MORE = {
    "star both ways": lambda: _both_ways(graphs.make("star out")),
    "cycle both ways": lambda: _both_ways(graphs.make("cycle")),
    "parts": _parts,
}
NAMES = [name for name in [*graphs.GRAPHS, *MORE] if name != "no vertices"]


def make(name):
    return weighted(MORE[name]() if name in MORE else graphs.make(name))


@pytest.fixture(scope="module")
def generated(edgewire, tmp_path_factory):
    """generated(name): (path, graph read by the tests' own reader) of a graph that edgewire makes."""
    kinds = {
        "kronecker": ["kronecker", "--scale", 12, "--weights"],
        "kronecker both ways": ["kronecker", "--scale", 11, "--weights", "--undirected"],
        "grid": ["grid", "--rows", 37, "--columns", 53, "--weights"],
    }

    @functools.cache
    def graph_of(name):
        path = tmp_path_factory.mktemp("generated") / "g.ew"
        edgewire.ok("generate", *kinds[name], "-o", path)
        return path, reference.read_graph(path)

    return graph_of


GENERATED = ["kronecker", "kronecker both ways", "grid"]


def partition(folder, graph, processes):
    """A partition file in which the last process has a single vertex."""
    owners = np.random.default_rng(graph.vertices).integers(0, max(1, processes - 1), graph.vertices)
    owners[:processes] = range(processes)
    path = folder / "partition.txt"
    path.write_text("".join(f"{owner}\n" for owner in owners))
    return path


def run_and_check(edgewire, folder, kernel, path, graph, *, processes, workers, transport, ownership, source):
    if ownership == "file":  # a partition file gives every process a vertex
        ownership = "hash" if graph.vertices < processes else partition(folder, graph, processes)
    found, report = run(edgewire, folder, kernel, path, "-p", processes, "-w", workers, "--transport", transport,
                        "--ownership", ownership, source=graph.ids()[source])
    check(kernel, found, expected(kernel, graph, source))
    assert (report["kernel"], report["vertices"], report["edges"], report["processes"], report["workers"]) == (
        kernel, graph.vertices, len(graph.sources), processes, workers)
    if kernel == "lcc":
        check_schema(report)
        assert report["triangles"] == paths.clustering(graph)[1]


ROUNDS = [(name, kernel, transport) for name in [*NAMES, *GENERATED] for kernel in KERNELS
          for transport in ("shm", "tcp")]


@pytest.mark.matrix(1 / 4)
@pytest.mark.parametrize("number", range(len(ROUNDS)), ids=["-".join(one).replace(" ", "_") for one in ROUNDS])
def test_every_graph(edgewire, generated, tmp_path, number):
    name, kernel, transport = ROUNDS[number]
    if name in GENERATED:
        path, graph = generated(name)
    else:
        graph = make(name)
        path = reference.write_graph(tmp_path / "g.ew", graph)
    run_and_check(edgewire, tmp_path, kernel, path, graph, processes=[2, 1, 4, 2, 3][number % 5],
                  workers=[1, 2][number // 2 % 2], transport=transport,
                  ownership=["hash", "ranges", "file"][number // 2 % 3], source=number * 7919 % graph.vertices)


@pytest.mark.sanitize
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("transport", ["shm", "tcp"])
def test_two_processes_with_two_workers(edgewire, generated, tmp_path, kernel, transport):
    path, graph = generated("kronecker both ways")
    run_and_check(edgewire, tmp_path, kernel, path, graph, processes=2, workers=2, transport=transport, ownership="hash",
                  source=int(graph.sources[0]))


@pytest.mark.parametrize("kernel", [kernel for kernel in KERNELS if kernel != "lcc"])
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
    graph = _both_ways(star)
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


@pytest.mark.parametrize("kernel", ["bfs", "sssp", "bc"])
def test_sources_that_do_not_exist(edgewire, tmp_path, kernel):
    path = reference.write_graph(tmp_path / "g.ew", weighted(graphs.make("original ids")))
    empty = reference.write_graph(tmp_path / "empty.ew", weighted(graphs.make("no vertices")))
    for graph, source in ((path, 1), (path, "x"), (empty, 0)):
        for processes in (1, 2):
            line = edgewire.refused(kernel, graph, *asked(kernel, source), "-p", processes, "-o", tmp_path / "values")
            assert "--source" in line and str(source) in line
    assert not (tmp_path / "values").exists()


@pytest.mark.parametrize("kernel", WITHOUT_SOURCE)
def test_no_vertices(edgewire, tmp_path, kernel):
    empty = reference.write_graph(tmp_path / "empty.ew", weighted(graphs.make("no vertices")))
    for processes in (1, 2):
        found, report = run(edgewire, tmp_path, kernel, empty, "-p", processes)
        assert found == [] and report["vertices"] == 0


@pytest.mark.parametrize("kernel", ["bfs", "sssp"])
def test_runs_from_several_sources(edgewire, generated, tmp_path, kernel):
    path, graph = generated("kronecker both ways")
    chosen = [int(v) for v in np.unique(graph.sources)[[3, 50, 200]]] + [int(np.setdiff1d(graph.ids(), graph.sources)[0])]
    names = tmp_path / "names"
    names.write_text("".join(f"{v}\n" for v in chosen))
    report = tmp_path / "report.json"
    for processes in (1, 3):
        edgewire.ok(kernel, path, "--sources", f"@{names}", "-p", processes, "-w", 1, "--verify",
                    "-o", tmp_path / "values-{}.tsv", "--json", report)
        for source in chosen:
            check(kernel, values((tmp_path / f"values-{source}.tsv").read_text()), expected(kernel, graph, source))
            (tmp_path / f"values-{source}.tsv").unlink()
        found = json.loads(report.read_text())
        check_schema(found)
        runs = found["runs"]
        assert [run["source"] for run in runs] == [str(source) for source in sorted(chosen)]
        assert sum(run["supersteps"] for run in runs) == len(found["supersteps"])
        for figure in ("edges", "record_bytes", "payload_bytes_sent"):
            assert sum(run[figure] for run in runs) == sum(step[figure] for step in found["supersteps"])
        assert sum(run["edges"] for run in runs) > 0 and runs[sorted(chosen).index(chosen[-1])]["edges"] == 0


def test_several_sources_that_are_refused(edgewire, tmp_path):
    path = reference.write_graph(tmp_path / "g.ew", weighted(graphs.make("cycle")))
    for options, named in ((["--sources", "0,1", "-o", tmp_path / "values"], "{}"), ([], "--source"),
                           (["--source", 0, "--sources", 1], "--sources")):
        for processes in (1, 2):
            assert named in edgewire.refused("bfs", path, *options, "-p", processes, status=2)
    assert "99" in edgewire.refused("bfs", path, "--sources", "0,99", "-o", tmp_path / "{}")
    assert "twice" in edgewire.refused("bfs", path, "--sources", "1,0,1", status=2)
    assert [one.name for one in tmp_path.iterdir()] == ["g.ew"]


def _random(vertices, edges):
    return Graph(vertices, *graphs.random_edges(vertices, edges, 7))


@pytest.mark.parametrize("graph", [_random(60, 160), _both_ways(_random(60, 160)), _both_ways(_random(40, 30)),
                                   Graph(12, np.arange(11), np.arange(1, 12))], ids=["random", "ways", "parts", "path"])
def test_betweenness_is_what_its_definition_says(edgewire, tmp_path, graph):
    """All pairs of vertices, all sources; duplicates and loops included."""
    path = reference.write_graph(tmp_path / "g.ew", graph)
    for options in (["-p", 1, "-w", 2], ["-p", 3, "-w", 1]):
        found, report = run(edgewire, tmp_path, "bc", path, *options)
        check_schema(report)
        check("bc", found, list(zip(graph.ids().tolist(), paths.betweenness_of_pairs(graph))))


def test_sources_of_betweenness_add_up(edgewire, generated, tmp_path):
    path, graph = generated("kronecker both ways")
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


@pytest.mark.parametrize("name", ["kronecker", "kronecker both ways"])
def test_communities_are_the_same_however_the_job_is_cut(edgewire, generated, tmp_path, name):
    path, graph = generated(name)
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
    path = reference.write_graph(tmp_path / "g.ew", _both_ways(pairs))
    for processes in (1, 2):
        # The ends of an edge swap their labels for ever.
        _, report = run(edgewire, tmp_path, "cdlp", path, "--iterations", 7, "-p", processes, "-w", 1)
        assert len(report["supersteps"]) == 7
    triangle = Graph(3, [0, 1, 2], [1, 2, 0])
    path = reference.write_graph(tmp_path / "t.ew", _both_ways(triangle))
    for processes in (1, 2):
        found, report = run(edgewire, tmp_path, "cdlp", path, "--iterations", 1000, "-p", processes, "-w", 1)
        assert found == list(enumerate(paths.propagation(triangle, 1000))) and len(report["supersteps"]) < 10


def test_samples_are_drawn_by_their_seed(edgewire, generated, tmp_path):
    path, _ = generated("kronecker")
    draws = [run(edgewire, tmp_path, "bc", path, "--samples", 9, "--seed", seed, "-p", processes, "-w", 1)[0]
             for seed, processes in ((1, 1), (1, 2), (2, 1))]
    np.testing.assert_allclose([v for _, v in draws[0]], [v for _, v in draws[1]], rtol=1e-9)
    assert draws[0] != draws[2]
    for options, status in ((["--samples", 5000], 1), (["--samples", 0], 2), (["--seed", 3], 2),
                            (["--samples", 2, "--sources", "1"], 2)):
        assert "--s" in edgewire.refused("bc", path, *options, status=status)


def test_more_paths_than_can_be_counted(edgewire, tmp_path):
    """Each of 1000 diamonds in a row doubles them."""
    tops = np.arange(1000) * 3
    graph = Graph(3001, np.concatenate((tops, tops, tops + 1, tops + 2)),
                  np.concatenate((tops + 1, tops + 2, tops + 3, tops + 3)))
    path = reference.write_graph(tmp_path / "g.ew", graph)
    for processes in (1, 2):
        line = edgewire.refused("bc", path, "--sources", 0, "-p", processes, "-o", tmp_path / "values")
        assert "1e300" in line
    found, _ = run(edgewire, tmp_path, "bc", path, source=2100)
    assert found[2103][1] == 3 * 299 and not (tmp_path / "values").exists()


def is_tree(graph, source, parents, levels):
    """Whether each reached vertex hangs on an edge from the level before."""
    edges = set(zip(graph.sources.tolist(), graph.targets.tolist()))
    return all(parents[v] == (-1 if level == math.inf else v) if level in (0, math.inf) else
               (parents[v], v) in edges and levels[parents[v]] == level - 1 for v, level in enumerate(levels))


@pytest.mark.sanitize
@pytest.mark.parametrize("name, options", [
    ("kronecker both ways", ["-p", 1, "-w", 2]), ("kronecker both ways", ["-p", 3, "-w", 1, "--transport", "tcp"]),
    ("kronecker", ["-p", 2, "-w", 2]), ("grid", ["-p", 2, "-w", 1, "--ownership", "ranges"])], ids=str)
def test_parents_are_a_tree_of_shortest_paths(edgewire, generated, tmp_path, name, options):
    path, graph = generated(name)
    source = int(graph.sources[len(graph.sources) // 2])
    found, _ = run(edgewire, tmp_path, "bfs", path, "--parents", *options, source=source)
    assert [v for v, _ in found] == list(range(graph.vertices))
    assert is_tree(graph, source, [int(parent) for _, parent in found], paths.levels(graph, source))


def test_a_search_pulls_only_where_edges_are_stored_both_ways(edgewire, generated, tmp_path):
    for name, pulls in (("kronecker both ways", True), ("kronecker", False)):
        path, graph = generated(name)
        for processes in (1, 2):
            source = int(graph.sources[0])
            _, report = run(edgewire, tmp_path, "bfs", path, "-p", processes, "-w", 1, source=source)
            check_schema(report)
            steps = report["supersteps"]
            assert any("pull" in step["phase"] for step in steps) == pulls
            levels = np.array(paths.levels(graph, source))
            assert [step["frontier"] for step in steps] == [(levels == i).sum() for i in range(len(steps))]
            assert (sum(step["payload_bytes_sent"] for step in steps) > 0) == (processes > 1)


def test_credits_travel_once_for_each_vertex(edgewire, generated, tmp_path):
    """A record for each vertex of the other process at most, and as little in a superstep as there is to tell."""
    path, graph = generated("kronecker both ways")
    for processes in (1, 2):
        _, report = run(edgewire, tmp_path, "lcc", path, "-p", processes, "-w", 1)
        steps = report["supersteps"]
        assert [step["payload_bytes_sent"] > 0 for step in steps] == [False, False, True][:processes + 1]
        assert sum(step["frontier"] for step in steps[2:]) <= graph.vertices
        assert report["rules_kept"]


def test_a_damaged_file_gives_one_line(edgewire, tmp_path):
    path = reference.write_graph(tmp_path / "g.ew", graphs.make("complete"))
    data = bytearray(path.read_bytes())
    data[2 * reference.PAGE_BYTES] ^= 1
    path.write_bytes(data)
    for processes in (1, 2):
        line = edgewire.refused("lcc", path, "-p", processes, "-o", tmp_path / "values")
        assert f"byte {2 * reference.PAGE_BYTES}" in line
    assert not (tmp_path / "values").exists()


@pytest.mark.sanitize
def test_the_same_bits_however_the_job_is_cut(edgewire, generated, tmp_path):
    path, graph = generated("kronecker")
    reports = [run(edgewire, tmp_path, "sssp", path, *options, source=int(graph.sources[0]))[1] for options in (
        ["-p", 1, "-w", 1], ["-p", 1, "-w", 3], ["-p", 3, "-w", 2], ["-p", 2, "-w", 1, "--delta", 0.001],
        ["-p", 2, "-w", 1, "--delta", 1e9, "--transport", "tcp"])]
    assert len({report["checksum"] for report in reports}) == 1
    assert len(reports[4]["supersteps"]) < len(reports[0]["supersteps"]) < len(reports[3]["supersteps"])


def test_what_a_report_says_of_supersteps(edgewire, generated, tmp_path):
    path, graph = generated("kronecker both ways")
    source = int(graph.sources[0])
    reached = np.isfinite(paths.distances(graph, source))
    for processes in (1, 2):
        _, report = run(edgewire, tmp_path, "sssp", path, "-p", processes, "-w", 1, source=source)
        check_schema(report)
        steps = report["supersteps"]
        assert sum(step["frontier"] for step in steps) >= reached.sum()
        assert sum(step["edges"] for step in steps) >= reached[graph.sources].sum()
        assert (sum(step["payload_bytes_sent"] for step in steps) > 0) == (processes > 1)
        assert report["options"]["source"] == str(source) and report["options"]["delta"] > 0
        assert len(report["rules_kept"]) == 1


@pytest.mark.parametrize("kernel", KERNELS)
def test_little_is_sent_that_is_no_record(edgewire, generated, tmp_path, kernel):
    path, graph = generated("kronecker both ways")
    for transport in ("shm", "tcp"):
        _, report = run(edgewire, tmp_path, kernel, path, "-p", 2, "-w", 1, "--transport", transport,
                        source=int(graph.sources[0]))
        steps = report["supersteps"]
        needed, sent = (sum(step[key] for step in steps) for key in ("record_bytes", "payload_bytes_sent"))
        assert 0 < needed < sent <= 1.1 * needed + 250 * len(steps)  # a superstep has counts and end marks
    _, report = run(edgewire, tmp_path, kernel, path, "-p", 1, "-w", 1, source=int(graph.sources[0]))
    assert all(step["record_bytes"] == step["payload_bytes_sent"] == 0 for step in report["supersteps"])


def test_what_a_star_must_send(edgewire, tmp_path):
    """8 bytes for each leaf of the other process, once, though its edge occurs three times."""
    leaves = np.tile(np.arange(1, 1000), 3)
    path = reference.write_graph(tmp_path / "g.ew", Graph(1000, np.zeros(len(leaves)), leaves))
    owners = partition(tmp_path, Graph(1000, [], []), 2)
    moved = owners.read_text().splitlines().count("1")
    _, report = run(edgewire, tmp_path, "bfs", path, "-p", 2, "--ownership", owners, source=0)
    assert [step["record_bytes"] for step in report["supersteps"]] == [8 * moved, 0]


def test_unit_weights_count_edges(edgewire, tmp_path):
    graph = graphs.make("dangling")
    path = reference.write_graph(tmp_path / "g.ew", graph)
    found, _ = run(edgewire, tmp_path, "sssp", path, "-p", 2, "-w", 1, "--unit-weights", source=0)
    assert found == list(enumerate(paths.levels(graph, 0)))


def weights_of_a_path(folder, *weights):
    graph = Graph(len(weights) + 1, np.arange(len(weights)), np.arange(1, len(weights) + 1))
    graph.weights = np.array(weights)
    return reference.write_graph(folder / "g.ew", graph)


@pytest.mark.parametrize("weights, words", [
    ((1, -2.5), "edge 1 -> 2 has weight -2.5; sssp needs weights that are not negative"),
    ((3e38, 3e38), "greater than a float can be"),
], ids=["negative", "huge"])
def test_weights_that_have_no_shortest_paths(edgewire, tmp_path, weights, words):
    path = weights_of_a_path(tmp_path, *weights)
    for processes in (1, 2):
        result = edgewire("sssp", path, "--source", 0, "-p", processes, "-o", tmp_path / "values")
        assert result.returncode == 1 and words in result.stderr, result.stderr
        assert not (tmp_path / "values").exists()


@pytest.mark.parametrize("kernel", KERNELS)
def test_ownerships_that_do_not_fit(edgewire, tmp_path, kernel):
    path = reference.write_graph(tmp_path / "g.ew", weighted(graphs.make("path")))
    for ownership, status, words in (("auto", 2, "hash, ranges"), (tmp_path / "none", 1, "partition file")):
        result = edgewire(kernel, path, *asked(kernel, 0), "--ownership", ownership)
        assert result.returncode == status and words in result.stderr, result.stderr


def catches(pid, number):
    """Whether the process has a handler for the signal."""
    caught = re.search(r"SigCgt:\s*(\w+)", pathlib.Path(f"/proc/{pid}/status").read_text())[1]
    return int(caught, 16) >> (number - 1) & 1


@pytest.mark.parametrize("number, verb", [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "told to end")])
def test_an_interrupted_run_speaks_of_no_iterations(edgewire, tmp_path, number, verb):
    n = 1_000_000  # supersteps: seconds
    path = reference.write_graph(tmp_path / "g.ew", Graph(n, np.arange(n - 1), np.arange(1, n)))
    process = edgewire.start("sssp", path, "--unit-weights", "--source", 0, "-p", 1, "-w", 1)
    while not catches(process.pid, number):
        assert process.poll() is None
    os.killpg(process.pid, number)
    _, stderr = process.communicate(timeout=30)
    assert process.returncode in (-number, 128 + number)
    assert stderr == f"edgewire: {verb}\n"


def test_a_graph_without_weights(edgewire, tmp_path):
    path = reference.write_graph(tmp_path / "g.ew", graphs.make("path"))
    line = edgewire.refused("sssp", path, "--source", 0, "-p", 2)
    assert "no weights" in line and "--unit-weights" in line
    for delta in (0, -1, "nan", "x"):
        edgewire.refused("sssp", path, "--source", 0, "--delta", delta, status=2)
