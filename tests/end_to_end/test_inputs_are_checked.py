"""Inputs that change under a run, hold nothing or are not what they are called; names and folders that cannot be used."""

import gzip
import json
import os
import signal
import subprocess

import pytest

import graphs
from processes import LIMIT_S, PATIENCE_S, causes, children, has_file_in, wait_for
from reference import graph_bytes, write_graph

CHANGED = ("the file was written while it was used, so this run is given up; run again, and replace a file that is in use by its name (mv)")


def write_anew(path, content):
    """The same file with other content, as `cp` and `>` make it."""
    with open(path, "wb") as file:
        file.write(content)


def ended_by_change(process, path):
    """The job ends, and one line says why."""
    _, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1, errors
    [line] = causes(errors.splitlines())
    assert line.removeprefix("edgewire: ").split(": ", 1)[-1].endswith(CHANGED) and f"{path}: " in line, line


def refused_job(edgewire, *arguments):
    """The one line with which a job gave up."""
    result = edgewire(*arguments)
    assert result.returncode == 1, result.stderr
    [line] = causes(result.stderr.splitlines())
    return line


@pytest.fixture
def path(tmp_path):
    """A graph file of another time: clocks of file systems tick slowly."""
    path = write_graph(tmp_path / "g.ew", graphs.make("dangling"))
    os.utime(path, (1_000_000_000, 1_000_000_000))
    return path


# ---- files that change under a run ------------------------------------------------------------------------------------

@pytest.mark.sanitize
@pytest.mark.parametrize("parallel", ["levels", "sources"])
@pytest.mark.parametrize("processes", [1, 2])
def test_a_graph_that_is_written_anew_ends_the_run(edgewire, tmp_path, path, processes, parallel):
    """The third of five results goes to a pipe, which holds the run up; those of before are right, and none comes after it."""
    options = ["--sources", "0,1,2,3,4", "--parallel", parallel, "-p", processes, "-w", 1]
    edgewire.ok("bfs", path, *options, "-o", tmp_path / "known-{}")
    os.mkfifo(tmp_path / "found-2")
    with edgewire.start("bfs", path, *options, "-o", tmp_path / "found-{}") as process:
        wait_for(lambda: (tmp_path / "found-1").exists(), "two results")
        write_anew(path, graph_bytes(graphs.make("self loops")) * 2)
        reader = os.open(tmp_path / "found-2", os.O_RDONLY | os.O_NONBLOCK)
        ended_by_change(process, path)
        os.close(reader)
    for source in (0, 1):
        assert (tmp_path / f"found-{source}").read_bytes() == (tmp_path / f"known-{source}").read_bytes()
    assert not (tmp_path / "found-3").exists() and not (tmp_path / "found-4").exists()


@pytest.mark.parametrize("processes", [1, 2])
def test_a_graph_that_is_written_anew_ends_iterations(edgewire, tmp_path, path, processes):
    folder = tmp_path / "checkpoint"
    with edgewire.start("pagerank", path, "-p", processes, "-w", 1, "--iterations", 1000000, "--checkpoint", folder, "--every", 1,
                        "-o", tmp_path / "ranks") as process:
        wait_for(lambda: (folder / "manifest").exists(), "a checkpoint")
        write_anew(path, graph_bytes(graphs.make("self loops")))
        ended_by_change(process, path)
    assert not (tmp_path / "ranks").exists()


def test_a_graph_that_another_replaces_stays_what_it_is(edgewire, tmp_path, path):
    known = edgewire.ok("bfs", path, "--source", 0, "-o", "-")
    os.mkfifo(tmp_path / "found")
    with edgewire.start("bfs", path, "--source", 0, "-o", tmp_path / "found") as process:
        wait_for(lambda: has_file_in(process.pid, tmp_path), "the graph")
        os.replace(write_graph(tmp_path / "other", graphs.make("self loops")), path)
        assert (tmp_path / "found").read_text() == known
        assert process.wait(timeout=PATIENCE_S) == 0, process.stderr.read()


def test_a_graph_that_is_written_anew_ends_its_way_to_another_format(edgewire, tmp_path, kronecker):
    path = tmp_path / "g.ew"
    path.write_bytes(kronecker(15).read_bytes())  # more text than a pipe holds
    os.utime(path, (1_000_000_000, 1_000_000_000))
    with edgewire.start("convert", path, "--to", "el", "-o", "-") as process:
        assert process.stdout.read(1)
        write_anew(path, graph_bytes(graphs.make("self loops")))
        process.stdout.read()
        _, errors = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 1 and path.name in errors


# ---- inputs that hold nothing ----------------------------------------------------------------------------------------

EMPTY = {"g.txt": b"", "g.el": b"# only a comment\n", "g.txt.gz": gzip.compress(b""), "g.bin": b"", "g.graph": b"3 0\n\n\n\n",
         "g.mtx": b"%%MatrixMarket matrix coordinate pattern general\n3 3 0\n", "g.gr": b"p sp 3 0\n"}


@pytest.mark.parametrize("name", EMPTY)
def test_an_input_without_an_edge_is_an_error(edgewire, tmp_path, name):
    path, output = tmp_path / name, tmp_path / "g.ew"
    path.write_bytes(EMPTY[name])
    said = f"{path}: it holds no edge; --allow-empty makes a graph of it all the same"
    in_parts = [["-p", 2, "-w", 1], ["--memory", "200M"]] if name != "g.graph" else []
    for options in ([], *in_parts):
        assert refused_job(edgewire, "convert", path, "-o", output, *options).endswith(f": {said}")
        assert not output.exists()
        edgewire.ok("convert", path, "-o", output, "--allow-empty", *options)
        found = json.loads(edgewire.ok("info", output, "--json", "-"))
        assert (found["vertices"], found["edges"]) == (3 if name in ("g.graph", "g.mtx", "g.gr") else 0, 0)
        output.unlink()
    assert edgewire.refused("wcc", path) == f"{said} (options of `edgewire convert`)"


def test_damaged_archives_are_named(edgewire, tmp_path):
    (tmp_path / "g.txt").write_text("0 1\n1 2\n" * 200)
    for suffix, tool in ((".gz", ["gzip"]), (".zst", ["zstd", "-q"]), (".xz", ["xz"]), (".bz2", ["bzip2"])):
        try:
            packed = subprocess.run([*tool, "-c", tmp_path / "g.txt"], capture_output=True, check=True, timeout=LIMIT_S).stdout
        except FileNotFoundError:
            continue
        path = tmp_path / f"g.txt{suffix}"
        for content in (packed[:-1], packed[:-9], packed[:len(packed) // 2], packed + b"garbage"):
            path.write_bytes(content)
            line = edgewire.refused("convert", path, "-o", tmp_path / "g.ew")
            assert line.startswith(f"{path}: byte ") and ("is cut short" in line or "is damaged" in line)
    assert not (tmp_path / "g.ew").exists()


def test_line_ends_of_old_macs_are_named(edgewire, tmp_path):
    path = tmp_path / "g.txt"
    path.write_bytes(b"# comment\r0 1\r1 2\r")
    for options in ([], ["-p", 2, "-w", 1], ["--memory", "200M"]):
        line = refused_job(edgewire, "convert", path, "-o", tmp_path / "g.ew", *options)
        assert line.endswith(f"{path}: its lines end in CR alone, as on old Macs; tr '\\r' '\\n' < FILE > NEW makes them readable")


# ---- inputs that are not what they are called ------------------------------------------------------------------------

def test_a_metis_graph_is_no_edge_list(edgewire, tmp_path):
    path = tmp_path / "m.graph"
    path.write_text("3 3\n2 3\n1 3\n1 2\n")
    for hint in ("snap", "el", "csv"):
        for options in ([], ["-p", 2, "-w", 1], ["--no-weights"]):
            line = refused_job(edgewire, "convert", path, "--format", hint, "-o", tmp_path / "g.ew", *options)
            assert "is a METIS graph of 3 vertices and 3 edges; --format metis reads it" in line
    assert "3 vertices, 6 edges" in edgewire.ok("convert", path, "-o", tmp_path / "g.ew")


@pytest.mark.parametrize("options", [[], ["-p", 2, "-w", 1]], ids=["alone", "in parts"])
def test_sparse_ids_that_are_kept_are_announced(edgewire, tmp_path, options):
    path = tmp_path / "g.el"
    path.write_text("0 1\n1 2000000\n")
    done = edgewire("convert", path, "-o", tmp_path / "g.ew", "--keep-ids", *options)
    assert done.returncode == 0
    assert causes(done.stderr.splitlines()) == ["edgewire: --keep-ids: 2000001 vertices for 2 edges take 16.01 MB"]
    assert (tmp_path / "g.ew").stat().st_size > 16_000_000
    done = edgewire("convert", path, "-o", tmp_path / "g.ew", *options)
    assert causes(done.stderr.splitlines()) == [] and "only vertices with edges are kept (--keep-ids keeps all)" in done.stdout
    assert (tmp_path / "g.ew").stat().st_size < 100_000


# ---- names and folders ------------------------------------------------------------------------------------------------

def test_a_folder_for_temporary_files_that_cannot_be_used_is_named(edgewire, tmp_path, path):
    text = tmp_path / "g.txt"
    text.write_text("0 1\n1 2\n")
    (tmp_path / "file").touch()
    for folder, cause in ((tmp_path / "none", "No such file or directory"), (tmp_path / "file", "Not a directory")):
        said = f"TMPDIR={folder}: cannot make files there: {cause}; name another folder, or none"
        for command in (["bfs", text, "--source", 0], ["pagerank", path, "--direction", "in"], ["bound", text, "-p", 2],
                        ["convert", text, "--to", "el", "-o", "-"], ["wcc", text, "--memory", "200M"]):
            assert edgewire.refused(*command, env={"TMPDIR": str(folder)}) == said
        # Others need none.
        edgewire.ok("convert", text, "-o", tmp_path / "t.ew", "--memory", "200M", env={"TMPDIR": str(folder)})
        edgewire.ok("pagerank", path, "-p", 2, "-w", 1, env={"TMPDIR": str(folder)})
    edgewire.ok("bfs", text, "--source", 0, env={"TMPDIR": ""})  # as if it were not set


def test_names_that_are_no_utf8_get_into_reports(edgewire, tmp_path):
    folder = os.fsencode(tmp_path)
    path = folder + b"/M\xfcller.ew"
    text = folder + b"/\xff.txt"
    with open(text, "w") as file:
        file.write("0 1\n1 2\n2 0\n")
    page, trace = tmp_path / "page.html", tmp_path / "trace.json"

    def run(*arguments):
        done = subprocess.run([edgewire.program, *arguments], capture_output=True, timeout=LIMIT_S)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert json.loads(run("convert", text, "-o", path, "--json", "-"))["output"].endswith("/M\ufffdller.ew")
    assert json.loads(run("info", path, "--json", "-"))["path"].endswith("/M\ufffdller.ew")
    for command in (["bfs", path, "--source", "0"], ["pagerank", path], ["wcc", path]):
        for processes in ("1", "2"):
            assert json.loads(run(*command, "-p", processes, "-w", "1", "--json", "-"))["graph"].endswith("/M\ufffdller.ew")
    run("profile", "-o", page, "--trace", trace, "--", "pagerank", path, "-w", "1")
    assert "M\ufffdller.ew" in page.read_text()
    json.loads(trace.read_text())
    json.loads(run("bound", path, "-p", "2", "--json", "-"))
    run("generate", "records", "--bytes", "1M", "-o", folder + b"/\xfe")
    json.loads(run("sort", folder + b"/\xfe/records-00000", "-o", folder + b"/\xfd", "--json", "-"))


@pytest.mark.parametrize("processes", [1, 2])
def test_a_checkpoint_folder_that_stays_empty_goes(edgewire, tmp_path, path, processes):
    """With the folders above it that were made for it."""
    command = ["pagerank", path, "-p", processes, "-w", 1, "--iterations", 1000000, "--checkpoint", tmp_path / "a/b", "--every", 1000000]
    for made_before in (False, True):
        if made_before:
            (tmp_path / "a/b").mkdir(parents=True)
        with edgewire.start(*command) as process:
            wait_for(lambda: (tmp_path / "a/b").is_dir() and (processes == 1 or len(children(process.pid)) == 2), "the folder")
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=PATIENCE_S) in (-signal.SIGTERM, 128 + signal.SIGTERM)
        assert (tmp_path / "a").exists() == made_before
