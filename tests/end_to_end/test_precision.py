"""How exact ranks are, when a run ends, what it says of that, and edges with weights."""

import json
import re

import numpy as np
import pytest

import reference
from job import read_ranks

VERTICES = 400


def random_edges(seed, weighted):
    """Sources, targets and weights: hubs, sinks, duplicates, self loops, weights of 0, a vertex whose weights sum to 0."""
    random = np.random.default_rng(seed)
    sources = (VERTICES * random.random(4000) ** 2).astype(int)
    targets = (VERTICES * random.random(4000) ** 3).astype(int)
    weights = random.choice([0, 0.125, 1, 3, 1000.5], 4000) if weighted else np.ones(4000)
    weights[sources == 7] = 0 if weighted else 1
    return sources, targets, weights


@pytest.fixture(scope="module")
def weighted_graph(edgewire, tmp_path_factory):
    """(path of a graph file, edges); all ids 0 to VERTICES - 1 occur."""
    folder = tmp_path_factory.mktemp("weighted")
    edges = random_edges(5, True)
    lines = [f"{s} {t} {w:g}\n" for s, t, w in zip(*edges)]
    lines += [f"{VERTICES - 1} {v} 0\n" for v in range(VERTICES)]
    (folder / "g.wel").write_text("".join(lines))
    edgewire.ok("convert", folder / "g.wel", "-o", folder / "g.ew")
    return folder / "g.ew", edges


def pagerank(edges, iterations=20, damping=0.85):
    """As networkx.pagerank: a share of rank in proportion to weight, sinks spread evenly."""
    sources, targets, weights = edges
    matrix = np.zeros((VERTICES, VERTICES))
    np.add.at(matrix, (targets, sources), weights)
    out = matrix.sum(axis=0)
    matrix = np.divide(matrix, out, out=np.zeros_like(matrix), where=out != 0)
    ranks = np.full(VERTICES, 1 / VERTICES)
    for _ in range(iterations):
        ranks = (1 - damping) / VERTICES + damping * (matrix @ ranks + ranks[out == 0].sum() / VERTICES)
    return ranks


@pytest.mark.sanitize
@pytest.mark.parametrize("strategy", ["edge", "worker", "process", "slots", "cover"])
def test_weights_share_the_rank(edgewire, weighted_graph, strategy):
    path, edges = weighted_graph
    _, ranks = read_ranks(edgewire.ok("pagerank", path, "--weighted", "-p", 3, "-w", 1, "--strategy", strategy,
                                      "--precision", "f64", "-o", "-"))
    np.testing.assert_allclose(ranks, pagerank(edges), rtol=1e-12)


@pytest.mark.parametrize("transport", ["shm", "tcp"])
def test_weights_as_floats(edgewire, weighted_graph, transport):
    path, edges = weighted_graph
    _, ranks = read_ranks(edgewire.ok("pagerank", path, "--weighted", "-p", 2, "-w", 2, "--transport", transport,
                                      "--strategy", "cover", "-o", "-"))
    np.testing.assert_allclose(ranks, pagerank(edges), rtol=1e-6)


def test_weights_are_ignored_with_a_word_of_it(edgewire, weighted_graph):
    path, (sources, targets, _) = weighted_graph
    result = edgewire("pagerank", path, "-p", 2, "-o", "-")
    assert result.returncode == 0 and result.stderr.count("has weights, which are ignored") == 1
    zeros = np.full(VERTICES, VERTICES - 1), np.arange(VERTICES)
    edges = np.append(sources, zeros[0]), np.append(targets, zeros[1]), np.ones(len(sources) + VERTICES)
    np.testing.assert_allclose(read_ranks(result.stdout)[1], pagerank(edges), rtol=1e-6)


def test_a_plan_from_the_cache_keeps_weights(edgewire, weighted_graph, tmp_path):
    path, edges = weighted_graph
    for strategy in ("edge", "cover"):
        for source in ("written", "used"):
            report = tmp_path / "report.json"
            output = edgewire.ok("pagerank", path, "--weighted", "-p", 2, "-w", 1, "--strategy", strategy, "--json", report,
                                 f"--plan-cache={tmp_path}", "--precision", "f64", "-o", "-")
            np.testing.assert_allclose(read_ranks(output)[1], pagerank(edges), rtol=1e-12)
            assert json.loads(report.read_text())["plan_cache"] == source


@pytest.mark.parametrize("line, option, said", [
    ("1 2 -3", [], "edge 1 -> 2 has weight -3; --weighted needs weights that are not negative"),
    ("1 2 3e38", [], "the weights of vertex 1 sum to 3e+38: --precision f64 takes such sums"),
    ("1 2 1e-30", [], "the weights of vertex 1 sum to 1e-30: --precision f64 takes such sums"),
    ("1 2 1e308\n1 2 1e308", ["--precision", "f64"],
     "the weights of vertex 1 sum to inf: --weighted takes sums from 1e-290 to 1e290, so scale the weights"),
])
def test_weights_that_cannot_be_used(edgewire, tmp_path, line, option, said):
    (tmp_path / "g.wel").write_text(f"{line}\n2 1 1\n")
    edgewire.ok("convert", tmp_path / "g.wel", "-o", tmp_path / "g.ew")
    result = edgewire("pagerank", tmp_path / "g.ew", "--weighted", "-p", 2, "-o", tmp_path / "ranks", *option)
    assert result.returncode == 1 and said in result.stderr
    assert not (tmp_path / "ranks").exists()


def test_huge_and_tiny_weights_in_double(edgewire, tmp_path):
    (tmp_path / "g.wel").write_text("0 1 3e38\n0 2 3e38\n1 0 1e-38\n2 0 1e-38\n")
    edgewire.ok("convert", tmp_path / "g.wel", "-o", tmp_path / "g.ew")
    same = [0, 0, 1, 2], [1, 2, 0, 0]
    expected = reference.pagerank(reference.Graph(3, *same))[0]
    for processes in (1, 3):
        _, ranks = read_ranks(edgewire.ok("pagerank", tmp_path / "g.ew", "--weighted", "--precision", "f64", "-p", processes,
                                          "-o", "-"))
        np.testing.assert_allclose(ranks, expected, rtol=1e-12)


def test_no_weights_where_they_are_asked_for(edgewire, tmp_path):
    edgewire.ok("generate", "grid", "--rows", 3, "--columns", 3, "-o", tmp_path / "g.ew")
    result = edgewire("pagerank", tmp_path / "g.ew", "--weighted")
    assert result.returncode == 1 and "the graph has no weights" in result.stderr


@pytest.fixture(scope="module")
def kronecker(edgewire, tmp_path_factory):
    path = tmp_path_factory.mktemp("kronecker") / "g.ew"
    edgewire.ok("generate", "kronecker", "--scale", 10, "-o", path)
    return path, reference.read_graph(path)


@pytest.mark.parametrize("strategy", ["edge", "process", "slots", "cover"])
@pytest.mark.parametrize("damping", [0.85, 0.99])
def test_double_precision(edgewire, kronecker, strategy, damping):
    path, graph = kronecker
    report = json.loads(edgewire.ok("pagerank", path, "-p", 3, "-w", 1, "--strategy", strategy, "--precision", "f64",
                                    "--damping", damping, "--verify", "--json", "-"))
    bytes_a_value = 8 if strategy in ("slots", "cover") else 12
    assert report["bound"]["payload_bytes"] == bytes_a_value * report["bound"]["values"]
    assert all(one["payload_bytes_sent"] == report["bound"]["payload_bytes"] for one in report["iterations"])
    assert report["verify"]["passed"] and report["verify"]["limit"] < 1e-11
    _, ranks = read_ranks(edgewire.ok("pagerank", path, "-p", 3, "-w", 1, "--strategy", strategy, "--precision", "f64",
                                      "--damping", damping, "-o", "-"))
    np.testing.assert_allclose(ranks, reference.pagerank(graph, damping=damping)[0], rtol=1e-12)


@pytest.mark.parametrize("damping", [0.5, 0.85, 0.99, 1])
def test_verify_knows_what_rounding_does(edgewire, kronecker, damping):
    """The bound of messages grows with 1 / (1 - damping), and the limits hold."""
    path, _ = kronecker
    report = json.loads(edgewire.ok("pagerank", path, "-p", 2, "-w", 1, "--damping", damping, "--iterations", 300,
                                    "--strategy", "slots", "--verify", "--json", "-"))
    check = report["verify"]
    assert check["passed"] and check["sum_error"] <= check["limit"] and check["limit_share"] <= 1
    assert check["max_relative_error"] <= check["vertex_limit"]
    per_iteration = 3 * 2.0 ** -24
    expected = per_iteration * (300 if damping == 1 else damping * (1 - damping ** 300) / (1 - damping))
    assert report["rounding_bound"] == pytest.approx(expected, rel=1e-4)
    # Sinks round their ranks less often: no message leaves them.
    assert expected / 20 < check["limit"] < 1.01 * expected


def test_wire_of_16_bits_excludes_double(edgewire, kronecker):
    result = edgewire("pagerank", kronecker[0], "--precision", "f64", "--wire", "bf16")
    assert result.returncode == 2 and "exclude each other" in result.stderr


def test_a_run_says_how_converged_it_is(edgewire, kronecker):
    path, graph = kronecker
    result = edgewire("pagerank", path, "--iterations", 9, "--damping", 0.7, "--precision", "f64", "--json", "-")
    report = json.loads(result.stdout)
    assert report["graph"] == str(path) and report["converged"] is False
    assert report["options"] == {"iterations": 9, "damping": 0.7, "tolerance": 0.0, "precision": "f64", "weighted": False,
                                 "direction": "out", "pagerank_2015": False}
    nine, eight = (reference.pagerank(graph, iterations, 0.7)[0] for iterations in (9, 8))
    assert report["change"] == pytest.approx(np.abs(nine - eight).sum(), rel=1e-9)
    text = edgewire.ok("pagerank", path, "--iterations", 9, "--damping", 0.7, "--precision", "f64", "--verbose")
    assert f"changed the ranks by {report['change']:.3g} in sum; no --tolerance was asked for" in text
    limit = reference.pagerank(graph, 200, 0.7)[0]
    bound = float(text.split("would change the ranks by at most ")[1].split()[0])
    assert np.abs(limit - nine).sum() <= bound


def test_a_tolerance_that_is_reached(edgewire, kronecker):
    path, graph = kronecker
    expected = reference.pagerank(graph, 1000, tolerance=1e-6)[1]
    report = json.loads(edgewire.ok("pagerank", path, "-p", 2, "--tolerance", "1e-6", "--iterations", 1000, "--precision",
                                    "f64", "--json", "-"))
    assert len(report["iterations"]) == expected and report["converged"] is True and report["change"] < 1e-6


@pytest.mark.parametrize("processes", [1, 3])
def test_a_tolerance_that_floats_cannot_reach_ends_the_run(edgewire, kronecker, processes):
    path, _ = kronecker
    arguments = ["pagerank", path, "-p", processes, "-w", 1, "--tolerance", "1e-30", "--iterations", 100000,
                 "--strategy", "slots", "--wire", "bf16" if processes > 1 else "f32", "--damping", 1]
    text = edgewire.ok(*arguments)
    assert "tolerance 1e-30 NOT reached: stopped after" in text and "the change no longer falls" in text
    report = json.loads(edgewire.ok(*arguments, "--json", "-"))
    assert report["converged"] is False and len(report["iterations"]) < 10000


def test_no_iterations(edgewire, kronecker):
    report = json.loads(edgewire.ok("pagerank", kronecker[0], "--iterations", 0, "--verify", "--json", "-"))
    assert report["change"] == 0 and report["converged"] is False


def plain(text):
    """The lines of id, tab and value, without any others."""
    assert all(re.fullmatch(r"\d+\t\S+", line) for line in text.splitlines()), text
    return dict(line.split("\t") for line in text.splitlines())


@pytest.fixture
def path_of_100(edgewire, tmp_path):
    """Ranks take long to come from one end to the other."""
    (tmp_path / "path.txt").write_text("".join(f"{v} {v + 1}\n" for v in range(99)))
    edgewire.ok("convert", tmp_path / "path.txt", "-o", tmp_path / "path.ew")
    return tmp_path / "path.ew"


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("words", [["pagerank"], ["ppr", "--source", 1]], ids=lambda words: words[0])
def test_a_tolerance_alone_is_reached(edgewire, path_of_100, tmp_path, words, processes):
    """In more than the 20 iterations that there are without one."""
    json_path = tmp_path / "report.json"
    command = [words[0], path_of_100, *words[1:], "-p", processes, "-w", 1, "--damping", 0.95, "--precision", "f64", "--tolerance", "1e-9", "-o", "-"]
    run = edgewire(*command, "--json", json_path)
    report = json.loads(json_path.read_text())
    assert (run.returncode, run.stderr) == (0, "") and plain(run.stdout)
    assert report["converged"] and report["change"] < 1e-9 and 20 < len(report["iterations"]) < 1000
    limited = edgewire(*command, "--iterations", 20, "--json", json_path)  # what is said does not harm what is written
    assert limited.returncode == 0 and len(plain(limited.stdout)) == len(plain(run.stdout))
    assert limited.stderr == "edgewire: tolerance 1e-09 NOT reached in 20 iterations (--iterations N makes more)\n"
    assert not json.loads(json_path.read_text())["converged"]


@pytest.mark.parametrize("output", [[], ["-o", "-"], ["-o", "ranks.csv"]], ids=" ".join)
@pytest.mark.parametrize("options, said", [
    ([], "in 1000 iterations (--iterations N makes more)"), (["--iterations", 7], "in 7 iterations (--iterations N makes more)"),
    (["--iterations", 0], "no iteration was computed"), (["--iterations", 1100], "in 1100 iterations (--iterations N makes more)"),
], ids=lambda one: " ".join(map(str, one)) if isinstance(one, list) else "")
def test_a_tolerance_that_is_not_reached_is_said(edgewire, tmp_path, options, said, output):
    """On a circle of two the rank goes to and fro."""
    (tmp_path / "g.txt").write_text("0 1\n1 0\n")
    run = edgewire("ppr", "g.txt", "--source", 0, "--damping", 0.9999, "--precision", "f64", "--tolerance", 1e-6, "-p", 2, "-w", 1, *options, *output,
                   cwd=tmp_path)
    lines = [line for line in run.stderr.splitlines() if "NOT" in line]
    assert run.returncode == 0 and len(lines) == 1, run.stderr
    assert lines[0].startswith("edgewire: tolerance 1e-06 NOT reached") and lines[0].endswith(said)
    assert (tmp_path / "ranks.csv").exists() == ("ranks.csv" in output)
    assert len(plain(run.stdout)) == 2 if "-" in output else (lines[0].removeprefix("edgewire: ") if said != "no iteration was computed" else said) in run.stdout


def test_a_checkpoint_and_a_profile_with_a_tolerance_alone(edgewire, path_of_100, tmp_path):
    command = ["pagerank", path_of_100, "-w", 1, "--damping", 0.95, "--precision", "f64", "--tolerance", "1e-9", "--verify"]
    edgewire.ok(*command, "-p", 2, "--iterations", 25, "--checkpoint", tmp_path / "kept", "--every", 5)
    report = json.loads(edgewire.ok(*command, "-p", 1, "--resume", tmp_path / "kept", "--json", "-"))
    assert report["resumed_from"] == 25 and report["converged"]
    assert "tolerance 1e-09 reached after" in edgewire.ok("profile", "--", *command)
