"""What a process of a dense job holds: its part of the graph and what it exchanges, but nothing that grows with the graph.

The kernel keeps no peak of anonymous memory, so that it is looked at all the time: what is missed makes no test fail."""

import contextlib
import json
import pathlib
import time

import numpy as np
import pytest

from processes import LIMIT_S, children

OWN, FOR_EACH_PEER = 10_000_000, 64 << 10  # bytes that a process may hold, whatever the graph is
KEPT = 64  # bytes for each boundary vertex, as many as strategy `slots` sends: while a cover is made its row takes most of them
LEEWAY = 1.2  # of the part of what one process takes, since parts are not equal
VALUE_BYTES = {"edge": 8}  # of a value on the wire, with its id; others have 4
EVERY_WAY = [("hash", strategy) for strategy in ("edge", "slots", "cover")] + [
    (ownership, strategy) for ownership in ("ranges", "FILE", "hilbert", "grid") for strategy in ("slots", "cover")]


def anonymous_bytes(pid):
    with contextlib.suppress(OSError, IndexError):
        return int(pathlib.Path(f"/proc/{pid}/status").read_text().split("RssAnon:")[1].split()[0]) * 1024
    return 0  # it has ended


@pytest.fixture(scope="module")
def kronecker(edgewire, tmp_path_factory):
    """kronecker(scale): the path of the graph."""
    folder = tmp_path_factory.mktemp("kronecker")

    def make(scale):
        path = folder / f"{scale}.ew"
        if not path.exists():
            edgewire.ok("generate", "kronecker", "--scale", scale, "--edge-factor", 16, "-o", path)
        return path

    return make


class Measured:
    """The most anonymous memory of one process of a job, and how many values a process sends in an iteration."""

    def __init__(self, edgewire, folder, path, processes, ownership, strategy):
        if ownership == "FILE":
            ownership = folder / f"parts-{processes}"
            parts = np.random.default_rng(processes).permutation(np.arange(1 << int(path.stem)) % processes)
            ownership.write_text("\n".join(map(str, parts)) + "\n")
        report = folder / "report.json"
        job = edgewire.start("pagerank", path, "-p", processes, "-w", 1, "--ownership", ownership, "--strategy", strategy,
                             "--iterations", 3, "--json", report)
        deadline, self.bytes = time.monotonic() + LIMIT_S, 0
        while job.poll() is None:
            assert time.monotonic() < deadline
            self.bytes = max([self.bytes, *map(anonymous_bytes, [job.pid, *children(job.pid)])])
            time.sleep(0.002)
        assert job.returncode == 0, job.communicate()[1]
        job.communicate()
        payload = json.loads(report.read_text())["bound"]["payload_bytes"]
        self.values = payload / VALUE_BYTES.get(strategy, 4) / processes


def check(edgewire, folder, path, processes, ownership, strategy):
    alone = Measured(edgewire, folder, path, 1, ownership, strategy)
    assert alone.bytes > 0
    for count in processes:
        found = Measured(edgewire, folder, path, count, ownership, strategy)
        boundary = found if strategy != "cover" else Measured(edgewire, folder, path, count, ownership, "slots")
        limit = LEEWAY * alone.bytes / count + KEPT * boundary.values + OWN + FOR_EACH_PEER * count
        print(f"{ownership} {strategy} {count}: {found.bytes / 1e6:.1f} MB of {limit / 1e6:.1f} MB")
        assert found.bytes <= limit, f"{count} processes: {found.bytes} bytes in one of them, more than {limit:.0f}"


@pytest.mark.parametrize("ownership, strategy", [("hash", "cover"), ("FILE", "slots")])
def test_a_process_holds_its_part(edgewire, tmp_path, kronecker, ownership, strategy):
    check(edgewire, tmp_path, kronecker(16), [4], ownership, strategy)


@pytest.mark.slow
@pytest.mark.parametrize("ownership, strategy", EVERY_WAY)
def test_a_process_of_many_holds_its_part(edgewire, tmp_path, kronecker, ownership, strategy):
    check(edgewire, tmp_path, kronecker(20), [2, 4, 8, 16, 32], ownership, strategy)
