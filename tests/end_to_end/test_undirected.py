"""Where a graph stores every edge both ways, the flag of the file ("symmetric" of `info`) says whether two stored edges are one edge.
This finds all that the flag decides."""
import json

import numpy as np
import pytest

KERNELS = {"pagerank": [], "pagerank --weighted": [], "pagerank --direction in": [], "ppr": ["--source", 3], "spmv": [],
           "spmv --direction in": [], "bfs": ["--source", 3], "sssp": ["--source", 3], "wcc": [], "scc": [], "bc": [], "bc --weighted": [],
           "cdlp": [], "lcc": [], "tc": []}


def values(edgewire, folder, command, path, *options):
    """(values by vertex, the report) of a run."""
    kernel, *more = command.split()
    edgewire.ok(kernel, path, *more, *options, "-o", folder / "values", "--json", folder / "report.json")
    return np.loadtxt(folder / "values", ndmin=2)[:, 1], json.loads((folder / "report.json").read_text())


@pytest.fixture(scope="module")
def twins(edgewire, tmp_path_factory):
    """The same edges in two files: as an undirected graph, and listed both ways."""
    folder = tmp_path_factory.mktemp("twins")
    random = np.random.default_rng(4)
    edges = [(*sorted(ends), weight) for ends, weight in zip(random.integers(0, 40, (90, 2)).tolist(), random.integers(1, 9, 90).tolist())]
    turned = [(b, a, weight) for a, b, weight in edges if a != b]
    assert 0 < len(turned) < len(edges)  # there are self loops
    paths = []
    for name, lines, options in (("undirected", edges, ["--undirected"]), ("both", edges + turned, [])):
        (folder / f"{name}.wel").write_text("".join(f"{a} {b} {weight}\n" for a, b, weight in lines))
        edgewire.ok("convert", folder / f"{name}.wel", "-o", folder / f"{name}.ew", *options)
        paths.append(folder / f"{name}.ew")
    facts = [json.loads(edgewire.ok("info", path, "--json", "-")) for path in paths]
    assert [one["symmetric"] for one in facts] == [True, False] and facts[0]["edges"] == facts[1]["edges"]
    return paths


@pytest.mark.parametrize("command", KERNELS)
def test_results_that_the_flag_does_not_change(edgewire, twins, tmp_path, command):
    for processes in (1, 3):
        one, two = (values(edgewire, tmp_path, command, path, *KERNELS[command], "-p", processes, "-w", 1)[0] for path in twins)
        assert np.allclose(one, two, rtol=1e-6), command


def test_results_that_the_flag_changes(edgewire, twins, tmp_path):
    # Both ways along an edge of an undirected graph is along its two stored edges, which is what `out` does.
    for kernel, options in (("spmv", []), ("pagerank", []), ("ppr", ["--source", 3])):
        along, both = (values(edgewire, tmp_path, kernel, twins[0], *options, "--direction", direction)[0] for direction in ("out", "both"))
        assert (along == both).all()
    along, both = (values(edgewire, tmp_path, "spmv", twins[1], "--direction", direction)[0] for direction in ("out", "both"))
    loops = np.zeros(40)
    for a, b, weight in np.loadtxt(twins[1].with_suffix(".wel")).tolist():
        loops[int(a)] += weight * (a == b)
    assert np.allclose(both, 2 * along - loops)
    # An edge of an undirected graph is traversed once.
    one, two = (values(edgewire, tmp_path, "bfs", path, "--source", 3)[1]["answer"]["traversed_edges"] for path in twins)
    assert one == two // 2 > 0
    # --undirected adds the other way to edges of a directed graph only.
    for path, times in zip(twins, (1, 2)):
        edgewire.ok("convert", path, "--undirected", "-o", tmp_path / "g.ew")
        stored, more = (values(edgewire, tmp_path, "spmv", one)[0] for one in (path, tmp_path / "g.ew"))
        assert np.allclose(more, stored if times == 1 else 2 * stored - loops)
