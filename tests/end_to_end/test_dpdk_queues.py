"""Flow rules and checksums of the dpdk backend over net_tap, which has them in software where the kernel has tc-flower: in a
virtual machine (tests/lab/rdma-vm), see lab.py."""

import json
import re
import subprocess

import pytest

from processes import PATIENCE_S
from test_dpdk import missing

pytestmark = [pytest.mark.slow, pytest.mark.machine, pytest.mark.dpdk]

# $1 runs as soon as both interfaces are up. Only then frames that one of them gets from its process go to the other one's, so
# that no job gets further than its start before; $2 runs after that.
SETUP = """
wait_for() {
  local end=$((SECONDS + 60))
  until "$@"; do [ $SECONDS -lt $end ] || exit 1; sleep 0.1; done
}
classified() { tc qdisc show dev $1 | grep -q ingress || { tc qdisc add dev $1 clsact; false; }; }
mkdir -p /dev/net
[ -e /dev/net/tun ] || mknod /dev/net/tun c 10 200
for i in 0 1; do wait_for ip link show tap$i; done
for i in 0 1; do wait_for classified tap$i; ip link set tap$i up; done
eval "$1"
for i in 0 1; do tc filter add dev tap$i ingress matchall action mirred egress redirect dev tap$((1 - i)); done
eval "$2"
"""

# The rules, with what they have counted, as they were last before the job ended and its interfaces with it.
LAST_RULES = "while rules=$(tc -s filter show dev tap0) && [ -n \"$rules\" ]; do last=$rules; sleep 0.05; done 2>/dev/null; echo \"$last\""

# A frame of our UDP port, to tap0's process, with a right checksum and with a wrong one.
STRANGER = """
import socket, struct
def sum16(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total & 0xffff) + (total >> 16)
    return (total + (total >> 16)) & 0xffff
body = bytes(64)
length = 8 + len(body)
ends = bytes([10, 9, 9, 9, 10, 77, 0, 1])
udp = struct.pack("!4H", 49152, 34997, length, 0) + body
right = sum16(ends + struct.pack("!2H", 17, length) + udp) ^ 0xffff
port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
port.bind(("tap0", 0))
for _ in range(20):
    for checksum in (right, right ^ 0x5555):
        ip = struct.pack("!2B3H2BH", 0x45, 0, 20 + length, 0, 0, 64, 17, 0) + ends
        ip = ip[:10] + struct.pack("!H", sum16(ip) ^ 0xffff) + ip[12:]
        port.send(bytes([255] * 6) + bytes(6) + b"\\x08\\x00" + ip + udp[:6] + struct.pack("!H", checksum) + udp[8:])
"""


def job(edgewire, folder, *more, before=""):
    """The report of a job over two such ports, and the rules that they had; `before`: what runs before it gets under way."""
    if missing():
        pytest.skip(missing())
    graph = folder / "g.ew"
    edgewire.ok("generate", "kronecker", "--scale", 14, "-o", graph)
    setup = subprocess.Popen(["bash", "-c", SETUP, "bash", before, LAST_RULES], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        report = folder / "report.json"
        edgewire.ok("pagerank", graph, "-p", 2, "-w", 2, "--strategy", "edge", "--iterations", 150, "--verify", "--json", report,
                    "--transport", "dpdk", "--dpdk-port", "net_tap0,iface=tap0;net_tap1,iface=tap1", "--peer-timeout", PATIENCE_S, *more)
        return json.loads(report.read_text())["link"], setup.communicate(timeout=PATIENCE_S)[0]
    finally:
        setup.kill()
        setup.communicate()


def test_a_rule_steers_our_ethernet_type(edgewire, tmp_path):
    link, rules = job(edgewire, tmp_path)
    assert link["path"] == "plain Ethernet; 2 queues, the first one by a flow rule"
    assert "eth_type 88b5" in rules and "queue_mapping 0" in rules


def test_a_rule_for_each_lane_and_checksums_by_the_port(edgewire, tmp_path):
    link, rules = job(edgewire, tmp_path, "--dpdk-udp", "10.77.0.1/24;10.77.0.2/24", before=f"/usr/bin/python3 -c '{STRANGER}'")
    assert link["path"] == "UDP, checksums by the port; 2 queues, a flow rule for each lane"
    sent = {int(port): (int(queue), int(bytes)) for port, queue, bytes in re.findall(
        r"src_port (\d+).*?queue_mapping (\d+).*?Sent (\d+) bytes", rules, re.DOTALL)}
    assert [sent[49152][0], sent[49153][0]] == [0, 1]
    assert min(bytes for _, bytes in sent.values()) > 10_000
    # Ours had right ones, or none would have arrived; half of the strangers' had.
    assert link["corrupt_frames"] == 20 and link["foreign_frames"] >= 20
