"""edgewire convert in parts: the same bytes as in memory, within a limit of memory, and what is refused."""

import contextlib
import filecmp
import gzip
import pathlib
import random
import signal
import struct
import time

import numpy as np
import pytest

from control_groups import memory_group
from disks import small_disk
from processes import check_ended, check_loss, children, has_file_in, wait_for


def random_edges(seed, count, ids):
    random_numbers = random.Random(seed)
    hub = random_numbers.choice(ids)
    return [(random_numbers.choice(ids) if edge % 3 else hub, random_numbers.choice(ids)) for edge in range(count)]


def write_inputs(folder):
    """Files of every format that is converted in parts."""
    ids = random.Random(1).sample(range(400_000), 9000)
    edges = random_edges(2, 60_000, ids)
    weights = [random.Random(3).choice([1, -2.5, 0.0, -0.0, 3e-5, 7]) for _ in edges]
    lines = "".join(f"{s} {t}\n" for s, t in edges)
    size = max(map(max, edges)) + 1
    rows = [[] for _ in range(size)]
    for s, t in edges:
        rows[s].append(t)
    offsets = [0]
    for row in rows:
        offsets.append(offsets[-1] + len(row))
    sg = struct.pack("<?qq", True, len(edges), size) + struct.pack(f"<{size + 1}q", *offsets)
    sg += struct.pack(f"<{len(edges)}i", *(t for row in rows for t in row))
    sg += struct.pack(f"<{size + 1}q", *([0] * size), len(edges)) + struct.pack(f"<{len(edges)}i", *([0] * len(edges)))
    header = f"%%MatrixMarket matrix coordinate pattern symmetric\n{size} {size} {len(edges)}\n"
    contents = {
        "plain.txt": "# a comment\n" + lines,
        "weights.txt": "".join(f"{s}\t{t}\t{w}\n" for (s, t), w in zip(edges, weights)),
        "table.csv": "weight,to,from\n" + "".join(f"{w},{t},{s}\n" for (s, t), w in zip(edges, weights)),
        "gap.el": lines,
        "matrix.mtx": header + "".join(f"{s + 1} {t + 1}\n" for s, t in edges),
        "pairs.u32": struct.pack(f"<{2 * len(edges)}I", *(end for edge in edges for end in edge)),
        "gap.sg": sg,
    }
    for name, content in contents.items():
        data = content if isinstance(content, bytes) else content.encode()
        (folder / name).write_bytes(data)
        (folder / (name + ".gz")).write_bytes(gzip.compress(data, 1))


@pytest.fixture(scope="module")
def inputs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("inputs")
    write_inputs(folder)
    return folder


@pytest.mark.sanitize
@pytest.mark.matrix(1 / 4)
@pytest.mark.parametrize("job", [["-w", 1], ["-p", 3, "-w", 1], ["-p", 1, "-w", 2], ["-p", 2, "-w", 2, "--transport", "tcp"]], ids=str)
@pytest.mark.parametrize("form", ["", ".gz"])
@pytest.mark.parametrize("name", ["plain.txt", "weights.txt", "table.csv", "gap.el", "matrix.mtx", "pairs.u32", "gap.sg"])
def test_parts_give_the_bytes_that_memory_gives(edgewire, inputs, tmp_path, name, form, job):
    path = inputs / (name + form)
    for options in ((), ("--simple",), ("--undirected", "--no-weights")):
        edgewire.ok("convert", path, "-o", tmp_path / "known.ew", *options)
        edgewire.ok("convert", path, "-o", tmp_path / "found.ew", "--memory", "160M", *options, *job)
        assert filecmp.cmp(tmp_path / "found.ew", tmp_path / "known.ew", shallow=False), options


@pytest.mark.sanitize
@pytest.mark.matrix(1 / 3)
@pytest.mark.parametrize("name", ["g.el", "g.wel", "g.u32", "g.mtx", "skew.mtx", "g.gr", "g.txt"])
def test_sparse_ids_in_parts(edgewire, tmp_path, name):
    """The same numbers as in memory, also of vertices with nothing but a self loop; --keep-ids keeps all."""
    ids = [0, 5, *random.Random(6).sample(range(3_000_000), 4000), 3_000_001]
    edges = [*random_edges(7, 20_000, ids), (5, 5), (0, 3_000_001)]
    lines = "".join(f"{s} {t}\n" for s, t in edges)
    matrix = "%%MatrixMarket matrix coordinate integer {}\n3000002 3000002 {}\n"
    weighted = [f"{max(s, t) + 1} {min(s, t) + 1} {s % 5}\n" for s, t in edges if s != t]
    contents = {
        "g.el": lines,
        "g.wel": "".join(f"{s} {t} {s % 7}\n" for s, t in edges),
        "g.u32": struct.pack(f"<{2 * len(edges)}I", *(end for edge in edges for end in edge)),
        "g.mtx": matrix.format("general", len(edges)) + "".join(f"{s + 1} {t + 1} 3\n" for s, t in edges),
        "skew.mtx": matrix.format("skew-symmetric", len(weighted)) + "".join(weighted),
        "g.gr": f"p sp 3000002 {len(edges)}\n" + "".join(f"a {s + 1} {t + 1} 3\n" for s, t in edges),
        "g.txt": lines,
    }
    content = contents[name]
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    for options in ((), ("--simple",), ("--undirected",), ("--keep-ids",)):
        known = edgewire.ok("convert", tmp_path / name, "-o", tmp_path / "known.ew", *options)
        assert ("ids are sparse" in known) == ("--keep-ids" not in options and name != "g.txt"), options
        for job in (("-w", 2), ("-p", 3, "-w", 1)):
            found = edgewire.ok("convert", tmp_path / name, "-o", tmp_path / "found.ew", "--memory", "100M", *options, *job)
            assert ("ids are sparse" in found) == ("ids are sparse" in known), (options, job)
            assert filecmp.cmp(tmp_path / "found.ew", tmp_path / "known.ew", shallow=False), (options, job)


def test_several_files_are_one_graph(edgewire, tmp_path):
    edges = random_edges(5, 30_000, range(2000))
    lines = [f"{s} {t}\n" for s, t in edges]
    (tmp_path / "all.txt").write_text("".join(lines))
    edgewire.ok("convert", tmp_path / "all.txt", "-o", tmp_path / "known.ew")
    parts = []
    for part in range(5):
        text = ("# part\n" + "".join(lines[part::5])).encode()
        parts.append(tmp_path / (f"part-{part}.txt" + (".gz" if part % 2 else "")))
        parts[-1].write_bytes(gzip.compress(text) if part % 2 else text)
    for options in ((), ("--memory", "100M", "-w", 2), ("--memory", "100M", "-p", 3, "-w", 1)):
        edgewire.ok("convert", *parts, "-o", tmp_path / "found.ew", *options)
        assert (tmp_path / "found.ew").read_bytes() == (tmp_path / "known.ew").read_bytes(), options
    (tmp_path / "odd.txt").write_text("1 2\n3 4 5\n")
    assert f"{tmp_path}/odd.txt: line 2, column 1: 3 fields" in edgewire.refused("convert", *parts, tmp_path / "odd.txt", "-o", tmp_path / "no.ew")
    (tmp_path / "g.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n3 3 0\n")
    assert "not in the format of the first" in edgewire.refused("convert", parts[0], tmp_path / "g.mtx", "-o", tmp_path / "no.ew")
    assert "several inputs" in edgewire.refused("convert", tmp_path / "g.mtx", parts[0], "-o", tmp_path / "no.ew", status=2)


def write_large(path, edges):
    """Text of about 12 bytes an edge."""
    with path.open("w") as file:
        for start in range(0, edges, 100_000):
            random_numbers = random.Random(start)
            file.write("".join(f"{random_numbers.getrandbits(18)} {random_numbers.getrandbits(18)}\n" for _ in range(100_000)))


@pytest.mark.slow
def test_an_input_larger_than_memory(edgewire, tmp_path):
    """Peak memory stays within the limit, where the same graph in memory takes more."""
    write_large(tmp_path / "g.txt", 10_000_000)

    def peak(*options):
        process = edgewire.start("convert", tmp_path / "g.txt", "-w", 1, *options)
        most = 0
        while process.poll() is None:
            with contextlib.suppress(OSError, IndexError):
                status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
                if status.startswith("Name:\tedgewire\n"):  # not this program before it becomes that one
                    most = max(most, int(status.split("VmHWM:")[1].split()[0]) * 1024)
            time.sleep(0.01)
        assert process.returncode == 0, process.communicate()[1]
        process.communicate()
        return most

    limit = 80 << 20
    assert 0 < peak("-o", tmp_path / "found.ew", "--memory", limit) < limit
    assert peak("-o", tmp_path / "known.ew") > limit
    assert (tmp_path / "found.ew").read_bytes() == (tmp_path / "known.ew").read_bytes()


@pytest.mark.slow
def test_an_input_of_eight_times_the_memory_of_a_control_group(edgewire, tmp_path):
    """The kernel ends what takes more, and counts the page cache, too."""
    limit = 80 << 20
    ids = np.random.default_rng(11).integers(0, 1 << 18, size=8 * limit // 4, dtype=np.uint32)
    ids.tofile(tmp_path / "g.u32")
    del ids
    command = ("convert", tmp_path / "g.u32", "-w", 2)
    with memory_group(limit) as enter:
        edgewire.ok(*command, "-o", tmp_path / "found.ew", "--memory", limit, preexec_fn=enter)
        assert edgewire(*command, "-o", tmp_path / "no.ew", preexec_fn=enter).returncode != 0
    edgewire.ok(*command, "-o", tmp_path / "known.ew")
    assert filecmp.cmp(tmp_path / "found.ew", tmp_path / "known.ew", shallow=False)


def test_what_is_refused(edgewire, tmp_path):
    (tmp_path / "g.txt").write_text("1 2\n2 3\n")
    out = ("-o", tmp_path / "g.ew")
    (tmp_path / "far.txt").write_text("1 2\n2 4000000000\n")
    assert edgewire.refused("convert", tmp_path / "far.txt", *out, "--memory", "100M", "-w", 1) == (
        f"{tmp_path}/far.txt: vertex id 4000000000 needs at least --memory 1908M: a bit for each id takes a quarter of it, "
        "unless --keep-ids makes all ids vertices")
    far = tmp_path / "far.txt"
    for processes in (1, 2):
        assert "needs at least --memory 1908M" in edgewire.refused("convert", far, *out, "--format", "el", "--memory", "100M", "-w", 1, "-p", processes)
    (tmp_path / "farther.txt").write_text("1 2\n2 18446744073709551615\n")
    assert "leave --memory and -p out" in edgewire.refused("convert", tmp_path / "farther.txt", *out, "--memory", "100M", "-w", 1)
    assert edgewire.refused("convert", tmp_path / "farther.txt", *out, "--memory", "100M", "-w", 1, "--keep-ids") == (
        f"{tmp_path}/farther.txt: vertex id 18446744073709551615 is larger than the 4294967293 that is supported with --keep-ids; "
        "edgewire-wide, which is built with -Did_bits=64, takes more")
    assert "needs" in edgewire.refused("convert", tmp_path / "g.txt", *out, "--memory", "10M", status=2)
    assert "only one process can read stdin" in edgewire.refused("convert", "-", *out, "-p", 2, status=2)
    assert "--memory and -p are for .ew files" in edgewire.refused("convert", tmp_path / "g.txt", "-o", tmp_path / "g.el", "-p", 2, status=2)
    assert "its ids are names, which are read in memory" in edgewire.refused("convert", tmp_path / "g.txt", *out, "--labels", "--memory", "100M")
    (tmp_path / "bad.txt").write_text("1 2\n" * 50_000 + "1 x\n" + "2 3\n" * 20_000)
    for processes in (1, 2):
        line = edgewire.refused("convert", tmp_path / "bad.txt", *out, "-p", processes, "-w", 1, "--memory", "100M")
        assert f"{tmp_path}/bad.txt: line 50001, column 3: expected a vertex id" in line
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.txt", "far.txt", "farther.txt", "g.txt"]


def start_spilling(edgewire, folder, *options):
    """A conversion over an older file that has a run on disk, and goes on for some time."""
    (folder / "temp").mkdir(exist_ok=True)
    process = edgewire.start("convert", *[folder / "g.txt"] * 4, "-o", folder / "g.ew", "--temp", folder / "temp", "-w", 1, "--memory", "75M", *options)
    wait_for(lambda: any(has_file_in(pid, folder / "temp") for pid in [process.pid, *children(process.pid)]), "a run")
    return process


def check_left(folder):
    """What was there before, and nothing else."""
    assert (folder / "g.ew").read_text() == "before" and list((folder / "temp").iterdir()) == []
    assert sorted(path.name for path in folder.iterdir()) == ["g.ew", "g.txt", "temp"]


@pytest.fixture
def large(tmp_path):
    """A folder with a large edge list and an older file of the output's name."""
    write_large(tmp_path / "g.txt", 1_500_000)
    (tmp_path / "g.ew").write_text("before")
    return tmp_path


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.parametrize("full, words", [("out/g.ew", "cannot write: No"), ("temp", "cannot write a sorted run: No")])
def test_a_full_disk_leaves_what_was_there(edgewire, large, full, words, processes):
    for name in ("out", "temp"):
        (large / name).mkdir()
    disk = large / full.partition("/")[0]
    with small_disk(disk, "1M"):
        (large / "out/g.ew").write_text("before")
        line = edgewire.refused("convert", *[large / "g.txt"] * 4, "-o", large / "out/g.ew", "--temp", large / "temp", "-w", 1,
                                "--memory", "75M", "-p", processes)
        assert f"{large / full}: {words} space left on device" in line
        assert (large / "out/g.ew").read_text() == "before"
        assert [path.name for path in (large / "out").iterdir()] == ["g.ew"] and list((large / "temp").iterdir()) == []


@pytest.mark.parametrize("processes", [1, 2])
def test_a_killed_conversion_leaves_what_was_there(edgewire, large, processes):
    for number in (signal.SIGKILL, signal.SIGTERM):
        process = start_spilling(edgewire, large, "-p", processes)
        check_ended(process, number)
        check_left(large)


@pytest.mark.parametrize("transport", ["shm", "tcp"])
def test_a_lost_process_leaves_what_was_there(edgewire, large, transport):
    process = start_spilling(edgewire, large, "-p", 2, "--transport", transport)
    check_loss(process)
    check_left(large)
