"""edgewire topology, on this machine and on others."""

import json
import os
import pathlib

import pytest

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"
TWO_NODES = DATA / "two_nodes.xml"


@pytest.mark.sanitize
def test_this_machine(edgewire):
    found = json.loads(edgewire.ok("topology", "--json", "-"))
    cores = [cpu for node in found["nodes"] for cpu in node["cores"]]
    assert cores and set(cores) <= os.sched_getaffinity(0)
    assert found["memory_bytes"] > 2**20
    assert [worker["cpu"] for worker in found["processes"][0]["workers"]] == cores
    assert not found["oversubscribed"]
    assert "memory on node" in edgewire.ok("topology")


def test_fewer_cpus_allowed(edgewire):
    cpu = max(os.sched_getaffinity(0))
    found = json.loads(edgewire.ok("topology", "--json", "-", preexec_fn=lambda: os.sched_setaffinity(0, {cpu})))
    assert [node["cores"] for node in found["nodes"]] == [[cpu]]


@pytest.mark.sanitize
def test_a_machine_with_two_nodes(edgewire):
    found = json.loads(edgewire.ok("topology", "-p", 2, "--xml", TWO_NODES, "--json", "-"))
    assert [len(node["cores"]) for node in found["nodes"]] == [8, 8]
    for rank, process in enumerate(found["processes"]):
        assert {worker["node"] for worker in process["workers"]} == {rank}
    text = edgewire.ok("topology", "-p", 2, "-w", 4, "--xml", TWO_NODES)
    assert "process 1   4 workers on cores 16,18,20,22; memory on node 1" in text


def test_network_cards_and_their_nodes(edgewire):
    found = json.loads(edgewire.ok("topology", "-p", 2, "--xml", DATA / "two_cards.xml", "--json", "-"))
    assert found["nics"] == [{"name": "eth0", "node": 0}, {"name": "mlx5_1", "node": 1}]
    assert [process["nic"] for process in found["processes"]] == ["eth0", "mlx5_1"]


def test_more_workers_than_cores(edgewire):
    text = edgewire.ok("topology", "-p", 3, "-w", 6, "--xml", TWO_NODES)
    assert "more workers (18) than cores (16)" in text


@pytest.mark.sanitize
def test_a_file_that_is_no_topology(edgewire, tmp_path):
    torn = tmp_path / "torn.xml"
    torn.write_bytes(TWO_NODES.read_bytes()[:4000])
    assert edgewire.refused("topology", "--xml", torn).startswith(f"{torn}: not a whole hwloc XML file")
    assert edgewire.refused("topology", "--xml", tmp_path).startswith(f"{tmp_path}: cannot read")
    missing = tmp_path / "missing.xml"
    assert edgewire.refused("topology", "--xml", missing) == f"{missing}: cannot read: No such file or directory"


def test_a_report_that_cannot_be_written(edgewire, tmp_path):
    path = tmp_path / "no folder" / "report.json"
    assert edgewire.refused("topology", "--json", path) == f"{path}: cannot write: No such file or directory"


def test_the_level_that_loops_are_compiled_for(edgewire):
    best = edgewire.ok("--version").split()[-1]
    assert json.loads(edgewire.ok("topology", "--json", "-"))["cpu_level"] == best
    assert f"for {best}" in edgewire.ok("topology")
    assert edgewire.ok("--version", env={"EDGEWIRE_CPU": ""}) == edgewire.ok("--version")
    assert json.loads(edgewire.ok("topology", "--xml", TWO_NODES, "--json", "-"))["cpu_level"] is None  # another machine


def levels(edgewire):
    """Those that this processor can be told to use."""
    best = edgewire.ok("--version").split()[-1]
    return [level for level in ("v2", "v3", "v4") if f"x86-64-{level}" <= best]


def test_a_level_that_is_asked_for(edgewire):
    for level in levels(edgewire):
        assert edgewire.ok("--version", env={"EDGEWIRE_CPU": level}).endswith(f" for x86-64-{level}\n")
    for wrong in ("v1", "v5", "V3", "x86-64-v3", "3", " v2"):
        result = edgewire("topology", env={"EDGEWIRE_CPU": wrong})
        assert (result.returncode, result.stdout) == (2, "")
        assert result.stderr == f"edgewire: EDGEWIRE_CPU={wrong} is no level; name v2, v3 or v4, or unset it for the best one\n"


@pytest.mark.parametrize("command", ["pagerank -w 2 --deterministic", "pagerank -p 2 -w 1 --transport tcp --strategy cover --deterministic",
                                     "pagerank -p 2 -w 1 --wire bf16 --deterministic", "spmv -w 2 --deterministic", "bfs --source 1 -w 2",
                                     "sssp --source 1 -w 2 --unit-weights", "wcc -w 2", "scc -w 2", "lcc -w 2", "tc -w 2", "cdlp -w 2", "bc --sources 1 -w 1"])
def test_each_level_gives_the_same_bits(edgewire, kronecker, tmp_path, command):
    kernel, *options = command.split()
    report, checksums = tmp_path / "report.json", set()
    for level in levels(edgewire):
        edgewire.ok(kernel, kronecker(12), *options, "--json", report, env={"EDGEWIRE_CPU": level})
        checksums.add(json.loads(report.read_text())["checksum"])
    assert len(checksums) <= 1  # none on processors of other makes


@pytest.mark.parametrize("arguments", [["-p", "0"], ["-w", "-1"], ["-p", "two"], ["--xlm", "x"]])
def test_a_command_line_that_makes_no_sense(edgewire, arguments):
    result = edgewire("topology", *arguments)
    assert result.returncode == 2
    assert result.stderr and not result.stdout
