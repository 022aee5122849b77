"""Real graphs with known counts and published results, where they are: see the README beside them."""

import gzip
import os
import pathlib

import numpy as np
import pytest

import reference
from job import Job

FOLDER = pathlib.Path(os.environ.get("EDGEWIRE_GRAPHS") or pathlib.Path(__file__).resolve().parents[3] / "shared/graphs")
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no real graphs in {FOLDER} (EDGEWIRE_GRAPHS names a folder)")

# Vertices and edges as published; vertices without edges are not in these files.
GRAPHS = {
    "uk-2007-05@100000": ("uk-2007-05@100000.u32pairs.zst", 100_000, 3_050_615),
    "cnr-2000": ("cnr-2000.u32pairs.zst", 325_557, 3_216_152),
    "web-NotreDame": ("web-NotreDame.txt.gz", 325_729, 1_497_134),
    "soc-Slashdot0902": ("soc-Slashdot0902.txt.gz", 82_168, 948_464),
    "debdocs-cpp": ("debdocs-cpp.u32pairs.zst", 1_405_353, 5_173_572),
}


def convert(edgewire, folder, name, file, *options):
    source = FOLDER / name / file
    if not source.exists():
        pytest.skip("this real graph is not here (EDGEWIRE_GRAPHS names a folder)")
    edgewire.ok("convert", source, *options, "-o", folder / "g.ew")
    return folder / "g.ew"


def published(path):
    """{id: value} of a result file."""
    text = gzip.open(path, "rt").read() if path.suffix == ".gz" else path.read_text()
    return {int(id_): float(value) for id_, value in (line.split() for line in text.splitlines())}


@pytest.mark.parametrize("name", [
    "soc-Slashdot0902", *(pytest.param(name, marks=pytest.mark.slow) for name in GRAPHS if name != "soc-Slashdot0902")])
def test_counts_ranks_and_payload(edgewire, tmp_path, name):
    file, vertices, edges = GRAPHS[name]
    path = convert(edgewire, tmp_path, name, file)
    graph = reference.read_graph(path)
    assert len(graph.sources) == edges
    if name != "debdocs-cpp":  # its count includes pages that no link names
        assert graph.vertices == vertices
    expected, _ = reference.pagerank(graph)
    for processes, strategy, ownership, transport in ((2, "slots", "hash", "shm"), (4, "process", "ranges", "tcp"),
                                                      (3, "slots", "ranges", "shm")):
        job = Job(edgewire, tmp_path, path, "-p", processes, "-w", 1, "--strategy", strategy, "--ownership", ownership,
                  "--transport", transport)
        np.testing.assert_allclose(job.ranks, expected, rtol=1e-6)
        owners = reference.hash_owners(graph.vertices, processes) if ownership == "hash" else \
            reference.range_owners(graph, processes)
        job.check_payload(graph, owners)


def test_published_ranks_of_a_peer_to_peer_network(edgewire, tmp_path):
    path = convert(edgewire, tmp_path, "p2p-31", "p2p-31.e.gz", "--undirected", "--format", "snap")
    known = published(FOLDER / "p2p-31/p2p-31-PR.gz")
    for processes in (1, 3):
        job = Job(edgewire, tmp_path, path, "-p", processes, "--iterations", 10)
        assert (job.report["vertices"], job.report["edges"]) == (62_586, 2 * 147_892)
        np.testing.assert_allclose(job.ranks, [known[id_] for id_ in job.ids], rtol=1e-6)


@pytest.mark.parametrize("kind", ["directed", "undirected"])
def test_published_ranks_of_the_example_graphs(edgewire, tmp_path, kind):
    options = ["--undirected"] if kind == "undirected" else []
    path = convert(edgewire, tmp_path, "ldbc-example", f"example-{kind}.e", "--format", "snap", *options,
                   "--vertices", FOLDER / f"ldbc-example/example-{kind}.v")
    known = published(FOLDER / f"ldbc-example/example-{kind}-PR")
    for processes in (1, 2, 12):
        job = Job(edgewire, tmp_path, path, "-p", processes, "--iterations", 2)
        assert job.ids.tolist() == sorted(known)
        np.testing.assert_allclose(job.ranks, [known[id_] for id_ in job.ids], rtol=1e-6)
