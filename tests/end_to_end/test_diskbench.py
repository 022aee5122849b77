"""`edgewire diskbench`: what a script gets, what is refused, and that it leaves nothing behind."""

import json
import resource

import pytest

OPTIONS = ("--size", "2M", "--seconds", 0.01)


@pytest.mark.sanitize
@pytest.mark.parametrize("order", ["random", "sequential"])
def test_fields(edgewire, tmp_path, order):
    folders = [tmp_path / "a", tmp_path / "b"]
    for folder in folders:
        folder.mkdir()
    report = json.loads(edgewire.ok("diskbench", *folders, *OPTIONS, "--blocks", "4k,1M", "--depths", "1,8", "--order", order,
                                    "--json", "-"))
    assert report["folders"] == [str(folder) for folder in folders] and report["order"] == order
    assert report["file_bytes"] == 2 << 20 and isinstance(report["direct"], bool) and isinstance(report["io_uring"], bool)
    rows = report["rows"]
    assert [(row["block_bytes"], row["depth"]) for row in rows] == [(4096, 1), (4096, 8), (1 << 20, 1), (1 << 20, 8)]
    for row in rows:
        assert row["reads"] >= row["depth"] and row["seconds"] >= 0.01 and row["cores"] >= 0
        assert row["bytes_per_second"] == pytest.approx(row["reads"] * row["block_bytes"] / row["seconds"])
        assert 0 < row["latency_seconds"]["median"] <= row["latency_seconds"]["p99"]
    highest = max(row["bytes_per_second"] for row in rows)
    assert report["enough"] in rows and report["enough"]["bytes_per_second"] >= 0.95 * highest
    assert not any(list(folder.iterdir()) for folder in folders)


def test_table(edgewire, tmp_path):
    lines = edgewire.ok("diskbench", tmp_path, *OPTIONS, "--blocks", "64k,256k", "--depths", 2).splitlines()
    assert len(lines) == 5 and lines[0].startswith(f"random reads of {tmp_path}, 2 MiB in each")
    assert [line.split()[:2] for line in lines[2:4]] == [["65536", "2"], ["262144", "2"]]
    assert "GB/s" in lines[1] and "with the fewest bytes under way" in lines[4]


@pytest.mark.parametrize("options, status, said", [
    (["--blocks", "1000"], 2, "--blocks: 1000 bytes are no multiple of 4096"),
    (["--blocks", "0"], 2, "--blocks: 0 bytes are no multiple of 4096"),
    (["--blocks", "4M"], 2, "--blocks: 4194304 bytes are more than a file has by --size, 2097152"),
    (["--blocks", "-1"], 2, "--blocks: -1 is not a number of bytes"),
    (["--blocks", "64k,x"], 2, "--blocks: x is not a number of bytes"),
    (["--depths", "0"], 2, "--depths"),
    (["--order", "backward"], 2, "--order"),
    (["/no/such/folder"], 1, "/no/such/folder: cannot write 2 MiB to measure with: No such file or directory"),
    (["/etc/passwd"], 1, "/etc/passwd: cannot write 2 MiB to measure with: Not a directory"),
    (["--json", "/no/such/folder/file"], 1, "/no/such/folder"),
])
def test_refusals(edgewire, tmp_path, options, status, said):
    folder = [] if options[0].startswith("/") else [tmp_path]
    assert said in edgewire.refused("diskbench", *folder, *options, "--size", "2M", status=status)


def test_no_room(edgewire, tmp_path):
    small = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
    said = edgewire.refused("diskbench", tmp_path, *OPTIONS, "--blocks", "4k", preexec_fn=small)
    assert said == f"{tmp_path}: cannot write 2 MiB to measure with: File too large " \
                   "(`ulimit -f` allows 1024 KiB: raise it with `ulimit -f unlimited`)"
    assert not list(tmp_path.iterdir())
