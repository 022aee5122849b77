"""`--layout auto` takes the order of vertices that a sample of tiles says is faster."""

import json
import os
import re

import numpy as np
import pytest

CELLS = ["--rows", 600, "--columns", 700]  # more vertices than a strip holds


@pytest.fixture(scope="module")
def graphs(edgewire, tmp_path_factory):
    folder = tmp_path_factory.mktemp("layout")
    edgewire.ok("generate", "grid", *CELLS, "--keep-order", "-o", folder / "near.ew")
    edgewire.ok("generate", "grid", *CELLS, "-o", folder / "far.ew")
    edgewire.ok("generate", "grid", "--rows", 100, "--columns", 100, "--keep-order", "-o", folder / "small.ew")
    return folder


# A machine on which the sources of these graphs do not fit into the second cache.
SMALL_CACHE = {**os.environ, "HWLOC_SYNTHETIC": "numa:1 l3:1 l2:2(size=65536) l1d:1(size=32768) core:1 pu:1", "HWLOC_THISSYSTEM": "1"}


def run(edgewire, graph, *arguments, **options):
    return json.loads(edgewire.ok("pagerank", graph, "--iterations", 3, "--verify", "--json", "-", *arguments, **options))


def check_choice(report, what, usual, other, reason):
    """`other` is taken if it is faster by a twentieth. `reason`: a pattern whose groups are named like the choices."""
    found = re.fullmatch(f"({usual}|{other}): {reason}", report[f"{what}_reason"])
    assert found[1] == report[what]
    usual_ms, other_ms = float(found[usual]), float(found[other])
    assert usual_ms > 0 and other_ms > 0
    if not 0.94 < other_ms / usual_ms < 0.96:  # printed figures are rounded
        assert report[what] == (other if other_ms < 0.95 * usual_ms else usual)


@pytest.mark.sanitize
@pytest.mark.parametrize("job", [["-p", 1, "-w", 2], ["-p", 2, "--ownership", "ranges"]])
def test_neighbours_kept_together_are_worth_a_measurement(edgewire, graphs, job):
    report = run(edgewire, graphs / "near.ew", *job)
    check_choice(report, "layout", "degree", "given",
                 r"by a sample, a sweep takes (?P<given>\S+) ms in given order, (?P<degree>\S+) ms by degree")


@pytest.mark.parametrize("name", ["far", "small"])
def test_nothing_is_measured_where_the_given_order_cannot_win(edgewire, graphs, name):
    report = run(edgewire, graphs / f"{name}.ew")
    assert report["layout"] == "degree"
    assert report["layout_reason"] == "degree: the given order does not keep neighbours together"


@pytest.mark.parametrize("options, layout", [(["--layout", "given"], "given"), (["--layout", "degree"], "degree"),
                                             (["--deterministic"], "degree")])
def test_nothing_is_measured_when_it_is_not_to_be_chosen(edgewire, graphs, options, layout):
    report = run(edgewire, graphs / "near.ew", *options)
    assert report["layout"] == layout and "layout_reason" not in report


@pytest.mark.sanitize
@pytest.mark.parametrize("job", [["-p", 1, "-w", 2], ["-p", 3, "-w", 2], ["-p", 2, "-w", 1, "--strategy", "cover", "--transport", "tcp"],
                                 ["-p", 3, "-w", 1, "--ownership", "grid"], ["-p", 2, "-w", 2, "--strategy", "edge"]], ids=str)
def test_the_order_of_tiles_changes_rounding_only(edgewire, graphs, tmp_path, job):
    values = []
    for order in ("strips", "hilbert", "hilbert"):
        out = tmp_path / "ranks.tsv"
        report = run(edgewire, graphs / "far.ew", *job, "--order", order, "--deterministic", "-o", out)
        assert report["order"] == order and "order_reason" not in report
        values.append(out.read_text())
    strips, hilbert = (np.loadtxt(text.splitlines())[:, 1] for text in values[:2])
    assert np.allclose(strips, hilbert, rtol=1e-6, atol=0)
    assert values[1] == values[2]


@pytest.fixture(scope="module")
def kronecker18(edgewire, tmp_path_factory):
    """Most of its cells are thin."""
    graph = tmp_path_factory.mktemp("order") / "k.ew"
    edgewire.ok("generate", "kronecker", "--scale", 18, "--edge-factor", 4, "-o", graph)
    return graph


@pytest.mark.parametrize("job", [["-p", 1, "-w", 2], ["-p", 2, "-w", 1]], ids=str)
def test_the_fastest_order_of_tiles_is_taken(edgewire, kronecker18, job):
    report = run(edgewire, kronecker18, *job, "--order", "auto", env=SMALL_CACHE)
    found = re.fullmatch(r"(strips|hilbert|bins): by a sample, all tiles take (\S+) ms strip by strip, "
                         r"(\S+) ms along the Hilbert curve, (\S+) ms with bins for thin tiles", report["order_reason"])
    assert found[1] == report["order"]
    times = dict(zip(("strips", "hilbert", "bins"), map(float, found.groups()[1:])))
    assert min(times.values()) > 0
    fastest = min(times, key=times.get)
    if not 0.91 < times[fastest] / times["strips"] < 0.93:  # printed figures are rounded
        assert report["order"] == (fastest if times[fastest] < 0.92 * times["strips"] else "strips")


@pytest.mark.sanitize
@pytest.mark.parametrize("job", [["-p", 1, "-w", 2], ["-p", 3, "-w", 2], ["-p", 2, "-w", 1, "--strategy", "cover", "--transport", "tcp"],
                                 ["-p", 3, "-w", 1, "--ownership", "grid"], ["-p", 2, "-w", 2, "--strategy", "edge"],
                                 ["-p", 2, "-w", 1, "--wire", "bf16"]], ids=str)
def test_bins_change_rounding_only(edgewire, kronecker18, job):
    reports = [run(edgewire, kronecker18, *job, "--order", order, "--deterministic") for order in ("strips", "bins", "bins")]
    assert [report["order"] for report in reports] == ["strips", "bins", "bins"]
    assert reports[1]["checksum"] == reports[2]["checksum"]


def test_bins_hold_no_weights(edgewire, tmp_path):
    edgewire.ok("generate", "kronecker", "--scale", 8, "--weights", "-o", tmp_path / "k.ew")
    for kernel in (["pagerank", "--weighted"], ["spmv"]):
        line = edgewire.refused(kernel[0], tmp_path / "k.ew", *kernel[1:], "--order", "bins", status=2)
        assert line == "--order bins: bins hold no weights of edges; take strips or hilbert"
        edgewire.ok(kernel[0], tmp_path / "k.ew", *kernel[1:])
    edgewire.ok("pagerank", tmp_path / "k.ew", "--order", "bins")


@pytest.mark.parametrize("processes", [1, 2])
def test_nothing_is_measured_where_sources_fit_into_a_cache(edgewire, graphs, processes):
    report = run(edgewire, graphs / "small.ew", "-p", processes, "-w", 1)
    assert report["order"] == "strips" and report["order_reason"] == "strips: all sources fit into the second cache"


def test_a_plan_cache_keeps_the_order_that_was_measured(edgewire, graphs, tmp_path):
    cached = ["-p", 2, "-w", 1, f"--plan-cache={tmp_path}"]
    reports = [run(edgewire, graphs / "far.ew", *cached, env=SMALL_CACHE) for _ in range(2)]
    assert [report["plan_cache"] for report in reports] == ["written", "used"]
    assert reports[0]["order_reason"] == reports[1]["order_reason"] and reports[0]["order"] == reports[1]["order"]
    for order in ("strips", "hilbert", "bins"):
        report = run(edgewire, graphs / "far.ew", *cached, "--order", order, env=SMALL_CACHE)
        assert report["plan_cache"] == "used" and report["order"] == order and "order_reason" not in report


@pytest.mark.parametrize("kernel", ["bfs", "sssp", "wcc", "scc", "cdlp", "lcc", "tc", "bc"])
@pytest.mark.parametrize("option", ["--order", "--layout", "--strategy", "--wire"])
def test_an_option_of_tiles_is_refused_where_there_are_none(edgewire, graphs, kernel, option):
    line = edgewire.refused(kernel, graphs / "small.ew", option, "auto", status=2)
    owners = "pagerank" if option == "--wire" else "pagerank, ppr and spmv"
    assert line == (f"{kernel} has no option {option}; {option} is an option of {owners} (edgewire {kernel} --help shows what there is)")


def test_edges_on_disks_are_swept_strip_by_strip(edgewire, graphs, tmp_path):
    on_disk = ["--edges", "disk", "--devices", tmp_path, "--plan-cache=" + str(tmp_path)]
    report = run(edgewire, graphs / "small.ew", *on_disk, "--order", "auto")
    assert report["order"] == "strips" and "order_reason" not in report
    for order in ("hilbert", "bins"):
        line = edgewire.refused("pagerank", graphs / "small.ew", *on_disk, "--order", order, status=2)
        assert line == f"--order {order} needs --edges memory; with edges on disk take strips"
