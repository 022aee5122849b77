"""Each mistake gives one error of ours, of one line, that names it."""

import re

import bad_inputs
import numpy as np
import pyarrow as pa
import pytest

import edgewire as ew


@pytest.fixture(scope="module")
def graphs(tmp_path_factory):
    return bad_inputs.Graphs(tmp_path_factory.mktemp("inputs"))


@pytest.mark.parametrize("call, error, says", bad_inputs.CALLS, ids=[says[:50] for _, _, says in bad_inputs.CALLS])
def test_one_line_says_what_is_wrong(graphs, call, error, says):
    with pytest.raises(ew.Error) as caught:
        call(graphs)
    assert isinstance(caught.value, error) and re.search(says, str(caught.value)) and "\n" not in str(caught.value)
    assert "--" not in str(caught.value) and "/edgewire-" not in str(caught.value)


@pytest.mark.parametrize("call", [lambda: ew.read(None), lambda: ew.Graph(3), lambda: ew.Graph.from_numpy([0], [1], colour="red"),
                                  lambda: ew.bfs(ew.Graph.from_numpy([0], [1]))])
def test_what_python_itself_refuses(call):
    with pytest.raises(TypeError):
        call()


@pytest.mark.parametrize("src, dst", [
    (np.arange(10)[::2], np.arange(10)[1::2]), (np.arange(3)[::-1], np.arange(3)), (np.arange(3).astype(">i8"), np.arange(3, dtype=">u2")),
    (np.broadcast_to(np.int64(3), 4), np.arange(4)), (range(3), range(3)), (np.array([1, 2], object), [2, 1]),
    (np.ma.array([1, 2]), pa.array([1, 2]))])
def test_arrays_of_all_kinds_are_read_as_they_are(src, dst):
    graph = ew.Graph.from_numpy(src, dst)
    assert sorted(zip(*map(np.ndarray.tolist, graph.to_numpy()[:2]))) == sorted(zip(map(int, src), map(int, np.asarray(dst))))


def test_tables_without_rows(tmp_path):
    empty = tmp_path / "e.parquet"
    for kind in (pa.int64(), pa.string(), pa.null()):
        table = pa.table({"a": pa.array([], kind), "b": pa.array([], kind)})
        pa.parquet.write_table(table, empty)
        for graph in (ew.read(empty), ew.Graph.from_arrow(table, "a", "b")):
            assert (graph.vertices, graph.edges) == (0, 0)
    (tmp_path / "e.csv").write_text("a,b\n")
    assert ew.read(tmp_path / "e.csv", "a", "b").vertices == 0


def test_a_graph_is_copied_but_not_pickled():
    import copy
    import pickle

    graph = ew.Graph.from_numpy([0], [1])
    assert copy.copy(graph) is graph and copy.deepcopy([graph])[0] is graph
    with pytest.raises(TypeError, match="save.. it, and open the file"):
        pickle.dumps(graph)
