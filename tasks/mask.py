"""Mask: apply the plan, put the records in a random order, and stage the file that would be published."""

from functools import partial

import numpy as np
import pandas as pd

from sluice.custody.states import State
from sluice.ground.parallel_jobs import in_threads
from sluice.ground.machine import threads
from sluice.masking.plan import apply_plan
from sluice.publication.copies import COPIES
from sluice.publication.records_file import write_csv, write_parquet
from sluice.publication.spreadsheet_text import escaped_frame
from tasks.release.records.comparison import FileToJudge
from tasks.release.records.masked_file import MaskedFile, row_order
from tasks.release.records.record_keys import noise_keys
from tasks.release.records.variables import (
    RecordsRelease,
    described_variables,
    original_variables,
    read_original,
    released_variables,
)
from tasks.step import step


@step
def mask(release: RecordsRelease) -> FileToJudge:
    """The file, with the frames by which the next steps judge it."""
    frame, vault = read_original(release, release.original), release.vault
    plan, seed = release.product.definition.plan, release.seeds().plan
    masked, carried_out = apply_plan(plan, frame, original_variables(release), seed, noise_keys(release))
    records = len(frame)
    del frame
    kept = np.sort(masked.index.to_numpy(dtype=np.int64))
    sample = None if len(kept) == records else vault.keep_bytes(kept.astype("<i8").tobytes(), ".rows")
    # The order of the records would link each to its original as surely as a name does.
    masked = masked.loc[row_order(release, kept)].reset_index(drop=True)
    sha256, csv_sha256 = in_threads([partial(_parquet, release, masked), partial(_csv, release, masked)], threads())
    copies: dict[str, str] = {name: _copy(release, name, sha256) for name in release.product.definition.copies}
    seed_name = release.seed_name  # of the seed; it tells nothing of the seed itself
    files = MaskedFile(sha256, csv_sha256, len(masked), carried_out, sample, copies)
    release.record(State.MASKED, **files.hashes, rows=len(masked), sample=sample, seed=seed_name)
    return FileToJudge.of(release, files)


def _parquet(release: RecordsRelease, masked: pd.DataFrame) -> str:
    with release.vault.scratch(".parquet") as path:
        write_parquet(masked, path, released_variables(release))
        return release.vault.keep(path, ".parquet")


def _csv(release: RecordsRelease, masked: pd.DataFrame) -> str:
    with release.vault.scratch(".csv") as path:
        write_csv(escaped_frame(masked) if release.product.policy.formula_cells == "escape" else masked, path)
        return release.vault.keep(path, ".csv")


def _copy(release: RecordsRelease, name: str, sha256: str) -> str:
    """The SHA-256 of a copy for a statistics package, made from the file that is judged.

    Its categories are those that the documents name: others are in no list of labels.
    """
    definition, copy, vault = release.product.definition, COPIES[name], release.vault
    with vault.scratch(copy.ending) as path:
        copy.write(vault.path(sha256, ".parquet"), path, described_variables(release.product), definition.title)
        return vault.keep(path, copy.ending)
