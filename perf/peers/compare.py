#!/usr/bin/python3
"""Measures PageRank of edgewire and of its peers on the same file, the same iterations and the same threads.

All take turns in each round, so that they share the machine's moods; medians with minima and maxima are printed, and
how much longer a peer takes than edgewire with as many workers as the peer has threads. The ranks of each are compared
with edgewire's. Libraries are packages of PyPI, put into BUILD/peers; nothing is installed elsewhere. A peer that cannot
be had is named with the reason; if --peers asks for it, nothing is measured.
"""

import argparse
import json
import os
import pathlib
import sys
import tempfile

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from measure import ROOT, Failed, machine, machine_line, pagerank, print_table, run, run_script, spread, to_text  # noqa: E402
from packages import python_with, timely_program  # noqa: E402

PEERS = ROOT / "perf/peers"
LIBRARIES = {"networkit": "networkit", "igraph": "igraph", "graphblas": "python-graphblas", "scipy": "scipy"}
ONE_THREAD = ("igraph", "scipy")
CONVERGED = 120  # iterations; 0.85 ** 120 < 1e-8


class Peer:
    """A program that prints JSON and writes ranks."""

    def __init__(self, name, command):
        self.name = name
        self.command = command

    def measure(self, graph, threads, iterations, timeout_s):
        """Its figures, with those of time_per_iteration, and its ranks."""
        with tempfile.TemporaryDirectory() as folder:
            ranks = pathlib.Path(folder, "ranks")
            environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "OPENBLAS_NUM_THREADS": "1"}
            text = run([*self.command, graph, "--threads", threads, "--iterations", iterations, "--ranks", ranks],
                       timeout_s, env=environment)
            try:
                figures = json.loads(text.strip().splitlines()[-1])
                figures |= time_per_iteration(figures)
            except (ValueError, KeyError, IndexError, TypeError) as error:
                raise Failed(f"no figures in its output: {text.strip()[-100:]!r}") from error
            return figures, numpy.fromfile(ranks, "f4").astype("f8")


def time_per_iteration(figures):
    """`whole` peers do not count iterations: theirs is the time of the whole solution."""
    if "seconds" in figures:
        last = figures["seconds"][-10:]
        return {"seconds_per_iteration": sum(last) / len(last), "how": f"mean of the last {len(last)}", "whole": False}
    if figures["iterations"]:
        return {"seconds_per_iteration": figures["seconds_total"] / figures["iterations"],
                "how": f"whole run / {figures['iterations']} iterations", "whole": False}
    return {"seconds_per_iteration": figures["seconds_total"], "how": "whole solution, to its own tolerance",
            "whole": True}


class Edgewire:
    name = "edgewire"

    def __init__(self, program):
        self.program = program

    def measure(self, graph, threads, iterations, timeout_s):
        report = pagerank(self.program, graph, "-p", 1, "-w", threads, "--iterations", iterations)
        figures = {"version": report["version"], "seconds_load": report["seconds_load"] + report["seconds_plan"],
                   "seconds_per_iteration": report["seconds_per_iteration"], "how": "mean of the last 10", "whole": False}
        return figures, None

    def ranks(self, graph, iterations):
        """As float64."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "ranks.tsv")
            run([self.program, "pagerank", graph, "--iterations", iterations, "-o", path])
            return numpy.fromfile(path, sep=" ").reshape(-1, 2)[:, 1]


def find_peers(build, wanted):
    """The peers that can be had, and {name: reason} of the others."""
    found, missing = [], {}

    def add(name, get):
        if wanted and name not in wanted:
            return
        print(f"setting up {name}", file=sys.stderr, flush=True)
        try:
            found.append(Peer(name, get(name)))
        except Failed as error:
            missing[name] = str(error)

    def pull(name):
        program = build / "perf/bench/pull"
        if not program.exists():
            raise Failed(f"{program} is not there (make bench builds it)")
        return [program]

    def timely(name):
        return [timely_program(build)]

    def library(name):
        return [python_with(build / "peers/venv", ["numpy", LIBRARIES[name]]), PEERS / "libraries.py", name]

    add("pull", pull)
    add("timely", timely)
    for name in LIBRARIES:
        add(name, library)
    return found, missing


def difference(ranks, expected):
    """The largest relative difference."""
    if ranks.shape != expected.shape:
        return float("inf")
    return float(numpy.max(numpy.abs(ranks - expected) / expected, initial=0))


def compare(options, edgewire, peers, missing):
    """One row a program and number of threads: {peer, threads, seconds_per_iteration, ...}."""
    expected = {}  # by whether the peer counts iterations
    measured = {}
    for round_ in range(options.rounds):
        for threads in options.threads:
            for peer in [edgewire, *peers]:
                key = (peer.name, threads)
                if (threads > 1 and peer.name in ONE_THREAD) or key in missing:
                    continue
                try:
                    figures, ranks = peer.measure(options.graph, threads, options.iterations, options.timeout)
                except Failed as error:
                    missing[key] = str(error)
                    continue
                print(f"round {round_ + 1} of {options.rounds}: {peer.name}, {threads} threads: "
                      f"{figures['seconds_per_iteration'] * 1e3:.1f} ms", file=sys.stderr, flush=True)
                if ranks is not None and key not in measured:
                    iterations = CONVERGED if figures["whole"] else options.iterations
                    if iterations not in expected:
                        expected[iterations] = edgewire.ranks(options.graph, iterations)
                    figures["difference"] = difference(ranks, expected[iterations])
                measured.setdefault(key, []).append(figures)
    rows = []
    for (name, threads), runs in measured.items():
        rows.append({"peer": name, "threads": threads,
                     **{field: runs[0][field] for field in ("version", "how", "whole")},
                     "seconds_per_iteration": spread([run["seconds_per_iteration"] for run in runs]),
                     "seconds_load": spread([run["seconds_load"] for run in runs]),
                     "difference": runs[0].get("difference")})
    ours = {row["threads"]: row["seconds_per_iteration"]["median"] for row in rows if row["peer"] == "edgewire"}
    for row in rows:
        if row["threads"] in ours:
            time = row["seconds_per_iteration"]["median"] / ours[row["threads"]]
            row["ratio"] = time / options.iterations if row["whole"] else time
    return sorted(rows, key=lambda row: (row["threads"], row["seconds_per_iteration"]["median"]))


def print_rows(rows):
    cells = [[row["peer"], str(row["threads"]), to_text(row["seconds_per_iteration"], 1e3),
              f"{row['ratio']:.2f}" if "ratio" in row else "-", to_text(row["seconds_load"]),
              "-" if row["difference"] is None else f"{row['difference']:.1e}", row["version"], row["how"]]
             for row in rows]
    print_table(["peer", "threads", "ms/iteration", "x edgewire", "load s", "rank difference", "version", "time is"], cells)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", metavar="DIR")
    parser.add_argument("--graph", type=pathlib.Path, metavar="FILE",
                        help="an .ew file without weights; by default Kronecker, without duplicates and self loops")
    parser.add_argument("--scale", type=int, default=22, help="of that Kronecker graph (default: 22)")
    parser.add_argument("--cache", type=pathlib.Path, metavar="DIR", help="of graph files (default: BUILD/bench-graphs)")
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--peers", nargs="+", choices=["pull", "timely", *LIBRARIES], help="only these")
    parser.add_argument("--timeout", type=float, default=600, metavar="S", help="for one run of a peer (default: 600)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    build = options.build.resolve()
    edgewire = Edgewire(build / "edgewire")
    peers, missing = find_peers(build, options.peers)
    if options.peers and missing:
        raise Failed("; ".join(f"no {name}: {reason}" for name, reason in missing.items()))
    if options.graph is None:
        options.graph = (options.cache or build / "bench-graphs") / f"kronecker-{options.scale}-simple.ew"
        if not options.graph.exists():
            options.graph.parent.mkdir(parents=True, exist_ok=True)
            run([edgewire.program, "generate", "kronecker", "--scale", options.scale, "--simple", "-o", options.graph])

    found = machine()
    rows = compare(options, edgewire, peers, missing)
    print(f"machine: {machine_line(found)}\ngraph: {options.graph.name}, {options.iterations} iterations, "
          f"{options.rounds} rounds; median [min to max]")
    print_rows(rows)
    for what, reason in missing.items():
        name = what if isinstance(what, str) else f"{what[0]}, {what[1]} threads"
        print(f"missing {name}: {reason}")
    if options.json:
        result = {"machine": found, "graph": str(options.graph), "iterations": options.iterations, "rows": rows,
                  "missing": {str(what): reason for what, reason in missing.items()}}
        options.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    run_script(main)
