"""The man pages and the completion of shells, which the program makes from its own options."""

import os
import pathlib
import pty
import re
import select
import shutil
import subprocess
import time

import pytest

import rights
from help_texts import commands, examples, names_below, options
from processes import LIMIT_S

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def pages(edgewire):
    """All man pages by name."""
    return {name: edgewire.ok("manual", name) for name in edgewire.ok("manual").split()}


def needs(program):
    return pytest.mark.skipif(shutil.which(program) is None, reason=f"{program} is not installed (tools/install-packages installs it)")


def test_help_is_what_the_option_prints(edgewire):
    for path, text in commands(edgewire):
        assert edgewire.ok("help", *path) == text


def test_each_command_has_a_page_that_names_all_its_options(edgewire, pages):
    names = [path[0] for path, _ in commands(edgewire) if len(path) == 1]
    assert list(pages)[:2] == ["edgewire.1", "edgewire-options.7"]
    assert sorted(list(pages)[2:]) == sorted(f"edgewire-{name}.1" for name in names)
    for path, text in commands(edgewire):
        page = pages[f"edgewire-{path[0]}.1" if path else "edgewire.1"]
        for name in options(text) - {"-h", "--help"}:
            assert name.replace("-", "\\-") in page, (path, name)
        assert ".SH SEE ALSO\n.BR edgewire" in page
    assert all(f"edgewire\\-{name} (1)" in pages["edgewire.1"] for name in names)


def test_options_of_jobs_are_explained_once(pages):
    said = pages["edgewire-options.7"]
    for name in ("-p, --processes", "--hosts", "--transport", "--verbs-device", "--dpdk-port", "--peer-timeout"):
        heading = f".TP\n.B {name}".replace("-", "\\-")
        assert said.count(heading + " ") == 1
        others = [page for page in pages if page not in ("edgewire-options.7", "edgewire-topology.1", "edgewire-compare.1", "edgewire-bound.1")]
        assert [page for page in others if heading + " " in pages[page]] == (["edgewire-netbench.1"] if name == "-p, --processes" else [])
    assert ".BR edgewire\\-options (7)" in pages["edgewire-bfs.1"] and ".BR edgewire\\-options (7)" in pages["edgewire-sort.1"]


def test_all_pages_are_installed(pages):
    """meson.build finds the commands in this text."""
    listed = re.findall(r'{\.path = "([a-z]+)"', (ROOT / "src/cli/commands.cpp").read_text())
    assert {f"edgewire-{name}.1" for name in listed if name != "manual"} == set(pages) - {"edgewire.1", "edgewire-options.7"}


def each_page(pages, tmp_path):
    for name, text in pages.items():
        (tmp_path / name).write_text(text)
        yield tmp_path / name


@needs("man")
def test_man_shows_the_pages(pages, tmp_path):
    for path in each_page(pages, tmp_path):
        shown = subprocess.run(["man", "--warnings", "-l", "-E", "UTF-8", path], capture_output=True, text=True,
                               env={**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
        assert (shown.returncode, shown.stderr) == (0, ""), path
        assert "SEE ALSO" in shown.stdout and max(map(len, shown.stdout.splitlines())) <= 80
    assert subprocess.run(["man", "-l", tmp_path / "edgewire-options.7"], capture_output=True, text=True,
                          env={**os.environ, "MANWIDTH": "80"}).stdout.count("--transport auto|shm|tcp|shm+tcp|verbs|shm+verbs|dpdk") == 1


@needs("mandoc")
def test_mandoc_has_nothing_to_say(pages, tmp_path):
    said = subprocess.run(["mandoc", "-T", "lint", "-W", "style", *each_page(pages, tmp_path)], capture_output=True, text=True)
    # That pages refer to each other is seen only where they are installed.
    assert [line for line in said.stdout.splitlines() if "referenced manual not found" not in line] == []


@pytest.fixture(scope="module")
def folder(edgewire, tmp_path_factory):
    """Where the examples of the pages run, one after the other."""
    folder = tmp_path_factory.mktemp("examples")
    (folder / "edges.txt").write_text("".join(f"{v} {(v * 7 + 3) % 40}\n{v} {(v + 1) % 40}\n" for v in range(40)))
    (folder / "names.tsv").write_text("ada\tbob\nbob\tcy\ncy\tada\n")
    (folder / "bin").mkdir()
    (folder / "bin/edgewire").symlink_to(pathlib.Path(edgewire.program).resolve())
    return folder


def test_pages_have_the_examples_of_help(edgewire, pages):
    for path, text in commands(edgewire):
        shown = [line.replace("\\-", "-").replace("\\e", "\\")
                 for line in re.findall(r"^\.RS 4\n(.*)\n\.RE$", pages[f"edgewire-{path[0]}.1" if path else "edgewire.1"], re.M)]
        assert set(examples(text)) <= set(shown) and (len(path) > 1 or examples(text) == shown), path


def test_every_example_works(edgewire, folder):
    """Those that the help of all commands shows, of which some read what others make."""
    found = []
    for path, text in commands(edgewire):
        below = names_below(text)
        assert 1 <= len(examples(text)) <= (3 if not path or not below else len(below)), path
        found += [(path, line) for line in examples(text) if not path or not below]
    first = ("generate", "convert")
    for name, line in sorted(found, key=lambda one: first.index(one[0][0]) if one[0] and one[0][0] in first else 2):
        if line.startswith("edgewire compare") and rights.no_hosts():
            continue
        line = line.replace("--scale 16", "--scale 9")  # as well, and sooner
        done = subprocess.run(["bash", "-c", line], cwd=folder, capture_output=True, text=True, timeout=LIMIT_S,
                              env={**os.environ, "PATH": f"{folder / 'bin'}:{os.environ['PATH']}"})
        assert done.returncode == 0, (name, line, done.stderr)


# What is typed, and what may stand there.
WANTED = [
    ("pager", ["pagerank"]), ("generate ", ["kronecker", "uniform", "grid", "records"]), ("help net", ["netbench"]),
    ("help tasks met", ["metg"]), ("tasks smi", ["smith-waterman"]), ("pagerank g.ew --transport v", ["verbs"]),
    ("tasks metg --patt", ["--pattern"]), ("tasks metg --pattern f", ["fft"]), ("pagerank --iterat", ["--iterations"]),
    ("bfs --target 3 --parall", ["--parallel"]), ("profile -- pager", ["pagerank"]), ("profile -- spmv --wei", []),
    ("wcc graph-of-the", ["graph-of-the-net.ew"]), ("wcc --json graph-of-the", ["graph-of-the-net.ew"]), ("transports graph-of-the", []),
]


# Not in fish, for which no option follows --.
OF_A_PROFILED_RUN = ("profile -- pagerank --iterat", ["--iterations"])


@pytest.fixture(scope="module")
def scripts(edgewire, tmp_path_factory):
    folder = tmp_path_factory.mktemp("completion")
    (folder / "graph-of-the-net.ew").touch()
    for shell in ("bash", "zsh", "fish"):
        (folder / f"edgewire.{shell}").write_text(edgewire.ok("manual", shell))
    return folder


@pytest.mark.parametrize("typed, wanted", [*WANTED, OF_A_PROFILED_RUN,
                                           ("pagerank --transport =", ["auto", "shm", "tcp", "shm+tcp", "verbs", "shm+verbs", "dpdk"]),
                                           ("pagerank --transport = d", ["dpdk"])])
def test_bash_completes(scripts, typed, wanted):
    """Files are the shell's own, where the program has nothing to offer (complete -o default)."""
    words = typed.split(" ")
    shell = subprocess.run(["bash", "-uc", 'source "$0"; complete -p edgewire >&2; COMP_WORDS=(edgewire "$@"); COMP_CWORD=$#; _edgewire; '
                            'echo "${COMPREPLY[@]-}"', scripts / "edgewire.bash", *words], capture_output=True, text=True)
    assert shell.stderr == "complete -o default -F _edgewire edgewire\n"
    assert shell.stdout.split() == ([] if wanted == ["graph-of-the-net.ew"] else wanted)


@needs("fish")
@pytest.mark.parametrize("typed, wanted", [*WANTED, ("pagerank --transport=d", ["--transport=dpdk"])])
def test_fish_completes(scripts, tmp_path, typed, wanted):
    script = f"source edgewire.fish; complete -C 'edgewire {typed}'"
    shell = subprocess.run(["fish", "--no-config", "-c", script], cwd=scripts, capture_output=True, text=True, timeout=LIMIT_S,
                           env={**os.environ, "HOME": str(tmp_path)})
    assert shell.stderr == "" and sorted(line.split("\t")[0] for line in shell.stdout.splitlines()) == sorted(wanted)


def typed_into_zsh(folder, line):
    """The words of the line after the tabulator key, one a line."""
    master, slave = pty.openpty()
    shell = subprocess.Popen(["zsh", "-f", "-i"], stdin=slave, stdout=slave, stderr=slave, cwd=folder, start_new_session=True,
                             env={**os.environ, "TERM": "dumb", "HOME": str(folder), "COLUMNS": "200"})
    os.close(slave)
    seen = ""

    def until(mark):
        nonlocal seen
        end = time.monotonic() + LIMIT_S
        while mark not in seen:
            assert select.select([master], [], [], max(0, end - time.monotonic()))[0], seen
            seen += os.read(master, 65536).decode(errors="replace")

    try:
        os.write(master, b"unsetopt zle_bracketed_paste; autoload -Uz compinit; compinit -u -D; source edgewire.zsh; setopt no_beep no_list_beep; "
                         b"zstyle ':completion:*' list-prompt ''; LISTMAX=1000; edgewire() { print -rl -- GOT-$^@ END-OF-WORDS; }; print RE''ADY\n")
        until("READY")
        os.write(master, f"edgewire {line}\t\n".encode())
        until("END-OF-WORDS\r")
        return seen.replace("\r", "")
    finally:
        shell.kill()
        shell.wait()
        os.close(master)


@needs("zsh")
@pytest.mark.parametrize("typed, wanted", [*WANTED, OF_A_PROFILED_RUN])
def test_zsh_completes(scripts, typed, wanted):
    seen = typed_into_zsh(scripts, typed)
    words = re.findall(r"^GOT-(.*)$", seen, re.M)
    if len(wanted) == 1:
        assert words == [*typed.split(" ")[:-1], wanted[0]], seen
    else:
        assert words == typed.split(), seen
        shown = seen.rpartition("READY")[2]
        assert all(re.search(rf"^{word} +--", shown, re.M) for word in wanted), seen
