"""What a plan keeps, beside what another one kept."""

from math import isnan
from typing import Any

import pytest

from tasks.tuning.kept_searches import Kept, kept_by, kept_rows
from tests.tasks.tuning.house_of_plans import records, space


def kept(*further: dict[str, Any], removed: tuple[str, ...] = ("household", "town")) -> Kept:
    plan = [{"method": "removal", "columns": list(removed)}, *further]
    found = kept_by(space(plan).definition(), records(), (1, 2))
    assert found is not None
    return found


def figures(before: Kept | None, after: Kept) -> dict[str, tuple[float, float]]:
    return {row.name: (row.before, row.after) for row in kept_rows(before, after)}


def test_an_unchanged_variable_loses_nothing_among_those_kept_and_removed_ones_are_in_the_loss_over_all() -> None:
    found = figures(None, kept())
    assert found["variables_kept"][1] == 4  # age, sex, region, income; the household is a number of nobody's
    assert found["pair_marginals"][1] > 0
    assert found["pair_marginals_kept"][1] == 0
    assert found["k_marginal_kept"][1] == 1000
    assert found["propensity"][1] == pytest.approx(0)
    assert isnan(found["pair_marginals"][0])


def test_two_plans_are_also_compared_by_the_variables_that_both_keep() -> None:
    coarse = {"method": "global_recoding", "columns": ["age"], "bins": [50]}
    before, after = kept(removed=("household", "town", "income")), kept(coarse)
    found = figures(before, after)
    assert found["variables_kept"] == (3, 4)
    assert found["pair_marginals"][0] > found["pair_marginals"][1]
    assert found["pair_marginals_both"][0] == 0 < found["pair_marginals_both"][1]
    assert "pair_marginals_both" not in figures(after, after)


def test_a_variable_of_one_value_is_not_kept_and_a_plan_that_cannot_be_carried_out_keeps_nothing() -> None:
    assert "age" not in kept({"method": "global_recoding", "columns": ["age"], "bins": [99]}).names
    nothing = space([{"method": "removal", "columns": ["twon"]}]).definition()
    assert kept_by(nothing, records(), (1, 2)) is None


def test_a_difference_that_a_few_people_make_is_not_told() -> None:
    top = {"method": "top_bottom_coding", "columns": ["income"], "top": {"value": records().frame["income"].max() - 1}}
    assert isnan(kept(top).propensity)
    assert {row.name: row.in_words(row.after) for row in kept_rows(None, kept(top))}["propensity"] == "–"
