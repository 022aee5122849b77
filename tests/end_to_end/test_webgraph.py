"""Graphs of WebGraph's BVGraph, in every command that reads graphs. The real ones have their edges in another format, too."""

import filecmp

import numpy as np
import pytest

import reference
from job import Job
from test_real_graphs import FOLDER

PROPERTIES = """#BVGraph properties
graphclass=it.unimi.dsi.webgraph.BVGraph
version=0
nodes={nodes}
arcs={arcs}
windowsize=0
maxrefcount=-1
minintervallength=0
compressionflags=RESIDUALS_GAMMA
"""


def gamma(number):
    digits = f"{number + 1:b}"
    return "0" * (len(digits) - 1) + digits


def fold(number):
    return 2 * number if number >= 0 else -2 * number - 1


def packed(bits):
    return int(bits.ljust((len(bits) + 7) // 8 * 8, "0"), 2).to_bytes((len(bits) + 7) // 8, "big")


def write_webgraph(path, rows, offsets=False):
    """Rows without references and intervals: outdegree, first residual, gaps."""
    codes = []
    for row, targets in enumerate(rows):
        gaps = [fold(targets[0] - row)] + [b - a - 1 for a, b in zip(targets, targets[1:])] if targets else []
        codes.append("".join(map(gamma, [len(targets), *gaps])))
    path.write_bytes(packed("".join(codes)))
    path.with_suffix(".properties").write_text(PROPERTIES.format(nodes=len(rows), arcs=sum(map(len, rows))))
    if offsets:
        path.with_suffix(".offsets").write_bytes(packed("".join(map(gamma, [0, *map(len, codes)]))))


@pytest.fixture(scope="module")
def rows():
    random = np.random.default_rng(4)
    return [sorted({int(t) for t in random.integers(0, 5000, random.integers(0, 12))}) for _ in range(5000)]


@pytest.mark.sanitize
@pytest.mark.parametrize("offsets", [False, True], ids=["without offsets", "with offsets"])
def test_convert_gives_the_same_graph_however_it_is_read(edgewire, tmp_path, rows, offsets):
    write_webgraph(tmp_path / "g.graph", rows, offsets)
    edgewire.ok("convert", tmp_path / "g.graph", "-o", tmp_path / "known.ew", "-w", 1)
    graph = reference.read_graph(tmp_path / "known.ew")
    assert graph.vertices == len(rows)
    assert list(zip(graph.sources.tolist(), graph.targets.tolist())) == [(row, t) for row, targets in enumerate(rows) for t in targets]
    for options in (("-w", 3), ("--format", "webgraph", "--memory", "100M", "-w", 1), ("-p", 1, "-w", 2), ("-p", 2, "-w", 2),
                    ("-p", 3, "-w", 1, "--memory", "100M")):
        edgewire.ok("convert", tmp_path / "g.graph", "-o", tmp_path / "found.ew", *options)
        assert filecmp.cmp(tmp_path / "found.ew", tmp_path / "known.ew", shallow=False), options


def test_commands_read_it_directly(edgewire, tmp_path, rows):
    write_webgraph(tmp_path / "g.graph", rows)
    edges = sum(map(len, rows))
    edgewire.ok("convert", tmp_path / "g.graph", "-o", tmp_path / "g.ew")
    expected, _ = reference.pagerank(reference.read_graph(tmp_path / "g.ew"))
    for options in ((), ("--memory", "200M")):
        job = Job(edgewire, tmp_path, tmp_path / "g.graph", "-p", 2, "-w", 1, *options)
        np.testing.assert_allclose(job.ranks, expected, rtol=1e-6)
    assert f"{edges}" in edgewire.ok("info", tmp_path / "g.graph").replace(",", "")
    edgewire.ok("bound", tmp_path / "g.graph", "-p", 2)
    assert edgewire.ok("bound", "--load", "convert", tmp_path / "g.graph", "-p", 2)


def test_what_is_refused(edgewire, tmp_path, rows):
    path = tmp_path / "g.graph"
    write_webgraph(path, rows, offsets=True)
    properties = (tmp_path / "g.properties").read_text()
    out = ("-o", tmp_path / "no.ew")
    for options in ((), ("--memory", "100M", "-p", 2)):
        (tmp_path / "g.properties").write_text(properties.replace("BVGraph\nversion", "EFGraph\nversion"))
        assert f"{tmp_path}/g.properties: graphclass it.unimi.dsi.webgraph.EFGraph is not supported" in edgewire.refused(
            "convert", path, *out, *options)
        (tmp_path / "g.properties").write_text(properties.replace("arcs=", "arcs=1"))
        assert f"{path}: byte " in edgewire.refused("convert", path, *out, *options)
        (tmp_path / "g.properties").unlink()
        assert "it is binary, so it is no METIS graph" in edgewire.refused("convert", path, *out, *options)
        assert "put it beside" in edgewire.refused("convert", path, *out, *options, "--format", "webgraph")
        (tmp_path / "g.properties").write_text(properties)
    whole = path.read_bytes()
    path.write_bytes(whole[:1000])
    for options in (("-w", 2), ("--memory", "100M", "-p", 2)):
        assert f"begins behind the end of {path}: that file is cut off" in edgewire.refused("convert", path, *out, *options)
    (tmp_path / "g.offsets").unlink()
    for options in ((), ("--memory", "100M", "-p", 2)):
        assert "the file ends within the code of a number" in edgewire.refused("convert", path, *out, *options)
    assert not (tmp_path / "no.ew").exists()


@pytest.mark.skipif(not FOLDER.is_dir(), reason=f"no real graphs in {FOLDER} (EDGEWIRE_GRAPHS names a folder)")
@pytest.mark.parametrize("name", ["cnr-2000", "uk-2007-05@100000"])
def test_real_graphs_have_the_edges_of_their_pairs(edgewire, tmp_path, name):
    path, pairs = FOLDER / name / f"{name}.graph", FOLDER / name / f"{name}.u32pairs.zst"
    if not path.exists():
        pytest.skip("this real graph is not here (EDGEWIRE_GRAPHS names a folder)")
    edgewire.ok("convert", pairs, "--keep-ids", "-o", tmp_path / "known.ew")
    for options in (("-w", 1), ("-w", 2), ("--memory", "200M", "-w", 1), ("-p", 2, "-w", 1), ("-p", 3, "-w", 1)):
        edgewire.ok("convert", path, "-o", tmp_path / "found.ew", *options)
        assert filecmp.cmp(tmp_path / "found.ew", tmp_path / "known.ew", shallow=False), options
