from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.tabular.rules.contributions import one_cell, percentage, shortfall, sum_of_largest
from tests.golden import golden
from tests.tabular.many_cells import LARGE, contributions_of, lacking

huge = st.lists(st.tuples(st.integers(0, LARGE), st.integers(-LARGE, LARGE)), min_size=1, max_size=20)


def whole(*numbers: int) -> np.ndarray:
    return np.array(numbers, dtype=np.int64)


@given(huge, st.integers(1, 10**4), st.integers(1, 10**4))
def test_a_shortfall_is_that_of_fractions_up_to_the_largest_total(
    pairs: list[tuple[int, int]], above: int, below: int
) -> None:
    share = min(Fraction(above, below), Fraction(100))
    part, rest = (np.array(side, dtype=np.int64) for side in zip(*pairs, strict=True))
    expected = [lacking(share, *pair) for pair in pairs]
    assert shortfall(share, part, rest).tolist() == expected
    assert shortfall(share, part.astype(object), rest.astype(object)).tolist() == expected


@given(st.integers(1, LARGE), st.sampled_from([10.0, 12.5, 33.333333333333336, 0.1 + 0.2 + 7]))
def test_one_unit_from_the_boundary_is_seen(first: int, percent: float) -> None:
    """The rest that is exactly enough, and one less: doubles cannot tell them apart at this size, whole numbers can."""
    share = percentage(percent, "p", "a rule")
    enough = -(-share.numerator * first // share.denominator)
    assert shortfall(share, whole(first), whole(enough)).tolist() == [0]
    assert shortfall(share, whole(first), whole(enough - 1)).tolist() == [1]


def test_a_percentage_is_the_decimal_that_was_written() -> None:
    assert percentage(14.3, "p", "a rule") == Fraction(143, 1000)  # the double nearest to 14.3 is a little more
    assert percentage(np.float64(14.3), "p", "a rule") == Fraction(143, 1000)
    assert percentage(10, "p", "a rule") == Fraction(1, 10)


def test_a_cell_of_decimals_is_taken_as_written() -> None:
    cell = one_cell([0.1, 0.7, 0.25], "a rule")
    assert (cell.total[0], cell.contributors[0], cell.largest[0].tolist()) == (21, 3, [14, 5, 2, 0])  # twentieths
    assert one_cell([3, 9, 0, 4], "a rule").largest[0, :4].tolist() == [9, 4, 3, 0]
    assert one_cell(np.array([2**53, 1]), "a rule").total[0] == 2**53 + 1
    assert one_cell([], "a rule").contributors.tolist() == [0]


def test_a_total_with_its_signs_never_makes_a_cell_safe_that_its_sizes_make_sensitive() -> None:
    """Who keeps the signed total with the absolute contributions errs on the safe side."""
    sizes = contributions_of([[50, 40, 30], [9, 8, 7]])
    for share in (Fraction(1, 10), Fraction(4, 5)):
        signed = shortfall(share, sizes.largest[:, 0], sizes.total - 2 * sizes.largest[:, 2])
        assert (signed >= shortfall(share, sizes.largest[:, 0], sizes.total)).all()


def test_refusals() -> None:
    known = contributions_of([[5, 4, 3, 2], [5]], kept=4)
    cut = type(known)(known.total, known.contributors, known.largest[:, :2])
    assert sum_of_largest(cut, 2).tolist() == [9, 5]
    with golden.raises(DataError):
        sum_of_largest(cut, 3)
    small = type(known)(known.total[1:], known.contributors[1:], known.largest[1:, :2])
    assert sum_of_largest(small, 3).tolist() == [5]  # nothing is missing of a cell of one
    with golden.raises(DataError):
        percentage(0.1, "p", "a rule")
    with golden.raises(DataError):
        percentage(float("nan"), "p", "a rule")
