"""What libedgewire exports, beside what it has exported since its minor version began: nothing of that goes."""

import re
import subprocess

import pytest

from installing import BUILD
from test_library import ROOT

VERSION = re.search(r"version: '(\d+\.\d+)", (ROOT / "meson.build").read_text())[1]
PROMISED = ROOT / f"tests/abi/{VERSION}.abi"
SYMBOL = re.compile(r"name='(\w+)'")


def removed(promised):
    """How many functions are gone, and what abidiff says. The list of promises has no other facts, such as the architecture."""
    said = subprocess.run(["abidiff", "--no-added-syms", promised, BUILD / "src/libedgewire.so"], capture_output=True, text=True).stdout
    counts = re.findall(r"changes summary: (\d+) Removed", said)
    assert counts, said
    return sum(map(int, counts)), said


def test_nothing_that_was_promised_is_gone():
    assert PROMISED.exists(), f"a new minor version: run tools/abi, which writes {PROMISED.name}"
    gone, said = removed(PROMISED)
    assert gone == 0, f"callers of {VERSION} break; raise the minor version in meson.build and run tools/abi:\n{said}"


def test_what_is_gone_is_noticed(tmp_path):
    lines = PROMISED.read_text().splitlines()
    symbol = next(line for line in lines if SYMBOL.search(line))
    gone = symbol.replace(SYMBOL.search(symbol)[1], "_ZN8edgewire12no_such_callEv")
    (tmp_path / "more.abi").write_text("\n".join(line if line != symbol else f"{symbol}\n{gone}" for line in lines))
    gone, said = removed(tmp_path / "more.abi")
    assert gone == 1 and "no_such_call" in said


@pytest.mark.parametrize("room", ["cli", "runs", "bounds", "profile", "transport", "partition", "shuffle", "tiles", "engine", "job"])
def test_inner_rooms_are_not_exported(room):
    named = subprocess.run(["nm", "-DC", "--defined-only", BUILD / "src/libedgewire.so"], capture_output=True, text=True, check=True).stdout
    assert [line for line in named.splitlines() if re.search(rf" [TDBR] edgewire::{room}::", line)] == []
