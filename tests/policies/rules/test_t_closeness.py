"""t-closeness as a rule."""

import pytest

from sluice.ground.errors import DataError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.verdict import Verdict
from sluice.risk.classes.t_closeness import TCloseness
from tests.golden import golden
from tests.policies.rules.married_women import VARIABLES, one, typed


def test_t_closeness_takes_the_ground_distance_of_the_kind() -> None:
    """Salaries of the paper (Li et al. 2007, section 4.2): 0.375 in their order; 2/3 when all are equally far."""
    frame = typed([1, 1, 1, 2, 2, 2, 3, 3, 3]).assign(salary=[3.0, 4, 5, 6, 11, 8, 7, 9, 10])
    assert one(TCloseness(t=0.375, columns=("salary",)), frame).verdict is Verdict.PASS  # met exactly
    ordered = one(TCloseness(t=0.3, columns=("salary",)), frame)
    assert ordered.verdict is Verdict.FAIL
    assert ordered.observed == pytest.approx(0.375)
    golden(ordered.says)
    assert one(TCloseness(t=0.3, ground_distance="equal", columns=("salary",)), frame).observed == pytest.approx(2 / 3)


def test_a_suppressed_record_still_counts_for_t() -> None:
    """A tool that left out the records with suppressed keys, but kept their sensitive value, reported too small a t."""
    frame = typed([1, 1, None, None], ["flu", "cold", "flu", "flu"])
    finding = one(TCloseness(t=0.2, columns=("illness",)), frame)
    # By hand: the file has 3/4 flu; the group of age 1 has 1/2 and the suppressed one all flu: both 1/4 away.
    assert (finding.verdict, finding.observed) == (Verdict.FAIL, pytest.approx(0.25))


def test_an_order_is_refused_where_there_is_none() -> None:
    golden.refused(DataError, TCloseness(t=0.2, ground_distance="ordered").find, typed([1, 2]), VARIABLES, "masked")


def test_the_hierarchical_distance_takes_the_hierarchy_of_the_contract() -> None:
    rows = {"flu": ("lungs", "all"), "cold": ("lungs", "all"), "ulcer": ("stomach", "all")}
    variables = VARIABLES | {"illness": VARIABLES["illness"].model_copy(update={"hierarchy": Hierarchy(rows=rows)})}
    frame = typed([1, 1, 2, 2], ["flu", "flu", "cold", "ulcer"])
    rule = TCloseness(t=0.4, ground_distance="hierarchical", columns=("illness",))
    (finding,) = rule.find(frame, variables, "masked")
    # By hand: 1/2 between the illnesses, 1/4 between lungs and stomach; the mean of both levels.
    assert (finding.verdict, finding.observed) == (Verdict.PASS, pytest.approx(0.375))
    assert one(TCloseness(t=0.4, columns=("illness",)), frame).verdict is Verdict.FAIL
    golden.refused(DataError, one, rule, frame)


def test_values_in_an_order_may_have_a_limit_of_their_own() -> None:
    """All of a group among the lowest pays, each another: half the scale is the most that an order can tell."""
    frame = typed([1, 1, 1, 2, 2, 2, 3, 3, 3], ["flu", "cold", "gout"] * 3)
    rule = TCloseness(t=0.6, t_ordered=0.3)
    illness, salary = rule.find(frame, VARIABLES, "masked")
    assert (illness.verdict, illness.limit) == (Verdict.PASS, 0.6)
    assert (salary.verdict, salary.limit, salary.observed) == (Verdict.FAIL, 0.3, pytest.approx(0.375))
    golden(salary.says)
    golden(rule.describe())
    equal = TCloseness(t=0.7, t_ordered=0.3, ground_distance="equal", columns=("salary",))
    assert (one(equal, frame).verdict, one(equal, frame).limit) == (Verdict.PASS, 0.7)


def test_blanks_do_not_count() -> None:
    frame = typed([1, 1, 1, 2, 2], ["flu", None, None, "flu", "cold"])
    # By hand: of those with an illness 2/3 have the flu, all of age 1 and half of age 2.
    assert one(TCloseness(t=0.5, columns=("illness",)), frame).observed == pytest.approx(1 / 3)
