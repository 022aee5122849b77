"""Runs that find the plan of an earlier one, and runs that find something else."""

import itertools
import os
import pathlib

import pytest

import graphs
import reference
from disks import small_disk
from job import Job
from processes import PATIENCE_S, causes, children, cpu_seconds, wait_for

STRATEGIES = ["edge", "worker", "process", "slots", "cover"]


@pytest.fixture
def graph():
    return reference.Graph(2003, *graphs.random_edges(2003, 20000, 11))


@pytest.fixture
def path(tmp_path, graph):
    return reference.write_graph(tmp_path / "g.ew", graph)


@pytest.fixture
def run(edgewire, tmp_path, path):
    """run(options...) gives the ranks as text, where the plan came from, and why it was not found."""
    def run(*options):
        job = Job(edgewire, tmp_path, path, "--deterministic", *options)
        return job.text, job.report["plan_cache"], job.report.get("plan_cache_note", "")

    return run


def check_cached(run, *options, cache="--plan-cache"):
    plain = run(*options)
    assert plain[1:] == ("none", "")
    written = run(*options, cache)
    assert written[:2] == (plain[0], "written")
    assert run(*options, cache, "--verify") == (plain[0], "used", "")


@pytest.mark.sanitize
@pytest.mark.matrix(1 / 2)
@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("processes, workers", [(1, 2), (3, 2)])
def test_the_plan_is_found_again(run, tmp_path, strategy, processes, workers):
    check_cached(run, "-p", processes, "-w", workers, "--strategy", strategy)
    files = {f"g.ew.plan-{rank}-of-{processes}" for rank in range(processes)}
    assert {file.name for file in tmp_path.iterdir()} == {"g.ew", "report.json", "ranks.tsv"} | files


@pytest.mark.slow
@pytest.mark.matrix(1 / 5)
@pytest.mark.parametrize("strategy, processes, workers", itertools.product(STRATEGIES, [1, 2, 3, 4], [1, 3]))
@pytest.mark.parametrize("transport, layout", [("shm", "degree"), ("tcp", "given")])
def test_the_plan_is_found_again_however_the_job_is_cut(run, strategy, processes, workers, transport, layout):
    check_cached(run, "-p", processes, "-w", workers, "--strategy", strategy, "--transport", transport,
                 "--layout", layout)


@pytest.mark.parametrize("options", [
    ["--strategy", "auto", "--compute-rate", 1e15], ["--ownership", "auto"], ["--ownership", "ranges"], ["--wire", "u16"],
    ["--wire", "bf16", "--strategy", "cover"], ["--ownership", "hilbert"], ["--ownership", "grid", "--wire", "u16"]])
def test_what_is_chosen_is_found_again_too(run, options):
    check_cached(run, "-p", 3, "-w", 2, *options)


def test_a_partition_file_that_changes(run, tmp_path, graph):
    owners = tmp_path / "owners"
    lines = [f"{v % 3}\n" for v in range(graph.vertices)]
    owners.write_text("".join(lines))
    check_cached(run, "-p", 3, "--ownership", owners)
    lines[7] = "0\n"
    owners.write_text("".join(lines))
    _, source, note = run("-p", 3, "--ownership", owners, "--plan-cache")
    assert source == "written" and "made with partition file" in note


@pytest.mark.parametrize("name", ["no vertices", "one vertex", "no edges", "star out", "dangling"])
def test_graphs_of_odd_shapes(edgewire, tmp_path, name):
    path = reference.write_graph(tmp_path / "g.ew", graphs.make(name))
    options = ["-p", 3, "-w", 2, "--strategy", "cover", "--deterministic"]
    texts = [Job(edgewire, tmp_path, path, *options, *more).text for more in ([], ["--plan-cache"], ["--plan-cache"])]
    assert texts[0] == texts[1] == texts[2]


def test_a_folder_of_its_own(run, tmp_path):
    check_cached(run, "-p", 2, cache=f"--plan-cache={tmp_path}/deep/down")
    assert len(list((tmp_path / "deep/down").iterdir())) == 2


def test_the_flag_takes_no_argument_of_its_own(edgewire, path):
    for arguments in (["--plan-cache", path], [path, "--plan-cache"]):
        assert "plan cache: " in edgewire.ok("pagerank", *arguments, "-v")
    assert path.with_name("g.ew.plan-0-of-1").exists()


def test_in_the_working_folder(edgewire, path):
    for source in ("written", "used"):
        assert f"plan cache: {source}\n" in edgewire.ok("pagerank", "g.ew", "--plan-cache", "-v", cwd=path.parent)


@pytest.mark.sanitize
@pytest.mark.parametrize("rank", [0, 1, 2])
def test_one_damaged_file_is_enough(edgewire, run, path, rank):
    plain = run("-p", 3, "--plan-cache")[0]
    file = path.with_name(f"g.ew.plan-{rank}-of-3")
    whole = file.read_bytes()
    for bytes_ in (whole[:-1], whole[:len(whole) // 2] + bytes(64) + whole[len(whole) // 2 + 64:], b"", b"x" * 5000):
        file.write_bytes(bytes_)
        text, source, note = run("-p", 3, "--plan-cache")
        assert (text, source) == (plain, "written")
        assert note.startswith(f"plan cache not used: {file}: ")
    file.unlink()
    assert run("-p", 3, "--plan-cache") == (plain, "written", "")
    assert run("-p", 3, "--plan-cache") == (plain, "used", "")
    file.write_bytes(b"")
    result = edgewire("pagerank", path, "-p", 3, "--plan-cache", "--deterministic", "--verbose")
    assert result.returncode == 0 and "plan cache: written\n" in result.stdout
    assert result.stderr.splitlines()[-1] == f"edgewire: warning: plan cache not used: {file}: byte 0: the file is cut short"


def test_files_of_several_runs_do_not_mix(run, path):
    plain = run("-p", 2, "--plan-cache")[0]
    file = path.with_name("g.ew.plan-1-of-2")
    older = file.read_bytes()
    path.with_name("g.ew.plan-0-of-2").unlink()
    run("-p", 2, "--plan-cache")
    file.write_bytes(older)
    text, source, note = run("-p", 2, "--plan-cache")
    assert (text, source) == (plain, "written") and note.endswith("the files are of several runs")


@pytest.mark.parametrize("change, why", [
    (["-w", 2], "made with workers 1, now workers 2"),
    (["--strategy", "cover"], "made with strategy slots, now strategy cover"),
    (["--wire", "f16"], "made with wire f32, now wire f16"),
    (["--layout", "given"], "made with layout"),
    (["--ownership", "ranges"], "made with ownership hash, now ownership ranges"),
    (["--ownership", "hilbert"], "made with ownership hash, now ownership hilbert"),
    (["--strategy", "auto"], "made with strategy slots, now strategy auto")])
def test_other_options_make_another_plan(run, change, why):
    options = ["-p", 2, "-w", 1, "--strategy", "slots", "--transport", "shm", "--layout", "degree"]
    run(*options, "--plan-cache")
    for name, value in zip(change[::2], change[1::2]):
        options = [value if before == name else option for before, option in zip([None, *options], options)]
        if name not in options:
            options += [name, value]
    plain = run(*options)[0]
    text, source, note = run(*options, "--plan-cache")
    assert (text, source) == (plain, "written") and why in note
    assert run(*options, "--plan-cache") == (plain, "used", "")


def test_a_strategy_is_chosen_for_a_transport(run):
    options = ["-p", 2, "-w", 1, "--strategy", "auto", "--plan-cache"]
    run(*options, "--transport", "shm")
    _, source, note = run(*options, "--transport", "tcp")
    assert source == "written" and "made with transport shm, now transport tcp" in note
    options[5] = "slots"
    run(*options, "--transport", "shm")
    assert run(*options, "--transport", "tcp")[1] == "used"


def test_another_graph_of_the_same_name(run, path, graph):
    run("-p", 2, "--plan-cache")
    graph.targets[0] = 5
    reference.write_graph(path, graph)
    plain = run("-p", 2)[0]
    text, source, note = run("-p", 2, "--plan-cache")
    assert (text, source) == (plain, "written") and "made with graph" in note


def test_the_graph_is_read_for_degrees_only(edgewire, run, path, graph):
    plain = run("--plan-cache")[0]
    whole = path.read_bytes()
    targets = 4096 + -(-(graph.vertices + 1) * 8 // 4096) * 4096
    path.write_bytes(whole[:targets + 8] + b"\1" + whole[targets + 9:])
    assert run("--plan-cache") == (plain, "used", "")
    assert "damaged" in edgewire.refused("pagerank", path, "--plan-cache", "--verify")
    path.write_bytes(whole[:4096 + 800] + b"\1" + whole[4096 + 801:])
    assert "damaged" in edgewire.refused("pagerank", path, "--plan-cache")


def test_a_folder_that_cannot_be_written(edgewire, run, path):
    plain = run("-p", 2)[0]
    folder = path.with_name("file")
    folder.write_text("")
    text, source, note = run("-p", 2, f"--plan-cache={folder}")
    assert (text, source) == (plain, "none")
    assert note == f"plan cache not written: {folder}/g.ew.plan-0-of-2: cannot write: Not a directory"
    result = edgewire("pagerank", path, "-p", 2, "-w", 1, f"--plan-cache={folder}")
    assert result.returncode == 0 and result.stderr.splitlines() == [f"edgewire: warning: {note}"]


@pytest.mark.parametrize("processes", [1, 2])
def test_a_file_that_is_cut_short_while_it_is_used(edgewire, path, processes):
    """Tiles stay in the file."""
    options = ["pagerank", path, "-p", processes, "-w", 1, "--plan-cache"]
    edgewire.ok(*options, "--iterations", 1)
    plan = path.with_name(f"g.ew.plan-0-of-{processes}")
    started = edgewire.start(*options, "--iterations", 1000000)
    worker = wait_for(lambda: children(started.pid), "the processes")[0] if processes > 1 else started.pid
    wait_for(lambda: str(plan) in pathlib.Path(f"/proc/{worker}/maps").read_text(), "a plan in memory")
    begun = cpu_seconds(worker)
    wait_for(lambda: cpu_seconds(worker) > begun + 0.15, "iterations")
    os.truncate(plan, 0)
    _, stderr = started.communicate(timeout=PATIENCE_S)
    assert started.returncode == 1
    said = [line for line in stderr.splitlines() if line.startswith(f"edgewire: {plan}: byte ")]
    assert len(said) == 1 and "cut short" in said[0]
    assert all("rank 0 was lost" in line for line in causes(stderr.splitlines()) if line not in said), stderr


def test_a_full_disk(run, tmp_path):
    disk = tmp_path / "disk"
    with small_disk(disk, "16k"):
        plain = run("-p", 2)[0]
        text, source, note = run("-p", 2, f"--plan-cache={disk}")
        assert (text, source) == (plain, "none")
        assert note.startswith(f"plan cache not written: {disk}/g.ew.plan-") and "No space left on device" in note
        assert list(disk.iterdir()) == []
