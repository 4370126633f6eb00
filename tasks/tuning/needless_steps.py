"""Pruning: the winner of a search without the steps that cost something and that it passes without.

A space may hold no plan without a step, or no trial had it. A shorter plan takes the winner's place only if it passes
what the winner did, judged again with fresh seeds, on the records that were not searched, and on all; and only if that
does not bring it near a limit: without the step another seed would block the release.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import isfinite

from tasks.release.records.definition import RecordsDefinition
from tasks.tuning.confirmation import Judgement, judged_twice, passed_twice
from tasks.tuning.plan_explanation import Reason, reasons_for
from tasks.tuning.records_at_hand import RecordsAtHand
from tasks.tuning.space import SpaceOfPlans

_SHORTER = 2_000_000  # of the draw of a fresh seed: no finalist has this number
_NARROW = 0.05  # a margin smaller than that is no gain where the plan had a larger one
_LESS = 0.0005  # a loss smaller by less than that is no reason to give a step up


@dataclass(frozen=True)
class Pruned:
    """What is left of a plan.

    kept       : the places of its steps in the plan that was given
    reasons    : what becomes of it without each of them
    judgements : with fresh seeds, which it passed
    loss       : on the records searched
    trials     : how many shorter plans were tried; judged: how often one was judged with a fresh seed
    """

    definition: RecordsDefinition
    kept: tuple[int, ...]
    reasons: tuple[Reason, ...]
    judgements: tuple[Judgement, ...]
    loss: float
    trials: int = 0
    judged: int = 0

    @property
    def margin(self) -> float:
        """The smaller of both judgements; 1 where nothing that a seed moves was held to a limit."""
        return _margin(self.judgements)


def pruned(
    space: SpaceOfPlans,
    definition: RecordsDefinition,
    judgements: Sequence[Judgement],
    loss: float,
    price: float,
    searched: RecordsAtHand,
    whole: RecordsAtHand,
    rest: RecordsAtHand | None,
) -> Pruned:
    """Give up step after step, the one that costs most first.

    judgements : which the plan passed; loss: of it in the search; price: of the variables that it drops, in the loss
    cost       : a trial a step, most of which stop early, and two judgements of a release for each step that can go
    """
    best = Pruned(definition, tuple(range(len(definition.plan))), (), tuple(judgements), loss)
    while True:
        reasons = tuple(reasons_for(space, best.definition, searched, price))
        best = replace(best, reasons=reasons, trials=best.trials + len(reasons))
        spare = [each for each in reasons if each.outcome.end == "passes" and each.outcome.loss < best.loss - _LESS]
        for reason in sorted(spare, key=lambda each: each.outcome.loss):
            left = [at for at in range(len(best.kept)) if at != reason.step]
            plan = tuple(best.definition.plan[at] for at in left)
            shorter = best.definition.model_copy(update={"plan": plan})
            again = judged_twice(space, shorter, whole, rest, _SHORTER + best.judged, price)
            best = replace(best, judged=best.judged + len(again))
            if passed_twice(again) and _margin(again) >= min(_NARROW, _margin(best.judgements)):
                kept = tuple(best.kept[at] for at in left)
                best = replace(best, definition=shorter, kept=kept, judgements=again, loss=reason.outcome.loss)
                break
        else:
            return best


def _margin(judgements: Sequence[Judgement]) -> float:
    """The smaller of both; 1 where nothing that a seed moves was held to a limit."""
    return min(each.outcome.margin if isfinite(each.outcome.margin) else 1.0 for each in judgements)
