"""The variables of a release of records before and after its plan, its tables as frames of them, its keys as texts."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import pandas as pd

from schemas.contract import HASHED
from sluice.ground.comparable_values import Hashes
from sluice.ground.errors import DataError, DocumentError, PlanError
from sluice.ground.variables import GROUPS, Kind, Role, Variable
from sluice.masking.masking_step import MaskingStep
from sluice.publication.records_file import read_typed
from tasks.release.documented_release import Release, StagedTable
from tasks.release.records.record_definition import RecordsDefinition
from tasks.release.records.stored_masked_file import MaskedFile
from tasks.release.release_documents import Documents

RecordsDocuments: TypeAlias = Documents[RecordsDefinition]
RecordsRelease: TypeAlias = Release[RecordsDocuments]


def declared_variables(documents: RecordsDocuments) -> dict[str, Variable]:
    """What the plan starts from, as the contract declares it."""
    return _without_identifiers(documents.contract.staged)


def described_variables(documents: RecordsDocuments) -> dict[str, Variable]:
    """What the plan ends in, as the documents alone tell it, so that it may be published.

    A category that was only found in the data is none of it: masking may have taken it out of the file.
    """
    return _after_the_plan(documents, declared_variables(documents))


def original_variables(release: RecordsRelease) -> dict[str, Variable]:
    """What the plan starts from: the staged variables but the identifiers, which are only keys."""
    return _without_identifiers(release.staged_variables)


def released_variables(release: RecordsRelease) -> dict[str, Variable]:
    """What the plan ends in. Raises DataError when categories that were found in the data do not fit the plan."""
    try:
        return _after_the_plan(release.product, original_variables(release))
    except DocumentError:  # the contract's own variables fit: the text names a category that only the data hold
        declared = declared_variables(release.product)
        found = [name for name, v in declared.items() if v.kind.is_categorical and v.categories is None]
    raise DataError(
        f"the plan of {release.id} does not fit the categories in the data. Declare the categories of "
        f"{', '.join(found)} in the contract, or give 'others' in the plan."
    )


def read_original(release: RecordsRelease, table: StagedTable) -> pd.DataFrame:
    """The typed frame of an unmasked table: without identifiers, and hashed again before it is read.

    Households and contributors that are released bear names of this release alone: by those of the vault a person
    could be followed through all releases.
    """
    frame = read_typed(release.vault.verify(table.sha256, ".parquet"), original_variables(release))
    for name in (name for name, variable in released_variables(release).items() if variable.role in HASHED):
        codes, names = pd.factorize(frame[name])
        own = [release.vault.pseudonym(f"{name} of {release.id}", text) for text in names]
        frame[name] = pd.Series([*own, np.nan], dtype=frame[name].dtype).take(codes).reset_index(drop=True)
    return frame


def read_masked(release: RecordsRelease, masked: MaskedFile) -> pd.DataFrame:
    """The typed frame of the masked file, hashed again before it is read."""
    return read_typed(release.vault.verify(masked.sha256, ".parquet"), released_variables(release))


def _without_identifiers(variables: Mapping[str, Variable]) -> dict[str, Variable]:
    return {name: variable for name, variable in variables.items() if variable.role is not Role.IDENTIFIER}


def _after_the_plan(documents: RecordsDocuments, variables: Mapping[str, Variable]) -> dict[str, Variable]:
    return variables_after(documents.definition.plan, variables, str(documents.path))


def variables_after(plan: Sequence[MaskingStep], variables: Mapping[str, Variable], name: str) -> dict[str, Variable]:
    """The variables after a plan, as they may be released.

    name   : of the document that holds the plan, by which an error begins
    raises : DocumentError naming the step that does not fit the variables, or the variable that may not be released
    """
    released = dict(variables)
    for index, step in enumerate(plan):
        try:
            released = step.released(released)
        except PlanError as error:
            raise DocumentError(f"{name}: plan.{index}: {error}") from None
    if not released:
        raise DocumentError(f"{name}: plan: no variable is left to release")
    for variable in released.values():
        if variable.role is Role.PERSON:
            raise DocumentError(
                f"{name}: plan: '{variable.name}' names the person of each record, by which all records of one could "
                "be put together again; take it out with a step of method 'removal'"
            )
        if variable.kind is Kind.TEXT and variable.role not in GROUPS:
            raise DocumentError(
                f"{name}: plan: '{variable.name}' is free text, whose risk cannot be measured; "
                "take it out with a step of method 'removal'"
            )
    return released


def key_texts(staged: pd.DataFrame, key: Sequence[str]) -> "pd.Series[str]":
    """Shape (n,); identifiers stand in the staged frame as keyed hashes."""
    joined: pd.Series[str] = staged[key[0]].astype(str)
    for name in key[1:]:
        joined = joined + "\0" + staged[name].astype(str)
    return joined


def noise_keys(release: RecordsRelease) -> Hashes | None:
    """Of each record that is masked: what its noise comes from, so that an unchanged record keeps it in all editions.

    None without a record key, and where the seed is to be destroyed: whoever has the vault could make the noise again.
    """
    if not release.product.contract.record_key or release.product.definition.seed == "destroy":
        return None
    return record_keys(release, release.original)


def record_keys(release: RecordsRelease, table: StagedTable) -> Hashes:
    """Of each record of a table, whom the record key names: equal in all data sets; as secret as a seed."""
    key, path = release.product.contract.record_key, release.vault.verify(table.sha256, ".parquet")
    return release.vault.record_keys(key_texts(read_typed(path, release.staged_variables, key), key).tolist())
