"""Kernels: each is one call that returns an array of a value for each vertex."""

import json

import numpy as np

from . import _edgewire
from ._edgewire import Error, UsageError
from .calls import Progress, file_of, flag, number, set_options, whole
from .graph import needed
from .inputs import numbers_array, shown

__all__ = ["Result", "bc", "bfs", "cdlp", "lcc", "pagerank", "scc", "spmv", "sssp", "tc", "wcc"]


class Result(np.ndarray):
    """[vertex]: the values of a kernel, an array of NumPy. `report` has what the run took, as a dict; arrays that are made of it
    have none."""

    report = graph = column = page = None

    @classmethod
    def of(cls, values, report, graph, column, page):
        result = values.view(cls)
        result.report, result.graph, result.column, result.page = report, graph, column, page
        return result

    def __array_finalize__(self, source):
        self.report = self.graph = self.column = self.page = None

    def __array_wrap__(self, array, context=None, return_scalar=False):
        return array[()] if return_scalar else array.view(np.ndarray)

    def to_frame(self):
        """A DataFrame with a row for each vertex: `vertex`, by its label where the graph has some, and the value."""
        if self.graph is None:
            raise UsageError("this array is no whole result of a kernel: call to_frame() on what the kernel returned")
        pandas = needed("pandas", "to_frame()")
        labels = self.graph.labels
        vertex = np.arange(self.graph.vertices) if labels is None else labels
        return pandas.DataFrame({"vertex": vertex, self.column: np.asarray(self)})


def run(column, call, graph, *asked, workers=None, processes=1, progress=None, **options):
    """Calls a function of the library in a job."""
    job = set_options(_edgewire.Job(), {**options, "processes": processes})
    if workers is not None:
        job.workers = whole("workers", workers, 1)
    with Progress(progress) as job._show:
        values, report, page = call(file_of(graph), *asked, job)
    return Result.of(values, json.loads(report), graph, column, page)


def uses_weights(graph, weight):
    """Whether a kernel is to use weights, which the graph then has. `weight` may be the name that they had."""
    if not (weight is None or isinstance(weight, str)):
        weight = flag("weight", weight)
    if weight and not file_of(graph).weighted:
        raise Error("the graph has no weights: make it with a weight column or array, or leave out weight= (sssp: weight=False)")
    return bool(weight)


def vertex_of(graph, vertex):
    file = file_of(graph)
    if not isinstance(vertex, (int, np.integer)) or isinstance(vertex, bool) or not 0 <= vertex < file.vertices:
        there = f"they are 0 to {file.vertices - 1}" if file.vertices else "it has none"
        named = ", in the order of g.labels" if file.labelled else ""
        raise UsageError(f"{shown(vertex)} is no vertex of this graph: {there}{named}")
    return int(vertex)


def vertices_of(graph, vertices):
    """The vertices in ascending order, each once."""
    if not hasattr(vertices, "__iter__"):
        raise UsageError(f"{shown(vertices)} is no list of vertices")
    chosen = sorted({vertex_of(graph, vertex) for vertex in vertices})
    if not chosen:
        raise UsageError("there is no vertex in the list")
    return chosen


def pagerank(graph, damping=0.85, tolerance=0, iterations=None, personalization=None, weight=None, **job):
    """PageRank by power iteration: float64[vertices], which sums to 1.

    tolerance: stop when ranks change by less in sum; 0: make all iterations. iterations: the most, by default 20, or 1000 with a
    tolerance. personalization: the vertices at which walks start again, all alike, or a dict of how often they do at each. weight:
    True to share ranks in proportion to weights.
    """
    asked = set_options(_edgewire.PageRankOptions(), {"damping": damping, "tolerance": tolerance, "iterations": iterations,
                                                      "weighted": uses_weights(graph, weight)})
    shares = []
    if personalization is None:
        return run("rank", _edgewire.pagerank, graph, asked, **job)
    if hasattr(personalization, "items"):
        for vertex, value in personalization.items():
            if not isinstance(value, (int, float, np.number)) or not 0 <= value < np.inf:
                raise UsageError(f"personalization: the value of {shown(vertex)} is {shown(value)}: it must be a number from 0 on")
        personalization = {vertex_of(graph, vertex): float(value) for vertex, value in personalization.items() if value}
        shares = [share for _, share in sorted(personalization.items())]
    return run("rank", _edgewire.ppr, graph, vertices_of(graph, personalization), shares, asked, **job)


def spmv(graph, x=None, iterations=1, **job):
    """y = A x, applied `iterations` times: float64[vertices]; row v of A has the weights of the edges to v. x: a number for each
    vertex, or None for ones. For a matrix M of SciPy, spmv(Graph.from_scipy(M), x) is M.T @ x, and spmv(Graph.from_scipy(M.T), x) is
    M @ x."""
    values = [] if x is None else numbers_array(x, "x").astype(np.float64).tolist()
    if x is not None and len(values) != file_of(graph).vertices:
        raise UsageError(f"x has {len(values)} numbers, and the graph {graph.vertices} vertices")
    return run("value", _edgewire.spmv, graph, values, whole("iterations", iterations, 0), **job)


def bfs(graph, source, parents=False, deterministic=False, **job):
    """Levels: int64[vertices], the number of edges from `source`, -1 where no path leads. parents: the vertex before each one on a
    shortest path; deterministic: the smallest of several."""
    asked = set_options(_edgewire.BfsOptions(), {"parents": parents, "deterministic": deterministic})
    return run("parent" if asked.parents else "level", _edgewire.bfs, graph, vertex_of(graph, source), asked, **job)


def sssp(graph, source, delta=0, weight=True, **job):
    """Distances: float64[vertices], infinity where no path leads. weight: False to count each edge as 1."""
    asked = set_options(_edgewire.SsspOptions(), {"delta": number("delta", delta), "unit_weights": not uses_weights(graph, weight)})
    return run("distance", _edgewire.sssp, graph, vertex_of(graph, source), asked, **job)


def bc(graph, sources=None, weight=None, normalized=False, endpoints=False, deterministic=False, **job):
    """Betweenness: float64[vertices], added up over `sources`, or over all vertices. weight: True for paths of the least sum of
    weights."""
    asked = set_options(_edgewire.BcOptions(), {"weighted": uses_weights(graph, weight), "normalized": normalized, "endpoints": endpoints,
                                                "deterministic": deterministic})
    chosen = [] if sources is None else vertices_of(graph, sources)
    return run("betweenness", _edgewire.bc, graph, chosen, asked, **job)


def wcc(graph, **job):
    """Weakly connected components: int64[vertices], the first vertex of each one's component."""
    return run("component", _edgewire.wcc, graph, **job)


def scc(graph, **job):
    """Strongly connected components: int64[vertices], the first vertex of each one's component."""
    return run("component", _edgewire.scc, graph, **job)


def cdlp(graph, iterations=10, **job):
    """Communities by label propagation, as LDBC Graphalytics has it: int64[vertices], labels that are vertices."""
    return run("label", _edgewire.cdlp, graph, whole("iterations", iterations, 1), **job)


def lcc(graph, **job):
    """Local clustering coefficients: float64[vertices]; the number of triangles is in the report."""
    return run("coefficient", _edgewire.lcc, graph, **job)


def tc(graph, vertices=False, **job):
    """The number of triangles of the graph without its directions. vertices: True for int64[vertices], the triangles that each vertex is a
    corner of."""
    found = run("triangles", _edgewire.tc, graph, flag("vertices", vertices), **job)
    return found if vertices else Result.of(found.reshape(()), found.report, None, found.column, found.page)


def document(call, kind):
    """Adds the options of its job to what help() says of a kernel."""
    lines = [f"    {name}: {text}".replace(" (--plan-cache=DIR)", "")  # which only a command line can say
             for name, (text, kernels) in _edgewire.job_options.items() if kernels in ("all", kind)]
    lines.append("    progress: None, True, False or a function of (name, done, total, unit) that is told how far the job has come")
    call.__doc__ = "\n".join([call.__doc__.rstrip(), "", "    Options of the job:", *lines, "    "])


for kernel in (bc, bfs, cdlp, lcc, pagerank, scc, spmv, sssp, tc, wcc):
    document(kernel, "dense" if kernel in (pagerank, spmv) else "frontier")
