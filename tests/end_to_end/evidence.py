"""What a failed test shows beside its assertion: its commands, and the stacks of what hung or still ran."""

import shlex

from runner.commands import descendants, stacks

_commands = []
_stacks = []


def begin_test():
    _commands.clear()
    _stacks.clear()


def note_command(arguments):
    _commands.append(shlex.join(map(str, arguments)))


def note_stacks(pids):
    """Of these processes and all below them, before they are killed."""
    _stacks.append(stacks([one for pid in pids for one in (pid, *descendants(pid))]))


def add_to(report):
    if _commands:
        report.sections.append(("commands of this test", "\n".join(_commands[-20:])))
    if _stacks:
        report.sections.append(("stacks of what still ran", "\n".join(_stacks)))
