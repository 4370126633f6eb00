"""How the time of `sluice init` is parted among the uses of a file."""

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import pytest

from tasks.project import own_project
from tasks.tuning.allowance import Allowance
from tasks.tuning.draft_steps import Draft
from tasks.tuning.first_plan import FirstPlan
from tasks.tuning.trial import Miss, Outcome

USES = ("public", "synthetic", "scientific")
PASSES = Outcome(end="passes", stage="attacks", misses=())


def fails(far: float) -> Outcome:
    miss = Miss(rule="transparency", stage="attacks", verdict=2, says="too often", far=far)
    return Outcome(end="fails", stage="attacks", misses=(miss,))


def plan(outcome: Outcome, tried: int, untried: int) -> FirstPlan:
    return FirstPlan(Draft("a draft", "groups", ({"method": "removal"},)), outcome, tried, 100, untried)


def planned(
    first: dict[str, FirstPlan], again: FirstPlan, seconds: float = 60, drawn: FirstPlan | None = None
) -> tuple[list[str], list[str]]:
    """The uses that were gone through, each call 10 seconds long, and those that were found to pass.

    drawn : what further draws come to of the first plan that passes; None: it passes as before
    """
    drawn_plans = iter([] if drawn is None else [drawn])
    now = [0.0]
    called: list[str] = []

    def call(*arguments: Any) -> FirstPlan:
        records, after = arguments[1], arguments[-1]
        now[0] += 10
        called.append(records.use)
        return first[records.use] if after is None else again

    def records_of(use: str) -> Any:
        return SimpleNamespace(use=use)

    trying: Any = SimpleNamespace(
        allowance=Allowance(seconds / 60, lambda: now[0]), most=None, told=lambda *_: None, begins=lambda *_: None
    )
    with (
        patch.object(own_project, "first_plan", call),
        patch.object(own_project, "part_at_hand", lambda records, most: records),
        patch.object(own_project, "drawn_again", lambda plan, *_: next(drawn_plans, plan)),
    ):
        nothing: Any = None
        found = own_project._tried(nothing, USES, records_of, {}, (), nothing, trying, [])
        passing = [use for use, each in found if each.passes]
    return called, passing


FAR, NEAR = plan(fails(0.9), 1, 3), plan(fails(0.1), 1, 3)


@pytest.mark.parametrize(
    ("first", "again", "called", "passing"),
    [
        (  # what the last uses left of the time is for the drafts that came nearest
            {"public": FAR, "synthetic": NEAR, "scientific": FAR}, plan(PASSES, 2, 0),
            ["synthetic", "public", "scientific", "synthetic"], ["synthetic"],
        ),
        (  # one that researchers may have is none that anybody may have
            {"public": FAR, "synthetic": NEAR, "scientific": plan(PASSES, 1, 0)}, plan(PASSES, 2, 0),
            ["synthetic", "public", "scientific", "synthetic"], ["scientific", "synthetic"],
        ),
        (  # nothing is left to be tried
            {use: replace(FAR, untried=0) for use in USES}, plan(PASSES, 2, 0),
            ["synthetic", "public", "scientific"], [],
        ),
        (  # no further draft was judged in what was left
            dict.fromkeys(USES, FAR), FAR, ["synthetic", "public", "scientific", "synthetic"], [],
        ),
        (
            {"public": plan(PASSES, 1, 0), "synthetic": NEAR, "scientific": FAR}, plan(PASSES, 2, 0),
            ["synthetic", "public", "scientific"], ["public"],
        ),
    ],
)  # fmt: skip
def test_time_that_is_left_goes_to_drafts_that_were_not_tried_until_one_passes(
    first: dict[str, FirstPlan], again: FirstPlan, called: Sequence[str], passing: Sequence[str]
) -> None:
    assert planned(first, again) == (list(called), list(passing))


def test_what_falls_by_further_draws_leaves_the_time_to_other_drafts() -> None:
    passes = {"public": plan(PASSES, 1, 0), "synthetic": FAR, "scientific": FAR}
    called, passing = planned(passes, plan(PASSES, 2, 0), drawn=NEAR)
    assert called == ["synthetic", "public", "scientific", "public"]
    assert passing == ["public"] * 2, "at first, and by another draft"


def test_no_use_is_begun_again_when_a_draft_would_end_too_late() -> None:
    assert planned(dict.fromkeys(USES, NEAR), plan(PASSES, 2, 0), seconds=38)[1] == []
