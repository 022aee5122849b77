#!/usr/bin/python3
"""Edgewire's verbs backend beside ib_write_bw on the RDMA devices of this machine.

Message size by message size the two take turns with the same number of messages. With --pagerank also the payload that
PageRank between two processes sends per second while it iterates, beside what ib_write_bw writes. Figures are medians
with minima and maxima. Needs ib_write_bw (perftest) and an RDMA device, or two that reach each other; where there is
none, tests/lab/rdma-vm has some:

    tests/lab/rdma-vm -c 2 'perf/bench/rdma.py --devices rxe0 --address 10.8.0.1'

PageRank is to show how well it fills a wire, so give it one that is slower than the machine computes:

    tests/lab/rdma-vm -c 2 'rdma link add rxe1 type rxe netdev eth1
      for i in eth0 eth1; do tc qdisc add dev $i root tbf rate 20mbit burst 64k latency 1s; done
      perf/bench/rdma.py --devices rxe0 rxe1 --address 10.8.0.2 --sizes --pagerank g.ew'
"""

import argparse
import json
import pathlib
import re
import signal
import socket
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from hosts import beside, write_job  # noqa: E402
from measure import ROOT, Failed, machine, machine_line, print_table, run, run_script, spread, to_text  # noqa: E402

SIZES = [1 << power for power in range(1, 24)]  # those of ib_write_bw -a
PATIENCE_S = 300
TRIES = 5


def ib_write_bw(options, size, count):
    """Bits a second of `count` messages, one way."""
    command = [*options.prefix, "ib_write_bw", "-F", "-N", "-u", "18", "-s", str(size), "-n", str(max(5, count)), "-d"]
    for _ in range(TRIES):
        with beside([*command, options.devices[-1]]):
            text = first_answer([*command, options.devices[0], options.address])
        found = re.search(rf"^ *{size}\s+\d+\s+\S+\s+(\S+)\s+(\S+)\s*$", text, re.M)
        if not found:
            raise Failed(f"ib_write_bw: no figures in: {text[-500:]}")
        # MiB/s with two digits, millions of messages with six: the finer one. It says 0 when it could not find out how
        # fast the processor's clock runs.
        bits = float(found[1]) * 2**20 * 8 if size > 8192 else float(found[2]) * 1e6 * size * 8
        if bits > 0:
            return bits
    raise Failed("ib_write_bw measures nothing: this machine is too busy")


def first_answer(command):
    """What it prints once its other end listens."""
    for _ in range(50):
        time.sleep(0.2)
        try:
            return run(command, PATIENCE_S)
        except Failed as error:
            if "connect" not in str(error):
                raise
    raise Failed("ib_write_bw does not start")


def on_both(options, *arguments):
    """The JSON of a job of two processes, each on its device."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        ports = [socket.create_server(("127.0.0.1", 0)) for _ in range(2)]
        write_job(folder, [f"127.0.0.1:{port.getsockname()[1]}" for port in ports])
        for port in ports:
            port.close()
        ends = [[*map(str, [*options.prefix, options.build / "edgewire", *arguments, "--transport", "verbs", "--verbs-device",
                            device, "--hosts", folder / "hosts", "--secret-file", folder / "secret", "--rank", rank,
                            "--peer-timeout", 60, "--json", "-"])] for rank, device in enumerate((options.devices[0], options.devices[-1]))]
        with beside(ends[1]):
            return json.loads(run(ends[0], PATIENCE_S))


def netbench(options, sizes, *limit):
    """Its rows, one a size."""
    return on_both(options, "netbench", "--test", "bandwidth", "--sizes", ",".join(map(str, sizes)), *limit)["rows"]


def in_turns(number, programs):
    """What each says; in odd rounds the last one begins."""
    return {name: programs[name]() for name in (programs if number % 2 == 0 else reversed(programs))}


def compare(options):
    """By size: bits a second of both in each round."""
    rates = {row["message_bytes"]: row["messages_per_second"] for row in netbench(options, options.sizes, "--seconds", options.seconds / 4)}
    found = {size: [] for size in options.sizes}
    for number in range(options.rounds):
        for size in options.sizes:
            count = max(20, int(rates[size] * options.seconds))
            found[size].append(in_turns(number, {
                "ib_write_bw": lambda: ib_write_bw(options, size, count),
                "netbench": lambda: netbench(options, [size], "--count", count)[0]["bits_per_second"]}))
    return found


def goodput(options, graph):
    """Payload bits a second of PageRank as it iterates, one way."""
    report = on_both(options, "pagerank", graph, "-w", options.workers, "--strategy", options.strategy, "--iterations",
                     options.iterations)
    later = report["iterations"][1:]
    return sum(one["payload_bytes_sent"] for one in later) / 2 * 8 / sum(one["seconds"] for one in later)


def compare_pagerank(options, graph):
    size = 1 << 16
    rate = netbench(options, [size], "--seconds", options.seconds)[0]["messages_per_second"]
    return [in_turns(number, {"ib_write_bw": lambda: ib_write_bw(options, size, int(rate * options.seconds)),
                              "pagerank": lambda: goodput(options, graph)}) for number in range(options.rounds)]


def row(name, runs, program):
    bits = [[one[which] for one in runs] for which in ("ib_write_bw", program)]
    ratios = [mine / its for its, mine in zip(*bits)]
    return [name, *(to_text(spread(values), 1e-9, 4) for values in bits), to_text(spread(ratios), 1, 3)]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", metavar="DIR")
    parser.add_argument("--devices", nargs="+", required=True, metavar="DEVICE", help="one for both ends, or one each")
    parser.add_argument("--address", default="127.0.0.1", help="of the other end")
    parser.add_argument("--sizes", nargs="*", type=int, default=SIZES, help="of messages, bytes")
    parser.add_argument("--seconds", type=float, default=1, help="of each measurement, about")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--realtime", action="store_true", help="run with priority over all else (chrt -r 5)")
    parser.add_argument("--pagerank", type=pathlib.Path, metavar="GRAPH", help="also PageRank on this graph (.ew)")
    parser.add_argument("--strategy", default="edge", help="of PageRank")
    parser.add_argument("--iterations", type=int, default=5, help="of PageRank; the first does not count")
    parser.add_argument("--workers", type=int, default=1, help="of each process of PageRank")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="the figures as JSON")
    options = parser.parse_args()
    if len(options.devices) > 2:
        parser.error("--devices: one or two")
    options.build = options.build.resolve()
    options.prefix = ["chrt", "-r", "5"] if options.realtime else []
    found = {"machine": machine()}
    print(f"machine: {machine_line(found['machine'])}", flush=True)
    if options.sizes:
        found["sizes"] = compare(options)
        print_table(["bytes", "ib_write_bw Gbit/s", "netbench Gbit/s", "of ib_write_bw"],
                    [row(str(size), runs, "netbench") for size, runs in found["sizes"].items()])
    if options.pagerank:
        found["pagerank"] = compare_pagerank(options, options.pagerank.resolve())
        print_table([f"PageRank, {options.strategy}", "ib_write_bw Gbit/s", "goodput Gbit/s", "of ib_write_bw"],
                    [row(options.pagerank.name, found["pagerank"], "pagerank")])
    if options.json:
        options.json.write_text(json.dumps(found, indent=2) + "\n")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    run_script(main)
