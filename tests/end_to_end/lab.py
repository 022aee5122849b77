"""Virtual machines with a real RDMA stack.

Tests marked `machine` run in one such machine, all in one boot: it runs pytest on them there, and tells of each test as soon as
it ends. Here each of them waits for its own end and has the duration that it had there. A test marked `machine(own=True)` runs
here and starts machines of its own by run(). This module is also a plugin of pytest, here and in the machine (conftest.py).
"""

import collections
import functools
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import tempfile
import time

import pytest

HERE = pathlib.Path(__file__).resolve().parent
RDMA_VM = HERE.parent / "lab/rdma-vm"
INSIDE = os.environ.get("EDGEWIRE_IN_MACHINE")  # the folder in which the machine tells; set only in it
# Machines share their cores with whatever else runs here.
BOOT_LIMIT_S = 600
TEST_LIMIT_S = 600  # for one test in the machine, with its fixtures
SCRIPT_LIMIT_S = 1200  # for machines that run() starts
BOOTS = 3  # of the machine for the tests: one more after a test in which it got stuck
BOOT = "test_verbs.py::test_a_machine_comes_up"  # the test that is said to take as long as the machine's start

# Bash that scripts for machines may use. A wait that is in vain ends the script.
WAIT = """
wait_for() { # COMMAND...: until it succeeds, 60 s at most
  local end=$((SECONDS + 60))
  until "$@"; do
    [ $SECONDS -lt $end ] || { echo "waited in vain for: $*" >&2; exit 1; }
    sleep 0.1
  done
}
is_there() { # FILE PID: a job has written this file; ends the script when the job ends before
  [ -e $1 ] || { kill -0 $2 || exit 1; false; }
}
has_ended() { ! kill -0 $1 2>/dev/null; }
"""


@functools.cache
def cannot_have(limit_s, *options):
    """Why there are no machines with these options; empty when there can be some."""
    try:
        got = subprocess.run([RDMA_VM, "-k", *options], capture_output=True, text=True, timeout=limit_s)
    except subprocess.TimeoutExpired:
        return f"rdma-vm -k {' '.join(options)} did not end within {limit_s} s"
    return got.stderr.strip() if got.returncode else ""


@functools.cache
def missing():
    """Why there can be no virtual machine here; empty when there can."""
    listed = subprocess.run([os.environ["EDGEWIRE"], "transports"], capture_output=True, text=True)
    if "no verbs backend" in listed.stdout:
        return "this build has no verbs backend"
    return cannot_have(300)


def missing_iwarp():
    """Why a machine has no SoftiWARP; empty when it can have it."""
    return cannot_have(600, "-w")


def missing_later():
    """Why there is no machine with the later kernel of `-o`; empty when there can be one."""
    return cannot_have(1200, "-o")


def run(script, *options, machines=1, share=None):
    """Runs a script (bash, after WAIT) in each machine. Returns what it printed, machine after machine; fails unless it
    succeeds everywhere."""
    if missing():
        pytest.skip(missing())
    options = [*options, "-n", str(machines), "-t", str(SCRIPT_LIMIT_S), *(["-s", str(share)] if share else [])]
    # It may start machines anew, which have the limit once more.
    done = subprocess.run([RDMA_VM, *options, WAIT + script], capture_output=True, text=True, timeout=2 * SCRIPT_LIMIT_S)
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def write_job(folder, *graphs):
    """What a job of two machines needs: their list `hosts`, a `secret`, the graphs."""
    (folder / "hosts").write_text("10.8.0.1\n10.8.0.2\n")
    secret = folder / "secret"
    secret.write_bytes(os.urandom(32))
    secret.chmod(0o600)
    for name, graph in graphs:
        shutil.copy(graph, folder / name)


def runs_in_machine(item):
    """Whether a test of this session runs in the machine and is only told of here."""
    marker = item.get_closest_marker("machine")
    return not INSIDE and marker is not None and not marker.kwargs.get("own")


def name_of(nodeid):
    """The name of a test that is the same here and there, whatever folder pytest was started in."""
    path, _, test = nodeid.partition("::")
    return f"{pathlib.Path(path).name}::{test}"


class End:
    """What came of a test."""

    def __init__(self, outcome, text="", seconds=0.0):
        self.outcome, self.text, self.seconds = outcome, text, seconds


class Machine:
    """The machine, and the tests of this session that run in it: those that have not ended yet, and the ends of others."""

    def __init__(self):
        self.waiting = {}  # in order
        self.ends = {}
        self.boots = 0
        self.process = None

    def boot(self):
        self.boots += 1
        self.folder = tempfile.TemporaryDirectory()
        (share := pathlib.Path(self.folder.name, "share")).mkdir()
        (share / "tests").write_text(json.dumps(list(self.waiting)))
        self.told = share / "told"
        self.told.touch()
        self.output = pathlib.Path(self.folder.name, "output")
        self.read, self.current, self.start = 0, None, time.monotonic()
        self.heard = None  # nothing yet
        files = sorted({str(HERE / name.partition("::")[0]) for name in self.waiting})
        command = " ".join(map(shlex.quote, [
            "env", f"EDGEWIRE={os.path.abspath(os.environ['EDGEWIRE'])}", f"EDGEWIRE_NO_IWARP={missing_iwarp()}",
            f"EDGEWIRE_IN_MACHINE={share}", "PYTHONDONTWRITEBYTECODE=1", "/usr/bin/python3", "-m", "pytest", "-q", "--tb=short",
            "--basetemp=/run/tests", *files]))
        limit_s = BOOT_LIMIT_S + TEST_LIMIT_S * len(self.waiting)
        with open(self.output, "w") as output:
            # What is told counts, not pytest's exit status.
            self.process = subprocess.Popen(
                [RDMA_VM, *([] if missing_iwarp() else ["-w"]), "-t", str(limit_s), "-s", share, f"{command}; true"],
                stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT)

    def stop(self):
        """Ends the machine, if there is one. Gives what it has printed."""
        if self.process is None:
            return ""
        self.process.terminate()  # it ends its machine and prints what that has said
        try:
            self.process.wait(60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process = None
        text = self.output.read_text(errors="replace")
        self.folder.cleanup()
        return text

    def take(self, line):
        """A line of what the machine tells."""
        if "begins" in line:
            self.current = line["begins"]
        elif "ready" in line:
            self.boot_s = time.monotonic() - self.start
        else:
            name = line["name"]
            self.waiting.pop(name, None)
            self.current = None
            self.ends.setdefault(name, End(line["outcome"], line["text"], line["seconds"] + (self.boot_s if name == BOOT else 0)))

    def listen(self):
        """Takes what the machine has told since; whether that was anything."""
        with open(self.told, "rb") as told:
            told.seek(self.read)
            new = told.read()
        whole = new[:new.rfind(b"\n") + 1]
        self.read += len(whole)
        for line in whole.splitlines():
            self.take(json.loads(line))
        if whole:
            self.heard = time.monotonic()
        return bool(whole)

    def give_up(self, why):
        """The machine tells no more: the test that it ran has failed, the others have another machine."""
        text = f"{why}\n{self.stop()}"
        if self.current is not None and self.boots < BOOTS:
            failed = [self.current]
        else:
            failed = list(self.waiting)
        for name in failed:
            self.waiting.pop(name, None)
            self.ends.setdefault(name, End("failed", text))

    def end_of(self, name):
        """Waits for the end of a test."""
        while name not in self.ends:
            if self.process is None:
                self.boot()
            over = self.process.poll() is not None
            if self.listen():
                continue
            # A test that runs too long is ended in the machine; only when that does not help, its silence is too long.
            limit_s, since = (BOOT_LIMIT_S, self.start) if self.heard is None else (TEST_LIMIT_S + 60, self.heard)
            if over:
                self.give_up(f"the machine ended {'in' if self.current else 'before'} this test")
            elif time.monotonic() - since > limit_s:
                self.give_up(f"the machine has told nothing for {limit_s} s")
            else:
                time.sleep(0.05)
        if not self.waiting and self.process is not None:
            try:
                self.process.wait(60)  # so that nothing runs beside the tests that follow
            except subprocess.TimeoutExpired:
                pass
            self.stop()
        return self.ends[name]


# ---- hooks: here -----------------------------------------------------------------------------------------------------

machine = Machine()


def pytest_collection_modifyitems(config, items):
    if INSIDE:
        chosen = set(json.loads(pathlib.Path(INSIDE, "tests").read_text()))
        items[:] = [item for item in items if name_of(item.nodeid) in chosen]
        return
    for item in items:
        if runs_in_machine(item):
            item.fixturenames.clear()  # they are set up there
    items.sort(key=runs_in_machine)  # together, so that no other test runs beside the machine


def pytest_collection_finish(session):
    machine.waiting = dict.fromkeys(name_of(item.nodeid) for item in session.items if runs_in_machine(item))
    if INSIDE:
        say(ready=True)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem):
    """Ends the test as it ended in the machine."""
    if not runs_in_machine(pyfuncitem):
        return None
    if missing():
        pytest.skip(missing())
    end = machine.end_of(name_of(pyfuncitem.nodeid))
    if end.outcome == "skipped":
        pytest.skip(end.text)
    if end.outcome != "passed":
        pytest.fail(end.text, pytrace=False)
    return True


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    report = (yield).get_result()
    if call.when == "call" and runs_in_machine(item):
        end = machine.ends.get(name_of(item.nodeid))
        report.duration = end.seconds if end else 0.0


def pytest_sessionfinish():
    machine.stop()


# ---- hooks: in the machine -------------------------------------------------------------------------------------------

reports = collections.defaultdict(list)  # of the test that runs


def say(**line):
    with open(f"{INSIDE}/told", "a") as told:
        told.write(json.dumps(line) + "\n")
        told.flush()
        os.fsync(told.fileno())


def out_of_time(*_):
    pytest.fail(f"it has run for {TEST_LIMIT_S} s")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol():
    if INSIDE:
        signal.signal(signal.SIGALRM, out_of_time)
        signal.alarm(TEST_LIMIT_S)
    yield
    if INSIDE:
        signal.alarm(0)


def pytest_runtest_logstart(nodeid):
    if INSIDE:
        say(begins=name_of(nodeid))


def pytest_runtest_logreport(report):
    if not INSIDE:
        return
    reports[report.nodeid].append(report)
    if report.when != "teardown":
        return
    phases = reports.pop(report.nodeid)
    outcomes = [phase.outcome for phase in phases]
    outcome = next((one for one in ("failed", "skipped") if one in outcomes), "passed")
    texts = [phase.longrepr[2].removeprefix("Skipped: ") if isinstance(phase.longrepr, tuple) else f"{phase.when}: {phase.longreprtext}"
             for phase in phases if phase.outcome == outcome != "passed"]
    say(name=name_of(report.nodeid), outcome=outcome, text="\n".join(texts), seconds=sum(phase.duration for phase in phases))
