"""The pages for readers: README.md and docs/. Links lead somewhere, and commands have options that exist."""

import functools
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "perf/README.md", *ROOT.glob("docs/*.md")])
README_LINES = 130


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
