"""Runs `edgewire pagerank` and checks what every good run must hold."""

import json

import numpy as np

import reference

NUMBER = (int, float)
# The contract of the run report: every field that scripts may rely on.
SCHEMA = {
    "kernel": str, "vertices": int, "edges": int, "processes": int, "workers": int, "transport": str, "strategy": str,
    "iterations": [{"seconds": NUMBER, "payload_bytes_sent": int, "wire_bytes_sent": int}],
    "seconds_load": NUMBER, "seconds_plan": NUMBER, "seconds_total": NUMBER, "seconds_per_iteration": NUMBER,
    "edges_per_second": NUMBER, "peak_rss_bytes": int,
    "bound": {"payload_bytes": int, "wire_bytes": int, "seconds_at": {"1G": NUMBER, "10G": NUMBER}},
    "checksum": str, "version": str,
}


def check_schema(value, schema=SCHEMA, where="report"):
    if isinstance(schema, dict):
        assert isinstance(value, dict), where
        for name, inner in schema.items():
            assert name in value, f"{where} has no {name}"
            check_schema(value[name], inner, f"{where}.{name}")
    elif isinstance(schema, list):
        assert isinstance(value, list), where
        for number, one in enumerate(value):
            check_schema(one, schema[0], f"{where}[{number}]")
    else:
        assert isinstance(value, schema) and not isinstance(value, bool), f"{where} is {value!r}"
        assert isinstance(value, str) or value >= 0, f"{where} is {value!r}"


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


def read_ranks(text):
    """The ids and ranks of `id<TAB>value` lines."""
    lines = [line.split("\t") for line in text.splitlines()]
    return np.array([int(id_) for id_, _ in lines], np.int64), np.array([float(rank) for _, rank in lines])


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
