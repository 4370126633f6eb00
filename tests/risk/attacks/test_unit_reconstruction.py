"""Unit reconstruction: who is found by the others of a household, and who is not."""

import numpy as np
import pytest

from sluice.risk.attacks.near_records import ReleasedColumn
from sluice.risk.attacks.unit_reconstruction import reconstruct_units

RNG = np.random.default_rng(8)
SIZES = RNG.integers(1, 7, 150)
UNITS = np.repeat(np.arange(150), SIZES)
N = len(UNITS)
KEYS = [RNG.integers(0, 6, N), RNG.integers(0, 2, N)]
RENT = RNG.permutation(150)[UNITS]


def labels(values):
    return ReleasedColumn("rent", np.unique(values, return_inverse=True)[1])


def played(column, keys=KEYS, released=None, units=UNITS, seed=1, people=2_000):
    return reconstruct_units(
        keys, keys if released is None else released, [column], units, np.random.default_rng(seed), people
    )


def test_members_who_share_a_value_find_each_other():
    found = played(labels(RENT))
    assert found.complete
    assert sorted(found.rows) == list(range(N))
    assert (found.units == UNITS[found.rows]).all()
    assert found.near == ("rent",)
    assert found.alone.mean() == pytest.approx(12 / N, abs=0.005)
    # By hand: whose household alone has its keys, and who alone has theirs in it.
    compositions = [tuple(sorted(zip(*(key[unit == UNITS] for key in KEYS), strict=True))) for unit in range(150)]
    certain = sum(
        sum(each.count(member) == 1 for member in each) for each in compositions if compositions.count(each) == 1
    )
    assert found.right.sum() == pytest.approx(certain, rel=0.1)
    assert (found.right <= found.claimed).all()


def test_where_dozens_of_units_share_each_value_nobody_is_found_for_certain():
    found = played(labels(RENT // 50))
    assert found is None or (found.right.mean() < 0.01 and found.found.mean() - found.alone.mean() < 0.05)


def test_where_nothing_is_shared_nobody_is_found():
    assert played(labels(RNG.integers(0, 150, N))) is None


def test_a_file_of_units_of_one_record_tells_nothing():
    assert played(labels(RENT), units=np.arange(N)) is None
    assert reconstruct_units(KEYS, KEYS, [], UNITS, np.random.default_rng(1)) is None
    empty = np.array([], np.int64)
    assert reconstruct_units([empty], [empty], [labels(empty)], empty, np.random.default_rng(1)) is None


def test_keys_that_are_masked_find_fewer_and_those_never_kept_are_left_out():
    plain = played(labels(RENT))
    masked = [np.where(RNG.uniform(size=N) < 0.3, RNG.integers(0, 6, N), KEYS[0]), KEYS[1]]
    weaker = played(labels(RENT), released=masked)
    assert 0.05 < weaker.right.mean() < plain.right.mean()
    other = played(labels(RENT), released=[KEYS[0] + 10, KEYS[1]])
    assert other is None or other.right.mean() < weaker.right.mean()


def test_units_of_which_only_some_share_a_value_are_found_all_the_same():
    shared = RNG.uniform(size=150)[UNITS] < 0.3
    found = played(labels(np.where(shared, RENT, 1_000 + np.arange(N))))
    inside = shared[found.rows]
    assert found.right[inside].mean() > 0.2
    assert found.right[~inside].mean() < 0.05


def test_few_units_teach_all_that_there_is():
    kept = UNITS < 30
    found = played(ReleasedColumn("rent", labels(RENT[kept]).labels), [key[kept] for key in KEYS], units=UNITS[kept])
    assert found.complete
    assert found.right.mean() > 0.2


def test_sizes_alone_are_a_composition():
    """Nobody knows any key, but the one firm with forty plants is known by their number."""
    units = np.concatenate([np.repeat(np.arange(100), 2), np.full(40, 100)])
    found = reconstruct_units([], [], [labels(units)], units, np.random.default_rng(2))
    assert found is None or found.right.sum() == 0
    assert found is None or found.found[found.units == 100].mean() == pytest.approx(1 / 40, rel=0.2)


def test_the_order_of_the_records_hardly_matters_and_the_same_draws_are_the_same():
    again, once = played(labels(RENT)), played(labels(RENT))
    assert (again.found == once.found).all()
    order = RNG.permutation(N)
    other = played(labels(RENT[order]), [key[order] for key in KEYS], units=UNITS[order])
    assert other.right.sum() == pytest.approx(once.right.sum(), rel=0.1)
