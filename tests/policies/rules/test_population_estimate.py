"""What holds of every rule that estimates or looks up the population."""

from typing import Any

import numpy as np
import pytest

from policies.rules.household_risk import HouseholdRisk
from policies.rules.individual_risk import IndividualRisk
from policies.rules.k_map import KMap
from policies.rules.loglinear_risk import LoglinearRisk
from policies.rules.population_uniques import PopulationUniques
from policies.rules.reidentification_risk import ReidentificationRisk
from sluice.errors import DataError
from sluice.variables import Role
from sluice.verdict import Verdict
from tests.golden import golden
from tests.policies.rules.weighted_survey import QUASI, SURVEY, VARIABLES, one, without

ESTIMATES: list[Any] = [
    PopulationUniques(at_most=0.9),
    LoglinearRisk(uniques_at_most=0.9),
    IndividualRisk(highest_at_most=0.9),
    HouseholdRisk(highest_at_most=0.9),
]


@pytest.mark.parametrize("rule", ESTIMATES, ids=lambda rule: rule.rule)
def test_without_usable_weights_nothing_is_judged(rule: Any) -> None:
    two = {**VARIABLES, "age": VARIABLES["age"].model_copy(update={"name": "age", "role": Role.WEIGHT})}
    gap = SURVEY.assign(weight=[1.0, np.nan, 1.0, 1.0])
    for frame, variables in (
        (SURVEY, without(Role.WEIGHT)),
        (SURVEY, two),
        (gap, VARIABLES),
        (SURVEY.assign(weight="ten"), VARIABLES),
    ):
        finding = one(rule, frame, variables)
        assert (finding.verdict, finding.attempted, finding.completed) == (Verdict.UNKNOWN, 4, 0)
        golden(finding.says)
    assert one(rule.model_copy(update={"weight": "weight"}), SURVEY, two).verdict is not Verdict.UNKNOWN


@pytest.mark.parametrize(
    "rule",
    [
        *ESTIMATES,
        KMap(k=2, population="nowhere.csv"),
        ReidentificationRisk(model="prosecutor", highest_at_most=0.5),
    ],
    ids=lambda rule: rule.rule,
)
def test_no_key_and_no_record_are_unknown_and_every_rule_describes_itself(rule: Any) -> None:
    assert one(rule, SURVEY, without(QUASI)).verdict is Verdict.UNKNOWN
    assert one(rule, SURVEY.head(0)).verdict is Verdict.UNKNOWN
    with golden.raises(DataError):
        rule.model_copy(update={"columns": ("aeg",)}).find(SURVEY, VARIABLES, "masked")
    assert rule.describe().endswith(".")
    assert type(rule).model_validate(rule.model_dump(mode="json")) == rule
