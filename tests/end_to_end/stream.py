"""A plug-in of pytest: writes to the file EDGEWIRE_TEST_STREAM, a line of JSON each, how many tests each file has, what comes of each test
when it is known, and that it has ended. With several workers the process that leads them writes."""

import collections
import json
import os
import pathlib

import pytest

PATH = os.environ.get("EDGEWIRE_TEST_STREAM", "")


def name_of(node):
    """As FILE::TEST."""
    return node.partition("end_to_end/")[2] or node


class Stream:
    def __init__(self, path):
        self.file = open(path, "a", encoding="utf-8")  # noqa: SIM115
        self.seconds = {}
        self.are_counted = False

    def pytest_collection_finish(self, session):
        self.count([item.nodeid for item in session.items])

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids):
        self.count(ids)  # each worker has all of them

    def count(self, nodes):
        if nodes and not self.are_counted:
            self.are_counted = True
            self.write({"files": collections.Counter(name_of(node).partition("::")[0] for node in nodes)})

    def pytest_runtest_logfinish(self, nodeid):
        self.write({"ended": name_of(nodeid)})

    def pytest_runtest_logreport(self, report):
        name = name_of(report.nodeid)
        self.seconds[name] = self.seconds.get(name, 0) + report.duration
        if report.when == "call" or report.outcome != "passed":
            self.write_report(name, report)

    def pytest_collectreport(self, report):
        if report.failed:
            self.write_report(f"{name_of(report.nodeid)}: it cannot be read", report)

    def write_report(self, name, report):
        place = getattr(report.longrepr, "reprcrash", None)
        skipped = report.outcome == "skipped" and isinstance(report.longrepr, tuple)
        message = report.longrepr[2].removeprefix("Skipped: ") if skipped else place.message if place else str(report.longrepr or "")
        sections = "".join(f"\n--- {title}\n{text}" for title, text in report.sections)
        self.write({"name": name, "outcome": report.outcome, "seconds": self.seconds.get(name, 0),
                  "path": pathlib.Path(place.path).name if place else "", "message": message,
                  "text": f"{report.longreprtext}{sections}" if report.failed else ""})

    def write(self, record):
        self.file.write(json.dumps(record) + "\n")
        self.file.flush()


def pytest_configure(config):
    if PATH and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Stream(PATH))
