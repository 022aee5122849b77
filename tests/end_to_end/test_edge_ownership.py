"""--ownership hilbert and grid: processes hold blocks of edges, ranks are right, and bytes are those of the bound."""

import json

import numpy as np
import pytest

import graphs
import job as jobs
import reference
from job import Job

ENOUGH = ["kronecker", "grid", "duplicates", "self loops", "dangling", "star out", "star in", "path", "no edges",
          "no vertices", "one vertex", "two vertices", "original ids"]


@pytest.fixture(scope="module")
def made(edgewire, tmp_path_factory):
    """Gives path and graph of a name."""
    folder = tmp_path_factory.mktemp("graphs")
    kinds = {"kronecker": ["kronecker", "--scale", 12], "grid": ["grid", "--rows", 37, "--columns", 53]}
    known = {}

    def make(name):
        if name not in known:
            path = folder / f"{len(known)}.ew"
            if name in kinds:
                edgewire.ok("generate", *kinds[name], "-o", path)
                known[name] = path, reference.read_graph(path)
            else:
                graph = graphs.make(name)
                known[name] = reference.write_graph(path, graph), graph
        return known[name]

    return make


def counted(edgewire, path, processes, ownership, encoding="f32", strategy="slots"):
    rows = json.loads(edgewire.ok("bound", path, "-p", processes, "--ownership", ownership, "--strategy", strategy, "--json", "-"))["rows"]
    return next(row for row in rows if row["encoding"] == encoding)


ROUNDS = [(name, ownership, transport, strategy) for name in ENOUGH for ownership in ("hilbert", "grid")
          for transport, strategy in (("shm", "slots"), ("tcp", "slots"), ("tcp", "cover"), ("shm", "cover"))]


@pytest.mark.matrix(1 / 2)
@pytest.mark.parametrize("number", range(len(ROUNDS)), ids=["-".join(one).replace(" ", "_") for one in ROUNDS])
def test_ranks_and_bytes(edgewire, made, tmp_path, number):
    name, ownership, transport, strategy = ROUNDS[number]
    path, graph = made(name)
    processes, workers = [2, 3, 8, 4, 5][number % 5], [1, 2, 3][number // 2 % 3]
    job = Job(edgewire, tmp_path, path, "-p", processes, "-w", workers, "--ownership", ownership, "--transport", transport,
              "--strategy", strategy, "--layout", ["degree", "given"][number // 4 % 2])
    report = job.report
    assert (report["ownership"], report["strategy"], report["transport"]) == (ownership, strategy, transport)
    job.check_ranks(graph)
    bound = counted(edgewire, path, processes, ownership, strategy=strategy)
    assert report["bound"]["values"] == bound["values_sent_total"]
    assert report["bound"]["payload_bytes"] == bound["payload_bytes_total"]
    assert [one["payload_bytes_sent"] for one in report["iterations"]] == [bound["payload_bytes_total"]] * 20
    if transport == "tcp":
        assert report["bound"]["wire_bytes"] == bound["wire_bytes_total"]["tcp1500"]


@pytest.mark.sanitize
@pytest.mark.parametrize("transport, strategy", [("shm", "slots"), ("tcp", "cover")])
@pytest.mark.parametrize("ownership", ["hilbert", "grid"])
@pytest.mark.parametrize("processes", range(1, 9))
def test_every_number_of_processes(edgewire, made, tmp_path, processes, ownership, transport, strategy):
    path, graph = made("kronecker")
    job = Job(edgewire, tmp_path, path, "-p", processes, "-w", 2, "--ownership", ownership, "--transport", transport,
              "--strategy", strategy, "--verify")
    job.check_ranks(graph)
    assert job.report["verify"]["passed"]
    bound = counted(edgewire, path, processes, ownership, strategy=strategy)
    assert job.report["bound"]["payload_bytes"] == bound["payload_bytes_total"]


def test_the_dense_core_of_a_block_takes_two_steps(edgewire, tmp_path):
    """Where all vertices meet all others, the way over a holder needs the fewest values, and is taken."""
    vertices, processes = 60, 6
    sources, targets = np.divmod(np.arange(vertices * vertices), vertices)
    graph = reference.Graph(vertices, sources, targets)
    path = reference.write_graph(tmp_path / "all.ew", graph)
    job = Job(edgewire, tmp_path, path, "-p", processes, "-w", 2, "--ownership", "grid", "--strategy", "cover", "--transport", "tcp")
    job.check_ranks(graph)
    # Two rows and three columns: two mirrors and one sum a vertex; with owners of vertices it is five.
    assert job.report["bound"]["values"] == vertices * 3


def test_the_strategy_is_chosen(edgewire, made, tmp_path):
    path, graph = made("kronecker")
    for rate, strategy in (("1e15", "cover"), ("1", "slots")):
        job = Job(edgewire, tmp_path, path, "-p", 4, "--ownership", "grid", "--transport", "tcp", "--compute-rate", rate)
        assert job.report["strategy"] == strategy and job.report["strategy_reason"].startswith(f"{strategy}:")
        job.check_ranks(graph)


@pytest.mark.parametrize("ownership, strategy", [("hilbert", "slots"), ("grid", "slots"), ("grid", "cover")])
def test_the_same_bits_from_run_to_run(edgewire, made, tmp_path, ownership, strategy):
    path, _ = made("kronecker")
    for workers in (1, 2, 3, 4):
        options = ["-p", 4, "-w", workers, "--ownership", ownership, "--strategy", strategy, "--deterministic"]
        texts = {Job(edgewire, tmp_path, path, *options, "--transport", transport).text
                 for transport in ("shm", "tcp", "shm", "tcp")}
        assert len(texts) == 1


@pytest.mark.parametrize("wire, value_bytes", [("bf16", 2), ("f16", 2), ("u16", 2)])
def test_values_of_16_bits(edgewire, made, tmp_path, wire, value_bytes):
    """--verify holds the error below the bound that the run prints; mirrors and sums are both rounded."""
    path, _ = made("kronecker")
    report = tmp_path / "report.json"
    edgewire.ok("pagerank", path, "-p", 4, "-w", 2, "--ownership", "hilbert", "--strategy", "slots", "--wire", wire, "--verify", "--json", report)
    found = json.loads(report.read_text())
    jobs.check_report(found)
    assert found["bound"]["payload_bytes"] == counted(edgewire, path, 4, "hilbert")["values_sent_total"] * value_bytes
    rounding = {"bf16": 1 / 256}.get(wire, 1 / 2048)
    assert found["wire_error_bound"] == pytest.approx(sum(
        (4 * rounding + 4 * 2.0**-24) * 0.85**t for t in range(1, 21)), rel=0.1)
    assert 0 < found["verify"]["sum_error"] < found["wire_error_bound"]


@pytest.mark.sanitize
def test_weights_and_doubles(edgewire, tmp_path):
    plain = graphs.make("duplicates")
    weights = np.random.default_rng(3).random(len(plain.sources)).astype(np.float32)
    graph = reference.Graph(plain.vertices, plain.sources, plain.targets, weights=weights)
    path = reference.write_graph(tmp_path / "g.ew", graph)
    for command in (["pagerank", "--weighted"], ["ppr", "--weighted", "--sources", "1,5"], ["spmv", "--iterations", 2]):
        for strategy, options in (("cover", ["--precision", "f64"]), ("slots", ["--transport", "tcp"]), ("cover", [])):
            report = tmp_path / "report.json"
            edgewire.ok(command[0], path, *command[1:], "-p", 4, "-w", 2, "--ownership", "grid", "--strategy", strategy, *options,
                        "--verify", "--json", report)
            found = json.loads(report.read_text())
            jobs.check_report(found)
            assert found["verify"]["passed"]
            each = 8 if "f64" in options else 4
            bound = counted(edgewire, path, 4, "grid", strategy=strategy)
            assert found["bound"]["payload_bytes"] == bound["values_sent_total"] * each


def test_a_checkpoint_goes_on_under_another_ownership(edgewire, made, tmp_path):
    path, graph = made("kronecker")
    kept = tmp_path / "kept"
    edgewire.ok("pagerank", path, "-p", 3, "--ownership", "hilbert", "--iterations", 9, "--checkpoint", kept, "--every", 3)
    for ownership in ("hash", "grid", "hilbert"):
        output = tmp_path / "ranks"
        edgewire.ok("pagerank", path, "-p", 4, "--ownership", ownership, "--resume", kept, "-o", output)
        _, ranks = jobs.read_ranks(output.read_text())
        np.testing.assert_allclose(ranks, reference.pagerank(graph)[0], rtol=1e-6)


@pytest.mark.sanitize
@pytest.mark.parametrize("ownership, transport, strategy, processes, workers", [
    ("hilbert", "shm", "slots", 1, 2), ("hilbert", "tcp", "cover", 3, 2), ("grid", "shm", "cover", 8, 1), ("grid", "tcp", "slots", 2, 4),
    ("auto", "shm", "auto", 4, 1)])
def test_a_plan_is_kept_for_the_next_run(edgewire, made, tmp_path, ownership, transport, strategy, processes, workers):
    options = ["-p", processes, "-w", workers, "--ownership", ownership, "--strategy", strategy, "--transport", transport,
               "--deterministic"]
    for name in ("kronecker", "star out", "no edges", "no vertices"):
        path, _ = made(name)
        plain = Job(edgewire, tmp_path, path, *options)
        for source in ("written", "used"):
            job = Job(edgewire, tmp_path, path, *options, f"--plan-cache={tmp_path / name}", "--verify")
            assert (job.text, job.report["plan_cache"]) == (plain.text, source)
            assert job.report["bound"]["payload_bytes"] == plain.report["bound"]["payload_bytes"]


def test_a_plan_with_other_owners_is_made_again(edgewire, made, tmp_path):
    path, _ = made("kronecker")
    options = ["-p", 3, "--ownership", "hilbert", "--deterministic", f"--plan-cache={tmp_path}"]
    plain = Job(edgewire, tmp_path, path, *options).text
    file = next(tmp_path.glob("*.plan-1-of-3"))
    whole = file.read_bytes()
    file.write_bytes(whole[:len(whole) // 2] + bytes(64) + whole[len(whole) // 2 + 64:])
    job = Job(edgewire, tmp_path, path, *options)
    assert (job.text, job.report["plan_cache"]) == (plain, "written")
    assert job.report["plan_cache_note"].startswith(f"plan cache not used: {file}: ")
    job = Job(edgewire, tmp_path, path, "-p", 3, "--ownership", "grid", "--deterministic", f"--plan-cache={tmp_path}")
    assert "made with ownership hilbert, now ownership grid" in job.report["plan_cache_note"]


def test_a_tolerance_ends_the_run(edgewire, made, tmp_path):
    path, _ = made("kronecker")
    report = tmp_path / "report.json"
    edgewire.ok("pagerank", path, "-p", 3, "--ownership", "hilbert", "--tolerance", "1e-3", "--verify", "--json", report)
    found = json.loads(report.read_text())
    assert found["converged"] and len(found["iterations"]) < 20


@pytest.mark.parametrize("ownership", ["hilbert", "grid"])
@pytest.mark.parametrize("options, word", [
    (["--strategy", "process"], "--strategy slots or cover"), (["--strategy", "edge"], "--strategy slots or cover"),
    (["--edges", "disk"], "--edges memory"),
])
def test_what_it_cannot_do(edgewire, made, tmp_path, ownership, options, word):
    path, _ = made("grid")
    for processes in (1, 3):
        line = edgewire.refused("pagerank", path, "-p", processes, "--ownership", ownership, *options, status=2)
        assert word in line and ownership in line


def test_kernels_with_a_frontier_refuse_it(edgewire, made):
    path, _ = made("grid")
    line = edgewire.refused("bfs", path, "-p", 2, "--source", 0, "--ownership", "hilbert", status=2)
    assert "hilbert" in line and "ranges" in line


@pytest.mark.parametrize("ownership", ["hilbert", "grid"])
def test_offsets_that_are_damaged_on_one_host_are_found_there(edgewire, several, hosts, tmp_path, ownership):
    """Blocks of edges follow from the offsets of all vertices, so each process checks all of them, not only those of its rows."""
    good, bad = tmp_path / "good.ew", tmp_path / "bad.ew"
    edgewire.ok("generate", "uniform", "--vertices", 300_000, "--edge-factor", 2, "-o", good)
    whole = bytearray(good.read_bytes())
    whole[4096 + 8 * 1000] ^= 1  # the offset of a vertex of rank 0, two blocks before those of rank 1
    bad.write_bytes(whole)
    options = ["--ownership", ownership, "-w", 1, *hosts(2)]
    results = several([["pagerank", graph, *options, "--rank", rank] for rank, graph in enumerate((good, bad))])
    assert [status for status, _, _ in results] == [1, 1]
    assert any(str(bad) in line and "checksum" in line for line in results[1][1]), results
    assert any("rank 1" in line for line in results[0][1]), results
