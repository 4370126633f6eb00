"""Small counts: what is hidden stays hidden."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.report.small_counts import safe_counts, share


@given(st.lists(st.integers(0, 60), min_size=1, max_size=12), st.integers(1, 12))
def test_what_is_hidden_is_never_a_small_group_of_known_size(true: list[int], minimum: int) -> None:
    given_counts = [count if count >= minimum else None for count in true]
    shown = safe_counts(given_counts, sum(true), minimum)
    hidden = [count for count, seen in zip(true, shown, strict=True) if seen is None]
    assert all(seen in (None, count) for count, seen in zip(true, shown, strict=True))
    assert all(count >= minimum for count in shown if count is not None)
    assert not any(hidden) or len(hidden) == len(true) or (len(hidden) > 1 and sum(hidden) >= minimum)


def test_nothing_hidden_leaves_the_counts_alone() -> None:
    assert safe_counts((20, 30), 50, 10) == (20, 30)
    assert safe_counts((), 0, 10) == ()
    assert safe_counts((None, None), 7, 10) == (None, None)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (None, "–"),
        (0.0, "0.0 %"),
        (1.0, "100.0 %"),
        (0.01, "1.0 %"),
        (0.009, "under 1 %"),
        (0.001, "under 1 %"),
        (0.992, "over 99 %"),
        (0.5, "50.0 %"),
    ],
)
def test_a_share_of_few_records_is_only_bounded(value: float | None, says: str) -> None:
    assert share(value, 1000, 10) == says


def test_a_share_of_no_records() -> None:
    assert share(0.0, 0, 10) == "0.0 %"
