"""Mask: apply the plan, put the records in a random order, and stage the file that would be published."""

import numpy as np

from sluice.custody.states import State
from sluice.masking.plan import apply_plan
from sluice.publication.table_file import write_csv, write_parquet
from tasks.case import Masked, Release
from tasks.step import step


@step
def mask(release: Release) -> Masked:
    frame = release.read(release.original)
    seeds = release.seeds()
    masked, carried_out = apply_plan(release.case.definition.plan, frame, release.variables, seeds.plan)
    vault = release.case.workspace.vault
    kept = np.sort(masked.index.to_numpy(dtype=np.int64))
    sample = None if len(kept) == len(frame) else vault.keep_bytes(kept.astype("<i8").tobytes(), ".rows")
    # The order of the records would link each to its original as surely as a name does.
    masked = masked.loc[row_order(release, kept)].reset_index(drop=True)
    with vault.scratch(".parquet") as path:
        write_parquet(masked, path, release.released)
        sha256 = vault.keep(path, ".parquet")
    with vault.scratch(".csv") as path:
        write_csv(masked, path)
        csv_sha256 = vault.keep(path, ".csv")
    release.record(State.MASKED, data=sha256, csv=csv_sha256, rows=len(masked))
    return Masked(sha256, csv_sha256, len(masked), carried_out, sample)


def kept_rows(release: Release, masked: Masked) -> np.ndarray:
    """The original records that are in the masked file, in rising order: all of them, unless the plan took a sample."""
    if masked.sample is None:
        return np.arange(release.original.rows)
    kept = release.case.workspace.vault.verify(masked.sample, ".rows")
    return np.frombuffer(kept.read_bytes(), dtype="<i8").astype(np.int64)


def row_order(release: Release, kept: np.ndarray) -> np.ndarray:
    """Which original record stands in each row of the masked file. As secret as the seed it comes from.

    kept    : shape (m,), rising, the original records that are in the masked file
    returns : shape (m,), the same in random order
    """
    order = np.random.default_rng(release.seeds().order).permutation(release.original.rows)
    return order[np.isin(order, kept)]
