"""Rank swapping."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError
from scipy.stats import chisquare

from sluice.errors import PlanError
from sluice.masking.rank_swapping import RankSwapping, rank_swap, swap_sources
from sluice.variables import Kind, Variable


def law(n: int, reach: int) -> dict[tuple[int, ...], float]:
    """Every outcome of plain rank swapping on n ranks with its probability, by the definition of 004."""
    outcomes: dict[tuple[int, ...], float] = {}

    def swap_from(rank: int, at: tuple[int, ...], probability: float) -> None:
        while rank < n and at[rank] >= 0:
            rank += 1
        if rank == n:
            outcomes[at] = outcomes.get(at, 0.0) + probability
            return
        free = [other for other in range(rank + 1, min(rank + reach, n - 1) + 1) if at[other] < 0]
        for other in free or [rank]:
            swapped = list(at)
            swapped[rank], swapped[other] = other, rank
            swap_from(rank + 1, tuple(swapped), probability / max(len(free), 1))

    swap_from(0, (-1,) * n, 1.0)
    return outcomes


@pytest.mark.parametrize(("n", "reach"), [(6, 1), (6, 2), (7, 3), (6, 6)])
def test_outcomes_follow_the_law_of_the_definition(n: int, reach: int) -> None:
    rng = np.random.default_rng(10 * n + reach)
    expected = law(n, reach)
    draws = 4000
    seen = Counter(tuple(swap_sources(np.arange(float(n)), reach / n, rng).tolist()) for _ in range(draws))
    assert set(seen) <= set(expected)
    if len(expected) > 1:
        counts = [seen[outcome] for outcome in expected]
        assert chisquare(counts, [draws * probability for probability in expected.values()]).pvalue > 1e-3


def test_the_example_of_the_slides_is_an_outcome() -> None:
    """004, "Rank swapping: Example I": variable a1 with p = 2. Its probability is 1/8: three free choices."""
    original = np.array([8, 6, 10, 7, 9, 2, 1, 4, 5, 3], dtype=float)
    protected = [10, 5, 8, 9, 7, 4, 3, 2, 6, 1]
    rng = np.random.default_rng(0)
    seen = sum(rank_swap(original, 0.2, rng).tolist() == protected for _ in range(2000))
    assert seen / 2000 == pytest.approx(1 / 8, abs=0.03)


@settings(max_examples=50, deadline=None)
@given(
    values=st.lists(st.one_of(st.floats(-1e9, 1e9), st.just(np.nan), st.integers(0, 3).map(float)), max_size=80),
    window=st.floats(0.02, 1),
    seed=st.integers(0, 1000),
)
def test_same_values_same_gaps_within_reach(values: list[float], window: float, seed: int) -> None:
    original = np.array(values, dtype=float)
    present = ~np.isnan(original)
    n = int(present.sum())
    rng = np.random.default_rng(seed)
    if n == 1 or (n > 1 and window * n < 0.999):
        with pytest.raises(PlanError, match=r"it has 1|reaches no other value"):
            rank_swap(original, window, rng)
        return
    masked = rank_swap(original, window, rng)
    assert np.isnan(masked).tolist() == (~present).tolist()
    assert sorted(masked[present]) == sorted(original[present])
    # In sorted order, a value's ranks are a range; a value's new place is at most `window * n` ranks from it.
    ranked = np.sort(original[present])
    lowest, highest = (
        np.searchsorted(ranked, masked[present]),
        np.searchsorted(ranked, masked[present], side="right") - 1,
    )
    from_low = np.searchsorted(ranked, original[present])
    from_high = np.searchsorted(ranked, original[present], side="right") - 1
    assert (np.maximum(lowest - from_high, from_low - highest) <= window * n + 1e-6).all()


@settings(max_examples=25, deadline=None)
@given(n=st.integers(2, 400), window=st.floats(0.01, 1), seed=st.integers(0, 1000))
def test_each_value_is_swapped_once_and_at_most_one_is_left_over(n: int, window: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = rng.permutation(n).astype(float)
    sources = swap_sources(values, max(window, 1 / n), rng)
    assert (sources[sources] == np.arange(n)).all()
    assert (sources == np.arange(n)).sum() == n % 2


def test_a_window_of_all_records_reaches_all_of_them() -> None:
    """So many free ranks are gone near the top that the counting of free ones is needed."""
    rng = np.random.default_rng(0)
    sources = swap_sources(np.arange(20000.0), 1.0, rng)
    assert (sources[sources] == np.arange(20000)).all()
    assert (sources != np.arange(20000)).all()
    assert np.abs(sources - np.arange(20000)).max() > 15000


def test_the_smallest_window_swaps_neighbours() -> None:
    assert rank_swap(np.array([3.0, 1.0, 2.0, 4.0]), 0.25, np.random.default_rng(0)).tolist() == [4, 2, 1, 3]


def test_ties_are_broken_at_random() -> None:
    """Of three equal values and one other, each of the three is as likely to take the other's place."""
    rng = np.random.default_rng(0)
    values = np.array([1.0, 1.0, 1.0, 2.0])
    taken = Counter(int(np.flatnonzero(rank_swap(values, 0.25, rng) == 2)[0]) for _ in range(3000))
    assert set(taken) == {0, 1, 2}
    assert chisquare(list(taken.values())).pvalue > 1e-3


def test_a_window_is_not_cut_by_rounding() -> None:
    """0.29 of 100 is 28.999999999999996 in floating point; the reach is 29 all the same."""
    rng = np.random.default_rng(0)
    moved = [np.abs(swap_sources(np.arange(100.0), 0.29, rng) - np.arange(100)).max() for _ in range(50)]
    assert max(moved) == 29


# --- the step -------------------------------------------------------------------------------------------------------

VARIABLES = {
    "income": Variable(name="income", kind=Kind.CONTINUOUS, minimum=0),
    "code": Variable(name="code", kind=Kind.INTEGER, nullable=True),
    "size": Variable(name="size", kind=Kind.ORDINAL, categories=("small", "medium", "large")),
    "area": Variable(name="area", kind=Kind.NOMINAL, categories=("north", "south")),
}


def survey(n: int = 60) -> pd.DataFrame:
    rng = np.random.default_rng(n)
    code = pd.array(2**60 + np.arange(n), dtype="Int64")
    code[: n // 4] = pd.NA
    return pd.DataFrame(
        {
            "income": rng.lognormal(10, 1, n),
            "code": code,
            "size": pd.Categorical.from_codes(
                rng.integers(-1, 3, n), categories=["small", "medium", "large"], ordered=True
            ),
            "area": pd.Categorical.from_codes(rng.integers(0, 2, n), categories=["north", "south"]),
        },
        index=[5] * n,
    )


def test_the_step_keeps_types_values_gaps_and_the_other_columns() -> None:
    frame = survey()
    kept = frame.copy()
    step = RankSwapping(columns=("income", "code", "size"), window=0.2)
    masked = step.mask(frame, VARIABLES, np.random.default_rng(1))
    pd.testing.assert_frame_equal(frame, kept)
    assert step.released(VARIABLES) == VARIABLES
    assert (masked.dtypes == frame.dtypes).all()
    assert masked.index.equals(frame.index)
    assert masked["area"].equals(frame["area"])
    for name in step.columns:
        assert masked[name].value_counts(dropna=False).to_dict() == frame[name].value_counts(dropna=False).to_dict()
        assert (masked[name].isna().to_numpy() == frame[name].isna().to_numpy()).all()
        assert masked[name].to_list() != frame[name].to_list()


def test_the_generator_decides_and_the_index_does_not() -> None:
    frame = survey()
    step = RankSwapping(columns=("income",), window=0.2)
    first = step.mask(frame, VARIABLES, np.random.default_rng(1))["income"].to_list()
    assert step.mask(frame.reset_index(drop=True), VARIABLES, np.random.default_rng(1))["income"].to_list() == first
    assert step.mask(frame, VARIABLES, np.random.default_rng(2))["income"].to_list() != first


def test_nothing_to_swap_is_left_as_it_is() -> None:
    frame = survey(8).assign(income=np.nan)
    masked = RankSwapping(columns=("income",), window=0.5).mask(frame, VARIABLES, np.random.default_rng(1))
    assert masked["income"].isna().all()


@pytest.mark.parametrize(
    ("window", "hint"),
    [
        (15, r"got 15\. Is it a percentage\? Use 0\.15\."),
        (0, r"got 0\. It is the share"),
        (-1, "got -1"),
        (np.nan, "got nan"),
    ],
)
def test_a_window_that_is_no_share_is_refused(window: float, hint: str) -> None:
    with pytest.raises(ValidationError, match=rf"window of rank_swapping on 'income' must be in \(0, 1\]; {hint}"):
        RankSwapping(columns=("income",), window=window)


def test_refusals() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(PlanError, match="rank_swapping on 'area' takes continuous, integer, ordinal; it is nominal"):
        RankSwapping(columns=("area",), window=0.1).released(VARIABLES)
    with pytest.raises(PlanError, match=r"no variable 'incom' at this point\. Did you mean 'income'\?"):
        RankSwapping(columns=("incom",), window=0.1).released(VARIABLES)
    with pytest.raises(PlanError, match="rank_swapping on 'income' needs at least 2 values to exchange; it has 1"):
        RankSwapping(columns=("income",), window=1).mask(survey(1), VARIABLES, rng)
    with pytest.raises(PlanError, match=r"on 'income' reaches no other value: .* of 60 values .* Use at least 0\.017"):
        RankSwapping(columns=("income",), window=0.01).mask(survey(), VARIABLES, rng)


def test_the_description_does_not_tell_the_window() -> None:
    """Who knows the window can intersect the candidates of every variable (004, rank swapping record linkage)."""
    said = RankSwapping(columns=("income", "code"), window=0.137).describe()
    assert "income, code" in said
    assert "137" not in said
    assert "13.7" not in said
