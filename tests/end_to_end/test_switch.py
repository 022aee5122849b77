"""Jobs between hosts whose frames are lost, late, doubled or changed, or do not come for a while: over tests/lab/switch.py."""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import statistics
import subprocess
import sys
import time

import pytest

import rights
import test_dpdk
from processes import DEAD_PEER_S, LIMIT_S, causes, wait_for

LAB = pathlib.Path(__file__).resolve().parent.parent / "lab"
sys.path.insert(0, str(LAB))
import switch as lab_switch  # noqa: E402

CUT_S = 1
ITERATIONS = 300  # so many that some are left when the link is cut
WIRES = {"tcp": ["--transport", "tcp"], "dpdk": ["--transport", "dpdk", "--dpdk-port", "net_af_packet0,iface=eth0"]}


def missing(transport="tcp"):
    """Why there can be no such job here; empty when there can."""
    return rights.no_hosts() or (test_dpdk.missing() if transport == "dpdk" else "")


@pytest.fixture(params=WIRES)
def wire(request):
    if reason := missing(request.param):
        pytest.skip(reason)
    return WIRES[request.param]


class Job:
    """A job of two hosts over a switch."""

    def __init__(self, edgewire, folder, switch, arguments):
        secret = folder / "secret"
        secret.touch(mode=0o600)
        secret.write_text("a secret of the tests\n")
        (folder / "hosts").write_text("".join(f"{lab_switch.address(rank)}\n" for rank in (0, 1)))
        words = [*arguments, "-w", "1", "--hosts", folder / "hosts", "--secret-file", secret]
        self.ranks = [type(edgewire)(edgewire.program, switch.on(rank)).start(*words, "--rank", rank) for rank in (0, 1)]

    def end(self):
        """(exit status, lines on stderr) of both ranks."""
        try:
            said = [rank.communicate(timeout=LIMIT_S) for rank in self.ranks]
            self.report = said[0][0]
            return [(rank.returncode, errors.splitlines()) for rank, (_, errors) in zip(self.ranks, said)]
        finally:
            for rank in self.ranks:
                rank.kill()


@pytest.mark.parametrize("faults", [{"loss": 0.02}, {"duplicate": 0.05, "reorder": 0.1}, {"delay_ms": 3}], ids=str)
def test_frames_that_are_lost_doubled_or_late(edgewire, kronecker, tmp_path, wire, faults):
    words = ["pagerank", kronecker(10), "--iterations", 10, "--deterministic", "-o"]
    edgewire.ok(*words, tmp_path / "expected", "-p", 2, "-w", 1, "--transport", "shm")
    with lab_switch.Switch(5, **faults) as switch:
        ends = Job(edgewire, tmp_path, switch, [*words, tmp_path / "ranks", *wire]).end()
        counts = switch.close()
    assert [status for status, _ in ends] == [0, 0], ends
    assert (tmp_path / "ranks").read_text() == (tmp_path / "expected").read_text()
    assert all(counts[fault] > 0 for fault in faults if fault != "delay_ms"), counts


def cut_and_mend(edgewire, graph, folder, wire):
    """A job whose link is cut while it iterates: what it says, the seconds of each iteration, and those of the cut."""
    json_path, state = folder / "report.json", folder / "state"
    with lab_switch.Switch(1) as switch:
        job = Job(edgewire, folder, switch, ["pagerank", graph, "--iterations", ITERATIONS, "--json", json_path,
                                             "--checkpoint", state, "--every", 20, *wire])
        wait_for(lambda: state.exists() and any(state.iterdir()), "iterations")
        cut_at = time.monotonic()
        switch.tell("cut 1")
        carried = switch.count()["frames"]
        wait_for(lambda: switch.count()["frames"] > carried, "a frame that is lost")
        time.sleep(CUT_S)
        switch.tell("mend 1")
        cut_s = time.monotonic() - cut_at
        ends = job.end()
    assert [status for status, _ in ends] == [0, 0], ends
    return job.report, [one["seconds"] for one in json.loads(json_path.read_text())["iterations"]], cut_s


def test_a_link_that_is_cut_and_comes_back(edgewire, kronecker, tmp_path, wire):
    """An iteration stands still for as long as the cut lasts, if not all of it lies within that iteration."""
    report, seconds, _ = cut_and_mend(edgewire, kronecker(10), tmp_path, wire)
    assert len(seconds) == ITERATIONS and max(seconds) > 0.5 * CUT_S
    assert re.search(r"^iteration \d+ took .* stood still$", report, re.MULTILINE), report


@pytest.mark.measured
def test_a_cut_costs_little_more_than_its_time(edgewire, kronecker, tmp_path, wire):
    """What is more than usual in the longest iteration is the time of the cut, and some until frames are sent again."""
    _, seconds, cut_s = cut_and_mend(edgewire, kronecker(10), tmp_path, wire)
    assert 0.8 * CUT_S < max(seconds) - statistics.median(seconds) < 3 * cut_s


def test_a_link_that_stays_cut(edgewire, kronecker, tmp_path, wire):
    output = tmp_path / "ranks"
    with lab_switch.Switch(1) as switch:
        job = Job(edgewire, tmp_path, switch, ["pagerank", kronecker(10), "--iterations", 1000000, "-o", output,
                                               "--peer-timeout", DEAD_PEER_S, *wire])
        wait_for(lambda: switch.count().get("frames", 0) > 500, "frames")
        switch.tell("cut 1")
        ends = job.end()
    assert [status for status, _ in ends] == [1, 1]
    for rank, (_, lines) in enumerate(ends):
        assert len(causes(lines)) == 1 and f"rank {1 - rank}" in causes(lines)[0], lines
    assert not output.exists()


@pytest.mark.parametrize("runs, transport", [(3, "tcp"), (1, "dpdk")])
def test_frames_that_are_changed(transport, runs):
    """Some of the runs that `corruptions.py` makes by the thousand."""
    if reason := missing(transport):
        pytest.skip(reason)
    seed = os.environ.get("EDGEWIRE_TEST_SEED") or "1"
    done = subprocess.run([LAB / "corruptions.py", seed, "--runs", str(runs), "--transports", transport, "--program",
                           os.path.abspath(os.environ["EDGEWIRE"])], capture_output=True, text=True, timeout=LIMIT_S)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{runs} runs, 0 violations" in done.stdout


# ---- the switch itself -------------------------------------------------------------------------------------------------

def tcp_frame(payload):
    addresses = bytes([10, 77, 0, 1, 10, 77, 0, 2])
    segment = bytearray(bytes(12) + b"\x50\x10" + bytes(6) + payload)
    ip = b"\x45\0" + (20 + len(segment)).to_bytes(2, "big") + bytes(5) + b"\x06\0\0" + addresses
    frame = bytearray(bytes(12) + b"\x08\0" + ip + segment)
    lab_switch.make_checksum_right(frame, 34, len(frame))
    return frame


def checksum_holds(frame):
    """As RFC 9293 says it, word by word."""
    segment = frame[34:] + b"\0" * (len(frame) % 2)
    whole = frame[26:34] + bytes([0, 6]) + (len(frame) - 34).to_bytes(2, "big") + segment
    total = sum(int.from_bytes(whole[at:at + 2], "big") for at in range(0, len(whole), 2))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total == 0xFFFF


def damaged(seed, behind_checks, count=300, **shares):
    """Frames before and after what a port does to them."""
    none = {name: 0 for name in lab_switch.FAULTS}
    port = lab_switch.Port(seed, 0, argparse.Namespace(seed=seed, delay_ms=0, behind_checks=behind_checks, **{**none, **shares}))
    contents = random.Random(3)
    pairs = []
    for size in range(count):
        frame = tcp_frame(contents.randbytes(size))
        before = bytes(frame)
        port.damage(frame, collections.Counter())
        pairs.append((before, bytes(frame)))
    return pairs


def bits_between(one, other):
    return (int.from_bytes(one, "big") ^ int.from_bytes(other, "big")).bit_count()


def test_the_switch_flips_one_to_three_bits():
    pairs = damaged(1, 0, flip=0.5)
    assert {bits_between(*pair) for pair in pairs} == {0, 1, 2, 3}
    assert 100 < sum(before != after for before, after in pairs) < 200
    assert sum(not checksum_holds(after) for _, after in pairs) > 90
    assert all(before[:34] == after[:34] and len(before) == len(after) for before, after in pairs)


def test_behind_the_card_checksums_hold():
    pairs = damaged(1, 1, flip=0.5)
    assert sum(before != after for before, after in pairs) > 100
    assert all(checksum_holds(after) for _, after in pairs)


def test_checksums_do_not_see_swapped_words():
    pairs = damaged(1, 0, swap=1)
    assert sum(before != after for before, after in pairs) > 250
    assert all(checksum_holds(after) and sorted(after) == sorted(before) for before, after in pairs)


def test_faults_follow_from_the_seed():
    assert damaged(4, 1, flip=0.3, swap=0.2) == damaged(4, 1, flip=0.3, swap=0.2) != damaged(5, 1, flip=0.3, swap=0.2)
