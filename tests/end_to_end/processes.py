"""The processes of a job, as a user sees them in /proc."""

import contextlib
import functools
import os
import pathlib
import random
import re
import resource
import signal
import subprocess
import time

PATIENCE_S = 60  # for an event
LIMIT_S = 300  # for a whole run: a machine with much else to do needs long, and what hangs is found
LIVE_PEER_S = 60  # a peer timeout that no live process misses, for tests in which it must not expire
DEAD_PEER_S = 10  # one that a stopped process must miss, and a live one misses only if it has no core for 9 s
TICKS_A_SECOND = os.sysconf("SC_CLK_TCK")


def wait_for(condition, what, patience_s=PATIENCE_S):
    """The first true value that `condition` gives."""
    deadline = time.monotonic() + patience_s
    while not (value := condition()):
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.002)
    return value


def status_fields(pid):
    """The fields of /proc/PID/stat from the state on; none when there is no such process."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return []


def is_gone(pid):
    """Somewhat later than it loses its environment: what ends is not yet a zombie then."""
    return status_fields(pid)[:1] in ([], ["Z"])


def children(parent):
    """Those that live, in the order in which they were started: numbers of processes begin anew at some time."""
    found = []
    for listed in pathlib.Path(f"/proc/{parent}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, listed.read_text().split())
    return [pid for pid in found if not is_gone(pid)]


def anonymous_bytes(pid):
    """Memory of its own; 0 when there is no such process."""
    with contextlib.suppress(OSError, IndexError):
        return int(pathlib.Path(f"/proc/{pid}/status").read_text().split("RssAnon:")[1].split()[0]) * 1024
    return 0


def most_anonymous_bytes(job):
    """The most memory of its own that one process of the job has until it ends, which must be well. The kernel keeps no such peak, so
    that it is looked at all the time: less may be found than there was."""
    deadline, most = time.monotonic() + LIMIT_S, 0
    while job.poll() is None:
        assert time.monotonic() < deadline, "the job does not end"
        most = max([most, *map(anonymous_bytes, [job.pid, *children(job.pid)])])
        time.sleep(0.001)
    errors = job.communicate()[1]
    assert job.returncode == 0, errors
    return most


def has_file_in(pid, folder):
    """Whether a process has a file open that is or was in the folder."""
    for name in pathlib.Path(f"/proc/{pid}/fd").glob("*"):
        with contextlib.suppress(OSError):
            if os.readlink(name).startswith(f"{folder}/"):
                return True
    return False


def own_places(count):
    """ADDRESS:PORT for each of `count` processes on this machine, all on one address. No other process takes them before
    they are used: the system gives away only ports above them, and nobody else draws this address."""
    chance = random.SystemRandom()
    address = ".".join(["127", *(str(chance.randint(1, 254)) for _ in range(3))])
    given_away = int(pathlib.Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    highest = given_away if given_away > 11000 else 1 << 15
    return [f"{address}:{port}" for port in chance.sample(range(highest - 10000, highest), count)]


def cpu_seconds(pid):
    fields = status_fields(pid)
    return (int(fields[11]) + int(fields[12])) / TICKS_A_SECOND if fields else 0


@functools.cache
def start_seconds():
    """Of a core, that the program takes to start: a sanitizer's build needs more than half a second."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([os.environ["EDGEWIRE"], "--version"], check=True, stdout=subprocess.DEVNULL, timeout=LIMIT_S)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def causes(lines):
    """What a process says of its end, without warnings and without how long its rest would have taken."""
    return [line for line in lines if "edgewire: warning: " not in line and "; the rest will take about " not in line]


# What commands that move records say of how far they have come.
HOW_FAR = r"before the result was whole|while [a-z ]+, after \d+ of \d+ [a-z]+"


def check_ended(process, number, how_far=HOW_FAR):
    """Ends a command that has no result yet by a signal: it says so where it can, and its processes go with it."""
    started = children(process.pid)
    os.kill(process.pid, number)
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode in (-number, 128 + number)
    word = {signal.SIGKILL: "", signal.SIGINT: "interrupted", signal.SIGTERM: "told to end"}[number]
    assert re.fullmatch(f"edgewire: {word} ({how_far})\n" if word else "", errors), errors
    wait_for(lambda: all(is_gone(pid) for pid in started), "the end of its processes")


def check_loss(process):
    """Kills rank 1 of such a command: each of the others names it."""
    os.kill(children(process.pid)[1], signal.SIGKILL)
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1
    assert causes(errors.splitlines()) and all("rank 1 was " in line for line in causes(errors.splitlines()))
