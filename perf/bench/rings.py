#!/usr/bin/python3
"""Measures rings beside MPI_Isend in batches of 64 KiB: two processes of this machine send records to each other. All
take turns, so that they share the machine's mood. Prints the medians of what one process sent in a second, while it
received as much. Without mpi_rate (it takes libopenmpi-dev to build, and mpirun) only rings are measured."""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--build", default="build", help="build folder, made with -Dbench=true")
    options.add_argument("--rounds", type=int, default=7)
    options.add_argument("--mebibytes", type=int, default=512, help="that each process sends in a run")
    options.add_argument("--rings-only", action="store_true", help="without MPI")
    chosen = options.parse_args()
    folder = pathlib.Path(chosen.build) / "perf/bench"
    if not (folder / "ring_rate").exists():
        sys.exit(f"rings.py: {folder}/ring_rate is not there: build with -Dbench=true")
    commands = {(f"rings, {name}", size): [folder / "ring_rate", name, size]
                for name in ("shm", "tcp") for size in (8, 16, 64)}
    if not chosen.rings_only and (folder / "mpi_rate").exists() and shutil.which("mpirun"):
        mpi = ["mpirun", "-n", "2", "--oversubscribe", "--bind-to", "none"]
        mpi += ["--allow-run-as-root"] if os.geteuid() == 0 else []
        for name, links in (("shm", "vader,self"), ("tcp", "tcp,self")):
            for size in (8, 16, 64):
                commands[f"MPI_Isend, {name}", size] = mpi + ["--mca", "pml", "ob1", "--mca", "btl", links,
                                                              folder / "mpi_rate", f"MPI_Isend, {name}", size]
    elif not chosen.rings_only:
        print("# MPI is left out: mpi_rate or mpirun is not there")
    rates = {}
    for _ in range(chosen.rounds):
        for (what, size), command in commands.items():
            records = (chosen.mebibytes << 20) // size
            run = subprocess.run([str(word) for word in [*command, records]], capture_output=True, text=True)
            if run.returncode != 0:
                sys.exit(f"rings.py: {what} failed: {run.stderr.strip()}")
            rates.setdefault((what, size), []).append(json.loads(run.stdout.strip().splitlines()[-1]))
    print("| what | record bytes | million records/s | GB/s | lowest to highest |")
    print("| --- | --- | --- | --- | --- |")
    for (what, size), runs in rates.items():
        of_bytes = [run["bytes_per_s"] / 1e9 for run in runs]
        records = statistics.median(run["records_per_s"] for run in runs) / 1e6
        print(f"| {what} | {size} | {records:.0f} | {statistics.median(of_bytes):.2f} | "
              f"{min(of_bytes):.2f} to {max(of_bytes):.2f} |")


if __name__ == "__main__":
    main()
