"""Options: the same word means the same in all commands, and people find them."""

import collections
import json
import re

import pytest

from every_command import KERNELS
from help_texts import commands

# These take lists of what others take one of, or only look at the machine.
OTHERS = {"bound", "compare"}


@pytest.fixture(scope="module")
def options(edgewire):
    """By name: its heading and its text in each command that has it."""
    found = collections.defaultdict(dict)

    for path, text in commands(edgewire):
        for heading, lines in re.findall(r"^  (-.*)\n((?:        .*\n)*)", text, re.M):
            found[re.search(r"--[a-z0-9-]+", heading)[0]][" ".join(path)] = (heading, " ".join(lines.split()))
    return found


@pytest.fixture(scope="module")
def graph(edgewire, tmp_path_factory):
    path = tmp_path_factory.mktemp("options") / "g.ew"
    edgewire.ok("generate", "kronecker", "--scale", 7, "--weights", "-o", path)
    return path


@pytest.mark.parametrize("name", [
    "--workers", "--hosts", "--rank", "--secret-file", "--port", "--peer-timeout", "--start-timeout", "--launcher", "--local-hosts", "--transport",
    "--integrity", "--verbs-device", "--dpdk-port", "--edges", "--devices", "--source", "--seed", "--direction", "--trace", "--sample-interval"])
def test_an_option_means_the_same_everywhere(options, name):
    different = {"--seed": {"tasks smith-waterman", "generate kronecker", "generate uniform", "generate grid", "generate records"}}
    texts = {text for command, (_, text) in options[name].items() if command not in OTHERS | different.get(name, set())}
    assert len(texts) == 1, options[name]


def test_all_that_compute_take_workers_and_all_jobs_processes(options):
    computing = {*KERNELS, "sort", "convert", "info", "topology", "bound", "compare"}
    assert computing <= options["--workers"].keys()
    assert {*KERNELS, "sort", "convert", "netbench", "tasks metg"} <= options["--processes"].keys()
    assert all(heading.startswith("-w, --workers") for heading, _ in options["--workers"].values())
    assert all(heading.startswith("-p, --processes") for heading, _ in options["--processes"].values())


def test_a_result_is_verified_by_the_same_word(options):
    assert {*KERNELS, "sort", "tasks smith-waterman", "info"} == options["--verify"].keys()
    assert "--check" not in options


def test_every_kernel_states_the_rule_of_weights(edgewire):
    rules = {edgewire.ok(kernel, "--help").partition("\nWeights: ")[2] for kernel in KERNELS}
    (rule,) = rules
    assert "sssp and spmv" in rule and "pagerank, ppr and bc" in " ".join(rule.split())


@pytest.mark.parametrize("kernel", KERNELS)
def test_weights_count_as_the_rule_says(edgewire, graph, tmp_path, kernel):
    edgewire.ok("convert", graph, "--no-weights", "-o", tmp_path / "plain.ew")
    sources = ["--source", 1] if kernel in ("bfs", "sssp", "ppr", "bc") else []
    def result(path, *options):
        return edgewire(kernel, path, *sources, "-w", 1, "--deterministic", "-o", "-", *options)
    given, plain = result(graph), result(tmp_path / "plain.ew")
    assert given.returncode == 0
    if kernel == "sssp":
        assert plain.returncode == 1 and "--unit-weights" in plain.stderr
    else:
        assert (given.stdout != plain.stdout) == (kernel == "spmv")
    if kernel in ("pagerank", "ppr", "bc"):
        assert result(graph, "--weighted").stdout != given.stdout
    else:
        assert result(graph, "--weighted").returncode == 2


@pytest.mark.parametrize("kernel", ["bfs", "sssp", "ppr", "bc"])
def test_a_source_is_named_in_the_same_way(edgewire, graph, tmp_path, kernel):
    (tmp_path / "one").write_text("3\n")
    def run(*options):
        path = tmp_path / "result-{}" if "--sources" in options and kernel in ("bfs", "sssp") else tmp_path / "result-3"
        report = json.loads(edgewire.ok(kernel, graph, *options, "-w", 1, "--deterministic", "-o", path, "--json", "-"))
        return (tmp_path / "result-3").read_text(), report["options"]
    one, asked = run("--source", 3)
    assert asked["source"] == "3" and "sources" not in asked
    many, asked = run("--sources", "3")
    assert asked["sources"] == "3" and many == one
    assert run("--sources", f"@{tmp_path / 'one'}")[0] == one
    assert "do not go together" in edgewire.refused(kernel, graph, "--source", 3, "--sources", 4, status=2)
    for name in ("--source", "--sources"):
        assert edgewire.refused(kernel, graph, name, "", status=2).startswith(f"{name}: it is empty: name a vertex")
    assert edgewire.refused(kernel, graph, "--source", 5000) == f"--source 5000: {graph} has no such vertex"


@pytest.mark.parametrize("kernel", ["bfs", "sssp", "ppr"])
def test_a_source_is_needed(edgewire, graph, kernel):
    assert edgewire.refused(kernel, graph, status=2).startswith("--source is required, or --sources ")


def test_sort_still_knows_what_verify_was_called(edgewire, tmp_path):
    edgewire.ok("generate", "records", "--bytes", "20k", "-o", tmp_path / "in")
    for name in ("--verify", "--check"):
        report = json.loads(edgewire.ok("sort", *(tmp_path / "in").iterdir(), "-o", tmp_path / name, name, "--json", "-"))
        assert report["verified"] and report["seconds_verify"] >= 0 and report["schema_version"] == 2
    assert "\nverified: in order, " in edgewire.ok("sort", *(tmp_path / "in").iterdir(), "-o", tmp_path / "again", "--verify")


@pytest.mark.parametrize("command", ["info GRAPH", "transports", "topology"])
def test_a_report_in_a_file_leaves_the_text_on_stdout(edgewire, graph, tmp_path, command):
    words = [graph if word == "GRAPH" else word for word in command.split()]
    report = tmp_path / "report.json"
    text = edgewire.ok(*words, "--json", report)
    first = text.split()[0]
    assert first == edgewire.ok(*words).split()[0]
    assert json.loads(report.read_text()) and json.loads(edgewire.ok(*words, "--json", "-"))
