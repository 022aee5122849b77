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
# The sizes of the caches decide the sizes of tiles, and these the order of sums.
MACHINE = {"HWLOC_SYNTHETIC": "numa:1 l3:1 l2:2(size=1048576) l1d:1(size=32768) core:1 pu:1", "HWLOC_THISSYSTEM": "1"}


@pytest.fixture(scope="module")
def paths(edgewire, tmp_path_factory):
    """path(name) of a graph file."""
    folder = tmp_path_factory.mktemp("graphs")

    def path(name):
        graph = folder / f"{name}.ew"
        if not graph.exists():
            if name in INPUTS:
                if not (GRAPHS / name).is_dir():
                    pytest.skip(f"{GRAPHS / name} is not there")
                edgewire.ok("convert", GRAPHS / name / INPUTS[name], "-o", graph)
            else:
                edgewire.ok("generate", "kronecker", "--scale", 16, "-o", graph)
        return graph

    return path


@pytest.mark.matrix(1 / 8)
@pytest.mark.parametrize("transport", ["shm", "tcp"])
@pytest.mark.parametrize("case", CHECKSUMS)
def test_the_bits_of_pagerank(edgewire, paths, tmp_path, case, transport):
    name, processes, workers, strategy, form = case.split()
    if os.cpu_count() < 2:
        pytest.skip("the machine of these checksums has two cores")
    arguments = ["--precision", "f64"] if form == "f64" else ["--wire", form]
    if processes != "1":
        arguments += ["--strategy", strategy, "--transport", transport]
    edgewire.ok("pagerank", paths(name), "--deterministic", "--iterations", 5, "-p", processes, "-w", workers,
                "--json", tmp_path / "report.json", *arguments, env={**os.environ, **MACHINE})
    assert json.loads((tmp_path / "report.json").read_text())["checksum"] == CHECKSUMS[case]
