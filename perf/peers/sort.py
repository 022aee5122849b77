#!/usr/bin/python3
"""Sorts the same records with `edgewire sort`, GNU sort and Spark's sortBy, in turns, with the same cores and the same limit of memory.

A record is a line of 100 bytes, as `edgewire generate records` makes it; all three order records by all their bytes. Each turn writes its
result to a disk that has nothing left to write before it; all results must be the same, to the byte. Spark is the one that --spark
names or PyPI's package pyspark, which is put into BUILD/peers/pyspark and needs Java (Debian: openjdk-17-jre-headless); without it
the others are measured. Its time is that of sortBy alone, without the start of the Java machine; that of the others is of the whole
program.
"""

import argparse
import hashlib
import os
import pathlib
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from graphx import figures, find_spark, of  # noqa: E402
from measure import ROOT, Failed, machine, machine_line, print_table, run, run_script, spread, to_text  # noqa: E402

SCRIPT = pathlib.Path(__file__).resolve().parent / "sort.scala"
RECORD = 100


def timed(command, timeout):
    begin = time.monotonic()
    run(command, timeout)
    return time.monotonic() - begin


def edgewire_sort(options, inputs, folder):
    return timed([options.build / "edgewire", "sort", *inputs, "-o", folder / "out", "--temp", folder, "--record", RECORD, "--key",
                  "0:8", "--memory", options.memory, "-w", options.cores], options.timeout)


def gnu_sort(options, inputs, folder):
    (folder / "out").mkdir()
    return timed(of({"LC_ALL": "C"}, ["sort", "-S", options.memory, "--parallel", options.cores, "-T", folder, "-o", folder / "out/part",
                                      *inputs]), options.timeout)


def spark_sort(options, inputs, folder):
    command = [options.home / "bin/spark-shell", "--master", f"local[{options.cores}]", "--driver-memory", options.memory.lower(), "--conf",
               "spark.ui.enabled=false", "--conf", "spark.ui.showConsoleProgress=false", "--conf", f"spark.local.dir={folder}", "-i", SCRIPT]
    text = run(of({"SPARK_HOME": options.home, "INPUT": inputs[0].parent, "OUTPUT": folder / "out"}, command), options.timeout)
    found = figures(text)
    if "seconds" not in found:
        raise Failed("Spark gave no figures: " + (text.strip().splitlines() or ["no output"])[-1])
    return found["seconds"][0]


PROGRAMS = {"edgewire sort": edgewire_sort, "GNU sort": gnu_sort, "Spark sortBy": spark_sort}


def digest(folder):
    """Of the parts, one behind the other."""
    sha = hashlib.sha256()
    for part in sorted(path for path in folder.iterdir() if path.name.startswith("part")):
        with open(part, "rb") as file:
            while block := file.read(1 << 20):
                sha.update(block)
    return sha.digest()


def measure(options, names, inputs):
    """{program: [seconds]}; a program that fails is left out from then on, and stderr says why."""
    measured, digests = {}, set()
    for _ in range(options.rounds):
        for name in list(names):
            with tempfile.TemporaryDirectory(dir=options.folder) as folder:
                os.sync()
                try:
                    seconds = PROGRAMS[name](options, inputs, pathlib.Path(folder))
                except Failed as error:
                    if name == "edgewire sort":
                        raise
                    print(f"{name} is left out: {error}", file=sys.stderr, flush=True)
                    names.remove(name)
                    measured.pop(name, None)
                    continue
                digests.add(digest(pathlib.Path(folder, "out")))
            measured.setdefault(name, []).append(seconds)
            print(f"{name}: {seconds:.2f} s", file=sys.stderr, flush=True)
            if len(digests) > 1:
                raise Failed(f"the result of {name} is not that of the others")
    return measured


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", metavar="DIR")
    parser.add_argument("--spark", type=pathlib.Path, metavar="DIR",
                        help="where Spark is (default: PyPI's pyspark, put into BUILD/peers/pyspark)")
    parser.add_argument("--no-spark", action="store_true", help="measure the others only")
    parser.add_argument("--folder", type=pathlib.Path, metavar="DIR", help="of records, runs and results (default: as TMPDIR says)")
    parser.add_argument("--bytes", default="2G", help="of all records (default: 2G)")
    parser.add_argument("--keys", type=int, default=65536, help="different first 8 bytes (default: 65536)")
    parser.add_argument("--memory", default="512M", help="of each program, of Spark its driver's (default: 512M)")
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--timeout", type=float, default=1800, metavar="S", help="for one run (default: 1800)")
    options = parser.parse_args()
    options.build = options.build.resolve()
    names = list(PROGRAMS)
    if not shutil.which("sort"):
        raise Failed("no sort in PATH: install GNU coreutils")
    try:
        options.home = None if options.no_spark else find_spark(options.spark and options.spark.resolve(), options.build / "peers/pyspark")
    except Failed as error:
        if options.spark:
            raise
        print(f"Spark sortBy is left out: {error}", file=sys.stderr, flush=True)
        options.home = None
    if not options.home:
        names.remove("Spark sortBy")
    found = machine()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        records = pathlib.Path(folder, "in")
        run([options.build / "edgewire", "generate", "records", "--bytes", options.bytes, "--record", RECORD, "--keys", options.keys,
             "--files", 10, "-o", records])
        measured = measure(options, names, sorted(records.iterdir()))
    print(f"machine: {machine_line(found)}\n{options.bytes} of records of {RECORD} bytes, {options.memory} of memory, {options.cores} "
          f"cores, {options.rounds} rounds; median [min to max]")
    ours = spread(measured["edgewire sort"])["median"]
    print_table(["program", "seconds", "times edgewire's"], [[name, to_text(spread(seconds), 1, 2), f"{spread(seconds)['median'] / ours:.2f}"]
                                                              for name, seconds in measured.items()])


if __name__ == "__main__":
    run_script(main)
