#!/usr/bin/python3
"""Does to the processes of jobs what docs/promises.md speaks of, and checks what it says: kills.py SEED [--runs N].

A run is a small job of one command, started in one way. Its processes are ended by signals, stopped for longer than the peer
timeout, stopped for a while, started up to 3 s apart, or left alone. What happens to whom, and in which phase of the job,
follows from the seed and the number of the run. A job that nothing has ended must end right. Others end with a right result or with a
line that says why. Nothing may be left: no process, no half result, no other file, no lock. The ways local-hosts, dpdk and srun
need root. verbs needs an RDMA device: `rdma-vm 'tests/lab/kills.py SEED --ways verbs'` has one.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import fcntl
import filecmp
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback

from small_jobs import COMMANDS, EVERY, RECORDS, ROOT, Jobs, keep_result_line, same_values, state_of
from watched_job import FOR_GOOD_S, LAB, LAUNCHERS, PAUSE_S, PHASES, RETRY, WAYS, Deed, WatchedJob, commands_of, is_pause, peer_timeout_s, phases_of

from processes import causes  # watched_job knows where it is
from rights import no_hosts

LATE_S = 3  # at most
PATIENCE_S = 90
ENDS = [*3 * [signal.SIGKILL], signal.SIGTERM, signal.SIGINT, signal.SIGHUP]
KINDS = {"nothing": 1, "pauses": 5, "end": 12, "silence": 3}  # of runs, and their shares


def cannot_start(program, way):
    """Why this machine has no jobs of this way; empty where it has."""
    needed = {"mpirun": ["mpirun"], "srun": ["srun", "slurmctld", "slurmd", "munged", "ip", "nsenter"]}.get(way, [])
    if missing := [name for name in needed if not shutil.which(name)]:
        return f"not installed: {', '.join(missing)}"
    for line in subprocess.run([program, "transports"], capture_output=True, text=True, check=True).stdout.splitlines():
        if line.split()[:2] == [way, "no"]:
            return line.partition(": ")[2]
    return no_hosts() if way in ("local-hosts", "dpdk", "srun") else ""


def draw(dice, turn, way, commands):
    """A command, the deeds of a run, and by how much each process of a host list starts late. Phases take turns: the command is one
    that has the phase."""
    able = {command: phases_of(command) for command in commands_of(way) if command.removesuffix(RETRY) in commands}
    phases = sorted(set().union(*able.values()), key=PHASES.index)
    main_phase = phases[turn % len(phases)]
    command = dice.choice([one for one, phases in able.items() if main_phase in phases for _ in range(3 if one == RECORDS else 1)])
    kind = dice.choices(list(KINDS), KINDS.values())[0]
    ranks, parent = list(range(WAYS[way][0])), [] if way == "hosts" else ["parent"]

    def deed(number, whom, stop_s=0.0):
        phase = dice.choice(able[command]) if deeds else main_phase
        part = dice.uniform(0, 0.1 if phase == "write" else 0.6)  # a file is written in no time
        return Deed(phase, "parent" if command == RECORDS else dice.choice(whom), number, stop_s, part)

    deeds = []
    if kind == "pauses" or kind == "end" and dice.random() < 0.25:
        for _ in range(dice.choice([1, 1, 2, 3])):
            deeds.append(deed(signal.SIGSTOP, ranks + parent, PAUSE_S * 10 ** dice.uniform(-1.5, 0)))
    if kind == "end":
        for _ in range(dice.choice([1, 1, 1, 2])):
            deeds.append(deed(dice.choice(ENDS), ranks + parent))
    if kind == "silence" and command != RECORDS:  # a parent of our own ends those who stay stopped when the others have ended
        is_local, long_s = way not in (*LAUNCHERS, "hosts"), 1.5 * peer_timeout_s(way, is_short=True)
        deeds.append(deed(signal.SIGSTOP, ranks, dice.choice([long_s, FOR_GOOD_S]) if is_local else long_s))
    late = [dice.choice([0, dice.uniform(0, LATE_S)]) for _ in ranks] if way == "hosts" and dice.random() < 0.6 else []
    return command, sorted(deeds, key=lambda one: PHASES.index(one.phase)), late


def what_is_left(job):
    """Processes, locks, files and shared memory that must not be there any more."""
    faults, deadline = [], time.monotonic() + job.lab.patience()
    while (pids := job.left_processes()) and time.monotonic() < deadline:
        time.sleep(0.01)
    faults += [f"process {pid} is left" for pid in pids]
    for path in (job.folder / "run").rglob("core-*"):
        with open(path, "rb+") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                faults.append(f"a lock is left: {path}")
    left = [path for path in job.folder.rglob("*") if ".tmp." in path.name or path.parent.name == "temp" or path.parent.name == "out" and path != job.result]
    left += [path for path in (job.folder / "tmp").iterdir() if job.way not in LAUNCHERS]  # a launcher that is killed leaves its own
    faults += [f"files are left: {left}"] * bool(left)
    pids = {str(pid) for pid in [*job.ranks.values(), *(process.pid for process in job.processes.values())]}
    if shared := [name for name in os.listdir("/dev/shm") if "edgewire" in name and any(pid in name for pid in pids)]:
        faults.append(f"shared memory is left: {shared}")
    return faults


def outlives_losses(job):
    """Whether a job that tries again has lost others than its first process, and in its tasks only."""
    deeds = [(phase, deed) for phase, deed, _ in job.done if not is_pause(deed)]
    return job.command.endswith(RETRY) and bool(deeds) and all(
        phase == "retry" and deed.whom not in (0, "parent") and deed.number in (signal.SIGKILL, signal.SIGSTOP) for phase, deed in deeds)


def judge(job, alike=filecmp.cmp):
    """What is wrong with the end of a job."""
    if job.first.startswith("tasks"):
        keep_result_line((job.folder / f"said.{job.names[0]}").read_text(), job.result)
    state, status = state_of(job.result, job.lab.jobs.expected(job.first, job.count), alike), job.status()
    said = {name: job.lines(name) for name in (job.ranks if job.way in LAUNCHERS else job.names)}
    faults, killed = what_is_left(job), {whom for whom, numbers in job.hurt.items() if signal.SIGKILL in numbers}
    if state == "wrong":
        faults.append("a wrong result")
    if status[job.names[0]] == 0 and state != "right":
        faults.append(f"status 0, and of the result {state}")
    all_killed = "parent" in killed or killed >= set(job.ranks) or job.way in LAUNCHERS
    if state == "part" and not list(job.result.iterdir()) and not all_killed:
        faults.append("an empty folder is left")
    if odd := [line for lines in said.values() for line in lines if not line.startswith("edgewire: ")]:
        faults.append(f"other lines: {odd}")
    if not job.hurt and (any(status.values()) or state != "right"):
        faults.append(f"the result is {state}, though nothing has ended the job")
    alive = {name: number for name, number in status.items() if name not in job.hurt}
    if outlives_losses(job) and (any(alive.values()) or state != "right"):
        faults.append("tasks do not outlive a loss")
    taking_leave = state == "right" and job.names[0] in job.hurt  # the first process lets the others go, one after the other
    if len({number == 0 for number in alive.values()}) > 1 and not taking_leave:
        faults.append("of those to which nothing happened, some say that all is well")
    for name, number in status.items():
        by_signals = [one for sent in job.hurt.get(name, ()) for one in (-sent, 128 + sent)]
        if number not in (0, 1, *by_signals) and job.way not in LAUNCHERS:
            faults.append("a status that nobody expects")
        if number == 1 and name not in job.hurt and not causes(said[name] if name in said else [line for each in (*said, name) for line in job.lines(each)]):
            faults.append(f"{name}: no line says why")
    return faults + [f"  {name}: {line}" for name in dict.fromkeys([*said, *job.names]) for line in job.lines(name) if faults]


def run(job, alike=filecmp.cmp):
    """The faults of a job."""
    if not job.watch():
        if said := job.give_up():
            return [f"no end within {job.lab.patience():.0f} s", said]
        job.launcher_hung = True
    return judge(job, alike)


class Lab:
    """What all runs share: jobs, how long their phases are when nothing happens to them, and a Slurm cluster."""

    def __init__(self, jobs, folder, patience_s):
        self.jobs, self.folder, self.patience_s, self.slurm = jobs, folder, patience_s, folder / "slurm"
        self.lock, self.locks, self.lengths = threading.Lock(), {}, {}
        self.environment = {**os.environ, "EDGEWIRE_LAB": f"ew{os.getpid()}k", "EDGEWIRE_LAB_NET": str(os.getpid() % 200)}

    def patience(self):
        """Seconds for a job to end after the last thing that was done, on a machine as busy as now: tasks wait for each other thousands of times."""
        return self.patience_s * max(1, os.getloadavg()[0] / (4 * os.cpu_count()))

    @contextlib.contextmanager
    def cluster(self):
        try:
            subprocess.run([LAB / "slurm", "up", self.slurm], check=True, env=self.environment, stdin=subprocess.DEVNULL)
            yield
        finally:
            subprocess.run([LAB / "slurm", "down", self.slurm], check=True, env=self.environment, stdin=subprocess.DEVNULL)

    def length(self, way, command, phase):
        """Seconds from when a phase is first seen until it is last seen. The first job of its kind tells; it must end well."""
        with self.lock:
            lock = self.locks.setdefault((way, command), threading.Lock())
        with lock:
            if (way, command) not in self.lengths:
                job = WatchedJob(self, way, command, self.folder / f"{way} {command}")
                if faults := run(job):
                    raise RuntimeError("\n".join([f"{command}, {way}: nothing, and", *faults]))
                shutil.rmtree(job.folder)
                self.lengths[way, command] = {name: last - first for name, (first, last) in job.sights.items()}
            return self.lengths[way, command].get(phase, 0.0)


def one_run(lab, seed, number, ways, commands):
    """What was done, in words; the job; and what was wrong with its end."""
    dice, way = random.Random(f"{seed} {number}"), ways[number % len(ways)]
    command, deeds, late = draw(dice, number // len(ways), way, commands)
    lab.length(way, command, "start")
    job = WatchedJob(lab, way, command, lab.folder / f"run {number}", deeds, late)
    faults = run(job)
    said = [f"starts after {', '.join(f'{one:.2f}' for one in late)} s"] * bool(late) + [what for _, _, what in job.done]
    done = f"{command}, {way}: {'; '.join(said) or 'nothing'}: status {', '.join(map(str, job.status().values()))}"
    if job.hurt and not faults and command in EVERY and dice.random() < 0.3:
        shutil.rmtree(job.folder / "out")
        resumes = (job.folder / "state/manifest").exists()
        if not resumes:  # files without a manifest are no checkpoint
            shutil.rmtree(job.folder / "state", ignore_errors=True)
        again = WatchedJob(lab, way, command, job.folder, more=["--resume", "state"] * resumes)
        # The sums of bc are then added up in another order.
        faults = [f"when it is run again: {fault}" for fault in run(again, same_values if command == "bc" else filecmp.cmp)]
        done += ", and is resumed" if resumes else ", and runs again"
    if not faults:
        shutil.rmtree(job.folder)
    return done, job, faults


class Counts:
    """Of runs, by what they were and what was done to them."""

    def __init__(self):
        self.counts = collections.defaultdict(collections.Counter)

    def add(self, job):
        self.counts["ways"][job.way] += 1
        self.counts["commands"][job.command] += 1
        self.counts["phases"].update(phase for phase, _, _ in job.done)
        self.counts["deeds"].update(f"{deed.number.name}{', SIGCONT' * is_pause(deed)}" for _, deed, _ in job.done)
        self.counts["deeds"].update({"late starts": any(job.late), "nothing": not job.done and not any(job.late)})
        self.counts["launchers that did not end"].update([job.way] * job.launcher_hung)
        self.counts["too late, when the job had ended"].update(deed.phase for deed in job.missed)

    def lines(self):
        return [f"{what}: {'; '.join(f'{name} {number}' for name, number in one.most_common() if number)}"
                for what, one in self.counts.items() if one.total()]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed", type=int)
    parser.add_argument("--runs", type=int, default=20, metavar="N")
    parser.add_argument("--first", type=int, default=0, metavar="I", help="begin with this run")
    parser.add_argument("--jobs", type=int, default=3, metavar="N", help="runs at a time")
    parser.add_argument("--ways", default=",".join(way for way in WAYS if way != "verbs"), help="to draw from: how jobs are started")
    parser.add_argument("--commands", default=",".join(COMMANDS), help="to draw from")
    parser.add_argument("--patience", type=float, default=PATIENCE_S, metavar="S", help="for the end of a job, after the last thing that was done (more on a busy machine)")
    parser.add_argument("--program", default=ROOT / "build/edgewire", metavar="FILE")
    options = parser.parse_args()
    os.environ["PATH"] += ":/usr/sbin:/sbin"
    for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):  # what is ignored here would stay ignored in jobs
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    ways, commands = options.ways.split(","), options.commands.split(",")
    if unknown := [*(set(ways) - set(WAYS)), *(set(commands) - set(COMMANDS))]:
        parser.error(f"unknown: {', '.join(unknown)}; there are the ways {', '.join(WAYS)} and the commands {', '.join(COMMANDS)}")
    for way in ways:
        if why := cannot_start(options.program, way):
            parser.error(f"{way}: {why}: leave it out with --ways")
    counts, violations = Counts(), 0

    def guarded(number):
        try:
            return one_run(lab, options.seed, number, ways, commands)
        except Exception:  # what a run has found must not be lost
            return "the run could not be made", None, traceback.format_exc().splitlines()

    with tempfile.TemporaryDirectory() as temporary, contextlib.ExitStack() as stack:
        folder = pathlib.Path(temporary)
        lab = Lab(Jobs(options.program, folder, 14, 60, "24M", checkpoints=True), folder, options.patience)
        if "srun" in ways:
            stack.enter_context(lab.cluster())
        with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
            runs = range(options.first, options.first + options.runs)
            for number, (done, job, faults) in zip(runs, pool.map(guarded, runs)):
                violations += bool(faults)
                print(f"{number}: {done}" + "".join(f"\n  {fault}" for fault in faults), flush=True)
                if job:
                    counts.add(job)
    print("\n".join([*counts.lines(), f"seed {options.seed}: {options.runs} runs, {violations} violations",
                     f"{options.runs - violations} passed, {violations} failed, 0 skipped"]))
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())
