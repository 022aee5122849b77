"""edgewire spmv: y[v] is the sum of w(u, v) x[u] over the edges into v, beside NumPy."""

import json
import os
import pathlib

import numpy as np
import pytest

import graphs
import reference
from job import check_report, read_ranks

FOLDER = pathlib.Path(os.environ.get("EDGEWIRE_GRAPHS") or pathlib.Path(__file__).resolve().parents[3] / "shared/graphs")


def spmv(graph, x, iterations=1, weights=None):
    """y, and the sum of all magnitudes in it: |A|^k |x|."""
    weights = np.ones(len(graph.sources)) if weights is None else weights
    y, scale = x.astype(float), np.abs(x)
    for _ in range(iterations):
        y = np.bincount(graph.targets, weights * y[graph.sources], minlength=graph.vertices)
        scale = np.bincount(graph.targets, np.abs(weights) * scale[graph.sources], minlength=graph.vertices)
    return y, scale


def run(edgewire, folder, path, *options):
    report = folder / "report.json"
    ids, values = read_ranks(edgewire.ok("spmv", path, "--json", report, "-o", "-", *options))
    report = json.loads(report.read_text())
    check_report(report)
    assert report["kernel"] == "spmv"
    return ids, values, report


WEIGHTS = {"floats of both signs": lambda random: random.integers(-1000, 1001, 3000) / 512,
           "doubles": lambda random: random.normal(size=3000),
           "whole numbers that are no floats": lambda random: 2.0**24 + 1 + 2 * random.integers(0, 2**20, 3000)}


@pytest.fixture(scope="module", params=WEIGHTS)
def weighted(request, edgewire, tmp_path_factory):
    """(path, graph, weights): several edges from u to v."""
    folder = tmp_path_factory.mktemp("spmv")
    sources, targets = graphs.random_edges(300, 3000, 8)
    weights = WEIGHTS[request.param](np.random.default_rng(8))
    (folder / "g.wel").write_text("".join(f"{s} {t} {w:.17g}\n" for s, t, w in zip(sources, targets, weights)))
    edgewire.ok("convert", folder / "g.wel", "-o", folder / "g.ew")
    return folder / "g.ew", reference.Graph(300, sources, targets), weights


OPTIONS = [["-p", 1, "-w", 2], pytest.param(["-p", 2, "--transport", "tcp"], marks=pytest.mark.core), ["-p", 2, "--strategy", "cover", "--precision", "f64"],
           ["-p", 4, "--ownership", "ranges", "--strategy", "edge"]]


@pytest.mark.sanitize
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_products_with_weights(edgewire, weighted, tmp_path, options):
    path, graph, weights = weighted
    x = np.random.default_rng(1).normal(size=300) / np.abs(weights).mean() ** 0.8  # so that floats hold five products
    (tmp_path / "x").write_text("".join(f"{v}\t{value!r}\n" for v, value in enumerate(x.tolist())))
    for iterations in (1, 5):
        ids, y, report = run(edgewire, tmp_path, path, "--x", tmp_path / "x", "--iterations", iterations, "--verify", *options)
        expected, scale = spmv(graph, x, iterations, weights)
        assert (np.abs(y - expected) <= (1e-14 if "f64" in options else 2e-7) * iterations * scale).all()
        assert np.abs(expected).max() > 1 and ids.tolist() == list(range(300))
        assert len(report["iterations"]) == iterations
        assert 0 <= report["verify"]["max_relative_error"] <= report["verify"]["vertex_limit"] < 1e-5
        owners = (reference.range_owners(graph, 4) if "ranges" in options
                  else reference.hash_owners(300, report["processes"]))
        if "f64" not in options:
            assert report["bound"]["payload_bytes"] == reference.payload_bytes(graph, owners, report["strategy"], 1)


def test_walks_are_counted_without_weights(edgewire, tmp_path):
    """From x = 1 everywhere the product counts the walks that end at a vertex: exactly, while they fit."""
    graph = graphs.make("duplicates")
    path = reference.write_graph(tmp_path / "g.ew", graph)
    for iterations in (1, 3):
        _, y, _ = run(edgewire, tmp_path, path, "--iterations", iterations, "-p", 2)
        assert y.tolist() == spmv(graph, np.ones(80), iterations)[0].tolist()


def test_a_result_is_an_x(edgewire, tmp_path):
    """Vertices are named in both as in the converted file; those that are left out count 0."""
    graph = graphs.make("original ids")
    path = reference.write_graph(tmp_path / "g.ew", graph)
    twice = run(edgewire, tmp_path, path, "--iterations", 2, "-p", 2)[1]
    edgewire.ok("spmv", path, "-o", tmp_path / "y")
    ids, again, _ = run(edgewire, tmp_path, path, "--x", tmp_path / "y", "-p", 2)
    assert ids.tolist() == graph.original_ids.tolist() and again.tolist() == twice.tolist()
    (tmp_path / "x").write_text(f"# one\n{graph.original_ids[17]} -2.5\n")
    x = np.zeros(200)
    x[17] = -2.5
    assert run(edgewire, tmp_path, path, "--x", tmp_path / "x")[1].tolist() == spmv(graph, x)[0].tolist()


def test_a_web_graph(edgewire, tmp_path):
    source = FOLDER / "web-NotreDame/web-NotreDame.txt.gz"
    if not source.exists():
        pytest.skip("this real graph is not here (EDGEWIRE_GRAPHS names a folder)")
    edgewire.ok("convert", source, "-o", tmp_path / "g.ew")
    graph = reference.read_graph(tmp_path / "g.ew")
    _, y, _ = run(edgewire, tmp_path, tmp_path / "g.ew", "-p", 2, "--iterations", 4, "--verify")
    np.testing.assert_allclose(y, spmv(graph, np.ones(graph.vertices), 4)[0], rtol=2e-6)


@pytest.mark.sanitize
@pytest.mark.parametrize("processes", [1, 2])
def test_values_that_get_too_large(edgewire, tmp_path, processes):
    graph = graphs.make("complete")
    path = reference.write_graph(tmp_path / "g.ew", graph)
    asked = ["spmv", path, "-p", processes, "-o", tmp_path / "y", "--iterations"]
    line = edgewire.refused(*asked, 30)
    assert line.endswith(f"{path}: after 30 iterations 40 of 40 values are too large for f32: --precision f64 takes more")
    assert not (tmp_path / "y").exists()
    edgewire.ok(*asked, 30, "--precision", "f64", "--verify")
    line = edgewire.refused(*asked, 300, "--precision", "f64")
    assert line.endswith("40 of 40 values are too large for f64: ask for fewer --iterations or smaller values in --x")


@pytest.mark.sanitize
@pytest.mark.parametrize("text, cause", [
    ("0 1\n10\n", "line 2: 10 is no vertex and value"), ("0 1\n10 1\n", "line 2: {path} has no vertex 10"),
    ("0 one\n", "line 1: one is no finite number"), ("0 inf\n", "line 1: inf is no finite number"),
    ("0 1e39\n", "line 1: 1e39 is too large: --precision f64 takes it"), ("0 1\n\n0 2\n", "line 3: vertex 0 is given twice")])
def test_bad_x(edgewire, tmp_path, text, cause):
    path = reference.write_graph(tmp_path / "g.ew", graphs.make("only self loops"))
    x = tmp_path / "x"
    assert edgewire.refused("spmv", path, "--x", x, "-p", 2) == f"{x}: cannot read: No such file or directory"
    x.write_text(text)
    assert edgewire.refused("spmv", path, "--x", x, "-p", 2) == f"{x}: {cause.format(path=path)}"


def test_options_that_make_no_sense(edgewire, tmp_path):
    path = reference.write_graph(tmp_path / "g.ew", graphs.make("cycle"))
    for options in (["--iterations", 0], ["--wire", "bf16"], ["--weighted"]):
        assert options[0] in edgewire.refused("spmv", path, *options, status=2)


@pytest.mark.parametrize("options", [["-p", 1, "-w", 2], ["-p", 3, "--strategy", "cover", "--plan-cache"]], ids=str)
def test_edges_against_their_direction_and_both_ways(edgewire, weighted, tmp_path, options):
    """y = A^T x and y = (A + A^T) x, where a self loop counts once."""
    path, graph, weights = weighted
    x = np.random.default_rng(2).normal(size=300)
    (tmp_path / "x").write_text("".join(f"{v}\t{value!r}\n" for v, value in enumerate(x.tolist())))
    loop = graph.sources == graph.targets
    assert loop.any()
    turned = reference.Graph(300, graph.targets, graph.sources)
    both = reference.Graph(300, np.append(graph.sources, graph.targets[~loop]), np.append(graph.targets, graph.sources[~loop]))
    for direction, seen, factors in (("out", graph, weights), ("in", turned, weights),
                                     ("both", both, np.append(weights, weights[~loop]))):
        for _ in range(2):  # the second run takes the plan cache of its own direction
            _, y, report = run(edgewire, tmp_path, path, "--x", tmp_path / "x", "--verify", "--direction", direction, *options)
            expected, scale = spmv(seen, x, 1, factors)
            assert (np.abs(y - expected) <= 4e-7 * scale).all(), direction
            assert report["options"]["direction"] == direction


def test_matrices_as_the_documentation_says(edgewire, tmp_path):
    """docs/kernels.md has this table for users of SciPy."""
    matrix = np.random.default_rng(6).integers(-4, 5, (7, 7))
    x = np.arange(1.0, 8)
    (tmp_path / "x").write_text("".join(f"{v}\t{value}\n" for v, value in enumerate(x, start=1)))

    def products(matrix, header, stored):
        rows, columns = np.nonzero(stored)
        lines = "".join(f"{i + 1} {j + 1} {matrix[i, j]}\n" for i, j in zip(rows.tolist(), columns.tolist()))
        (tmp_path / "m.mtx").write_text(f"%%MatrixMarket matrix coordinate integer {header}\n7 7 {len(rows)}\n{lines}")
        return {direction: run(edgewire, tmp_path, tmp_path / "m.mtx", "--x", tmp_path / "x", "--direction", direction)[1]
                for direction in ("out", "in", "both")}

    found = products(matrix, "general", matrix)
    diagonal = np.diag(np.diag(matrix))
    assert diagonal.any() and (matrix != matrix.T).any()
    for direction, seen in (("out", matrix.T), ("in", matrix), ("both", matrix + matrix.T - diagonal)):
        assert (found[direction] == seen @ x).all(), direction
    lower = np.tril(matrix)
    whole = lower + np.tril(matrix, -1).T
    for direction, y in products(whole, "symmetric", lower).items():
        assert (y == whole @ x).all(), direction


def test_directions_that_there_are_not(edgewire, tmp_path):
    (tmp_path / "named.txt").write_text("a b\nb c\n")
    edgewire.ok("convert", tmp_path / "named.txt", "--labels", "-o", tmp_path / "named.ew")
    assert "--direction" in edgewire.refused("spmv", tmp_path / "named.ew", "--direction", "back", status=2)
    line = edgewire.refused("pagerank", tmp_path / "named.ew", "--direction", "in")
    assert "names" in line and "exchanged" in line
