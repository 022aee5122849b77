"""make install, make uninstall, and what make says and asks for."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

from installing import ROOT, install, uninstall, variables

NOBODY = 65534


def paths(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def dynamic(path):
    return subprocess.run(["readelf", "-d", path], check=True, text=True, capture_output=True).stdout


def test_an_uninstallation_leaves_what_was_there(tmp_path):
    """Two places, of which one is installed twice: each goes with all its folders, and what others keep there stays."""
    one, other = tmp_path / "one", tmp_path / "a/b/other"
    (one / "bin").mkdir(parents=True)
    (one / "lib/pkgconfig").mkdir(parents=True)  # empty, and not made by the installation
    (one / "bin/mine").write_text("")
    (one / "bin").chmod(0o2775)
    before = paths(one)
    install(one)
    install(other)
    listed = one / "share/edgewire/edgewire.installed"
    assert set(re.findall(r"(?<=/one/).+(?<!/)$", listed.read_text(), re.M)) == \
        {path for path in paths(one) if not (one / path).is_dir()} - {"bin/mine"}
    assert (one / "bin").stat().st_mode & 0o7777 == 0o2775
    # What an earlier version has installed, and the next one does not.
    (one / "share/earlier").mkdir()
    (one / "share/earlier/page").write_text("")
    listed.write_text(listed.read_text() + f"{one}/share/earlier/\n{one}/share/earlier/page\n")
    install(one)
    assert not (one / "share/earlier/page").exists()
    uninstall(one)
    assert paths(one) == before
    assert subprocess.run([other / "bin/edgewire", "--version"], check=False, capture_output=True).returncode == 0
    uninstall(other)
    assert paths(tmp_path) == sorted(["one", *("one/" + path for path in before)])
    again = uninstall(one, check=False)
    assert again.returncode == 2 and again.stderr == f"make uninstall: nothing is installed below {one}; PREFIX=FOLDER names another place\n"
    refused = subprocess.run([ROOT / "tools/install", tmp_path / "none", one], text=True, capture_output=True)
    assert refused.returncode == 2 and f"{tmp_path}/none does not hold all that is installed" in refused.stderr
    assert paths(one) == before


def test_a_package_has_the_paths_of_its_prefix(tmp_path):
    """With DESTDIR: as if it were below /usr/local. Debian's fish looks into the folder where its completion then is."""
    install("/usr/local", tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["etc", "usr"]
    local = tmp_path / "usr/local"
    description, = local.rglob("edgewire.pc")
    assert description.read_text().startswith("prefix=/usr/local\n")
    lib = description.parent.parent.relative_to(local)  # "lib", unless the build folder was set up otherwise
    for path, origin in (("bin/edgewire", f"$ORIGIN/../{lib}/edgewire"), (lib / "libedgewire.so", "$ORIGIN/edgewire")):
        assert f"[{origin}:/usr/local/{lib}/edgewire]" in dynamic(local / path)
    link = tmp_path / "etc/fish/completions/edgewire.fish"
    assert os.readlink(link) == "/usr/local/share/fish/vendor_completions.d/edgewire.fish" and (tmp_path / os.readlink(link)[1:]).is_file()
    if shutil.which("fish"):
        known = subprocess.run(["fish", "-c", "string join \\n $fish_complete_path"], check=True, text=True, capture_output=True,
                               env={"HOME": str(tmp_path), "PATH": os.environ["PATH"]}).stdout.splitlines()
        assert "/etc/fish/completions" in known
    uninstall("/usr/local", tmp_path)
    assert not [path for path in tmp_path.rglob("*") if "edgewire" in path.name] and not (tmp_path / "usr").exists()


def test_shells_and_man_find_it_below_home(tmp_path):
    said = install("~/.local", env={**os.environ, "HOME": str(tmp_path)}).stdout
    environment = {**variables(said), "HOME": str(tmp_path)}
    for name in ("XDG_DATA_HOME", "XDG_DATA_DIRS", "XDG_CONFIG_HOME", "MANPATH"):
        environment.pop(name, None)
    if shutil.which("fish"):
        fish = subprocess.run(["fish", "-c", "complete -C 'edgewire pagerank --damp'"], check=True, text=True, capture_output=True, env=environment)
        assert fish.stdout.startswith("--damping\t")
    if shutil.which("zsh"):
        zsh = subprocess.run(["zsh", "-fc", "fpath+=(~/.local/share/zsh/site-functions); autoload -Uz compinit; compinit -u -D; print $_comps[edgewire]"],
                             check=True, text=True, capture_output=True, env=environment)
        assert zsh.stdout == "_edgewire\n"
    if shutil.which("man"):
        page = subprocess.run(["man", "-w", "edgewire-pagerank"], check=True, text=True, capture_output=True, env=environment).stdout.strip()
        assert page == str(tmp_path / ".local/share/man/man1/edgewire-pagerank.1")


def test_make_alone_prints_its_targets():
    said = subprocess.run(["make"], cwd=ROOT, check=True, text=True, capture_output=True).stdout
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M)
    named = re.findall(r"make ([a-z-]+)", said)
    assert {"demo", "build", "install", "uninstall", "test", "lint", "clean"} <= set(named) <= set(targets)
    assert all(line.startswith("make ") for line in said.splitlines())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_packages_are_asked_for_by_what_needs_them(request):
    """As a user without sudo, on a system that says of no package that it is there: the line is a command for root."""
    asked = {}
    programs = pathlib.Path(tempfile.mkdtemp(dir="/tmp"))  # other users may enter it
    request.addfinalizer(lambda: shutil.rmtree(programs))
    programs.chmod(0o755)
    (programs / "id").symlink_to(shutil.which("id"))
    (programs / "apt-get").symlink_to("/bin/true")  # only looked for: nothing is installed
    for option in ("--build", "--test", "--check", ""):
        with open(ROOT / "tools/install-packages", encoding="utf-8") as script:
            run = subprocess.run(["/bin/sh", "-s", "--", option], stdin=script, user=NOBODY, group=NOBODY, extra_groups=[], text=True,
                                 capture_output=True, env={"PATH": str(programs), "HOME": "/"}, cwd="/")
        assert run.returncode == 1 and run.stderr.count("\n") == 1
        line = re.search("; as root: apt-get update && apt-get install -y --no-install-recommends ([a-z0-9+. -]+)\n$", run.stderr)
        asked[option] = set(line[1].split())
    tests = {"doctest-dev", "fish", "zsh", "python3-pytest"}
    checks = {"clang-format-14", "clang-tidy-14"}
    assert {"g++", "meson", "libfmt-dev"} <= asked["--build"] and not asked["--build"] & (tests | checks)
    assert asked["--build"] | tests <= asked["--test"] and not asked["--test"] & checks
    assert checks <= asked["--check"] and not asked["--check"] & (tests | {"meson"})
    assert asked[""] == asked["--test"] | asked["--check"]
