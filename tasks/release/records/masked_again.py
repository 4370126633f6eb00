"""The masked file of a release that was masked before, with what its plan read off the data."""

from dataclasses import replace

from sluice.custody.ledger import last
from sluice.custody.states import State
from sluice.ground.errors import DataError
from sluice.masking.plan import apply_plan
from sluice.publication.records_file import read_typed, write_parquet
from tasks.release.records.comparison import FileToJudge
from tasks.release.records.masked_file import MaskedFile, kept_rows, row_order
from tasks.release.records.record_keys import noise_keys
from tasks.release.records.variables import (
    RecordsRelease,
    original_variables,
    read_masked,
    read_original,
    released_variables,
)


def masked_again(release: RecordsRelease) -> FileToJudge:
    """The file that was masked, by the vault, and the plan as it was carried out, which is done once more.

    raises : DataError when the plan now gives another file: nobody could tell then what was read off the data
    cost   : of masking
    """
    done = last(release.entries(), State.MASKED)
    if done is None:
        raise DataError(f"{release.id} was not masked")
    file, released = MaskedFile.recorded(done.body), released_variables(release)
    before = read_masked(release, file)
    plan, seed = release.product.definition.plan, release.seeds().plan
    frame = read_original(release, release.original)
    masked, carried_out = apply_plan(plan, frame, original_variables(release), seed, noise_keys(release))
    masked = masked.loc[row_order(release, kept_rows(release, file))].reset_index(drop=True)
    with release.vault.scratch(".parquet") as path:
        write_parquet(masked, path, released)
        again = read_typed(path, released)
    if not again.equals(before):
        raise DataError(
            f"the plan of {release.id} gives another file than it did, under this version of Sluice or its libraries, "
            "so it cannot be judged by this one"
        )
    return FileToJudge.of(release, replace(file, carried_out=carried_out))
