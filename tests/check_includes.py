#!/usr/bin/python3
"""Checks the rules of the house that the compiler does not: who may include whom, where the words of vendor libraries
may stand, how long a file may be, that no merge left its marks, and that ARCHITECTURE.md is one page and has the rooms as
they are built. Prints `ok NAME` or `not ok NAME: why` for each rule and `# note` lines."""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
NOTE_LINES = 400
LIMIT_LINES = 500
PAGE_WORDS = 1200  # of ARCHITECTURE.md

# Room -> rooms of ours that its files may include, besides itself, base, options and edgewire. edgewire is the room of public
# headers (include/edgewire), which are installed and include nothing else of ours. Rooms that are not named here
# (src/main.cpp, tests) may include anything.
MACHINE = {"topology"}
PROCESS = MACHINE | {"transport", "launch", "process"}
PARTITION = PROCESS | {"graph", "channel", "partition"}
DENSE_EXCHANGE = PARTITION | {"dense/plan"}
DENSE_ENGINE = DENSE_EXCHANGE | {"dense/exchange", "dense/tiles"}
DENSE = DENSE_ENGINE | {"dense/engine", "dense/job", "disk"}
KERNELS = PARTITION | {"dense/job", "dense/plan", "disk", "frontier"}
BOUNDS = DENSE | {"shuffle", "frontier", "tasks", "kernels", "report"}
RUNS = BOUNDS | {"profile"}
LIBRARY = RUNS | {"bounds", "runs"}
MAY_INCLUDE = {
    "options": set(),
    "base": set(),
    "topology": set(),
    "graph": MACHINE,
    "disk": MACHINE,
    "transport": MACHINE,
    "launch": MACHINE | {"transport"},
    "process": MACHINE | {"transport", "launch"},
    "channel": PROCESS,
    "partition": PROCESS | {"graph", "channel"},
    "tasks": PROCESS | {"channel"},
    "shuffle": PROCESS | {"channel", "disk", "graph"},
    "frontier": PARTITION | {"disk", "tasks"},
    "dense/plan": {"partition", "graph", "topology"},
    "dense/tiles": {"dense/plan", "partition", "graph", "topology"},
    "dense/exchange": DENSE_EXCHANGE,
    "dense/engine": DENSE_ENGINE,
    "dense/job": DENSE,
    "kernels": KERNELS,
    "report": {"dense/plan", "graph"},
    "bounds": BOUNDS,
    "profile": BOUNDS | {"bounds"},
    "runs": RUNS,
    "library": LIBRARY,
    "perf": LIBRARY | {"library"},
    "cli": LIBRARY | {"library", "perf", "perf/bench"},
    "python": set(),
}
MAY_INCLUDE["perf/bench"] = set(MAY_INCLUDE)
for room, others in MAY_INCLUDE.items():
    MAY_INCLUDE[room] = others | {"base", "options", "edgewire"}
MAY_INCLUDE["edgewire"] = set()
MAY_INCLUDE["options"] = {"edgewire"}

# Include pattern -> the only files that may have it. Tests may look at anything.
VENDORS = {
    r"hwloc": r"topology/",
    r"numa(if)?\.h": r"topology/",
    r"infiniband/|rdma/": r"transport/verbs",
    r"rte_": r"transport/dpdk",
    r"pmix": r"src/launch/pmix_rendezvous",
    r"liburing": r"src/disk/",
    r"perfmon/": r"src/profile/counters",
}

# Rooms whose messages name options as values (src/options), and the files that hold words of other programs, or command lines of this one.
NAME_OPTIONS = set(MAY_INCLUDE) - {"cli", "options", "perf/bench"}
COMMAND_LINES = r"perf/compare|perf/peers/|transport/dpdk/(eal|station)\.cpp|src/launch/launcher\.cpp"


def sources():
    listed = subprocess.run(["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.h", "*.cpp"], cwd=ROOT,
                            capture_output=True, text=True)
    names = listed.stdout.split() if listed.returncode == 0 else [
        str(path.relative_to(ROOT)) for folder in ("include", "src", "transport", "kernels", "topology", "perf", "tests")
        for path in (ROOT / folder).rglob("*") if path.suffix in (".h", ".cpp")]
    return [name for name in sorted(names) if (ROOT / name).is_file()]


def folder_of(path):
    """transport/verbs/setup.h -> transport, src/dense/plan/cover.h -> dense/plan, include/edgewire/detail/tile.h -> edgewire,
    src/main.cpp -> ''."""
    parts = path.removeprefix("src/").removeprefix("include/").split("/")[:-1]
    return "/".join(parts[:2 if parts[:1] == ["dense"] or parts[:2] == ["perf", "bench"] else 1])


def built_rooms(folder=""):
    """The rooms in the order in which meson.build builds them. A folder that only leads to others, such as src/dense, is none.
    Neither are libedgewire, which src/meson.build makes of the rooms, and tests."""
    rooms = []
    for name in re.findall(r"^ *subdir\('([^']+)'\)", (ROOT / folder / "meson.build").read_text(), re.MULTILINE):
        name = f"{folder}/{name}" if folder else name
        if name != "src" and not name.startswith("tests/"):
            rooms += built_rooms(name) or [name]
    return rooms


def check_page():
    """ARCHITECTURE.md: its length, the order of its table of rooms, and the first file of each room, to which that links."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    words = len(text.split())
    rows = re.findall(r"^\| \[([\w/]+)\]\(([^)]+)\)", text, re.MULTILINE)
    built = built_rooms()
    listed = [room for room, _ in rows if room in built]  # others are parts of rooms
    order = [] if listed == built else [f"ARCHITECTURE.md has {' '.join(listed)}", f"meson.build has {' '.join(built)}"]
    first = [f"{file}: the first file of {room} begins with \"// The {room.removeprefix('src/')} folder\"" for room, file in rows
             if file.endswith(".h") and not re.match(f"// The {room.removeprefix('src/')} folder ", (ROOT / file).read_text())]
    return {"ARCHITECTURE.md is one page": [f"it has {words} words, the limit is {PAGE_WORDS}"] if words > PAGE_WORDS else [],
            "rooms are listed as they are built": order, "the first file of a room tells of it": first}


def check(files):
    includes, vendors, words, long_files, notes = [], [], [], [], []
    for name in files:
        lines = (ROOT / name).read_text(errors="replace").splitlines()
        folder = folder_of(name)
        for number, line in enumerate(lines, 1):
            text = re.sub(r"^\s*//.*", "", line)
            if folder in NAME_OPTIONS and re.search(r'"[^"]*--[a-z]', text) and not re.match(COMMAND_LINES, name):
                words.append(f"{name}:{number}: an option is named as a value (src/options), not as on the command line")
            found = re.match(r'\s*#\s*include\s*(["<])([^">]+)', line)
            if not found:
                continue
            where, target = f"{name}:{number}", found.group(2)
            other = folder_of(target)
            if found.group(1) == '"' and folder in MAY_INCLUDE:
                if other in MAY_INCLUDE and other != folder and other not in MAY_INCLUDE[folder]:
                    includes.append(f"{where}: {folder} must not include {target}")
                elif target.startswith((".", "src/")) or other not in MAY_INCLUDE:
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
    return {"no merge conflict is left": marked.stdout.splitlines(), "who includes whom": includes, "options are named as values": words, "vendor headers stay home": vendors, "no long files": long_files,
            "every unit test is built": unbuilt}, notes


def main():
    files = sources()
    rules, notes = check(files)
    rules |= check_page()
    if not files:
        print("not ok sources: none found")
    for name, faults in rules.items():
        print(f"not ok {name}: " + "\n  ".join(faults) if faults else f"ok {name}")
    for note in notes:
        print(f"# {note}")
    return 1 if not files or any(rules.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
