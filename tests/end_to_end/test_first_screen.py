"""What a run shows: the answer on the first screen, all of the report with --verbose, and nothing with --quiet."""

import json
import pty
import os
import re
import subprocess

import pytest

from every_command import KERNELS
from help_texts import commands, examples, options
from processes import LIMIT_S

ROWS, COLUMNS = 24, 80
ASKED = {"ppr": ["--source", 3], "bfs": ["--source", 3], "sssp": ["--source", 3], "bc": ["--samples", 4]}
ANSWERS = {
    "pagerank": r"highest:\n(\d+\t\S+\n){10}pagerank: ", "ppr": r"highest:\n(\d+\t\S+\n){10}ppr: ",
    "spmv": r"norm \S+ \(Euclidean, .*\)\nlargest:\n(\d+\t\S+\n){10}spmv: ", "bc": r"highest:\n(\d+\t\S+\n){10}bc: ",
    "bfs": r"reached \d+ of 512 vertices, depth \d+, .*\nbfs: ", "sssp": r"reached \d+ of 512 vertices, the longest distance is .*\nsssp: ",
    "wcc": r"\d+ components, the largest has .*\nwcc: ", "scc": r"\d+ components, the largest has .*\nscc: ",
    "cdlp": r"\d+ communities, the largest has .*\ncdlp: ", "lcc": r"mean coefficient \S+, \d+ triangles, .*\nlcc: ",
    "tc": r"\d+ triangles, transitivity .*\ntc: "}
BEHIND = ["load ", "checksum "]  # what only --verbose shows, of every kernel


@pytest.fixture(scope="module")
def graph(edgewire, tmp_path_factory):
    path = tmp_path_factory.mktemp("screen") / "g.ew"
    edgewire.ok("generate", "kronecker", "--scale", 9, "--weights", "-o", path)
    return path


def run(graph, kernel, processes=2):
    weighted = ["--weighted"] if kernel in ("pagerank", "ppr") else []
    return [kernel, graph, *ASKED.get(kernel, []), *weighted, "-p", processes, "-w", 1]


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("kernel", KERNELS)
def test_the_first_screen_has_the_answer(edgewire, graph, kernel, processes):
    screen = edgewire.ok(*run(graph, kernel, processes), "--verify", "--transport", "tcp")
    assert re.match(ANSWERS[kernel], screen), screen
    lines = screen.splitlines()
    assert len(lines) <= ROWS and max(map(len, lines)) <= COLUMNS + 10, screen
    behind = re.split(ANSWERS[kernel], screen)[-1]
    times = re.search(r"^\d+ (iteration|superstep)s?\b.*; total [\d.]+ \w+$", behind, re.M)
    assert times and ": passed" in behind, screen
    sent = re.search(r"^sent.*, on the wire [\d.]+ [kM]?B$", behind, re.M)
    assert (sent is not None) == (processes > 1) and (not sent or sent.start() > times.start())
    if kernel in ("pagerank", "ppr", "spmv") and processes > 1:
        assert re.search(r"^bound of this plan:  payload .*, on the wire [\d.]+ [kM]?B$", behind, re.M)
    assert not [word for word in [*BEHIND, "layout ", "order ", "rank "] if re.search(f"^{word}", screen, re.M)]


@pytest.mark.parametrize("kernel", KERNELS)
def test_verbose_has_all_behind_the_first_screen(edgewire, graph, kernel):
    plain, verbose = (edgewire.ok(*run(graph, kernel), *more) for more in ([], ["--verbose"]))
    # Without times, and without the strategy that they choose.
    words = lambda text: re.sub(r"[\d.]+( ?[numkMG]?[sB]?\b)?|\b(slots|cover)\b", "#", text).splitlines()  # noqa: E731
    assert words(verbose)[:len(words(plain)) - 1] == words(plain)[:-1] or kernel == "bc"  # whose rates choose how it searches
    for word in [*BEHIND, "rank 0 on ", "rank 1 on "]:
        assert re.search(f"^{word}", verbose, re.M), verbose
    if kernel in ("pagerank", "ppr", "spmv"):
        assert "\nlayout " in verbose and "\norder " in verbose and "\nstrategy " in verbose
    else:
        assert re.search(r"^    1  .*: \d+ vertices, \d+ edges, sent ", verbose, re.M), verbose


@pytest.mark.parametrize("kernel", KERNELS)
def test_quiet_prints_nothing_but_what_was_asked_for(edgewire, graph, tmp_path, kernel):
    more = ["--ownership", "ranges"] if kernel not in ("pagerank", "ppr") else []
    words = [*run(graph, kernel), *more, "-q"]
    if kernel in ("pagerank", "ppr"):
        words.remove("--weighted")  # so that there would be a note
    done = edgewire(*words, "-o", tmp_path / "values.tsv", "--json", tmp_path / "report.json", "--top", 3)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert len((tmp_path / "values.tsv").read_text().splitlines()) == 512
    assert json.loads((tmp_path / "report.json").read_text())["kernel"] == kernel
    done = edgewire(*words, "-o", "-")
    assert (done.returncode, done.stderr) == (0, "") and len(done.stdout.splitlines()) == 512


def test_quiet_says_why_a_run_fails(edgewire, graph, tmp_path):
    for words in (["wcc", tmp_path / "missing.ew"], ["bfs", graph, "--source", 99999, "-p", 2],
                  ["pagerank", graph, "-o", "/nowhere/ranks"], ["convert", tmp_path / "missing.txt", "-o", tmp_path / "g.ew"]):
        assert edgewire.refused(*words, "--quiet") == edgewire.refused(*words)


def test_quiet_commands_say_nothing(edgewire, graph, tmp_path):
    edges = tmp_path / "edges.txt"
    edges.write_text("1 30000007 5\n30000007 3 6\n")  # sparse, and with weights: a line would say so
    for words in (["convert", edges, "-o", tmp_path / "made.ew"], ["convert", edges, "-o", tmp_path / "made.csv"],
                  ["convert", edges, "-o", tmp_path / "parts.ew", "--memory", "128M"], ["info", edges, "--verify"],
                  ["generate", "grid", "--rows", 3, "--columns", 3, "-o", tmp_path / "grid.ew"],
                  ["generate", "records", "--bytes", "10k", "-o", tmp_path / "records"],
                  ["sort", tmp_path / "records/records-00000", "-o", tmp_path / "sorted", "--verify"],
                  ["bound", edges, "-p", 2, "--json", tmp_path / "bound.json"], ["wcc", edges],
                  ["tasks", "number-inc", "--count", 3, "--repeat", 1], ["tasks", "metg", "--width", 2, "--steps", 3, "--repeat", 1],
                  ["netbench", "--test", "latency", "--sizes", 8, "--count", 2, "--json", tmp_path / "rows.json"],
                  ["profile", "-o", tmp_path / "page.html"], ["pagerank", edges, "--profile-page", tmp_path / "page.html"]):
        behind = ["--", "pagerank", graph] if words[0] == "profile" else []
        done = edgewire(*words, "-q", *behind)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), words
        assert behind or edgewire(*words).stdout + edgewire(*words).stderr or words[:2] == ["generate", "records"], words
    text = edgewire("convert", edges, "-o", "-", "--to", "csv", "-q")
    assert text.stdout.startswith("source,target") and text.stderr == ""


def test_quiet_draws_no_progress(edgewire, tmp_path):
    """As on a terminal, where a run without -q does draw some: of a graph that takes some tenths of a second."""
    seen = {}
    for quiet in ([], ["-q"]):
        master, slave = pty.openpty()
        child = subprocess.Popen([edgewire.program, "generate", "kronecker", "--scale", "17", "-o", tmp_path / "g.ew", *quiet],
                                 stdout=slave, stderr=slave, env={**os.environ, "TERM": "xterm"})
        os.close(slave)
        text = b""
        try:
            while piece := os.read(master, 65536):
                text += piece
        except OSError:  # the other end is closed
            pass
        os.close(master)
        assert child.wait(timeout=LIMIT_S) == 0
        seen[len(quiet)] = text
    assert b"g.ew: 131072 vertices" in seen[0] and seen[1] == b""


@pytest.mark.parametrize("words, said", [
    (["pagerank", "-q", "--verbose"], "--quiet and --verbose do not go together: leave one of them out ("),
    (["pagerank", "-q", "--top", 5], "--top and --quiet: the output would not be seen: give --json FILE, or leave one out"),
    (["bfs", "--source", 3, "--target", 5, "--quiet"], "--target and --quiet: the output would not be seen: give --json FILE, or leave one out"),
    (["wcc", "-q", "--profile"], "--profile and --quiet: the output would not be seen: give --json FILE, or leave one out"),
], ids=str)
def test_what_quiet_does_not_go_with(edgewire, graph, words, said):
    line = edgewire.refused(words[0], graph, *words[1:], status=2)
    assert line.startswith(said) if said.endswith("(") else line == said


@pytest.mark.parametrize("kernel", ["pagerank", "wcc"])
def test_processes_of_a_job_may_be_quiet_on_their_own(several, hosts, graph, kernel):
    job = [kernel, graph, *hosts(2), "-w", 1, "--rank"]
    (first, second) = several([[*job, 0, "--verbose"], [*job, 1, "-q"]])
    assert first[0] == second[0] == 0 and "checksum" in first[2] and second[1:] == ([], ""), (first, second)


def test_a_small_run_has_figures_that_can_be_read(edgewire, tmp_path):
    """No time and no size that is not 0 is shown as 0.0 ms or 0.00 MB."""
    (tmp_path / "g.txt").write_text("1 2\n2 3\n3 1\n")
    path = tmp_path / "g.ew"
    for words in (["convert", tmp_path / "g.txt", "-o", path], ["info", path], ["pagerank", path, "-p", 2, "-v"], ["wcc", path, "-p", 2, "-v"],
                  ["bound", path, "-p", 2], ["bound", path, "-p", 2, "--kernel", "wcc"], ["pagerank", path, "--profile"],
                  ["tasks", "number-inc", "--count", 3, "--repeat", 1], ["generate", "grid", "--rows", 2, "--columns", 2, "-o", tmp_path / "h.ew"]):
        text = edgewire.ok(*words)
        assert not re.search(r"(?<![\d.])0\.0+ ?([numk]?s|[kMG]?B)\b", text), text
        assert re.search(r"\d ([num]s|k?B)\b", text), text


def test_every_help_begins_with_an_example(edgewire):
    for path, text in commands(edgewire):
        shown = examples(text)
        name = " ".join(["edgewire", *path])
        assert 1 <= len(shown) and (not path or shown[0].startswith(name)), text
        assert text.index(shown[0]) < 400, text  # what the command does comes before
        if path and len(options(text)) > 24:  # names, short ones included
            used = options(re.search(r"^Most used:\n((?:  .*\n)*)", text, re.M)[1])
            assert 5 <= sum(name.startswith("--") for name in used) <= 8, text
    screen = edgewire.ok("--help").splitlines()
    assert len(screen) <= ROWS and max(map(len, screen)) <= COLUMNS
