"""Runs `edgewire pagerank` and checks what every good run must hold."""

import json
import pathlib

import jsonschema
import numpy as np

import reference
from processes import LIVE_PEER_S

SCHEMAS = pathlib.Path(__file__).resolve().parents[2] / "src/report/schema"


def check_schema(report, name="run_report"):
    (path,) = SCHEMAS.glob(f"{name}.v*.json")
    schema = json.loads(path.read_text())
    parts = {path.name: json.loads(path.read_text()) for path in SCHEMAS.glob("*.json")}  # that it may refer to
    jsonschema.Draft202012Validator.check_schema(schema)
    resolver = jsonschema.RefResolver(schema["$id"], schema, store=parts)
    jsonschema.validate(report, schema, cls=jsonschema.Draft202012Validator, resolver=resolver)


def check_report(report):
    check_schema(report)
    last = [one["seconds"] for one in report["iterations"][-10:]]
    assert abs(report["seconds_per_iteration"] - sum(last) / max(len(last), 1)) < 1e-9
    assert report["bound"]["wire_bytes"] >= report["bound"]["payload_bytes"]
    assert report["peak_rss_bytes"] > 100_000
    for one in report["iterations"]:
        assert one["payload_bytes_sent"] == report["bound"]["payload_bytes"]
        # With more peers than one the bound counts their last segments one by one, the transport does not.
        bound = report["bound"]["wire_bytes"]
        assert one["wire_bytes_sent"] >= bound


def on(*devices):
    """The options that keep edges in these folders."""
    return ["--edges", "disk", "--devices", ",".join(map(str, devices))]


def read_ranks(text):
    """The ids and ranks of `id<TAB>value` lines."""
    lines = [line.split("\t") for line in text.splitlines()]
    return np.array([int(id_) for id_, _ in lines], np.int64), np.array([float(rank) for _, rank in lines])


def parts_of(output, processes):
    return [output.with_name(f"{output.name}.{rank:04}-of-{processes:04}") for rank in range(processes)]


def check_parts(parts, whole):
    """Together they hold the lines of the one file, each in the order of ids."""
    lines = []
    for part in parts:
        ids, _ = read_ranks(part.read_text())
        assert ids.tolist() == sorted(ids.tolist())
        lines += part.read_text().splitlines()
    assert sorted(lines) == sorted(whole.splitlines())


class Job:
    """The result of one run: its report, the ids and the ranks."""

    def __init__(self, edgewire, folder, path, *options):
        report, output = folder / "report.json", folder / "ranks.tsv"
        edgewire.ok("pagerank", path, "-o", output, "--json", report, *options)
        self.text = output.read_text()
        self.report = json.loads(report.read_text())
        check_report(self.report)
        self.ids, self.ranks = read_ranks(self.text)

    def check_ranks(self, graph, **options):
        expected, iterations = reference.pagerank(graph, **options)
        assert len(self.report["iterations"]) == iterations
        assert self.ids.tolist() == graph.ids().tolist()
        np.testing.assert_allclose(self.ranks, expected, rtol=1e-6, atol=0)
        if graph.vertices and not options.get("form_2015"):
            assert abs(self.ranks.sum() - 1) < 1e-6

    def check_payload(self, graph, owners):
        report = self.report
        expected = reference.payload_bytes(graph, owners, report["strategy"], report["workers"])
        assert report["bound"]["payload_bytes"] == expected


def check_tasks(edgewire, processes, transport):
    """Tasks run over this transport (options): small ones, and such whose results take many records."""
    shared = ["-p", processes, "-w", 1, "--repeat", 1, "--peer-timeout", LIVE_PEER_S, *transport, "--json", "-"]
    report = json.loads(edgewire.ok("tasks", "number-inc", "--count", 50, *shared))
    assert (report["result"], report["transport"]) == ("100", transport[1]) and min(report["tasks_run"]) > 0
    report = json.loads(edgewire.ok("tasks", "smith-waterman", "--length", 3000, "--blocks", "6x2", "--verify", *shared))
    assert report["verified"] and report["payload_bytes_sent"] > 5 * 2 * 1500 * 8  # the edges of blocks, two numbers a letter
