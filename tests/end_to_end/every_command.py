"""The commands that run as a job of several processes: how each one is asked for, and what its report must say."""

import json
import pathlib

from job import check_schema
from processes import PATIENCE_S

KERNELS = ["pagerank", "ppr", "spmv", "bfs", "sssp", "wcc", "scc", "cdlp", "lcc", "tc", "bc"]
COMMANDS = [*KERNELS, "sort", "tasks"]
ON_A_HOST = [*COMMANDS, "convert"]  # whose processes write one file
# Reports of links that lose frames say what was lost.
WITH_LOSSES = ["dpdk"]


def words(command, graph, inputs, output, source=0):
    """The command line without the options that say where processes run. `inputs`, `output`: of sort, files and a folder; of convert,
    an edge list and a graph."""
    if command == "sort":
        return ["sort", *inputs, "-o", output, "--partitions", 4, "--verify"]
    if command == "convert":
        return ["convert", *inputs, "-o", output]
    if command == "tasks":
        return ["tasks", "number-inc", "--count", 50, "--repeat", 1]
    asked = {"ppr": ["--sources", source], "bc": ["--sources", source], "bfs": ["--source", source], "sssp": ["--source", source, "--unit-weights"]}
    steps = ["--iterations", 4] if command in ("pagerank", "ppr") else []
    return [command, graph, *asked.get(command, []), *steps, "--deterministic", "--verify"]


def run(edgewire, folder, command, graph, *options):
    """The report of a job. `folder` is empty."""
    inputs = []
    if command == "sort":
        edgewire.ok("generate", "records", "--bytes", "200k", "-o", folder / "records")
        inputs = sorted((folder / "records").iterdir())
    if command == "convert":
        inputs = [folder / "edges.el"]
        edgewire.ok("convert", graph, "-o", *inputs)
    report = folder / "report.json"
    edgewire.ok(*words(command, graph, inputs, folder / "output"), *options, "--peer-timeout", PATIENCE_S, "--json", report)
    return json.loads(report.read_text())


def check(command, report, transport, processes):
    """`command` has run over this transport, and its report says what happened on the link."""
    check_schema(report, f"{command}_report" if command in ("sort", "tasks", "convert") else "run_report")
    assert (report["transport"], report["processes"]) == (transport, processes)
    assert report["refused_connections"] == report["refused_frames"] == 0
    assert ("link" in report) == (transport in WITH_LOSSES)
    if command == "convert":
        assert report["bytes_sent"] > 0
        return
    sent = [report] if command in ("sort", "tasks") else report.get("supersteps") or report["iterations"]
    assert sum(one["wire_bytes_sent"] for one in sent) > 0


def same_result(command, report, other):
    if command == "convert":
        assert pathlib.Path(report["output"]).read_bytes() == pathlib.Path(other["output"]).read_bytes()
        return
    key = "result" if command == "tasks" else "checksum"
    assert report[key] == other[key]
