"""`sluice tune`: from a definition to the plan that passes its policy at the least loss, or to why none does."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from math import isfinite
from pathlib import Path
from typing import Any

from sluice.custody.shelf import refuse_to_overwrite
from sluice.ground import durable
from sluice.ground.errors import DataError, DocumentError
from sluice.ground.variables import Variables
from tasks.release.documented_release import StagedTable
from tasks.release.editions.earlier_releases import kept_variables
from tasks.release.editions.recorded_searches import record_begun, record_ended
from tasks.release.records.record_product import Records
from tasks.tuning.allowance import Allowance
from tasks.tuning.confirmation import (
    Confirmation,
    Judgement,
    Pruned,
    confirm,
    drawn_again,
    fresh_seed,
    judged_afresh,
    plan_yaml,
    pruned,
    recommended_yaml,
    unpruned,
)
from tasks.tuning.journal import Found, Journal, TrialRecord
from tasks.tuning.kept_searches import Kept, KeptRow, kept_by, kept_rows
from tasks.tuning.other_draws import OtherDraws
from tasks.tuning.parameter_ranges import at
from tasks.tuning.plan_explanation import RulePrice, Unchosen, rule_prices, unchosen
from tasks.tuning.plan_loss import number
from tasks.tuning.plan_search import Search, Told, price_of
from tasks.tuning.search_context import Ground
from tasks.tuning.trial import Outcome

NARROW = 0.02  # a margin below it may be used up by the next seed


@dataclass(frozen=True)
class Tuned:
    """What a search came to. Aggregates, names and settings.

    draws   : by how many other draws the recommended plan passes; None where there was no time for one
    priced  : whether it was asked what each rule costs; there may have been no time for it
    stopped : whether somebody stopped it
    """

    ground: Ground
    found: Found
    confirmation: Confirmation
    before: Judgement | None
    left: Pruned | None = None
    unchosen: tuple[Unchosen, ...] = ()
    prices: tuple[RulePrice, ...] = ()
    kept_before: Kept | None = None
    kept_after: Kept | None = None
    draws: OtherDraws | None = None
    text: str = ""
    priced: bool = False
    stopped: bool = False

    @property
    def winner(self) -> TrialRecord | None:
        return self.confirmation.winner

    @property
    def planned(self) -> int:
        """How many plans were to be tried at most."""
        return self.ground.space.search.trials

    @property
    def given_up(self) -> int:
        """How many of the winner's steps the recommended plan does without."""
        if self.left is None or self.winner is None:
            return 0
        return len(self.ground.space.steps(at(self.winner.point))) - len(self.left.kept)

    @property
    def after(self) -> Outcome | None:
        """The judgement of the recommended plan, the winner or what is left of it, on all records."""
        return self.left.judgements[-1].outcome if self.left else None

    @property
    def kept(self) -> list[KeptRow]:
        """What the recommended plan keeps beside what the plan as it stood kept."""
        return [] if self.kept_after is None else kept_rows(self.kept_before, self.kept_after)

    @property
    def is_narrow(self) -> bool:
        """Whether the recommended plan comes so near to a limit that another seed may let it fall."""
        return self.left is not None and self.left.margin < NARROW

    @property
    def safer(self) -> TrialRecord | None:
        """Of the front, the plan of least loss whose margin is not narrow; else the one with the largest, if larger."""
        if self.left is None:
            return None
        margins = [(each.outcome.margin if isfinite(each.outcome.margin) else 1.0, each) for each in self.found.front]
        wide = next((each for margin, each in margins if margin >= max(NARROW, self.left.margin)), None)
        larger = [pair for pair in margins if pair[0] > self.left.margin]
        return wide or (max(larger, key=lambda pair: pair[0])[1] if larger else None)

    @property
    def warning(self) -> str | None:
        """A sentence on a narrow margin; None for a plan that keeps its distance."""
        if self.left is None or not self.is_narrow:
            return None
        says = f"The margin of {self.left.margin:.3f} is narrow: with another seed the release may fall."
        if self.safer is None:
            return f"{says} No plan of the front has a larger one."
        outcome = self.safer.outcome
        has = f"{outcome.margin:.3f}" if isfinite(outcome.margin) else "no figure near a limit"
        return f"{says} Trial {self.safer.number} of the front has {has}, with a loss of {number(outcome.loss)}."


def tune(
    ground: Ground,
    workers: int = 1,
    told: Told | None = None,
    says: Callable[[str], None] = lambda text: None,
    allowance: Allowance | None = None,
) -> Tuned:
    """Search, judge the best again with fresh seeds, and say why the winner is as it is. Every trial is recorded.

    told, says : called as the search goes on; with a trial, and with a sentence
    allowance  : the time for all of it, the last judgement included; None: as the space says, from now on.
                 Where somebody stops it, by KeyboardInterrupt, what was found until then comes back
    raises     : SluiceError where what would be written is not the plan that was judged
    """
    journal = _journal(ground)
    if len(journal):
        says(f"{len(journal):,} trials of this search are known already and are not tried again.")
    space = ground.space
    allowance = allowance or Allowance()
    allowance.limit(space.search.minutes)
    search = Search(space, ground.searched, journal, workers, ground.rest and ground.whole, allowance)
    tuned = Tuned(ground, Found(), Confirmation(), None)
    with recorded(ground.product, ground.name, ground.data, ground.whole.variables, space.search.trials) as taken:
        try:
            for tuned in _steps(ground, search, allowance, taken, told, says):
                taken["passed"] = tuned.winner is not None
        except KeyboardInterrupt:
            tuned = replace(tuned, found=search.found, stopped=True)
        finally:
            taken["trials"] = len(journal)
    winner, left = tuned.winner, tuned.left
    if winner is None or left is None:
        return tuned
    tuned = replace(tuned, unchosen=tuple(unchosen(space, tuned.found, winner)))
    steps = space.steps(at(winner.point))
    text = recommended_yaml(
        ground.written, [steps[place] for place in left.kept], left.definition, left.reasons, tuned.unchosen,
        left.judgements, left.loss, _head(tuned),
    )  # fmt: skip
    return replace(tuned, text=text)


def _steps(
    ground: Ground, search: Search, allowance: Allowance, taken: dict[str, Any], told: Told | None,
    says: Callable[[str], None],
) -> Iterator[Tuned]:  # fmt: skip
    """What is known after each part of the work; what there is no time for is left out."""
    space, before, kept_before = ground.space, None, None
    taken["judged"] = 0
    if ground.baseline is not None:
        says("judging the plan of the definition as it stands")
        baseline = ground.baseline
        before = allowance.timed(lambda: judged_afresh(space, baseline, ground.whole, (_BASELINE,)))
        taken["judged"] = 1
    tuned = Tuned(ground, Found(), Confirmation(), before)
    yield tuned
    found = search.run(told)
    yield (tuned := replace(tuned, found=found))
    says("judging the best plans again with seeds of their own")
    passed_before = before is not None and before.outcome.end == "passes"
    limit = before.outcome.loss if before is not None and passed_before else float("inf")
    confirmation = confirm(space, found, ground.whole, ground.rest, better_than=limit, allowance=allowance)
    winner, left = confirmation.winner, None
    taken["judged"] += confirmation.judged
    if winner is not None:
        definition = space.definition(at(winner.point))
        left = unpruned(definition, confirmation.of_winner, winner.outcome.loss)
    yield (tuned := replace(tuned, confirmation=confirmation, left=left, draws=confirmation.draws))
    of_winner = confirmation.draws
    if winner is not None and left is not None and allowance.for_judgement:
        whole_plan = left
        says("trying the best plan without each of its steps")
        left = pruned(
            space, left.definition, confirmation.of_winner, winner.outcome.loss,
            price_of(space, winner.point), ground.searched, ground.whole, ground.rest, allowance,
        )  # fmt: skip
        taken["judged"] += left.trials + left.judged
        if len(left.kept) < len(whole_plan.kept):
            says("judging the shorter plan by other draws")
            draws = drawn_again(space, left.definition, ground.whole, allowance)
            taken["judged"] += draws.of
            if of_winner is not None and of_winner.has_room and not draws.has_room:
                left = whole_plan  # shorter, it would be blocked by chance
            else:
                of_winner = draws if draws.of else None
        yield (tuned := replace(tuned, left=left, draws=of_winner))
    if left is not None and allowance.for_judgement:
        if ground.baseline is not None:
            kept_before = kept_by(ground.baseline, ground.whole, fresh_seed(space, (_KEPT,)))
        kept_after = kept_by(left.definition, ground.whole, fresh_seed(space, (_KEPT,)))
        yield (tuned := replace(tuned, kept_before=kept_before, kept_after=kept_after))
    if allowance.for_judgement:
        says("asking what each rule costs")
        bound = winner.outcome.loss if winner else limit
        prices, judged = rule_prices(space, found, ground.searched, search.whole, bound, allowance)
        taken["judged"] += judged
        yield replace(tuned, prices=prices, priced=True)


def plan_of_trial(ground: Ground, number: int) -> str:
    """The plan of a trial of this search as YAML: one of the front, or the nearest that fell.

    raises : DataError where the search has no such trial, or its plan is none that can be written
    """
    journal = _journal(ground)
    record = journal.of(number)
    if record is None:
        has = f"trials 0 to {len(journal) - 1:,}" if len(journal) else "none yet"
        raise DataError(f"--trial {number}: this search has {has}. Another policy, contract or seed is another search.")
    choose = at(record.point)
    return plan_yaml(ground.space.steps(choose), ground.space.definition(choose))


def _journal(ground: Ground) -> Journal:
    return Journal(ground.product.workspace.home / "tuning" / f"{ground.name}.jsonl")


def output_of(path: Path, output: Path | None) -> Path:
    """Where the recommended definition goes: beside the one it comes from, as its paths are relative to it.

    raises : DataError where the file exists; DocumentError for another folder
    """
    chosen = output or path.with_name(f"{path.stem}-tuned.yaml")
    if chosen.resolve().parent != path.resolve().parent:
        raise DocumentError(f"--output {chosen}: must lie beside {path}, whose paths are relative to its folder")
    refuse_to_overwrite(chosen, [path], option="--output")
    if os.path.lexists(chosen):  # a policy, a contract, somebody's definition, or one that was written by hand since
        raise DataError(
            f"--output {chosen} exists, and a search overwrites nothing. Name another file, or move it away."
        )
    return chosen


def write(tuned: Tuned, output: Path) -> None:
    """Write the recommended definition."""
    durable.replace(output, tuned.text.encode(), 0o644)


_BASELINE, _KEPT = 1_000_000, 3_000_000  # of the draw of a fresh seed: no finalist has these numbers


@contextmanager
def recorded(
    product: Records, name: str, data: StagedTable, variables: Variables, trials: int
) -> Iterator[dict[str, Any]]:
    """A search in the ledger: what it may take before its first trial, and at its end what it took."""
    workspace = product.workspace
    kept = kept_variables(workspace, variables)
    record_begun(workspace, name, product.contract.dataset, data, kept, trials)
    taken: dict[str, Any] = {"trials": 0, "judged": 0, "passed": False}
    try:
        yield taken
    finally:
        record_ended(workspace, name, taken["trials"], taken["judged"], taken["passed"])


def _head(tuned: Tuned) -> list[str]:
    winner, before, found = tuned.winner, tuned.before, tuned.found
    assert winner is not None
    assert tuned.after is not None
    lines = [
        f"Found by `sluice tune`: {found.attempts:,} of at most {tuned.planned:,} plans tried with seed "
        f"{tuned.ground.space.search.seed} on {len(tuned.ground.searched):,} of {len(tuned.ground.whole):,} "
        f"{tuned.ground.whole.contract.records_are}, {len(found.passing):,} of which passed. This one loses least of "
        "those that passed again with fresh seeds."
    ]
    if tuned.given_up:
        lines.append(f"{tuned.given_up} of its steps were given up: without them it passed again, and lost less.")
    lost = f"Loss: {number(tuned.after.loss)} on all records"
    if before is not None and isfinite(before.outcome.loss):
        ended = "which passes" if before.outcome.end == "passes" else "which does not pass"
        lost += f"; that of {tuned.ground.path.name}, {ended}, is {before.outcome.loss:.3f}"
    lines.append(f"{lost}. (0: every pair of variables is as in the original; 1: nothing is left of them.)")
    lines += [
        f"{row.says}: " + (f"{row.in_words(row.before)} before, " if isfinite(row.before) else "")
        + f"{row.in_words(row.after)} {'after' if isfinite(row.before) else ''}".rstrip()
        for row in tuned.kept
    ]  # fmt: skip
    lines += [price.in_words() for price in tuned.prices]
    return [*lines, *filter(None, [tuned.draws.says if tuned.draws else None, tuned.warning])]
