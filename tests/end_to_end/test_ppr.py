"""edgewire ppr: ranks as seen from some vertices, beside plain power iteration in NumPy and, at its fixed point, a
system of linear equations."""

import json

import numpy as np
import pytest

import graphs
import reference
from job import check_report, read_ranks


def ppr(graph, sources, iterations, damping=0.85, weights=None):
    """Ranks by vertex; `sources` are numbers of vertices, or all restarts by vertex."""
    n = graph.vertices
    weights = np.ones(len(graph.sources)) if weights is None else weights
    totals = np.bincount(graph.sources, weights, minlength=n)
    restart = np.zeros(n)
    if isinstance(sources, np.ndarray):
        restart = sources
    else:
        restart[sources] = 1 / len(sources)
    ranks = restart
    for _ in range(iterations):
        shares = np.divide(ranks, totals, out=np.zeros(n), where=totals > 0)
        sums = np.bincount(graph.targets, shares[graph.sources] * weights, minlength=n)
        ranks = damping * sums + (1 - damping * ranks[totals > 0].sum()) * restart
    return ranks


def run(edgewire, folder, path, sources, *options):
    report = folder / "report.json"
    ids, ranks = read_ranks(edgewire.ok("ppr", path, "--sources", sources, "--json", report, "-o", "-", *options))
    report = json.loads(report.read_text())
    check_report(report)
    assert report["kernel"] == "ppr"
    return ids, ranks, report


@pytest.fixture(scope="module")
def random_graph(tmp_path_factory):
    """Nine of ten vertices are dangling."""
    graph = graphs.make("dangling")
    return reference.write_graph(tmp_path_factory.mktemp("ppr") / "g.ew", graph), graph


@pytest.mark.sanitize
@pytest.mark.parametrize("options", [["-p", 1, "-w", 2], pytest.param(["-p", 2, "--transport", "tcp"], marks=pytest.mark.core), ["-p", 2, "--strategy", "cover"],
                                     ["-p", 4, "--ownership", "ranges", "--strategy", "process"]], ids=str)
@pytest.mark.parametrize("sources", [[3], [0, 17, 999]], ids=len)
def test_ranks(edgewire, random_graph, tmp_path, sources, options):
    path, graph = random_graph
    names = ",".join(map(str, sources))
    ids, ranks, report = run(edgewire, tmp_path, path, names, "--iterations", 11, "--verify", *options)
    assert ids.tolist() == list(range(graph.vertices))
    np.testing.assert_allclose(ranks, ppr(graph, sources, 11), rtol=1e-5, atol=1e-30)
    assert report["verify"]["passed"] and report["options"]["sources"] == names
    owners = (reference.range_owners(graph, 4) if "ranges" in options
              else reference.hash_owners(graph.vertices, report["processes"]))
    assert report["bound"]["payload_bytes"] == reference.payload_bytes(graph, owners, report["strategy"], 1)


@pytest.mark.parametrize("separator", ["\t", " "])
def test_shares_of_sources(edgewire, random_graph, tmp_path, separator):
    path, graph = random_graph
    shares = {17: 3.0, 0: 0.5, 999: 1e-3, 4: 0.0}
    (tmp_path / "sources").write_text("# vertex and share\n" + "".join(f"{v}{separator}{share}\n" for v, share in shares.items()))
    restart = np.zeros(graph.vertices)
    restart[list(shares)] = np.array(list(shares.values())) / sum(shares.values())
    _, ranks, report = run(edgewire, tmp_path, path, f"@{tmp_path / 'sources'}", "--iterations", 11, "--verify", "-p", 2)
    np.testing.assert_allclose(ranks, ppr(graph, restart, 11), rtol=1e-5, atol=1e-30)
    assert report["verify"]["passed"]


def test_shares_of_names_with_blanks(edgewire, tmp_path):
    (tmp_path / "named.txt").write_text("Ada 1\tBob\nBob\tAda 2\nAda 2\tAda 1\n")
    edgewire.ok("convert", tmp_path / "named.txt", "--labels", "-o", tmp_path / "named.ew")
    sources = tmp_path / "sources"
    for text, expected in (("Ada 1\t3\nBob\t1\n", {"Ada 1": 0.75, "Bob": 0.25}), ("Ada 1\nAda 2\n", {"Ada 1": 0.5, "Ada 2": 0.5})):
        sources.write_text(text)
        lines = edgewire.ok("ppr", tmp_path / "named.ew", "--sources", f"@{sources}", "--iterations", 0, "-o", "-").splitlines()
        ranks = {name: float(rank) for name, rank in (line.split("\t") for line in lines)}
        assert {name: rank for name, rank in ranks.items() if rank} == expected


@pytest.mark.parametrize("text, cause", [
    ("0\t1\n3\n", "line 2: vertex 3 has no share, unlike those before it: give all one, or none"),
    ("0\n\n3 1\n", "line 3: vertex 3 has a share, unlike those before it: give all one, or none"),
    ("0 1\n3 -1\n", "line 2: -1 is no share: shares are numbers from 0 on"), ("0 x\n", "line 1: x is no finite number"),
    ("0 inf\n", "line 1: inf is no finite number"), ("0 nan\n", "line 1: nan is no finite number"), ("0 1e999\n", "line 1: 1e999 is no finite number"),
    ("0 1\n3 1e-60\n", "line 2: share 1e-60 is too small a part of 1, the largest one"),
    ("0 1\n0 2\n", "line 2: vertex 0 is given twice"), ("5000 1\n", "line 1: {path} has no vertex 5000"),
    ("0 0\n3 0.0\n", "all shares are 0: at least one must be greater")])
def test_bad_shares(edgewire, random_graph, tmp_path, text, cause):
    path, _ = random_graph
    sources = tmp_path / "sources"
    sources.write_text(text)
    assert edgewire.refused("ppr", path, "--sources", f"@{sources}", "-p", 2) == f"{sources}: {cause.format(path=path)}"


def test_shares_are_of_ppr_alone(edgewire, random_graph, tmp_path):
    path, _ = random_graph
    (tmp_path / "sources").write_text("0 1\n3 1\n")
    assert "no vertex 0 1" in edgewire.refused("bc", path, "--sources", f"@{tmp_path / 'sources'}")


def test_settled_ranks_solve_the_equations(edgewire, tmp_path):
    """NetworkX's pagerank(personalization=...) solves the same ones: dangling vertices restart, too."""
    sources, targets = graphs.random_edges(60, 150, 9)
    graph = reference.Graph(60, sources // 2, targets)
    path = reference.write_graph(tmp_path / "g.ew", graph)
    degrees = graph.out_degrees()
    restart = np.zeros(60)
    restart[[5, 40]] = 0.5
    matrix = np.zeros((60, 60))
    np.add.at(matrix, (graph.targets, graph.sources), 1 / degrees[graph.sources])
    matrix[:, degrees == 0] = restart[:, None]
    expected = np.linalg.solve(np.eye(60) - 0.7 * matrix, 0.3 * restart)
    _, ranks, report = run(edgewire, tmp_path, path, "40,5", "--damping", 0.7, "--tolerance", 1e-13, "--iterations", 500,
                           "--precision", "f64", "-p", 2)
    assert report["converged"]
    np.testing.assert_allclose(ranks, expected, rtol=1e-10, atol=1e-12)


def test_weights_and_names_of_the_converted_file(edgewire, tmp_path):
    random = np.random.default_rng(5)
    sources, targets = graphs.random_edges(50, 400, 6)
    weights = random.integers(1, 100, 400) / 4
    (tmp_path / "g.txt").write_text("".join(f"{s * 10**9 + 7} {t * 10**9 + 7} {w}\n"
                                           for s, t, w in zip(sources, targets, weights)))
    edgewire.ok("convert", tmp_path / "g.txt", "-o", tmp_path / "g.ew")
    (tmp_path / "sources").write_text("# two\n7000000007\n\n49000000007\n")
    ids, ranks, _ = run(edgewire, tmp_path, tmp_path / "g.ew", f"@{tmp_path / 'sources'}", "--weighted", "-p", 2, "--verify")
    expected = ppr(reference.Graph(50, sources, targets), [7, 49], 20, weights=weights)
    np.testing.assert_allclose(ranks, expected[(ids - 7) // 10**9], rtol=1e-5)
    top = edgewire.ok("ppr", tmp_path / "g.ew", "--sources", 7000000007, "--weighted", "--top", 1).splitlines()
    assert top[top.index("highest:") + 1].startswith("7000000007\t")


def test_ranks_that_floats_hardly_hold(edgewire, tmp_path):
    """At the end of a path they are 0.1 ** 60: its last digits, and then all, are lost in floats."""
    graph = reference.Graph(61, np.arange(60), np.arange(1, 61))
    path = reference.write_graph(tmp_path / "g.ew", graph)
    asked = ["--iterations", 60, "--damping", 0.1, "--verify", "-p", 2]
    for precision in ("f32", "f64"):
        _, ranks, _ = run(edgewire, tmp_path, path, "0", *asked, "--precision", precision)
        np.testing.assert_allclose(ranks, ppr(graph, [0], 60, 0.1), rtol=1e-6, atol=1e-35 if precision == "f32" else 0)


def test_a_checkpoint_goes_on_with_the_same_sources_only(edgewire, random_graph, tmp_path):
    path, _ = random_graph
    folder = tmp_path / "kept"
    edgewire.ok("ppr", path, "--sources", 3, "--iterations", 6, "--every", 3, "--checkpoint", folder)
    whole = edgewire.ok("ppr", path, "--sources", 3, "--iterations", 9, "--deterministic", "-o", "-")
    rest = edgewire.ok("ppr", path, "--sources", 3, "--iterations", 9, "--deterministic", "-o", "-", "--resume", folder)
    np.testing.assert_allclose(read_ranks(rest)[1], read_ranks(whole)[1], rtol=1e-6)
    line = edgewire.refused("ppr", path, "--sources", 4, "--resume", folder)
    assert "the checkpoint is of another computation" in line


@pytest.mark.sanitize
@pytest.mark.parametrize("sources, status, cause", [
    ("3,", 2, "--sources: '3,' has an empty item"),
    ("3,3", 2, "--sources: 3 is given twice"), ("3,03", 1, "--sources: vertex 03 is given twice"),
    ("1000", 1, "--sources: {path} has no vertex 1000"), ("a", 1, "--sources: {path} has no vertex a"),
    (",".join(map(str, range(1001))), 1, "--sources: {path} has no vertex 1000")], ids=lambda value: str(value)[:9])
def test_bad_sources(edgewire, random_graph, tmp_path, sources, status, cause):
    path, _ = random_graph
    line = edgewire.refused("ppr", path, "--sources", sources, "-p", 2, "-o", tmp_path / "ranks", status=status)
    assert line == cause.format(path=path)
    assert not (tmp_path / "ranks").exists()


def test_bad_files_of_sources(edgewire, random_graph, tmp_path):
    path, _ = random_graph
    names = tmp_path / "names"
    assert edgewire.refused("ppr", path, "--sources", f"@{names}") == f"{names}: cannot read: No such file or directory"
    names.write_text("# nobody\n\n")
    assert edgewire.refused("ppr", path, "--sources", f"@{names}") == f"{names}: no vertex is named: --sources needs one"
    names.write_text("1\n2000\n")
    assert edgewire.refused("ppr", path, "--sources", f"@{names}") == f"{names}: line 2: {path} has no vertex 2000"
