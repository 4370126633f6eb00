"""The command that searches for the plan that passes its policy at the least loss."""

from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flows.cli.terminal import BLOCKED, DONE, AsJson, err, note, print_json, say
from sluice.log import is_written
from sluice.settings import settings

if TYPE_CHECKING:
    from tasks.tuning.confirmation import Judgement
    from tasks.tuning.journal import TrialRecord
    from tasks.tuning.tuning import Tuned

tune_app = typer.Typer()


@tune_app.command()
def tune(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="a release definition, with ranges in its plan or none")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="where to write the plan; else FILE with -tuned in its name")
    ] = None,
    trials: Annotated[int | None, typer.Option("--trials", min=1, help="how many plans are tried at most")] = None,
    minutes: Annotated[float | None, typer.Option("--minutes", help="after which no new plan is tried")] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", min=0, help="of the search; the same gives the same trials")
    ] = None,
    people: Annotated[float | None, typer.Option("--people", help="share of the records to try plans on")] = None,
    workers: Annotated[int | None, typer.Option("--workers", min=1, help="processes; else SLUICE_WORKERS")] = None,
    draft: Annotated[bool, typer.Option("--draft", help="draft the space, whatever FILE leaves open")] = False,
    trial: Annotated[
        int | None, typer.Option("--trial", min=0, help="search no further; print the plan of this trial")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Find the plan that passes its policy at the least loss. Publishes nothing; the trials are recorded as such."""
    from tasks.tuning.tuning import open_ground, output_of, plan_of_trial, write
    from tasks.tuning.tuning import tune as search

    chosen = output_of(file, output) if trial is None else file
    ground = open_ground(file, trials=trials, minutes=minutes, seed=seed, people=people, drafted=draft)
    if trial is not None:
        typer.echo(plan_of_trial(ground, trial), nl=False)
        raise typer.Exit(DONE)
    quiet = as_json or is_written()
    if not quiet:
        what = "drafted from contract and policy" if ground.drafted else "as the definition leaves it open"
        note(f"space {what}; up to {ground.space.search.trials:,} plans on {len(ground.searched):,} records")
    tuned = search(
        ground,
        workers or settings().workers,
        None if quiet else _show,
        (lambda text: None) if quiet else (lambda text: note(text)),
    )
    if tuned.winner is not None:
        write(tuned, chosen)
    if as_json:
        print_json(summary(tuned) | {"output": str(chosen) if tuned.winner else None})
    else:
        _say(tuned, chosen)
    raise typer.Exit(DONE if tuned.winner else BLOCKED)


@tune_app.command()
def suggest(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="the definition of a release that was blocked")],
    trials: Annotated[int, typer.Option("--trials", min=1, help="how many changes are tried at most")] = 200,
    seed: Annotated[int, typer.Option("--seed", min=0, help="the same gives the same suggestions")] = 1,
    workers: Annotated[int | None, typer.Option("--workers", min=1, help="processes; else SLUICE_WORKERS")] = None,
    as_json: AsJson = False,
) -> None:
    """Name the smallest changes of a blocked plan that would pass, each tried. The next report on it has them."""
    from tasks.tuning.blocked import suggest_for
    from tasks.tuning.space import SearchSettings

    quiet = as_json or is_written()
    found = suggest_for(
        file,
        SearchSettings(trials=trials, seed=seed),
        workers or settings().workers,
        (lambda done, passing: None) if quiet else _show_changes,
    )
    before = found.before
    if as_json:
        suggested = [{"changes": each.changes, "loss": _finite(each.loss)} for each in found.passing]
        print_json({"passes": before.end == "passes", "loss": _finite(before.loss), "suggestions": suggested})
    elif before.end == "passes":
        say("the plan passes as it stands; nothing has to be changed.")
    else:
        fell = ", ".join(dict.fromkeys(miss.rule for miss in before.misses))
        say(f"the plan falls by {fell}; loss {_number(before.loss)}. {found.tried:,} changes tried.", style="bold")
        for number, each in enumerate(found.passing, 1):
            say(f"  {number}. {each.in_words(before.loss)}")
        if not found.passing:
            say("none of them passes.")
        if not found.passing and found.nearest is not None:
            done, outcome = found.nearest
            says = " ".join(miss.says for miss in outcome.misses[:2])
            say(f"  nearest: {'; and '.join(done)}. Then: {says}")
            say(f"a search of more plans: sluice tune {file}")
    raise typer.Exit(DONE if before.end == "passes" or found.passing else BLOCKED)


def _show_changes(done: int, passing: int) -> None:
    err.print(f"  {done:>5} changes tried, {passing} pass", style="dim")


def _show(trial: "TrialRecord", best: "TrialRecord | None") -> None:
    """One line for each trial, with the best so far."""
    outcome = trial.outcome
    why = outcome.misses[0].says.rstrip(".") if outcome.misses else ""
    ended = {"passes": "passes", "dearer": "loses more than the best", "refused": f"cannot be carried out: {why}"}
    what = ended.get(outcome.end) or f"falls by {', '.join(dict.fromkeys(m.rule for m in outcome.misses))}"
    if trial.same is not None:
        what += f" (as trial {trial.same})"
    lost = f"{best.outcome.loss:.3f}" if best else "none passes yet"
    err.print(f"  {trial.number:>5}  loss {outcome.loss:.3f}  {what}; best {lost}", style="dim", soft_wrap=True)


def _say(tuned: "Tuned", output: Path) -> None:
    found, before, after = tuned.found, tuned.before, tuned.after
    say(f"{found.attempts:,} plans tried; {len(found.passing):,} passed in the search.", style="bold")
    if before is not None:
        ended = "passes" if before.outcome.end == "passes" else "does not pass"
        say(f"the plan as it stood {ended}; loss {_number(before.outcome.loss)}")
    for trial in found.front:
        say(f"  trial {trial.number}: loss {trial.outcome.loss:.3f}, margin {_number(trial.outcome.margin)}")
    for trial, judgements in tuned.confirmation.finalists:
        ends = ", ".join(
            f"{each.outcome.end} on {each.on}" + "".join(f" (by {miss.rule})" for miss in each.outcome.misses[:1])
            for each in judgements
        )
        say(f"  judged again, trial {trial.number}: {ends}")
    if tuned.given_up:
        say(f"  given up: {tuned.given_up} of its steps, without which it passed again and lost less")
    if after is not None:
        say(f"recommended: loss {after.loss:.3f}, margin {_number(after.margin)}", style="bold")
        say(f"written: {output}. To judge it as a release: sluice check {output}")
        return
    if before is not None and before.outcome.end == "passes":
        say("no plan that passed again with fresh seeds loses less than the plan as it stands.", style="bold")
        return
    say("no plan passed again with fresh seeds. How near the nearest came, rule by rule:", style="bold")
    for rule, (trial, miss) in sorted(found.nearest.items(), key=lambda item: item[1][1].far):
        say(f"  {rule}: trial {trial.number}, loss {_number(trial.outcome.loss)}: {miss.says}")


def summary(tuned: "Tuned") -> dict[str, Any]:
    """For machines."""
    found, before, after = tuned.found, tuned.before, tuned.after
    return {
        "passed": tuned.winner is not None,
        "trials": found.attempts,
        "passing": len(found.passing),
        "records": {"searched": len(tuned.ground.searched), "all": len(tuned.ground.whole)},
        "seconds": round(sum(trial.outcome.seconds for trial in found.trials if trial.same is None), 1),
        "before": None if before is None else {"end": before.outcome.end, "loss": _finite(before.outcome.loss)},
        "steps_given_up": tuned.given_up,
        "after": None if after is None else {"loss": _finite(after.loss), "margin": _finite(after.margin)},
        "front": [
            {"trial": each.number, "loss": _finite(each.outcome.loss), "margin": _finite(each.outcome.margin)}
            for each in found.front
        ],
        "finalists": [
            {"trial": trial.number, "judged": [_judged(each) for each in judgements]}
            for trial, judgements in tuned.confirmation.finalists
        ],
        "nearest": {
            rule: {"trial": trial.number, "loss": _finite(trial.outcome.loss), "far": miss.far, "says": miss.says}
            for rule, (trial, miss) in found.nearest.items()
        },
    }


def _judged(judgement: "Judgement") -> dict[str, Any]:
    rules = dict.fromkeys(miss.rule for miss in judgement.outcome.misses)
    return {"on": judgement.on, "end": judgement.outcome.end, "falls_by": list(rules)}


def _finite(value: float) -> float | None:
    return value if isfinite(value) else None


def _number(value: float) -> str:
    return f"{value:.3f}" if isfinite(value) else "not known"
