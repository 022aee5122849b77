"""The table of docs/kernels.md that says which command has which tool: the program is asked for each cell."""

import contextlib
import fcntl
import functools
import json
import os
import pathlib
import re
import select
import signal
import subprocess

import pytest

import help_texts
import reference
from every_command import KERNELS
from graphs import Graph
from job import check_parts, check_schema, parts_of
from processes import LIMIT_S, PATIENCE_S
from terminals import BAR, on_terminal, to_end, until

PAGE = (pathlib.Path(__file__).resolve().parents[2] / "docs/kernels.md").read_text()
SECTION = PAGE.partition("\n## Every kernel has every tool\n")[2].partition("\n## ")[0]
LINES = [[cell.strip(" `") for cell in line.strip("|").split("|")] for line in SECTION.splitlines() if line.startswith("|")]
TOOLS = LINES[0][1:]
CELLS = {row[0]: dict(zip(TOOLS, row[1:])) for row in LINES[2:]}
NOTES = dict(re.findall(r"^(\d+)\. (.+)$", SECTION, re.M))

COMMON = {"processes", "workers", "transport", "peak_rss_bytes", "placement", "refused_connections", "refused_frames", "seconds_total", "version"}
LEFT = r", (\d+ s|\d+ min \d+ s|\d+ h \d+ min) left"
SOURCE = 1  # it has edges
STARTS = {"bfs": ["--source", SOURCE, "--parents"], "sssp": ["--source", SOURCE], "ppr": ["--source", SOURCE], "bc": ["--samples", 12]}
TASKS = {"tasks": ["tasks", "number-inc", "--count", 50], "tasks smith-waterman": ["tasks", "smith-waterman", "--length", 200, "--blocks", "4x4"],
         "tasks metg": ["tasks", "metg", "--steps", 3]}
TIMES = {"spmv": ["--iterations", 20], **dict.fromkeys(TASKS, ["--repeat", 1])}
OPTIONS = {"profile": ["--profile"], "--trace": ["--trace", "trace.json"], "--top": ["--top", 3], "--output-parts": ["--output-parts"],
           "--deterministic": ["--deterministic"], "--checkpoint": ["--checkpoint", "kept"], "--verify": ["--verify"]}


class Runs:
    """Runs of one command, each of which several tools are read from."""

    def __init__(self, edgewire, folder, command):
        self.edgewire, self.folder, self.command = edgewire, folder, command
        self.has = {tool for tool, cell in CELLS[command].items() if cell == "yes"}
        self.graph = folder / "g.ew"
        edgewire.ok("generate", "kronecker", "--scale", 10, "--edge-factor", 4, "--weights", "--undirected", "-o", self.graph)

    def words(self, name=None, times=None):
        """The command line, whose result has this name, where it has one. `times`: the options that say how often it computes."""
        times = times or TIMES.get(self.command, [])
        if self.command in TASKS:
            return [*TASKS[self.command], *times]
        output = [] if name is None else ["-o", self.folder / name]
        if self.command == "sort":
            if not (self.folder / "records").exists():
                self.edgewire.ok("generate", "records", "--bytes", "200k", "-o", self.folder / "records")
            return ["sort", *(self.folder / "records").iterdir(), *(output or ["-o", self.folder / "unused"])]
        return [self.command, self.graph, *STARTS.get(self.command, []), *output, *times]

    def asked(self, *tools):
        return [word for tool in tools if tool in self.has for word in OPTIONS[tool]]

    @functools.cached_property
    def whole(self):
        """With all tools at once: (report, what it printed)."""
        text = self.edgewire.ok(*self.words("out"), "-p", 2, "-w", 1, "--json", self.folder / "report.json", cwd=self.folder,
                                *self.asked("profile", "--trace", "--top", "--output-parts", "--deterministic", "--verify"))
        return json.loads((self.folder / "report.json").read_text()), text

    def bytes_of(self, name, *options):
        """What a run writes as its result, of all files."""
        self.edgewire.ok(*self.words(name), "-p", 2, "-w", 1, *options, cwd=self.folder)
        path = self.folder / name
        return b"".join(file.read_bytes() for file in (sorted(path.iterdir()) if path.is_dir() else [path]))

    def endless(self):
        """A command line that goes on for long."""
        shared = ["-p", 1, "-w", 1]
        if self.command == "sort":
            self.edgewire.ok("generate", "records", "--bytes", "20M", "-o", self.folder / "many")
            return ["sort", *[self.folder / "many/records-00000"] * 20, "-o", self.folder / "sorted", "--memory", "8M", *shared]
        if self.command == "tasks metg":
            return ["tasks", "metg", "--steps", 100_000, *shared]
        if self.command in TASKS:
            return [*self.words(times=["--repeat", 1_000_000]), *shared]
        if self.command == "cdlp":  # two vertices that exchange their labels for ever
            swapping = reference.write_graph(self.folder / "two.ew", Graph(2, [0, 1], [1, 0]))
            return ["cdlp", swapping, "--iterations", 1_000_000, *shared]
        if self.command in ("lcc", "tc", "bc"):
            self.edgewire.ok("generate", "kronecker", "--scale", 16 if self.command == "bc" else 20, "-o", self.folder / "large.ew")
            return [self.command, self.folder / "large.ew", *shared]
        return [*self.words(times=["--iterations", 1_000_000]), *shared]

    @functools.cached_property
    def interrupted(self):
        """(what was shown and said, status) of a run that Ctrl-C ends when its line says how long the rest will take, or where there is
        no such line, while it writes its result to a pipe."""
        if "progress" in self.has or self.command == "tasks metg":
            shown = rf"\w+ {BAR}.*{LEFT}" if "progress" in self.has else r"measuring: level \d+, .*, \d+ s"
            with on_terminal(self.edgewire, *self.endless()) as (process, terminal):
                until(terminal, shown)
                os.killpg(process.pid, signal.SIGINT)
                return to_end(terminal), process.wait(timeout=LIMIT_S)
        os.mkfifo(self.folder / "pipe")
        pipe = os.open(self.folder / "pipe", os.O_RDONLY | os.O_NONBLOCK)
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 4096)  # less than the result
        with contextlib.closing(os.fdopen(pipe, "rb")), on_terminal(
                self.edgewire, *self.words("pipe"), "-p", 1, "-w", 1, stdout=subprocess.DEVNULL) as (process, terminal):
            assert select.select([pipe], [], [], PATIENCE_S)[0], "nothing was written"
            os.killpg(process.pid, signal.SIGINT)
            return to_end(terminal), process.wait(timeout=LIMIT_S)


@pytest.fixture(scope="module")
def runs_of(edgewire, tmp_path_factory):
    return functools.cache(lambda command: Runs(edgewire, tmp_path_factory.mktemp("tools"), command))


def check_progress(runs):
    text, _ = runs.interrupted
    assert re.search(LEFT, text), text


def check_profile(runs):
    report, text = runs.whole
    assert len(report["profile"]["processes"]) == 2 and report["profile"]["verdict"]
    assert all(one["iterations"] for one in report["profile"]["processes"])


def check_trace(runs):
    assert runs.whole
    events = json.loads((runs.folder / "trace.json").read_text())["traceEvents"]
    assert {one["pid"] for one in events if one["ph"] == "X"} == {0, 1}


def check_top(runs):
    report, text = runs.whole
    assert len(report["top"]) == 3
    for one in report["top"]:
        assert re.search(rf"^{one['id']}\t", text, re.M), text


def check_output_parts(runs):
    assert runs.whole
    runs.bytes_of("one file", *runs.asked("--deterministic"))
    parts = parts_of(runs.folder / "out", 2)
    assert all(part.stat().st_size > 0 for part in parts)
    check_parts(parts, (runs.folder / "one file").read_text())


def check_json(runs):
    report, _ = runs.whole
    check_schema(report, "metg_report" if runs.command == "tasks metg" else f"{runs.words()[0]}_report" if runs.words()[0] in ("sort", "tasks") else "run_report")
    assert report.keys() >= COMMON and len(report["placement"]) == 2


def check_deterministic(runs):
    assert runs.bytes_of("first", "--deterministic") == runs.bytes_of("again", "--deterministic") != b""


def check_interrupt(runs):
    text, status = runs.interrupted
    line = text.replace("\r", "\n").replace("\x1b[K", "").strip().splitlines()[-1]
    assert re.fullmatch(r"edgewire: interrupted (after|while|before) .*\d.*", line), text
    assert status in (-signal.SIGINT, 128 + signal.SIGINT)  # a shell shows 130 for both


def check_checkpoint(runs):
    first = runs.bytes_of("kept values", "--checkpoint", runs.folder / "kept")
    assert list((runs.folder / "kept").iterdir())
    later = runs.bytes_of("later values", "--resume", runs.folder / "kept")
    if runs.command == "bc":  # which adds in another order then
        assert [float(word) for word in later.split()] == pytest.approx([float(word) for word in first.split()], rel=1e-9)
    else:
        assert later == first != b""


def compared(edgewire):
    """The kernels that compare knows."""
    return re.search(r"--kernel ([a-z]+\|[a-z|]+)", edgewire.ok("compare", "--help"))[1].split("|")


def check_compare(runs):
    assert runs.command in compared(runs.edgewire)


def check_bound(runs):
    source = ["--source", SOURCE] if runs.command in ("bfs", "sssp", "bc") else []
    report = json.loads(runs.edgewire.ok("bound", runs.graph, "--kernel", runs.command, *source, "-p", 2, "--json", "-"))
    assert report["rows"] and all(row["processes"] == 2 for row in report["rows"])


def check_verify(runs):
    report, _ = runs.whole
    assert report.get("verified") is True or report.get("rules_kept") or report["verify"]["passed"]


CHECKS = {"progress": check_progress, "profile": check_profile, "--trace": check_trace, "--top": check_top, "--output-parts": check_output_parts,
          "--json": check_json, "--deterministic": check_deterministic, "Ctrl-C": check_interrupt, "--checkpoint": check_checkpoint,
          "compare": check_compare, "bound --kernel": check_bound, "--verify": check_verify}


def check_refusal(runs, tool):
    """The command does not have the tool, and says so."""
    if tool == "progress":
        text, _ = runs.interrupted
        assert not re.search(LEFT, text)
    elif tool == "compare":
        assert runs.command not in compared(runs.edgewire)
        runs.edgewire.refused("compare", runs.graph, "--kernel", runs.command, status=2)
    elif tool == "bound --kernel":
        runs.edgewire.refused("bound", runs.graph, "--kernel", runs.command, status=2)
    else:
        said = runs.edgewire.refused(*runs.words("out"), *OPTIONS[tool], status=2, cwd=runs.folder)
        assert OPTIONS[tool][0] in said or "has no profile" in said


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("command", CELLS)
def test_a_cell(runs_of, command, tool):
    cell = CELLS[command][tool]
    if cell == "yes":
        CHECKS[tool](runs_of(command))
    else:
        assert len(NOTES[cell]) > 20
        check_refusal(runs_of(command), tool)


def test_all_kernels_have_a_row_and_all_reasons_are_used(edgewire):
    """All that edgewire help shows: the help of each kernel states the rule of weights."""
    kernels = [" ".join(path) for path, text in help_texts.commands(edgewire) if "\nWeights: sssp and spmv are defined with weights" in text]
    assert sorted(kernels) == sorted(KERNELS)
    assert sorted(CELLS) == sorted([*KERNELS, "sort", *TASKS])
    assert list(CHECKS) == TOOLS and all(len(row) == len(TOOLS) for row in CELLS.values())
    assert {cell for row in CELLS.values() for cell in row.values()} == {"yes", *NOTES}
