"""edgewire convert --parts: a part of the graph for each process, and every command reads the folder as one graph."""

import filecmp
import json
import os
import random
import re
import shutil
import signal
import struct

import pytest

import every_command
import reference
import rights
from disks import small_disk
from frontier import values
from processes import PATIENCE_S, check_ended, check_loss, children, has_file_in, wait_for

HEADER = struct.Struct("<8sIIQQ" + 5 * "QQ" + "Q" + "IIII" + "QQQQ" + "Q")
SECTIONS = ["offsets", "targets", "weights", "ids"]


def read_part(path):
    """What format.h says of a part: the header's fields, and the bytes of each section."""
    data = path.read_bytes()
    magic, version, flags, vertices, edges, *places = HEADER.unpack(data[:HEADER.size])
    assert (magic, version) == (b"EDGEWIRE", 2)
    entries = [(places[2 * i], places[2 * i + 1]) for i in range(5)]
    _, number, parts, holds_ids, _, *extent, checksum = places[10:]
    assert struct.unpack("<Q", data[4088:4096])[0] == reference.xxh3(data[:4088])
    assert len(data) == sum(entries[4])
    sections = {name: data[at:at + size] for name, (at, size) in zip(SECTIONS, entries)}
    return {"flags": flags, "vertices": vertices, "edges": edges, "number": number, "parts": parts, "holds_ids": holds_ids,
            "extent": extent, "checksum": checksum, **sections}


def check_parts(folder, whole):
    """The parts in the folder are the file `whole`, cut by rows."""
    data = whole.read_bytes()
    _, _, flags, vertices, edges, *places = HEADER.unpack(data[:HEADER.size])
    parts = [read_part(path) for path in sorted(folder.iterdir())]
    assert [part["number"] for part in parts] == list(range(len(parts)))
    assert {(part["flags"], part["vertices"], part["edges"], part["parts"]) for part in parts} == {(flags, vertices, edges, len(parts))}
    assert len({part["checksum"] for part in parts}) == 1
    row = edge = 0
    for part in parts:
        assert part["extent"][0] == row and part["extent"][2] == edge
        row, edge = part["extent"][1], part["extent"][3]
        assert len(part["offsets"]) == 8 * (row + 1 - part["extent"][0])
    assert (row, edge) == (vertices, edges)
    sections = {name: data[places[2 * i]:][:places[2 * i + 1]] for i, name in enumerate(SECTIONS)}
    assert b"".join(part["offsets"][:-8] for part in parts) + parts[-1]["offsets"][-8:] == sections["offsets"]
    for name in ("targets", "weights"):
        assert b"".join(part[name] for part in parts) == sections[name]
    assert [part["ids"] for part in parts if part["holds_ids"]] == ([sections["ids"]] if sections["ids"] else [])


def write_edges(path, count, ids, weighted=False):
    """Edges of which a third begins at one vertex."""
    draw = random.Random(count)
    hub = draw.choice(ids)
    with path.open("w") as file:
        for edge in range(count):
            source, target = draw.choice(ids) if edge % 3 else hub, draw.choice(ids)
            file.write(f"{source} {target}{f' {draw.randint(-3, 9) / 2}' if weighted else ''}\n")


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    write_edges(folder / "sparse.txt", 60_000, random.Random(1).sample(range(400_000), 9000))
    write_edges(folder / "dense.el", 60_000, range(9000))
    write_edges(folder / "weights.wel", 60_000, range(9000), weighted=True)
    (folder / "one.el").write_text("0 0\n")
    return folder


@pytest.mark.sanitize
@pytest.mark.parametrize("name", ["sparse.txt", "dense.el", "weights.wel", "one.el"])
@pytest.mark.parametrize("job", [[], ["-p", 1, "-w", 2], ["-p", 3, "-w", 1], ["-p", 2, "-w", 2, "--transport", "tcp"]], ids=str)
def test_parts_are_the_graph_of_one_file(edgewire, inputs, tmp_path, name, job):
    for options in ([], ["--simple"], ["--undirected", "--no-weights"]):
        edgewire.ok("convert", inputs / name, "-o", tmp_path / "known.ew", *options)
        edgewire.ok("convert", inputs / name, "-o", f"{tmp_path}/g.ew/", "--parts", "--memory", "160M", *options, *job)
        count = job[1] if job else 1
        assert sorted(os.listdir(tmp_path / "g.ew")) == [f"{part:04}-of-{count:04}" for part in range(count)]
        check_parts(tmp_path / "g.ew", tmp_path / "known.ew")
        edgewire.ok("convert", tmp_path / "g.ew", "-o", tmp_path / "found.ew", "--allow-empty")
        assert filecmp.cmp(tmp_path / "found.ew", tmp_path / "known.ew", shallow=False), options
        shutil.rmtree(tmp_path / "g.ew")


@pytest.fixture(scope="module")
def both(edgewire, tmp_path_factory):
    """A graph in a file and in three parts, side by side, with weights and ids that were numbered anew."""
    folder = tmp_path_factory.mktemp("both")
    ids = random.Random(2).sample(range(5000), 1500)
    write_edges(folder / "g.wel", 9000, ids, weighted=True)
    text = "".join(f"{s} {t} {abs(float(w))}\n" for s, t, w in map(str.split, (folder / "g.wel").read_text().splitlines()))
    (folder / "g.txt").write_text(text)
    edgewire.ok("convert", folder / "g.txt", "-o", folder / "whole.ew")
    edgewire.ok("convert", folder / "g.txt", "-o", folder / "g.ew", "--parts", "-p", 3, "-w", 1)
    return folder, text.split()[0]


@pytest.mark.parametrize("processes", [1, 3])
@pytest.mark.parametrize("command", every_command.KERNELS)
def test_kernels_read_parts(edgewire, both, tmp_path, command, processes):
    folder, source = both
    for name in ("whole.ew", "g.ew"):
        words = every_command.words(command, folder / name, [], None, source)
        edgewire.ok(*words, "-p", processes, "-w", 1, "-o", tmp_path / f"{name}.tsv")
    assert (tmp_path / "g.ew.tsv").read_bytes() == (tmp_path / "whole.ew.tsv").read_bytes()


def test_other_commands_read_parts(edgewire, both, tmp_path):
    folder, _ = both
    parts, whole = f"{folder}/g.ew/", folder / "whole.ew"
    told = [json.loads(edgewire.ok("info", path, "--verify", "--json", "-")) for path in (parts, whole)]
    assert told[0]["path"] == f"{folder}/g.ew"
    assert told[0]["file_bytes"] == sum(path.stat().st_size for path in (folder / "g.ew").iterdir())
    for one in told:
        for name in ("path", "file_bytes", "seconds"):
            del one[name]
    assert told[0] == told[1]
    for ending in ("el", "wel", "mtx", "sg"):
        for path, name in ((parts, "found"), (whole, "known")):
            edgewire.ok("convert", path, "-o", tmp_path / f"{name}.{ending}")
        assert (tmp_path / f"found.{ending}").read_bytes() == (tmp_path / f"known.{ending}").read_bytes()
    for path, name in ((parts, "found"), (whole, "known")):
        edgewire.ok("bound", path, "-p", "2,4", "--rate", "1G", "--csv", tmp_path / f"{name}.csv")
    assert (tmp_path / "found.csv").read_bytes() == (tmp_path / "known.csv").read_bytes()


def test_plans_and_edges_lie_beside_the_folder(edgewire, both, tmp_path):
    shutil.copytree(both[0] / "g.ew", tmp_path / "g.ew")
    before = sorted(os.listdir(tmp_path / "g.ew"))
    sums = []
    for options in (["--plan-cache"], ["--plan-cache"], ["--edges", "disk"]):
        report = tmp_path / "report.json"
        edgewire.ok("pagerank", f"{tmp_path}/g.ew/", "-p", 2, "-w", 1, *options, "--deterministic", "--json", report)
        sums.append(json.loads(report.read_text())["checksum"])
    assert len(set(sums)) == 1
    names = sorted(os.listdir(tmp_path))
    assert "g.ew.plan-0-of-2" in names and "g.ew.plan-1-of-2" in names and any(re.match(r"g\.ew\.edges-[0-9a-f]{16}-0-of-2-disk-0", name) for name in names), names
    assert sorted(os.listdir(tmp_path / "g.ew")) == before


def check_kernel(edgewire, kernel, here, hosts):
    """Three processes that see a part each find what one process finds in the whole file."""
    options = {"pagerank": ["--precision", "f64", "--iterations", 5], "spmv": ["--precision", "f64", "--iterations", 1],
               "bfs": ["--source", 0], "sssp": ["--source", 0, "--unit-weights"], "bc": ["--sources", 0]}.get(kernel, [])
    if kernel in ("bfs", "sssp", "bc"):
        options[1] = edgewire.ok("wcc", here / "known.ew", "-w", 1, "-o", "-").split()[0]  # the first vertex, as results call it
    known = values(edgewire.ok(kernel, here / "known.ew", "-w", 1, *options, "-o", "-"))
    for ownership in ("hash", "ranges"):
        ranks = [edgewire.start(kernel, "g.ew", "-w", 1, *options, *hosts, "--rank", rank, "--ownership", ownership, "-o", "values.tsv",
                                cwd=here / str(rank)) for rank in range(3)]
        for rank in ranks:
            _, errors = rank.communicate(timeout=PATIENCE_S)
            assert rank.returncode == 0, errors
        found = values((here / "0/values.tsv").read_text())
        assert [id_ for id_, _ in found] == [id_ for id_, _ in known]
        assert [value for _, value in found] == pytest.approx([value for _, value in known], rel=1e-9), (kernel, ownership)


def test_each_host_has_its_parts(edgewire, inputs, several, hosts, tmp_path):
    """Every process sees a folder of its own of that name, as on a disk of its host."""
    for name in ("dense.el", "sparse.txt"):
        here = tmp_path / name
        for rank in range(3):
            (here / str(rank)).mkdir(parents=True)
        command = ["convert", inputs / name, "-o", "g.ew", "-w", 1, *hosts(3)]
        ranks = [edgewire.start(*command, "--parts", "--rank", rank, cwd=here / str(rank)) for rank in range(3)]
        for rank in ranks:
            _, errors = rank.communicate(timeout=PATIENCE_S)
            assert rank.returncode == 0, errors
        for rank in range(3):
            assert os.listdir(here / f"{rank}/g.ew") == [f"{rank:04}-of-0003"]
        assert edgewire.refused("info", here / "0/g.ew") == f"{here}/0/g.ew: part 0001-of-0003 is not here"
        assert "all parts of the graph must lie on hosts of this job" in edgewire.refused("pagerank", here / "1/g.ew", "-p", 2, "-w", 1)
        assert edgewire.refused("pagerank", here / "1/g.ew", "-w", 1).endswith("1/g.ew: part 0000-of-0003 is not here")
        edgewire.ok("convert", inputs / name, "-o", here / "known.ew")
        for kernel in ("pagerank", "spmv", "bfs", "sssp", "wcc", "scc", "bc", "cdlp", "lcc", "tc"):
            check_kernel(edgewire, kernel, here, hosts(3))
        for rank in (1, 2):
            shutil.move(here / f"{rank}/g.ew/{rank:04}-of-0003", here / "0/g.ew")
        edgewire.ok("convert", here / "0/g.ew", "-o", here / "found.ew")
        assert filecmp.cmp(here / "found.ew", here / "known.ew", shallow=False)


def test_what_is_refused(edgewire, inputs, both, tmp_path):
    source, out = inputs / "dense.el", tmp_path / "g.ew"
    assert "--parts writes graphs of .ew" in edgewire.refused("convert", source, "-o", tmp_path / "g.mtx", "--parts", status=2)
    assert "--parts writes graphs of .ew" in edgewire.refused("convert", source, "-o", "-", "--to", "el", "--parts", status=2)
    assert "leave --parts out" in edgewire.refused("convert", source, "-o", out, "--parts", "--labels", status=2)
    assert "a graph in parts is copied in little memory anyway" in edgewire.refused("convert", both[0] / "g.ew", "-o", out, "-p", 2)
    assert os.listdir(tmp_path) == []
    out.write_text("before")
    assert edgewire.refused("convert", source, "-o", out, "--parts") == f"{out}: it is not a folder"
    out.unlink()
    edgewire.ok("convert", source, "-o", out, "--parts", "-p", 2, "-w", 1)
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    line = edgewire.refused("convert", source, "-o", out, "--parts", "-p", 2, "-w", 1)
    assert f"{out}: it holds parts of an earlier conversion: remove them, or name another folder" in line
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    part = out / "0001-of-0002"
    assert edgewire.refused("info", part) == f"{part}: it is part 1 of a graph in 2: name its folder, {out}"
    assert edgewire.refused("convert", out, "-o", out) == f"{out}: input and output are the same file"
    for words in (["pagerank", out, "-o", part], ["info", out, "--json", part], ["convert", source, "-o", out, "--parts", "--json", part]):
        assert f"{part}: " in (line := edgewire.refused(*words)) and " writes this file, and " in line
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    part.unlink()
    for command in (["info", out], ["convert", out, "-o", tmp_path / "x.el"], ["convert", out, "-o", tmp_path / "x.ew"],
                    ["bound", out], ["pagerank", out], ["wcc", out]):
        assert edgewire.refused(*command) == f"{out}: part 0001-of-0002 is not here"
    assert edgewire.refused("info", tmp_path) == f"{tmp_path}: it is a folder without a graph: there are no parts such as 0000-of-0004"
    assert os.listdir(tmp_path) == ["g.ew"]


def test_several_hosts_need_parts(edgewire, inputs, tmp_path):
    rights.need_hosts()
    command = ["convert", inputs / "dense.el", "-o", tmp_path / "g.ew", "-p", 2, "-w", 1, "--local-hosts"]
    line = edgewire(*command).stderr
    assert "convert writes one file, so all its processes must be on one host (-p); --parts writes a file for each process" in line
    edgewire.ok(*command, "--parts")
    edgewire.ok("convert", inputs / "dense.el", "-o", tmp_path / "known.ew")
    check_parts(tmp_path / "g.ew", tmp_path / "known.ew")
    edgewire.ok("compare", tmp_path / "g.ew", "-p", 2, "--repeat", 1, "--strategy", "slots", "--iterations", 2)


def start_spilling(edgewire, folder, *options):
    """A conversion that has a run on disk, and goes on for some time."""
    (folder / "temp").mkdir(exist_ok=True)
    process = edgewire.start("convert", *[folder / "g.txt"] * 4, "-o", folder / "g.ew", "--parts", "--temp", folder / "temp", "-w", 1,
                             "--memory", "75M", *options)
    wait_for(lambda: any(has_file_in(pid, folder / "temp") for pid in [process.pid, *children(process.pid)]), "a run")
    return process


@pytest.fixture
def large(tmp_path):
    write_edges(tmp_path / "g.txt", 1_500_000, range(1 << 18))
    return tmp_path


@pytest.mark.parametrize("processes", [1, 2])
def test_a_killed_conversion_leaves_nothing(edgewire, large, processes):
    """Its folder goes, too, unless it was there before, or nobody is left who could remove it."""
    for number, made_before in ((signal.SIGTERM, False), (signal.SIGTERM, True), (signal.SIGKILL, True)):
        if made_before:
            (large / "g.ew").mkdir(exist_ok=True)
        check_ended(start_spilling(edgewire, large, "-p", processes), number)
        assert (large / "g.ew").exists() == made_before
        assert list(large.glob("g.ew/*")) == [] and list((large / "temp").iterdir()) == []


@pytest.mark.parametrize("transport", ["shm", "tcp"])
def test_a_lost_process_leaves_nothing(edgewire, large, transport):
    check_loss(start_spilling(edgewire, large, "-p", 2, "--transport", transport))
    assert not (large / "g.ew").exists() and list((large / "temp").iterdir()) == []


def test_a_full_disk_leaves_nothing(edgewire, large):
    disk = large / "disk"
    with small_disk(disk, "9M"):
        line = edgewire.refused("convert", *[large / "g.txt"] * 4, "-o", disk / "g.ew", "--parts", "--temp", large, "-w", 1, "-p", 2)
        assert "cannot write: No space left on device" in line and f"{disk}/g.ew/000" in line
        assert os.listdir(disk) == []
