"""Bits that change between two processes, and processes that check them in different ways."""

import contextlib
import socket
import threading

import pytest

import graphs
import reference
from processes import causes, wait_for


@pytest.fixture
def path(tmp_path):
    return reference.write_graph(tmp_path / "g.ew", graphs.make("self loops"))


@pytest.mark.parametrize("command", ["bfs", "netbench"])
def test_processes_that_do_not_agree_on_integrity(several, hosts, path, command):
    options = [command, *([path, "--source", 0] if command == "bfs" else []), *hosts(2), "--transport", "tcp"]
    results = several([[*options, "--rank", 0], [*options, "--rank", 1, "--integrity", "off"]])
    for rank, (status, lines, _) in enumerate(results):
        assert status == 1
        assert len(causes(lines)) == 1 and "--integrity is on at rank 0, off at rank 1" in causes(lines)[0], (rank, lines)


def carry(source, target, flipped):
    """Carries what comes from one socket to another, and flips a bit of byte `flipped` of it."""
    carried = 0
    with contextlib.suppress(OSError):
        while piece := bytearray(source.recv(65536)):
            if 0 <= flipped - carried < len(piece):
                piece[flipped - carried] ^= 4
            carried += len(piece)
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)


@pytest.mark.parametrize("flipped", [-1, 88 + 3, 88 + 50])  # rank 1 proves the secret with 88 bytes
def test_a_bit_that_is_flipped_on_the_way_to_rank_0(several, hosts, path, tmp_path, flipped):
    options = hosts(2)
    address, port = options[1].read_text().split()[0].split(":")
    with socket.create_server((address, 0)) as proxy:
        through = tmp_path / "through the proxy"
        through.write_text(options[1].read_text().replace(port, str(proxy.getsockname()[1])))

        def serve():
            rank_1, rank_0 = proxy.accept()[0], socket.socket()
            wait_for(lambda: rank_0.connect_ex((address, int(port))) == 0, "rank 0")
            threading.Thread(target=carry, args=(rank_0, rank_1, -1), daemon=True).start()
            carry(rank_1, rank_0, flipped)

        threading.Thread(target=serve, daemon=True).start()
        results = several([["pagerank", path, *options, "--rank", 0],
                           ["pagerank", path, "--hosts", through, *options[2:], "--rank", 1]])
    for status, lines, _ in results:
        assert status == (1 if flipped >= 0 else 0), results
        assert len(causes(lines)) == status and all(f"rank 1 ({address}) was changed on its way" in line for line in causes(lines)), lines
