"""The dpdk backend on PCI cards: in a virtual machine whose virtio cards have RSS and an IOMMU (tests/lab/rdma-vm -p), set up
in the steps that README.md tells operators to take."""

import pathlib
import subprocess

import pytest

from job import Job

pytestmark = [pytest.mark.slow, pytest.mark.machine("-p")]

CARDS = ["0000:00:10.0", "0000:00:11.0"]


def step(command):
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def bound():
    """Gives all cards to a driver."""
    step("mkdir -p /dev/hugepages; dpdk-hugepages.py --setup 512M")  # systemd has made the folder elsewhere
    step("modprobe -a vfio-pci uio_pci_generic; ip link set eth0 down; ip link set eth1 down")
    return lambda driver: step(f"dpdk-devbind.py -b {driver} {' '.join(CARDS)}")


@pytest.fixture(scope="module")
def graph(kronecker):
    return kronecker(14)


@pytest.fixture(scope="module")
def over_shm(edgewire, graph, tmp_path_factory):
    return run(edgewire, tmp_path_factory.mktemp("shm"), graph, "--transport", "shm")


def run(edgewire, folder, graph, *options):
    return Job(edgewire, folder, graph, "-p", 2, "-w", 2, "--strategy", "edge", "--iterations", 5, *options)


def link_of(job, over_shm):
    """What the report says of the link of a job whose ranks are those of shared memory, and bytes those of the plan."""
    assert job.report["transport"] == "dpdk"
    assert job.text == over_shm.text
    assert job.report["checksum"] == over_shm.report["checksum"]
    assert job.report["bound"]["payload_bytes"] == over_shm.report["bound"]["payload_bytes"]
    return job.report["link"]


def over(*ports):
    # The machine is slow.
    return ["--transport", "dpdk", "--dpdk-port", ";".join(ports), "--peer-timeout", 60]


def queues_of_a_card():
    return len(list(pathlib.Path("/sys/class/net/eth0/queues").glob("rx-*")))


def test_a_card_that_the_kernel_has_is_named_with_the_remedy(edgewire, graph):
    assert edgewire.refused("pagerank", graph, *over(CARDS[0])) == (
        f"transport dpdk: {CARDS[0]} is bound to virtio-pci, not to vfio-pci (dpdk-devbind.py -b vfio-pci {CARDS[0]})")


def test_lanes_have_queues_of_their_own_by_rss(edgewire, graph, bound, over_shm, tmp_path):
    if queues_of_a_card() < 2:
        pytest.skip("cards with several queues need taps in a network namespace (unshare, /dev/net/tun)")
    bound("vfio-pci")
    link = link_of(run(edgewire, tmp_path, graph, *over(*CARDS), "--dpdk-udp", "10.77.0.1/24;10.77.0.2/24"), over_shm)
    assert link["path"] == "UDP, checksums by the port; 2 queues, RSS by lane"
    assert len(link["queue_frames"]) == 2 and min(link["queue_frames"]) > 100
    assert link["sending"] == "in place" and link["missed_frames"] == 0


def test_plain_ethernet_with_jumbo_frames_from_where_they_lie(edgewire, graph, bound, over_shm, tmp_path):
    bound("vfio-pci")
    job = run(edgewire, tmp_path, graph, *over(*[f"{card},mtu=4200" for card in CARDS]))
    link = link_of(job, over_shm)
    assert link["path"] == "plain Ethernet; one queue" and link["sending"] == "in place"
    # Of 4200 bytes 32 are our header; Ethernet adds 38.
    assert job.report["bound"]["wire_bytes"] < job.report["bound"]["payload_bytes"] * 1.03


def test_without_an_iommu_payload_is_copied_once(edgewire, graph, bound, over_shm, tmp_path):
    bound("uio_pci_generic")
    link = link_of(run(edgewire, tmp_path, graph, *over(*CARDS)), over_shm)
    assert link["sending"] == "copied once"
