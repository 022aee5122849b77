"""edgewire-wide, whose vertex ids have 64 bits, finds what edgewire finds; each runs the other one for its graphs."""

import os
import pathlib
import shutil
import struct

import pytest

import reference
from conftest import Edgewire

PROGRAM = os.environ.get("EDGEWIRE_WIDE", "")
pytestmark = [pytest.mark.wide, pytest.mark.skipif(not PROGRAM, reason="EDGEWIRE_WIDE names no edgewire-wide (tests/run.py --wide)")]

KERNELS = {
    "pagerank": ["pagerank", "--iterations", 5, "--strategy", "process", "--deterministic"],
    "blocks": ["pagerank", "--iterations", 5, "--ownership", "grid", "--strategy", "cover", "--deterministic"],
    "ppr": ["ppr", "--source", 372, "--iterations", 5, "--deterministic"],
    "spmv": ["spmv", "--deterministic"],
    "bfs": ["bfs", "--source", 372],
    "parents": ["bfs", "--source", 372, "--parents", "--deterministic", "--verify"],
    "sssp": ["sssp", "--source", 372],
    "shortest": ["sssp", "--source", 372, "--parents", "--verify"],
    "wcc": ["wcc"],
    "scc": ["scc"],
    "cdlp": ["cdlp", "--iterations", 4],
    "lcc": ["lcc"],
    "tc": ["tc"],
    "bc": ["bc", "--sources", "372,93,1240"],
}


@pytest.fixture(scope="session")
def wide():
    return Edgewire(os.path.abspath(PROGRAM))


@pytest.fixture(scope="session")
def edges(tmp_path_factory):
    """A directed graph with weights, in text, whose ids go beyond 2^32."""
    path = tmp_path_factory.mktemp("wide") / "edges.txt"
    lines, state = [], 1
    for source in range(300):
        for _ in range(source % 7):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            lines.append(f"{source * 31} {(state >> 40) % 300 * 31} {state % 9 + 1}\n")
    path.write_text("".join(lines) + f"{5 * 2**32} 0 3\n0 {5 * 2**32} 2\n372 {2**40} 1\n")
    return path


@pytest.fixture(scope="session")
def graphs(edgewire, wide, edges, tmp_path_factory):
    """The files of the two programs, of the same edges."""
    folder = tmp_path_factory.mktemp("graphs")
    for name, program in (("narrow", edgewire), ("wide", wide)):
        program.ok("convert", edges, "-o", folder / f"{name}.ew")
        program.ok("convert", edges, "--undirected", "--simple", "-o", folder / f"{name}-symmetric.ew")
    return folder


@pytest.fixture
def alone(tmp_path):
    """alone(program): a copy in a folder with no other program."""
    def copy(program):
        copied = tmp_path / pathlib.Path(program).name
        shutil.copy(program, copied)
        return Edgewire(str(copied))

    return copy


def header_flags(path):
    return struct.unpack_from("<I", path.read_bytes(), 12)[0]


def values(program, graph, words, folder, processes):
    out = folder / f"{processes}.tsv"
    program.ok(words[0], graph, *words[1:], "-p", processes, "-w", 1, "-o", out)
    return out.read_text()


@pytest.mark.parametrize("shape", ["", "-symmetric"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_finds_the_same_values(edgewire, wide, graphs, tmp_path, kernel, shape):
    words = KERNELS[kernel]
    for processes in (1, 3):
        expected = values(edgewire, graphs / f"narrow{shape}.ew", words, tmp_path, processes)
        assert values(wide, graphs / f"wide{shape}.ew", words, tmp_path, processes) == expected


def test_converts_the_same_edges_in_little_memory(edgewire, wide, tmp_path):
    few = tmp_path / "few.txt"
    few.write_text(f"{2**32 + 5} 7\n7 {2**32 - 1}\n{2**32 + 5} {2**32}\n9 9\n")
    edgewire.ok("convert", few, "-o", tmp_path / "narrow.ew")
    wide.ok("convert", few, "-o", tmp_path / "wide.ew", "-p", 2, "-w", 1, "--memory", "3G")
    text = [program.ok("convert", tmp_path / f"{name}.ew", "--to", "el", "-o", "-") for name, program in (("narrow", edgewire), ("wide", wide))]
    assert text[1] == text[0] != ""
    found, expected = (reference.read_graph(tmp_path / f"{name}.ew") for name in ("wide", "narrow"))
    assert found.original_ids.tolist() == expected.original_ids.tolist() == [7, 9, 2**32 - 1, 2**32, 2**32 + 5]


def test_graphs_that_are_too_large_are_refused_with_the_remedy(edgewire, tmp_path):
    for name in ("few.txt", "few.el"):
        (tmp_path / name).write_text(f"0 {2**32}\n")
        line = edgewire.refused("convert", tmp_path / name, "--keep-ids", "-o", tmp_path / "g.ew")
        assert "4294967293" in line and line.endswith("; edgewire-wide, which is built with -Did_bits=64, takes more"), line
    line = edgewire.refused("generate", "uniform", "--vertices", 2**32, "--edge-factor", 0, "-o", tmp_path / "g.ew")
    assert "edgewire-wide" in line
    assert not (tmp_path / "g.ew").exists()


def test_writes_files_of_its_own_width(edgewire, wide, graphs, tmp_path):
    assert header_flags(graphs / "narrow.ew") & reference.WIDE_IDS == 0
    assert header_flags(graphs / "wide.ew") & reference.WIDE_IDS != 0
    wide.ok("generate", "kronecker", "--scale", 8, "-o", tmp_path / "wide.ew")
    edgewire.ok("generate", "kronecker", "--scale", 8, "-o", tmp_path / "narrow.ew")
    mine, other = reference.read_graph(tmp_path / "wide.ew"), reference.read_graph(tmp_path / "narrow.ew")
    assert (mine.sources == other.sources).all() and (mine.targets == other.targets).all()


def test_runs_the_other_program_for_its_graphs(edgewire, wide, graphs):
    both = os.pathsep.join([os.path.dirname(edgewire.program), os.path.dirname(wide.program), os.environ["PATH"]])
    for program in (edgewire, wide):
        for name in ("narrow", "wide"):
            assert "component" in program.ok("wcc", graphs / f"{name}.ew", "-p", 2, "-w", 1, env={"PATH": both})


def test_says_what_to_install_where_there_is_no_other_program(edgewire, wide, graphs, alone):
    line = alone(edgewire.program).refused("bfs", graphs / "wide.ew", "--source", 372, env={"PATH": "/nowhere"})
    assert "64 bits" in line and "-Did_bits=64" in line and str(graphs / "wide.ew") in line


def test_refuses_a_damaged_flag(edgewire, wide, graphs, tmp_path):
    for name, program in (("narrow", edgewire), ("wide", wide)):
        data = bytearray((graphs / f"{name}.ew").read_bytes())
        data[13] ^= reference.WIDE_IDS >> 8
        (tmp_path / f"{name}.ew").write_bytes(data)
        assert "the header is damaged" in program.refused("info", tmp_path / f"{name}.ew")
