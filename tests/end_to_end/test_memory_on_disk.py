"""Edges on disks keep to --memory: runs go well in a control group that allows a process 64 MiB more, and results are those of
edges in memory."""

import json
import os

import pytest

from control_groups import memory_group
from frontier import asked

SCALE, SLACK = 19, 64 << 20
# By kernel: about what its vertices take, and a little more.
MEMORY = {"pagerank": 18 << 20, "bfs": 15 << 20, "wcc": 15 << 20, "sssp": 21 << 20}


@pytest.fixture(scope="module")
def large(edgewire, tmp_path_factory):
    """A graph whose rows alone take more than --memory below."""
    path = tmp_path_factory.mktemp("large") / "g.ew"
    edgewire.ok("generate", "kronecker", "--scale", SCALE, "--undirected", "-o", path)
    assert path.stat().st_size > 3 * max(MEMORY.values())
    return path


def leave_page_cache(path):
    """So that pages of the file count in the group that reads them."""
    with path.open("rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


@pytest.mark.parametrize("kernel, options", [
    ("pagerank", ["--iterations", 3, "--layout", "given", "--deterministic"]), ("bfs", asked("bfs", 7)), ("wcc", []),
    ("sssp", [*asked("sssp", 7), "--unit-weights"])], ids=["pagerank", "bfs", "wcc", "sssp"])
def test_a_process_keeps_to_its_memory(edgewire, large, tmp_path, kernel, options):
    report = tmp_path / "report.json"
    run = (kernel, large, *options, "-p", 1, "-w", 2, "--json", report)
    edgewire.ok(*run)
    checksum = json.loads(report.read_text())["checksum"]
    with memory_group(MEMORY[kernel] + SLACK) as enter:
        for _ in ("files are written", "files are found"):
            leave_page_cache(large)
            edgewire.ok(*run, "--edges", "disk", "--devices", tmp_path, *([f"--plan-cache={tmp_path}"] if kernel == "pagerank" else []),
                        "--memory", MEMORY[kernel], preexec_fn=enter)
            found = json.loads(report.read_text())
            assert found["checksum"] == checksum and found["disk"]["bytes_read"] > 0


def test_rows_are_read_in_order_where_memory_does_not_hold_them(edgewire, large, tmp_path):
    report = tmp_path / "report.json"
    run = ("pagerank", large, "--iterations", 1, "--edges", "disk", f"--plan-cache={tmp_path}", "-p", 2, "-w", 1, "--json", report)
    for memory, layout in (("12M", "given"), ("1G", "degree")):
        edgewire.ok(*run, "--memory", memory)
        found = json.loads(report.read_text())
        assert found["layout"] == layout and ("--memory did not hold the graph" in found["layout_reason"]) == (layout == "given")
        for file in tmp_path.glob("g.ew.*"):
            file.unlink()


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("kernel, needed", [("pagerank", 32), ("bfs", 28), ("wcc", 28), ("sssp", 40), ("bc", 64)])
def test_memory_that_does_not_suffice_for_vertices(edgewire, tmp_path, kernel, needed, processes):
    path = tmp_path / "g.ew"
    edgewire.ok("generate", "kronecker", "--scale", 17, "--edge-factor", 1, "-o", path)
    vertices = (1 << 17) // processes
    line = edgewire.refused(kernel, path, *([] if kernel == "pagerank" else asked(kernel, 0)), *(["--unit-weights"] if kernel == "sssp" else []), "--edges", "disk",
                            "-p", processes, "-w", 1, "--memory", "1M")
    assert (f"--memory 1M does not suffice: a process needs at least {-(-needed * vertices >> 20)}M for its {vertices} vertices; "
            "give at least that, or more processes") in line
    assert [file.name for file in tmp_path.iterdir()] == ["g.ew"]
