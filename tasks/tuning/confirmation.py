"""Confirmation: the best plans of a search, judged once more with seeds that no trial had.

A search that tries many plans finds some that pass by luck of the dice. So a plan wins only if it passes on the records
that the search never saw, where there are enough, and on all records, each with a fresh seed. The release draws another
one still, and its gate judges.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from tasks.release.records.definition import RecordsDefinition
from tasks.tuning.found import Found
from tasks.tuning.journal import TrialRecord
from tasks.tuning.ranges import at
from tasks.tuning.records_at_hand import RecordsAtHand
from tasks.tuning.search import price_of
from tasks.tuning.space import SpaceOfPlans
from tasks.tuning.trial import Outcome, try_plan

_FRESH = 2**42  # of the search's seed: no trial and no sampler has such a number
_ORDER = 2  # of a draw: after its two turns


class Judgement(BaseModel):
    """What became of a plan on some records, with a fresh seed."""

    model_config = ConfigDict(frozen=True, ser_json_inf_nan="constants")

    on: str
    records: int
    outcome: Outcome


@dataclass(frozen=True)
class Confirmation:
    """The finalists in the order of their loss, and the first that passed each time.

    judged : how often a plan was judged again; a plan that fell once was not judged further
    """

    finalists: tuple[tuple[TrialRecord, tuple[Judgement, ...]], ...] = ()
    winner: TrialRecord | None = None

    @property
    def judged(self) -> int:
        return sum(len(judgements) for _, judgements in self.finalists)

    @property
    def of_winner(self) -> tuple[Judgement, ...]:
        """The judgements of the plan that won."""
        return self.finalists[-1][1] if self.winner else ()


def confirm(
    space: SpaceOfPlans, found: Found, whole: RecordsAtHand, rest: RecordsAtHand | None,
    better_than: float = float("inf"),
) -> Confirmation:  # fmt: skip
    """Judge the best candidates, until one passes on all it is judged on.

    rest        : records that the search did not see; None: all records are judged twice, with two seeds and in two
                  orders
    better_than : candidates that lose as much or more are not looked at
    cost        : up to `finalists` times two judgements of a release
    """
    finalists: list[tuple[TrialRecord, tuple[Judgement, ...]]] = []
    candidates = [trial for trial in found.candidates if trial.outcome.loss < better_than]
    for trial in candidates[: space.search.finalists]:
        definition, price = space.definition(at(trial.point)), price_of(space, trial.point)
        judgements = judged_twice(space, definition, whole, rest, len(finalists), price)
        finalists.append((trial, judgements))
        if passed_twice(judgements):
            return Confirmation(tuple(finalists), trial)
    return Confirmation(tuple(finalists))


def judged_twice(
    space: SpaceOfPlans, definition: RecordsDefinition, whole: RecordsAtHand, rest: RecordsAtHand | None, draw: int,
    price: float,
) -> tuple[Judgement, ...]:  # fmt: skip
    """One plan on the records that were not searched, or on all, and then on all again; no further where it falls.

    All records are judged in another order first. Methods break ties by it: of a hundred plans some pass by how the
    ties fell in these records, which will fall otherwise in the next edition.
    """
    judgements: list[Judgement] = []
    others = rest or whole.in_another_order(fresh_seed(space, (draw, _ORDER)))
    for turn, records in enumerate((others, whole)):
        judgements.append(judged_afresh(space, definition, records, (draw, turn), price))
        if judgements[-1].outcome.end != "passes":
            break
    return tuple(judgements)


def passed_twice(judgements: Sequence[Judgement]) -> bool:
    """Whether none of both judgements said no."""
    return len(judgements) == 2 and all(each.outcome.end == "passes" for each in judgements)


def fresh_seed(space: SpaceOfPlans, draw: Sequence[int]) -> tuple[int, ...]:
    """A seed that no trial had; `draw` tells such seeds apart."""
    return (space.search.seed, _FRESH, *draw)


def judged_afresh(
    space: SpaceOfPlans, definition: RecordsDefinition, records: RecordsAtHand, draw: Sequence[int], price: float = 0.0
) -> Judgement:
    """One plan on some records with a seed that no trial had; `draw` tells such seeds apart."""
    outcome = try_plan(definition, records, fresh_seed(space, draw), space.search.loss, price)
    return Judgement(on=records.name, records=len(records), outcome=outcome)
