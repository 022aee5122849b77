"""What edgewire pagerank does with bad input: one line that names the cause, exit 1 or 2, nothing half-written."""

import json
import os
import re
import resource
import shutil
import stat
import subprocess

import numpy as np
import pytest

import graphs
import reference
from disks import small_disk
from processes import LIMIT_S, PATIENCE_S
from reference import Graph, graph_bytes, write_graph


@pytest.fixture
def path(tmp_path):
    return write_graph(tmp_path / "g.ew", graphs.make("self loops"))


def cause_of(stderr):
    """The one cause that all processes of a job name on stderr."""
    lines = [line for line in stderr.splitlines() if not line.startswith("edgewire: warning: ")]
    assert lines and all(line.startswith("edgewire: ") for line in lines), stderr
    causes = {re.fullmatch(r"edgewire: (rank \d+: )?(rank \d+ failed: )?(.*)", line).group(3) for line in lines}
    assert len(causes) == 1, stderr
    return causes.pop()


def refused_job(edgewire, *arguments, **options):
    """The cause with which a job of several processes gave up: one says it, or another that has heard of it."""
    result = edgewire(*arguments, **options)
    assert result.returncode == 1, f"exit status {result.returncode}: {result.stderr}"
    return cause_of(result.stderr)


# ---- the graph file --------------------------------------------------------------------------------------------------

@pytest.mark.sanitize
def test_a_missing_graph(edgewire, tmp_path):
    missing = tmp_path / "missing.ew"
    assert edgewire.refused("pagerank", missing) == f"{missing}: cannot read: No such file or directory"
    assert refused_job(edgewire, "pagerank", missing, "-p", 3) == f"{missing}: cannot read: No such file or directory"


def test_an_empty_graph_file(edgewire, tmp_path):
    empty = tmp_path / "empty.ew"
    empty.touch()
    assert edgewire.refused("pagerank", empty) == f"{empty}: the file is empty"


def test_a_folder_a_pipe_and_a_device_as_graph(edgewire, tmp_path):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    for path in (fifo, "/dev/zero"):
        assert refused_job(edgewire, "pagerank", path, "-p", 2, timeout=PATIENCE_S).startswith(f"{path}: cannot read")
    assert refused_job(edgewire, "pagerank", tmp_path, "-p", 2).startswith(f"{tmp_path}: it is a folder without a graph")


def test_a_graph_without_permission(rightless, path, open_folder):
    file, folder = open_folder / "g.ew", open_folder / "parts.ew"
    shutil.copy(path, file)
    file.chmod(0)
    folder.mkdir(mode=0)
    for graph in (file, folder):
        assert rightless.refused("pagerank", graph) == f"{graph}: cannot read: Permission denied"


@pytest.mark.core
@pytest.mark.sanitize
def test_a_truncated_graph(edgewire, tmp_path):
    whole = graph_bytes(graphs.make("original ids"))
    cut = tmp_path / "cut.ew"
    sections = range(4096, len(whole), 4096)
    for length in sorted({1, 7, 8, 100, 4095, *sections, *(at + 1 for at in sections), *(at - 1 for at in sections),
                          len(whole) - 8, len(whole) - 1}):
        cut.write_bytes(whole[:length])
        line = edgewire.refused("pagerank", cut)
        assert line.startswith(f"{cut}: byte "), (length, line)


@pytest.mark.sanitize
@pytest.mark.parametrize("processes", [1, 2])
def test_a_flipped_bit_anywhere(edgewire, tmp_path, processes):
    """In every part of the file, padding included; of checksums and header every byte is sensitive."""
    whole = graph_bytes(graphs.make("original ids"))
    random = np.random.default_rng(processes)
    places = [0, 8, 12, 16, 24, 32, 40, 64, 104, 112, 2000, 4088, 4095, 4096, 4097, len(whole) - 1]
    places += random.integers(0, len(whole), 25).tolist()
    flipped = tmp_path / "flipped.ew"
    for at in places:
        data = bytearray(whole)
        data[at] ^= 1 << int(random.integers(8))
        flipped.write_bytes(data)
        line = refused_job(edgewire, "pagerank", flipped, "-p", processes, "-o", tmp_path / "ranks.tsv")
        assert f"{flipped}: byte " in line, (at, line)
        assert not (tmp_path / "ranks.tsv").exists()


@pytest.mark.sanitize
@pytest.mark.parametrize("faults", [
    {"vertices": 2**63}, {"vertices": 2**32}, {"vertices": 101}, {"edges": 2**63}, {"edges": 2**40}, {"edges": 1},
    {"vertices": 2**64 - 1, "edges": 2**64 - 1}, {"flags": 1}, {"flags": 2**31}, {"version": 3}, {"version": 0},
    {"offsets": [0] + [500] * 99 + [400]}, {"offsets": [1] + [400] * 100},
    {"offsets": [0] * 100 + [399]}, {"offsets": [2**63] * 101}, {"targets": [100] * 400}, {"targets": [2**32 - 1] * 400},
], ids=lambda faults: ",".join(f"{name}={str(value)[:12]}" for name, value in faults.items()))
def test_a_file_with_right_checksums_and_wrong_content(edgewire, tmp_path, faults):
    sources, targets = graphs.random_edges(100, 400, 5)
    path = tmp_path / "wrong.ew"
    path.write_bytes(graph_bytes(Graph(100, sources, targets), **faults))
    for processes in (1, 3):
        assert f"{path}: byte " in refused_job(edgewire, "pagerank", path, "-p", processes)


# ---- the output ------------------------------------------------------------------------------------------------------

OUTPUTS = ["-o", "--json"]


@pytest.mark.parametrize("option", OUTPUTS)
def test_output_into_a_folder_that_is_not_there(edgewire, path, tmp_path, option):
    output = tmp_path / "no folder" / "output"
    assert edgewire.refused("pagerank", path, option, output) == f"{output}: cannot write: No such file or directory"
    assert "cannot write: No such file" in refused_job(edgewire, "pagerank", path, "-p", 2, option, output)


@pytest.mark.parametrize("option", OUTPUTS)
def test_output_to_a_folder(edgewire, path, tmp_path, option):
    assert edgewire.refused("pagerank", path, option, tmp_path) == f"{tmp_path}: cannot write: Is a directory"


@pytest.mark.sanitize
@pytest.mark.parametrize("option", OUTPUTS)
@pytest.mark.parametrize("processes", [1, 2])
def test_output_to_a_full_device(edgewire, path, tmp_path, option, processes):
    full = tmp_path / "full"
    try:  # one of our own, in case it gets replaced
        os.mknod(full, stat.S_IFCHR | 0o666, os.makedev(1, 7))
        full.open("wb").close()
    except PermissionError:  # of this user, or of all in this file system
        full = "/dev/full"
    line = refused_job(edgewire, "pagerank", path, "-p", processes, option, full)
    assert line.endswith(f"{full}: cannot write: No space left on device")
    assert stat.S_ISCHR(os.stat(full).st_mode)


@pytest.mark.parametrize("limit, amount, cause, option", [
    (resource.RLIMIT_FSIZE, 1000, "File too large (`ulimit -f` allows 1000 bytes", "f unlimited"),
    (resource.RLIMIT_NOFILE, 4, "`ulimit -n` allows 4", "n 1024")])
def test_a_limit_of_the_shell_is_named(edgewire, path, tmp_path, limit, amount, cause, option):
    """The first by what writes, the second before anything is opened."""
    line = edgewire.refused("pagerank", path, "-o", tmp_path / "ranks.tsv",
                            preexec_fn=lambda: resource.setrlimit(limit, (amount, amount)))
    assert line.rstrip(")").endswith(f"{cause}: raise it with `ulimit -{option}`")
    assert os.listdir(tmp_path) == ["g.ew"]


@pytest.mark.parametrize("kernel", ["cdlp", "lcc", "tc", "scc", "pagerank"])
@pytest.mark.parametrize("transport", ["shm", "tcp"])
def test_too_few_open_files_are_named_wherever_they_are_missed(edgewire, path, tmp_path, kernel, transport):
    missed = 0
    for most in range(4, 30):
        result = edgewire(kernel, path, "-p", 2, "-w", 1, "--transport", transport, "-o", tmp_path / "out",
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)))
        if result.returncode == 0:
            break
        missed += 1
        assert result.returncode == 1 and os.listdir(tmp_path) == ["g.ew"]
        lines = result.stderr.splitlines()
        assert len(lines) == 1, lines
        assert all(line.endswith(f"`ulimit -n` allows {most}: raise it with `ulimit -n 1024`") for line in lines), lines
    assert result.returncode == 0 and missed > 2


def test_a_sort_names_the_files_that_it_needs_once(edgewire, tmp_path):
    (tmp_path / "records").write_bytes(bytes(900))
    line = refused_job(edgewire, "sort", tmp_path / "records", "-p", 2, "-w", 1, "--partitions", 3, "--key", "0:8",
                       "--transport", "tcp", "-o", tmp_path / "out",
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (30, 30)))
    assert re.fullmatch(r"up to \d+ files must be open at a time, and `ulimit -n` allows 30: raise it with `ulimit -n 1024`, or .*", line)


def test_a_limit_of_memory_is_named(edgewire, tmp_path):
    line = edgewire.refused("generate", "kronecker", "--scale", 20, "-o", tmp_path / "g.ew",
                            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (200 << 20, 200 << 20)))
    assert "not enough memory" in line and line.endswith("(`ulimit -v` allows 204800 KiB: raise it with `ulimit -v unlimited`)")


def test_stdout_that_is_full(edgewire, path):
    for options in ([], ["-o", "-"], ["--json", "-"], ["-p", "2"]):
        with open("/dev/full", "w") as full:
            done = subprocess.run([edgewire.program, "pagerank", path, *options], stdout=full, stderr=subprocess.PIPE,
                                  text=True, timeout=LIMIT_S)
        assert done.returncode == 1
        assert done.stderr.splitlines()[-1].endswith("stdout: cannot write: No space left on device")


@pytest.mark.parametrize("option", OUTPUTS)
def test_a_full_disk_keeps_the_older_output(edgewire, tmp_path, option):
    path = write_graph(tmp_path / "g.ew", graphs.make("dangling"))
    disk = tmp_path / "disk"
    with small_disk(disk, "8k"):
        output = disk / "output"
        output.write_text("older\n")
        line = edgewire.refused("pagerank", path, "--iterations", 1000, option, output)
        assert re.fullmatch(rf"{output}: byte \d+: cannot write: No space left on device", line)
        assert output.read_text() == "older\n" and os.listdir(disk) == ["output"]


@pytest.mark.sanitize
def test_a_run_that_fails_keeps_the_older_output(edgewire, tmp_path):
    data = bytearray(graph_bytes(graphs.make("self loops")))
    data[8192] ^= 1
    (tmp_path / "g.ew").write_bytes(data)
    for name in ("ranks.tsv", "report.json"):
        (tmp_path / name).write_text("older\n")
    refused_job(edgewire, "pagerank", tmp_path / "g.ew", "-p", 2, "-o", tmp_path / "ranks.tsv", "--json",
                     tmp_path / "report.json")
    assert {(tmp_path / name).read_text() for name in ("ranks.tsv", "report.json")} == {"older\n"}


@pytest.mark.parametrize("option", [*OUTPUTS, "--profile-page", "--trace"])
def test_no_prepared_link_is_followed(edgewire, path, tmp_path, option):
    """In a shared folder others may guess where a program writes aside: by its output's name and its process's number."""
    victim, output = tmp_path / "victim", tmp_path / "output"
    victim.write_text("precious\n")

    def prepare():
        os.symlink(victim, f"{output}.tmp.{os.getpid()}")

    edgewire.ok("pagerank", path, option, output, preexec_fn=prepare)
    assert victim.read_text() == "precious\n" and output.stat().st_size > 0
    for link in tmp_path.glob("output.tmp.*"):
        link.unlink()


def test_files_are_whole_without_proc_too(edgewire, path, tmp_path):
    """Then they need a name while they are written."""
    through = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /proc && exec "$@"', "sh"]
    if subprocess.run([*through, "true"], capture_output=True).returncode != 0:
        pytest.skip("hiding /proc is not allowed here")
    output = tmp_path / "made.ew"
    for _ in range(2):  # the second takes the place of the first
        hidden = type(edgewire)(edgewire.program, through)
        hidden.ok("generate", "kronecker", "--scale", 6, "-o", output)
        edgewire.ok("info", output)
        assert sorted(os.listdir(tmp_path)) == ["g.ew", "made.ew"]


def test_ranks_and_report_cannot_both_have_stdout(edgewire, path):
    assert "stdout" in edgewire.refused("pagerank", path, "-o", "-", "--json", "-", status=2)


def test_verify_fails_when_the_ranks_are_too_small_for_floats(edgewire, tmp_path):
    """Vertex 0 keeps a third of its rank in each iteration: 3^-100 is no float any more."""
    path = write_graph(tmp_path / "g.ew", Graph(2, [0, 0, 0, 1], [0, 1, 1, 1]))
    ranks, report = tmp_path / "ranks.tsv", tmp_path / "report.json"
    ranks.write_text("older\n")
    options = ["--damping", 1, "--iterations", 100, "--verify", "-o", ranks, "--json", report]
    for processes in (1, 2):
        result = edgewire("pagerank", path, "-p", processes, *options)
        assert result.returncode == 1
        line = result.stderr.splitlines()[-1]
        assert "the result differs from the reference: " in line and "the rank of vertex 0 by " in line and "the most that rounding can do" in line
        assert "FAILED" in result.stdout
        assert ranks.read_text() == "older\n"
        assert json.loads(report.read_text())["verify"]["passed"] is False


# ---- options ---------------------------------------------------------------------------------------------------------

@pytest.mark.sanitize
@pytest.mark.parametrize("options", [
    ["-p", "0"], ["-p", "-1"], ["-p", "two"], ["-p", "1025"], ["-p", "99999999999999999999"], ["-p", "1.5"],
    ["-w", "0"], ["-w", "-1"], ["-w", "1025"],
    ["--strategy", "best"], ["--layout", "random"], ["--transport", "pigeon"], ["--transport", ""],
    ["--damping", "-0.1"], ["--damping", "1.1"], ["--damping", "nan"], ["--damping", "inf"], ["--damping", "0.5x"],
    ["--tolerance", "-1"], ["--tolerance", "nan"], ["--tolerance", "inf"],
    ["--iterations", "-1"], ["--iterations", "1e3"], ["--iterations", "99999999999"],
    ["--peer-timeout", "0"], ["--peer-timeout", "-1"], ["--peer-timeout", "nan"], ["--peer-timeout", "inf"],
    ["--peer-timeout", "1e300"], ["--port", "70000"], ["--port", "-1"], ["--iteration", "3"], ["-o"], ["another.ew"],
], ids=str)
def test_options_that_make_no_sense(edgewire, path, options):
    line = edgewire.refused("pagerank", path, *options, status=2)
    assert options[-1] in line or options[0].strip("-") in line


def test_no_graph_and_no_command(edgewire):
    assert "graph" in edgewire.refused("pagerank", status=2)
    edgewire.refused(status=2)
    edgewire.refused("pagerang", status=2)


def test_a_transport_that_this_build_or_machine_lacks(edgewire, path):
    for backend in json.loads(edgewire.ok("transports", "--json", "-")):
        if not backend["usable"] and not backend["reason"].startswith("no permission"):  # of which a job hears when it opens a port
            line = refused_job(edgewire, "pagerank", path, "-p", 2, "--transport", backend["name"])
            assert backend["name"] in line and backend["reason"] in line


# ---- the partition file ----------------------------------------------------------------------------------------------

@pytest.mark.sanitize
@pytest.mark.parametrize("content, cause", [
    ("", "0 lines for 100 vertices"), ("0\n" * 99, "99 lines for 100 vertices"),
    ("0\n" * 101, "line 101: more lines than the graph's 100 vertices"),
    ("0\n1\n2\n1\n" * 25, "3 parts for 2 processes: start as many processes"), ("0\n" * 100, "1 part for 2 processes: start"),
    ("-1\n" * 100, "line 1: not a part"),
    ("0 1\n" * 100, "line 1: not a part"), ("\n" * 100, "line 1: not a part"),
    ("99999999999999999999\n" * 100, "line 1: not a part"), ("0\n" * 50 + "one\n" * 50, "line 51: not a part"),
    ("\x00\n" * 100, "line 1: not a part"),
], ids=lambda value: repr(value)[:20])
def test_a_bad_partition_file(edgewire, path, tmp_path, content, cause):
    partition = tmp_path / "partition.txt"
    partition.write_text(content)
    line = refused_job(edgewire, "pagerank", path, "-p", 2, "--ownership", partition)
    assert f"{partition}: {cause}" in line


def test_a_partition_file_that_cannot_be_read(edgewire, path, tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for partition in (tmp_path / "missing", tmp_path, tmp_path / "fifo", "/dev/zero"):
        line = refused_job(edgewire, "pagerank", path, "-p", 2, "--ownership", partition, timeout=PATIENCE_S)
        assert str(partition) in line
