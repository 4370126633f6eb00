"""The holdout: records set aside at ingest, never masked nor published; the reference that the file is held to."""

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
from numpy.typing import NDArray

from sluice.ground.errors import DataError
from sluice.ground.variables import GROUPS
from sluice.publication.records_file import write_parquet
from sluice.risk.people import groups_of_people
from tasks.release.release import DocumentedRelease, P, Release, StagedTable


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
