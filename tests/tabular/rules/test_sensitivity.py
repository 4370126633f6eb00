"""What holds of every rule, and of rules together."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.tabular.model.cells import Cells, Contributions
from sluice.tabular.rules.dominance import Dominance
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent, PriorPosterior
from sluice.tabular.rules.sensitivity import SensitivityRule, requirements_of
from tests.reference_data import reference_path
from tests.tabular.many_cells import cells, contributions_of, many_cells, percents
from tests.tabular.tables import business, read_text


@given(cells, cells, percents, st.integers(1, 3))
def test_safe_cells_of_different_contributors_make_a_safe_union(
    first: list[int], second: list[int], percent: float, count: int
) -> None:
    """Subadditivity (Cox, Linear sensitivity measures in statistical disclosure control, 1981), and of the levels.

    Of minimum frequency, too: a union has the contributors of both.
    """
    rules: list[SensitivityRule] = [
        PPercent(p=percent, coalition=count),
        Dominance.model_construct(n=count, k=percent),
        MinimumFrequency.model_construct(n=count),
    ]
    if percent < 90:
        rules.append(PriorPosterior(p=percent, q=95, coalition=count))
    for rule in rules:
        apart = contributions_of([first, second])
        union = contributions_of([first + second], kept=16)
        if not rule.sensitive(apart).any():
            assert not rule.sensitive(union).any()
        if not isinstance(rule, MinimumFrequency):
            assert rule.protection(union)[0] <= rule.protection(apart).sum()


def test_sensitive_cells_are_those_of_the_reference() -> None:
    """business_generated/README.md and cells_reference.csv.gz, computed independently of this project."""
    for name in ("s1k", "s10k"):
        table = business(name)
        reference = matched(table, name)
        ours = table.contributions
        small = MinimumFrequency(n=3).sensitive(ours)
        expected: dict[str, np.ndarray] = {
            "prim_freq3": small,
            "prim_p10": small | PPercent(p=10).sensitive(ours),
            "prim_p15": small | PPercent(p=15).sensitive(ours),
            "prim_nk2_75": small | Dominance(n=2, k=75).sensitive(ours),
            "prim_nk2_85": small | Dominance(n=2, k=85).sensitive(ours),
        }
        for column, found in expected.items():
            assert (found == (reference[column] == "True").to_numpy()).all(), column
        assert np.array_equal(reference["n"].astype(int), table.contributors)


@pytest.mark.chain
@pytest.mark.parametrize(("name", "by_contributor", "by_holding"), [("s1k", 65, 65), ("s10k", 519, 526)])
def test_sensitive_cells_by_holding(name: str, by_contributor: int, by_holding: int) -> None:
    """business_generated/README.md: p% = 10 with n < 3, by contributor and by holding."""
    for by, count in (("id", by_contributor), ("holding", by_holding)):
        requirement = requirements_of([MinimumFrequency(n=3), PPercent(p=10)], business(name, by).contributions)
        assert requirement.sensitive.sum() == count


def matched(table: Cells, name: str) -> pd.DataFrame:
    """The reference, in the order of our cells."""
    reference = read_text(reference_path("business_generated", name, "cells_reference.csv.gz"))
    keys = [d.name for d in table.dimensions]
    order = pd.DataFrame(
        {d.name: np.array(d.codes)[table.codes[:, axis]] for axis, d in enumerate(table.dimensions)}
    ).merge(reference, on=keys, how="left", validate="one_to_one")
    assert len(reference) == len(table)
    return order


def test_rules_together_ask_for_the_highest_level() -> None:
    decided = contributions_of([[90, 5, 1], [30, 30], [40, 35, 25], [0, 0]])
    rules = [MinimumFrequency(n=3), PPercent(p=10), Dominance(n=1, k=75)]
    requirement = requirements_of(rules, decided)
    assert {name: found.tolist() for name, found in requirement.by_rule.items()} == {
        "minimum_frequency": [False, True, False, True],
        "p_percent": [True, True, False, False],
        "dominance": [True, False, False, False],
    }
    assert requirement.sensitive.tolist() == [True, True, False, True]
    # dominance: 90 / 0.75 - 96 = 24; p%: 9 - 1 = 8. Two of 30: 10 % of 30. Zeros: 1 unit up, none down.
    assert requirement.upper.tolist() == [24, 3, 0, 1]
    assert requirement.lower.tolist() == [24, 3, 0, 0]
    assert requirement.sliding.tolist() == [0, 0, 0, 0]


def test_three_pairs_of_dominance_count_as_one_rule() -> None:
    decided = contributions_of([[80, 10, 5, 5], [50, 45, 3, 2], [33, 33, 33, 1], [25, 25, 25, 25]])
    pairs = [Dominance(n=1, k=75), Dominance(n=2, k=85), Dominance(n=3, k=95)]
    requirement = requirements_of(pairs, decided)
    assert requirement.by_rule["dominance"].tolist() == [True, True, True, False]
    for order in (pairs[::-1], [pairs[1], pairs[0], pairs[2]]):
        assert (requirements_of(order, decided).by_rule["dominance"] == requirement.by_rule["dominance"]).all()


@given(many_cells)
def test_a_sliding_interval_is_as_wide_as_both_levels(given_cells: list[list[int]]) -> None:
    decided = contributions_of(given_cells)
    rules = [MinimumFrequency(n=3), Dominance(n=1, k=1)]  # of 100 times the total: more than there is to take away
    fixed, sliding = requirements_of(rules, decided), requirements_of(rules, decided, sliding=True)
    assert (fixed.lower <= decided.total).all()
    assert (sliding.sliding == fixed.lower + fixed.upper).all()
    assert not (sliding.lower.any())
    assert not (sliding.upper.any())
    signed = requirements_of(rules, decided, nonnegative=False)
    assert (signed.lower == signed.upper).all()  # a total may be negative: nothing is capped


def test_no_rule_asks_for_nothing() -> None:
    requirement = requirements_of([], contributions_of([[1], [2, 3]]))
    assert not (requirement.sensitive.any())
    assert not (requirement.upper.any())
    nobody = Contributions(*(np.zeros(shape, np.int64) for shape in (0, 0, (0, 5))))
    assert requirements_of([PPercent(p=10), MinimumFrequency(n=3)], nobody).upper.size == 0
