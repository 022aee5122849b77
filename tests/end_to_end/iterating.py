"""Jobs that iterate without an end, until a test ends them."""

import contextlib
import os
import pathlib
import signal
import tempfile

from processes import wait_for
from test_failures import Running


@contextlib.contextmanager
def iterating(program, graph, processes, *options, iterations=1000000):
    """A job of so many processes once it has iterated: it has written a checkpoint. What is left of it is killed."""
    with tempfile.TemporaryDirectory() as folder:
        job = Running(program, ["pagerank", graph, "--iterations", iterations, "--checkpoint", folder, "--every", 50, *options],
                      processes)
        try:
            manifest = pathlib.Path(folder, "manifest")
            wait_for(lambda: manifest.exists() or job.process.poll() is not None, "iterations")
            yield job
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(job.process.pid, signal.SIGKILL)
            job.process.wait()
