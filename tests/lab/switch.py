#!/usr/bin/python3
"""A switch with seeded faults, in user space, between hosts that are network namespaces without names.

switch.py SEED [--hosts N] [--loss P] ... says READY PID FD FD..., a file descriptor for each host. `nsenter
--net=/proc/PID/fd/FD COMMAND` runs a command on a host; that of host I is 10.77.0.I+1 on eth0. Lines on stdin: `cut I`
takes host I off the switch, `mend I` puts it back, `count` says how many frames it has carried, lost and changed, as JSON.
When stdin ends so does the switch, and says that once more. Which frame has which fault follows from the seed and the
number of the frame at its port. Needs root and iproute2. Python programs use the class Switch.
"""

import argparse
import collections
import contextlib
import ctypes
import fcntl
import heapq
import json
import os
import random
import select
import socket
import struct
import subprocess
import sys
import time

CLONE_NEWNET = 0x40000000
ETH_P_ALL, ETH_P_IP, ETH_P_EDGEWIRE = 3, 0x0800, 0x88B5
ETHERNET_BYTES, IPV4_TCP = 14, 6
SO_RCVBUFFORCE, SOL_PACKET, PACKET_IGNORE_OUTGOING = 33, 263, 23
SIOCETHTOOL, ETHTOOL_STXCSUM = 0x8946, 0x17
FAULTS = {
    "loss": "a frame is lost", "duplicate": "it comes twice", "reorder": "later ones overtake it",
    "flip": "1 to 3 of its bits are flipped", "swap": "two of its 16-bit words change places"}


def address(host):
    return f"10.77.0.{host + 1}"


class Switch:
    """A running switch: with Switch(seed, hosts=2, flip=0.01) as switch: subprocess.run([*switch.on(0), ...])."""

    def __init__(self, seed, **options):
        words = [word for name, value in options.items() for word in (f"--{name.replace('_', '-')}", str(value))]
        self.process = subprocess.Popen([sys.executable, __file__, str(seed), *words], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        answer = self.process.stdout.readline().split()
        if answer[:1] != ["READY"]:
            raise RuntimeError("the switch does not start")
        self.hosts = [f"/proc/{answer[1]}/fd/{number}" for number in answer[2:]]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def on(self, host):
        """What runs the command that follows on a host."""
        return ["nsenter", f"--net={self.hosts[host]}", "--"]

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def count(self):
        """Of frames, and of each fault, until now."""
        self.tell("count")
        return json.loads(self.process.stdout.readline())

    def close(self):
        """Ends the switch and gives its counts."""
        counts = self.process.communicate(timeout=30)[0]
        return json.loads(counts) if counts else {}


def new_namespace():
    """Moves this process to it; gives its file descriptor."""
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "cannot make a network namespace")
    with open("/proc/sys/net/ipv6/conf/default/disable_ipv6", "w", encoding="ascii") as file:
        file.write("1\n")
    return os.open("/proc/thread-self/ns/net", os.O_RDONLY)


def enter(namespace):
    if ctypes.CDLL(None, use_errno=True).setns(namespace, CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), "cannot enter a network namespace")


def configure(lines):
    subprocess.run(["ip", "-batch", "-"], input=lines, text=True, check=True)


def make_checksums_whole(interface):
    """A sender of veth leaves checksums to a card that is not there, and so would receivers: nobody would look at them.
    Frames are then no longer than a card's, too."""
    wanted = ctypes.create_string_buffer(struct.pack("II", ETHTOOL_STXCSUM, 0))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        fcntl.ioctl(any_socket, SIOCETHTOOL, struct.pack("16sP8x", interface.encode(), ctypes.addressof(wanted)))


def connect(hosts):
    """The namespaces of the hosts, and the switch's socket at each link. This process stays on the switch."""
    namespaces = [new_namespace() for _ in range(hosts)]
    middle = new_namespace()
    for host, namespace in enumerate(namespaces):
        enter(namespace)
        # DPDK's af_packet tells its sockets apart by process number XOR interface number, which must not meet by chance.
        configure(f"link add eth0 index {4096 * (host + 1)} type veth peer name port{host} netns /proc/{os.getpid()}/fd/{middle}\n"
                  f"link set lo up\naddr add {address(host)}/24 dev eth0\nlink set eth0 up\n")
        make_checksums_whole("eth0")
    enter(middle)
    configure("".join(f"link set port{host} up\n" for host in range(hosts)))
    ports = []
    for host in range(hosts):
        port = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)
        port.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
        port.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 1 << 24)
        port.bind((f"port{host}", ETH_P_ALL))
        port.setblocking(False)
        ports.append(port)
    return namespaces, ports


def part_to_damage(frame):
    """Where TCP's segment lies in the frame, or what DPDK sends; None for other frames, such as ARP's."""
    kind = int.from_bytes(frame[12:14], "big")
    if kind == ETH_P_EDGEWIRE:
        return ETHERNET_BYTES, len(frame)
    if kind != ETH_P_IP or frame[ETHERNET_BYTES + 9] != IPV4_TCP:
        return None
    start = ETHERNET_BYTES + (frame[ETHERNET_BYTES] & 15) * 4
    return start, ETHERNET_BYTES + int.from_bytes(frame[ETHERNET_BYTES + 2:ETHERNET_BYTES + 4], "big")


def make_checksum_right(frame, start, end):
    """As if the frame had changed behind the card that checked it."""
    if int.from_bytes(frame[12:14], "big") != ETH_P_IP:
        return
    frame[start + 16:start + 18] = b"\0\0"
    segment = bytes(frame[start:end]) + b"\0" * ((end - start) % 2)
    addresses = bytes(frame[ETHERNET_BYTES + 12:ETHERNET_BYTES + 20])
    total = (int.from_bytes(addresses + segment, "big") + IPV4_TCP + end - start) % 0xFFFF
    frame[start + 16:start + 18] = (0xFFFF - total).to_bytes(2, "big")


def flip_bits(frame, start, end, dice):
    for bit in dice.sample(range(start * 8, end * 8), dice.randint(1, 3)):
        frame[bit // 8] ^= 1 << bit % 8


def swap_words(frame, start, end, dice):
    """Words of the same parity: the sum of TCP stays as it is."""
    places = range(start, end - 1, 2)
    if len(places) >= 2:
        one, other = dice.sample(places, 2)
        frame[one:one + 2], frame[other:other + 2] = frame[other:other + 2], frame[one:one + 2]


class Port:
    """What the frames that come in at a host's link suffer."""

    def __init__(self, seed, host, options):
        self.dice = random.Random(f"{seed} {host}")
        self.options = options
        self.last_due = 0.0

    def damage(self, frame, counts):
        rolls = {name: self.dice.random() for name in FAULTS}  # always as many, so that faults do not depend on kinds of frames
        faults = [name for name in FAULTS if rolls[name] < getattr(self.options, name)]
        part = part_to_damage(frame)
        for name, change in (("flip", flip_bits), ("swap", swap_words)):
            if name not in faults or part is None or part[1] > len(frame):
                continue
            before = bytes(frame)
            change(frame, *part, random.Random(f"{self.options.seed} {rolls[name]}"))
            if self.options.behind_checks:
                make_checksum_right(frame, *part)
            counts[name] += frame != before
        counts.update(name for name in faults if name not in ("flip", "swap"))
        return faults

    def due(self, now, faults):
        """When it leaves. Only frames with the fault `reorder` are overtaken."""
        self.last_due = max(self.last_due, now + self.dice.random() * self.options.delay_ms / 1e3)
        return self.last_due + (0.0005 + 0.003 * self.dice.random() if "reorder" in faults else 0)


class Traffic:
    """Frames on their way through the switch."""

    def __init__(self, ports, options):
        self.sockets = ports
        self.ports = [Port(options.seed, host, options) for host in range(len(ports))]
        self.home = {}  # the host of each Ethernet address that has sent
        self.cut = set()
        self.waiting = []  # a heap: due, number, host, frame
        self.counts = collections.Counter()

    def obey(self, line):
        word, *hosts = line.split()
        if word == "count":
            print(json.dumps(self.counts), flush=True)
        elif word == "cut":
            self.cut.update(map(int, hosts))
        elif word == "mend":
            self.cut.difference_update(map(int, hosts))

    def take(self, host):
        """All frames that have come in from a host."""
        while True:
            try:
                frame = bytearray(self.sockets[host].recv(65536))
            except OSError:
                return
            self.counts["frames"] += 1
            self.home[bytes(frame[6:12])] = host
            target = self.home.get(bytes(frame[0:6]))
            targets = [target] if target is not None else [other for other in range(len(self.sockets)) if other != host]
            port = self.ports[host]
            faults = port.damage(frame, self.counts)
            if host in self.cut or "loss" in faults:
                continue
            due = port.due(time.monotonic(), faults)
            for to in targets * (2 if "duplicate" in faults else 1):
                heapq.heappush(self.waiting, (due, self.counts["frames"], to, bytes(frame)))

    def let_go(self):
        """Sends what is due. Gives the seconds until the next frame is, or None."""
        while self.waiting and self.waiting[0][0] <= time.monotonic():
            _, _, to, frame = heapq.heappop(self.waiting)
            if to not in self.cut:
                with contextlib.suppress(OSError):  # a host that has gone
                    self.sockets[to].send(frame)
        return max(0.0, self.waiting[0][0] - time.monotonic()) if self.waiting else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("seed", type=int)
    parser.add_argument("--hosts", type=int, default=2, metavar="N")
    for name, what in FAULTS.items():
        parser.add_argument(f"--{name}", type=float, default=0, metavar="P", help=f"with this probability {what}")
    parser.add_argument("--delay-ms", type=float, default=0, metavar="MS", help="a frame is late by up to so much")
    parser.add_argument("--behind-checks", type=int, default=0, metavar="0|1",
                        help="1: TCP's checksum fits a changed frame, as if it changed behind the card that checks")
    options = parser.parse_args()
    namespaces, sockets = connect(options.hosts)
    traffic = Traffic(sockets, options)
    print("READY", os.getpid(), *namespaces, flush=True)
    while True:
        ready = select.select([sys.stdin, *sockets], [], [], traffic.let_go())[0]
        for one in ready:
            if one is not sys.stdin:
                traffic.take(sockets.index(one))
            elif line := os.read(sys.stdin.fileno(), 4096).decode():
                for order in line.splitlines():
                    traffic.obey(order)
            else:
                print(json.dumps(traffic.counts), flush=True)
                return


if __name__ == "__main__":
    main()
