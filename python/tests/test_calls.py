"""What all calls have in common: options, errors, progress, interrupts, threads."""

import os
import re
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest

import edgewire as ew


def run_script(text, **options):
    return subprocess.run([sys.executable, "-c", textwrap.dedent(text)], capture_output=True, text=True, timeout=120, **options)


def test_usage_errors_are_errors():
    assert issubclass(ew.UsageError, ew.Error) and issubclass(ew.Error, Exception)


def test_nothing_is_printed(random_graph, capfd):
    ew.pagerank(random_graph[0], processes=2)
    with pytest.raises(ew.Error):
        ew.sssp(random_graph[0], 0)
    assert capfd.readouterr() == ("", "")


def test_progress_is_told(random_graph):
    told = []

    def tell(*step):
        told.append(step)
        if step[0] == "iterations" or step[3] == "iterations":
            raise StopIteration

    with pytest.raises(StopIteration):
        ew.pagerank(random_graph[0], workers=1, iterations=2_000_000_000, progress=tell)
    assert all(0 <= done <= total or total == 0 for _, done, total, _ in told)


def test_what_a_progress_function_throws_ends_the_call(random_graph):
    def stop(*_):
        raise KeyError("enough")

    with pytest.raises(KeyError, match="enough"):
        ew.pagerank(random_graph[0], iterations=2_000_000_000, progress=stop)


def test_progress_words(random_graph):
    assert len(ew.wcc(random_graph[0], progress=True)) == 200
    assert len(ew.wcc(random_graph[0], progress=False)) == 200


ENDLESS = """
    import edgewire as ew, numpy as np, sys
    src, dst = np.random.default_rng(1).integers(0, 1000, (2, 20000))
    g = ew.Graph.from_numpy(src, dst)
    print("ready", flush=True)
    try:
        ew.pagerank(g, iterations=2_000_000_000, processes={processes})
    except KeyboardInterrupt:
        print("interrupted", flush=True)
"""


@pytest.mark.parametrize("processes", [1, 3])
def test_an_interrupt_ends_the_call_and_all_of_its_processes(processes):
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(ENDLESS.format(processes=processes))], stdout=subprocess.PIPE,
                          text=True) as script:
        assert script.stdout.readline() == "ready\n"
        while not children(script.pid):
            os.sched_yield()
        before = descendants(script.pid)
        script.send_signal(signal.SIGINT)
        assert script.stdout.readline() == "interrupted\n"
        script.wait(60)
    assert script.returncode == 0 and not [pid for pid in before if is_running(pid)]


def test_the_end_of_python_ends_the_call():
    with subprocess.Popen([sys.executable, "-c", textwrap.dedent(ENDLESS.format(processes=2))], stdout=subprocess.PIPE,
                          text=True) as script:
        assert script.stdout.readline() == "ready\n"
        while len(descendants(script.pid)) < 3:
            os.sched_yield()
        started = descendants(script.pid)
        script.kill()
        script.wait(60)
    while any(is_running(pid) for pid in started):  # the system tells them; a test that waits in vain is stopped from outside
        os.sched_yield()


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [int(word) for word in file.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def descendants(pid):
    return [one for child in children(pid) for one in [child, *descendants(child)]]


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_a_killed_process_is_an_error():
    done = run_script("""
        import edgewire as ew, numpy as np, os, signal, threading
        src, dst = np.random.default_rng(1).integers(0, 1000, (2, 20000))
        g = ew.Graph.from_numpy(src, dst)
        def kill(*_):
            with open(f"/proc/{os.getpid()}/task/{os.getpid()}/children") as file:
                os.kill(int(file.read().split()[0]), signal.SIGKILL)
        try:
            ew.pagerank(g, iterations=2_000_000_000, progress=kill)
        except ew.Error as error:
            print(error)
    """)
    assert "was ended by signal Killed" in done.stdout, done


def test_other_threads_run_meanwhile(random_graph):
    """The interpreter is free while a call waits."""
    graph, going, count = random_graph[0], threading.Event(), 0

    def call():
        ew.pagerank(graph, workers=1, iterations=30_000)
        going.set()

    thread = threading.Thread(target=call)
    thread.start()
    while not going.is_set():
        count += 1
    thread.join()
    assert count > 1000


def test_calls_in_several_threads(random_graph):
    graph, results = random_graph[0], [None] * 6

    def call(i):
        results[i] = ew.bfs(graph, i)

    threads = [threading.Thread(target=call, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(6):
        assert np.array_equal(results[i], ew.bfs(graph, i))


def test_a_call_after_numpy_has_started_threads(random_graph):
    a = np.ones((400, 400))
    assert (a @ a)[0, 0] == 400 and len(ew.pagerank(random_graph[0], processes=2)) == 200


def test_a_daemon_thread_stays_in_its_call_when_python_ends():
    for _ in range(3):
        done = run_script("""
            import threading
            import edgewire as ew, numpy as np
            g, told = ew.Graph.from_numpy(*np.random.default_rng(1).integers(0, 1000, (2, 20000))), threading.Event()
            def endless():
                ew.pagerank(g, iterations=2_000_000_000, workers=1, progress=lambda *_: told.set())
            def many():
                while True:
                    ew.bfs(g, 0, workers=1)
            for work in (endless, many):
                threading.Thread(target=work, daemon=True).start()
            told.wait()
        """)
        assert (done.returncode, done.stderr) == (0, "")


def test_forked_processes_have_the_graph_and_leave_it_to_their_parent():
    done = run_script("""
        import gc, multiprocessing
        import edgewire as ew
        g, named = ew.Graph.from_numpy([0, 1], [1, 2]), ew.Graph.from_edges(["a"], ["b"])
        def work():
            global named
            assert ew.bfs(g, 0).tolist() == [0, 1, 2] and named.labels.tolist() == ["a", "b"]
            del named
            gc.collect()
        process = multiprocessing.get_context("fork").Process(target=work)
        process.start()
        process.join()
        print(process.exitcode, named.labels.tolist(), ew.wcc(named).tolist())
    """)
    assert done.stdout == "0 ['a', 'b'] [0, 0]\n", done


def test_mapped_arrays_that_others_change_give_a_graph_or_an_error(tmp_path):
    """Memory that processes share is not as it was when the call began."""
    edges = np.memmap(tmp_path / "edges", np.int64, "w+", shape=(2, 1 << 20))
    edges[:] = np.random.default_rng(1).integers(0, 1 << 16, edges.shape)
    done, random = threading.Event(), np.random.default_rng(2)

    def change():
        while not done.is_set():
            edges[random.integers(0, 2, 1000), random.integers(0, 1 << 20, 1000)] = random.integers(0, 1 << 17, 1000)

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for make in [ew.Graph.from_numpy, ew.Graph.from_edges] * 5:
            try:
                assert make(*edges).edges == 1 << 20
            except ew.Error as error:
                assert "have changed while they were read" in str(error)
    finally:
        done.set()
        thread.join()


SMALL_FILES = "resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))"
LIMITED = """
    import resource
    import edgewire as ew, numpy as np, pyarrow.dataset
    edges = np.random.default_rng(1).integers(0, 1000, (2, 1_000_000))
    {before}
    try:
        {call}
    except ew.Error as error:
        print(error)
"""


@pytest.mark.parametrize("before, call, says", [
    (SMALL_FILES, "ew.Graph.from_numpy(*edges)", "cannot write: .*: set TMPDIR to"),
    (SMALL_FILES, "ew.Graph.from_edges(*edges.astype(str))", "cannot write: .*: set TMPDIR to"),
    ("ew.Graph.from_numpy(*edges).to_pandas().to_parquet('e.parquet'); " + SMALL_FILES,
     "ew.read('e.parquet')", "^e.parquet: .*: File too large: set TMPDIR to"),
    ("import tempfile; tempfile.tempdir = '/no/such/folder'", "ew.Graph.from_numpy(*edges)",
     "^no folder for temporary files: No such .*: set TMPDIR"),
    ("resource.setrlimit(resource.RLIMIT_AS, (1 << 32, 1 << 32))", "ew.Graph.from_numpy(*edges, vertices=2**29)",
     r"not enough memory|needs about \d+ MB of memory, \d+ MB are available"),
], ids=["a graph", "names", "a table", "no folder", "memory"])
def test_what_the_system_lacks_is_said(tmp_path, before, call, says):
    done = run_script(LIMITED.format(before=before, call=call), cwd=tmp_path)
    assert done.returncode == 0 and re.search(says, done.stdout) and done.stdout.count("\n") == 1, done
