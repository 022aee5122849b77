"""A plug-in of pytest: writes what comes of each test to the file EDGEWIRE_TEST_STREAM, a line of JSON each, when it is
known. With several workers the process that leads them writes."""

import json
import os
import pathlib

PATH = os.environ.get("EDGEWIRE_TEST_STREAM", "")


def name_of(report):
    """As FILE::TEST."""
    return report.nodeid.partition("end_to_end/")[2] or report.nodeid


class Stream:
    def __init__(self, path):
        self.file = open(path, "a", encoding="utf-8")  # noqa: SIM115
        self.seconds = {}

    def pytest_runtest_logreport(self, report):
        name = name_of(report)
        self.seconds[name] = self.seconds.get(name, 0) + report.duration
        if report.when == "call" or report.outcome != "passed":
            self.write(name, report)

    def pytest_collectreport(self, report):
        if report.failed:
            self.write(f"{name_of(report)}: it cannot be read", report)

    def write(self, name, report):
        place = getattr(report.longrepr, "reprcrash", None)
        skipped = report.outcome == "skipped" and isinstance(report.longrepr, tuple)
        message = report.longrepr[2].removeprefix("Skipped: ") if skipped else place.message if place else str(report.longrepr or "")
        sections = "".join(f"\n--- {title}\n{text}" for title, text in report.sections)
        result = {"name": name, "outcome": report.outcome, "seconds": self.seconds.get(name, 0),
                  "path": pathlib.Path(place.path).name if place else "", "message": message,
                  "text": f"{report.longreprtext}{sections}" if report.failed else ""}
        self.file.write(json.dumps(result) + "\n")
        self.file.flush()


def pytest_configure(config):
    if PATH and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Stream(PATH))
