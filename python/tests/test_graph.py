"""Graphs from arrays, tables, files and other libraries, and back: no edge is lost or made."""

import gzip
import os

import networkx as nx
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest
import scipy.sparse as sp

import edgewire as ew

SRC, DST = [0, 1, 2, 3, 3], [1, 2, 0, 0, 0]
WEIGHT = [0.5, 2.0, 1.0, 4.0, 3.0]


def rows(graph):
    """The edges of a graph, in order, with labels where there are some."""
    src, dst, weight = graph.to_numpy()
    labels = graph.labels
    names = range(graph.vertices) if labels is None else labels.tolist()
    ends = [(names[u], names[v]) for u, v in zip(src.tolist(), dst.tolist())]
    return sorted(ends if weight is None else [(u, v, w) for (u, v), w in zip(ends, weight.tolist())])


@pytest.mark.parametrize("ids", [np.int8, np.uint16, np.int32, np.uint32, np.int64, np.uint64, ">i4"])
def test_ids_of_any_whole_type(ids):
    graph = ew.Graph.from_numpy(np.array(SRC, ids), np.array(DST, ids))
    assert (graph.vertices, graph.edges, graph.weighted, graph.undirected) == (4, 5, False, False)
    assert rows(graph) == sorted(zip(SRC, DST))


@pytest.mark.parametrize("weights, stored", [(np.float32, "f4"), (np.float64, "f8"), (np.uint32, "u4"), (np.int64, "u4"),
                                             (np.uint8, "u4"), (np.float16, "f4")])
def test_weights_of_any_type_keep_their_values(weights, stored):
    graph = ew.Graph.from_numpy([0, 1, 1], [1, 0, 2], np.array([1, 2, 200], weights))
    assert rows(graph) == [(0, 1, 1), (1, 0, 2), (1, 2, 200)]
    assert graph.weights.dtype.itemsize <= np.dtype(stored).itemsize or graph.weights.dtype == stored


def test_negative_whole_weights():
    assert rows(ew.Graph.from_numpy([0], [1], [-3])) == [(0, 1, -3)]


def test_more_vertices_than_ids_and_none_at_all():
    assert ew.Graph.from_numpy([0], [1], vertices=10).vertices == 10
    empty = ew.Graph.from_numpy([], [])
    assert (empty.vertices, empty.edges) == (0, 0)
    assert ew.Graph.from_numpy([], [], vertices=1).vertices == 1


def test_undirected_and_simple():
    graph = ew.Graph.from_numpy([0, 0, 1, 2], [1, 1, 1, 0], undirected=True, simple=True)
    assert graph.undirected and rows(graph) == [(0, 1), (0, 2), (1, 0), (2, 0)]


def test_arrays_of_a_graph_are_views_of_its_file():
    graph = ew.Graph.from_numpy(SRC, DST, WEIGHT)
    for array in (graph.offsets, graph.targets, graph.weights):
        assert not array.flags.owndata and not array.flags.writeable
        assert np.shares_memory(array, getattr(graph, "offsets" if array is graph.offsets else "targets")) or array.base is not None
    assert np.shares_memory(graph.targets, graph.targets)
    first = graph.targets
    del graph  # the view keeps the file
    assert first.tolist() == [1, 2, 0, 0, 0]


def test_ids_of_32_bits_take_no_copy():
    src, dst = np.array(SRC, np.int64), np.array(DST, np.uint32)
    from edgewire.inputs import ids_array, weights_array

    assert ids_array(src, "src") is src and ids_array(dst, "dst") is dst
    weight = np.array(WEIGHT)
    assert weights_array(weight) is weight


def test_a_slice_is_read_as_it_is():
    table = np.array([SRC, DST]).T.copy()
    assert rows(ew.Graph.from_numpy(table[:, 0], table[:, 1])) == sorted(zip(SRC, DST))


def test_arrays_that_change_while_they_are_read():
    changed = []
    for edges in (1 << 21, 1 << 23, 1 << 25):  # until it takes long enough to be looked at
        src, dst = np.random.default_rng(1).integers(0, 1 << 16, (2, edges))
        before = ew.Graph.from_numpy(src, dst)

        def change(*_):
            changed.append(src[0])
            src[:] = -1

        assert np.array_equal(ew.Graph.from_numpy(src, dst, progress=change).targets, before.targets)
        if changed:
            return
    raise AssertionError("nothing was changed")


def test_labels():
    graph = ew.Graph.from_numpy([0, 1], [1, 2], labels=["ann", "bob", "cy d"])
    assert rows(graph) == [("ann", "bob"), ("bob", "cy d")]


def test_ids_that_are_strings_become_labels():
    graph = ew.Graph.from_edges(["b", "a", "c"], ["a", "c", "b"])
    assert graph.labels.tolist() == ["a", "b", "c"] and rows(graph) == [("a", "c"), ("b", "a"), ("c", "b")]


@pytest.mark.parametrize("suffix", [".ew", ".el", ".csv", ".mtx", ".sg", ".el.gz", ".csv.zst"])
def test_saved_and_read_again(tmp_path, random_graph, suffix):
    graph, src, dst = random_graph
    path = tmp_path / f"g{suffix}"
    graph.save(path)
    options = {"keep_ids": True} if suffix.startswith((".el", ".csv")) else {}
    names = {"src": "source", "dst": "target"} if suffix.startswith(".csv") else {}
    again = ew.read(path, **names, **options)
    first = 1 if suffix == ".mtx" else 0  # its ids begin there
    assert rows(again) == sorted(zip((src + first).tolist(), (dst + first).tolist()))


def test_saved_with_weights_and_labels(tmp_path):
    graph = ew.Graph.from_numpy([0, 1], [1, 0], [1.5, 2.5], labels=["x", "y"])
    graph.save(tmp_path / "g.ew")
    assert rows(ew.Graph(tmp_path / "g.ew")) == [("x", "y", 1.5), ("y", "x", 2.5)]


def test_a_file_that_cannot_be_written_leaves_nothing(tmp_path):
    with pytest.raises(ew.Error, match="no-such-folder"):
        ew.Graph.from_numpy([0], [1]).save(tmp_path / "no-such-folder" / "g.ew")
    (tmp_path / "folder.ew").mkdir()
    with pytest.raises(ew.Error, match="folder.ew"):
        ew.Graph.from_numpy([0], [1]).save(tmp_path / "folder.ew")
    assert os.listdir(tmp_path) == ["folder.ew"]


# Tables.


@pytest.fixture
def frame():
    return pd.DataFrame({"a": SRC, "b": DST, "w": WEIGHT, "name": list("vwxyz")})


def test_pandas(frame):
    graph = ew.Graph.from_pandas(frame, "a", "b", "w")
    assert rows(graph) == sorted(zip(SRC, DST, WEIGHT))
    back = graph.to_pandas(src="a", dst="b", weight="w")
    assert sorted(map(tuple, back.to_numpy())) == sorted(zip(SRC, DST, WEIGHT))
    frame.loc[2, "w"] = None
    with pytest.raises(ew.Error, match="column 'w' has nulls"):
        ew.Graph.from_pandas(frame, "a", "b", "w")


def test_pandas_strings(frame):
    frame["a"] = frame["a"].map(lambda i: f"v{i}")
    frame["b"] = frame["b"].map(lambda i: f"v{i}")
    assert rows(ew.Graph.from_pandas(frame, "a", "b")) == sorted((f"v{u}", f"v{v}") for u, v in zip(SRC, DST))


def test_arrow(frame):
    table = pa.Table.from_pandas(frame)
    graph = ew.Graph.from_arrow(table, "a", "b", "w")
    assert rows(graph) == sorted(zip(SRC, DST, WEIGHT))
    assert graph.to_arrow().column_names == ["src", "dst", "weight"]


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
@pytest.mark.parametrize("strings", [False, True])
def test_files_of_tables(tmp_path, frame, suffix, strings):
    if strings:
        for name in "ab":
            frame[name] = frame[name].map(lambda i: f"v,{i}")
    path = tmp_path / f"edges.{suffix}"
    table = pa.Table.from_pandas(frame)
    (pa.parquet.write_table if suffix == "parquet" else pa.feather.write_feather)(table, path)
    graph = ew.read(path, src="a", dst="b", weight="w")
    assert rows(graph) == sorted(zip(frame["a"], frame["b"], WEIGHT))
    assert not ew.read(path, src="a", dst="b").weighted
    with pytest.raises(ew.Error, match=f"edges.{suffix}: there is no column 'c'; columns are 'a', 'b', 'w', 'name'"):
        ew.read(path, src="a", dst="c")


def test_a_table_of_several_batches(tmp_path, monkeypatch):
    import edgewire.tables

    monkeypatch.setattr(edgewire.tables, "BATCH_ROWS", 100)
    src, dst = np.random.default_rng(3).integers(0, 300, (2, 1000))
    pa.parquet.write_table(pa.table({"a": src, "b": dst}), tmp_path / "e.parquet", row_group_size=250)
    assert rows(ew.read(tmp_path / "e.parquet")) == sorted(zip(src.tolist(), dst.tolist()))


def test_csv(tmp_path):
    path = tmp_path / "e.csv"
    path.write_text("a,b,w\n10,20,0.5\n20,30,1.5\n")
    graph = ew.read(path, src="a", dst="b", weight="w")
    assert rows(graph) == [(10, 20, 0.5), (20, 30, 1.5)]  # ids as they were
    assert not ew.read(path, src="a", dst="b").weighted
    packed = tmp_path / "e.csv.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert ew.read(packed, src="a", dst="b").edges == 2
    path.write_text("a,b\n1,2\n2,y\n")
    with pytest.raises(ew.Error, match="line 3, column 3: .* Are ids names[?] Then say labels=True, too$"):
        ew.read(path, src="a", dst="b")
    assert rows(ew.read(path, src="a", dst="b", labels=True)) == [("1", "2"), ("2", "y")]
    path.write_text("a,b\nx,y\n")
    with pytest.warns(UserWarning, match="ids are names, taken as with labels=True$"):
        assert rows(ew.read(path, src="a", dst="b")) == [("x", "y")]
    assert rows(ew.read(path, src="a", dst="b", labels=True)) == [("x", "y")]


# Other libraries.


def test_scipy(random_graph):
    graph, src, dst = random_graph
    matrix = graph.to_scipy()
    assert (matrix != sp.coo_array((np.ones(len(src)), (src, dst)), shape=(200, 200)).tocsr()).nnz == 0
    assert rows(ew.Graph.from_scipy(sp.coo_array((np.ones(len(src)), (src, dst)), shape=(200, 200)))) == rows(graph)
    weighted = ew.Graph.from_scipy(sp.csr_array(([1.5, 2.5], ([0, 1], [1, 0])), shape=(3, 3)))
    assert weighted.vertices == 3 and rows(weighted) == [(0, 1, 1.5), (1, 0, 2.5)]


def test_scipy_shares_the_targets():
    graph = ew.Graph.from_numpy(SRC, DST, WEIGHT)
    matrix = graph.to_scipy()
    assert np.shares_memory(matrix.indices, graph.targets) and np.shares_memory(matrix.data, graph.weights)


@pytest.mark.parametrize("kind", [nx.Graph, nx.DiGraph, nx.MultiGraph, nx.MultiDiGraph])
def test_networkx(kind):
    graph = kind()
    graph.add_nodes_from(["lone", "a"])
    graph.add_edge("a", "b", cost=2)
    graph.add_edge("b", "c")
    graph.add_edge("c", "c", cost=3.5)
    ours = ew.Graph.from_networkx(graph, weight="cost")
    directed = [("a", "b", 2), ("b", "c", 1), ("c", "c", 3.5)]
    both = directed if graph.is_directed() else directed + [("b", "a", 2), ("c", "b", 1)]
    assert rows(ours) == sorted(both) and ours.vertices == 4
    back = ours.to_networkx()
    assert back.is_directed() == graph.is_directed()
    assert sorted(back.nodes) == ["a", "b", "c", "lone"] and back["a"]["b"]["weight"] == 2


def test_a_file_of_ours_is_mapped(tmp_path, random_graph):
    random_graph[0].save(tmp_path / "g.ew")
    graph = ew.read(tmp_path / "g.ew")
    assert graph.path == str(tmp_path / "g.ew") and graph.edges == 1500


def test_a_damaged_file(tmp_path, random_graph):
    path = tmp_path / "g.ew"
    random_graph[0].save(path)
    with open(path, "r+b") as file:
        file.seek(-200, os.SEEK_END)
        file.write(b"\xff" * 8)
    with pytest.raises(ew.Error, match="g.ew: byte "):
        ew.Graph(path).targets
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(ew.Error, match="g.ew"):
        ew.Graph(path)
