"""For whom a plan is drafted, and which is taken."""

import pytest

from policies.policy import load_policy, shipped_policies
from sluice.ground.variables import Role
from tasks.tuning.audiences import USES, chosen_use, families_of, fitting_uses
from tasks.tuning.draft_steps import Draft
from tasks.tuning.first_plan import FirstPlan
from tasks.tuning.trial import Outcome


def plan(loss: float, passes: bool = True) -> FirstPlan:
    outcome = Outcome(end="passes" if passes else "fails", stage="rules", loss=loss, kept=9, of=9)
    return FirstPlan(Draft("a draft", "groups", ()), outcome, 1, 1000)


@pytest.mark.parametrize(
    ("roles", "records", "numbers_alone", "uses"),
    [
        ([], 999, False, ("small",)),
        ([], 1000, False, ("public", "perturbed", "scientific")),
        ([], 5000, False, ("public", "synthetic", "perturbed", "scientific")),
        ([Role.CONTRIBUTOR], 1000, False, ("business", "perturbed", "scientific")),
        ([], 834, True, ("business", "small")),
    ],
)
def test_a_plan_is_drafted_for_each_policy_that_can_judge_the_file(
    roles: list[Role], records: int, numbers_alone: bool, uses: tuple[str, ...]
) -> None:
    assert fitting_uses(roles, records, numbers_alone) == uses
    for use in uses:
        standard = load_policy(shipped_policies()[USES[use].policy]).reference_standard
        assert standard is not None
        share = standard.holdout_share or 1
        assert records < 1000 or share * records >= standard.minimum_records


def test_what_is_drawn_anew_is_judged_against_people_set_aside_where_there_are_enough() -> None:
    assert families_of("perturbed", ("synthetic", "perturbed")) == ("perturbed",)
    assert "synthetic" in families_of("perturbed", ("public", "perturbed"))


def test_what_anybody_may_have_is_taken_before_what_keeps_more_for_researchers() -> None:
    researchers, anybody, other = plan(0.1), plan(0.4), plan(0.3)
    assert chosen_use({"public": anybody, "synthetic": other, "scientific": researchers}) == "synthetic"
    assert chosen_use({"public": plan(0.2, passes=False), "scientific": researchers}) == "scientific"
