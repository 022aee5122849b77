"""Results as tables and JSON, read by Python's own readers. All values were found by hand."""

import csv
import gzip
import io
import json

import pytest

# Of a circle of three and a vertex that leads to it: a -> b, b -> c, c -> a, d -> a.
EDGES = ["ab", "bc", "ca", "da"]
NAMES = {
    "names": dict(zip("abcd", ['"A", or', "#b x", "Cy\\", "d \u00e9 "])),  # in the order of their bytes
    "ids": dict(zip("abcd", [5, 7, 9, 5_000_000_000])),
}
KERNELS = [
    (["pagerank", "--iterations", 1], "rank", [0.4625, 0.25, 0.25, 0.0375]),
    (["ppr", "--source", "a", "--iterations", 1], "rank", [0.15, 0.85, 0, 0]),
    (["spmv"], "value", [2, 1, 1, 0]),
    (["bfs", "--source", "a"], "level", [0, 1, 2, None]),
    (["bfs", "--source", "a", "--parents"], "parent", ["a", "a", "b", None]),
    (["sssp", "--source", "b", "--unit-weights"], "distance", [2, 0, 1, None]),
    (["sssp", "--source", "b", "--unit-weights", "--precision", "f32"], "distance", [2, 0, 1, None]),
    (["sssp", "--source", "b", "--unit-weights", "--parents"], "parent", ["c", "b", "b", None]),
    (["bc"], "betweenness", [3, 2, 1, 0]),
    (["wcc"], "component", ["a", "a", "a", "a"]),
    (["scc"], "component", ["a", "a", "a", "d"]),
    (["cdlp", "--iterations", 1], "label", ["b", "a", "a", "a"]),
    (["lcc"], "coefficient", [1 / 6, 1 / 2, 1 / 2, 0]),
    (["tc"], "triangles", [1, 1, 1, 0]),
]


def text_of(path):
    """What a file holds, as UTF-8 and with its line ends."""
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()


def from_csv(text):
    """The column's name, and a dict of vertices and values as text; none for an empty field."""
    header, *rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    assert header[0] == "vertex" and len(header) == 2 and "\r" not in text
    return header[1], {vertex: value or None for vertex, value in rows}


def from_json(text):
    """The same, with values as JSON has them."""
    records = json.loads(text, parse_constant=pytest.fail)
    column, = {key for record in records for key in record} - {"vertex"}
    assert text.count("\n") == len(records) + 2  # each record on a line
    assert all(list(record) == ["vertex", column] for record in records)
    return column, {record["vertex"]: record[column] for record in records}


@pytest.fixture(scope="module", params=NAMES)
def graph(request, edgewire, tmp_path_factory):
    names, path = NAMES[request.param], tmp_path_factory.mktemp("graph") / "g.ew"
    quoted = {letter: '"{}"'.format(str(name).replace('"', '""')) for letter, name in names.items()}
    shown = quoted if request.param == "names" else names
    path.with_suffix(".txt").write_text("".join(f"{shown[u]}\t{shown[v]}\n" for u, v in EDGES))
    edgewire.ok("convert", path.with_suffix(".txt"), *["--labels"] * (request.param == "names"), "-o", path)
    return path, names


@pytest.mark.parametrize("kernel, column, values", KERNELS, ids=lambda one: " ".join(map(str, one)) if isinstance(one, list) else None)
def test_a_result_is_a_table_or_json(edgewire, graph, tmp_path, kernel, column, values):
    path, names = graph
    command = [kernel[0], path, *(names.get(word, word) for word in kernel[1:]), "-w", 1]
    expected = dict(zip(names.values(), [names.get(value, value) for value in values]))

    def check(found, vertex=lambda name: name, value=lambda value: value):
        assert found[0] == column
        assert found[1] == {vertex(name): pytest.approx(value(one), rel=1e-6) if isinstance(one, float) else value(one)
                            for name, one in expected.items()}

    def check_csv(text):
        found, texts = from_csv(text)
        check((found, {name: value if value is None or column in ("parent", "component", "label") else float(value)
                       for name, value in texts.items()}),
              str, lambda value: value if value is None or column not in ("parent", "component", "label") else str(value))

    for processes, name in ((1, "r.csv"), (2, "r.CSV.gz")):
        edgewire.ok(*command, "-p", processes, "-o", tmp_path / name)
        check_csv(text_of(tmp_path / name))
    for processes, name in ((2, "r.json"), (1, "r.json.gz")):
        edgewire.ok(*command, "-p", processes, "-o", tmp_path / name)
        check(from_json(text_of(tmp_path / name)))
    edgewire.ok(*command, "-p", 2, "-o", tmp_path / "p.csv", "--output-parts")
    edgewire.ok(*command, "-p", 2, "-o", tmp_path / "p.json", "--output-parts")
    parts = [text_of(tmp_path / f"p.csv.{rank:04}-of-0002") for rank in (0, 1)]
    assert all(from_csv(part)[0] == column for part in parts if part.count("\n") > 1)
    check_csv(parts[0] + parts[1].partition("\n")[2])
    records = [json.loads(text_of(tmp_path / f"p.json.{rank:04}-of-0002")) for rank in (0, 1)]
    check((column, {record["vertex"]: record[column] for part in records for record in part}))


def test_each_run_and_stdout(edgewire, graph, tmp_path):
    """A name that stands for the source tells the form, too; what goes to stdout, or to another name, stays lines."""
    path, names = graph
    edgewire.ok("bfs", path, "--samples", 2, "-w", 1, "-o", tmp_path / "{}.json")
    files = {file.name: from_json(file.read_text()) for file in tmp_path.iterdir()}
    assert len(files) == 2 and set(files) <= {f"{name}.json" for name in names.values()}
    assert all(column == "level" and len(values) == 4 for column, values in files.values())
    lines = "".join(f"{name}\t{value}\n" for name, value in zip(names.values(), [2, 1, 1, 0]))
    for name in ("r.tsv", "r.txt", "r", "r.csv.out"):
        edgewire.ok("spmv", path, "-w", 1, "-o", tmp_path / name)
        assert (tmp_path / name).read_text() == lines
    assert edgewire.ok("spmv", path, "-w", 1, "-o", "-") == lines


@pytest.mark.parametrize("name, call", [
    ("r.parquet", 'edgewire.KERNEL(...).to_frame().to_parquet("PATH")'), ("r.PQ", 'edgewire.KERNEL(...).to_frame().to_parquet("PATH")'),
    ("r.feather", 'edgewire.KERNEL(...).to_frame().to_feather("PATH")'),
    ("r.xlsx", 'edgewire.KERNEL(...).to_frame().to_excel("PATH", index=False)'),
    ("r.npy", ""), ("r.mtx", ""), ("r.ew", ""), ("r.graphml", ""), ("r.parquet.gz", ""),
])
@pytest.mark.parametrize("kernel", ["pagerank", "ppr", "bfs", "tc"])
def test_other_formats_are_refused_before_the_run(edgewire, tmp_path, kernel, name, call):
    """Also before the graph is opened, which is not there."""
    path = tmp_path / name
    source = ["--source", 1] if kernel in ("ppr", "bfs") else []
    line = edgewire.refused(kernel, tmp_path / "none.ew", *source, "-o", path, status=2)
    ending = "." + name.lower().removesuffix(".gz").rpartition(".")[2]
    start = (f"-o {path}: results are not written as {ending}; use .csv (a table with a header), .json (records) or .tsv "
             "(lines of vertex, tab and value)")
    function = {"ppr": "pagerank(...)", "tc": "tc(..., vertices=True)"}.get(kernel, f"{kernel}(...)")
    assert line == start + (call and "; Python writes it: " + call.replace("KERNEL(...)", function).replace("PATH", str(path)))


def test_a_source_may_not_name_another_format(edgewire, tmp_path):
    (tmp_path / "g.txt").write_text("a.ew b\nb a.ew\n")
    edgewire.ok("convert", tmp_path / "g.txt", "--labels", "-o", tmp_path / "g")
    line = edgewire.refused("bfs", tmp_path / "g", "--sources", "b,a.ew", "-w", 1, "-o", f"{tmp_path}/r-{{}}", status=2)
    assert f"-o {tmp_path}/r-a.ew: results are not written as .ew; " in line
    assert not list(tmp_path.glob("r*"))


@pytest.mark.parametrize("form, called", [("csv", "a table (CSV)"), ("json", "JSON")])
def test_lists_are_no_tables(edgewire, graph, tmp_path, form, called):
    path, _ = graph
    result = tmp_path / f"r.{form}"
    edgewire.ok("spmv", path, "-w", 1, "-o", result)
    said = f"{result}: line 1: this is {called}, but lists of vertices and values are lines without a header, as -o writes them to FILE.tsv"
    for options in (["spmv", path, "--x", result], *([kernel, path, "--sources", f"@{result}"] for kernel in ("ppr", "bfs", "bc"))):
        assert edgewire.refused(*options, "-w", 1) == said


def test_a_vertex_may_have_the_name_of_a_header(edgewire, tmp_path):
    names = ["[", "vertex,rank"]
    (tmp_path / "g.txt").write_text('"vertex,rank"\t[\n')
    edgewire.ok("convert", tmp_path / "g.txt", "--labels", "-o", tmp_path / "g.ew")
    for name in names:
        (tmp_path / "list").write_text(f"{name}\n")
        assert name in edgewire.ok("ppr", tmp_path / "g.ew", "--sources", f"@{tmp_path / 'list'}", "-w", 1, "--iterations", 0, "-o", "-")
        (tmp_path / "x").write_text(f"{name}\t3\n")
        y = edgewire.ok("spmv", tmp_path / "g.ew", "--x", tmp_path / "x", "-w", 1, "-o", "-")
        assert y == f"[\t{0 if name == '[' else 3}\nvertex,rank\t0\n"
