"""Edges on disks that fail: a run ends well, or with a line that names file and byte, and nothing half-written is ever used."""

import json
import os
import re
import signal
import subprocess

import pytest

import frontier
from disks import breakable_disk, held, processes_of, small_disk
from job import on
from processes import PATIENCE_S, has_file_in, wait_for
from system_calls import refusing
from test_bad_input import cause_of, refused_job

TILES, ROWS = "pagerank", "bc"
KERNELS = [TILES, ROWS]
ROUNDS = {TILES: 1_000_000, ROWS: 10_000}  # for minutes
MEMORY = {1: "4M", 3: "3M"}  # [processes]: about the least that vertices need, so that most rows are read again and again


@pytest.fixture
def path(edgewire, tmp_path):
    path = tmp_path / "g.ew"
    edgewire.ok("generate", "kronecker", "--scale", 16, "--undirected", "-o", path)
    return path


def asked(kernel, path, folders, processes=1, rounds=1):
    """The arguments of a run that reads its edges in each of so many rounds."""
    of_kernel = {TILES: ["--iterations", rounds, "--strategy", "slots", "--deterministic", f"--plan-cache={folders[0]}"],
                 ROWS: ["--samples", rounds, "--memory", MEMORY[processes]]}[kernel]
    return [kernel, path, *of_kernel, "-p", processes, "-w", 1, "--peer-timeout", PATIENCE_S, *on(*folders)]


def files(folders):
    """Those that hold edges, not those that say where these are."""
    return sorted(file for folder in folders for file in folder.glob("g.ew.*-disk-*"))


def names(folders):
    """Of all files, hidden ones too."""
    return sorted(file.name for folder in folders for file in folder.iterdir() if file.name != "lost+found")


def check_same(kernel, text, right):
    """bc adds up in another order each time."""
    if kernel == ROWS:
        frontier.check(ROWS, frontier.values(text), frontier.values(right))
    else:
        assert text == right


def cause_of_end(job):
    """The job fails, and all that it says is one cause."""
    stdout, stderr = job.communicate(timeout=PATIENCE_S)
    assert (job.returncode, stdout) == (1, ""), stderr
    return cause_of(stderr)


@pytest.mark.parametrize("processes", [1, 3])
@pytest.mark.parametrize("kernel", KERNELS)
def test_these_runs_read_in_each_round(edgewire, path, tmp_path, devices, kernel, processes):
    """So a fault is found however late it comes: the tests below stand on it."""
    report = tmp_path / "report.json"
    edgewire.ok(*asked(kernel, path, devices, processes, 10), "--json", report)
    disk = json.loads(report.read_text())["disk"]
    assert disk["bytes_read"] > 5 * disk["stored_bytes"]


@pytest.mark.parametrize("asynchronous", [True, False], ids=["io_uring", "pread"])
@pytest.mark.parametrize("processes", [1, 3])
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_device_that_breaks_ends_the_run(edgewire, path, tmp_path, devices, kernel, processes, asynchronous):
    output = tmp_path / "none.tsv"
    with breakable_disk(tmp_path / "disk") as disk:
        folders = [devices[0], disk.folder]
        edgewire.ok(*asked(kernel, path, folders, processes))
        broken = files([disk.folder])
        refused = {} if asynchronous else {"preexec_fn": refusing("io_uring_setup")}
        with held(edgewire, broken, *asked(kernel, path, folders, processes, ROUNDS[kernel]), "-o", output, **refused) as job:
            disk.break_down()
        found = re.fullmatch(r"(.*): byte (\d+): cannot read: Input/output error", cause_of_end(job))
        assert found and found.group(1) in map(str, broken) and int(found.group(2)) % 4096 == 0
    assert not output.exists()


def cut(file):
    os.truncate(file, 4096 + 512)


def change(file):
    with file.open("r+b") as open_file:
        for offset in range(4096, file.stat().st_size, 4096):
            open_file.seek(offset + 5)
            byte = open_file.read(1)
            open_file.seek(offset + 5)
            open_file.write(bytes([byte[0] ^ 1]))


FAULTS = [(cut, "the file was cut short"), (change, "the file is damaged here (a checksum differs); remove it, and the next run writes it anew")]


@pytest.mark.parametrize("fault, why", FAULTS, ids=["cut", "change"])
@pytest.mark.parametrize("processes", [1, 3])
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_file_that_changes_while_it_is_read_ends_the_run(edgewire, path, tmp_path, devices, kernel, processes, fault, why):
    edgewire.ok(*asked(kernel, path, devices, processes))
    output, damaged = tmp_path / "none.tsv", files(devices)[-1]
    with held(edgewire, files(devices), *asked(kernel, path, devices, processes, ROUNDS[kernel]), "-o", output) as job:
        fault(damaged)
    assert re.fullmatch(rf"{re.escape(str(damaged))}: byte \d+: {re.escape(why)}", cause_of_end(job))
    assert not output.exists()
    damaged.unlink()  # as the message says
    edgewire.ok(*asked(kernel, path, devices, processes), "--verify")


@pytest.mark.parametrize("processes", [1, 3])
@pytest.mark.parametrize("kernel", KERNELS)
def test_files_that_are_removed_while_they_are_read(edgewire, path, tmp_path, devices, kernel, processes):
    """The run has them open, also when it measures the disks at its end. The next one writes them anew."""
    output, report = tmp_path / "out.tsv", tmp_path / "report.json"
    for rounds in (10, 100, 1000):  # until one lasts long enough
        run = [*asked(kernel, path, devices, processes, rounds), "-o", output, "--json", report]
        edgewire.ok(*run)
        right = output.read_text()
        with held(edgewire, files(devices), *run) as job:
            if job is not None:
                for folder in devices:
                    for file in folder.iterdir():
                        file.unlink()
        if job is not None:
            break
    _, stderr = job.communicate(timeout=PATIENCE_S)
    assert job.returncode == 0, stderr
    check_same(kernel, output.read_text(), right)
    disk = json.loads(report.read_text())["disk"]
    assert disk["edges"] == "found" and disk["limit_bytes_per_second"] > 0
    edgewire.ok(*run)
    check_same(kernel, output.read_text(), right)
    assert json.loads(report.read_text())["disk"]["edges"] == "written"


@pytest.mark.parametrize("full", [0, 1])
@pytest.mark.parametrize("processes", [1, 3])
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_disk_that_fills_while_edges_are_written(edgewire, path, tmp_path, devices, kernel, processes, full):
    with small_disk(tmp_path / "disk", "32k") as disk:
        folders = [disk, devices[1]] if full == 0 else [devices[0], disk]
        cause = refused_job(edgewire, *asked(kernel, path, folders, processes), "-o", tmp_path / "none.tsv")
        assert re.fullmatch(rf"{disk}/g\.ew\..*-of-{processes}-disk-{full}: byte \d+: cannot write: No space left on device", cause)
        assert names(folders) == [] and not (tmp_path / "none.tsv").exists()


def test_a_disk_with_room_for_some_processes_leaves_no_tiles(edgewire, path, tmp_path, devices):
    edgewire.ok(*asked(TILES, path, devices, 3))
    together = sum(file.stat().st_size for file in files(devices[:1]))
    with small_disk(tmp_path / "disk", together - 4096) as disk:
        (tmp_path / "other").mkdir()
        folders = [disk, tmp_path / "other"]
        cause = refused_job(edgewire, *asked(TILES, path, folders, 3))
        assert cause.startswith(f"{disk}/g.ew.edges-") and cause.endswith(": cannot write: No space left on device")
        assert names(folders) == []


def test_rows_of_somebody_else_are_named_where_none_can_be_written(edgewire, path, tmp_path):
    with small_disk(tmp_path / "disk", "8m") as disk:
        edgewire.ok(*asked(ROWS, path, [disk]))
        index = disk / "g.ew.rows-0-of-1"
        os.chown(index, 1, 1)
        subprocess.run(["mount", "-o", "remount,ro", disk], check=True)
        cause = refused_job(edgewire, *asked(ROWS, path, [disk]))
        assert cause == (f"{index}-disk-0: cannot write: Read-only file system; the rows that are there are of no use: "
                         f"{index}: it belongs to another user")


def test_an_index_without_room_leaves_no_rows(edgewire, path, tmp_path, devices):
    edgewire.ok(*asked(ROWS, path, devices))
    pages = files(devices)[0].stat().st_size
    with small_disk(tmp_path / "disk", pages + 4096) as disk:
        cause = refused_job(edgewire, *asked(ROWS, path, [disk, devices[1]]))
        assert cause == f"{disk}/g.ew.rows-0-of-1: cannot write: No space left on device"
        assert names([disk]) == []


@pytest.mark.parametrize("processes", [1, 3])
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_killed_run_leaves_nothing_that_is_half_written(edgewire, kronecker, tmp_path, devices, kernel, processes):
    path, output, report = tmp_path / "g.ew", tmp_path / "out.tsv", tmp_path / "report.json"
    path.symlink_to(kronecker(16))
    edgewire.ok(*asked(kernel, path, [tmp_path / "elsewhere"], processes)[:-4], "-o", output)
    right = output.read_text()
    for _ in range(3):
        job = edgewire.start(*asked(kernel, path, devices, processes))
        wait_for(lambda: any(has_file_in(pid, devices[1]) for pid in processes_of(job)) or job.poll() is not None, "a file that is written")
        if job.poll() is None:
            os.kill(processes_of(job)[-1], signal.SIGKILL)
        job.communicate(timeout=PATIENCE_S)
        assert not [name for name in names(devices) if not name.startswith("g.ew.")]
    before = names(devices)
    edgewire.ok(*asked(kernel, path, devices, processes), "-o", output, "--json", report)
    check_same(kernel, output.read_text(), right)
    if not before:  # else the build was over before the signal came
        assert json.loads(report.read_text())["disk"]["edges"] == "written"
    assert set(before) <= set(names(devices))
