"""Runs that end and go on from a checkpoint."""

import os
import shutil
import signal

import numpy as np
import pytest

import graphs
import job as jobs
import reference
from processes import PATIENCE_S, children, wait_for

OPTIONS = ["-w", 1, "--deterministic"]


@pytest.fixture
def path(tmp_path):
    return reference.write_graph(tmp_path / "g.ew", graphs.make("self loops"))


@pytest.fixture
def pagerank(edgewire, path, tmp_path):
    """pagerank(options...) gives the text of the ranks."""
    def run(*options):
        output = tmp_path / "ranks.tsv"
        edgewire.ok("pagerank", path, "-o", output, "--verify", *OPTIONS, *options)
        return output.read_text()

    return run


@pytest.mark.sanitize
@pytest.mark.parametrize("processes, transport", [(1, "auto"), (3, "shm"), (3, "tcp")])
@pytest.mark.parametrize("layout", ["given", "degree"])
def test_a_resumed_run_gives_the_same_bits(pagerank, tmp_path, processes, transport, layout):
    options = ["-p", processes, "--transport", transport, "--layout", layout]
    whole = pagerank(*options, "--iterations", 25)
    folder = tmp_path / "kept" / "here"
    pagerank(*options, "--iterations", 14, "--checkpoint", folder, "--every", 3)
    run = (folder / "manifest").read_text().split()[-6].zfill(16)
    assert sorted(file.name for file in folder.iterdir()) == sorted(
        ["manifest", *(f"ids.{run}.{rank}" for rank in range(processes)),
         *(f"values.{done}.{rank}" for done in (6, 9, 12) for rank in range(processes))])
    assert pagerank(*options, "--iterations", 25, "--resume", folder, "--checkpoint", folder, "--every", 5) == whole
    # Once more, from what the resumed run has kept.
    assert (folder / "values.25.0").exists()
    assert pagerank(*options, "--iterations", 25, "--resume", folder) == whole


@pytest.mark.parametrize("before, after", [(2, 3), (4, 1), (1, 4)])
def test_another_number_of_processes(pagerank, tmp_path, before, after):
    folder = tmp_path / "kept"
    whole = pagerank("-p", before, "--iterations", 25)
    pagerank("-p", before, "--iterations", 10, "--checkpoint", folder)
    resumed = pagerank("-p", after, "--iterations", 25, "--resume", folder)
    for one, other in zip(jobs.read_ranks(whole), jobs.read_ranks(resumed)):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def test_a_run_that_is_killed_can_be_resumed(edgewire, pagerank, path, tmp_path):
    folder = tmp_path / "kept"
    started = edgewire.start("pagerank", path, *OPTIONS, "-p", 2, "--iterations", 1000000, "--checkpoint", folder, "--every", 1)
    wait_for(lambda: (folder / "manifest").exists(), "a checkpoint")
    os.kill(wait_for(lambda: children(started.pid), "the processes")[0], signal.SIGKILL)
    started.communicate(timeout=PATIENCE_S)
    assert started.returncode == 1
    done = int((folder / "manifest").read_text().split()[-4])
    whole = pagerank("-p", 2, "--iterations", done + 7)
    assert pagerank("-p", 2, "--iterations", done + 7, "--resume", folder) == whole


@pytest.fixture
def kept(pagerank, tmp_path):
    folder = tmp_path / "kept"
    pagerank("-p", 2, "--iterations", 10, "--checkpoint", folder, "--every", 5)
    return folder


def cut(file):
    file.write_bytes(file.read_bytes()[:-1])


def flip(file):
    data = bytearray(file.read_bytes())
    data[-3] ^= 1
    file.write_bytes(data)


def mix(file):
    shutil.copy(file.with_name(file.name.replace(".10.", ".5.")), file)


def swap(file):
    shutil.copy(file.with_name(file.name[:-1] + "0"), file)


@pytest.mark.matrix(1 / 2)
@pytest.mark.parametrize("spoil, name, cause", [
    (cut, "values.10.1", "cut short"), (flip, "values.10.1", "wrong checksum"), (mix, "values.10.1", "another checkpoint"),
    (lambda file: file.unlink(), "values.10.1", "missing"), (lambda file: file.write_bytes(b""), "values.10.1", "cut short"),
    (cut, "ids.*.1", "cut short"), (flip, "ids.*.1", "wrong checksum"), (swap, "ids.*.1", "another checkpoint"),
    (lambda file: file.unlink(), "ids.*.1", "missing"),
    (cut, "manifest", "not a whole manifest"), (flip, "manifest", "not a whole manifest"),
    (lambda file: file.unlink(), "manifest", "no checkpoint"),
])
@pytest.mark.parametrize("processes", [1, 2, 3])
def test_a_spoilt_checkpoint_is_refused(edgewire, path, kept, tmp_path, spoil, name, cause, processes):
    spoil(next(kept.glob(name)))
    (tmp_path / "ranks.tsv").unlink()
    result = edgewire("pagerank", path, *OPTIONS, "-p", processes, "--resume", kept, "-o", tmp_path / "ranks.tsv")
    assert result.returncode == 1 and cause in result.stderr and str(kept) in result.stderr
    assert not (tmp_path / "ranks.tsv").exists()


@pytest.mark.parametrize("name", ["manifest", "values.10.1", "ids.*.1"])
def test_what_is_no_file_is_refused_at_once(edgewire, path, kept, name):
    file = next(kept.glob(name))
    file.unlink()
    os.mkfifo(file)
    result = edgewire("pagerank", path, *OPTIONS, "-p", 2, "--resume", kept, timeout=PATIENCE_S)
    assert result.returncode == 1 and f"{file}: cannot read: it is not a regular file" in result.stderr
    file.unlink()
    file.symlink_to("/dev/zero")
    result = edgewire("pagerank", path, *OPTIONS, "-p", 2, "--resume", kept, timeout=PATIENCE_S)
    assert result.returncode == 1 and f"{file}: cannot read: it is not a regular file" in result.stderr


def test_a_checkpoint_that_cannot_be_read_is_one_all_the_same(edgewire, path, kept):
    manifest = kept / "manifest"
    manifest.unlink()
    manifest.symlink_to(manifest)  # not even root can follow it
    assert edgewire.refused("pagerank", path, *OPTIONS, "--resume", kept).startswith(f"{manifest}: cannot read: Too many")


@pytest.mark.parametrize("options", [["--damping", 0.8], ["--pagerank-2015"]])
def test_a_checkpoint_of_something_else_is_refused(edgewire, path, kept, options):
    assert "another computation" in edgewire.refused("pagerank", path, *OPTIONS, *options, "--resume", kept)


def test_a_checkpoint_of_another_graph_is_refused(edgewire, kept, tmp_path):
    other = reference.write_graph(tmp_path / "other.ew", graphs.make("path"))
    assert "another computation" in edgewire.refused("pagerank", other, *OPTIONS, "--resume", kept)


def test_a_checkpoint_is_not_overwritten_by_another_run(edgewire, path, kept):
    assert "--resume" in edgewire.refused("pagerank", path, *OPTIONS, "--checkpoint", kept)
    assert "f32" in edgewire.refused("pagerank", path, "--wire", "bf16", "--resume", kept, status=2)


@pytest.mark.parametrize("processes", [1, 2])
def test_a_folder_that_cannot_be_written_ends_the_run(edgewire, path, tmp_path, processes):
    """The file is written while the iterations go on: the failure shows later, but it shows."""
    folder = tmp_path / "kept"
    folder.mkdir()
    (folder / f"values.10.{processes - 1}").mkdir()  # in its way
    line = edgewire.refused("pagerank", path, *OPTIONS, "-p", processes, "--iterations", 10, "--checkpoint", folder, "-o",
                            tmp_path / "ranks.tsv")
    assert f"values.10.{processes - 1}: cannot write" in line
    assert not (tmp_path / "ranks.tsv").exists() and not (folder / "manifest").exists()
