"""libedgewire, as a C++ program outside this repository uses it: installed, found by pkg-config, linked and run."""

import itertools
import os
import pathlib
import re
import shutil
import subprocess

import numpy as np
import pytest

from installing import BUILD, install, variables
from processes import LIMIT_S

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("library") / "installed"
    said = install(folder).stdout
    return folder, variables(said)


@pytest.fixture
def example(installed, tmp_path):
    """example(name, arguments...): builds examples/NAME.cpp as docs/write-a-kernel.md says, where the library is installed, and runs it.
    The environment has nothing of it but what `make install` has said."""
    _, environment = installed
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    _, build, _ = written()

    def run(name, *arguments, **options):
        if not (tmp_path / name).exists():
            subprocess.run(build.replace("my_kernel", name), shell=True, cwd=tmp_path, env=environment, check=True)
        return subprocess.run([tmp_path / name, *map(str, arguments)], text=True, capture_output=True, timeout=LIMIT_S, env=environment,
                              **options)

    return run


def written():
    """The lines of docs/write-a-kernel.md that make a graph, build a kernel of one's own and run it."""
    lines, = re.findall(r"this builds and runs it:\n\n```sh\n(.*?)```", (ROOT / "docs/write-a-kernel.md").read_text(), re.S)
    return lines.splitlines()


def test_the_example_builds_against_the_installed_library(edgewire, example, tmp_path):
    edgewire.ok("generate", "kronecker", "--scale", 10, "-o", tmp_path / "g.ew")
    edgewire.ok("pagerank", tmp_path / "g.ew", "-o", tmp_path / "ranks.tsv")
    ranks = dict(line.split("\t") for line in (tmp_path / "ranks.tsv").read_text().splitlines())
    best = max(ranks, key=lambda vertex: float(ranks[vertex]))
    run = example("top_ranks", tmp_path / "g.ew")
    assert run.returncode == 0, run.stderr
    lines = run.stdout.splitlines()
    assert len(lines) == 4 and lines[0] == f"vertex {best}, rank {float(ranks[best]):.6f}"
    assert re.fullmatch(rf"{len(ranks)} ranks; an iteration had to send [1-9]\d* bytes", lines[3])
    failed = example("top_ranks", tmp_path / "none.ew")
    assert failed.returncode == 1 and "none.ew" in failed.stderr
    closed = example("top_ranks", tmp_path / "g.ew", preexec_fn=lambda: os.close(1))  # stdout
    assert closed.returncode == 1
    assert re.search(r": rank \d: (rank \d failed: )?stdout: cannot write: Bad file descriptor$", closed.stderr, re.M), closed.stderr


def test_the_example_of_the_readme(installed, tmp_path):
    """It has ten lines at most, builds as its first line says, and prints the ranks that the linear equations have."""
    _, environment = installed
    code, = re.findall(r"```cpp\n(.*?)```", (ROOT / "README.md").read_text(), re.S)
    assert len(code.splitlines()) <= 10
    (tmp_path / "ranks.cpp").write_text(code)
    build = re.search(r"// (c\+\+ .*)", code)[1]
    subprocess.run(build, shell=True, cwd=tmp_path, env=environment, check=True)
    run = subprocess.run([tmp_path / "ranks"], text=True, capture_output=True, timeout=LIMIT_S, env=environment, check=True)
    follows = np.array([[0, 0, 0.5, 0.25], [1, 0, 0, 0.25], [0, 1, 0, 0.25], [0, 0, 0.5, 0.25]])  # vertex 3 leads nowhere
    expected = np.linalg.solve(np.eye(4) - 0.85 * follows, np.full(4, 0.15 / 4))
    np.testing.assert_allclose([float(line.split()[1]) for line in run.stdout.splitlines()], expected, atol=0.003)
    assert run.stderr == ""


def test_a_kernel_of_ones_own(edgewire, example, installed, tmp_path):
    """Katz centrality, beside the solution of its linear equations; and all lines of docs/write-a-kernel.md."""
    rng = np.random.default_rng(7)
    edges = rng.integers(0, 300, (2000, 2))
    (tmp_path / "g.txt").write_text("".join(f"{s} {t}\n" for s, t in edges))
    edgewire.ok("convert", tmp_path / "g.txt", "-o", tmp_path / "g.ew")
    ids = np.unique(edges)
    matrix = np.zeros((len(ids), len(ids)))
    np.add.at(matrix, (np.searchsorted(ids, edges[:, 1]), np.searchsorted(ids, edges[:, 0])), 1)
    expected = np.linalg.solve(np.eye(len(ids)) - 0.05 * matrix, np.ones(len(ids)))
    run = example("my_kernel", "katz", tmp_path / "g.ew", "--alpha", 0.05, "-p", 2, "-o", "-", "--verify")
    assert run.returncode == 0, run.stderr
    values = dict(line.split("\t") for line in run.stdout.splitlines())
    assert [int(vertex) for vertex in values] == list(ids)
    np.testing.assert_allclose([float(values[str(v)]) for v in ids], expected, rtol=1e-5)
    largest = max(abs(np.linalg.eigvals(matrix)))
    for alpha in (1.05 / largest, 1e300):  # above 1 / the largest eigenvalue the sums have no end
        grown = example("my_kernel", "katz", tmp_path / "g.ew", "--alpha", alpha, "-p", 2)
        assert (grown.returncode, grown.stdout) == (1, ""), alpha
        assert re.fullmatch(r"edgewire: rank \d: the values grow without end.* take a smaller --alpha: .*\n", grown.stderr), grown.stderr
    settled = example("my_kernel", "katz", tmp_path / "g.ew", "--alpha", 0.95 / largest)
    assert settled.returncode == 0, settled.stderr
    make, _, run = written()
    for line in make, run:
        shown = subprocess.run(line, shell=True, cwd=tmp_path, env=installed[1], check=True, text=True, capture_output=True).stdout
    assert shown.startswith("highest:\n") and "check against a sequential reference: passed" in shown, shown


@pytest.mark.parametrize("name, wrong, empty", [
    ("top_ranks", [[], ["g.ew", "-p", "2"], ["--help"]], []),
    ("tasks", [["x"], ["3.7"], [""], ["4294967297"], ["8", "9"], ["--help"]], None)])
def test_examples_say_what_is_wrong(edgewire, tmp_path, name, wrong, empty):
    """Wrong words, files that are no graphs, and graphs of no and of one vertex."""
    def example(*words):
        return subprocess.run([BUILD / f"src/example_{name}", *words], text=True, capture_output=True, timeout=LIMIT_S)

    for words in wrong:
        refused = example(*words)
        assert (refused.returncode, refused.stdout) == (2, ""), words
        assert re.fullmatch(rf"usage: .*/example_{name} .*\n", refused.stderr), (words, refused.stderr)
    if empty is None:
        return
    (tmp_path / "short.txt").write_text("0 1\n")
    (tmp_path / "long.txt").write_text("0 1\n" * 5000)
    (tmp_path / "folder").mkdir()
    for path, reason in (("none.ew", "cannot read: No such file"), ("short.txt", "not an Edgewire graph .see `edgewire convert`"),
                         ("long.txt", "not an Edgewire graph .see `edgewire convert`"), ("folder", "a folder without a graph")):
        refused = example(tmp_path / path, *empty)
        assert (refused.returncode, refused.stdout) == (1, ""), path
        assert re.fullmatch(rf".*/example_{name}: rank \d: .*/{path}: .*{reason}.*\n", refused.stderr), refused.stderr
    for text, vertices in (("", 0), ("0 0\n", 1)):
        (tmp_path / "g.txt").write_text(text)
        edgewire.ok("convert", tmp_path / "g.txt", "--undirected", "--allow-empty", "-o", tmp_path / "g.ew")
        run = example(tmp_path / "g.ew", *empty)
        assert (run.returncode, run.stderr) == (0, "")
        assert len(run.stdout.splitlines()) == vertices + 1


def test_a_frontier_kernel_of_ones_own(edgewire, example, tmp_path):
    """Components, beside those that merging sets of vertices finds; several workers hear at the same time."""
    edges = np.random.default_rng(3).integers(0, 2000, (1500, 2))
    (tmp_path / "g.txt").write_text("".join(f"{s} {t}\n" for s, t in edges))
    edgewire.ok("convert", tmp_path / "g.txt", "-o", tmp_path / "g.ew", "--undirected")
    sets = {int(v): {int(v)} for v in np.unique(edges)}
    for s, t in edges.tolist():
        if sets[s] is not sets[t]:
            sets[s] |= sets[t]
            for v in sets[t]:
                sets[v] = sets[s]
    for shape in (["-p", 1, "-w", 3], ["-p", 3, "-w", 2]):
        run = example("components", "components", tmp_path / "g.ew", *shape, "-o", "-", "--verify")
        assert run.returncode == 0, run.stderr
        labels = {int(v): int(label) for v, label in (line.split("\t") for line in run.stdout.splitlines())}
        assert labels == {v: min(sets[v]) for v in sets}
        assert len(set(labels.values())) > 100  # several hundred components
    edgewire.ok("convert", tmp_path / "g.txt", "-o", tmp_path / "directed.ew")
    refused = example("components", "components", tmp_path / "directed.ew", "-p", 2)
    assert refused.returncode == 1 and refused.stdout == ""
    assert re.fullmatch(r"edgewire: rank \d: .*directed.ew: its edges are not stored both ways; convert it with --undirected\n", refused.stderr)


def test_tasks_of_ones_own(example):
    """Queens on boards, counted by trying all arrangements."""
    for size in (1, 3, 6):
        ways = sum(len({q + r for r, q in enumerate(queens)}) == len({q - r for r, q in enumerate(queens)}) == size
                   for queens in itertools.permutations(range(size)))
        run = example("tasks", size)
        assert (run.returncode, run.stdout) == (0, f"{ways}\n"), run.stderr
    failed = example("tasks", 15)
    assert failed.returncode == 1 and failed.stdout == ""
    line, = failed.stderr.splitlines()  # of the process that was the first to say it: rank 0, or one that heard of it
    assert re.fullmatch(".*/tasks: rank (0|1: rank 0 failed): task count in process 0: a board has 1 to 14 rows", line), line


def test_the_public_headers_alone_are_installed(installed, tmp_path):
    """They include nothing else of ours, each compiles alone, and beside the system's <error.h>."""
    folder = installed[0] / "include/edgewire"
    public = ROOT / "include/edgewire"
    names = sorted(str(path.relative_to(public)) for path in public.rglob("*.h"))
    assert names == sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert [path.name for path in folder.parent.iterdir()] == ["edgewire"]
    sources = {f"{i}.cpp": f"#include <edgewire/{name}>\n" for i, name in enumerate(names)}
    sources["all.cpp"] = "#include <error.h>\n" + "".join(sources.values()) + (
        "void say() { error(0, 0, \"%s\", edgewire::Error(\"a line\").what()); }\n")
    for name, text in sources.items():
        (tmp_path / name).write_text(text)
    subprocess.run(["c++", "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", f"-I{folder.parent}",
                    *(tmp_path / name for name in sources)], check=True)


@pytest.mark.skipif(shutil.which("cmake") is None, reason="no cmake here")
def test_cmake_finds_the_library(installed, tmp_path):
    """A project of CMake builds and runs an example, where PATH has the program; another version is refused."""
    _, environment = installed
    (tmp_path / "CMakeLists.txt").write_text(f"""
cmake_minimum_required(VERSION 3.18)
project(caller CXX)
find_package(edgewire ${{WANTED}} REQUIRED)
add_executable(tasks {ROOT / "examples/tasks.cpp"})
target_link_libraries(tasks edgewire::edgewire)
""")
    subprocess.run(["cmake", "-S", tmp_path, "-B", tmp_path / "build"], check=True, stdout=subprocess.DEVNULL, env=environment)
    subprocess.run(["cmake", "--build", tmp_path / "build"], check=True, stdout=subprocess.DEVNULL, env=environment)
    run = subprocess.run([tmp_path / "build/tasks", "6"], text=True, capture_output=True, timeout=LIMIT_S, env=environment)
    assert (run.returncode, run.stdout) == (0, "4\n"), run.stderr
    other = subprocess.run(["cmake", "-S", tmp_path, "-B", tmp_path / "other", "-DWANTED=9.1"], text=True,
                           capture_output=True, env=environment)
    assert other.returncode != 0 and 'compatible with requested version "9.1"' in " ".join(other.stderr.split())
