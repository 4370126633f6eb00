"""What a search came to, in words on the terminal and for machines."""

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.cli.terminal import note, say

if TYPE_CHECKING:
    from tasks.tuning.confirmation import Judgement
    from tasks.tuning.trial import Outcome
    from tasks.tuning.tuning import Tuned


def say_tuned(tuned: "Tuned", output: Path) -> None:
    """On the terminal: what was found, what it keeps, what each rule costs, and how near the nearest came."""
    found, before, after = tuned.found, tuned.before, tuned.after
    say(f"{found.attempts:,} plans tried; {len(found.passing):,} passed in the search.", style="bold")
    if before is not None:
        ended = "passes" if before.outcome.end == "passes" else "does not pass"
        say(f"the plan as it stood {ended}; loss {number(before.outcome.loss)}")
    for trial in found.front:
        say(f"  trial {trial.number}: {_loss_in_words(trial.outcome)}, margin {number(trial.outcome.margin)}")
    for trial, judgements in tuned.confirmation.finalists:
        ends = ", ".join(
            f"{each.outcome.end} on {each.on}" + "".join(f" (by {miss.rule})" for miss in each.outcome.misses[:1])
            for each in judgements
        )
        say(f"  judged again, trial {trial.number} ({_loss_in_words(trial.outcome)}): {ends}")
    if tuned.given_up:
        say(f"  given up: {tuned.given_up} of its steps, without which it passed again and lost less")
    if after is not None:
        say(f"recommended: {_loss_in_words(after)}, margin {number(after.margin)}", style="bold")
        _say_kept(tuned)
        _say_prices(tuned)
        if tuned.warning:
            note(f"note: {tuned.warning}", "yellow")
        say(f"written: {output}. To judge it as a release: sluice check {output}")
        return
    if before is not None and before.outcome.end == "passes":
        say("no plan that passed again with fresh seeds loses less than the plan as it stands.", style="bold")
        _say_prices(tuned)
        return
    say("no plan passed again with fresh seeds. How near the nearest came, rule by rule:", style="bold")
    for rule, (trial, miss) in sorted(found.nearest.items(), key=lambda item: item[1][1].far):
        say(f"  {rule}: trial {trial.number}, {_loss_in_words(trial.outcome)}: {miss.says}")
    _say_prices(tuned)


def _say_kept(tuned: "Tuned") -> None:
    width = max((len(row.says) for row in tuned.kept), default=0)
    if tuned.kept:
        say(f"  {'':{width}}  {'before':>8}  {'after':>8}")
    for row in tuned.kept:
        say(f"  {row.says:{width}}  {row.in_words(row.before):>8}  {row.in_words(row.after):>8}")


def _say_prices(tuned: "Tuned") -> None:
    for price in tuned.prices:
        say(f"  {price.in_words()}")
    if not tuned.prices:
        say("  no plan that was tried would pass, and lose less, without one of the rules.")


def _loss_in_words(outcome: "Outcome") -> str:
    lost = f"loss {number(outcome.loss)}"
    if outcome.kept is None:
        return lost
    return f"{lost} (among {outcome.kept} of {outcome.of} variables {number(outcome.among)})"


def summary(tuned: "Tuned") -> dict[str, Any]:
    """For machines."""
    found, before, after = tuned.found, tuned.before, tuned.after
    return {
        "passed": tuned.winner is not None,
        "trials": found.attempts,
        "passing": len(found.passing),
        "records": {"searched": len(tuned.ground.searched), "all": len(tuned.ground.whole)},
        "seconds": round(sum(trial.outcome.seconds for trial in found.trials if trial.same is None), 1),
        "before": None if before is None else {"end": before.outcome.end, **_loss(before.outcome)},
        "steps_given_up": tuned.given_up,
        "after": None if after is None else {**_loss(after), "margin": finite(after.margin)},
        "kept": {row.name: {"before": finite(row.before), "after": finite(row.after)} for row in tuned.kept},
        "warning": tuned.warning,
        "safer": tuned.safer.number if tuned.is_narrow and tuned.safer else None,
        "prices": [each.model_dump(mode="json") for each in tuned.prices],
        "front": [
            {"trial": each.number, **_loss(each.outcome), "margin": finite(each.outcome.margin)} for each in found.front
        ],
        "finalists": [
            {"trial": trial.number, **_loss(trial.outcome), "judged": [_judged(each) for each in judgements]}
            for trial, judgements in tuned.confirmation.finalists
        ],
        "nearest": {
            rule: {"trial": trial.number, **_loss(trial.outcome), "far": miss.far, "says": miss.says}
            for rule, (trial, miss) in found.nearest.items()
        },
    }


def _judged(judgement: "Judgement") -> dict[str, Any]:
    rules = dict.fromkeys(miss.rule for miss in judgement.outcome.misses)
    return {"on": judgement.on, "end": judgement.outcome.end, "falls_by": list(rules)}


def _loss(outcome: "Outcome") -> dict[str, float | None]:
    """Over all variables, and among those that are kept."""
    return {"loss": finite(outcome.loss), "kept": outcome.kept, "of": outcome.of, "among": finite(outcome.among)}


def finite(value: float) -> float | None:
    """The value; None where there is none, as JSON has no other word for it."""
    return value if isfinite(value) else None


def number(value: float) -> str:
    """The value with three decimals."""
    return f"{value:.3f}" if isfinite(value) else "not known"
