"""Kernels on files in other formats: the same result as on the graph file that convert makes of them."""

import gzip
import subprocess

import pytest

import graphs
from processes import PATIENCE_S

KERNELS = [["pagerank", "--iterations", 5], ["bfs", "--source", 3], ["sssp", "--source", 3], ["wcc"]]


@pytest.fixture
def text(tmp_path):
    """A weighted edge list whose ids have gaps."""
    path = tmp_path / "edges.txt"
    sources, targets = graphs.random_edges(200, 900, 7)
    sources[0] = 1  # id 3
    path.write_text("".join(f"{3 * u} {3 * v} {1 + (u + v) % 5}\n" for u, v in zip(sources, targets)))
    return path


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where files without names go."""
    path = tmp_path / "tmp"
    path.mkdir()
    monkeypatch.setenv("TMPDIR", str(path))
    return path


@pytest.mark.sanitize
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel[0])
@pytest.mark.parametrize("processes", [1, 2])
def test_results_are_those_of_the_converted_graph(edgewire, tmp_path, text, folder, kernel, processes):
    edgewire.ok("convert", text, "-o", tmp_path / "g.ew")
    packed = tmp_path / "edges.dat.gz"
    packed.write_bytes(gzip.compress(text.read_bytes()))
    name, *options = kernel
    found = []
    for graph in (tmp_path / "g.ew", text, packed if name == "bfs" else text):
        edgewire.ok(name, graph, *options, "-p", processes, "-w", 1, "-o", tmp_path / "out")
        found.append((tmp_path / "out").read_bytes())
    assert found[0] == found[1] == found[2] and found[0]
    assert list(folder.iterdir()) == []


def test_a_run_says_that_it_has_converted_its_input(edgewire, text, folder):
    done = edgewire("bound", text, "-p", 2)
    assert done.returncode == 0
    [line] = done.stderr.splitlines()
    assert line.startswith(f"edgewire: {text}: converted for this run in ") and "900 edges; third column taken as weight;" in line


def test_standard_input(edgewire, text, folder):
    command = f"'{edgewire.program}' wcc - -p 2 -w 1 < '{text}'"
    piped = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True, timeout=PATIENCE_S)
    assert piped.stdout.splitlines()[-1] == edgewire.ok("wcc", text, "-p", 2, "-w", 1).splitlines()[-1]
    assert list(folder.iterdir()) == []


def test_what_no_kernel_reads(edgewire, tmp_path, folder):
    for name, content, words in (("table.csv", "who,whom\na,b\n", "(options of `edgewire convert`)"), ("empty", "", "the file is empty"),
                                 ("damaged.ew", "0 1\n", "not an Edgewire graph"), ("bad.txt", "0 1\n0 x\n", "line 2")):
        (tmp_path / name).write_text(content)
        for processes in (1, 2):
            assert words in edgewire.refused("pagerank", tmp_path / name, "-p", processes)
    assert list(folder.iterdir()) == []


def test_no_room_for_what_is_converted(edgewire, tmp_path, text, folder):
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k", "none", folder], capture_output=True).returncode != 0:
        pytest.skip("mounting is not allowed here")
    try:
        line = edgewire.refused("bfs", text, "--source", 3)
        assert line.startswith(f"{folder}/") and "No space left on device" in line
        assert list(folder.iterdir()) == []
    finally:
        subprocess.run(["umount", folder], check=True)
