"""The packages that the peers come in: taken by name, and put into the build folder. Only our own programs are built."""

import shutil
import sys

from measure import ROOT, Failed, run


def python_with(folder, packages):
    """The Python of a virtual environment that has these packages of PyPI. They come built; none is built here."""
    python = folder / "bin/python"
    if not python.exists():
        is_new = not folder.exists()
        try:
            run([sys.executable, "-m", "venv", folder])
        except Failed as error:
            if is_new:
                shutil.rmtree(folder, ignore_errors=True)
            raise Failed(f"a virtual environment cannot be made (apt-get install python3-venv): {error}") from error
    try:
        run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:", *packages])
    except Failed as error:
        raise Failed(f"pip cannot install {' '.join(packages)}: {error}") from error
    return python


def timely_program(build):
    """Our program on the crate timely. Cargo takes the crate from its registry, by the name and version in Cargo.toml."""
    if not shutil.which("cargo"):
        raise Failed("timely needs cargo, which is not here (install Rust 1.86 or later)")
    target = build / "peers/timely"
    run(["cargo", "build", "--release", "--manifest-path", ROOT / "perf/peers/timely/Cargo.toml", "--target-dir", target])
    return target / "release/timely-pagerank"


def system_program(name, package):
    """The path of a program of the system's package."""
    path = shutil.which(name)
    if not path:
        raise Failed(f"{name} is not here (apt-get install {package})")
    return path
