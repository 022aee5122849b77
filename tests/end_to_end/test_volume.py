"""What a run sends is what `edgewire bound` counted before it, to the byte; and how a run chooses what to send."""

import json
import re

import pytest


@pytest.fixture(scope="module")
def graphs(edgewire, tmp_path_factory):
    folder = tmp_path_factory.mktemp("volume")
    edgewire.ok("generate", "kronecker", "--scale", 11, "--simple", "-o", folder / "kronecker.ew")
    edgewire.ok("generate", "uniform", "--vertices", 3000, "--edge-factor", 3, "-o", folder / "uniform.ew")
    edgewire.ok("generate", "grid", "--rows", 50, "--columns", 40, "--keep-order", "-o", folder / "grid.ew")
    return {path.stem: path for path in folder.iterdir()}


def run(edgewire, graph, *arguments):
    return json.loads(edgewire.ok("pagerank", graph, "--iterations", 3, "--verify", "--json", "-", *arguments))


@pytest.mark.matrix(1 / 2)
@pytest.mark.parametrize("ownership", ["hash", "ranges"])
@pytest.mark.parametrize("name", ["kronecker", "uniform", "grid"])
def test_every_strategy_and_encoding_sends_what_the_bound_says(edgewire, graphs, name, ownership):
    listed = json.loads(edgewire.ok("bound", graphs[name], "-p", "2,3", "-w", 2, "--ownership", ownership, "--json", "-"))
    for row in listed["rows"]:
        exact = row["encoding"] == "f32"
        strategy, processes = row["strategy"], row["processes"]
        if not exact and strategy not in ("slots", "cover"):
            continue
        for number, wire in enumerate(["f32"] if exact else ["bf16", "f16", "u16"]):
            transport = ["tcp", "shm"][(number + processes) % 2]
            report = run(edgewire, graphs[name], "-p", processes, "-w", 2, "--strategy", strategy, "--ownership",
                         ownership, "--wire", wire, "--transport", transport)
            assert report["bound"]["payload_bytes"] == row["payload_bytes_total"], (strategy, wire)
            assert report["bound"]["values"] == row["values_sent_total"]
            assert [one["payload_bytes_sent"] for one in report["iterations"]] == [row["payload_bytes_total"]] * 3
            if transport == "tcp":
                assert report["bound"]["wire_bytes"] == row["wire_bytes_total"]["tcp1500"]
                assert report["bound"]["seconds_at"]["1G"] == pytest.approx(row["seconds_at"]["1G"])
            if strategy == "cover":
                assert row["values_sent_total"] >= report["bound"]["matching"]


@pytest.mark.parametrize("precision", ["f32", "f64"])
@pytest.mark.parametrize("kernel", ["ppr", "spmv"])
def test_other_dense_kernels_send_what_the_bound_says(edgewire, tmp_path, kernel, precision):
    """Of a graph whose edges have a direction and weights."""
    path = tmp_path / "g.ew"
    edgewire.ok("generate", "kronecker", "--scale", 10, "--weights", "-o", path)
    options = ["--precision", precision]
    listed = json.loads(edgewire.ok("bound", path, "--kernel", kernel, *options, "-p", 3, "-w", 1, "--json", "-"))
    for row in listed["rows"]:
        assert row["encoding"] == precision
        if row["ownership"] in ("hilbert", "grid") or row["strategy"] in ("slots", "cover"):
            report = json.loads(edgewire.ok(kernel, path, *options, *(["--source", 1] if kernel == "ppr" else []), "-p", 3, "-w", 1, "--strategy",
                                            row["strategy"], "--ownership", row["ownership"], "--iterations", 2, "--json", "-"))
            assert [one["payload_bytes_sent"] for one in report["iterations"]] == [row["payload_bytes_total"]] * 2 != [0] * 2


@pytest.mark.sanitize
@pytest.mark.parametrize("wire, rounding", [("bf16", 1 / 256), ("f16", 1 / 2048), ("u16", 1 / 2048)])
def test_the_error_of_16_bits_is_bounded_and_the_bound_is_told(edgewire, graphs, wire, rounding):
    for options in ([], ["--pagerank-2015"]):
        report = run(edgewire, graphs["kronecker"], "-p", 3, "--strategy", "cover", "--wire", wire, *options)
        as_floats = 3 * 2.0**-24  # what values lose that travel in 32 bits
        lost = rounding / (1 - rounding)  # of a value, by this rounding and by the last one
        bound = sum((2 * lost + as_floats) * 0.85**t for t in (1, 2, 3))
        assert report["wire_error_bound"] == report["rounding_bound"] == pytest.approx(bound, rel=0.05)
        assert report["verify"]["rules"] == f"3 iterations, messages of f32, {wire} between processes, sums of up to {report['verify']['rules'].split()[-2]} doubles"
        assert 0 < report["verify"]["sum_error"] < bound
        assert 0 < report["verify"]["limit_share"] < 1
    assert run(edgewire, graphs["kronecker"], "-p", 1, "--wire", wire)["wire_error_bound"] == 0


def test_16_bits_need_slots(edgewire, graphs):
    assert "slots or cover" in edgewire.refused("pagerank", graphs["grid"], "-p", 2, "--strategy", "process", "--wire",
                                                "f16", status=2)


def test_automatic_strategy_weighs_the_link_against_computing(edgewire, graphs):
    def chosen(rate):
        report = run(edgewire, graphs["kronecker"], "-p", 2, "--transport", "tcp", "--compute-rate", rate)
        assert report["strategy_reason"].startswith(report["strategy"] + ":")
        return report["strategy"]

    assert chosen("1e15") == "cover"  # computing takes no time: the wire limits
    assert chosen("1") == "slots"     # computing takes for ever


def test_deterministic_choices_do_not_depend_on_the_link(edgewire, graphs):
    report = run(edgewire, graphs["kronecker"], "-p", 2, "--transport", "tcp", "--deterministic", "--ownership", "auto")
    assert "10.00 Gbit/s (assumed)" in report["strategy_reason"]
    assert "1e+09 edges/s a worker (assumed)" in report["strategy_reason"]


def test_choices_go_by_what_the_workers_can_do(edgewire, graphs):
    report = run(edgewire, graphs["kronecker"], "-p", 2, "-w", 2, "--transport", "tcp")
    rate = re.search(r"at (\S+) edges/s a worker \(measured\)", report["strategy_reason"]).group(1)
    assert 1e6 < float(rate) < 1e11


def test_automatic_ownership_takes_what_is_cheapest(edgewire, graphs, tmp_path):
    report = run(edgewire, graphs["grid"], "-p", 4, "--ownership", "auto", "--strategy", "slots")
    table = [line.split() for line in report["ownership_table"].splitlines()]
    assert [(kind, name) for kind, name, *_ in table] == [("ownership", f"{one}:") for one in ("hash", "ranges", "grid", "hilbert")]
    assert report["ownership"] == "ranges"
    with_ids = run(edgewire, graphs["grid"], "-p", 4, "--ownership", "auto", "--strategy", "process")
    assert with_ids["ownership_table"].count("\n") == 2  # edge blocks need no ids
    # A partition that keeps all edges of two separate halves at home.
    edges = tmp_path / "halves.el"
    edges.write_text("".join(f"{a} {b}\n" for a in range(200) for b in range(200) if a != b and (a - b) % 2 == 0))
    edgewire.ok("convert", edges, "-o", tmp_path / "halves.ew")
    partition = tmp_path / "partition.txt"
    partition.write_text("0\n1\n" * 100)
    report = run(edgewire, tmp_path / "halves.ew", "-p", 2, "--ownership", f"auto,{partition}", "--strategy", "slots",
                 "--compute-rate", "1e15")
    assert report["ownership"] == str(partition)
    assert report["bound"]["payload_bytes"] == 0
    lines = edgewire("pagerank", graphs["grid"], "-p", 2, "--ownership", "auto,/does/not/exist").stderr.splitlines()
    assert any("/does/not/exist" in line for line in lines)
