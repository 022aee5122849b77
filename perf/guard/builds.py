"""Builds of the program for tools/bench-guard: of a commit, in a cache that all checkouts share, and of the working tree."""

import contextlib
import fcntl
import os
import pathlib
import re
import shutil
import sys
import tempfile

from measure import ROOT, Failed, run

KEPT = 4  # builds of commits, the last ones used


class NoCommit(Exception):
    """The text is one line."""


def cache():
    home = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(home, "edgewire", "bench-guard")


def git(*words):
    return run(["git", "-C", ROOT, *words]).strip()


def commit_of(name):
    try:
        return git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}")
    except Failed as error:
        raise NoCommit(f"no commit {name} here") from error


def default_base():
    """(commit, what it is): where this branch leaves the upstream's main; the last commit but one where it does not."""
    try:
        base = git("merge-base", "HEAD", "origin/main")
        if base != commit_of("HEAD"):
            return base, "the merge base with origin/main"
    except Failed:
        pass  # there is no such branch
    return commit_of("HEAD~1"), "HEAD~1"


def described(commit):
    return git("log", "-1", "--format=%h %s", commit)


def setup_options(source):
    """Those of the commit itself; commits that have no tools/build-options are built as meson does by default."""
    script, known = source / "tools/build-options", source / "meson_options.txt"
    options = run([script]).split() if script.exists() else []
    if known.exists() and re.search(r"option\('tests'", known.read_text()):
        options.append("-Dtests=false")
    return options


def build(source, folder, name):
    """The program of a source folder, up to date. Objects of other checkouts are found in the compiler's cache."""
    environment = {**os.environ, "CCACHE_BASEDIR": str(source), "CCACHE_NOHASHDIR": "1"}
    print(f"building {name} in {folder}", file=sys.stderr, flush=True)
    try:
        if not (folder / "build.ninja").exists():
            run(["meson", "setup", folder, *setup_options(source)], cwd=source, env=environment)
        run(["ninja", "-C", folder, "edgewire"], env=environment)
    except Failed as error:
        raise Failed(f"{name} does not build in {folder}: {error}") from error
    return folder / "edgewire"


def build_of_commit(commit, folder):
    """The program of a commit. Its build lies in its source, as it does in other checkouts."""
    folder.mkdir(parents=True, exist_ok=True)
    with alone(folder):
        source = folder / commit
        if not source.exists():
            with tempfile.TemporaryDirectory(dir=folder) as part:
                archive, fresh = pathlib.Path(part, "tar"), pathlib.Path(part, "source")
                fresh.mkdir()
                run(["git", "-C", ROOT, "archive", "-o", archive, commit])
                run(["tar", "-xf", archive, "-C", fresh])
                fresh.rename(source)
        os.utime(source)
        remove_old(folder)
        return build(source, source / "build", commit[:7])


@contextlib.contextmanager
def alone(folder):
    """One process at a time; others wait."""
    with open(folder / "lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def remove_old(folder):
    builds = [path for path in folder.iterdir() if re.fullmatch("[0-9a-f]{40,64}", path.name)]
    for path in sorted(builds, key=lambda path: path.stat().st_mtime, reverse=True)[KEPT:]:
        shutil.rmtree(path)
