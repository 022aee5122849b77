"""No output replaces an input or another output; outputs keep permissions and links, and are what their names say."""

import gzip
import os
import re
import stat
import subprocess

import pytest

import graphs
import reference
import rights
from disks import bind_mount
from system_calls import refusing

ANOTHER = 12345  # a user
SOLO = ["-p", 1, "-w", 1]


@pytest.fixture
def path(tmp_path):
    return reference.write_graph(tmp_path / "g.ew", graphs.make("self loops"))


@pytest.fixture(params=["a link", "a bind mount"])
def here(request, tmp_path):
    """Another name of the folder of the test, in it."""
    name = tmp_path / "here"
    if request.param == "a link":
        name.symlink_to(".")
        yield name
    else:
        with bind_mount(tmp_path, name):
            yield name


def contents(folder):
    """Of all files, by name."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def refused(edgewire, *words, **options):
    """The line with which the program gave up; nothing was written to stdout."""
    result = edgewire(*words, **options)
    lines = result.stderr.splitlines()
    assert result.returncode in (1, 2) and len(lines) == 1 and result.stdout == "", result
    return lines[0].removeprefix("edgewire: ")


KERNELS = [["pagerank"], ["ppr", "--sources", "0"], ["spmv"], ["bfs", "--source", "0"], ["sssp", "--source", "0"], ["wcc"], ["scc"], ["bc"],
           ["cdlp"], ["lcc"], ["tc"]]


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda words: words[0])
def test_kernels_keep_their_graph(edgewire, path, tmp_path, kernel):
    before = contents(tmp_path)
    for option in ["-o", "--json", "--trace", "--profile-page"]:
        assert refused(edgewire, *kernel, path, option, path) == f"{path}: input and output are the same file"
    assert contents(tmp_path) == before


# The words of a command that reads the file `in` and writes to OUT.
OTHERS = {
    "bound --json": ["bound", "in", "--json", "OUT"], "bound --csv": ["bound", "in", "--csv", "OUT"],
    "bound --ownership": ["bound", "g.ew", "-p", "2", "--ownership", "in", "--json", "OUT"],
    "compare -o": ["compare", "in", "-o", "OUT"], "compare --json": ["compare", "in", "--json", "OUT"],
    "info": ["info", "in", "--json", "OUT"],
    "convert": ["convert", "in", "--format", "snap", "--to", "ew", "-o", "OUT"],
    "convert in parts": ["convert", "in", "--memory", "128M", "--to", "ew", "-o", "OUT"],
    "convert several": ["convert", "other.el", "in", "--to", "ew", "-o", "OUT"],
    "convert outwards": ["convert", "in", "--to", "el", "-o", "OUT"],
    "convert --json": ["convert", "in", "-o", "made.ew", "--json", "OUT"],
    "convert --vertices": ["convert", "other.el", "--vertices", "in", "--to", "ew", "-o", "OUT"],
    "sort": ["sort", "in", "-o", "parts", "--json", "OUT"], "sort --trace": ["sort", "in", "-o", "parts", "--trace", "OUT"],
    "topology": ["topology", "--xml", "in", "--json", "OUT"],
    "profile -o": ["profile", "-o", "OUT", "--", "pagerank", "in"], "profile --trace": ["profile", "--trace", "OUT", "--", "pagerank", "in"],
    "profile, of the kernel": ["profile", "--", "pagerank", "in", "-o", "OUT"],
    "ownership": ["pagerank", "g.ew", "--ownership", "in", "-o", "OUT"],
    "one of several ownerships": ["pagerank", "g.ew", "--ownership", "auto,in", "--json", "OUT"],
    "spmv --x": ["spmv", "g.ew", "--x", "in", "-o", "OUT"],
    "sources of bfs": ["bfs", "g.ew", "--sources", "@in", "-o", "OUT"], "sources of ppr": ["ppr", "g.ew", "--sources", "@in", "-o", "OUT"],
    "sources of bc": ["bc", "g.ew", "--sources", "@in", "--json", "OUT"],
    "hosts": ["wcc", "g.ew", "--hosts", "in", "--rank", "0", "--json", "OUT"],
    "secret": ["netbench", "--secret-file", "in", "--json", "OUT"],
    "sequences": ["tasks", "smith-waterman", "--sequences", "in", "other", "--json", "OUT"],
    "metg": ["tasks", "metg", "--hosts", "in", "--json", "OUT"],
}


@pytest.mark.parametrize("words", OTHERS.values(), ids=OTHERS.keys())
def test_no_input_is_written_over(edgewire, path, tmp_path, words):
    (tmp_path / "in").write_text("0 1\n1 2\n")
    (tmp_path / "link").symlink_to("in")
    (tmp_path / "here").symlink_to(".")
    before = contents(tmp_path)
    for name in ("in", "./here/in", tmp_path / "link"):
        line = refused(edgewire, *[name if word == "OUT" else word for word in words], cwd=tmp_path)
        assert line == f"{name}: input and output are the same file"
    assert contents(tmp_path) == before


def test_side_files_are_inputs(edgewire, tmp_path):
    (tmp_path / "g.txt").write_text("a b\n")
    edgewire.ok("convert", "g.txt", "--labels", "-o", "g.ew", cwd=tmp_path)
    before = contents(tmp_path)
    for words in (["pagerank", "g.ew", "-o", "g.ew.labels"], ["convert", "g.ew", "--to", "el", "-o", "g.ew.labels"],
                  ["convert", "g.txt", "--labels", "-o", "h.ew", "--json", "./h.ew.labels"]):
        assert f"{words[-1]}: " in refused(edgewire, *words, cwd=tmp_path)
    with open(tmp_path / "g.txt", "rb") as stdin:
        assert refused(edgewire, "convert", "-", "--format", "snap", "--to", "el", "-o", "g.txt", cwd=tmp_path,
                       stdin=stdin) == "g.txt: input and output are the same file"
    assert contents(tmp_path) == before


def test_stdout_is_an_output(edgewire, path, tmp_path):
    shell = [["info g.ew >> g.ew", "g.ew: input and output are the same file"],
             ["pagerank g.ew -o out > out", "out: -o would write over the output on stdout"]]
    before = path.read_bytes()
    for words, line in shell:
        result = subprocess.run(f"{edgewire.program} {words}", shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert (result.returncode, result.stderr) == (1, f"edgewire: {line}\n")
    assert path.read_bytes() == before


@pytest.mark.parametrize("words", [
    ["pagerank", "g.ew", "-o", "f", "--json", "here/f"], ["pagerank", "g.ew", "--profile-page", "f", "--trace", "f"], ["bfs", "g.ew", "--source", "0", "-o", "f", "--json", "./f"],
    ["bound", "g.ew", "--json", "f", "--csv", "f"], ["compare", "g.ew", "-o", "here/f", "--csv", "f"], ["convert", "in.el", "-o", "f.ew", "--json", "here/f.ew"],
    ["convert", "in.el", "--labels", "-o", "f.ew", "--json", "here/f.ew.labels"], ["convert", "in.el", "--parts", "-o", "f/", "--json", "here/f"],
    ["profile", "-o", "f", "--", "pagerank", "g.ew", "--json", "here/f"], ["sort", "in", "-o", "here/f", "--json", "f"],
    ["sort", "in", "-o", "here", "--json", "part-00000-of-00001"], ["sort", "here/part-00000-of-00001", "-o", "."],
    ["pagerank", "g.ew", "--checkpoint", "c", "--json", "here/c/manifest"], ["pagerank", "g.ew", "--checkpoint", "here/c/d", "--json", "c/d"],
    ["pagerank", "g.ew", "--plan-cache", "--json", "here/g.ew.plan-0-of-1"], ["pagerank", "g.ew", "-o", "f", "--output-parts", "--json", "here/f.0000-of-0001"],
    ["pagerank", "g.ew", "--edges", "disk", "--devices", "here,."],
    ["bfs", "g.ew", "--sources", "1,2", "-o", "f{}", "--json", "here/f2"]], ids=lambda words: " ".join(words))
@pytest.mark.usefixtures("here")
def test_two_outputs_are_two_files(edgewire, path, tmp_path, words):
    for name in ("in", "in.el", "part-00000-of-00001"):
        (tmp_path / name).write_bytes(b"0 1\n" * 25)
    before = contents(tmp_path)
    line = refused(edgewire, *words, cwd=tmp_path)
    assert re.search("would write the same file$|would write over |files of this name in /|is named twice", line), line
    assert contents(tmp_path) == before


def test_inputs_of_sort_may_be_in_its_folder_but_are_no_parts(edgewire, tmp_path):
    (tmp_path / "records").write_bytes(bytes(range(100)))
    edgewire.ok("sort", "records", "-o", ".", *SOLO, cwd=tmp_path)
    assert contents(tmp_path) == {"records": bytes(range(100)), "part-00000-of-00001": bytes(range(100))}
    assert "part-00000-of-00001: input reads this file" in refused(edgewire, "sort", "part-00000-of-00001", "-o", ".", *SOLO, cwd=tmp_path)
    assert contents(tmp_path) == {"records": bytes(range(100)), "part-00000-of-00001": bytes(range(100))}


def test_devices_may_be_named_several_times(edgewire, path):
    edgewire.ok("pagerank", path, *SOLO, "-o", "/dev/null", "--json", "/dev/null", "--trace", "/dev/null")
    assert refused(edgewire, "pagerank", path, "-o", "-", "--trace", "/dev/stdout") == "-o - and --trace -: only one of them can have stdout"
    report = edgewire.ok("pagerank", path, *SOLO, "--json", "/dev/stdout")
    assert report.startswith("{") and report.endswith("}\n")
    assert edgewire.ok("pagerank", path, *SOLO, "--profile-page", "-").startswith("<!")


# What writes a file of each kind over OUT.
WRITERS = {"ranks": ["pagerank", "g.ew", *SOLO, "-o", "OUT"], "report": ["wcc", "g.ew", *SOLO, "--json", "OUT"],
           "graph": ["generate", "uniform", "--vertices", 9, "-o", "OUT"], "conversion": ["convert", "in.el", "-w", 1, "--to", "ew", "-o", "OUT"],
           "in parts": ["convert", "in.el", "--memory", "128M", *SOLO, "--to", "ew", "-o", "OUT"], "text": ["convert", "in.el", "--to", "mtx", "-o", "OUT"]}


@pytest.fixture
def written(edgewire, path, tmp_path, request):
    """Runs a writer; OUT is the given name."""
    (tmp_path / "in.el").write_text("0 1\n1 2\n")
    words = WRITERS[request.param]
    return lambda name, **options: edgewire(*[name if word == "OUT" else word for word in words], cwd=tmp_path, **options)


@pytest.mark.parametrize("written", WRITERS, indirect=True)
def test_outputs_keep_permissions_owner_and_links(written, tmp_path):
    target = tmp_path / "target"
    target.write_text("older")
    target.chmod(0o600)
    if not rights.no_gifts():
        os.chown(target, ANOTHER, ANOTHER)
    (tmp_path / "out").symlink_to("target")
    assert written("out").returncode == 0
    status = target.lstat()
    assert stat.S_IMODE(status.st_mode) == 0o600 and stat.S_ISREG(status.st_mode) and status.st_size > 5
    assert rights.no_gifts() or (status.st_uid, status.st_gid) == (ANOTHER, ANOTHER)
    assert os.readlink(tmp_path / "out") == "target"
    (tmp_path / "dangling").symlink_to("missing")
    result = written("dangling")
    assert (result.returncode, result.stderr.count("\n")) == (1, 1) and "which is missing" in result.stderr
    assert sorted(os.listdir(tmp_path)) == sorted(["dangling", "g.ew", "in.el", "out", "target"])


@pytest.mark.skipif(bool(rights.no_gifts()), reason=rights.no_gifts())
@pytest.mark.parametrize("mode", [0o1777, 0o777], ids=["sticky", "shared"])
@pytest.mark.parametrize("written", WRITERS, indirect=True)
def test_links_of_others_in_shared_folders_are_refused(written, tmp_path, mode):
    victim, shared = tmp_path / "victim", tmp_path / "shared"
    victim.write_text("precious")
    shared.mkdir()
    shared.chmod(mode)
    (shared / "out").symlink_to(victim)
    os.chown(shared / "out", ANOTHER, ANOTHER, follow_symlinks=False)
    result = written("shared/out")
    assert (result.returncode, result.stderr.count("\n")) == (1, 1) and "a link of another user" in result.stderr
    assert victim.read_text() == "precious" and os.listdir(shared) == ["out"]


@pytest.mark.skipif(bool(rights.no_gifts()), reason=rights.no_gifts())
@pytest.mark.parametrize("words, name", [
    (["sort", "in", "-o", "shared", *SOLO, "--partitions", 1], "part-00000-of-00001"), (["generate", "records", "--bytes", "1k", "-o", "shared"], "records-00000"),
    (["pagerank", "g.ew", *SOLO, "-o", "shared/r", "--output-parts"], "r.0000-of-0001"), (["convert", "in", "--labels", "--format", "snap", "-o", "shared/l.ew"], "l.ew.labels"),
    (["pagerank", "g.ew", *SOLO, "--checkpoint", "shared", "--every", 1], "manifest")], ids=lambda words: str(words[0]))
def test_links_at_names_that_the_program_makes(edgewire, path, tmp_path, words, name):
    victim, shared = tmp_path / "victim", tmp_path / "shared"
    (tmp_path / "in").write_bytes(b"0 1\n" * 25)
    victim.write_text("precious")
    shared.mkdir()
    shared.chmod(0o1777)
    (shared / name).symlink_to(victim)
    os.chown(shared / name, ANOTHER, ANOTHER, follow_symlinks=False)
    assert refused(edgewire, *words, cwd=tmp_path)
    assert victim.read_text() == "precious"


@pytest.mark.parametrize("written", ["ranks", "graph", "in parts"], indirect=True)
def test_outputs_where_links_are_refused(written, edgewire, tmp_path):
    for _ in range(2):  # the second replaces the first
        result = written("out", preexec_fn=refusing("linkat"))
        assert result.returncode == 0, result.stderr
    assert sorted(os.listdir(tmp_path)) == ["g.ew", "in.el", "out"]
    assert (tmp_path / "out").stat().st_size > 0


def test_text_is_compressed_when_its_name_says_so(edgewire, path, tmp_path):
    plain = edgewire.ok("pagerank", path, *SOLO, "--deterministic", "-o", "-").encode()
    edgewire.ok("pagerank", path, *SOLO, "--deterministic", "-o", tmp_path / "r.tsv.gz", "--json", tmp_path / "r.json.zst")
    assert gzip.decompress((tmp_path / "r.tsv.gz").read_bytes()) == plain
    assert (tmp_path / "r.json.zst").read_bytes()[:4] == b"\x28\xb5\x2f\xfd"
    edgewire.ok("pagerank", path, *SOLO, "--deterministic", "--output-parts", "-o", tmp_path / "r.gz")
    assert sorted(gzip.decompress((tmp_path / "r.gz.0000-of-0001").read_bytes()).splitlines()) == sorted(plain.splitlines())
    edgewire.ok("wcc", path, *SOLO, "-o", tmp_path / "w.gz")
    assert len(gzip.decompress((tmp_path / "w.gz").read_bytes()).splitlines()) == len(plain.splitlines())


@pytest.mark.parametrize("ending", ["gz", "zst", "xz", "bz2"])
def test_what_is_not_compressed_says_so(edgewire, path, tmp_path, ending):
    (tmp_path / "in").write_bytes(b"0 1\n" * 25)
    before = contents(tmp_path)
    for words in (["generate", "uniform", "--vertices", 9, "-o"], ["convert", "in", "--to", "sg", "-o"], ["convert", "in", "--to", "ew", "-o"],
                  ["sort", "in", "-o"], ["generate", "records", "--bytes", "1k", "-o"], ["pagerank", path, "--checkpoint"]):
        assert refused(edgewire, *words, f"x.{ending}", cwd=tmp_path).startswith(f"x.{ending}: output is not compressed")
    if ending in ("xz", "bz2"):
        for words in (["pagerank", path], ["convert", "in", "--to", "el"]):
            assert "text is written plain, as .gz or as .zst" in refused(edgewire, *words, "-o", f"x.tsv.{ending}", cwd=tmp_path)
    assert contents(tmp_path) == before


@pytest.mark.parametrize("words", [["generate", "uniform", "--vertices", 9, "-o"], ["generate", "records", "--bytes", "1k", "-o"], ["sort", "in", "-o"],
                                   ["convert", "in", "--to", "ew", "-o"], ["pagerank", "g.ew", "--checkpoint"]], ids=lambda words: " ".join(map(str, words)))
def test_what_cannot_go_to_stdout_says_so(edgewire, path, tmp_path, words):
    (tmp_path / "in").write_bytes(b"0 1\n" * 25)
    result = edgewire(*words, "-", cwd=tmp_path)
    assert result.returncode == 2 and result.stderr.count("\n") == 1 and "stdout" in result.stderr
    assert sorted(os.listdir(tmp_path)) == ["g.ew", "in"]


@pytest.mark.parametrize("written", WRITERS, indirect=True)
def test_outputs_that_cannot_be(written, tmp_path):
    (tmp_path / "folder").mkdir()
    for name, cause in (("folder", "directory"), ("missing/out", "No such file or directory")):
        result = written(name)
        assert result.returncode == 1 and result.stderr.count("\n") == 1, result.stderr
        assert result.stderr.startswith(f"edgewire: {name}: ") and cause in result.stderr
    assert sorted(os.listdir(tmp_path)) == ["folder", "g.ew", "in.el"] and not os.listdir(tmp_path / "folder")
