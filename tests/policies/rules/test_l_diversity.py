"""l-diversity as a rule."""

from typing import Any

import pytest

from policies.rules.l_diversity import LDiversity
from sluice.verdict import Verdict
from tests.policies.rules.married_women import VARIABLES, one, typed
from tests.policies.rules.written_rules import refusal


def test_l_diversity_judges_every_sensitive_variable() -> None:
    illness, salary = LDiversity(l=2).find(typed([30] * 3, ["flu"] * 3), VARIABLES, "masked")
    assert (illness.scope, illness.verdict, illness.observed) == ("illness by age, years_married", Verdict.FAIL, 1)
    assert illness.says.startswith("In 1 of 1 groups of records that cannot be told apart by their quasi-identifiers")
    assert (salary.verdict, salary.observed) == (Verdict.PASS, 3)  # a continuous variable: its distinct values
    assert "In none of the 1 groups" in salary.says


def test_index_labels_are_not_positions() -> None:
    """A tool that used labels as positions reported 2 here: a group of one illness beside a mixed one."""
    frame = typed([30, 30, 41, 41], ["flu", "flu", "cold", "flu"], index=[3, 2, 1, 0])
    assert one(LDiversity(l=2, columns=("illness",)), frame).observed == 1


def test_entropy_l_diversity_is_met_exactly_by_equal_frequencies() -> None:
    entropy = LDiversity(variant="entropy", l=3, columns=("illness",))
    assert one(entropy, typed([30] * 3, ["a", "b", "c"])).verdict is Verdict.PASS
    finding = one(entropy, typed([30] * 4, ["a", "b", "c", "c"]))
    assert finding.verdict is Verdict.FAIL
    assert finding.observed == pytest.approx(2**1.5)
    assert "weighed by how often they occur" in finding.says


def test_recursive_l_diversity_bounds_the_most_frequent_value() -> None:
    frame = typed([30] * 7, ["a"] * 4 + ["b"] * 2 + ["c"])  # 4 against 2 + 1
    recursive = LDiversity(variant="recursive", l=2, c=1.5, columns=("illness",))
    assert one(recursive, frame).verdict is Verdict.PASS
    finding = one(recursive.model_copy(update={"c": 4 / 3}), frame)  # met exactly is not met: less than c times
    assert (finding.verdict, finding.observed) == (Verdict.FAIL, pytest.approx(4 / 3))
    assert "In 1 of 1 groups" in finding.says
    none = one(recursive, typed([30] * 3, ["a"] * 3))
    assert (none.verdict, none.observed) == (Verdict.FAIL, None)
    assert recursive.describe().endswith("(recursive l-diversity).")


def test_other_sensitive_values_count_as_known_when_the_policy_says_so() -> None:
    """Two illnesses among four people, but the salary tells which."""
    frame = typed([30] * 4, ["flu", "flu", "cold", "cold"]).assign(salary=[1.0, 1.0, 2.0, 2.0])
    assert [f.verdict for f in LDiversity(l=2).find(frame, VARIABLES, "masked")] == [Verdict.PASS] * 2
    illness, salary = LDiversity(l=2, others_known=True).find(frame, VARIABLES, "masked")
    assert (illness.verdict, salary.verdict) == (Verdict.FAIL, Verdict.FAIL)
    assert illness.scope == "illness by age, years_married, salary"
    assert "their other sensitive values" in LDiversity(l=2, others_known=True).describe()


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        ({"rule": "l_diversity", "l": 0.5}, "l: must be greater than 1; got 0.5"),
        ({"rule": "l_diversity", "l": 2, "variant": "probable"}, "'distinct', 'entropy' or 'recursive'"),
        (
            {"rule": "l_diversity", "l": 2, "variant": "recursive"},
            "c is needed for variant 'recursive' and for no other",
        ),
        ({"rule": "l_diversity", "l": 2, "c": 3}, "c is needed for variant 'recursive' and for no other"),
        ({"rule": "l_diversity", "l": 2.5, "variant": "recursive", "c": 3}, "must be a whole number; got 2.5"),
        ({"rule": "l_diversity", "l": 2, "variant": "recursive", "c": 0}, "c: must be greater than 0"),
    ],
)
def test_a_threshold_out_of_bounds_is_refused(rule: dict[str, Any], said: str) -> None:
    assert said in refusal(**rule)
