"""The doctest programs that meson knows. A case skips itself by MESSAGE("skipped: reason") and returning."""

import concurrent.futures
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time
import xml.etree.ElementTree as ET

from runner.commands import ALONE, ROOT, SANITIZERS, clean_environment, how_it_ended, run, tail
from runner.outcomes import is_crash, print_file

LIMIT_S = 900
FUZZ_MEMORY = "allocator_may_return_null=1:max_allocation_size_mb=512:hard_rss_limit_mb=3072"  # no damaged input needs more
# Programs whose assertions are about values alone: one that fails is a wrong value, and is not repeated.
VALUES = {"answers_fuzz", "checkpoint", "checkpoint_fuzz", "cli", "cli_fuzz", "dense_kernels", "edge_lists", "engine", "frontier", "graph", "graph_fuzz", "launch_fuzz",
          "plan", "plan_cache", "plan_fuzz", "report", "shuffle", "tcp_fuzz", "tile", "verify"}


def listed(build):
    """[(name, command, environment)]"""
    told = subprocess.run(["meson", "introspect", "--tests", str(build)], capture_output=True, text=True)
    if told.returncode == 0 and (tests := json.loads(told.stdout)):
        return [(test["name"], test["cmd"], test["env"]) for test in tests]
    return [(path.name.removesuffix("_test"), [str(path)], {}) for path in sorted((build / "tests/unit").glob("*_test"))]


def names_of_cases(command):
    """The test cases of a program."""
    told = subprocess.run([*command, "-ltc", "-r=xml"], capture_output=True, text=True)
    return [case.get("name") for case in ET.fromstring(told.stdout).iter("TestCase")]


def parse_cases(path):
    """All test cases of a result file, also of one that a crash cut short."""
    parser = ET.XMLPullParser(["end"])
    try:
        text = pathlib.Path(path).read_text(errors="replace")
        parser.feed(re.sub("[^\t\n\r -\ufffd]", "?", text))
        parser.close()
    except (OSError, ET.ParseError):
        pass
    cases = []
    try:
        cases += [element for _, element in parser.read_events() if element.tag == "TestCase"]
    except ET.ParseError:
        pass
    return cases


def squeeze(text):
    return " ".join((text or "").split())


def failure_text(case):
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
        elif element.tag == "Exception":
            lines.append(f"exception: {squeeze(element.text)}")
        elif element.tag == "Message":
            lines.append(f"{where}: {squeeze(element.findtext('Text'))}")
    return "\n".join(lines) or "no assertion tells why"


def is_wrong_value(program, case):
    return program.removesuffix("_v2") in VALUES and case.find("Expression") is not None


class Program:
    """One run of a test program."""

    def __init__(self, name, command, environment, only=None, limit_s=LIMIT_S):
        self.name = name
        self.title = f"{name}: {only}" if only else name
        filters = [] if only is None else ["-tc=" + only.replace("\\", "\\\\").replace(",", "\\,")]
        start = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            results = f"{folder}/results.xml"
            self.command = [*command, *filters]
            self.code, self.output = run([*ALONE, *self.command, "-r=xml", f"-o={results}"], limit_s, cwd=ROOT,
                                         env=clean_environment(**environment, XDG_RUNTIME_DIR=folder))
            self.cases = [case for case in parse_cases(results) if not case.get("skipped") or only is None]
        self.seconds = time.monotonic() - start

    def crash(self):
        """Why the program ended other than by its assertions; empty when it did not."""
        failed = any(not self.passes(case) for case in self.cases)
        if not isinstance(self.code, int):
            return f"{self.code} after {len(self.cases)} test cases\n{tail(self.output, 200)}"
        if not self.cases or is_crash(self.output) or (self.code != 0 and not failed) or self.code > 1:
            return f"{how_it_ended(self.code)} after {len(self.cases)} test cases\n{tail(self.output, 120)}"
        return ""

    @staticmethod
    def passes(case):
        result = case.find("OverallResultsAsserts")
        return bool(case.get("skipped")) or (result is not None and result.get("test_case_success") == "true")


def report(program, tally, later):
    """Prints and counts what came of a program's cases. Appends those that are to be repeated to `later`."""
    outcomes = []
    for case in program.cases:
        name = f"{program.name}: {case.get('name')}"
        messages = [squeeze(message.findtext("Text")) for message in case.iter("Message")]
        skips = [text[len("skipped:"):].strip() for text in messages if text.startswith("skipped:")]
        outcomes.append("failed" if not program.passes(case) else "skipped" if case.get("skipped") or skips else "passed")
        if case.get("skipped"):
            tally.skip(name, "switched off in the source")
        elif not program.passes(case):
            text = f"{' '.join(program.command)}\n{failure_text(case)}\n{tail(program.output)}"
            if is_wrong_value(program.name, case) or is_crash(text):
                tally.fail(name, text)
            else:
                later.append((program.name, case.get("name"), text))
        elif skips:
            tally.skip(name, "; ".join(dict.fromkeys(skips)))
        else:
            tally.passed += 1
    if text := program.crash():
        if isinstance(program.code, int):
            tally.fail(program.title, text)
        else:
            later.append((program.name, None, text))
    print_file(program.title, outcomes, program.seconds)


def fuzz_environment(seconds, seed):
    """For programs that are fed with damaged input for so long, beginning with this seed."""
    options = ":".join((os.environ.get("ASAN_OPTIONS", SANITIZERS["ASAN_OPTIONS"]), FUZZ_MEMORY))
    return {"EDGEWIRE_FUZZ_SECONDS": str(seconds), **({"EDGEWIRE_FUZZ_SEED": str(seed)} if seed is not None else {}), "ASAN_OPTIONS": options}


def run_all(build, tally, wanted, side_by_side, fuzz_seconds=0, fuzz_seed=None):
    """Runs the programs (`wanted`: their names; none: all), several at a time, then once more what failed by chance. With
    `fuzz_seconds` each test case runs alone, and those that are fed with damaged input go on for so long."""
    more = fuzz_environment(fuzz_seconds, fuzz_seed) if fuzz_seconds else {}
    tests = {name: (command, {**environment, **more}) for name, command, environment in listed(build)
             if not wanted or name in wanted}
    if not tests or set(wanted) - set(tests):
        tally.fail("unit tests", f"{build} has no {', '.join(sorted(set(wanted) - set(tests))) or 'unit tests'}: is it built?")
    later = []
    runs = [(name, only) for name in tests for only in (names_of_cases(tests[name][0]) if fuzz_seconds else [None])]
    with concurrent.futures.ThreadPoolExecutor(side_by_side) as pool:
        running = [pool.submit(Program, name, *tests[name], only, LIMIT_S + fuzz_seconds) for name, only in runs]
        for done in concurrent.futures.as_completed(running):
            report(done.result(), tally, later)
    for name, case, text in later:
        again = Program(name, *tests[name], only=case, limit_s=LIMIT_S + fuzz_seconds)
        known = [one for one in again.cases if case is None or one.get("name") == case]
        tally.settle(f"{name}: {case or 'the whole program'}", text,
                     not again.crash() and bool(known) and all(map(again.passes, known)))
