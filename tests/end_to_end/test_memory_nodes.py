"""Memory on its NUMA node: in the machine of tests/lab/rdma-vm, whose two nodes have two processors each, and in a container
that refuses memory policy."""

import collections
import json
import os
import pathlib
import re

import pytest

import job as jobs
from processes import LIMIT_S, cpu_seconds, wait_for
from system_calls import refusing

KINDS = ["tiles", "values", "messages", "accumulators", "inbox"]


def report_of(edgewire, graph, folder, *options):
    report = folder / "report.json"
    text = edgewire.ok("pagerank", graph, "--iterations", 3, "--verify", "--verbose", *options, "--json", report)
    found = json.loads(report.read_text())
    jobs.check_report(found)
    return text, found["memory"]


def pages(memory, kind):
    return {one["node"]: one["pages"] for one in memory[kind]["pages"]}


@pytest.mark.slow
@pytest.mark.machine
@pytest.mark.parametrize("processes,workers,options", [
    (1, 4, []), (2, 2, []), (2, 2, ["--transport", "tcp"]), (2, 2, ["--strategy", "cover"])])
def test_pages_are_on_the_node_of_their_workers(edgewire, kronecker, tmp_path, processes, workers, options):
    text, memory = report_of(edgewire, kronecker(17), tmp_path, "-p", processes, "-w", workers, *options)
    assert "policy_refused" not in memory
    for kind in KINDS[:4] if processes == 1 else KINDS:
        found = pages(memory, kind)
        assert sum(found.values()) * memory["page_bytes"] > 0.8 * memory[kind]["bytes"], (kind, memory)
        assert memory[kind]["elsewhere_share"] < 0.01, (kind, memory)
        assert set(found) == {0, 1}, (kind, memory)
    read_by_all = pages(memory, "messages")
    assert 0.8 < read_by_all[0] / read_by_all[1] < 1.25, memory
    assert re.search(r"^memory \d+ % on node 0, \d+ % on node 1; pages elsewhere than wanted: tiles 0\.\d\d %", text, re.M), text


@pytest.mark.slow
@pytest.mark.machine
def test_tiles_of_a_plan_cache_go_to_their_nodes(edgewire, kronecker, tmp_path):
    for source in "written", "used":
        text, memory = report_of(edgewire, kronecker(17), tmp_path, "-p", 1, "-w", 4, f"--plan-cache={tmp_path}/cache")
        assert f"plan cache: {source}" in text
        assert set(pages(memory, "tiles")) == {0, 1} and memory["tiles"]["elsewhere_share"] < 0.01, memory


@pytest.mark.slow
@pytest.mark.machine
def test_a_process_on_one_node_has_all_its_memory_there(edgewire, kronecker, tmp_path):
    _, memory = report_of(edgewire, kronecker(15), tmp_path, "-p", 1, "-w", 2)
    for kind in KINDS[:4]:
        assert set(pages(memory, kind)) == {0}, (kind, memory)


@pytest.mark.slow
@pytest.mark.machine
def test_each_node_has_its_part_of_an_inbox(edgewire, kronecker, tmp_path):
    """Both processes take the machine for their own, so that each has workers on both nodes. Three pages of the inboxes hold
    values of both: where the parts of the nodes meet in the even and in the odd one, and where these meet."""
    (tmp_path / "hosts").write_text("10.8.0.1:7471\n10.8.0.2:7472\n")
    (tmp_path / "secret").write_bytes(os.urandom(32))
    (tmp_path / "secret").chmod(0o600)
    options = ["-w", 4, "--iterations", 16, "--precision", "f64", "--strategy", "slots", "--transport", "tcp", "--verify",
               "--hosts", tmp_path / "hosts", "--secret-file", tmp_path / "secret", "--peer-timeout", LIMIT_S]
    started = [edgewire.start("pagerank", kronecker(18), *options, "--rank", rank, *more)
               for rank, more in enumerate((["--json", tmp_path / "report.json"], []))]
    for job in started:
        _, said = job.communicate(timeout=LIMIT_S)
        assert job.returncode == 0, said
    memory = json.loads((tmp_path / "report.json").read_text())["memory"]
    for kind in KINDS:
        assert set(pages(memory, kind)) == {0, 1} and memory[kind]["elsewhere_share"] < 0.01, (kind, memory)


def placed(pid):
    """What the system says of a process's memory that has a policy: pages by policy and node."""
    found = collections.Counter()
    for line in pathlib.Path(f"/proc/{pid}/numa_maps").read_text().splitlines():
        if policy := re.search(r" (prefer|interleave)[^:]*:(\S+)", line):
            for node, count in re.findall(r" N(\d)=(\d+)", line):
                found[policy[1], policy[2], int(node)] += int(count)
    return found


@pytest.mark.slow
@pytest.mark.machine
def test_the_system_says_the_same(edgewire, kronecker):
    job = edgewire.start("pagerank", kronecker(17), "--iterations", 1000000, "-w", 4)
    try:
        wait_for(lambda: any(kind == "interleave" for kind, _, _ in placed(job.pid)), "messages")  # then it is planned
        planned = cpu_seconds(job.pid)
        wait_for(lambda: cpu_seconds(job.pid) > planned + 5, "iterations")
        found = placed(job.pid)
    finally:
        job.kill()
        job.communicate()
    for node in 0, 1:
        near, far = found["prefer", str(node), node], found["prefer", str(node), 1 - node]
        assert near > 500 and far < 0.01 * near, found
        assert found["interleave", "0-1", node] > 100, found


def test_topology_tells_pages(edgewire):
    for node in json.loads(edgewire.ok("topology", "--json", "-"))["nodes"]:
        found = node["pages"]
        assert found["page_bytes"] == os.sysconf("SC_PAGE_SIZE")
        info = pathlib.Path(f"/sys/devices/system/node/node{node['os_index']}/meminfo")
        if info.exists():
            total = int(re.search(r"MemTotal: +(\d+) kB", info.read_text())[1])
            assert found["total"] * found["page_bytes"] == total << 10
            assert 0 < found["free"] <= found["total"]
        for huge in found["huge_pages"]:
            assert huge["bytes"] > found["page_bytes"] and 0 <= huge["free"] <= huge["total"]
    assert f"pages of {os.sysconf('SC_PAGE_SIZE') >> 10} KiB: " in edgewire.ok("topology")


CALLS = ["mbind", "set_mempolicy", "get_mempolicy", "move_pages"]


@pytest.mark.parametrize("refused", [2, 4], ids=["setting", "asking, too"])
@pytest.mark.parametrize("processes", [1, 2])
def test_a_container_that_refuses_memory_policy(edgewire, kronecker, tmp_path, refused, processes):
    if refused == 2 and not report_of(edgewire, kronecker(12), tmp_path)[1]["tiles"]["pages"]:
        pytest.skip("this system does not say where pages are (as in containers)")
    report = tmp_path / "report.json"
    done = edgewire("pagerank", kronecker(12), "-p", processes, "-w", 1, "--iterations", 3, "--verbose", "--verify", "--json", report,
                        preexec_fn=refusing(*CALLS[:refused]))
    assert done.returncode == 0 and done.stderr == "", done.stderr
    lines = [line for line in done.stdout.splitlines() if "memory policy" in line]
    assert len(lines) == 1 and lines[0].startswith("memory policy refused (Operation not permitted): "), done.stdout
    found = json.loads(report.read_text())
    jobs.check_report(found)
    assert found["memory"]["policy_refused"] == "Operation not permitted"
    assert (found["memory"]["tiles"]["pages"] == []) == (refused == 4)
