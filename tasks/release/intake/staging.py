"""Staging: the source into the vault, batch by batch, typed by the contract and put in order; of which period the data
are; and the holdout, which is set aside, never masked nor published: the reference that the file is held to.

Nothing is recorded here. A run that cannot end well for want of memory does not begin. The forecast goes by the bytes
of a typed record: a category takes one or two, a number eight or nine. Masking and judging hold the original, the
recoded and the masked file in that form, and work on some columns at a time.
"""

import logging
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
from sluice.ground.errors import DataError, ReaderKilledError
from sluice.ground.log import log
from sluice.ground.machine import free_memory
from sluice.ground.remarks import Remark
from sluice.ground.variables import GROUPS, NAMES, Kind, Variable, Variables
from sluice.publication.records_file import write_in_order, write_parquet, write_replaced
from sluice.risk.people_of_records import groups_of_people
from sluice.sources.permission import permitted_source
from sluice.sources.separate_reading import at_most, read_apart
from sluice.sources.tabular_source import TabularSource
from sluice.transport import persistently
from tasks.release.documented_release import DocumentedRelease, P, Release, StagedTable
from tasks.release.release_definition import Definition
from tasks.release.release_documents import Documents

# Measured where variables of Census-Income, 14 of them categories and 6 numbers, were masked and judged by the
# reference standard and attacks, two at a time (benchmarks/README.md): a process held 1.54 GB at its peak with
# 1,000,000 records and 3.70 GB with 5,000,000. Before it read any it held 0.26 GB.
_PROGRAM = 400_000_000  # bytes without any record, beyond those
_TIMES = 9  # of the bytes of a typed record

_GIGABYTE = 1e9

Staged = tuple[StagedTable, dict[str, Variable], tuple[Remark, ...]]


def stage(product: Documents[Definition], secret: Callable[[str], str | None] = os.environ.get) -> Staged:
    """The data of a definition, staged, their variables with the categories that were found, and what was not read as
    it stands.

    A source that cannot be reached, or no more, is read again from its beginning for a while. It is read once more
    where a signal ended the process that read it, as the kernel does for want of memory: others may have needed that
    for a moment. Raises DataError.

    secret : what a name of a secret in the definition stands for
    """
    source = permitted_source(product.definition.source, product.path.parent, secret)
    try:
        return persistently(lambda: _staged(product, source))
    except ReaderKilledError as error:
        log("source is read again", logging.WARNING, detail=str(error))
    return persistently(lambda: _staged(product, source))


def _staged(product: Documents[Definition], source: TabularSource) -> Staged:
    """All of it from the first record on: what was read before a connection was lost may be of another state."""
    vault, contract = product.workspace.vault, product.contract
    tables = product.definition.product == "tables"
    typing = SourceTyping(contract, vault.pseudonym, source.decimal_mark, unify=tables)
    with (
        vault.scratch(".parquet") as as_read,
        vault.scratch(".parquet") as respelled,
        vault.scratch(".parquet") as path,
    ):
        batches = read_apart(source, list(contract.staged))
        if not tables:  # which are added up, and held as cells
            batches = within_memory(batches, contract.staged, contract.rows.minimum)
        batches = at_most(batches, contract.rows.maximum)
        write_parquet((typing.type_batch(raw) for raw in batches), as_read, contract.staged)
        variables = typing.variables()
        if same := typing.same_names():
            write_replaced(as_read, respelled, contract.staged, same)
            as_read = respelled
        remarks = (*source.remarks.all(), *typing.remarks.all())
        for remark in remarks:
            log("source is not read as it stands", logging.WARNING, detail=remark.says)
        # A database gives the same records in another order each time. Were that other data, they would have another
        # seed, and could be masked anew until the dice fall well.
        rows = write_in_order(as_read, path, contract.staged, contract.record_key)
        return StagedTable(vault.keep(path, ".parquet"), rows), variables, remarks


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


def forecast(variables: Variables, records: int) -> int:
    """Bytes of memory that a run needs at least for so many records, beyond what it has when it begins to read.

    variables : as they are staged
    """
    return _PROGRAM + records * _bytes_of_record(variables)


def measurements_at_once(variables: Variables, records: int) -> int:
    """How many measurements may have so many records at a time, at least 1: half of the free memory is for them, as
    another run may begin meanwhile."""
    return max(1, free_memory() // 2 // forecast(variables, records))


def within_memory(batches: Iterator[pd.DataFrame], variables: Variables, minimum: int) -> Iterator[pd.DataFrame]:
    """The same batches, as long as what came so far can be masked and judged on this machine.

    minimum : records that the contract promises, which are looked at before the first batch is read
    raises  : DataError with the figures, before the batch that is too much is handed on
    """
    free = free_memory()
    _refuse(variables, minimum, free)
    records = 0
    for batch in batches:
        records += len(batch)
        _refuse(variables, records, free)
        yield batch


def _refuse(variables: Variables, records: int, free: int) -> None:
    needed = forecast(variables, records)
    if needed > free:
        most = max(0, free - _PROGRAM) // _bytes_of_record(variables)
        raise DataError(
            f"{records:,} records or more, of {len(variables)} variables, need at least {needed / _GIGABYTE:.1f} GB of "
            f"memory to be masked and judged, and {free / _GIGABYTE:.1f} GB are free, enough for {most:,} at most. Run "
            "it where more is free, or release fewer variables, or a sample that the source draws."
        )


def _bytes_of_record(variables: Variables) -> int:
    return _TIMES * sum(map(_bytes_of_value, variables.values()))


def _bytes_of_value(variable: Variable) -> int:
    """In a typed frame, see `sluice.ground.variables`."""
    if variable.role in NAMES:
        return 40  # a keyed hash, as text
    if variable.kind.is_categorical:
        return 1 if variable.categories is not None and len(variable.categories) < 128 else 2
    return {Kind.INTEGER: 9, Kind.TEXT: 16}.get(variable.kind, 8)
