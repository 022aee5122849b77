#!/usr/bin/python3
"""What profiling costs: PageRank with and without --profile, in turns, and the instructions that it adds.

Times are medians of the iterations of a run but the first; a pair is one run with and one without, their order
alternates. Instructions are those of user space as valgrind counts them, nearly the same in every run; what the
kernel does to read counters is not among them, but in the times. As root, `chrt -r 5 perf/bench/overhead.py` keeps other
programs away.
"""

import argparse
import pathlib
import re
import shutil
import statistics
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from measure import ROOT, Failed, machine, machine_line, pagerank, print_table, run, run_script  # noqa: E402

TOLD = ("enter", "waits_for", "stalled", "arrived", "end_iteration")  # what an engine's observer is told in iterations


def iteration_seconds(edgewire, graph, options):
    report = pagerank(edgewire, graph, *options)
    return statistics.median(one["seconds"] for one in report["iterations"][1:])


def compare_times(edgewire, graph, setting, pairs, iterations):
    """[(seconds without, seconds with)]"""
    options = [*setting, "--iterations", iterations]
    found = []
    for pair in range(pairs):
        times = {}
        for profiled in (False, True) if pair % 2 else (True, False):
            times[profiled] = iteration_seconds(edgewire, graph, [*options, *["--profile"] * profiled])
        found.append((times[False], times[True]))
    return found


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
    parser.add_argument("--pairs", type=int, default=7)
    parser.add_argument("--iterations", type=int, default=30)
    parser.add_argument("--smoke", action="store_true", help="a tiny graph, to see that all of it works")
    options = parser.parse_args()
    edgewire = (options.build / "edgewire").resolve()
    print(f"machine: {machine_line(machine())}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        small = pathlib.Path(folder, "small.ew")
        run([edgewire, "generate", "kronecker", "--scale", 10 if options.smoke else 16, "-o", small])
        graph = options.graph
        if graph is None:
            graph = small if options.smoke else pathlib.Path(folder, "graph.ew")
            run([edgewire, "generate", "kronecker", "--scale", 10 if options.smoke else 20, "-o", graph])
        rows = []
        for setting in (["-p", "1", "-w", "1"], ["-p", "2", "-w", "1"], ["-p", "2", "-w", "1", "--transport", "tcp"]):
            pairs = compare_times(edgewire, graph, setting, options.pairs, options.iterations)
            ratios = sorted(after / before for before, after in pairs)
            rows.append([" ".join(setting), f"{1e3 * statistics.median(one[0] for one in pairs):.3f}",
                         f"{1e3 * statistics.median(one[1] for one in pairs):.3f}",
                         f"{100 * (statistics.median(ratios) - 1):+.2f}",
                         f"{100 * (ratios[0] - 1):+.2f} to {100 * (ratios[-1] - 1):+.2f}"])
        print_table(["run", "ms/iteration", "profiled", "more, %", "of pairs"], rows)
        if shutil.which("valgrind") is None:
            print("instructions: no valgrind here (apt-get install valgrind)")
            return
        for options_, name in (([], "not profiled"), (["--profile"], "profiled")):
            all_, telling = instructions(edgewire, small, *options_)
            print(f"instructions, -p 1 -w 1, {name}: {all_:,} in the workers' loop, {telling:,} of them tell the profiler "
                  f"({100 * telling / all_:.3f} %)")


if __name__ == "__main__":
    run_script(main)
