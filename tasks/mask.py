"""Mask: apply the plan, put the records in a random order, and stage the file that would be published."""

import numpy as np

from sluice.custody.states import State
from sluice.masking.plan import apply_plan
from sluice.publication.records_file import write_csv, write_parquet
from tasks.release.records.masked_file import MaskedFile, row_order
from tasks.release.records.record_keys import noise_keys
from tasks.release.records.variables import RecordsRelease, original_variables, read_original, released_variables
from tasks.step import step


@step
def mask(release: RecordsRelease) -> MaskedFile:
    frame, vault = read_original(release, release.original), release.vault
    plan, seed = release.product.definition.plan, release.seeds().plan
    masked, carried_out = apply_plan(plan, frame, original_variables(release), seed, noise_keys(release))
    records = len(frame)
    del frame
    kept = np.sort(masked.index.to_numpy(dtype=np.int64))
    sample = None if len(kept) == records else vault.keep_bytes(kept.astype("<i8").tobytes(), ".rows")
    # The order of the records would link each to its original as surely as a name does.
    masked = masked.loc[row_order(release, kept)].reset_index(drop=True)
    with vault.scratch(".parquet") as path:
        write_parquet(masked, path, released_variables(release))
        sha256 = vault.keep(path, ".parquet")
    with vault.scratch(".csv") as path:
        write_csv(masked, path)
        csv_sha256 = vault.keep(path, ".csv")
    seed_name = release.seed_name  # of the seed; it tells nothing of the seed itself
    release.record(State.MASKED, data=sha256, csv=csv_sha256, rows=len(masked), sample=sample, seed=seed_name)
    return MaskedFile(sha256, csv_sha256, len(masked), carried_out, sample)
