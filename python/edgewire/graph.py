"""Graphs: from files, arrays, tables and other libraries, and back to them."""

import os
import shutil
import tempfile
import weakref

import numpy as np

from . import _edgewire
from ._edgewire import Error, UsageError
from .calls import Progress, cores, set_options

TABLES = (".parquet", ".pq", ".feather", ".arrow")
FEW = 1 << 16  # vertices and edges


def needed(module, what):
    """The module, or an error that says how to get it."""
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError:
        raise Error(f"{what} needs {module}, which is not there (pip install {module})") from None


class Graph:
    """A directed graph, read only: for each vertex, 0 to `vertices` - 1, its out-edges, ordered by target.

    It lies in a file of Edgewire's format (.ew), which is mapped. Graphs that are made of arrays lie in a file without a name in
    the folder of temporary files, and go with the object. Arrays of a graph are views of the file: nothing is copied.
    """

    def __init__(self, path):
        """Maps a .ew file, or a folder of parts."""
        self._open(os.fspath(path), None)

    def _open(self, path, folder):
        self._file = _edgewire.open(path)
        self._source = path
        self._checked = False
        if folder is None:
            return
        if self._file.labelled:  # its names stand in a file beside it
            weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        else:
            descriptor = os.open(path, os.O_RDONLY)
            weakref.finalize(self, os.close, descriptor)
            self._source = f"/proc/{os.getpid()}/fd/{descriptor}"
            shutil.rmtree(folder, ignore_errors=True)

    @classmethod
    def _made(cls, write):
        """The graph that write(path) writes."""
        folder = tempfile.mkdtemp(prefix="edgewire-")
        graph = cls.__new__(cls)
        try:
            path = os.path.join(folder, "graph.ew")
            write(path)
            graph._open(path, folder)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        return graph

    # What it is.

    @property
    def vertices(self):
        """The number of vertices."""
        return self._file.vertices

    @property
    def edges(self):
        """The number of stored edges: of an undirected graph, each edge counts twice."""
        return self._file.edges

    @property
    def weighted(self):
        """Whether edges have weights."""
        return self._file.weighted

    @property
    def undirected(self):
        """Whether every edge is stored both ways, by construction."""
        return self._file.symmetric

    @property
    def path(self):
        """The path of its file when it was opened."""
        return self._file.path

    @property
    def offsets(self):
        """int64[vertices + 1]: the out-edges of v are targets[offsets[v]:offsets[v + 1]]. A view of the file."""
        return self._checked_file().offsets

    @property
    def targets(self):
        """uint32[edges]. A view of the file."""
        return self._checked_file().targets

    @property
    def weights(self):
        """[edges] in the type of the file, or None. A view of the file."""
        return self._checked_file().weights

    @property
    def labels(self):
        """[vertices]: what vertices were called in the input: names, or whole numbers where these are not 0 to vertices - 1; or
        None."""
        if self._file.labelled:
            return np.array(_edgewire.names_of(self._file), dtype=object)
        return _edgewire.original_ids(self._file) if self._file.has_original_ids else None

    def _checked_file(self):
        if not self._checked:  # a damaged file would be a wrong result
            self._file.check_rows()
            self._checked = True
        return self._file

    def __repr__(self):
        kind = "undirected" if self.undirected else "directed"
        weights = ", weighted" if self.weighted else ""
        return f"<edgewire.Graph: {self.vertices} vertices, {self.edges} edges, {kind}{weights}>"

    # From others.

    @classmethod
    def from_numpy(cls, src, dst, weight=None, *, vertices=None, undirected=False, simple=False, labels=None, workers=None,
                   progress=None):
        """The graph of the edges src[i] -> dst[i].

        src, dst: whole numbers from 0 on, of 32 or 64 bits without copies. weight: one for each edge: floats, or whole numbers.
        vertices: their number; else all ids up to the largest. undirected: store each edge both ways. simple: drop self loops, and
        of duplicate edges all but the lightest. labels: [vertices], their names.
        """
        src, dst = ids_array(src, "src"), ids_array(dst, "dst")
        weight = None if weight is None else weights_array(weight)
        options = set_options(_edgewire.EdgeOptions(), {"vertices": vertices, "undirected": undirected, "simple": simple,
                                                        "workers": cores() if workers is None else workers})
        if labels is not None:
            options.names = unique_names(labels)
        few = vertices is not None and vertices + len(src) <= FEW
        if few:  # starting a process would take longer than the rest; copies cannot change meanwhile
            src, dst, weight = src.copy(), dst.copy(), None if weight is None else weight.copy()
            options.workers = 1
        with Progress(progress) as show:
            return cls._made(lambda path: _edgewire.convert_arrays(src, dst, weight, path, options, show, not few))

    @classmethod
    def from_edges(cls, src, dst, weight=None, **options):
        """As from_numpy(), for ids of any kind: where they are not whole numbers from 0 on, they become labels, in ascending
        order."""
        src, dst = np.asarray(src), np.asarray(dst)
        if all(side.dtype.kind in "iu" for side in (src, dst)):
            return cls.from_numpy(src, dst, weight, **options)
        for side, name in ((src, "src"), (dst, "dst")):
            if side.dtype.kind not in "OUST":
                ids_array(side, name)  # says what is wrong
        check_lengths(src, dst, weight)
        both = np.concatenate([src, dst])
        refuse_nulls(both)
        labels, numbers = np.unique(both.astype(str), return_inverse=True)
        return cls.from_numpy(numbers[:len(src)], numbers[len(src):], weight, vertices=len(labels), labels=labels, **options)

    @classmethod
    def from_pandas(cls, frame, src="src", dst="dst", weight=None, **options):
        """The graph whose edges are the rows of a DataFrame; src, dst and weight name columns."""
        columns = [column_of(frame.columns, name) for name in (src, dst, weight) if name is not None]
        for name in columns:
            if frame[name].isna().any():
                raise Error(f"column {name!r} has nulls: drop these rows (dropna) or fill them")
        return cls.from_edges(*(frame[name].to_numpy() for name in columns), **options)

    @classmethod
    def from_arrow(cls, table, src="src", dst="dst", weight=None, **options):
        """The graph whose edges are the rows of a pyarrow Table or RecordBatch; src, dst and weight name columns."""
        columns = [column_of(table.schema.names, name) for name in (src, dst, weight) if name is not None]
        for name in columns:
            if table.column(name).null_count:
                raise Error(f"column {name!r} has nulls: drop these rows or fill them")
        return cls.from_edges(*(np.asarray(table.column(name)) for name in columns), **options)

    @classmethod
    def from_scipy(cls, matrix, *, weighted=None, **options):
        """The graph of a square sparse matrix: entry (i, j) is the edge i -> j, and its value the weight. weighted: keep values as
        weights; else where they are not all 1."""
        matrix = matrix.tocoo()
        if matrix.shape[0] != matrix.shape[1]:
            raise Error(f"a matrix of {matrix.shape[0]} x {matrix.shape[1]} is no graph: it must be square")
        if weighted is None:
            weighted = bool((matrix.data != 1).any())
        return cls.from_numpy(matrix.row, matrix.col, matrix.data if weighted else None, vertices=matrix.shape[0], **options)

    @classmethod
    def from_networkx(cls, graph, weight=None, **options):
        """The graph of a NetworkX graph. Vertices are numbered in the order of its nodes, which become labels unless they are 0, 1,
        2, ... weight: the edge attribute that has weights (1 where an edge has none)."""
        nodes = list(graph)
        plain = all(type(node) is int and node == i for i, node in enumerate(nodes))
        number = {node: i for i, node in enumerate(nodes)}
        edges = graph.number_of_edges()
        src = np.fromiter((number[u] for u, _ in graph.edges()), np.int64, edges)
        dst = np.fromiter((number[v] for _, v in graph.edges()), np.int64, edges)
        weights = None
        if weight is not None:
            weights = np.fromiter((value for _, _, value in graph.edges(data=weight, default=1)), np.float64, edges)
        return cls.from_numpy(src, dst, weights, vertices=len(nodes), undirected=not graph.is_directed(),
                              labels=None if plain else [str(node) for node in nodes], **options)

    # To others.

    def save(self, path):
        """Writes the graph: as .ew, or in the format that the name tells (.el, .csv, .mtx, .sg, .graph, ...; also .gz, .zst)."""
        path = os.fspath(path)
        if path.endswith(".ew"):
            _edgewire.convert(self._source, path, set_options(_edgewire.ConvertOptions(), {"format": "ew", "workers": cores()}), None)
        else:
            _edgewire.export(self._file, path, "auto", True, cores())

    def to_numpy(self):
        """(src, dst, weight): the edges in order; weight is None where the graph has none. dst and weight are views."""
        src = np.repeat(np.arange(self.vertices, dtype=np.uint32), np.diff(self.offsets))
        return src, self.targets, self.weights

    def to_scipy(self):
        """The adjacency matrix as a csr_array: weights, or ones."""
        sparse = needed("scipy.sparse", "to_scipy()")
        values = self.weights if self.weighted else np.ones(self.edges)
        small = max(self.vertices, self.edges) < 2**31
        targets = self.targets.view(np.int32) if small else self.targets.astype(np.int64)
        return sparse.csr_array((values, targets, self.offsets.astype(targets.dtype, copy=False)), shape=(self.vertices, self.vertices))

    def to_pandas(self, src="src", dst="dst", weight="weight"):
        """The edges as a DataFrame, with labels where there are some."""
        pandas = needed("pandas", "to_pandas()")
        return pandas.DataFrame(self._columns(src, dst, weight))

    def to_arrow(self, src="src", dst="dst", weight="weight"):
        """The edges as a pyarrow Table, with labels where there are some."""
        pyarrow = needed("pyarrow", "to_arrow()")
        return pyarrow.table(self._columns(src, dst, weight))

    def to_networkx(self):
        """A NetworkX Graph where this is undirected, else a DiGraph; parallel edges become one."""
        networkx = needed("networkx", "to_networkx()")
        graph = networkx.Graph() if self.undirected else networkx.DiGraph()
        labels = self.labels
        names = range(self.vertices) if labels is None else labels.tolist()
        graph.add_nodes_from(names)
        src, dst, weight = self.to_numpy()
        ends = ((names[u], names[v]) for u, v in zip(src.tolist(), dst.tolist()))
        if weight is None:
            graph.add_edges_from(ends)
        else:
            graph.add_weighted_edges_from((u, v, w) for (u, v), w in zip(ends, weight.tolist()))
        return graph

    def _columns(self, src, dst, weight):
        sources, targets, weights = self.to_numpy()
        labels = self.labels
        if labels is not None:
            sources, targets = labels[sources], labels[targets]
        columns = {src: sources, dst: targets}
        if weights is not None:
            columns[weight] = weights
        return columns


def read(path, src=None, dst=None, weight=None, *, format="auto", labels=False, undirected=False, simple=False, keep_ids=False,
         workers=None, progress=None):
    """Reads a graph: .ew (mapped as it is), Parquet and Arrow files (in batches, by pyarrow), and all that `edgewire convert`
    reads: edge lists, .csv, .tsv, .mtx, METIS, DIMACS, GAP, WebGraph; compressed or not.

    src, dst, weight: names of columns, for tables. labels: ids are names (in Parquet and Arrow files, columns of strings are).
    undirected: store each edge both ways. simple: drop self loops, and of duplicate edges all but the lightest. keep_ids: vertices
    are all ids up to the largest, also where few occur.
    """
    path = os.fspath(path)
    if path.lower().endswith(TABLES):
        from .tables import read_table

        return read_table(path, src, dst, weight, undirected=undirected, simple=simple, workers=workers, progress=progress)
    wanted = {"format": format, "labels": labels, "undirected": undirected, "simple": simple, "keep_ids": keep_ids}
    if path.endswith(".ew") and not undirected and not simple:
        return Graph(path)
    if (src is None) != (dst is None) or (weight is not None and src is None):
        raise UsageError("src and dst name columns together, and weight beside them")
    if src is not None:
        wanted["columns"] = ",".join(str(name) for name in (src, dst, weight) if name is not None)
        wanted["weights"] = weight is not None
    options = set_options(_edgewire.ConvertOptions(), {**wanted, "workers": cores() if workers is None else workers})
    with Progress(progress) as show:
        return Graph._made(lambda to: _edgewire.convert(path, to, options, show))


def check_lengths(src, dst, weight):
    lengths = [len(src), len(dst)] + ([] if weight is None else [len(weight)])
    if len(set(lengths)) > 1:
        raise Error(f"arrays of unequal length: {', '.join(map(str, lengths))}")


def refuse_nulls(values):
    for i, value in enumerate(values):
        if value is None or value != value:
            raise Error(f"id {i} is {value!r}: drop these edges or fill them")


def ids_array(values, name):
    """An array of ids as the library takes them, without a copy where that can be."""
    array = np.ascontiguousarray(values)
    if array.ndim != 1:
        raise Error(f"{name} has {array.ndim} dimensions: one is needed")
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise Error(f"{name} has ids of type {array.dtype}: they must be whole numbers")
    if array.dtype.itemsize < 4 or not array.dtype.isnative:
        array = array.astype(np.int64)
    return array


def weights_array(values):
    """An array of weights as the library takes them, without a copy where that can be."""
    array = np.ascontiguousarray(values)
    if array.ndim != 1:
        raise Error(f"weight has {array.ndim} dimensions: one is needed")
    if array.dtype.kind not in "iufb":
        raise Error(f"weight is of type {array.dtype}: weights are numbers")
    if array.dtype.kind == "f":
        return array if array.dtype in (np.float32, np.float64) and array.dtype.isnative else array.astype(np.float64)
    if array.dtype.kind in "ib" and array.size and array.min() < 0:
        return array.astype(np.float64)
    return array if array.dtype in (np.uint32, np.uint64) and array.dtype.isnative else array.astype(np.uint64)


def unique_names(labels):
    names = [str(label) for label in labels]
    if len(set(names)) < len(names):
        seen = set()
        twice = next(name for name in names if name in seen or seen.add(name))
        raise Error(f"two vertices have the label {twice!r}")
    return names


def column_of(columns, name):
    if name not in list(columns):
        raise Error(f"there is no column {name!r}; columns are {', '.join(map(repr, columns))}")
    return name
