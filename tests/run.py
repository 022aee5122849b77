#!/usr/bin/python3
"""Runs every test of a build folder and says what happened; builds nothing.

Unit tests are the doctest binaries that meson knows, end-to-end tests are pytest's in tests/end_to_end, and the rules
of the house are tests/check_includes.py. The last line is `N passed, N failed, N skipped`, counting test cases; the
exit status is 1 when any failed. A unit test skips itself by MESSAGE("skipped: reason") and returning.
"""

import argparse
import collections
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as ET

ROOT = pathlib.Path(__file__).resolve().parent.parent
UNIT_TIMEOUT_S = 900
END_TO_END_TIMEOUT_S = 2700
SLOWEST = 15  # test cases that are named with their time


class Tally:
    """What happened so far; failures and skips are printed as they come."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def fail(self, name, text):
        self.failed += 1
        print(f"FAILED  {name}\n" + "".join(f"    {line}\n" for line in text.strip().splitlines()), end="")

    def skip(self, name, reason):
        self.skipped += 1
        print(f"skipped {name}: {reason}")


def how_it_ended(code):
    if code >= 0:
        return f"exit status {code}"
    try:
        return f"ended by {signal.Signals(-code).name}"
    except ValueError:
        return f"ended by signal {-code}"


def run(command, timeout_s, **options):
    """Runs a command; returns its status, or text when it ran too long, and all that it printed. Ends its children
    with it."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                               start_new_session=True, text=True, errors="replace", **options)
    try:
        output, _ = process.communicate(timeout=timeout_s)
        return process.returncode, output
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        return f"still running after {timeout_s} s", output
    except KeyboardInterrupt:
        os.killpg(process.pid, signal.SIGKILL)
        raise


def tail(text, lines=40):
    return "\n".join(text.strip().splitlines()[-lines:])


def parse_cases(path, tag):
    """All complete elements `tag` of a result file, also of one that a crash cut short."""
    cases = []
    parser = ET.XMLPullParser(["end"])
    try:
        text = pathlib.Path(path).read_text(errors="replace")
        parser.feed(re.sub("[^\t\n\r -\ufffd]", "?", text))
        parser.close()
    except (OSError, ET.ParseError):
        pass
    try:
        for _, element in parser.read_events():
            if element.tag == tag:
                cases.append(element)
    except ET.ParseError:
        pass
    return cases


def squeeze(text):
    return " ".join((text or "").split())


def doctest_failure(case):
    lines = []
    for element in case.iter():
        where = f"{element.get('filename')}:{element.get('line')}"
        if element.tag == "Expression":
            lines.append(f"{where}: {element.get('type')}( {squeeze(element.findtext('Original'))} )")
            if element.findtext("Expanded"):
                lines.append(f"    values: {squeeze(element.findtext('Expanded'))}")
            lines += [f"    info: {squeeze(info.text)}" for info in element.findall("Info")]
            lines += [f"    threw: {squeeze(element.findtext(tag))}" for tag in ("Exception", "ExpectedException")
                      if element.findtext(tag)]
        elif element.tag == "Exception" and element.get("crash"):
            lines.append(f"exception: {squeeze(element.text)}")
        elif element.tag == "Message":
            lines.append(f"{where}: {squeeze(element.findtext('Text'))}")
    return "\n".join(lines) or "no assertion tells why"


def unit_tests(build):
    """[(name, command, environment)] of the unit tests."""
    listed = subprocess.run(["meson", "introspect", "--tests", str(build)], capture_output=True, text=True)
    if listed.returncode == 0 and (tests := json.loads(listed.stdout)):
        return [(test["name"], test["cmd"], test["env"]) for test in tests]
    return [(path.name, [str(path)], {}) for path in sorted((build / "tests/unit").glob("*_test"))]


def run_unit(build, tally):
    tests = unit_tests(build)
    if not tests:
        tally.fail("unit tests", f"{build} has none: is it built?")
    for name, command, environment in tests:
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            results = f"{folder}/results.xml"
            try:
                code, output = run([*command, "-r=xml", f"-o={results}"], UNIT_TIMEOUT_S, cwd=ROOT,
                                   env={**os.environ, **environment})
            except OSError as error:
                tally.fail(name, str(error))
                continue
            cases = parse_cases(results, "TestCase")
        failed_before = tally.failed
        passed = 0
        for case in cases:
            full_name = f"{name}: {case.get('name')}"
            messages = [squeeze(message.findtext("Text")) for message in case.iter("Message")]
            skips = [text[len("skipped:"):].strip() for text in messages if text.startswith("skipped:")]
            result = case.find("OverallResultsAsserts")
            if case.get("skipped"):
                tally.skip(full_name, "switched off in the source")
            elif result is None or result.get("test_case_success") != "true":
                tally.fail(full_name, doctest_failure(case))
            elif skips:
                tally.skip(full_name, "; ".join(skips))
            else:
                passed += 1
        tally.passed += passed
        if not cases:
            tally.fail(name, f"no test case ran ({code})\n{tail(output)}")
        elif code != 0 and (tally.failed == failed_before or not isinstance(code, int)):
            # A crash, a sanitizer's report or a leak, outside any assertion.
            why = how_it_ended(code) if isinstance(code, int) else code
            tally.fail(name, f"{why} after {len(cases)} test cases\n{tail(output)}")
        elif tally.failed > failed_before and output.strip():
            print(f"    output of {name}:\n" + "".join(f"    | {line}\n" for line in tail(output).splitlines()), end="")
        print(f"{name}: {passed} of {len(cases)} passed, {time.monotonic() - start:.1f} s", flush=True)


def print_times(cases):
    """Where the time went: the sum of each file, and the slowest test cases."""
    by_file = collections.Counter()
    for case in cases:
        by_file[case.get("classname", "").split(".")[-1]] += float(case.get("time", 0))
    for name, seconds in by_file.most_common():
        print(f"{name}: {seconds:.1f} s")
    for case in sorted(cases, key=lambda case: -float(case.get("time", 0)))[:SLOWEST]:
        print(f"    {float(case.get('time', 0)):6.1f} s  {case.get('classname', '').split('.')[-1]}::{case.get('name')}")


def run_end_to_end(build, tally, everything, marker, seed):
    folder = ROOT / "tests/end_to_end"
    if not any(folder.glob("test_*.py")):
        tally.skip("end-to-end tests", "there are none yet")
        return
    expression = " and ".join(part for part in (marker, "" if everything else "not slow") if part)
    if seed is not None:
        print(f"matrix tests: a sample, drawn by --seed {seed}; --whole or `make test-all` runs all of them", flush=True)
    environment = {**os.environ, "EDGEWIRE_TEST_SEED": "" if seed is None else str(seed), "EDGEWIRE": str(build / "edgewire"), "PYTHONDONTWRITEBYTECODE": "1"}
    pytest = ["/usr/bin/python3", "-m", "pytest", str(folder)]
    if not everything:
        _, output = run([*pytest, "--collect-only", "-q", "-m", "slow" + (f" and {marker}" if marker else "")], 120,
                        cwd=ROOT, env=environment)
        for name in re.findall(r"^\S*end_to_end/(\S+?::.+)", output, re.MULTILINE):
            tally.skip(name, "slow; --all or `make test-all` runs it")
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as temporary:
        results = f"{temporary}/results.xml"
        code, output = run([*pytest, "-q", "--tb=short", "--continue-on-collection-errors",
                            f"--junitxml={results}", "-m", expression], END_TO_END_TIMEOUT_S,
                           cwd=ROOT, env=environment)
        cases = parse_cases(results, "testcase")
    failed_before = tally.failed
    for case in cases:
        name = f"{case.get('classname', '').split('.')[-1]}::{case.get('name')}"
        broken = case.find("failure") if case.find("failure") is not None else case.find("error")
        skipped = case.find("skipped")
        if broken is not None:
            text = broken.text or ""
            tally.fail(name, f"{broken.get('message', '')}\n{tail(text)}")
        elif skipped is not None:
            tally.skip(name, skipped.get("message", ""))
        else:
            tally.passed += 1
    no_tests_match = code == 5
    if code != 0 and not no_tests_match and tally.failed == failed_before:
        tally.fail("end-to-end tests", f"pytest: {code}\n{tail(output)}")
    print_times(cases)
    print(f"end to end: {len(cases)} run, {time.monotonic() - start:.0f} s", flush=True)


def run_house_rules(tally):
    """Each line of the checker is `ok NAME` or `not ok NAME: why`, the form of the Test Anything Protocol."""
    checker = ROOT / "tests/check_includes.py"
    code, output = run([str(checker)], 60, cwd=ROOT)
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
    for backend, library, package in (("verbs", "libibverbs", "libibverbs-dev"),
                                      ("dpdk", "libdpdk", "libdpdk-dev")):
        if not any((ROOT / "transport").glob(f"{backend}*")):
            tally.skip(f"backend {backend}", "planned, this version has none")
        elif library not in found:
            tally.skip(f"backend {backend}", f"not built: {library} not found (apt-get install {package}) or switched off")


def seed_of_commit():
    """Another sample for each commit, and the same one on every machine."""
    commit = subprocess.run(["git", "rev-parse", "--short=7", "HEAD"], capture_output=True, text=True, cwd=ROOT)
    return int(commit.stdout, 16) if commit.returncode == 0 else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", default="build", metavar="DIR", help="build folder (default: build)")
    parser.add_argument("--all", action="store_true", help="slow tests too")
    parser.add_argument("--whole", action="store_true", help="all cases of matrix tests, not a sample; fuzz tests run a minute each")
    parser.add_argument("--seed", type=int, default=seed_of_commit(), metavar="N", help="draws the sample (default: by commit)")
    parser.add_argument("--unit-only", action="store_true", help="only the doctest binaries")
    parser.add_argument("--marker", default="", metavar="EXPRESSION", help="only unit tests and end-to-end tests with this marker, for sanitizer builds")
    options = parser.parse_args()
    build = (ROOT / options.build).resolve()
    tally = Tally()
    if not (build / "edgewire").exists():
        tally.fail("build", f"{build}/edgewire is not there: build first (make build)")
    else:
        if options.whole:
            os.environ.setdefault("EDGEWIRE_FUZZ_SECONDS", "60")
        run_unit(build, tally)
        if not options.unit_only:
            run_end_to_end(build, tally, options.all, options.marker, None if options.whole else options.seed)
        if not options.marker:
            name_missing_backends(build, tally)
            if not options.unit_only:
                run_house_rules(tally)
    print(f"{tally.passed} passed, {tally.failed} failed, {tally.skipped} skipped")
    return 1 if tally.failed else 0


if __name__ == "__main__":
    sys.exit(main())
