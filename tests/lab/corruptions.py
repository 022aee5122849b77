#!/usr/bin/python3
"""Runs jobs of two hosts over a switch that changes frames: corruptions.py SEED [--runs N].

Each job must end right, or with a line that says why; no result is ever wrong. Command, transport, kind of damage, share of damaged
frames, and what else happens to frames follow from the seed and the number of the run.
"""

import argparse
import collections
import concurrent.futures
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

from small_jobs import COMMANDS, RECORDS, ROOT, Jobs, keep_result_line, result_name, state_of
from switch import Switch, address

sys.path.insert(0, str(ROOT / "tests"))
from runner.commands import stacks  # noqa: E402

PATIENCE_S = 300
ALONE = [RECORDS, "convert", "sort --memory 6M"]  # what has no hosts, and what makes no difference to a link
DAMAGE = ["flip behind the card", "flip on the way", "swap"]
TRAFFIC = {"": {}, ", lost": {"loss": 0.01}, ", doubled and late": {"duplicate": 0.03, "reorder": 0.05}}  # and their faults of other kinds


def words_of_link(jobs, transport):
    words = ["--hosts", jobs.folder / "hosts", "--secret-file", jobs.folder / "secret", "-w", "1", "--peer-timeout", "4",
             "--start-timeout", "15", "--transport", transport]
    return words + (["--dpdk-port", "net_af_packet0,iface=eth0"] if transport == "dpdk" else [])


def over(switch, jobs, words, folder):
    """Runs a job; gives (exit status, lines on stderr) of both ranks, None for one that does not end, and stdout of rank 0."""
    ranks = []
    for rank in (0, 1):
        with open(folder / f"said.{rank}", "w") as said, open(folder / f"stderr.{rank}", "w") as stderr:
            ranks.append(subprocess.Popen([*switch.on(rank), jobs.program, *map(str, words), "--rank", str(rank)], stdin=subprocess.DEVNULL,
                                          stdout=said, stderr=stderr))
    ends = []
    for rank, process in enumerate(ranks):
        try:
            status = process.wait(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            print(stacks([process.pid]), flush=True)
            process.kill()
            process.wait()
            status = None
        ends.append((status, (folder / f"stderr.{rank}").read_text(errors="replace").splitlines()))
    return ends, (folder / "said.0").read_text()


def one_run(jobs, seed, run, transports, commands):
    """What was done, the command, the transport, what came of it (right, ended or wrong), changed frames, and the faults that were found."""
    dice = random.Random(f"{seed} {run}")
    command, damage, traffic = dice.choice(commands), dice.choice(DAMAGE), dice.choice([*3 * [""], *TRAFFIC])
    transport, share = dice.choice(transports), dice.choice([0.003, 0.02, 0.1])
    retry = ["--retry"] * (command.startswith("tasks") and transport == "tcp" and dice.random() < 0.5)
    folder = jobs.folder / f"run {run}"
    (folder / "out").mkdir(parents=True)
    result, faults = folder / "out" / result_name(command), []
    with Switch(dice.randrange(2**32), behind_checks=int("behind" in damage), **{damage.split()[0]: share}, **TRAFFIC[traffic]) as switch:
        ends, said = over(switch, jobs, [*jobs.words(command, result), *words_of_link(jobs, transport), *retry], folder)
        counts = switch.close()
    for rank, (status, lines) in enumerate(ends):
        if status not in (0, 1):
            faults.append(f"rank {rank}: " + (f"status {status}" if status is not None else f"no end within {PATIENCE_S} s"))
        if status == 1 and not any(line.startswith("edgewire: ") for line in lines):
            faults.append(f"rank {rank}: no line says why")
    if command.startswith("tasks"):
        keep_result_line(said, result)
    right, state = ends[0][0] == 0, state_of(result, jobs.expected(command, 2))
    if right and state != "right":
        faults.append(f"status 0, and of the result {state}")
    if state in ("wrong", "part"):  # a job that fails in its last step may leave a result, but a right one
        faults.append(f"what is left of a result is {state}")
    if left := [path.name for path in (folder / "out").iterdir() if path != result]:
        faults.append(f"files are left: {left}")
    faults += [f"  rank {rank}: {line}" for rank, (_, lines) in enumerate(ends) for line in lines if faults]
    shutil.rmtree(folder)
    changed = counts.get("flip", 0) + counts.get("swap", 0)
    why = next((lines[-1] for _, lines in ends if lines), "")
    done = (f"{' '.join([command, *retry])}, {transport}, {damage}{traffic}, {changed} of {counts.get('frames', 0)} frames: "
            + ("right" if right else why))
    return done, command, transport, "wrong" if faults else "right" if right else "ended", changed, faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed", type=int)
    parser.add_argument("--runs", type=int, default=20, metavar="N")
    parser.add_argument("--first", type=int, default=0, metavar="I", help="begin with this run")
    parser.add_argument("--jobs", type=int, default=3, metavar="N", help="runs at a time")
    parser.add_argument("--commands", default=",".join(command for command in COMMANDS if command not in ALONE), help="such as pagerank,bfs")
    parser.add_argument("--transports", default="tcp,tcp,tcp,dpdk", help="to draw from")
    parser.add_argument("--program", default=ROOT / "build/edgewire", metavar="FILE")
    options = parser.parse_args()
    came, commands, transports = (collections.Counter() for _ in range(3))
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        jobs = Jobs(options.program, folder, 11, 10, "200k")
        (folder / "hosts").write_text(f"{address(0)}\n{address(1)}\n")
        (folder / "secret").touch(mode=0o600)
        (folder / "secret").write_text("a secret of the lab\n")
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            runs = range(options.first, options.first + options.runs)
            for run, (done, command, transport, end, changed, faults) in zip(runs, pool.map(
                    lambda run: one_run(jobs, options.seed, run, options.transports.split(","), options.commands.split(",")), runs)):
                came.update({end: 1, "changed": changed, "touched": int(changed > 0)})
                commands[command] += 1
                transports[transport] += 1
                print(f"{run}: {done}" + "".join(f"\n  {fault}" for fault in faults), flush=True)
    for what, counted in (("transports", transports), ("commands", commands)):
        print(f"{what}: {'; '.join(f'{name} {number}' for name, number in counted.most_common())}")
    print(f"{came['changed']} frames were changed in {came['touched']} runs; {came['right']} runs right, {came['ended']} ended with a line")
    print(f"seed {options.seed}: {options.runs} runs, {came['wrong']} violations\n"
          f"{options.runs - came['wrong']} passed, {came['wrong']} failed, 0 skipped")
    return 1 if came["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
