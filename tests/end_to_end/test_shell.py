"""How the program lives in its shell: standard streams that are closed or lead nowhere, signals that are ignored, limits, and
a kernel that runs out of memory."""

import os
import pathlib
import re
import resource
import signal
import subprocess

import pytest

from control_groups import memory_group
from processes import LIMIT_S, causes, children, wait_for

NO_STDOUT = "stdout: cannot write: Bad file descriptor"


def in_shell(edgewire, redirection, *arguments, **options):
    return subprocess.run(["bash", "-c", f'exec "$0" "$@" {redirection}', edgewire.program, *map(str, arguments)],
                          capture_output=True, text=True, timeout=LIMIT_S, **options)


def words_of(command, kronecker, tmp_path):
    names = {"GRAPH": kronecker(6), "FILE": tmp_path / "made", "RECORDS": tmp_path / "records"}
    (tmp_path / "records").write_bytes(bytes(range(200)))
    return [names.get(word, word) for word in command.split()]


def limited(limit, amount):
    """What sets a limit, the soft one and the hard one, in a process to come."""
    return {"preexec_fn": lambda: resource.setrlimit(limit, (amount, amount))}


@pytest.mark.parametrize("command", [
    "--help", "--version", "pagerank --help", "info GRAPH", "info GRAPH --json -", "topology", "transports", "bound GRAPH -p 2",
    "convert GRAPH -o FILE", "convert GRAPH --to el -o -", "convert GRAPH --to csv -o -", "generate kronecker --scale 5 -o FILE", "manual edgewire.1",
    "pagerank GRAPH -w 1", "pagerank GRAPH -w 1 -o -", "pagerank GRAPH -w 1 --json -", "pagerank GRAPH -w 1 -p 2 --transport shm",
    "pagerank GRAPH -w 1 -p 2 --transport tcp -o -", "bfs GRAPH --source 0 -w 1 -p 2", "tasks number-inc -w 1",
    "tasks number-inc -w 1 -p 2", "sort RECORDS --key 0:8 -w 1 -p 2 -o FILE"])
def test_a_closed_stdout_is_an_error_and_no_other_file(edgewire, kronecker, tmp_path, command):
    words = words_of(command, kronecker, tmp_path)
    done = in_shell(edgewire, ">&-", *words)
    assert done.returncode == 1
    (line,) = causes(done.stderr.splitlines())  # of rank 0, or of one that heard of it first
    assert re.fullmatch(rf"edgewire: (rank 0: |rank 1: rank 0 failed: )?{NO_STDOUT}", line)
    assert in_shell(edgewire, "<&- >&- 2>&-", *words).returncode == 1


def test_a_closed_stdin_is_no_empty_input(edgewire, tmp_path):
    done = in_shell(edgewire, "<&-", "convert", "-", "-o", tmp_path / "made.ew")
    assert done.returncode == 1 and "cannot read: Bad file descriptor" in done.stderr and os.listdir(tmp_path) == []


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("redirection", ["2>&-", "<&- 2>&-", "2>/dev/full", "2> >(exec true)"])
def test_what_stderr_loses_costs_no_result(edgewire, kronecker, tmp_path, processes, redirection):
    """There is something to say: workers are more than cores."""
    graph, output = kronecker(6), tmp_path / "labels"
    words = ["wcc", graph, "-p", processes, "-w", 1]
    wanted = edgewire.ok(*words, "-o", "-")
    words[-1] = len(os.sched_getaffinity(0)) + 1
    assert "warning" in edgewire(*words).stderr
    done = in_shell(edgewire, redirection, *words, "-o", "-")
    assert (done.returncode, done.stdout) == (0, wanted)
    done = in_shell(edgewire, redirection, *words, "-o", output)
    assert done.returncode == 0 and output.read_text() == wanted


def test_a_closed_pipe_is_told_where_it_may_not_end_the_process(edgewire, kronecker):
    read, write = os.pipe()
    os.close(read)
    def ignored(number):
        return lambda: signal.signal(signal.SIGPIPE, number)
    for processes in (1, 2):
        run = [edgewire.program, "pagerank", kronecker(6), "-w", "1", "-p", str(processes), "-o", "-"]
        done = [subprocess.run(run, stdout=write, stderr=subprocess.PIPE, text=True, timeout=LIMIT_S, restore_signals=False,
                               preexec_fn=ignored(how)) for how in (signal.SIG_DFL, signal.SIG_IGN)]
        assert done[0].returncode == 141 and "cannot write" not in done[0].stderr
        assert done[1].returncode == 1 and done[1].stderr.endswith("stdout: cannot write: Broken pipe\n")
    os.close(write)


@pytest.mark.sanitize
@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_signal_that_was_ignored_at_the_start_ends_nothing(edgewire, kronecker, tmp_path, processes, number):
    """As under nohup, and in the background of a script. The job waits for a reader of its result, so the signals come before."""
    result = tmp_path / "result"
    os.mkfifo(result)
    process = edgewire.start("pagerank", kronecker(6), "-p", processes, "-w", 1, "-o", result,
                             preexec_fn=lambda: signal.signal(number, signal.SIG_IGN))
    if processes > 1:
        wait_for(lambda: len(children(process.pid)) == processes, "its processes")
    os.killpg(process.pid, number)
    process.send_signal(number)
    assert len(result.read_text().splitlines()) == 64
    _, errors = process.communicate(timeout=LIMIT_S)
    assert (process.returncode, causes(errors.splitlines())) == (0, [])


def test_a_process_that_the_kernel_kills_for_memory_says_so(edgewire, kronecker):
    """The memory suffices for the parent and not for its processes: one of them is killed, or both."""
    if len(pathlib.Path("/proc/swaps").read_text().splitlines()) > 1:
        pytest.skip("there is memory for more, on a disk")
    with memory_group(12 << 20) as enter:
        done = edgewire("pagerank", kronecker(8), "-p", 2, "-w", 1, preexec_fn=enter)
    assert done.returncode == 1
    said = [line for line in done.stderr.splitlines() if "signal 9" in line]
    assert said and all(re.fullmatch(r"edgewire: rank [01] was ended by signal 9 \(Killed\): the kernel ran out of memory "
                                     r"\(its control group allows 12 MB\); --edges disk with a smaller --memory would need less",
                                     line) for line in said), done.stderr


@pytest.mark.parametrize("transport", ["shm", "tcp", "auto"])
@pytest.mark.parametrize("processes, enough", [(2, 28), (8, 40)])
def test_too_few_open_files_are_named_before_a_job_starts(edgewire, kronecker, transport, processes, enough):
    run = ["pagerank", kronecker(6), "-p", processes, "-w", 1, "--transport", transport]
    for most in (4, 8, 10, enough - 1):
        line = edgewire.refused(*run, **limited(resource.RLIMIT_NOFILE, most))
        assert re.fullmatch(rf"up to \d+ files must be open at a time, and `ulimit -n` allows {most}: "
                            r"raise it with `ulimit -n 1024`", line)
    edgewire.ok(*run, **limited(resource.RLIMIT_NOFILE, enough))


def test_connections_of_many_workers_need_more_files(edgewire, kronecker):
    """All processes say the same, so one line is enough. The soft limit is raised without a word."""
    run = ["pagerank", kronecker(6), "-p", 3, "-w", 20, "--transport", "tcp"]
    done = edgewire(*run, **limited(resource.RLIMIT_NOFILE, 60))
    assert done.returncode == 1
    (line,) = causes(done.stderr.splitlines())
    assert re.search(r"up to 67 files .* allows 60: raise it with `ulimit -n 1024`, or ask for fewer workers$", line)
    edgewire.ok(*run, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (60, 100)))


@pytest.mark.parametrize("limit, amount, processes", [
    ("v", 20_000 << 10, 2), ("v", 30_000 << 10, 1), ("v", 30_000 << 10, 2), ("v", 36_000 << 10, 2), ("f", 0, 1), ("f", 4096, 2)])
@pytest.mark.parametrize("kernel", ["pagerank", "wcc"])
def test_a_limit_is_named_with_what_would_do(edgewire, kronecker, tmp_path, kernel, limit, amount, processes):
    kind = {"v": resource.RLIMIT_AS, "f": resource.RLIMIT_FSIZE}[limit]
    done = edgewire(kernel, kronecker(8), "-p", processes, "-w", 1, "-o", tmp_path / "result", **limited(kind, amount))
    if done.returncode != 0:
        said = causes(done.stderr.splitlines())
        assert done.returncode == 1 and said and os.listdir(tmp_path) == []
        assert all(line.endswith(f"(`ulimit -{limit}` allows {amount >> 10} KiB: raise it with `ulimit -{limit} unlimited`)")
                   for line in said), said


@pytest.mark.slow
@pytest.mark.parametrize("command", ["pagerank GRAPH -p 2 --transport shm", "pagerank GRAPH -p 2 --transport tcp --edges disk",
                                     "bc GRAPH -p 2", "lcc GRAPH", "tc GRAPH", "bound GRAPH -p 2", "info GRAPH", "tasks number-inc -p 2"])
def test_little_memory_crashes_nothing(edgewire, kronecker, command):
    words = [kronecker(8) if word == "GRAPH" else word for word in command.split()]
    for kibibytes in [*range(20_000, 100_000, 8_000), *range(100_000, 1_000_001, 150_000)]:
        done = edgewire(*words, **limited(resource.RLIMIT_AS, kibibytes << 10))
        said = causes(done.stderr.splitlines())
        assert done.returncode == 0 or (done.returncode == 1 and any("`ulimit -v unlimited`" in line for line in said)), said


@pytest.mark.parametrize("stack", [64 << 10, 256 << 10, 1 << 40])
@pytest.mark.parametrize("command", ["pagerank GRAPH -w 2 -p 2", "sort RECORDS --key 0:8 -w 2 -o FILE"])
def test_stacks_have_a_usual_size(edgewire, kronecker, tmp_path, stack, command):
    """Threads of a small limit would run out of their stacks, and those of a large one could not start."""
    edgewire.ok(*words_of(command, kronecker, tmp_path), preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_STACK, (stack, -1)))


def test_too_few_processes_are_named(run_by):
    """Of a user who has none yet."""
    done = run_by(54321)("tasks", "number-inc", "-p", 2, "-w", 1, **limited(resource.RLIMIT_NPROC, 2))
    said = done.stderr.splitlines()  # the second process cannot start, and the first one has no thread
    assert done.returncode == 1 and said
    assert all(line.endswith("Resource temporarily unavailable (`ulimit -u` allows 2: raise it with `ulimit -u unlimited`)")
               for line in said), said
