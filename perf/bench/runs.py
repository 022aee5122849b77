#!/usr/bin/python3
"""The whole-run benchmarks: PageRank by the edgewire program on several graphs, in the table that perf/README.md explains.

Every configuration of a graph takes its turn in each round; figures are medians with minima and maxima. The limits of
the memory are measured in the same run, before and after.
"""

import argparse
import dataclasses
import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from measure import ROOT, Failed, machine, machine_line, pagerank, print_table, run, run_script, spread, to_text  # noqa: E402


@dataclasses.dataclass(frozen=True)
class Graph:
    name: str
    make: tuple  # the edgewire command that makes it, without -o
    layouts: tuple = ("auto",)
    needs: pathlib.Path | None = None


@dataclasses.dataclass(frozen=True)
class Configuration:
    processes: int
    workers: int
    transport: str = "shm"

    def __str__(self):
        return f"-p {self.processes} -w {self.workers}" + (f" {self.transport}" if self.processes > 1 else "")

    @property
    def cores(self):
        return self.processes * self.workers


CONFIGURATIONS = [Configuration(1, 1), Configuration(1, 2), Configuration(2, 1), Configuration(2, 1, "tcp")]
CRAWLS = {"cnr-2000": "cnr-2000.u32pairs.zst"}


def graphs(options):
    if options.smoke:
        return [Graph("kronecker-10", ("generate", "kronecker", "--scale", "10")),
                Graph("grid-32", ("generate", "grid", "--rows", "32", "--columns", "32"))]
    scales = ["22", "24"] if options.large else ["22"]
    found = [Graph(f"kronecker-{scale}", ("generate", "kronecker", "--scale", scale)) for scale in scales]
    found.append(Graph("uniform-22", ("generate", "uniform", "--scale", "22")))
    found.append(Graph("grid-2048", ("generate", "grid", "--rows", "2048", "--columns", "2048")))
    for name, file in CRAWLS.items():
        path = ROOT.parent / "shared/graphs" / name / file
        found.append(Graph(name, ("convert", str(path)), ("given", "degree"), path))
    return found


def usable_transports(edgewire):
    """{name: reason why not, or None}."""
    listed = json.loads(run([edgewire, "transports", "--json", "-"]))
    return {one["name"]: None if one["usable"] else one["reason"] or "not usable" for one in listed}


def prepare(edgewire, graph, cache):
    """The graph's file, made when it is not in the cache."""
    path = cache / f"{graph.name}.ew"
    if not path.exists():
        if graph.needs and not graph.needs.exists():
            raise Failed(f"{graph.needs} is not there")
        print(f"making {path}", file=sys.stderr, flush=True)
        cache.mkdir(parents=True, exist_ok=True)
        run([edgewire, *graph.make, "-o", path])
    return path


def fractions_of_limits(seconds, edges, tile_bytes, limits):
    """What part of an iteration's time streaming its tiles would take alone, and gathering a value an edge from L2."""
    return {"stream": tile_bytes / limits["stream_bytes_per_second"] / seconds,
            "gather": edges / limits["gathers_per_second_l2"] / seconds}


def summarize(graph, layout, configuration, reports, limits):
    """A row of the table from the run reports of one configuration."""
    first = reports[0]
    edges = max(first["edges"], 1)
    cores = configuration.cores
    limit = min((one for one in limits if one["threads"] <= cores), key=lambda one: cores - one["threads"])
    iteration = spread([report["seconds_per_iteration"] for report in reports])
    load_and_plan = spread([report["seconds_load"] + report["seconds_plan"] for report in reports])
    return {
        "graph": graph.name, "layout": layout, "vertices": first["vertices"], "edges": first["edges"],
        "processes": configuration.processes, "workers": configuration.workers, "transport": first["transport"],
        "configuration": str(configuration), "runs": len(reports),
        "seconds_per_iteration": iteration,
        "edges_per_second": first["edges"] / iteration["median"],
        "tile_bytes_per_edge": first["tile_bytes"] / edges,
        "fraction_of_limit": fractions_of_limits(iteration["median"], first["edges"], first["tile_bytes"], limit),
        "seconds_load_and_plan": load_and_plan,
        "load_edges_per_second_per_core": first["edges"] / load_and_plan["median"] / cores,
        "peak_bytes_per_edge": max(report["peak_rss_bytes"] for report in reports) * configuration.processes / edges,
        "checksum": first["checksum"],
    }


def measure_limits(build, options):
    return json.loads(run([build / "perf/bench/memory_limits", "--json", *["--smoke"] * options.smoke]))


def best(limits, others):
    """The higher of each two figures: other programs can only lower them."""
    return [{name: max(one[name], other[name]) for name in one} for one, other in zip(limits, others)]


def measure(edgewire, graph, path, configurations, options):
    """[(graph, layout, configuration, run reports)]"""
    turns = [(layout, configuration) for layout in graph.layouts for configuration in configurations]
    reports = {turn: [] for turn in turns}
    for round_ in range(options.rounds):
        for layout, configuration in turns:
            report = pagerank(edgewire, path, "-p", configuration.processes, "-w", configuration.workers, "--transport",
                              configuration.transport, "--layout", layout, "--iterations", options.iterations)
            print(f"round {round_ + 1} of {options.rounds}: {graph.name} {layout} {configuration}: "
                  f"{report['seconds_per_iteration'] * 1e3:.2f} ms", file=sys.stderr, flush=True)
            reports[layout, configuration].append(report)
    return [(graph, *turn, reports[turn]) for turn in turns]


def print_rows(rows):
    titles = ["graph", "layout", "run", "ms/iteration", "G edges/s", "tile B/edge", "% of stream", "% of gather",
              "load+plan s", "M edges/s/core", "peak B/edge"]
    print_table(titles, [
        [row["graph"], row["layout"], row["configuration"], to_text(row["seconds_per_iteration"], 1e3, 2),
         f"{row['edges_per_second'] / 1e9:.3f}", f"{row['tile_bytes_per_edge']:.2f}",
         f"{100 * row['fraction_of_limit']['stream']:.0f}", f"{100 * row['fraction_of_limit']['gather']:.0f}",
         to_text(row["seconds_load_and_plan"], 1, 2), f"{row['load_edges_per_second_per_core'] / 1e6:.1f}",
         f"{row['peak_bytes_per_edge']:.1f}"] for row in rows])


def print_limits(limits):
    for one in limits:
        print(f"limits, {one['threads']} thread{'s' if one['threads'] > 1 else ''}: "
              f"streaming {one['stream_bytes_per_second'] / 1e9:.1f} GB/s; G gathers/s of 4 bytes from "
              f"L2 {one['gathers_per_second_l2'] / 1e9:.2f}, 16 MiB {one['gathers_per_second_16_mib'] / 1e9:.2f}, "
              f"64 MiB {one['gathers_per_second_64_mib'] / 1e9:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", metavar="DIR")
    parser.add_argument("--cache", type=pathlib.Path, metavar="DIR", help="of graph files (default: BUILD/bench-graphs)")
    parser.add_argument("--graphs", nargs="+", metavar="NAME", help="only these")
    parser.add_argument("--large", action="store_true", help="also Kronecker scale 24")
    parser.add_argument("--smoke", action="store_true", help="tiny graphs, to see that all of it works")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--iterations", type=int, default=20)
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="the table as JSON, in base units")
    options = parser.parse_args()
    build = options.build.resolve()
    edgewire = build / "edgewire"
    found = machine()
    print(f"machine: {machine_line(found)}", flush=True)
    limits = measure_limits(build, options)

    skipped = {}
    transports = usable_transports(edgewire)
    configurations = []
    for configuration in CONFIGURATIONS:
        if reason := transports.get(configuration.transport, "this build has no such transport"):
            skipped[str(configuration)] = reason
        else:
            configurations.append(configuration)
    measured = []
    for graph in graphs(options):
        if options.graphs and graph.name not in options.graphs:
            continue
        try:
            path = prepare(edgewire, graph, options.cache or build / "bench-graphs")
        except Failed as error:
            skipped[graph.name] = str(error)
            continue
        measured += measure(edgewire, graph, path, configurations, options)
    limits = best(limits, measure_limits(build, options))
    rows = [summarize(*one, limits) for one in measured]
    print_limits(limits)
    print(f"{options.iterations} iterations, {options.rounds} rounds; median [min to max]")
    print_rows(rows)
    for name, reason in skipped.items():
        print(f"skipped {name}: {reason}")
    if options.json:
        result = {"machine": found, "limits": limits, "rows": rows, "skipped": skipped}
        options.json.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    run_script(main)
