"""The ground of a search: a definition, the space of plans that it opens, and the records that plans are tried on.

The records that plans are tried on: a part of the people for the search, the rest for the best plans, and all.

Whether the documents alone refuse a plan is seen first, so that no trial is spent on it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Self

import numpy as np
import pandas as pd
from pydantic import ValidationError

from policies.policy import Policy
from schemas.checks.frame_check import check_frame
from schemas.contract import Contract
from sluice.custody.workspace import open_workspace
from sluice.documents.document_reading import (
    Written,
    canonical_json,
    document_bytes,
    document_sha256,
    parse_document,
    read_yaml,
)
from sluice.ground.arrays import BoolArray, IntArray
from sluice.ground.errors import DataError, DocumentError, SluiceError
from sluice.ground.variables import Role, Variable
from sluice.ground.verdict import Verdict
from sluice.publication.records_file import read_typed
from sluice.risk.people_of_records import groups_of_people
from sluice.software_version import versions
from tasks.release.documented_release import StagedTable
from tasks.release.intake.staging import choose, stage
from tasks.release.records.record_definition import RecordsDefinition
from tasks.release.records.record_product import Records
from tasks.release.records.record_variables import variables_after
from tasks.release.release_documents import load_documents
from tasks.tuning.drafted_space import draft_plan, draft_prices, removed_by
from tasks.tuning.parameter_ranges import at
from tasks.tuning.space import SearchSettings, SpaceOfPlans

_LEAST = (
    5  # times as many records as the policy's reference standard needs: fewer meet rules on groups only more coarsely
)


@dataclass(frozen=True)
class RecordsAtHand:
    """Typed records of whole people and households, the documents that they are judged by, and a name for them.

    frame    : without identifiers, index 0..n-1
    declared : the variables as far as the contract alone tells them
    """

    name: str
    frame: pd.DataFrame
    variables: dict[str, Variable]
    declared: dict[str, Variable]
    contract: Contract
    policy: Policy
    release_name: str
    owner: str
    today: date  # by which waivers are live

    def __getstate__(self) -> dict[str, Any]:
        """What another process gets; a contract's rules are read there again, as code is not sent."""
        return vars(self) | {"contract": document_bytes(self.contract)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        contract = Contract.model_validate_json(state["contract"])
        vars(self).update(state | {"contract": contract})

    def __len__(self) -> int:
        return len(self.frame)

    @classmethod
    def of(
        cls, staged: pd.DataFrame, variables: dict[str, Variable], contract: Contract, policy: Policy,
        release_name: str, owner: str, today: date,
    ) -> Self:  # fmt: skip
        """Everything that was staged."""
        kept = {name: each for name, each in variables.items() if each.role is not Role.IDENTIFIER}
        declared = {name: each for name, each in contract.staged.items() if each.role is not Role.IDENTIFIER}
        frame = staged[list(kept)].reset_index(drop=True)
        return cls("all records", frame, kept, declared, contract, policy, release_name, owner, today)

    def split(self, settings: SearchSettings) -> tuple[Self, Self | None]:
        """The records to search on and the others; everything and nothing where the policy could judge neither part.

        Whole people and households, drawn from the search's seed.
        """
        standard = self.policy.reference_standard
        needed = _LEAST * (standard.minimum_records if standard else 1)
        wanted = min(int(settings.people * len(self)), settings.most_records)
        wanted = min(max(wanted, needed), len(self))
        if len(self) - wanted < needed:
            return self, None
        rng = np.random.default_rng([settings.seed, _SPLIT])
        try:
            searched = choose(groups_of_people(self.frame, self.variables), wanted / len(self), rng)
        except DataError:  # one household is all there is
            return self, None
        return self.part("the records searched", searched), self.part("the other records", ~searched)

    def part(self, name: str, chosen: BoolArray) -> Self:
        """The records that are chosen, shape (n,), under a name of their own."""
        return replace(self, name=name, frame=self.frame[chosen].reset_index(drop=True))

    def in_another_order(self, seed: Sequence[int]) -> Self:
        """The same records in an order drawn from a seed: where methods break ties by it, the file is another."""
        order = np.random.default_rng(list(seed)).permutation(len(self))
        return replace(self, frame=self.frame.iloc[order].reset_index(drop=True))

    def with_holdout(self, rng: np.random.Generator) -> tuple[pd.DataFrame, pd.DataFrame | None]:
        """Who would be masked, and who would be set aside, as the policy asks. Raises DataError."""
        standard = self.policy.reference_standard
        if standard is None or standard.holdout_share is None:
            return self.frame, None
        groups: IntArray = groups_of_people(self.frame, self.variables)
        held = choose(groups, standard.holdout_share, rng)
        return self.frame[~held].reset_index(drop=True), self.frame[held].reset_index(drop=True)


_SPLIT = 2**40  # of the search's seed: no trial has this number


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
    """The data of a definition, staged and read.

    raises : DataError, also where they are not what their contract says: then no plan passes
    """
    data, variables = stage(product)
    staged = read_typed(product.workspace.vault.verify(data.sha256, ".parquet"), variables)
    broken = [
        each for each in check_frame(staged, product.contract) if each.binding and each.verdict is not Verdict.PASS
    ]
    if broken:
        says = "; ".join(each.says.removesuffix(".") for each in broken)
        raise DataError(f"the data are not what their contract says, so no plan would pass: {says}.")
    of, today = product.definition, datetime.now(UTC).date()
    return data, RecordsAtHand.of(staged, variables, product.contract, product.policy, of.name, of.owner, today)


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
