"""Edges on disks: the same result as with edges in memory, whatever the job, and one line for every damage."""

import json
import resource

import pytest

import graphs
import reference
from job import Job, on


@pytest.fixture
def graph():
    return reference.Graph(30011, *graphs.random_edges(30011, 400000, 5))


@pytest.fixture
def path(tmp_path, graph):
    return reference.write_graph(tmp_path / "g.ew", graph)


@pytest.fixture
def run(edgewire, tmp_path, path):
    return lambda *options: Job(edgewire, tmp_path, path, "--deterministic", *options)


def files(folder):
    return sorted(folder.glob("g.ew.edges-*"))


@pytest.mark.sanitize
@pytest.mark.matrix(1 / 3)
@pytest.mark.parametrize("options", [
    ["-w", 1], ["-w", 3], ["-p", 3, "-w", 2], ["-p", 2, "--transport", "tcp"], ["-p", 2, "--strategy", "edge"],
    ["-p", 2, "--strategy", "worker"], ["-p", 2, "--ownership", "ranges", "--wire", "u16"],
    ["-w", 2, "--precision", "f64"], ["-w", 2, "--memory", "1M"]])
def test_the_result_is_that_of_edges_in_memory(run, devices, options):
    strategy = [] if "--strategy" in options else ["--strategy", "slots"]
    memory = [one for one in options if one not in ("--memory", "1M")]
    expected = run(*memory, *strategy).text
    for source in ("written", "used"):
        job = run(*options, *strategy, *on(*devices))
        assert job.text == expected
        assert job.report["plan_cache"] == source
        disk = job.report["disk"]
        assert disk["devices"] == 2
        iterations = len(job.report["iterations"])
        assert disk["bytes_read"] >= iterations * disk["stored_bytes"] > 0
        assert disk["stored_bytes"] < job.report["tile_bytes"]
        assert disk["limit_bytes_per_second"] > 0
    sizes = [sum(file.stat().st_size for file in files(folder)) for folder in devices]
    largest = 2**20 * job.report["processes"]
    assert abs(sizes[0] - sizes[1]) <= largest


def test_weights_travel_through_disks(edgewire, tmp_path, devices):
    sources, destinations = graphs.random_edges(5003, 60000, 7)
    lines = [f"{s} {d} {(s * 31 + d * 7) % 17 / 4 + 0.25}\n" for s, d in zip(sources, destinations)]
    text, path = tmp_path / "edges.wel", tmp_path / "g.ew"
    text.write_text("".join(lines))
    edgewire.ok("convert", text, "-o", path)
    texts = []
    for more in ([], on(*devices), on(*devices)):
        output = tmp_path / "values.tsv"
        edgewire.ok("pagerank", path, "--weighted", "--deterministic", "-p", 2, "--strategy", "slots", "-o", output,
                    *more)
        texts.append(output.read_text())
    assert texts[0] == texts[1] == texts[2]


@pytest.mark.matrix(1 / 2)
@pytest.mark.parametrize("name", ["no vertices", "one vertex", "no edges", "star out", "dangling"])
def test_graphs_of_odd_shapes(edgewire, tmp_path, name):
    path = reference.write_graph(tmp_path / "g.ew", graphs.make(name))
    options = ["-p", 3, "-w", 2, "--strategy", "slots", "--deterministic"]
    texts = [Job(edgewire, tmp_path, path, *options, *more).text for more in ([], ["--edges", "disk"]) * 2]
    assert len(set(texts)) == 1


def test_files_of_a_plan_that_is_gone_are_written_anew(run, devices):
    expected = run(*on(*devices)).text
    first, = files(devices[0])
    other = first.read_bytes()
    first.unlink()
    job = run(*on(*devices))
    assert (job.text, job.report["plan_cache"]) == (expected, "written")
    assert "cannot read: No such file" in job.report["plan_cache_note"]
    for damage, why in ((lambda now: other, "the file is of another plan"), (lambda now: now[:-4096], "but its header says"),
                        (lambda now: b"", "the file is cut short"), (lambda now: b"?" * 5000, "not a file of segments")):
        content = damage(first.read_bytes())
        first.unlink()
        first.write_bytes(content)
        job = run(*on(*devices))
        assert (job.text, job.report["plan_cache"]) == (expected, "written")
        assert why in job.report["plan_cache_note"] and str(first) in job.report["plan_cache_note"]
    assert run(*on(*devices)).report["plan_cache"] == "used"


@pytest.mark.sanitize
@pytest.mark.parametrize("processes", [1, 3])
def test_a_changed_byte_ends_the_run(edgewire, run, path, devices, tmp_path, processes):
    options = ["--deterministic", "-p", processes, "--strategy", "slots", *on(*devices)]
    expected = run(*options).text
    damaged = files(devices[1])[-1]
    content = bytearray(damaged.read_bytes())
    content[4096 + 77] ^= 4
    damaged.write_bytes(content)
    output = tmp_path / "none.tsv"
    result = edgewire("pagerank", path, "-o", output, *options)
    assert result.returncode == 1
    assert f"{damaged}: byte 4096: the file is damaged here (a checksum differs)" in result.stderr
    assert not output.exists() and not result.stdout
    damaged.unlink()  # as the message says
    assert run(*options).text == expected


@pytest.mark.parametrize("make, why", [
    (lambda folder: folder.write_text("no folder"), "Not a directory"), (lambda folder: None, "No such file or directory")])
def test_a_device_that_is_no_folder(edgewire, path, tmp_path, make, why):
    folder = tmp_path / "odd"
    make(folder)
    error = edgewire.refused("pagerank", path, *on(folder))
    assert f"odd/g.ew.edges-0-of-1-disk-0: cannot write: {why}" in error


def test_a_disk_that_fills_while_tiles_are_written(edgewire, path, tmp_path):
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    error = edgewire.refused("pagerank", path, "--edges", "disk", preexec_fn=limit)
    assert "edges-0-of-1-disk-0: cannot write: File too large" in error
    assert not files(tmp_path)


@pytest.mark.parametrize("kernel", ["pagerank", "wcc"])
def test_auto_takes_disk_where_memory_does_not_suffice(edgewire, path, tmp_path, kernel):
    report = tmp_path / "report.json"
    for memory, disk in (("1M", True), ("1G", False)):
        result = edgewire(kernel, path, "--edges", "auto", "--memory", memory, "--json", report)
        assert result.returncode == 0
        assert ("edges are on disk: in memory a process would need about" in result.stderr) == disk
        assert ("disk" in json.loads(report.read_text())) == disk


def test_options_that_do_not_go_together(edgewire, path, tmp_path):
    for options, why in ((["--devices", tmp_path], "--devices needs --edges disk or auto"),
                         (["--edges", "disk", "--strategy", "cover"], "--strategy cover needs --edges memory"),
                         (["--edges", "disk", "--ownership", "hilbert", "-p", 2], "--ownership hilbert needs --edges memory")):
        assert why in edgewire("pagerank", path, *options).stderr


def test_the_report_names_the_disk_as_a_bound(edgewire, path):
    text = edgewire.ok("pagerank", path, "--edges", "disk", "-w", 1)
    assert "edges from disk: " in text and "time on the disk at that rate: " in text and "limited by " in text
