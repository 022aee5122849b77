"""One run over real ports of DPDK, which the fast tier has, too; see test_dpdk.py for all others."""

from test_dpdk import compare_with_shm, needs_a_port, network  # noqa: F401, fixtures


def test_pagerank_over_dpdk_is_that_over_shared_memory(edgewire, network, kronecker, tmp_path):  # noqa: F811
    report = compare_with_shm(edgewire, network(2), tmp_path, kronecker(10), 2, "--strategy", "slots", "--iterations", 5)
    assert sum(one["payload_bytes_sent"] for one in report["iterations"]) == 5 * report["bound"]["payload_bytes"] > 0
