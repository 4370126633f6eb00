"""Why a plan is as it is: what falls without each of its steps, and what became of what the space offered besides."""

from collections.abc import Sequence
from math import isfinite

from pydantic import BaseModel, ConfigDict

from tasks.release.records.definition import RecordsDefinition
from tasks.tuning.found import Found
from tasks.tuning.journal import TrialRecord
from tasks.tuning.ranges import Between, Range, at
from tasks.tuning.records_at_hand import RecordsAtHand
from tasks.tuning.search import refused
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
            return f"{what}, {self.passing} passed, at best with a loss of {self.loss:.3f}"
        fell = f"the nearest fell by {named(self.misses)}" if self.misses else "the nearest lost more than the best"
        return f"{what}, none passed; {fell}"


def reasons_for(
    space: SpaceOfPlans, definition: RecordsDefinition, records: RecordsAtHand, price: float = 0.0
) -> list[Reason]:
    """For each step of the plan, what happens without it. Cost: a trial a step; most stop early.

    price : of the variables that the plan drops, which is in its loss
    """
    found = []
    for index in range(len(definition.plan)):
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
