"""Edges on disks: the same result as with edges in memory, whatever the job, and one line for every damage."""

import json
import re
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
    return sorted(folder.glob("g.ew.edges-*-disk-*"))


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
    for source, edges in (("written", "written"), ("used", "found")):
        job = run(*options, *strategy, *on(*devices))
        assert job.text == expected
        assert job.report["plan_cache"] == source
        disk = job.report["disk"]
        stored = sum(file.stat().st_size for folder in devices for file in files(folder))
        assert (disk["edges"], disk["bytes_written"]) == (edges, stored if edges == "written" else 0)
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
@pytest.mark.parametrize("job", [["-p", 1, "-w", 2], ["-p", 3, "-w", 1], ["-p", 2, "-w", 1, "--transport", "tcp"]])
@pytest.mark.parametrize("kernel", [["ppr", "--sources", "0,7"], ["spmv", "--iterations", 3], ["spmv", "--direction", "in"],
                                    ["spmv", "--precision", "f64", "--iterations", 3]], ids=lambda kernel: " ".join(map(str, kernel)))
def test_other_kernels_with_tiles(edgewire, path, tmp_path, devices, kernel, job):
    results = []
    for more in ([], on(*devices), on(*devices)):
        output, report = tmp_path / "values.tsv", tmp_path / "report.json"
        edgewire.ok(kernel[0], path, *kernel[1:], *job, "--strategy", "slots", "--deterministic", "--verify", "-o", output, "--json", report,
                    *more)
        results.append((output.read_text(), json.loads(report.read_text()).get("disk", {}).get("edges")))
    text = results[0][0]
    assert results == [(text, None), (text, "written"), (text, "found")]


def test_runs_with_other_options_keep_each_others_tiles(edgewire, path, tmp_path, devices):
    report = tmp_path / "report.json"
    variants = [["pagerank", "-w", 1], ["pagerank", "-w", 2], ["spmv", "-w", 1, "--direction", "in"]]
    for edges in ("written", "found"):
        for kernel, *options in variants:
            edgewire.ok(kernel, path, *options, *on(*devices), "--json", report)
            assert json.loads(report.read_text())["disk"]["edges"] == edges
    assert len(files(devices[0])) == len(files(devices[1])) == len(variants)
    for strategy in ("slots", "process", "worker", "edge"):
        edgewire.ok("pagerank", path, "--strategy", strategy, *on(*devices))
    assert len(files(devices[0])) == len(files(devices[1])) == 4


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
    for damage, why in ((lambda now: other, "the file belongs to another plan"), (lambda now: now[:-4096], "but its header says"),
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
    assert re.search(rf"odd/g\.ew\.edges-[0-9a-f]{{16}}-0-of-1-disk-0: cannot write: {why}", error)


def test_a_disk_that_fills_while_tiles_are_written(edgewire, path, tmp_path):
    limit = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    error = edgewire.refused("pagerank", path, "--edges", "disk", preexec_fn=limit)
    assert re.search(r"-0-of-1-disk-0: byte \d+: cannot write: File too large", error)
    assert not files(tmp_path)


@pytest.mark.parametrize("kernel", ["pagerank", "wcc"])
def test_auto_takes_disk_where_memory_does_not_suffice(edgewire, path, tmp_path, kernel):
    report = tmp_path / "report.json"
    for memory, disk in (("1M", True), ("1G", False)):
        result = edgewire(kernel, path, "--edges", "auto", "--memory", memory, "--json", report)
        assert result.returncode == 0
        assert ("edges are on disk: in memory a process would need about" in result.stderr) == disk
        assert ("disk" in json.loads(report.read_text())) == disk


@pytest.mark.parametrize("option", ["--strategy cover", "--ownership hilbert", "--order hilbert"])
def test_auto_says_which_option_keeps_edges_in_memory(edgewire, path, option):
    for memory, said in (("1M", True), ("1G", False)):
        result = edgewire("pagerank", path, "-p", 2, "--edges", "auto", "--memory", memory, *option.split())
        assert result.returncode == 0 and "edges from disk" not in result.stdout
        lines = [line for line in result.stderr.splitlines() if "edges stay in memory, as " in line]
        assert len(lines) == said
        if said:
            assert re.search(rf"edges stay in memory, as {option} needs it: in memory a process would need about [\d.]+ [kMG]B, ", lines[0])


def test_options_that_do_not_go_together(edgewire, path, tmp_path):
    (tmp_path / "link").symlink_to(tmp_path)
    for options, why in ((["--devices", tmp_path], "--devices needs --edges disk or auto"),
                         (on(tmp_path, tmp_path / "link"), f"--devices: {tmp_path}/link is named twice; name a folder on each disk"),
                         (["--edges", "disk", "--strategy", "cover"], "--strategy cover needs --edges memory"),
                         (["--edges", "disk", "--ownership", "hilbert", "-p", 2], "--ownership hilbert needs --edges memory")):
        assert why in edgewire("pagerank", path, *options).stderr


def test_the_report_names_the_disk_as_a_bound(edgewire, path):
    for edges in ("this run wrote ", "found, an earlier run wrote them\n"):
        text = edgewire.ok("pagerank", path, "--edges", "disk", "-w", 1, "--verbose")
        assert f"\nedges on disk: {edges}" in text
    assert "edges from disk: " in text and "time on the disk at that rate: " in text and "limited by " in text
