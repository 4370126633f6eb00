"""The files of a release that its masked file is judged by."""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from sluice.ground.arrays import IntArray
from sluice.ground.errors import PlanError
from sluice.ground.variables import Variables
from sluice.masking.moved_blocks import Block, moved_blocks
from sluice.masking.plan import ByStratum, apply_recodings
from sluice.masking.step import MaskingStep
from sluice.utility.comparison import Comparison
from tasks.release.records.masked_file import MaskedFile, kept_rows, row_order
from tasks.release.records.record_keys import noise_keys
from tasks.release.records.variables import (
    RecordsRelease,
    original_variables,
    read_masked,
    read_original,
    released_variables,
)


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
        record_rules=release.product.contract.record_rules,
        undeclared=release.product.contract.undeclared,
        analyses=release.product.definition.analyses,
        carried_out=masked.carried_out,
        blocks=_blocks(release, kept),
        left_out=(others, apply_recodings(masked.carried_out, others, variables)) if len(others) else None,
    )


def _blocks(release: RecordsRelease, kept: IntArray) -> tuple[Block, ...]:
    """Where variables went that the plan moved together, by the place of a record among those kept."""
    plan = release.product.definition.plan
    if not any(step.moves_jointly for step in plan):
        return ()
    frame = read_original(release, release.original)
    found = moved_blocks(plan, frame, original_variables(release), release.seeds().plan, noise_keys(release))
    return tuple(block.among(kept) for block in found)


def _recoded(
    carried_out: Sequence[MaskingStep | ByStratum], holdout: pd.DataFrame, variables: Variables
) -> pd.DataFrame | None:
    """The holdout on the masked file's categories; None where it holds a stratum that the masked file does not."""
    try:
        return apply_recodings(carried_out, holdout, variables)
    except PlanError:
        return None
