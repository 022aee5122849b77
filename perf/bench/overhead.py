#!/usr/bin/python3
"""What profiling costs: PageRank with and without it, and the instructions that it adds.

Runs of their own differ by more than it costs. So perf/bench/profiling.cpp switches it on and off in one run, after every
second iteration (odd and even ones use different memory), and each pair with it is compared with its two neighbours
without, by CPU time of the workers and by wall time. Reported is the median of these ratios with its 95 % confidence
interval (bootstrap); of pairs in which counters are read and others apart, weighted by how many there are, since a
median does not see what is rare. To that come, measured apart: the sampler's thread, and what the switch costs
where it is off (a virtual call for each that would tell). A first row burns about 1 % on top, to see that this is
seen. As root it runs with real-time priority (chrt -r 5), above other programs. Instructions are those of user
space as valgrind counts them.
"""

import argparse
import json
import math
import pathlib
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from measure import ROOT, Failed, machine, machine_line, print_table, run, run_script  # noqa: E402

TOLD = ("enter", "waits_for", "stalled", "arrived", "end_iteration")  # what an engine's observer is told in iterations
CALL_NS = 2  # of a virtual call that returns at once
SAMPLES = 1000
SETTINGS = ("1 1 shm", "1 2 shm", "2 1 shm", "2 1 tcp")
BLOCK = 2  # iterations
SMALLEST = 41  # blocks


def medians(ratios):
    """Median of ratios [(ratio, whether counters were read)], of both kinds, weighted by their numbers."""
    kinds = [[ratio for ratio, counted in ratios if counted == kind] for kind in (False, True)]
    return sum(len(kind) * statistics.median(kind) for kind in kinds if kind) / len(ratios)


def ratios_of(processes, clock):
    """[(with / without, whether counters were read)] of each block with profiling and its neighbours. Blocks without
    and with take turns; the first border is the end of one with."""
    def blocks(what):
        sums = [sum(values) for values in zip(*(process[what] for process in processes))]
        return [after - before for before, after in zip(sums, sums[1:])]

    times, counted = blocks(clock), blocks("counted")
    return [(2 * times[i] / (times[i - 1] + times[i + 1]), counted[i] > 0) for i in range(1, len(times) - 1, 2)]


def interval(ratios, seed=1):
    """The middle 95 % of what the figure would be for ratios drawn from these."""
    draw = random.Random(seed)
    found = sorted(medians(draw.choices(ratios, k=len(ratios))) for _ in range(SAMPLES))
    return found[SAMPLES * 25 // 1000], found[-1 - SAMPLES * 25 // 1000]


def more(ratio):
    return f"{100 * (ratio - 1):+.2f}"


def priority():
    """What to put before a command so that it comes before other programs; nothing without the right to."""
    command = ["chrt", "-r", "5"]
    return command if shutil.which("chrt") and subprocess.run([*command, "true"], capture_output=True).returncode == 0 else []


def measure(program, graph, setting, seconds, burnt=0.0):
    """A row of the table; `burnt`: share of an iteration that is burnt where profiling is on."""
    def blocks(number, burnt_ns=0):
        return json.loads(run([*priority(), program, graph, *setting.split(), BLOCK, number, burnt_ns]))

    def iteration_s(report):
        wall = report["processes"][0]["wall"]
        return statistics.median(after - before for before, after in zip(wall, wall[1:])) / BLOCK

    each_s = iteration_s(blocks(SMALLEST))
    burnt_s = each_s * burnt
    report = blocks(max(SMALLEST, int(seconds / each_s / BLOCK) | 1), int(1e9 * burnt_s))
    each_s = iteration_s(report)
    processes = report["processes"]
    sampler = max(process["sampler_cpu_seconds"] / process["run_seconds"] for process in processes)
    switch = max(process["calls_of_worker"] for process in processes) * CALL_NS * 1e-9 / each_s
    cells = []
    for clock in ("cpu", "wall"):
        ratios = ratios_of(processes, clock)
        low, high = interval(ratios)
        cells += [more(medians(ratios)), f"{more(low)} to {more(high)}"]
        if clock == "cpu":
            most = high + sampler + switch
    gathering = max(process["gather_seconds"] for process in processes)
    return [setting + (f", {100 * burnt_s / each_s:.2f} % burnt" if burnt else ""), f"{1e3 * each_s:.3f}", str(len(ratios)), *cells,
            f"{100 * sampler:.3f}", f"{100 * switch:.3f}", more(most), f"{1e3 * gathering:.0f}"]


def instructions(edgewire, graph, *options):
    """Of the iterations of a run with one worker, and those of them that tell the profiler."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, "out")
        run(["valgrind", "--tool=callgrind", f"--callgrind-out-file={out}", edgewire, "pagerank", graph, "-p", "1", "-w",
             "1", "--layout", "given", *options])
        lines = run(["callgrind_annotate", "--inclusive=yes", "--threshold=100", out]).splitlines()

    def inclusive(part):
        return sum(int(found[1].replace(",", "")) for line in lines
                   if part in line and "_M_manager" not in line and (found := re.match(r" *([\d,]+) ", line)))

    return inclusive("Loop::run()::{lambda"), sum(inclusive(f"Timeline::{name}(") for name in TOLD)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", metavar="DIR")
    parser.add_argument("--graph", type=pathlib.Path, help="an .ew file (default: Kronecker, scale 20)")
    parser.add_argument("--seconds", type=float, default=10, help="of each run")
    parser.add_argument("--smoke", action="store_true", help="a tiny graph, to see that all of it works")
    options = parser.parse_args()
    edgewire, program = ((options.build / name).resolve() for name in ("edgewire", "perf/bench/profiling"))
    print(f"machine: {machine_line(machine())}; {'above' if priority() else 'beside'} other programs", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        small = pathlib.Path(folder, "small.ew")
        run([edgewire, "generate", "kronecker", "--scale", 10 if options.smoke else 16, "-o", small])
        graph = options.graph or (small if options.smoke else pathlib.Path(folder, "graph.ew"))
        if not graph.exists():
            run([edgewire, "generate", "kronecker", "--scale", 20, "-o", graph])
        if program.exists():
            seconds = 0 if options.smoke else options.seconds
            rows = [measure(program, graph, SETTINGS[0], seconds, burnt=0.01),
                    *(measure(program, graph, setting, seconds) for setting in SETTINGS)]
            print_table(["processes, workers", "ms/iteration", "ratios", "CPU, %", "95 %", "wall, %", "95 %", "sampler, %",
                         "switch, %", "all, at most, %", "gather, ms"], rows)
        else:
            print(f"times: no {program} here (-Dbench=true)")
        if shutil.which("valgrind") is None:
            print("instructions: no valgrind here (apt-get install valgrind)")
            return
        for options_, name in (([], "not profiled"), (["--profile"], "profiled")):
            all_, telling = instructions(edgewire, small, *options_)
            print(f"instructions, -p 1 -w 1, {name}: {all_:,} in the workers' loop, {telling:,} of them tell the profiler "
                  f"({100 * telling / all_:.3f} %)")


if __name__ == "__main__":
    run_script(main)
