"""Lists of vertices (--sources @FILE, --x, --vertices) with names that look like comments."""

import pytest

NAMES = ["#h603273", "# x", "#", "##", "##d", "%p", "% of all", "//u", "// v", '"q"', ' "r', "s ", "plain"]
COMMENTS = "# two words\n%\n\n// none\n%% \n"


def quoted(name):
    return '"{}"'.format(name.replace('"', '""'))


@pytest.fixture(scope="module")
def graph(edgewire, tmp_path_factory):
    """A circle: each name has one edge, to the next one."""
    folder = tmp_path_factory.mktemp("lists")
    (folder / "g.tsv").write_text("".join(f"{quoted(name)}\t{quoted(after)}\n" for name, after in zip(NAMES, NAMES[1:] + NAMES[:1])))
    edgewire.ok("convert", folder / "g.tsv", "--labels", "-o", folder / "g.ew")
    assert (folder / "g.ew.labels").read_text().splitlines()[1:] == sorted(NAMES)
    return folder / "g.ew"


def values(text):
    return {name: float(value) for name, value in (line.rsplit("\t", 1) for line in text.splitlines())}


@pytest.mark.parametrize("written", [quoted, str], ids=["quoted", "as results write them"])
@pytest.mark.parametrize("more", [[], NAMES], ids=["one", "all"])  # few and many are looked up in two ways
def test_a_list_holds_every_name(edgewire, graph, tmp_path, written, more):
    for name in NAMES:
        wanted = [name, *(other for other in more if other != name)]
        (tmp_path / "list").write_text(COMMENTS + "".join(written(one) + "\n" for one in wanted))
        found = edgewire("ppr", graph, "--sources", f"@{tmp_path / 'list'}", "--damping", 0.5, "--iterations", 1, "-w", 1, "-o", "-")
        assert found.returncode == 0, found.stderr
        shares = {before: ((before in wanted) + (one in wanted)) / 2 / len(wanted) for one, before in zip(NAMES, NAMES[1:] + NAMES[:1])}
        assert values(found.stdout) == pytest.approx(shares), name


def test_kernels_start_at_every_name(edgewire, graph, tmp_path):
    (tmp_path / "list").write_text("".join(name + "\n" for name in NAMES))
    for command in (["bfs"], ["sssp", "--unit-weights"]):
        said = edgewire.ok(*command, graph, "--sources", f"@{tmp_path / 'list'}", "-w", 1, "--verify", "-v")
        assert all(f"source {name}: " in said for name in NAMES), said
    scores = values(edgewire.ok("bc", graph, "--sources", f"@{tmp_path / 'list'}", "-w", 1, "-o", "-"))
    assert scores == dict.fromkeys(NAMES, 12 * 11 / 2)  # all shortest paths of the circle


@pytest.mark.parametrize("written", [quoted, str], ids=["quoted", "as results write them"])
def test_values_of_every_name(edgewire, graph, tmp_path, written):
    (tmp_path / "x").write_text(COMMENTS + "".join(f"{written(name)}\t{i + 1}\n" for i, name in enumerate(NAMES)))
    y = values(edgewire.ok("spmv", graph, "--x", tmp_path / "x", "-w", 1, "-o", "-"))
    assert y == {after: i + 1 for i, after in enumerate(NAMES[1:] + NAMES[:1])}


def test_results_are_lists(edgewire, graph, tmp_path):
    edgewire.ok("spmv", graph, "--iterations", 2, "-w", 1, "-o", tmp_path / "walks")
    edgewire.ok("ppr", graph, "--source", NAMES[0], "--iterations", 3, "-w", 1, "-o", tmp_path / "ranks")
    for result in ("walks", "ranks"):
        before = values((tmp_path / result).read_text())
        after = values(edgewire.ok("spmv", graph, "--x", tmp_path / result, "-w", 1, "-o", "-"))
        assert len(before) == len(NAMES) and sum(after.values()) == pytest.approx(sum(before.values()))
        assert sorted(after.values()) == pytest.approx(sorted(before.values()))


def test_what_a_line_is_taken_for_is_said(edgewire, graph, tmp_path):
    (tmp_path / "list").write_text("plain\n# x\n#\n")
    run = edgewire("bfs", graph, "--sources", f"@{tmp_path / 'list'}", "-w", 1)
    assert run.stderr.splitlines()[0] == f"edgewire: {tmp_path / 'list'}: line 2: # x is the name of a vertex, so it is no comment"
    assert run.stderr.count("no comment") == 1
    (tmp_path / "list").write_text("plain\n#nobody\n")
    line = edgewire.refused("bfs", graph, "--sources", f"@{tmp_path / 'list'}")
    assert line == f"{tmp_path / 'list'}: line 2: {graph} has no vertex #nobody (a comment has a blank after its mark)"
    (tmp_path / "list").write_text(COMMENTS.replace("## \n", "") .replace("#", "# "))
    assert "no vertex is named" in edgewire.refused("bfs", graph, "--sources", f"@{tmp_path / 'list'}")


def test_lists_of_numbers_have_comments_of_any_kind(edgewire, tmp_path):
    (tmp_path / "g.el").write_text("0 1\n1 2\n2 0\n")
    edgewire.ok("convert", tmp_path / "g.el", "-o", tmp_path / "g.ew")
    (tmp_path / "list").write_bytes(b"\xef\xbb\xbf1\r\n#2\n%0\n//0\n # 0\n2 \n")
    ranks = values(edgewire.ok("ppr", tmp_path / "g.ew", "--sources", f"@{tmp_path / 'list'}", "--damping", 0, "-w", 1, "-o", "-"))
    assert ranks == {"0": 0, "1": 0.5, "2": 0.5}
    (tmp_path / "x").write_text("1 5\n#2 7\n% 0 9\n//0 9\n")
    assert values(edgewire.ok("spmv", tmp_path / "g.ew", "--x", tmp_path / "x", "-w", 1, "-o", "-")) == {"0": 0, "1": 0, "2": 5}


def test_vertices_without_edges(edgewire, tmp_path):
    (tmp_path / "g.tsv").write_text("a\tb\n")
    (tmp_path / "v").write_text(COMMENTS + "".join(quoted(name) + "\n" for name in NAMES))
    edgewire.ok("convert", tmp_path / "g.tsv", "--labels", "--vertices", tmp_path / "v", "-o", tmp_path / "g.ew")
    assert (tmp_path / "g.ew.labels").read_text().splitlines()[1:] == sorted([*NAMES, "a", "b"])
    (tmp_path / "v").write_text("a\n#h603273\n")
    line = edgewire.refused("convert", tmp_path / "g.tsv", "--labels", "--vertices", tmp_path / "v", "-o", tmp_path / "h.ew")
    assert line.startswith(f"{tmp_path / 'v'}: line 2, column 1: a comment has a blank after #") and "double quotes" in line


@pytest.mark.parametrize("text, left_out", [
    ("# of all\tb\na\tb\n", "line 1: # of all\tb is left out"), ("a\tb\n% x\tb\n//\tb\n", "line 2: % x\tb is left out"),
    ("a b\n# b\n", "line 2: # b is left out"), ("a b 1\n// b 0.5\n", "line 2: // b 0.5 is left out"),
    ("##VERSION\na b\n", None), ("a b\n##a b c\n%%b\n", None), ("a b\n##a b\n", "line 2: ##a b is left out"),
    ("# from\tto\n# Nodes: 2 Edges: 1\na\tb\n", None), ("# two words\na b\n", None), ("# friends\na b\n", None), ("% friends 1\na b 1\n", None), ("# a\tfriend\na\tb\n", None),
    ("#\n# friends\na b\n# b\n", "line 4: # b is left out"), ("# my graph\na b 1\n", None), ("# a comment\na,b\n#\n", None)])
def test_a_comment_that_may_be_an_edge_is_named(edgewire, tmp_path, text, left_out):
    (tmp_path / "g.txt").write_text(text)
    run = edgewire("convert", tmp_path / "g.txt", "--labels", "-o", tmp_path / "g.ew")
    assert run.returncode == 0 and (tmp_path / "g.ew.labels").read_text().splitlines()[1:] == ["a", "b"]
    said = f"edgewire: {tmp_path / 'g.txt'}: {left_out} as a comment; if it is none, put the name into double quotes\n"
    assert run.stderr == (said if left_out else "")


@pytest.mark.parametrize("written", [quoted, str], ids=["quoted", "as results write them"])
def test_shares_of_every_name(edgewire, graph, tmp_path, written):
    shares = {name: i + 1 for i, name in enumerate(NAMES)}
    (tmp_path / "list").write_text(COMMENTS + "# two\twords\n# drop\t-3\n" + "".join(f"{written(name)}\t{share}\n" for name, share in shares.items()))
    ranks = values(edgewire.ok("ppr", graph, "--sources", f"@{tmp_path / 'list'}", "--damping", 0.5, "--iterations", 1, "-w", 1, "-o", "-"))
    before = dict(zip(NAMES[1:] + NAMES[:1], NAMES))
    assert ranks == pytest.approx({name: (shares[name] + shares[before[name]]) / 2 / sum(shares.values()) for name in NAMES})
