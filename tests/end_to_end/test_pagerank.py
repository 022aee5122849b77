"""edgewire pagerank gives the right ranks and sends what the plan says, however the job is cut."""

import itertools
import json

import numpy as np
import pytest

import graphs
import reference
from job import Job, check_report, read_ranks

STRATEGIES = ["edge", "worker", "process", "slots", "cover"]


@pytest.fixture(scope="session")
def transports(edgewire):
    listed = json.loads(edgewire.ok("transports", "--json", "-"))
    return {backend["name"]: backend for backend in listed}


@pytest.fixture
def need(transports):
    """need("tcp") skips the test where the backend is not usable."""
    def check(name):
        if not transports.get(name, {}).get("usable"):
            pytest.skip(f"transport {name}: {transports.get(name, {}).get('reason', 'unknown')}")
    return check


@pytest.fixture(scope="session")
def generated(edgewire, tmp_path_factory):
    """Graphs that edgewire itself makes, as (path, graph read by the tests' own reader)."""
    folder = tmp_path_factory.mktemp("generated")
    kinds = {
        "kronecker": ["kronecker", "--scale", 12],
        "uniform": ["uniform", "--vertices", 3001, "--edge-factor", 5, "--seed", 7],
        "grid": ["grid", "--rows", 37, "--columns", 53],
    }
    made = {}
    for name, arguments in kinds.items():
        path = folder / f"{name}.ew"
        edgewire.ok("generate", *arguments, "-o", path)
        made[name] = path, reference.read_graph(path)
    return made


def partition(folder, graph, processes):
    """A partition file in which the last process has a single vertex."""
    owners = np.random.default_rng(graph.vertices).integers(0, max(1, processes - 1), graph.vertices)
    owners[:processes] = range(processes)
    path = folder / "partition.txt"
    path.write_text("".join(f"{owner}\n" for owner in owners))
    return path, owners


def run_and_check(edgewire, folder, path, graph, *, processes, workers, strategy, transport, ownership, layout):
    owners = reference.hash_owners(graph.vertices, processes)
    if ownership == "ranges":
        owners = reference.range_owners(graph, processes)
    elif ownership == "file" and graph.vertices < processes:
        ownership = "hash"  # a partition file gives every process a vertex
    elif ownership == "file":
        ownership, owners = partition(folder, graph, processes)
    job = Job(edgewire, folder, path, "-p", processes, "-w", workers, "--strategy", strategy, "--transport", transport,
              "--ownership", ownership, "--layout", layout)
    report = job.report
    assert (report["kernel"], report["vertices"], report["edges"]) == ("pagerank", graph.vertices, len(graph.sources))
    assert (report["processes"], report["workers"], report["strategy"], report["transport"], report["layout"]) == (
        processes, workers, strategy, transport, layout)
    job.check_ranks(graph)
    job.check_payload(graph, owners)
    return job


# Every strategy and transport meets every graph; the other choices go round, so that each meets each somewhere.
ROUNDS = [(name, strategy, transport) for name in [*graphs.GRAPHS, "kronecker", "uniform", "grid"]
          for strategy in STRATEGIES for transport in ("shm", "tcp")]


@pytest.mark.matrix(1 / 4)
@pytest.mark.parametrize("number", range(len(ROUNDS)),
                         ids=["-".join(round_).replace(" ", "_") for round_ in ROUNDS])
def test_every_graph(edgewire, generated, need, tmp_path, number):
    name, strategy, transport = ROUNDS[number]
    need(transport)
    if name in generated:
        path, graph = generated[name]
    else:
        graph = graphs.make(name)
        path = reference.write_graph(tmp_path / "g.ew", graph)
    run_and_check(edgewire, tmp_path, path, graph, processes=[2, 3, 5, 4, 7, 2, 3][number % 7],
                  workers=[1, 2, 1, 3][number // 3 % 4], strategy=strategy, transport=transport,
                  ownership=["hash", "ranges", "file"][number // 2 % 3], layout=["degree", "given"][number // 4 % 2])


@pytest.mark.matrix(1 / 3)
@pytest.mark.parametrize("workers", range(1, 5))
@pytest.mark.parametrize("processes", range(1, 9))
def test_every_number_of_processes_and_workers(edgewire, generated, tmp_path, processes, workers):
    path, graph = generated["kronecker"]
    run_and_check(edgewire, tmp_path, path, graph, processes=processes, workers=workers,
                  strategy=STRATEGIES[(processes + workers) % 5], transport="shm", ownership="hash", layout="degree")


@pytest.mark.slow
@pytest.mark.matrix(1 / 5)
@pytest.mark.parametrize("transport", ["shm", "tcp"])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_combination(edgewire, generated, need, tmp_path, strategy, transport):
    need(transport)
    path, graph = generated["uniform"]
    for processes, workers, ownership, layout in itertools.product(
            range(1, 9), range(1, 5), ("hash", "ranges", "file"), ("given", "degree")):
        if (processes + workers) % 3 == len(strategy) % 3:  # a third of them: minutes, not a quarter of an hour
            run_and_check(edgewire, tmp_path, path, graph, processes=processes, workers=workers, strategy=strategy,
                          transport=transport, ownership=ownership, layout=layout)


@pytest.mark.sanitize
@pytest.mark.parametrize("transport", ["shm", "tcp"])
@pytest.mark.parametrize("strategy", [pytest.param(name, marks=pytest.mark.core) if name == "cover" else name for name in STRATEGIES])
def test_two_processes_with_two_workers(edgewire, generated, need, tmp_path, strategy, transport):
    need(transport)
    path, graph = generated["kronecker"]
    run_and_check(edgewire, tmp_path, path, graph, processes=2, workers=2, strategy=strategy, transport=transport,
                  ownership="hash", layout="degree")


@pytest.mark.sanitize
@pytest.mark.parametrize("name", ["no vertices", "one vertex", "two vertices"])
def test_more_processes_than_vertices(edgewire, tmp_path, name):
    graph = graphs.make(name)
    path = reference.write_graph(tmp_path / "g.ew", graph)
    run_and_check(edgewire, tmp_path, path, graph, processes=8, workers=1, strategy="slots", transport="shm",
                  ownership="hash", layout="degree")


def test_columns_that_span_several_tiles(edgewire, need, tmp_path):
    """Large enough that each process has many tile columns, also remote ones, and several chunks to each peer."""
    edgewire.ok("generate", "kronecker", "--scale", 17, "--edge-factor", 8, "-o", tmp_path / "g.ew")
    graph = reference.read_graph(tmp_path / "g.ew")
    need("tcp")
    for transport in ("shm", "tcp"):
        run_and_check(edgewire, tmp_path, tmp_path / "g.ew", graph, processes=2, workers=2, strategy="slots",
                      transport=transport, ownership="hash", layout="degree")


@pytest.mark.parametrize("options", [[], ["-p", 3, "-w", 2], ["-p", 2, "--strategy", "edge"],
                                     ["-p", 2, "--transport", "tcp"]], ids=str)
def test_iterations_damping_and_the_form_of_2015(edgewire, generated, need, tmp_path, options):
    if "tcp" in options:
        need("tcp")
    path, graph = generated["uniform"]
    for iterations, damping in ((0, 0.85), (1, 0.85), (2, 0.5), (7, 0.0), (11, 1.0), (60, 0.99)):
        asked = ["--iterations", iterations, "--damping", damping]
        Job(edgewire, tmp_path, path, *options, *asked).check_ranks(graph, iterations=iterations, damping=damping)
        job = Job(edgewire, tmp_path, path, *options, *asked, "--pagerank-2015")
        job.check_ranks(graph, iterations=iterations, damping=damping, form_2015=True)


@pytest.mark.sanitize
@pytest.mark.parametrize("options", [["-p", 1], ["-p", 4, "-w", 2], ["-p", 3, "--transport", "tcp"]], ids=str)
def test_a_tolerance_ends_all_processes_at_the_same_iteration(edgewire, generated, need, tmp_path, options):
    if "tcp" in options:
        need("tcp")
    path, graph = generated["kronecker"]
    # In the middle between the changes of two iterations, so that rounding cannot decide.
    changes = [np.abs(reference.pagerank(graph, i)[0] - reference.pagerank(graph, i - 1)[0]).sum() for i in (5, 6)]
    tolerance = float(np.sqrt(changes[0] * changes[1]))
    job = Job(edgewire, tmp_path, path, "--iterations", 1000, "--tolerance", tolerance, *options)
    assert len(job.report["iterations"]) == 6
    job.check_ranks(graph, iterations=1000, tolerance=tolerance)


def test_a_tolerance_that_is_reached_at_once(edgewire, generated, tmp_path):
    path, _ = generated["grid"]
    job = Job(edgewire, tmp_path, path, "-p", 3, "--tolerance", 10)
    assert len(job.report["iterations"]) == 1


@pytest.mark.sanitize
@pytest.mark.parametrize("options", [["-p", 1, "-w", 3], ["-p", 3, "-w", 2], ["-p", 2, "-w", 2, "--strategy", "worker"],
                                     ["-p", 3, "--transport", "tcp"]], ids=str)
def test_the_same_bits_from_run_to_run(edgewire, generated, need, tmp_path, options):
    if "tcp" in options:
        need("tcp")
    path, _ = generated["kronecker"]
    jobs = [Job(edgewire, tmp_path, path, "--deterministic", *options) for _ in range(3)]
    assert len({job.text for job in jobs}) == 1
    assert len({job.report["checksum"] for job in jobs}) == 1


def test_the_checksum_tells_results_apart(edgewire, generated, tmp_path):
    path, _ = generated["kronecker"]
    found = {Job(edgewire, tmp_path, path, "--iterations", i).report["checksum"] for i in range(5)}
    assert len(found) == 5


def test_ranks_on_stdout_with_the_ids_of_the_file_that_was_converted(edgewire, tmp_path):
    graph = graphs.make("original ids")
    path = reference.write_graph(tmp_path / "g.ew", graph)
    ids, ranks = read_ranks(edgewire.ok("pagerank", path, "-p", 2, "-o", "-"))
    assert ids.tolist() == graph.original_ids.tolist()
    np.testing.assert_allclose(ranks, reference.pagerank(graph)[0], rtol=1e-6)


@pytest.mark.sanitize
def test_json_on_stdout_is_nothing_but_json(edgewire, generated):
    path, _ = generated["grid"]
    result = edgewire("pagerank", path, "-p", 2, "--json", "-")
    assert result.returncode == 0
    check_report(json.loads(result.stdout))


def test_what_people_see(edgewire, generated):
    path, graph = generated["grid"]
    text = edgewire.ok("pagerank", path, "-p", 2, "--verify", "--verbose")
    assert f"{graph.vertices} vertices, {len(graph.sources)} edges, 2 processes" in text
    assert "bound of this plan" in text and "passed" in text and "checksum" in text


@pytest.mark.sanitize
def test_verify_passes_and_is_in_the_report(edgewire, generated):
    path, _ = generated["kronecker"]
    report = json.loads(edgewire.ok("pagerank", path, "-p", 3, "--verify", "--json", "-"))
    assert report["verify"]["passed"] is True
    assert 0 <= report["verify"]["max_relative_error"] < report["verify"]["vertex_limit"] < 1e-5
    assert report["verify"]["sum_error"] < report["verify"]["limit"] < 1e-5


def test_output_replaces_an_older_one_also_behind_a_link(edgewire, generated, tmp_path):
    path, graph = generated["grid"]
    old, link = tmp_path / "ranks.tsv", tmp_path / "link.tsv"
    old.write_text("old\n")
    link.symlink_to(old)
    edgewire.ok("pagerank", path, "-o", link)
    assert link.is_symlink() and len(old.read_text().splitlines()) == graph.vertices


def test_output_into_what_is_no_file(edgewire, generated, tmp_path):
    path, graph = generated["grid"]
    text = edgewire.ok("pagerank", path, "-o", "/dev/stdout", "--json", tmp_path / "report.json")
    assert text.startswith("0\t") and text.count("\t") == graph.vertices
