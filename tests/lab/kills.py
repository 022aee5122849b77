#!/usr/bin/python3
"""Ends processes of jobs at random moments and checks what docs/promises.md says: kills.py SEED [--runs N].

What runs, how it is started, which process gets which signal, and when (from the start to a little after the end that a
job without signals has) follow from the seed and the number of the run.
"""

import argparse
import collections
import filecmp
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/end_to_end"))
from processes import children, is_gone  # noqa: E402

PEER_TIMEOUT_S = 2
PATIENCE_S = 90
SIGNALS = [signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGINT]
MPIRUN = ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", "2"]
WAYS = {"shm": ["-p", "2", "--transport", "shm"], "tcp": ["-p", "2", "--transport", "tcp"],
        "local-hosts": ["-p", "2", "--local-hosts"],
        "dpdk": ["-p", "2", "--local-hosts", "--transport", "dpdk", "--dpdk-port", "net_af_packet0,iface=eth0"], "mpirun": []}
KERNELS = {
    "pagerank": ["--iterations", "60", "--deterministic", "--checkpoint", "state", "--every", "3", "--plan-cache=cache"],
    "bfs": ["--source", "1"], "wcc": [], "scc": [], "cdlp": [], "lcc": [], "sort": ["--record", "100", "--key", "0:8", "--partitions", "4"]}


class Jobs:
    """Inputs; and what jobs without signals take and make."""

    def __init__(self, program, folder, kernels):
        self.program, self.folder = pathlib.Path(program).resolve(), folder
        graph, records = folder / "g.ew", folder / "records"
        for words in (["kronecker", "--scale", "14", "--undirected", "-o", graph],
                      ["records", "--bytes", "4M", "--keys", "65536", "--files", "2", "-o", records]):
            subprocess.run([self.program, "generate", *words], check=True, stdout=subprocess.DEVNULL)
        self.inputs = {kernel: sorted(records.iterdir()) if kernel == "sort" else [graph] for kernel in kernels}
        self.undisturbed = {}

    def start(self, kernel, way, folder):
        folder.mkdir(exist_ok=True)
        words = [*(MPIRUN if way == "mpirun" else []), self.program, kernel, *self.inputs[kernel], *KERNELS[kernel], *WAYS[way],
                 "-w", "1", "--peer-timeout", str(PEER_TIMEOUT_S), "-o", "result"]
        return subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                start_new_session=True, cwd=folder)

    def expected(self, kernel, way):
        """Seconds, and the result."""
        if (kernel, way) not in self.undisturbed:
            folder, takes_s = self.folder / f"{kernel} {way}", []
            for _ in range(2):  # the first is slow
                shutil.rmtree(folder, ignore_errors=True)
                start = time.monotonic()
                process = self.start(kernel, way, folder)
                said = process.communicate()[1]
                takes_s.append(time.monotonic() - start)
                if process.returncode != 0:
                    raise RuntimeError(f"{kernel}, {way}: {said}")
            self.undisturbed[kernel, way] = min(takes_s), folder / "result"
        return self.undisturbed[kernel, way]


def bad_files(result, expected):
    """Files of a result that are not as they must be."""
    if not result.is_dir():
        return [result.name] if result.exists() and not filecmp.cmp(result, expected, shallow=False) else []
    return [path.name for path in result.iterdir()
            if not (expected / path.name).exists() or not filecmp.cmp(path, expected / path.name, shallow=False)]


def faults_of(way, whom, folder, status, lines, expected):
    """What is wrong with the end of a job in which `whom` got a signal."""
    result, faults = folder / "result", []
    left = [path for path in folder.rglob("*") if ".tmp." in path.name or path.parent == folder
            and path.name not in ("result", "state", "cache")]
    if left:
        faults.append(f"files are left: {left}")
    if bad := bad_files(result, expected):
        faults.append(f"half a result, or a wrong one: {bad}")
    if status == 0 and not result.exists():
        faults.append("exit status 0 and no result")
    if status == 1 and (way, whom) != ("mpirun", "parent") and not any(line.startswith("edgewire: ") for line in lines):
        faults.append("no line says why")
    if way != "mpirun" and any(not line.startswith("edgewire: ") for line in lines):
        faults.append(f"other lines: {lines}")
    return faults


def program_of(pid):
    """Its file; empty once the process is gone."""
    try:
        return os.readlink(f"/proc/{pid}/exe")
    except OSError:
        return ""


def one_run(jobs, dice, ways, folder):
    """What was done, in words, and what was wrong with the end."""
    kernel, way, number, whom = (dice.choice(list(some)) for some in (jobs.inputs, ways, SIGNALS, ["parent", 0, 1]))
    takes_s, expected = jobs.expected(kernel, way)
    delay_s = takes_s * dice.choice([dice.uniform(0, 1.1), dice.uniform(0, 0.3), dice.uniform(0.8, 1.1)])
    process = jobs.start(kernel, way, folder)
    time.sleep(delay_s)
    ranks = children(process.pid)  # or `ip` or `tc`, which set up local hosts
    if way == "mpirun":  # before it runs the program, a child is mpirun, which waits without limit for one that is stopped
        ranks = [pid for pid in ranks if program_of(pid) not in ("", program_of(process.pid))]
    victim = process.pid if whom == "parent" or len(ranks) <= whom else ranks[whom]
    if victim == process.pid and number == signal.SIGSTOP:
        number = signal.SIGKILL  # a parent that is stopped waits for who did that
    whom = "parent" if victim == process.pid else whom
    done = (f"{kernel}, {way}: {number.name} to {'the parent' if whom == 'parent' else f'child {whom}'} after "
            f"{delay_s:.3f} of {takes_s:.3f} s")
    if process.poll() is None:
        try:
            os.kill(victim, number)
        except ProcessLookupError:
            pass
    try:
        lines = process.communicate(timeout=PATIENCE_S)[1].splitlines()
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return done, [f"no end within {PATIENCE_S} s", process.communicate()[1]]
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and not all(map(is_gone, ranks)):
        time.sleep(0.01)
    faults = [f"process {pid} is left" for pid in ranks if not is_gone(pid)]
    faults += faults_of(way, whom, folder, process.returncode, lines, expected)
    if kernel == "pagerank" and not faults and dice.random() < 0.2:
        shutil.rmtree(folder / "state", ignore_errors=True)
        process = jobs.start(kernel, way, folder)  # what is left of the plan cache does no harm
        said = process.communicate(timeout=PATIENCE_S)[1]
        if process.returncode != 0 or bad_files(folder / "result", expected):
            faults.append(f"the same job does not run again: {said}")
    return f"{done}: status {process.returncode}", faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed", type=int)
    parser.add_argument("--runs", type=int, default=20, metavar="N")
    parser.add_argument("--first", type=int, default=0, metavar="I", help="begin with this run")
    parser.add_argument("--ways", default=",".join(WAYS), help="to draw from: how jobs are started")
    parser.add_argument("--kernels", default=",".join(KERNELS), help="to draw from")
    parser.add_argument("--program", default=ROOT / "build/edgewire", metavar="FILE")
    options = parser.parse_args()
    ways, count, violations = options.ways.split(","), collections.Counter(), 0
    if "mpirun" in ways and not shutil.which("mpirun"):
        parser.error("mpirun is not installed: leave it out with --ways")
    with tempfile.TemporaryDirectory() as temporary:
        jobs = Jobs(options.program, pathlib.Path(temporary), options.kernels.split(","))
        for run in range(options.first, options.first + options.runs):
            folder = pathlib.Path(temporary) / str(run)
            done, faults = one_run(jobs, random.Random(f"{options.seed} {run}"), ways, folder)
            violations += bool(faults)
            count[done.split(":")[0].split(", ")[1]] += 1
            print(f"{run}: {done}" + "".join(f"\n  {fault}" for fault in faults), flush=True)
            shutil.rmtree(folder)
    print(f"{options.runs} runs ({', '.join(f'{way} {number}' for way, number in count.items())}), {violations} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
