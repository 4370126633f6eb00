"""Drafts of a first plan: valid, from fine to coarse, never with a name in them; the first that passes is taken."""

from typing import Any
from unittest.mock import patch

import pytest

from policies.policy import Policy, load_policy, shipped_policies
from sluice.masking.plan import released_variables
from sluice.variables import NAMES, Role
from tasks.release.records.definition import RecordsDefinition
from tasks.tuning import first_plan as module
from tasks.tuning.changes import with_plan
from tasks.tuning.first_plan import drafts, first_plan, part_at_hand
from tasks.tuning.fitting import misfit
from tasks.tuning.records_at_hand import RecordsAtHand
from tasks.tuning.trial import Miss, Outcome
from tests.tasks.tuning.house_of_plans import policy, records, space

SHIPPED = ("public-use-file", "scientific-use-file", "perturbed-file", "synthetic-file")
IDLE = [{"method": "removal", "columns": ["town"]}]
GROUPS = {"town": ("Aldby", "Borgen")}


def definition() -> RecordsDefinition:
    return space(IDLE).definition()


def shipped(name: str) -> Policy:
    return load_policy(shipped_policies()[name])


def outcome(end: Any, far: float = 0.5) -> Outcome:
    miss = Miss(rule="k_anonymity", stage="rules", verdict=2, says="too few", far=far)
    return Outcome(end=end, stage="rules", misses=() if end == "passes" else (miss,))


@pytest.mark.parametrize("name", SHIPPED)
def test_every_draft_fits_the_documents_and_names_nobody(name: str) -> None:
    known = records(300, shipped(name))
    found = list(drafts(known, GROUPS))
    assert len(found) > 2
    for draft in found:
        planned = with_plan(definition(), draft.plan)
        assert misfit(planned, known) is None, draft.says
        assert not any(draft.plan.count(step) > 1 for step in draft.plan)
    last = with_plan(definition(), found[-1].plan)
    if not any(step.method == "generalization" for step in last.plan):
        assert all(variable.role not in NAMES for variable in released_variables(last.plan, known.variables).values())


@pytest.mark.parametrize("name", SHIPPED[:2])
def test_under_a_policy_on_groups_they_keep_ever_less(name: str) -> None:
    known = records(300, shipped(name))
    kept = []
    for draft in drafts(known, GROUPS):
        removed = {column for step in draft.plan if step["method"] == "removal" for column in step["columns"]}
        kept.append(len(set(known.variables) - removed))
        for step in draft.plan:
            assert not set(step["columns"]) & removed or step["method"] == "removal"
            assert not any(known.variables[column].role is Role.HOUSEHOLD for column in set(step["columns"]) - removed)
    assert kept == sorted(kept, reverse=True)
    assert kept[-1] < kept[0]


def test_a_variable_that_repeats_another_is_left_out() -> None:
    for draft in drafts(records(300), GROUPS, repeats=["region"]):
        assert draft.plan[0]["method"] == "removal"
        assert "region" in draft.plan[0]["columns"]


def test_the_first_that_passes_is_taken_and_no_further_one_is_tried() -> None:
    ends = iter(["fails", "passes", "passes"])
    told: list[int] = []
    with patch.object(module, "_outcome", lambda *arguments: outcome(next(ends))):
        found = first_plan(definition(), records(300), GROUPS, told=lambda number, *rest: told.append(number))
    assert (found.passes, found.tried, told) == (True, 2, [1, 2])


def test_where_none_passes_the_nearest_is_taken() -> None:
    far = iter([0.9, 0.2, *[0.7] * 20])
    with patch.object(module, "_outcome", lambda *arguments: outcome("fails", next(far))):
        found = first_plan(definition(), records(300), GROUPS)
    assert not found.passes
    assert found.draft == list(drafts(records(300), GROUPS))[1]


def test_nothing_is_tried_where_that_is_asked() -> None:
    found = first_plan(definition(), records(300), GROUPS, most_tried=0)
    assert (found.tried, found.outcome, found.passes) == (0, None, False)
    assert found.draft == next(iter(drafts(records(300), GROUPS)))


def test_a_trial_that_stops_is_a_draft_that_does_not_pass() -> None:
    with patch.object(module, "try_plan", side_effect=ZeroDivisionError):
        found = first_plan(definition(), records(300), GROUPS, most_tried=1)
    assert found.outcome is not None
    assert found.outcome.end == "refused"


def test_a_real_trial_passes_under_a_policy_that_is_met() -> None:
    found = first_plan(definition(), records(600, policy(rules=[{"rule": "k_anonymity", "k": 3}])), GROUPS)
    assert found.passes, found.outcome


def test_a_part_is_of_whole_households() -> None:
    known: RecordsAtHand = records(600)
    part = part_at_hand(known, 200)
    assert 150 < len(part) < 260
    inside = set(part.frame["household"])
    assert int(known.frame["household"].isin(inside).sum()) == len(part)
    assert part_at_hand(known, 600) is known
