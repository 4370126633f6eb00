"""Editions and overlapping tables of cell-key counts, played as a reader who subtracts them."""

import hmac
from fractions import Fraction
from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.tabular.alternatives.cell_key import EditionDifferences, cell_keys, perturb_counts, record_keys
from sluice.tabular.alternatives.perturbation_table import PerturbationTable
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.cells import Cells
from sluice.tabular.model.dimension import Dimension
from tests.golden import golden
from tests.tabular.tables import dimensions

NOISE = PerturbationTable.of_largest_entropy(4, 2.0, 2)
AREA = Dimension.flat("area", [f"a{number}" for number in range(20)])

SECRET = b"a secret of the vault"
TABLE = PerturbationTable.of_largest_entropy(5, 3, 2)


def some(seed: int, records: int, made: list[Dimension]) -> tuple[Cells, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    leaves = np.column_stack([rng.choice(d.leaves, records) for d in made]).astype(np.int32)
    value = rng.integers(1, 1000, records)
    cells = aggregate(made, leaves, np.arange(records), value)
    return cells, leaves, record_keys(map(str, range(records)), SECRET)


def below(dimension: Dimension, code: int) -> set[int]:
    """The leaves of a code, from the sums alone."""
    parts = [part for group, parts in dimension.sums if group == code for part in parts]
    return set().union(*(below(dimension, part) for part in parts)) if parts else {code}


@given(st.data())
def test_the_key_of_a_cell_is_the_fractional_part_of_the_sum_of_its_records_keys(data: st.DataObject) -> None:
    made = [data.draw(dimensions(name)) for name in "ab"]
    cells, leaves, keys = some(data.draw(st.integers(0, 10**6)), data.draw(st.integers(1, 40)), made)
    counts, keyed = cell_keys(cells, leaves, keys)
    for cell, codes in enumerate(cells.codes):
        inside = [below(d, int(code)) for d, code in zip(made, codes, strict=True)]
        mine = [
            Fraction(int(key), 2**64)
            for key, record in zip(keys, leaves, strict=True)
            if all(int(leaf) in group for leaf, group in zip(record, inside, strict=True))
        ]
        assert counts[cell] == len(mine)
        assert Fraction(int(keyed[cell]), 2**64) == sum(mine) % 1
    order = np.random.default_rng(1).permutation(len(keys))
    again = cell_keys(cells, leaves[order], keys[order])
    assert (again[1] == keyed).all()


def test_the_same_cell_has_the_same_figure_in_two_tables() -> None:
    """A cell of the three-way table at a total is the cell of the two-way table: the same records, the same noise."""
    made = [Dimension.flat(name, [f"{name}{i}" for i in range(3)]) for name in "abc"]
    cells, leaves, keys = some(5, 300, made)
    whole = perturb_counts(cells, leaves, keys, TABLE).published
    smaller = aggregate(made[:2], leaves[:, :2], np.arange(300), np.ones(300, dtype=np.int64))
    part = perturb_counts(smaller, leaves[:, :2], keys, TABLE).published
    where = {tuple(codes): figure for codes, figure in zip(cells.codes.tolist(), whole, strict=True)}
    assert [where[(*codes, 0)] for codes in smaller.codes.tolist()] == part.tolist()
    assert (cells.equations @ whole).any()  # and the figures are not additive


def test_cells_that_differ_by_one_record_have_independent_noise() -> None:
    """Differencing: the noise of n records says nothing of that of n + 1 (correlation within 4 standard errors)."""
    pairs, n = 4000, 10
    one = Dimension.flat("pair", [str(pair) for pair in range(pairs)])
    leaves = np.repeat(one.leaves, n + 1)[:, None]
    keys = record_keys(map(str, range(len(leaves))), SECRET)
    value = np.ones(len(leaves), dtype=np.int64)
    full = aggregate([one], leaves, np.arange(len(leaves)), value)
    without = np.arange(len(leaves)) % (n + 1) != n
    less = aggregate([one], leaves[without], np.arange(without.sum()), value[without])
    more_noise = perturb_counts(full, leaves, keys, TABLE).published - full.total
    less_noise = perturb_counts(less, leaves[without], keys[without], TABLE).published - less.total
    both = np.column_stack([more_noise[1:], less_noise[1:]])  # without the total
    assert abs(np.corrcoef(both.T)[0, 1]) < 4 / np.sqrt(pairs)
    assert (both[:, 0] - both[:, 1]).var() == pytest.approx(2 * TABLE.variance, rel=0.1)
    assert abs(both.mean()) < 4 * np.sqrt(TABLE.variance / (2 * pairs))
    assert both.var() == pytest.approx(TABLE.variance, rel=0.1)


def test_the_bounds_hold_the_truth() -> None:
    made = [Dimension.flat(name, [f"{name}{i}" for i in range(5)]) for name in "ab"]
    cells, leaves, keys = some(9, 120, made)
    perturbed = perturb_counts(cells, leaves, keys, TABLE)
    low, high = perturbed.bounds()
    counts, _ = cell_keys(cells, leaves, keys)
    assert ((low <= counts) & (counts <= high)).all()
    assert (high - low <= 2 * TABLE.maximum).all()
    assert not np.isin(perturbed.published, [1, 2]).any()
    golden(perturbed.says())


def test_record_keys_are_stable_secret_and_uniform() -> None:
    names = [f"firm {i}" for i in range(20_000)]
    keys = record_keys(names, SECRET)
    expected = [
        int.from_bytes(blake2b(name.encode(), digest_size=8, key=SECRET, person=b"record key").digest(), "little")
        for name in names[:50]
    ]
    assert keys[:50].tolist() == expected
    assert (record_keys(reversed(names), SECRET)[::-1] == keys).all()
    other = record_keys(names, hmac.digest(SECRET, b"other", "sha256"))
    assert not (other == keys).any()
    tenths = np.bincount((keys >> np.uint64(32)).astype(np.int64) * 10 >> 32, minlength=10)
    assert ((tenths - 2000) ** 2 / 2000).sum() < 27.9  # chi-square, 9 degrees of freedom, 1 in 1,000


def test_one_record_stands_behind_all_its_cells() -> None:
    made = [Dimension.flat("a", ["x"]), Dimension.flat("b", ["y"])]
    cells, leaves, keys = some(1, 1, made)
    published = perturb_counts(cells, leaves, keys, TABLE).published
    assert len(set(published.tolist())) == 1
    assert published[0] in [0, *range(3, 7)]


def test_refusals() -> None:
    cells, leaves, keys = some(2, 10, [Dimension.flat("a", ["x", "y"])])
    only = leaves[:, 0] == leaves[0, 0]
    for call in (
        lambda: record_keys(["1"], b"short"),
        lambda: cell_keys(cells, leaves, keys[:9]),
        lambda: cell_keys(cells, leaves[only], keys[only]),
    ):
        with golden.raises(DataError):
            call()


def figures(where: np.ndarray, secret: bytes) -> np.ndarray:
    """The published count of each area, of people 0, 1, 2, ... who live there."""
    people = np.flatnonzero(where >= 0)
    leaves = (where[people, None] + 1).astype(np.int32)
    cells = aggregate([AREA], leaves, people, np.ones(len(people), dtype=np.int64))
    made = perturb_counts(cells, leaves, record_keys(map(str, people), secret), NOISE)
    found = np.zeros(21, dtype=np.int64)
    found[cells.codes[:, 0]] = made.published
    return found


def test_one_who_left_is_found_by_the_one_cell_that_changed() -> None:
    """The reader sees two editions and knows that one person left: in most it reads off where this person lived."""
    rng = np.random.default_rng(1)
    found = 0
    for number in range(60):
        where = rng.integers(0, 20, 600)
        without = where.copy()
        without[0] = -1
        secret = f"secret number {number:>8}".encode()
        changed = np.flatnonzero(figures(where, secret)[1:] != figures(without, secret)[1:])
        assert set(changed.tolist()) <= {int(where[0])}  # no other cell ever changes
        found += len(changed)
    noise = NOISE.probabilities[-1]  # of a large count
    expected = 1 - noise[:-1] @ noise[1:]  # that two cells which differ by one record have different figures
    assert 0.75 < expected < 0.9  # 84 percent
    assert abs(found / 60 - expected) < 0.08


def test_among_many_who_come_and_leave_one_is_not_found() -> None:
    rng = np.random.default_rng(2)
    where = rng.integers(0, 20, 600)
    now = where.copy()
    now[rng.permutation(600)[:60]] = -1
    first, second = figures(where, b"a secret of the office"), figures(now, b"a secret of the office")
    count = [np.r_[0, np.bincount(w[w >= 0], minlength=20)] for w in (where, now)]
    inner = np.arange(21) > 0
    many = EditionDifferences.of(count[0], count[1], first, second, inner)
    assert many.changes == 60
    assert many.guess < 0.2
    one = count[0].copy()
    one[7] -= 1
    alone = EditionDifferences.of(count[0], one, first, np.where(np.arange(21) == 7, first - 1, first), inner)
    assert (alone.changes, alone.cells, alone.guess) == (1, 1, 1.0)
    hidden = EditionDifferences.of(count[0], one, first, first, inner)
    assert (hidden.changes, hidden.guess) == (1, 0.0)
    assert EditionDifferences.of(count[0], count[0], first, first, inner).guess == 0
