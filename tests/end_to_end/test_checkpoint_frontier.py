"""Runs of cdlp and bc that end and go on from a checkpoint."""

import json
import os
import signal

import numpy as np
import pytest

import graphs
import job as jobs
import reference
from processes import PATIENCE_S, children, wait_for


@pytest.fixture
def path(tmp_path):
    """Two of its vertices change their labels in each iteration without an end, others along a path for a long time."""
    sources, targets = graphs.random_edges(80, 200, 6)
    along = np.arange(90, 139)
    graph = reference.Graph(140, np.concatenate((sources, [80], along)), np.concatenate((targets, [81], along + 1)))
    return reference.write_graph(tmp_path / "g.ew", graph)


@pytest.fixture
def run(edgewire, path, tmp_path):
    """run("cdlp", options...) gives the text of the values."""
    def values(kernel, *options):
        output = tmp_path / "values.tsv"
        edgewire.ok(kernel, path, "-w", 1, "-o", output, "--verify", *options)
        return output.read_text()

    return values


def scores(text):
    return np.array([float(line.split("\t")[1]) for line in text.splitlines()])


def done_in(folder):
    return int((folder / "manifest").read_text().split()[-4])


def end(process, how):
    """Kills one process of the job, or ends all of it as from the keyboard."""
    if how == "SIGKILL":
        os.kill(wait_for(lambda: children(process.pid), "the processes")[0], signal.SIGKILL)
    else:
        os.killpg(process.pid, signal.SIGINT)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode in ((1,) if how == "SIGKILL" else (-signal.SIGINT, 128 + signal.SIGINT))


@pytest.mark.sanitize
@pytest.mark.parametrize("before, after", [(1, 1), (2, 2), (1, 3), (3, 1)])
def test_labels_are_the_same_after_a_resumed_run(edgewire, run, path, tmp_path, before, after):
    folder = tmp_path / "kept"
    whole = run("cdlp", "--iterations", 25)
    run("cdlp", "-p", before, "--iterations", 9, "--checkpoint", folder, "--every", 2)
    assert done_in(folder) == 8
    assert run("cdlp", "-p", after, "--iterations", 25, "--resume", folder) == whole
    said = edgewire.ok("cdlp", path, "-p", after, "-w", 1, "--iterations", 25, "--resume", folder, "--checkpoint", folder, "--every", 3, "-v")
    assert said.startswith(f"continues after iteration 8 from the checkpoint in {folder}\n")
    assert "\n17 supersteps after the 8 iterations of the checkpoint in " in said and "    1  iteration 9: " in said
    assert done_in(folder) == 24
    report = json.loads(edgewire.ok("cdlp", path, "-p", after, "-w", 1, "--iterations", 24, "--resume", folder, "--json", "-"))
    jobs.check_schema(report)
    assert report["resumed_from"] == 24 and report["supersteps"] == []


@pytest.mark.parametrize("how", ["SIGKILL", "SIGINT"])
def test_labels_go_on_after_a_run_that_was_ended(edgewire, run, path, tmp_path, how):
    folder = tmp_path / "kept"
    started = edgewire.start("cdlp", path, "-p", 2, "-w", 1, "--iterations", 1000000, "--checkpoint", folder, "--every", 1)
    wait_for(lambda: (folder / "manifest").exists(), "a checkpoint")
    end(started, how)
    more = done_in(folder) + 7
    assert run("cdlp", "-p", 3, "--iterations", more, "--resume", folder) == run("cdlp", "--iterations", more)


@pytest.mark.matrix(1 / 2)
@pytest.mark.parametrize("options", [[], ["--normalized", "--endpoints"]], ids=" ".join)
@pytest.mark.parametrize("then", ["levels", "sources"])
@pytest.mark.parametrize("first", ["levels", "sources"])
@pytest.mark.parametrize("before, after", [(2, 3), (1, 2), (3, 1)])
def test_scores_are_right_after_a_resumed_run(run, path, tmp_path, before, after, first, then, options):
    folder = tmp_path / "kept"
    asked = ["--samples", 30, *options]
    whole = scores(run("bc", *asked))
    kept = scores(run("bc", *asked, "-p", before, "--parallel", first, "--checkpoint", folder, "--every", 7))
    assert done_in(folder) == 28
    resumed = scores(run("bc", *asked, "-p", after, "--parallel", then, "--resume", folder, "--checkpoint", folder, "--every", 15))
    assert done_in(folder) == 30
    files = {file.name: file.read_bytes() for file in folder.iterdir()}
    again = scores(run("bc", *asked, "-p", after, "--parallel", first, "--resume", folder, "--checkpoint", folder, "--every", 15))
    assert files == {file.name: file.read_bytes() for file in folder.iterdir()}  # no source is left, so nothing is written
    for found in (kept, resumed, again):
        np.testing.assert_allclose(found, whole, rtol=1e-12)


def test_weighted_scores_go_on(edgewire, tmp_path):
    path, folder, output = tmp_path / "w.ew", tmp_path / "kept", tmp_path / "scores.tsv"
    edgewire.ok("generate", "kronecker", "--scale", 8, "--weights", "-o", path)
    command = ["bc", path, "-w", 1, "--weighted", "--samples", 20, "-o", output, "--verify"]
    edgewire.ok(*command, "-p", 2, "--checkpoint", folder, "--every", 8)
    edgewire.ok(*command, "-p", 3, "--resume", folder)
    assert done_in(folder) == 16


@pytest.mark.parametrize("parallel", ["levels", "sources"])
def test_scores_go_on_after_a_run_that_was_killed(edgewire, kronecker, tmp_path, parallel):
    folder = tmp_path / "kept"
    started = edgewire.start("bc", kronecker(12), "-p", 2, "-w", 1, "--parallel", parallel, "--checkpoint", folder, "--every", 1)
    wait_for(lambda: (folder / "manifest").exists(), "a checkpoint")
    end(started, "SIGKILL")
    assert 1 <= done_in(folder) < 4096
    report = json.loads(edgewire.ok("bc", kronecker(12), "-p", 3, "-w", 1, "--resume", folder, "--verify", "--json", "-"))
    jobs.check_schema(report)
    assert report["resumed_from"] == done_in(folder)


def test_a_folder_that_nothing_was_written_to_goes(run, tmp_path):
    """One that the user made stays."""
    (tmp_path / "mine").mkdir()
    for folder in ("mine", "made/here"):
        run("cdlp", "-p", 2, "--iterations", 4, "--checkpoint", tmp_path / folder, "--every", 9)
    assert (tmp_path / "mine").is_dir() and not (tmp_path / "made").exists()


@pytest.fixture
def kept(run, tmp_path):
    folder = tmp_path / "kept"
    run("cdlp", "-p", 2, "--iterations", 10, "--checkpoint", folder, "--every", 5)
    return folder


def test_labels_of_another_run_are_refused(edgewire, path, kept, tmp_path):
    other = reference.write_graph(tmp_path / "other.ew", graphs.make("path"))
    for command in (["cdlp", other], ["bc", path], ["pagerank", path]):
        assert f"{kept}: the checkpoint is of another computation: cdlp, graph " in edgewire.refused(*command, "--resume", kept)
    edgewire.ok("bc", path, "--samples", 8, "--checkpoint", tmp_path / "sums", "--every", 4)
    for options in (["--samples", 9], ["--samples", 8, "--seed", 2], ["--samples", 8, "--endpoints"]):
        assert "of another computation: bc, sources 8 " in edgewire.refused("bc", path, *options, "--resume", tmp_path / "sums")
    line = edgewire.refused("cdlp", path, "--iterations", 9, "--resume", kept, status=2)
    assert line == f"--iterations 9: the checkpoint in {kept} is from after iteration 10, say --iterations 10 or more"
    assert "there is a checkpoint already (--resume continues it)" in edgewire.refused("cdlp", path, "--checkpoint", kept)


@pytest.mark.parametrize("processes", [1, 2, 3])
def test_labels_that_are_spoilt_are_refused(edgewire, path, kept, tmp_path, processes):
    file = kept / "values.10.1"
    file.write_bytes(file.read_bytes()[:-1])
    result = edgewire("cdlp", path, "-p", processes, "-w", 1, "--resume", kept, "-o", tmp_path / "labels")
    assert result.returncode == 1 and f"{file}: the file is cut short" in result.stderr and not (tmp_path / "labels").exists()


@pytest.mark.parametrize("kernel", ["cdlp", "bc", "pagerank"])
def test_what_is_to_be_resumed_is_read_first(edgewire, path, kept, tmp_path, kernel):
    assert "there is no checkpoint" in edgewire.refused(kernel, path, "--resume", tmp_path / "missing", "--checkpoint", kept)
    (tmp_path / "file").write_text("x")
    for name in ("missing", "file", "g.ew"):
        line = edgewire.refused(kernel, path, "--resume", tmp_path / name, "--checkpoint", tmp_path / "new")
        assert line == f"{tmp_path / name}: there is no checkpoint"
    assert not (tmp_path / "new").exists() and (tmp_path / "file").read_text() == "x"
    assert str(tmp_path / "file") in edgewire.refused(kernel, path, "--checkpoint", tmp_path / "file")


@pytest.mark.parametrize("kernel", ["bfs", "sssp", "wcc", "scc", "lcc", "tc"])
def test_kernels_without_checkpoints_say_so(edgewire, path, tmp_path, kernel):
    for option in ("--checkpoint", "--resume"):
        assert f"{kernel} has no option {option}" in edgewire.refused(kernel, path, option, tmp_path / "kept", status=2)
    assert not (tmp_path / "kept").exists()
