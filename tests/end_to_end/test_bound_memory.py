"""The memory that `bound` predicts for processes, beside what they hold."""

import json

import pytest

from frontier import KERNELS, asked
from processes import most_anonymous_bytes
from units import readable_bytes

SOURCE = 7


def peak(edgewire, *arguments):
    return most_anonymous_bytes(edgewire.start(*arguments))


@pytest.fixture(scope="module")
def large(edgewire, tmp_path_factory):
    """A graph whose rows are larger than the program."""
    folder = tmp_path_factory.mktemp("large")
    edgewire.ok("generate", "kronecker", "--scale", 18, "-o", folder / "directed.ew")
    edgewire.ok("generate", "kronecker", "--scale", 17, "--undirected", "-o", folder / "both ways.ew")
    return folder


@pytest.mark.matrix(1 / 4)
@pytest.mark.parametrize("processes", [2, 3])
@pytest.mark.parametrize("name", ["directed", "both ways"])
@pytest.mark.parametrize("kernel", [kernel if kernel not in ("lcc", "tc") else pytest.param(kernel, marks=pytest.mark.slow) for kernel in KERNELS])
def test_processes_hold_what_was_predicted(edgewire, large, kernel, name, processes):
    path = large / f"{name}.ew"
    source = ["--source", SOURCE] if kernel in ("bfs", "sssp", "bc") else []
    rounds = ["--iterations", 3] if kernel == "cdlp" else []
    (row,) = json.loads(edgewire.ok("bound", path, "--kernel", kernel, *source, *rounds, "-p", processes, "--ownership", "hash", "--json", "-"))["rows"]
    own = {"sssp": ["--unit-weights"], "bc": ["--parallel", "levels"]}.get(kernel, [])
    found = max(peak(edgewire, kernel, path, *asked(kernel, SOURCE), *own, *rounds, "-p", processes, "-w", 1) for _ in range(2))
    assert abs(row["memory_bytes"] - found) <= 0.1 * found + 2.5e6  # tables of which no count tells, and who gathers results


def peak_of_dense(edgewire, path, kernel, ownership, strategy, processes, *options):
    return max(peak(edgewire, kernel, path, "-p", processes, "-w", 1, "--ownership", ownership, "--strategy", strategy,
                    "--iterations", 3, *options) for _ in range(2))


@pytest.mark.matrix(1 / 4)
@pytest.mark.parametrize("processes", [2, 4])
@pytest.mark.parametrize("ownership, strategy", [("hash", "slots"), ("hash", "cover"), ("ranges", "edge"), ("hilbert", "cover"), ("grid", "slots")])
def test_processes_of_a_dense_kernel_hold_what_was_predicted(edgewire, large, ownership, strategy, processes):
    path = large / "directed.ew"
    rows = json.loads(edgewire.ok("bound", path, "-p", processes, "-w", 1, "--ownership", ownership, "--strategy", strategy, "--json", "-"))["rows"]
    predicted = next(row["memory_bytes"] for row in rows if row["encoding"] == "f32")
    found = peak_of_dense(edgewire, path, "pagerank", ownership, strategy, processes)
    print(f"{ownership}, {strategy}, {processes}: {found / 1e6:.1f} MB, predicted {predicted / 1e6:.1f}")
    assert abs(predicted - found) <= 0.1 * found + 2.5e6


def test_weights_and_wide_values_take_more(edgewire, large, tmp_path):
    path = tmp_path / "weights.ew"
    edgewire.ok("generate", "kronecker", "--scale", 18, "--weights", "-o", path)
    (row,) = json.loads(edgewire.ok("bound", path, "--kernel", "spmv", "--precision", "f64", "-p", 2, "-w", 1, "--ownership", "hash",
                                    "--strategy", "slots", "--json", "-"))["rows"]
    found = peak_of_dense(edgewire, path, "spmv", "hash", "slots", 2, "--precision", "f64")
    print(f"{found / 1e6:.1f} MB, predicted {row['memory_bytes'] / 1e6:.1f}")
    assert abs(row["memory_bytes"] - found) <= 0.1 * found + 2.5e6


def test_a_dense_kernel_of_a_graph_that_is_not_there_yet(edgewire):
    asked_for = ["bound", "--kernel", "ppr", "--vertices", "3500M", "--edges", "128G", "-p", "512,1024"]
    rows = json.loads(edgewire.ok(*asked_for, "--json", "-"))["rows"]
    assert 3 * 125_000_000 < rows[1]["memory_bytes"] < rows[0]["memory_bytes"] < 64 * 250_000_000
    assert "ppr with slots, 3500000000 vertices" in edgewire.ok(*asked_for)


def test_a_graph_that_is_not_there_yet(edgewire):
    asked_for = ["bound", "--kernel", "wcc", "--vertices", "3500M", "--edges", "128G", "-p", "512,1024"]
    rows = json.loads(edgewire.ok(*asked_for, "--json", "-"))["rows"]
    assert [row["processes"] for row in rows] == [512, 1024]
    assert rows[1]["edges_each"] == 125_000_000 and 4 * 125_000_000 < rows[1]["memory_bytes"] < rows[0]["memory_bytes"]
    assert f" {readable_bytes(rows[1]['memory_bytes'])}\n" in edgewire.ok(*asked_for)
    both = json.loads(edgewire.ok(*asked_for, "--undirected", "--json", "-"))["rows"]
    assert both[1]["edges_each"] == 250_000_000


@pytest.mark.parametrize("arguments, named", [
    (["--vertices", "1M"], "--edges"), (["--kernel", "wcc", "--vertices", "1M"], "--edges"),
    (["--kernel", "wcc", "--vertices", "1M", "--edges", "1M", "--ownership", "hash"], "--ownership"),
    (["--kernel", "wcc", "--vertices", "5G", "--edges", "1M"], "vertices: "), (["--kernel", "wcc", "--vertices", "x", "--edges", "1M"], "--vertices")])
def test_what_is_refused(edgewire, arguments, named):
    assert named in edgewire.refused("bound", *arguments, status=2)
