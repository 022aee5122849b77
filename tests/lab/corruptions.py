#!/usr/bin/python3
"""Runs jobs of two hosts over a switch that changes frames: corruptions.py SEED [--runs N].

Each job must end right, or with a line that says why; no result file is ever wrong. Kernel, transport, kind of damage and share
of damaged frames follow from the seed and the number of the run.
"""

import argparse
import collections
import concurrent.futures
import filecmp
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from switch import Switch, address

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PATIENCE_S = 90
KERNELS = {
    "pagerank": ["--iterations", "10", "--deterministic"], "bfs": ["--source", "1"], "sssp": ["--source", "1"], "wcc": [],
    "scc": [], "cdlp": ["--iterations", "3"], "lcc": [], "sort": ["--record", "100", "--key", "0:8", "--partitions", "4"]}
DAMAGE = ["flip behind the card", "flip on the way", "swap"]


def same(one, other):
    """Whether two files, or all files of two folders, have the same bytes."""
    if one.is_file():
        return filecmp.cmp(one, other, shallow=False)
    names = sorted(os.listdir(one))
    return names == sorted(os.listdir(other)) and all(filecmp.cmp(one / name, other / name, shallow=False) for name in names)


class Jobs:
    """Inputs, and the results of runs without a network to compare with."""

    def __init__(self, program, folder, kernels):
        self.program, self.folder = program, folder
        graph, records = folder / "g.ew", folder / "records"
        self.ok("generate", "kronecker", "--scale", "11", "--weights", "--undirected", "--simple", "-o", graph)
        self.inputs = {kernel: [graph] for kernel in kernels}
        if "sort" in kernels:
            self.ok("generate", "records", "--bytes", "200k", "--keys", "65536", "--files", "2", "-o", records)
            self.inputs["sort"] = sorted(records.iterdir())
        for kernel in kernels:
            self.ok(*self.command(kernel), "-p", "2", "-w", "1", "--transport", "shm", "-o", folder / kernel)
        (folder / "hosts").write_text(f"{address(0)}\n{address(1)}\n")
        secret = folder / "secret"
        secret.touch(mode=0o600)
        secret.write_text("a secret of the lab\n")

    def ok(self, *words):
        subprocess.run([self.program, *words], check=True, stdout=subprocess.DEVNULL)

    def command(self, kernel):
        return [kernel, *self.inputs[kernel], *KERNELS[kernel]]

    def over(self, switch, kernel, transport, output):
        """Runs a job; gives (exit status, lines on stderr) of both ranks. None stands for one that does not end."""
        words = [*self.command(kernel), "--hosts", self.folder / "hosts", "--secret-file", self.folder / "secret", "-w", "1",
                 "--peer-timeout", "2", "--start-timeout", "10", "--transport", transport, "-o", output]
        if transport == "dpdk":
            words += ["--dpdk-port", "net_af_packet0,iface=eth0"]
        ranks = [subprocess.Popen([*switch.on(rank), self.program, *map(str, words), "--rank", str(rank)],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for rank in (0, 1)]
        ends = []
        for rank in ranks:
            try:
                said = rank.communicate(timeout=PATIENCE_S)[1]
                ends.append((rank.returncode, said.splitlines()))
            except subprocess.TimeoutExpired:
                rank.kill()
                ends.append((None, rank.communicate()[1].splitlines()))
        return ends


def one_run(jobs, seed, run, transports):
    """What was done, what came of it (right, ended or wrong), and the faults that were found."""
    dice = random.Random(f"{seed} {run}")
    kernel, damage = dice.choice(list(jobs.inputs)), dice.choice(DAMAGE)
    transport, share = dice.choice(transports), dice.choice([0.003, 0.02, 0.1])
    output = jobs.folder / f"result {run}"
    faults = []
    with Switch(dice.randrange(2**32), behind_checks=int("behind" in damage), **{damage.split()[0]: share}) as switch:
        ends = jobs.over(switch, kernel, transport, output)
        counts = switch.close()
    for rank, (status, lines) in enumerate(ends):
        if status not in (0, 1):
            faults.append(f"rank {rank}: " + (f"status {status}" if status is not None else f"no end within {PATIENCE_S} s"))
        if status == 1 and not any(line.startswith("edgewire: ") for line in lines):
            faults.append(f"rank {rank}: no line says why")
    right = ends[0][0] == 0
    if right and not output.exists():
        faults.append("status 0 and no result")
    if output.exists() and (right or output.is_file()) and not same(jobs.folder / kernel, output):
        faults.append("a wrong result")  # a job that fails in its last step may leave one, but a right one
    faults += [f"  rank {rank}: {line}" for rank, (_, lines) in enumerate(ends) for line in lines if faults]
    subprocess.run(["rm", "-rf", output], check=True)
    changed = counts.get("flip", 0) + counts.get("swap", 0)
    why = next((line for _, lines in ends for line in lines if "edgewire: " in line and "warning" not in line), "")
    done = f"{kernel}, {transport}, {damage}, {changed} of {counts.get('frames', 0)} frames: " + ("right" if right else why)
    return done, "wrong" if faults else "right" if right else "ended", changed, faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed", type=int)
    parser.add_argument("--runs", type=int, default=20, metavar="N")
    parser.add_argument("--first", type=int, default=0, metavar="I", help="begin with this run")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="runs at a time")
    parser.add_argument("--kernels", default=",".join(KERNELS), help="such as pagerank,bfs")
    parser.add_argument("--transports", default="tcp,tcp,tcp,dpdk", help="to draw from")
    parser.add_argument("--program", default=ROOT / "build/edgewire", metavar="FILE")
    options = parser.parse_args()
    came = collections.Counter()
    with tempfile.TemporaryDirectory() as temporary:
        jobs = Jobs(options.program, pathlib.Path(temporary), options.kernels.split(","))
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            runs = range(options.first, options.first + options.runs)
            for run, (done, end, changed, faults) in zip(runs, pool.map(
                    lambda run: one_run(jobs, options.seed, run, options.transports.split(",")), runs)):
                came.update({end: 1, "changed": changed, "touched": changed > 0})
                print(f"{run}: {done}" + "".join(f"\n  {fault}" for fault in faults), flush=True)
    print(f"{options.runs} runs, {came['right']} right, {came['ended']} ended with a line, {came['wrong']} violations; "
          f"{came['changed']} frames were changed in {came['touched']} runs")
    return 1 if came["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
