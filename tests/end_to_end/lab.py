"""Virtual machines with a real RDMA stack.

Tests marked `machine` run in one such machine, all in one boot: it runs pytest on them there, and here each of them
only tells what came of it.
"""

import functools
import os
import pathlib
import shlex
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree as ET

import pytest

RDMA_VM = pathlib.Path(__file__).resolve().parent.parent / "lab/rdma-vm"
INSIDE = "EDGEWIRE_IN_MACHINE" in os.environ
LIMIT_S = 1200  # machines share their cores with whatever else runs here


@functools.cache
def missing():
    """Why there can be no virtual machine here; empty when there can."""
    listed = subprocess.run([os.environ["EDGEWIRE"], "transports"], capture_output=True, text=True)
    if "no verbs backend" in listed.stdout:
        return "this build has no verbs backend"
    got = subprocess.run([RDMA_VM, "-k"], capture_output=True, text=True, timeout=300)
    return got.stderr.strip() if got.returncode else ""


@functools.cache
def missing_iwarp():
    """Why a machine has no SoftiWARP; empty when it can have it."""
    got = subprocess.run([RDMA_VM, "-k", "-w"], capture_output=True, text=True, timeout=600)
    return got.stderr.strip() if got.returncode else ""


@functools.cache
def missing_later():
    """Why there is no machine with the later kernel of `-o`; empty when there can be one."""
    got = subprocess.run([RDMA_VM, "-k", "-o"], capture_output=True, text=True, timeout=1200)
    return got.stderr.strip() if got.returncode else ""


def run(script, *options, machines=1, share=None):
    """Runs a script (bash) in each machine. Returns what it printed, machine after machine; fails unless it succeeds
    everywhere."""
    if missing():
        pytest.skip(missing())
    options = [*options, "-n", str(machines), "-t", str(LIMIT_S), *(["-s", str(share)] if share else [])]
    done = subprocess.run([RDMA_VM, *options, script], capture_output=True, text=True, timeout=LIMIT_S + 60)
    assert done.returncode == 0, f"exit status {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def write_job(folder, *graphs):
    """What a job of two machines needs: their list `hosts`, a `secret`, the graphs."""
    (folder / "hosts").write_text("10.8.0.1\n10.8.0.2\n")
    secret = folder / "secret"
    secret.write_bytes(os.urandom(32))
    secret.chmod(0o600)
    for name, graph in graphs:
        shutil.copy(graph, folder / name)


@functools.cache
def results():
    """What came of the tests in the machine: {name: (outcome, text)}."""
    program = os.path.abspath(os.environ["EDGEWIRE"])
    iwarp = [] if missing() or missing_iwarp() else ["-w"]
    with tempfile.TemporaryDirectory() as share:
        # Its exit status is not needed: the results tell.
        output = run(f"EDGEWIRE={program} EDGEWIRE_NO_IWARP={shlex.quote(missing_iwarp())} EDGEWIRE_IN_MACHINE=yes PYTHONDONTWRITEBYTECODE=1 /usr/bin/python3 -m pytest "
                     f"-q --tb=short -m machine --junitxml={share}/results.xml --basetemp=/run/tests "
                     f"{pathlib.Path(__file__).parent}; true", *iwarp, share=share)
        try:
            cases = ET.parse(f"{share}/results.xml").iter("testcase")
        except (OSError, ET.ParseError):
            return {"": ("failed", output)}
        found = {}
        for case in cases:
            ends = [(tag, f"{element.get('message')}\n{element.text}") for tag in ("failure", "error", "skipped")
                    if (element := case.find(tag)) is not None]
            found[case.get("name")] = ends[0] if ends else ("passed", "")
        return found


def tell(name):
    """Ends the test as it ended in the machine."""
    found = results()
    outcome, text = found.get(name) or found.get("") or ("failed", "it did not run in the machine")
    if outcome == "skipped":
        pytest.skip(text)
    if outcome != "passed":
        pytest.fail(text, pytrace=False)
