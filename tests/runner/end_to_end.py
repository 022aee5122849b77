"""pytest's tests in tests/end_to_end: several at a time, each of these workers in namespaces of its own (alone).

The plug-in tests/end_to_end/stream.py writes each result to a file when it is known, so that nothing is lost when a run
is ended. A test that fails by chance is repeated at the end.
"""

import collections
import concurrent.futures
import json
import re
import shlex
import tempfile
import time

from runner.commands import ALONE, ROOT, clean_environment, program_of, run, tail
from runner.outcomes import cut, is_crash, print_file

FOLDER = ROOT / "tests/end_to_end"
LIMIT_S = 3 * 3600  # of all; each test has its own limit
TEST_LIMIT_S = 600
SLOWEST = 15  # test cases that are named with their time
PYTEST = ["/usr/bin/python3", "-m", "pytest", "-q", "--tb=short", "--continue-on-collection-errors", "-p", "stream", f"--timeout={TEST_LIMIT_S}"]
# Files of tests whose assertions are about results: one that fails there is a wrong value, unless a helper says that
# the program did not end as it should.
VALUES = re.compile(r"test_(answers|edge_ownership|edges_on_disk|frontier_\w+|integrity|labels|layout|load|other_input|output_parts|pagerank|ppr"
                    r"|precision|real_graphs|rows_on_disk|sort|spmv|volume|writers)\.py$")


def is_final(result):
    """Whether a failure is not to be repeated: a crash, a sanitizer's report, or a wrong value."""
    wrong_value = VALUES.search(result["path"]) and result["message"].startswith(("AssertionError", "assert "))
    return bool(wrong_value) or is_crash(result["text"])


def workers(count):
    """pytest-xdist's, each in its own namespaces."""
    python = shlex.join([*ALONE, "/usr/bin/python3"])
    return ["-d", "--dist=load", *[part for _ in range(count) for part in ("--tx", f"popen//python={python}")]]


class Files:
    """The files of tests of a run, each of which gets a line when its last test has ended."""

    def __init__(self):
        self.waiting = {}  # how many tests of each file have not ended yet
        self.results = collections.defaultdict(dict)

    def take(self, record):
        """A line of the plug-in's."""
        name = record.get("name") or record.get("ended", "")
        file = name.partition("::")[0]
        if "files" in record:
            self.waiting.update(record["files"])
        elif "outcome" in record:
            self.results[file][name] = record
        elif file in self.waiting:
            self.waiting[file] -= 1
            if self.waiting[file] == 0:
                self.print(file)

    def print(self, file):
        results = self.results.pop(file, {}).values()
        print_file(file.removesuffix(".py"), [result["outcome"] for result in results], sum(result["seconds"] for result in results))

    def print_rest(self):
        """Of a run that was cut short."""
        for file in list(self.results):
            self.print(file)


def run_pytest(arguments, build, settings, side_by_side=0, take=lambda record: None):
    """Calls take(record) for each line that the plug-in writes, when it is written: a test that fails in its fixtures has two results.
    Returns pytest's status, its output, and the last result of each test: {name: result}."""
    with tempfile.NamedTemporaryFile("r", suffix=".jsonl") as stream:
        environment = clean_environment(EDGEWIRE=str(program_of(build)), EDGEWIRE_TEST_STREAM=stream.name, PYTHONPATH=str(FOLDER), **settings)
        command = [*PYTEST, *workers(side_by_side), *arguments] if side_by_side > 1 else [*ALONE, *PYTEST, *arguments]
        results = {}
        line = ""
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            running = pool.submit(run, command, LIMIT_S, cwd=ROOT, env=environment)
            ended = False
            while not ended:
                ended = running.done()
                while part := stream.readline():
                    line += part
                    if line.endswith("\n"):
                        record = json.loads(line)
                        line = ""
                        if "outcome" in record:
                            results[record["name"]] = record
                        take(record)
                if not ended:
                    concurrent.futures.wait([running], timeout=0.5)
        return *running.result(), results


def print_slowest(results):
    for name, result in sorted(results.items(), key=lambda item: -item[1]["seconds"])[:SLOWEST]:
        print(cut(f"    {result['seconds']:6.1f} s  {name}"))


def name_left_out(build, tally, marker, expression, settings):
    """Slow tests are skipped tests with a reason, not silence."""
    _, output, _ = run_pytest([str(FOLDER), "--collect-only", "-m", f"not ({expression})" + (f" and ({marker})" if marker else "")], build, settings)
    for name in re.findall(r"^\S*end_to_end/(\S+?::.+)", output, re.MULTILINE):
        tally.skip(name, "`make test-all` runs them")


def run_all(build, tally, marker, expression, side_by_side, settings):
    """Runs the tests with `marker` for which the markers' `expression` holds."""
    start = time.monotonic()
    chosen = " and ".join(f"({part})" for part in (marker, expression) if part)
    files = Files()

    def take(record):
        if record.get("outcome") == "failed":
            print(f"failed  {record['name']} after {record['seconds']:.1f} s: {(record['message'].splitlines() or [''])[0]}", flush=True)
        files.take(record)

    code, output, results = run_pytest([str(FOLDER), "-m", chosen], build, settings, side_by_side, take)
    files.print_rest()
    later = []
    for name, result in results.items():
        if result["outcome"] == "passed":
            tally.passed += 1
        elif result["outcome"] == "skipped":
            tally.skip(name, result["message"])
        elif is_final(result):
            tally.fail(name, result["text"])
        else:
            later.append(name)
    failed = [name for name, result in results.items() if result["outcome"] == "failed"]
    if not isinstance(code, int) or code not in (0, 1, 5) or (code == 1 and not failed):
        tally.fail("end-to-end tests", f"pytest: {code}\n{tail(output, 200)}")
    for name in later:
        _, told, again = run_pytest([str(FOLDER / name)], build, settings)
        known = again.get(name, {"outcome": "failed", "text": tail(told)})
        if known["outcome"] == "failed":
            print(f"the second time:\n{known['text']}")
        tally.settle(name, results[name]["text"], known["outcome"] == "passed")
    print_slowest(results)
    print(f"end to end: {len(results)} run, {time.monotonic() - start:.0f} s", flush=True)
