"""Damaged Parquet, Arrow and CSV files. Each is read as some graph, twice the same one, or refused with one line. With
EDGEWIRE_FUZZ_SECONDS this goes on for so long, beginning with EDGEWIRE_FUZZ_SEED; else the same few files are read each time."""

import faulthandler
import os
import pathlib
import random
import time
import warnings

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import pytest

import edgewire as ew

CORPUS = pathlib.Path(__file__).resolve().parents[2] / "tests/data/corpus"
INPUTS = 60
WORDS = (0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1, 2**63, 2**64 - 1)
NUMBERS = (b"0", b"-1", b"1.5", b"1e400", b"nan", b"", b"4294967296", b"18446744073709551615", b"18446744073709551616", b"x" * 70_000)
TEXTS = (b"\0", b"\n", b"\r\n", b",", b";", b'"', b"\xff", b"\xef\xbb\xbf", b"PAR1", b"ARROW1", b"# ", b"")
TABLES = (
    {"src": [0, 1, 2], "dst": [1, 2, 0], "weight": [0.5, 1.5, 2.0]},
    {"a": pa.array([1, 2, None]), "b": [1, 2, 3]},
    {"source": ["x", "y, z", 'say "hi"'], "target": ["y, z", "# no comment", " blank "]},
    {"source": pa.array(["x", "y", "x"]).dictionary_encode(), "target": pa.array(["y", "é", "x"]), "weight": pa.array([1, 2, 2**63], pa.uint64())},
    {"u": pa.array([2**64 - 1, 5], pa.uint64()), "v": pa.array([7, 2**63], pa.uint64()), "w": pa.array([True, False])},
    {"Source": [1, 2], "Target": [2, 3], "Type": ["Undirected", "Undirected"]},
    {"a": pa.array([], pa.int64()), "b": pa.array([], pa.int64())},
    {"a": ["line\nend", "x"], "b": ["x", "nul\0"]},
)


def parquet(table, path, turn):
    pa.parquet.write_table(table, path, compression=("none", "snappy", "gzip")[turn % 3], use_dictionary=turn % 2 == 0)


def feather(table, path, turn):
    plain = pa.table({name: column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
                      for name, column in zip(table.column_names, table.columns)})
    pa.feather.write_feather(plain if turn % 2 else table, path, compression=("uncompressed", "lz4", "zstd")[turn % 3])


def seeds(kind, folder):
    """What is damaged: the files of the corpus, and those of tables that are written here."""
    found = [path.read_bytes() for path in sorted((CORPUS / kind).glob("*"))]
    if kind != "csv":
        for turn, columns in enumerate(TABLES):
            (parquet if kind == "parquet" else feather)(pa.table(columns), folder / "seed", turn)
            found.append((folder / "seed").read_bytes())
    return found


def change(content, others, draw):
    at = draw.randrange(len(content) + 1)
    match draw.randrange(9):
        case 0:
            if at < len(content):
                content[at] ^= 1 << draw.randrange(8)
        case 1:
            content[at:at + 1] = bytes([draw.randrange(256)])
        case 2:
            content[at:at] = draw.choice(NUMBERS + TEXTS)
        case 3:
            del content[at:at + draw.randrange(1, 17)]
        case 4:
            size = draw.choice((1, 2, 4, 8))
            content[at:at + size] = ((draw.choice(WORDS) + draw.randrange(-1, 2)) % 256**size).to_bytes(size, "little")
        case 5:
            del content[at:]
        case 6:
            content[at:at] = content[at:at + draw.randrange(64)]
        case 7:
            other = draw.choice(others)
            content[at:] = other[draw.randrange(len(other) + 1):]
        case _:  # the end of Parquet and Arrow files says where all else is
            near = max(0, len(content) - draw.randrange(1, 400))
            content[near:near + 1] = bytes([draw.choice((0, 1, 2, 127, 128, 255))])


def outcome(path, turn):
    """What is read, in words: the edges or the line that refuses the file."""
    how = ({}, {"undirected": True}, {"simple": True}, {"src": "1", "dst": "2"}, {"labels": True})[turn % 5]
    if not str(path).endswith(".csv"):
        how.pop("labels", None)
    try:
        graph = ew.read(path, **how)
    except ew.Error as error:
        line = str(error)
        assert line and "\n" not in line and (isinstance(error, ew.UsageError) or str(path) in line)
        return line
    columns = [column.tolist() for column in (*graph.to_numpy(), graph.labels) if column is not None]
    return graph.vertices, graph.edges, columns


def inputs(kind, folder):
    """Numbers and contents: the files of the corpus, and then damaged ones."""
    originals = seeds(kind, folder)
    yield from enumerate(originals)
    seconds = float(os.environ.get("EDGEWIRE_FUZZ_SECONDS", 0))
    seed = int(os.environ.get("EDGEWIRE_FUZZ_SEED", random.randrange(2**32) if seconds else 1))
    end = time.monotonic() + seconds
    number = 0
    while number < INPUTS or time.monotonic() < end:
        draw = random.Random(seed + number)
        content = bytearray(draw.choice(originals))
        for _ in range(draw.choice((1, 1, 2, 3, 8))):
            change(content, originals, draw)
        yield seed + number, bytes(content)
        number += 1


@pytest.mark.parametrize("kind", ["parquet", "arrow", "csv"])
def test_damaged_files(kind, tmp_path):
    path = tmp_path / f"g.{kind}"
    faulthandler.enable()
    for seed, content in inputs(kind, tmp_path):
        (tmp_path / "seed").write_text(f"EDGEWIRE_FUZZ_SEED={seed}")  # for whoever looks after a crash
        path.write_bytes(content)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                first = outcome(path, seed)
                assert outcome(path, seed) == first
            except Exception as error:
                raise AssertionError(f"EDGEWIRE_FUZZ_SEED={seed}, {len(content)} bytes") from error


def test_names_that_are_no_utf8(tmp_path):
    path = tmp_path / "g.tsv"
    path.write_bytes(b"\xffa\tb\nb\t\xc3\n")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert sorted(ew.read(path, labels=True).labels) == ["b", "\ufffd", "\ufffda"]
    path.write_bytes(b"\xffalice\tbob\ncarol\tdave\n")
    with pytest.raises(ew.Error, match="\ufffdalice and bob may be names of columns or an edge"):
        ew.read(path)
