"""Kernels that a caller of the library brings run as ours do: the examples, by the options of all kernels."""

import json
import os
import re
import subprocess

import networkx
import numpy as np
import pytest

from installing import BUILD
from processes import LIMIT_S

COMMANDS = {"my_kernel": "katz", "components": "components"}


@pytest.fixture(scope="module")
def graph(edgewire, tmp_path_factory):
    folder = tmp_path_factory.mktemp("own")
    edgewire.ok("generate", "kronecker", "--scale", 8, "--undirected", "-o", folder / "g.ew")
    return folder / "g.ew"


def own(name, *words, status=0):
    run = subprocess.run([BUILD / f"src/example_{name}", *map(str, words)], text=True, capture_output=True, timeout=LIMIT_S)
    assert run.returncode == status, (words, run.stdout, run.stderr)
    return run


@pytest.mark.parametrize("transport", ["shm", "tcp"])
@pytest.mark.parametrize("name", COMMANDS)
def test_it_has_what_all_kernels_have(name, graph, tmp_path, transport):
    """--verify, --json, --top, --profile and -o, with two processes of two workers."""
    command = COMMANDS[name]
    run = own(name, command, graph, "-p", 2, "-w", 2, "--transport", transport, "--verify", "--json", tmp_path / "report.json", "--top", 3,
              "--profile", "-o", tmp_path / "values.csv")
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["kernel"] == command and report["processes"] == 2 and report["transport"] == transport
    assert len(report["answer"]["top"]) == 3 and report["profile"]
    steps = report.get("supersteps") or report["iterations"]
    assert len(steps) > 1 and sum(step["payload_bytes_sent"] for step in steps) > 0
    rows = (tmp_path / "values.csv").read_text().splitlines()
    assert len(rows) == report["vertices"] + 1
    values = dict(row.split(",") for row in rows[1:])
    if name == "my_kernel":
        assert report["verify"]["passed"] and report["options"]["alpha"] == 0.001
        assert report["bound"]["payload_bytes"] > 0
        assert rows[0] == "vertex,score"
        assert report["answer"]["top"][0]["id"] == int(max(values, key=lambda vertex: float(values[vertex])))
    else:
        assert "OwnSearch::fault of components found none" in report["rules_kept"]
        assert rows[0] == "vertex,component"
        labels, sizes = np.unique(list(values.values()), return_counts=True)
        assert report["answer"]["top"][0]["id"] == int(labels[sizes.argmax()])
    assert "limit: " in run.stdout  # what the profile says


@pytest.mark.parametrize("job", [["-w", 1], ["-w", 2], ["-p", 2, "-w", 2], ["-p", 3, "-w", 1, "--ownership", "ranges", "--transport", "tcp"]])
def test_core_numbers_are_those_of_networkx(edgewire, graph, tmp_path, job):
    path, edges = tmp_path / "simple.ew", tmp_path / "edges.txt"
    edgewire.ok("convert", graph, "--simple", "--undirected", "-o", path)
    edgewire.ok("convert", path, "--to", "el", "-o", edges)
    own("k_core", "core", path, *job, "--verify", "-o", tmp_path / "cores.tsv")
    found = dict(line.split() for line in (tmp_path / "cores.tsv").read_text().splitlines())
    neighbours = networkx.Graph(line.split()[:2] for line in edges.read_text().splitlines())
    expected = networkx.core_number(neighbours)
    assert {vertex: int(core) for vertex, core in found.items()} == {vertex: expected.get(vertex, 0) for vertex in found}
    assert max(expected.values()) > 10
    refused = own("k_core", "core", graph, status=1)
    assert refused.stderr.endswith("it has loops, or edges twice or one way; convert it with --simple --undirected\n")


def test_values_that_are_wrong_are_told(graph, tmp_path):
    """--verify compares with the example's reference, which does as many iterations: a checkpoint of another --alpha is refused, and
    16 iterations of values in 4 bytes are not those of doubles to the last digit."""
    own("my_kernel", "katz", graph, "--iterations", 16, "--verify")
    own("my_kernel", "katz", graph, "--alpha", 1e-5, "--checkpoint", tmp_path / "kept", "--every", 1)
    refused = own("my_kernel", "katz", graph, "--alpha", 2e-5, "--resume", tmp_path / "kept", status=1)
    assert "alpha 1e-05" in refused.stderr and "alpha 2e-05" in refused.stderr, refused.stderr
    own("my_kernel", "katz", graph, "--alpha", 1e-5, "--resume", tmp_path / "kept", "--verify")
    own("my_kernel", "katz", graph, "--iterations", 4, "--alpha", 0.5, "--checkpoint", tmp_path / "grown", "--every", 4, status=1)
    for processes in (1, 2):  # one goes on with the totals of the checkpoint, two sum again; neither iterates
        refused = own("my_kernel", "katz", graph, "--iterations", 4, "--alpha", 0.5, "--resume", tmp_path / "grown", "-p", processes, status=1)
        assert "or have not settled" in refused.stderr, refused.stderr


@pytest.mark.parametrize("words, line", [
    (["katz", "g.ew", "--alpha", "0"], r"--alpha: 0 is not a number from 1e-300 to .*"),
    (["katz", "g.ew", "--alpha", "nan"], r"--alpha: nan is not a number from .*"),
    (["katz", "g.ew", "--alpha", "inf"], r"--alpha: inf is not a number from .*"),
    (["katz", "g.ew", "--iterations", "0"], r"--iterations: 0 is not .*"),
    (["katz", "g.ew", "--damping", "0.5"], r".*no option --damping; --damping is an option of pagerank and ppr.*"),
    (["katz", "g.ew", "--precision", "f64"], r".*no option --precision.*"),
    (["kats", "g.ew"], r".*did you mean katz\?.*"),
    (["katz"], r"katz: graph is required.*")])
def test_wrong_words_are_refused(words, line):
    refused = own("my_kernel", *words, status=2)
    assert refused.stdout == "" and re.fullmatch(f"edgewire: {line}\n", refused.stderr), refused.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_graphs_at_the_edge_of_what_there_is(edgewire, name, tmp_path):
    """No file, a file that is no graph, a folder, an output that is the input; no vertex, and one, also as a list of edges."""
    command = COMMANDS[name]
    (tmp_path / "folder").mkdir()
    (tmp_path / "short.ew").write_text("no graph\n")
    for path, reason in (("none.ew", "No such file"), ("folder", "a folder without a graph"), ("short.ew", "not an Edgewire graph")):
        refused = own(name, command, tmp_path / path, "-p", 2, status=1)
        assert reason in refused.stderr and len(refused.stderr.splitlines()) == 1, refused.stderr
    for text, vertices in (("", 0), ("0 0\n", 1)):
        (tmp_path / "g.txt").write_text(text)
        edgewire.ok("convert", tmp_path / "g.txt", "--undirected", "--allow-empty", "-o", tmp_path / "g.ew")
        run = own(name, command, tmp_path / "g.ew", "-p", 2, "--verify", "-o", "-")
        assert len(run.stdout.splitlines()) == vertices
    (tmp_path / "g.mtx").write_text("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n")
    assert own(name, command, tmp_path / "g.mtx", "--verify", "-o", "-").stdout.startswith("1\t")
    refused = own(name, command, tmp_path / "g.ew", "-o", tmp_path / "g.ew", status=1)
    assert "input and output are the same file" in refused.stderr


def spoiled(case, *words, status=0):
    run = subprocess.run([BUILD / "tests/unit/own_command", *map(str, words)], text=True, capture_output=True, timeout=LIMIT_S,
                         env={**os.environ, "CASE": case})
    assert run.returncode == status, (case, words, run.stdout, run.stderr)
    return run


@pytest.mark.parametrize("case, line", [
    ("name", r"OwnWords::name: a name begins with a letter .*"), ("twice", r"hops: .* has this name; choose another one"),
    ("ours", r"bfs: .* has this name; choose another one"), ("value", r"ids: OwnWords::value: a name begins .*"),
    ("summary", r"ids: OwnWords::summary: a line of help is needed"), ("values", r"ids: OwnSearch::values is empty: .*"),
    ("program", r"hops: OwnProgram::program is empty: .*"), ("option", r"hops: .*top.*: an option .* has this name; choose another one"),
    ("comma", r"hops: OwnOption::name: a name begins .*"), ("null", r"hops: OwnOption cost: value is null"),
    ("range", r"hops: OwnOption cost: its value is not from least to most"),
    ("tolerance", r"hops: OwnProgram::tolerance and absolute must be at least 0"), ("iterations", r".*iterations.* 0 is outside the range 1 to .*")])
def test_what_is_said_of_a_kernel_is_checked_first(case, line):
    refused = spoiled(case, "topology", status=2)
    assert refused.stdout == "" and re.fullmatch(f"edgewire: {line}\n", refused.stderr), refused.stderr


def test_a_vertex_is_asked_for_by_the_name_that_results_have(edgewire, tmp_path):
    """Also where paths reach few vertices, so that values are infinite: --verify takes equal ones."""
    (tmp_path / "e.txt").write_text("ann bob\nbob cyd\ndan eve\n")
    edgewire.ok("convert", tmp_path / "e.txt", "--labels", "-o", tmp_path / "g.ew")
    run = spoiled("", "hops", tmp_path / "g.ew", "--from", "bob", "-p", 2, "--verify", "-o", "-")
    assert dict(line.split("\t") for line in run.stdout.splitlines()) == {"ann": "inf", "bob": "0", "cyd": "1", "dan": "inf", "eve": "inf"}
    assert "has no vertex zoe" in spoiled("", "hops", tmp_path / "g.ew", "--from", "zoe", status=1).stderr
    assert "--from is required" in spoiled("", "hops", tmp_path / "g.ew", status=2).stderr
    spoiled("", "hops", tmp_path / "g.ew", "--from", "bob", "--json", tmp_path / "r.json", "-q")
    assert json.loads((tmp_path / "r.json").read_text())["options"]["from"] == "bob"


def test_values_that_mean_nothing_are_refused(edgewire, tmp_path):
    (tmp_path / "e.txt").write_text("0 1\n1 2\n2 3\n")
    edgewire.ok("convert", tmp_path / "e.txt", "-o", tmp_path / "g.ew")
    for shape in (["-p", 1], ["-p", 2]):
        refused = spoiled("nan", "hops", tmp_path / "g.ew", "--from", "0", *shape, status=1)
        assert re.search(r"hops: the hops of vertex [23] is not a number\n$", refused.stderr), refused.stderr
        refused = spoiled("label", "ids", tmp_path / "g.ew", *shape, status=1)
        assert re.search(r"ids: the label of vertex \d is 4, and labels are vertices, below 4\n$", refused.stderr), refused.stderr
    for option in ("--verify", "--deterministic", "--bound", "--checkpoint"):
        assert f"no option {option}" in spoiled("", "ids", tmp_path / "g.ew", option, "x", status=2).stderr


def test_help_and_completion_have_it(graph):
    shown = own("my_kernel", "help", "katz").stdout
    assert "compute the Katz centrality" in shown and "--verify" in shown
    assert re.search(r"Most used:\n  --iterations INT \(default 1000\)\n.*\n  --alpha FLOAT \(default 0.001\)\n", shown), shown
    assert re.search(r"^  katz +compute the Katz centrality", own("my_kernel", "--help").stdout, re.M)
    assert "katz" in own("my_kernel", "manual", "bash").stdout
    assert "alpha" in own("my_kernel", "manual", "edgewire-katz.1").stdout
    own("my_kernel", "profile", "--", "katz", graph)
    own("my_kernel", "pagerank", graph, "--verify")  # the commands of edgewire are there, too
