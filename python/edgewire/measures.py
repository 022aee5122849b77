"""Where the time of a run went, and what must cross the wire."""

import html
import json

import numpy as np

from . import _edgewire
from ._edgewire import Error, UsageError
from .calls import Progress, cores, file_of, set_options
from .graph import needed


class Page:
    """Something with an HTML page, which notebooks show."""

    page = ""

    def save(self, path):
        """Writes the page."""
        try:
            with open(path, "w", encoding="utf-8") as file:
                file.write(self.page)
        except OSError as error:
            raise Error(f"{path}: cannot write: {error.strerror}") from None

    def _repr_html_(self):
        return f'<iframe srcdoc="{html.escape(self.page)}" width="100%" height="700" style="border:0"></iframe>'


class Bound(Page):
    """What processes must send in an iteration of a pass over all edges, and how long links take: `rows` and `text`, and `page` with
    charts."""

    def __init__(self, text, rows, page):
        self.text, self.rows, self.page = text, rows, page

    def to_frame(self):
        """A DataFrame with a row for each number of processes, ownership, strategy and wire."""
        return needed("pandas", "to_frame()").DataFrame(self.rows)

    def __str__(self):
        return self.text


def bound(graph, processes=(2, 4, 8, 16), rate=("1G", "10G", "40G", "100G"), workers=1, ownership=("hash",), strategy=("slots", "cover"),
          wire=("f32",), progress=None):
    """The bytes that must cross the wire in an iteration, and the seconds that links of these rates take for them. Each argument is one
    value or several."""
    several = {"processes": processes, "rates": rate, "ownerships": ownership, "strategies": strategy, "wires": wire}
    several = {name: [value] if np.ndim(value) == 0 else list(value) for name, value in several.items()}
    options = set_options(_edgewire.BoundOptions(), {**several, "workers": workers, "threads": cores()})
    with Progress(progress) as show:
        text, counted, page = _edgewire.bound(file_of(graph), options, show)
    rows = []
    for row in json.loads(counted)["rows"]:
        rows.append({"processes": row["processes"], "ownership": row["ownership"], "strategy": row["strategy"], "wire": row["encoding"],
                     "values": row["values_sent_total"], "payload_bytes": row["payload_bytes_total"],
                     "wire_bytes": row["wire_bytes_total"]["tcp1500"],
                     **{f"seconds_at_{rate}": seconds for rate, seconds in row.get("seconds_at", {}).items()}})
    return Bound(text, rows, page)


class Profile(Page):
    """Where the time of a run went: `result` is what the kernel returned, `limit` what limits the run, and `page` has charts."""

    def __init__(self, result):
        self.result, self.page = result, result.page
        self.limit = result.report["profile"]["verdict"]["limit"]

    def to_frame(self):
        """A DataFrame with a row for each worker of each process, and the seconds of each phase."""
        rows = []
        for rank, process in enumerate(self.result.report["profile"]["processes"]):
            for number, worker in enumerate(process["worker"]):
                rows.append({"rank": rank, "worker": number, **worker["seconds"]})
        return needed("pandas", "to_frame()").DataFrame(rows)


def profile(kernel, graph, *asked, **options):
    """Runs a kernel, such as ew.pagerank, with its arguments, and says where the time went."""
    if not callable(kernel):
        raise UsageError(f"profile() takes a kernel, such as ew.pagerank, and its arguments; a {type(kernel).__name__} is none")
    return Profile(kernel(graph, *asked, **{**options, "profile": True}))
