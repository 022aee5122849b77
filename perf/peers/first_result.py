#!/usr/bin/python3
"""Measures the time from a CSV file of edges to its PageRank in Python: Edgewire's package beside what others use, in turns.

The file has a header and 5 M random edges (R-MAT) between about 300,000 vertices, whose ids are some of 0 to 524287. Each turn is a
process of its own with the file in the page cache; imports are not counted. All stop at a tolerance of 1e-6, but igraph, whose solver has
its own. The largest rank must be the same, but for "ids as they are", where ids that do not occur are vertices, too, and NetworKit, whose
reader drops duplicate edges. WHEEL is what `make wheel` wrote for this Python; libraries come from PyPI into BUILD/peers.
"""

import argparse
import json
import pathlib
import sys

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from measure import ROOT, Failed, machine, machine_line, print_table, run, run_script, spread, to_text  # noqa: E402
from packages import python_with  # noqa: E402

SCIPY = """
from time import perf_counter as now
import numpy as np, pandas as pd, scipy.sparse as sp
start = now()
frame = pd.read_csv(path)
read = now()
{number}
n = len(ids)
matrix = sp.csr_array((np.ones(len(src)), (dst, src)), shape=(n, n))
degrees = np.bincount(src, minlength=n)
ranks = np.full(n, 1 / n)
change = 1
while change >= 1e-6:
    share = np.divide(ranks, degrees, out=np.zeros(n), where=degrees > 0)
    new = 0.85 * (matrix @ share + ranks[degrees == 0].sum() / n) + 0.15 / n
    change, ranks = np.abs(new - ranks).sum(), new
"""
# Each sets `start`, `read` and `ranks`.
SYSTEMS = {
    "edgewire": """
from time import perf_counter as now
import edgewire as ew
start = now()
graph = ew.read(path)
read = now()
ranks = ew.pagerank(graph, tolerance=1e-6)
""",
    "pandas + scipy": SCIPY.format(number="""
numbers, ids = pd.factorize(frame[["src", "dst"]].to_numpy().ravel())
src, dst = numbers[::2], numbers[1::2]
"""),
    "the same, np.unique": SCIPY.format(number="""
ids, numbers = np.unique(frame[["src", "dst"]].to_numpy(), return_inverse=True)
src, dst = numbers.reshape(-1, 2).T
"""),
    "the same, ids as they are": SCIPY.format(number="""
src, dst = frame["src"].to_numpy(), frame["dst"].to_numpy()
ids = range(max(src.max(), dst.max()) + 1)
"""),
    "NetworKit": """
from time import perf_counter as now
import networkit as nk
start = now()
graph = nk.graphio.EdgeListReader(",", 0, "s", continuous=False, directed=True).read(path)
read = now()
ranks = nk.centrality.PageRank(graph, tol=1e-6).run().scores()
""",
    "igraph": """
from time import perf_counter as now
import igraph, pandas as pd
start = now()
graph = igraph.Graph.DataFrame(pd.read_csv(path), directed=True, use_vids=False)
read = now()
ranks = graph.pagerank()
""",
}
OTHER_GRAPHS = ("the same, ids as they are", "NetworKit")
PRINT = """
end = now()
import json
print(json.dumps({"read": read - start, "rank": end - read, "total": end - start, "largest": float(max(ranks))}))
"""


def write_edges(path, edges, scale):
    """An R-MAT graph with the parameters of Graph500, its ids permuted."""
    random = numpy.random.default_rng(5)
    ends = numpy.zeros((2, edges), numpy.int64)
    for _ in range(scale):
        which = random.random(edges)
        ends = ends * 2 + [which >= 0.76, ((which >= 0.57) & (which < 0.76)) | (which >= 0.95)]
    names = random.permutation(1 << scale)
    numpy.savetxt(path, names[ends].T, "%d", ",", header="src,dst", comments="")


def measure(python, path, rounds):
    """{system: figures of all rounds}"""
    found = {name: [] for name in SYSTEMS}
    for _ in range(rounds):
        for name, text in SYSTEMS.items():
            text = run([python, "-c", f"path = {str(path)!r}\n{text}{PRINT}"], timeout_s=600)
            found[name].append(json.loads(text))
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("wheel", type=pathlib.Path, metavar="WHEEL")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--edges", type=int, default=5_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    if not options.wheel.is_file():
        raise Failed(f"{options.wheel}: no such file (make wheel writes it)")
    folder = (options.build / "peers").resolve()
    python = python_with(folder / "first-result", [options.wheel, "numpy", "pandas", "scipy", "networkit", "igraph"])
    path = folder / f"edges-{options.edges}.csv"
    if not path.exists():
        write_edges(path.with_suffix(".part"), options.edges, 19)
        path.with_suffix(".part").rename(path)
    print(machine_line(machine()))
    found = measure(python, path, options.rounds)
    ours = {part: spread([figures[part] for figures in found["edgewire"]]) for part in ("read", "rank", "total")}
    rows = []
    for name, figures in found.items():
        largest = figures[0]["largest"]
        if abs(largest / found["edgewire"][0]["largest"] - 1) > 1e-4 and name not in OTHER_GRAPHS:
            raise Failed(f"{name}: its largest rank is {largest}, not {found['edgewire'][0]['largest']}")
        parts = {part: spread([one[part] for one in figures]) for part in ours}
        rows.append([name, *(to_text(parts[part], 1, 3) for part in parts), f"{parts['total']['median'] / ours['total']['median']:.1f}"])
    print_table(["system", "read s", "rank s", "total s", "times edgewire"], rows)


if __name__ == "__main__":
    run_script(main)
