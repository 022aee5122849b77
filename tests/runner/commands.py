"""Commands of tests: in a clean environment, with a limit, and with the stacks of what hangs."""

import functools
import os
import pathlib
import shutil
import signal
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
ALONE = [str(ROOT / "tests/runner/alone")]
NOT_OURS = ("MAKE", "MFLAGS", "LC_", "LANG", "EDGEWIRE", "PYTEST", "MESON", "NINJA")
OURS = ("EDGEWIRE_GRAPHS", "EDGEWIRE_LAB_CACHE")  # folders that a user may name
SANITIZERS = {  # unless the caller has options of their own
    "ASAN_OPTIONS": "detect_stack_use_after_return=1:strict_string_checks=1",
    "UBSAN_OPTIONS": "print_stacktrace=1:halt_on_error=1",
    "TSAN_OPTIONS": "halt_on_error=1:second_deadlock_stack=1",
}
MOST_PROCESSES = 24  # whose stacks are told


def is_mount_point(folder, mounts="/proc/self/mountinfo"):
    """Whether something is mounted there. The root folder of a chroot need not be a mount point."""
    with open(mounts, encoding="utf-8") as file:
        return any(line.split()[4] == folder for line in file)


@functools.cache
def why_together():
    """Why commands cannot run in namespaces of their own (alone) here; empty where they can."""
    tried = subprocess.run([*ALONE, "true"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if tried.returncode == 0:
        return ""
    if os.geteuid() != 0:
        return "only root makes some"
    if not is_mount_point("/"):
        return "/ is no mount point (before `chroot DIR`: `mount --bind DIR DIR`)"
    return f"{(tried.stderr.splitlines() or ['?'])[0]} (root needs CAP_SYS_ADMIN)"


def run_together_if_need_be():
    """Says so where tests have no namespaces of their own: they share ports, mounts and /dev/shm with all else here."""
    if why := why_together():
        ALONE.clear()
        print(f"note: tests have no namespaces of their own: {why}", flush=True)


def program_of(build):
    """The program of a build folder: edgewire, or edgewire-wide where vertex ids have 64 bits; None without one."""
    return next((path for path in (build / "edgewire", build / "edgewire-wide") if path.exists()), None)


def clean_environment(**more):
    """That of the caller without what would change tests: make's variables, languages, settings of the program."""
    kept = {name: value for name, value in os.environ.items() if name in OURS or not name.startswith(NOT_OURS)}
    return {**SANITIZERS, **kept, "LC_ALL": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1", **more}


def descendants(pid):
    """The processes below one, each before its children."""
    found = []
    for listed in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            children = [int(child) for child in listed.read_text().split()]
        except OSError:
            continue
        for child in children:
            found += [child, *descendants(child)]
    return found


def stacks(pids):
    """The stacks of all threads of processes, as text. Needs eu-stack (package elfutils)."""
    if shutil.which("eu-stack") is None:
        return "no stacks: eu-stack is missing (apt-get install elfutils)"
    texts = []
    for pid in pids[:MOST_PROCESSES]:
        try:
            command = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            told = subprocess.run(["eu-stack", "-p", str(pid)], capture_output=True, text=True, errors="replace", timeout=30)
        except (OSError, subprocess.TimeoutExpired) as error:
            texts.append(f"{pid}: {error}")
            continue
        texts.append(f"{pid}: {command[:200]}\n{told.stdout}")
    return "\n".join(texts)


def end(process):
    """With all that it has started, as far as that is known."""
    for pid in [process.pid, *descendants(process.pid)]:
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


def how_it_ended(code):
    number = -code if code < 0 else code - 128
    try:
        return f"ended by {signal.Signals(number).name}" if number > 0 else f"exit status {code}"
    except ValueError:
        return f"exit status {code}"


def run(command, timeout_s, **options):
    """Runs a command. Returns its status, or text when it ran too long, and all that it printed; then with stacks."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                               start_new_session=True, text=True, errors="replace", **options)
    try:
        output, _ = process.communicate(timeout=timeout_s)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        hung = stacks(descendants(process.pid) or [process.pid])
        end(process)
        output, _ = process.communicate()
        return f"still running after {timeout_s} s", f"{output}\n{hung}"
    except BaseException:
        end(process)
        raise


def tail(text, lines=40):
    return "\n".join(text.strip().splitlines()[-lines:])
