"""`--layout auto` takes the order of vertices that a sample of tiles says is faster."""

import json
import re

import pytest

CELLS = ["--rows", 600, "--columns", 700]  # more vertices than a strip holds


@pytest.fixture(scope="module")
def graphs(edgewire, tmp_path_factory):
    folder = tmp_path_factory.mktemp("layout")
    edgewire.ok("generate", "grid", *CELLS, "--keep-order", "-o", folder / "near.ew")
    edgewire.ok("generate", "grid", *CELLS, "-o", folder / "far.ew")
    edgewire.ok("generate", "grid", "--rows", 100, "--columns", 100, "--keep-order", "-o", folder / "small.ew")
    return folder


def run(edgewire, graph, *arguments):
    return json.loads(edgewire.ok("pagerank", graph, "--iterations", 3, "--verify", "--json", "-", *arguments))


@pytest.mark.sanitize
@pytest.mark.parametrize("job", [["-p", 1, "-w", 2], ["-p", 2, "--ownership", "ranges"]])
def test_neighbours_kept_together_are_worth_a_measurement(edgewire, graphs, job):
    report = run(edgewire, graphs / "near.ew", *job)
    found = re.fullmatch(r"(given|degree): by a sample, a sweep takes (\S+) ms in given order, (\S+) ms by degree",
                         report["layout_reason"])
    assert found[1] == report["layout"]
    given, degree = float(found[2]), float(found[3])
    assert given > 0 and degree > 0
    if not 0.94 < given / degree < 0.96:  # printed figures are rounded
        assert report["layout"] == ("given" if given < 0.95 * degree else "degree")


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
