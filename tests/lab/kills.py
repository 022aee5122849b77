#!/usr/bin/python3
"""Ends processes of jobs at random moments and checks what docs/promises.md says: kills.py SEED [--runs N]."""

import argparse
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tests/end_to_end"))
from processes import children, is_gone  # noqa: E402

PEER_TIMEOUT_S = 2
PATIENCE_S = 60
SIGNALS = [signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGINT]


def one_run(program, graph, dice, folder):
    """What was done, in words, and what was wrong with the end."""
    result, state = folder / "ranks.tsv", folder / "state"
    transport, number = dice.choice(["shm", "tcp"]), dice.choice(SIGNALS)
    whom = dice.choice(["parent", 0, 1])
    delay = dice.choice([0.002, 0.02, 0.1, 0.4]) * dice.random() * 2
    asked = [program, "pagerank", graph, "-p", "2", "-w", "1", "--transport", transport, "--iterations", "60",
             "--peer-timeout", str(PEER_TIMEOUT_S), "--checkpoint", state, "--every", "3", "-o", result]
    process = subprocess.Popen([str(word) for word in asked], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                               start_new_session=True)
    time.sleep(delay)
    ranks = children(process.pid)
    victim = process.pid if whom == "parent" or len(ranks) <= whom else ranks[whom]
    if victim == process.pid and number == signal.SIGSTOP:
        number = signal.SIGKILL  # a parent that is stopped waits for who did that
    done = f"{number.name} to {'the parent' if victim == process.pid else f'rank {whom}'} after {delay:.3f} s, {transport}"
    if process.poll() is None:
        try:
            os.kill(victim, number)
        except ProcessLookupError:
            pass
    faults = []
    try:
        _, said = process.communicate(timeout=PATIENCE_S)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        return done, [f"no end within {PATIENCE_S} s", process.communicate()[1]]
    status = process.returncode
    lines = said.splitlines()
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline and not all(map(is_gone, ranks)):
        time.sleep(0.01)
    faults += [f"process {pid} is left" for pid in ranks if not is_gone(pid)]
    left = sorted(path.name for path in folder.iterdir())
    if set(left) - {"ranks.tsv", "state"}:
        faults.append(f"files are left: {left}")
    if status == 0 and not result.exists():
        faults.append("exit status 0 and no result")
    if result.exists() and len(result.read_text().splitlines()) != 16384:
        faults.append("half a result")
    if status == 1 and not any(line.startswith("edgewire: ") for line in lines):
        faults.append("no line says why")
    if any(not line.startswith("edgewire: ") for line in lines):
        faults.append(f"other lines: {lines}")
    return f"{done}: status {status}", faults


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("seed", type=int)
    parser.add_argument("--runs", type=int, default=20, metavar="N")
    parser.add_argument("--program", default=ROOT / "build/edgewire", metavar="FILE")
    options = parser.parse_args()
    violations = 0
    with tempfile.TemporaryDirectory() as temporary:
        graph = pathlib.Path(temporary) / "g.ew"
        subprocess.run([options.program, "generate", "kronecker", "--scale", "14", "-o", graph], check=True,
                       stdout=subprocess.DEVNULL)
        for run in range(options.runs):
            folder = pathlib.Path(temporary) / str(run)
            folder.mkdir()
            done, faults = one_run(options.program, graph, random.Random(f"{options.seed} {run}"), folder)
            violations += bool(faults)
            print(f"{run}: {done}" + "".join(f"\n  {fault}" for fault in faults), flush=True)
    print(f"{options.runs} runs, {violations} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
