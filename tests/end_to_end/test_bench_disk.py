"""perf/peers/disk.py: that a small run works and leaves nothing behind, and its arithmetic. How fast anything is, is not tested."""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import types

import pytest

import graphs
import reference

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.path.abspath(os.environ["EDGEWIRE"])).parent
MAPPED_PULL = BUILD / "perf/bench/mapped_pull"
sys.path[:0] = [str(ROOT / "perf/peers"), str(ROOT / "perf")]

import disk  # noqa: E402


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=600)


@pytest.fixture(scope="module")
def bench():
    if not MAPPED_PULL.exists():
        pytest.skip(f"{BUILD} is built without benchmarks (-Dbench=true)")


def small_run(folder, kernels, *words):
    """The table of a small run of these kernels, after checking what holds whatever it measures; and its output."""
    result = run(ROOT / "perf/peers/disk.py", "--build", BUILD, "--scale", 11, "--rounds", 1, "--iterations", 2, "--fio-seconds", 1, "--kernels",
                 *kernels, "--cache", folder / "cache", "--folder", folder, "--json", folder / "table.json", *words)
    if "no control group" in result.stderr:
        pytest.skip(result.stderr.strip())
    assert result.returncode == 0, result.stderr
    assert sorted(path.name for path in folder.iterdir()) == ["cache", "table.json"]
    table = json.loads((folder / "table.json").read_text())
    assert ("reads fio" in table["missing"]) == (shutil.which("fio") is None)
    check_rows(table, kernels)
    check_beside_blaze(table, kernels)
    return table, result.stdout


def check_rows(table, kernels):
    dense = {"pagerank", "spmv"} & set(kernels)
    assert {(row["kernel"], row["program"]) for row in table["rows"]} == {
        (kernel, f"edgewire, {place}") for kernel in kernels for place in ("disk", "memory")} | {
        (kernel, f"mapped pull, {advice}") for kernel in dense for advice in ("normal", "sequential")}
    for row in table["rows"]:
        assert row["seconds"]["median"] > 0
        if row["program"] == "edgewire, memory":
            assert row["limit_bytes"] is None and row["bytes_read"]["median"] == 0
        else:
            bytes_of_values = 20 if "pull" in row["program"] else 48
            assert row["limit_bytes"] == bytes_of_values * table["vertices"] + table["edges"] + (32 << 20)  # a quarter of 4 bytes an edge
    assert set(table["difference"]) == dense and all(difference < 1e-5 for difference in table["difference"].values())


def check_beside_blaze(table, kernels):
    """521 M edges both ways; PageRank by the 4-byte edges in 9.3 GB; a device of 1.42 GB/s."""
    published = {"spmv": 521e6 / 1.46 / 1.42e9, "wcc": 521e6 / 5.5 / 1.42e9, "bc": 521e6 / 7.4 / 1.42e9, "pagerank": 9.3e9 / 4 / 7.9 / 1.42e9}
    seconds = {row["kernel"]: row["seconds"]["median"] for row in table["rows"] if row["program"] == "edgewire, disk"}
    bandwidth = (table["fio_bytes_per_second"] or table["edgewire_bytes_per_second"])["median"]
    assert {row["kernel"] for row in table["blaze"]} == set(published) & set(kernels)
    for row in table["blaze"]:
        assert row["blaze"] == pytest.approx(published[row["kernel"]])
        assert row["edgewire"] == pytest.approx(table["edges"] / seconds[row["kernel"]] / bandwidth)
        assert row["ratio"] == pytest.approx(row["edgewire"] / row["blaze"])


def test_a_small_run(bench, tmp_path):
    table, _ = small_run(tmp_path, ["spmv", "wcc"], "--device-rate", 0)
    assert "two_devices" not in table and "two devices" not in table["missing"]


@pytest.mark.slow
def test_a_small_run_of_all(bench, tmp_path):
    table, said = small_run(tmp_path, ["pagerank", "spmv", "wcc", "bfs", "bc"])
    if "two devices" in table["missing"]:  # no root, no loop devices, or no limit of reads
        assert "missing two devices: " in said
    else:
        assert table["two_devices"]["ratio"] > 0 and set(table["two_devices"]["differences"]) == {"bfs", "wcc"}
    if shutil.which("losetup"):
        assert str(tmp_path) not in run("losetup", "--list", "--noheadings", "--output", "BACK-FILE").stdout


def test_bytes_of_a_device_are_those_of_the_kernel(monkeypatch, tmp_path):
    """1100 and 1000 bytes were read. 300 of the first are an index; of the other 1800, the kernel read 1200, and half of the rest came from each."""
    for name, bytes_ in (("a/rows", 300), ("a/rows-disk-0", 5000), ("b/rows-disk-1", 5000)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(b"x" * bytes_)
    counts = iter([50, 70, 1150, 1070])
    monkeypatch.setattr(disk, "bytes_of_device", lambda device: next(counts))
    monkeypatch.setattr(disk, "edgewire", lambda *words, groups: {"disk": {"bytes_read": 1200}})
    assert disk.on_two(None, "bfs", [tmp_path / "a", tmp_path / "b"], ["7:0", "7:1"], None)["by_device"] == [500, 700]


def test_values_that_are_not_edgewires_are_refused(bench, edgewire, tmp_path):
    graph = reference.write_graph(tmp_path / "g.ew", graphs.make("dangling"))
    options = types.SimpleNamespace(build=BUILD, graph=graph, iterations=3)
    for kernel in ("pagerank", "spmv"):
        file, values = tmp_path / "g.csr", tmp_path / "values"
        assert run(MAPPED_PULL, "write", graph, file).returncode == 0
        result = run(MAPPED_PULL, file, "--kernel", kernel, "--advice", "normal", "--threads", 2, "--iterations", 3, "--values", values)
        assert result.returncode == 0 and len(json.loads(result.stdout)["seconds"]) == 3
        assert disk.check_values(options, kernel, values, tmp_path) < 1e-5
        values.write_bytes(b"\0" * values.stat().st_size)
        with pytest.raises(disk.Failed, match="differ from edgewire's"):
            disk.check_values(options, kernel, values, tmp_path)


@pytest.mark.parametrize("change, why", [(lambda content: content[:-1], "is not a whole file of `mapped_pull write`"),
                                         (lambda content: b"x" * len(content), "is not a whole file of `mapped_pull write`"),
                                         (lambda content: b"", "is cut short")])
def test_a_damaged_file_is_not_mapped(bench, tmp_path, change, why):
    graph, file = reference.write_graph(tmp_path / "g.ew", graphs.make("star out")), tmp_path / "g.csr"
    assert run(MAPPED_PULL, "write", graph, file).returncode == 0
    file.write_bytes(change(file.read_bytes()))
    result = run(MAPPED_PULL, file, "--kernel", "spmv", "--advice", "normal", "--threads", 1, "--iterations", 1, "--values", tmp_path / "v")
    assert result.returncode == 1 and result.stderr == f"mapped_pull: {file} {why}\n"


def test_a_program_that_fails_is_named_and_left_out():
    turns = disk.Turns(2)
    runs = []

    def failing():
        runs.append("failing")
        raise disk.Failed("ended by SIGKILL")

    turns.add(("bfs", "failing"), failing)
    turns.add(("bfs", "good"), lambda: {"seconds": 1.0})
    turns.run(lambda: runs.append("before"))
    assert runs == ["before", "failing", "before", "before"] and turns.missing == {("bfs", "failing"): "ended by SIGKILL"}
    assert turns.of(("bfs", "good"), "seconds")["max"] == 1.0 and turns.of(("bfs", "failing"), "seconds") is None


def test_fio_that_is_missing_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    turns = disk.Turns(1)
    assert disk.add_fio(None, turns, tmp_path, {}, []) == {"reads fio": "fio is not here (apt-get install fio)"} and not turns.programs
