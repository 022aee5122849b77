#!/usr/bin/python3
"""The cost of tasks beside Ray, Dask and MPI: number-inc, and METG(50 %) of Task Bench's patterns; two processes, in turns.

Ray and Dask are packages of PyPI, put into BUILD/peers/tasks. MPI is the system's (`mpicxx`; Debian: libopenmpi-dev); there ranks know from round or row and column
what to do, so it shows what messages alone cost. METG is found as `edgewire tasks metg` does it.
"""

import argparse
import json
import math
import pathlib
import statistics
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from measure import ROOT, Failed, machine, machine_line, print_table, run, run_script, spread, to_text  # noqa: E402
from packages import python_with  # noqa: E402

PACKAGES = ["ray==2.*", "distributed"]
HERE = pathlib.Path(__file__).resolve().parent
TIMEOUT_S = 300
COUNT = 500  # rounds of number-inc
PATTERNS = ("stencil", "fft", "random")
MPI = ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "-n", "2"]


def set_up(folder, systems):
    library, program = folder / "libtask_work.so", folder / "task_mpi"
    python = python_with(folder / "python", PACKAGES) if {"Ray", "Dask"} & set(systems) else None
    run(["c++", "-O3", "-shared", "-fPIC", HERE / "task_work.cpp", "-o", library])
    if "MPI" in systems:
        try:
            run(["mpicxx", "-O3", "-std=c++20", HERE / "task_mpi.cpp", HERE / "task_work.cpp", "-o", program])
        except Failed as error:
            raise Failed(f"mpicxx: {error}: install MPI for developers (Debian: libopenmpi-dev), or leave MPI out of --systems") from error
    return python, library, program


def seconds_of_work(library):
    """Of one multiplication."""
    import ctypes
    import time
    loaded = ctypes.CDLL(library)
    loaded.work_for.argtypes = [ctypes.c_uint64]
    tries = []
    for _ in range(20):
        start = time.perf_counter()
        loaded.work_for(1 << 20)
        tries.append(time.perf_counter() - start)
    return min(tries) / 2**20


def metg(levels, work_s, width, steps):
    """`levels`: {work: [seconds]}, of two workers. In seconds; none when no task is 50 % efficient."""
    grains = {work: statistics.median(seconds) * 2 / (width * steps) for work, seconds in levels.items()}
    order = sorted(grains, reverse=True)
    for longer, shorter in reversed(list(zip(order, order[1:]))):
        high, low = (work * work_s / grains[work] for work in (longer, shorter))
        if high >= 0.5 > low:
            part = (high - 0.5) / (high - low)
            return math.exp(math.log(grains[longer]) * (1 - part) + math.log(grains[shorter]) * part)
    return None


class Peer:
    """A system: what gives [[seconds, result], ...] for number-inc, and for rows of tasks."""

    def __init__(self, command, most_work, steps):
        self.command, self.most_work, self.steps = command, most_work, steps

    def number_inc(self, runs):
        found = self.command("number-inc", COUNT, runs)
        if any(result != COUNT * 2 for _, result in found):
            raise Failed("a wrong number")
        return statistics.median(seconds for seconds, _ in found)

    def metg(self, pattern, width, work_s, runs, results):
        works = [self.most_work >> i for i in range(10)]
        found = self.command(pattern, width, self.steps, ",".join(map(str, works)), runs)
        known = results.setdefault((pattern, width, self.steps), found[0][1])
        if any(result != known for _, result in found):
            raise Failed(f"{pattern}: systems differ")
        levels = {work: [seconds for seconds, _ in found[i * runs:(i + 1) * runs]] for i, work in enumerate(works)}
        return metg(levels, work_s, width, self.steps)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--folder", type=pathlib.Path, help="of the peers; BUILD/peers/tasks")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--systems", nargs="+", default=["edgewire shm", "edgewire tcp", "MPI", "Ray", "Dask"])
    parser.add_argument("--patterns", nargs="*", choices=PATTERNS, default=PATTERNS, help="of METG")
    options = parser.parse_args()
    for system in options.systems:
        if system not in ("MPI", "Ray", "Dask") and not system.startswith("edgewire "):
            parser.error(f"--systems: {system!r} is neither MPI, Ray, Dask nor 'edgewire TRANSPORT'")
    folder = options.folder or options.build / "peers/tasks"
    folder.mkdir(parents=True, exist_ok=True)
    python, library, program = set_up(folder, options.systems)
    work_s = seconds_of_work(library)

    def ours(transport, what, *numbers):
        *numbers, runs = numbers
        common = [options.build / "edgewire", "tasks", what, "-p", 2, "-w", 1, "--transport", transport, "--json", "-"]
        report = json.loads(run([*common, "--count", numbers[0], "--repeat", runs], TIMEOUT_S))
        return [[seconds, int(report["result"])] for seconds in report["seconds_runs"]]

    def our_metg(transport, pattern):
        report = json.loads(run([options.build / "edgewire", "tasks", "metg", "--pattern", pattern, "-p", 2, "-w", 1, "--repeat", 3,
                                 "--transport", transport, "--json", "-"], TIMEOUT_S))
        return report.get("seconds_metg")

    def mpi(*words):
        lines = run([*MPI, program, *words], TIMEOUT_S).split("\n")
        return [[float(seconds), int(result)] for seconds, result in map(str.split, filter(None, lines))]

    def python_system(name):
        return lambda *words: json.loads(run([python, HERE / "task_python.py", name, library, *words], TIMEOUT_S).splitlines()[-1])

    peers = {"MPI": Peer(mpi, 1 << 16, 1000), "Ray": Peer(python_system("ray"), 1 << 25, 20),
             "Dask": Peer(python_system("dask"), 1 << 25, 20)}
    figures, results = {}, {}
    for _ in range(options.rounds):
        for system in options.systems:
            row = figures.setdefault(system, {})
            transport = system.partition(" ")[2]
            for what in ("number-inc", *options.patterns):
                if transport:
                    value = (statistics.median(s for s, _ in ours(transport, what, COUNT, 9)) if what == "number-inc"
                             else our_metg(transport, what))
                elif what == "number-inc":
                    value = peers[system].number_inc(3)
                else:
                    value = peers[system].metg(what, 2, work_s, 3, results)
                row.setdefault(what, []).append(value)
    print(machine_line(machine()))

    def cell(values, scale):
        known = [value for value in values if value is not None]
        return to_text(spread(known), scale, 2) if known else "none"

    print_table(["system", f"number-inc {COUNT}, ms", *(f"METG {pattern}, us" for pattern in options.patterns)],
                [[system, cell(row["number-inc"], 1e3), *(cell(row[pattern], 1e6) for pattern in options.patterns)]
                 for system, row in figures.items()])


if __name__ == "__main__":
    run_script(main)
