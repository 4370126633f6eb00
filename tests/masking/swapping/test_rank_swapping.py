"""Rank swapping."""

from collections import Counter

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare, norm

from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Variable
from sluice.masking.swapping.rank_swapping import RankSwapping, Variant, swap_sources
from tests.golden import golden


def sources_of(values: np.ndarray, amount: float, rng: np.random.Generator, variant: Variant) -> np.ndarray:
    """The amount is the number of buckets for p_buckets, for the other variants the window."""
    if variant == "p_buckets":
        return swap_sources(values, rng, variant, buckets=int(amount))
    return swap_sources(values, rng, variant, window=amount)


def law(n: int, reach: int) -> dict[tuple[int, ...], float]:
    """Every outcome of plain rank swapping on n ranks with its probability, by the definition of Torra (2013)."""
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


def follows(seen: Counter[tuple[int, ...]], law: dict[tuple[int, ...], float]) -> bool:
    """By chi-square, outcomes that are expected less than five times being one."""
    assert sum(law.values()) == pytest.approx(1)
    assert set(seen) <= set(law)
    draws = seen.total()
    likely = [outcome for outcome in law if draws * law[outcome] >= 5]
    counts, chances = [seen[outcome] for outcome in likely], [draws * law[outcome] for outcome in likely]
    rest = draws - sum(chances)
    if rest > 1e-6:
        counts, chances = [*counts, draws - sum(counts)], [*chances, rest]
    return len(counts) == 1 or bool(chisquare(counts, chances).pvalue > 1e-3)


@pytest.mark.parametrize(("n", "reach"), [(6, 1), (6, 2), (7, 3), (6, 6)])
def test_outcomes_follow_the_law_of_the_definition(n: int, reach: int) -> None:
    rng = np.random.default_rng(10 * n + reach)
    seen = Counter(tuple(swap_sources(np.arange(float(n)), rng, window=reach / n).tolist()) for _ in range(4000))
    assert follows(seen, law(n, reach))


def chances_at_normal_distance(n: int, p: float) -> dict[tuple[int, ...], float]:
    """As `law`, for p-distribution: a free rank above has the weight of N(p/2, p/2) in the half ranks around it."""
    outcomes: dict[tuple[int, ...], float] = {}

    def swap_from(at: tuple[int, ...], probability: float) -> None:
        rank = next((rank for rank in range(n) if at[rank] < 0), n)
        if rank == n:
            outcomes[at] = outcomes.get(at, 0.0) + probability
            return
        free = [other for other in range(rank + 1, n) if at[other] < 0] or [rank]
        edges = np.array([[other - rank - 0.5, other - rank + 0.5] for other in free])
        weights = np.diff(norm.cdf(edges, p / 2, p / 2), axis=1)[:, 0] if free != [rank] else np.ones(1)
        for other, weight in zip(free, weights / weights.sum(), strict=True):
            swapped = list(at)
            swapped[rank], swapped[other] = other, rank
            swap_from(tuple(swapped), probability * weight)

    swap_from((-1,) * n, 1.0)
    return outcomes


def chances_in_buckets(n: int, buckets: int) -> dict[tuple[int, ...], float]:
    """As `law`, for p-buckets: any free rank of the lowest bucket r, and a free one of bucket s, weight 2^-(s-r+1)."""
    outcomes: dict[tuple[int, ...], float] = {}
    edges = [bucket * n // buckets for bucket in range(buckets + 1)]
    of = [next(bucket for bucket in range(buckets) if rank < edges[bucket + 1]) for rank in range(n)]

    def swap_from(at: tuple[int, ...], probability: float) -> None:
        free = [rank for rank in range(n) if at[rank] < 0]
        if not free:
            outcomes[at] = outcomes.get(at, 0.0) + probability
            return
        own = [rank for rank in free if of[rank] == of[free[0]]]
        for rank in own:
            others = {bucket: [o for o in free if of[o] == bucket and o != rank] for bucket in set(of)}
            weights = {bucket: 0.5 ** (bucket - of[rank] + 1) for bucket in others if others[bucket]}
            choices = [(o, weights[b] / len(others[b])) for b in weights for o in others[b]] or [(rank, 1.0)]
            for other, weight in choices:
                swapped = list(at)
                swapped[rank], swapped[other] = other, rank
                swap_from(tuple(swapped), probability / len(own) * weight / sum(w for _, w in choices))

    swap_from((-1,) * n, 1.0)
    return outcomes


@pytest.mark.parametrize(
    ("variant", "spread", "expected"),
    [
        ("p_distribution", 2 / 6, chances_at_normal_distance(6, 2)),
        ("p_distribution", 4 / 5, chances_at_normal_distance(5, 4)),
        ("p_buckets", 3, chances_in_buckets(6, 3)),
        ("p_buckets", 2, chances_in_buckets(5, 2)),
        ("p_buckets", 4, chances_in_buckets(4, 4)),
    ],
)
def test_the_other_variants_follow_their_law(
    variant: Variant, spread: float, expected: dict[tuple[int, ...], float]
) -> None:
    """An independent enumeration of what the module's docstring says; the paper's own figures were not at hand."""
    n = len(next(iter(expected)))
    rng = np.random.default_rng(n)
    draws = (sources_of(np.arange(float(n)), spread, rng, variant) for _ in range(6000))
    assert follows(Counter(tuple(sources.tolist()) for sources in draws), expected)


def test_only_the_plain_variant_leaves_certain_candidates() -> None:
    """RS-RL (Torra 2013) takes as candidates the masked values at most p ranks away. In the plain variant the true one
    is always among them; in the others it is not for a good share of the records."""
    n, window = 1000, 0.1
    rng = np.random.default_rng(4)

    def farther_than_the_window(spread: float, variant: Variant) -> float:
        moved = np.abs(sources_of(np.arange(float(n)), spread, rng, variant) - np.arange(n))
        return float((moved > window * n).mean())

    assert farther_than_the_window(window, "plain") == 0
    # The distance of N(p/2, p/2) given that it is at least one: more than p with probability 0.16 / 0.84.
    assert farther_than_the_window(window, "p_distribution") == pytest.approx(0.19, abs=0.06)
    assert farther_than_the_window(1 / window, "p_buckets") > 0.1


@given(
    values=st.lists(st.one_of(st.floats(-1e9, 1e9), st.just(np.nan), st.integers(0, 3).map(float)), max_size=80),
    variant=st.sampled_from(["plain", "p_distribution", "p_buckets"]),
    share=st.floats(0.02, 1),
    seed=st.integers(0, 1000),
)
def test_every_variant_keeps_values_and_gaps(values: list[float], variant: Variant, share: float, seed: int) -> None:
    original = np.array(values, dtype=float)
    present = np.flatnonzero(~np.isnan(original))
    n = len(present)
    if n < 2:
        return
    spread = max(2, int(share * n)) if variant == "p_buckets" else max(share, 1 / n)
    sources = sources_of(original, spread, np.random.default_rng(seed), variant)
    assert (sources[sources] == np.arange(len(original))).all()
    assert (sources[present] == present).sum() == n % 2
    assert sources[np.isnan(original)].tolist() == np.flatnonzero(np.isnan(original)).tolist()


@pytest.mark.parametrize(("variant", "spread"), [("plain", 1.0), ("p_distribution", 1.0), ("p_buckets", 20000)])
def test_the_widest_spread_of_many_values(variant: Variant, spread: float) -> None:
    """Where few free ranks are left, draws fail and the free ones are looked through, or counted."""
    every = np.arange(20000)
    sources = sources_of(every.astype(float), spread, np.random.default_rng(0), variant)
    assert (sources[sources] == every).all()
    assert (sources != every).all()
    assert variant != "plain" or np.abs(sources - every).max() > 15000


def test_the_example_of_the_slides_is_an_outcome() -> None:
    """Torra (2013), "Rank swapping: Example I": variable a1 with p = 2. Its probability is 1/8: three free choices."""
    original = np.array([8, 6, 10, 7, 9, 2, 1, 4, 5, 3], dtype=float)
    protected = [10, 5, 8, 9, 7, 4, 3, 2, 6, 1]
    rng = np.random.default_rng(0)
    seen = sum(original[swap_sources(original, rng, window=0.2)].tolist() == protected for _ in range(2000))
    assert seen / 2000 == pytest.approx(1 / 8, abs=0.03)


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
        with pytest.raises(PlanError, match="window" if n > 1 else r"\b2\b.*\b1\b"):
            swap_sources(original, rng, window=window)
        return
    masked = original[swap_sources(original, rng, window=window)]
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


def test_the_smallest_window_swaps_neighbours() -> None:
    assert swap_sources(np.array([3.0, 1, 2, 4]), np.random.default_rng(0), window=0.25).tolist() == [3, 2, 1, 0]


def test_ties_are_broken_at_random() -> None:
    """Of three equal values and one other, each of the three is as likely to take the other's place."""
    rng = np.random.default_rng(0)
    values = np.array([1.0, 1.0, 1.0, 2.0])
    taken = Counter(int(np.flatnonzero(swap_sources(values, rng, window=0.25) == 3)[0]) for _ in range(3000))
    assert set(taken) == {0, 1, 2}
    assert chisquare(list(taken.values())).pvalue > 1e-3


def test_a_window_is_not_cut_by_rounding() -> None:
    """0.29 of 100 is 28.999999999999996 in floating point; the reach is 29 all the same."""
    rng = np.random.default_rng(0)
    moved = [np.abs(swap_sources(np.arange(100.0), rng, window=0.29) - np.arange(100)).max() for _ in range(50)]
    assert max(moved) == 29


@pytest.mark.parametrize(
    ("records", "reach"), [(60, {"variant": "p_buckets", "buckets": 61}), (1, {"window": 1}), (60, {"window": 0.01})]
)
def test_refusals(records: int, reach: dict[str, object]) -> None:
    step = RankSwapping.model_validate({"columns": ("income",), **reach})
    frame = pd.DataFrame({"income": np.arange(float(records))})
    with golden.raises(PlanError):
        step.mask(frame, {"income": Variable(name="income", kind=Kind.CONTINUOUS)}, np.random.default_rng(0))
