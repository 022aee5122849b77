#!/usr/bin/python3
"""Measures kernels that follow a frontier beside the GAP Benchmark Suite: same graph, same source, same threads, in turns.

Times are those of the kernels, without loading: `seconds_kernel` of edgewire, a trial of GAPBS. Medians with minima and
maxima are printed, and how much longer GAPBS takes. --gapbs names the folder where the suite's programs are, already built
(Beamer, Asanovic, Patterson: "The GAP benchmark suite", 2015).
"""

import argparse
import json
import pathlib
import re
import shutil
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from measure import ROOT, Failed, machine, machine_line, print_table, run, run_script, spread, to_text  # noqa: E402

PROGRAMS = {"bfs": "bfs", "sssp": "sssp", "wcc": "cc", "bc": "bc", "tc": "tc", "lcc": "tc"}  # lcc also divides
WITH_SOURCE = {"bfs": "--source", "sssp": "--source", "bc": "--sources"}
HOW_TO_GET = "build the GAP Benchmark Suite (make in its source) and name the folder of its programs with --gapbs DIR"


def check_suite(folder, kernels):
    """Fails when the folder lacks a program that these kernels need."""
    needed = dict.fromkeys([*(PROGRAMS[kernel] for kernel in kernels), *["converter"] * ("sssp" in kernels)])
    missing = [name for name in needed if not shutil.which(name, path=str(folder))]
    if missing:
        raise Failed(f"no {', '.join(missing)} in {folder}: {HOW_TO_GET}")


def weigh(edgewire, folder, graph, cache):
    """The graph with whole weights from 1 to 255, drawn by the suite's converter: for edgewire, and for the suite."""
    text, weighed, ours = (pathlib.Path(cache, name) for name in ("g.el", "g.wsg", "weighed.ew"))
    run([edgewire, "convert", graph, "-o", text])
    run([folder / "converter", "-f", text, "-w", "-b", weighed])
    run([edgewire, "convert", weighed, "-o", ours])
    text.unlink()
    return ours, weighed


def theirs(folder, kernel, graph, source, threads, timeout_s):
    options = ["-r", source] if kernel in WITH_SOURCE else []
    text = run(["env", f"OMP_NUM_THREADS={threads}", folder / PROGRAMS[kernel], "-f", graph, "-n", 1, *options], timeout_s)
    found = re.search(r"^Trial Time: +([0-9.]+)$", text, flags=re.MULTILINE)
    if not found:
        raise Failed(f"no trial time in the output of {PROGRAMS[kernel]}")
    return float(found[1])


def ours(edgewire, kernel, graph, source, threads, timeout_s):
    options = [WITH_SOURCE[kernel], source] if kernel in WITH_SOURCE else []
    return json.loads(run([edgewire, kernel, graph, *options, "-p", 1, "-w", threads, "--json", "-"], timeout_s))["seconds_kernel"]


def compare(options, edgewire, folder):
    """{(kernel, threads): {program: [seconds]}}, and {(kernel, threads): reason} of what failed."""
    measured, missing = {}, {}
    with tempfile.TemporaryDirectory(dir=options.cache) as cache:
        plain = options.graph, pathlib.Path(cache, "g.sg")
        run([edgewire, "convert", options.graph, "-o", plain[1]])
        weighed = weigh(edgewire, folder, options.graph, cache) if "sssp" in options.kernels else plain
        for round_ in range(options.rounds):
            for threads in options.threads:
                for kernel in options.kernels:
                    key = kernel, threads
                    graph, their_graph = weighed if kernel == "sssp" else plain
                    if key in missing:
                        continue
                    try:
                        pair = {"edgewire": ours(edgewire, kernel, graph, options.source, threads, options.timeout),
                                "gapbs": theirs(folder, kernel, their_graph, options.source, threads, options.timeout)}
                    except Failed as error:
                        missing[key] = str(error)
                        continue
                    print(f"round {round_ + 1} of {options.rounds}: {kernel}, {threads} threads: {pair}", file=sys.stderr, flush=True)
                    for name, seconds in pair.items():
                        measured.setdefault(key, {}).setdefault(name, []).append(seconds)
    return measured, missing


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("graph", type=pathlib.Path, metavar="GRAPH.ew", help="without weights, and with every edge stored both ways")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", metavar="DIR")
    parser.add_argument("--gapbs", type=pathlib.Path, metavar="DIR",
                        help="where the suite's built programs are: bfs, sssp, cc, bc, tc, converter")
    parser.add_argument("--cache", type=pathlib.Path, metavar="DIR", help="of the graph in its format (default: as TMPDIR says)")
    parser.add_argument("--kernels", nargs="+", choices=PROGRAMS, default=list(PROGRAMS))
    parser.add_argument("--source", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--timeout", type=float, default=600, metavar="S", help="for one run (default: 600)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    if options.gapbs is None:
        parser.exit(2, f"{parser.prog}: --gapbs is missing: {HOW_TO_GET}\n")
    folder = options.gapbs.resolve()
    check_suite(folder, options.kernels)
    found = machine()
    measured, missing = compare(options, options.build.resolve() / "edgewire", folder)
    print(f"machine: {machine_line(found)}\ngraph: {options.graph.name}, source {options.source}, {options.rounds} rounds; "
          "seconds of the kernel, median [min to max]")
    rows = [{"kernel": kernel, "threads": threads, **{name: spread(seconds) for name, seconds in pair.items()}}
            for (kernel, threads), pair in measured.items()]
    print_table(["kernel", "threads", "edgewire", "GAPBS", "GAPBS / edgewire"],
                [[row["kernel"], str(row["threads"]), to_text(row["edgewire"], digits=4), to_text(row["gapbs"], digits=4),
                  f"{row['gapbs']['median'] / row['edgewire']['median']:.2f}"] for row in rows])
    for (kernel, threads), reason in missing.items():
        print(f"missing {kernel}, {threads} threads: {reason}")
    if options.json:
        options.json.write_text(json.dumps({"machine": found, "graph": str(options.graph), "source": options.source, "rows": rows,
                                            "missing": {f"{kernel} {threads}": reason for (kernel, threads), reason in missing.items()}},
                                           indent=2) + "\n")


if __name__ == "__main__":
    run_script(main)
