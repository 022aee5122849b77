"""Kernels on files in other formats: the same result as on the graph file that convert makes of them."""

import gzip
import json
import os
import signal
import subprocess

import pytest

import graphs
from disks import small_disk
from job import check_schema
from processes import LIMIT_S, PATIENCE_S, has_file_in, wait_for

KERNELS = [["pagerank", "--iterations", 5], ["pagerank", "--iterations", 5, "--direction", "in"], ["ppr", "--sources", 3, "--iterations", 5],
           ["spmv"], ["bfs", "--source", 3], ["sssp", "--source", 3], ["wcc"], ["scc"], ["bc", "--sources", 3], ["cdlp"], ["lcc"], ["tc"]]


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
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: "-".join(str(word).strip("-") for word in kernel))
@pytest.mark.parametrize("processes", [1, 2])
def test_results_are_those_of_the_converted_graph(edgewire, tmp_path, text, folder, kernel, processes):
    edgewire.ok("convert", text, "-o", tmp_path / "g.ew")
    packed = tmp_path / "edges.dat.gz"
    packed.write_bytes(gzip.compress(text.read_bytes()))
    name, *options = kernel
    if name in ("pagerank", "ppr", "spmv", "bc"):
        options.append("--deterministic")  # else a busy link would choose another plan
    found = []
    for graph in (tmp_path / "g.ew", text, packed):
        edgewire.ok(name, graph, *options, "-p", processes, "-w", 1, "-o", tmp_path / "out", "--json", tmp_path / "report.json")
        found.append((tmp_path / "out").read_bytes())
        report = json.loads((tmp_path / "report.json").read_text())
        check_schema(report, "run_report")
        assert report["graph"] == str(graph) and ("seconds_convert" in report) == (graph.suffix != ".ew")
    assert found[0] == found[1] == found[2] and found[0]
    assert list(folder.iterdir()) == []


def test_a_run_says_that_it_has_converted_its_input(edgewire, text, folder):
    done = edgewire("bound", text, "-p", 2)
    assert done.returncode == 0
    [line] = done.stderr.splitlines()
    assert line.startswith(f"edgewire: {text}: converted for this run in ") and "900 edges; third column taken as weight;" in line


def test_ids_with_wide_gaps_are_those_of_the_file(edgewire, tmp_path, folder):
    (tmp_path / "far.el").write_text("4000000000 7\n7 5\n5 4000000000\n")
    edgewire.ok("bfs", tmp_path / "far.el", "--source", 4000000000, "-o", tmp_path / "levels")
    assert (tmp_path / "levels").read_text() == "5\t2\n7\t1\n4000000000\t0\n"


def test_profiles(edgewire, tmp_path, text, folder):
    assert "\nlimit: " in edgewire.ok("profile", "--", "pagerank", text, "--iterations", 3)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_of_what_was_converted(edgewire, folder, number):
    """Ends it while it reads its input, and while it runs."""
    with edgewire.start("wcc", "-", stdin=subprocess.PIPE) as waiting:
        waiting.stdin.write("0 1\n" * 100_000)
        waiting.stdin.flush()
        wait_for(lambda: has_file_in(waiting.pid, folder), "the file without a name")
        assert list(folder.iterdir()) == []
        os.kill(waiting.pid, number)
        assert waiting.wait(timeout=PATIENCE_S) in (-number, 128 + number)
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("kernel", [["pagerank", "--iterations", 5, "--edges", "disk"], ["wcc"]], ids=lambda kernel: kernel[0])
def test_memory_holds_for_the_conversion(edgewire, tmp_path, text, folder, kernel):
    """What does not fit is sorted on disk, as `convert --memory` does; so a memory that is too small for that is refused."""
    edgewire.ok("convert", text, "-o", tmp_path / "g.ew")
    for processes in (1, 2):
        for graph, output in ((tmp_path / "g.ew", "known"), (text, "found")):
            edgewire.ok(kernel[0], graph, *kernel[1:], "-p", processes, "-w", 1, "--memory", "400M", "--deterministic", "-o", tmp_path / output)
        assert (tmp_path / "found").read_bytes() == (tmp_path / "known").read_bytes()
    line = edgewire.refused(*kernel[:1], text, *kernel[1:], "--memory", "30M")
    assert line.startswith("--memory: a process of ") and line.endswith("(options of `edgewire convert`)")
    assert list(folder.iterdir()) == []


def test_a_launcher_gives_stdin_to_one_process_only(edgewire, folder):
    line = edgewire.refused("wcc", "-", status=2, env={**os.environ, "OMPI_COMM_WORLD_SIZE": "2", "OMPI_COMM_WORLD_RANK": "0"})
    assert line == "-: under mpirun only one process gets stdin: convert it before (edgewire convert - -o g.ew)"


def test_standard_input(edgewire, text, folder):
    command = f"'{edgewire.program}' wcc - -p 2 -w 1 -v < '{text}'"
    piped = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True, timeout=LIMIT_S)
    assert piped.stdout.splitlines()[-1] == edgewire.ok("wcc", text, "-p", 2, "-w", 1, "-v").splitlines()[-1]
    assert list(folder.iterdir()) == []


def test_what_no_kernel_reads(edgewire, tmp_path, folder):
    for name, content, words in (("table.csv", "who,whom\na,b\n", "--labels --columns who,whom takes them for columns"), ("empty", "", "the file is empty"),
                                 ("damaged.ew", "0 1\n", "not an Edgewire graph"), ("bad.txt", "0 1\n0 x\n", "line 2"),
                                 ("unknown", "\x01\x02\x03", "unknown")):
        (tmp_path / name).write_text(content)
        for processes in (1, 2):
            assert words in edgewire.refused("pagerank", tmp_path / name, "-p", processes)
    assert list(folder.iterdir()) == []


def test_no_room_for_what_is_converted(edgewire, tmp_path, text, folder):
    with small_disk(folder, "4k"):
        line = edgewire.refused("bfs", text, "--source", 3)
        assert line.startswith(f"{folder}/") and "No space left on device" in line
        assert list(folder.iterdir()) == []
