"""Makes calls that work and calls that fail, again and again, and says what is left of them: memory, objects, descriptors, mappings,
processes, threads and files. Memory is known in a build with the address sanitizer (tools/python-test --leaks), all else in any build.
An argument names a thing that is left on purpose, to see that it is found."""

import collections
import ctypes
import gc
import mmap
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref

PROCESS = ctypes.CDLL(None)  # where the sanitizer's functions are, in a build that has it
ROUNDS = 3
PATIENCE = 30  # tenths of a second, for threads and processes that are about to end


def lsan(function):
    return getattr(PROCESS, f"__lsan_{function}", lambda: 0)()


def descriptors():
    found = collections.Counter()
    for name in os.listdir("/proc/self/fd"):
        try:
            found[os.readlink(f"/proc/self/fd/{name}")] += 1
        except FileNotFoundError:
            pass  # that of the listing itself
    return found


def mappings():
    """Those that are shared, and those of our files."""
    with open("/proc/self/maps") as file:
        fields = [line.split(maxsplit=5) for line in file]
    return collections.Counter(line[-1].strip() for line in fields if line[1].endswith("s") or "/edgewire-" in line[-1])


def children():
    return collections.Counter(pid for task in pathlib.Path("/proc/self/task").iterdir() for pid in (task / "children").read_text().split())


def listed(folder, part=""):
    return collections.Counter(os.path.join(folder, name) for name in os.listdir(folder) if part in name)


def is_alive(thing):
    """Not one of the counters here, nor a reference to what is gone, which pandas keeps for a while."""
    return type(thing) is not collections.Counter and not (isinstance(thing, weakref.ref) and thing() is None)


def state(temporary):
    gc.collect()
    return {
        "descriptors": descriptors(), "mappings": mappings(), "processes": children(), "threads": listed("/proc/self/task"),
        "files": listed(temporary), "shared memory": listed("/dev/shm", "edgewire"),
        "objects": collections.Counter(type(each) for each in gc.get_objects() if is_alive(each))}


def left(before, after):
    """What there is more of after some rounds. Of objects, what each round has left: caches of libraries may grow once."""
    def named(counts):
        """With a sign in place of numbers, which differ in each round."""
        names = collections.Counter()
        for name, count in counts.items():
            names[re.sub(r"\d+", "#", str(name))] += count
        return names

    lines = []
    for kind in before:
        for name, more in (named(after[kind]) - named(before[kind])).items():
            if more >= (ROUNDS if kind == "objects" else 1):
                lines.append(f"left: {kind}: {more} x {name}")
    return lines


def round_of_calls(ew, np, graphs, calls):
    for call, _, _ in calls:
        try:
            call(graphs)
        except ew.Error:
            continue
        raise AssertionError("a bad input was taken")
    src, dst = np.random.default_rng(1).integers(0, 1000, (2, 20_000))
    graph = ew.Graph.from_numpy(src, dst, np.ones(20_000), labels=[f"v{i}" for i in range(1000)])
    for job in ({}, {"processes": 2}):
        for kernel in (ew.pagerank, ew.wcc, ew.scc, ew.lcc, ew.cdlp, ew.spmv, lambda g, **job: ew.bc(g, [0, 1], **job),
                       lambda g, **job: ew.tc(g, vertices=True, **job)):
            result = kernel(graph, workers=1, **job)
            assert len(result.to_frame()) == 1000 and result.report["vertices"] == 1000
        ew.bfs(graph, 0, **job), ew.sssp(graph, 0, **job), ew.pagerank(graph, personalization=[1, 2], **job)
    ew.bound(graph, processes=2).to_frame(), ew.profile(ew.wcc, graph).to_frame()
    graph.save(graphs.folder / "saved.csv"), graph.save(graphs.folder / "saved.ew")
    for again in (ew.read(graphs.folder / "saved.csv", "source", "target", labels=True), ew.Graph(graphs.folder / "saved.ew"),
                  graphs.read("e.parquet", "a", "b", "w"), ew.Graph.from_pandas(graph.to_pandas()), ew.Graph.from_arrow(graph.to_arrow()),
                  ew.Graph.from_scipy(graph.to_scipy()), ew.Graph.from_networkx(graph.to_networkx())):
        again.offsets, again.targets, again.weights, again.labels

    src, dst = np.random.default_rng(1).integers(0, 1 << 16, (2, 1 << 21))
    for call in (lambda **options: ew.pagerank(graph, iterations=2**31 - 1, **options),
                 lambda **options: ew.pagerank(graph, iterations=2**31 - 1, processes=2, **options),
                 lambda **options: ew.Graph.from_numpy(src, dst, **options)):
        stopped(call, interrupt, KeyboardInterrupt)
        stopped(call, fail, KeyError)


def interrupt(*_):
    os.kill(os.getpid(), signal.SIGINT)


def fail(*_):
    raise KeyError


def stopped(call, progress, error):
    """Until the call takes so long that it tells of its progress, and so is stopped."""
    while True:
        try:
            call(workers=1, progress=progress)
        except error:
            return


kept = []
PLANTS = {
    "memory": lambda: PROCESS.malloc(12345),
    "bytes": lambda: ctypes.pythonapi.Py_IncRef(ctypes.py_object(os.urandom(12345))),
    "objects": lambda: kept.append([]),
    "descriptors": lambda: os.open("/dev/null", os.O_RDONLY),
    "mappings": lambda: kept.append(mmap.mmap(-1, 4096)),
    "processes": lambda: kept.append(subprocess.Popen(["true"])),  # nobody waits for it
    "threads": lambda: threading.Thread(target=time.sleep, args=(3600,), daemon=True).start(),
    "files": lambda: tempfile.mkdtemp(),
    "shared memory": lambda: open(f"/dev/shm/edgewire-{os.getpid()}", "wb").close(),
}


def main(plant=None):
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job of a shell ignores it
    lsan("disable")  # what is allocated once, by libraries and for types, is no leak
    import numpy as np
    import pyarrow

    import bad_inputs
    import edgewire as ew

    pyarrow.set_cpu_count(1), pyarrow.set_io_thread_count(1)  # else a later round may start more threads than the first one

    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as temporary:
        tempfile.tempdir = os.environ["TMPDIR"] = temporary
        graphs = bad_inputs.Graphs(pathlib.Path(folder))

        def one_round():
            round_of_calls(ew, np, graphs, bad_inputs.CALLS)

        if not plant:
            one_round()
        before = state(temporary)
        lsan("enable")
        for _ in range(ROUNDS):
            PLANTS[plant]() if plant else one_round()
        for _ in range(1 if plant else PATIENCE):
            lines = left(before, state(temporary))
            if not lines:
                break
            time.sleep(0.1)
        # The sanitizer does not see what Python's local variables hold: there is nothing in them here but what others hold, too.
        if lsan("do_recoverable_leak_check"):
            lines.append("left: memory, see above")
    if plant == "shared memory":
        os.unlink(f"/dev/shm/edgewire-{os.getpid()}")
    print("\n".join(lines) or "nothing is left")
    return 1 if lines else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
