#!/usr/bin/python3
"""Runs the tests of a build folder and says what happened; builds nothing.

Unit tests are the doctest programs that meson knows, end-to-end tests are pytest's in tests/end_to_end, and the rules of
the house are tests/check_includes.py. Each test program and each pytest worker runs in namespaces and an environment of
its own. A test that fails by chance is run once more, alone, and counts as unstable when it passes then; crashes,
reports of sanitizers and wrong values are never repeated. Each file of tests has a line when it has ended, and each reason for which tests
were skipped has one at the end. The last line is `N passed, N failed, N skipped`, counting
test cases; the exit status is 1 when any failed.
"""

import argparse
import json
import os
import re
import subprocess
import sys

from runner import end_to_end, schedules, unit
from runner.commands import ROOT, clean_environment, program_of, run, run_together_if_need_be, tail
from runner.outcomes import Tally

FAST = "not slow and not machine and not launcher and not dpdk and not links and not measured"
SEED = 1  # of the sample of matrix tests that a fast run takes: the same one for everybody


def run_house_rules(tally):
    """Each line of the checker is `ok NAME` or `not ok NAME: why`, the form of the Test Anything Protocol."""
    checker = ROOT / "tests/check_includes.py"
    code, output = run([str(checker)], 60, cwd=ROOT, env=clean_environment())
    passed = len(re.findall(r"^ok ", output, re.MULTILINE))
    broken = re.findall(r"^not ok ([^:]+): (.*(?:\n  .*)*)", output, re.MULTILINE)
    for name, why in broken:
        tally.fail(f"house rule: {name}", why)
    tally.passed += passed
    if (code != 0 and not broken) or passed + len(broken) == 0:
        tally.fail("house rules", tail(output))
    for note in re.findall(r"^# (.*)", output, re.MULTILINE):
        print(f"note: {note}")


def name_missing_backends(build, tally):
    """Backends that this build left out are skipped tests with a reason, not silence."""
    listed = subprocess.run(["meson", "introspect", "--dependencies", str(build)], capture_output=True, text=True)
    found = {dependency["name"] for dependency in json.loads(listed.stdout)} if listed.returncode == 0 else set()
    for backend, library, package in (("verbs", "libibverbs", "libibverbs-dev"), ("dpdk", "libdpdk", "libdpdk-dev")):
        if library not in found:
            tally.skip(f"backend {backend}", f"not built: {library} not found (apt-get install {package}) or switched off")


def read_options():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default="build", metavar="DIR", help="build folder (default: build)")
    parser.add_argument("--only", choices=("unit", "end-to-end"), help="one of the two kinds of tests")
    parser.add_argument("--wide", metavar="DIR", help="build folder with edgewire-wide, for the tests that compare the two programs")
    parser.add_argument("--units", default="", metavar="NAME,NAME", help="only these unit test programs")
    parser.add_argument("--marker", default="", metavar="EXPRESSION", help="only end-to-end tests with these markers of pytest")
    parser.add_argument("--all", action="store_true", help="slow end-to-end tests, too, unless --marker chooses")
    parser.add_argument("--whole", action="store_true", help="all cases of matrix tests, not a sample")
    parser.add_argument("--seed", type=int, default=SEED, metavar="N", help=f"draws the sample, or the first schedule (default: {SEED})")
    parser.add_argument("--fuzz-seconds", type=int, default=0, metavar="N", help="how long each fuzz test runs (default: a moment)")
    parser.add_argument("--fuzz-seed", type=int, metavar="N", help="where fuzz tests begin that run for so long (default: anywhere)")
    parser.add_argument("--schedules", type=int, default=0, metavar="N",
                        help="only the unit test cases in which threads share something, each under N schedules, from --seed on")
    parser.add_argument("--at-once", type=int, default=os.cpu_count() + 1, metavar="N",
                        help="test programs and pytest workers side by side (default: one more than cores, since some wait)")
    parser.add_argument("--verbose", action="store_true", help="name each skipped test")
    options = parser.parse_args()
    options.units = [name for name in options.units.split(",") if name]
    return options


def main():
    options = read_options()
    build = (ROOT / options.build).resolve()
    tally = Tally(options.verbose)
    run_together_if_need_be()
    if options.schedules:
        schedules.run_all(build, tally, options.units, options.at_once, options.seed, options.schedules)
    elif program_of(build) is None:
        tally.fail("build", f"{build}/edgewire is not there: build first (make build)")
    else:
        if options.only != "end-to-end":
            unit.run_all(build, tally, options.units, options.at_once, options.fuzz_seconds, options.fuzz_seed)
        if options.only != "unit":
            settings = {"EDGEWIRE_TEST_SEED": "" if options.whole else str(options.seed)}
            if options.wide:
                settings["EDGEWIRE_WIDE"] = str((ROOT / options.wide / "edgewire-wide").resolve())
            expression = "" if options.all or options.marker else FAST
            end_to_end.run_all(build, tally, options.marker, expression, options.at_once, settings)
            if expression:
                end_to_end.name_left_out(build, tally, options.marker, expression, settings)
        if not options.marker and not options.units:
            name_missing_backends(build, tally)
            run_house_rules(tally)
    tally.print_end()
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
