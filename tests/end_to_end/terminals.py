"""A terminal that a command writes to, and the line that shows there how far it has come."""

import contextlib
import os
import re
import select
import signal
import subprocess
import termios
import time

from processes import PATIENCE_S

ERASE = "\r\x1b[K"
BAR = r"\[#*-*\] +\d+ %  "
LEFT = r"(, (\d+ s|\d+ min \d+ s|\d+ h \d+ min) left)?"
SO_FAR = r", \d+ s"


class Terminal:
    """A terminal that is the command's stderr."""

    def __init__(self):
        self.master, self.slave = os.openpty()
        termios.tcsetwinsize(self.slave, (24, 160))
        self.text = ""

    def read(self):
        """What comes within a moment; false when nobody can write any more."""
        if not select.select([self.master], [], [], 0.1)[0]:
            return True
        with contextlib.suppress(OSError):
            more = os.read(self.master, 4096).decode()
            self.text += more
            return more != ""
        return False

    def lines(self):
        return [line for line in re.split("[\r\n]+", self.text.replace(ERASE, "\n")) if line]

    def close_slave(self):
        os.close(self.slave)

    def close(self):
        os.close(self.master)


@contextlib.contextmanager
def on_terminal(edgewire, *command, stdout=subprocess.PIPE):
    terminal = Terminal()
    with edgewire.start(*command, stderr=terminal.slave, stdout=stdout, env={"TERM": "xterm"}) as process:
        terminal.close_slave()
        try:
            yield process, terminal
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            terminal.close()


def until(terminal, pattern, patience_s=PATIENCE_S):
    """Reads until a line is what the pattern says."""
    deadline = time.monotonic() + patience_s
    while not any(re.fullmatch(pattern, line) for line in terminal.lines()[:-1]):
        assert time.monotonic() < deadline and terminal.read(), f"no {pattern} in {terminal.text!r}"


def to_end(terminal):
    while terminal.read():
        pass
    return terminal.text
