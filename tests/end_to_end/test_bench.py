"""The benchmark scripts: that a small run works, and their arithmetic. How fast anything is, is not tested."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import types

import pytest

import rights

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.path.abspath(os.environ["EDGEWIRE"])).parent
sys.path[:0] = [str(ROOT / "perf/bench"), str(ROOT / "perf/peers"), str(ROOT / "perf")]

import compare  # noqa: E402
import graphx  # noqa: E402
import overhead  # noqa: E402
import posts  # noqa: E402
import runs  # noqa: E402


LIMIT_S = 600  # of a script, which runs many commands


def run(*command, **settings):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=LIMIT_S,
                          env=os.environ | settings)


@pytest.fixture(scope="module")
def bench():
    if not (BUILD / "perf/bench/memory_limits").exists():
        pytest.skip(f"{BUILD} is built without benchmarks (-Dbench=true)")


def test_small_runs(bench, tmp_path):
    result = run(ROOT / "perf/bench/runs.py", "--build", BUILD, "--smoke", "--rounds", 2, "--cache", tmp_path / "cache",
                 "--json", tmp_path / "table.json")
    assert result.returncode == 0, result.stderr
    table = json.loads((tmp_path / "table.json").read_text())
    assert table["machine"]["Model name"] in result.stdout
    assert [limit["threads"] for limit in table["limits"]] == [1, 2]
    assert all(figure > 0 for limit in table["limits"] for figure in limit.values())
    rows = {(row["graph"], row["configuration"]): row for row in table["rows"]}
    assert {"kronecker-10", "grid-32"} == {graph for graph, _ in rows}
    assert {"-p 1 -w 1", "-p 1 -w 2", "-p 2 -w 1 shm"} <= {configuration for _, configuration in rows}
    for row in rows.values():
        iteration = row["seconds_per_iteration"]
        assert 0 < iteration["min"] <= iteration["median"] <= iteration["max"]
        assert row["runs"] == 2 and row["tile_bytes_per_edge"] > 0 and row["peak_bytes_per_edge"] > 0
        assert row["edges_per_second"] == pytest.approx(row["edges"] / iteration["median"])
    assert rows["grid-32", "-p 1 -w 1"]["edges"] == 4 * 32 * 31


@pytest.fixture(scope="module")
def small_overhead():
    """What a small run of the script prints."""
    result = run(ROOT / "perf/bench/overhead.py", "--build", BUILD, "--smoke")
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_small_rings(bench):
    result = run(ROOT / "perf/bench/rings.py", "--build", BUILD, "--rings-only", "--rounds", 1, "--mebibytes", 1)
    assert result.returncode == 0, result.stderr
    rows = [line.split("|")[1:3] for line in result.stdout.splitlines()[2:]]
    assert [[cell.strip() for cell in row] for row in rows] == [
        [f"rings, {name}", size] for name in ("shm", "tcp") for size in ("8", "16", "64")]


def test_small_orders(bench, tmp_path):
    """The program itself compares the sums of each order with those of a plain loop."""
    graph = tmp_path / "g.ew"
    made = run(os.environ["EDGEWIRE"], "generate", "kronecker", "--scale", 17, "--edge-factor", 8, "-o", graph)
    assert made.returncode == 0, made.stderr
    program = BUILD / "perf/bench/order_bench"
    for settings, edges in ({"EDGEWIRE_BENCH_GRAPH": str(graph)}, 8 << 17), ({"EDGEWIRE_BENCH_SCALE": "11"}, 16 << 11):
        result = run(program, **settings, EDGEWIRE_BENCH_SWEEPS="2")
        assert result.returncode == 0, result.stderr
        assert re.findall(r"(\d+) edges, (\d) worker", result.stdout) == [(str(edges), "1"), (str(edges), "2")]
        for table in result.stdout.split("edges a source of a cell")[1:]:
            shares = {float(low): float(share) for low, share in re.findall(r"^from (\S+) +\d+ +(\S+)$", table, re.M)}
            assert len(shares) == 7 and sum(shares.values()) == pytest.approx(1, abs=0.005)  # all edges are in some cell
            rows = re.findall(r"^(strips|hilbert|bins) +(\S+) +(\S+) +\S+ +\S+ +(\S+) +(\S+)$", table, re.M)
            assert [row[0] for row in rows] == ["strips", "hilbert", "bins"] and rows[0][4] == "1.000"
            assert all(0 < float(least) <= float(median) for _, median, least, _, _ in rows)
            strips, hilbert, bins = (float(row[3]) for row in rows)
            assert hilbert == strips  # bytes
            assert (bins > strips) == (sum(share for low, share in shares.items() if low < 0.25) > 0)


def test_orders_refuse_settings(bench, tmp_path):
    empty = tmp_path / "empty.ew"
    (tmp_path / "empty.txt").write_text("")
    made = run(os.environ["EDGEWIRE"], "convert", tmp_path / "empty.txt", "-o", empty, "--allow-empty")
    assert made.returncode == 0, made.stderr
    program = BUILD / "perf/bench/order_bench"
    for name, value, why in (("GROUP", "x", "EDGEWIRE_BENCH_GROUP takes numbers from 1 to 1024: x"),
                             ("SWEEPS", "0", "EDGEWIRE_BENCH_SWEEPS takes numbers from 1 to 1024: 0"),
                             ("WORKERS", "1 2.5", "EDGEWIRE_BENCH_WORKERS takes numbers from 1 to 1024: 1 2.5"),
                             ("SCALE", "32", "EDGEWIRE_BENCH_SCALE takes numbers from 1 to 31: 32"),
                             ("SHAPE", "ring", "no such shape: ring"),
                             ("GRAPH", "/no/such.ew", "/no/such.ew: cannot read: No such file or directory"),
                             ("GRAPH", str(empty), "the graph has no edges")):
        result = run(program, **{"EDGEWIRE_BENCH_SCALE": "8", f"EDGEWIRE_BENCH_{name}": value})
        assert (result.returncode, result.stderr) == (1, f"order_bench: {why}\n")


def test_small_overhead(bench, small_overhead):
    table = re.findall(r"^ *(\d \d (?:shm|tcp)(?:, \S+ % burnt)?) +(\S+) +(\d+) +([+-]\S+) ", small_overhead, re.MULTILINE)
    assert [setting.partition(", ")[0] for setting, *_ in table] == ["1 1 shm", *overhead.SETTINGS], small_overhead
    assert table[0][0].endswith("% burnt")
    for _, iteration_ms, ratios, cpu in table:
        assert float(iteration_ms) > 0 and int(ratios) == overhead.SMALLEST // 2 - 1 and float(cpu) > -100


def test_who_is_not_profiled_tells_nobody_anything(small_overhead):
    if not shutil.which("valgrind"):
        pytest.skip("no valgrind here (apt-get install valgrind)")
    told = dict(re.findall(r"^instructions, .*, (not profiled|profiled): .* loop, ([\d,]+) of them tell", small_overhead, re.MULTILINE))
    assert told["not profiled"] == "0" and int(told["profiled"].replace(",", "")) > 0, small_overhead


def test_overhead_arithmetic():
    # Iterations with and without profiling take turns; every second one that is told reads counters.
    times = [10, 11, 10, 14, 12, 12.24, 12, 14, 10, 10.1, 10]
    counted = [0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0]
    borders = {name: [sum(values[:i]) for i in range(len(values) + 1)]
               for name, values in (("cpu", times), ("counted", counted))}
    ratios = overhead.ratios_of([borders, borders], "cpu")
    assert ratios == [pytest.approx(pair) for pair in (
        (1.1, True), (14 / 11, False), (1.02, True), (14 / 11, False), (1.01, True))]
    assert overhead.medians(ratios) == pytest.approx((3 * 1.02 + 2 * 14 / 11) / 5)
    assert overhead.interval([(1.5, False)] * 9) == (1.5, 1.5)


def test_small_comparison(bench, tmp_path):
    result = run(ROOT / "perf/peers/compare.py", "--build", BUILD, "--scale", 8, "--rounds", 1, "--peers", "pull",
                 "--cache", tmp_path / "cache", "--json", tmp_path / "table.json")
    assert result.returncode == 0, result.stderr
    table = json.loads((tmp_path / "table.json").read_text())
    assert table["missing"] == {}
    assert {(row["peer"], row["threads"]) for row in table["rows"]} == {
        (peer, threads) for peer in ("edgewire", "pull") for threads in (1, 2)}
    for row in table["rows"]:
        assert row["ratio"] > 0 and row["seconds_per_iteration"]["median"] > 0
        assert (row["difference"] is None) == (row["peer"] == "edgewire")
        assert row["difference"] is None or row["difference"] < 1e-6


def test_a_peer_that_fails_is_named(bench, tmp_path):
    peers = [compare.Peer("silent", ["true"]), compare.Peer("absent", [tmp_path / "none"])]
    options = types.SimpleNamespace(rounds=2, threads=[1], iterations=20, timeout=60, graph=tmp_path / "g.ew")
    program = compare.Edgewire(BUILD / "edgewire")
    assert run(program.program, "generate", "kronecker", "--scale", 6, "-o", options.graph).returncode == 0
    missing = {}
    rows = compare.compare(options, program, peers, missing)
    assert [row["peer"] for row in rows] == ["edgewire"]
    assert "no figures" in missing["silent", 1] and "No such file" in missing["absent", 1]


def test_iterations_of_graphx():
    options = types.SimpleNamespace(iterations=6)
    said = "Spark session available\nfigure edges 30.0\nfigure mean 1.0\nfigure runs 2.5 12.5 100 600\n"
    assert graphx.iteration(options, said, 30) == (2, 100)
    for text, named in ((said.replace("runs", "stops"), "no figures"), ("", "no output"), (said.replace("30.0", "29"), "29 edges, not 30")):
        with pytest.raises(graphx.Failed, match=named):
            graphx.iteration(options, text, 30)


def test_spark_that_does_not_start_is_named(edgewire, tmp_path):
    graph = tmp_path / "g.ew"
    edgewire.ok("generate", "kronecker", "--scale", 4, "-o", graph)
    shell = tmp_path / "pyspark/bin/spark-shell"
    shell.parent.mkdir(parents=True)
    shell.write_text("#!/bin/sh\necho 'JAVA_HOME is not set' >&2\nexit 1\n")
    shell.chmod(0o755)
    result = run(ROOT / "perf/peers/graphx.py", graph, "--build", BUILD, "--spark", tmp_path, "--rates")
    assert result.returncode == 1 and result.stderr == "graphx.py: JAVA_HOME is not set\n"


def test_what_the_posts_lack_is_measured_in_few_calls():
    options = types.SimpleNamespace(rates=["1G", "10G"], strategies=["edge", "slots"], ownerships=["hash", "grid"])
    possible = [("edge", "hash"), ("slots", "hash"), ("slots", "grid")]
    cells = [(rate, *pair) for rate in options.rates for pair in possible]
    assert posts.plan(cells, possible, options) == [[["1G", "10G"], ["edge", "slots"], ["hash", "grid"]]]
    for present in range(1, len(cells)):
        for missing in (cells[present:], cells[:present], cells[present:] + cells[:present - 1]):
            asked = [(rate, strategy, ownership) for rates, strategies, ownerships in posts.plan(missing, possible, options)
                     for rate in rates for ownership in ownerships for strategy in strategies if (strategy, ownership) in possible]
            assert sorted(asked) == sorted(missing)  # each once, and no other


def test_the_table_of_the_posts_goes_on(tmp_path):
    need("ip", "tc")
    graph, kept = tmp_path / "g.ew", tmp_path / "kept.json"
    assert run(BUILD / "edgewire", "generate", "kronecker", "--scale", 8, "-o", graph).returncode == 0
    command = [ROOT / "perf/posts.py", "--build", BUILD, "--graphs", graph, "--hosts", 2, "--rates", "100M", "--strategies", "edge", "slots",
               "--iterations", 2, "--results", kept, "--ownerships"]
    first = run(*command, "hash", "--repeat", 1)
    assert first.returncode == 0 and "round 1 of 1: 2 cells" in first.stderr, first.stderr
    more = run(*command, "hash", "grid", "--repeat", 1)
    assert more.returncode == 0 and "round 1 of 1: 1 cells" in more.stderr, more.stderr
    before = kept.read_text()
    assert before.count('"seconds": [') == 3
    again = run(*command, "hash", "grid", "--repeat", 1)
    assert again.returncode == 0 and again.stderr == "" and kept.read_text() == before
    rows = [line.split("|")[2:] for line in again.stdout.splitlines() if line.startswith("| 100M")]
    cells = json.loads(before)["cells"]
    assert [row[0].strip(" `") for row in rows] == ["edge", "slots"]
    for row in rows:
        for ownership, text in zip(("hash", "grid"), row[2:]):
            cell = cells.get(f"{graph}|2|100M|{row[0].strip(' `')}|{ownership}|1|2")
            assert text.strip() == ("-" if cell is None else posts.cell_text(cell)) and (cell is None) == ((row[0], ownership) == (" `edge` ", "grid"))
    kept.write_text("[]")
    result = run(*command, "hash")
    assert result.returncode == 1 and "holds no results" in result.stderr and len(result.stderr.splitlines()) == 1


def table_of(script, folder, *options):
    """What a script's smallest run writes."""
    table = folder / "table.json"
    result = run(ROOT / "perf/bench" / script, "--build", BUILD, "--rounds", 1, *options, "--json", table)
    assert result.returncode == 0, result.stderr
    return json.loads(table.read_text()), result.stdout


def need(*programs):
    rights.need_hosts()
    for program in programs:
        if not shutil.which(program):
            pytest.skip(f"{program} is not installed")


@pytest.mark.slow
@pytest.mark.links
def test_small_links(tmp_path):
    need("iperf3", "ip")
    table, said = table_of("links.py", tmp_path, "--rates", "1G", "--sizes", "128k", "--seconds", 1)
    assert [row["program"] for row in table["rows"]] == ["iperf3", "edgewire 128k"] and "of iperf3" in said
    assert all(row[figure]["median"] > 0 for row in table["rows"] for figure in ("bits_per_second", "ratio", "cores_per_10_gbit"))


@pytest.mark.slow
@pytest.mark.dpdk
@pytest.mark.links
def test_small_frames(tmp_path):
    need("dpdk-testpmd", "ip", "chrt")
    if "no dpdk backend" in run(BUILD / "edgewire", "transports").stdout:
        pytest.skip("this build has no dpdk backend")
    table, said = table_of("frames.py", tmp_path, "--sizes", "64k", "--seconds", 2)
    assert "of testpmd" in said
    assert all(one["testpmd"] > 0 and one["64k"]["bits"] > 0 for one in table["rounds"])


@pytest.mark.slow
@pytest.mark.machine
def test_small_rdma(tmp_path):
    if not shutil.which("ib_write_bw"):
        pytest.skip("ib_write_bw is not installed")
    table, said = table_of("rdma.py", tmp_path, "--devices", "rxe0", "--address", "10.8.0.1", "--sizes", 65536, "--seconds", 0.1)
    assert "of ib_write_bw" in said
    assert all(bits > 0 for one in table["sizes"]["65536"] for bits in one.values())


def test_row_arithmetic():
    report = {"vertices": 10, "edges": 1000, "transport": "shm", "tile_bytes": 2500, "seconds_load": 1.0,
              "seconds_plan": 3.0, "peak_rss_bytes": 3000, "checksum": "00"}
    reports = [{**report, "seconds_per_iteration": seconds} for seconds in (0.5, 0.1, 0.2)]
    limits = [{"threads": 1, "stream_bytes_per_second": 5e4, "gathers_per_second_l2": 1e4},
              {"threads": 2, "stream_bytes_per_second": 1e5, "gathers_per_second_l2": 2e4}]
    row = runs.summarize(runs.Graph("g", ()), "given", runs.Configuration(2, 1), reports, limits)
    assert row["seconds_per_iteration"] == {"median": 0.2, "min": 0.1, "max": 0.5}
    assert row["edges_per_second"] == pytest.approx(5000)
    assert row["tile_bytes_per_edge"] == 2.5
    assert row["fraction_of_limit"] == pytest.approx({"stream": 0.125, "gather": 0.25})
    assert row["load_edges_per_second_per_core"] == pytest.approx(125)
    assert row["peak_bytes_per_edge"] == 6


def test_limits_are_the_best_seen():
    assert runs.best([{"threads": 1, "a": 3, "b": 4}], [{"threads": 1, "a": 5, "b": 2}]) == [
        {"threads": 1, "a": 5, "b": 4}]


@pytest.mark.parametrize("figures, seconds, how, whole", [
    ({"seconds": [9.0] * 10 + [1.0] * 10}, 1, "mean of the last 10", False),
    ({"seconds": [1.0, 3.0]}, 2, "mean of the last 2", False),
    ({"seconds_total": 8, "iterations": 4}, 2, "whole run / 4 iterations", False),
    ({"seconds_total": 8, "iterations": None}, 8, "whole solution, to its own tolerance", True),
])
def test_time_per_iteration_of_peers(figures, seconds, how, whole):
    assert compare.time_per_iteration(figures) == {"seconds_per_iteration": seconds, "how": how, "whole": whole}
