"""convert outwards: what other programs would read, read back here by readers of the test's own."""

import csv
import functools
import gzip
import os
import re
import shutil
import subprocess

import numpy as np
import pytest

import graphs
import reference
from disks import small_disk


@pytest.fixture
def edgewire(edgewire, tmp_path):
    """The program, run in tmp_path."""
    return functools.partial(edgewire, cwd=tmp_path)


def refused(result):
    """The line with which the program gave up."""
    assert result.returncode in (1, 2), result
    assert result.stdout == "" and result.stderr.count("\n") == 1, result
    return result.stderr.removeprefix("edgewire: ")[:-1]


def read_lines(path):
    return [line.split() for line in path.read_text().splitlines()]


def read_edge_list(path):
    lines = read_lines(path)
    return None, [(int(line[0]), int(line[1]), *map(float, line[2:])) for line in lines]


def read_mtx(path):
    lines = read_lines(path)
    assert lines[0][:3] == ["%%MatrixMarket", "matrix", "coordinate"] and lines[0][4] == "general"
    rows, columns, entries = map(int, lines[1])
    assert rows == columns and entries == len(lines) - 2
    assert {len(line) for line in lines[2:]} <= {2 if lines[0][3] == "pattern" else 3}
    return rows, [(int(line[0]) - 1, int(line[1]) - 1, *map(float, line[2:])) for line in lines[2:]]


def read_sg(path):
    data = path.read_bytes()
    assert data[0] in (0, 1)
    edges, vertices = (int(x) for x in np.frombuffer(data, "<i8", 2, 1))
    record, at, read = 8 if path.suffix == ".wsg" else 4, 17, []
    for _direction in range(1 + data[0]):
        offsets = np.frombuffer(data, "<i8", vertices + 1, at)
        records = np.frombuffer(data, "<i4", edges * record // 4, at + 8 * (vertices + 1)).reshape(edges, record // 4)
        at += 8 * (vertices + 1) + record * edges
        rows = np.repeat(np.arange(vertices), np.diff(offsets))
        read.append([(int(row), *map(int, neighbour)) for row, neighbour in zip(rows, records)])
    assert at == len(data)
    if len(read) == 2:
        assert sorted((target, source, *weight) for source, target, *weight in read[1]) == sorted(read[0])
    return vertices, read[0]


def read_metis(path):
    header, *lines = path.read_text().splitlines()
    vertices, edges, *form = header.split()
    assert form in ([], ["001"]) and len(lines) == int(vertices)
    read, step = [], 2 if form else 1
    for row, line in enumerate(lines):
        fields = [int(field) for field in line.split()]
        read += [(row, fields[at] - 1, *fields[at + 1:at + step]) for at in range(0, len(fields), step)]
    assert len(read) == 2 * int(edges)
    return int(vertices), read


READERS = {"el": read_edge_list, "wel": read_edge_list, "mtx": read_mtx, "sg": read_sg, "wsg": read_sg, "graph": read_metis}
SHAPES = ["no vertices", "one vertex", "one vertex with a loop", "no edges", "self loops", "duplicates", "original ids"]


@pytest.mark.parametrize("name", SHAPES)
def test_graphs_come_back(edgewire, tmp_path, name):
    graph = graphs.make(name)
    (tmp_path / "g.ew").write_bytes(reference.graph_bytes(graph))
    expected = sorted(zip(graph.sources.tolist(), graph.targets.tolist()))
    for ending in ("el", "mtx", "sg"):
        output = tmp_path / f"out.{ending}"
        result = edgewire("convert", "g.ew", "-o", output, "--allow-empty")
        assert result.returncode == 0, result.stderr
        vertices, edges = READERS[ending](output)
        assert sorted(edges) == expected
        lost = graph.vertices - (max(map(max, expected)) + 1 if expected else 0)
        assert (f"the last {lost} vertices have no edges" in result.stderr) == (ending == "el" and lost > 0)
        assert vertices in (None, graph.vertices)
    both_ways = {(a, b) for a, b in expected + [(b, a) for a, b in expected] if a != b}
    assert edgewire("convert", "g.ew", "--undirected", "--simple", "--allow-empty", "-o", "out.graph").returncode == 0
    vertices, edges = read_metis(tmp_path / "out.graph")
    assert vertices == graph.vertices and len(edges) == len(both_ways) and set(edges) == both_ways
    assert sorted(os.listdir(tmp_path)) == ["g.ew", "out.el", "out.graph", "out.mtx", "out.sg"]


def test_weights_come_back_from_any_input_and_are_read_again(edgewire, tmp_path):
    edges = [(0, 3, 5), (1, 0, 2), (1, 2, 16777216), (3, 3, 1)]
    (tmp_path / "in.wel.gz").write_bytes(gzip.compress("".join(f"{a} {b} {w}\n" for a, b, w in edges).encode()))
    for ending in ("wel", "mtx", "wsg"):
        output = tmp_path / f"out.{ending}"
        assert edgewire("convert", "in.wel.gz", "-o", output).returncode == 0
        assert sorted(READERS[ending](output)[1]) == edges
        (tmp_path / f"packed.{ending}.gz").write_bytes(gzip.compress(output.read_bytes()))
        assert edgewire("convert", f"packed.{ending}.gz", "-o", "again.wel").returncode == 0
        assert read_edge_list(tmp_path / "again.wel")[1] == edges
    assert edgewire("convert", "in.wel.gz", "--undirected", "--simple", "-o", "out.graph").returncode == 0
    assert read_metis(tmp_path / "out.graph") == (4, [(0, 1, 2), (0, 3, 5), (1, 0, 2), (1, 2, 16777216), (2, 1, 16777216), (3, 0, 5)])
    assert not [name for name in os.listdir(tmp_path) if ".tmp." in name]


def test_a_partition_of_the_graph_is_a_partition_for_pagerank(edgewire, tmp_path):
    """A partitioner's file has a line for each line of the METIS graph, so for each vertex in the order of the .ew."""
    (tmp_path / "in.txt").write_text("500 7\n7 30\n30 500\n")
    assert edgewire("convert", "in.txt", "-o", "g.ew").returncode == 0
    assert edgewire("convert", "g.ew", "--undirected", "--simple", "-o", "g.graph").returncode == 0
    assert read_metis(tmp_path / "g.graph")[0] == 3
    (tmp_path / "g.part").write_text("1\n0\n1\n")
    result = edgewire("pagerank", "g.ew", "-p", 2, "-w", 1, "--ownership", "g.part", "-o", "ranks", "--output-parts")
    assert result.returncode == 0, result.stderr
    assert [line[0] for line in read_lines(tmp_path / "ranks.0000-of-0002")] == ["30"]
    assert [line[0] for line in read_lines(tmp_path / "ranks.0001-of-0002")] == ["7", "500"]


NAMES = ["Ada, Lovelace", 'the "first"', "Éva", "1", "01", "# no comment", "//", "%", " blanks ", ";|", "a'b", "名前"]


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz", "tsv.zst"])
@pytest.mark.parametrize("weights", [None, ["1", "7"], ["18446744073709551615", "4"], ["0.1", "2.5"], ["0.1", "1e300"]])
def test_names_come_back_from_tables(edgewire, tmp_path, ending, weights):
    """Written by Python's csv, read by Edgewire, written by it, read by Python's csv and by Edgewire."""
    rows = [(source, target) for source, target in zip(NAMES, NAMES[1:] + NAMES[:1])]
    with open(tmp_path / "in.csv", "w", newline="") as file:
        csv.writer(file, quoting=csv.QUOTE_ALL).writerows(
            [("source", "target", "weight"), *((*row, weights[i % 2] if weights else 0) for i, row in enumerate(rows))])
    columns = "source,target,weight" if weights else "source,target"
    assert edgewire("convert", "in.csv", "--labels", "--columns", columns, "-o", "g.ew").returncode == 0
    result = edgewire("convert", "g.ew", "-o", f"out.{ending}")
    assert result.returncode == 0 and "vertices are called as in results" in result.stdout, result
    plain = tmp_path / "plain"
    unpack = {"gz": "gzip -dc", "zst": "zstd -dc"}.get(ending.split(".")[-1], "cat")
    if shutil.which(unpack.split()[0]):
        with open(plain, "wb") as file:
            subprocess.run([*unpack.split(), tmp_path / f"out.{ending}"], stdout=file, check=True)
        with open(plain, newline="") as file:
            read = list(csv.reader(file, delimiter="\t" if ending.startswith("tsv") else ","))
        assert read[0] == columns.split(",")
        assert sorted((*row[:2], *map(float, row[2:])) for row in read[1:]) == sorted(
            (*row, *([float(weights[i % 2])] if weights else [])) for i, row in enumerate(rows))
    assert edgewire("convert", f"out.{ending}", "--labels", "--columns", columns, "-o", "back.ew").returncode == 0
    assert (tmp_path / "back.ew").read_bytes() == (tmp_path / "g.ew").read_bytes()
    assert (tmp_path / "back.ew.labels").read_bytes() == (tmp_path / "g.ew.labels").read_bytes()


def test_which_outputs_have_names(edgewire, tmp_path):
    (tmp_path / "in.tsv").write_text("bob\talice\ncarol\tbob\n")
    assert edgewire("convert", "in.tsv", "--labels", "-o", "g.ew").returncode == 0
    expected = "source,target\nbob,alice\ncarol,bob\n"
    for words in (["g.ew"], ["g.ew", "--labels"], ["g.ew", "--simple"], ["in.tsv", "--labels"]):
        result = edgewire("convert", *words, "--to", "csv", "-o", "-")
        assert result.returncode == 0 and result.stdout == expected, (words, result)
    assert edgewire("convert", "g.ew", "--to", "el", "-o", "-").stdout == "1 0\n2 1\n"
    for words in (["g.ew", "--labels"], ["in.tsv", "--labels"]):
        assert edgewire("convert", *words, "--to", "el", "-o", "-").stdout == "bob alice\ncarol bob\n"
    (tmp_path / "ids.txt").write_text("500 7\n7 30\n")
    assert edgewire("convert", "ids.txt", "--to", "csv", "-o", "-").stdout == "source,target\n7,30\n500,7\n"
    assert edgewire("convert", "ids.txt", "-o", "ids.ew").returncode == 0
    assert "ids.ew: its vertices have no names: leave out --labels" == refused(edgewire("convert", "ids.ew", "--labels", "-o", "x.csv"))
    (tmp_path / "g.ew.labels").unlink()
    assert "g.ew.labels: the file is missing" in refused(edgewire("convert", "g.ew", "-o", "x.csv"))
    assert not (tmp_path / "x.csv").exists()


def test_text_goes_to_stdout(edgewire, tmp_path):
    (tmp_path / "in.el").write_text("0 1\n1 1\n")
    result = edgewire("convert", "in.el", "--to", "mtx", "-o", "-")
    assert result.stdout == "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 2\n"
    assert "2 edges" in result.stderr
    assert "--to el, wel, csv, tsv, mtx or graph" in refused(edgewire("convert", "in.el", "-o", "-"))
    assert "needs a file" in refused(edgewire("convert", "in.el", "-o", "-", "--to", "sg"))
    assert "needs a file" in refused(edgewire("convert", "in.el", "-o", "-", "--to", "ew"))
    for form in ("el", "csv"):
        shell = f"{edgewire.func.program} convert in.el --to {form} -o - >/dev/full"
        full = subprocess.run(shell, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert refused(full) == "stdout: cannot write: No space left on device"


def test_outputs_that_cannot_be(edgewire, tmp_path):
    (tmp_path / "in.el").write_text("0 1\n")
    assert edgewire("convert", "in.el", "-o", "g.ew").returncode == 0
    (tmp_path / "folder.mtx").mkdir()
    before = sorted(os.listdir(tmp_path))
    for arguments, line in [
        (["g.ew", "-o", "folder.mtx"], "folder.mtx: cannot write: Is a directory"),
        (["g.ew", "-o", "nowhere/g.mtx"], "nowhere/g.mtx: cannot write: No such file or directory"),
        (["g.ew", "--to", "el", "-o", "g.ew"], "g.ew: input and output are the same file"),
        (["in.el", "--undirected", "-o", "./in.el"], "./in.el: input and output are the same file"),
        (["g.ew", "--to", "el", "-o", "/dev/full"], "/dev/full: cannot write: it is not a regular file"),
        (["g.ew", "-o", "g.sg.gz"], "g.sg.gz: output is not compressed; write to a name without .gz and compress that file"),
        (["g.ew", "-o", "g.csv.xz"], "g.csv.xz: text is written plain, as .gz or as .zst; write to a name without .xz and compress that file"),
        (["g.ew", "-o", "g.graph"], "g.graph: METIS takes undirected graphs without self loops and duplicate edges, "
                                    "but this graph is directed; convert it with --undirected --simple"),
    ]:
        assert refused(edgewire("convert", *arguments)) == line
        assert sorted(os.listdir(tmp_path)) == before


def test_a_full_disk_keeps_the_older_file(edgewire, tmp_path):
    disk = tmp_path / "disk"
    with small_disk(disk, "64k"):
        assert edgewire("generate", "kronecker", "--scale", 12, "-o", "g.ew").returncode == 0
        for ending in ("csv", "csv.gz", "el", "mtx", "sg"):
            (disk / f"g.{ending}").write_text("older")
            line = refused(edgewire("convert", "g.ew", "-o", disk / f"g.{ending}"))
            assert re.fullmatch(rf"{disk}/g\.{ending}: (byte \d+: )?cannot write: No space left on device", line)
            assert (disk / f"g.{ending}").read_text() == "older"
        assert sorted(os.listdir(disk)) == ["g.csv", "g.csv.gz", "g.el", "g.mtx", "g.sg"]
