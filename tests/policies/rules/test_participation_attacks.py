"""Membership inference as a rule.

Rare combinations as a rule.

Participant inference as a rule.
"""

from dataclasses import replace

import numpy as np
import pytest

from policies.rules.participation_attacks import (
    MembershipInference,
    ParticipantInference,
    RareCombinations,
    SubsetInference,
)
from sluice.ground.verdict import Finding, Verdict
from sluice.masking.plan import apply_plan
from sluice.masking.recoding.sampling import Sampling
from sluice.masking.synthesis.sequential_trees import SequentialTrees
from sluice.utility.comparison import Comparison
from tests.golden import golden
from tests.policies.rules.people_and_control import CONTROL, ORIGINAL, STRANGERS, VARIABLES, attacked, verdicts


def test_nearer_records_are_judged_only_where_the_policy_limits_them() -> None:
    advantage, learned = MembershipInference(limit=0.1).find(attacked(ORIGINAL))
    all_three = MembershipInference(limit=0.1, nearer=0.55).find(attacked(ORIGINAL))
    assert [each.scope for each in all_three] == ["nearness to the file", "learned from examples", "nearer records"]
    assert [each.observed for each in all_three[:2]] == [advantage.observed, learned.observed]
    assert all_three[2].limit == 0.55
    golden.words(all_three[2].says)


def test_nobody_learns_from_a_handful_of_examples() -> None:
    near, learned = MembershipInference(limit=0.1).find(attacked(STRANGERS, CONTROL.iloc[:30]))
    assert near.verdict is not Verdict.UNKNOWN
    assert learned.verdict is Verdict.UNKNOWN
    golden(learned.says)


def test_one_person_on_a_side_is_too_few() -> None:
    (finding,) = MembershipInference(limit=0.1).find(attacked(STRANGERS, CONTROL.iloc[:1]))
    assert finding.verdict is Verdict.UNKNOWN
    golden(finding.says)


def test_each_size_is_judged_by_itself() -> None:
    pairs, triples = RareCombinations(limit=0.1, sizes=(2, 3)).find(attacked(ORIGINAL))
    assert (pairs.scope, triples.scope) == ("2 values", "3 values")
    assert triples.verdict is Verdict.FAIL
    golden(triples.says)


def test_without_anybody_alone_nothing_is_known() -> None:
    (finding,) = RareCombinations(limit=0.1, sizes=(2,), columns=("sex", "area")).find(attacked(STRANGERS))
    assert finding.verdict is Verdict.UNKNOWN
    golden(finding.says)


def test_the_variable_is_named() -> None:
    (finding,) = ParticipantInference(limit=0.1, columns=("age", "height", "wage")).find(attacked(ORIGINAL))
    assert finding.verdict is Verdict.FAIL
    golden(finding.says)
    assert any(name in finding.says for name in ("age", "height", "wage"))


def test_one_column_or_a_handful_of_people_tell_nothing() -> None:
    (finding,) = ParticipantInference(limit=0.1, columns=("age",)).find(attacked(STRANGERS))
    assert finding.verdict is Verdict.UNKNOWN
    golden.words(finding.says)
    (finding,) = ParticipantInference(limit=0.1).find(attacked(STRANGERS, CONTROL.iloc[:10]))
    assert finding.verdict is Verdict.UNKNOWN
    golden(finding.says)


# Subset inference as a rule.


RULE = SubsetInference(limit=0.1)


def test_the_variables_are_named() -> None:
    (finding,) = SubsetInference(limit=0.1, columns=("age", "height", "wage")).find(attacked(ORIGINAL))
    assert finding.verdict is Verdict.FAIL
    golden(finding.says)
    assert "wage by" in finding.says or "height by" in finding.says


def test_without_a_control_people_are_read_off_a_file_that_they_are_not_in() -> None:
    (finding,) = RULE.find(attacked(ORIGINAL, None))
    assert finding.verdict is Verdict.FAIL
    golden.words(finding.says)
    assert "at most 0.67 %" in finding.says  # ten of 1,500: no smaller share is named
    assert verdicts(RULE, STRANGERS.iloc[:0], None) == {Verdict.UNKNOWN}


def test_where_others_are_read_better_nothing_is_gained() -> None:
    (finding,) = RULE.find(attacked(CONTROL))
    assert (finding.verdict, finding.observed) == (Verdict.PASS, 0)


def test_subset_inference_one_column_or_a_handful_of_people_tell_nothing() -> None:
    for control in (CONTROL, None):
        (finding,) = SubsetInference(limit=0.1, columns=("age",)).find(attacked(STRANGERS, control))
        assert finding.verdict is Verdict.UNKNOWN
        golden.words(finding.says)
    (finding,) = RULE.find(attacked(STRANGERS, CONTROL.iloc[:10]))
    assert finding.verdict is Verdict.UNKNOWN
    golden(finding.says)


def by_plan(leaf: int, aside: int = 300) -> tuple[Comparison, Finding]:
    """Of 1,500 people so many are set aside, and the others replaced by trees; as the rule finds it at 0.3."""
    step = SequentialTrees(columns=("age", "sex", "area", "wage", "ill"), minimum_leaf=leaf)
    kept = VARIABLES | {"height": VARIABLES["height"].model_copy(update={"role": "other"})}
    everybody = ORIGINAL.assign(age=ORIGINAL["age"] // 5, wage=ORIGINAL["wage"].round(-2))
    people, others = everybody.iloc[aside:].reset_index(drop=True), everybody.iloc[:aside]
    masked, plan = apply_plan([step], people, kept, np.random.SeedSequence(1))
    files = replace(
        attacked(masked, others), original=people, recoded=people, variables=kept, released=kept, carried_out=plan
    )
    (finding,) = RareCombinations(limit=0.3, columns=step.columns).find(files)
    return files, finding


@pytest.mark.parametrize(("leaf", "verdict"), [(5, Verdict.FAIL), (20, Verdict.PASS)])
def test_where_few_were_set_aside_files_made_again_of_others_decide(leaf: int, verdict: Verdict) -> None:
    files, found = by_plan(leaf)
    assert len(files.folds) == 5
    rule = RareCombinations(limit=0.3, columns=("age", "sex", "area", "wage", "ill"))
    (alone,) = rule.find(replace(files, carried_out=None))
    assert (alone.verdict, found.verdict) == (Verdict.REVIEW, verdict)
    golden(found.says)


def test_what_the_file_itself_decides_is_not_made_again() -> None:
    for leaf, verdict in ((1, Verdict.FAIL), (100, Verdict.PASS)):
        files, found = by_plan(leaf)
        assert found.verdict is verdict
        assert "folds" not in vars(files)


def test_in_folds_everybody_stays_away_once() -> None:
    files, _ = by_plan(leaf=100)
    away = [fold.units[1] for fold in files.folds]
    assert np.array_equal(np.sort(np.concatenate(away)), np.arange(len(ORIGINAL)))
    for fold in files.folds:
        assert not {*fold.units[0]} & {*fold.units[1]}
        assert len(fold.people) == len(fold.released) == len(fold.units[0])
        assert len(fold.others) == len(fold.units[1])
    first, second = files.folds[:2]
    assert first.released is files.masked
    assert not second.released.equals(first.released)
    left_out = Sampling(fraction=0.5)
    assert len(replace(files, carried_out=[left_out]).folds) == 1
