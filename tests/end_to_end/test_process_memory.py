"""What a process holds: its part of the graph and what it exchanges, but nothing that grows with the graph."""

import json

import numpy as np
import pytest

from frontier import KERNELS, asked
from processes import most_anonymous_bytes

OWN, FOR_EACH_PEER = 10_000_000, 64 << 10  # bytes that a process may hold, whatever the graph is
KEPT = 64  # bytes for each boundary vertex, as many as strategy `slots` sends: while a cover is made its row takes most of them
BATCHES = {"lcc": 4 << 20, "tc": 4 << 20}  # rows of other processes that are there at a time, and own ones on their way
OWNED = {"wcc": 16}  # bytes for each owned vertex that one process alone does not need: where its row begins, and how many have it as label
LEEWAY = 1.2  # of the part of what one process takes, since parts are not equal
VALUE_BYTES = {"edge": 8}  # of a value on the wire, with its id; others have 4
EVERY_WAY = [("hash", strategy) for strategy in ("edge", "slots", "cover")] + [
    (ownership, strategy) for ownership in ("ranges", "FILE", "hilbert", "grid") for strategy in ("slots", "cover")]


@pytest.fixture(scope="module")
def kronecker(edgewire, tmp_path_factory):
    """kronecker(scale): the path of the graph. `options`: of generate."""
    folder = tmp_path_factory.mktemp("kronecker")

    def make(scale, *options):
        path = folder / "".join(options) / f"{scale}.ew"
        if not path.exists():
            path.parent.mkdir(exist_ok=True)
            edgewire.ok("generate", "kronecker", "--scale", scale, "--edge-factor", 16, *options, "-o", path)
        return path

    return make


class Measured:
    """The most anonymous memory of one process of a job, and how many values a process sends in an iteration."""

    def __init__(self, edgewire, folder, path, processes, ownership, strategy):
        if ownership == "FILE":
            ownership = folder / f"parts-{processes}"
            parts = np.random.default_rng(processes).permutation(np.arange(1 << int(path.stem)) % processes)
            ownership.write_text("\n".join(map(str, parts)) + "\n")
        report = folder / "report.json"
        job = edgewire.start("pagerank", path, "-p", processes, "-w", 1, "--ownership", ownership, "--strategy", strategy,
                             "--iterations", 3, "--json", report)
        self.bytes = most_anonymous_bytes(job)
        payload = json.loads(report.read_text())["bound"]["payload_bytes"]
        self.values = payload / VALUE_BYTES.get(strategy, 4) / processes


def check_part(found, alone, processes, boundary, more=0):
    """`found`, `alone`: bytes of the largest of so many processes, and of one that has all."""
    limit = more + LEEWAY * alone / processes + KEPT * boundary + OWN + FOR_EACH_PEER * processes
    print(f"{processes} processes: {found / 1e6:.1f} MB of {limit / 1e6:.1f} MB")
    assert found <= limit


def check(edgewire, folder, path, processes, ownership, strategy):
    alone = Measured(edgewire, folder, path, 1, ownership, strategy)
    assert alone.bytes > 0
    for count in processes:
        found = Measured(edgewire, folder, path, count, ownership, strategy)
        boundary = found if strategy != "cover" else Measured(edgewire, folder, path, count, ownership, "slots")
        check_part(found.bytes, alone.bytes, count, boundary.values)


@pytest.mark.parametrize("ownership, strategy", [("hash", "cover"), ("FILE", "slots")])
def test_a_process_holds_its_part(edgewire, tmp_path, kronecker, ownership, strategy):
    check(edgewire, tmp_path, kronecker(16), [4], ownership, strategy)


@pytest.mark.slow
@pytest.mark.parametrize("ownership, strategy", EVERY_WAY)
def test_a_process_of_many_holds_its_part(edgewire, tmp_path, kronecker, ownership, strategy):
    check(edgewire, tmp_path, kronecker(20), [2, 4, 8, 16, 32], ownership, strategy)


def check_frontier(edgewire, path, kernel, processes):
    """One process follows rows in the mapped file; one of several has its own in memory, 4 bytes for each edge."""
    def found(count):
        options = {"sssp": ["--unit-weights"], "bc": ["--parallel", "levels"], "cdlp": ["--iterations", 3]}.get(kernel, [])
        return most_anonymous_bytes(edgewire.start(kernel, path, *asked(kernel, 1), *options, "-p", count, "-w", 1))

    graph = json.loads(edgewire.ok("info", path, "--json", "-"))
    alone = found(1) + 4 * graph["edges"]
    for count in processes:
        rows = json.loads(edgewire.ok("bound", path, "-p", count, "-w", 1, "--ownership", "hash", "--strategy", "slots", "--json", "-"))["rows"]
        boundary = rows[0]["values_sent_mean"]
        check_part(found(count), alone, count, boundary, BATCHES.get(kernel, 0) + OWNED.get(kernel, 0) * graph["vertices"] / count)


def test_a_process_of_a_frontier_kernel_holds_its_part(edgewire, kronecker):
    check_frontier(edgewire, kronecker(16, "--undirected"), "wcc", [4])


@pytest.mark.slow
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_process_of_many_of_a_frontier_kernel_holds_its_part(edgewire, kronecker, kernel):
    check_frontier(edgewire, kronecker(18, "--undirected"), kernel, [2, 4, 8, 16, 32])


@pytest.mark.parametrize("processes", [1, 2])
def test_the_peak_is_not_that_of_the_program_that_starts_a_run(edgewire, kronecker, tmp_path, processes):
    held = np.ones(500 << 17)  # 500 MiB that the processes of the run have until they become the program
    edgewire.ok("pagerank", kronecker(10), "-p", processes, "-w", 1, "--json", tmp_path / "report.json")
    assert 100_000 < json.loads((tmp_path / "report.json").read_text())["peak_rss_bytes"] < held.nbytes / 4


@pytest.fixture(scope="module")
def sparse(edgewire, tmp_path_factory):
    """16.8 M vertices with hardly any edges: a table of all of them takes far more than a process may hold, even with a byte for each."""
    folder = tmp_path_factory.mktemp("sparse")
    vertices = 1 << 24
    ends = np.random.default_rng(1).integers(0, vertices, (100_000, 2), dtype=np.uint32)
    ends[0] = vertices - 2, vertices - 1
    np.concatenate([ends, ends[:, ::-1]]).tofile(folder / "edges.u32")
    edgewire.ok("convert", folder / "edges.u32", "--format", "u32pairs", "--keep-ids", "-o", folder / "sparse.ew")
    return folder / "sparse.ew"


def test_no_process_keeps_a_table_of_all_vertices(edgewire, sparse):
    check_frontier(edgewire, sparse, "bfs", [32])


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [kernel for kernel in KERNELS if kernel != "bfs"])
def test_no_process_of_a_frontier_kernel_keeps_a_table_of_all_vertices(edgewire, sparse, kernel):
    check_frontier(edgewire, sparse, kernel, [32])


@pytest.mark.slow
@pytest.mark.parametrize("ownership, strategy", [("hash", "slots"), ("hash", "cover"), ("ranges", "edge")])
def test_no_process_of_a_dense_kernel_keeps_a_table_of_all_vertices(edgewire, tmp_path, sparse, ownership, strategy):
    alone = Measured(edgewire, tmp_path, sparse, 1, ownership, strategy)
    found = Measured(edgewire, tmp_path, sparse, 32, ownership, strategy)
    check_part(found.bytes, alone.bytes, 32, found.values)
