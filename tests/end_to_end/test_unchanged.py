"""PageRank gives the same bits as the version that wrote tests/data/pagerank_checksums.json: whoever changes the order
of its sums, or what rounds them, should know it. `GRAPH PROCESSES WORKERS STRATEGY FORM`: checksum after 5 iterations."""

import json
import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
GRAPHS = pathlib.Path(os.environ.get("EDGEWIRE_GRAPHS", ROOT.parent / "shared" / "graphs"))
INPUTS = {"uk-2007-05@100000": "uk-2007-05@100000.u32pairs.zst", "web-NotreDame": "web-NotreDame.txt.gz"}
CHECKSUMS = json.loads((ROOT / "tests/data/pagerank_checksums.json").read_text())


def machine(l3, l2_bytes):
    """The sizes of the caches decide the sizes of tiles, and these the order of sums."""
    synthetic = f"numa:1 {l3} l2:2(size={l2_bytes}) l1d:1(size=32768) core:1 pu:1"
    return {**os.environ, "HWLOC_SYNTHETIC": synthetic, "HWLOC_THISSYSTEM": "1"}


USUAL = machine("l3:1", 1048576)
# Tiles are small and groups are large, since the curve through a few tiles is no other order.
SMALL = machine("l3:1(size=524288)", 65536)
ORDERS = json.loads((ROOT / "tests/data/order_checksums.json").read_text())


@pytest.fixture(scope="module")
def paths(edgewire, tmp_path_factory):
    """path(name) of a graph file."""
    folder = tmp_path_factory.mktemp("graphs")

    def path(name):
        graph = folder / f"{name}.ew"
        if not graph.exists():
            if name in INPUTS:
                if not (GRAPHS / name).is_dir():
                    pytest.skip("this real graph is not here (EDGEWIRE_GRAPHS names a folder)")
                edgewire.ok("convert", GRAPHS / name / INPUTS[name], "-o", graph)
            else:
                edgewire.ok("generate", "kronecker", "--scale", name.removeprefix("kronecker-"), "-o", graph)
        return graph

    return path


def checksum(edgewire, graph, case, machine, report, *more):
    _, processes, workers, strategy, form, *_ = case.split()
    if os.cpu_count() < 2:
        pytest.skip("the machine of these checksums has two cores")
    arguments = ["--precision", "f64"] if form == "f64" else ["--wire", form]
    if processes != "1":
        arguments += ["--strategy", strategy]
    edgewire.ok("pagerank", graph, "--deterministic", "--iterations", 5, "-p", processes, "-w", workers, "--json", report,
                *arguments, *more, env=machine)
    return json.loads(report.read_text())["checksum"]


@pytest.mark.matrix(1 / 8)
@pytest.mark.parametrize("transport", ["shm", "tcp"])
@pytest.mark.parametrize("case", CHECKSUMS)
def test_the_bits_of_pagerank(edgewire, paths, tmp_path, case, transport):
    more = [] if case.split()[1] == "1" else ["--transport", transport]
    assert checksum(edgewire, paths(case.split()[0]), case, USUAL, tmp_path / "report.json", *more) == CHECKSUMS[case]


@pytest.mark.parametrize("case", ORDERS)
def test_the_bits_of_each_order_of_tiles(edgewire, paths, tmp_path, case):
    order = case.split()[-1]
    found = checksum(edgewire, paths(case.split()[0]), case, SMALL, tmp_path / "report.json", "--order", order)
    assert found == ORDERS[case]


def test_orders_of_tiles_are_told_apart():
    for case, bits in ORDERS.items():
        assert not case.endswith("hilbert") or bits != ORDERS[case.replace("hilbert", "strips")]
    assert ORDERS["web-NotreDame 1 1 slots f64 bins"] != ORDERS["web-NotreDame 1 1 slots f64 strips"]
