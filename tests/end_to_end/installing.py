"""Installs the build folder of the program that is tested: what `make install` does after the build."""

import os
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["EDGEWIRE"]).resolve().parent


def install(prefix, destdir="", **options):
    return subprocess.run([ROOT / "tools/install", BUILD, prefix, destdir], check=True, text=True, capture_output=True, **options)


def uninstall(prefix, destdir="", **options):
    return subprocess.run([ROOT / "tools/install", "--uninstall", prefix, destdir], **{"check": True, "text": True, "capture_output": True, **options})


def variables(said):
    """The environment of a shell that has run the last line which install() has printed, and knows no other place of the library."""
    line = re.search(r"export .*", said)[0]
    plain = {name: value for name, value in os.environ.items() if name not in ("LD_LIBRARY_PATH", "PKG_CONFIG_PATH", "CMAKE_PREFIX_PATH")}
    shown = subprocess.run(["sh", "-c", line + "; env -0"], check=True, text=True, capture_output=True, env=plain).stdout
    return dict(one.split("=", 1) for one in shown.split("\0") if one)
