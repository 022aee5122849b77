"""What came of tests: counts, and one printed block for each failure, skip and unstable test, as they come."""

import os
import re

CRASH = re.compile(r"ended by SIG|exit status (-\d+|13[0-9]|14[0-9]|66)\b|Sanitizer|runtime error: |\bSIG(SEGV|ABRT|BUS|ILL|FPE)\b|core dumped")


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


def indented(text):
    return "".join(f"    {line}\n" for line in text.strip().splitlines())


class Tally:
    """What happened so far."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.unstable = []

    def fail(self, name, text):
        self.failed += 1
        print(f"FAILED  {name}\n{indented(text)}    ({machine_state()})", flush=True)

    def skip(self, name, reason):
        self.skipped += 1
        print(f"skipped {name}: {reason}", flush=True)

    def settle(self, name, first_text, passes_now):
        """A test that failed has been run once more, alone."""
        if not passes_now:
            self.fail(name, f"It failed again alone. The first time:\n{first_text}")
            return
        self.passed += 1
        self.unstable.append(name)
        print(f"unstable: {name}\n    It passes alone. The first time:\n{indented(first_text)}", end="", flush=True)

    def print_end(self):
        if self.unstable:
            print(f"{len(self.unstable)} unstable: " + ", ".join(self.unstable))
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped", flush=True)
