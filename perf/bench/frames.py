#!/usr/bin/python3
"""Edgewire's dpdk backend beside dpdk-testpmd on the same ports: net_af_packet on a veth pair between two network
namespaces, frames of 1500 bytes, a core for each side.

testpmd sends what it can, and what arrives counts; Edgewire's figure is payload that has arrived, acknowledged and in
order. With --pagerank also PageRank over a link that goes through a switch between the hosts and is shaped there to half of
what testpmd reaches through it, both ways at once, as PageRank sends: the median time of an iteration beside the least time
that its bytes take on the wire. The programs take turns in each round; figures are medians of rounds with minima and
maxima. Needs root, iproute2 and dpdk-testpmd (dpdk-dev). The namespaces are gone when it ends.
"""

import argparse
import json
import os
import pathlib
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from hosts import ADDRESSES, Hosts, beside, write_job  # noqa: E402
from measure import ROOT, Failed, machine, machine_line, print_table, run, run_script, spread, to_text  # noqa: E402

PORT = "net_af_packet0,iface=eth0"
FRAME_BYTES = 1514  # without check sequence
WIRE_BYTES = 1538


def testpmd(hosts, side, *options):
    core = sorted(os.sched_getaffinity(0))[-1 - side]
    return hosts.on(side, "chrt", "-r", "5", "dpdk-testpmd", "--no-huge", "-m", "128", "--no-shconf", "--no-telemetry", "--no-pci",
                    f"--lcores=0@{core},1@{core}", f"--vdev={PORT},framesz=2048,blocksz=65536,framecnt=2048", "--", "--auto-start",
                    "--total-num-mbufs=16384", "--stats-period=1", "--no-mlockall", *options)


def testpmd_bits(hosts, options, both_ways=False):
    """What arrives on host 1, from host 0; or both ways at once."""
    def start(side, mode, **streams):
        mac = json.loads(run(["ip", "-j", "-n", hosts.names[1 - side], "link", "show", "eth0"]))[0]["address"]
        return subprocess.Popen(testpmd(hosts, side, f"--forward-mode={mode}", f"--txpkts={FRAME_BYTES}", f"--eth-peer=0,{mac}"),
                                stdin=subprocess.DEVNULL, stderr=subprocess.STDOUT, **streams)

    ends = [start(1, "flowgen" if both_ways else "rxonly", stdout=subprocess.PIPE, text=True)]
    time.sleep(1)
    ends.append(start(0, "flowgen" if both_ways else "txonly", stdout=subprocess.DEVNULL))
    try:
        time.sleep(options.seconds + 2)
    finally:
        for end in reversed(ends):
            end.send_signal(signal.SIGINT)
        output = ends[0].communicate(timeout=20)[0]
        ends[1].wait(timeout=20)
    seen = [int(bits) for bits in re.findall(r"Rx-bps: +(\d+)", output) if int(bits) > 0]
    if len(seen) < 3:
        raise Failed(f"testpmd does not receive: {output[-500:]}")
    return statistics.median(seen[1:-1])


def on_both(hosts, options, folder, *arguments):
    common = ["chrt", "-r", "5", options.build / "edgewire", *arguments, "--transport", "dpdk", "--dpdk-port", PORT, "--hosts",
              folder / "hosts", "--secret-file", folder / "secret", "--json", "-"]
    with beside(hosts.on(1, *common, "--rank", 1)):
        return json.loads(run(hosts.on(0, *common, "--rank", 0), 120))


def netbench(hosts, options, folder, size):
    row = on_both(hosts, options, folder, "netbench", "--test", "bandwidth", "--sizes", size, "--seconds", options.seconds)["rows"][0]
    return {"bits": row["bits_per_second"], "again": row["retransmitted_bytes"] / max(1, row["payload_bytes"])}


class Switch:
    """The hosts' link goes through a namespace between them, whose ports towards them tbf shapes."""

    def __init__(self, hosts, bits_per_s, loss):
        self.name, self.hosts, self.bits_per_s, self.loss = f"{hosts.names[0]}sw", hosts, bits_per_s, loss

    def __enter__(self):
        try:
            self.connect(self.hosts, self.bits_per_s, self.loss)
        except BaseException:
            self.__exit__()
            raise
        return self

    def connect(self, hosts, bits_per_s, loss):
        run(["ip", "netns", "add", self.name])
        run(["ip", "-n", self.name, "link", "add", "switch", "type", "bridge"])
        run(["ip", "-n", self.name, "link", "set", "switch", "up"])
        subprocess.run(["ip", "-n", hosts.names[0], "link", "del", "eth0"], stderr=subprocess.DEVNULL, check=False)
        for i, name in enumerate(hosts.names):
            run(["ip", "link", "add", "eth0", "netns", name, "type", "veth", "peer", "name", f"port{i}", "netns", self.name])
            run(["ip", "-n", name, "addr", "add", f"{ADDRESSES[i]}/24", "dev", "eth0"])
            run(["ip", "-n", name, "link", "set", "eth0", "up"])
            run(["ip", "-n", self.name, "link", "set", f"port{i}", "master", "switch", "up"])
            tc = ["ip", "netns", "exec", self.name, "tc"]
            if not bits_per_s:
                continue
            # The kernel counts frames without preamble, check sequence and gap.
            run([*tc, "qdisc", "add", "dev", f"port{i}", "root", "tbf", "rate", f"{int(bits_per_s * FRAME_BYTES / WIRE_BYTES)}bit",
                 "burst", "64kb", "latency", "50ms"])
            if loss:
                run([*tc, "qdisc", "add", "dev", f"port{i}", "clsact"])
                run([*tc, "filter", "add", "dev", f"port{i}", "ingress", "protocol", "all", "bpf", "da", "bytecode",
                     f"4,32 0 0 4294963256,53 1 0 {int(loss * 2**32)},6 0 0 2,6 0 0 0"])

    def __exit__(self, *_):
        subprocess.run(["ip", "netns", "del", self.name], check=False)


def pagerank(hosts, options, folder, graph, bits_per_s, loss):
    with Switch(hosts, bits_per_s, loss):
        report = on_both(hosts, options, folder, "pagerank", graph, "-w", 1, "--strategy", options.strategy, "--iterations", 30,
                         "--dpdk-rate", f"{bits_per_s * 1e-6:.0f}M")
    least = report["bound"]["wire_bytes"] / 2 * 8 / bits_per_s  # each direction carries half
    seconds = statistics.median(one["seconds"] for one in report["iterations"])
    return {"seconds": seconds, "least": least, "ratio": seconds / least,
            "again": report["link"]["retransmitted_bytes"] / sum(one["payload_bytes_sent"] for one in report["iterations"])}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", metavar="DIR")
    parser.add_argument("--sizes", nargs="+", default=["64k", "1M"], help="of netbench's messages")
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--pagerank", type=int, metavar="SCALE", help="also PageRank on a Kronecker graph of this scale")
    parser.add_argument("--strategy", default="edge", help="of PageRank: what sends most for its computing is `edge`")
    parser.add_argument("--rate", type=float, metavar="GBIT", help="of that link, instead of half of testpmd's")
    parser.add_argument("--loss", type=float, nargs="+", default=[0, 0.01], help="of frames, in PageRank")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="the tables as JSON")
    options = parser.parse_args()
    options.build = options.build.resolve()
    if os.geteuid() != 0:
        raise Failed("network namespaces need root")
    found = machine()
    print(f"machine: {machine_line(found)}", flush=True)
    with tempfile.TemporaryDirectory() as folder, Hosts() as hosts:
        folder = pathlib.Path(folder)
        write_job(folder)
        rounds = [{"testpmd": testpmd_bits(hosts, options), **{size: netbench(hosts, options, folder, size) for size in options.sizes}}
                  for _ in range(options.rounds)]
        bits = spread([one["testpmd"] for one in rounds])
        rows = [["testpmd", to_text(bits, 1e-9, 2), "", ""]]
        for size in options.sizes:
            rows.append([f"edgewire {size}", *(to_text(spread(values), scale, 3) for values, scale in (
                ([one[size]["bits"] for one in rounds], 1e-9), ([one[size]["bits"] / one["testpmd"] for one in rounds], 1),
                ([one[size]["again"] for one in rounds], 100)))])
        print_table(["program", "Gbit/s", "of testpmd", "sent again %"], rows)
        tables = {"machine": found, "rounds": rounds}
        if options.pagerank:
            graph = folder / "g.ew"
            run([options.build / "edgewire", "generate", "kronecker", "--scale", options.pagerank, "-o", graph], 300)
            if options.rate:
                half = options.rate * 1e9
            else:
                with Switch(hosts, 0, 0):
                    tables["testpmd_through_switch"] = [testpmd_bits(hosts, options, both_ways=True) for _ in range(options.rounds)]
                half = statistics.median(tables["testpmd_through_switch"]) / 2
            turns = [{loss: pagerank(hosts, options, folder, graph, half, loss) for loss in options.loss}
                     for _ in range(options.rounds)]
            tables["pagerank"] = {loss: [turn[loss] for turn in turns] for loss in options.loss}
            print(f"PageRank at {half * 1e-9:.2f} Gbit/s")
            print_table(["loss", "ms an iteration", "at least", "ratio", "sent again %"],
                        [[str(loss), *(to_text(spread([run[name] for run in runs]), scale, 3)
                                  for name, scale in (("seconds", 1e3), ("least", 1e3), ("ratio", 1), ("again", 100)))]
                         for loss, runs in tables["pagerank"].items()])
    if options.json:
        options.json.write_text(json.dumps(tables, indent=2) + "\n")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    run_script(main)
