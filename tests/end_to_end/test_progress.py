"""What a terminal shows while a command runs, and what is said when a signal ends it."""

import os
import re
import signal

import numpy as np
import pytest

import reference
from graphs import Graph
from processes import LIMIT_S
from terminals import BAR, ERASE, LEFT, SO_FAR, Terminal, on_terminal, to_end, until


def start_of(edgewire, tmp_path, what):
    """A command that goes on for long, what its line on a terminal looks like, and what it says of its end."""
    if what in ("reading", "merging"):
        edgewire.ok("generate", "records", "--bytes", "50M", "-o", tmp_path / "in")
        inputs = [tmp_path / "in/records-00000"] * 20
        command = ["sort", *inputs, "-o", tmp_path / "out", "--memory", "8M", "-w", 1, "-p", 1]
        if what == "reading":
            return command, rf"reading {BAR}[\d.]+ [kMG]?B of 1\.049 GB{LEFT}", r"while (reading, after \d+ of \d+ bytes|merging, after \d+ of \d+ records)"
        return command, rf"merging {BAR}\d+ of 10485760 records{LEFT}", r"while merging, after \d+ of \d+ records"
    if what == "tasks":
        return (["tasks", "iterative", "--count", 1 << 36, "-p", 1, "-w", 1], rf"running {BAR}0 of 6 runs, [1-9]\d* tasks run",
                r"before the end of the first run, with [1-9]\d* tasks run")
    if what == "tasks of several":
        return (["tasks", "iterative", "--count", 1 << 36, "-p", 2, "-w", 1], rf"running {BAR}0 of 6 runs, [1-9]\d* tasks run here",
                r"before the end of the first run, with [1-9]\d* tasks run here")
    if what == "metg":
        return (["tasks", "metg", "--steps", 100_000, "-p", 1, "-w", 2], rf"measuring: level \d+, [1-9]\d* tasks run{SO_FAR}",
                r"(before the end of the first level|after level \d+), with \d+ tasks run")
    if what == "netbench":
        return (["netbench", "--transport", "shm", "--sizes", "8,64", "--test", "rate", "--seconds", 1000],
                rf"measuring {BAR}0 of 2 measurements", r"while measuring, after 0 of 2 measurements")
    if what == "supersteps":
        n = 3_000_000
        path = reference.write_graph(tmp_path / "g.ew", Graph(n, np.arange(n - 1), np.arange(1, n)))
        return (["sssp", path, "--unit-weights", "--source", 0, "-p", 1, "-w", 1],
                rf"running: superstep \d+, [a-z ]+\d*, 1 vertices, 1 edges{SO_FAR}", r"after superstep \d+")
    assert what == "iterations"
    edgewire.ok("generate", "kronecker", "--scale", 8, "-o", tmp_path / "g.ew")
    return (["pagerank", tmp_path / "g.ew", "--iterations", 1_000_000, "-p", 1, "-w", 1],
            rf"iterate {BAR}\d+ of 1000000 iterations{LEFT}", r"after iteration \d+ of 1000000")


@pytest.mark.parametrize("what", ["iterations", "supersteps", "reading", "merging", "tasks", "tasks of several", "metg", "netbench"])
def test_a_terminal_shows_how_far_it_is(edgewire, tmp_path, what):
    """Ctrl-C then takes the line away, and says how far the run has come."""
    command, shown, said = start_of(edgewire, tmp_path, what)
    with on_terminal(edgewire, *command) as (process, terminal):
        until(terminal, shown)
        os.killpg(process.pid, signal.SIGINT)
        text = to_end(terminal)
        stdout = process.stdout.read()
        assert process.wait(timeout=LIMIT_S) in (-signal.SIGINT, 128 + signal.SIGINT)
    assert stdout == "" or what == "netbench"
    assert re.search(rf"\r\x1b\[Kedgewire: interrupted {said}\r\n$", text), text[-400:]


@pytest.mark.parametrize("command", [["sort"], ["tasks", "iterative", "--count", 100_000]], ids=lambda command: command[0])
def test_nothing_is_left_of_the_line(edgewire, tmp_path, command):
    if command == ["sort"]:
        edgewire.ok("generate", "records", "--bytes", "20M", "-o", tmp_path / "in")
        command = ["sort", *[tmp_path / "in/records-00000"] * 4, "-o", tmp_path / "out", "--memory", "8M"]
    with on_terminal(edgewire, *command, "-p", 1, "-w", 1) as (process, terminal):
        text = to_end(terminal)
        assert process.stdout.read().startswith("sort: " if command[0] == "sort" else "iterative: ")
        assert process.wait(timeout=LIMIT_S) == 0
    assert text == "" or text.endswith(ERASE)


def test_rows_and_the_line_share_a_terminal(edgewire):
    """Where rows go to the same terminal, the line makes place for them."""
    terminal = Terminal()
    with edgewire.start("netbench", "--transport", "shm", "--sizes", "8,64,512", "--test", "rate", "--seconds", 0.4, stdout=terminal.slave,
                        stderr=terminal.slave, env={"TERM": "xterm"}) as process:
        terminal.close_slave()
        text = to_end(terminal)
        assert process.wait(timeout=LIMIT_S) == 0
        terminal.close()
    assert re.search(rf"measuring {BAR}\d of 3 measurements", text)
    rows = [line for line in re.split("\r\n", text) if line and "rate" not in line and "bytes" not in line]
    for row in rows:
        assert "measuring" not in row or row.rfind(ERASE) > row.rfind("measuring"), text


@pytest.mark.parametrize("command", [["tasks", "iterative", "--count", 100_000], ["netbench", "--transport", "shm", "--sizes", 8, "--seconds", 0.2]],
                         ids=lambda command: command[0])
def test_no_terminal_no_line(edgewire, command):
    done = edgewire(*command)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("command, done", [
    (["bc", "-w", 2], r"searching: \d+ of 65536 sources"), (["bc", "-p", 2, "-w", 1], r"searching: \d+ of 32768 sources"),
    (["bc", "--parallel", "levels", "-w", 1], r"searching: \d+ of 65536 sources"),
    (["bfs", "--samples", 40_000, "--parallel", "levels", "-w", 1], r"searching: \d+ of 40000 sources"),
    (["pagerank", "--iterations", 1_000_000, "-w", 2], r"iterate: \d+ of 1000000 iterations")], ids=lambda one: " ".join(map(str, one)))
def test_without_a_terminal_a_line_says_how_long_it_takes(edgewire, kronecker, command, done):
    """Once, when the first sources or iterations have shown it."""
    process = edgewire.start(command[0], kronecker(16), *command[1:])
    line = process.stderr.readline()
    os.killpg(process.pid, signal.SIGINT)
    rest = process.communicate(timeout=LIMIT_S)[1]
    assert re.fullmatch(rf"edgewire: {done} after \d+ s; the rest will take about (\d+ h )?\d+ min( \d+ s)?\n", line), line
    assert re.fullmatch(r"edgewire: interrupted .*\n", rest)
