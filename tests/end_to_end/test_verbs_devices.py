"""RDMA devices and NUMA nodes, in the machine of tests/lab/rdma-vm: each of its two nodes has two processors and the
network card that a device is on."""

import json
import os
import pathlib
import re
import subprocess

import pytest

from processes import PATIENCE_S, cpu_seconds, wait_for
from test_failures import Running
from test_verbs import graph  # noqa: F401, a fixture

pytestmark = [pytest.mark.slow, pytest.mark.machine]
CPUS = {0: {0, 1}, 1: {2, 3}}  # of each node


def packets():
    """Sent so far, by device."""
    return {path.name: int((path / "ports/1/hw_counters/sent_pkts").read_text())
            for path in pathlib.Path("/sys/class/infiniband").iterdir()}


@pytest.fixture(scope="module")
def second_device():
    subprocess.run(["rdma", "link", "add", "rxe1", "type", "rxe", "netdev", "eth1"], check=True)
    try:
        yield
    finally:
        subprocess.run(["rdma", "link", "delete", "rxe1"], check=True)


def devices_of(report):
    """Node and device of each process."""
    return [re.search(r"memory on node (\d).*\b(rxe\d) port", place).groups() for place in report["placement"]]


def run(edgewire, graph, folder, processes, *before):
    report = folder / "report.json"
    subprocess.run([*before, edgewire.program, "pagerank", graph, "-p", str(processes), "-w", "1", "--transport", "verbs",
                    "--iterations", "50", "--peer-timeout", str(PATIENCE_S), "--verify", "--json", report], check=True, timeout=120)
    return json.loads(report.read_text())


def test_processes_share_the_devices_by_nearness(edgewire, graph, second_device, tmp_path):  # noqa: F811
    before = packets()
    report = run(edgewire, graph, tmp_path, 2)
    assert devices_of(report) == [("0", "rxe0"), ("1", "rxe1")]
    sent = {name: count - before[name] for name, count in packets().items()}
    payload = sum(one["payload_bytes_sent"] for one in report["iterations"])
    assert min(sent.values()) > 50 and sum(sent.values()) > payload / 4096, sent


def test_a_node_with_one_device_has_its_processes_share_it(edgewire, graph, second_device, tmp_path):  # noqa: F811
    before = packets()
    report = run(edgewire, graph, tmp_path, 2, "taskset", "-c", "2,3")
    assert devices_of(report) == [("1", "rxe1"), ("1", "rxe1")]
    after = packets()
    assert after["rxe0"] == before["rxe0"] and after["rxe1"] > before["rxe1"] + 100


def test_netbench_takes_a_device_or_shares_them(edgewire, second_device):
    def sent_by(*options):
        before = packets()
        rows = json.loads(edgewire.ok("netbench", "--transport", "verbs", "--sizes", "64k", "--test", "bandwidth", "--count", 100,
                                      "--peer-timeout", PATIENCE_S, *options, "--json", "-"))["rows"]
        assert rows[0]["payload_bytes"] == 100 << 16 and rows[0]["wire_bytes"] > rows[0]["frame_bytes"]
        return {name: count - before[name] for name, count in packets().items()}

    named = sent_by("--verbs-device", "rxe1:1:1", "--verbs-traffic-class", 106)
    assert named["rxe0"] == 0 and named["rxe1"] >= 100 * 16  # packets of 4096 bytes
    shared = sent_by()
    assert min(shared.values()) > 0 and shared["rxe0"] >= 100 * 16, shared
    assert "no RDMA device 'mlx5_0'" in edgewire.refused("netbench", "--transport", "verbs", "--verbs-device", "mlx5_0")


def pages(pid):
    """Of the process's own memory and what a device maps for it: pages on each node."""
    found = {0: 0, 1: 0}
    bound = set()
    for line in pathlib.Path(f"/proc/{pid}/numa_maps").read_text().splitlines():
        if "mapmax=" in line or ("file=" in line and "/dev/infiniband/" not in line):
            continue  # shared with the parent
        for node, count in re.findall(r" N(\d)=(\d+)", line):
            found[int(node)] += int(count)
        bound.update(re.findall(r" prefer[^:]*:(\d)", line))
    return found, bound


def test_workers_and_memory_are_on_the_node_of_their_process(edgewire, graph):  # noqa: F811
    job = Running(edgewire, ["pagerank", graph, "--iterations", 1000000, "-w", 2, "--transport", "verbs", "--peer-timeout", PATIENCE_S], 2)
    try:
        wait_for(lambda: all(pages(pid)[1] for pid in job.pids), "memory that asks for a node")  # then it is planned, nearly
        planned = max(map(cpu_seconds, job.pids))
        wait_for(lambda: min(map(cpu_seconds, job.pids)) > planned + 3, "iterations")
        for node, pid in enumerate(job.pids):
            pinned = [task for task in os.listdir(f"/proc/{pid}/task") if len(os.sched_getaffinity(int(task))) == 1]
            assert set().union(*(os.sched_getaffinity(int(task)) for task in pinned)) == CPUS[node]
            found, bound = pages(pid)
            # Tiles ask for their node, and nearly nothing else got another: what the launcher left, some 70 pages. A node
            # that has no huge page left, of 512 pages, gets one from the other node.
            assert bound == {str(node)}
            assert found[node] > 200 and found[1 - node] % 512 < 100 and found[1 - node] < found[node], found
    finally:
        job.process.terminate()
        job.process.communicate(timeout=PATIENCE_S)
