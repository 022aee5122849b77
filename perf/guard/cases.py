"""The cases of tools/bench-guard: what is run, on which input, and which figure of a run tells of its hot loop."""

import collections.abc
import dataclasses
import json
import pathlib
import statistics
import tempfile
import time

from measure import Failed, run

LIMIT_S = 60  # of one run
UNKNOWN = 2  # the exit status of a program that does not know an option or a command
PLACES = {"1 x 1": ("-p", "1", "-w", "1"), "1 x 2": ("-p", "1", "-w", "2"), "2 x 1": ("-p", "2", "-w", "1")}
LOCAL_HOSTS = {"1 x 1": PLACES["1 x 1"], "1 x 2": PLACES["1 x 2"], "2 hosts": (*PLACES["2 x 1"], "--local-hosts")}
BOTH_WAYS = "kronecker --scale 20 --undirected --simple --weights"  # 31 M edges


def iteration(report, _):
    """Some iterations of a run may meet other programs; the median leaves them out, and what the first one warms up."""
    return statistics.median(one["seconds"] for one in report["iterations"])


def kernel(report, _):
    return report["seconds_kernel"]


def tasks(report, _):
    return min(report["seconds_runs"])


def gigabyte(report, _):
    """What 1 GB takes, for each size of messages, summed."""
    return sum(1e9 / row["bytes_per_second"] for row in report["rows"])


def wall(_, seconds):
    return seconds


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    words: tuple  # of the command; {} is the path of the input
    figure: collections.abc.Callable  # seconds of a run, from its report and its wall time
    input: str = ""  # words of `edgewire generate` that make it; what follows > is the ending that `convert` writes

    def measure(self, edgewire, path, folder):
        """Seconds of one run that writes into the folder. Raises Failed."""
        words = [word.format(path) for word in self.words]
        with tempfile.TemporaryDirectory(dir=folder) as out:
            if self.figure is not wall:
                words += ["--json", "report.json"]
            start = time.perf_counter()
            run([edgewire, *words], LIMIT_S, cwd=out)
            seconds = time.perf_counter() - start
            try:
                return self.figure(None if self.figure is wall else json.loads(pathlib.Path(out, "report.json").read_text()), seconds)
            except KeyError as error:
                raise Failed(f"its report has no {error}", UNKNOWN) from error


def pagerank_cases():
    for scale in (20, 22):
        graph = f"kronecker --scale {scale}"
        words = ("pagerank", "{}", "--iterations", "20" if scale == 20 else "10")
        for place in ("1 x 1", "1 x 2"):
            yield Case(f"pagerank {scale} {place}", (*words, *PLACES[place]), iteration, graph)
        # Over `edge` a value for each edge is sent, so that the link takes most of the time.
        for way in ("shm", "tcp", "tcp cover", *(("tcp edge",) if scale == 20 else ())):
            transport, *strategy = way.split()
            options = ("--transport", transport, *(("--strategy", *strategy) if strategy else ()))
            yield Case(f"pagerank {scale} 2 x 1 {way}", (*words, *PLACES["2 x 1"], *options), iteration, graph)


def kernel_cases():
    kernels = {
        "bfs": (("--samples", "32"), BOTH_WAYS),
        "sssp": (("--samples", "1"), BOTH_WAYS),
        "wcc": ((), BOTH_WAYS),
        "scc": ((), "kronecker --scale 20"),
        "bc": (("--samples", "4"), BOTH_WAYS),
        "lcc": ((), "kronecker --scale 18 --undirected --simple"),
        "tc": ((), "kronecker --scale 18 --undirected --simple"),
        "cdlp": (("--iterations", "3"), BOTH_WAYS),
    }
    for name, (options, graph) in kernels.items():
        for place, words in LOCAL_HOSTS.items():
            yield Case(f"{name} {place}", (name, "{}", *options, *words), kernel, graph)


CASES = [
    *pagerank_cases(),
    *kernel_cases(),
    Case("convert", ("convert", "{}", "-o", "out.ew"), wall, "kronecker --scale 19 > el"),
    Case("sort", ("sort", "{}/records-00000", "-o", "sorted", *PLACES["1 x 2"]), wall, "records --bytes 300M"),
    # Their time is the transport's alone: what it loses there is a few percent of an iteration.
    *(Case(f"link {transport}", ("netbench", "-p", "2", "--transport", transport, "--test", "bandwidth", "--sizes", "64k,1M",
                                 "--seconds", "0.4"), gigabyte) for transport in ("shm", "tcp")),
    Case("number-inc 2 x 1", ("tasks", "number-inc", "--count", "100000", "--repeat", "3", *PLACES["2 x 1"]), tasks),
]


def make_input(edgewire, words, cache):
    """The path of an input in the cache, made when it is not there. Its name tells how it is made."""
    if not words:
        return None
    made, _, ending = words.partition(" > ")
    name = made.replace(" --", "-").replace(" ", "-")
    path = cache / (name if made.startswith("records") else f"{name}.{ending or 'ew'}")
    if not path.exists():
        cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cache) as folder:
            part = pathlib.Path(folder, "part" if made.startswith("records") else "part.ew")
            run([edgewire, "generate", *made.split(), "-o", part])
            if ending:
                graph, part = part, part.with_suffix(f".{ending}")
                run([edgewire, "convert", graph, "-o", part])
            part.rename(path)
    return path
