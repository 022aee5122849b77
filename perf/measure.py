"""What the benchmark scripts share: the machine, programs that print figures, medians and tables."""

import contextlib
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Failed(Exception):
    """A program did not end well; the text is one line."""

    def __init__(self, text, status=None):
        super().__init__(text)
        self.status = status  # its exit status, where it had one


def machine():
    """The processor, its cores and caches, memory and how busy it is, as `name: text`."""
    fields = {}
    text = subprocess.run(["lscpu"], capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout
    for line in text.splitlines():
        name, _, value = line.partition(":")
        fields[name.strip()] = value.strip()
    memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    names = ("Model name", "CPU(s)", "L1d cache", "L2 cache", "L3 cache", "NUMA node(s)")
    return {**{name: fields[name] for name in names if name in fields}, "memory": f"{memory / 2**30:.0f} GiB",
            "load average": "{:.1f}".format(os.getloadavg()[0])}


def machine_line(found):
    return ", ".join(f"{name} {text}" for name, text in found.items())


def start(command, options):
    """A program in a process group of its own, and the signal mask that the caller sets again when it can end the program:
    a signal that came before would leave it behind."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGHUP})
    try:
        return subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                stdin=subprocess.DEVNULL, text=True, errors="replace", start_new_session=True,
                                preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_SETMASK, before), **options), before
    except OSError as error:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        raise Failed(f"{command[0]}: {error.strerror}") from error


def run(command, timeout_s=None, **options):
    """The stdout of a program. Raises Failed with its last line when it fails; ends its children with it."""
    process, before = start(command, options)
    try:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        stdout, stderr = process.communicate(timeout=timeout_s)
    except BaseException as error:
        with contextlib.suppress(ProcessLookupError):  # it may have ended just now
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        if isinstance(error, subprocess.TimeoutExpired):
            raise Failed(f"still running after {timeout_s} s") from error
        raise
    if process.returncode != 0:
        lines = (stderr.strip() or stdout.strip()).splitlines() or [f"exit status {process.returncode}"]
        if process.returncode < 0:
            lines.append(f"ended by {signal.Signals(-process.returncode).name}")
        raise Failed(lines[-1], process.returncode)
    return stdout


def pagerank(edgewire, graph, *options):
    """The run report of `edgewire pagerank`."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "report.json")
        run([edgewire, "pagerank", graph, *options, "--json", path])
        return json.loads(path.read_text())


def run_script(main):
    """Runs a script's main; when it fails, one line says why."""
    try:
        main()
    except Failed as error:
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {error}")
    except KeyboardInterrupt:
        sys.exit(130)


def spread(values):
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def to_text(figure, scale=1, digits=1):
    """`median [min to max]` of a spread."""
    median, low, high = (f"{figure[name] * scale:.{digits}f}" for name in ("median", "min", "max"))
    return f"{median} [{low} to {high}]"


def print_table(titles, rows):
    """Columns as wide as they need; the first is left-aligned."""
    lines = [titles, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(titles))]
    for line in lines:
        cells = [text.rjust(width) if i else text.ljust(width) for i, (text, width) in enumerate(zip(line, widths))]
        print("  ".join(cells).rstrip(), flush=True)
