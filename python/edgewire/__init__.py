"""Edgewire for Python: graphs from arrays, tables and files, and kernels over them.

    import edgewire as ew
    g = ew.read("edges.parquet", src="a", dst="b", weight="w")
    ranks = ew.pagerank(g, processes=2)
    ranks.report["seconds_total"], ranks.to_frame()
"""

from ._edgewire import Error, UsageError, __version__
from .graph import Graph, read
from .kernels import Result, bc, bfs, cdlp, lcc, pagerank, scc, spmv, sssp, wcc
from .measures import Bound, Profile, bound, profile

__all__ = ["Bound", "Error", "Graph", "Profile", "Result", "UsageError", "__version__", "bc", "bfs", "bound", "cdlp", "lcc", "pagerank",
           "profile", "read", "scc", "spmv", "sssp", "wcc"]
