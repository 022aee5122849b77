"""Kernels that follow a frontier with their edges on disks: the same results, few bytes, and one line for every damage."""

import json
import re
import resource

import numpy as np
import pytest

import frontier
import graphs
import reference
from job import check_schema, on

KERNELS = ["bfs", "sssp", "wcc", "bc"]
GRAPHS = ["kronecker", "kronecker both ways", "grid"]


def files(folder):
    return sorted(folder.glob("g.ew.*rows-*-disk-*"))


@pytest.mark.sanitize
@pytest.mark.matrix(1 / 3)
@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("kernel", KERNELS)
def test_results_are_right_however_the_job_is_cut(edgewire, made_graph, tmp_path, devices, kernel, name):
    path, graph = made_graph(name)
    source = int(graph.sources[len(graph.sources) // 2])
    known = frontier.expected(kernel, graph, source)
    one = ["-p", 1, "-w", 1]  # rows are written, then found
    three = ["-p", 3, "-w", 2]  # and what is known of other processes' vertices with them
    written = []
    for options in (one, one, ["-p", 1, "-w", 3, "--memory", "1M"], three, three, ["-p", 2, "-w", 1, "--transport", "tcp"],
                    ["-p", 2, "-w", 2, "--ownership", "ranges"]):
        found, report = frontier.run(edgewire, tmp_path, kernel, path, *options, *on(*devices), source=source)
        frontier.check(kernel, found, known)
        check_schema(report, "run_report")
        disk = report["disk"]
        written.append(disk["edges"] == "written")
        assert (disk["bytes_written"] > disk["stored_bytes"]) == written[-1] and disk["edges"] in ("written", "found")
        assert disk["devices"] == 2 and disk["bytes_read"] > 0 and disk["limit_bytes_per_second"] > 0
        assert disk["stored_bytes"] == sum(file.stat().st_size - 4096 for folder in devices for file in files(folder)
                                           if f"-of-{report['processes']}-" in file.name)
        for file in (files(devices[0]) + files(devices[1])):
            assert ("weighted-rows" in file.name) == (kernel == "sssp")
    assert written == [True, False, False, True, False, True, True]


@pytest.mark.parametrize("ways", ["one way", "both ways"])
@pytest.mark.parametrize("kernel, most", [("bfs", 1.5), ("wcc", 1.2)])
def test_edges_are_read_hardly_more_than_once(edgewire, tmp_path, kernel, most, ways):
    path, report = tmp_path / "g.ew", tmp_path / "report.json"
    edgewire.ok("generate", "kronecker", "--scale", 17, *(["--undirected"] if ways == "both ways" else []), "-o", path)
    graph = reference.read_graph(path)
    hub = np.bincount(graph.sources).argmax()
    vertices, quarter = 28 << 17, graph.targets.size // 2  # in bytes; rows take about two bytes an edge
    for memory in ([], ["--memory", f"{(vertices + quarter) >> 10}K"]):
        edgewire.ok(kernel, path, *frontier.asked(kernel, hub), "--edges", "disk", "-w", 2, *memory, "--verify", "--json", report)
        disk = json.loads(report.read_text())["disk"]
        assert disk["stored_bytes"] < 2.4 * graph.targets.size
        assert 0.2 * disk["stored_bytes"] < disk["bytes_read"] < most * disk["stored_bytes"]


def test_devices_share_what_is_stored(edgewire, made_graph, devices):
    path, _ = made_graph("kronecker both ways")
    edgewire.ok("bfs", path, "--source", 0, *on(*devices))
    sizes = [sum(file.stat().st_size for file in files(folder)) for folder in devices]
    assert abs(sizes[0] - sizes[1]) <= 64 << 10 and min(sizes) > 0


@pytest.mark.matrix(1 / 3)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", ["one vertex", "no edges", "star out", "dangling", "path"])
def test_graphs_of_odd_shapes(edgewire, tmp_path, kernel, name):
    graph = graphs.make(name)
    path = reference.write_graph(tmp_path / "g.ew", frontier.weighted(graph) if kernel == "sssp" else graph)
    outputs = set()
    for more in ([], ["--edges", "disk"]):
        edgewire.ok(kernel, path, *frontier.asked(kernel, 0), "-p", 1, "-w", 1, *more, "--verify", "-o", tmp_path / "values.tsv")
        outputs.add((tmp_path / "values.tsv").read_text())
    assert len(outputs) == 1


@pytest.mark.matrix(1 / 2)
@pytest.mark.sanitize
@pytest.mark.parametrize("processes", [1, 3])
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_changed_byte_ends_the_run(edgewire, made_graph, tmp_path, devices, kernel, processes):
    path, graph = made_graph("kronecker both ways")
    options = [*frontier.asked(kernel, int(graph.sources[0])), "-p", processes, "-w", 2, *on(*devices)]
    edgewire.ok(kernel, path, *options)
    damaged = [file for file in files(devices[0]) if f"rows-{processes - 1}-of" in file.name][0]
    content = bytearray(damaged.read_bytes())
    for page in range(4096, len(content), 4096):
        content[page + 5] ^= 1
    damaged.write_bytes(content)
    output = tmp_path / "none.tsv"
    result = edgewire(kernel, path, "-o", output, *options)
    assert result.returncode == 1
    assert f"{damaged}: byte " in result.stderr and "the file is damaged here (a checksum differs)" in result.stderr
    assert not output.exists() and not result.stdout
    damaged.unlink()  # as the message says
    edgewire.ok(kernel, path, *options, "--verify")


def test_rows_of_another_graph_are_not_used(edgewire, tmp_path):
    path = tmp_path / "g.ew"
    for seed in (1, 2):
        edgewire.ok("generate", "kronecker", "--scale", 10, "--seed", seed, "-o", path)
        edgewire.ok("bfs", path, "--source", 1, "--edges", "disk", "--verify")


def test_a_disk_that_fills_while_rows_are_written(edgewire, tmp_path):
    path = tmp_path / "g.ew"
    edgewire.ok("generate", "kronecker", "--scale", 14, "-o", path)
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
    error = edgewire.refused("wcc", path, "--edges", "disk", preexec_fn=limit)
    assert re.search(r"g\.ew\.rows-0-of-1-disk-0: byte \d+: cannot write: File too large", error)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["g.ew"]


def test_options_that_do_not_go_together(edgewire, made_graph, tmp_path):
    path, _ = made_graph("kronecker")
    for kernel, options, why in (("bfs", ["--source", 0, "--devices", tmp_path], "--devices needs --edges disk or auto"),
                                 ("bc", ["--samples", 3, "--edges", "disk", "--deterministic"], "--edges"),
                                 ("bc", ["--samples", 3, "--edges", "disk", "--parallel", "sources"], "--edges"),
                                 ("cdlp", ["--edges", "disk"], "--edges"), ("scc", ["--edges", "disk"], "--edges")):
        result = edgewire(kernel, path, *options)
        assert result.returncode != 0 and why in result.stderr


def test_negative_weights_are_refused(edgewire, tmp_path):
    (tmp_path / "g.wel").write_text("0 1 1\n1 2 -3\n")
    edgewire.ok("convert", tmp_path / "g.wel", "-o", tmp_path / "g.ew")
    assert "weight -3" in edgewire.refused("sssp", tmp_path / "g.ew", "--source", 0, "--edges", "disk")
