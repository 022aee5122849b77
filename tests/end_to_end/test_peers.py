"""The scripts that measure other programs use what is installed or what the user names, and say in one line what is missing."""

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PEERS = ROOT / "perf/peers"
BUILD = pathlib.Path(os.path.abspath(os.environ["EDGEWIRE"])).parent
SUITE = ("bfs", "sssp", "cc", "bc", "tc", "converter")


def run(script, *words, **environment):
    return subprocess.run([sys.executable, str(PEERS / script), *map(str, words)], capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, env={**os.environ, **environment})


def write_program(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def assert_fails(result, status, *named):
    assert result.returncode == status and len(result.stderr.splitlines()) == 1, result.stderr
    assert all(name in result.stderr for name in named), result.stderr


def test_no_script_knows_where_source_is():
    for path in [ROOT / "Makefile", *(ROOT / "perf").rglob("*"), *(ROOT / "tools").rglob("*")]:
        if path.suffix not in (".md", ".lock") and path.is_file() and not {"target", "__pycache__"} & set(path.parts):
            text = path.read_text(errors="replace")
            assert not any(word in text for word in ("https:", "http:", "git:", "git@", '"clone"', "git clone")), path


def test_a_suite_that_is_not_named_is_asked_for(tmp_path):
    assert_fails(run("gapbs.py", tmp_path / "g.ew", "--build", BUILD), 2, "--gapbs DIR")


def test_programs_that_a_suite_lacks_are_named(tmp_path):
    for name in SUITE[:3]:
        write_program(tmp_path / name, "false")
    (tmp_path / "bc").mkdir()
    (tmp_path / "tc").write_text("")
    assert_fails(run("gapbs.py", tmp_path / "g.ew", "--build", BUILD, "--gapbs", tmp_path), 1, f"no bc, tc, converter in {tmp_path}: ",
                 "--gapbs DIR")


def test_a_suite_that_is_there_is_measured(edgewire, tmp_path):
    graph, suite = tmp_path / "g.ew", tmp_path / "suite"
    edgewire.ok("generate", "grid", "--rows", 8, "--columns", 8, "-o", graph)
    write_program(suite / "bfs", "echo 'Trial Time:          0.50000'")
    write_program(suite / "cc", "echo out of memory >&2; exit 1")
    result = run("gapbs.py", graph, "--build", BUILD, "--gapbs", suite, "--kernels", "bfs", "wcc", "--threads", 1, "--rounds", 2,
                 "--json", tmp_path / "table.json")
    assert result.returncode == 0, result.stderr
    table = json.loads((tmp_path / "table.json").read_text())
    row, = table["rows"]
    assert row["kernel"] == "bfs" and row["gapbs"]["median"] == 0.5 and row["edgewire"]["min"] > 0
    assert table["missing"] == {"wcc 1": "out of memory"}
    assert sorted(path.name for path in suite.iterdir()) == ["bfs", "cc"]


def test_loading_is_measured_with_what_is_there(tmp_path):
    write_program(tmp_path / "suite/converter", "touch \"$4\"")
    result = run("loading.py", "--build", BUILD, "--gapbs", tmp_path / "suite", "--scale", 8, "--threads", 1, "--rounds", 2,
                 "--programs", "edgewire .el", "edgewire .txt", "gapbs", "--json", tmp_path / "table.json")
    assert result.returncode == 0, result.stderr
    table = json.loads((tmp_path / "table.json").read_text())
    assert [row["program"] for row in table["rows"]] == ["edgewire .el", "edgewire .txt", "gapbs"]
    assert table["edges"] == 20 << 8 and all(row["seconds"]["min"] > 0 for row in table["rows"])


def test_a_converter_that_is_not_named_is_asked_for(tmp_path):
    assert_fails(run("loading.py", "--build", BUILD, "--programs", "gapbs"), 1, "no gapbs: ", "--gapbs DIR")


def test_a_peer_that_is_asked_for_and_missing_is_named(tmp_path):
    result = run("compare.py", "--build", tmp_path, "--peers", "pull", "timely", PATH=str(tmp_path))
    assert result.returncode == 1
    said = result.stderr.splitlines()[-1]
    assert "pull is not there" in said and "needs cargo" in said


def test_spark_is_not_put_where_the_user_says_it_is(tmp_path):
    assert_fails(run("graphx.py", "g.ew", "--build", tmp_path, "--spark", tmp_path), 1, f"no bin/spark-shell in {tmp_path}", "pyspark")
    assert not any(tmp_path.iterdir())


def test_spark_without_java_is_not_installed(tmp_path):
    assert_fails(run("graphx.py", "g.ew", "--build", tmp_path, PATH=str(tmp_path), JAVA_HOME=""), 1, "Java", "apt-get install")
    assert not any(tmp_path.iterdir())


def test_records_are_sorted_beside_gnu_sort_where_there_is_no_spark(tmp_path):
    (tmp_path / "bin").mkdir()
    for name in ("sort", "lscpu", "env"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name))
    words = ["sort.py", "--build", BUILD, "--folder", tmp_path, "--bytes", "1M", "--memory", "64M", "--cores", 1, "--rounds", 2]
    result = run(*words, PATH=f"{tmp_path}/bin", JAVA_HOME="")
    assert result.returncode == 0, result.stderr
    if not (BUILD / "peers/pyspark").exists():
        assert "Spark sortBy is left out: Spark needs Java" in result.stderr
    rows = [line.split("  ")[0] for line in result.stdout.splitlines()]
    assert rows[2:5] == ["program", "edgewire sort", "GNU sort"] and os.listdir(tmp_path) == ["bin"]
    write_program(tmp_path / "other/sort", "for last; do :; done; while [ $1 != -o ]; do shift; done; cat $last > $2")
    result = run(*words, "--no-spark", PATH=f"{tmp_path}/other:{os.environ['PATH']}")
    assert result.returncode == 1 and "the result of GNU sort is not that of the others" in result.stderr, result.stderr


@pytest.mark.skipif(shutil.which("c++") is None, reason="no c++ here")
def test_mpi_that_is_missing_is_named(tmp_path):
    write_program(tmp_path / "bin/mpicxx", "echo no compiler >&2; exit 1")
    result = run("tasks.py", "--build", tmp_path, "--systems", "MPI", PATH=f"{tmp_path}/bin:{os.environ['PATH']}")
    assert_fails(result, 1, "mpicxx: no compiler", "libopenmpi-dev")


def test_a_system_that_nobody_knows_is_refused(tmp_path):
    result = run("tasks.py", "--build", tmp_path, "--systems", "Spark")
    assert result.returncode == 2 and "'Spark'" in result.stderr and not any(tmp_path.iterdir())
