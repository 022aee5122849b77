"""What came of tests: counts, a printed block for each failure and unstable test and a line for each file of tests, as they come, and at
the end the reasons of skipped tests."""

import collections
import os
import re

WIDTH = 120  # of printed lines, but for those of failures
# Reasons to skip a test that stand in `make test-all`, too: what it needs is nothing that can be installed.
CANNOT_HAVE = re.compile(r"no hardware counters: |this machine does not allow perf_event_open|needs two (cores|processors)|the machine of these checksums|"
                         r"this kernel does not tell|hwloc has no plug-in for GL|no io_uring here|O_DIRECT in this file system|"
                         r"the thread sanitizer has a thread of its own")
# And those of unit tests that others run: in virtual machines with such a card, on ports that they make, with 64-bit ids.
ELSEWHERE = re.compile(r"no RDMA device|names no iWARP device|no DPDK ports here; end to end|it is a part of the next test case|EDGEWIRE_WIDE names no")
# A sanitizer that fails to allocate only says that damaged input asks for much.
CRASH = re.compile(r"ended by SIG|exit status (-\d+|13[0-9]|14[0-9]|66)\b|Sanitizer(?! failed to allocate)|runtime error: |"
                   r"\bSIG(SEGV|ABRT|BUS|ILL|FPE)\b|core dumped")


def is_crash(text):
    """A fault of the program, or a sanitizer's report: never repeated."""
    return CRASH.search(text) is not None


def machine_state():
    """The load and the free memory of the machine, in a line: a failure may come from them."""
    available = "?"
    with open("/proc/meminfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("MemAvailable:"):
                available = f"{int(line.split()[1]) / 1048576:.1f} GiB"
    return f"load {' '.join(f'{load:.1f}' for load in os.getloadavg())} on {os.cpu_count()} cores, {available} of memory available"


def kind_of_skip(reason):
    """How a line about skipped tests begins. tools/steps.sh reads it."""
    return "could not run" if CANNOT_HAVE.search(reason) else "elsewhere" if ELSEWHERE.search(reason) else "skipped"


def cut(line):
    return line if len(line) <= WIDTH else f"{line[:WIDTH - 4]} ..."


def print_file(name, outcomes, seconds):
    """A file of tests has ended: `outcomes` are "passed", "failed" or "skipped"."""
    count = collections.Counter(outcomes)
    parts = [f"{count[outcome]} {outcome}" for outcome in ("passed", "failed", "skipped") if count[outcome]]
    print(f"{name}: {', '.join(parts) or 'no tests'}, {seconds:.1f} s", flush=True)


def indented(text):
    return "".join(f"    {line}\n" for line in text.strip().splitlines())


class Tally:
    """What happened so far. A verbose one names each skipped test."""

    def __init__(self, verbose=False):
        self.verbose = verbose
        self.passed = self.failed = self.skipped = 0
        self.unstable = []
        self.reasons = collections.defaultdict(list)  # for which tests were skipped: their names

    def fail(self, name, text):
        self.failed += 1
        print(f"FAILED  {name}\n{indented(text)}    ({machine_state()})", flush=True)

    def skip(self, name, reason):
        self.skipped += 1
        self.reasons[" ".join(reason.split())].append(name)

    def settle(self, name, first_text, passes_now):
        """A test that failed has been run once more, alone."""
        if not passes_now:
            self.fail(name, f"It failed again alone. The first time:\n{first_text}")
            return
        self.passed += 1
        self.unstable.append(name)
        print(f"unstable: {name}\n    It passes alone. The first time:\n{indented(first_text)}", end="", flush=True)

    def print_skipped(self):
        for reason, names in sorted(self.reasons.items(), key=lambda item: -len(item[1])):
            print(cut(f"{kind_of_skip(reason)} {len(names)}: {reason}"))
            if self.verbose:
                print("".join(f"    {name}\n" for name in names), end="")

    def print_end(self):
        self.print_skipped()
        if self.unstable:
            print(f"{len(self.unstable)} unstable: " + ", ".join(self.unstable))
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped", flush=True)
