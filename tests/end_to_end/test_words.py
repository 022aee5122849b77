"""What the program says to somebody who made a mistake: one line that names it, and a remedy that works."""

import json
import pathlib
import re

import pytest

import job as jobs
from help_texts import commands

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def graph(edgewire, tmp_path_factory):
    path = tmp_path_factory.mktemp("words") / "g.ew"
    edgewire.ok("generate", "kronecker", "--scale", 8, "-o", path)
    return path


@pytest.mark.parametrize("words, line", [
    ("", "a command is missing (edgewire --help shows"),
    ("frobnicate", "there is no command 'frobnicate' (edgewire --help"),
    ("version", "there is no command 'version'; did you mean --version?"),
    ("components g.ew", "there is no command 'components'; did you mean wcc?"),
    ("help pagernak", "there is no command 'pagernak'; did you mean pagerank? (edgewire --help"),
    ("help tasks mteg", "tasks: there is no 'mteg', but number-inc, yield, suspend, iterative, iterative-j, smith-waterman or metg; did you mean metg?"),
    ("help pagerank graph", "help: pagerank has no commands, and so no 'graph'"),
    ("-V", "edgewire has no option -V; did you mean --version?"),
    ("generate", "generate: say what: kronecker, uniform, grid or records ("),
    ("generate kroneker", "generate: there is no 'kroneker', but kronecker, uniform, grid or records; did you mean kronecker?"),
    ("pagerank", "pagerank: graph is required ("),
    ("ppr g.ew --sources", "--sources needs a value ("),
    ("ppr g.ew --sorces 3", "ppr has no option --sorces; did you mean --sources?"),
    ("bfs g.ew --iterations 5", "bfs has no option --iterations; --iterations is an option of pagerank, ppr, spmv and cdlp (edgewire bfs"),
    ("pagerank g.ew --iter 5", "pagerank has no option --iter; did you mean --iterations?"),
    ("pagerank g.ew --iter=5 h.ew", "pagerank has no option --iter; did you mean --iterations?"),
    ("pagerank g.ew h.ew k.ew", "pagerank: 'h.ew' is one argument too many ("),
    ("pagerank g.ew --plan-cache plans", "pagerank: 'plans' is one argument too many (a folder is --plan-cache=plans) ("),
    ("pagerank g.ew --every 5", "--every needs --checkpoint ("),
    ("pagerank g.ew -n 4", "pagerank has no option -n; did you mean --processes?"),
    ("pagerank g.ew -np 4", "pagerank has no option -np; did you mean --processes?"),
    ("pagerank g.ew --threads 4", "pagerank has no option --threads; did you mean --workers?"),
    ("spmv g.ew --threads=4", "spmv has no option --threads; did you mean --workers?"),
    ("pagerank g.ew --alpha 0.5", "pagerank has no option --alpha; did you mean --damping?"),
    ("ppr g.ew --eps 1e-9", "ppr has no option --eps; did you mean --tolerance?"),
    ("ppr g.ew --tol 1e-9", "ppr has no option --tol; did you mean --tolerance?"),
    ("cdlp g.ew --max-iter 9", "cdlp has no option --max-iter; did you mean --iterations?"),
    ("cdlp g.ew --iters 9", "cdlp has no option --iters; did you mean --iterations?"),
    ("wcc g.ew --out x", "wcc has no option --out; did you mean --output?"),
    ("wcc g.ew --outfile=x", "wcc has no option --outfile; did you mean --output?"),
    ("wcc g.ew --check", "wcc has no option --check; did you mean --verify?"),
    ("wcc g.ew -iterations 3", "wcc has no option -iterations ("),
    ("pagerank g.ew -damping 1", "pagerank has no option -damping; did you mean --damping?"),
    ("pagerank g.ew --weights", "pagerank has no option --weights; did you mean --weighted?"),
    ("wcc g.ew --alpha 1", "wcc has no option --alpha; --damping is an option of pagerank and ppr (edgewire wcc"),
    ("info g.ew --strategy cover", "info has no option --strategy; --strategy is an option of pagerank, ppr, spmv, bound and compare ("),
    ("info g.ew --threads 2", "info has no option --threads; did you mean --workers?"),
    ("transports --processes 2", "transports has no option --processes; --processes is an option of topology, pagerank, bfs, sssp, ppr and "),
    ("bfs g.ew --root 4", "bfs has no option --root; did you mean --source?"),
    ("--workers 2 pagerank g.ew", "--workers stands before the command pagerank: options and files go behind it"),
    ("g.ew pagerank", "g.ew stands before the command pagerank"),
    ("pagerank g.ew --output", "--output needs a value ("),
    ("pagerank g.ew --top", "--top needs a value ("),
    ("pagerank g.ew --transport", "--transport needs a value: auto, shm, tcp, shm+tcp, verbs, shm+verbs or dpdk ("),
    ("pagerank g.ew --iterations 1e3", "--iterations: 1e3 is not a whole number from 0 to 2147483647 ("),
    ("pagerank g.ew -w 0", "--workers: 0 is not a whole number from 1 to 1024 ("),
    ("bfs g.ew --samples 0", "--samples: 0 is not a whole number from 1 to 4294967296 ("),
    ("generate kronecker --scale 4 -o x.ew --seed abc", "--seed: cannot understand 'abc' ("),
    ("profile", "profile: a run is missing, as in edgewire profile -o page.html -- pagerank GRAPH ..."),
    ("profile -- info", "profile runs pagerank, bfs, sssp, ppr, spmv, wcc, scc, bc, cdlp, lcc, tc, sort, tasks, convert, not info"),
    ("profile -- pagernak g.ew",
     "profile runs pagerank, bfs, sssp, ppr, spmv, wcc, scc, bc, cdlp, lcc, tc, sort, tasks, convert, not pagernak; did you mean pagerank?"),
    ("profile -- tasks metg", "tasks metg has no profile: its tasks become so short that measuring them would take longer than they do; "),
    ("tasks metg --trace t.json", "tasks metg has no profile: "),
    ("tasks metg --sample-interval 1", "tasks metg has no profile: "),
    ("pagerank g.ew --sample-interval 1", "--sample-interval belongs to a profile: give --profile, --profile-page or --trace, too"),
    ("sort r -o out --sample-interval 1", "--sample-interval belongs to a profile: "),
    ("tasks yield --sample-interval 1", "--sample-interval belongs to a profile: "),
    ("sort r -o out --memory 0", "--memory: 0 is not a whole number from 1 to "),
    ("convert g.txt -o g.ew --memory 0M", "--memory: 0 is not a whole number from 1 to "),
    ("wcc g.ew -o out/ --output-parts", "--output-parts needs -o with the name that the parts begin with"),
    ("pagerank g.ew --top 3 --top 4", "--top is given 2 times: give it once ("),
    ("tasks smith-waterman --sequences a", "--sequences takes 2 values, not 1 ("),
    ("bfs g.ew --source 1 --sources 2", "--source and --sources do not go together: leave one of them out ("),
    ("convert g.txt -o g.ew --format foo", "--format: foo is not one of auto, snap, csv, "),
    ("convert g.txt -o g.ew --to metis", "--to: metis is not one of auto, csv, el, ew, "),
    ("pagerank g.ew --order strip", "--order: strip is not one of auto, strips, hilbert or bins; did you mean strips? ("),
    ("tasks yield --retry --profile", "--retry loses the times of a lost process: leave --retry or the profile out"),
    ("profile -- pagerank", "pagerank: graph is required (edgewire pagerank --help"),
    ("profile -- pagerank g.ew --iter 5", "pagerank has no option --iter; did you mean --iterations?"),
    ("profile pagerank g.ew -p 2", "profile has no option -p: a run and its options stand behind --, as in"),
    ("bound g.ew --kernel bfs --source 0 --precision f64", "--precision belongs to --kernel pagerank, ppr and spmv, not to bfs"),
])
def test_a_wrong_command_line(edgewire, words, line):
    said = edgewire.refused(*words.split(), status=2)
    assert said.startswith(line), said


OWNERSHIPS = {"pagerank": "hash, ranges, hilbert, grid, auto", "ppr --source 0": "hash, ranges, hilbert, grid, auto",
              "spmv": "hash, ranges, hilbert, grid, auto", "bfs --source 0": "hash, ranges", "sssp --unit-weights --source 0": "hash, ranges",
              "wcc": "hash, ranges", "scc": "hash, ranges", "cdlp": "hash, ranges", "lcc": "hash, ranges", "tc": "hash, ranges", "bc --source 0": "hash, ranges",
              "bound": "hash, ranges, hilbert, grid", "bound --kernel wcc": "hash, ranges, hilbert, grid",
              "compare": "hash, ranges, hilbert, grid, auto"}


@pytest.mark.parametrize("words", OWNERSHIPS)
def test_a_word_that_is_no_ownership(edgewire, graph, tmp_path, monkeypatch, words):
    """Nobody reads the graph first; a file of the name of an ownership is meant with its path."""
    monkeypatch.chdir(tmp_path)
    command, *options = words.split()
    run = [command, graph, *options, "-p", 2, "--ownership"]
    names = OWNERSHIPS[words]
    assert edgewire.refused(*run, "rangse", status=2) == (
        f"--ownership rangse: it is none of {names}, and no file here; did you mean ranges? "
        "(name a partition file with its path, as ./rangse)")
    if "hilbert" in names:
        assert "; did you mean hilbert? (" in edgewire.refused(command, "no graph", *options, "-p", 2, "--ownership", "Hilbrt", status=2)
    assert "did you mean" not in edgewire.refused(*run, "parts.txt", status=2)
    missing = edgewire.refused(*run, "./parts.txt")
    assert "./parts.txt: cannot read the partition file: No such file" in missing
    (tmp_path / "hash").mkdir()
    assert "./hash: cannot read the partition file: it is a folder" in edgewire.refused(*run, "./hash")
    if "auto" in names and command != "compare":
        assert "there is no file parts here" in edgewire.refused(*run, "auto,parts", status=2)
        assert "name a partition file behind auto" in edgewire.refused(*run, "auto,grid", status=2)
    elif command != "compare":
        assert edgewire.refused(*run, "auto", status=2).startswith("--ownership auto")


@pytest.mark.parametrize("command", ["bound", "compare"])
def test_lists_of_ownerships_are_checked_before_anything_runs(edgewire, graph, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    vertices = json.loads(edgewire.ok("info", graph, "--json", "-"))["vertices"]
    (tmp_path / "parts-2").write_text("0\n1\n" * (vertices // 2))
    run = [command, graph, "-p", "2,3", "--rate", "1G", "--ownership"]
    for list_, status, words in (("hash,rnges", 2, "did you mean ranges?"), ("hash,parts-{}", 2, "--ownership parts-3: it is none of"),
                                 ("hash,./parts-{}", 1, "./parts-3: cannot read"), ("hash,parts-2", 1, "2 parts for 3 processes")):
        result = edgewire(*run, list_)
        assert result.returncode == status and words in result.stderr, result.stderr
        assert not result.stdout and len(result.stderr.splitlines()) == 1


def test_a_file_that_is_called_like_an_ownership(edgewire, graph, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    vertices = json.loads(edgewire.ok("info", graph, "--json", "-"))["vertices"]
    (tmp_path / "grid").write_text("0\n1\n" * (vertices // 2))
    for word in ("grid", "./grid"):
        report = json.loads(edgewire.ok("pagerank", graph, "-p", 2, "-w", 1, "--ownership", word, "--strategy", "slots", "--json", "-"))
        assert report["ownership"] == word
    edgewire.ok("bfs", graph, "--source", 0, "-p", 2, "-w", 1, "--ownership", "./grid")
    assert "processes would own edges" in edgewire.refused("bfs", graph, "--source", 0, "-p", 2, "--ownership", "grid", status=2)


def test_a_rank_without_a_host_list(edgewire, graph):
    """It would compute everything alone, as would all others."""
    line = edgewire.refused("pagerank", graph, "--rank", 0, status=2)
    assert line == "--rank 0 is a line of a host list, which is not given: name it by --hosts"


def test_every_command_tells_its_version(edgewire):
    version = edgewire.ok("--version")
    assert version.startswith("edgewire ")
    found = [path for path, _ in commands(edgewire)]
    assert len(found) > 24
    for path in found:
        assert edgewire.ok(*path, "--version") == version, path


def test_a_remedy_works_beside_the_other_options(edgewire, graph):
    run = ["pagerank", graph, "-p", 2, "-w", 1, "--tolerance", 1e-9, "--iterations", 1000]
    said = edgewire.ok(*run, "--wire", "bf16")
    assert "since the change no longer falls (--wire f32 rounds less)\n" in said
    assert "tolerance 1e-09 reached after" in edgewire.ok(*run, "--wire", "f32")
    line = edgewire.refused(*run, "--wire", "bf16", "--precision", "f64", status=2)
    assert line == "--wire bf16 and --precision f64 exclude each other: leave one of them out"


def test_a_resumed_run_counts_all_iterations(edgewire, graph, tmp_path):
    run = ["pagerank", graph, "--tolerance", 1e-6]
    edgewire.ok(*run, "--iterations", 4, "--checkpoint", tmp_path / "kept", "--every", 4)
    whole = json.loads(edgewire.ok(*run, "--iterations", 100, "--json", "-"))
    done = len(whole["iterations"])
    text = edgewire.ok(*run, "--iterations", 100, "--resume", tmp_path / "kept", "--json", tmp_path / "report.json")
    assert done > 5 and f"tolerance 1e-06 reached after {done} iterations\n" in text
    assert f"\n{done - 4} iterations after the 4 of the checkpoint, " in text
    report = json.loads((tmp_path / "report.json").read_text())
    jobs.check_schema(report)
    assert report["resumed_from"] + len(report["iterations"]) == done and report["checksum"] == whole["checksum"]
    said = edgewire.ok(*run, "--iterations", 4, "--resume", tmp_path / "kept")
    assert "no iteration was computed after the 4 of the checkpoint\n" in said
    assert "\n0 iterations after the 4 of the checkpoint, " in said


def test_netbench_has_two_processes_unless_told_otherwise(edgewire):
    assert "--processes INT (default 2)" in edgewire.ok("netbench", "--help")
    report = json.loads(edgewire.ok("netbench", "--sizes", "64", "--test", "latency", "--count", 10, "--json", "-"))
    assert report["processes"] == 2
    # A launcher has its own number. (This one does not answer.)
    line = edgewire.refused("netbench", env={"OMPI_COMM_WORLD_SIZE": "2", "PMIX_RANK": "0", "PMIX_NAMESPACE": "nobody"})
    assert "cannot find each other" in line and "--processes" not in line


@pytest.mark.parametrize("kernel, options", [("pagerank", []), ("ppr", ["--sources", "1"]), ("spmv", [])])
@pytest.mark.parametrize("precision", ["f32", "f64"])
def test_the_bound_counts_the_bytes_of_a_precision(edgewire, graph, kernel, options, precision):
    rows = json.loads(edgewire.ok("bound", graph, "-p", 3, "-w", 1, "--ownership", "hash", "--kernel", kernel, "--precision",
                                  precision, "--strategy", "edge,slots,cover", "--json", "-"))["rows"]
    rows = [row for row in rows if row["encoding"] != "bf16"]
    assert [row["encoding"] for row in rows] == [precision] * 3
    for row in rows:
        report = json.loads(edgewire.ok(kernel, graph, *options, "-p", 3, "-w", 1, "--transport", "tcp", "--strategy", row["strategy"],
                                        "--precision", precision, "--iterations", 2, "--json", "-"))
        assert row["payload_bytes_total"] == report["bound"]["payload_bytes"] > 0
        assert row["wire_bytes_total"]["tcp1500"] == report["bound"]["wire_bytes"]
        assert [one["payload_bytes_sent"] for one in report["iterations"]] == [row["payload_bytes_total"]] * 2


def test_the_table_of_eight_bytes(edgewire, graph):
    text = edgewire.ok("bound", graph, "-p", 2, "--ownership", "hash", "--strategy", "slots", "--precision", "f64")
    assert "slots 8-byte" in text and "2-byte" not in text
    assert re.search(r"^wire with the headers of.*\nhash +slots 8-byte ", text, re.M)


def test_memory_of_the_machine(edgewire):
    """The lines are consistent: nodes have no more than the machine, and where they have less, a line says so."""
    text = edgewire.ok("topology")
    machine = json.loads(edgewire.ok("topology", "--json", "-"))
    total = int(re.search(r"^MemTotal: +(\d+) kB", pathlib.Path("/proc/meminfo").read_text(), re.M)[1]) * 1024
    nodes = sum(node["memory_bytes"] for node in machine["nodes"])
    assert machine["installed_bytes"] == max(total, nodes)
    assert machine["memory_bytes"] <= machine["installed_bytes"]
    assert (", of which control groups allow " in text) == (machine["memory_bytes"] < machine["installed_bytes"])
    assert ("nodes account for " in text) == (nodes + machine["installed_bytes"] // 50 < machine["installed_bytes"])


def test_every_variable_of_the_environment_is_explained(edgewire):
    """In the man page and in docs/cluster.md, and none that the code does not read."""
    code = "".join(path.read_text() for folder in ("src", "transport", "topology", "perf") for path in (ROOT / folder).rglob("*.[ch]*")
                   if "bench" not in path.parts)
    read = set(re.findall(r'(?:getenv|number_of|take_number|take_text)\("([A-Z][A-Z0-9_]*)"', code))
    assert {"EDGEWIRE_SECRET", "EDGEWIRE_CPU", "PMIX_RANK", "SLURM_STEP_ID"} <= read
    read |= set(re.findall(r'itself, "([A-Z][A-Z0-9_]*)"', code))  # that stand for an option, see src/cli/files.h
    for found in re.findall(r"getenv\(([^\")]*)\)", code):
        assert found in ("name", "variable"), f"getenv({found}): this test cannot see which variable that is"
    section = (ROOT / "docs/cluster.md").read_text().partition("\n## Environment\n")[2].partition("\n## ")[0]
    rows = "".join(line.split("|")[1] for line in section.splitlines() if line.startswith("| `"))
    assert set(re.findall(r"`([A-Z][A-Z0-9_]*)`", rows)) == read
    page = edgewire.ok("manual", "edgewire.1").partition(".SH ENVIRONMENT\n")[2]
    assert set(re.findall(r"[A-Z][A-Z0-9_]+", " ".join(re.findall(r"^\.B (.*)$", page, re.M)))) == read


def test_a_list_of_columns_has_columns(edgewire, tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    said = edgewire.refused("convert", tmp_path / "t.csv", "-o", tmp_path / "g.ew", "--columns", "", status=2)
    assert said.startswith("--columns: the list is empty; give SOURCE,TARGET[,WEIGHT] ("), said


def test_parts_are_named_as_they_were_asked_for(edgewire, graph, tmp_path):
    said = edgewire.refused("wcc", graph, "-o", "ranks", "--output-parts", "--json", "ranks.0000-of-0001", cwd=tmp_path)
    assert said == f"ranks.0000-of-0001: --json writes this file, and -o ranks writes files of this name in {tmp_path}"
