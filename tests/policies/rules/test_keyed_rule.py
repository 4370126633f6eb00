"""What holds of the rules on keys, and on sensitive values by keys."""

import pytest

from policies.rules.alpha_k import AlphaK
from policies.rules.attribute_combinations import AttributeCombinations
from policies.rules.beta_likeness import BetaLikeness
from policies.rules.delta_disclosure import DeltaDisclosure
from policies.rules.delta_presence import DeltaPresence
from policies.rules.rule import Rule
from policies.rules.suda import Suda
from sluice.errors import DataError
from sluice.variables import Role
from sluice.verdict import Verdict
from tests.golden import golden
from tests.policies.rules.ill_people import VARIABLES, one, people

RULES: list[Rule] = [
    Suda(sampling_fraction=0.1, above=0.2),
    AttributeCombinations(),
    DeltaPresence(at_most=0.2),
    BetaLikeness(beta=1),
    DeltaDisclosure(delta=1),
    AlphaK(alpha=0.5, k=2),
]
ON_SENSITIVE = RULES[3:]


def test_a_missing_key_is_a_category() -> None:
    frame = people([30, 30, 30, None], "aaaa")
    assert one(AttributeCombinations(), frame).observed == 0.25
    assert one(Suda(sampling_fraction=0.1, above=0.5), frame).observed == 0.25


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.rule)
def test_nothing_to_judge_is_unknown(rule: Rule) -> None:
    plain = {name: variable.model_copy(update={"role": Role.OTHER}) for name, variable in VARIABLES.items()}
    for variables, frame in ((plain, people([30], "a")), (VARIABLES, people([], ""))):
        (finding,) = rule.find(frame, variables, "masked")
        assert (finding.verdict, finding.completed) == (Verdict.UNKNOWN, 0)


@pytest.mark.parametrize("rule", ON_SENSITIVE, ids=lambda rule: rule.rule)
def test_no_sensitive_variable_is_unknown(rule: Rule) -> None:
    keys = {name: variable for name, variable in VARIABLES.items() if variable.role is Role.QUASI_IDENTIFIER}
    assert rule.find(people([30, 30], "aa"), keys, "masked")[-1].verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.rule)
def test_neither_row_order_nor_index_matters(rule: Rule) -> None:
    frame = people([30, 30, 30, 40, 40, None], "aabbaa", "ccfcfg")
    expected = rule.find(frame, VARIABLES, "masked")
    for moved in (frame.iloc[::-1], frame.set_axis([5, 4, 3, 2, 1, 0]), frame.set_axis([7] * 6)):
        assert rule.find(moved, VARIABLES, "masked") == expected


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.rule)
def test_every_rule_describes_itself_and_survives_a_round_trip(rule: Rule) -> None:
    assert rule.describe().endswith(").")
    assert type(rule).model_validate(rule.model_dump(mode="json")) == rule


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.rule)
def test_a_column_that_is_not_in_the_file_is_an_error(rule: Rule) -> None:
    with golden.raises(DataError):
        rule.find(people([30], "a").drop(columns="age"), VARIABLES, "masked")
