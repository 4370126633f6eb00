"""Staging: the source into the vault, batch by batch, typed by the contract and put in order; of which period the data
are; and the holdout, which is set aside, never masked nor published: the reference that the file is held to.

Nothing is recorded here.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from numpy.typing import NDArray

from schemas.reading.typing import SourceTyping
from schemas.reference_period import period_of
from sluice.ground.errors import DataError
from sluice.ground.variables import GROUPS, Variable
from sluice.publication.records_file import write_in_order, write_parquet
from sluice.risk.people import groups_of_people
from sluice.sources.permission import permitted_source
from sluice.sources.separate_reading import read_apart
from sluice.sources.tabular_source import TabularSource
from sluice.transport import persistently
from tasks.release.definition import Definition
from tasks.release.documents import Documents
from tasks.release.intake.memory_forecast import within_memory
from tasks.release.release import DocumentedRelease, P, Release, StagedTable


def stage(
    product: Documents[Definition], secret: Callable[[str], str | None] = os.environ.get
) -> tuple[StagedTable, dict[str, Variable]]:
    """The data of a definition, staged, and their variables with the categories that were found.

    A source that cannot be reached, or no more, is read again from its beginning for a while. Raises DataError.

    secret : what a name of a secret in the definition stands for
    """
    source = permitted_source(product.definition.source, product.path.parent, secret)
    return persistently(lambda: _staged(product, source))


def _staged(product: Documents[Definition], source: TabularSource) -> tuple[StagedTable, dict[str, Variable]]:
    """All of it from the first record on: what was read before a connection was lost may be of another state."""
    vault, contract = product.workspace.vault, product.contract
    typing = SourceTyping(contract, vault.pseudonym, source.decimal_mark)
    with vault.scratch(".parquet") as as_read, vault.scratch(".parquet") as path:
        batches = read_apart(source, list(contract.staged))
        if product.definition.product == "records":  # tables are added up, and held as cells
            batches = within_memory(batches, contract.staged, contract.rows.minimum)
        write_parquet((typing.type_batch(raw) for raw in batches), as_read, contract.staged)
        variables = typing.variables()
        # A database gives the same records in another order each time. Were that other data, they would have another
        # seed, and could be masked anew until the dice fall well.
        rows = write_in_order(as_read, path, contract.staged, contract.record_key)
        return StagedTable(vault.keep(path, ".parquet"), rows), variables


def reference_period(release: DocumentedRelease) -> dict[str, str] | None:
    """The period that the data are of, by its text, first and last day; None where the contract names none.

    raises : DataError, without a value, where the data do not say one, or one that has not begun: whoever submits the
             data could otherwise have an edition come after all that follow
    cost   : one pass over the column
    """
    asked = release.product.contract.reference_period
    if asked is None:
        return None
    values = None if asked.column is None else release.read_staged([asked.column])[asked.column]
    period = period_of(asked, values)
    if period.first > (datetime.now(UTC) + timedelta(hours=14)).date():  # where the day begins first
        where = "'fixed'" if asked.column is None else f"the column '{asked.column}'"
        raise DataError(
            f"{where} gives a period that has not begun; data are of one that has", field="reference_period"
        )
    return {"text": period.text, "first": period.first.isoformat(), "last": period.last.isoformat()}


def set_aside(release: Release[P]) -> Release[P]:
    """The release with its holdout split off, when its policy asks for one. Cost: one pass, a batch in memory."""
    standard = release.product.policy.reference_standard
    if standard is None or standard.holdout_share is None:
        return release
    chosen = choose(_groups(release), standard.holdout_share, np.random.default_rng(release.seeds().holdout))
    return replace(release, original=_part(release, ~chosen), holdout=_part(release, chosen))


def choose(groups: NDArray[np.int64], share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which records are held out: shape (n,), bool; whole groups, until `share` of the records is reached.

    groups : shape (n,), the people who stay together, of each record: nobody may be on both sides
    raises : DataError when either side would be empty
    """
    _, group, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    order = rng.permutation(len(sizes))
    taken = order[np.cumsum(sizes[order]) <= share * len(groups)]
    chosen = np.isin(group, taken)
    if not chosen.any() or chosen.all():
        raise DataError(f"holdout_share {share} of {len(groups)} records leaves one side empty; use leave_one_out")
    return chosen


def _groups(release: DocumentedRelease) -> NDArray[np.int64]:
    staged = release.product.contract.staged
    names = [name for name, variable in staged.items() if variable.role in GROUPS]
    if not names:
        return np.arange(release.data.rows)
    return groups_of_people(release.read_staged(names), staged)


def _part(release: DocumentedRelease, chosen: NDArray[np.bool_]) -> StagedTable:
    """The chosen records as a table of their own in the vault."""
    vault = release.vault

    def batches() -> Iterator[pd.DataFrame]:
        start = 0
        for batch in pq.ParquetFile(vault.path(release.data.sha256, ".parquet")).iter_batches():
            frame = batch.to_pandas(types_mapper=pd.ArrowDtype)
            yield frame[chosen[start : start + len(frame)]]
            start += len(frame)

    with vault.scratch(".parquet") as path:
        rows = write_parquet(batches(), path, release.product.contract.staged)
        return StagedTable(vault.keep(path, ".parquet"), rows)
