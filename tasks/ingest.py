"""Ingest: from the source into the vault, batch by batch, typed by the contract, put in order, counted and hashed."""

from dataclasses import asdict
from pathlib import Path

from schemas.reading.typing import SourceTyping
from sluice.custody.states import State
from sluice.documents.documents import document_bytes
from sluice.publication.table_file import write_in_order, write_parquet
from sluice.variables import Variable
from tasks.case import Case, Release, Staged, open_workspace, variables_as_json
from tasks.holdout import set_aside
from tasks.step import step
from tasks.waiting import remember_definition, suspended_for


@step
def open_case(definition: str) -> Case:
    """The documents, loaded and cross-checked, before the source is touched."""
    return Case.load(Path(definition), open_workspace())


@step
def known_release(case: Case, release_id: str | None) -> Release | None:
    """The release to go on with: the one that is named, or the one that this run was suspended for."""
    wanted = release_id or suspended_for(case.workspace)
    return Release.recorded(case, wanted) if wanted else None


@step
def ingest(case: Case) -> Release:
    """Stage the source. The same data under the same documents are the same release, wherever it stands by now."""
    data, variables = _stage(case)
    release = Release(case, Release.name_for(case, data), data, data, None, variables)
    if not case.is_of_tables:
        _ = release.released  # refuses categories that the plan has no place for
    remember_definition(release)
    if not release.needs_judgement:
        return Release.recorded(case, release.id)
    release = set_aside(release)
    for document in (case.contract, case.policy, case.written):  # as judged, for whoever asks when they have changed
        case.workspace.vault.keep_bytes(document_bytes(document), ".json")
    release.record(
        State.RECEIVED,
        definition=case.definition.name,
        dataset=case.contract.dataset,
        **case.document_hashes,
        variables=case.workspace.vault.keep_bytes(variables_as_json(variables), ".json"),
        data=asdict(release.data),
        original=asdict(release.original),
        holdout=asdict(release.holdout) if release.holdout else None,
    )
    return release


def _stage(case: Case) -> tuple[Staged, dict[str, Variable]]:
    vault, contract = case.workspace.vault, case.contract
    typing = SourceTyping(contract, vault.pseudonym, case.definition.source.decimal_mark)
    with vault.scratch(".parquet") as as_read, vault.scratch(".parquet") as path:
        batches = case.definition.source.batches(list(contract.staged))
        write_parquet((typing.type_batch(raw) for raw in batches), as_read, contract.staged)
        variables = typing.variables()
        # A database gives the same records in another order each time. Were that other data, they would have another
        # seed, and could be masked anew until the dice fall well.
        rows = write_in_order(as_read, path, contract.staged, contract.record_key)
        return Staged(vault.keep(path, ".parquet"), rows), variables
