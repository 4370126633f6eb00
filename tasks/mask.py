"""Mask: apply the plan, put the records in a random order, and stage the file that would be published."""

import numpy as np

from sluice.masking.plan import apply_plan
from sluice.release.states import State
from sluice.release.table_file import write_csv, write_parquet
from tasks.case import Masked, Release
from tasks.step import step


@step
def mask(release: Release) -> Masked:
    frame = release.read(release.original)
    seeds = release.seeds()
    masked, carried_out = apply_plan(release.case.definition.plan, frame, release.variables, seeds.plan)
    # The order of the records would link each to its original as surely as a name does.
    masked = masked.iloc[row_order(release)].reset_index(drop=True)
    vault = release.case.workspace.vault
    with vault.scratch(".parquet") as path:
        write_parquet(masked, path, release.released)
        sha256 = vault.keep(path, ".parquet")
    with vault.scratch(".csv") as path:
        write_csv(masked, path)
        csv_sha256 = vault.keep(path, ".csv")
    release.record(State.MASKED, data=sha256, csv=csv_sha256, rows=len(masked))
    return Masked(sha256, csv_sha256, len(masked), carried_out)


def row_order(release: Release) -> np.ndarray:
    """Which original record stands in each row of the masked file: shape (n,). As secret as the seed it comes from."""
    return np.random.default_rng(release.seeds().order).permutation(release.original.rows)
