import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.utility.categorical.category_losses import category_distances, direct_comparison
from sluice.utility.common_bins import CommonBins
from tests.golden import golden

LABELS = ("b", "a", "c", "missing")  # as common bins order them: the most frequent first


def variable(original: list[int], masked: list[int], spread: np.ndarray | None = None) -> CommonBins:
    spread = np.eye(4) if spread is None else spread
    return CommonBins("grade", np.array(original, np.int64), np.array(masked, np.int64), spread, LABELS)


def loss(bins: CommonBins, order: tuple[str, ...] | None = None) -> float:
    return direct_comparison(bins, category_distances(LABELS, order))


def test_by_hand() -> None:
    """Torra (2013): nominal 0 or 1. Ordinal by rank: from a to c is the whole way, from a to b half of it."""
    bins = variable([1, 1, 0, 2], [1, 2, 1, 3])  # a as a, a as c, b as a, c suppressed
    assert loss(bins) == pytest.approx(3 / 4)
    assert loss(bins, ("a", "b", "c")) == pytest.approx((0 + 1 + 0.5 + 1) / 4)


def test_a_category_is_at_no_distance_from_itself() -> None:
    """The slide counts both ends, so that an unchanged file of five categories would lose a fifth."""
    distances = category_distances(LABELS, ("a", "b", "c"))
    assert np.diagonal(distances).tolist() == [0] * 4
    assert distances.tolist() == distances.T.tolist()


def test_a_group_lies_at_the_mean_distance_of_what_it_may_stand_for() -> None:
    spread = np.array([[0.5, 0.5, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])  # 'a or b', c, missing
    bins = variable([1, 0, 2], [0, 0, 1], spread)
    assert loss(bins) == pytest.approx((0.5 + 0.5 + 0) / 3)
    assert loss(bins, ("a", "b", "c")) == pytest.approx((0.25 + 0.25 + 0) / 3)


codes = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30)


@given(codes, st.booleans())
def test_symmetric_bounded_and_0_for_an_unchanged_file(rows: list[tuple[int, int]], ordinal: bool) -> None:
    order = ("a", "b", "c") if ordinal else None
    before, after = [row[0] for row in rows], [row[1] for row in rows]
    assert loss(variable(before, before), order) == 0
    assert 0 <= loss(variable(before, after), order) <= 1
    assert loss(variable(before, after), order) == pytest.approx(loss(variable(after, before), order))


def test_records_weigh_what_is_said() -> None:
    bins = variable([0, 0], [0, 1])
    assert direct_comparison(bins, category_distances(LABELS), np.array([3.0, 1.0])) == pytest.approx(0.25)
    assert np.isnan(direct_comparison(bins, category_distances(LABELS), np.zeros(2)))


def test_extremes() -> None:
    assert np.isnan(loss(variable([], [])))
    assert loss(variable([0, 1, 2], [3, 3, 3])) == 1  # all of it suppressed
    assert loss(variable([3, 3], [3, 3])) == 0  # missing as before
    assert category_distances(("a", "missing"), ("a",)).tolist() == [[0, 1], [1, 0]]


def test_refusals() -> None:
    golden.refused(DataError, category_distances, LABELS, ("a", "b"))
    golden.refused(DataError, direct_comparison, variable([0], [0]), category_distances(LABELS[2:]))
    golden.refused(DataError, loss, variable([0, 1], [0]))
