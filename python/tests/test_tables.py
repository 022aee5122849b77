"""One table gives one graph, whatever its format: columns are chosen by one rule, and ids stay what they are."""

import os
import re
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
from test_graph import rows

import edgewire as ew


class Shown:
    """A table of another library, which shows it as Arrow does."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, schema=None):
        return self.table.__arrow_c_stream__(schema)


def text(table, separator):
    lines = [table.column_names] + list(zip(*(column.to_pylist() for column in table.columns)))
    return "".join(separator.join(map(str, line)) + "\n" for line in lines)


def csv(separator, first=""):
    def write(table, path):
        with open(path, "w") as file:
            file.write(first + text(table, separator))
    return write


FILES = {"comma.csv": csv(","), "semicolon.csv": csv(";"), "tabs.tsv": csv("\t"), "excel.csv": csv(";", "sep=;\n"),
         "table.parquet": pa.parquet.write_table, "table.feather": pa.feather.write_feather}
MEMORY = {"pandas": lambda table, *columns, **options: ew.Graph.from_pandas(table.to_pandas(), *columns, **options),
          "arrow": ew.Graph.from_arrow, "shown": lambda table, *columns, **options: ew.Graph.from_arrow(Shown(table), *columns, **options)}
FORMATS = [*FILES, *MEMORY]


@pytest.fixture
def read(tmp_path):
    """Reads a table of pyarrow in a format. Returns the graph, and the warnings without the name of a file."""
    def read_as(name, table, *columns, **options):
        path = tmp_path / name
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            if name in FILES:
                FILES[name](table, path)
                graph = ew.read(path, *columns, **options)
            else:
                graph = MEMORY[name](table, *columns, **options)
        assert all(warning.filename == __file__ for warning in caught)
        return graph, [str(warning.message).removeprefix(f"{path}: ") for warning in caught]
    return read_as


def table_of(*names, **columns):
    data = {"ends": [10, 11], "others": [11, 12], "numbers": [1.5, 2.5], "words": ["x", "y"], **columns}
    return pa.Table.from_arrays([pa.array(data[kind]) for kind, _ in names], [name for _, name in names])


BARE, WEIGHTED = [(10, 11), (11, 12)], [(10, 11, 1.5), (11, 12, 2.5)]
PLACES = "no column is called source or target, so edges go from {} to {}"
HEADERS = [
    ("words id, ends source, others target, numbers weight", WEIGHTED, None),
    ("others target, ends source", BARE, None),
    ("numbers weight, ends source, others target", WEIGHTED, None),
    ("ends src, others dst, numbers weight", WEIGHTED, None),
    ("ends Source, others Target, words Type, words Id, numbers Weight", WEIGHTED, None),
    ("others TO, numbers cost, numbers WEIGHT, ends From", WEIGHTED, None),
    ("others dest, ends from, words label", BARE, None),
    ("ends a, others b", BARE, PLACES.format("a", "b")),
    ("ends a, others b, numbers w", BARE, PLACES.format("a", "b") + "; ignored: w (src='a', dst='b', weight='w' takes w for the weight)"),
    ("numbers weight, ends p, others q", WEIGHTED, PLACES.format("p", "q") + ", with the weight weight"),
    ("words id, others payee, numbers weight, ends payer", WEIGHTED, None),
    ("ends src, others dst, numbers cost", BARE,
     "no column is called weight; ignored: cost (src='src', dst='dst', weight='cost' takes cost for the weight)"),
    ("ends src, others dst, numbers all_in_all%", BARE,
     "no column is called weight; ignored: all_in_all% (src='src', dst='dst', weight=3 takes all_in_all% for the weight)"),
]


@pytest.mark.parametrize("header, edges, says", HEADERS, ids=[header for header, _, _ in HEADERS])
def test_names_choose_the_columns_in_every_format(read, header, edges, says):
    table = table_of(*(column.split() for column in header.split(", ")))
    for name in FORMATS:
        graph, said = read(name, table)
        assert (name, rows(graph), graph.vertices, said) == (name, edges, 3, [says] if says else [])
        if says and "(" in says:  # what it says to say
            columns = eval(f"dict({re.search('[(](src=.*) takes', says)[1]})")
            graph, said = read(name, table, **columns)
            assert (name, rows(graph), said) == (name, WEIGHTED, [])


@pytest.mark.parametrize("header, says", [
    ("ends src, others dst, numbers Weight, numbers weight", "columns 3 (Weight) and 4 (weight) may both be the weight"),
    ("ends src, ends from, others dst", "columns 1 (src) and 2 (from) may both be the source"),
    ("ends src, others b", "which columns hold the edges?"),
    ("numbers weight, others b", "which columns hold the edges?")])
def test_names_that_do_not_tell_are_refused_in_every_format(read, header, says):
    table = table_of(*(column.split() for column in header.split(", ")))
    for name in FORMATS:
        with pytest.raises(ew.Error, match=re.escape(says)) as caught:
            read(name, table)
        assert "--" not in str(caught.value)
        last = table.num_columns
        remedy = re.search("such as (.*?)([.] |$)", str(caught.value))[1]
        assert remedy.startswith("src=1, dst=")
        if "both" in says:
            assert rows(read(name, table, **eval(f"dict({remedy})"))[0]) == (WEIGHTED if last == 4 else BARE)


def test_columns_of_one_name_are_refused(read):
    table = table_of(("ends", "src"), ("others", "dst"), ("numbers", "weight"), ("numbers", "weight"))
    for name in FORMATS:
        if name == "table.feather":  # pyarrow does not write such a file
            continue
        with pytest.raises(ew.Error, match="duplicate field names: rename one" if name.endswith("parquet") else "may both be the weight"):
            read(name, table)
        if not name.endswith("parquet"):
            assert rows(read(name, table, 1, 2, 4)[0]) == WEIGHTED
            with pytest.raises(ew.Error, match="weight.* by (its )?number"):
                read(name, table, "src", "dst", "weight")


def test_a_weight_alone_is_named():
    frame = pd.DataFrame({"src": [10, 11], "dst": [11, 12], "w": [1.5, 2.5]})
    assert rows(ew.Graph.from_pandas(frame, weight="w")) == WEIGHTED
    with pytest.raises(ew.UsageError, match="src and dst name columns together"):
        ew.Graph.from_pandas(frame, "src")


def test_columns_of_a_frame_that_are_numbers():
    frame = pd.DataFrame([[10, 11, 1.5], [11, 12, 2.5]]).astype({0: int, 1: int})
    with pytest.warns(UserWarning, match="so edges go from 0 to 1; ignored: 2$"):
        assert rows(ew.Graph.from_pandas(frame)) == BARE
    assert rows(ew.Graph.from_pandas(frame, 0, 1, 2)) == WEIGHTED
    with pytest.raises(ew.Error, match="no column 3; columns are 0, 1, 2"):
        ew.Graph.from_pandas(frame, 0, 1, 3)


ODD = [(20_000_000, 1), (1, 2), (2**31, 5), (2**32 - 1, 2**32), (2**63, 2**64 - 2), (2**64 - 1, 0)]


@pytest.mark.parametrize("edges", [*([edge, (1, 2)] for edge in ODD), ODD], ids=str)
def test_ids_stay_what_they_are_in_every_format(read, tmp_path, edges):
    kind = pa.int64() if max(map(max, edges)) < 2**63 else pa.uint64()
    sources, targets = ([edge[side] for edge in edges] for side in (0, 1))
    table = pa.table({"src": pa.array(sources, kind), "dst": pa.array(targets, kind)})
    graphs = {name: read(name, table)[0] for name in FORMATS}
    graphs["edges"] = ew.Graph.from_edges(sources, targets)
    (tmp_path / "e.txt").write_text("".join(f"{u} {v}\n" for u, v in edges))
    graphs["list"] = ew.read(tmp_path / "e.txt")
    ids = sorted({id for edge in edges for id in edge})
    for name, graph in graphs.items():
        assert (name, graph.labels.tolist(), rows(graph)) == (name, ids, sorted(edges))
        assert os.stat(graph._source).st_size < 100_000


def test_ids_are_kept_where_that_is_asked_for(read):
    table = table_of(("ends", "src"), ("others", "dst"))
    for name in FORMATS:
        graph, _ = read(name, table, keep_ids=True)
        assert (name, graph.vertices, graph.labels) == (name, 13, None)
        assert rows(graph) == BARE
    assert ew.Graph.from_edges([10], [11], vertices=20).vertices == 20


def free_bytes():
    with open("/proc/meminfo") as file:
        return next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable"))


@pytest.mark.skipif(free_bytes() > 30e9, reason="so many vertices fit the memory here")
def test_vertices_that_need_more_memory_than_is_free(read):
    last = 2**32 - 3
    table = pa.table({"src": [last], "dst": [0]})
    for name in FORMATS:
        with pytest.raises(ew.Error, match=r"needs about 34359 MB of memory, \d+ MB are available"):
            read(name, table, keep_ids=True)
    with pytest.raises(ew.Error, match=rf"all ids up to {last} \(from_edges\(\) keeps those that occur\): needs about 34359 MB"):
        ew.Graph.from_numpy([last], [0])


def test_a_column_type_that_says_undirected(read):
    head = ("ends", "Source"), ("others", "Target"), ("types", "Type")
    for types, says in [(["Undirected", "undirected"], "all edges are Undirected by their column Type"),
                        (["Undirected", "Directed"], "1 of 2 edges are Undirected by their column Type"), (["Directed"] * 2, None)]:
        for name in FORMATS:
            graph, said = read(name, table_of(*head, types=types))
            assert rows(graph) == BARE and len(said) == (says is not None)
            assert not said or said[0].startswith(says) and "undirected=True stores" in said[0]
            assert not read(name, table_of(*head, types=types), undirected=True)[1]


def test_hints_name_what_can_be_installed(monkeypatch):
    """What `pip install` is said to install is a package of pyproject.toml or known to be one."""
    import edgewire.graph

    folder = os.path.dirname(edgewire.__file__)
    modules = {module for file in os.listdir(folder) if file.endswith(".py")
               for module in re.findall(r'needed\("([\w.]+)"', open(os.path.join(folder, file)).read())}
    assert {"pyarrow.dataset", "scipy.sparse", "pandas", "networkx"} <= modules

    def none(name):
        raise ImportError(name)

    monkeypatch.setattr("importlib.import_module", none)
    for module in modules:
        with pytest.raises(ew.Error) as caught:
            edgewire.graph.needed(module, "this")
        assert re.search(r"[(]pip install (.*)[)]$", str(caught.value))[1] in {"pandas", "pyarrow", "scipy", "networkx", "tqdm"}


def test_columns_of_names_are_names_in_every_format(read):
    """Files of text say so in a warning: their ids have no type."""
    table = pa.table({"payer": ["bob", "Éva"], "payee": ["Éva", "ann"], "weight": [1.5, 2.5]})
    for name in FORMATS:
        graph, said = read(name, table)
        assert (name, graph.labels.tolist(), rows(graph)) == (name, ["ann", "bob", "Éva"], [("bob", "Éva", 1.5), ("Éva", "ann", 2.5)])
        assert said == (["ids are names, taken as with labels=True"] if name.endswith(("csv", "tsv")) else [])
        assert dict(zip(*(ew.bfs(graph, 1).to_frame()[column] for column in ("vertex", "level")))) == {"ann": 2, "bob": 0, "Éva": 1}
        if name in FILES:
            options = {"labels": True} if name.endswith(("csv", "tsv")) else {}
            assert read(name, table, **options)[1] == []
