"""The pages for readers: README.md and docs/. Links lead somewhere, and commands have options that exist."""

import functools
import gzip
import json
import os
import pathlib
import re
import subprocess
import tomllib

import numpy as np
import pytest

from every_command import KERNELS

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGES = sorted([*(ROOT / name for name in ("README.md", "ARCHITECTURE.md", "perf/README.md", "perf/results/README.md")), *ROOT.glob("docs/*.md")])
README_LINES = 130
LINE_WIDTH = 160
DESKTOP = ROOT / "examples/debian-desktop.tsv.gz"


def slug(heading):
    """The anchor that GitHub gives a heading."""
    return re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")


def anchors(page):
    text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    return {slug(heading) for heading in re.findall(r"^#+ (.*)$", text, flags=re.MULTILINE)}


def broken_links(page):
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        other = page.parent / path if path else page
        if not other.exists():
            yield f"{target}: no such file"
        elif anchor and anchor not in anchors(other):
            yield f"{target}: no such heading"


def commands(text):
    """The command lines of `edgewire` in a page, as lists of words: blocks of code, and pieces of code in a sentence."""
    blocks = re.findall(r"^ *```sh\n(.*?)^ *```", text, flags=re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.replace("\\\n", " ").splitlines()]
    lines += re.findall(r"`([^`]*)`", re.sub(r"^ *```.*?^ *```", "", text, flags=re.DOTALL | re.MULTILINE))
    for line in lines:
        found = re.match(r"(?:[^#]*\s)?(?:build/)?edgewire ([^#|]*)", line)
        if found:
            yield found.group(1).split()


@functools.cache
def options(edgewire, *subcommand):
    return set(re.findall(r"(?<![\w-])--?[a-zA-Z][\w-]*", edgewire.ok(*subcommand, "--help")))


def unknown_options(edgewire, words):
    if "--" in words:  # profile -- pagerank ..., compare --kernel bfs -- ...
        end = words.index("--")
        kernel = words[words.index("--kernel") + 1:][:1] if words[0] == "compare" else []
        return unknown_options(edgewire, words[:end]) + unknown_options(edgewire, [*kernel, *words[end + 1:]])
    names = [word.strip("[]").split("=")[0] for word in words if re.match(r"\[?--?[a-zA-Z]", word)]
    subcommand = words[:2 if words[0] in ("generate", "tasks") else 1] if re.match(r"[a-z]", words[0]) else []
    return [f"{' '.join(words)}: {name}" for name in names if name not in options(edgewire, *subcommand)]


def test_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= README_LINES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    assert list(broken_links(page)) == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_have_options_that_exist(edgewire, page):
    assert [fault for words in commands(page.read_text()) for fault in unknown_options(edgewire, words)] == []


def test_all_subcommands_are_found_in_pages():
    found = {words[0] for page in PAGES for words in commands(page.read_text())}
    assert {"convert", "info", "bound", "pagerank", "netbench", "topology", "transports", "generate"} <= found


def test_the_extra_all_is_all_others():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    joined = re.fullmatch(r"edgewire\[(.*)\]", "".join(extras.pop("all")))[1]
    assert sorted(joined.split(",")) == sorted(extras)


@pytest.fixture(scope="module")
def highest():
    """The ten highest ranks of the graph in examples/, by name: the solution of the linear equations, which has no iterations."""
    with gzip.open(DESKTOP, "rt") as file:
        edges = [line.split() for line in file if not line.startswith("#")]
    names = sorted({name for edge in edges for name in edge})
    number = {name: i for i, name in enumerate(names)}
    follows = np.zeros((len(names), len(names)))
    for source, target in edges:
        follows[number[target], number[source]] += 1
    degrees = follows.sum(axis=0)
    follows = np.where(degrees > 0, follows / np.maximum(degrees, 1), 1 / len(names))
    ranks = np.linalg.solve(np.eye(len(names)) - 0.85 * follows, np.full(len(names), 0.15 / len(names)))
    return [(names[i], ranks[i]) for i in np.argsort(-ranks)[:10]]


def test_the_graph_in_examples(edgewire, highest, tmp_path):
    edgewire.ok("convert", DESKTOP, "--labels", "-o", tmp_path / "desktop.ew")
    edgewire.ok("pagerank", tmp_path / "desktop.ew", "-p", 2, "--top", 10, "--json", tmp_path / "report.json")
    top = json.loads((tmp_path / "report.json").read_text())["top"]
    assert [one["id"] for one in top] == [name for name, _ in highest]
    np.testing.assert_allclose([one["value"] for one in top], [rank for _, rank in highest], rtol=1e-3)  # after 20 iterations


def test_readme_shows_its_highest_ranks(highest):
    readme = (ROOT / "README.md").read_text()
    assert DESKTOP.name in readme
    assert re.search(r"[\s,#]+".join(re.escape(name) for name, _ in highest), readme), highest


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_lines_fit_a_screen(page):
    assert [f"{number}: {len(line)}" for number, line in enumerate(page.read_text().splitlines(), start=1) if len(line) > LINE_WIDTH] == []


def test_the_lists_of_options_are_those_of_the_program(edgewire):
    """docs/kernels.md: every kernel is in its table, and has a section with its own options, as the help of the program explains them."""
    page = (ROOT / "docs/kernels.md").read_text()
    assert sorted(re.findall(r"^\| \[`(\w+)`\]\(#\1\) \|", page, re.M)) == sorted(KERNELS)
    assert sorted(re.findall(r"^### (\w+)$(?=(?:\n(?!###).*)*\n<!-- options of \1 -->$)", page, re.M)) == sorted(KERNELS)
    checked = subprocess.run([ROOT / "tools/option-lists", "--check"], env={**os.environ, "EDGEWIRE": str(edgewire.program)},
                             capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr
