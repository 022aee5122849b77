"""docs/promises.md: the tests that it names are there, and are run by the pieces of `make test-all` that it names."""

import ast
import fnmatch
import functools
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
APART = {"machine": "rdma", "launcher": "launchers", "dpdk": "dpdk", "links": "links", "measured": "measured"}  # markers, and their pieces


@functools.cache
def marks_of(name):
    """The tests of a file of end-to-end tests, and the text of their markers."""
    nodes = ast.parse((ROOT / "tests/end_to_end" / name).read_text()).body
    whole = "".join(ast.unparse(node) for node in nodes if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "pytestmark")
    return {node.name: whole + "".join(map(ast.unparse, node.decorator_list)) for node in nodes
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def pieces_of(name, pattern):
    """The pieces that run the tests of a file whose names match; empty when there are none."""
    return {next((piece for mark, piece in APART.items() if f"mark.{mark}" in marks), "tests")
            for test, marks in marks_of(name).items() if fnmatch.fnmatch(test, pattern)}


def pieces_that_run(named):
    """The pieces that run the tests that a promise names, and the names that mean nothing."""
    found, unknown, file = set(), [], None
    for name, following in zip(named, [*named[1:], ""]):
        if name.endswith((".cpp", ".py")) and not any((ROOT / "tests" / folder / name).exists() for folder in ("unit", "fuzz", "end_to_end", "..")):
            unknown.append(name)
        elif name.endswith("_test.cpp"):
            found.add("tests")
        elif name.endswith("_fuzz.cpp"):
            found.add("fuzz")
        elif name.startswith("tests/lab/"):
            found.add("kills")
        elif name.endswith(".py"):
            file = name
            found |= set() if following.startswith("test_") and "." not in following else pieces_of(file, "*")
        elif pieces := pieces_of(file, name):
            found |= pieces
        else:
            unknown.append(f"{file}: {name}")
    return found, unknown


def test_each_promise_is_shown_by_the_tests_and_pieces_that_it_names():
    page = (ROOT / "docs/promises.md").read_text()
    promises = re.findall(r"^- \*\*(.+?)\*\*.+?^  Tests \((.+?)\): (.+?)\n(?=- |\n)", page, re.DOTALL | re.MULTILINE)
    assert len(promises) == len(re.findall(r"^- \*\*", page, re.MULTILINE)) > 40
    for what, pieces, tests in promises:
        found, unknown = pieces_that_run(re.findall(r"`([^`]+)`", tests))
        assert not unknown and found == set(re.findall(r"`([^`]+)`", pieces)), (what, found, unknown)
