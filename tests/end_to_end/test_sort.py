"""edgewire sort and generate records: parts against Python's own sort, in little memory, and what is refused."""

import json
import os
import re
import signal

import numpy as np
import pytest

from disks import small_disk
from job import check_schema
from processes import HOW_FAR, PATIENCE_S, causes, check_ended, check_loss, children, has_file_in, wait_for


def records_of(path, size):
    data = path.read_bytes()
    return [data[at:at + size] for at in range(0, len(data), size)]


def sorted_plainly(records, offset, length):
    return sorted(records, key=lambda record: (record[offset:offset + length], record))


def write_records(folder, count, size, keys, seed):
    """Files of random bytes whose bytes 3 to 6 are one of `keys` keys."""
    random = np.random.default_rng(seed)
    data = random.integers(0, 256, (count, size), np.uint8)
    data[:, 3:7] = random.integers(0, keys, count, np.uint32).astype(">u4").view(np.uint8).reshape(-1, 4)
    paths = [folder / f"in-{part}" for part in range(3)]
    for path, part in zip(paths, np.array_split(data, 3)):
        path.write_bytes(part.tobytes())
    return paths, [record.tobytes() for record in data]


def parts(folder, partitions):
    names = sorted(path.name for path in folder.iterdir())
    assert names == [f"part-{p:05}-of-{partitions:05}" for p in range(partitions)]
    return [(folder / name).read_bytes() for name in names]


def keyed(keys, payload):
    """Records of 100 bytes: a key of 8 bytes, then 8 bytes of payload."""
    data = np.zeros((len(keys), 100), np.uint8)
    data[:, :8] = keys.astype(">u8").view(np.uint8).reshape(-1, 8)
    data[:, 8:16] = payload.astype(">u8").view(np.uint8).reshape(-1, 8)
    return data


EVEN = 120_000
SHAPES = {  # keys, by a random generator
    "random": lambda random: random.integers(0, 2**62, EVEN),
    "sorted": lambda random: np.sort(random.integers(0, 2**62, EVEN)),
    "reverse sorted": lambda random: np.sort(random.integers(0, 2**62, EVEN))[::-1],
    "a few frequent": lambda random: random.zipf(1.3, EVEN) % 2**40,
    "three": lambda random: random.choice([1, 5, 1000], EVEN, p=[0.15, 0.8, 0.05]),
    "all the same": lambda random: np.full(EVEN, 77),
}


@pytest.mark.parametrize("payload", ["random", "none"])
@pytest.mark.parametrize("shape", SHAPES)
def test_parts_are_of_equal_size(edgewire, tmp_path, shape, payload):
    """Within 5 %, also where records are the same in all bytes; and the same parts in any number of processes."""
    random = np.random.default_rng(9)
    keys = SHAPES[shape](random)
    data = keyed(keys, random.integers(0, 2**62, EVEN) if payload == "random" else np.zeros(EVEN, np.int64))
    (tmp_path / "in").write_bytes(data.tobytes())
    known = np.sort(np.ascontiguousarray(data).view("V100").ravel().view("S100")).tobytes() if payload == "none" else None
    first = None
    for processes, workers, memory in ((1, 1, "1G"), (2, 1, "1G"), (3, 2, "1G"), (1, 1, "20M"), (3, 1, "20M")):
        folder, report = tmp_path / f"out-{processes}-{memory}", tmp_path / "report.json"
        edgewire.ok("sort", tmp_path / "in", "-o", folder, "--record", 100, "--key", "0:8", "--partitions", 7, "-p", processes,
                    "-w", workers, "--memory", memory, "--verify", "--json", report)
        found = parts(folder, 7)
        sizes = [len(part) // 100 for part in found]
        assert sum(sizes) == EVEN
        exact = 1 / 17142 if shape == "all the same" and payload == "none" else 0.05
        assert all(abs(one / (EVEN / 7) - 1) < (exact if memory == "1G" else max(exact, 0.1)) for one in sizes), sizes
        if known is not None:
            assert b"".join(found) == known
        if memory == "1G":
            first = first or found
            assert found == first
        said = json.loads(report.read_text())
        assert (said["smallest_partition"], said["largest_partition"]) == (min(sizes), max(sizes))


@pytest.mark.sanitize
@pytest.mark.parametrize("size, keys", [pytest.param(100, 60, marks=pytest.mark.core), (37, 1), (101, 1 << 20), (8, 5)])
def test_parts_are_the_sorted_input_however_the_job_is_cut(edgewire, tmp_path, size, keys):
    inputs, records = write_records(tmp_path, 20_000, size, keys, size)
    known = b"".join(sorted_plainly(records, 3, 4))
    first = None
    for processes, workers, transport, memory in ((1, 1, "shm", "1G"), (2, 2, "shm", "8500k"), (3, 1, "tcp", "5300k"), (1, 2, "shm", "6400k"),
                                                  (2, 2, "tcp", "1G"), (3, 1, "shm", "1G")):
        folder, report = tmp_path / f"out-{processes}-{workers}-{memory}", tmp_path / "report.json"
        edgewire.ok("sort", *inputs, "-o", folder, "--record", size, "--key", "3:4", "--partitions", 7, "-p", processes, "-w", workers,
                    "--transport", transport, "--memory", memory, "--verify", "--json", report)
        found = parts(folder, 7)
        assert b"".join(found) == known
        if memory == "1G":  # the others have no memory for the whole sample
            first = first or found
            assert found == first
        said = json.loads(report.read_text())
        check_schema(said, "sort_report")
        assert (said["records"], said["record_bytes"], said["partitions"], said["verified"]) == (20_000, size, 7, True)
        sizes = [len(part) // size for part in found]
        assert (said["smallest_partition"], said["largest_partition"]) == (min(sizes), max(sizes))
        assert all(abs(one / (20_000 / 7) - 1) < (0.05 if memory == "1G" else 0.15) for one in sizes)
        assert (said["bytes_spilled"] > 0) == (said["runs"] > 0) and said["bytes_spilled"] < 3 * 20_000 * size
        assert said["runs"] == 0 if memory == "1G" else said["runs"] > 0 or size < 37
        assert (said["bytes_sent"] > 0) == (processes > 1)
        assert 0 < said["seconds_cores_busy"]


@pytest.mark.parametrize("size", ["-1", "99999999999999999999999", "1025P", "x", "4GX", "", "nan"])
def test_sizes_that_make_no_sense(edgewire, tmp_path, size):
    line = edgewire.refused("generate", "records", "-o", tmp_path / "out", f"--bytes={size}", status=2)
    assert line.startswith(f"--bytes: {size} is not a number of bytes up to 1024P, such as 512M or 4G") or not size
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("size, records", [("1M", 10485), ("1mib", 10485), ("1kb", 10), ("999", 9), ("0", 0)])
def test_sizes(edgewire, tmp_path, size, records):
    edgewire.ok("generate", "records", "-o", tmp_path / "out", "--bytes", size)
    assert (tmp_path / "out/records-00000").stat().st_size == 100 * records


@pytest.mark.parametrize("order", ["random", "sorted", "reversed"])
def test_generated_records(edgewire, tmp_path, order):
    made = ["generate", "records", "--bytes", 100_050, "--keys", 50, "--files", 3, "--order", order, "--seed", 4]
    edgewire.ok(*made, "-o", tmp_path / "a")
    edgewire.ok(*made, "-o", tmp_path / "b")
    files = sorted((tmp_path / "a").iterdir())
    records = [record for path in files for record in records_of(path, 100)]
    assert len(files) == 3 and len(records) == len(set(records)) == 1000 and all(record.endswith(b"\n") for record in records)
    assert [path.read_bytes() for path in files] == [(tmp_path / "b" / path.name).read_bytes() for path in files]
    keys = [record[:8] for record in records]
    assert len(set(keys)) == 50
    assert (keys == sorted(keys)) == (order == "sorted") and (keys == sorted(keys, reverse=True)) == (order == "reversed")
    edgewire.ok("sort", *files, "-o", tmp_path / "out", "-p", 2, "-w", 1, "--memory", "4400k", "--verify")
    assert b"".join(parts(tmp_path / "out", 2)) == b"".join(sorted(records))


def test_few_records(edgewire, tmp_path):
    (tmp_path / "none").touch()
    (tmp_path / "one").write_bytes(b"a record\n")
    for inputs, known in (([tmp_path / "none"], b""), ([tmp_path / "none", tmp_path / "one", tmp_path / "none"], b"a record\n")):
        folder = tmp_path / f"out-{len(inputs)}"
        edgewire.ok("sort", *inputs, "-o", folder, "--record", 9, "--partitions", 3, "-p", 2, "-w", 2, "--verify")
        assert b"".join(parts(folder, 3)) == known


def test_what_cannot_be_sorted(edgewire, tmp_path):
    inputs, _ = write_records(tmp_path, 100, 10, 5, 1)
    folder = tmp_path / "out"
    plain = ["sort", *inputs, "-o", folder]
    for options, words, status in (
            (["--key", "3:8"], "--key 3:8", 2), (["--key", "10:1"], "the key lies outside", 2), (["--key", "3"], "OFFSET:LENGTH", 2),
            (["--key", "0:0"], "the key lies outside", 2), (["--partitions", 0], "--partitions", 2), (["--record", 0], "--record", 2),
            (["--memory", "100k"], "--memory", 2), (["--memory", "x"], "--memory: x is not a number of bytes", 2),
            (["--memory", "900000G"], "records to sort (--memory)", 1), (["--temp", "/nonexistent"], "--temp", 1), (["--record", 8], "no whole number", 1)):
        record = [] if "--record" in options else ["--record", 10]
        for processes in (1, 2):
            assert words in edgewire.refused(*plain, *record, *options, "-p", processes, "-w", 1, status=status)
            assert not folder.exists()
    for path, words in ((tmp_path / "missing", "cannot read"), (tmp_path, "a directory"), ("/dev/zero", "not a regular file")):
        assert words in edgewire.refused("sort", path, "-o", folder, "--record", 10, "--key", "0:2")
        assert not folder.exists()
    plain += ["--record", 10]
    edgewire.ok(*plain, "--key", "0:2")
    before = sorted(folder.iterdir())
    assert "earlier sort" in edgewire.refused(*plain, "--key", "0:2", "-p", 2) and sorted(folder.iterdir()) == before
    for command in (["sort", inputs[0], "--record", 10, "--key", "0:2"], ["generate", "records", "--bytes", 1000]):
        assert "in-0: it is not a folder" in edgewire.refused(*command, "-o", inputs[0])
    assert "cannot make the folder" in edgewire.refused("sort", inputs[0], "-o", inputs[1] / "x", "--record", 10, "--key", "0:2")


@pytest.mark.sanitize
@pytest.mark.parametrize("order, keys", [("random", 65536), ("random", 1), ("sorted", 65536), ("reversed", 300)])
def test_runs_are_merged_in_several_passes(edgewire, tmp_path, order, keys):
    """Four workers with room for some 1000 records each merge four runs at a time."""
    edgewire.ok("generate", "records", "--bytes", "5M", "--keys", keys, "--order", order, "-o", tmp_path / "in")
    source, out, report = tmp_path / "in/records-00000", tmp_path / "out", tmp_path / "report.json"
    edgewire.ok("sort", source, "-o", out, "-p", 2, "-w", 2, "--partitions", 5, "--memory", "8500k", "--verify", "--json", report)
    assert b"".join(parts(out, 5)) == b"".join(sorted(records_of(source, 100)))
    said = json.loads(report.read_text())
    assert said["runs"] <= 8 and said["bytes_spilled"] > 1.5 * source.stat().st_size


@pytest.mark.parametrize("full, words", [("out", "part-00000-of-00001: cannot write: "), ("temp", "cannot write a sorted run: ")])
def test_a_full_disk_leaves_nothing(edgewire, tmp_path, full, words):
    edgewire.ok("generate", "records", "--bytes", "4M", "-o", tmp_path / "in")
    for name in ("out", "temp"):
        (tmp_path / name).mkdir()
    disk = tmp_path / full
    with small_disk(disk, "2M"):
        line = edgewire.refused("sort", tmp_path / "in/records-00000", "-o", tmp_path / "out", "--temp", tmp_path / "temp", "-w", 1,
                                "--memory", "3300k")
        assert words in line and "No space left on device" in line and str(disk) in line
        assert list((tmp_path / "out").iterdir()) == [] and list((tmp_path / "temp").iterdir()) == []


def start_spilling(edgewire, tmp_path, *options):
    """A sort that has a run on disk, and goes on for some time."""
    (tmp_path / "temp").mkdir(exist_ok=True)
    process = edgewire.start("sort", *[tmp_path / "in/records-00000"] * 4, "-o", tmp_path / "out", "--temp", tmp_path / "temp", *options)
    wait_for(lambda: any(has_file_in(pid, tmp_path / "temp") for pid in [process.pid, *children(process.pid)]), "a run")
    return process


@pytest.mark.parametrize("processes", [1, 2])
def test_a_killed_sort_leaves_nothing(edgewire, tmp_path, processes):
    """Its folder goes, too, unless it was there before, or nobody is left who could remove it."""
    edgewire.ok("generate", "records", "--bytes", "20M", "-o", tmp_path / "in")
    for number, made_before in ((signal.SIGTERM, False), (signal.SIGINT, False), (signal.SIGTERM, True), (signal.SIGKILL, True)):
        if made_before:
            (tmp_path / "out").mkdir(exist_ok=True)
        process = start_spilling(edgewire, tmp_path, "--memory", "6M", "-p", processes, "-w", 1)
        check_ended(process, number)
        assert (tmp_path / "out").exists() == made_before
        assert list(tmp_path.glob("out/*")) == [] and list((tmp_path / "temp").iterdir()) == []


@pytest.mark.parametrize("transport", ["shm", "tcp"])
def test_a_lost_process_ends_the_sort(edgewire, tmp_path, transport):
    edgewire.ok("generate", "records", "--bytes", "20M", "-o", tmp_path / "in")
    process = start_spilling(edgewire, tmp_path, "--memory", "6M", "-p", 2, "-w", 1, "--transport", transport)
    check_loss(process)
    assert not (tmp_path / "out").exists() and list((tmp_path / "temp").iterdir()) == []


def test_the_folder_goes_where_all_processes_are_lost(edgewire, tmp_path):
    """The parent that has started them is left."""
    edgewire.ok("generate", "records", "--bytes", "20M", "-o", tmp_path / "in")
    process = start_spilling(edgewire, tmp_path, "--memory", "6M", "-p", 2, "-w", 1)
    for pid in children(process.pid):
        os.kill(pid, signal.SIGKILL)
    process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 1 and not (tmp_path / "out").exists()


def test_a_signal_for_all_processes_says_one_line(edgewire, tmp_path):
    """As from a terminal, or from timeout, which sends it to its child and then to the group."""
    edgewire.ok("generate", "records", "--bytes", "20M", "-o", tmp_path / "in")
    process = start_spilling(edgewire, tmp_path, "--memory", "6M", "-p", 2, "-w", 1)
    os.kill(process.pid, signal.SIGTERM)
    os.killpg(process.pid, signal.SIGTERM)
    _, errors = process.communicate(timeout=PATIENCE_S)
    (line,) = causes(errors.splitlines())
    assert re.fullmatch(f"edgewire: told to end ({HOW_FAR})", line)
    assert not (tmp_path / "out").exists()


def test_the_folder_goes_with_the_process_of_a_host_list_that_is_left(edgewire, tmp_path, hosts):
    """The one that has made it is lost."""
    edgewire.ok("generate", "records", "--bytes", "20M", "-o", tmp_path / "in")
    (tmp_path / "temp").mkdir()
    options = ["--temp", tmp_path / "temp", "--memory", "6M", "-w", 1, "--transport", "tcp", *hosts(2)]
    ranks = [edgewire.start("sort", *[tmp_path / "in/records-00000"] * 4, "-o", tmp_path / "out", *options, "--rank", rank) for rank in (0, 1)]
    for process in ranks:
        wait_for(lambda pid=process.pid: has_file_in(pid, tmp_path / "temp"), "a run")
    ranks[1].kill()
    _, errors = ranks[0].communicate(timeout=PATIENCE_S)
    assert ranks[0].returncode == 1 and "was lost" in errors
    ranks[1].communicate()
    assert not (tmp_path / "out").exists()
