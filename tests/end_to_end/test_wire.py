"""Values in 16 bits between processes: how far ranks may be off, whatever the weights are."""
import json

import numpy as np
import pytest

import reference

OWNERSHIPS = ("hash", "ranges", "hilbert", "grid", "FILE")


def exact_ranks(graph, iterations, damping):
    """Ranks with shares by weights, in the widest floating point there is."""
    weights = graph.weights.astype(np.longdouble)
    sums = np.zeros(graph.vertices, np.longdouble)
    np.add.at(sums, graph.sources, weights)
    ranks = np.full(graph.vertices, np.longdouble(1) / graph.vertices)
    for _ in range(iterations):
        new = np.zeros_like(ranks)
        used = weights > 0
        np.add.at(new, graph.targets[used], ranks[graph.sources[used]] * weights[used] / sums[graph.sources[used]])
        ranks = (1 - damping + damping * ranks[sums == 0].sum()) / graph.vertices + damping * new
    return ranks


def random_graph(random):
    vertices = int(random.integers(4, 60))
    edges = int(random.integers(1, 6 * vertices))
    sources, targets = random.integers(0, vertices, (2, edges))
    order = np.lexsort((targets, sources))
    reach = random.uniform(0, 12)  # weights go from 10^-reach to 10^reach
    kind = random.integers(3)
    exponents = random.uniform(-reach, reach, edges) if kind == 0 else random.uniform(-reach, reach, vertices)[sources[order]] \
        if kind == 1 else random.choice([-reach, 0, reach], edges)
    weights = (10.0 ** exponents).astype(random.choice([np.float32, np.float64]))
    weights[random.random(edges) < 0.05] = 0
    return reference.Graph(vertices, sources[order], targets[order], weights=weights)


@pytest.mark.matrix(1 / 50)
@pytest.mark.parametrize("seed", range(100))
def test_ranks_by_weights_stay_within_the_bound_that_is_told(edgewire, tmp_path, seed):
    random = np.random.default_rng(seed)
    for _ in range(10):
        graph = random_graph(random)
        path = reference.write_graph(tmp_path / "g.ew", graph)
        processes, iterations = int(random.integers(2, 5)), int(random.integers(1, 30))
        ownership = str(random.choice(OWNERSHIPS))
        if ownership == "FILE":
            ownership = tmp_path / "parts"
            ownership.write_text("".join(f"{part}\n" for part in random.permutation(np.arange(graph.vertices) % processes)))
        run = ["pagerank", path, "--weighted", "-p", processes, "-w", 1, "--ownership", ownership, "--iterations", iterations,
               "--wire", str(random.choice(["bf16", "f16", "u16"])), "--strategy", str(random.choice(["slots", "cover"])), "--transport", str(random.choice(["shm", "tcp"]))]
        report = json.loads(edgewire.ok(*run, "--verify", "-o", tmp_path / "ranks", "--json", "-"))
        ranks = np.loadtxt(tmp_path / "ranks", ndmin=2)[:, 1]
        error = np.abs(ranks - exact_ranks(graph, iterations, 0.85)).sum()
        assert error <= report["wire_error_bound"] < 0.1, run
        assert report["verify"]["passed"] and report["verify"]["limit"] < 0.1 and report["verify"]["unchecked"] == 0, run


@pytest.mark.parametrize("ownership, strategy", [("hilbert", "slots"), ("hilbert", "cover"), ("hash", "cover")])
def test_a_vertex_gets_its_share_beside_heavy_edges(edgewire, tmp_path, ownership, strategy):
    matrix = tmp_path / "m.mtx"
    light = "".join(f"{v} {v + 1} 1\n" for v in range(1, 17))
    matrix.write_text(f"%%MatrixMarket matrix coordinate real general\n17 17 18\n1 17 1e12\n1 5 1e12\n{light}")
    edgewire.ok("convert", matrix, "-o", tmp_path / "m.ew", "--undirected")
    run = ["pagerank", tmp_path / "m.ew", "--weighted", "-o", tmp_path / "ranks"]
    edgewire.ok(*run, "--precision", "f64")
    right = np.loadtxt(tmp_path / "ranks")[:, 1]
    for wire in ("f16", "u16", "bf16"):
        report = json.loads(edgewire.ok(*run, "-p", 2, "-w", 1, "--ownership", ownership, "--strategy", strategy, "--wire", wire,
                                        "--verify", "--json", "-"))
        assert np.abs(np.loadtxt(tmp_path / "ranks")[:, 1] - right).sum() <= report["wire_error_bound"]
        assert report["verify"]["limit"] < 0.1


def test_a_check_that_shows_nothing_is_refused(edgewire, tmp_path):
    plain = reference.write_graph(tmp_path / "plain.ew", reference.Graph(6, np.arange(6), (np.arange(6) + 1) % 6))
    short = tmp_path / "short.ew"
    (tmp_path / "short.wel").write_text("".join(f"{v} {v + 1} 1e-50\n" for v in range(6)))
    edgewire.ok("convert", tmp_path / "short.wel", "-o", short)
    x = tmp_path / "x"
    x.write_text("".join(f"{v} 1e-45\n" for v in range(6)))
    coarse = ["pagerank", plain, "-p", 2, "-w", 1, "--damping", 0.999, "--iterations", 2000]
    for run, more, remedy in (
            ([*coarse, "--wire", "bf16"], ["--wire", "f32"], "--wire f32"),
            (["spmv", plain, "--x", x], ["--precision", "f64"], "--precision f64"),
            (["sssp", short, "--source", 0, "--precision", "f32"], ["--precision", "f64"], "--precision f64")):
        line = edgewire.refused(*run, "--verify", "-o", tmp_path / "result")
        assert "--verify can say nothing of this result" in line and remedy in line
        assert not (tmp_path / "result").exists()
        edgewire.ok(*run)
        edgewire.ok(*(run[:-2] if more[0] in run else run), *more, "--verify")
    report = tmp_path / "report.json"
    edgewire(*coarse, "--wire", "bf16", "--verify", "--json", report)
    verify = json.loads(report.read_text())["verify"]
    assert verify["conclusive"] is False and verify["passed"] is False and verify["limit"] > 1 and verify["limit_share"] < 1
