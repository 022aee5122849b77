"""Small jobs of all commands and their right results: what kills.py and corruptions.py run."""

import filecmp
import math
import os
import pathlib
import subprocess
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GRID = ["bfs", "sssp", "bc"]  # run on a grid, whose paths are long
WIDE = ["wcc", "scc", "lcc", "tc"]  # on a graph of many vertices, whose values take a while to write
DENSE = ["pagerank", "ppr", "spmv"]  # have a plan
EVERY = {**dict.fromkeys(DENSE, 3), "cdlp": 1, "bc": 1}  # those with checkpoints, and after how many iterations
RECORDS = "generate records"
# The first words of each command, and the rest of them; how often a kernel iterates is up to whoever runs it.
COMMANDS = {
    "pagerank": [], "ppr": ["--sources", "1,7"], "spmv": ["--precision", "f64"], "bfs": ["--source", "1"], "sssp": ["--source", "1"],
    "wcc": [], "scc": [], "cdlp": [], "lcc": [], "tc": [], "bc": ["--sources", "1,2,3"],
    "sort": ["--record", "100", "--key", "0:8", "--partitions", "3"], "sort --memory 6M": ["--record", "100", "--key", "0:8", "--partitions", "3"],
    "convert": ["--to", "ew"], "convert --parts": ["--to", "ew"], RECORDS: ["--files", "3"],
    "tasks number-inc": ["--count", "300"], "tasks iterative-j": ["--count", "300"], "tasks smith-waterman": ["--length", "4000"]}


def is_kernel(command):
    return command.split()[0] not in ("sort", "convert", "tasks", "generate")


def result_name(command):
    return "result.json" if command in WIDE else "result"


def same_values(one, other):
    """Of two files of values: whether they differ in the last digits only."""
    pairs = [zip(line.split(), right.split()) for line, right in zip(one.read_text().splitlines(), other.read_text().splitlines(), strict=True)]
    return all(math.isclose(float(a), float(b), rel_tol=1e-9) for pair in pairs for a, b in pair)


def state_of(result, expected, alike=filecmp.cmp):
    """Of a result: right, part of it (of a folder, also an empty one), wrong or none."""
    if not result.exists():
        return "none"
    if result.is_file():
        return "right" if expected.is_file() and alike(result, expected) else "wrong"
    names, right = sorted(os.listdir(result)), sorted(os.listdir(expected))
    if not set(names) <= set(right) or not all(alike(result / name, expected / name) for name in names):
        return "wrong"
    return "right" if names == right else "part"


def keep_result_line(said, result):
    """What a command of tasks finds out is a line on stdout: makes it a file, as others have."""
    if lines := [line for line in said.splitlines() if line.startswith("result: ")]:
        result.write_text("\n".join(lines))


class Jobs:
    """Inputs in a folder, and the results of jobs to which nothing happens. Any thread may ask for them."""

    def __init__(self, program, folder, scale, iterations, record_bytes, checkpoints=False):
        self.program, self.folder, self.checkpoints = pathlib.Path(program).resolve(), folder, checkpoints
        self.iterations, self.record_bytes = iterations, record_bytes
        self.lock, self.results = threading.Lock(), {}
        graph, wide, grid, records, edges = (folder / name for name in ("g.ew", "wide.ew", "grid.ew", "records", "edges.wel"))
        undirected = ["--weights", "--undirected", "--simple"]
        for words in (["generate", "kronecker", "--scale", scale, *undirected, "-o", graph],
                      ["generate", "kronecker", "--scale", scale + 3, "--edge-factor", 1, *undirected, "-o", wide],
                      ["generate", "grid", "--rows", 2**scale // 80, "--columns", 80, "--weights", "-o", grid],
                      ["generate", "records", "--bytes", record_bytes, "--files", 2, "-o", records], ["convert", graph, "-o", edges]):
            self.ok(folder, words)
        kernels = {command: [grid if command in GRID else wide if command in WIDE else graph] for command in COMMANDS if is_kernel(command)}
        self.inputs = {"sort": sorted(records.iterdir()), "convert": [edges], "tasks": [], "generate": [], **kernels}

    def ok(self, folder, words):
        """Gives what a command says, which must end well."""
        done = subprocess.run([self.program, *map(str, words)], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, words))}: {done.stderr}")
        return done.stdout

    def words(self, command, output, state="state"):
        """The command line, without what says where it runs; `state` is the folder of checkpoints, where there are some."""
        first = command.split()
        words = [*first, *self.inputs[first[0]], *COMMANDS[command]]
        if command in (*DENSE, "cdlp"):
            words += ["--iterations", self.iterations]
        if first[0] == "tasks":
            words += ["--repeat", self.iterations // 10]
        if is_kernel(command):
            words += ["--deterministic"]
        if self.checkpoints and command in EVERY:
            words += ["--checkpoint", state, "--every", EVERY[command]]
        if command == RECORDS:
            words += ["--bytes", self.record_bytes]
        return [str(word) for word in (words if first[0] == "tasks" else [*words, "-o", output])]

    def expected(self, command, processes):
        """The path of the right result, which a reference in the program has verified where it has one."""
        with self.lock:
            if (command, processes) not in self.results:
                folder = self.folder / f"{command} by {processes}"
                folder.mkdir()
                result = folder / result_name(command)
                more = [] if command == RECORDS else ["-p", processes, "-w", 1, "--transport", "shm"]
                if is_kernel(command) or command.startswith("sort") or "smith" in command:
                    more += ["--verify"]
                keep_result_line(self.ok(folder, [*self.words(command, result, folder / "state"), *more]), result)
                self.results[command, processes] = result
            return self.results[command, processes]
