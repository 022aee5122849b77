"""Hardware counters on a processor that has them: the unit tests of counting, built for Arm, in a virtual machine whose
emulated processor counts (tests/lab/arm-vm)."""

import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
ARM_VM = ROOT / "tests/lab/arm-vm"
COMPILER = "aarch64-linux-gnu-g++"
# The linker leaves out what they do not call, such as functions that need hwloc.
SOURCES = """tests/unit/main.cpp tests/unit/counters_test.cpp tests/unit/timeline_test.cpp src/profile/counters.cpp
    src/profile/timeline.cpp topology/core_claim.cpp topology/cpu_level.cpp topology/memory.cpp topology/page_nodes.cpp topology/placement.cpp
    topology/shell.cpp topology/worker_pool.cpp src/base/error.cpp src/base/file_calls.cpp src/options/option.cpp""".split()

pytestmark = pytest.mark.slow


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_instructions_are_counted_as_many_as_there_were(tmp_path):
    if shutil.which(COMPILER) is None:
        pytest.skip(f"no {COMPILER} here (tools/install-packages --all)")
    got = subprocess.run([ARM_VM, "-k"], capture_output=True, text=True)
    if got.returncode:
        pytest.skip(got.stderr.strip())
    sysroot = pathlib.Path(got.stdout.strip(), "sysroot/usr")
    compiler = [*(["ccache"] if shutil.which("ccache") else []), COMPILER]

    def compile_one(source):
        made = tmp_path / f"{pathlib.Path(source).stem}.o"
        run(*compiler, "-std=c++20", "-O1", "-D_GNU_SOURCE", "-DFMT_HEADER_ONLY", "-DEDGEWIRE_PFM", "-ffunction-sections", "-I.", "-Isrc",
            "-Iinclude", "-idirafter", str(sysroot / "include"), "-c", source, "-o", str(made))
        return str(made)

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compile_one, SOURCES))
    machine = tmp_path / "machine"
    machine.mkdir()
    libraries = [str(sysroot / "lib/aarch64-linux-gnu" / name) for name in ("libpfm.a", "libnuma.a")]
    run(COMPILER, "-static", "-Wl,--gc-sections", *objects, *libraries, "-o", str(machine / "perf_test"))

    text = run(ARM_VM, str(machine), "/perf_test --no-colors --no-path-filenames")
    assert all("TEST_EVENT" in line for line in text.splitlines() if "skipped:" in line), text
    assert re.search(r"test cases: +(\d{2,}) \| +\1 passed \| 0 failed", text), text
