"""Permutation."""

from collections import Counter
from itertools import permutations, product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chisquare

from sluice.ground.errors import PlanError
from sluice.ground.variables import Kind, Variable
from sluice.masking.swapping.permutation import Permutation, permuted_within
from tests.golden import golden
from tests.masking.survey import drawn

VARIABLES = {
    "area": Variable(name="area", kind=Kind.NOMINAL, categories=("north", "south"), nullable=True),
    "illness": Variable(name="illness", kind=Kind.TEXT),
    "income": Variable(name="income", kind=Kind.CONTINUOUS, nullable=True),
    "visits": Variable(name="visits", kind=Kind.INTEGER, nullable=True),
    "seen": Variable(name="seen", kind=Kind.DATE),
}


def survey(n: int = 60) -> pd.DataFrame:
    visits = pd.Series(pd.array(2**60 + np.arange(n), dtype="Int64"))
    return drawn(VARIABLES, n, n, 0.25).reset_index(drop=True).assign(visits=visits.mask(visits.index < n // 4))


def test_every_permutation_of_the_groups_is_equally_likely() -> None:
    """All 3! * 2! ways to deal out groups of 3 and 2; and the mean number of values that stay in place is one a group
    (Montmort's problem of coincidences, 1708)."""
    groups = np.array([0, 1, 0, 0, 1])
    rng = np.random.default_rng(0)
    draws = [tuple(permuted_within(groups, rng).tolist()) for _ in range(6000)]
    ways = []
    for three, two in product(permutations([0, 2, 3]), permutations([1, 4])):
        way = np.empty(5, dtype=int)
        way[[0, 2, 3]], way[[1, 4]] = three, two
        ways.append(tuple(way.tolist()))
    seen = Counter(draws)
    assert set(seen) == set(ways)
    assert chisquare([seen[way] for way in ways]).pvalue > 1e-3
    assert np.mean([(np.array(draw) == np.arange(5)).sum() for draw in draws]) == pytest.approx(2, abs=0.08)


def rows(frame: pd.DataFrame) -> Counter[tuple[str, ...]]:
    return Counter(tuple(map(str, row)) for row in frame.itertuples(index=False))


@pytest.mark.chain
@given(seed=st.integers(0, 1000))
def test_columns_move_together_or_each_by_itself_within_their_group(seed: int) -> None:
    frame = survey(20)
    names = ["illness", "income", "visits", "seen"]
    step = Permutation(columns=tuple(names), within=("area",))
    together = step.mask(frame, VARIABLES, np.random.default_rng(seed))
    assert rows(together) == rows(frame)
    apart = step.model_copy(update={"jointly": False}).mask(frame, VARIABLES, np.random.default_rng(seed))
    assert rows(apart) != rows(frame)
    for name in names:
        assert rows(apart[["area", name]]) == rows(frame[["area", name]])


def test_missing_values_form_a_group_and_move() -> None:
    frame = survey()
    masked = Permutation(columns=("visits",), within=("area",)).mask(frame, VARIABLES, np.random.default_rng(2))
    nowhere = frame["area"].isna().to_numpy()
    assert rows(masked[nowhere][["visits"]]) == rows(frame[nowhere][["visits"]])
    assert (masked["visits"].isna() != frame["visits"].isna()).any()


def test_groups_of_one_are_refused_or_kept() -> None:
    frame, rng = survey(), np.random.default_rng(0)
    step = Permutation(columns=("income",), within=("illness",))
    with golden.raises(PlanError):
        step.mask(frame, VARIABLES, rng)
    assert step.model_copy(update={"small_groups": "keep"}).mask(frame, VARIABLES, rng).equals(frame)
    with golden.raises(PlanError):
        Permutation(columns=("income",)).mask(frame.iloc[:1], VARIABLES, rng)
