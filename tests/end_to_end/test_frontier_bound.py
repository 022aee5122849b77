"""What `bound` counts of kernels that follow a frontier, against what real runs send."""

import functools
import json

import numpy as np
import pytest

import graphs
import paths
import reference
from frontier import GENERATED, KERNELS, asked, both_ways, partition, run, weighted
from job import check_schema, on
from reference import Graph


def counted_before(edgewire, kernel, path, processes, ownership, *options):
    """What `bound` says of the run."""
    rows = json.loads(edgewire.ok("bound", path, "--kernel", kernel, *options, "-p", processes, "--ownership", ownership,
                                  "--json", "-"))["rows"]
    assert len(rows) == 1
    return rows[0]


def assert_exact(bound, report):
    """The run has sent what was counted, superstep by superstep."""
    figures = ("phase", "frontier", "record_bytes")
    assert bound["exactness"] == "exact"
    assert [[step[one] for one in figures] for step in bound["supersteps"]] == [
        [step[one] for one in figures] for step in report["supersteps"]]
    if report.get("triangles") != 0:  # without one, lcc sends nothing
        assert (bound["record_bytes"] > 0) == (report["processes"] > 1)


BOUND_RUNS = [(1, "hash"), (2, "hash"), (3, "ranges"), (5, "file")]


@pytest.mark.parametrize("name", GENERATED)
@pytest.mark.parametrize("processes, ownership", BOUND_RUNS)
@pytest.mark.parametrize("kernel", ["bc", "cdlp", "lcc", "tc"])
def test_exact_bounds(edgewire, made_graph, tmp_path, kernel, name, processes, ownership):
    path, graph = made_graph(name)
    owners = partition(tmp_path, graph, processes) if ownership == "file" else ownership
    source = int(graph.sources[len(graph.sources) // 3])
    asked_bound, asked_run = {"bc": (["--source", source], ["--sources", source]), "cdlp": (["--iterations", 7],) * 2, "lcc": ([], []), "tc": ([], [])}[kernel]
    bound = counted_before(edgewire, kernel, path, processes, owners, *asked_bound)
    options = ["-p", processes, "-w", 2, "--ownership", owners, *asked_run]
    _, report = run(edgewire, tmp_path, kernel, path, *options, "--bound")
    assert report["least"]["record_bytes"] == sum(step["record_bytes"] for step in report["supersteps"])
    if kernel == "tc":  # the triangles of each vertex, which are written, take more than their number
        report = json.loads(edgewire.ok(kernel, path, *options, "--verify", "--json", "-"))
    assert_exact(bound, report)


def joined(n, pairs):
    """[number]: the smallest number of its component, of the graph of these pairs."""
    least = list(range(n))

    def root(v):
        while least[v] != v:
            v = least[v]
        return v

    for u, v in pairs:
        low, high = sorted((root(u), root(v)))
        least[high] = low
    return np.array([root(v) for v in range(n)])


def least_of_components(graph, owner, processes):
    """Bytes of wcc in a small graph with directions: bits of large components; from each process to process 0 which of its vertices name
    components, and for boundary vertices their numbers, each in as many bits as there are components; a bit for each as answer, and 4 bytes
    for each that has another label than most."""
    n, size = graph.vertices, range(processes)
    if processes == 1:
        return 0
    edges = np.stack([graph.sources, graph.targets], 1)
    known, boundary, largest, sizes = [], [], [], []
    for p in size:
        mine = edges[owner[edges[:, 0]] == p]
        found = joined(n, mine)
        name = np.full(n, n)
        np.minimum.at(name, found[owner == p], np.flatnonzero(owner == p))
        known.append(name[found])  # n where the process does not know the vertex
        boundary.append([np.unique(mine[:, 1][owner[mine[:, 1]] == q]) if q != p else np.array([], int) for q in size])
        looked_at = known[p][owner == p][::(owner == p).sum() // 1024 + 1]
        counts = np.bincount(looked_at, minlength=n)
        sizes.append(counts.max() if counts.max() >= max(2, len(looked_at) // 4) else 0)
        largest.append(counts.argmax() if sizes[p] else None)
    records = sum(-(-len(boundary[q][p]) // 64) for p in size if sizes[p] for q in size)
    first = int(np.argmax(sizes))
    said = [sizes[p] > 0 and (p == first or any(known[p][v] == largest[p] and known[first][v] == largest[first] for v in boundary[p][first]))
            for p in size]
    open_ = [[[v for v in boundary[p][q] if not (said[q] and known[q][v] == largest[q])] for q in size] for p in size]
    linked, told, names = set(), [], []
    for p in size:  # what is in the large component elsewhere is one here
        same = [(largest[p], largest[p])] if said[p] else []
        same += [(known[p][v], known[p][v]) for q in size for v in boundary[p][q] if said[q] and known[q][v] == largest[q]]
        one = joined(n + 1, {(same[0][0], name) for name, _ in same})
        names.append(one[known[p]])
        told.append({one[same[0][0]]} if same else set())
        if same:
            linked.add((one[same[0][0]], largest[first]))
    count = [0 for _ in size]
    for p in size:
        for q in range(p + 1, processes):
            open_here = open_[p][q] + open_[q][p]
            linked |= {(names[p][v], names[q][v]) for v in open_here}
            for one in (p, q):
                told[one] |= {names[one][v] for v in open_here}
                count[one] += len(open_here)
    label = joined(n, linked)
    labels = [label[one] for p in size[1:] for one in sorted(told[p])]
    most = max(set(labels), key=labels.count, default=None)
    assert labels.count(most) * 2 > len(labels) or not labels
    words = lambda numbers, highest: -(-numbers * max(1, int(highest).bit_length()) // 32)  # noqa: E731
    for p in size[1:]:
        owned = int((owner == p).sum())
        values = 1 + processes + min(words(owned, 1), words(len(told[p]), owned)) + words(count[p], len(told[p]))
        others = sum(label[one] != most for one in told[p])
        records += (values + 1) // 2 + -(-len(told[p]) // 64) + (others + 1) // 2
    return 8 * records


@pytest.mark.parametrize("name", GENERATED)
@pytest.mark.parametrize("processes, ownership", BOUND_RUNS)
def test_bound_of_components(edgewire, made_graph, tmp_path, name, processes, ownership):
    path, graph = made_graph(name)
    owners = partition(tmp_path, graph, processes) if ownership == "file" else ownership
    least = counted_before(edgewire, "wcc", path, processes, owners)
    _, report = run(edgewire, tmp_path, "wcc", path, "-p", processes, "-w", 2, "--ownership", owners)
    sent = sum(step["record_bytes"] for step in report["supersteps"])
    assert least["exactness"] == "at least" and least["record_bytes"] <= sent <= 1.3 * least["record_bytes"]
    assert (sent > 0) == (processes > 1)
    if name == "kronecker" and ownership != "ranges":
        owner = np.loadtxt(owners, int) if ownership == "file" else reference.hash_owners(graph.vertices, processes)
        assert least["record_bytes"] == least_of_components(graph, owner, processes)


@pytest.mark.parametrize("name", [*GENERATED, "cycle", "path", "self loops", "star in", "duplicates"])
@pytest.mark.parametrize("processes, ownership", BOUND_RUNS)
def test_bound_of_strong_components(edgewire, made_graph, tmp_path, name, processes, ownership):
    """Exact where edges have a direction and are few: owners of their ends get them, and all processes those whose source has others in and out."""
    if name in GENERATED:
        path, graph = made_graph(name)
    else:
        graph = graphs.make(name)
        path = reference.write_graph(tmp_path / "g.ew", graph)
    owners = partition(tmp_path, graph, processes) if ownership == "file" else ownership
    bound = counted_before(edgewire, "scc", path, processes, owners)
    _, report = run(edgewire, tmp_path, "scc", path, "-p", processes, "-w", 2, "--ownership", owners)
    sent = sum(step["record_bytes"] for step in report["supersteps"])
    if bound["exactness"] == "at least":  # every edge is there both ways: as wcc
        assert name in ("kronecker both ways", "grid") and bound["record_bytes"] <= sent <= 1.3 * bound["record_bytes"]
        return
    figures = ("phase", "frontier", "record_bytes")
    assert [[step[one] for one in figures] for step in bound["supersteps"]] == [
        [step[one] for one in figures] for step in report["supersteps"]]
    ends = [(u, v) for u, v in zip(graph.sources.tolist(), graph.targets.tolist()) if u != v]
    both = {u for u, _ in ends} & {v for _, v in ends}
    sent = {step["phase"]: step["record_bytes"] for step in bound["supersteps"]}
    assert sent.get("collect the edges that are left", 0) == 8 * (processes - 1) * sum(u in both for u, _ in ends)
    if ownership != "ranges":
        owner = np.loadtxt(owners, int) if ownership == "file" else reference.hash_owners(graph.vertices, processes)
        assert sent["keep the edges that are left, both ways"] == 8 * sum(owner[u] != owner[v] for u, v in ends)


def many_components(blocks=3000, size=50):
    """Random edges within blocks of vertices, and from each block to later ones: most of it is neither trimmed nor collected."""
    random = np.random.default_rng(7)
    sources = np.repeat(np.arange(blocks * size), 6)
    own = sources // size
    within = random.random(len(sources)) < 0.7
    targets = np.where(within, own, random.integers(own, blocks)) * size + random.integers(0, size, len(sources))
    return Graph(blocks * size, sources, targets)


@pytest.fixture(scope="module")
def large_graph(edgewire, tmp_path_factory):
    """The path of a graph with more edges than scc collects at once."""
    @functools.cache
    def path_of(name):
        path = tmp_path_factory.mktemp("large_graph") / "g.ew"
        if name == "many components":
            return reference.write_graph(path, many_components())
        edgewire.ok("generate", "kronecker", "--scale", 16, "-o", path)
        return path

    return path_of


@pytest.mark.parametrize("name", ["kronecker", "many components"])
@pytest.mark.parametrize("processes, workers, ownership", [(1, 1, "hash"), (2, 1, "hash"), (3, 1, "ranges"), (3, 2, "hash")])
def test_bound_of_strong_components_of_many_edges(edgewire, large_graph, tmp_path, name, processes, workers, ownership):
    path = large_graph(name)
    about = counted_before(edgewire, "scc", path, processes, ownership)
    report = json.loads(edgewire.ok("scc", path, "-p", processes, "-w", workers, "--ownership", ownership, "--json", "-"))
    sent = sum(step["record_bytes"] for step in report["supersteps"])
    assert report["edges"] > 1 << 19 and about["exactness"] == "about" and (sent > 0) == (processes > 1)
    # More workers join other vertices in a round, and have other rounds pay.
    assert about["record_bytes"] == (sent if workers == 1 else pytest.approx(sent, rel=0.1))
    phases = {step["phase"] for step in report["supersteps"]}
    assert "collect the edges that are left" in phases and (name == "kronecker" or {"trim", "spread colours"} <= phases)


@pytest.mark.parametrize("name", GENERATED)
@pytest.mark.parametrize("processes, ownership", BOUND_RUNS)
def test_bound_of_searches(edgewire, made_graph, tmp_path, name, processes, ownership):
    path, graph = made_graph(name)
    source = int(graph.sources[len(graph.sources) // 3])
    owners = partition(tmp_path, graph, processes) if ownership == "file" else ownership
    options = ["-p", processes, "-w", 1, "--ownership", owners]
    bound = counted_before(edgewire, "bfs", path, processes, owners, "--source", source)
    _, report = run(edgewire, tmp_path, "bfs", path, *options, source=source)
    assert_exact(bound, report)
    least = counted_before(edgewire, "sssp", path, processes, owners, "--source", source)
    _, report = run(edgewire, tmp_path, "sssp", path, *options, source=source)
    assert least["exactness"] == "at least"
    assert least["record_bytes"] <= sum(step["record_bytes"] for step in report["supersteps"])
    if ownership == "file":  # pairs of a process and a vertex of another one that it leads to
        reached = np.isfinite(paths.distances(graph, source))[graph.sources]
        owner = np.loadtxt(owners, int)
        pairs = set(zip(owner[graph.sources[reached]].tolist(), graph.targets[reached].tolist()))
        assert least["record_bytes"] == 12 * sum(owner[v] != p for p, v in pairs)


@pytest.mark.parametrize("processes, ownership", [(2, "hash"), (3, "ranges")])
@pytest.mark.parametrize("kernel", KERNELS)
def test_reports_have_what_had_to_be_sent(edgewire, made_graph, tmp_path, kernel, processes, ownership):
    path, graph = made_graph("kronecker both ways")
    source = int(graph.sources[0])
    counted = counted_before(edgewire, kernel, path, processes, ownership, *(["--source", source] if kernel in ("bfs", "sssp", "bc") else []))
    text = edgewire.ok(kernel, path, *asked(kernel, source), "-p", processes, "-w", 1, "--ownership", ownership, "--bound",
                       "--json", tmp_path / "report.json")
    report = json.loads((tmp_path / "report.json").read_text())
    check_schema(report)
    least, steps = report["least"], report["supersteps"]
    sent = sum(step["record_bytes"] for step in steps)
    assert (least["record_bytes"], least["count"]) == (counted["record_bytes"], counted["exactness"])
    assert 1 <= least["record_ratio"] <= 1.3 and least["record_ratio"] == pytest.approx(sent / least["record_bytes"])
    assert least["payload_ratio"] == pytest.approx(sum(step["payload_bytes_sent"] for step in steps) / least["record_bytes"])
    assert f"had to be sent: {'' if least['count'] == 'exact' else 'at least '}" in text and f"{least['record_bytes']} B" in text and ": records are " in text
    if least["count"] == "exact":
        assert [step["least_record_bytes"] for step in steps] == [step["record_bytes"] for step in counted["supersteps"]]
    else:  # counted in one for all supersteps
        assert not any("least_record_bytes" in step for step in steps) and "counted in one for all supersteps" in text


@pytest.mark.parametrize("kernel", ["bfs", "sssp", "wcc", "bc"])
def test_runs_from_disks_send_no_less_than_they_had_to(edgewire, tmp_path, devices, kernel):
    graph = both_ways(Graph(30, *graphs.random_edges(30, 90, 3)))
    graph.weights = np.ones(len(graph.sources))
    path = tmp_path / "g.ew"
    path.write_bytes(reference.graph_bytes(graph, flags=reference.weight_flags(graph) | reference.SYMMETRIC))
    _, report = run(edgewire, tmp_path, kernel, path, "-p", 4, "-w", 1, "--bound", *on(*devices), source=int(graph.sources[0]))
    sent, least = [step["record_bytes"] for step in report["supersteps"]], report["least"]
    assert 0 < least["record_bytes"] <= sum(sent)
    if least["count"] == "exact":
        assert [step["least_record_bytes"] for step in report["supersteps"]] == sent


def test_runs_that_nobody_counts_say_so(edgewire, made_graph):
    path, graph = made_graph("kronecker both ways")
    options = ["bc", path, "--sources", int(graph.sources[0]), "--parallel", "sources", "-p", 2, "-w", 1, "--bound"]
    assert "had to be sent: this is not counted for searches that are tasks" in edgewire.ok(*options)
    assert "least" not in json.loads(edgewire.ok(*options, "--json", "-"))


def test_bounds_of_searches_that_are_refused(edgewire, tmp_path):
    path = reference.write_graph(tmp_path / "g.ew", weighted(graphs.make("cycle")))
    for options, named in ((["--kernel", "bfs"], "--source"), (["--source", 0], "--kernel"), (["--kernel", "wcc", "--source", 0], "--source"), (["--kernel", "katz"], "--kernel"),
                           (["--kernel", "bc"], "--source"), (["--kernel", "cdlp", "--source", 0], "--source"),
                           (["--kernel", "bc", "--source", 0, "--iterations", 3], "--iterations"),
                           (["--kernel", "bfs", "--source", 0, "--strategy", "cover"], "--strategy"),
                           (["--kernel", "sssp", "--source", 0, "--ownership", "hash,hilbert"], "hilbert")):
        assert named in edgewire.refused("bound", path, *options, status=2)
    assert "99" in edgewire.refused("bound", path, "--kernel", "bfs", "--source", 99)
