"""For whom a plan is drafted, and which is taken."""

import pytest

from policies.policy import load_policy, shipped_policies
from policies.power import FileSize, figures
from sluice.ground.variables import Role
from sluice.ground.verdict import Verdict
from tasks.tuning.audiences import USES, chosen_use, families_of, fitting_uses
from tasks.tuning.draft_steps import Draft
from tasks.tuning.first_plan import FirstPlan
from tasks.tuning.trial import End, Miss, Outcome


def plan(loss: float, passes: bool = True, verdict: Verdict = Verdict.FAIL) -> FirstPlan:
    misses = () if passes else (Miss(rule="a rule", stage="attacks", verdict=verdict, says="too near", far=0.1),)
    end: End = "passes" if passes else "fails"
    outcome = Outcome(end=end, stage="rules", loss=loss, kept=9, of=9, misses=misses)
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


@pytest.mark.parametrize(("records", "decides"), [(8_000, False), (8_600, True)])
def test_people_are_set_aside_where_they_are_enough_to_pass_a_file_that_shows_nobody(
    records: int, decides: bool
) -> None:
    """With fewer, the interval of participant inference crosses the limit by luck, however well a file is made."""
    policy = load_policy(shipped_policies()[USES["synthetic"].policy])
    aside = records // 5
    size = FileSize(records - aside, records - aside, aside)
    assert all(each.decides for each in figures(policy, size, 12, paired=False)) is decides
    undecided = plan(0.2, passes=False, verdict=Verdict.REVIEW)
    beyond = plan(0.2, passes=False, verdict=Verdict.FAIL)
    uses = fitting_uses([], records)
    assert ("synthetic" in families_of("perturbed", uses, records, undecided)) is not decides
    for other in (None, plan(0.2), beyond):
        assert families_of("perturbed", uses, records, other) == ("perturbed",)


def test_what_is_drawn_anew_is_judged_against_people_set_aside_where_there_are_enough() -> None:
    assert families_of("perturbed", ("synthetic", "perturbed"), 30_000) == ("perturbed",)
    assert "synthetic" in families_of("perturbed", ("public", "perturbed"), 3_000)


def test_what_anybody_may_have_is_taken_before_what_keeps_more_for_researchers() -> None:
    researchers, anybody, other = plan(0.1), plan(0.4), plan(0.3)
    assert chosen_use({"public": anybody, "synthetic": other, "scientific": researchers}) == "synthetic"
    assert chosen_use({"public": plan(0.2, passes=False), "scientific": researchers}) == "scientific"
