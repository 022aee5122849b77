"""Vertices with names: convert --labels, and results that show them."""

import functools
import json
import os

import pytest

EDGES = [("Éva Long", "bob"), ("bob", "alice"), ("alice", "Éva Long"), ("dora", "bob")]
NAMES = ["alice", "bob", "dora", "Éva Long"]


@pytest.fixture
def edgewire(edgewire, tmp_path):
    """The program, run in tmp_path, where g.ew has names."""
    (tmp_path / "in.tsv").write_text("".join(f"{source}\t{target}\n" for source, target in EDGES))
    run = functools.partial(edgewire, cwd=tmp_path)
    assert run("convert", "in.tsv", "--labels", "-o", "g.ew").returncode == 0
    return run


def refused(result):
    assert result.returncode in (1, 2) and result.stdout == "" and result.stderr.count("\n") == 1, result
    return result.stderr.removeprefix("edgewire: ")[:-1]


def ranks():
    """By a plain power iteration."""
    rank = dict.fromkeys(NAMES, 1 / 4)
    for _iteration in range(20):
        following = dict.fromkeys(NAMES, 0.15 / 4)
        for source, target in EDGES:  # each vertex has one out-edge
            following[target] += 0.85 * rank[source]
        rank = following
    return rank


def test_results_show_names(edgewire, tmp_path):
    header, *names = (tmp_path / "g.ew.labels").read_text().splitlines()
    assert header.startswith("edgewire-labels 1 4 ") and names == NAMES
    result = edgewire("pagerank", "g.ew", "-p", 2, "-w", 1, "-o", "-", "--iterations", 20)
    assert result.returncode == 0, result.stderr
    lines = [line.split("\t") for line in result.stdout.splitlines()]
    assert {name: float(rank) for name, rank in lines} == pytest.approx(ranks(), rel=1e-5)
    assert edgewire("pagerank", "g.ew", "-p", 2, "-w", 1, "-o", "r", "--output-parts").returncode == 0
    parts = [(tmp_path / f"r.000{rank}-of-0002").read_text().splitlines() for rank in (0, 1)]
    assert sorted(line.split("\t")[0] for part in parts for line in part) == NAMES
    assert json.loads(edgewire("info", "g.ew", "--json", "-").stdout)["labels"] is True


def test_a_table_that_is_missing_or_of_another_graph(edgewire, tmp_path):
    table = tmp_path / "g.ew.labels"
    (tmp_path / "in.tsv").write_text("alice\tbob\ndora\tÉva Long\n")
    assert edgewire("convert", "in.tsv", "--labels", "-o", "other.ew").returncode == 0
    os.replace(tmp_path / "other.ew.labels", table)
    for command in (["pagerank", "g.ew", "-o", "r"], ["info", "g.ew"], ["convert", "g.ew", "--simple", "-o", "x.ew"]):
        assert refused(edgewire(*command)) == "g.ew.labels: byte 0: the table holds the names of another graph, not of g.ew"
    table.unlink()
    assert "g.ew.labels: the file is missing" in refused(edgewire("pagerank", "g.ew", "-o", "r"))
    assert "g.ew.labels: the file is missing" in refused(edgewire("pagerank", "g.ew", "--top", 2))
    assert sorted(os.listdir(tmp_path)) == ["g.ew", "in.tsv", "other.ew"]


@pytest.mark.parametrize("text, columns, edges", [
    ('id,who,w,whom\n1,Ada,0.5,"B, b"\n# a comment\n2,"B, b",2,"C ""c"""\n', "who,whom,w",
     [("Ada", "B, b", 0.5), ("B, b", 'C "c"', 2)]),
    ("x;a\ny;b\n", "2,1", [("a", "x", None), ("b", "y", None)]),
])
def test_names_in_tables(edgewire, tmp_path, text, columns, edges):
    (tmp_path / "t.csv").write_text(text)
    assert edgewire("convert", "t.csv", "--labels", "--columns", columns, "-o", "t.ew").returncode == 0
    names = (tmp_path / "t.ew.labels").read_text().splitlines()[1:]
    assert names == sorted({name for edge in edges for name in edge[:2]})
    listed = tmp_path / ("t.wel" if edges[0][2] else "t.el")
    assert edgewire("convert", "t.ew", "-o", listed).returncode == 0
    assert sorted(listed.read_text().splitlines()) == sorted(
        " ".join([str(names.index(source)), str(names.index(target)), *([f"{weight:g}"] if weight else [])])
        for source, target, weight in edges)


def test_what_labels_do_not_go_with(edgewire, tmp_path):
    line = refused(edgewire("convert", "in.tsv", "-o", "x.ew"))
    assert line.startswith("in.tsv: line 2, byte ") and line.endswith("Are ids names? Then say --labels, too")
    assert "others hold numbers" in refused(edgewire("convert", "in.tsv", "--labels", "-o", "x.mtx"))
    (tmp_path / "n.el").write_text("0 1\n")
    for text, options, words in (("#a,b\n", ["--columns", "1,2"], "double quotes"), ("a,\n", ["--columns", "1,2"], "name is empty"),
                                 ("from,to\na,b\n", ["--columns", "1,2"], "by name, not by number"),
                                 ("from,to\na,b\n", [], "say --columns")):
        (tmp_path / "n.csv").write_text(text)
        assert words in refused(edgewire("convert", "n.csv", "--labels", *options, "-o", "x.ew"))
    assert "only edge lists" in refused(edgewire("convert", "n.el", "--labels", "-o", "x.ew"))
    assert not (tmp_path / "x.ew").exists()
    (tmp_path / "y.ew.labels").mkdir()
    assert "y.ew.labels: cannot write: it is a directory" in refused(edgewire("convert", "in.tsv", "--labels", "-o", "y.ew"))
    assert not (tmp_path / "y.ew").exists()
    assert edgewire("convert", "g.ew", "--undirected", "--simple", "-o", "g.graph").returncode == 0
    assert not [name for name in os.listdir(tmp_path) if ".tmp." in name]
