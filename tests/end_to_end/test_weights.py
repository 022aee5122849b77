"""Weights on their way from text to graph files and back, and third columns that are no weights."""

import gzip
import json
import random
import re

import numpy as np
import pytest

from reference import read_graph

LARGE = ["16777217", "4294967295", "9007199254740993", "18446744073709551615", "0"]
MIXED = ["0.1", "-0.25", "9007199254740991", "1e-320", "1.7976931348623157e+308", "16777217"]


def lines(weights):
    return "".join(f"{i} {i + 1} {weight}\n" for i, weight in enumerate(weights))


def weight_type(edgewire, graph):
    found = json.loads(edgewire.ok("info", graph, "--verify", "--json", "-"))
    assert f"weighted            yes, {found['weight_type']}\n" in edgewire.ok("info", graph)
    return found["weight_type"]


@pytest.mark.parametrize("weights, kind", [(LARGE, "u64"), (LARGE[:2], "u32"), (MIXED, "f64"), (["0.5", "3"], "f32")])
def test_weights_come_back_unchanged(edgewire, tmp_path, weights, kind):
    (tmp_path / "g.wel").write_text(lines(weights))
    edgewire.ok("convert", tmp_path / "g.wel", "-o", tmp_path / "g.ew")
    assert weight_type(edgewire, tmp_path / "g.ew") == kind
    kinds = {"f32": np.float32, "f64": np.float64, "u32": np.uint32, "u64": np.uint64}
    stored = read_graph(tmp_path / "g.ew").weights
    assert stored.dtype == kinds[kind] and stored.tolist() == [json.loads(weight) for weight in weights]
    edgewire.ok("convert", tmp_path / "g.ew", "-o", tmp_path / "out.wel")
    assert (tmp_path / "out.wel").read_text() == lines(weights)
    edgewire.ok("convert", tmp_path / "g.ew", "-o", tmp_path / "out.mtx")
    edgewire.ok("convert", tmp_path / "out.mtx", "-o", tmp_path / "again.ew")
    assert read_graph(tmp_path / "again.ew").weights.tolist() == stored.tolist()


def random_weights(kind, count):
    numbers = random.Random(kind)
    draw = {"u32": lambda: numbers.randrange(1, 1 << 32), "u64": lambda: numbers.randrange(1 << 64),
            "f32": lambda: numbers.randrange(-1 << 20, 1 << 20) / 8, "f64": lambda: numbers.gauss(0, 1e6),
            "mixed": lambda: numbers.choice([numbers.randrange(1 << 64), 0.1, -3, 2**64 * 1.5])}[kind]
    return [draw() for _ in range(count)]


@pytest.mark.parametrize("kind", ["u32", "u64", "f32", "f64", "mixed"])
@pytest.mark.parametrize("simple", [[], ["--simple", "--undirected"]])
def test_converting_in_parts_gives_the_same_bytes(edgewire, tmp_path, kind, simple):
    numbers = random.Random(1)
    weights = random_weights(kind, 20_000)
    text = "".join(f"{numbers.randrange(900)} {numbers.randrange(900)} {weight!r}\n" for weight in weights)
    (tmp_path / "g.wel").write_text(text)
    whole = edgewire("convert", tmp_path / "g.wel", "-o", tmp_path / "g.ew", *simple)
    assert whole.returncode == 0
    assert weight_type(edgewire, tmp_path / "g.ew") == kind.replace("mixed", "f64")
    for options in (["--memory", "100M", "-w", 2], ["-p", 2, "-w", 1], ["-p", 2, "-w", 2, "--memory", "100M"]):
        parts = edgewire("convert", tmp_path / "g.wel", "-o", tmp_path / "parts.ew", *simple, *options)
        assert parts.returncode == 0, parts.stderr
        assert (tmp_path / "parts.ew").read_bytes() == (tmp_path / "g.ew").read_bytes()
        said = [line for line in parts.stderr.splitlines() if " is kept as " in line]
        assert said == [line for line in whole.stderr.splitlines() if " is kept as " in line]
        assert len(said) == (kind == "mixed")
    if kind in ("u32", "u64") and not simple:
        assert sorted(read_graph(tmp_path / "g.ew").weights.tolist()) == sorted(weights)


def test_a_rounded_weight_is_said_once(edgewire, tmp_path):
    (tmp_path / "g.txt").write_text(lines(["0.5", "9007199254740993", "9007199254740995"]))
    done = edgewire("convert", tmp_path / "g.txt", "-o", tmp_path / "g.ew")
    [line] = [line for line in done.stderr.splitlines() if "kept as" in line]
    assert "g.txt: line 2: weight 9007199254740993 is kept as 9007199254740992: " in line
    run = edgewire("sssp", tmp_path / "g.txt", "--source", 0)
    assert run.returncode == 0 and run.stderr.count("line 2: weight 9007199254740993 is kept as ") == 1


@pytest.mark.parametrize("text", [lines(["1083860550", "1083860551"]), "# source target time\n" + lines(["3", "4"])])
def test_times_are_no_weights_until_they_are_called_so(edgewire, tmp_path, text):
    path, graph = tmp_path / "g.txt", tmp_path / "g.ew"
    path.write_text(text)
    done = edgewire("convert", path, "-o", graph)
    assert done.returncode == 0 and "taken as weight" not in done.stdout
    [line] = done.stderr.splitlines()
    assert f"edgewire: {path}: the third column looks like a time" in line
    assert "--no-weights" in line and "--columns 1,2,3" in line
    assert json.loads(edgewire.ok("info", graph, "--json", "-"))["weights_doubtful"] is True

    uses = [["sssp", "--source", 0], ["pagerank", "--weighted"], ["spmv"], ["ppr", "--weighted", "--sources", 0]]
    for command, *options in uses:
        for given in (graph, path):
            refused = edgewire(command, given, *options, "-p", 2, "-w", 1)
            assert refused.returncode == 1 and refused.stdout == ""
            said = refused.stderr.splitlines()[-1]
            assert "looks like a time" in said and "--columns 1,2,3" in said and "--no-weights" in said
            assert refused.stderr.count("looks like a time") == 1
    for command, *options in (["bfs", "--source", 0], ["wcc"], ["pagerank"], ["sssp", "--unit-weights", "--source", 0]):
        for given in (graph, path):
            run = edgewire(command, given, *options, "-w", 1)
            assert run.returncode == 0 and "--weighted uses them" not in run.stderr
            assert run.stderr.count("weights, which are ignored") == (command == "pagerank")

    for given in (graph, path):
        for form, remedy in (("wel", "--to el"), ("csv", "--no-weights")):
            said = edgewire("convert", given, "-o", "-", "--to", form).stderr
            assert said.count(f"{given}: the third column looks like a time, not like a weight: {remedy} leaves it out") == 1
        assert "looks like a time" not in edgewire("convert", given, "-o", "-", "--to", "el").stderr

    for parts in ([], ["-p", 2]):
        named = edgewire("convert", path, "-o", graph, "--columns", "1,2,3", *parts)
        assert named.returncode == 0 and "looks like a time" not in named.stderr
        edgewire.ok("sssp", graph, "--source", 0, "-w", 1)
    without = edgewire("convert", path, "-o", graph, "--no-weights")
    assert without.returncode == 0 and without.stderr == ""
    assert json.loads(edgewire.ok("info", graph, "--json", "-"))["weighted"] is False


TIMES = [lines(["1083860550", "1083860551"]), "# source target time\n" + lines(["3", "4"])]


MIXED_GAPS = "0 1\t1083860550\n1 2\t1083860551\n"
NAMES = "a b 1083860550\nb c 1083860551\n"
GIVEN = [[], ["more"], ["--vertices"], ["--labels"], ["--labels", "--vertices"], ["--undirected"], ["--simple"], ["-p", 2, "-w", 1], ["more", "-p", 2, "-w", 1],
         ["gz"], ["stdin"], ["--format", "snap"], ["--format", "snap", "--labels"], ["csv"], ["--to", "csv"], ["--to", "wel"]]


@pytest.mark.parametrize("text, given", [*((TIMES[0], given) for given in GIVEN), *((TIMES[1], given) for given in GIVEN[:2]),
                                         *((MIXED_GAPS, given) for given in GIVEN[:3]), *((NAMES, given) for given in GIVEN[3:5])], ids=str)
def test_remedies_for_times_work_where_they_are_named(edgewire, tmp_path, text, given):
    """All that the line names is done, in the same command."""
    path, output, options = tmp_path / "g.txt", tmp_path / "g.ew", []
    if "csv" in given and "--to" not in given:
        path = tmp_path / "g.csv"
    path.write_text(text)
    inputs = [path]
    for word in given:
        if word == "more":
            (tmp_path / "h.txt").write_text("7 8 1083860552\n")
            inputs.append(tmp_path / "h.txt")
        elif word == "gz":
            inputs = [tmp_path / "g.txt.gz"]
            inputs[0].write_bytes(gzip.compress(text.encode()))
        elif word == "stdin":
            inputs = ["-"]
        elif word == "--vertices":
            (tmp_path / "v").write_text("9\n")
            options += ["--vertices", tmp_path / "v"]
        elif word != "csv" or "--to" in given:
            options.append(word)
    if "--to" in given:
        output = tmp_path / "g.out"
    def convert(*options):
        with open(path) as stdin:
            return edgewire("convert", *inputs, *options, "-o", output, stdin=stdin)
    done = convert(*options)
    assert done.returncode == 0, done.stderr
    [line] = [line for line in done.stderr.splitlines() if "looks like a time" in line]
    remedies = re.findall(r"(--[a-z-]+(?: [a-z0-9,]*[0-9l](?= |$))?)", line.split("weight", 1)[1])
    assert remedies == (["--no-weights", "--columns 1,2,3"] if "--to" not in given else ["--to el"] if "wel" in given else ["--no-weights"])
    for remedy in remedies:
        options = [word for word in options if "--to" not in remedy or word not in ("--to", "wel")]
        done = convert(*options, *remedy.split())
        assert done.returncode == 0 and "looks like a time" not in done.stderr, done.stderr
        if "--to" in given:
            assert "1083860550" not in output.read_text()
            continue
        said = json.loads(edgewire.ok("info", output, "--json", "-"))
        assert said["weighted"] is ("--columns" in remedy) and said["weights_doubtful"] is False
        assert said["vertices"] == 3 + 2 * ("more" in given) + ("--vertices" in given)


def test_bound_counts_the_records_and_the_weights_of_a_conversion(edgewire, tmp_path):
    rates = ["--cores", 1, "--disk-read-rate", "1G", "--disk-write-rate", "1G", "--core-rate", "100M", "--json", "-"]
    found = {}
    for name, weight in (("small", 7), ("large", 1 << 40), ("real", 0.1)):
        path = tmp_path / f"{name}.wel"
        path.write_text("".join(f"{i} {i + 1} {weight}\n" for i in range(1000)))
        edgewire.ok("convert", path, "-o", tmp_path / "g.ew")
        report = json.loads(edgewire.ok("bound", "--load", "convert", path, "--vertices", "1001", *rates))
        found[name] = report["output_bytes"]
        assert report["output_bytes"] == (tmp_path / "g.ew").stat().st_size
    assert found["small"] < found["large"] == found["real"]
