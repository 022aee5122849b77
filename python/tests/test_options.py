"""Options have the same defaults in the program, in C++ and in Python, and none that a job does not have is ignored."""

import inspect
import json
import os
import re
import subprocess
import sysconfig

import pytest

import edgewire as ew
from edgewire import _edgewire

COMMAND = os.path.join(sysconfig.get_path("scripts"), "edgewire")
# The options of C++ of each kernel, beside those of its job.
KERNELS = {"pagerank": _edgewire.PageRankOptions, "spmv": None, "bfs": _edgewire.BfsOptions, "sssp": _edgewire.SsspOptions,
           "bc": _edgewire.BcOptions, "wcc": None, "scc": None, "cdlp": None, "lcc": None, "tc": None}
SOURCE = {"bfs": ["--source", "0"], "sssp": ["--source", "0"]}
TILES = {"strategy": "slots", "wire": "f64", "layout": "given", "order": "strips"}


def program(*words):
    ended = subprocess.run([COMMAND, *words], capture_output=True, text=True, timeout=120)
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def said_by_program(kernel):
    """{name: default, as help says it, or None}"""
    lines = re.findall(r"^  (?:-\w, ?)*--([a-z0-9-]+)(?:,--\S+)?(.*)$", program("help", kernel), re.MULTILINE)
    return {name.replace("-", "_"): (re.findall(r"\(default (.*)\)$", rest) or [None])[0] for name, rest in lines}


def same(said, value):
    """Whether help says this default. It says nothing of a flag that is off, and of what is chosen."""
    if said is None or value is None:
        return not value
    if isinstance(value, bool):
        return said == ("on" if value else "off")
    return said == value if isinstance(value, str) else float(said) == value


@pytest.mark.parametrize("kernel", KERNELS)
def test_defaults_are_equal(kernel):
    said = said_by_program(kernel)
    in_cpp = [_edgewire.Job(), *([KERNELS[kernel]()] if KERNELS[kernel] else [])]
    in_python = {name: one.default for name, one in inspect.signature(getattr(ew, kernel)).parameters.items()}
    compared = set()
    for name in said:
        values = [getattr(options, name) for options in in_cpp if hasattr(options, name)]
        values += [in_python[name]] if in_python.get(name, inspect.Parameter.empty) is not inspect.Parameter.empty else []
        if (kernel, name) == ("pagerank", "iterations"):  # by default it depends on the tolerance, see below
            assert values == [None, None]
            continue
        for value in values:
            assert same(said[name], value), (name, said[name], values)
            compared.add(name)
    assert compared >= {"processes", "workers", "transport", "peer_timeout", "ownership", "verify", "profile", "integrity", "rows"}, compared


@pytest.mark.parametrize("kernel", KERNELS)
def test_runs_by_default_are_the_same(kernel, tmp_path):
    graph = ew.Graph.from_numpy([0, 1, 2, 2], [1, 2, 0, 3], weight=[1, 2, 3, 4])
    path, report = tmp_path / "g.ew", tmp_path / "report.json"
    graph.save(path)
    program(kernel, path, *SOURCE.get(kernel, []), "--json", report)
    theirs, mine = json.loads(report.read_text()), getattr(ew, kernel)(graph, *([0] if kernel in SOURCE else [])).report
    for name in ("workers", "processes", "transport", "strategy", "wire", "ownership"):
        assert theirs[name] == mine[name], name
    shared = {name for name in mine.get("options", {}) if name in theirs["options"] and name not in ("source", "x")}
    assert {name: theirs["options"][name] for name in shared} == {name: mine["options"][name] for name in shared}
    assert kernel not in ("pagerank", "sssp", "cdlp", "bc") or shared


def test_pagerank_to_a_tolerance_goes_on_for_longer(tmp_path):
    graph = ew.Graph.from_numpy([0, 1, 2, 2], [1, 2, 0, 3])
    assert ew.pagerank(graph).report["options"]["iterations"] == 20
    assert ew.pagerank(graph, tolerance=1e-3).report["options"]["iterations"] == 1000


@pytest.mark.parametrize("kernel", ["bfs", "sssp", "bc", "wcc", "scc", "cdlp", "lcc", "tc"])
@pytest.mark.parametrize("option", TILES)
def test_kernels_without_tiles_refuse_their_options(kernel, option):
    graph = ew.Graph.from_numpy([0, 1], [1, 0], weight=[1, 2])
    source = [0] if kernel in SOURCE else []
    with pytest.raises(ew.UsageError, match=f"^{option}='{TILES[option]}': {kernel} has no such option; leave it out$"):
        getattr(ew, kernel)(graph, *source, **{option: TILES[option]})


@pytest.mark.parametrize("kernel", ["pagerank", "spmv"])
def test_kernels_with_tiles_count_without_being_asked(kernel):
    with pytest.raises(ew.UsageError, match=f"^bound=True: {kernel} has no such option; leave it out$"):
        getattr(ew, kernel)(ew.Graph.from_numpy([0, 1], [1, 0]), bound=True)


@pytest.mark.parametrize("kernel", KERNELS)
def test_help_says_what_each_option_of_a_job_is(kernel):
    """In words of Python; and none that the kernel refuses."""
    said = dict(re.findall(r"^    (\w+): (.+)$", getattr(ew, kernel).__doc__.split("Options of the job:")[1], re.MULTILINE))
    own = {name for name in dir(_edgewire.Job) if not name.startswith("_")}
    refused = {"bound"} if kernel in ("pagerank", "spmv") else {*TILES, "plan_cache"}
    assert set(said) == own - refused | {"progress"}
    assert not [text for text in said.values() if "--" in text or len(text) < 10]


@pytest.mark.parametrize("kernel", ["pagerank", "bfs"])
def test_edges_may_be_on_disks(kernel, tmp_path):
    graph = ew.Graph.from_numpy([0, 1, 2, 2], [1, 2, 0, 3])
    source = [0] if kernel in SOURCE else []
    folders = {"devices": [str(tmp_path)], "memory": 2**26, "plan_cache": str(tmp_path)}
    if kernel in SOURCE:
        del folders["plan_cache"]
    on_disk, in_memory = (getattr(ew, kernel)(graph, *source, **more) for more in (folders, {}))
    assert on_disk == pytest.approx(in_memory)
    assert "disk" in on_disk.report and "disk" not in in_memory.report
