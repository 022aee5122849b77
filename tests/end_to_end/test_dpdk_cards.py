"""The dpdk backend on PCI cards: in a virtual machine whose virtio cards have RSS and an IOMMU (tests/lab/rdma-vm -p), set up
in the steps that docs/dpdk.md tells operators to take. All of them in one boot."""

import json
import os

import pytest

import lab
from job import Job

pytestmark = [pytest.mark.slow, pytest.mark.dpdk, pytest.mark.machine(own=True)]

PAGERANK = ["-p", 2, "-w", 2, "--strategy", "edge", "--deterministic", "--iterations", 5]

STEPS = """
cd {folder}
ports() {{ echo "0000:00:10.0$1;0000:00:11.0$1"; }}
run() {{ {program} pagerank g.ew {pagerank} --transport dpdk --peer-timeout 60 --dpdk-port "$@"; }}
refused() {{ {program} pagerank g.ew --transport dpdk --dpdk-port 0000:00:10.0 && exit 1; true; }}
bind() {{ modprobe $1; dpdk-devbind.py -b $1 0000:00:10.0 0000:00:11.0; }}
set -e
refused 2>unbound
ip link set eth0 down; ip link set eth1 down
bind vfio-pci
refused 2>no_huge_pages
mkdir -p /dev/hugepages  # where there is systemd, it has done so
dpdk-hugepages.py --setup 512M
run "$(ports ,mtu=4200)" --dpdk-udp '10.77.0.1/24;10.77.0.2/24' -o rss.tsv --json rss.json
bind uio_pci_generic
run "$(ports)" -o copied.tsv --json copied.json
"""


@pytest.fixture(scope="module")
def machine(edgewire, tmp_path_factory):
    """The folder with what came of all steps."""
    folder = tmp_path_factory.mktemp("cards")
    edgewire.ok("generate", "kronecker", "--scale", 14, "-o", folder / "g.ew")
    lab.run(STEPS.format(folder=folder, program=os.path.abspath(os.environ["EDGEWIRE"]), pagerank=" ".join(map(str, PAGERANK))),
            "-p", share=folder)
    return folder


@pytest.fixture(scope="module")
def report(edgewire, machine, tmp_path_factory):
    """report(name) of a job whose ranks are those of shared memory, and bytes those of the plan."""
    shm = Job(edgewire, tmp_path_factory.mktemp("shm"), machine / "g.ew", *PAGERANK, "--transport", "shm")

    def check(name):
        found = json.loads((machine / f"{name}.json").read_text())
        assert found["transport"] == "dpdk"
        assert (machine / f"{name}.tsv").read_text() == shm.text
        assert found["checksum"] == shm.report["checksum"]
        for one in found["iterations"]:
            assert one["payload_bytes_sent"] == found["bound"]["payload_bytes"] == shm.report["bound"]["payload_bytes"]
        return found

    return check


def test_what_a_card_needs_is_named_with_the_remedy(machine):
    start = "edgewire: transport dpdk: "
    assert (machine / "unbound").read_text() == (
        f"{start}0000:00:10.0 is bound to virtio-pci, not to vfio-pci (dpdk-devbind.py -b vfio-pci 0000:00:10.0)\n")
    assert (machine / "no_huge_pages").read_text() == (
        f"{start}a card needs 128 MiB of huge pages for each process (dpdk-hugepages.py --setup 512M)\n")


def test_lanes_have_queues_of_their_own_by_rss_and_jumbo_frames_leave_in_place(report):
    found = report("rss")
    link = found["link"]
    assert link["sending"] == "in place" and link["missed_frames"] == 0
    # Of 4200 bytes 60 are headers; Ethernet adds 38.
    assert found["bound"]["wire_bytes"] < 1.04 * found["bound"]["payload_bytes"]
    if link["path"] == "UDP without checksums; one queue":
        pytest.skip("cards with several queues need taps in a network namespace (unshare, /dev/net/tun)")
    assert link["path"] == "UDP, checksums by the port; 2 queues, RSS by lane"
    assert len(link["queue_frames"]) == 2 and min(link["queue_frames"]) > 100


def test_without_an_iommu_payload_is_copied_once(report):
    link = report("copied")["link"]
    assert link["path"] == "plain Ethernet; one queue" and link["sending"] == "copied once"
