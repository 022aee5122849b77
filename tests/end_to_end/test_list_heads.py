"""What comments at the head of an edge list say of its edges: KONECT's and SNAP's."""

import gzip
import io
import json
import random
import tarfile

import pytest

LEFT, RIGHT = 30, 50
EDGES = sorted({(random.Random(i).randrange(1, LEFT + 1), random.Random(-i - 9).randrange(1, RIGHT + 1)) for i in range(400)})
BIPARTITE = f"% bip unweighted\n% {len(EDGES)} {LEFT} {RIGHT}\n"
LINES = [f"{source} {target}\n" for source, target in EDGES]


def archive(text):
    """As KONECT packs graphs."""
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:bz2") as packed:
        for name, content in (("g/README.g", "a graph"), ("g/meta.g", "name: g"), ("g/out.g", text)):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            packed.addfile(member, io.BytesIO(content.encode()))
    return held.getvalue()


FILES = {
    "plain": {"g.txt": (BIPARTITE + "".join(LINES)).encode()},
    "gz": {"g.txt.gz": gzip.compress((BIPARTITE + "".join(LINES)).encode())},
    "tar": {"g.tar.bz2": archive(BIPARTITE + "".join(LINES))},
    "split": {"a.txt": (BIPARTITE + "".join(LINES[:99])).encode(), "b.txt": "".join(LINES[99:]).encode()},
    "each says it": {"b.txt": (BIPARTITE + "".join(LINES[99:])).encode(), "a.txt": (BIPARTITE + "".join(LINES[:99])).encode()},
    "el": {"g.el": (BIPARTITE + "".join(LINES)).encode()},
}


def write(folder, files):
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return [folder / name for name in files]


def edges_of(edgewire, graph):
    lines = edgewire.ok("convert", graph, "--to", "csv", "-o", "-").splitlines()[1:]
    return sorted(tuple(map(int, line.split(","))) for line in lines)


WAYS = [[], ["-p", 2, "-w", 1], ["--memory", "200M"], ["--columns", "1,2"], ["--undirected"]]


@pytest.mark.parametrize("files, options", [(files, options) for files in FILES for options in (WAYS if files in ("plain", "split") else WAYS[:2])], ids=str)
def test_both_sides_of_a_bipartite_graph_have_vertices_of_their_own(edgewire, tmp_path, files, options):
    inputs = write(tmp_path, FILES[files])
    done = edgewire("convert", *inputs, *options, "-o", tmp_path / "g.ew")
    assert done.returncode == 0, done.stderr
    wanted = [(source, LEFT + target) for source, target in EDGES]
    if "--undirected" in options:
        wanted += [(target, source) for source, target in wanted]
    assert edges_of(edgewire, tmp_path / "g.ew") == sorted(wanted)
    [line] = done.stderr.splitlines()
    assert f"{inputs[0]}" in line and f"it is bipartite (% bip unweighted); ids on its right follow the {LEFT} on its left, so 1 on the right is {LEFT + 1}" in line
    assert ("--undirected" in line) == ("--undirected" not in options)


def test_kernels_read_bipartite_graphs(edgewire, tmp_path):
    [path] = write(tmp_path, FILES["plain"])
    edgewire.ok("convert", path, "-o", tmp_path / "g.ew")
    values = [edgewire.ok("ppr", given, "--source", 1, "-p", 2, "-w", 1, "--deterministic", "-o", "-") for given in (path, tmp_path / "g.ew")]
    assert values[0] == values[1] and len(values[0].splitlines()) == len({v for v, _ in EDGES}) + len({v for _, v in EDGES})


@pytest.mark.parametrize("text, options, said", [
    ("% bip unweighted\n1 1\n", [], "does not say how many vertices are on its left: put a line '% EDGES LEFT RIGHT' below that"),
    (BIPARTITE + "31 1\n", [], "a vertex on the left is 31, but its head says 1 to 30 (% bip unweighted)"),
    (BIPARTITE + "1 0\n", [], "a vertex on the right is 0, but its head says 1 to 50 (% bip unweighted)"),
    (BIPARTITE + "1 51\n", [], "a vertex on the right is 51, but its head says 1 to 50 (% bip unweighted)"),
    (BIPARTITE + "1 18446744073709551615\n", [], "a vertex on the right is 18446744073709551615, but its head says 1 to 50"),
    ("% bip unweighted\n% 1 18446744073709551615 3\n1 1\n", [],
     "its head counts 18446744073709551615 vertices on the left and 3 on the right (% bip unweighted): more than ids of 64 bits tell apart"),
    (BIPARTITE + "1 2\n2 3\n", ["--labels"], "2 is on both sides; without --labels"),
    (BIPARTITE + "1 2\n2 3\n", ["--columns", "2,1"], "with its left in column 1 and its right in column 2"),
    (BIPARTITE + "1 2\n2 3\n", ["--vertices", __file__], "an id alone does not say on which side it is"),
])
def test_what_would_merge_both_sides_is_refused(edgewire, tmp_path, text, options, said):
    (tmp_path / "g.txt").write_text(text)
    done = edgewire("convert", tmp_path / "g.txt", *options, "-o", tmp_path / "g.ew")
    assert done.returncode in (1, 2) and done.stderr.count("\n") == 1 and said in done.stderr
    assert not (tmp_path / "g.ew").exists()


def test_the_line_that_is_missing_can_be_put_there(edgewire, tmp_path):
    (tmp_path / "g.txt").write_text("% bip unweighted\n% 2 1 2\n1 1\n1 2\n")
    edgewire.ok("convert", tmp_path / "g.txt", "-o", tmp_path / "g.ew")
    assert edges_of(edgewire, tmp_path / "g.ew") == [(1, 2), (1, 3)]


def test_files_that_contradict_each_other(edgewire, tmp_path):
    write(tmp_path, FILES["plain"])
    for head in ("% sym unweighted\n", "% asym positive\n", f"% bip unweighted\n% 9 {LEFT - 1} {RIGHT}\n", f"% bip unweighted\n% 9 {LEFT} 9\n"):
        (tmp_path / "h.txt").write_text(head + "1 1\n")
        line = edgewire.refused("convert", tmp_path / "g.txt", tmp_path / "h.txt", "-o", tmp_path / "g.ew")
        assert line.startswith(f"{tmp_path / 'h.txt'}: it is another graph than {tmp_path / 'g.txt'}")


def test_names_of_both_sides(edgewire, tmp_path):
    (tmp_path / "g.txt").write_text("% bip unweighted\n% 2 1 2\nuser1 item1\nuser1 item2\n")
    done = edgewire("convert", tmp_path / "g.txt", "--labels", "-o", tmp_path / "g.ew")
    assert done.returncode == 0 and "it is bipartite" in done.stderr and "follow" not in done.stderr
    assert (tmp_path / "g.ew.labels").read_text().splitlines()[1:] == ["item1", "item2", "user1"]


HEADS = ["% sym unweighted\n", "%\tsym  positive\n", "# Undirected graph: ../../data/output/g.txt\n# FromNodeId\tToNodeId\n",
         "#\n# a comment\n# Undirected graph (each unordered pair of nodes is saved once): g.txt\n"]


@pytest.mark.parametrize("options", [[], ["-p", 2, "-w", 1], ["--labels"], ["--format", "csv"], ["--columns", "1,2"]], ids=str)
@pytest.mark.parametrize("head", HEADS)
def test_undirected_lists_are_told(edgewire, tmp_path, head, options):
    path, graph = tmp_path / "g.txt", tmp_path / "g.ew"
    def said(text, *more):
        path.write_text(head + text)
        done = edgewire("convert", path, *options, *more, "-o", graph)
        assert done.returncode == 0, done.stderr
        return done.stderr
    line = said("1 2\n2 3\n1 4\n")
    assert line.startswith(f"edgewire: {path}: it is undirected ({[one for one in head.splitlines() if 'ndirected' in one or 'sym' in one][0]})")
    assert line.count("\n") == 1 and "`edgewire convert --undirected` stores them both ways" in line
    assert said("1 2\n2 3\n1 4\n", "--undirected") == ""
    assert json.loads(edgewire.ok("info", graph, "--json", "-"))["edges"] == 6
    assert said("1 2\n2 1\n3 1\n4 4\n1 3\n") == ""  # both ways already
    assert "--undirected" in said("1 2\n2 1\n3 1\n4 4\n1 3\n1 3\n")


@pytest.mark.parametrize("head", ["% asym unweighted\n", "# Directed graph (each unordered pair of nodes is saved once): g.txt\n", "% sym graph\n",
                                  "# An undirected graph\n", "% sym\n", "% bip\n", "# bip unweighted\n", "% bip unweighted graph\n"])
def test_other_heads_say_nothing(edgewire, tmp_path, head):
    (tmp_path / "g.txt").write_text(head + "1 2\n2 3\n% sym unweighted\n")
    done = edgewire("convert", tmp_path / "g.txt", "-o", tmp_path / "g.ew")
    assert (done.returncode, done.stderr) == (0, "") and edges_of(edgewire, tmp_path / "g.ew") == [(1, 2), (2, 3)]


@pytest.mark.parametrize("parts", [[], ["-p", 2, "-w", 1]], ids=str)
def test_times_of_konect_are_left_out(edgewire, tmp_path, parts):
    (tmp_path / "g.txt").write_text("% asym positive\n% 2 3 3\n1 2\t3\t1083860550\n2 3\t20000000\t1083860551\n")
    done = edgewire("convert", tmp_path / "g.txt", *parts, "-o", tmp_path / "g.ew")
    assert done.stderr == f"edgewire: {tmp_path / 'g.txt'}: its fourth field is a time (% asym positive) and left out\n"
    assert edgewire.ok("convert", tmp_path / "g.ew", "--to", "wel", "-o", "-") == "0 1 3\n1 2 20000000\n"
    for options in (["--columns", "1,2,3"], ["--columns", "1,2"], ["--no-weights"]):
        done = edgewire("convert", tmp_path / "g.txt", *parts, *options, "-o", tmp_path / "g.ew")
        assert (done.returncode, done.stderr) == (0, "")
        assert json.loads(edgewire.ok("info", tmp_path / "g.ew", "--json", "-"))["weighted"] is ("1,2,3" in options)


@pytest.mark.parametrize("options", [[], ["-p", 2, "-w", 1], ["--labels"], ["--undirected", "--simple"]], ids=str)
@pytest.mark.parametrize("head", ["% asym unweighted", "% sym unweighted", "% bip unweighted"])
def test_a_number_of_edges_that_is_wrong_is_told(edgewire, tmp_path, head, options):
    def said(count, paths, lines):
        for path in paths:
            path.write_text(f"{head}\n% {count} 3 6\n{lines}")
        done = edgewire("convert", *paths, *options, "-o", tmp_path / "g.ew")
        assert done.returncode == 0, done.stderr
        return [line for line in done.stderr.splitlines() if "head counts" in line]
    one, two = tmp_path / "a.txt", tmp_path / "b.txt"
    assert said(3, [one], "1 4\n2 5\n3 6\n") == []
    assert said(4, [one], "1 4\n2 5\n3 6\n") == [f"edgewire: {one}: its head counts 4 edges, but there are 3: is it cut short? ({head})"]
    if "--labels" not in options:  # which reads one file
        assert said(2, [one, two], "1 4\n2 5\n") == said(4, [one, two], "1 4\n2 5\n") == []
        assert len(said(3, [one, two], "1 4\n2 5\n")) == 1


@pytest.mark.parametrize("parts", [[], ["-p", 2, "-w", 1]], ids=str)
def test_ids_of_both_sides_are_kept(edgewire, tmp_path, parts):
    (tmp_path / "g.txt").write_text("% bip unweighted\n% 2 4 7\n1 2\n2 1\n")
    edgewire.ok("convert", tmp_path / "g.txt", "--keep-ids", *parts, "-o", tmp_path / "g.ew")
    assert json.loads(edgewire.ok("info", tmp_path / "g.ew", "--json", "-"))["vertices"] == 4 + 7 + 1  # ids are from 0 on
    assert edges_of(edgewire, tmp_path / "g.ew") == [(1, 6), (2, 5)]


def test_a_bipartite_graph_without_edges_needs_no_explanation(edgewire, tmp_path):
    (tmp_path / "g.txt").write_text("% bip unweighted\n% 0 4 7\n")
    done = edgewire("convert", tmp_path / "g.txt", "--allow-empty", "-o", tmp_path / "g.ew")
    assert (done.returncode, done.stderr) == (0, "")
