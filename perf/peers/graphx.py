#!/usr/bin/python3
"""Measures PageRank beside Spark's GraphX: same graph, alone on all cores, and between two local hosts.

GraphX is the system of the debate of 2015 (Gonzalez et al.: "GraphX: Graph processing in a distributed dataflow framework", OSDI
2014). It runs its own PageRank, in the Spark that --spark names or else in PyPI's package pyspark, which is put into
BUILD/peers/pyspark. Spark needs Java (Debian: openjdk-17-jre-headless). An iteration of GraphX is the time of a run with --iterations
less that of a run with one, divided by the iterations between them; a run before these two warms up. All programs take turns. The
hosts are network namespaces with one core each; they need root. There Spark has a master, a driver and an executor on one host and
an executor on the other, and what an iteration sends over the link is read from the counters of the card, in the same way.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from hosts import ADDRESSES, Hosts, beside, write_job  # noqa: E402
from measure import ROOT, Failed, machine, machine_line, pagerank, print_table, run, run_script, spread, to_text  # noqa: E402

PACKAGE = "pyspark==3.5.*"
PORT = 7077
SCRIPT = pathlib.Path(__file__).resolve().parent / "graphx.scala"


def spark_in(folder):
    """Spark's home: the folder itself, or what the package pyspark has put there. None if it is neither."""
    return next((home for home in (folder / "pyspark", folder) if (home / "bin/spark-shell").exists()), None)


def find_spark(named, packages):
    """Spark's home in the folder that the user names; without one, in the folder that gets the package."""
    if named:
        if home := spark_in(named):
            return home
        raise Failed(f"no bin/spark-shell in {named}: name a folder with Spark, or leave --spark out to get PyPI's {PACKAGE}")
    if home := spark_in(packages):
        return home
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        raise Failed("Spark needs Java, which is not here (apt-get install openjdk-17-jre-headless)")
    try:  # the package holds built jars, but PyPI has it as a source archive only
        run([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target", packages, PACKAGE])
    except Failed as error:
        raise Failed(f"pip cannot install {PACKAGE} (apt-get install python3-pip, or name a folder with Spark: --spark DIR): "
                     f"{error}") from error
    return packages / "pyspark"


def shell(spark, options, edges, master, parts, *more):
    """The command of a Spark shell that runs the script, and its environment."""
    command = [spark / "bin/spark-shell", "--master", master, "--driver-memory", options.memory, "--conf", "spark.ui.enabled=false",
               "--conf", "spark.ui.showConsoleProgress=false", *more, "-i", SCRIPT]
    environment = {"SPARK_HOME": str(spark), "EDGES": str(edges), "PARTS": str(parts), "ITERATIONS": str(options.iterations),
                   "ROUNDS": "1"}
    return [*map(str, command)], environment


def figures(text):
    """Lines `figure NAME NUMBERS` of the script."""
    found = {}
    for line in text.splitlines():
        words = line.split()
        if words[:1] == ["figure"]:
            found[words[1]] = [float(word) for word in words[2:]]
    return found


def iteration(options, text, edges):
    """Seconds, and the bytes that cross the link where there is one, else 0."""
    found = figures(text)
    if "runs" not in found:
        raise Failed("GraphX gave no figures: " + (text.strip().splitlines() or ["no output"])[-1])
    if found["edges"] != [edges]:
        raise Failed(f"GraphX has read {found['edges'][0]:.0f} edges, not {edges}")
    one, all_, bytes_one, bytes_all = found["runs"]
    return (all_ - one) / (options.iterations - 1), (bytes_all - bytes_one) / (options.iterations - 1)


def of(environment, command):
    return ["env", *(f"{name}={value}" for name, value in environment.items()), *command]


def graphx_alone(options, spark, edges, count):
    command, environment = shell(spark, options, edges, f"local[{options.cores}]", options.cores)
    return iteration(options, run(of(environment, command), options.timeout), count)


@contextlib.contextmanager
def cluster(spark, hosts, folder, memory):
    """A standalone cluster: a master, and a worker with one core on each host."""
    parts = [(0, ["org.apache.spark.deploy.master.Master", "--host", ADDRESSES[0], "--port", PORT, "--webui-port", 0])]
    parts += [(side, ["org.apache.spark.deploy.worker.Worker", "--host", ADDRESSES[side], "--cores", 1, "--memory", memory,
                      "--webui-port", 0, "--work-dir", folder / f"worker{side}", f"spark://{ADDRESSES[0]}:{PORT}"])
              for side in (0, 1)]
    started = []
    try:
        for side, words in parts:
            command = of({"SPARK_HOME": spark, "SPARK_LOCAL_IP": ADDRESSES[side]}, hosts.on(side, spark / "bin/spark-class", *words))
            log = open(folder / f"log{len(started)}", "w")
            started.append(subprocess.Popen(command, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True))
            time.sleep(5)
            if started[-1].poll() is not None:
                raise Failed("Spark does not start: " + (pathlib.Path(log.name).read_text().strip().splitlines() or ["no output"])[-1])
        yield
    finally:
        for process in started:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def graphx_on_hosts(options, spark, hosts, edges, count):
    with tempfile.TemporaryDirectory(dir=options.cache) as folder, \
            cluster(spark, hosts, pathlib.Path(folder), options.memory):
        # Nothing starts before both executors are there; else one of them would read the whole graph.
        both_first = ["--conf", "spark.cores.max=2", "--conf", "spark.scheduler.minRegisteredResourcesRatio=1",
                      "--conf", "spark.scheduler.maxRegisteredResourcesWaitingTime=120s"]
        command, environment = shell(spark, options, edges, f"spark://{ADDRESSES[0]}:{PORT}", 2, "--executor-memory", options.memory,
                                     "--conf", f"spark.driver.host={ADDRESSES[0]}", *both_first)
        text = run(of({**environment, "SPARK_LOCAL_IP": ADDRESSES[0], "LINK": "eth0"}, hosts.on(0, *command)), options.timeout)
        if figures(text).get("holders") != [2]:
            raise Failed("the edges of GraphX are not on both hosts, so it uses no link")
        return iteration(options, text, count)


def edgewire_on_hosts(edgewire, hosts, graph, iterations, strategy):
    """Seconds an iteration, and the bytes with all headers that both hosts send in it."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        write_job(folder)
        ends = [hosts.on(side, edgewire, "pagerank", graph, "-w", 1, "--iterations", iterations, "--strategy", strategy,
                         "--transport", "tcp", "--hosts", folder / "hosts", "--secret-file", folder / "secret", "--rank", side,
                         "--json", folder / f"{side}.json")
                for side in (0, 1)]
        with beside(ends[1]):
            run(ends[0])
        report = json.loads((folder / "0.json").read_text())
        return report["seconds_per_iteration"], report["iterations"][-1]["wire_bytes_sent"]


def measure(options, edgewire, spark, edges, count):
    """{(where, program): [(seconds an iteration, bytes over the link)]}"""
    measured = {}

    def note(where, program, run_figures):
        measured.setdefault((where, program), []).append(run_figures)
        print(f"{where}: {program} {run_figures[0] * 1e3:.4g} ms, {run_figures[1]:.0f} bytes over the link an iteration", file=sys.stderr,
              flush=True)

    for _ in range(options.rounds):
        where = f"one process, {options.cores} cores"
        if not options.no_alone:
            note(where, "GraphX", graphx_alone(options, spark, edges, count))
            alone = pagerank(edgewire, options.graph, "-p", 1, "-w", options.cores, "--iterations", options.our_iterations)
            note(where, "edgewire", (alone["seconds_per_iteration"], 0))
        if not options.rates:
            continue
        with Hosts() as hosts:
            for rate in options.rates:
                hosts.shape(rate)
                where = f"two hosts, 1 core each, {rate}"
                note(where, "GraphX", graphx_on_hosts(options, spark, hosts, edges, count))
                for strategy in options.strategies:
                    note(where, f"edgewire {strategy}",
                         edgewire_on_hosts(edgewire, hosts, options.graph, options.our_iterations, strategy))
    return measured


def print_rows(measured):
    rows = []
    for (where, program), runs in measured.items():
        seconds = spread([run[0] for run in runs])
        sent = statistics.median(run[1] for run in runs)
        graphx = statistics.median(run[0] for run in measured[where, "GraphX"])
        rows.append([where, program, to_text(seconds, 1e3, 2), f"{sent / 1e6:.2f}" if sent else "-",
                     f"{graphx / seconds['median']:.0f}"])
    print_table(["where", "program", "ms/iteration", "MB over the link", "GraphX takes, times"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("graph", type=pathlib.Path, metavar="GRAPH.ew")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", metavar="DIR")
    parser.add_argument("--spark", type=pathlib.Path, metavar="DIR",
                        help="where Spark is (default: PyPI's pyspark, put into BUILD/peers/pyspark)")
    parser.add_argument("--cache", type=pathlib.Path, metavar="DIR", help="of the graph as text (default: as TMPDIR says)")
    parser.add_argument("--cores", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--memory", default="4g", help="of each Java machine (default: 4g)")
    parser.add_argument("--rates", nargs="*", default=["1G", "10G"], help="of the link between two hosts (default: 1G 10G)")
    parser.add_argument("--strategies", nargs="+", default=["process", "slots", "cover"], help="of edgewire between hosts")
    parser.add_argument("--no-alone", action="store_true", help="measure between hosts only")
    parser.add_argument("--iterations", type=int, default=6, help="of GraphX (default: 6)")
    parser.add_argument("--our-iterations", type=int, default=30, metavar="N",
                        help="of edgewire, whose last ten count (default: 30)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--timeout", type=float, default=1800, metavar="S", help="for one run of GraphX (default: 1800)")
    options = parser.parse_args()
    if options.iterations < 2:
        parser.error("--iterations: at least 2")
    edgewire = options.build.resolve() / "edgewire"
    spark = find_spark(options.spark and options.spark.resolve(), options.build.resolve() / "peers/pyspark")
    found = machine()
    with tempfile.TemporaryDirectory(dir=options.cache) as folder:
        edges = pathlib.Path(folder, "edges.el")
        run([edgewire, "convert", options.graph, "-o", edges])
        with open(edges, "rb") as lines:
            count = sum(1 for _ in lines)
        measured = measure(options, edgewire, spark, edges, count)
    print(f"machine: {machine_line(found)}\ngraph: {options.graph.name}, {count} edges, {options.rounds} rounds; median [min to max]")
    print_rows(measured)


if __name__ == "__main__":
    run_script(main)
