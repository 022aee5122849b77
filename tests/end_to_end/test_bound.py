"""edgewire bound: counts against an independent count, the known web crawls, what bad input gets."""

import csv
import io
import json
import pathlib

import numpy
import pytest

from processes import LIMIT_S

GRAPHS = pathlib.Path(__file__).resolve().parents[3] / "shared" / "graphs"
TCP1500 = (1448, 90)  # payload of a frame, bytes around it


@pytest.fixture(scope="module")
def graph(edgewire, tmp_path_factory):
    """A skewed random graph: its file and its edges, as an array of (source, target)."""
    folder = tmp_path_factory.mktemp("bound")
    random = numpy.random.default_rng(5)
    edges = (random.random((6000, 2)) ** 2 * 800).astype(numpy.uint32)
    edges = numpy.vstack([edges, [[799, 799], [0, 799]]]).astype("<u4")
    edges.tofile(folder / "g.u32pairs")
    edgewire.ok("convert", folder / "g.u32pairs", "-o", folder / "g.ew")
    return folder / "g.ew", edges


def rows_of(edgewire, *arguments):
    return json.loads(edgewire.ok("bound", *arguments, "--json", "-"))["rows"]


def select(rows, **fields):
    found = [row for row in rows if all(row[name] == value for name, value in fields.items())]
    assert len(found) == 1, (fields, found)
    return found[0]


def partition_file(tmp_path, processes, vertices=800, seed=3):
    owners = numpy.random.default_rng(seed).integers(0, processes, vertices)
    path = tmp_path / f"g.part.{processes}"
    path.write_text("".join(f"{owner}\n" for owner in owners))
    return path, owners


def largest_matching(edges):
    """Plain augmenting paths, one root at a time."""
    targets, mates = {}, {}
    for source, target in edges:
        targets.setdefault(source, set()).add(target)

    def augment(source, seen):
        for target in targets[source]:
            if target not in seen:
                seen.add(target)
                if target not in mates or augment(mates[target], seen):
                    mates[target] = source
                    return True
        return False

    return sum(augment(source, set()) for source in targets)


@pytest.mark.sanitize
def test_values_are_those_of_an_independent_count(edgewire, graph, tmp_path):
    path, edges = graph
    processes, workers = 3, 2
    partition, owners = partition_file(tmp_path, processes)
    rows = rows_of(edgewire, path, "-p", processes, "-w", workers, "--ownership", partition, "--as-published-2015")
    local = numpy.zeros(800, int)
    for p in range(processes):
        local[owners == p] = numpy.arange((owners == p).sum())
    sent = {name: numpy.zeros((processes, processes), int) for name in ("edge", "worker", "process", "slots", "cover")}
    for p in range(processes):
        for q in range(processes):
            pair = [tuple(edge) for edge in edges.tolist() if owners[edge[0]] == p and owners[edge[1]] == q]
            sent["edge"][p, q] = len(pair)
            sent["worker"][p, q] = len({(local[s] % workers, t) for s, t in pair})
            sent["process"][p, q] = sent["slots"][p, q] = len({t for _, t in pair})
            sent["cover"][p, q] = largest_matching(pair)
    for strategy, values in sent.items():
        crossing = values - numpy.diag(numpy.diag(values))
        for encoding, value_bytes in (("f32", 4), ("bf16", 2)):
            each = value_bytes + (4 if strategy in ("edge", "worker", "process") else 0)
            row = select(rows, strategy=strategy, encoding=encoding, self_traffic=False)
            assert row["values_sent_total"] == crossing.sum()
            assert row["values_sent_max"] == crossing.sum(axis=1).max()
            assert row["values_sent_mean"] == pytest.approx(crossing.sum() / processes)
            assert row["payload_bytes_total"] == crossing.sum() * each
            wire = crossing * each + -(-crossing * each // TCP1500[0]) * TCP1500[1]
            most = max(wire.sum(axis=1).max(), wire.sum(axis=0).max())
            assert row["wire_bytes_max"]["tcp1500"] == most
            assert row["seconds_at"]["10G"] == pytest.approx(most * 8e-10)
        if strategy in ("edge", "worker", "process"):
            row = select(rows, strategy=strategy, encoding="f32", self_traffic=True)
            assert row["values_sent_total"] == values.sum()
            assert row["values_sent_max"] == values.sum(axis=1).max()
    assert len(rows) == 13


def test_every_ownership_and_the_three_outputs(edgewire, graph, tmp_path):
    path, _ = graph
    partition_file(tmp_path, 2)
    partition_file(tmp_path, 5)
    ownerships = f"hash,ranges,hilbert,grid,{tmp_path}/g.part.{{}}"
    arguments = ["bound", path, "-p", "5,2", "--ownership", ownerships, "--rate", "1G,2.5G"]
    text = edgewire.ok(*arguments, "--json", tmp_path / "b.json", "--csv", tmp_path / "b.csv")
    rows = json.loads((tmp_path / "b.json").read_text())["rows"]
    assert len(rows) == 2 * (3 * 5 + 2 * 2) * 2
    assert [row["processes"] for row in rows] == [2] * 38 + [5] * 38
    table = list(csv.DictReader(io.StringIO((tmp_path / "b.csv").read_text())))
    assert [int(line["values_sent_total"]) for line in table] == [row["values_sent_total"] for row in rows]
    assert float(table[0]["seconds_at_2.5G"]) == pytest.approx(rows[0]["seconds_at"]["2.5G"])
    for row in rows:
        assert f"{row['values_sent_total']:,}" in text
        if row["strategy"] == "cover":
            slots = select(rows, processes=row["processes"], ownership=row["ownership"], encoding=row["encoding"],
                           strategy="slots")
            assert row["values_sent_total"] <= slots["values_sent_total"]
            if row["ownership"] in ("hilbert", "grid"):  # no matching proves that
                assert "gap" not in row
            else:
                assert row["gap"] == 0 and row["matching"] == row["values_sent_total"]
        assert sum(row["wire_bytes_max"].values()) > 5 * row["payload_bytes_max"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.csv", "b.json", "g.part.2", "g.part.5"]


def test_little_memory_and_many_threads_count_the_same(edgewire, graph):
    path, _ = graph
    with_one = rows_of(edgewire, path, "--threads", 1)
    with_more = rows_of(edgewire, path, "--threads", 3, "--memory", "1M")
    for row in with_one + with_more:
        row.pop("planning_core_seconds", None)
    assert with_one == with_more


def test_what_if(edgewire, graph):
    path, _ = graph
    rows = rows_of(edgewire, path, "-p", "2,4", "--rate", "1M,100G", "--compute-rate", "1e6", "--latency", "5us",
                   "--cores", 2)
    for row in rows:
        slow, fast = row["predicted_at"]["1M"], row["predicted_at"]["100G"]
        assert slow["seconds"] >= fast["seconds"]
        assert fast["cores_seconds"] == pytest.approx(row["edges_max"] / 2e6)
        in_row_and_column = (row["processes"], row["ownership"], row["strategy"]) == (4, "grid", "slots")
        assert slow["latency_seconds"] == pytest.approx(5e-6 * (2 if in_row_and_column else row["processes"] - 1))
        assert slow["wire_seconds"] == pytest.approx(row["seconds_at"]["1M"] + slow["latency_seconds"])
    assert select(rows, processes=4, ownership="hash", strategy="edge", encoding="f32")["predicted_at"]["1M"][
        "limit"] == "wire"
    text = edgewire.ok("bound", path, "--compute-rate", "1G", "--latency", "20us")
    assert "What if" in text and "balanced" in text


def test_more_processes_than_vertices_and_one_process(edgewire, graph):
    path, edges = graph
    rows = rows_of(edgewire, path, "-p", "1,4096", "--ownership", "hash,ranges,hilbert", "--rate", "1G")
    for row in rows:
        assert row["values_sent_total"] <= len(edges) * 2
        if row["processes"] == 1:
            assert row["values_sent_total"] == 0 and row["seconds_at"]["1G"] == 0


@pytest.mark.parametrize("arguments, word", [
    (["-p", "0"], "--processes"), (["-p", "2,,4"], "empty item"), (["-p", "two"], "'two'"), (["-p", "4097"], "4096"),
    (["-p", "2,2"], "given twice"), (["-p", "-3"], "'-3'"), (["-w", "0"], "--workers"), (["--rate", "1"], "line rate"),
    (["--rate", "10G,0G"], "'0G'"), (["--rate", "-1G"], "line rate"), (["--rate", "1G,1G"], "given twice"),
    (["--strategy", "cheap"], "known: edge"), (["--framing", "ib"], "known: tcp1500"), (["--memory", "0M"], "--memory"),
    (["--memory", "lots"], "--memory"), (["--compute-rate", "0"], "--compute-rate"),
    (["--compute-rate", "nan"], "--compute-rate"), (["--compute-rate", "1e9", "--latency", "20"], "20us"),
    (["--latency", "20us"], "need --compute-rate"), (["--threads", "x"], "--threads"),
    (["--kernel", "sort"], "--kernel: sort is no kernel on a graph: edgewire bound --load sort predicts its time"),
    (["--kernel", "tasks"], "edgewire tasks metg measures them"), (["--kernel", "katz"], "pagerank, ppr, spmv, bfs, sssp, wcc, scc"),
    (["--kernel", "scc", "--source", "1"], "--source belongs to --kernel bfs, sssp and bc, not to scc"),
])
def test_options_that_make_no_sense(edgewire, graph, arguments, word):
    assert word in edgewire.refused("bound", graph[0], *arguments, status=2)


def test_files_that_make_no_sense(edgewire, graph, tmp_path):
    path, _ = graph
    short, _ = partition_file(tmp_path, 2, vertices=799)
    assert "799" in edgewire.refused("bound", path, "-p", 2, "--ownership", short)
    wrong, _ = partition_file(tmp_path, 5)
    assert "5 parts for 4 processes" in edgewire.refused("bound", path, "-p", 4, "--ownership", wrong)
    assert "nowhere" in edgewire.refused("bound", path, "--ownership", tmp_path / "nowhere")
    assert "missing.ew" in edgewire.refused("bound", tmp_path / "missing.ew")
    broken = tmp_path / "broken.ew"
    content = bytearray(path.read_bytes())
    content[-1] ^= 0x40
    broken.write_bytes(content)
    assert "broken.ew" in edgewire.refused("bound", broken, "--json", tmp_path / "out.json")
    assert not (tmp_path / "out.json").exists()
    assert "cannot write" in edgewire.refused("bound", path, "--csv", tmp_path / "no" / "out.csv")


@pytest.mark.parametrize("name, least", [("uk-2007-05@100000", 50), ("cnr-2000", 50)])
def test_web_crawls_in_crawl_order(edgewire, tmp_path, name, least):
    pairs = GRAPHS / name / f"{name}.u32pairs.zst"
    if not pairs.exists():
        pytest.skip("this real graph is not here (EDGEWIRE_GRAPHS names a folder)")
    edgewire.ok("convert", pairs, "-o", tmp_path / "g.ew")
    rows = rows_of(edgewire, tmp_path / "g.ew", "-p", 4, "-w", 8, "--ownership", "hash,ranges")
    hashed = select(rows, ownership="hash", strategy="process", encoding="f32")
    covered = select(rows, ownership="ranges", strategy="cover", encoding="f32")
    assert covered["payload_bytes_total"] * least <= hashed["payload_bytes_total"]
    assert covered["payload_bytes_max"] * least <= hashed["payload_bytes_max"]
    assert covered["edges_max"] <= 1.05 * covered["edges_mean"]


@pytest.mark.slow
def test_cover_of_a_hashed_kronecker_graph(edgewire, tmp_path):
    edgewire.ok("generate", "kronecker", "--scale", 20, "--edge-factor", 16, "-o", tmp_path / "k.ew")
    rows = rows_of(edgewire, tmp_path / "k.ew", "--ownership", "hash", "--strategy", "process,cover")
    for processes in (2, 4, 8, 16):
        process = select(rows, processes=processes, strategy="process", encoding="f32")
        cover = select(rows, processes=processes, strategy="cover", encoding="f32")
        assert cover["values_sent_total"] <= 0.62 * process["values_sent_total"]
        assert cover["payload_bytes_total"] <= 0.31 * process["payload_bytes_total"]


@pytest.mark.parametrize("workers", [1, 3])
def test_setup_messages_are_those_of_runs(edgewire, graph, hosts, tmp_path, workers):
    """Of jobs over a host list. They grow with the number of peers, up to 4096 processes."""
    path, _ = graph
    rows = rows_of(edgewire, path, "-p", "1,2,3,5,8,16,1024,4096", "-w", workers, "--ownership", "hash", "--strategy", "slots")
    predicted = {row["processes"]: row["setup_messages_per_process"] for row in rows}
    for processes in (1, 2, 3, 5, 8, 16) if workers == 1 else (1, 2, 5):
        options = ["pagerank", path, *hosts(processes), "-w", workers, "--transport", "tcp", "--strategy", "slots",
                   "--iterations", 2, "--json", tmp_path / "report.json"]
        ranks = [edgewire.start(*options, "--rank", rank) for rank in range(processes)]
        for rank in ranks:
            _, diagnostics = rank.communicate(timeout=LIMIT_S)
            assert rank.returncode == 0, diagnostics
        assert json.loads((tmp_path / "report.json").read_text())["setup_messages"] == predicted[processes]
    each = predicted[2]
    assert all(messages == each * (processes - 1) for processes, messages in predicted.items())
    local = json.loads(edgewire.ok("pagerank", path, "-p", 4, "-w", workers, "--transport", "tcp", "--strategy", "slots",
                                   "--json", "-"))["setup_messages"]
    assert 0 < local < 3 * each  # its processes are born connected to rank 0


@pytest.mark.parametrize("processes", [8, 64])
def test_edge_blocks_share_the_sending_evenly(edgewire, tmp_path, processes):
    """On a skewed graph: nobody sends much more than the mean, and `cover` in a grid sends no more than with owners of vertices."""
    path = tmp_path / "kronecker.ew"
    edgewire.ok("generate", "kronecker", "--scale", 18, "-o", path)
    rows = [row for row in rows_of(edgewire, path, "-p", processes, "--ownership", "ranges,hilbert,grid", "--strategy", "slots,cover")
            if row["encoding"] == "f32"]
    by = {(row["ownership"], row["strategy"]): row for row in rows}
    for how in ("grid", "hilbert"):
        covered, slots = by[how, "cover"], by[how, "slots"]
        assert covered["values_sent_total"] <= slots["values_sent_total"]
        assert covered["values_sent_max"] <= 1.15 * covered["values_sent_mean"]
    assert by["grid", "slots"]["values_sent_max"] <= 1.15 * by["grid", "slots"]["values_sent_mean"]
    assert by["grid", "cover"]["values_sent_total"] <= 1.01 * by["ranges", "cover"]["values_sent_total"]
