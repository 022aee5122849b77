"""All commands that read a graph take what `convert` reads, with its options: --format, --labels, --columns."""

import json
import os

import pytest

import rights
from every_command import KERNELS

# The same graph: a list of edges, one of names, and a table.
EDGES = [(0, 1), (1, 2), (2, 0), (2, 1), (3, 2), (1, 3)]
NAMES = ["ada", "bob", "cy", "dora lee"]
TABLE = ["--columns", "who,whom"]


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("reading")
    (folder / "g.txt").write_text("".join(f"{source} {target}\n" for source, target in EDGES))
    (folder / "g.data").write_text("".join(f"{source} {target}\n" for source, target in EDGES))
    (folder / "names.tsv").write_text("".join(f"{NAMES[source]}\t{NAMES[target]}\n" for source, target in EDGES))
    (folder / "mixed.tsv").write_text("source\ttarget\n1\t2\n2\tbob\n")
    (folder / "table.csv").write_text("when,who,whom\n" + "".join(f"7,{source},{target}\n" for source, target in EDGES))
    return folder


def asked(kernel, source):
    return ["--source", source, *(["--unit-weights"] if kernel == "sssp" else [])] if kernel in ("bfs", "sssp", "ppr", "bc") else []


def values(text):
    return dict(line.split("\t") for line in text.splitlines())


@pytest.mark.parametrize("kernel", KERNELS)
def test_kernels_read_names_and_tables(edgewire, inputs, kernel):
    """Labels that name vertices (wcc) are compared by their place."""
    run = ["-w", 1, "-p", 2, "--deterministic", "-o", "-"]
    known = values(edgewire.ok(kernel, inputs / "g.txt", *asked(kernel, 1), *run))
    table = values(edgewire.ok(kernel, inputs / "table.csv", *TABLE, *asked(kernel, 1), *run))
    named = values(edgewire.ok(kernel, inputs / "names.tsv", "--labels", *asked(kernel, "bob"), *run))
    listed = values(edgewire.ok(kernel, inputs / "g.data", "--format", "snap", *asked(kernel, 1), *run))
    assert table == listed == known
    def renamed(value):
        return NAMES[int(value)] if kernel in ("wcc", "scc", "cdlp") else value
    assert named == {NAMES[int(vertex)]: renamed(value) for vertex, value in known.items()}


@pytest.mark.parametrize("name, options, labels", [("g.txt", [], False), ("names.tsv", ["--labels"], True), ("table.csv", TABLE, False),
                                                   ("g.data", ["--format", "el"], False)])
def test_info_looks_at_any_format(edgewire, inputs, tmp_path, name, options, labels):
    edgewire.ok("convert", inputs / name, *options, "-o", tmp_path / "g.ew")
    done = edgewire("info", inputs / name, *options, "--verify", "--json", "-")
    assert done.returncode == 0 and done.stderr.startswith(f"edgewire: {inputs / name}: converted for this run in "), done.stderr
    said, known = json.loads(done.stdout), json.loads(edgewire.ok("info", tmp_path / "g.ew", "--json", "-"))
    assert said.pop("seconds_convert") >= 0 and said["labels"] is labels
    for one in (said, known):
        del one["seconds"], one["path"]
    assert said == known
    text = edgewire.ok("info", inputs / name, *options)
    assert text.startswith(f"{inputs / name}: as a graph file (.ew), ") and f"\n  edges               {len(EDGES)}\n" in text
    assert f"\n  names               {'yes' if labels else 'no'}\n" in text


def test_bound_counts_any_format(edgewire, inputs):
    def rows(*words):
        found = json.loads(edgewire.ok("bound", *words, "-p", 2, "-w", 1, "--ownership", "ranges", "--json", "-"))["rows"]
        return [(row["strategy"], row["encoding"], row["values_sent_total"], row["payload_bytes_total"]) for row in found]
    known = rows(inputs / "g.txt")
    assert known == rows(inputs / "names.tsv", "--labels") == rows(inputs / "table.csv", *TABLE) == rows(inputs / "g.data", "--format", "el")
    levels = json.loads(edgewire.ok("bound", inputs / "names.tsv", "--labels", "--kernel", "bfs", "--source", "dora lee", "-p", 2, "--json", "-"))
    assert levels == json.loads(edgewire.ok("bound", inputs / "g.txt", "--kernel", "bfs", "--source", 3, "-p", 2, "--json", "-")
                                .replace(str(inputs / "g.txt"), str(inputs / "names.tsv")).replace('"source": "3"', '"source": "dora lee"'))


def test_compare_reads_any_format(edgewire, inputs, tmp_path):
    rights.need_hosts()
    for name, options in (("names.tsv", ["--labels"]), ("table.csv", TABLE)):
        report = json.loads(edgewire.ok("compare", inputs / name, *options, "-p", 2, "--rate", "1G", "--strategy", "slots", "--repeat", 1,
                                        "--iterations", 2, "--json", "-"))
        assert (report["graph"], report["edges"]) == (str(inputs / name), len(EDGES))


def test_names_leave_nothing_behind(edgewire, inputs, tmp_path):
    edgewire.ok("pagerank", inputs / "names.tsv", "--labels", "-w", 1, "--top", 2, env={"TMPDIR": str(tmp_path)})
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("words, status, said", [
    (["mixed.tsv"], 1, "Are ids names? Then say --labels, too"), (["g.ew", "--labels"], 2, "has its names already: leave out --labels"),
    (["g.ew", "--columns", "1,2"], 2, "has its names already: leave out --columns"), (["g.txt", "--format", "snp"], 2, "did you mean snap?"),
    (["g.data", "--labels", "--format", "el"], 2, "--labels: only edge lists (snap)"),
    (["table.csv", "--columns", "who,nobody"], 1, "nobody"), (["g.txt", "--format", "ew"], 1, "g.txt: "),
])
@pytest.mark.parametrize("command", ["info", "wcc", "pagerank", "bound"])
def test_what_cannot_be_read_is_said_in_a_line(edgewire, inputs, command, words, status, said):
    edgewire.ok("convert", inputs / "g.txt", "-o", inputs / "g.ew")
    line = edgewire.refused(command, inputs / words[0], *words[1:], status=status)
    assert said in line and "options of `edgewire convert`" not in line
