"""What each kernel says first is what its values say, however the job is cut: figures, the vertices that stand out, paths."""

import collections
import json
import math

import numpy as np
import pytest

import graphs
import paths
import reference
from frontier import both_ways, make, parts, values, weighted
from job import check_schema
from reference import Graph

CUTS = [["-p", 1, "-w", 2], ["-p", 3, "-w", 1], ["-p", 2, "-w", 2, "--transport", "tcp", "--ownership", "ranges"]]
cuts = pytest.mark.parametrize("cut", CUTS, ids=["workers", "processes", "ranges"])


def ask(edgewire, folder, command, path, *options):
    """(the report as text, its answer, [(id, value)] of all vertices, the report)."""
    output, report = folder / "values.tsv", folder / "report.json"
    text = edgewire.ok(command, path, *options, "--verbose", "-o", output, "--json", report)
    found = json.loads(report.read_text())
    check_schema(found)
    return text, found["answer"], values(output.read_text()), found


def highest(found, count, key=lambda value: value):
    """The first of all vertices, by value and then by id."""
    return sorted(found, key=lambda one: (-key(one[1]), one[0]))[:count]


def listed(top):
    return [(one["id"], one["value"]) for one in top]


def check_top(text, report, answer, word, found, count, rel=0):
    """--top has listed what it should, in JSON and in the text, once."""
    assert [id_ for id_, _ in listed(answer["top"])] == [id_ for id_, _ in found[:count]]
    assert [value for _, value in listed(answer["top"])] == pytest.approx([value for _, value in found[:count]], rel=rel)
    assert report["top"] == answer["top"]
    assert text.count(f"{word}:\n") == 1
    lines = [line.split("\t") for line in text.partition(f"{word}:\n")[2].splitlines()[:len(found[:count])]]
    assert [int(id_) for id_, _ in lines] == [id_ for id_, _ in found[:count]]
    assert [float(value) for _, value in lines] == pytest.approx([value for _, value in found[:count]], rel=max(rel, 1e-8))


GROUPS = {"kronecker": None, "kronecker both ways": None, "parts": parts, "alone": lambda: Graph(40, [], []),
          "one vertex": lambda: Graph(1, [], []), "cycle": lambda: graphs.make("cycle"), "original ids": lambda: graphs.make("original ids")}


@pytest.mark.matrix(1 / 2)
@pytest.mark.sanitize
@cuts
@pytest.mark.parametrize("name", GROUPS)
@pytest.mark.parametrize("kernel, one, several", [("wcc", "component", "components"), ("cdlp", "community", "communities")])
def test_sizes_of_groups(edgewire, made_graph, tmp_path, kernel, one, several, name, cut):
    path = reference.write_graph(tmp_path / "g.ew", GROUPS[name]()) if GROUPS[name] else made_graph(name)[0]
    text, answer, found, report = ask(edgewire, tmp_path, kernel, path, *cut, "--top", 3)
    sizes = highest(collections.Counter(int(label) for _, label in found).items(), None)
    singles = sum(size == 1 for _, size in sizes)
    label, size = sizes[0]
    assert {key: answer[key] for key in answer if key != "top"} == {
        several: len(sizes), "singles": singles, "largest_size": size, "largest_label": label}
    check_top(text, report, answer, "largest", sizes, 3)
    line = (f"{len(sizes)} {one if len(sizes) == 1 else several}, the largest has {size} {'vertex' if size == 1 else 'vertices'} "
            f"(label {label}), {singles} {'has' if singles == 1 else 'have'} a single vertex")
    assert text.splitlines()[0] == line
    assert "largest:" not in edgewire.ok(kernel, path, *cut)


@cuts
@pytest.mark.parametrize("name", ["kronecker", "kronecker both ways", "grid"])
def test_what_a_search_reaches(edgewire, made_graph, tmp_path, name, cut):
    path, graph = made_graph(name)
    source = int(graph.sources[len(graph.sources) // 2])
    text, answer, found, report = ask(edgewire, tmp_path, "bfs", path, "--source", source, *cut, "--top", 4)
    levels = np.array([level for _, level in found])
    reached = np.isfinite(levels)
    stored = int(reached[graph.sources].sum())
    edges = stored if name == "kronecker" else stored // 2  # the others store each edge both ways
    teps = answer["teps"]
    assert {key: answer[key] for key in ("reached", "depth", "traversed_edges")} == {
        "reached": reached.sum(), "depth": levels[reached].max(), "traversed_edges": edges}
    assert teps == pytest.approx(edges / report["seconds_kernel"])
    check_top(text, report, answer, "farthest", highest([one for one in found if one[1] < math.inf], None), 4)
    assert text.splitlines()[0].startswith(f"reached {reached.sum()} of {graph.vertices} vertices, depth {levels[reached].max():.0f}, ")
    assert text.splitlines()[0].split()[-5:] == [f"{teps * 1e-6:.6g}", "M", "traversed", "edges/s", "(TEPS)"]


@pytest.mark.parametrize("processes", [1, 2, 5])
def test_the_last_level_counts_where_no_edge_is_left(edgewire, tmp_path, processes):
    path = reference.write_graph(tmp_path / "g.ew", Graph(40, *np.nonzero(~np.eye(40, dtype=bool))))
    report = tmp_path / "report.json"
    text = edgewire.ok("bfs", path, "--samples", 2, "-p", processes, "-w", 1, "--parallel", "levels", "--verify", "--json", report)
    assert text.count("reached 40 of 40 vertices, depth 1, ") == 2
    found = json.loads(report.read_text())
    check_schema(found)
    for run in found["runs"]:
        assert [run["answer"][one] for one in ("reached", "depth", "traversed_edges")] == [40, 1, 1560]
        assert (run["supersteps"], run["frontier"], run["edges"]) == (2, 40, 1560)
    assert [step["frontier"] for step in found["supersteps"]] == [1, 39, 1, 39]


@cuts
@pytest.mark.parametrize("parallel", ["levels", "sources"])
def test_what_several_searches_reach(edgewire, made_graph, tmp_path, parallel, cut):
    path, graph = made_graph("kronecker both ways")
    chosen = [int(v) for v in np.unique(graph.sources)[[3, 50, 200, 201]]] + [int(np.setdiff1d(graph.ids(), graph.sources)[0])]
    report = tmp_path / "report.json"
    text = edgewire.ok("bfs", path, "--sources", ",".join(map(str, chosen)), *cut, "--parallel", parallel, "--top", 2, "--json", report)
    found = json.loads(report.read_text())
    check_schema(found)
    rates = []
    for run in found["runs"]:
        levels = np.array(paths.levels(graph, int(run["source"])))
        reached = np.isfinite(levels)
        answer = run["answer"]
        assert (answer["reached"], answer["depth"]) == (reached.sum(), levels[reached].max())
        assert answer["traversed_edges"] == reached[graph.sources].sum() // 2
        assert answer["teps"] == pytest.approx(answer["traversed_edges"] / run["seconds"])
        assert listed(answer["top"]) == highest([one for one in enumerate(levels) if one[1] < math.inf], 2)
        assert f"source {run['source']}: reached {answer['reached']} of {graph.vertices} vertices, depth {answer['depth']}, " in text
        first, value = listed(answer["top"])[0]
        assert f"\nfarthest from {run['source']}:\n{first}\t{value:.0f}\n" in text
        rates += [answer["teps"]] if answer["traversed_edges"] else []
    assert len(rates) == 4
    mean = len(rates) / sum(1 / rate for rate in rates)
    assert found["answer"] == {"searches": 5, "harmonic_mean_teps": pytest.approx(mean)}
    assert text.splitlines()[0] == f"5 searches, harmonic mean {found['answer']['harmonic_mean_teps'] * 1e-6:.6g} M traversed edges/s (TEPS)"


@cuts
@pytest.mark.parametrize("name", ["kronecker both ways", "grid", "one vertex"])
def test_the_longest_distance(edgewire, made_graph, tmp_path, name, cut):
    if name == "one vertex":
        graph = make(name)
        path, source = reference.write_graph(tmp_path / "g.ew", graph), 0
    else:
        path, graph = made_graph(name)
        source = int(graph.sources[0])
    text, answer, found, report = ask(edgewire, tmp_path, "sssp", path, "--source", source, *cut, "--top", 3)
    reached = highest([one for one in found if one[1] < math.inf], None)
    assert {key: answer[key] for key in ("reached", "farthest")} == {"reached": len(reached), "farthest": reached[0][0]}
    assert answer["longest"] == pytest.approx(reached[0][1], rel=1e-7)
    check_top(text, report, answer, "farthest", reached, 3, rel=1e-7)
    assert text.splitlines()[0].startswith(f"reached {len(reached)} of {graph.vertices} vertices, the longest distance is ")
    assert text.splitlines()[0].endswith(f"(to {reached[0][0]})")


def clustering(graph):
    """(triangles, transitivity) of the graph without directions, by all pairs of neighbours."""
    around = [{v for v, _ in row} - {u} for u, row in enumerate(paths.rows(graph, both_ways=True))]
    closed = sum(len(around[u] & row) for row in around for u in row)  # each corner, both ways round
    pairs = sum(len(row) * (len(row) - 1) for row in around)
    return closed // 6, closed / pairs if pairs else 0


@pytest.mark.matrix(1 / 2)
@cuts
@pytest.mark.parametrize("name", ["kronecker", "kronecker both ways", "grid", "duplicates", "two vertices", "triangle"])
def test_clustering_of_a_whole_graph(edgewire, made_graph, tmp_path, name, cut):
    if name in ("kronecker", "kronecker both ways", "grid"):
        path, graph = made_graph(name)
    else:
        graph = Graph(3, [0, 1, 2], [1, 2, 0]) if name == "triangle" else graphs.make(name)
        path = reference.write_graph(tmp_path / "g.ew", graph)
    text, answer, found, report = ask(edgewire, tmp_path, "lcc", path, *cut)
    triangles, transitivity = clustering(graph)
    assert (answer["triangles"], report["triangles"]) == (triangles, triangles)
    assert answer["transitivity"] == pytest.approx(transitivity, rel=1e-12)
    assert answer["mean"] == pytest.approx(np.mean([value for _, value in found]), rel=1e-12)
    assert set(answer) == {"mean", "triangles", "transitivity"}
    assert text.splitlines()[0] == (f"mean coefficient {answer['mean']:.6g}, {triangles} triangle{'' if triangles == 1 else 's'}, "
                                    f"transitivity {answer['transitivity']:.6g}")
    text, answer, found, report = ask(edgewire, tmp_path, "lcc", path, *cut, "--top", 6)
    check_top(text, report, answer, "highest", highest(found, None), 6)


@pytest.mark.matrix(1 / 2)
@cuts
@pytest.mark.parametrize("name", ["kronecker", "kronecker both ways", "triangle"])
def test_triangles_of_a_whole_graph(edgewire, made_graph, tmp_path, name, cut):
    """Their number alone is found in another way than those of each vertex, and sends no credits."""
    path, graph = made_graph(name) if name != "triangle" else (tmp_path / "g.ew", Graph(3, [0, 1, 2], [1, 2, 0]))
    if name == "triangle":
        reference.write_graph(path, graph)
    triangles, transitivity = clustering(graph)
    known = {"triangles": triangles, "transitivity": pytest.approx(transitivity, rel=1e-12)}
    line = f"{triangles} triangle{'' if triangles == 1 else 's'}, transitivity {transitivity:.6g}"
    assert edgewire.ok("tc", path, *cut, "--verify", "--json", tmp_path / "alone.json").splitlines()[0] == line
    alone = json.loads((tmp_path / "alone.json").read_text())
    check_schema(alone)
    assert alone["answer"] == known and alone["triangles"] == triangles and len(alone["supersteps"]) == 2
    text, answer, found, report = ask(edgewire, tmp_path, "tc", path, *cut, "--verify")
    assert answer == known and text.splitlines()[0] == line
    assert sum(value for _, value in found) == 3 * triangles
    assert len(report["supersteps"]) == (3 if report["processes"] > 1 else 2)
    text, answer, _, report = ask(edgewire, tmp_path, "tc", path, *cut, "--top", 6)
    check_top(text, report, answer, "highest", highest(found, None), 6)


def test_clustering_beside_networkx(edgewire, made_graph, tmp_path):
    """Of graphs that store every edge both ways: there the coefficients of LDBC are the usual ones."""
    networkx = pytest.importorskip("networkx")
    path, graph = made_graph("kronecker both ways")
    _, answer, _, _ = ask(edgewire, tmp_path, "lcc", path, "-p", 2)
    known = networkx.Graph()
    known.add_nodes_from(range(graph.vertices))
    known.add_edges_from((u, v) for u, v in zip(graph.sources.tolist(), graph.targets.tolist()) if u != v)
    assert answer["transitivity"] == pytest.approx(networkx.transitivity(known), rel=1e-12)
    assert answer["mean"] == pytest.approx(networkx.average_clustering(known), rel=1e-12)
    assert answer["triangles"] == sum(networkx.triangles(known).values()) // 3


@cuts
@pytest.mark.parametrize("kernel, options", [("pagerank", []), ("ppr", ["--sources", 3]), ("bc", ["--samples", 3]),
                                             ("bc", ["--samples", 12, "--parallel", "sources"])], ids=["pagerank", "ppr", "bc", "bc-sources"])
def test_the_vertices_of_highest_value(edgewire, made_graph, tmp_path, kernel, options, cut):
    path, _ = made_graph("kronecker both ways")
    text, answer, found, report = ask(edgewire, tmp_path, kernel, path, *options, *cut)
    assert list(answer) == ["top"] and "top" not in report
    first = highest(found, 10)
    assert [id_ for id_, _ in listed(answer["top"])] == [id_ for id_, _ in first]
    assert [value for _, value in listed(answer["top"])] == pytest.approx([value for _, value in first], rel=1e-8)
    assert text.startswith("highest:\n" + "".join(f"{one['id']}\t{one['value']:.9g}\n" for one in answer["top"]) + f"{kernel}: ")
    text, answer, found, report = ask(edgewire, tmp_path, kernel, path, *options, *cut, "--top", 40)
    check_top(text, report, answer, "highest", highest(found, None), 40, rel=1e-8)
    text = edgewire.ok(kernel, path, *options, *cut, "--top", 0)
    assert "highest" not in text


@cuts
def test_the_norm_of_a_product(edgewire, tmp_path, cut):
    graph = Graph(300, *graphs.random_edges(300, 2000, 9))
    graph.weights = np.random.default_rng(9).integers(-1000, 1001, 2000) / 512
    path = reference.write_graph(tmp_path / "g.ew", graph)
    for options in ([], ["--iterations", 3, "--precision", "f64"]):
        text, answer, found, report = ask(edgewire, tmp_path, "spmv", path, *cut, *options, "--top", 4)
        y = np.array([value for _, value in found])
        assert answer["norm"] == pytest.approx(np.sqrt((y ** 2).sum()), rel=1e-8) and y.min() < -1 < 1 < y.max()
        check_top(text, report, answer, "largest", highest(found, None, abs), 4, rel=1e-8)
        done = "3 iterations" if options else "1 iteration"
        assert text.splitlines()[0] == f"norm {answer['norm']:.9g} (Euclidean, of y after {done})"
        assert text.splitlines()[1] == "largest:"


def test_a_norm_beyond_what_squares_can_be(edgewire, tmp_path):
    graph = Graph(3, [0, 1], [1, 2])
    graph.weights = np.array([1.0, 1.0])
    path = reference.write_graph(tmp_path / "g.ew", graph)
    for x, known in (([3e200, 4e200], 5e200), ([3e-200, 4e-200], 5e-200), ([0, 0], 0), ([1.7e308, 1.7e308], None)):
        (tmp_path / "x").write_text("".join(f"{v}\t{value!r}\n" for v, value in enumerate(x)))
        for processes in (1, 3):
            _, answer, _, _ = ask(edgewire, tmp_path, "spmv", path, "--x", tmp_path / "x", "--precision", "f64", "-p", processes)
            assert answer["norm"] == (known if known is None else pytest.approx(known, rel=1e-15))


def check_path(graph, path, source, target, level):
    edges = set(zip(graph.sources.tolist(), graph.targets.tolist()))
    assert path[0] == source and path[-1] == target and len(path) == level + 1
    assert all(edge in edges for edge in zip(path, path[1:]))


@pytest.mark.sanitize
@cuts
@pytest.mark.parametrize("name", ["kronecker", "kronecker both ways", "grid"])
def test_a_path_to_a_target(edgewire, made_graph, tmp_path, name, cut):
    path, graph = made_graph(name)
    source = int(graph.sources[len(graph.sources) // 2])
    levels = paths.levels(graph, source)
    depth = max(level for level in levels if level < math.inf)
    targets = [source, levels.index(depth), levels.index(1)] + ([levels.index(math.inf)] if math.inf in levels else [])
    for target in targets:
        text, answer, found, report = ask(edgewire, tmp_path, "bfs", path, "--source", source, "--target", target, *cut, "--verify")
        assert [level for _, level in found] == levels  # no parents
        assert report["options"]["target"] == str(target)
        first = text.splitlines()[1]
        if levels[target] == math.inf:
            assert answer["path"] is answer["path_length"] is None and first == f"no path from {source} to {target}"
            continue
        check_path(graph, answer["path"], source, target, levels[target])
        assert answer["path_length"] == levels[target]
        assert first == f"path from {source} to {target}, length {levels[target]}: " + " -> ".join(map(str, answer["path"]))


@cuts
@pytest.mark.parametrize("parallel", ["levels", "sources"])
def test_paths_from_several_sources(edgewire, made_graph, tmp_path, parallel, cut):
    path, graph = made_graph("kronecker both ways")
    chosen = [int(v) for v in np.unique(graph.sources)[[3, 50, 200]]] + [int(np.setdiff1d(graph.ids(), graph.sources)[0])]
    target = int(np.unique(graph.sources)[120])
    ways = []
    for deterministic in ([], ["--deterministic"]):
        report = tmp_path / "report.json"
        text = edgewire.ok("bfs", path, "--sources", ",".join(map(str, chosen)), "--target", target, *cut, "--parallel", parallel,
                           *deterministic, "-o", tmp_path / "levels-{}.tsv", "--verify", "--json", report)
        found = json.loads(report.read_text())
        check_schema(found)
        for run in found["runs"]:
            source, way = int(run["source"]), run["answer"]["path"]
            levels = paths.levels(graph, source)
            assert [level for _, level in values((tmp_path / f"levels-{source}.tsv").read_text())] == levels
            if source == chosen[-1]:
                assert way is None and f"\nno path from {source} to {target}\n" in text
                continue
            check_path(graph, way, source, target, levels[target])
            assert f"\npath from {source} to {target}, length {len(way) - 1}: {' -> '.join(map(str, way))}\n" in text
        ways.append([run["answer"]["path"] for run in found["runs"]])
    rows = collections.defaultdict(set)  # the smallest parent, from the target back
    for u, v in zip(graph.sources.tolist(), graph.targets.tolist()):
        rows[v].add(u)
    for way in filter(None, ways[1]):
        levels = paths.levels(graph, way[0])
        assert all(u == min(one for one in rows[v] if levels[one] == levels[u]) for u, v in zip(way, way[1:]))


def test_parents_and_a_target(edgewire, made_graph, tmp_path):
    path, graph = made_graph("kronecker both ways")
    source, target = int(graph.sources[0]), int(graph.sources[-1])
    for processes in (1, 2):
        _, answer, found, _ = ask(edgewire, tmp_path, "bfs", path, "--source", source, "--target", target, "--parents", "-p", processes)
        parents = dict(found)
        assert all(parents[v] == u for u, v in zip(answer["path"], answer["path"][1:]))


def test_a_target_that_does_not_exist(edgewire, tmp_path):
    path = reference.write_graph(tmp_path / "g.ew", graphs.make("cycle"))
    for processes in (1, 2):
        assert edgewire.refused("bfs", path, "--source", 0, "--target", 9999, "-p", processes) == f"--target 9999: {path} has no such vertex"
    for kernel in ("bfs", "sssp"):  # as of a variable of the shell that is not set
        assert "--target: it is empty" in edgewire.refused(kernel, path, "--source", 0, "--target", "", status=2)


@pytest.mark.parametrize("command", [["wcc"], ["cdlp"], ["lcc"], ["tc"], ["bfs", "--source", 0], ["sssp", "--source", 0], ["bc", "--sources", 0],
                                     ["pagerank"], ["ppr", "--sources", 0], ["spmv"]], ids=lambda words: words[0])
def test_what_stdout_has(edgewire, tmp_path, command):
    """With -o - only values, with --json - only JSON; a list for people has no place beside them."""
    graph = weighted(both_ways(parts()))
    path = reference.write_graph(tmp_path / "g.ew", graph)
    kernel, *options = *command, "--deterministic"
    report = tmp_path / "report.json"
    for processes in (1, 2):
        found = edgewire.ok(kernel, path, *options, "-p", processes, "-o", "-", "--json", report, "--top", 2)
        assert [id_ for id_, _ in values(found)] == graph.ids().tolist()
        assert len(json.loads(report.read_text())["answer"]["top"]) == 2
        assert json.loads(edgewire.ok(kernel, path, *options, "-p", processes, "--json", "-", "--top", 2))["answer"]["top"] == json.loads(
            report.read_text())["answer"]["top"]
        assert "--top" in edgewire.refused(kernel, path, *options, "-p", processes, "-o", "-", "--top", 2, status=2)
        values(edgewire.ok(kernel, path, *options, "-p", processes, "-o", "-"))
    if kernel == "bfs":
        assert "--target" in edgewire.refused(kernel, path, *options, "-o", "-", "--target", 1, status=2)


@pytest.mark.parametrize("kernel", ["wcc", "cdlp", "lcc", "tc", "spmv", "pagerank"])
def test_answers_of_no_vertices(edgewire, tmp_path, kernel):
    path = reference.write_graph(tmp_path / "g.ew", graphs.make("no vertices"))
    known = {"wcc": {"components": 0, "singles": 0}, "cdlp": {"communities": 0, "singles": 0}, "spmv": {"norm": 0},
             "lcc": {"mean": 0, "triangles": 0, "transitivity": 0}, "tc": {"triangles": 0, "transitivity": 0}, "pagerank": {}}[kernel]
    for processes in (1, 2):
        _, answer, _, _ = ask(edgewire, tmp_path, kernel, path, "-p", processes)
        assert answer == known | ({"top": []} if kernel in ("spmv", "pagerank") else {})


def test_answers_show_names(edgewire, tmp_path):
    (tmp_path / "in.tsv").write_text("Ann Lee\tBob\nBob\tÉva\nÉva\tDora\nXi\tYo\n")
    edgewire.ok("convert", tmp_path / "in.tsv", "--labels", "-o", tmp_path / "g.ew")
    for processes in (1, 2):
        text, answer = run_named(edgewire, tmp_path, processes, "bfs", "--source", "Ann Lee", "--target", "Dora", "--top", 1)
        assert answer["path"] == ["Ann Lee", "Bob", "Éva", "Dora"] and answer["top"] == [{"id": "Dora", "value": 3}]
        assert "\npath from Ann Lee to Dora, length 3: Ann Lee -> Bob -> Éva -> Dora\n" in text
        text, answer = run_named(edgewire, tmp_path, processes, "wcc")
        assert answer == {"components": 2, "singles": 0, "largest_size": 4, "largest_label": "Ann Lee"}
        assert "the largest has 4 vertices (label Ann Lee)" in text
        text, answer = run_named(edgewire, tmp_path, processes, "pagerank")
        assert len(answer["top"]) == 6 and answer["top"][0]["id"] == "Dora" and text.startswith("highest:\nDora\t")
    (tmp_path / "g.ew.labels").unlink()
    for command in ("pagerank", "wcc"):
        assert "g.ew.labels: the file is missing" in edgewire.refused(command, tmp_path / "g.ew")


def run_named(edgewire, folder, processes, kernel, *options):
    report = folder / "report.json"
    text = edgewire.ok(kernel, folder / "g.ew", *options, "-p", processes, "-w", 1, "--json", report)
    found = json.loads(report.read_text())
    check_schema(found)
    return text, found["answer"]
