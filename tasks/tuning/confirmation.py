"""Confirmation: the best plans of a search, judged once more with seeds that no trial had, and the one recommended as a
release definition in YAML, with comments that say why each step is there.

A search that tries many plans finds some that pass by chance. So a plan wins only if it passes on the records that the
search never saw, where there are enough, and on all records, each with a fresh seed, and then by nine of ten other
draws. The release draws another one still, and its gate judges.

The winner is pruned of the steps that cost something and that it passes without. A space may hold no plan without a
step, or no trial had it. A shorter plan takes the winner's place only if it passes what the winner did, judged again
with fresh seeds, on the records that were not searched, and on all; and only if that does not bring it near a limit:
without the step another seed would block the release.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite
from textwrap import wrap
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict

from sluice.documents.document_reading import parse_document, yaml_mapping
from sluice.ground.errors import SluiceError
from tasks.release.records.record_definition import RecordsDefinition
from tasks.tuning.allowance import Allowance
from tasks.tuning.journal import Found, TrialRecord
from tasks.tuning.other_draws import DRAWS, OtherDraws, other_draws
from tasks.tuning.parameter_ranges import at
from tasks.tuning.plan_explanation import Reason, Unchosen, reasons_for
from tasks.tuning.plan_search import price_of
from tasks.tuning.records_at_hand import RecordsAtHand
from tasks.tuning.space import SpaceOfPlans
from tasks.tuning.trial import Outcome, try_plan

_SHORTER = 2_000_000  # of the draw of a fresh seed: no finalist has this number
_NARROW = 0.05  # a margin smaller than that is no gain where the plan had a larger one
_LESS = 0.0005  # a loss smaller by less than that is no reason to give a step up

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
    """The finalists in the order of their loss, and the first that passed each time and has room in other draws; where
    none has, the one that passes by most of them.

    draws  : of the winner; None where there was no time for one. drawn: of all finalists
    judged : how often a plan was judged again; a plan that fell once was not judged further
    """

    finalists: tuple[tuple[TrialRecord, tuple[Judgement, ...]], ...] = ()
    winner: TrialRecord | None = None
    draws: OtherDraws | None = None
    drawn: int = 0

    @property
    def judged(self) -> int:
        return sum(len(judgements) for _, judgements in self.finalists) + self.drawn

    @property
    def of_winner(self) -> tuple[Judgement, ...]:
        """The judgements of the plan that won."""
        return next((judgements for trial, judgements in self.finalists if trial is self.winner), ())


def confirm(
    space: SpaceOfPlans, found: Found, whole: RecordsAtHand, rest: RecordsAtHand | None,
    better_than: float = float("inf"), allowance: Allowance | None = None,
) -> Confirmation:  # fmt: skip
    """Judge the best candidates, until one passes on all it is judged on, and by nine of ten other draws.

    rest        : records that the search did not see; None: all records are judged twice, with two seeds and in two
                  orders
    better_than : candidates that lose as much or more are not looked at
    allowance   : once it is used up, no further candidate is judged; the first one is
    cost        : up to `finalists` times twelve judgements of a release
    """
    finalists: list[tuple[TrialRecord, tuple[Judgement, ...]]] = []
    best: tuple[TrialRecord, OtherDraws] | None = None
    drawn = 0
    candidates = [trial for trial in found.candidates if trial.outcome.loss < better_than]
    for trial in candidates[: space.search.finalists]:
        if finalists and allowance is not None and not allowance.for_judgement:
            break
        definition, price = space.definition(at(trial.point)), price_of(space, trial.point)
        judgements = judged_twice(space, definition, whole, rest, len(finalists), price)
        finalists.append((trial, judgements))
        if not passed_twice(judgements):
            continue
        draws = drawn_again(space, definition, whole, allowance)
        drawn += draws.of
        if best is None or draws.passed * best[1].of > best[1].passed * draws.of:
            best = trial, draws
        if draws.has_room or not draws.of:
            best = trial, draws
            break
    winner, of_winner = best or (None, None)
    return Confirmation(tuple(finalists), winner, of_winner if of_winner and of_winner.of else None, drawn)


def drawn_again(
    space: SpaceOfPlans, definition: RecordsDefinition, whole: RecordsAtHand, allowance: Allowance | None
) -> OtherDraws:
    """Ten draws that no trial had, fewer where two fell or the time is up."""
    return other_draws(
        definition, whole, DRAWS, space.search.seed, space.search.loss, until_known=True,
        time_left=lambda: allowance is None or allowance.for_judgement,
    )  # fmt: skip


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


_WIDTH = 110
_OF_SPACE = ("plan", "may_drop", "dropped_at_first", "search")


class _Plain(yaml.SafeDumper):
    """Writes every alias out: a document of ours has none."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def recommended_yaml(
    written: Mapping[str, Any],
    steps: Sequence[Mapping[str, Any]],
    definition: RecordsDefinition,
    reasons: Sequence[Reason],
    unchosen: Sequence[Unchosen],
    judgements: Sequence[Judgement],
    loss: float,
    head: Sequence[str],
) -> str:
    """The definition, ready to be checked and released.

    written    : the document that the search was given, whose other fields stay as they are
    steps      : the plan as it would be written; definition holds it as a model
    judgements : with fresh seeds, which the plan passed
    loss       : of the plan in the search
    head       : lines of the comment at the top
    raises     : SluiceError where the text, read as a document, is another definition than the one that was judged
    """
    lines = [line for text in head for line in _comment(text)]
    before = {key: value for key, value in written.items() if key not in _OF_SPACE}
    last = ("target", "schedule", "trigger")
    after: dict[str, Any] = {key: before.pop(key) for key in last if key in before}
    lines += [_yaml(before).rstrip(), "plan:"]
    for index, step in enumerate(steps):
        lines += _comment(definition.plan[index].describe(), "  ")
        lines += [line for each in reasons if each.step == index for line in _comment(each.in_words(loss), "  ")]
        body = yaml.dump(
            _as_plain(step), Dumper=_Plain, sort_keys=False, default_flow_style=None, allow_unicode=True, width=_WIDTH
        )
        first, *rest = body.rstrip().splitlines()
        lines += [f"  - {first}", *(f"    {line}" for line in rest)]
    lines.append(_yaml(after).rstrip())
    if judgements:
        on = ", ".join(f"{each.on} ({each.records:,})" for each in judgements)
        lines += _comment(f"Passed with seeds that the search did not use, on {on}.")
    if unchosen:
        lines += _comment("What else was tried:")
        lines += [line for each in unchosen for line in _comment(f"- {each.in_words()}")]
    text = "\n".join(line for line in lines if line) + "\n"
    _refuse_another(text, written, definition)
    return text


def plan_yaml(steps: Sequence[Mapping[str, Any]], definition: RecordsDefinition) -> str:
    """A plan alone, as it stands in a definition, which holds it as a model. Raises SluiceError as above."""
    text = _yaml({"plan": list(steps)})
    _refuse_another(text, {}, definition)
    return text


def _refuse_another(text: str, written: Mapping[str, Any], definition: RecordsDefinition) -> None:
    """Raise SluiceError for a text that, read again, does not give the definition's plan and the fields as written."""
    name = "the plan as it would be written"
    read = yaml_mapping(text, name)
    content = definition.model_dump(mode="json", exclude={"plan"}, exclude_none=True) | {"plan": read.pop("plan", None)}
    again = parse_document(RecordsDefinition, content, name)
    kept = {key: value for key, value in written.items() if key not in _OF_SPACE}
    if again.plan != definition.plan or _as_plain(read) != _as_plain(kept):
        raise SluiceError(f"{name} is another one when it is read again, so nothing is written. Please report this.")


def _yaml(content: Mapping[str, Any]) -> str:
    if not content:
        return ""
    return yaml.dump(_as_plain(content), Dumper=_Plain, sort_keys=False, allow_unicode=True, width=_WIDTH)


def _as_plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _as_plain(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return [_as_plain(part) for part in value]
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _comment(text: str, indent: str = "") -> list[str]:
    return [f"{indent}# {line}" for line in wrap(" ".join(text.split()), _WIDTH)]


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


def unpruned(definition: RecordsDefinition, judgements: Sequence[Judgement], loss: float) -> Pruned:
    """The plan with all of its steps, and nothing known of what it would be without one."""
    return Pruned(definition, tuple(range(len(definition.plan))), (), tuple(judgements), loss)


def pruned(
    space: SpaceOfPlans,
    definition: RecordsDefinition,
    judgements: Sequence[Judgement],
    loss: float,
    price: float,
    searched: RecordsAtHand,
    whole: RecordsAtHand,
    rest: RecordsAtHand | None,
    allowance: Allowance | None = None,
) -> Pruned:
    """Give up step after step, the one that costs most first. `allowance`: no step more once it is used up.

    judgements : which the plan passed; loss: of it in the search; price: of the variables that it drops, in the loss
    cost       : a trial a step, most of which stop early, and two judgements of a release for each step that can go
    """
    best = unpruned(definition, judgements, loss)
    while True:
        reasons = tuple(reasons_for(space, best.definition, searched, price, allowance))
        best = replace(best, reasons=reasons, trials=best.trials + len(reasons))
        spare = [each for each in reasons if each.outcome.end == "passes" and each.outcome.loss < best.loss - _LESS]
        for reason in sorted(spare, key=lambda each: each.outcome.loss):
            if allowance is not None and not allowance.for_judgement:
                return best
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
