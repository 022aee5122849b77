#!/usr/bin/python3
"""Measures how fast edge lists become graph files, beside converters and readers of others: same file, same threads, in turns.

Edgewire and GAPBS's converter write a graph file, NetworKit builds a graph in memory, polars makes a table of two columns,
igzip (ISA-L) only inflates. Of programs all is measured from their start to their end; of libraries the reading alone. The
file is text with a space or a tab between ids, read once before, so that it is in the page cache; .gz files are made of it by gzip and bgzip.
Libraries are packages of PyPI, put into BUILD/peers. What cannot be had is named with the reason.
"""

import argparse
import json
import os
import pathlib
import resource
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from measure import ROOT, Failed, machine, machine_line, print_table, run, run_script, spread, to_text  # noqa: E402
from packages import python_with  # noqa: E402

LOADERS = ROOT / "perf/peers/loaders.py"
OURS = {"edgewire .el": "k.el", "edgewire .txt": "k.txt", "edgewire .gz": "k.el.gz", "edgewire bgzip": "k.bgzf.el.gz"}
THEIRS = ["gapbs", "networkit", "polars", "igzip"]
GZIPPED = {"edgewire .gz": "gzip", "edgewire bgzip": "bgzip", "igzip": "igzip"}


def seconds_of(command, timeout_s, **environment):
    """Wall and processor seconds (user and system) of a program."""
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    run(command, timeout_s, env={**os.environ, **environment})
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return {"seconds": wall, "processor_seconds": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime}


def library(python, name, path, threads, timeout_s):
    """Seconds of the reading alone, as the library's process says."""
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads), "POLARS_MAX_THREADS": str(threads)}
    text = run([python, LOADERS, name, path, "--threads", threads], timeout_s, env=environment)
    try:
        figures = json.loads(text.strip().splitlines()[-1])
        return {name: figures[name] for name in ("seconds", "processor_seconds", "edges")}
    except (ValueError, KeyError, IndexError) as error:
        raise Failed(f"no figures in its output: {text.strip()[-100:]!r}") from error


def find_programs(options, folder):
    """{name: measure(threads)} of those that can be had, and {name: reason} of the others."""
    found, missing = {}, {}
    edgewire, limit = options.build / "edgewire", options.timeout

    def ours(path):
        return lambda threads: seconds_of([edgewire, "convert", path, "-o", folder / "g.ew", "-w", threads], limit)

    def gapbs():
        converter = options.gapbs and shutil.which("converter", path=str(options.gapbs))
        if not converter:
            raise Failed("build the GAP Benchmark Suite (make in its source) and name the folder of its programs with --gapbs DIR")
        return lambda threads: seconds_of([converter, "-f", folder / "k.el", "-b", folder / "g.sg"], limit,
                                          OMP_NUM_THREADS=str(threads))

    def of_pypi(name):
        python = python_with(options.build / "peers/loading", [name])
        return lambda threads: library(python, name, folder / "k.el", threads, limit)

    def igzip():
        return lambda threads: seconds_of(["igzip", "-d", "-c", "-o", "/dev/null", folder / "k.el.gz"], limit)

    getters = {**{name: lambda name=name: ours(folder / OURS[name]) for name in OURS}, "gapbs": gapbs,
               "networkit": lambda: of_pypi("networkit"), "polars": lambda: of_pypi("polars"), "igzip": igzip}
    for name in options.programs or getters:
        try:
            if name in GZIPPED and not shutil.which(GZIPPED[name]):
                raise Failed(f"{GZIPPED[name]} is not here")
            found[name] = getters[name]()
        except Failed as error:
            missing[name] = str(error)
    return found, missing


def make_files(options, folder, programs):
    """The files that the programs read; how many edges they have."""
    edgewire = options.build / "edgewire"
    text = folder / "k.el"
    if options.text:
        text.symlink_to(options.text.resolve())
    else:
        run([edgewire, "generate", "kronecker", "--scale", options.scale, "--edge-factor", options.edge_factor, "-o", folder / "g.ew"])
        run([edgewire, "convert", folder / "g.ew", "-o", text])
    (folder / "k.txt").symlink_to(text)
    if "edgewire .gz" in programs or "igzip" in programs:
        run(["sh", "-c", 'gzip -6 < "$1" > "$2"', "sh", text, folder / "k.el.gz"])
    if "edgewire bgzip" in programs:
        run(["sh", "-c", 'bgzip -c < "$1" > "$2"', "sh", text, folder / "k.bgzf.el.gz"])
    with open(text, "rb") as file:
        return sum(block.count(b"\n") for block in iter(lambda: file.read(1 << 20), b""))


def compare(options, programs, edges, missing):
    """One row a program and number of threads."""
    measured = {}
    for round_ in range(options.rounds):
        for threads in options.threads:
            for name, measure in programs.items():
                key = name, threads
                if key in missing or (name == "igzip" and threads > 1):
                    continue
                try:
                    figures = measure(threads)
                    if figures.get("edges") not in (None, edges):
                        raise Failed(f"it read {figures['edges']} edges of {edges}")
                except Failed as error:
                    missing[key] = str(error)
                    continue
                print(f"round {round_ + 1} of {options.rounds}: {name}, {threads} threads: {figures['seconds']:.2f} s, "
                      f"{figures['processor_seconds']:.2f} processor s", file=sys.stderr, flush=True)
                measured.setdefault(key, []).append(figures)
    return [{"program": name, "threads": threads,
             **{field: spread([one[field] for one in runs]) for field in ("seconds", "processor_seconds")},
             "edges_per_processor_second": spread([edges / one["processor_seconds"] for one in runs])}
            for (name, threads), runs in sorted(measured.items(), key=lambda item: item[0][1])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", metavar="DIR")
    parser.add_argument("--text", type=pathlib.Path, metavar="FILE", help="lines of two ids with a space or a tab between; by default a Kronecker graph")
    parser.add_argument("--scale", type=int, default=21, help="of that graph (default: 21)")
    parser.add_argument("--edge-factor", type=int, default=20, help="of that graph (default: 20)")
    parser.add_argument("--gapbs", type=pathlib.Path, metavar="DIR", help="where GAPBS's built converter is")
    parser.add_argument("--cache", type=pathlib.Path, metavar="DIR", help="of the files (default: as TMPDIR says)")
    parser.add_argument("--programs", nargs="+", choices=[*OURS, *THEIRS], help="only these")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--timeout", type=float, default=600, metavar="S", help="for one run (default: 600)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    options.build = options.build.resolve()
    found = machine()
    with tempfile.TemporaryDirectory(dir=options.cache) as folder:
        folder = pathlib.Path(folder)
        programs, missing = find_programs(options, folder)
        if options.programs and missing:
            raise Failed("; ".join(f"no {name}: {reason}" for name, reason in missing.items()))
        edges = make_files(options, folder, programs)
        bytes_ = (folder / "k.el").stat().st_size
        rows = compare(options, programs, edges, missing)
    print(f"machine: {machine_line(found)}\ntext: {edges} edges, {bytes_ / 1e6:.0f} MB, {options.rounds} rounds; median [min to max]")
    print_table(["program", "threads", "seconds", "processor seconds", "M edges/s of a core"],
                [[row["program"], str(row["threads"]), to_text(row["seconds"], digits=2), to_text(row["processor_seconds"], digits=2),
                  to_text(row["edges_per_processor_second"], 1e-6)] for row in rows])
    for what, reason in missing.items():
        print(f"missing {what if isinstance(what, str) else f'{what[0]}, {what[1]} threads'}: {reason}")
    if options.json:
        options.json.write_text(json.dumps({"machine": found, "edges": edges, "bytes": bytes_, "rows": rows,
                                            "missing": {str(what): reason for what, reason in missing.items()}}, indent=2) + "\n")


if __name__ == "__main__":
    run_script(main)
