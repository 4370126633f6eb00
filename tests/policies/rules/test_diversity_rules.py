from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from policies.rules.alpha_k import AlphaK
from policies.rules.attribute_combinations import AttributeCombinations
from policies.rules.beta_likeness import BetaLikeness
from policies.rules.delta_disclosure import DeltaDisclosure
from policies.rules.delta_presence import DeltaPresence
from policies.rules.rule import Rule
from policies.rules.suda import Suda
from sluice.errors import DataError
from sluice.variables import Kind, Role, Variable
from sluice.verdict import Finding, Verdict

VARIABLES = {
    variable.name: variable
    for variable in (
        Variable(name="age", kind=Kind.INTEGER, role=Role.QUASI_IDENTIFIER, nullable=True),
        Variable(name="area", kind=Kind.NOMINAL, role=Role.QUASI_IDENTIFIER, categories=("a", "b")),
        Variable(name="illness", kind=Kind.NOMINAL, role=Role.SENSITIVE, categories=("cold", "flu", "gout")),
        Variable(name="weight", kind=Kind.CONTINUOUS, role=Role.WEIGHT),
    )
}
RULES: list[Rule] = [
    Suda(sampling_fraction=0.1, above=0.2),
    AttributeCombinations(),
    DeltaPresence(at_most=0.2),
    BetaLikeness(beta=1),
    DeltaDisclosure(delta=1),
    AlphaK(alpha=0.5, k=2),
]
ON_SENSITIVE = RULES[3:]


def people(ages: list[int | None], areas: str, illnesses: str = "", weights: Any = 10.0) -> pd.DataFrame:
    of = {"c": "cold", "f": "flu", "g": "gout"}
    named = [of[letter] for letter in illnesses or "c" * len(ages)]
    return pd.DataFrame(
        {
            "age": pd.array(ages, dtype="Int64"),
            "area": pd.Categorical(list(areas), categories=["a", "b"]),
            "illness": pd.Categorical(named, categories=["cold", "flu", "gout"]),
            "weight": np.broadcast_to(weights, len(ages)).astype(float),
        }
    )


def one(rule: Rule, frame: pd.DataFrame) -> Finding:
    (finding,) = rule.find(frame, VARIABLES, "masked", "women")
    return finding


# SUDA and attribute combinations


def test_suda_tells_the_share_of_records_at_risk() -> None:
    frame = people([30, 30, 40, 50], "aabb")
    # By hand: ages 40 and 50 are unique on one of two keys, the pair is not. DIS is 2 / (2 + 2 * 9) = 0.1 for both.
    assert one(Suda(sampling_fraction=0.1, above=0.11), frame).verdict is Verdict.PASS
    finding = one(Suda(sampling_fraction=0.1, above=0.09, at_most=0.25), frame)
    assert (finding.verdict, finding.observed, finding.limit) == (Verdict.FAIL, 0.5, 0.25)
    assert finding.says == (
        "50 % of the women are singled out by so few of age and area that a match would be right with a chance above "
        "9 %; the policy allows 25 %."
    )
    assert one(Suda(sampling_fraction=0.1, above=0.09, at_most=0.5), frame).verdict is Verdict.PASS  # met exactly


def test_attribute_combinations_name_the_worst_keys() -> None:
    frame = people([30, 30, 40, 40], "abab")
    passed = one(AttributeCombinations(size=1), frame)
    assert passed.verdict is Verdict.PASS
    assert "puts 0 % of the women in a group of fewer than 2; the policy allows 0 %." in passed.says
    finding = one(AttributeCombinations(size=2), frame)
    assert (finding.verdict, finding.observed, finding.scope) == (Verdict.FAIL, 1, "age, area")
    assert "puts 100 % of the women in a group of fewer than 2, and most with age and area" in finding.says
    assert one(AttributeCombinations(size=2, columns=("area",)), frame).verdict is Verdict.PASS
    assert one(AttributeCombinations(size=1, k=3), frame).observed == 1


def test_a_missing_key_is_a_category() -> None:
    frame = people([30, 30, 30, None], "aaaa")
    assert one(AttributeCombinations(), frame).observed == 0.25
    assert one(Suda(sampling_fraction=0.1, above=0.5), frame).observed == 0.25


# delta-presence


def test_delta_presence_by_weights() -> None:
    frame = people([30, 30, 40], "aaa", weights=[2.0, 6.0, 10.0])  # by hand: 2 of 8, 1 of 10
    finding = one(DeltaPresence(at_most=0.2), frame)
    assert (finding.verdict, finding.observed) == (Verdict.FAIL, 0.25)
    assert "by the sampling weights, up to 25 % are in the file" in finding.says
    assert one(DeltaPresence(at_most=0.25), frame).verdict is Verdict.PASS
    with pytest.raises(DataError, match="sampling weights must be 1 or more"):
        one(DeltaPresence(at_most=0.2), people([30], "a", weights=[0.5]))


def test_delta_presence_by_a_list_of_the_population(tmp_path: Path) -> None:
    path = tmp_path / "population.csv"
    path.write_text("age,area,count\n30,a,4\n40,a,10\n50,b,90\n")
    frame = people([30, 40, 40], "aaa")
    finding = one(DeltaPresence(at_most=0.2, population=str(path)), frame)
    assert (finding.verdict, finding.observed) == (Verdict.FAIL, 0.25)
    assert "in the population" in finding.says
    assert one(DeltaPresence(at_most=0.25, population=str(path)), frame).verdict is Verdict.PASS
    with pytest.raises(DataError, match="more often in the file than in the population"):
        one(DeltaPresence(at_most=0.2, population=str(path)), people([99], "a"))


def test_an_unknown_population_is_unknown() -> None:
    without = {name: variable for name, variable in VARIABLES.items() if name != "weight"}
    (finding,) = DeltaPresence(at_most=0.2).find(people([30], "a"), without, "masked")
    assert (finding.verdict, finding.completed) == (Verdict.UNKNOWN, 0)
    assert "The population is not known" in finding.says
    assert one(DeltaPresence(at_most=0.2, missing_matches="any"), people([30], "a")).verdict is Verdict.UNKNOWN


# sensitive values


def test_beta_likeness_of_both_variants() -> None:
    frame = people([30, 30, 40, 40], "aaaa", "cccf")  # by hand: cold gains 1/3 in the first group, flu 1 in the second
    assert one(BetaLikeness(beta=1, variant="basic"), frame).verdict is Verdict.PASS
    basic = one(BetaLikeness(beta=0.5, variant="basic"), frame)
    assert (basic.verdict, basic.observed, basic.scope) == (Verdict.FAIL, 1, "illness by age, area")
    assert "In 1 of 2 groups of women" in basic.says
    # 1/3 is more than -ln 3/4: a cold is certain in the first group.
    assert one(BetaLikeness(beta=1), frame).verdict is Verdict.FAIL
    assert one(BetaLikeness(beta=1), people([30, 30, 40, 40], "aaaa", "cfcf")).verdict is Verdict.PASS


def test_delta_disclosure_is_strict_on_absent_values_unless_told() -> None:
    frame = people([30, 30, 40, 40], "aaaa", "cccf")
    finding = one(DeltaDisclosure(delta=5), frame)
    assert (finding.verdict, finding.observed) == (Verdict.FAIL, None)
    assert "In 1 of 2 groups" in finding.says
    assert one(DeltaDisclosure(delta=0.7, absent_values="ignore"), frame).verdict is Verdict.PASS  # ln 2 is 0.693
    ignoring = one(DeltaDisclosure(delta=0.69, absent_values="ignore"), frame)
    assert (ignoring.verdict, ignoring.observed) == (Verdict.FAIL, pytest.approx(np.log(2)))


def test_alpha_k_judges_the_sizes_and_the_shares() -> None:
    frame = people([30, 30, 30, 40, 40, 40], "aaaaaa", "ccfcfg")
    size, share = AlphaK(alpha=0.7, k=3).find(frame, VARIABLES, "masked")
    assert (size.verdict, size.observed, share.verdict) == (Verdict.PASS, 3, Verdict.PASS)
    size, share = AlphaK(alpha=0.5, k=4).find(frame, VARIABLES, "masked")
    assert (size.verdict, share.verdict, share.observed) == (Verdict.FAIL, Verdict.FAIL, pytest.approx(2 / 3))
    _, gout = AlphaK(alpha=0.4, k=3, values=("gout",)).find(frame, VARIABLES, "masked")
    assert (gout.verdict, gout.observed) == (Verdict.PASS, pytest.approx(1 / 3))
    with pytest.raises(DataError, match="1 of 'values' are no categories of 'illness'"):
        AlphaK(alpha=0.4, k=3, values=("plague",)).find(frame, VARIABLES, "masked")
    with pytest.raises(DataError, match="'values' names categories; 'weight' has none"):
        AlphaK(alpha=0.4, k=3, values=("1",), columns=("weight",)).find(frame, VARIABLES, "masked")


# all of them


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
    with pytest.raises(DataError, match=f"{rule.rule}: the file has no column 'age'"):
        rule.find(people([30], "a").drop(columns="age"), VARIABLES, "masked")


@pytest.mark.parametrize(
    ("rule", "fields", "said"),
    [
        (Suda, {"above": 0.2}, "sampling_fraction"),
        (Suda, {"sampling_fraction": 10, "above": 0.2}, "Is it a percentage"),
        (Suda, {"sampling_fraction": 0.1, "above": 0.2, "size": 0}, "size"),
        (AttributeCombinations, {"k": 1}, "greater than or equal to 2"),
        (DeltaPresence, {"at_most": 1}, "less than 1"),
        (BetaLikeness, {"beta": 0}, "greater than 0"),
        (DeltaDisclosure, {"delta": float("inf")}, "finite"),
        (AlphaK, {"alpha": 0.5, "k": 1}, "greater than or equal to 2"),
        (AlphaK, {"alpha": 0.5, "k": 2, "values": []}, "at least 1"),
    ],
)
def test_a_threshold_out_of_bounds_is_refused(rule: type[Rule], fields: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        rule(**fields)
