"""libedgewire, as a C++ program outside this repository uses it: installed, found by pkg-config, linked and run."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_the_example_builds_against_the_installed_library(edgewire, tmp_path):
    build = pathlib.Path(os.environ["EDGEWIRE"]).resolve().parent
    installed = tmp_path / "installed"
    subprocess.run(["meson", "install", "-C", build, "--no-rebuild", "--quiet"], check=True, stdout=subprocess.DEVNULL,
                   env={**os.environ, "DESTDIR": str(installed)})
    description, = installed.rglob("edgewire.pc")
    environment = {**os.environ, "PKG_CONFIG_SYSROOT_DIR": str(installed), "PKG_CONFIG_PATH": str(description.parent)}
    flags = subprocess.run(["pkg-config", "--cflags", "--libs", "edgewire"], env=environment, check=True, text=True,
                           stdout=subprocess.PIPE).stdout.split()
    program = tmp_path / "top_ranks"
    subprocess.run(["c++", "-std=c++20", ROOT / "examples/top_ranks.cpp", *flags, "-o", program], check=True)

    edgewire.ok("generate", "kronecker", "--scale", 10, "-o", tmp_path / "g.ew")
    edgewire.ok("pagerank", tmp_path / "g.ew", "-o", tmp_path / "ranks.tsv")
    ranks = dict(line.split("\t") for line in (tmp_path / "ranks.tsv").read_text().splitlines())
    best = max(ranks, key=lambda vertex: float(ranks[vertex]))
    library_folder, = {path.parent for path in installed.rglob("libedgewire.so")}
    run = subprocess.run([program, tmp_path / "g.ew"], text=True, stdout=subprocess.PIPE, check=True, timeout=60,
                         env={**os.environ, "LD_LIBRARY_PATH": str(library_folder)})
    lines = run.stdout.splitlines()
    assert len(lines) == 6
    assert any(f"vertex {best}, rank {float(ranks[best]):.6f}" in line for line in lines)
    failed = subprocess.run([program, tmp_path / "none.ew"], text=True, stderr=subprocess.PIPE, timeout=60,
                            env={**os.environ, "LD_LIBRARY_PATH": str(library_folder)})
    assert failed.returncode == 1 and "none.ew" in failed.stderr
