#!/usr/bin/python3
"""The table of the posts of 2015 ("The impact of fast networks on graph analytics", 1 and 2), with our strategies and ownerships.

The posts time an iteration of PageRank over 1G and 10G. `1G` and `10G` are there workers that each combine what they send (`worker`),
`1G+` and `10G+` are processes that do so for their workers (`process`) on the same networks. This script measures every strategy under
every ownership over every link, on local hosts: namespaces of this machine with shaped links, made by `edgewire compare`, so it needs root.

A round is one run of each cell, in turns. Each round is kept in the file that --results names as soon as it ends. The next call measures
only what is missing there, and prints the whole table as Markdown. For another program or machine name another file.
"""

import argparse
import itertools
import json
import os
import pathlib
import statistics
import sys
import tempfile
import time

sys.path[:0] = [str(pathlib.Path(__file__).resolve().parent), str(pathlib.Path(__file__).resolve().parent / "bench")]
from measure import ROOT, Failed, machine, machine_line, run, run_script  # noqa: E402
from runs import CRAWLS, Graph, prepare  # noqa: E402

STRATEGIES = ["edge", "worker", "process", "slots", "cover"]
OWNERSHIPS = ["hash", "ranges", "hilbert", "grid"]
IN_THE_POSTS = {("1G", "worker"): "1G", ("1G", "process"): "1G+", ("10G", "worker"): "10G", ("10G", "process"): "10G+"}
USAGE_ERROR = 2


def graph_file(edgewire, name, cache):
    """Of `kronecker-SCALE`, a crawl of ../shared/graphs, or a file."""
    if name.endswith(".ew"):
        return pathlib.Path(name)
    kind, _, scale = name.partition("-")
    if kind == "kronecker" and scale.isdigit():
        return prepare(edgewire, Graph(name, ("generate", "kronecker", "--scale", scale)), cache)
    if name not in CRAWLS:
        raise Failed(f"--graphs: {name} is neither kronecker-SCALE, {', '.join(CRAWLS)} nor a file that ends in .ew")
    path = ROOT.parent / "shared/graphs" / name / CRAWLS[name]
    return prepare(edgewire, Graph(name, ("convert", str(path)), needs=path), cache)


def pairs_that_go(edgewire, options):
    """Those of strategies and ownerships that the program takes together."""
    with tempfile.TemporaryDirectory() as folder:
        graph = pathlib.Path(folder, "g.ew")
        run([edgewire, "generate", "grid", "--rows", 8, "--columns", 8, "-o", graph])
        found = []
        for strategy, ownership in itertools.product(options.strategies, options.ownerships):
            try:
                run([edgewire, "pagerank", graph, "-p", 2, "-w", 1, "--iterations", 1, "--strategy", strategy, "--ownership", ownership])
            except Failed as error:
                if error.status != USAGE_ERROR:
                    raise
            else:
                found.append((strategy, ownership))
        return found


class Results:
    """What has been measured: {"cells": {key: cell}, "parts": [...], "alone": {graph|workers: [seconds]}}, in a file."""

    def __init__(self, path):
        self.path = path
        self.data = {"cells": {}, "parts": [], "alone": {}}
        if path.exists():
            try:
                self.data = json.loads(path.read_text())
                self.data["cells"], self.data["parts"], self.data["alone"]
            except (ValueError, KeyError, TypeError) as error:
                raise Failed(f"{path} holds no results of this script: name another file with --results") from error

    def save(self):
        beside = self.path.with_name(self.path.name + f".{os.getpid()}")
        beside.write_text(json.dumps(self.data, indent=1) + "\n")
        beside.rename(self.path)

    def cell(self, key):
        return self.data["cells"].get("|".join(map(str, key)))

    def runs(self, key):
        cell = self.cell(key)
        return len(cell["seconds"]) if cell else 0

    def add(self, key, row):
        cell = self.data["cells"].setdefault("|".join(map(str, key)), {"seconds": []})
        cell["seconds"].append(row["seconds_per_iteration"])
        cell |= {name: row[name] for name in ("payload_bytes", "wire_bytes", "bound_seconds")}


def calls_of(missing):
    """As few calls as measure the missing (rate, strategy, ownership), each [rates, strategies, ownerships], and nothing else."""
    calls = {}
    for ownership in dict.fromkeys(one[2] for one in missing):
        of_it = [(rate, strategy) for rate, strategy, owner in missing if owner == ownership]
        by_rates = {}
        for strategy in dict.fromkeys(strategy for _, strategy in of_it):
            by_rates.setdefault(tuple(rate for rate, other in of_it if other == strategy), []).append(strategy)
        for rates, strategies in by_rates.items():
            calls.setdefault((rates, tuple(strategies)), []).append(ownership)
    return [[list(rates), list(strategies), ownerships] for (rates, strategies), ownerships in calls.items()]


def plan(missing, possible, options):
    """calls_of, or one call for all where compare itself leaves out exactly what does not go together."""
    rates, strategies, ownerships = ([one for one in order if one in {cell[i] for cell in missing}]
                                     for i, order in enumerate((options.rates, options.strategies, options.ownerships)))
    whole = [(rate, strategy, ownership) for rate in rates for strategy in strategies for ownership in ownerships
             if (strategy, ownership) in possible]
    return [[rates, strategies, ownerships]] if set(whole) == set(missing) else calls_of(missing)


def compare(edgewire, graph, hosts, options, call):
    rates, strategies, ownerships = call
    return json.loads(run([edgewire, "compare", graph, "-p", hosts, "-w", options.workers, "--rate", ",".join(rates), "--strategy",
                           ",".join(strategies), "--ownership", ",".join(ownerships), "--iterations", options.iterations, "--repeat", 1,
                           "--json", "-"]))


def measure(edgewire, options, results, possible):
    end = time.monotonic() + options.minutes * 60 if options.minutes else None
    shape = (options.workers, options.iterations)
    cells = [(rate, strategy, ownership) for rate in options.rates for strategy, ownership in possible]
    for name in options.graphs:
        graph = graph_file(edgewire, name, options.cache)
        for round_, hosts in itertools.product(range(options.repeat), options.hosts):
            missing = [cell for cell in cells if results.runs((name, hosts, *cell, *shape)) <= round_]
            for call in plan(missing, possible, options) if missing else []:
                if end and time.monotonic() > end:
                    print("the time is over: call again for the rest", file=sys.stderr)
                    return
                start = time.monotonic()
                report = compare(edgewire, graph, hosts, options, call)
                for row in report["rows"]:
                    if row["processes"] == 1:
                        results.data["alone"].setdefault(f"{name}|{options.workers}", []).append(row["seconds_per_iteration"])
                    else:
                        results.add((name, hosts, row["rate"], row["strategy"], row["ownership"], *shape), row)
                lost = sum(report["lost_cores"].values())
                part = {"graph": name, "hosts": hosts, "round": round_ + 1, "cells": len(report["rows"]) - 1,
                        "seconds": time.monotonic() - start, "lost_cores": lost, "cores": report["cores"]}
                results.data["parts"].append(part)
                results.save()
                print(f"{name}, {hosts} hosts, round {round_ + 1} of {options.repeat}: {part['cells']} cells in {part['seconds']:.0f} s; "
                      f"others had {lost:.2f} of {part['cores']} cores", file=sys.stderr, flush=True)


def cell_text(cell):
    if not cell:
        return "-"
    median = statistics.median(cell["seconds"])
    size = cell["payload_bytes"]
    return (f"{median * 1e3:.3g} ms, {f'{size / 1e6:.2f} MB' if size >= 1e6 else f'{size / 1e3:.1f} kB'}, "
            f"{cell['bound_seconds'] / median * 100:.0f} %")


def table(results, options, name, hosts):
    """Nothing where nothing was measured."""
    head = ["| link | strategy | in the posts | " + " | ".join(f"`{one}`" for one in options.ownerships) + " |",
            "| --- | --- | --- |" + " --- |" * len(options.ownerships)]
    lines = []
    for rate, strategy in itertools.product(options.rates, options.strategies):
        texts = [cell_text(results.cell((name, hosts, rate, strategy, ownership, options.workers, options.iterations)))
                 for ownership in options.ownerships]
        if set(texts) != {"-"}:
            lines.append(f"| {rate} | `{strategy}` | {IN_THE_POSTS.get((rate, strategy), '')} | " + " | ".join(texts) + " |")
    return [*head, *lines] if lines else []


def markdown(results, options):
    lines = [f"Machine: {machine_line(machine())}. {options.iterations} iterations a run, medians of up to {options.repeat} runs in turns. "
             "A cell: time of an iteration, payload of all hosts together, and how much of that time the link needs at least.", ""]
    for name, hosts in itertools.product(options.graphs, options.hosts):
        rows = table(results, options, name, hosts)
        if not rows:
            continue
        lines += [f"### {name}, {hosts} hosts with {options.workers} worker{'s' * (options.workers > 1)} each", ""]
        if alone := results.data["alone"].get(f"{name}|{options.workers}"):
            lines += [f"One process alone: {statistics.median(alone) * 1e3:.3g} ms.", ""]
        lines += [*rows, ""]
    parts = [part for part in results.data["parts"] if part["graph"] in options.graphs]
    if parts:
        lost = statistics.median(part["lost_cores"] / part["cores"] for part in parts)
        lines.append(f"Others had {lost * 100:.0f} % of the cores meanwhile (median). Time taken: " + "; ".join(
            f"{name}, {hosts} hosts: {sum(part['seconds'] for part in parts if (part['graph'], part['hosts']) == (name, hosts)):.0f} s"
            for name, hosts in dict.fromkeys((part["graph"], part["hosts"]) for part in parts)) + ".")
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", metavar="DIR")
    parser.add_argument("--cache", type=pathlib.Path, metavar="DIR", help="of graph files (default: BUILD/bench-graphs)")
    parser.add_argument("--graphs", nargs="+", default=["kronecker-20", "kronecker-22", "cnr-2000"],
                        help="kronecker-SCALE, cnr-2000 or files that end in .ew")
    parser.add_argument("--hosts", nargs="+", type=int, default=[2, 4], help="numbers of local hosts (default: 2 4)")
    parser.add_argument("--workers", type=int, default=1, help="of each host; with one, worker and process send the same (default: 1)")
    parser.add_argument("--rates", nargs="+", default=["1G", "10G"])
    parser.add_argument("--strategies", nargs="+", choices=STRATEGIES, default=STRATEGIES)
    parser.add_argument("--ownerships", nargs="+", default=OWNERSHIPS)
    parser.add_argument("--repeat", type=int, default=3, help="rounds (default: 3)")
    parser.add_argument("--iterations", type=int, default=20, help="of a run; the second half, at least ten, counts (default: 20)")
    parser.add_argument("--minutes", type=float, help="start nothing new after so long; the next call goes on")
    parser.add_argument("--results", type=pathlib.Path, metavar="FILE", help="(default: BUILD/posts.json)")
    options = parser.parse_args()
    build = options.build.resolve()
    options.cache = options.cache or build / "bench-graphs"
    results = Results(options.results or build / "posts.json")
    edgewire = build / "edgewire"
    measure(edgewire, options, results, pairs_that_go(edgewire, options))
    print(markdown(results, options))


if __name__ == "__main__":
    run_script(main)
