#!/usr/bin/python3
"""Edgewire's TCP beside iperf3 over the same links: two network namespaces, joined by a veth pair that tbf shapes.

Both take their turns in each round, every process pinned to a core of its own; figures are medians with minima and
maxima. Needs root, iperf3 and iproute2. The namespaces are gone when it ends.
"""

import argparse
import json
import os
import pathlib
import signal
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from hosts import ADDRESSES, Hosts, beside, write_job  # noqa: E402
from measure import ROOT, Failed, machine, machine_line, print_table, run, run_script, spread, to_text  # noqa: E402


def figures(bits_per_second, sender_cores, receiver_cores):
    busier = max(sender_cores, receiver_cores)
    return {"bits_per_second": bits_per_second, "sender_cores": sender_cores, "receiver_cores": receiver_cores,
            "cores_per_10_gbit": busier / bits_per_second * 1e10}


def iperf3(hosts, options, streams=1):
    with beside(hosts.on(1, "iperf3", "-s", "-1", "--forceflush")) as server:
        while "listening" not in (line := server.stdout.readline()):
            if not line:
                raise Failed(f"iperf3 does not start: {server.stderr.read().strip()}")
        end = json.loads(run(hosts.on(0, "iperf3", "-c", ADDRESSES[1], "-t", options.seconds, "-O", 1, "-P", streams,
                                      "-J"), options.seconds + 30))["end"]
    cpu = end["cpu_utilization_percent"]
    return figures(end["sum_received"]["bits_per_second"], cpu["host_total"] / 100, cpu["remote_total"] / 100)


def netbench(hosts, options, folder, size, lanes=1):
    common = [options.build / "edgewire", "netbench", "--transport", "tcp", "--hosts", folder / "hosts",
              "--secret-file", folder / "secret", "--test", "bandwidth", "--sizes", size, "--seconds", options.seconds,
              "--lanes", lanes, "--json", "-"]
    with beside(hosts.on(1, *common, "--rank", 1)):
        row = json.loads(run(hosts.on(0, *common, "--rank", 0), options.seconds + 30))["rows"][0]
    return figures(row["bits_per_second"], row["cores"]["sender"], row["cores"]["receiver"])


def compare(hosts, options, folder):
    """[{rate, program, ...}], the programs taking turns."""
    programs = {"iperf3": lambda: iperf3(hosts, options),
                **{f"edgewire {size}": lambda size=size: netbench(hosts, options, folder, size)
                   for size in options.sizes}}
    rows = []
    for rate in options.rates:
        hosts.shape(rate)
        found = {name: [] for name in programs}
        for number in range(options.rounds):
            order = list(programs) if number % 2 == 0 else list(reversed(programs))
            for name in order:
                found[name].append(programs[name]())
        for name, runs in found.items():
            ratios = [one["bits_per_second"] / other["bits_per_second"] for one, other in zip(runs, found["iperf3"])]
            rows.append({"rate": rate, "program": name, "ratio": spread(ratios),
                         **{figure: spread([one[figure] for one in runs]) for figure in runs[0]}})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", metavar="DIR")
    parser.add_argument("--rates", nargs="+", default=["1G", "10G", "none"], help="1G, 10G, ... or none")
    parser.add_argument("--sizes", nargs="+", default=["128k", "1M"], help="of netbench's messages")
    parser.add_argument("--seconds", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="the table as JSON")
    options = parser.parse_args()
    options.build = options.build.resolve()
    if os.geteuid() != 0:
        raise Failed("network namespaces need root")
    found = machine()
    print(f"machine: {machine_line(found)}", flush=True)
    with tempfile.TemporaryDirectory() as folder, Hosts() as hosts:
        folder = pathlib.Path(folder)
        write_job(folder)
        rows = compare(hosts, options, folder)
    print_table(["rate", "program", "Gbit/s", "of iperf3", "cores/10G", "sender", "receiver"],
                [[row["rate"], row["program"], to_text(row["bits_per_second"], 1e-9, 2), to_text(row["ratio"], 1, 3),
                  *(to_text(row[name], 1, 2) for name in ("cores_per_10_gbit", "sender_cores", "receiver_cores"))]
                 for row in rows])
    if options.json:
        options.json.write_text(json.dumps({"machine": found, "rows": rows}, indent=2) + "\n")


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    run_script(main)
