"""The context of a search: a definition, the space of plans that it opens, and the records that plans are tried on.

Those are a part of the people for the search, the rest for the best plans, and all. Whether the documents alone refuse
a plan is seen first, so that no trial is spent on it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
from pydantic import ValidationError

from policies.power import too_few
from schemas.checks.frame_check import check_frame
from sluice.custody.workspace import open_workspace
from sluice.documents.document_reading import (
    Written,
    canonical_json,
    document_sha256,
    parse_document,
    read_yaml,
)
from sluice.ground.comparable_values import repeated
from sluice.ground.errors import DataError, DocumentError, SluiceError
from sluice.ground.verdict import Verdict
from sluice.publication.records_file import read_typed
from sluice.risk.people_of_records import number_of_people
from sluice.software_version import versions
from tasks.release.documented_release import StagedTable
from tasks.release.intake.staging import stage
from tasks.release.records.record_definition import RecordsDefinition
from tasks.release.records.record_product import Records
from tasks.release.records.record_variables import variables_after
from tasks.release.release_documents import load_documents
from tasks.tuning.drafted_space import draft_plan, draft_prices, removed_by
from tasks.tuning.first_drafts import drafts
from tasks.tuning.parameter_ranges import at
from tasks.tuning.records_at_hand import RecordsAtHand
from tasks.tuning.space import SearchSettings, SpaceOfPlans


def misfit(definition: RecordsDefinition, records: RecordsAtHand) -> str | None:
    """Why contract and policy refuse the plan, whatever the records are; None where they do not. No record is read."""
    try:
        plan = definition.under(records.policy).plan
        for variables in (records.declared, records.variables):
            variables_after(plan, variables, definition.name)
    except SluiceError as error:
        return " ".join(str(error).split())
    return None


def fits(space: SpaceOfPlans, point: Mapping[str, Any], records: RecordsAtHand) -> bool:
    """Whether the plan at a point of the space is valid and none that the documents refuse."""
    try:
        return misfit(space.definition(at(point)), records) is None
    except ValidationError:
        return False


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
        raise DocumentError(f"{path}: sluice tune is for files of records; for tables see sluice table redesign")
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
        same = _repeats(whole.frame, removed_by(own))
        first_plans = drafts(whole, {}, same)
        plan = draft_plan(whole.frame, whole.variables, whole.policy, own, first_plans, same)
        prices = written.get("may_drop") or draft_prices(whole.variables, own, same)
        removed = [name for name in removed_by(own) if name in prices]
        content = Written(base | {"plan": plan, "may_drop": prices, "dropped_at_first": removed, "search": settings})
        space = parse_document(SpaceOfPlans, content, f"{path}, with the drafted plan")
    searched, rest = whole.split(space.search)
    return Ground(
        path, written, product, space, open_space is None, baseline, data, whole, searched, rest,
        _name_of(product, data, space),
    )  # fmt: skip


def staged_records(product: Records) -> tuple[StagedTable, RecordsAtHand]:
    """The data of a definition, staged and read.

    raises : DataError, also where they are not what their contract says, or too few for the policy: then no plan passes
    """
    data, variables, _ = stage(product)
    staged = read_typed(product.workspace.vault.verify(data.sha256, ".parquet"), variables)
    broken = [
        each for each in check_frame(staged, product.contract) if each.binding and each.verdict is not Verdict.PASS
    ]
    if broken:
        says = "; ".join(each.says.removesuffix(".") for each in broken)
        raise DataError(f"the data are not what their contract says, so no plan would pass: {says}.")
    if few := too_few(product.policy, number_of_people(staged, variables), "people or firms"):
        raise DataError(few)
    of, today = product.definition, datetime.now(UTC).date()
    return data, RecordsAtHand.of(staged, variables, product.contract, product.policy, of.name, of.owner, today)


def _repeats(frame: pd.DataFrame, last: Sequence[str]) -> list[str]:
    """Variables that tell the same of every record as one before them; those of `last` come last."""
    names = sorted(frame.columns, key=lambda name: name in last)
    codes = {name: pd.factorize(frame[name], use_na_sentinel=False)[0] for name in names}
    return [*repeated({name: each for name, each in codes.items() if each.max(initial=0) > 1})]


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
