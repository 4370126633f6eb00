"""The price of a rule: what the best plan that fails this rule alone loses less than the best that passes.

A trial stops at the first stage that says no, and what comes after is not known of it. So the plan is judged again
as if the rule were not there; only one that passes then tells a price. A search of levels that obeys the policy makes
no plan that fails its rules: there the best plan is tried with levels that need not obey the rule.
"""

from collections.abc import Iterator, Mapping
from math import inf, isfinite
from typing import Any

from pydantic import BaseModel, ConfigDict

from policies.models_of_rules import models_of
from tasks.tuning.explanation import named
from tasks.tuning.found import Found
from tasks.tuning.journal import TrialRecord
from tasks.tuning.ranges import at
from tasks.tuning.records_at_hand import RecordsAtHand
from tasks.tuning.search import outcome_at
from tasks.tuning.space import SpaceOfPlans

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
    space: SpaceOfPlans, found: Found, records: RecordsAtHand, whole: RecordsAtHand | None = None, bound: float = inf
) -> tuple[tuple[RulePrice, ...], int]:
    """What each rule costs, the dearest first and those that cost nothing last, and how many plans were judged for it.

    whole : all records, where `records` are a part of them
    bound : the loss of the best plan that passes; infinite where none does
    cost  : up to two trials a rule; none for one by which no plan falls alone, and which no search of levels obeys
    """
    prices, judged = [], 0
    for rule, candidates in _candidates(space, found, records, bound).items():
        tried: list[RulePrice] = []
        for trial in candidates[:_MOST]:
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
