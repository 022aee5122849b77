"""`edgewire netbench`: what a script gets, what is refused, and what happens when a process is lost."""

import json
import os
import signal

import pytest

from processes import LIVE_PEER_S, PATIENCE_S, children, cpu_seconds, wait_for

NUMBER = (int, float)
COMMON = {"test": str, "message_bytes": int, "messages": int, "seconds": NUMBER, "payload_bytes": int, "frame_bytes": int,
          "wire_bytes": int, "cores": dict}
STREAM = {"bits_per_second": NUMBER, "bytes_per_second": NUMBER, "messages_per_second": NUMBER,
          "cores_per_10_gbit": NUMBER}


def netbench(edgewire, *options):
    return json.loads(edgewire.ok("netbench", "-p", 2, *options, "--json", "-"))


@pytest.mark.sanitize
@pytest.mark.parametrize("transport", ["shm", "tcp"])
def test_fields(edgewire, transport):
    report = netbench(edgewire, "--transport", transport, "--sizes", "8,4k,1M", "--count", 20)
    assert report["transport"] == transport and report["lanes"] == 1 and report["processes"] == 2
    rows = report["rows"]
    assert [(row["test"], row["message_bytes"]) for row in rows] == [
        (test, size) for test in ("bandwidth", "rate", "latency") for size in (8, 4096, 1 << 20)]
    for row in rows:
        latency = row["test"] == "latency"
        for name, kind in {**COMMON, **({} if latency else STREAM)}.items():
            assert isinstance(row[name], kind), name
        assert row["messages"] == 20 and row["payload_bytes"] == (40 if latency else 20) * row["message_bytes"]
        assert row["wire_bytes"] >= row["frame_bytes"] >= row["payload_bytes"] and row["seconds"] > 0
        assert set(row["cores"]) == {"sender", "receiver"}
        if latency:
            figures = [row["latency_seconds"][name] for name in ("min", "median", "p99", "max")]
            assert figures == sorted(figures) and figures[0] > 0
        else:
            assert row["bits_per_second"] == pytest.approx(row["payload_bytes"] * 8 / row["seconds"])


def test_table_and_defaults(edgewire, tmp_path):
    path = tmp_path / "rows.json"
    text = edgewire.ok("netbench", "--transport", "tcp", "--seconds", 0.002, "--lanes", 2, "--bidirectional", "--json", path)
    rows = json.loads(path.read_text())["rows"]
    assert [row["message_bytes"] for row in rows] == [1 << i for i in range(1, 24)] * 3
    lines = text.splitlines()
    assert len(lines) == 3 * (2 + 23) + 2  # title and heading, rows, empty lines between
    assert lines[0].startswith("bandwidth, tcp, 2 lanes, both directions")
    assert lines[2].split()[:2] == ["2", str(rows[0]["messages"])]


@pytest.mark.parametrize("options, status, said", [
    (["--sizes", "8,0"], 2, "--sizes: 0 bytes cannot be measured"),
    (["--sizes", "2G"], 2, "--sizes: 2147483648 bytes in each of 1 lanes are more than 1073741824"),
    (["--sizes", "8x"], 2, "--sizes"),
    (["--sizes", "-8"], 2, "--sizes"),
    (["-p", 1], 2, "--processes: netbench measures between 2 processes, not 1"),
    (["-p", 3], 2, "--processes: netbench measures between 2 processes, not 3"),
    (["--transport", "pigeon"], 2, "--transport"),
    (["--test", "luck"], 2, "--test"),
    (["--lanes", 0], 2, "--lanes 0 is outside the range 1 to 64"),
    (["--seconds", "nan"], 2, "--seconds"),
    (["--seconds", 1, "--count", 1], 2, "do not go together"),
    (["--json", "/nowhere/rows.json"], 1, "/nowhere/rows.json: cannot write: No such file or directory"),
])
def test_bad_input(edgewire, options, status, said):
    line = edgewire.refused("netbench", "--count", 1, *options, status=status) if "--seconds" not in options else (
        edgewire.refused("netbench", *options, status=status))
    assert said in line


@pytest.mark.parametrize("transport", ["shm", "tcp"])
@pytest.mark.parametrize("test", ["bandwidth", "latency"])
@pytest.mark.parametrize("victim", [0, 1])
def test_a_process_is_killed(edgewire, transport, test, victim):
    process = edgewire.start("netbench", "--transport", transport, "--test", test, "--sizes", "64k", "--seconds", 3600,
                             "--peer-timeout", LIVE_PEER_S)
    try:
        pids = wait_for(lambda: len(found := children(process.pid)) == 2 and found, "the processes")
        wait_for(lambda: sum(map(cpu_seconds, pids)) > 0.1, "the measurement")
        os.kill(pids[victim], signal.SIGKILL)
        stdout, stderr = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 1
        assert f"rank {1 - victim}: rank {victim} was lost" in stderr and "bandwidth" not in stderr
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
