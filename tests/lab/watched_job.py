"""A small job whose processes are watched and signalled: what kills.py has many of."""

import collections
import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time

from small_jobs import COMMANDS, DENSE, EVERY, RECORDS, ROOT, is_kernel, result_name

sys.path[:0] = [str(ROOT / "tests/end_to_end"), str(ROOT / "tests")]
from processes import children, is_gone, own_places  # noqa: E402
from runner.commands import descendants, stacks  # noqa: E402

LAB = ROOT / "tests/lab"
PEER_TIMEOUT_S, SHORT_PEER_TIMEOUT_S = 10, 2.5  # the latter where a process is stopped for longer
EMULATED = 5  # times as long is a timeout in a virtual machine whose processors are emulated
PAUSE_S = 2  # at most: the process goes on before the peer timeout
FOR_GOOD_S = 1e9
TO_PREPARE_S = 0.02  # of CPU time, for tasks
DPDK = ["--local-hosts", "--transport", "dpdk", "--dpdk-port", "net_af_packet0,iface=eth0"]
# How many processes, and the options for that.
WAYS = {"shm": (3, ["-p", "3", "--transport", "shm"]), "tcp": (3, ["-p", "3", "--transport", "tcp"]), "hosts": (3, []),
        "local-hosts": (2, ["-p", "2", "--local-hosts"]), "dpdk": (2, ["-p", "2", *DPDK]), "mpirun": (2, []), "srun": (3, []),
        "verbs": (2, ["-p", "2", "--transport", "verbs"])}
LAUNCHERS = ["mpirun", "srun"]
RETRY = " --retry"  # of commands of tasks, where the way allows it
# "retry" are tasks that outlive a loss.
PHASES = ["start", "plan", "read", "iterate", "checkpoint", "tasks", "retry", "spill", "merge", "write"]

# Something that is done to a process when `part` of a phase has passed: a signal, and SIGCONT after stop_s.
Deed = collections.namedtuple("Deed", "phase whom number stop_s part")


def peer_timeout_s(way, is_short=False):
    return (SHORT_PEER_TIMEOUT_S if is_short else PEER_TIMEOUT_S) * (EMULATED if way == "verbs" else 1)


def is_pause(deed):
    return 0 < deed.stop_s <= PAUSE_S


def cpu_s(pid):
    """CPU time of the first thread of a process, which is its only worker; 0 when it is gone."""
    with contextlib.suppress(OSError, IndexError):
        return int(pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()[0]) / 1e9
    return 0.0


def phases_of(command):
    if command.startswith("tasks"):
        return ["start", "retry" if command.endswith(RETRY) else "tasks"]
    if is_kernel(command):
        return ["start", *["plan"] * (command in DENSE), "iterate", *["checkpoint"] * (command in EVERY), "write"]
    return {RECORDS: ["write"], "sort --memory 6M": ["start", "read", "spill", "merge"]}.get(command, ["start", "read", "write"])


def commands_of(way):
    """What the way can start: one file is written on one host only, and only some links outlive a loss."""
    commands = [command for command in COMMANDS if way == "shm" or command != RECORDS]
    if way in ("hosts", "local-hosts", "dpdk", "srun"):
        commands.remove("convert")
    return commands + [command + RETRY for command in commands if command.startswith("tasks") and way in ("shm", "tcp", "hosts")]


class WatchedJob:
    """A job, what was done to it, and when. `late`: seconds after which each process of a host list starts."""

    def __init__(self, lab, way, command, folder, deeds=(), late=(), more=()):
        self.lab, self.way, self.command, self.folder, self.deeds = lab, way, command, folder, list(deeds)
        self.first, self.more, self.count = command.removesuffix(RETRY), list(more), WAYS[way][0]
        self.result = folder / "out" / result_name(self.first)
        self.names = list(range(self.count)) if way == "hosts" else ["parent"]
        self.late = list(late) or [0] * self.count
        self.waiting = list(self.names)  # to be started
        self.processes, self.ranks, self.hurt = {}, {}, collections.defaultdict(set)
        self.connected, self.sights = {}, {}  # ranks that know their peers, and the CPU time until then; when each phase was first and last seen
        self.done, self.missed, self.waking = [], [], []  # what was done in which phase; what came too late; who is to go on, and when
        self.launcher_hung = False
        self.begin = self.last = time.monotonic()
        for name in ("out", "temp", "run", "tmp"):
            (folder / name).mkdir(parents=True, exist_ok=True, mode=0o700)
        if way == "hosts":
            (folder / "hosts").write_text("".join(f"{place}\n" for place in own_places(self.count)))
            (folder / "secret").touch(0o600)
            (folder / "secret").write_text("a secret of the lab\n")
        if way in LAUNCHERS:
            (folder / "each").write_text(f'#!/bin/sh\necho $$ >pid.$PMIX_RANK\nexec {lab.jobs.program} "$@" 2>stderr.$PMIX_RANK\n')
            (folder / "each").chmod(0o755)

    def words(self, name):
        words = self.lab.jobs.words(self.first, f"out/{self.result.name}")
        if self.command == RECORDS:
            return [self.lab.jobs.program, *words]
        timeout_s = peer_timeout_s(self.way, is_short=any(one.stop_s > PAUSE_S for one in self.deeds))
        words += [*WAYS[self.way][1], "-w", "1", "--start-timeout", "30", "--peer-timeout", str(timeout_s), *self.more]
        words += ["--plan-cache=cache"] * (self.command in DENSE) + ["--temp", "temp"] * self.command.startswith("sort")
        words += ["--retry"] * self.command.endswith(RETRY)
        if self.way == "hosts":
            words += ["--hosts", "hosts", "--secret-file", "secret", "--rank", str(name)]
        count = str(self.count)
        launch = {"mpirun": ["mpirun", "--allow-run-as-root", "--oversubscribe", "-n", count],
                  "srun": [LAB / "slurm", "run", self.lab.slurm, "srun", "--mpi=pmix", "-N", count, "-n", count, "--kill-on-bad-exit=1"]}
        return [*launch[self.way], "./each", *words] if self.way in LAUNCHERS else [self.lab.jobs.program, *words]

    def start_due(self):
        for name in [name for name in self.waiting if self.way != "hosts" or self.begin + self.late[name] <= time.monotonic()]:
            self.waiting.remove(name)
            environment = {**self.lab.environment, "XDG_RUNTIME_DIR": f"{self.folder}/run", "TMPDIR": f"{self.folder}/tmp",
                           "EDGEWIRE_LAB_RUN": str(self.folder)}
            with open(self.folder / f"said.{name}", "w") as said, open(self.folder / f"stderr.{name}", "w") as stderr:
                # Whoever watches has the first call on the cores.
                self.processes[name] = subprocess.Popen(["nice", "-n", "3", *self.words(name)], stdin=subprocess.DEVNULL, stdout=said, stderr=stderr,
                                                        cwd=self.folder, start_new_session=True, env=environment)
            self.last = time.monotonic()

    def find_ranks(self):
        if self.way == "hosts":
            self.ranks = {name: process.pid for name, process in self.processes.items()}
        elif self.way in LAUNCHERS:
            for rank in set(range(self.count)) - set(self.ranks):
                with contextlib.suppress(OSError, ValueError):
                    self.ranks[rank] = int((self.folder / f"pid.{rank}").read_text())
        elif len(self.ranks) < self.count:  # before all are there, also `ip` or `tc`, which set up local hosts
            self.ranks = dict(enumerate(children(self.processes["parent"].pid)))

    def pid_of(self, whom):
        return self.processes["parent"].pid if whom == "parent" else self.ranks.get(whom)

    def held_by(self, rank, pid):
        """The folders of this run in which the process has files open. An output that is still empty may be only a trial."""
        held, links = set(), []
        with contextlib.suppress(OSError):
            for file in os.scandir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    links.append(os.readlink(file.path))
                    name = links[-1].removeprefix(f"{self.folder}/").split("/")[0]
                    if name and (name != "out" or os.stat(file.path).st_size > 0):
                        held.add(name)
        signs = ["/memfd:nohuge"] if self.way == "dpdk" else ["/memfd:edgewire", "/dev/infiniband", f"{self.folder}/run/"]
        if any(link.startswith(tuple(signs)) for link in links) or self.way != "dpdk" and sum("[eventpoll]" in link for link in links) > 1:
            self.connected.setdefault(rank, cpu_s(pid))
        return held

    def work_has_begun(self):
        """Whether all have used so much CPU time since they knew each other that the first run of tasks has begun: nothing outlives a loss before."""
        return all(cpu_s(self.ranks[rank]) > before_s + TO_PREPARE_S for rank, before_s in self.connected.items())

    def phase(self):
        """What the processes do, by the files that they hold."""
        phases, pids = phases_of(self.command), {"parent": self.pid_of("parent")} if self.command == RECORDS else self.ranks
        held = set().union(*(self.held_by(rank, pid) for rank, pid in pids.items()))
        if "out" in held or self.result.is_file():  # it is written, or was just now
            phase = phases[-1]
        elif len(self.connected) < self.count or phases[-1] == "retry" and not self.work_has_begun():
            phase = phases[0]
        elif "state" in held:
            phase = "checkpoint"
        elif "temp" in held:
            phase = "spill"
        else:
            phase = "iterate" if list((self.folder / "cache").glob("*")) else phases[min(1, len(phases) - 1)]
        first, _ = self.sights.get(phase, (time.monotonic(), 0))
        self.sights[phase] = first, time.monotonic()
        return phase

    def is_time_for(self, deed, phase, now):
        if self.pid_of(deed.whom) is None:
            return False
        # A job iterates and writes checkpoints in turns.
        if PHASES.index(phase) > PHASES.index(deed.phase) and (phase, deed.phase) != ("checkpoint", "iterate"):
            return True
        return phase == deed.phase and now >= self.sights[phase][0] + deed.part * self.lab.length(self.way, self.command, phase)

    def do(self, deed, phase):
        pid, number = self.pid_of(deed.whom), deed.number
        if is_gone(pid):
            self.missed.append(deed)
            return
        if not is_pause(deed):
            self.hurt[deed.whom].add(number)
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)
        self.last = time.monotonic()
        if number == signal.SIGSTOP and deed.stop_s < FOR_GOOD_S:
            self.waking.append((self.last + deed.stop_s, pid))
        length = "" if number != signal.SIGSTOP else " for good" if deed.stop_s == FOR_GOOD_S else f" for {deed.stop_s:.2f} s"
        whom = "the parent" if deed.whom == "parent" else f"rank {deed.whom}"
        self.done.append((phase, deed, f"{number.name}{length} to {whom} in {phase} after {self.last - self.begin:.3f} s"))

    def wake_due(self):
        for one in [one for one in self.waking if one[0] <= time.monotonic()]:
            self.waking.remove(one)
            self.last = time.monotonic()
            with contextlib.suppress(ProcessLookupError):
                os.kill(one[1], signal.SIGCONT)

    def watch(self):
        """Does what is to be done, until all has ended. False when that does not come."""
        deeds, learns = list(self.deeds), not self.deeds
        while True:
            self.start_due()
            self.wake_due()
            if self.processes:
                self.find_ranks()
            if not self.waiting and all(process.poll() is not None for process in self.processes.values()) \
                    and all(map(is_gone, self.ranks.values())):
                self.missed += deeds
                return True
            if (deeds or learns) and self.ranks or self.command == RECORDS:
                phase = self.phase()
                if deeds and self.is_time_for(deeds[0], phase, time.monotonic()):
                    self.do(deeds.pop(0), phase)
            if time.monotonic() > self.last + self.lab.patience() and not self.waking:
                return False
            is_short = deeds and deeds[0].phase in ("write", "checkpoint") and len(self.connected) == self.count
            time.sleep(0.0002 if is_short else 0.001 if deeds or learns else 0.01)

    def is_ours(self, pid):
        try:
            return os.path.realpath(f"/proc/{pid}/exe") == str(self.lab.jobs.program) and not is_gone(pid)
        except OSError:
            return False

    def left_processes(self):
        """Of this run, by their environment."""
        mark, found = f"EDGEWIRE_LAB_RUN={self.folder}".encode(), []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if mark in (process / "environ").read_bytes().split(b"\0"):
                    found.append(int(process.name))
        return found

    def give_up(self):
        """Ends what does not end, and gives its stacks; empty where no process of ours is among it: mpirun hangs at its own end at times."""
        pids = [*{*self.left_processes(), *(pid for process in self.processes.values() for pid in (process.pid, *descendants(process.pid)))}]
        said = stacks(pids) if any(map(self.is_ours, pids)) else ""
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for process in self.processes.values():
            process.wait()
        return said

    def status(self):
        return {name: process.returncode for name, process in self.processes.items()}

    def lines(self, name):
        """What a process, or what started all of them, has said on stderr."""
        path = self.folder / f"stderr.{name}"
        return path.read_text(errors="replace").splitlines() if path.exists() else []
