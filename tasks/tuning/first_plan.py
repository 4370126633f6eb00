"""A first plan for data that nobody has masked yet: a few drafts from fine to coarse, tried in turn until one passes.

No search: a statistician's usual way. Everything that names somebody is left out, and a weight after two drafts; the
quasi-identifiers that single out most people are given up one after another, the others are recoded as the policy asks,
and amounts move to people near in rank; or, where the policy asks for no groups, values are perturbed or drawn anew.
What passes on the records at hand is a fair first attempt, to be improved by `sluice tune`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from time import monotonic

import numpy as np
from pydantic import ValidationError

from sluice.ground.errors import PlanError
from sluice.risk.people_of_records import groups_of_people
from tasks.release.intake.staging import choose
from tasks.release.records.record_definition import RecordsDefinition
from tasks.tuning.first_drafts import Draft, drafts
from tasks.tuning.plan_changes import with_plan
from tasks.tuning.plan_search import refused
from tasks.tuning.search_context import RecordsAtHand, misfit
from tasks.tuning.space import LossWeights
from tasks.tuning.trial import Outcome, try_plan

_AGAIN = 4  # draws by which a plan that passed is looked at once more, before it is attacked by another
_SEED = 7


@dataclass(frozen=True)
class FirstPlan:
    """The draft that passed, or came nearest, and how many were tried.

    outcome : None where nothing was tried
    untried : drafts that would have been, had there been time
    """

    draft: Draft
    outcome: Outcome | None
    tried: int
    records: int
    untried: int = 0

    @property
    def passes(self) -> bool:
        return self.outcome is not None and self.outcome.end == "passes"


def first_plan(
    definition: RecordsDefinition,
    records: RecordsAtHand,
    groups: Mapping[str, Sequence[str]],
    repeats: Sequence[str] = (),
    most_tried: int | None = None,
    told: Callable[[int, int, Draft, Outcome], None] = lambda number, of, draft, outcome: None,
    seconds: float = inf,
) -> FirstPlan:
    """The first of the drafts that passes on the records at hand; else the one that came nearest.

    definition : with any plan
    groups     : categories that may be named of variables whose rarer ones are not declared
    repeats    : variables that tell the same as another one
    most_tried : drafts that are tried; of 0 the first one is taken as it is
    seconds    : of the clock, after which no further draft is tried
    raises     : PlanError where none fits the documents
    cost       : a trial for each draft, most of which stop early
    """
    found = [each for each in drafts(records, groups, repeats) if _fits(definition, each, records)]
    if not found:
        raise PlanError("no draft of a plan fits these variables and this policy")
    wanted = found if most_tried is None else found[:most_tried]
    if not wanted:
        return FirstPlan(found[0], None, 0, len(records))
    begun = monotonic()
    tried: list[tuple[float, Draft, Outcome]] = []
    for number, draft in enumerate(wanted, start=1):
        outcome = _outcome(definition, draft, records, number)
        if outcome.end == "refused" and draft.otherwise is not None:
            draft = replace(draft, plan=draft.otherwise, otherwise=None)
            outcome = _outcome(definition, draft, records, number)
        told(number, len(wanted), draft, outcome)
        tried.append((outcome.breach, draft, outcome))
        if outcome.end == "passes":
            return FirstPlan(draft, outcome, number, len(records))
        if monotonic() - begun >= seconds:
            break
    _, draft, outcome = min(tried, key=lambda each: each[0])
    return FirstPlan(draft, outcome, len(tried), len(records), len(wanted) - len(tried))


def _outcome(definition: RecordsDefinition, draft: Draft, records: RecordsAtHand, number: int) -> Outcome:
    """Of one that passes, whether it does by other draws, too, of which one is attacked: a release draws anew."""
    plan = with_plan(definition, draft.plan)
    try:
        outcome = try_plan(plan, records, (_SEED, number), LossWeights())
        for again in range(_AGAIN + 1 if outcome.end == "passes" else 0):
            other = try_plan(plan, records, (_SEED, number, again), LossWeights(), attacked=again == _AGAIN)
            if other.end != "passes":
                return other
        return outcome
    except Exception as error:  # this plan cannot be judged, others can
        return refused(f"The trial stopped with {type(error).__name__}.")


def _fits(definition: RecordsDefinition, draft: Draft, records: RecordsAtHand) -> bool:
    try:
        return misfit(with_plan(definition, draft.plan), records) is None
    except ValidationError:
        return False


def part_at_hand(records: RecordsAtHand, most: int, seed: int = 1) -> RecordsAtHand:
    """About so many of the records, whole people and households drawn at random; all where there are no more."""
    if len(records) <= most:
        return records
    groups = groups_of_people(records.frame, records.variables)
    return records.part("a part", choose(groups, most / len(records), np.random.default_rng(seed)))
