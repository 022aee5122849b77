"""What the end-to-end tests share. They run the program that the environment names as EDGEWIRE."""

import functools
import itertools
import os
import pathlib
import random
import shutil
import signal
import subprocess
import tempfile
import time
import uuid

import pytest

import evidence
import lab
import reference
import rights
from processes import LIMIT_S, LIVE_PEER_S, PATIENCE_S, own_places, wait_for

MARK = f"EDGEWIRE_TEST_RUN={uuid.uuid4()}"

def heed_signals():
    """What nohup and shells' background jobs ignore would stay ignored in the program."""
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
        signal.signal(number, signal.SIG_DFL)


class Edgewire:
    """Runs the program: edgewire("info", path) gives what subprocess.run gives, stdout and stderr as text."""

    def __init__(self, program, through=()):
        self.program = program
        self.through = list(through)  # a command that runs the one behind it

    def start(self, *arguments, **options):
        """A running program, in a process group of its own."""
        more = options.pop("preexec_fn", lambda: None)

        def prepare():
            heed_signals()
            more()

        process = subprocess.Popen([*self.through, self.program, *map(str, arguments)], stdout=options.pop("stdout", subprocess.PIPE),
                                   stderr=options.pop("stderr", subprocess.PIPE), stdin=options.pop("stdin", subprocess.DEVNULL),
                                   text=True, start_new_session=True, preexec_fn=prepare,
                                   env={**os.environ, **options.pop("env", {}), **dict([MARK.split("=")])}, **options)
        evidence.note_process(process)
        return process

    def __call__(self, *arguments, timeout=LIMIT_S, **options):
        process = self.start(*arguments, **options)
        try:
            stdout, stderr = process.communicate(timeout=timeout)
        except BaseException:
            evidence.note_stacks([process.pid])
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            raise
        return subprocess.CompletedProcess(process.args, process.returncode, stdout, stderr)

    def ok(self, *arguments, **options):
        """The program's stdout, when it succeeded."""
        result = self(*arguments, **options)
        assert result.returncode == 0, f"exit status {result.returncode}: {result.stderr}"
        return result.stdout

    def refused(self, *arguments, status=1, **options):
        """The one line with which the program gave up, without its name."""
        result = self(*arguments, **options)
        assert result.returncode == status, f"exit status {result.returncode}: {result.stderr}"
        lines = result.stderr.splitlines()
        assert len(lines) == 1 and lines[0].startswith("edgewire: "), result.stderr
        return lines[0].removeprefix("edgewire: ")


@pytest.fixture(scope="session", autouse=True)
def own_cores(tmp_path_factory):
    """Jobs of other pytest workers, and of the user, take no cores from those of these tests."""
    os.environ["XDG_RUNTIME_DIR"] = str(tmp_path_factory.mktemp("runtime"))


@pytest.fixture(scope="session")
def edgewire():
    return Edgewire(os.path.abspath(os.environ["EDGEWIRE"]))


@pytest.fixture
def open_folder():
    """A folder into which other users may look, too; they may not into tmp_path."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield pathlib.Path(folder)


@pytest.fixture
def run_by(open_folder):
    """run_by(user): the program, which this user runs, wherever it lies. Skips the test where nobody can become the user."""
    def by(user):
        program = shutil.copy(os.environ["EDGEWIRE"], open_folder)
        rights.need_user(user, program)
        return Edgewire(program, rights.through_user(user))

    return by


@pytest.fixture
def rightless(request):
    """The program, run by somebody who has no rights of root's: whoever runs the tests, or another user."""
    return request.getfixturevalue("run_by")(rights.ANOTHER) if os.geteuid() == 0 else Edgewire(os.path.abspath(os.environ["EDGEWIRE"]))


@pytest.fixture(scope="session")
def kronecker(edgewire, tmp_path_factory):
    """Gives the file of the Kronecker graph of a scale."""
    @functools.cache
    def file_of(scale):
        path = tmp_path_factory.mktemp("kronecker") / f"{scale}.ew"
        edgewire.ok("generate", "kronecker", "--scale", scale, "-o", path)
        return path

    return file_of


def started_processes():
    """The processes of this test run that live (not zombies), by their command lines."""
    found = []
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            if MARK.encode() in (process / "environ").read_bytes().split(b"\0"):
                found.append((int(process.name), (process / "cmdline").read_bytes().replace(b"\0", b" ").decode()))
        except OSError:
            continue  # it has ended, or is not ours
    return found


def shared_memory_files():
    try:
        return {name for name in os.listdir("/dev/shm") if "edgewire" in name}
    except FileNotFoundError:
        return set()


def pytest_configure(config):
    config.pluginmanager.register(lab)


def sample(items, seed):
    """Of each test with the marker `matrix`, the share of its cases that the seed draws; all others whole."""
    cases = {}
    for item in items:
        if marker := item.get_closest_marker("matrix"):
            cases.setdefault((item.nodeid.partition("[")[0], marker.args[0]), []).append(item)
    left_out = set()
    for (name, share), group in cases.items():
        drawn = random.Random(f"{seed} {name}").sample(group, max(1, round(share * len(group))))
        left_out |= set(group) - set(drawn)
    return left_out


def pytest_collection_modifyitems(config, items):
    seed = os.environ.get("EDGEWIRE_TEST_SEED")
    if seed and (left_out := sample(items, seed)):
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=list(left_out))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    if call.when == "setup":
        evidence.begin_test()
    outcome = yield
    report = outcome.get_result()
    if report.failed:
        if left := started_processes():
            evidence.note_stacks([pid for pid, _ in left])
        evidence.add_to(report)


@pytest.fixture(autouse=True)
def nothing_is_left_behind(tmp_path):
    """No test leaves a process, a file in shared memory or a file written aside."""
    before = shared_memory_files()
    yield
    deadline = time.monotonic() + PATIENCE_S
    while (left := started_processes()) and time.monotonic() < deadline:
        time.sleep(0.01)
    for pid, _ in left:
        os.kill(pid, signal.SIGKILL)
    assert not left, "still running"
    # A run of the tests beside this one may have some, which go when its processes end.
    wait_for(lambda: shared_memory_files() <= before, "the end of files in shared memory")
    assert not list(tmp_path.rglob("*.tmp.*"))


@pytest.fixture(scope="session")
def made_graph(edgewire, tmp_path_factory):
    """made_graph(name): (path, graph read by the tests' own reader) of a graph that edgewire makes."""
    kinds = {
        "kronecker": ["kronecker", "--scale", 12, "--weights"],
        "kronecker both ways": ["kronecker", "--scale", 11, "--weights", "--undirected"],
        "grid": ["grid", "--rows", 37, "--columns", 53, "--weights"],
    }

    @functools.cache
    def graph_of(name):
        path = tmp_path_factory.mktemp("made_graph") / "g.ew"
        edgewire.ok("generate", *kinds[name], "-o", path)
        return path, reference.read_graph(path)

    return graph_of


@pytest.fixture
def devices(tmp_path):
    """Two folders for edges."""
    folders = [tmp_path / "disk a", tmp_path / "disk b"]
    for folder in folders:
        folder.mkdir()
    return folders


@pytest.fixture
def hosts(tmp_path):
    """hosts(n) gives the options of a job of n processes on this machine, each of which is started on its own. Each call is for
    another job, which has addresses and a file of its own. Ranks say who is missing before a test gives up waiting for them."""
    secret = tmp_path / "secret"
    secret.write_text("a secret of the tests\n")
    secret.chmod(0o600)
    numbers = itertools.count()

    def options(count):
        path = tmp_path / f"hosts-{next(numbers)}"
        path.write_text("".join(f"{place}  # rank {rank}\n" for rank, place in enumerate(own_places(count))))
        return ["--hosts", path, "--secret-file", secret, "--peer-timeout", LIVE_PEER_S, "--start-timeout", PATIENCE_S // 2]

    return options


@pytest.fixture
def several(edgewire):
    """several(lists of arguments) runs them side by side; gives (status, lines on stderr) of each."""
    started = []

    def run(commands, timeout=LIMIT_S, **options):
        started.extend(edgewire.start(*command, **options) for command in commands)
        results = []
        for process in started:
            stdout, stderr = process.communicate(timeout=timeout)
            results.append((process.returncode, stderr.splitlines(), stdout))
        return results

    yield run
    for process in started:
        process.kill()
        process.wait()
