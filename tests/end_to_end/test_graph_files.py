"""generate, convert and info, as a user runs them. The file is read back here by an independent reader."""

import bz2
import functools
import gzip
import io
import json
import lzma
import os
import pathlib
import resource
import signal
import subprocess
import tarfile

import numpy as np
import pytest

from reference import WEIGHT_TYPES

ROOT = pathlib.Path(__file__).resolve().parents[2]
GRAPHS = pathlib.Path(os.environ.get("EDGEWIRE_GRAPHS", ROOT.parent / "shared" / "graphs"))


@pytest.fixture
def edgewire(edgewire, tmp_path):
    """The program, run in tmp_path."""
    return functools.partial(edgewire, cwd=tmp_path)


@pytest.fixture
def refused(edgewire):
    """As edgewire, for a run that must fail with one line on stderr and nothing on stdout; returns the line."""

    def run(*arguments, status=1, **options):
        result = edgewire(*arguments, **options)
        assert result.returncode == status, result
        assert result.stdout == ""
        assert result.stderr.startswith("edgewire: ") and result.stderr.count("\n") == 1, result.stderr
        return result.stderr[len("edgewire: "):-1]

    return run


@pytest.fixture
def real_graph():
    """The path of a file of the real graphs; skips the test where they are not there."""

    def path(name):
        file = GRAPHS / name
        if not file.exists():
            pytest.skip("this real graph is not here (EDGEWIRE_GRAPHS names a folder)")
        return file

    return path


def read_ew(path):
    """sources, targets, weights (or None), original ids (or None)"""
    data = path.read_bytes()
    assert data[:8] == b"EDGEWIRE"
    flags = int.from_bytes(data[12:16], "little")
    vertices, _edges = (int(x) for x in np.frombuffer(data, "<u8", 2, 16))
    sections = np.frombuffer(data, "<u8", 8, 32).reshape(4, 2)

    def section(index, kind):
        offset, size = (int(x) for x in sections[index])
        return np.frombuffer(data, kind, size // np.dtype(kind).itemsize, offset)

    sources = np.repeat(np.arange(vertices), np.diff(section(0, "<u8").astype(np.int64)))
    return (sources, section(1, "<u4"), section(2, WEIGHT_TYPES[flags & 96]) if flags & 1 else None,
            section(3, "<u8") if flags & 8 else None)


def info(edgewire, path, *options):
    result = edgewire("info", path, "--json", "-", *options)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


@pytest.mark.parametrize("name, vertices, edges, loops, duplicates", [
    ("uk-2007-05@100000/uk-2007-05@100000.u32pairs.zst", 100000, 3050615, 15670, 0),
    ("cnr-2000/cnr-2000.u32pairs.zst", 325557, 3216152, 87442, 0),
    ("debdocs-cpp/debdocs-cpp.u32pairs.zst", 1405353, 5173572, None, None),
    ("web-NotreDame/web-NotreDame.txt.gz", 325729, 1497134, None, None),
    ("soc-Slashdot0902/soc-Slashdot0902.txt.gz", 82168, 948464, None, None),
    ("p2p-31/p2p-31.e.gz", 62586, 147892, 0, 0),
])
def test_real_graphs_have_their_published_counts(edgewire, real_graph, name, vertices, edges, loops, duplicates):
    result = edgewire("convert", real_graph(name), "-o", "g.ew", "--format", "auto")
    assert result.returncode == 0, result.stderr
    found = info(edgewire, "g.ew", "--verify")
    assert (found["vertices"], found["edges"]) == (vertices, edges)
    if loops is not None:
        assert (found["self_loops"], found["duplicates"]) == (loops, duplicates)
    assert found["weighted"] == name.startswith("p2p")
    simple = edgewire("convert", real_graph(name), "-o", "s.ew", "--simple", "--undirected")
    assert simple.returncode == 0
    assert info(edgewire, "s.ew", "--verify")["self_loops"] == 0


def test_edge_list_comes_back_with_its_ids_and_weights(edgewire, real_graph, tmp_path):
    source = real_graph("p2p-31/p2p-31.e.gz")
    assert edgewire("convert", source, "-o", "g.ew").returncode == 0
    sources, targets, weights, ids = read_ew(tmp_path / "g.ew")
    expected = np.loadtxt(gzip.open(source, "rt"))
    found = np.stack([ids[sources], ids[targets], weights], 1) if ids is not None else np.stack(
        [sources, targets, weights], 1)
    order = np.lexsort(expected.T[::-1])
    assert np.array_equal(found.astype(float), expected[order])


EDGES = [(3, 1, 4.0), (1, 7, 0.5), (7, 3, 2.0), (3, 7, 1.0)]


def _metis():
    """The edges above between vertices 1 to 7, each once in a direction, with whole weights."""
    lines = [[] for _ in range(7)]
    for number, (source, target) in enumerate([(3, 1), (1, 7), (7, 3)], 1):
        lines[source - 1] += [target, number]
        lines[target - 1] += [source, number]
    return "7 3 1\n" + "".join(" ".join(map(str, line)) + "\n" for line in lines)


def _archive(text):
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as archive:
        for name, content in (("g/README", "a text"), ("g/g.mtx", text)):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content.encode()))
    return held.getvalue()


ROWS = "".join(f"{s},{t},{w}\n" for s, t, w in EDGES)
ARCS = "".join(f"a {s} {t} {w:g}\n" for s, t, w in EDGES)
MATRIX = "%%MatrixMarket matrix coordinate real skew-symmetric\n7 7 2\n3 1 4\n7 3 2\n"
FORMS = {
    "g.csv": ("src,dst,weight\n" + ROWS, EDGES),
    "g.txt.xz": (lzma.compress(ROWS.encode()), EDGES),
    "g.txt.bz2": (bz2.compress(ROWS.encode()), EDGES),
    "g.gr": (f"c a graph\np sp 7 {len(EDGES)}\n{ARCS}", EDGES),
    "g.edges": ("".join(f"{s} {t} {{'weight': {w}}}\n" for s, t, w in EDGES), EDGES),
    "g.graph": (_metis(), [(3, 1, 1), (1, 3, 1), (1, 7, 2), (7, 1, 2), (7, 3, 3), (3, 7, 3)]),
    "g.tar.gz": (_archive(MATRIX), [(3, 1, 4), (1, 3, -4), (7, 3, 2), (3, 7, -2)]),
}


@pytest.mark.parametrize("name", FORMS)
def test_every_new_form_gives_its_edges(edgewire, tmp_path, name):
    content, expected = FORMS[name]
    data = content if isinstance(content, bytes) else content.encode()
    (tmp_path / name).write_bytes(data)
    result = edgewire("convert", name, "-o", "g.ew")
    assert result.returncode == 0, result.stderr
    assert ("third column" in result.stdout) == name.startswith(("g.txt", "g.edges"))
    sources, targets, weights, ids = read_ew(tmp_path / "g.ew")
    assert sorted(zip(ids[sources].tolist(), ids[targets].tolist(), weights.tolist())) == sorted(expected)
    by_name = (tmp_path / "g.ew").read_bytes()
    if name != "g.graph":  # its content has no mark
        piped = f"cat {name} | '{edgewire.func.program}' convert - -o g.ew"
        assert subprocess.run(piped, shell=True, cwd=tmp_path, check=False, capture_output=True).returncode == 0
        assert (tmp_path / "g.ew").read_bytes() == by_name


def test_metis_is_no_edge_list(refused, tmp_path):
    (tmp_path / "g.graph").write_text("4 4\n2 3 4\n1 3\n1 2\n1\n")
    assert "--format metis" in refused("convert", "g.graph", "--format", "snap", "--no-weights", "-o", "g.ew")
    assert sorted(os.listdir(tmp_path)) == ["g.graph"]


def test_generate_kronecker(edgewire, tmp_path):
    for workers in (1, 2, 3):
        result = edgewire("generate", "kronecker", "--scale", 12, "--seed", 9, "-o", f"{workers}.ew", "-w", workers)
        assert result.returncode == 0 and result.stderr == ""
        assert "4096 vertices, 65536 edges" in result.stdout
    assert (tmp_path / "1.ew").read_bytes() == (tmp_path / "2.ew").read_bytes() == (tmp_path / "3.ew").read_bytes()
    sources, targets, weights, ids = read_ew(tmp_path / "1.ew")
    assert len(sources) == 65536 and targets.max() < 4096 and weights is None and ids is None
    found = info(edgewire, "1.ew", "--verify")
    assert found["largest_out_degree"] == np.bincount(sources).max()
    assert found["self_loops"] == (sources == targets).sum()
    assert found["dangling"] == (np.bincount(sources, minlength=4096) == 0).sum()
    assert found["duplicates"] == 65536 - len(np.unique(sources * 4096 + targets))
    assert sorted(os.listdir(tmp_path)) == ["1.ew", "2.ew", "3.ew"]


def test_generate_others(edgewire):
    assert edgewire("generate", "uniform", "--vertices", 1000, "--weights", "--simple", "-o", "u.ew").returncode == 0
    found = info(edgewire, "u.ew", "--verify")
    assert found["weighted"] and found["simple"] and found["vertices"] == 1000
    assert edgewire("generate", "grid", "--rows", 30, "--columns", 20, "--torus", "-o", "g.ew").returncode == 0
    found = info(edgewire, "g.ew", "--verify")
    assert found["symmetric"] and found["edges"] == 2400 and found["largest_out_degree"] == 4
    assert edgewire("generate", "kronecker", "--scale", 0, "-o", "k.ew").returncode == 0
    assert info(edgewire, "k.ew")["vertices"] == 1
    assert "intact" in edgewire("info", "k.ew").stdout


def test_usage_errors_exit_with_2(edgewire, refused):
    assert "--scale or --vertices" in refused("generate", "uniform", "-o", "g.ew", status=2)
    for kind in ("kronecker", "uniform"):
        line = refused("generate", kind, "--scale", 32, "-o", "g.ew", status=2)
        assert "--scale" in line and "; edgewire-wide, which is built with -Did_bits=64, takes more" in line, line
        assert "edgewire-wide" not in refused("generate", kind, "--scale", 48, "-o", "g.ew", status=2)
    for arguments in (["generate"], ["generate", "kronecker", "-o", "x"], ["generate", "kronecker", "--scale", "32"],
                      ["convert"], ["info"], ["convert", "x.txt", "-o", "y", "--format", "foo"]):
        assert edgewire(*arguments).returncode == 2, arguments


def test_bad_input_is_refused_with_one_line_and_nothing_is_left(refused, tmp_path):
    (tmp_path / "bad.txt").write_text("0 1\n1 -2\n")
    assert refused("convert", "bad.txt", "-o", "g.ew") == "bad.txt: line 2, column 3: a vertex id is negative"
    with gzip.open(tmp_path / "bad.gz", "wb") as file:
        file.write(b"0 1\n1 99999999999999999999\n")
    assert "line 2, column 3" in refused("convert", "bad.gz", "--format", "snap", "-o", "g.ew")
    os.mkfifo(tmp_path / "pipe.txt")
    assert "not a regular file" in refused("convert", "pipe.txt", "-o", "g.ew")
    assert "not a regular file" in refused("info", "pipe.txt")
    assert "Is a directory" in refused("convert", tmp_path, "--format", "el", "-o", "g.ew")
    assert "it is a folder without a graph" in refused("info", tmp_path)
    assert "No such file" in refused("info", "missing.ew")
    (tmp_path / "empty.ew").touch()
    assert refused("info", "empty.ew") == "empty.ew: the file is empty"
    (tmp_path / "good.txt").write_text("0 1\n")
    assert "it is a directory" in refused("convert", "good.txt", "-o", tmp_path)
    assert "not a regular file" in refused("convert", "good.txt", "-o", "/dev/full")
    assert "not a regular file" in refused("generate", "kronecker", "--scale", 3, "-o", "/dev/full")
    assert "No such file" in refused("convert", "good.txt", "-o", "no/such/g.ew")
    assert "of memory" in refused("generate", "kronecker", "--scale", 31, "-o", "g.ew")
    assert sorted(os.listdir(tmp_path)) == ["bad.gz", "bad.txt", "empty.ew", "good.txt", "pipe.txt"]


def test_damage_is_named_by_its_byte(edgewire, refused, tmp_path):
    assert edgewire("generate", "kronecker", "--scale", 10, "-o", "g.ew").returncode == 0
    path = tmp_path / "g.ew"
    whole = path.read_bytes()
    damaged = bytearray(whole)
    damaged[20000] ^= 4
    path.write_bytes(damaged)
    assert "g.ew: byte 16384: " in refused("info", "g.ew")
    path.write_bytes(whole[:30001])
    assert "g.ew: byte 30001: the file has 30001 bytes but its header says" in refused("info", "g.ew")


def test_no_permission(rightless):
    assert rightless.refused("info", "/etc/shadow", cwd="/") == "/etc/shadow: cannot read: Permission denied"
    assert "Permission denied" in rightless.refused("generate", "kronecker", "--scale", 3, "-o", "/etc/g.ew", cwd="/")


def test_a_full_disk_leaves_nothing_behind(refused, tmp_path):
    """On a small tmpfs of its own; where that cannot be mounted a limit on the file size stands in for it."""
    disk = tmp_path / "disk"
    disk.mkdir()
    small = ["-t", "tmpfs", "-o", "size=64k", "tmpfs", disk]
    if subprocess.run(["mount", *small], capture_output=True, check=False).returncode == 0:
        try:
            line = refused("generate", "kronecker", "--scale", 12, "-o", disk / "g.ew")
            assert line == f"{disk}/g.ew: cannot write: No space left on device"
            assert os.listdir(disk) == []
        finally:
            subprocess.run(["umount", disk], check=True)
    else:
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))

        line = refused("generate", "kronecker", "--scale", 12, "-o", disk / "g.ew", preexec_fn=limit)
        assert line.startswith(f"{disk}/g.ew: cannot write: File too large (`ulimit -f` allows ")
        assert os.listdir(disk) == []


@pytest.mark.parametrize("command", [
    ["pagerank", "-o"], ["pagerank", "-p", 2, "--json"], ["pagerank", "--profile-page"], ["pagerank", "--trace"], ["ppr", "--sources", 0, "-o"],
    ["spmv", "-o"], ["bfs", "--source", 0, "-o"], ["wcc", "--json"], ["bound", "--json"], ["compare", "--csv"], ["convert", "-o", "other.ew", "--json"],
    ["sort", "-o", "parts", "--json"]], ids=lambda words: f"{words[0]} {words[-1]}")
def test_no_command_writes_over_what_it_reads(edgewire, refused, tmp_path, command):
    graph = tmp_path / "g.ew"
    assert edgewire("generate", "kronecker", "--scale", 8, "-o", graph).returncode == 0
    before = graph.read_bytes()
    (tmp_path / "link").symlink_to(graph)
    kernel, *options = command
    for output in (graph, tmp_path / "link"):
        assert f"{output}: input and output are the same file" in refused(kernel, graph, *options, output)
    assert graph.read_bytes() == before
