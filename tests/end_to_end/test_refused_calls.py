"""Commands in a container that refuses a system call: they do without it, or end with a line that says what was refused."""

import errno
import functools
import itertools
import re

import pytest

from processes import PATIENCE_S
from system_calls import allowing, refusing

# What is never refused here, by the reason.
NEEDED = {
    "no program starts, reads or writes without it": """access arch_prctl brk close execve exit exit_group fstat futex getrandom lseek mmap
        mprotect munmap newfstatat openat pread64 prlimit64 read rseq set_robust_list set_tid_address write writev""",
    "the kernel needs it to return from a signal": "restart_syscall rt_sigreturn",
}

# All other calls that the commands make.
CALLS = """accept4 bind clock_gettime clock_nanosleep clone clone3 connect dup2 epoll_create1 epoll_ctl epoll_pwait2 eventfd2 faccessat2
    fadvise64 fallocate fchmod fchown fcntl fdatasync fstatfs ftruncate get_mempolicy getcwd getdents64 geteuid getpeername getpid getppid
    getrusage getsockname getsockopt gettid getuid io_uring_enter io_uring_register io_uring_setup ioctl kill linkat listen madvise mbind
    memfd_create mincore mkdir move_pages perf_event_open pipe2 poll prctl pwrite64 readlink readlinkat recvfrom recvmsg rename rmdir
    rt_sigaction rt_sigpending rt_sigprocmask rt_sigtimedwait sched_getaffinity sched_setaffinity sched_yield sendmsg sendto set_mempolicy
    setns setpgid setsockopt shutdown socket socketpair statfs sysinfo umask uname unlink unshare wait4""".split()

# Those that Docker's default profile refuses.
OF_DOCKER = """get_mempolicy io_uring_enter io_uring_register io_uring_setup mbind move_pages perf_event_open set_mempolicy setns
    unshare""".split()
OVER_TCP = "accept4 bind connect epoll_create1 epoll_ctl epoll_pwait2 getsockname listen recvmsg sendmsg setsockopt shutdown socket".split()

PAGERANK = "pagerank {graph} --iterations 4 --deterministic -o {out}"
COMMANDS = {
    "generate": "generate kronecker --scale 8 -o {out}.ew",
    "convert": "convert {edges} -w 2 -o {out}.ew",
    "convert, in little memory": "convert {edges} --memory 128M -w 1 -o {out}.ew",
    "convert -p 2": "convert {edges} -p 2 -w 1 -o {out}.ew",
    "info": "info {graph}",
    "pagerank -p 1": PAGERANK + " -p 1 -w 1",
    "pagerank -w 2": PAGERANK + " -p 1 -w 2",
    "pagerank, shm": PAGERANK + " -p 2 -w 1",
    "pagerank, tcp": PAGERANK + " -p 2 -w 1 --transport tcp",
    "pagerank, disk": PAGERANK + " -p 2 -w 1 --edges disk --devices {folder}",
    "pagerank, caches": PAGERANK + " -p 2 -w 1 --plan-cache={folder} --checkpoint {folder}/state --every 2",
    "bfs": "bfs {graph} --source 1 -p 2 -w 1 -o {out}",
    "sort": "sort {records} --partitions 2 -p 2 -w 1 -o {out}",
    "tasks": "tasks number-inc --count 50 --repeat 1 -p 2 -w 1",
    "netbench": "netbench --transport tcp --sizes 8 --count 10",
    "diskbench": "diskbench {folder} --size 4M --blocks 64k --depths 4 --seconds 0.02",
    "topology": "topology -p 2",
    "transports": "transports",
    "profile": "profile -- pagerank {graph} -p 2 -w 1 --iterations 3",
    "compare": "compare {graph} -p 2 --rate 1G --strategy slots --repeat 1 --iterations 2",
}
REFUSED = re.compile(r"edgewire: (rank \d+: )?\S.*: (Operation not permitted|Function not implemented) "
                     r"\(perhaps a container's filter of system calls refuses it: allow it in its seccomp profile\)"
                     r"|edgewire: (--local-hosts|compare) needs root .*")
BESIDE = r"edgewire: warning: |\[hwloc|compare: round |edgewire: compare: the run .* failed$"  # what a run says besides


@pytest.fixture(scope="module")
def runs(edgewire, tmp_path_factory):
    """runs(command, preexec_fn) gives the outcome of a command, and by their names the files that it leaves as its output."""
    place = tmp_path_factory.mktemp("refused")
    inputs = {"graph": place / "g.ew", "edges": place / "g.el", "records": place / "in" / "records-00000"}
    edgewire.ok("generate", "kronecker", "--scale", 10, "--undirected", "-o", inputs["graph"])
    edgewire.ok("convert", inputs["graph"], "-o", inputs["edges"])
    edgewire.ok("generate", "records", "--bytes", "200k", "-o", inputs["records"].parent)
    numbers = itertools.count()

    def run(command, prepare=lambda: None):
        folder = place / f"run-{next(numbers)}"
        (folder / "disk").mkdir(parents=True)
        words = COMMANDS[command].format(**inputs, out=folder / "out", folder=folder / "disk").split()
        result = edgewire(*words, preexec_fn=prepare, cwd=folder, timeout=PATIENCE_S)
        written = {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*")
                   if path.is_file() and path.relative_to(folder).parts[0] != "disk"}
        return result, written

    return run


@pytest.fixture(scope="module")
def right(runs):
    """right(command) gives the files that it writes where nothing is refused."""
    @functools.cache
    def files_of(command):
        result, written = runs(command)
        if "needs root" in result.stderr:
            pytest.skip(result.stderr)
        assert result.returncode == 0, result.stderr
        return written

    return files_of


def trouble(outcome, expected):
    """What is wrong with the end of a run, or "". `expected`: files."""
    result, written = outcome
    errors = [line for line in result.stderr.splitlines() if not re.match(BESIDE, line)]
    if result.returncode == 0:
        return "" if written == expected and (written or result.stdout) else "it has another result"
    if result.returncode != 1 or written:
        return f"it ends with {result.returncode} and {sorted(written)}: {errors}"
    return "" if len(errors) == 1 and REFUSED.fullmatch(errors[0]) else f"it says {errors}"


@pytest.mark.parametrize("call", CALLS)
def test_a_run_where_a_call_is_refused(runs, right, call):
    command = "pagerank, tcp" if call in OVER_TCP else "pagerank, shm"
    assert trouble(runs(command, refusing(call)), right(command)) == ""


@pytest.mark.parametrize("command", ["pagerank, disk", "profile", "sort"])
def test_what_docker_refuses_costs_no_result(runs, right, command):
    outcome = runs(command, refusing(*OF_DOCKER))
    assert outcome[0].returncode == 0 and trouble(outcome, right(command)) == "", outcome[0].stderr


@pytest.mark.slow
@pytest.mark.parametrize("error", [errno.EPERM, errno.ENOSYS], ids=errno.errorcode.get)
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_where_a_call_is_refused(runs, right, command, error):
    found = {call: trouble(runs(command, refusing(call, error=error)), right(command)) for call in CALLS}
    assert not {call: wrong for call, wrong in found.items() if wrong}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_makes_other_calls(runs, right, command):
    """A call that is in neither table ends the process by SIGSYS; `strace -f -c` names it."""
    names = [*" ".join(NEEDED.values()).split(), *CALLS, "close_range"]  # the last one is Python's, before the program starts
    assert trouble(runs(command, allowing(names)), right(command)) == ""
