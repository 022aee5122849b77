"""What a failed test shows beside its assertion: its commands and what they said, and the stacks of what hung or still ran."""

import shlex
import subprocess

from runner.commands import descendants, how_it_ended, stacks

MOST_BYTES = 4000  # of what a process has said
_processes = []
_stacks = []


def begin_test():
    _processes.clear()
    _stacks.clear()


def note_process(process):
    _processes.append(process)


def note_stacks(pids):
    """Of these processes and all below them, before they are killed."""
    _stacks.append(stacks([one for pid in pids for one in (pid, *descendants(pid))]))


def said(process):
    """What a process has said so far, whether or not the test has read it."""
    try:
        texts = process.communicate(timeout=0.1)
    except subprocess.TimeoutExpired as still_runs:
        texts = still_runs.stdout, still_runs.stderr
    except (OSError, ValueError) as error:  # the test has closed its pipes
        texts = [str(error)]
    texts = [text.decode(errors="replace") if isinstance(text, bytes) else text for text in texts if text]
    return "\n".join(text[-MOST_BYTES:] for text in texts)


def account(process):
    """The command, how it ended, and what it said."""
    text = said(process)
    end = "still runs" if process.poll() is None else how_it_ended(process.returncode)
    return f"{shlex.join(map(str, process.args))}\n  {end}" + "".join(f"\n  | {line}" for line in text.splitlines())


def add_to(report):
    if _processes:
        report.sections.append(("commands of this test", "\n".join(map(account, _processes[-20:]))))
    if _stacks:
        report.sections.append(("stacks of what still ran", "\n".join(_stacks)))
