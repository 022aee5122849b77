"""The ledger of tests (tools/last-green): its page and its table are true, and it knows which pieces are stale."""

import json
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run_in(folder, *words):
    return subprocess.run(list(map(str, words)), cwd=folder, capture_output=True, text=True)


def table():
    """Piece to paths, as the page for developers has them."""
    rows = re.findall(r"^\| `(\w+)` \| (.*) \|$", (ROOT / "docs/testing.md").read_text(), re.MULTILINE)
    return {piece: re.findall(r"`([^`]+)`", paths) for piece, paths in rows}


@pytest.fixture
def checkout(tmp_path):
    """A repository with the tool, the table, and a file below two of its paths."""
    for name in ("tools/last-green", "docs/testing.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    for name in ("tests/lab/bare", "src/a.cpp"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("as it was\n")
    run_in(tmp_path, "git", "init", "-q")
    commit(tmp_path)
    return tmp_path


def commit(folder):
    run_in(folder, "git", "add", "-A")
    done = run_in(folder, "git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "Change")
    assert done.returncode == 0, done.stderr


def stale(folder):
    """Piece to why it is stale, and the exit status."""
    done = run_in(folder, "tools/last-green", "--stale")
    return dict(line.split(" ", 1) for line in done.stdout.splitlines()), done.returncode


def test_the_table_names_all_pieces_and_paths_that_there_are():
    pieces = re.search(r'^pieces="(.*)"', (ROOT / "tools/test-all").read_text(), re.MULTILINE)[1].split()
    assert set(table()) == {*pieces, "ci"}
    wrong = [path for paths in table().values() for path in paths if not (ROOT / path).exists()]
    assert not wrong and all(table().values())


def test_the_page_is_what_the_ledger_says(tmp_path):
    rows = json.loads((ROOT / "tests/ledger.json").read_text())
    text = (ROOT / "docs/tested.md").read_text()
    listed = re.findall(r"^\| `(\w+)` \| (\w+) \| ([\d-]+) \| (\d+) \|", text, re.MULTILINE)
    assert listed == [(piece, row["commit"][:12], row["date"], str(row["passed"])) for piece, row in rows.items()]
    missing = set(table()) - set(rows)
    assert missing == set(re.findall(r"`(\w+)`", "".join(re.findall(r"^Not passed yet: (.*)", text, re.MULTILINE))))


def test_a_piece_is_stale_once_its_sources_change(checkout):
    noted = run_in(checkout, "tools/last-green", "--write", "bare", "--passed", 7, "--seed", 5, "--could-not-run", "3: no such card")
    assert noted.returncode == 0 and "bare has passed at" in noted.stdout
    commit(checkout)
    assert "| 7 | 3 | 5 |" in (checkout / "docs/tested.md").read_text()
    assert "- 3: no such card (`bare`)" in (checkout / "docs/tested.md").read_text()
    why, status = stale(checkout)
    assert status == 1 and set(why) == set(table()) - {"bare"}
    (checkout / "src/a.cpp").write_text("changed\n")
    assert "bare" not in stale(checkout)[0]
    (checkout / "tests/lab/bare").write_text("changed\n")
    assert stale(checkout)[0]["bare"].endswith("tests/lab/bare changed since")
    commit(checkout)
    assert "bare" in stale(checkout)[0]


def test_what_is_in_no_commit_has_not_passed(checkout):
    (checkout / "src/a.cpp").write_text("changed\n")
    refused = run_in(checkout, "tools/last-green", "--write", "bare", "--passed", 7)
    assert refused.returncode == 0 and "changes that are in no commit" in refused.stdout
    assert not (checkout / "tests/ledger.json").exists()


def test_the_ledger_itself_is_no_change(checkout):
    for piece in ("bare", "demo"):
        assert "has passed at" in run_in(checkout, "tools/last-green", "--write", piece, "--passed", 1).stdout
    assert list(json.loads((checkout / "tests/ledger.json").read_text())) == ["demo", "bare"]


def test_a_commit_that_is_gone(checkout):
    run_in(checkout, "tools/last-green", "--write", "bare", "--passed", 1)
    ledger = checkout / "tests/ledger.json"
    ledger.write_text(re.sub(r'"commit": "\w+"', f'"commit": "{"1" * 40}"', ledger.read_text()))
    assert stale(checkout)[0]["bare"].endswith("which is not below HEAD")


def test_a_piece_that_there_is_not(checkout):
    refused = run_in(checkout, "tools/last-green", "--write", "bear", "--passed", 1)
    assert refused.returncode == 2 and "no piece 'bear'" in refused.stderr


COUNTS = """
source {root}/tools/steps.sh
strict={strict}
count "a step" printf '%s\\n' 'could not run 2: no such thing' 'elsewhere 3: another piece' 'skipped 4: no network' '5 passed, 0 failed, {skipped} skipped'
finish
"""


@pytest.mark.parametrize("strict, skipped, last", [
    ("", 9, "5 passed, 0 failed, 9 skipped"), ("yes", 9, "5 passed, 4 failed, 5 skipped"), ("yes", 5, "5 passed, 0 failed, 5 skipped")])
def test_a_skip_is_a_failure_where_it_must_not_be(strict, skipped, last, tmp_path):
    done = run_in(tmp_path, "bash", "-c", COUNTS.format(root=ROOT, strict=strict, skipped=skipped))
    lines = done.stdout.splitlines()
    assert lines[-1] == last and done.returncode == (" 0 failed" not in last)
    assert ("this machine cannot run 2: no such thing" in lines) == bool(strict)


def test_a_seed_that_is_none():
    refused = run_in(ROOT, "env", "SEED=one", "tools/test-all", "demo")
    assert refused.returncode == 2 and "SEED must be a whole number" in refused.stderr
