"""A few runs over real ports of DPDK, which the fast tier has, too; see test_dpdk.py for all others."""

import every_command
from job import on
from test_dpdk import compare_with_shm, needs_a_port, network, ports  # noqa: F401, fixtures


def test_pagerank_over_dpdk_is_that_over_shared_memory(edgewire, network, kronecker, tmp_path):  # noqa: F811
    report = compare_with_shm(edgewire, network(2), tmp_path, kronecker(10), 2, "--strategy", "slots", "--iterations", 5)
    assert sum(one["payload_bytes_sent"] for one in report["iterations"]) == 5 * report["bound"]["payload_bytes"] > 0


def test_a_kernel_without_a_plan_runs_over_dpdk_and_says_what_happened_there(edgewire, network, kronecker, tmp_path):  # noqa: F811
    report = every_command.run(network(2), tmp_path, "bfs", kronecker(10), "-p", 2, "-w", 1, "--transport", "dpdk", "--dpdk-port", ports(2))
    every_command.check("bfs", report, "dpdk", 2)


def test_edges_are_on_disk_and_messages_go_over_dpdk(edgewire, network, kronecker, tmp_path):  # noqa: F811
    compare_with_shm(edgewire, network(2), tmp_path, kronecker(10), 2, "--strategy", "slots", "--iterations", 5, *on(tmp_path),
                     f"--plan-cache={tmp_path}")
    report = every_command.run(network(2), tmp_path, "wcc", kronecker(10), "-p", 2, "-w", 1, *on(tmp_path), "--transport", "dpdk", "--dpdk-port",
                               ports(2))
    every_command.check("wcc", report, "dpdk", 2)
    assert report["disk"]["bytes_read"] > 0
