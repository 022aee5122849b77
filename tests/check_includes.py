#!/usr/bin/python3
"""Checks the rules of the house that the compiler does not: who may include whom, where the words of vendor libraries
may stand, how long a file may be, and that no merge left its marks. Prints `ok NAME` or `not ok NAME: why` for each rule and `# note` lines."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOTE_LINES = 400
LIMIT_LINES = 500

# Folder -> folders of ours (or single headers) that its files may include, besides itself, base, error.h, options.h and seconds.h.
# Folders that are not named here (src/main.cpp, tests) may include anything.
MAY_INCLUDE = {
    "base": set(),
    "topology": set(),
    "graph": {"topology"},
    "transport": {"topology"},
    "plan": {"graph", "topology"},
    "tiles": {"plan", "graph", "topology"},
    "exchange": {"plan", "graph", "transport", "topology", "launch"},
    "frontier": {"disk", "exchange", "tasks", "plan", "graph", "transport", "topology", "launch"},
    "engine": {"exchange", "tiles", "plan", "transport", "topology", "launch"},
    "job": {"disk", "engine", "exchange", "tiles", "plan", "graph", "topology", "launch", "transport"},
    "disk": {"graph", "topology"},
    "shuffle": {"disk", "exchange", "graph", "transport", "topology", "launch"},
    "tasks": {"exchange", "transport", "topology", "launch"},
    "kernels": {"job", "frontier", "plan", "graph"},
    "launch": {"transport", "topology"},
    "report": {"plan", "graph"},
    "perf": {"disk", "shuffle", "topology", "graph", "transport", "plan", "tiles", "exchange", "frontier", "engine", "job", "kernels", "launch",
             "report"},
    "runs": {"topology", "graph", "plan", "tiles", "exchange", "frontier", "disk", "tasks", "engine", "job", "kernels", "launch", "transport",
            "report", "perf"},
    "cli": {"topology", "graph", "transport", "plan", "tiles", "exchange", "frontier", "disk", "shuffle", "tasks", "engine", "job", "kernels", "launch",
            "report", "perf", "runs"},
}

# Include pattern -> the only files that may have it. Tests may look at anything.
VENDORS = {
    r"hwloc": r"topology/",
    r"numa(if)?\.h": r"topology/",
    r"infiniband/|rdma/": r"transport/verbs",
    r"rte_": r"transport/dpdk",
    r"pmix": r"src/launch/pmix_rendezvous",
    r"liburing": r"src/disk/",
    r"perfmon/": r"perf/event_codes",
}


def sources():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.h", "*.cpp"], cwd=ROOT,
                            capture_output=True, text=True)
    names = listed.stdout.split() if listed.returncode == 0 else [
        str(path.relative_to(ROOT)) for folder in ("src", "transport", "kernels", "topology", "perf", "tests")
        for path in (ROOT / folder).rglob("*") if path.suffix in (".h", ".cpp")]
    return [name for name in sorted(names) if (ROOT / name).is_file()]


def folder_of(path):
    """transport/verbs/setup.h -> transport, src/plan/cover.h -> plan, src/main.cpp -> ''."""
    parts = path.removeprefix("src/").split("/")
    return parts[0] if len(parts) > 1 else ""


def check(files):
    includes, vendors, long_files, notes = [], [], [], []
    for name in files:
        lines = (ROOT / name).read_text(errors="replace").splitlines()
        folder = folder_of(name)
        for number, line in enumerate(lines, 1):
            found = re.match(r'\s*#\s*include\s*(["<])([^">]+)', line)
            if not found:
                continue
            where, target = f"{name}:{number}", found.group(2)
            other = folder_of(target)
            if found.group(1) == '"' and folder in MAY_INCLUDE:
                if other in MAY_INCLUDE and other != folder and not {other, target} & (MAY_INCLUDE[folder] | {"base"}):
                    includes.append(f"{where}: {folder} must not include {target}")
                elif target.startswith((".", "src/")) or (other not in MAY_INCLUDE and target not in ("error.h", "options.h", "seconds.h")):
                    includes.append(f"{where}: {target} is not named from the root or from src")
            for pattern, allowed in VENDORS.items():
                if re.match(pattern, target) and not name.startswith("tests/") and not re.match(allowed, name):
                    vendors.append(f"{where}: {target} belongs in {allowed}* alone")
        if len(lines) > LIMIT_LINES:
            long_files.append(f"{name}: {len(lines)} lines, the limit is {LIMIT_LINES}")
        elif len(lines) > NOTE_LINES:
            notes.append(f"{name} has {len(lines)} lines; it does too much above {NOTE_LINES}")
    # The list of tests is where branches meet, and a test that nobody builds fails nobody.
    built = (ROOT / "tests/unit/meson.build").read_text()
    unbuilt = [f"{name} is not in tests/unit/meson.build" for name in files
               if re.match("tests/unit/.*_test.cpp$", name) and name.split("/")[-1] not in built]
    marked = subprocess.run(["git", "grep", "-nE", "^(<<<<<<<|>>>>>>>) "], cwd=ROOT, capture_output=True, text=True)
    return {"no merge conflict is left": marked.stdout.splitlines(), "who includes whom": includes, "vendor headers stay home": vendors, "no long files": long_files,
            "every unit test is built": unbuilt}, notes


def main():
    files = sources()
    rules, notes = check(files)
    if not files:
        print("not ok sources: none found")
    for name, faults in rules.items():
        print(f"not ok {name}: " + "\n  ".join(faults) if faults else f"ok {name}")
    for note in notes:
        print(f"# {note}")
    return 1 if not files or any(rules.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
