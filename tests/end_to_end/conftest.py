"""What the end-to-end tests share. They run the program that the environment names as EDGEWIRE."""

import os
import signal
import subprocess

import pytest


class Edgewire:
    """Runs the program: edgewire("info", path) gives what subprocess.run gives, stdout and stderr as text."""

    def __init__(self, program):
        self.program = program

    def start(self, *arguments, **options):
        """A running program, in a process group of its own."""
        return subprocess.Popen([self.program, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                stdin=subprocess.DEVNULL, text=True, start_new_session=True, **options)

    def __call__(self, *arguments, timeout=120, **options):
        process = self.start(*arguments, **options)
        try:
            stdout, stderr = process.communicate(timeout=timeout)
        except BaseException:
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


@pytest.fixture(scope="session")
def edgewire():
    return Edgewire(os.path.abspath(os.environ["EDGEWIRE"]))
