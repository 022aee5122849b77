"""Graphs: from files, arrays, tables and other libraries, and back to them."""

import os
import shutil
import weakref

import numpy as np

from . import _edgewire
from ._edgewire import Error, UsageError
from .calls import Progress, cores, set_options
from .files import path_of, remove_folder, temporary_folder
from .inputs import check_lengths, columns_of, first_line, ids_array, ids_or_names, unique_names, warn, warn_of_types, weights_array

TABLES = (".parquet", ".pq", ".feather", ".arrow")
FEW = 1 << 16  # vertices and edges


def needed(module, what):
    """The module, or an error that says how to get it."""
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError:
        raise Error(f"{what} needs {module}, which is not there (pip install {module.partition('.')[0]})") from None


class Graph:
    """A directed graph, read only: for each vertex, 0 to `vertices` - 1, its out-edges, ordered by target.

    It lies in a file of Edgewire's format (.ew), which is mapped. Graphs that are made of arrays lie in a file without a name in
    the folder of temporary files, and go with the object. Arrays of a graph are views of the file: nothing is copied.
    """

    def __init__(self, path):
        """Maps a .ew file, or a folder of parts."""
        self._source = path_of(path)
        self._file = _edgewire.open(self._source)
        self._checked = False

    def _open_own(self, path, folder):
        """Maps a file that was made for this graph, which goes with it."""
        self._file = _edgewire.open(path, "the graph")
        self._source = path
        self._checked = False
        if self._file.labelled:  # its names stand in a file beside it
            self._file.set_table(path + ".labels")
            weakref.finalize(self, remove_folder, folder, os.getpid())
        else:
            descriptor = os.open(path, os.O_RDONLY)
            weakref.finalize(self, os.close, descriptor)
            self._source = f"/proc/self/fd/{descriptor}"
            shutil.rmtree(folder, ignore_errors=True)

    @classmethod
    def _made(cls, write):
        """The graph that write(path) writes."""
        graph = cls.__new__(cls)
        with temporary_folder(keep=True) as folder:
            path = os.path.join(folder, "graph.ew")
            notes = write(path)
            graph._open_own(path, folder)
        for note in notes or ():
            warn(note)
        return graph

    def __reduce__(self):
        raise TypeError("a Graph is not pickled: save() it, and open the file where it is needed")

    def __copy__(self):
        return self  # nothing of it changes

    def __deepcopy__(self, _):
        return self

    # What it is.

    vertices = property(lambda self: self._file.vertices, doc="The number of vertices.")
    edges = property(lambda self: self._file.edges, doc="The number of stored edges: of an undirected graph, each edge counts twice.")
    weighted = property(lambda self: self._file.weighted, doc="Whether edges have weights.")
    undirected = property(lambda self: self._file.symmetric, doc="Whether every edge is stored both ways, by construction.")
    path = property(lambda self: self._file.path,
                    doc='The path of its file when it was opened; "the graph" where it was made of arrays or a table.')
    offsets = property(lambda self: self._checked_file().offsets,
                       doc="int64[vertices + 1]: the out-edges of v are targets[offsets[v]:offsets[v + 1]]. A view of the file.")
    targets = property(lambda self: self._checked_file().targets, doc="uint32[edges]. A view of the file.")
    weights = property(lambda self: self._checked_file().weights, doc="[edges] in the type of the file, or None. A view of the file.")

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
        vertices: their number; else all ids up to the largest, which take 8 bytes each (from_edges() keeps those that occur).
        undirected: store each edge both ways. simple: drop self loops, and of duplicate edges all but the lightest. labels: [vertices],
        their names.
        """
        return cls._from_arrays(ids_array(src, "src"), ids_array(dst, "dst"), weight, vertices=vertices, undirected=undirected,
                                simple=simple, labels=labels, workers=workers, progress=progress)

    @classmethod
    def _from_arrays(cls, src, dst, weight, *, vertices=None, labels=None, workers=None, progress=None, **wanted):
        weight = None if weight is None else weights_array(weight)
        options = set_options(_edgewire.EdgeOptions(), {**wanted, "vertices": vertices, "workers": cores() if workers is None else workers})
        if labels is not None:
            names = unique_names(labels)
            if not names and (len(src) or vertices):
                raise UsageError("labels: there are none")
            options.names = names
        few = vertices is not None and vertices + len(src) <= FEW
        if few:  # starting a process would take longer than the rest; copies cannot change meanwhile
            src, dst, weight = src.copy(), dst.copy(), None if weight is None else weight.copy()
            options.workers = 1 if workers is None else workers
        with Progress(progress) as show:
            return cls._made(lambda path: _edgewire.convert_arrays(src, dst, weight, path, options, show, not few))

    @classmethod
    def from_edges(cls, src, dst, weight=None, *, vertices=None, labels=None, keep_ids=False, undirected=False, simple=False,
                   workers=None, progress=None):
        """The graph of the edges src[i] -> dst[i], for ids of any kind: whole numbers up to 2^64 - 1, or strings. The vertices are the
        ids that occur, in ascending order, and become labels unless they are 0, 1, 2, ...

        keep_ids: ids are the numbers of vertices, as in from_numpy(). So they are where vertices= or labels= is given.
        """
        src, dst = ids_or_names(src, "src"), ids_or_names(dst, "dst")
        options = {"undirected": undirected, "simple": simple, "workers": workers, "progress": progress}
        numbered = keep_ids or vertices is not None or labels is not None
        if all(side.dtype.kind in "iu" for side in (src, dst)):
            return cls._from_arrays(src, dst, weight, vertices=vertices, labels=labels, dense=not numbered, **options)
        if numbered:
            raise UsageError("ids that are strings are the labels, and all of the vertices: leave out labels=, vertices= and keep_ids=")
        weight = None if weight is None else weights_array(weight)
        check_lengths(src, dst, weight)
        names, numbers = np.unique(np.concatenate([src, dst]).astype(str), return_inverse=True)
        return cls._from_arrays(numbers[:len(src)], numbers[len(src):], weight, vertices=len(names), labels=names, **options)

    @classmethod
    def from_pandas(cls, frame, src=None, dst=None, weight=None, **options):
        """The graph whose edges are the rows of a DataFrame. src, dst and weight name columns; without names they are found as in read().
        Other options are those of from_edges()."""
        if not isinstance(frame, needed("pandas", "from_pandas()").DataFrame):
            raise UsageError(f"from_pandas() takes a DataFrame, not a {type(frame).__name__}")
        places, types = columns_of(frame.columns, src, dst, weight)
        columns = [frame.iloc[:, place] for place in places]
        for column in columns:
            if column.isna().any():
                raise Error(f"column {column.name!r} has nulls: drop these rows (dropna) or fill them")
        if types is not None:
            warn_of_types(frame.iloc[:, types].value_counts().items(), options)
        return cls.from_edges(*(column.to_numpy() for column in columns), **options)

    @classmethod
    def from_arrow(cls, table, src=None, dst=None, weight=None, **options):
        """The graph whose edges are the rows of a pyarrow Table or RecordBatch, or of a table that shows itself as one (Polars, DuckDB).
        The arguments are those of from_pandas()."""
        pyarrow = needed("pyarrow", "from_arrow()")
        if not isinstance(table, (pyarrow.Table, pyarrow.RecordBatch)):
            if not hasattr(table, "__arrow_c_stream__"):
                raise UsageError(f"from_arrow() takes a Table or RecordBatch, or what shows itself as one, not a {type(table).__name__}")
            table = pyarrow.table(table)
        from .tables import checked_columns, decoded, said_in

        places, types = checked_columns(table.schema, src, dst, weight)
        columns = [decoded(table.column(place)) for place in places]
        for place, column in zip(places, columns):
            if column.null_count:
                raise Error(f"column {table.schema.names[place]!r} has nulls: drop these rows or fill them")
        if types is not None:
            warn_of_types(said_in(table.column(types)), options)
        return cls.from_edges(*map(np.asarray, columns), **options)

    @classmethod
    def from_scipy(cls, matrix, *, weighted=None, **options):
        """The graph of a square sparse matrix: entry (i, j) is the edge i -> j, and its value the weight. weighted: keep values as
        weights; else where they are not all 1."""
        if not hasattr(matrix, "tocoo"):
            raise UsageError(f"from_scipy() takes a sparse matrix of SciPy, not a {type(matrix).__name__}")
        if len(matrix.shape) != 2 or matrix.shape[0] != matrix.shape[1]:
            raise Error(f"a matrix of {' x '.join(map(str, matrix.shape))} is no graph: it must be square")
        try:
            matrix = matrix.tocoo()
        except ValueError as error:
            raise Error(f"the matrix is damaged: {first_line(error)}") from None
        if weighted is None:
            weighted = bool((matrix.data != 1).any())
        return cls.from_numpy(matrix.row, matrix.col, matrix.data if weighted else None, vertices=matrix.shape[0], **options)

    @classmethod
    def from_networkx(cls, graph, weight=None, **options):
        """The graph of a NetworkX graph. Vertices are numbered in the order of its nodes, which become labels unless they are 0, 1,
        2, ... weight: the edge attribute that has weights (1 where an edge has none)."""
        if not hasattr(graph, "number_of_edges"):
            raise UsageError(f"from_networkx() takes a graph of NetworkX, not a {type(graph).__name__}")
        nodes = list(graph)
        plain = all(type(node) is int and node == i for i, node in enumerate(nodes))
        number = {node: i for i, node in enumerate(nodes)}
        edges = graph.number_of_edges()
        src = np.fromiter((number[u] for u, _ in graph.edges()), np.int64, edges)
        dst = np.fromiter((number[v] for _, v in graph.edges()), np.int64, edges)
        weights = None
        if weight is not None:
            weights = [value for _, _, value in graph.edges(data=weight, default=1)]
        return cls.from_numpy(src, dst, weights, vertices=len(nodes), undirected=not graph.is_directed(),
                              labels=None if plain else [str(node) for node in nodes], **options)

    # To others.

    def save(self, path):
        """Writes the graph: as .ew, or in the format that the name tells (.el, .csv, .mtx, .sg, .graph, ...; also .gz, .zst)."""
        path = path_of(path)
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
        if len({src, dst, weight}) < 3:
            raise UsageError("src, dst and weight are names of different columns")
        columns = {src: sources, dst: targets}
        if weights is not None:
            columns[weight] = weights
        return columns


def read(path, src=None, dst=None, weight=None, *, format="auto", labels=False, undirected=False, simple=False, keep_ids=False,
         workers=None, progress=None):
    """Reads a graph: .ew (mapped as it is), Parquet and Arrow files (in batches, by pyarrow), and all that `edgewire convert`
    reads: edge lists, .csv, .tsv, .mtx, METIS, DIMACS, GAP, WebGraph; compressed or not.

    src, dst, weight: names of columns of a table, or their numbers from 1 on. Without them columns are found by their names: source (src,
    from), target (dst, dest, destination, to) and alike, and weight. Where none is called so, the first two are the ends, and a warning
    says so. labels: ids are names. In Parquet and Arrow files columns of strings are anyway, in text those none of which is a number,
    and a warning says so. undirected: store each edge both ways.
    simple: drop self loops, and of duplicate edges all but the lightest. keep_ids: vertices are all ids up to the largest, also where few
    occur.
    """
    path = path_of(path)
    if (src is None) != (dst is None):
        raise UsageError("src and dst name columns together, and weight beside them")
    if path.lower().endswith(TABLES):
        from .tables import read_table

        return read_table(path, src, dst, weight, undirected=undirected, simple=simple, keep_ids=keep_ids, workers=workers, progress=progress)
    wanted = {"format": format, "labels": labels, "undirected": undirected, "simple": simple, "keep_ids": keep_ids}
    if path.endswith(".ew") and not undirected and not simple:
        return Graph(path)
    if src is not None:
        names = [str(name) for name in (src, dst, weight) if name is not None]
        if any("," in name for name in names):
            raise UsageError("columns of text whose names have commas are called by their numbers, from 1 on")
        wanted["columns"] = ",".join(names)
        wanted["weights"] = weight is not None
        wanted["allow_empty"] = True
    elif weight is not None:
        raise UsageError("weight names a column beside src and dst")
    options = set_options(_edgewire.ConvertOptions(), {**wanted, "workers": cores() if workers is None else workers})
    with Progress(progress) as show:
        return Graph._made(lambda to: _edgewire.convert(path, to, options, show))
