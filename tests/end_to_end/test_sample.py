"""Which cases of a matrix a run takes (conftest.py)."""

from types import SimpleNamespace

from conftest import sample


def case(name, number, share=None):
    marker = share and SimpleNamespace(args=[share])
    return type("Case", (), {"nodeid": f"test_x.py::{name}[{number}]", "get_closest_marker": lambda self, name: marker})()


def test_a_seed_draws_the_share_and_leaves_other_tests_alone():
    cases = [case("test_matrix", i, 1 / 3) for i in range(30)]
    others = [case("test_other", i) for i in range(5)]
    left_out = {seed: sample(cases + others, seed) for seed in range(40)}
    assert all(len(one) == 20 and one <= set(cases) for one in left_out.values())
    assert sample(cases + others, 7) == left_out[7]
    assert not set.intersection(*left_out.values())  # some commit meets each case
    assert not sample([case("test_single", 0, 1 / 3)], 1)  # of each test at least one
