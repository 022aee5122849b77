"""Test cases of the suite `schedules`, each under many seeded schedules: tests/schedule/yields.cpp, preloaded into programs of
a build with the thread sanitizer, delays threads in places that the seed chooses."""

import collections
import concurrent.futures
import re
import shlex
import subprocess
import threading

from runner import unit
from runner.commands import ROOT, clean_environment, tail
from runner.outcomes import print_file

SUITE = "-ts=schedules"
LIMIT_S = 600  # of one run, which takes seconds: what takes longer hangs


class Scheduled:
    """A test program, and what came of it under the schedules so far."""

    def __init__(self, name, command, environment, yields):
        self.name, self.command, self.environment, self.yields = name, command, environment, yields
        self.cases = cases_of(command)
        self.runs, self.seconds = 0, 0.0
        self.failed_seed = None
        self.lock = threading.Lock()

    def run(self, seed, tally, build):
        """After a failure no other schedules are tried: many would fail, or hang, in the same way."""
        if self.failed_seed is not None:
            return
        chosen = ["env", f"LD_PRELOAD={self.yields}", f"EDGEWIRE_SCHEDULE_SEED={seed}", *self.command, SUITE]
        program = unit.Program(self.name, chosen, self.environment, limit_s=LIMIT_S)
        with self.lock:
            self.runs += 1
            self.seconds += program.seconds
            failures = [(case.get("name"), f"{unit.failure_text(case)}\n{tail(program.output)}")
                        for case in program.cases if not program.passes(case)]
            if text := program.crash():
                failures.append(("the whole program", text))
            if not failures or self.failed_seed is not None:
                return
            self.failed_seed = seed
            replay = f"tests/run.py --build {shlex.quote(str(build))} --units {self.name} --schedules 1 --seed {seed}"
            for case, text in failures:
                tally.fail(f"{self.name}: {case}, under the schedule of seed {seed}", f"again: {replay}\n{text}")

    def report(self, tally):
        outcomes = ["passed"] * len(self.cases) if self.failed_seed is None else ["failed"]
        tally.passed += outcomes.count("passed")
        print_file(f"{self.name} under {self.runs} schedules", outcomes, self.seconds)


def cases_of(command):
    told = subprocess.run([*command, SUITE, "--list-test-cases"], capture_output=True, text=True, env=clean_environment())
    return [line for line in told.stdout.splitlines() if line and not re.match(r"\[doctest\]|=+$", line)]


def run_all(build, tally, wanted, side_by_side, first, count):
    """Runs the programs (`wanted`: their names; none: all that have such cases) with the seeds from `first` on."""
    yields = build / "tests/schedule/libyields.so"
    if not yields.exists():
        tally.fail("schedules", f"{yields} is not there: the build needs `tools/build-options tsan`")
        return
    programs = [Scheduled(name, command, environment, yields) for name, command, environment in unit.listed(build)
                if (name in wanted if wanted else not name.endswith("_v2"))]
    programs = [program for program in programs if program.cases]
    missing = set(wanted) - {program.name for program in programs}
    if not programs or missing:
        tally.fail("schedules", f"no cases of the suite `schedules` in {', '.join(sorted(missing)) or build}")
    print(f"schedules of the seeds {first} to {first + count - 1}", flush=True)
    left = collections.Counter({program: count for program in programs})
    with concurrent.futures.ThreadPoolExecutor(2 * side_by_side) as pool:  # their threads sleep half of the time
        running = {pool.submit(program.run, seed, tally, build): program
                   for program in programs for seed in range(first, first + count)}
        for done in concurrent.futures.as_completed(running):
            done.result()
            program = running[done]
            left[program] -= 1
            if left[program] == 0:
                program.report(tally)
