"""tools/bench-guard: when it calls a case slower, what it skips, which commit it compares with, and what it leaves behind.
How fast the program is, is not tested: programs here report the seconds that a test wants."""

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

import pytest

import rights
from conftest import heed_signals
from processes import wait_for

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "perf"))

from guard import builds, cases, decision  # noqa: E402

CASE = "number-inc 2 x 1"
GIT = ["git", "-c", "user.name=a", "-c", "user.email=a", "-c", "init.defaultBranch=work"]


def outcome(*rounds):
    return decision.Outcome("a", [decision.Round(*times) for times in rounds])


BETTER, WORSE = ([1.0, 1.1, 1.2], [1.0, 1.1, 1.3]), ([1.0, 1.1, 1.2], [1.1, 1.2, 1.3])


@pytest.mark.parametrize("base, candidate, worse", [
    ([1.0, 1.0, 1.0], [1.09, 1.09, 1.09], True),
    ([1.0, 1.0, 1.0], [1.07, 1.07, 1.07], False),
    ([1.0, 1.0, 1.0], [1.0, 1.5, 1.5], False),  # the best run shows that the others were disturbed
    ([0.5, 1.0, 1.0], [1.0, 1.0, 1.0], False),  # one lucky run of the base
    ([1.0, 1.0, 9.0], [1.1, 1.1, 1.1], True),
    ([1.1, 1.1, 1.1], [1.0, 1.0, 1.0], False),
])
def test_a_round_is_worse_by_medians_and_best_runs(base, candidate, worse):
    assert decision.Round(base, candidate).worse == worse


@pytest.mark.parametrize("rounds, slower, again", [
    ([BETTER], False, False), ([WORSE], False, True), ([WORSE, BETTER], False, False), ([WORSE, WORSE], True, False)])
def test_a_case_is_slower_only_when_it_is_worse_in_two_rounds(rounds, slower, again):
    found = outcome(*rounds)
    assert (found.slower, found.needs_second_round, decision.exit_status([found])) == (slower, again, int(slower))


def test_the_last_line_names_what_to_look_at():
    fine, slow = outcome(BETTER), outcome(WORSE, WORSE)
    slow.name = "b"
    assert decision.summary([fine, slow]) == "2 cases, 1 slower: b (1.09 x, 1.09 x)"
    skipped, broken = decision.Outcome("c", skipped="why"), decision.Outcome("d", broken="why")
    assert decision.summary([fine, skipped]) == "1 case, 1 skipped, none slower" and decision.exit_status([fine, skipped]) == 0
    assert decision.summary([fine, broken]) == "1 case, 1 failed: d, none slower" and decision.exit_status([fine, broken]) == 1


@pytest.mark.parametrize("case", cases.CASES, ids=lambda case: case.name)
def test_the_program_knows_every_case(edgewire, tmp_path, case):
    if "--local-hosts" in case.words:
        rights.need_hosts()
    small = re.sub(r"--scale \d+", "--scale 8", case.input.replace("300M", "30k"))
    path = cases.make_input(edgewire.program, small, tmp_path / "inputs")
    assert cases.make_input("/nowhere", small, tmp_path / "inputs") == path  # it is kept
    fast = [{"100000": "100", "0.4": "0.02"}.get(word, word) for word in case.words]
    assert cases.Case(case.name, fast, case.figure).measure(edgewire.program, path, tmp_path) > 0


@pytest.fixture
def guard(tmp_path, monkeypatch):
    """guard(base, candidate): what the tool says of programs that run these lines of shell."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def command(base, candidate):
        for name, lines in (("base", base), ("candidate", candidate)):
            (tmp_path / name).mkdir(exist_ok=True)
            (tmp_path / name / "edgewire").write_text(f"#!/bin/sh\n{lines}\n")
            (tmp_path / name / "edgewire").chmod(0o755)
        return [ROOT / "tools/bench-guard", "--base-build", tmp_path / "base", "--build", tmp_path / "candidate", "--only", CASE]

    def of(base, candidate, *options):
        return subprocess.run([*command(base, candidate), *options], capture_output=True, text=True, stdin=subprocess.DEVNULL)

    of.command = command
    return of


def takes(seconds):
    return f"""echo '{{"seconds_runs": [{seconds}]}}' >report.json"""


def test_as_fast_as_the_base(guard, tmp_path):
    result = guard(takes(0.1), takes(0.105), "--json", tmp_path / "runs.json")
    assert result.returncode == 0, result.stderr
    assert re.search(rf"^{CASE} +100\.00 +105\.00 +1\.050 +9 +-$", result.stdout, re.MULTILINE), result.stdout
    assert result.stdout.splitlines()[-1] == "bench-guard: 1 case, none slower"
    assert json.loads((tmp_path / "runs.json").read_text())[CASE]["rounds"] == [{"base": [0.1] * 9, "candidate": [0.105] * 9}]


def test_slower_than_the_base(guard):
    result = guard(takes(0.1), takes(0.11))
    assert result.returncode == 1, result.stderr
    table = [line.split()[4:] for line in result.stdout.splitlines() if line.startswith(CASE)]
    assert table == [["100.00", "110.00", "1.100", "9", "again"], ["100.00", "110.00", "1.100", "15", "SLOWER"]]
    assert result.stdout.splitlines()[-1] == f"bench-guard: 1 case, 1 slower: {CASE} (1.10 x, 1.10 x)"


@pytest.mark.parametrize("base, candidate, status, said", [
    ("echo edgewire: no such command >&2; exit 2", takes(1), 0, f"skipped {CASE}: base: no such command"),
    (takes(1), "echo edgewire: no such command >&2; exit 2", 0, f"skipped {CASE}: candidate: no such command"),
    (takes(1), "echo '{}' >report.json", 0, f"skipped {CASE}: candidate: its report has no 'seconds_runs'"),
    ("exit 3", "exit 3", 0, f"skipped {CASE}: base: exit status 3"),
    (takes(1), "echo edgewire: out of memory >&2; exit 1", 1, f"failed {CASE}: out of memory"),
])
def test_a_case_that_a_side_cannot_run(guard, base, candidate, status, said):
    result = guard(base, candidate)
    assert result.returncode == status and said in result.stdout.splitlines(), result.stdout + result.stderr


@pytest.mark.parametrize("options, named", [(["--only", "convert"], "file/edgewire"), (["--json", "/nowhere/runs.json"], "/nowhere/runs.json")])
def test_a_place_that_cannot_be_written_is_named(guard, tmp_path, monkeypatch, options, named):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    result = guard(takes(1), takes(1), *options)
    said = result.stderr.splitlines()[-1]
    assert result.returncode == 1 and said.startswith("bench-guard: ") and named in said and "Traceback" not in result.stderr, result.stderr


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("starting", [False, True])  # when the program starts, which it tells itself
def test_nothing_is_left_behind_when_it_is_stopped(guard, tmp_path, number, starting):
    mark = tmp_path / "where"
    then = f"kill -{int(number)} $PPID" if starting else f"mv {mark}.part {mark}"
    command = guard.command(f"echo $$ $PWD >{mark}.part; {then}; sleep 1000", "true")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True,
                               preexec_fn=heed_signals)
    try:
        if not starting:
            wait_for(mark.exists, "a run")
            process.send_signal(number)
        _, stderr = process.communicate(timeout=60)
        pid, folder = pathlib.Path(f"{mark}.part" if starting else mark).read_text().split()
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    assert process.returncode == 128 + number and "Traceback" not in stderr, stderr
    assert not pathlib.Path(folder).parent.exists()
    wait_for(lambda: not pathlib.Path("/proc", pid).exists(), "the end of the program")


@pytest.mark.parametrize("words, said", [
    (["no-such-commit"], "no commit no-such-commit here"),
    (["--build", "/nowhere", "--candidate", "HEAD"], "not allowed with argument"),
    (["HEAD", "--base-build", "/nowhere"], "not both"),
    (["--only", "nothing"], "leaves no case"),
    (["--only", "("], "invalid"),
])
def test_wrong_usage(words, said):
    result = subprocess.run([ROOT / "tools/bench-guard", *words], capture_output=True, text=True)
    assert result.returncode == 2 and said in result.stderr.splitlines()[-1], result.stderr


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """commit(): a new commit of a checkout in which the tool is at home."""
    root = tmp_path / "checkout"
    root.mkdir()
    monkeypatch.setattr(builds, "ROOT", root)

    def git(*words):
        return subprocess.run([*GIT, *words], cwd=root, capture_output=True, text=True, check=True).stdout.strip()

    def commit():
        (root / "file").write_text(str(len(list(root.iterdir()))) + git("rev-list", "--all"))
        git("add", "file")
        git("commit", "-q", "-m", "more")
        return git("rev-parse", "HEAD")

    git("init", "-q")
    commit.git = git
    return commit


def test_the_default_base(checkout):
    checkout()
    with pytest.raises(builds.NoCommit):
        builds.default_base()
    first = builds.commit_of("HEAD")
    second = checkout()
    assert builds.default_base() == (first, "HEAD~1")
    checkout.git("update-ref", "refs/remotes/origin/main", second)
    assert builds.default_base() == (first, "HEAD~1")
    checkout(), checkout()
    assert builds.default_base() == (second, "the merge base with origin/main")


def test_a_commit_is_built_as_it_is_in_that_commit_and_the_last_ones_used_are_kept(checkout, tmp_path, monkeypatch):
    contents = {}
    monkeypatch.setattr(builds, "build", lambda source, folder, name: contents.update({source.name: (source / "file").read_text()}))
    commits = [checkout() for _ in range(builds.KEPT + 1)]
    (builds.ROOT / "file").write_text("in no commit")
    for commit in commits:
        builds.build_of_commit(commit, tmp_path / "cache")
        os.utime(tmp_path / "cache" / commit, (commits.index(commit),) * 2)
    assert contents == {commit: checkout.git("show", f"{commit}:file") for commit in commits}
    left = {path.name for path in (tmp_path / "cache").iterdir() if path.is_dir()}
    assert left == set(commits[1:])


def test_the_options_are_those_of_the_commit(tmp_path):
    assert builds.setup_options(tmp_path) == []
    (tmp_path / "meson_options.txt").write_text("option('tests', type: 'boolean')")
    assert builds.setup_options(tmp_path) == ["-Dtests=false"]
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/build-options").write_text("#!/bin/sh\necho -Dunity=on")
    (tmp_path / "tools/build-options").chmod(0o755)
    assert builds.setup_options(tmp_path) == ["-Dunity=on", "-Dtests=false"]
