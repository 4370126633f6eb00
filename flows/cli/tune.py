"""The command that searches for the plan that passes its policy at the least loss, and what it found."""

from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flows.cli.terminal import BLOCKED, DONE, INTERRUPTED, AsJson, duration, err, note, print_json, say
from sluice.ground.log import is_written
from sluice.settings import settings

if TYPE_CHECKING:
    from tasks.tuning.allowance import Allowance
    from tasks.tuning.confirmation import Judgement
    from tasks.tuning.journal import TrialRecord
    from tasks.tuning.suggestions import Suggestions
    from tasks.tuning.trial import Outcome
    from tasks.tuning.tuning import Tuned

tune_app = typer.Typer()


@tune_app.command()
def tune(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="a release definition, with ranges in its plan or none")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="where to write the plan; else FILE with -tuned in its name")
    ] = None,
    trials: Annotated[int | None, typer.Option("--trials", min=1, help="how many plans are tried at most")] = None,
    minutes: Annotated[float | None, typer.Option("--minutes", help="in all, with the last judgement")] = None,
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
    from tasks.tuning.allowance import Allowance, stopping
    from tasks.tuning.search_context import open_ground
    from tasks.tuning.tuning import output_of, plan_of_trial, write
    from tasks.tuning.tuning import tune as search

    allowance = Allowance(minutes)
    chosen = output_of(file, output) if trial is None else file
    ground = open_ground(file, trials=trials, minutes=minutes, seed=seed, people=people, drafted=draft)
    if trial is not None:
        typer.echo(plan_of_trial(ground, trial), nl=False)
        raise typer.Exit(DONE)
    quiet = is_written() or as_json
    if not quiet:
        what = "drafted from contract and policy" if ground.drafted else "as the definition leaves it open"
        note(f"space {what}; up to {ground.space.search.trials:,} plans on {len(ground.searched):,} records")
    with stopping(allowance):
        tuned = search(
            ground,
            workers or settings().workers,
            None if quiet else _Shown(ground.space.search.trials, allowance),
            (lambda text: None) if quiet else (lambda text: note(text)),
            allowance,
        )
    if tuned.winner is not None:
        write(tuned, chosen)
    if as_json:
        print_json(summary(tuned) | {"output": str(chosen) if tuned.winner else None})
    else:
        say_tuned(tuned, chosen)
    raise typer.Exit(INTERRUPTED if tuned.stopped else DONE if tuned.winner else BLOCKED)


@tune_app.command()
def suggest(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="the definition of a release that was blocked")],
    trials: Annotated[int, typer.Option("--trials", min=1, help="how many changes are tried at most")] = 200,
    minutes: Annotated[float | None, typer.Option("--minutes", help="in all, with the last judgements")] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="the same gives the same suggestions")] = 1,
    workers: Annotated[int | None, typer.Option("--workers", min=1, help="processes; else SLUICE_WORKERS")] = None,
    as_json: AsJson = False,
) -> None:
    """Name the smallest changes of a blocked plan that would pass, each tried. The next report on it has them."""
    from tasks.tuning.allowance import Allowance, stopping
    from tasks.tuning.plan_loss import number
    from tasks.tuning.space import SearchSettings
    from tasks.tuning.suggestions import suggest_for
    from tasks.tuning.trial import STAGES

    quiet = is_written() or as_json
    allowance = Allowance(minutes)
    with stopping(allowance):
        found = suggest_for(
            file,
            SearchSettings(trials=trials, seed=seed),
            workers or settings().workers,
            (lambda done, of, passing: None) if quiet else _ShownChanges(allowance),
            allowance,
        )
    before = found.before
    if as_json:
        suggested = [{"changes": each.changes, "loss": finite(each.loss)} for each in found.passing]
        drawn = None if found.draws is None else {"passed": found.draws[0], "of": found.draws[1]}
        print_json(
            {"passes": before.end == "passes", "loss": finite(before.loss), "suggestions": suggested}
            | {"judged": found.judged or None, "other_draws": drawn, "beyond": list(found.beyond)}
            | {"stopped": found.stopped, "tried": found.tried, "untried": found.untried}
            | {"passed_once": [list(each) for each in found.once]}
        )
    elif before.end == "passes":
        judged = f"{found.judged} passed" if found.judged else "no release of it was judged; this is a draw of its own"
        judged += f"; by {found.draws[0]} of {found.draws[1]} others, too" if found.draws and found.draws[1] else ""
        say(f"the plan passes as it stands; nothing has to be changed ({judged}).")
    elif found.beyond and not found.tried:
        say(_beyond(found), style="bold")
    else:
        fell = ", ".join(dict.fromkeys(miss.rule for miss in before.misses))
        ended = "stopped: " if found.stopped else ""
        tried = f"{found.tried:,} changes tried"
        say(f"{ended}the plan does not meet {fell}; loss {number(before.loss)}. {tried}.", style="bold")
        for line in _too_near(found):
            say(line)
        if found.beyond:
            say(f"  {_beyond(found)}")
        if before.stage in STAGES[: STAGES.index("attacks")]:
            say("  these rules come first: what the reference standard and attacks would find of it is not known.")
        for place, each in enumerate(found.passing, 1):
            say(f"  {place}. {each.in_words(before.loss)}")
        if found.passing:
            these, one = ("each of these", "one") if len(found.passing) > 1 else ("it", "it")
            say(f"{these} passed when it was tried. Put {one} into the plan, then: sluice check {file}")
        elif not found.once:
            say("none of them passes.")
        if found.untried:
            how = {1: "single changes", 2: "changes of two at once"}.get(found.together, "changes of three at once")
            say(f"  {found.untried:,} more {how} were not tried, for lack of time; --minutes gives more", "yellow")
        for words in found.once:
            say(f"  passed once, no time to try it again: {'; and '.join(words)}")
        if found.once and not found.passing:
            say("none is known to pass by other draws, too: give more --minutes, or put one in and check it.")
        if not found.passing and not found.once and found.nearest is not None:
            done, outcome = found.nearest
            says = " ".join(miss.says for miss in outcome.misses[:2])
            say(f"  nearest: {'; and '.join(done)}. Then: {says}")
            say(f"a search of more plans: sluice tune {file}")
    ended_well = DONE if before.end == "passes" or found.passing else BLOCKED
    raise typer.Exit(INTERRUPTED if found.stopped else ended_well)


def _beyond(found: "Suggestions") -> str:
    return f"{found.judged} is kept back by {', '.join(found.beyond)}, at which no trial of a plan looks."


def _too_near(found: "Suggestions") -> Iterator[str]:
    """By how much a release fell whose plan passes by other draws, a line for each figure; and by how many of them."""
    from sluice.report.wording import figure

    if found.draws is None:
        return
    for miss in found.before.misses:
        if miss.observed is not None and miss.limit is not None:
            what = found.judged or "another draw"
            yield f"  {miss.rule}: {what} fell at {figure(miss.observed)} of {figure(miss.limit)} allowed."
        else:
            yield f"  {miss.rule}: {miss.says}"
    passed, of = found.draws
    yield f"  {passed} of {of} other draws pass: it is too near its limit."


class _Pace:
    """How long so many trials take that are still to come, by those of this run."""

    def __init__(self, of: int) -> None:
        self._of, self._begun, self._first = of, monotonic(), -1

    def left(self, done: int) -> str:
        """In words, at most; '' before anything is known."""
        if self._first < 0:
            self._begun, self._first = monotonic(), done  # what a journal knew took no time
        new = done - self._first
        if new < 1 or done >= self._of:
            return ""
        return f"; at most {duration((monotonic() - self._begun) / new * (self._of - done))} left"


class _ShownChanges:
    """A line now and then. How long still is known where the time is limited: how many changes will be taken together,
    and so how many there are to try, follows from those that are tried."""

    def __init__(self, allowance: "Allowance") -> None:
        self._allowance = allowance

    def __call__(self, done: int, of: int, passing: int) -> None:
        allowed = self._allowance.left
        left = f"; at most {duration(max(allowed, 0))} left for all" if isfinite(allowed) else ""
        err.print(f"  {done:>5} of {of} changes tried, {passing} pass{left}", style="dim")


class _Shown(_Pace):
    """One line for each trial, with the best so far."""

    def __init__(self, of: int, allowance: "Allowance") -> None:
        super().__init__(of)
        self._allowance = allowance

    def left(self, done: int) -> str:
        """In words, at most: for the search alone, where nothing limits the time for all of it."""
        allowed = self._allowance.left
        return f"; at most {duration(max(allowed, 0))} left for all" if isfinite(allowed) else super().left(done)

    def __call__(self, trial: "TrialRecord", best: "TrialRecord | None") -> None:
        outcome = trial.outcome
        why = outcome.misses[0].says.rstrip(".") if outcome.misses else ""
        ended = {
            "passes": "passes",
            "dearer": "loses more than the best",
            "refused": f"cannot be carried out: {why}",
        }
        what = ended.get(outcome.end) or f"fails {', '.join(dict.fromkeys(m.rule for m in outcome.misses))}"
        if trial.same is not None:
            what += f" (as trial {trial.same})"
        from tasks.tuning.plan_loss import number

        lost = number(best.outcome.loss) if best else "none passes yet"
        among = f", {outcome.among:.3f} among them" if isfinite(outcome.among) else ""
        kept = "" if outcome.kept is None else f" (kept {outcome.kept} of {outcome.of}{among})"
        says = f"loss {number(outcome.loss)}{kept}  {what}; best {lost}{self.left(trial.number + 1)}"
        err.print(f"  {trial.number:>5}  {says}", style="dim", soft_wrap=True)


def say_tuned(tuned: "Tuned", output: Path) -> None:
    """On the terminal: what was found, what it keeps, what each rule costs, and how near the nearest came."""
    from tasks.tuning.plan_loss import number

    found, before, after = tuned.found, tuned.before, tuned.after
    tried = f"{found.attempts:,} of at most {tuned.planned:,} plans tried"
    ended = "stopped: " if tuned.stopped else ""
    say(f"{ended}{tried}; {len(found.passing):,} passed in the search.", style="bold")
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
        if tuned.draws is not None:
            say(f"  {tuned.draws.says}", "yellow" if tuned.draws.stopped_by else None)
        if tuned.warning:
            note(f"note: {tuned.warning}", "yellow")
        say(f"written: {output}. To judge it as a release: sluice check {output}")
        return
    if tuned.stopped:
        _say_stopped(tuned)
        return
    if before is not None and before.outcome.end == "passes":
        say("no plan that passed again with fresh seeds loses less than the plan as it stands.", style="bold")
        _say_prices(tuned)
        return
    say("no plan passed again with fresh seeds. How near the nearest came, rule by rule:", style="bold")
    _say_nearest(tuned)
    _say_prices(tuned)


def _say_stopped(tuned: "Tuned") -> None:
    """Of a search that ended before its best plan was judged again."""
    if (best := tuned.found.best) is not None:
        say(f"the best, trial {best.number}, was not judged again, so no definition is written. To see its plan:")
        say(f"  sluice tune {tuned.ground.path} --trial {best.number}")
    else:
        say("none passed until then. How near the nearest came, rule by rule:")
        _say_nearest(tuned)


def _say_nearest(tuned: "Tuned") -> None:
    for rule, (trial, miss) in sorted(tuned.found.nearest.items(), key=lambda item: item[1][1].far):
        say(f"  {rule}: trial {trial.number}, {_loss_in_words(trial.outcome)}: {miss.says}")


def _say_kept(tuned: "Tuned") -> None:
    width = max((len(row.says) for row in tuned.kept), default=0)
    if tuned.kept:
        say(f"  {'':{width}}  {'before':>8}  {'after':>8}")
    for row in tuned.kept:
        say(f"  {row.says:{width}}  {row.in_words(row.before):>8}  {row.in_words(row.after):>8}")


def _say_prices(tuned: "Tuned") -> None:
    for price in tuned.prices:
        say(f"  {price.in_words()}")
    if not tuned.priced:
        say("  what each rule costs was not asked: there was no time left for it.")
    elif not tuned.prices:
        say("  no plan that was tried would pass, and lose less, without one of the rules.")


def _loss_in_words(outcome: "Outcome") -> str:
    from tasks.tuning.plan_loss import number

    lost = f"loss {number(outcome.loss)}"
    if outcome.kept is None:
        return lost
    return f"{lost} (among {outcome.kept} of {outcome.of} variables {number(outcome.among)})"


def summary(tuned: "Tuned") -> dict[str, Any]:
    """For machines."""
    found, before, after = tuned.found, tuned.before, tuned.after
    return {
        "passed": tuned.winner is not None,
        "stopped": tuned.stopped,
        "planned": tuned.planned,
        "trials": found.attempts,
        "passing": len(found.passing),
        "records": {"searched": len(tuned.ground.searched), "all": len(tuned.ground.whole)},
        "seconds": round(sum(trial.outcome.seconds for trial in found.trials if trial.same is None), 1),
        "before": None if before is None else {"end": before.outcome.end, **_loss(before.outcome)},
        "steps_given_up": tuned.given_up,
        "after": None if after is None else {**_loss(after), "margin": finite(after.margin)},
        "kept": {row.name: {"before": finite(row.before), "after": finite(row.after)} for row in tuned.kept},
        "other_draws": None if tuned.draws is None else tuned.draws.as_json(),
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
