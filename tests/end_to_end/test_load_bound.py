"""edgewire bound --load: the bytes that sort and convert report, and times that follow from the rates given."""

import gzip
import json
import random
import re

import pytest

from job import check_schema

RATES = ("--disk-read-rate", "2G", "--disk-write-rate", "500M", "--core-rate", "100M")


def bound(edgewire, *arguments):
    return json.loads(edgewire.ok("bound", "--load", *arguments, "--json", "-"))


def report_of(edgewire, path, *arguments):
    edgewire.ok(*arguments, "--json", path)
    report = json.loads(path.read_text())
    check_schema(report, f"{arguments[0]}_report")
    return report


def near(found, expected, part):
    return abs(found - expected) <= part * expected


@pytest.fixture(scope="module")
def records(edgewire, tmp_path_factory):
    folder = tmp_path_factory.mktemp("records")
    edgewire.ok("generate", "records", "--bytes", "40M", "--keys", 65536, "--files", 3, "-o", folder)
    return sorted(folder.iterdir())


@pytest.mark.parametrize("processes, workers, memory", [(1, 1, "1G"), (1, 2, "24M"), (2, 1, "12M"), (3, 2, "64M")])
def test_a_sort_moves_the_bytes_that_were_foretold(edgewire, records, tmp_path, processes, workers, memory):
    options = ("-w", workers, "--memory", memory, "--partitions", 12)
    report = report_of(edgewire, tmp_path / "r.json", "sort", *records, "-o", tmp_path / "out", "-p", processes, *options)
    found = bound(edgewire, "sort", *records, "-p", processes, *options, *RATES)
    [row] = found["rows"]
    assert found["input_bytes"] == report["bytes_read"] and found["output_bytes"] == report["bytes_written"]
    few = 0.001  # records that are the same as where a part begins are counted, not kept
    assert near(row["bytes_spilled"], report["bytes_spilled"], few)
    assert abs(row["runs"] - report["runs"]) <= processes * workers  # workers do not get equally many records
    assert near(row["bytes_sent"], report["bytes_sent"], 0.01)  # nor do keys come in turns
    assert near(row["disk_bytes_read"], (report["bytes_read"] + report["bytes_spilled"]) / processes, few)
    assert near(row["disk_bytes_written"], (report["bytes_written"] + report["bytes_spilled"]) / processes, few)


def test_runs_that_are_merged_before_are_counted(edgewire, records, tmp_path):
    options = ("-w", 1, "--memory", "4600k", "--partitions", 1)
    report = report_of(edgewire, tmp_path / "r.json", "sort", *records, "-o", tmp_path / "out", *options)
    [row] = bound(edgewire, "sort", *records, "-p", 1, *options, *RATES)["rows"]
    assert report["bytes_spilled"] > 1.5 * report["bytes_read"]
    assert (row["bytes_spilled"], row["runs"]) == (report["bytes_spilled"], report["runs"])


@pytest.mark.parametrize("name, weight, options", [("g.el", "", ()), ("g.txt", " 7", ("--undirected",)), ("g.u32", "", ())])
def test_a_conversion_moves_the_bytes_that_were_foretold(edgewire, tmp_path, name, weight, options):
    drawn = random.Random(4)
    ends = [(drawn.randrange(20_000), drawn.randrange(20_000)) for _ in range(700_000)] + [(v, v + 1) for v in range(19_999)]
    if name == "g.u32":
        (tmp_path / name).write_bytes(b"".join(end.to_bytes(4, "little") for edge in ends for end in edge))
    else:
        (tmp_path / name).write_text("".join(f"{s} {t}{weight}\n" for s, t in ends))
    job = ("-w", 1, "--memory", "68M", *options)
    report = report_of(edgewire, tmp_path / "r.json", "convert", tmp_path / name, "-o", tmp_path / "g.ew", *job)
    assert report["bytes_spilled"] > 0
    guessed = bound(edgewire, "convert", tmp_path / name, "--vertices", 20_000, *job, *RATES)
    assert near(guessed["rows"][0]["bytes_spilled"], report["bytes_spilled"], 0.01)
    assert near(guessed["output_bytes"], report["bytes_written"], 0.01)
    told = bound(edgewire, "convert", tmp_path / name, "--vertices", 20_000, "--edges", len(ends), *job, *RATES)
    loops = sum(s == t for s, t in ends) if options else 0  # are stored once
    assert told["input_bytes"] == report["bytes_read"] and told["rows"][0]["runs"] == report["runs"]
    assert near(told["rows"][0]["bytes_spilled"], report["bytes_spilled"], 0 if not loops else 0.001)
    assert near(told["output_bytes"], report["bytes_written"], 0 if not loops else 0.001)


def test_conversions_in_memory_and_by_several_processes_report_what_they_moved(edgewire, tmp_path):
    edges = [(v % 1000, v * 7 % 1009) for v in range(20_000)]
    (tmp_path / "g.el").write_text("".join(f"{s} {t}\n" for s, t in edges))
    report = report_of(edgewire, tmp_path / "r.json", "convert", tmp_path / "g.el", "-o", tmp_path / "g.ew")
    assert (report["runs"], report["bytes_spilled"], report["bytes_sent"]) == (0, 0, 0) and "memory_bytes" not in report
    assert report["bytes_written"] == (tmp_path / "g.ew").stat().st_size and report["edges"] == 20_000
    report = report_of(edgewire, tmp_path / "r.json", "convert", tmp_path / "g.el", "-o", tmp_path / "g.ew", "-p", 2, "-w", 1)
    assert 0 < report["bytes_sent"] < 8 * 20_000 and report["processes"] == 2 and report["memory_bytes"] == 1 << 30
    assert report["transport"] == "shm" and len(report["placement"]) == 2 and report["peak_rss_bytes"] > 100_000
    alone = report_of(edgewire, tmp_path / "r.json", "convert", tmp_path / "g.el", "-o", tmp_path / "g.ew", "--memory", "256M", "-w", 1)
    assert (alone["processes"], alone["workers"], len(alone["placement"])) == (1, 1, 1)
    kernel = edgewire.ok("wcc", tmp_path / "g.ew", "-p", 2, "-w", 1, "--json", "-")
    common = {"processes", "workers", "transport", "peak_rss_bytes", "placement", "refused_connections", "refused_frames", "seconds_total", "version"}
    assert common <= report.keys() and common <= alone.keys() and common <= json.loads(kernel).keys()
    assert "--json reports on .ew files" in edgewire.refused("convert", tmp_path / "g.el", "-o", tmp_path / "out.el", "--json", "-", status=2)


@pytest.mark.parametrize("processes", [2, 3])
def test_processes_of_a_conversion_send_the_bytes_that_were_foretold(edgewire, tmp_path, processes):
    drawn = random.Random(5)
    (tmp_path / "g.el").write_text("".join(f"{drawn.randrange(20_000)} {drawn.randrange(20_000)}\n" for _ in range(400_000)))
    job = ("-w", 1, "-p", processes, "--memory", "80M")
    report = report_of(edgewire, tmp_path / "r.json", "convert", tmp_path / "g.el", "-o", tmp_path / "g.ew", *job)
    found = bound(edgewire, "convert", tmp_path / "g.el", "--parts", "--vertices", 20_000, "--edges", 400_000, *job, *RATES)
    [row] = found["rows"]
    assert row["machines"] == processes and near(row["bytes_sent"], report["bytes_sent"], 0.05)
    assert row["bytes_spilled"] == report["bytes_spilled"] == 0
    assert near(row["disk_bytes_read"] * processes, report["bytes_read"], 0.001)
    assert near(row["disk_bytes_written"] * processes, report["bytes_written"], 0.001)
    alone = bound(edgewire, "convert", tmp_path / "g.el", "--vertices", 20_000, "--edges", 400_000, *job, *RATES)
    assert alone["rows"][0]["machines"] == 1 and alone["rows"][0]["wire_bytes"] == 0 and not alone["parts"]


def test_loads_on_a_thousand_machines(edgewire):
    load = ("convert", "--parts", "--bytes", "10T", "--edges", "600G", "--vertices", "4G", "-p", "10,100,1000", "-w", 16, "--memory", "4G",
            "--rate", "1G,100G", *RATES)
    rows = bound(edgewire, *load)["rows"]
    assert [row["machines"] for row in rows] == [10, 100, 1000]
    for row in rows:
        # 2^32 ids in words of 32 bits, each told to all others in 8 bytes; hardly any word has no vertex.
        others = row["machines"] - 1
        assert near(row["id_bytes_sent"], 4e9 / 32 * 8 * others * row["machines"], 0.01)
        assert near(row["wire_bytes"] * row["machines"], row["bytes_sent"] + row["id_bytes_sent"], 0.08)  # headers
    slow, fast = rows[1]["at"]
    assert (slow["rate"], slow["limited_by"], fast["rate"], fast["limited_by"]) == ("1G", "wire", "100G", "disk")
    skewed = bound(edgewire, *load, "--largest-share", "3")
    assert skewed["largest_share"] == 3
    for row, even in zip(skewed["rows"][:2], rows):  # of a thousand machines, telling ids takes nearly all the time
        for at, same in zip(row["at"], even["at"]):
            assert 1.3 * same["seconds"] < at["seconds"] <= 3 * same["seconds"]


def test_times_follow_from_bytes_and_rates(edgewire):
    """10 machines: all is read and written twice; a wire that is slower than reading and writing runs delays both."""
    load = ("sort", "--bytes", "1T", "-w", 4, "--cores", 8)
    alone, row = bound(edgewire, *load, "-p", "1,10", "--memory", "16G", "--rate", "1G,10G", *RATES)["rows"]
    records = (1 << 40) // 100
    assert row["bytes_spilled"] == records * 100 and near(row["bytes_sent"], records * 90, 1e-6)
    share = records * 10
    while_sending = share / 2e9 + share / 500e6
    slow, fast = row["at"]
    wire = row["wire_bytes"] * 8 / 1e9
    assert row["wire_bytes"] > 0.9 * share and wire > while_sending
    assert (slow["limited_by"], fast["limited_by"]) == ("wire", "disk")
    assert near(slow["seconds"], wire + while_sending, 1e-6) and near(fast["seconds"], 2 * while_sending, 1e-6)
    assert alone["wire_bytes"] == 0 and near(alone["at"][0]["seconds"], 20 * while_sending, 1e-6)
    [slow_cores] = bound(edgewire, *load, "-p", 10, "--memory", "16G", *RATES[:4], "--core-rate", "1M")["rows"]
    for at in slow_cores["at"]:
        assert at["limited_by"] == "cores" and near(at["seconds"], share / 8e6, 1e-6)
    [roomy] = bound(edgewire, *load, "-p", 10, "--memory", "256G", "--rate", "100G", *RATES)["rows"]
    assert roomy["bytes_spilled"] == roomy["runs"] == 0
    sorting = 0.35 * share / 800e6  # 70 % of a core's time is before records are merged, half of that for sorting
    assert near(roomy["at"][0]["seconds"], share / 2e9 + sorting + share / 500e6, 1e-6)


@pytest.mark.parametrize("load", [("sort", "--bytes", "1G"), ("convert", "--bytes", "1G", "--edges", "60M"),
                                  ("convert", "--bytes", "1G", "--edges", "60M", "--weighted", "--memory", "100G")])
def test_rates_are_measured_where_none_are_given(edgewire, tmp_path, load):
    text = edgewire.ok("bound", "--load", *load, "-p", 1, "-w", 1, "--temp", tmp_path, "--json", tmp_path / "b.json")
    found = json.loads((tmp_path / "b.json").read_text())
    assert [path.name for path in tmp_path.iterdir()] == ["b.json"]
    for name in ("disk_read", "disk_write", "core"):
        assert found[f"{name}_bytes_per_second"] > 1e6
    shown, unit = re.search(r"reads ([0-9.]+) ([GMk])B/s", text).groups()
    rate = float(shown) * {"k": 1e3, "M": 1e6, "G": 1e9}[unit]
    assert rate == pytest.approx(found["disk_read_bytes_per_second"], rel=0.01) and "the load's time" in text


def test_what_makes_no_sense(edgewire, records, tmp_path):
    (tmp_path / "g.txt.gz").write_bytes(gzip.compress(b"0 1\n"))
    (tmp_path / "g.txt").write_text("0 1\n")
    text = tmp_path / "g.txt"
    for arguments, words in (
            (("--load", "sort"), "name input files, or give their size"), (("--load", "sort", text, "--bytes", "1G"), "name input files, or"),
            (("--load", "convert", "--bytes", "1G"), "(--edges)"), (("--load", "convert", tmp_path / "g.txt.gz"), "(--edges)"),
            (("--load", "convert", text, "--record", 8), "--record belongs to --load sort"), ((text, "--bytes", "1G"), "--bytes needs --load"),
            (("--load", "convert", text, "--rate", "1G"), "a machine for each process"), (("--load", "sort", "--bytes", "1G", "--parts"), "belongs to --load convert"),
            (("--load", "convert", text, "--largest-share", "2"), "a machine for each process"), (("--load", "sort", "--bytes", "1G", "--largest-share", "0.5"), "0.5"),
            (("--load", "sort", "--bytes", "1G", "--ownership", "hash"), "--ownership does not belong to --load"),
            (("--load", "sort", "--bytes", "1G", "--core-rate", "0"), "not above 0"), (("--load", "sort", "--bytes", "1G", "--edges", 5), "belongs to --load convert"),
            (("--load", "sort", "--bytes", "1G", "--memory", "1M", *RATES), "--memory: a process of 8 workers needs"),
            (("--load", "convert", "--bytes", "1T", "--edges", "60Z"), "cannot understand"), ((), "GRAPH is required"), ((text, text), "GRAPH: give only one")):
        assert words in edgewire.refused("bound", *arguments, status=2), arguments
    for arguments, words in ((("sort", text, "--record", 3), "no whole number of records"), (("sort", tmp_path), "it is a directory"),
                             (("convert", tmp_path / "none"), "No such file"), (("convert", "-"), ""),
                             (("sort", *records, "--temp", tmp_path / "none"), "No such file")):
        assert words in edgewire.refused("bound", "--load", *arguments), arguments
