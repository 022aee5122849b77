"""How the program speaks with the people and programs that call it."""

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess

import pytest

import job as jobs
from help_texts import commands, options
from processes import LIMIT_S, PATIENCE_S, wait_for


def through_head(edgewire, *arguments):
    """The first line of the output, the exit status and stderr where nobody reads more."""
    read, write = os.pipe()
    fcntl.fcntl(write, fcntl.F_SETPIPE_SZ, 4096)  # what it does not hold waits until it is closed
    process = subprocess.Popen([edgewire.program, *map(str, arguments)], stdout=write, stderr=subprocess.PIPE, text=True)
    os.close(write)
    with os.fdopen(read, "rb", buffering=0) as output:  # nothing is read ahead
        line = output.readline().decode()
    return line, process.wait(timeout=LIMIT_S), process.stderr.read()


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_nobody_reads_the_rest(edgewire, kronecker, processes):
    path = kronecker(13)  # more lines than a pipe holds
    line, status, stderr = through_head(edgewire, "pagerank", path, "-p", processes, "-w", 1, "--transport", "tcp", "-o", "-")
    assert jobs.read_ranks(line)[0] == [0]
    assert status in (141, -signal.SIGPIPE)
    assert "warning" in stderr or stderr == ""  # more workers than cores


def test_nobody_reads_a_measurement(edgewire):
    sizes = ",".join(str(8 * i) for i in range(1, 41))  # 10 kB of lines
    line, status, stderr = through_head(edgewire, "netbench", "--transport", "shm", "--count", 3, "--sizes", sizes)
    assert (line.split(",")[0], status, stderr) == ("bandwidth", 141, "")


@pytest.mark.parametrize("command", ["info GRAPH", "bound GRAPH -p 2", "topology", "transports", "--help", "pagerank --help",
                                     "--version", "convert GRAPH -o FILE", "generate kronecker --scale 5 -o FILE"])
def test_a_full_disk_takes_no_word_unnoticed(edgewire, kronecker, tmp_path, command):
    words = [{"GRAPH": kronecker(6), "FILE": tmp_path / "made.ew"}.get(word, word) for word in command.split()]
    with open("/dev/full", "w") as full:
        done = subprocess.run([edgewire.program, *words], stdout=full, stderr=subprocess.PIPE, text=True, timeout=LIMIT_S)
    assert (done.returncode, done.stderr) == (1, "edgewire: stdout: cannot write: No space left on device\n")


@pytest.mark.parametrize("processes", [1, 3])
@pytest.mark.parametrize("count", [1, 7, 1000])
def test_top(edgewire, tmp_path, processes, count):
    (tmp_path / "g.txt").write_text("".join(f"{i} {i * i % 97 + 1000}\n" for i in range(300)))
    edgewire.ok("convert", tmp_path / "g.txt", "-o", tmp_path / "g.ew")
    output, report = tmp_path / "ranks.tsv", tmp_path / "report.json"
    text = edgewire.ok("pagerank", tmp_path / "g.ew", "-p", processes, "-w", 1, "--top", count, "-o", output, "--json", report)
    ranks = [line.split("\t") for line in output.read_text().splitlines()]
    ranks.sort(key=lambda line: (-float(line[1]), int(line[0])))
    assert [line.split("\t") for line in text.removeprefix("highest:\n").splitlines()[:len(ranks[:count])]] == ranks[:count]
    assert text.count("highest") == 1
    top = json.loads(report.read_text())
    jobs.check_schema(top)
    assert [one["id"] for one in top["top"]] == [int(id_) for id_, _ in ranks[:count]]


def test_top_needs_stdout(edgewire, kronecker):
    assert "--top" in edgewire.refused("pagerank", kronecker(8), "--top", 3, "-o", "-", status=2)
    edgewire.refused("pagerank", kronecker(8), "--top", -1, status=2)
    assert len(json.loads(edgewire.ok("pagerank", kronecker(8), "--top", 3, "--json", "-"))["top"]) == 3


@pytest.mark.parametrize("number, verb", [(signal.SIGINT, "interrupted"), (signal.SIGTERM, "told to end"), (signal.SIGHUP, "left by its terminal")])
@pytest.mark.parametrize("processes", [1, 2])
def test_an_end_by_signal_names_the_iteration(edgewire, kronecker, tmp_path, processes, number, verb):
    """As from the keyboard: to the whole group of processes."""
    folder = tmp_path / "kept"
    process = edgewire.start("pagerank", kronecker(8), "-p", processes, "-w", 1, "--iterations", 1000000, "--checkpoint", folder,
                             "--every", 1)
    wait_for(lambda: (folder / "manifest").exists(), "an iteration")
    os.killpg(process.pid, number)
    stdout, stderr = process.communicate(timeout=PATIENCE_S)
    shutil.rmtree(folder)  # a checkpoint may have been under way
    assert process.returncode in (-number, 128 + number) and stdout == ""
    (line,) = stderr.splitlines()
    done = int(line.removeprefix(f"edgewire: {verb} after iteration ").removesuffix(" of 1000000"))
    assert 1 <= done < 1000000


def test_a_run_that_goes_on_says_from_where(edgewire, kronecker, tmp_path):
    run = ["pagerank", kronecker(8), "-p", 2, "-w", 1]
    folder = tmp_path / "kept"
    edgewire.ok(*run, "--iterations", 12, "--checkpoint", folder, "--every", 5)
    assert edgewire.ok(*run, "--iterations", 12, "--resume", folder).startswith(
        f"continues after iteration 10 from the checkpoint in {folder}\n")
    report = json.loads(edgewire.ok(*run, "--iterations", 10, "--resume", folder, "--json", "-"))
    jobs.check_schema(report)
    assert report["resumed_from"] == 10 and report["iterations"] == []
    result = edgewire(*run, "--iterations", 9, "--resume", folder)
    assert result.returncode == 2 and result.stdout == ""
    (line,) = result.stderr.splitlines()
    assert f"--iterations 9: the checkpoint in {folder} is from after iteration 10" in line


@pytest.mark.parametrize("arguments, meant", [
    (["pagerank", "g.ew", "--iteratons", 3], "--iterations"), (["pagerank", "g.ew", "--transprot=tcp"], "--transport"),
    (["pagerank", "g.ew", "--transport", "tpc"], "tcp"), (["pagernak", "g.ew"], "pagerank"), (["generate", "kroneker"], "kronecker"),
    (["netbench", "--test", "latncy"], "latency"),
])
def test_did_you_mean(edgewire, arguments, meant):
    assert f"; did you mean {meant}? (" in edgewire.refused(*arguments, status=2)


@pytest.mark.parametrize("arguments", [["frobnicate"], ["pagerank", "g.ew", "--frobnicate"], ["pagerank", "g.ew", "--transport", "x"], []])
def test_nothing_is_near(edgewire, arguments):
    assert "did you mean" not in edgewire.refused(*arguments, status=2)


def test_empty_names(edgewire):
    for words in (["-o", ""], ["--json", ""], ["--resume", ""], ["--secret-file", ""]):
        assert "the name is empty" in edgewire.refused("pagerank", "g.ew", *words, status=2)
    assert "--temp: the name is empty" in edgewire.refused("sort", "records", "-o", "out", "--temp", "", status=2)
    assert "--output needs a value" in edgewire.refused("pagerank", "g.ew", "--output=", status=2)
    for words in (["pagerank", ""], ["bound", ""], ["sort", "", "-o", "out"], ["diskbench", ""], ["cdlp", "", "-p", 2]):
        assert ": the name is empty" in edgewire.refused(*words, status=2)


def test_the_help_fits_a_terminal(edgewire):
    texts = dict(commands(edgewire))
    assert len(texts) > 12 and {"--transport", "-p", "--top", "-o"} <= options(texts[("pagerank",)])
    for path, text in texts.items():
        assert [line for line in text.splitlines() if len(line.replace(edgewire.program, "edgewire")) > 80 and not line.startswith("  -")] == [], path
    for said in ("Processes:", "Transport:", "Output:", "Checkpoints:", "sum to 1"):
        assert said in " ".join(texts[("pagerank",)].split())
