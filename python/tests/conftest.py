import os
import signal
import sys

import numpy as np
import pytest

import edgewire as ew

signal.signal(signal.SIGINT, signal.default_int_handler)  # what shells let their background jobs ignore, started scripts would ignore, too
sys.path.insert(0, os.path.dirname(__file__))  # for what tests share, whatever pytest's way to import them is


def random_edges(vertices=200, edges=1500, seed=1):
    return np.random.default_rng(seed).integers(0, vertices, (2, edges))


@pytest.fixture
def random_graph():
    """A random graph, and its edges."""
    src, dst = random_edges()
    return ew.Graph.from_numpy(src, dst, vertices=200), src, dst
