"""Results that every process writes for itself."""

import os
import signal

import numpy as np
import pytest

import graphs
import reference
from job import check_parts, parts_of
from processes import PATIENCE_S, children, wait_for


@pytest.fixture
def path(tmp_path):
    return reference.write_graph(tmp_path / "g.ew", graphs.make("self loops"))


@pytest.mark.sanitize
@pytest.mark.parametrize("processes, transport", [(1, "auto"), (2, "shm"), (4, "tcp")])
@pytest.mark.parametrize("layout, ownership", [("degree", "hash"), ("given", "ranges")])
def test_parts_are_the_whole(edgewire, path, tmp_path, processes, transport, layout, ownership):
    options = ["pagerank", path, "-p", processes, "-w", 1, "--transport", transport, "--layout", layout, "--ownership", ownership,
               "--deterministic", "--verify"]
    edgewire.ok(*options, "-o", tmp_path / "one.tsv")
    for _ in range(2):  # the second run replaces what the first one has left
        edgewire.ok(*options, "-o", tmp_path / "ranks.tsv", "--output-parts")
        assert sorted(tmp_path.glob("ranks.tsv*")) == parts_of(tmp_path / "ranks.tsv", processes)
        check_parts(parts_of(tmp_path / "ranks.tsv", processes), (tmp_path / "one.tsv").read_text())


FRONTIER_KERNELS = [
    ["bfs", "--source", 1], ["bfs", "--source", 1, "--parents", "--deterministic"], ["sssp", "--source", 1, "--unit-weights"],
    ["sssp", "--source", 1, "--unit-weights", "--parents"], ["bc"], ["bc", "--deterministic"], ["wcc"], ["scc"], ["cdlp"], ["lcc"], ["tc"],
]


@pytest.mark.parametrize("kernel", FRONTIER_KERNELS, ids=lambda kernel: " ".join(map(str, kernel)))
def test_kernels_that_follow_a_frontier_write_parts(edgewire, path, tmp_path, kernel):
    """Also where only one process has the values: it sends them to those that own the vertices."""
    options = [kernel[0], path, *kernel[1:], "-p", 3, "-w", 1]
    edgewire.ok(*options, "-o", tmp_path / "one.tsv")
    edgewire.ok(*options, "-o", tmp_path / "all.tsv", "--output-parts", "--verify")
    check_parts(parts_of(tmp_path / "all.tsv", 3), (tmp_path / "one.tsv").read_text())
    assert all(part.read_text() for part in parts_of(tmp_path / "all.tsv", 3))


@pytest.mark.parametrize("parallel", ["levels", "sources"])
def test_each_run_writes_its_parts(edgewire, path, tmp_path, parallel):
    options = ["bfs", path, "--sources", "1,2", "--parallel", parallel, "-p", 2, "-w", 1]
    edgewire.ok(*options, "-o", tmp_path / "one-{}.tsv")
    edgewire.ok(*options, "-o", tmp_path / "all-{}.tsv", "--output-parts")
    for source in (1, 2):
        check_parts(parts_of(tmp_path / f"all-{source}.tsv", 2), (tmp_path / f"one-{source}.tsv").read_text())


def test_parts_of_runs_write_over_nothing(edgewire, path, tmp_path):
    """Neither over what the command reads, nor over another output."""
    graph, sources = tmp_path / "y1.g.0000-of-0001", tmp_path / "s1.0000-of-0001"
    graph.write_bytes(path.read_bytes())
    sources.write_text("1\n2\n")
    before = graph.read_bytes()
    several = ["--sources", "1,2", "-p", 1, "-w", 1, "--output-parts"]
    edgewire.refused("bfs", graph, *several, "-o", tmp_path / "y{}.g")
    edgewire.refused("bfs", path, "--sources", f"@{sources}", *several[2:], "-o", tmp_path / "s{}")
    edgewire.refused("bfs", path, *several, "-o", tmp_path / "j{}", "--json", tmp_path / "j1.0000-of-0001")
    assert (graph.read_bytes(), sources.read_text()) == (before, "1\n2\n")
    assert sorted(tmp_path.iterdir()) == sorted([graph, sources, path])


def test_a_source_does_not_name_stdout(edgewire, tmp_path):
    (tmp_path / "g.txt").write_text("- a\na b\n")
    edgewire.ok("convert", tmp_path / "g.txt", "--labels", "-o", tmp_path / "g.ew")
    line = edgewire.refused("bfs", tmp_path / "g.ew", "--sources", "-,a", "-w", 1, "-o", "{}")
    assert "the source - would write to stdout" in line


def test_one_part_that_cannot_be_written(edgewire, path, tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    parts = parts_of(folder / "ranks.tsv", 2)
    parts[1].mkdir()
    line = edgewire.refused("pagerank", path, "-p", 2, "-w", 1, "-o", folder / "ranks.tsv", "--output-parts")
    assert str(parts[1]) in line
    assert list(folder.iterdir()) == [parts[1]]


def test_one_line_says_that_no_part_can_be_written(edgewire, path, tmp_path):
    output = tmp_path / "no folder" / "ranks.tsv"
    for _ in range(5):  # whoever comes first
        result = edgewire("pagerank", path, "-p", 3, "-w", 1, "-o", output, "--output-parts")
        lines = [line for line in result.stderr.splitlines() if "warning" not in line]
        assert result.returncode == 1 and len(lines) == 1, lines
        assert lines[0].endswith(f"{parts_of(output, 3)[0]}: cannot write: No such file or directory")


def test_no_part_of_a_run_that_fails(edgewire, path, tmp_path):
    """Neither new parts, nor any harm to those of the run before."""
    options = ["pagerank", path, "-p", 3, "-w", 1, "-o", tmp_path / "ranks.tsv", "--output-parts"]
    edgewire.ok(*options)
    before = [part.read_bytes() for part in parts_of(tmp_path / "ranks.tsv", 3)]
    started = edgewire.start(*options, "--iterations", 1000000)
    pids = wait_for(lambda: len(found := children(started.pid)) == 3 and found, "the processes")
    os.kill(pids[1], signal.SIGKILL)
    started.communicate(timeout=PATIENCE_S)
    assert started.returncode == 1
    assert [part.read_bytes() for part in parts_of(tmp_path / "ranks.tsv", 3)] == before


@pytest.mark.parametrize("output", [[], ["-o", "-"]])
def test_parts_need_a_name(edgewire, path, output):
    assert "-o" in edgewire.refused("pagerank", path, "--output-parts", *output, status=2)
