"""Edgewire for Python: graphs from arrays, tables and files, and kernels over them.

    import edgewire as ew
    g = ew.read("edges.parquet", src="a", dst="b", weight="w")
    ranks = ew.pagerank(g, processes=2)
    ranks.report["seconds_total"], ranks.to_frame()
"""

from . import kernels
from ._edgewire import Error, UsageError, __version__
from .graph import Graph, read
from .kernels import *  # noqa: F403
from .measures import Bound, Profile, bound, profile

__all__ = ["Bound", "Error", "Graph", "Profile", "UsageError", "__version__", "bound", "profile", "read", *kernels.__all__]
