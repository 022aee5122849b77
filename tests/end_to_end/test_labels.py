"""Vertices with names: convert --labels, and results that show them."""

import functools
import gzip
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


def ok(edgewire, *arguments):
    done = edgewire(*arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


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
        assert refused(edgewire(*command)) == "g.ew.labels: line 1: the table holds the names of another graph, not of g.ew"
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
    assert "others hold numbers" in refused(edgewire("convert", "in.tsv", "--labels", "-o", "x.mtx"))
    (tmp_path / "n.el").write_text("0 1\n")
    for text, options, words in (("#a,b\n", ["--columns", "1,2"], "double quotes"), ("a,\n", ["--columns", "1,2"], "name is empty")):
        (tmp_path / "n.csv").write_text(text)
        assert words in refused(edgewire("convert", "n.csv", "--labels", *options, "-o", "x.ew"))
    assert "only edge lists" in refused(edgewire("convert", "n.el", "--labels", "-o", "x.ew"))
    assert not (tmp_path / "x.ew").exists()
    (tmp_path / "y.ew.labels").mkdir()
    assert "y.ew.labels: cannot write: it is a directory" in refused(edgewire("convert", "in.tsv", "--labels", "-o", "y.ew"))
    assert not (tmp_path / "y.ew").exists()
    assert edgewire("convert", "g.ew", "--undirected", "--simple", "-o", "g.graph").returncode == 0
    assert not [name for name in os.listdir(tmp_path) if ".tmp." in name]


# ---- names that nobody announces ---------------------------------------------------------------------------------------

TAKEN = "ids are names, taken as with --labels"
FIRST = TAKEN + "; the first line is an edge"
AMOUNT = "no column is called weight; ignored: amount (--columns payer,payee,amount takes amount for the weight)"
PAYMENTS = "alice,bob,5\nbob,Éva Long,7\n"


def edges_of(edgewire, graph):
    lines = [line.replace('"', "") for line in ok(edgewire, "convert", graph, "--to", "csv", "-o", "-").splitlines()]
    return sorted(">".join(line.split(",")[:2]) + (f"={line.split(',')[2]}" if line.count(",") > 1 else "") for line in lines[1:])


PLAIN, PAID = ["alice>bob", "bob>Éva Long"], ["alice>bob=5", "bob>Éva Long=7"]
NAMED = {
    "payments": ("t.csv", "payer,payee,amount\n" + PAYMENTS, PLAIN, f"{TAKEN}; {AMOUNT}"),
    "weights": ("t.csv", "source,target,weight\n" + PAYMENTS, PAID, TAKEN),
    "other order": ("t.csv", "amount,payee,payer\n5,bob,alice\n7,Éva Long,bob\n", PLAIN,
                    TAKEN + "; no column is called weight; ignored: amount (--columns payer,payee,amount takes amount for the weight)"),
    "marks of spreadsheets": ("t.csv", '\ufeff"Source" ; "Target";"weight"\r\n"alice";"bob";"5"\r\nbob; "Éva Long" ;7\r\n', PAID, TAKEN),
    "separator": ("t.csv", "sep=;\nSender;Receiver\nalice;bob\nbob;Éva Long\n", PLAIN, TAKEN),
    "separator alone": ("t.csv", "sep=|\nalice|bob\nbob|Éva Long\n", PLAIN, FIRST),
    "figures below a word": ("t.csv", "who,whom,score\n" + PAYMENTS, PLAIN,
                             TAKEN + "; the first line names the columns; no column is called source or target, so edges go from who to whom; ignored: score "
                             "(--columns who,whom,score takes score for the weight)"),
    "no header": ("t.csv", PAYMENTS, PAID, FIRST),
    "names that come again": ("t.tsv", "alice\tbob\nbob\tÉva Long\n", PLAIN, FIRST),
    "list": ("t.txt", "# friends\nalice bob\nbob \"Éva Long\"\n", PLAIN, FIRST),
    "list with a header": ("t.txt", "from to\nalice bob\nbob \"Éva Long\"\n", PLAIN, TAKEN),
    "list with weights": ("t.txt", "alice bob 5\nbob \"Éva Long\" 7\n", PAID, FIRST),
}


@pytest.mark.parametrize("kind, packed", [*((kind, False) for kind in NAMED), ("payments", True), ("list", True)])
def test_names_are_taken_at_once(edgewire, tmp_path, kind, packed):
    name, text, edges, said = NAMED[kind]
    path = tmp_path / (name + (".gz" if packed else ""))
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    done = edgewire("convert", path, "-o", "n.ew")
    assert (done.returncode, done.stderr) == (0, f"edgewire: {path}: {said}\n"), done
    assert edges_of(edgewire, "n.ew") == edges and (tmp_path / "n.ew.labels").read_text().count("\n") == 1 + 3
    labelled = edgewire("convert", path, "--labels", "-o", "l.ew")
    assert labelled.returncode == 0 and TAKEN not in labelled.stderr
    assert (tmp_path / "l.ew").read_bytes() == (tmp_path / "n.ew").read_bytes()
    assert (tmp_path / "l.ew.labels").read_bytes() == (tmp_path / "n.ew.labels").read_bytes()


@pytest.mark.parametrize("text", ["payer,payee,amount\n" + PAYMENTS, "alice,bob\nbob,Éva Long\n"])
def test_results_have_names_that_nobody_announces(edgewire, tmp_path, text):
    (tmp_path / "t.csv").write_text(text)
    run = ["-w", 1, "-p", 2, "--deterministic", "-o", "-"]
    known = ok(edgewire, "pagerank", "t.csv", "--labels", *run)
    assert "Éva Long\t" in known
    with open(tmp_path / "t.csv") as stream:
        found = edgewire("pagerank", "-", "--format", "csv", *run, stdin=stream)
    assert found.stdout == known and f"stdin: {TAKEN}" in found.stderr
    for more in ([], ["--memory", "200M"]):
        found = edgewire("pagerank", "t.csv", *more, *run)
        assert found.stdout == known and found.stderr.count(f"t.csv: {TAKEN}") == 1
    assert "Éva Long" in ok(edgewire, "pagerank", "t.csv", "-w", 1, "--top", 1)
    assert "source bob: " in ok(edgewire, "bfs", "t.csv", "--sources", "bob,alice", "-w", 1)
    assert json.loads(ok(edgewire, "info", "t.csv", "--json", "-"))["labels"] is True
    assert json.loads(ok(edgewire, "bound", "t.csv", "--kernel", "bfs", "--source", "alice", "-p", 2, "--json", "-"))["rows"]
    (tmp_path / "names.txt").write_text("ada bob\nbob ada\n")
    assert ok(edgewire, "convert", "names.txt", "--to", "el", "-o", "-") == "ada bob\nbob ada\n"
    taken, no = edgewire("convert", "t.csv", "-o", "t.mtx").stderr.splitlines()
    assert TAKEN in taken and "t.csv: its ids are names, which go into .ew" in no and not (tmp_path / "t.mtx").exists()
    assert "names, which have no numbers to keep" in refused(edgewire("convert", "t.csv", "--keep-ids", "-o", "x.ew"))
    assert "compare: round 3 of 3" in edgewire("compare", "t.csv", "-p", 2, "--kernel", "bfs", "--", "--source", "bob").stderr
    for parts in (["-p", 2, "-w", 1], ["--memory", "200M"], ["--parts"]):
        line = edgewire("convert", "t.csv", *parts, "-o", "x.ew").stderr
        assert "its ids are names, which are read in memory: leave --memory, -p and --parts out" in line
    assert not (tmp_path / "x.ew").exists()


WHICH = "which columns hold the edges?"
EITHER = "may be names of columns or an edge: --labels --columns {},{} takes them for columns, --labels --columns 1,2 for an edge"


@pytest.mark.parametrize("name, text, said", [
    ("t.csv", "source,target\nalice,bob\nbob,17\n", "line 3, column 5: 17 is a number, but other ids are names: --labels takes all ids for names"),
    ("t.txt", "Éva bob\nbob Éva\nbob 2.5\n", "line 3, column 5: 2.5 is a number, but"),
    ("t.csv", "source,target\n1,2\n2,bob\n", "line 3, column 3: expected a vertex id (a whole number from 0 on). Are ids names? Then say --labels, too"),
    ("t.csv", "source,target\nalice,1\nbob,2\n", "line 2, column 1: expected a vertex id"),
    ("t.csv", "id,who,whom\n1,ada,bob\n2,bob,ada\n", "line 2, column 3: expected a vertex id (a whole number from 0 on), as edges go from id to who: "
     "--columns SOURCE,TARGET chooses others, --labels takes ids for names"),
    ("t.csv", "user,score\nada,5\nbob,7\n", "line 2, column 1: expected a vertex id"),
    ("t.csv", "ann,bob,NA\ndan,cy,3\neve,fay,4\n", "line 1, column 1: ann and bob " + EITHER.format("ann", "bob")),
    ("t.txt", "ann bob -\ndan cy 3\neve fay 4\n", "line 1, column 1: ann and bob " + EITHER.format("ann", "bob")),
    ("t.csv", "buyer,seller,2019\nAnn,Bob,5\nBob,Cy,6\n", "line 1, column 1: buyer and seller " + EITHER.format("buyer", "seller")),
    ("t.txt", "from to 3\nto go 2\n", "line 1, column 1: from and to are names of columns, but may be an edge"),
    ("t.txt", "from to\nto go\ngo from\n", "line 1, column 1: from and to are names of columns, but may be an edge"),
    ("t.txt", "1 2\n2 Éva\n", "line 2, column 3: expected a vertex id (a whole number); --labels reads names"),
    ("t.txt", "17 alice\n", "line 1, column 4: expected a vertex id"),
    ("t.csv", "alice,bob\ncarol,dave\n", "line 1, column 1: alice and bob " + EITHER.format("alice", "bob")),
    ("t.txt", "alice bob\ncarol dave\n", "line 1, column 1: alice and bob " + EITHER.format("alice", "bob")),
    ("t.csv", "u,v\ncarol,dave\n", "line 1, column 1: u and v " + EITHER.format("u", "v")),
    ("t.csv", "alice,bob\n", "line 1, column 1: alice and bob " + EITHER.format("alice", "bob")),
    ("t.csv", "alice,bob,none\nbob,carol,5\n", "line 1, column 1: alice and bob may be"),
    ("t.csv", "name,city,street\nalice,Rome,Via Appia\n", f"line 2, column 1: {WHICH}"),
    ("t.txt", "alice knows bob\nbob knows carol\n", f"line 2, column 1: {WHICH}"),
    ("t.csv", "source,target\n", "it holds no edge"),
    ("t.csv", "id,source,dest_x\n1,2,3\n", f"line 1, column 1: column 2 (source) tells the source of edges, but no name tells their target: {WHICH}"),
    ("t.csv", "id,payer,who\n1,ada,bob\n", f"line 1, column 1: column 2 (payer) tells the source of edges, but no name tells their target: {WHICH}"),
])
def test_what_may_be_something_else_is_refused(edgewire, tmp_path, name, text, said):
    (tmp_path / name).write_text(text)
    assert refused(edgewire("convert", name, "-o", "x.ew")).startswith(f"{name}: {said}")
    assert not (tmp_path / "x.ew").exists()


def test_what_a_refusal_offers_works(edgewire, tmp_path):
    def edges(text, *options):
        (tmp_path / "t.csv").write_text(text)
        ok(edgewire, "convert", "t.csv", *options, "-o", "x.ew")
        return edges_of(edgewire, "x.ew")
    unclear = "alice,bob\ncarol,dave\n"
    assert edges(unclear, "--labels", "--columns", "alice,bob") == ["carol>dave"]
    assert edges(unclear, "--labels", "--columns", "1,2") == ["alice>bob", "carol>dave"]
    assert edges("source,target\nalice,bob\nbob,17\n", "--labels") == ["alice>bob", "bob>17"]
    (tmp_path / "t.txt").write_text("Anna Bert\nCora 7\nDirk 8\n")
    assert refused(edgewire("convert", "t.txt", "--labels", "-o", "y.ew")).endswith(EITHER.format("Anna", "Bert"))
    assert edges("id,who,whom\n1,ada,bob\n2,bob,ada\n", "--columns", "who,whom") == ["ada>bob", "bob>ada"]
    assert WHICH in refused(edgewire("convert", "t.csv", "--labels", "-o", "y.ew"))  # edges do not go from id to who
    assert edges("alice,knows,bob\nbob,knows,alice\n", "--columns", "1,3") == ["alice>bob", "bob>alice"]


def test_a_line_alone_is_an_edge_of_a_list(edgewire, tmp_path):
    (tmp_path / "t.txt").write_text("alice bob")
    done = edgewire("convert", "t.txt", "-o", "x.ew")
    assert (done.returncode, done.stderr) == (0, f"edgewire: t.txt: {FIRST}\n") and edges_of(edgewire, "x.ew") == ["alice>bob"]
    for options in (["t.txt", "--labels"], ["-", "--labels"]):
        with open(tmp_path / "t.txt") as stream:
            assert edgewire("convert", *options, "-o", "y.ew", stdin=stream).returncode == 0
        assert (tmp_path / "y.ew").read_bytes() == (tmp_path / "x.ew").read_bytes()


@pytest.mark.parametrize("pair", ["source,target", "src,dst", "from,to", "origin,destination", "Source ID,target_id", "FromNodeId,ToNodeId",
                                  "payer,payee", "sender,recipient", "follower,followee", "caller,callee", "citing,cited"])
def test_pairs_of_names_of_columns(edgewire, tmp_path, pair):
    source, target = pair.split(",")
    for rows, known in (("{},x,{}\nbob,1,ada\ncy,2,bob\n", ["ada>bob", "bob>cy"]), ("{},x,{}\n8,1,7\n9,2,8\n", ["7>8", "8>9"])):
        for options in ([], ["--labels"]):
            (tmp_path / "t.csv").write_text(rows.format(target, source))
            ok(edgewire, "convert", "t.csv", *options, "-o", "x.ew")
            assert edges_of(edgewire, "x.ew") == known
