"""Several hosts: processes read each row once, send it to its owner, and find what one process finds."""

import pytest

import rights
from frontier import KERNELS, check, make, partition, run
from job import Job, on
from reference import write_graph

needs_hosts = pytest.mark.skipif(bool(rights.no_hosts()), reason=rights.no_hosts())
pytestmark = [needs_hosts, pytest.mark.links]
HOSTS = ["--local-hosts", "--rows", "shares"]  # by default they are read where they are, since the file was written just now
OWNERSHIPS = ["hash", "ranges", "file"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Paths of weighted graphs: one with directions, one whose edges lead both ways."""
    folder = tmp_path_factory.mktemp("graphs")
    graphs = {name: make(name) for name in ("parts", "star both ways")}
    return {name: (write_graph(folder / f"{i}.ew", graph), graph) for i, (name, graph) in enumerate(graphs.items())}


def owners(ownership, folder, graph, processes):
    return ["--ownership", partition(folder, graph, processes) if ownership == "file" else ownership]


@pytest.mark.parametrize("processes", [2, 3])
@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_that_follow_a_frontier(edgewire, made, tmp_path, kernel, processes):
    for name, (path, graph) in made.items():
        source = graph.ids()[0]
        alone, _ = run(edgewire, tmp_path, kernel, path, "-p", 1, "-w", 2, source=source)
        for ownership in OWNERSHIPS:
            found, report = run(edgewire, tmp_path, kernel, path, "-p", processes, "-w", 1 + (processes == 2), *HOSTS,
                                *owners(ownership, tmp_path, graph, processes), source=source)
            check(kernel, found, alone)
            assert report["transport"] == "tcp", name


@pytest.mark.parametrize("kernel, options", [("pagerank", []), ("pagerank", ["--weighted"]), ("ppr", ["--sources", 0]), ("spmv", ["--iterations", 1])],
                         ids=["pagerank", "weighted", "ppr", "spmv"])
@pytest.mark.parametrize("strategy", ["edge", "slots", "cover"])
def test_dense_kernels(edgewire, made, tmp_path, kernel, options, strategy):
    path, graph = made["parts"]
    outputs = []
    for number, where in enumerate([["-p", 1], *(["-p", 2 + i % 2, *HOSTS, "--strategy", strategy,
                                                  *owners(ownership, tmp_path, graph, 2 + i % 2)] for i, ownership in enumerate(OWNERSHIPS))]):
        output = tmp_path / f"{number}.tsv"
        edgewire.ok(kernel, path, *options, *where, "-w", 1, "--precision", "f64", "-o", output)
        outputs.append([(id_, float(value)) for id_, value in (line.split("\t") for line in output.read_text().splitlines())])
    for found in outputs[1:]:
        assert [id_ for id_, _ in found] == [id_ for id_, _ in outputs[0]]
        assert [value for _, value in found] == pytest.approx([value for _, value in outputs[0]], rel=1e-9)


@pytest.mark.parametrize("options", [[], ["--weighted", "--precision", "f64"]], ids=["without weights", "weighted"])
def test_a_plan_that_was_kept(edgewire, made, tmp_path, options):
    path, _ = made["parts"]
    options = [*options, "-p", 2, "-w", 1, *HOSTS, f"--plan-cache={tmp_path}/cache", "--deterministic"]
    first, second = Job(edgewire, tmp_path, path, *options), Job(edgewire, tmp_path, path, *options)
    assert first.report["plan_cache"] == "written" and second.report["plan_cache"] == "used"
    assert first.text == second.text


def test_rows_on_disks(edgewire, made, tmp_path):
    path, graph = made["parts"]
    (tmp_path / "disk").mkdir()
    source = graph.ids()[0]
    alone, _ = run(edgewire, tmp_path, "bfs", path, source=source)
    found, _ = run(edgewire, tmp_path, "bfs", path, "-p", 2, "-w", 1, *HOSTS, *on(tmp_path / "disk"), source=source)
    check("bfs", found, alone)


def test_a_damaged_row_is_named_by_the_process_that_reads_it(edgewire, tmp_path):
    edgewire.ok("generate", "kronecker", "--scale", 16, "-o", tmp_path / "g.ew")
    data = bytearray((tmp_path / "g.ew").read_bytes())
    data[-200_000] ^= 1  # among the last targets, which the last process reads
    (tmp_path / "g.ew").write_bytes(data)
    for kernel in (["pagerank"], ["wcc"]):
        line = edgewire.refused(*kernel, tmp_path / "g.ew", "-p", 2, "-w", 1, *HOSTS)
        assert "is damaged (its checksum differs)" in line and "rank 1" in line, line
