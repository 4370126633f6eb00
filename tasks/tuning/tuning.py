"""`sluice tune`: from a definition to the plan that passes its policy at the least loss, or to why none does."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Any

from sluice.custody.durable import replace
from sluice.custody.outputs import refuse_to_overwrite
from sluice.documents.documents import Written, canonical_json, document_sha256, parse_document, read_yaml
from sluice.errors import DataError, DocumentError
from sluice.publication.records_file import read_typed
from sluice.variables import Variables
from tasks.release.documents import load_documents, open_workspace
from tasks.release.records.definition import RecordsDefinition
from tasks.release.records.product import Records
from tasks.release.release import StagedTable
from tasks.release.searches import kept_variables, record_begun, record_ended
from tasks.release.staging import stage
from tasks.release.versions import versions
from tasks.tuning.confirmation import Confirmation, Judgement, confirm, judged_afresh
from tasks.tuning.draft import draft_plan, draft_prices, removed_by
from tasks.tuning.explanation import Unchosen, unchosen
from tasks.tuning.found import Found
from tasks.tuning.journal import Journal, TrialRecord
from tasks.tuning.pruning import Pruned, pruned
from tasks.tuning.ranges import at
from tasks.tuning.recommendation import plan_yaml, recommended_yaml
from tasks.tuning.records_at_hand import RecordsAtHand
from tasks.tuning.search import Search, Told, price_of
from tasks.tuning.space import SearchSettings, SpaceOfPlans
from tasks.tuning.trial import Outcome

_SPACE_FIELDS = ("may_drop", "dropped_at_first", "search")


@dataclass(frozen=True)
class Ground:
    """A definition, the space it opens, and the records that plans are tried on.

    drafted  : the definition left nothing open, and the space was drafted
    baseline : its own plan, where it has one
    searched : the records of the search; rest: the others, None where all are searched
    """

    path: Path
    written: Written
    product: Records
    space: SpaceOfPlans
    drafted: bool
    baseline: RecordsDefinition | None
    data: StagedTable
    whole: RecordsAtHand
    searched: RecordsAtHand
    rest: RecordsAtHand | None
    name: str


@dataclass(frozen=True)
class Tuned:
    """What a search came to. Aggregates, names and settings."""

    ground: Ground
    found: Found
    confirmation: Confirmation
    before: Judgement | None
    left: Pruned | None = None
    unchosen: tuple[Unchosen, ...] = ()
    text: str = ""

    @property
    def winner(self) -> TrialRecord | None:
        return self.confirmation.winner

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


def open_ground(
    path: Path, *, trials: int | None = None, minutes: float | None = None, seed: int | None = None,
    people: float | None = None, drafted: bool = False,
) -> Ground:  # fmt: skip
    """Read the documents and stage the data. The parameters take the place of the definition's own `search`.

    drafted : draft the space, though the definition leaves something open itself
    raises  : DocumentError, DataError
    """
    written = read_yaml(path)
    if "tables" in written:
        raise DocumentError(f"{path}: sluice tune is for files of records; for tables see sluice redesign-table")
    given = {"trials": trials, "minutes": minutes, "seed": seed, "people": people}
    asked = {key: value for key, value in given.items() if value is not None}
    base = {key: value for key, value in written.items() if key not in (*_SPACE_FIELDS, "plan")}
    open_space = None if drafted else _space_of(path, written)
    baseline = None if open_space else _own_plan(path, written)
    first = open_space.definition() if open_space else baseline or _bare(path, base)
    product = load_documents(Records, path, first, open_workspace())
    if open_space is not None:
        product.refuse_unfit()
    data, whole = staged_records(product)
    if open_space is not None:
        space = _with_settings(open_space, asked)
    else:
        settings = {**(written.get("search") or {}), **asked}
        own = () if baseline is None else tuple(written["plan"])
        plan = draft_plan(whole.frame, whole.variables, whole.policy, own)
        prices = written.get("may_drop") or draft_prices(whole.variables, own)
        removed = [name for name in removed_by(own) if name in prices]
        content = Written(base | {"plan": plan, "may_drop": prices, "dropped_at_first": removed, "search": settings})
        space = parse_document(SpaceOfPlans, content, f"{path}, with the drafted plan")
    searched, rest = whole.split(space.search)
    return Ground(
        path, written, product, space, open_space is None, baseline, data, whole, searched, rest,
        _name_of(product, data, space),
    )  # fmt: skip


def staged_records(product: Records) -> tuple[StagedTable, RecordsAtHand]:
    """The data of a definition, staged and read. Raises DataError."""
    data, variables = stage(product)
    staged = read_typed(product.workspace.vault.verify(data.sha256, ".parquet"), variables)
    of, today = product.definition, datetime.now(UTC).date()
    return data, RecordsAtHand.of(staged, variables, product.contract, product.policy, of.name, of.owner, today)


def tune(
    ground: Ground,
    workers: int = 1,
    told: Told | None = None,
    says: Callable[[str], None] = lambda text: None,
) -> Tuned:
    """Search, judge the best again with fresh seeds, and say why the winner is as it is. Every trial is recorded.

    told, says : called as the search goes on; with a trial, and with a sentence
    """
    journal = _journal(ground)
    if len(journal):
        says(f"{len(journal):,} trials of this search are known already and are not tried again.")
    space, before = ground.space, None
    trials = space.search.trials
    with recorded(ground.product, ground.name, ground.data, ground.whole.variables, trials) as taken:
        if ground.baseline is not None:
            says("judging the plan of the definition as it stands")
            before = judged_afresh(space, ground.baseline, ground.whole, (_BASELINE,))
            taken["judged"] = 1
        passed_before = before is not None and before.outcome.end == "passes"
        try:
            found = Search(space, ground.searched, journal, workers, ground.rest and ground.whole).run(told)
        finally:
            taken["trials"] = len(journal)
        says("judging the best plans again with seeds of their own")
        limit = before.outcome.loss if before is not None and passed_before else float("inf")
        confirmation = confirm(space, found, ground.whole, ground.rest, better_than=limit)
        winner = confirmation.winner
        taken |= {"judged": taken["judged"] + confirmation.judged, "passed": winner is not None}
        if winner is None:
            return Tuned(ground, found, confirmation, before)
        says("trying the best plan without each of its steps")
        left = pruned(
            space, space.definition(at(winner.point)), confirmation.of_winner, winner.outcome.loss,
            price_of(space, winner.point), ground.searched, ground.whole, ground.rest,
        )  # fmt: skip
        taken["judged"] += left.trials + left.judged
    others = tuple(unchosen(space, found, winner))
    tuned = Tuned(ground, found, confirmation, before, left, others)
    steps = space.steps(at(winner.point))
    text = recommended_yaml(
        ground.written, [steps[place] for place in left.kept], left.definition, left.reasons, others, left.judgements,
        left.loss, _head(tuned),
    )  # fmt: skip
    return Tuned(ground, found, confirmation, before, left, others, text)


def plan_of_trial(ground: Ground, number: int) -> str:
    """The plan of a trial of this search as YAML: one of the front, or the nearest that fell.

    raises : DataError where the search has no such trial
    """
    journal = _journal(ground)
    record = journal.of(number)
    if record is None:
        has = f"trials 0 to {len(journal) - 1:,}" if len(journal) else "none yet"
        raise DataError(f"--trial {number}: this search has {has}. Another policy, contract or seed is another search.")
    return plan_yaml(ground.space.steps(at(record.point)))


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
    replace(output, tuned.text.encode(), 0o644)


_BASELINE = 1_000_000  # of the draw of a fresh seed: no finalist has this number


def _space_of(path: Path, written: Written) -> SpaceOfPlans | None:
    """What the definition leaves open; None where it leaves nothing open."""
    space = parse_document(SpaceOfPlans, written, str(path)) if written.get("plan") else None
    if space is None:
        return None
    opened: list[str] = []

    def note(place: str, of: Any) -> Any:
        opened.append(place)
        return of.first

    space.steps(note)
    return space if opened else None


def _own_plan(path: Path, written: Written) -> RecordsDefinition | None:
    if not written.get("plan"):
        return None
    content = Written({key: value for key, value in written.items() if key not in _SPACE_FIELDS})
    content.root = written.root
    return parse_document(RecordsDefinition, content, str(path))


def _bare(path: Path, base: dict[str, Any]) -> RecordsDefinition:
    """The definition without a plan, for its documents and data; the step of it is never carried out."""
    idle = {"method": "removal", "columns": ["no variable"]}
    return parse_document(RecordsDefinition, Written(base | {"plan": [idle]}), str(path))


def _with_settings(space: SpaceOfPlans, asked: dict[str, Any]) -> SpaceOfPlans:
    settings = SearchSettings.model_validate(space.search.model_dump() | asked)
    return space.model_copy(update={"search": settings})


def _name_of(product: Records, data: StagedTable, space: SpaceOfPlans) -> str:
    """A keyed hash of all that decides the trials, versions of software among it; how many there may be does not."""
    content = space.model_dump(mode="json")
    budget = ("trials", "minutes", "finalists")
    content["search"] = {key: value for key, value in content["search"].items() if key not in budget}
    parts = [
        canonical_json(content["plan"]).decode(), canonical_json(content["may_drop"]).decode(),
        canonical_json(content["dropped_at_first"]).decode(),
        canonical_json(content["search"]).decode(), canonical_json(versions()).decode(),
        data.sha256, document_sha256(product.contract),
        document_sha256(product.policy),
    ]  # fmt: skip
    return f"{product.definition.name}-{product.workspace.vault.pseudonym('search', chr(10).join(parts))[:12]}"


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
        f"Found by `sluice tune`: {found.attempts:,} plans tried with seed {tuned.ground.space.search.seed} on "
        f"{len(tuned.ground.searched):,} of {len(tuned.ground.whole):,} {tuned.ground.whole.contract.records_are}, "
        f"{len(found.passing):,} of which passed. This one loses least of those that passed again with fresh seeds."
    ]
    if tuned.given_up:
        lines.append(f"{tuned.given_up} of its steps were given up: without them it passed again, and lost less.")
    lost = f"Loss: {tuned.after.loss:.3f} on all records"
    if before is not None and isfinite(before.outcome.loss):
        ended = "which passes" if before.outcome.end == "passes" else "which does not pass"
        lost += f"; that of {tuned.ground.path.name}, {ended}, is {before.outcome.loss:.3f}"
    return [*lines, f"{lost}. (0: every pair of variables is as in the original; 1: nothing is left of them.)"]
