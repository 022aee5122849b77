"""What newcomers pass by mistake, and the one line that each call then says: test_bad_inputs.py checks them, leaks.py repeats them."""

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.feather
import pyarrow.parquet
import scipy.sparse as sp

import edgewire as ew

Graph = ew.Graph


class Graphs:
    """What the calls below use."""

    def __init__(self, folder):
        src, dst = np.random.default_rng(1).integers(0, 200, (2, 1500))
        self.plain = Graph.from_numpy(src, dst, vertices=200)
        self.weighted = Graph.from_numpy(src, dst, np.ones(1500), vertices=200)
        self.negative = Graph.from_numpy([0, 1], [1, 0], [-1.0, 2.0])
        self.labelled = Graph.from_edges(["a", "b"], ["b", "c"])
        self.none = Graph.from_numpy([], [])
        self.folder = folder
        self.plain.save(folder / "g.ew")
        (folder / "e.csv").write_text("a,b,w\n0,1,0.5\n1,2,1.5\n")
        (folder / "mixed.csv").write_text("source,target\nalice,bob\nbob,17\n")
        (folder / "unclear.csv").write_text("alice,bob\ncarol,dave\n")
        (folder / "half.csv").write_text("src,b\n0,1\n")
        (folder / "negative.csv").write_text("a,b\n0,1\n1,-2\n")
        (folder / "floats.csv").write_text("a,b\n0,1.5\n")
        (folder / "no parquet.parquet").write_text("a,b\n0,1\n")
        (folder / "empty.ew").touch()
        (folder / "folder.csv").mkdir()
        table = pa.table({"a": np.arange(100_000), "b": np.arange(100_000), "w": np.ones(100_000), "t": ["x"] * 100_000})
        pa.parquet.write_table(table, folder / "e.parquet")
        pages = bytearray((folder / "e.parquet").read_bytes())
        (folder / "short.parquet").write_bytes(pages[:-20])
        pages[200:5000] = b"\xff" * 4800
        (folder / "damaged.parquet").write_bytes(pages)
        for name, columns in FILES.items():
            pa.parquet.write_table(pa.table(columns), folder / f"{name}.parquet")

    def read(self, name, *columns, **options):
        return ew.read(self.folder / name, *columns, **options)


FILES = {
    "one column": {"a": [1, 2]},
    "null": {"a": pa.array([1, 2, None]), "b": [1, 2, 3]},
    "null in dictionary": {"a": pa.array(["x", None]).dictionary_encode(), "b": ["x", "y"]},
    "floats": {"a": [1.0, 2.0], "b": [1, 2]},
    "negative": {"a": [1, -2], "b": [0, 0]},
    "huge": {"a": pa.array([2**63 + 1], pa.uint64()), "b": pa.array([2], pa.uint64())},
    "nested": {"a": [[1]], "b": [2]},
    "nested weight": {"a": [1], "b": [2], "w": [[1.0]]},
    "no name": {"a": ["", "b"], "b": ["b", "c"]},
    "nan": {"a": ["x", "y"], "b": ["y", "x"], "w": [1.0, float("nan")]},
}


def array(values, kind):
    return np.array(values, kind)


def chunks(*parts):
    return pa.chunked_array(list(parts))


def masked(values):
    return np.ma.array(values, mask=[i == 1 for i in range(len(values))])


frame = pd.DataFrame({"src": [0, 1], "dst": [1, 0], "w": [1.0, 2.0]})
table = pa.table({"src": [0, 1], "dst": [1, 0], "w": [1.0, 2.0]})
null_name = pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["x", None]))

# Arguments of Graph.from_numpy().
ARRAYS = [
    ([-1, 2], [0, 1], None, "the source of edge 0 is -1"),
    ([0, 2], [0, -7], None, "the target of edge 1 is -7"),
    ([0.5], [1], None, "src has ids of type float64: they must be whole numbers .astype"),
    ([True], [1], None, "src has ids of type bool"),
    ([0], ["a"], None, "dst has ids of type object: they must be whole numbers .Graph.from_edges"),
    ([0, None], [1, 1], None, "src: element 1 is None"),
    ([0, 1], [1, float("nan")], None, "dst: element 1 is nan"),
    (pd.Series([0, None], dtype="Int64"), [1, 1], None, "src: element 1 is (nan|<NA>)"),
    (pa.array([0, None]), [1, 1], None, "src: element 1 is nan"),
    (masked([1, 2, 3]), [1, 2, 3], None, "src: element 1 is masked"),
    (array(["2020-01-01"], "M8[D]"), [1], None, "src has ids of type datetime64"),
    (1, 2, None, "src is a int: an array or a list is needed"),
    ({1, 2}, [1, 2], None, "src is a set"),
    ([[0, 1]], [[1, 0]], None, "src has 2 dimensions"),
    ([[0], [1, 2]], [0, 1], None, "src is no array of one dimension"),
    ([0, 1], [1], None, "2 sources, 1 targets"),
    ([2**40], [1], None, r"all ids up to 1099511627776 \(from_edges\(\) keeps those that occur\): more than the"),
    ([2**64 - 1], [1], None, "all ids up to 18446744073709551615 .*: more than the"),
    ([2**64], [1], None, "src has ids that are not from 0 to"),
    ([0, 1], [1, 0], [1.0], "1 weights"),
    ([0, 1], [1, 0], [1.0, float("nan")], "the weight of edge 1 is nan"),
    ([0, 1], [1, 0], array([1.0, np.inf], "f4"), "the weight of edge 1 is inf"),
    ([0, 1], [1, 0], [1.0, None], "weight: element 1 is None"),
    ([0, 1, 2], [1, 0, 2], masked([1.0, 2.0, 3.0]), "weight: element 1 is masked"),
    ([0], [1], ["x"], "weight is of type object: numbers are needed here"),
    ([0], [1], [1 + 2j], "weight is of type complex128: numbers are needed here"),
    ([0], [1], 1.0, "weight is a float"),
    ([0], [1], [[1.0]], "weight has 2 dimensions"),
]

# Calls of a Graphs.
CALLS = [
    (lambda t: Graph.from_numpy([0], [5], vertices=3), ew.Error, "id 5 is no vertex of a graph of 3 vertices"),
    (lambda t: Graph.from_numpy([0], [1], vertices=-1), ew.UsageError, "vertices=-1: a whole number from 0 on"),
    (lambda t: Graph.from_numpy([0], [1], vertices=2**33), ew.Error, "more than the"),
    (lambda t: Graph.from_numpy([0], [1], undirected="yes"), ew.UsageError, "undirected='yes': True or False"),
    (lambda t: Graph.from_numpy([0], [1], workers=10**9), ew.UsageError, "workers=1000000000 is outside the range"),
    (lambda t: Graph.from_numpy([0], [1], progress="yes"), ew.UsageError, "progress='yes': True, False or a function"),
    (lambda t: Graph.from_numpy([0], [1], labels=["x", "x"]), ew.Error, "two vertices have the label 'x'"),
    (lambda t: Graph.from_numpy([0], [2], labels=["x", "y"]), ew.UsageError, "2 names for 3 vertices"),
    (lambda t: Graph.from_numpy([0], [1], labels=["x", "a\nb"]), ew.Error, "empty or has a control character"),
    (lambda t: Graph.from_numpy([0], [1], labels=["x", None]), ew.Error, "labels: element 1 is None"),
    (lambda t: Graph.from_numpy([0], [1], labels=["x", "\ud800"]), ew.Error, "labels are no Unicode text"),
    (lambda t: Graph.from_numpy([0], [1], labels="xy"), ew.UsageError, "a name for each vertex"),
    (lambda t: Graph.from_numpy([0], [1], labels=[]), ew.UsageError, "labels: there are none"),
    (lambda t: Graph.from_edges(["a", None], ["b", "c"]), ew.Error, "src: element 1 is None"),
    (lambda t: Graph.from_edges(["a", "b"], array(["b", pd.NA], object)), ew.Error, "dst: element 1 is <NA>"),
    (lambda t: Graph.from_edges([1, "1"], ["b", "c"]), ew.Error, "src has ids of type int, str: they must be whole"),
    (lambda t: Graph.from_edges([b"\xff"], array([b"\xff"], "S1")), ew.Error, "src has ids of type bytes"),
    (lambda t: Graph.from_edges(array([b"\xff"], "S1"), ["a"]), ew.Error, "src has bytes that are no UTF-8"),
    (lambda t: Graph.from_edges(["a"], ["b", "c"]), ew.UsageError, "arrays of unequal length: 1, 2"),
    (lambda t: Graph.from_edges(["a", ""], ["b", "c"]), ew.Error, "empty or has a control character"),
    (lambda t: Graph.from_edges(["a"], ["b"], vertices=5), ew.UsageError, "leave out labels=, vertices= and keep_ids="),
    (lambda t: Graph.from_pandas(frame, "src", "c"), ew.Error, "no column 'c'; columns are 'src', 'dst', 'w'"),
    (lambda t: Graph.from_pandas(frame, "src", "src"), ew.UsageError, "column 'src' is named twice"),
    (lambda t: Graph.from_pandas([0, 1]), ew.UsageError, r"from_pandas\(\) takes a DataFrame, not a list"),
    (lambda t: Graph.from_pandas(pd.concat([frame, frame], axis=1)), ew.Error, r"columns 1 \(src\) and 4 \(src\) may both be"),
    (lambda t: Graph.from_pandas(pd.concat([frame, frame], axis=1), "src", "dst"), ew.Error, "more than one column 'src'"),
    (lambda t: Graph.from_pandas(pd.DataFrame({"src": pd.array([0, None], "Int64"), "dst": [1, 0]})), ew.Error, "'src' has nulls"),
    (lambda t: Graph.from_pandas(pd.DataFrame({"src": pd.Categorical(["a", None]), "dst": ["b", "c"]})), ew.Error, "'src' has nulls"),
    (lambda t: Graph.from_arrow(table, "src", "c"), ew.Error, "no column 'c'; columns are 'src', 'dst', 'w'"),
    (lambda t: Graph.from_arrow(pa.table({"src": chunks([0], [None]), "dst": [1, 0]})), ew.Error, "'src' has nulls"),
    (lambda t: Graph.from_arrow(pa.table({"src": null_name, "dst": ["x", "y"]})), ew.Error, "'src' has nulls"),
    (lambda t: Graph.from_arrow(pa.table(FILES["nested"]), "a", "b"), ew.Error, "'a' has ids of type list"),
    (lambda t: Graph.from_arrow([0, 1]), ew.UsageError, r"from_arrow\(\) takes a Table or RecordBatch"),
    (lambda t: Graph.from_scipy(np.eye(3)), ew.UsageError, "a sparse matrix of SciPy, not a ndarray"),
    (lambda t: Graph.from_scipy(sp.csr_array((2, 3))), ew.Error, "2 x 3 is no graph"),
    (lambda t: Graph.from_scipy(sp.csr_matrix((np.ones(1), np.array([7]), np.array([0, 1, 1])), shape=(2, 2))), ew.Error, "is damaged"),
    (lambda t: Graph.from_networkx([0]), ew.UsageError, "a graph of NetworkX, not a list"),
    (lambda t: Graph.from_networkx(nx.Graph([(1, 2, {"w": "x"})]), "w"), ew.Error, "weight is of type object"),
    (lambda t: Graph.from_networkx(nx.Graph([(1, "1")])), ew.Error, "two vertices have the label '1'"),
    # Files.
    (lambda t: t.read("none.csv"), ew.Error, "none.csv: cannot read"),
    (lambda t: t.read("none.parquet"), ew.Error, "none.parquet: no such file"),
    (lambda t: t.read("folder.csv"), ew.Error, "folder.csv: it is a folder without a graph"),
    (lambda t: t.read("half.csv"), ew.Error, "which columns hold the edges[?] Say src= and dst=, .* such as src=1, dst=2[.] Are ids names"),
    (lambda t: t.read("mixed.csv"), ew.Error, "line 3, column 5: 17 is a number, but other ids are names: labels=True takes all ids for names$"),
    (lambda t: t.read("unclear.csv"), ew.Error, "alice and bob may be names of columns or an edge: labels=True, src='alice', dst='bob' takes them for "
     "columns, labels=True, src=1, dst=2 for an edge$"),
    (lambda t: t.read("e.csv", "a", "c"), ew.Error, "no column c; its columns are a, b, w"),
    (lambda t: t.read("e.csv", "a"), ew.UsageError, "src and dst name columns together"),
    (lambda t: t.read("e.csv", "a", "b", format="xls"), ew.UsageError, "format='xls' is none of"),
    (lambda t: t.read("negative.csv", "a", "b"), ew.Error, "line 3, column 3: expected a vertex id"),
    (lambda t: t.read("floats.csv", "a", "b"), ew.Error, "line 2, column 3: expected a vertex id"),
    (lambda t: t.read("e.parquet", "a", "c"), ew.Error, "e.parquet: there is no column 'c'; columns are 'a', 'b', 'w', 't'"),
    (lambda t: t.read("e.parquet", "a", "b", "t"), ew.Error, "column 't' has weights of type (large_)?string"),
    (lambda t: t.read("e.parquet", "a"), ew.UsageError, "src and dst name columns together"),
    (lambda t: t.read("short.parquet"), ew.Error, "short.parquet: "),
    (lambda t: t.read("damaged.parquet"), ew.Error, "damaged.parquet: "),
    (lambda t: t.read("no parquet.parquet"), ew.Error, "no parquet.parquet: "),
    (lambda t: t.read("one column.parquet"), ew.Error, "which columns hold the edges[?] Say src= and dst="),
    (lambda t: t.read("null.parquet"), ew.Error, "column 'a' has a null in row 2"),
    (lambda t: t.read("null in dictionary.parquet"), ew.Error, "column 'a' has a null in row 1"),
    (lambda t: t.read("floats.parquet"), ew.Error, "column 'a' has ids of type double"),
    (lambda t: t.read("negative.parquet"), ew.Error, "negative.parquet: the source of edge 1 is -2"),
    (lambda t: t.read("huge.parquet", keep_ids=True), ew.Error, "huge.parquet: vertices are all ids up to 9223372036854775809"),
    (lambda t: t.read("nested.parquet"), ew.Error, "column 'a' has ids of type list"),
    (lambda t: t.read("nested weight.parquet", "a", "b", "w"), ew.Error, "column 'w' has weights of type list"),
    (lambda t: t.read("no name.parquet"), ew.Error, "no name.parquet: row 0: a name is empty"),
    (lambda t: t.read("nan.parquet", "a", "b", "w"), ew.Error, "nan.parquet: row 1: the weight is not a finite number$"),
    (lambda t: t.read("a\0b.el"), ew.UsageError, "without zero bytes"),
    (lambda t: t.read("\udcff.el"), ew.UsageError, "names of files are UTF-8"),
    (lambda t: t.read("empty.ew"), ew.Error, "empty.ew: the file is empty"),
    (lambda t: Graph(t.folder / "e.csv"), ew.Error, "e.csv: .*not an Edgewire graph"),
    (lambda t: t.plain.save(t.folder / "g.xyz"), ew.UsageError, r"\.xyz is not written; use a name that ends in .* or \.graph$"),
    (lambda t: t.plain.save(t.folder / "none" / "g.ew"), ew.Error, "none/g.ew: cannot write"),
    (lambda t: t.plain.save(t.folder / "none" / "g.csv"), ew.Error, "none/g.csv: cannot write"),
    (lambda t: t.read("g.ew").save(t.folder / "g.ew"), ew.Error, "input and output are the same file"),
    (lambda t: t.plain.to_pandas("a", "a"), ew.UsageError, "names of different columns"),
    # Kernels.
    (lambda t: ew.pagerank(None), ew.UsageError, "a Graph is needed here, not a NoneType"),
    (lambda t: ew.pagerank(nx.path_graph(3)), ew.UsageError, "a Graph is needed here"),
    (lambda t: ew.pagerank(t.plain, damping=3), ew.UsageError, "damping=3 is outside the range 0 to 1"),
    (lambda t: ew.pagerank(t.plain, damping="x"), ew.UsageError, "damping='x': a number is needed here"),
    (lambda t: ew.pagerank(t.plain, tolerance=float("nan")), ew.UsageError, "tolerance=nan is outside the range 0"),
    (lambda t: ew.pagerank(t.plain, iterations=-1), ew.UsageError, "iterations=-1 is outside the range 0"),
    (lambda t: ew.pagerank(t.plain, iterations=1.5), ew.UsageError, "iterations=1.5: a whole number"),
    (lambda t: ew.pagerank(t.plain, strategy="best"), ew.UsageError, "strategy='best' is none of auto, edge"),
    (lambda t: ew.pagerank(t.plain, strategy=object()), ew.UsageError, "strategy=<object .*: a text is needed here"),
    (lambda t: ew.pagerank(t.plain, workers=0), ew.UsageError, "workers=0: a whole number from 1"),
    (lambda t: ew.pagerank(t.plain, workers=-1), ew.UsageError, "workers=-1: a whole number from 1"),
    (lambda t: ew.pagerank(t.plain, workers=10**9), ew.UsageError, "workers=1000000000 is outside the range 1"),
    (lambda t: ew.pagerank(t.plain, workers="two"), ew.UsageError, "workers='two': a whole number from 1"),
    (lambda t: ew.pagerank(t.plain, processes=0), ew.UsageError, "^processes=0 is outside the range 1 to 1024"),
    (lambda t: ew.pagerank(t.plain, processes=100_000), ew.UsageError, "^processes=100000 is outside the range 1 to 1024"),
    (lambda t: ew.pagerank(t.plain, processes="2"), ew.UsageError, "processes='2': a whole number"),
    (lambda t: ew.pagerank(t.plain, processes=2, peer_timeout=-1), ew.UsageError, "peer_timeout=-1"),
    (lambda t: ew.pagerank(t.plain, hurry=True), ew.UsageError, "there is no option 'hurry'; options are "),
    (lambda t: ew.pagerank(t.plain, weight=True), ew.Error, "no weights: make it with"),
    (lambda t: ew.pagerank(t.weighted, weight=np.ones(1500)), ew.UsageError, "weight=array.*: True or False"),
    (lambda t: ew.pagerank(t.negative, weight=True), ew.Error, "the graph: edge 0 -> 1 has weight -1"),
    (lambda t: ew.pagerank(t.plain, personalization=[]), ew.UsageError, "no vertex in the list"),
    (lambda t: ew.pagerank(t.plain, personalization=5), ew.UsageError, "5 is no list of vertices"),
    (lambda t: ew.pagerank(t.plain, personalization={3: 1e300, 7: 1}), ew.UsageError, "shares: 1 is not a finite number above 0, or too"),
    (lambda t: ew.pagerank(t.plain, personalization={3: -1}), ew.UsageError, "the value of 3 is -1: it must be"),
    (lambda t: ew.pagerank(t.plain, personalization={3: "x"}), ew.UsageError, "the value of 3 is 'x'"),
    (lambda t: ew.pagerank(t.plain, personalization=np.ones(200)), ew.UsageError, "1.0.? is no vertex"),
    (lambda t: ew.bfs(t.plain, 200), ew.UsageError, "200 is no vertex of this graph: they are 0 to 199"),
    (lambda t: ew.bfs(t.plain, -1), ew.UsageError, "-1 is no vertex"),
    (lambda t: ew.bfs(t.plain, "a"), ew.UsageError, "'a' is no vertex"),
    (lambda t: ew.bfs(t.labelled, "a"), ew.UsageError, "'a' is no vertex of this graph: they are 0 to 2, in the order of g.labels"),
    (lambda t: ew.bfs(t.plain, 1.5), ew.UsageError, "1.5 is no vertex"),
    (lambda t: ew.bfs(t.plain, True), ew.UsageError, "True is no vertex"),
    (lambda t: ew.bfs(t.none, 0), ew.UsageError, "0 is no vertex of this graph: it has none"),
    (lambda t: ew.bfs(t.plain, 0, parents="no"), ew.UsageError, "parents='no': True or False"),
    (lambda t: ew.sssp(t.plain, 0), ew.Error, "no weights: make it with"),
    (lambda t: ew.sssp(t.negative, 0), ew.Error, "the graph: edge 0 -> 1 has weight -1"),
    (lambda t: ew.sssp(t.weighted, 0, delta="x"), ew.UsageError, "delta='x': a number"),
    (lambda t: ew.bc(t.plain, weight=True), ew.Error, "no weights: make it with"),
    (lambda t: ew.bc(t.plain, sources=[1, 999]), ew.UsageError, "999 is no vertex"),
    (lambda t: ew.bc(t.plain, 5), ew.UsageError, "5 is no list of vertices"),
    (lambda t: ew.spmv(t.plain, [1, 2, 3]), ew.UsageError, "x has 3 numbers, and the graph 200 vertices"),
    (lambda t: ew.spmv(t.plain, ["a"] * 200), ew.Error, "x is of type object: numbers are needed here"),
    (lambda t: ew.spmv(t.plain, np.ones((200, 1))), ew.Error, "x has 2 dimensions"),
    (lambda t: ew.spmv(t.plain, [float("nan")] * 200), ew.UsageError, "x: the value of vertex 0 is nan"),
    (lambda t: ew.spmv(t.plain, [1e300] * 200), ew.Error, "too large for f32: wire='f64' takes more"),
    (lambda t: ew.cdlp(t.plain, iterations=0), ew.UsageError, "iterations=0: a whole number from 1"),
    (lambda t: ew.wcc(t.plain, transport="pigeon"), ew.UsageError, "pigeon"),
    # Measures.
    (lambda t: ew.bound(t.plain, rate="1 G"), ew.UsageError, "'1 G' is not a line rate"),
    (lambda t: ew.bound(t.plain, rate=10), ew.UsageError, r"rates=\[10\]: a list such as \['1G'"),
    (lambda t: ew.bound(t.plain, processes=None), ew.UsageError, r"processes=\[None\]: a list such as \[2,"),
    (lambda t: ew.bound(t.plain, processes=[2, 0]), ew.UsageError, "processes=0 is outside the range 1"),
    (lambda t: ew.bound(None), ew.UsageError, "a Graph is needed here"),
    (lambda t: ew.profile(t.plain, ew.pagerank), ew.UsageError, "takes a kernel, such as ew.pagerank"),
    (lambda t: ew.profile(ew.wcc, t.plain).save(t.folder), ew.Error, "cannot write: Is a directory"),
]


def arrays_call(src, dst, weight):
    return lambda t: Graph.from_numpy(src, dst, weight)


CALLS += [(arrays_call(src, dst, weight), ew.Error, says) for src, dst, weight, says in ARRAYS]
