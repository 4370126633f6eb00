"""Why a plan is as it is: what falls without each of its steps, what became of what the space offered besides, and the
price of each rule: what the best plan that fails this rule alone loses less than the best that passes.

A trial stops at the first stage that says no, and what comes after is not known of it. So the plan is judged again
as if the rule were not there; only one that passes then tells a price. A search of levels that obeys the policy makes
no plan that fails its rules: there the best plan is tried with levels that need not obey the rule.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import inf, isfinite
from typing import Any

from pydantic import BaseModel, ConfigDict

from sluice.risk.classes.microdata_rule import models_of
from tasks.release.records.record_definition import RecordsDefinition
from tasks.tuning.allowance import Allowance
from tasks.tuning.journal import Found, TrialRecord
from tasks.tuning.parameter_ranges import Between, Range, at
from tasks.tuning.plan_loss import number
from tasks.tuning.plan_search import outcome_at, refused
from tasks.tuning.records_at_hand import RecordsAtHand
from tasks.tuning.space import SpaceOfPlans
from tasks.tuning.trial import Outcome, try_plan

_WITHOUT = 2**43  # of the search's seed


class Reason(BaseModel):
    """What the plan would be without one of its steps."""

    model_config = ConfigDict(frozen=True, ser_json_inf_nan="constants")

    step: int
    outcome: Outcome

    def in_words(self, loss: float) -> str:
        """A sentence for a comment. Names of rules and the loss; no figure of the data."""
        ended = self.outcome
        if ended.end == "refused":
            return "Without it the rest of the plan cannot be carried out or released."
        if ended.end == "passes":
            less = loss - ended.loss
            return (
                "In the search the plan passed without it, too, "
                f"{f'and lost {less:.3f} less' if less > 0.0005 else 'and lost as much'}."
            )
        return f"Without it the file fails {named([miss.rule for miss in ended.misses])}."


class Unchosen(BaseModel):
    """The best that was found with another value of a range than the plan's."""

    model_config = ConfigDict(frozen=True, ser_json_inf_nan="constants")

    place: str
    says: str
    trials: int
    passing: int
    loss: float
    misses: tuple[str, ...]

    def in_words(self) -> str:
        """A line for a comment."""
        what = f"{self.says}: {self.trials} trial{'s' if self.trials != 1 else ''}"
        if self.passing:
            return f"{what}, {self.passing} passed, at best with a loss of {number(self.loss)}"
        fell = f"the nearest fell by {named(self.misses)}" if self.misses else "the nearest lost more than the best"
        return f"{what}, none passed; {fell}"


def reasons_for(
    space: SpaceOfPlans, definition: RecordsDefinition, records: RecordsAtHand, price: float = 0.0,
    allowance: Allowance | None = None,
) -> list[Reason]:  # fmt: skip
    """For each step of the plan, what happens without it. Cost: a trial a step; most stop early.

    price     : of the variables that the plan drops, which is in its loss
    allowance : once it is used up, nothing is said of the steps that are left
    """
    found = []
    for index in range(len(definition.plan)):
        if allowance is not None and not allowance.for_judgement:
            break
        left = [*definition.plan[:index], *definition.plan[index + 1 :]]
        if not left:
            outcome = refused("nothing would be masked")
        else:
            shorter = definition.model_copy(update={"plan": tuple(left)})
            outcome = try_plan(shorter, records, (space.search.seed, _WITHOUT, index), space.search.loss, price)
        found.append(Reason(step=index, outcome=outcome))
    return found


def unchosen(space: SpaceOfPlans, found: Found, winner: TrialRecord) -> list[Unchosen]:
    """For each choice of the plan, what became of the others, by the trials that had them."""
    offered: dict[str, Range] = {}

    def note(place: str, of: Range) -> object:
        offered[place] = of
        return winner.point.get(place, of.first)

    space.steps(note)
    rows = []
    for place, of in offered.items():
        if isinstance(of, Between):
            continue
        for value in of.any_of:
            if repr(value) == repr(winner.point.get(place, of.first)):
                continue
            having = [t for t in found.trials if t.same is None and repr(t.point.get(place)) == repr(value)]
            if having:
                rows.append(_summary(space, place, value, having))
    return rows


def _summary(space: SpaceOfPlans, place: str, value: object, having: Sequence[TrialRecord]) -> Unchosen:
    passing = [trial for trial in having if trial.outcome.end == "passes"]
    nearest = min(having, key=lambda trial: (trial.outcome.breach, trial.number))
    losses = [trial.outcome.loss for trial in passing if isfinite(trial.outcome.loss)]
    return Unchosen(
        place=place,
        says=_in_words(space, place, value, having[0]),
        trials=len(having),
        passing=len(passing),
        loss=min(losses, default=float("nan")),
        misses=tuple(dict.fromkeys(miss.rule for miss in nearest.outcome.misses)),
    )


def _in_words(space: SpaceOfPlans, place: str, value: object, trial: TrialRecord) -> str:
    """A value of a range, named by what it is of."""
    if place.startswith("may_drop."):
        return f"{place.removeprefix('may_drop.')} {'dropped' if value else 'kept'}"
    step = space.step_at(place)
    if step is None:
        methods = dict.fromkeys(str(each["method"]) for each in space.steps(at({**trial.point, place: value})))
        return f"another way ({', '.join(methods)})"
    field = place.rpartition(".")[2]
    on = ", ".join(map(str, step.written.get("columns", ())))
    if field == "taken":
        return f"{'with' if value else 'without'} {step.method} on {on}"
    return f"{field} of {step.method} on {on} = {value}"


def named(rules: Sequence[str]) -> str:
    """Names as a list in a sentence, each once."""
    once = list(dict.fromkeys(rules))
    return " and ".join(filter(None, [", ".join(once[:-1]), *once[-1:]]))


_PRICE = 2**45  # of the search's seed: no trial has such a number
_MOST = 2  # plans that are judged without a rule


class RulePrice(BaseModel):
    """A plan judged as if one rule were not there.

    trial : by whose plan; loss: without the rule
    saved : how much less that is than the best that passes loses; None where none does
    then  : the rules by which it falls all the same; none: it passes
    """

    model_config = ConfigDict(frozen=True)

    rule: str
    trial: int
    loss: float
    saved: float | None = None
    then: tuple[str, ...] = ()

    def in_words(self) -> str:
        """A line."""
        if self.then:
            return (
                f"{self.rule} alone costs nothing that was found: without it trial {self.trial}, with a loss of "
                f"{self.loss:.3f}, would fall by {named(self.then)}"
            )
        if self.saved is None:
            return f"without {self.rule} trial {self.trial} would pass, with a loss of {self.loss:.3f}"
        passes = f"without it trial {self.trial} would pass, with a loss of {self.loss:.3f}"
        return f"{self.rule} costs {self.saved:.3f}: {passes}"


def rule_prices(
    space: SpaceOfPlans, found: Found, records: RecordsAtHand, whole: RecordsAtHand | None = None, bound: float = inf,
    allowance: Allowance | None = None,
) -> tuple[tuple[RulePrice, ...], int]:  # fmt: skip
    """What each rule costs, the dearest first and those that cost nothing last, and how many plans were judged for it.

    whole     : all records, where `records` are a part of them
    bound     : the loss of the best plan that passes; infinite where none does
    allowance : once it is used up, nothing is said of the rules that are left
    cost      : up to two trials a rule; none for one by which no plan falls alone, and which no search of levels obeys
    """
    prices, judged = [], 0
    for rule, candidates in _candidates(space, found, records, bound).items():
        tried: list[RulePrice] = []
        for trial in candidates[:_MOST]:
            if allowance is not None and not allowance.for_judgement:
                break
            outcome = outcome_at(records, space, trial.point, _PRICE + judged, bound, whole, without=frozenset({rule}))
            judged += 1
            if outcome.end not in ("passes", "fails") or not isfinite(outcome.loss):
                continue
            then = tuple(dict.fromkeys(miss.rule for miss in outcome.misses))
            saved = bound - outcome.loss if isfinite(bound) and not then else None
            tried.append(RulePrice(rule=rule, trial=trial.number, loss=outcome.loss, saved=saved, then=then))
            if not then and trial.outcome.end != "passes":
                break  # the next of these loses more
        prices += sorted(tried, key=_order)[:1]
    return tuple(sorted(prices, key=_order)), judged


def _order(price: RulePrice) -> tuple[bool, float]:
    return bool(price.then), price.loss


def _candidates(
    space: SpaceOfPlans, found: Found, records: RecordsAtHand, bound: float
) -> Mapping[str, list[TrialRecord]]:
    """Rule: the plans that may pass without it, the most promising first."""
    of: dict[str, list[TrialRecord]] = {}
    for rule in _obeyed(records):
        if (trial := _by_levels(space, found)) is not None:
            of.setdefault(rule, []).append(trial)
    fallen = [trial for trial in found.trials if trial.same is None and trial.outcome.end == "fails"]
    for trial in sorted(fallen, key=lambda each: (each.outcome.loss, each.number)):
        rules = {miss.rule for miss in trial.outcome.misses}
        if len(rules) == 1 and trial.outcome.loss < bound:
            of.setdefault(rules.pop(), []).append(trial)
    return of


def _obeyed(records: RecordsAtHand) -> Iterator[str]:
    """The rules of which a search of levels under the policy has a model."""
    yield from dict.fromkeys(
        rule.rule
        for rule in records.policy.rules
        if any(model is not None for _, model in models_of(rule, records.variables))
    )


def _by_levels(space: SpaceOfPlans, found: Found) -> TrialRecord | None:
    """The best plan whose levels are searched under the policy; where none passes, that which came nearest."""

    def searches(trial: TrialRecord) -> bool:
        steps: list[dict[str, Any]] = space.steps(at(trial.point))
        return any(step["method"] == "generalization" and step.get("under") == "policy" for step in steps)

    fallen = [trial for trial in found.trials if trial.same is None and trial.outcome.end == "fails"]
    fallen.sort(key=lambda trial: (trial.outcome.breach, trial.number))
    return next((trial for trial in (*found.passing, *fallen) if searches(trial)), None)
