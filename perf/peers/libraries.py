"""PageRank with libraries from PyPI, for comparison; run by compare.py, one library a process.

Every function gets (graph, threads, iterations) and returns (ranks, figures): figures has `version`, `seconds_load`
and either `seconds` (of each iteration) or `seconds_total` and `iterations` (None: the library goes on to a tolerance
of its own). All spread dangling mass evenly and start from 1/n, as edgewire does. Prints one line of JSON; the ranks
go to a file as float32.
"""

import argparse
import json
import time

import numpy

DAMPING = 0.85


class Graph:
    """An .ew file (src/graph/file/format.h): offsets and targets, mapped."""

    def __init__(self, path):
        header = numpy.fromfile(path, "<u8", 16)
        if header[:1].tobytes() != b"EDGEWIRE":
            raise SystemExit(f"{path}: not an .ew file")
        self.vertices, self.edges = int(header[2]), int(header[3])
        self.offsets = numpy.memmap(path, "<u8", "r", int(header[4]), self.vertices + 1)
        self.targets = numpy.memmap(path, "<u4", "r", int(header[6]), self.edges)

    def degrees(self):
        return numpy.diff(self.offsets.astype("i8"))

    def sources(self, dtype):
        return numpy.repeat(numpy.arange(self.vertices, dtype=dtype), self.degrees())


def power_iteration(graph, iterations, multiply):
    """Ranks and the seconds of each iteration; multiply(shares) gives each vertex the sum over its in-edges."""
    n = graph.vertices
    degrees = graph.degrees()
    sinks = numpy.flatnonzero(degrees == 0)
    scale = numpy.divide(1, degrees, where=degrees > 0, out=numpy.zeros(n)).astype("f4")
    ranks = numpy.full(n, 1 / n, "f4")
    seconds = []
    for _ in range(iterations):
        start = time.perf_counter()
        dangling = ranks[sinks].sum(dtype="f8")
        ranks = multiply(ranks * scale)
        ranks *= numpy.float32(DAMPING)
        ranks += numpy.float32((1 - DAMPING + DAMPING * dangling) / n)
        seconds.append(time.perf_counter() - start)
    return ranks, seconds


def scipy(graph, threads, iterations):
    import scipy
    from scipy.sparse import csr_array

    start = time.perf_counter()
    matrix = csr_array((numpy.ones(graph.edges, "f4"), graph.targets, graph.offsets), shape=(graph.vertices,) * 2)
    transposed = matrix.T.tocsr()
    load = time.perf_counter() - start
    ranks, seconds = power_iteration(graph, iterations, lambda shares: transposed @ shares)
    return ranks, {"version": scipy.__version__, "seconds_load": load, "seconds": seconds}


def graphblas(graph, threads, iterations):
    import graphblas
    from graphblas import Matrix, Vector, binary, semiring

    graphblas.ss.config["nthreads"] = threads
    start = time.perf_counter()
    matrix = Matrix.ss.import_csr(nrows=graph.vertices, ncols=graph.vertices, indptr=graph.offsets.astype("u8"),
                                  col_indices=graph.targets.astype("u8"), values=numpy.ones(1, "f4"), is_iso=True,
                                  sorted_cols=True)
    transposed = matrix.T.new()
    del matrix
    load = time.perf_counter() - start

    def multiply(shares):
        vector = Vector.ss.import_full(shares, take_ownership=True)
        sums = Vector.ss.import_full(numpy.zeros(graph.vertices, "f4"), take_ownership=True)
        sums(binary.plus) << semiring.plus_second["FP32"](transposed @ vector)  # added in place: its fastest form
        return sums.ss.export("full")["values"]

    ranks, seconds = power_iteration(graph, iterations, multiply)
    return ranks, {"version": graphblas.__version__, "seconds_load": load, "seconds": seconds}


def networkit(graph, threads, iterations):
    import networkit

    networkit.setNumberOfThreads(threads)
    start = time.perf_counter()
    edges = (graph.sources("u8"), graph.targets.astype("u8"))
    built = networkit.GraphFromCoo(edges, graph.vertices, directed=True)
    load = time.perf_counter() - start
    pagerank = networkit.centrality.PageRank(built, DAMPING, tol=1e-300,
                                             distributeSinks=networkit.centrality.SinkHandling.DistributeSinks)
    pagerank.maxIterations = iterations
    start = time.perf_counter()
    pagerank.run()
    total = time.perf_counter() - start
    return numpy.array(pagerank.scores()), {"version": networkit.__version__, "seconds_load": load,
                                            "seconds_total": total, "iterations": pagerank.numberOfIterations()}


def igraph(graph, threads, iterations):
    import igraph

    start = time.perf_counter()
    edges = numpy.stack([graph.sources("i8"), graph.targets], axis=1)
    built = igraph.Graph(graph.vertices, edges, directed=True)
    del edges
    load = time.perf_counter() - start
    start = time.perf_counter()
    ranks = built.pagerank(damping=DAMPING, implementation="prpack")
    total = time.perf_counter() - start
    return numpy.array(ranks), {"version": igraph.__version__, "seconds_load": load, "seconds_total": total,
                                "iterations": None}


def main():
    libraries = {function.__name__: function for function in (networkit, igraph, graphblas, scipy)}
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("library", choices=libraries)
    parser.add_argument("graph")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--ranks", required=True, metavar="FILE")
    options = parser.parse_args()
    ranks, figures = libraries[options.library](Graph(options.graph), options.threads, options.iterations)
    numpy.asarray(ranks, "f4").tofile(options.ranks)
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
