"""Comparisons of other kernels than PageRank: what their rows say, and which options they take."""

import csv
import json
import os
import re
import xml.etree.ElementTree as ET

import pytest

from every_command import KERNELS
from job import check_schema
from processes import PATIENCE_S
from test_compare import apart, edgewire, needs_hosts, nothing_remains, run_both_ranks  # noqa: F401, fixtures

DENSE = ["pagerank", "ppr", "spmv"]
SOURCE = 5
OWN = {"ppr": ["--source", SOURCE], "bfs": ["--source", SOURCE], "sssp": ["--source", SOURCE, "--unit-weights"],
       "bc": ["--source", SOURCE]}


@pytest.fixture(scope="module")
def graph(edgewire, tmp_path_factory):
    path = tmp_path_factory.mktemp("kernels") / "k9.ew"
    edgewire.ok("generate", "kronecker", "--scale", 9, "-o", path)
    return path


def sent_alone(edgewire, graph, kernel, *options):
    """The records of a run that no comparison makes."""
    report = json.loads(edgewire.ok(kernel, graph, *options, "-p", 2, "-w", 1, "--transport", "shm", "--json", "-"))
    return sum(step["record_bytes"] for step in report["supersteps"])


@needs_hosts
def test_a_frontier_kernel_over_two_links(edgewire, graph, tmp_path, nothing_remains):
    done = edgewire("compare", graph, "--kernel", "bfs", "-p", 2, "--rate", "10M,1G", "--ownership", "hash,ranges", "--repeat", 2,
                    "--json", tmp_path / "rows.json", "--csv", tmp_path / "rows.csv", "-o", tmp_path / "page.html", "--",
                    "--source", SOURCE, "--top", 3)
    assert done.returncode == 0, done.stderr
    assert len(done.stderr.splitlines()) == 2 * 5
    assert done.stdout.startswith(f"bfs --source {SOURCE} --top 3, {graph}: 512 vertices")
    found = json.loads((tmp_path / "rows.json").read_text())
    check_schema(found, "compare_report")
    assert found["kernel"] == "bfs" and found["kernel_options"] == ["--source", str(SOURCE), "--top", "3"]
    rows = found["rows"]
    assert [(row["processes"], row["strategy"], row["ownership"], row["rate"]) for row in rows] == [
        (1, "none", "none", "none"), *((2, "records", owners, rate) for owners in ("hash", "ranges") for rate in ("10M", "1G"))]
    for row in rows:
        assert row["runs"] == 2 and 0 < row["seconds_kernel_min"] <= row["seconds_kernel"] <= row["seconds_kernel_max"]
        assert not {"seconds_per_iteration", "predicted_seconds"} & row.keys()
    counts = json.loads(edgewire.ok("bound", graph, "--kernel", "bfs", "--source", SOURCE, "-p", 2, "--rate", "10M,1G", "--json", "-"))
    for count, (slow, fast) in zip(counts["rows"], (rows[1:3], rows[3:5]), strict=True):
        assert slow["ownership"] == count["ownership"]
        for row in (slow, fast):
            assert row["record_bytes"] == row["bound_record_bytes"] == count["record_bytes"] == sent_alone(
                edgewire, graph, "bfs", "--source", SOURCE, "--ownership", row["ownership"]) > 0
            assert row["payload_bytes"] >= row["record_bytes"] and row["exactness"] == "exact"
            assert row["bound_seconds"] == pytest.approx(count["seconds_at"][row["rate"]])
    for headline in found["headlines"]:
        assert "2015" not in headline and headline in done.stdout
    table = list(csv.DictReader((tmp_path / "rows.csv").read_text().splitlines()))
    assert [int(line["record_bytes"]) for line in table] == [row["record_bytes"] for row in rows]
    text = (tmp_path / "page.html").read_text()
    page = ET.fromstring(text)
    assert page.findtext("head/title") == f"bfs --source {SOURCE} --top 3: 10M against 1G"
    assert len(page.findall(".//svg")) == 2 and len(page.findall(".//tbody/tr")) == 5
    assert not re.search(r"https?:|<script|nan|\binf\b", text)


@needs_hosts
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel(edgewire, graph, tmp_path, nothing_remains, kernel):
    steps = ["--iterations", 3] if kernel in [*DENSE, "cdlp"] else []
    strategy = ["--strategy", "slots"] if kernel in DENSE else []
    own = OWN.get(kernel, [])
    more = ["--precision", "f64"] if kernel == "ppr" else []
    report = tmp_path / "rows.json"
    text = edgewire.ok("compare", graph, "--kernel", kernel, "-p", 2, "--rate", "1G", "--repeat", 1, *strategy, *steps, "--json", report,
                       "--", *own, *more)
    found = json.loads(report.read_text())
    check_schema(found, "compare_report")
    alone, row = found["rows"]
    assert alone["processes"] == 1 and row["processes"] == 2 and row["payload_bytes"] > 0
    if kernel in DENSE:
        assert row["seconds_per_iteration"] > 0 and row["predicted_seconds"] > 0 and "prediction error: " in text
        counted = json.loads(edgewire.ok("bound", graph, "--kernel", kernel, *more, "-p", 2, "-w", 1, "--ownership", "hash", "--strategy",
                                         "slots", "--rate", "1G", "--json", "-"))["rows"][0]
        assert row["payload_bytes"] == counted["payload_bytes_total"] and row["bound_seconds"] == pytest.approx(counted["seconds_at"]["1G"])
        return
    assert row["seconds_kernel"] > 0 and "no prediction: " in text
    counted = json.loads(edgewire.ok("bound", graph, "--kernel", kernel, *own[:2], *steps, "-p", 2, "--ownership", "hash", "--rate", "1G",
                                     "--json", "-"))["rows"][0]
    assert (row["bound_record_bytes"], row["exactness"]) == (counted["record_bytes"], counted["exactness"])
    assert row["bound_seconds"] == pytest.approx(counted["seconds_at"]["1G"])
    if row["exactness"] == "exact":
        assert row["record_bytes"] == row["bound_record_bytes"] == sent_alone(edgewire, graph, kernel, *own, *steps)
    else:
        assert row["record_bytes"] >= row["bound_record_bytes"] > 0


@needs_hosts
def test_runs_know_the_names_of_vertices(edgewire, tmp_path, nothing_remains):
    (tmp_path / "g.tsv").write_text("ada\tbob\nbob\tcy d\ncy d\tada\n")
    report = tmp_path / "rows.json"
    edgewire.ok("compare", tmp_path / "g.tsv", "--labels", "--kernel", "bfs", "-p", 2, "--rate", "1G", "--repeat", 1, "--json", report,
                "--", "--source", "cy d", "--target", "bob")
    row = json.loads(report.read_text())["rows"][1]
    assert row["record_bytes"] == row["bound_record_bytes"]


@needs_hosts
def test_runs_that_nobody_counts(edgewire, graph, tmp_path, nothing_remains):
    report = tmp_path / "rows.json"
    text = edgewire.ok("compare", graph, "--kernel", "bfs", "-p", 2, "--rate", "1G", "--repeat", 1, "--json", report, "--", "--samples=3")
    found = json.loads(report.read_text())
    check_schema(found, "compare_report")
    assert "no wire limit: edgewire bound counts what bfs sends without --samples" in found["notes"]
    assert "bound_seconds" not in found["rows"][1] and "wire limit  " not in text
    assert found["rows"][1]["record_bytes"] == sent_alone(edgewire, graph, "bfs", "--samples", 3)


def test_a_host_list_runs_a_frontier_kernel(edgewire, graph, tmp_path, hosts):
    common = ["compare", graph, "--kernel", "cdlp", *hosts(2)[:4], "--repeat", 1, "--iterations", 3, "--rate", "10G", "--json",
              tmp_path / "r.json"]
    run_both_ranks(edgewire, *common)
    found = json.loads((tmp_path / "r.json").read_text())
    check_schema(found, "compare_report")
    assert found["iterations"] == 3 and not found["local_hosts"]
    assert found["rows"][1]["record_bytes"] == found["rows"][1]["bound_record_bytes"] == sent_alone(
        edgewire, graph, "cdlp", "--iterations", 3)


def test_ranks_of_a_host_list_are_asked_for_the_same(edgewire, graph, hosts):
    """The list is that of the environment, which the runs of one process alone leave out."""
    listed = hosts(2)
    env = {"EDGEWIRE_HOSTS": str(listed[1]), "EDGEWIRE_SECRET_FILE": str(listed[3])}
    common = ["compare", graph, "--repeat", 1, "--rate", "10G", "--iterations", 3, "--strategy"]
    other = edgewire.start(*common, "cover", "--rank", 1, env=env)
    done = edgewire(*common, "slots", "--rank", 0, env=env)
    assert done.returncode == 1 and other.wait(PATIENCE_S) == 1
    for said in (done.stderr, other.stderr.read()):
        assert "1 of 2: 1 x 1: " in said and "--strategy is slots at rank 0, cover at rank 1" in said, said


BFS = ["--kernel", "bfs"]


@pytest.mark.parametrize("words, line", [
    ([*BFS, "--strategy", "slots"], "--strategy: bfs has no such option: leave it out"),
    ([*BFS, "--layout", "given"], "--layout: bfs has no such option: leave it out"),
    ([*BFS, "--iterations", "3"], "--iterations: bfs has no such option: leave it out"),
    (["--kernel", "ppr", "--wire", "bf16"], "--wire: ppr has no such option: leave it out"),
    ([*BFS, "--ownership", "hash,grid"], "--ownership grid: bfs needs owners of vertices: hash, ranges or a partition file"),
    ([*BFS, "--", "--source", "5", "--processes", "3"], "--processes is an option of compare, for all runs: write it before --"),
    ([*BFS, "--", "-p3"], "-p is an option of compare, for all runs: write it before --"),
    ([*BFS, "--", "--json=x"], "--json is an option of compare, for all runs: write it before --"),
    ([*BFS, "--", "-o", "x"], "-o is an option of compare, for all runs: write it before --"),
    ([*BFS, "--", "--strategy=slots"], "--strategy is an option of compare"),
    (["--kernel", "cdlp", "--", "--checkpoint", "kept"], "--checkpoint: compare keeps no results: leave it out behind --"),
    (["--kernel", "bc", "--", "--resume=kept"], "--resume: compare starts each run anew: leave it out behind --"),
    ([*BFS, "--", "--trace", "t.json"], "--trace: each run would write over that of the one before: leave it out behind --"),
    ([*BFS, "--", "--source", "5", "--"], "-- stands once, before the options of the kernel"),
    ([*BFS, "--", "--help"], "--help is an option of compare"),
    ([*BFS, "--", "--local-hosts"], "--local-hosts: compare does so without a host list: leave it out behind --"),
    (["--kernel", "spmv", "--", "--direction=in"], "--direction: compare follows edges as the file has them: leave it out behind --"),
    (["other.ew"], "compare reads one graph, g.ew: other.ew is too many, and options of pagerank begin with -"),
    (["--source", "5"], "compare has no option --source; --source is an option of bfs, sssp, ppr, bc and bound: those of kernels stand behind --"),
    (["--kernel", "sort"], "--kernel: sort is no kernel on a graph: edgewire bound --load sort predicts its time"),
])
def test_options_that_a_comparison_refuses(edgewire, words, line):
    said = edgewire.refused("compare", "g.ew", *words, status=2)
    assert said.startswith(line), said


@needs_hosts
def test_a_wrong_option_of_the_kernel_ends_the_comparison(edgewire, graph, tmp_path, nothing_remains):
    """The kernel says what is wrong, of the graph as the user calls it."""
    done = edgewire("compare", graph, *BFS, "-o", tmp_path / "page.html", "--", "--sources", "5", "--sorces", "6")
    assert done.returncode == 2
    lines = done.stderr.splitlines()
    assert len(lines) == 1 and lines[0].startswith("edgewire: bfs has no option --sorces; did you mean --sources?")
    (tmp_path / "g.el").write_text("0 1\n1 2\n")
    done = edgewire("compare", tmp_path / "g.el", *BFS, "--", "--source", "7")
    assert done.returncode == 1
    assert f"--source 7: {tmp_path}/g.el has no such vertex" in done.stderr and "/proc/" not in done.stderr
    assert os.listdir(tmp_path) == ["g.el"]


def test_a_page_never_replaces_a_file_that_the_runs_read(edgewire, graph, tmp_path):
    (tmp_path / "x").write_text("1 1\n")
    for words in (["--kernel", "spmv", "-o", "x", "--", "--x", "x"], ["--kernel", "spmv", "--csv", "./x", "--", "--x=x"],
                  ["--kernel", "bfs", "--json", "x", "--", "--sources", "@x"]):
        done = edgewire("compare", graph, *words, cwd=tmp_path)
        assert done.returncode == 1 and "input and output are the same file" in done.stderr, done.stderr
    assert (tmp_path / "x").read_text() == "1 1\n"
