"""A first plan for data that nobody has masked yet: a few drafts, those that keep most tried first until one passes.

No search: a statistician's usual way. Everything that names somebody is left out, and a weight after two drafts; the
quasi-identifiers that single out most people are given up one after another, the others are recoded as the policy asks,
and amounts move to people near in rank; or, where the policy asks for no groups, values are perturbed or drawn anew.
What passes on the records at hand is a fair first attempt, to be improved by `sluice tune`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import ceil, inf, isfinite

import numpy as np
from pydantic import ValidationError

from sluice.ground.errors import PlanError
from sluice.ground.progress import report
from sluice.risk.people_of_records import groups_of_people, number_of_people
from sluice.utility.analyses.asked_analyses import Analyses
from sluice.utility.analyses.models import HOLDS
from tasks.release.intake.staging import choose
from tasks.release.records.record_definition import RecordsDefinition
from tasks.tuning.allowance import Allowance, until_stopped
from tasks.tuning.draft_steps import FAMILIES, Draft, Family
from tasks.tuning.first_drafts import drafts
from tasks.tuning.other_draws import DRAWS, MAY_FALL, may_fall
from tasks.tuning.plan_changes import with_plan
from tasks.tuning.plan_search import refused
from tasks.tuning.records_at_hand import RecordsAtHand
from tasks.tuning.regressions_kept import worst_of
from tasks.tuning.search_context import misfit
from tasks.tuning.space import LossWeights
from tasks.tuning.trial import Outcome, try_plan

_LOOKS = 3  # draws without attacks, by which it is told what a draft keeps: by one of them it is chance
_AGAIN = 2  # more of those, by which a plan that passed is looked at before it is attacked again
_CONFIRMED = 5  # judgements for which there has to be time before a plan is looked at that may not pass
_SEED = 7
_LOOKING = 0.4  # share of the time, after which drafts that wait for attacks are attacked
_SPARE = 1.1  # times as many people as a policy asks for are drawn at least: whole households come
_ENOUGH_KEPT = 0.8  # share of the variables: a file of fewer is worth less, however well it tells of them


@dataclass(frozen=True)
class Tried:
    """A draft, and how it did."""

    draft: Draft
    outcome: Outcome

    @property
    def passes(self) -> bool:
        return self.outcome.end == "passes"

    @property
    def worth(self) -> tuple[bool, int, float, float]:
        """What it keeps, the smallest is best: enough of the variables, the coefficients, how near the worst of them
        is, and the pairs of variables."""
        outcome, models = self.outcome, self.outcome.models
        kept = (outcome.kept or 0) / (outcome.of or 1)
        lost, worst = (0, HOLDS) if models is None else (models.lost, float(np.fmax(models.worst, HOLDS)))
        return kept < _ENOUGH_KEPT, lost, worst, outcome.loss if isfinite(outcome.loss) else 1.0

    @property
    def keeps_enough(self) -> bool:
        """Whether enough of the variables is kept, and each coefficient."""
        return self.outcome.models is not None and self.worth[:3] == (False, 0, HOLDS)


@dataclass(frozen=True)
class FirstPlan:
    """The draft that passed, or came nearest, and how many were tried.

    outcome : None where nothing was tried
    untried : drafts that would have been, had there been time
    fell    : the draft that would have kept more, the most of them, and did not pass; None: there is none
    done    : the numbers of those that were judged
    number  : of the draft
    spare   : drafts that were not tried, as this one passes
    """

    draft: Draft
    outcome: Outcome | None
    tried: int
    records: int
    untried: int = 0
    fell: Tried | None = None
    done: frozenset[int] = frozenset()
    number: int = 0
    spare: int = 0

    @property
    def passes(self) -> bool:
        return self.outcome is not None and self.outcome.end == "passes"

    @property
    def as_tried(self) -> Tried | None:
        return None if self.outcome is None else Tried(self.draft, self.outcome)


Begins = Callable[[int, int, Draft, str], None]
"""Of each step: the number of the draft, of how many, the draft, and what is done with it."""


def first_plan(
    definition: RecordsDefinition,
    records: RecordsAtHand,
    groups: Mapping[str, Sequence[str]],
    repeats: Sequence[str] = (),
    most_tried: int | None = None,
    told: Callable[[int, int, Draft, Outcome], None] = lambda number, of, draft, outcome: None,
    seconds: float = inf,
    analyses: Analyses | None = None,
    families: Collection[Family] = FAMILIES,
    whole: RecordsAtHand | None = None,
    allowance: Allowance | None = None,
    begins: Begins = lambda number, of, draft, step: None,
    after: FirstPlan | None = None,
) -> FirstPlan:
    """The draft that keeps most of those that pass on the records at hand; else the one that came nearest.

    Each is tried without attacks first, which costs little. One that meets the rules so far and keeps enough is
    attacked at once; the others after all have been looked at, the one that keeps most first, until one passes.

    definition : with any plan
    groups     : categories that may be named of variables whose rarer ones are not declared
    repeats    : variables that tell the same as another one
    most_tried : drafts that are tried; of 0 the first one is taken, with all levels open, so that it can be carried out
    seconds    : of the clock, in which all is done: by what the dearest so far took, nothing is begun that would end
                 later, but for the first draft, of which nobody knows what it takes
    analyses   : regressions by which, too, it is told what a draft keeps
    families   : of which drafts are wanted
    whole      : the records of which those at hand are a part: what passes on the part is judged on these, too. More
                 people tell more coefficients from 0 and more intruders from chance, so it may fall there
    allowance  : of which `seconds` are a part; who stops it by KeyboardInterrupt gets what was found until then
    after      : what came of the same call before, in less time: its drafts are not judged again
    raises     : PlanError where none fits the documents
    cost       : a trial for each draft, most of which stop early
    """
    found: list[Draft] = []
    for each in drafts(records, groups, repeats):
        if (
            each.family in families
            and each.plan not in [draft.plan for draft in found]
            and _fits(definition, each, records)
        ):
            found.append(each)
    if not found:
        raise PlanError("no draft of a plan fits these variables and this policy")
    wanted = found if most_tried is None else found[:most_tried]
    if not wanted:
        draft = found[0]
        return FirstPlan(replace(draft, plan=draft.otherwise or draft.plan), None, 0, len(records))
    allowance = allowance or Allowance(None)
    looks, attacks = allowance.part(seconds), allowance.part(seconds)
    on, last = records, 0
    judged: list[Tried] = []
    done = set() if after is None else {*after.done}
    before = [] if after is None or after.as_tried is None else [after.as_tried]
    waiting: list[tuple[int, Tried]] = []

    def ended(number: int, tried: Tried) -> None:
        told(number, len(wanted), tried.draft, tried.outcome)
        judged.append(tried)
        done.add(number)

    def attacked(number: int, tried: Tried) -> bool:
        nonlocal on, last
        begins(number, len(wanted), tried.draft, "under attack")
        outcome, on, last = _outcome(definition, tried, records, number, attacks), records, number
        larger = 1.0 if whole is None else len(whole) / len(records)
        if outcome.end == "passes" and whole is not None and larger > 1 and attacks.allows(larger):
            begins(number, len(wanted), tried.draft, f"on {len(whole):,} records")
            with until_stopped(attacks):
                by_all = _try(definition, tried.draft, whole, (_SEED, number), analyses=analyses)
                margin = float(np.fmin(outcome.margin, by_all.margin))
                outcome, on = by_all.model_copy(update={"margin": margin}), whole
        ended(number, replace(tried, outcome=outcome))
        return outcome.end == "passes"

    def search() -> None:
        for number, draft in [each for each in enumerate(wanted, start=1) if each[0] not in done]:
            begins(number, len(wanted), draft, "without attacks")
            tried = looks.timed(partial(_looked_at, definition, draft, records, number, analyses))
            if not tried.passes:
                ended(number, tried)
            elif not tried.keeps_enough:
                waiting.append((number, tried))
            elif attacked(number, tried):
                return  # no other draft can keep more that counts
            if not looks.for_judgement or (waiting and looks.left <= (1 - _LOOKING) * seconds < inf):
                break
        waiting.sort(key=lambda each: each[1].worth)
        while waiting and (attacks.for_judgement or not judged):
            # The last of the time is for the safest, drafted last; of them one that keeps enough, if there is any.
            safest = max(waiting, key=lambda each: (not each[1].worth[0], each[0]))
            chosen = waiting[0] if attacks.allows(1 + _CONFIRMED) else safest
            waiting.remove(chosen)
            if attacked(*chosen):
                return

    with until_stopped(allowance):
        search()
    untried, tried = len(wanted) - len(done), len(judged) + (0 if after is None else after.tried)
    judged = before + judged
    if not judged:
        return FirstPlan(waiting[0][1].draft if waiting else found[0], None, 0, len(records), untried)
    if judged[-1].passes:
        best = judged[-1]
        fell = min((each for each in judged[:-1] if each.worth < best.worth), key=lambda each: each.worth, default=None)
        return FirstPlan(best.draft, best.outcome, tried, len(on), 0, fell, frozenset(done), last, untried)
    nearest = min(judged, key=lambda each: each.outcome.breach)
    return FirstPlan(nearest.draft, nearest.outcome, tried, len(records), untried, None, frozenset(done))


def drawn_again(
    plan: FirstPlan, definition: RecordsDefinition, records: RecordsAtHand, allowance: Allowance
) -> FirstPlan:
    """A plan that passes, judged by as many more of ten draws as there is time for; where it falls by too many of them,
    other drafts are left to be tried. As it was where it was judged by ten, or by all records, or does not pass.

    definition : with any plan
    records    : those on which it was found
    cost       : a judgement under attack for each draw
    """
    if plan.outcome is None or not plan.passes or plan.outcome.draws >= DRAWS or plan.records != len(records):
        return plan
    outcome = _more_draws(definition, plan.draft, records, plan.number, allowance, plan.outcome)
    if outcome.end == "passes":
        return replace(plan, outcome=outcome)
    return replace(plan, outcome=outcome, untried=plan.spare, spare=0, fell=None)


def _looked_at(
    definition: RecordsDefinition, draft: Draft, records: RecordsAtHand, number: int, analyses: Analyses | None
) -> Tried:
    """Without attacks, and by its other plan where that one cannot be carried out. What became of the regressions is
    the worst of several draws."""
    outcome = _try(definition, draft, records, (_SEED, number), attacked=False, analyses=analyses)
    if outcome.end == "refused" and draft.otherwise is not None:
        draft = replace(draft, plan=draft.otherwise, otherwise=None)
        outcome = _try(definition, draft, records, (_SEED, number), attacked=False, analyses=analyses)
    models = outcome.models
    for again in range(1, _LOOKS):
        if outcome.end != "passes":
            break
        outcome = _try(definition, draft, records, (_SEED, number, again), attacked=False, analyses=analyses)
        models = worst_of([each for each in (models, outcome.models) if each is not None])
    return Tried(draft, outcome.model_copy(update={"models": models}))


def _outcome(
    definition: RecordsDefinition, tried: Tried, records: RecordsAtHand, number: int, allowance: Allowance
) -> Outcome:
    """Under attack; of one that passes, whether it does by 9 of 10 draws, or by all of as many as there is time for: a
    release draws anew."""
    known = {"models": tried.outcome.models}
    outcome = allowance.timed(partial(_try, definition, tried.draft, records, (_SEED, number)))
    if outcome.end != "passes":
        return outcome.model_copy(update=known)
    with until_stopped(allowance):
        for again in range(_AGAIN):
            if not allowance.for_judgement:
                break
            other = _try(definition, tried.draft, records, (_SEED, number, _LOOKS + again), attacked=False)
            if other.end != "passes":
                return other.model_copy(update=known)
    return _more_draws(definition, tried.draft, records, number, allowance, outcome.model_copy(update=known))


def _more_draws(
    definition: RecordsDefinition, draft: Draft, records: RecordsAtHand, number: int, allowance: Allowance,
    outcome: Outcome,
) -> Outcome:  # fmt: skip
    """What passes by some draws, by as many of ten as there is time for."""
    margins, fallen = [outcome.margin] * outcome.draws, list[Outcome]()
    with until_stopped(allowance):
        for again in range(outcome.draws - 1, DRAWS - 1):
            if len(fallen) > MAY_FALL or not allowance.for_judgement:
                break
            report(f"draw {again + 2} of {DRAWS}")
            other = _try(definition, draft, records, (_SEED, number, _LOOKS + _AGAIN + again))
            if other.end == "passes":
                margins.append(other.margin)
            else:
                fallen.append(other)
    draws = len(margins) + len(fallen)
    if len(fallen) > may_fall(draws):
        return fallen[0].model_copy(update={"models": outcome.models, "draws": draws, "fallen": len(fallen)})
    found = {"margin": float(np.fmin.reduce(margins)), "draws": draws, "fallen": len(fallen)}
    return outcome.model_copy(update=found)


def _try(
    definition: RecordsDefinition, draft: Draft, records: RecordsAtHand, seed: tuple[int, ...],
    attacked: bool = True, analyses: Analyses | None = None,
) -> Outcome:  # fmt: skip
    try:
        plan = with_plan(definition, draft.plan)
        return try_plan(plan, records, seed, LossWeights(), attacked=attacked, analyses=analyses)
    except Exception as error:  # this plan cannot be judged, others can
        return refused(f"The trial stopped with {type(error).__name__}.")


def _fits(definition: RecordsDefinition, draft: Draft, records: RecordsAtHand) -> bool:
    try:
        return misfit(with_plan(definition, draft.plan), records) is None
    except ValidationError:
        return False


def part_at_hand(records: RecordsAtHand, most: int, seed: int = 1) -> RecordsAtHand:
    """About so many of the records, whole people and households drawn at random; all where there are no more. More,
    where they would be of fewer people than the policy judges."""
    standard = records.policy.reference_standard
    if standard is not None and len(records) > most:
        people = _SPARE * standard.minimum_records / (1 - (standard.holdout_share or 0))
        most = max(most, ceil(people * len(records) / number_of_people(records.frame, records.variables)))
    if len(records) <= most:
        return records
    groups = groups_of_people(records.frame, records.variables)
    return records.part("a part", choose(groups, most / len(records), np.random.default_rng(seed)))
