"""The files of a release that its masked file is judged by, read once for all steps that judge it.

A reassessment reads the masked file of a release that was masked before, with what its plan read off the data.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import pandas as pd

from sluice.custody.ledger_entry import last
from sluice.custody.states import State
from sluice.ground.arrays import IntArray
from sluice.ground.errors import DataError, PlanError
from sluice.ground.variables import Variables
from sluice.masking.masking_step import MaskingStep
from sluice.masking.moved_blocks import Block, moved_blocks
from sluice.masking.plan import ByStratum, apply_plan, apply_recodings
from sluice.publication.records_file import read_typed, write_parquet
from sluice.utility.comparison import Comparison
from tasks.release.records.record_variables import (
    RecordsRelease,
    noise_keys,
    original_variables,
    read_masked,
    read_original,
    released_variables,
)
from tasks.release.records.stored_masked_file import MaskedFile, kept_rows, row_order


class Frames:
    """The comparison of a masked file with its original, read when the first step asks, let go when the last took it.

    Prefect keeps what a step was given and returned as long as its flow runs, so nobody else would let it go.
    """

    def __init__(self, release: RecordsRelease, masked: MaskedFile) -> None:
        self._release, self._masked = release, masked
        self._read: Comparison | None = None

    def read(self) -> Comparison:
        """The comparison; whoever follows has the same frames."""
        self._read = self._read or compared(self._release, self._masked)
        return self._read

    def take(self) -> Comparison:
        """The comparison, for whoever is the last to need it; read anew for one who comes later."""
        taken, self._read = self.read(), None
        return taken


@dataclass(frozen=True)
class FileToJudge(MaskedFile):
    """A masked file with the frames by which it is judged."""

    frames: Frames = field(kw_only=True, repr=False, compare=False)

    @classmethod
    def of(cls, release: RecordsRelease, masked: MaskedFile) -> "FileToJudge":
        """The frames are read from the vault, and not taken from whoever masked them: a step that changed its input
        would else hide what it did."""
        return cls(**vars(masked), frames=Frames(release, masked))


def compared(release: RecordsRelease, masked: MaskedFile) -> Comparison:
    """The masked file record by record with the original."""
    variables = original_variables(release)
    kept = kept_rows(release, masked)  # who was left out of a sample has opted out: the risk is that of the others
    everybody = read_original(release, release.original)
    original, others = everybody, everybody.iloc[:0]
    if len(kept) < len(everybody):
        original = everybody.iloc[kept].reset_index(drop=True)
        others = everybody.drop(index=everybody.index[kept]).reset_index(drop=True)
    holdout = read_original(release, release.holdout) if release.holdout else None
    return Comparison(
        original=original,
        recoded=apply_recodings(masked.carried_out, original, variables),
        # Record by record with the original again: place i of the file holds the original record order[i].
        masked=read_masked(release, masked).iloc[np.argsort(row_order(release, kept))].reset_index(drop=True),
        holdout=holdout,
        recoded_holdout=None if holdout is None else _recoded(masked.carried_out, holdout, variables),
        variables=variables,
        released=released_variables(release),
        rng=np.random.default_rng(release.seeds().attack),
        unit=release.unit,
        minimum_cell=release.product.policy.minimum_cell,
        knowledge=release.product.contract.knowledge,
        numbers_alone=release.product.contract.numbers_alone,
        record_rules=release.product.contract.record_rules,
        undeclared=release.product.contract.undeclared,
        analyses=release.product.definition.analyses,
        carried_out=masked.carried_out,
        blocks=_blocks(release, everybody, kept),
        left_out=(others, apply_recodings(masked.carried_out, others, variables)) if len(others) else None,
    )


def _blocks(release: RecordsRelease, everybody: pd.DataFrame, kept: IntArray) -> tuple[Block, ...]:
    """Where variables went that the plan moved together, by the place of a record among those kept."""
    plan = release.product.definition.plan
    if not any(step.moves_jointly for step in plan):
        return ()
    rules = release.product.contract.record_rules
    found = moved_blocks(plan, everybody, original_variables(release), release.seeds().plan, noise_keys(release), rules)
    return tuple(block.among(kept) for block in found)


def _recoded(
    carried_out: Sequence[MaskingStep | ByStratum], holdout: pd.DataFrame, variables: Variables
) -> pd.DataFrame | None:
    """The holdout on the masked file's categories; None where it holds a stratum that the masked file does not."""
    try:
        return apply_recodings(carried_out, holdout, variables)
    except PlanError:
        return None


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
    rules = release.product.contract.record_rules
    masked, carried_out = apply_plan(plan, frame, original_variables(release), seed, noise_keys(release), rules)
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
