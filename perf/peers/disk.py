#!/usr/bin/python3
"""Measures kernels whose edges are on a disk beside fio, a mapped file, edges in memory, and Blaze's published figures, in turns.

Programs with edges on the disk run in a control group whose memory is limited to what their values need, a quarter of the bytes of the
edges (4 bytes each), and 32 MiB for the program itself. The page cache that they fill counts. Files are taken out of the page cache
before each run. Edges are written before, without that limit. With --rate, all that reads the disk is throttled to that rate, as on a
slower disk, so that cores are not the limit. Then PageRank runs on one and on two loop devices, each throttled to a
known rate. What the machine lacks is named with the reason.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil
import statistics
import sys
import tempfile

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))
from limits import memory_group, read_group, within  # noqa: E402
from measure import ROOT, Failed, machine, machine_line, print_table, run, run_script, spread, to_text  # noqa: E402
from packages import system_program  # noqa: E402

BYTES_OF_VALUES = {"edgewire": 48, "mapped pull": 20}  # of a vertex, besides edges
BYTES_OF_PROGRAM = 32 << 20  # with its reads ahead
KERNELS = ["pagerank", "spmv", "wcc", "bfs", "bc"]
DENSE = ("pagerank", "spmv")
ADVICE = ("normal", "sequential")
LARGEST_DIFFERENCE = 1e-3
# Kim, Swanson: "Blaze: fast graph processing on fast SSDs", SC 2022; 16 cores, Kronecker 24 both ways. Its PageRank passes on what has
# changed, so it reads fewer edges each time, and the times are not published: the edges are those that its 9.3 GB hold.
BLAZE_EDGES, BLAZE_BYTES_PER_SECOND = 521e6, 1.42e9
BLAZE = {"spmv": (BLAZE_EDGES, 1.46), "wcc": (BLAZE_EDGES, 5.5), "bc": (BLAZE_EDGES, 7.4), "pagerank": (9.3e9 / 4, 7.9)}
WANTED = {"spmv": 1.5, "wcc": 3, "bc": 1.5, "pagerank": 1.5}  # times Blaze's edges for each byte of bandwidth
WANTED_OF_TWO_DEVICES, WANTED_DIFFERENCE = 1.9, 0.05


def times(options, kernel):
    """How often it reads all edges; SpMV's values grow with each pass, beyond a float after some ten."""
    return {"pagerank": options.iterations, "spmv": min(options.iterations, 5)}.get(kernel, 1)


def within_all(groups, command):
    for group in groups:
        command = within(group, command)
    return command


def edgewire(options, kernel, *words, groups=()):
    """{seconds, bytes_read, disk} of a run: of one pass of dense kernels, of the whole kernel of others; `disk` as the report has it."""
    asked = {"bfs": ["--source", options.source], "bc": ["--sources", options.source], "wcc": []}
    command = [options.build / "edgewire", kernel, options.graph, *asked.get(kernel, ["--iterations", times(options, kernel)]), "-p", 1,
               "-w", options.threads, *words, "--json", "-"]
    report = json.loads(run(within_all(groups, command), options.timeout))
    seconds = report["seconds_kernel"] if kernel not in DENSE else statistics.mean(one["seconds"] for one in report["iterations"])
    disk = report.get("disk", {})
    return {"seconds": seconds, "bytes_read": disk.get("bytes_read", 0) / times(options, kernel), "disk": disk}


def on_disk(kernel, *folders):
    """The options that keep edges in these folders, and the plan in the first."""
    return ["--edges", "disk", "--devices", ",".join(map(str, folders)), *[f"--plan-cache={folders[0]}"] * (kernel in DENSE)]


def mapped_pull(options, file, kernel, advice, groups, values):
    command = [options.mapped_pull, file, "--kernel", kernel, "--advice", advice, "--threads", options.threads, "--iterations",
               times(options, kernel), "--values", values]
    figures = json.loads(run(within_all(groups, command), options.timeout))
    return {"seconds": statistics.mean(figures["seconds"]), "bytes_read": figures["bytes_read"] / times(options, kernel)}


def fio(options, program, file, disk, groups):
    """Bytes a second that fio reads from a file, with as many reads of the same size under way."""
    text = run(within_all(groups, [program, "--name=reads", f"--filename={file}", "--readonly", "--allow_file_create=0", "--rw=read", "--direct=1",
                "--ioengine=io_uring", f"--bs={disk['block_bytes']}", f"--iodepth={disk['depth']}", "--time_based",
                f"--runtime={options.fio_seconds}", "--output-format=json"]), options.timeout)
    return json.loads(text[text.index("{"):])["jobs"][0]["read"]["bw_bytes"]


def forget(*paths):
    """Takes files, and what is in folders, out of the page cache: pages that another program has read would count for nobody."""
    for path in (file for path in paths for file in (path.rglob("*") if path.is_dir() else [path]) if file.is_file()):
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(descriptor)


def check_values(options, kernel, values, folder):
    """The largest relative difference between the values of mapped_pull and edgewire's."""
    text = folder / "values.tsv"
    run([options.build / "edgewire", kernel, options.graph, "--iterations", times(options, kernel), "-o", text])
    expected = numpy.fromfile(text, sep=" ").reshape(-1, 2)[:, 1]
    text.unlink()
    found = numpy.fromfile(values, "f4" if kernel == "pagerank" else "f8").astype("f8")
    if found.shape != expected.shape:
        raise Failed(f"mapped_pull has {found.size} values, edgewire {expected.size}")
    difference = float(numpy.max(numpy.abs(found - expected) / numpy.where(expected == 0, 1, expected), initial=0))
    if difference > LARGEST_DIFFERENCE:
        raise Failed(f"{kernel}: the values of mapped_pull differ from edgewire's by {difference:.1e}")
    return difference


class Turns:
    """What is measured in turns: {key: [figures]}, and {key: reason} of what failed."""

    def __init__(self, rounds):
        self.rounds = rounds
        self.measured, self.missing, self.programs = {}, {}, {}

    def add(self, key, measure):
        self.programs[key] = measure

    def run(self, before_each=lambda: None):
        for round_ in range(self.rounds):
            for key, measure in self.programs.items():
                if key in self.missing:
                    continue
                before_each()
                try:
                    figures = measure()
                except Failed as error:
                    self.missing[key] = str(error)
                    continue
                self.measured.setdefault(key, []).append(figures)
                shown = ", ".join(f"{figures[name]:.4g} {name}" for name in ("seconds", "bytes_read", "bytes_per_second") if name in figures)
                print(f"round {round_ + 1} of {self.rounds}: {' '.join(key)}: {shown}", file=sys.stderr, flush=True)

    def names_of_missing(self):
        return {" ".join(key): reason for key, reason in self.missing.items()}

    def of(self, key, name):
        """The spread of a figure; None where it was not measured."""
        return spread([figures[name] for figures in self.measured[key]]) if key in self.measured else None


def add_edgewire(options, turns, files, limit, groups):
    """Writes the edges of each kernel, and adds the runs that read them and those with edges in memory; the `disk` of the last report."""
    for kernel in options.kernels:
        (files / kernel).mkdir(parents=True)
        disk = edgewire(options, kernel, *on_disk(kernel, files / kernel))["disk"]
        turns.add((kernel, "edgewire, disk"), lambda kernel=kernel: edgewire(
            options, kernel, *on_disk(kernel, files / kernel), "--memory", limit, groups=groups))
        turns.add((kernel, "edgewire, memory"), lambda kernel=kernel: edgewire(options, kernel))
    return disk


def add_mapped_pull(options, turns, file, groups):
    """Writes the file that is mapped, checks the values, and adds the runs; {kernel: largest difference of a value from edgewire's}."""
    differences, values = {}, file.with_name("values")
    for kernel in (kernel for kernel in options.kernels if kernel in DENSE):
        if not file.exists():
            run([options.mapped_pull, "write", options.graph, file])
        mapped_pull(options, file, kernel, ADVICE[0], groups, values)
        differences[kernel] = check_values(options, kernel, values, file.parent)
        for advice in ADVICE:
            turns.add((kernel, f"mapped pull, {advice}"), lambda kernel=kernel, advice=advice: mapped_pull(
                options, file, kernel, advice, groups, values))
    return differences


def add_fio(options, turns, files, disk, groups):
    """Adds reads of the largest file of edges; {name: reason} where fio is missing."""
    try:
        program = system_program("fio", "fio")
    except Failed as error:
        return {"reads fio": str(error)}
    largest = max(files.rglob("*-disk-0"), key=lambda path: path.stat().st_size)
    turns.add(("reads", "fio"), lambda: {"bytes_per_second": fio(options, program, largest, disk, groups)})
    return {}


def disk_of(folder):
    """`major:minor` of the whole disk that a folder is on. Raises Failed where it is on none."""
    number = os.stat(folder).st_dev
    device = pathlib.Path(f"/sys/dev/block/{os.major(number)}:{os.minor(number)}").resolve()
    if not device.exists():
        raise Failed(f"{folder}: it is on no block device that could be throttled")
    return ((device.parent if (device / "partition").exists() else device) / "dev").read_text().strip()


def one_disk(options, folder, vertices, edges):
    """The `rows`, and what fio and edgewire itself measured of the disk; {name: reason} of what is missing."""
    turns, files, mapped = Turns(options.rounds), folder / "edges", folder / "mapped"
    mapped.mkdir()
    limits = {name: bytes_ * vertices + 4 * edges // 4 + BYTES_OF_PROGRAM for name, bytes_ in BYTES_OF_VALUES.items()}
    with contextlib.ExitStack() as stack:
        slow = [stack.enter_context(read_group([disk_of(folder)], options.rate * 10**6))] if options.rate else []
        groups = {name: [stack.enter_context(memory_group(limit)), *slow] for name, limit in limits.items()}
        disk = add_edgewire(options, turns, files, limits["edgewire"], groups["edgewire"])
        differences = add_mapped_pull(options, turns, mapped / "graph.csr", groups["mapped pull"])
        missing = add_fio(options, turns, files, disk, slow)
        turns.run(lambda: forget(files, mapped, options.graph))
    for path in (files, mapped):
        shutil.rmtree(path)
    rows = [{"kernel": key[0], "program": key[1], "seconds": turns.of(key, "seconds"), "bytes_read": turns.of(key, "bytes_read"),
             "limit_bytes": None if key[1] == "edgewire, memory" else limits[key[1].split(",")[0]]}
            for kernel in options.kernels for key in turns.measured if key[0] == kernel]
    rates = [figures["disk"]["limit_bytes_per_second"] for key, runs in turns.measured.items() if key[1] == "edgewire, disk"
             for figures in runs]
    return {"rows": rows, "difference": differences, "block_bytes": disk["block_bytes"], "depth": disk["depth"],
            "fio_bytes_per_second": turns.of(("reads", "fio"), "bytes_per_second"),
            "edgewire_bytes_per_second": spread(rates) if rates else None}, missing | turns.names_of_missing()


def beside_blaze(graph_edges, found):
    """Edges for each byte that the disk could have given meanwhile, for both."""
    bandwidth = found["fio_bytes_per_second"] or found["edgewire_bytes_per_second"]
    rows = []
    for row in found["rows"]:
        if row["program"] == "edgewire, disk" and row["kernel"] in BLAZE:
            edges, seconds = BLAZE[row["kernel"]]
            theirs = edges / (seconds * BLAZE_BYTES_PER_SECOND)
            ours = graph_edges / (row["seconds"]["median"] * bandwidth["median"])
            rows.append({"kernel": row["kernel"], "blaze": theirs, "edgewire": ours, "ratio": ours / theirs, "wanted": WANTED[row["kernel"]]})
    return rows


@contextlib.contextmanager
def loop_device(folder, name, bytes_):
    """A file system on a loop device over a sparse file of that size: its folder, and `major:minor` of the device. Raises Failed without
    root."""
    image, place = folder / f"{name}.img", folder / name
    place.mkdir()
    with open(image, "wb") as file:
        file.truncate(bytes_)
    with contextlib.ExitStack() as undo:
        undo.callback(image.unlink)
        run(["mkfs.ext4", "-q", "-F", "-m", 0, "-O", "^has_journal", image])
        try:
            device = run(["losetup", "--find", "--show", "--direct-io=on", image]).strip()
        except Failed:  # not all file systems can; pages of the image are in the page cache then, behind the throttle
            device = run(["losetup", "--find", "--show", image]).strip()
        undo.callback(run, ["losetup", "--detach", device])
        run(["mount", device, place])
        undo.callback(run, ["umount", place])
        number = os.stat(device).st_rdev
        yield place, f"{os.major(number)}:{os.minor(number)}"


def bytes_of_device(device):
    """That were read since it is there."""
    return int(pathlib.Path(f"/sys/dev/block/{device}/stat").read_text().split()[2]) * 512


def on_two(options, kernel, folders, devices, group):
    """The figures of a run, with `by_device`: the bytes that the kernel read from each. A device counts all reads. Of them it takes the
    files that are not edges, which a run reads once, and the reads that measure the rate at its end, the same from each device."""
    before = [bytes_of_device(device) for device in devices]
    figures = edgewire(options, kernel, *on_disk(kernel, *folders), groups=[group])
    counted = [bytes_of_device(device) - bytes_ for device, bytes_ in zip(devices, before)]
    edges = [bytes_ - sum(file.stat().st_size for file in folder.iterdir() if "-disk-" not in file.name)
             for bytes_, folder in zip(counted, folders)]
    rate = (sum(edges) - figures["disk"]["bytes_read"]) / len(edges)
    return {**figures, "by_device": [bytes_ - rate for bytes_ in edges]}


def two_devices(options, folder, edges):
    """How much faster PageRank is on two devices, and how even the bytes are that BFS and WCC read from each."""
    turns = Turns(options.rounds)
    with contextlib.ExitStack() as stack:
        (first, one), (second, other) = (stack.enter_context(loop_device(folder, name, 16 * edges + (256 << 20))) for name in "ab")
        group = stack.enter_context(read_group([one, other], options.device_rate * 10**6))
        runs = {("pagerank", "1 device"): [first / "alone"]}
        runs |= {(kernel, "2 devices"): [first / kernel, second / kernel] for kernel in ("pagerank", "bfs", "wcc")}
        for key, folders in runs.items():
            for path in folders:
                path.mkdir()
            edgewire(options, key[0], *on_disk(key[0], *folders))
            turns.add(key, lambda key=key, folders=folders: on_two(options, key[0], folders, [one, other], group))
        turns.run(lambda: forget(first, second, options.graph))
    if turns.missing:
        raise Failed("; ".join(f"{name}: {reason}" for name, reason in turns.names_of_missing().items()))
    seconds = {key: turns.of(key, "seconds") for key in turns.measured}
    differences = {kernel: spread([1 - min(bytes_) / max(bytes_) for bytes_ in (one["by_device"] for one in turns.measured[kernel, "2 devices"])])
                   for kernel in ("bfs", "wcc")}
    return {"bytes_per_second_of_each": options.device_rate * 10**6, "seconds_of_one": seconds["pagerank", "1 device"],
            "seconds_of_two": seconds["pagerank", "2 devices"],
            "ratio": seconds["pagerank", "1 device"]["median"] / seconds["pagerank", "2 devices"]["median"], "differences": differences}


def print_all(options, found, missing):
    megabytes = lambda bytes_: "-" if bytes_ is None else f"{bytes_ / 1e6:.0f}"
    print(f"machine: {machine_line(found['machine'])}\ngraph: {options.graph.name}, {found['vertices']} vertices, {found['edges']} edges; "
          f"{options.threads} workers or threads, {options.rounds} rounds; median [min to max]\n"
          f"limit of memory: a quarter of the edges' {4 * found['edges'] / 1e6:.0f} MB, {BYTES_OF_PROGRAM >> 20} MiB, and values, in bytes a "
          "vertex: " + ", ".join(f"{name} {bytes_}" for name, bytes_ in BYTES_OF_VALUES.items()))
    for name, rate in (("fio", found["fio_bytes_per_second"]), ("edgewire's own measurement", found["edgewire_bytes_per_second"])):
        if rate:
            print(f"the disk gives {to_text(rate, 1e-9, 3)} GB/s to {name}, reads of {found['block_bytes'] >> 10} KiB, {found['depth']} under way")
    ours = {row["kernel"]: row["seconds"]["median"] for row in found["rows"] if row["program"] == "edgewire, disk"}
    print("\nseconds of a pass (pagerank, spmv) or of the whole kernel")
    fio_rate = found["fio_bytes_per_second"] and found["fio_bytes_per_second"]["median"]
    share = lambda row: f"{100 * row['bytes_read']['median'] / row['seconds']['median'] / fio_rate:.0f}" if fio_rate else "-"
    print_table(["kernel", "program", "limit MB", "seconds", "MB read", "% of fio", "x edgewire, disk"],
                [[row["kernel"], row["program"], megabytes(row["limit_bytes"]), to_text(row["seconds"], digits=3),
                  megabytes(row["bytes_read"]["median"]), share(row), f"{row['seconds']['median'] / ours[row['kernel']]:.2f}" if row["kernel"] in ours else "-"]
                 for row in found["rows"]])
    print("\nedges for each byte that the disk could have given in that time; Blaze's figures are published ones")
    print_table(["kernel", "Blaze", "edgewire", "ratio", "wanted"], [[row["kernel"], f"{row['blaze']:.3f}", f"{row['edgewire']:.3f}",
                                                                   f"{row['ratio']:.2f}", f"{row['wanted']}"] for row in found["blaze"]])
    if two := found.get("two_devices"):
        print(f"\ntwo devices of {options.device_rate} MB/s each: pagerank {to_text(two['seconds_of_one'], digits=3)} s a pass on one, "
              f"{to_text(two['seconds_of_two'], digits=3)} s on both: {two['ratio']:.2f} times as fast (wanted: {WANTED_OF_TWO_DEVICES})")
        for kernel, difference in two["differences"].items():
            print(f"{kernel}: bytes from the two differ by {to_text(difference, 100)} % (wanted: {WANTED_DIFFERENCE:.0%} at most)")
    for what, reason in missing.items():
        print(f"missing {what}: {reason}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", metavar="DIR")
    parser.add_argument("--scale", type=int, default=22, help="of the Kronecker graph, edges both ways, none twice (default: 22)")
    parser.add_argument("--cache", type=pathlib.Path, metavar="DIR", help="of the graph file (default: BUILD/bench-graphs)")
    parser.add_argument("--folder", type=pathlib.Path, metavar="DIR", help="on the disk to measure (default: BUILD)")
    parser.add_argument("--kernels", nargs="+", choices=KERNELS, default=KERNELS)
    parser.add_argument("--iterations", type=int, default=10, help="of pagerank; spmv has at most 5 (default: 10)")
    parser.add_argument("--source", type=int, default=1, help="of bfs and bc (default: 1)")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rate", type=int, default=0, metavar="MB/s", help="of the disk; 0: as fast as it is (default: 0)")
    parser.add_argument("--device-rate", type=int, default=200, metavar="MB/s", help="of each of two devices; 0: leave them out (default: 200)")
    parser.add_argument("--fio-seconds", type=int, default=2, help="that fio reads in each round (default: 2)")
    parser.add_argument("--timeout", type=float, default=1800, metavar="S", help="for one run (default: 1800)")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.mapped_pull = options.build / "perf/bench/mapped_pull"
    if not options.mapped_pull.exists():
        raise Failed(f"{options.mapped_pull} is not there (make build-bench builds it)")
    options.graph = (options.cache or options.build / "bench-graphs").resolve() / f"kronecker-{options.scale}-both-ways.ew"
    if not options.graph.exists():
        options.graph.parent.mkdir(parents=True, exist_ok=True)
        run([options.build / "edgewire", "generate", "kronecker", "--scale", options.scale, "--simple", "--undirected", "-o", options.graph])
    info = json.loads(run([options.build / "edgewire", "info", options.graph, "--json", "-"]))
    found = {"machine": machine(), "graph": str(options.graph), "vertices": info["vertices"], "edges": info["edges"]}
    with tempfile.TemporaryDirectory(dir=(options.folder or options.build).resolve(), prefix="disk-") as folder:
        figures, missing = one_disk(options, pathlib.Path(folder), found["vertices"], found["edges"])
        found |= figures | {"blaze": beside_blaze(found["edges"], figures)}
        if options.device_rate:
            try:
                found["two_devices"] = two_devices(options, pathlib.Path(folder), found["edges"])
            except Failed as error:
                missing["two devices"] = str(error)
    print_all(options, found, missing)
    if options.json:
        options.json.write_text(json.dumps({**found, "missing": missing}, indent=2) + "\n")


if __name__ == "__main__":
    run_script(main)
