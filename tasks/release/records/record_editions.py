"""Editions of a file: what it tells together with every file of the same people that was published before."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from policies.policy import Policy
from policies.several_publications import EarlierFile, judge_publications
from schemas.contract import Contract
from sluice.custody.ledger import Entry, last
from sluice.custody.states import State
from sluice.ground.errors import DataError, SluiceError
from sluice.ground.sentence import Sentence, as_fields
from sluice.ground.variables import NAMES
from sluice.ground.verdict import Finding, Verdict
from sluice.publication.records_file import read_typed
from sluice.risk.publications.publication import Publication, SamePeople, rows_within, same_people
from tasks.release.documented_release import Release, StagedTable, variables_from_json
from tasks.release.editions.earlier_releases import compare_with_pruned, is_out_of_reach, publications
from tasks.release.records.record_definition import RecordsDefinition
from tasks.release.records.record_variables import RecordsRelease, key_texts, read_masked, released_variables
from tasks.release.records.stored_masked_file import MaskedFile, kept_rows, row_order
from tasks.release.release_documents import Documents

_SEED_DESTROYED = Sentence(
    "joint_classes.seed_destroyed",
    "The seed of {releases:commas} was destroyed, so its records can no longer be assigned to people, and "
    "its joint disclosure with this file is unknown.",
)


def compare_publications(release: RecordsRelease) -> list[Finding]:
    """Findings on this file beside all that are or were public and hold some of its people, of any data set.

    They are found by their record keys, or by their values. Raises DataError when one is no longer in the vault.
    """
    staged = release.read_staged()
    earlier, undone = {}, []
    for name, entries in publications(release).items():
        other = _recorded(release, name, entries)
        if other is None or is_out_of_reach(release.product.workspace, entries):  # `pruned_publications` speaks of it
            continue
        before = other.read_staged()
        same = _same_people(other, before, release, staged)
        if same is None:
            continue
        try:
            earlier[name] = EarlierFile(_publication(other, before), same)
        except SluiceError as error:
            if isinstance(error, DataError):
                raise
            undone.append(name)  # its seed was destroyed: nobody knows any more whose record stands where
    rng = np.random.default_rng(release.seeds().attack)
    findings = judge_publications(release.product.policy, _publication(release, staged), earlier, release.unit, rng)
    return [*findings, *_not_comparable(undone), *compare_with_pruned(release)]


def _not_comparable(releases: Sequence[str]) -> list[Finding]:
    says = _SEED_DESTROYED(releases=releases)
    finding = Finding(
        rule="joint_classes", verdict=Verdict.REVIEW, stage="masked", **as_fields(says), scope=", ".join(releases)
    )
    return [finding] if releases else []


def _recorded(release: RecordsRelease, name: str, entries: Sequence[Entry]) -> RecordsRelease | None:
    """Another release of records by the documents that it was judged by; None for another product."""
    received = last(entries, State.RECEIVED)
    if received is None or received.body["product"] != release.product.definition.product:
        return None
    vault, product = release.vault, release.product
    contract, policy, plan = (
        vault.verify(received.body[document], ".json").read_bytes() for document in ("contract", "policy", "plan")
    )
    definition, judged_by = RecordsDefinition.model_validate_json(plan), Policy.model_validate_json(policy)
    documents = Documents(
        product.path, definition, definition.under(judged_by), Contract.model_validate_json(contract), judged_by,
        product.workspace,
    )  # fmt: skip
    variables = variables_from_json(vault.verify(received.body["variables"], ".json").read_bytes())
    data, original = StagedTable(**received.body["data"]), StagedTable(**received.body["original"])
    holdout = StagedTable(**received.body["holdout"]) if received.body["holdout"] else None
    return Release(documents, name, data, original, holdout, variables)


def _same_people(
    other: RecordsRelease, before: pd.DataFrame, release: RecordsRelease, staged: pd.DataFrame
) -> SamePeople | None:
    mine, theirs = release.staged_variables, other.staged_variables
    key = release.product.contract.record_key
    columns = [
        name
        for name, variable in mine.items()
        if name in theirs
        and name not in key
        and variable.role not in NAMES
        and theirs[name].role not in NAMES
        and (variable.kind is theirs[name].kind or (variable.kind.is_numeric and theirs[name].kind.is_numeric))
    ]
    keyed = bool(key) and key == other.product.contract.record_key
    if not keyed:
        return same_people(before, staged, columns)
    return same_people(before, staged, columns, key_texts(before, key), key_texts(staged, key))


def _publication(release: RecordsRelease, staged: pd.DataFrame) -> Publication:
    """The masked file with the people of all its staged data. Raises SluiceError when its seed was destroyed."""
    masked = last(release.entries(), State.MASKED)
    if masked is None:
        raise DataError(f"{release.id} was not masked, so it cannot be compared with what was published before.")
    file = MaskedFile.recorded(masked.body)
    order = row_order(release, kept_rows(release, file))
    if release.holdout is not None:
        original = read_typed(release.vault.verify(release.original.sha256, ".parquet"), release.staged_variables)
        order = rows_within(original, staged)[order]
    return Publication(
        original=staged,
        masked=read_masked(release, file),
        people=order,
        variables=release.staged_variables,
        released=released_variables(release),
    )
