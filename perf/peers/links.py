#!/usr/bin/python3
"""Edgewire beside timely dataflow on two hosts of one machine, one worker each, over links of given rates.

Programs take turns in each round, every process on a core of its own; figures are medians with minima and maxima of
the mean time of the last ten iterations. Ranks are compared. Needs root, iproute2 and cargo.
"""

import argparse
import json
import os
import pathlib
import signal
import sys
import tempfile

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from hosts import ADDRESSES, Hosts, beside, write_job  # noqa: E402
from measure import ROOT, Failed, machine, machine_line, print_table, run, run_script, spread, to_text  # noqa: E402
from packages import timely_program  # noqa: E402

PORT = 2101
TIMEOUT_S = 600


def edgewire(hosts, options, folder, strategy):
    """Seconds per iteration, and ranks by vertex."""
    common = [options.build / "edgewire", "pagerank", options.graph, "-w", 1, "--transport", "tcp", "--strategy", strategy,
              "--iterations", options.iterations, "--hosts", folder / "hosts", "--secret-file", folder / "secret"]
    with beside(hosts.on(1, *common, "--rank", 1)):
        run(hosts.on(0, *common, "--rank", 0, "--json", folder / "report", "-o", folder / "ranks"), TIMEOUT_S)
    return (json.loads((folder / "report").read_text())["seconds_per_iteration"],
            numpy.fromfile(folder / "ranks", sep=" ").reshape(-1, 2)[:, 1])


def timely(hosts, options, folder):
    common = [options.timely, options.graph, "--threads", 1, "--iterations", options.iterations, "--hosts", folder / "timely-hosts"]
    with beside(hosts.on(1, *common, "--process", 1, "--ranks", folder / "ranks1")):
        text = run(hosts.on(0, *common, "--process", 0, "--ranks", folder / "ranks0"), TIMEOUT_S)
    last = json.loads(text.strip().splitlines()[-1])["seconds"][-10:]
    ranks = [numpy.fromfile(folder / f"ranks{process}", "f4").astype("f8") for process in (0, 1)]
    return sum(last) / len(last), ranks[0] + ranks[1]


def compare(hosts, options, folder):
    """One row a rate and program: {rate, program, seconds_per_iteration, ratio, difference}."""
    programs = {f"edgewire {strategy}": lambda strategy=strategy: edgewire(hosts, options, folder, strategy)
                for strategy in options.strategies}
    programs["timely 0.31"] = lambda: timely(hosts, options, folder)
    expected = None
    rows = []
    for rate in options.rates:
        hosts.shape(rate)
        seconds = {name: [] for name in programs}
        differences = {}
        for number in range(options.rounds):
            for name in programs if number % 2 == 0 else reversed(programs):
                time, ranks = programs[name]()
                expected = ranks if expected is None else expected
                differences[name] = float(numpy.max(numpy.abs(ranks - expected) / expected))
                seconds[name].append(time)
                print(f"{rate}, round {number + 1} of {options.rounds}: {name}: {time * 1e3:.1f} ms", file=sys.stderr,
                      flush=True)
        peer = spread(seconds["timely 0.31"])["median"]
        rows += [{"rate": rate, "program": name, "seconds_per_iteration": spread(runs),
                  "ratio": peer / spread(runs)["median"], "difference": differences[name]}
                 for name, runs in seconds.items()]
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", metavar="DIR")
    parser.add_argument("--graph", type=pathlib.Path, help="an .ew file (default: Kronecker of --scale)")
    parser.add_argument("--scale", type=int, default=22)
    parser.add_argument("--rates", nargs="+", default=["1G", "10G"], help="1G, 10G, ... or none")
    parser.add_argument("--strategies", nargs="+", default=["process", "slots", "cover"])
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="the table as JSON")
    options = parser.parse_args()
    options.build = options.build.resolve()
    if os.geteuid() != 0:
        raise Failed("network namespaces need root")
    options.timely = timely_program(options.build)
    found = machine()
    print(f"machine: {machine_line(found)}", flush=True)
    with tempfile.TemporaryDirectory() as folder, Hosts() as hosts:
        folder = pathlib.Path(folder)
        if options.graph is None:
            options.graph = folder / "g.ew"
            run([options.build / "edgewire", "generate", "kronecker", "--scale", options.scale, "-o", options.graph])
        write_job(folder)
        (folder / "timely-hosts").write_text("".join(f"{address}:{PORT}\n" for address in ADDRESSES))
        rows = compare(hosts, options, folder)
    print_table(["rate", "program", "ms/iteration", "times timely", "rank difference"],
                [[row["rate"], row["program"], to_text(row["seconds_per_iteration"], 1e3), f"{row['ratio']:.2f}",
                  f"{row['difference']:.1e}"] for row in rows])
    if options.json:
        options.json.write_text(json.dumps({"machine": found, "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    run_script(main)
