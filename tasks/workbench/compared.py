"""A masked DataFrame, its original and other people, as attacks and the reference standard see them."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from schemas.contract import Contract
from sluice.ground.errors import DataError
from sluice.ground.verdict import Finding
from sluice.masking.plan import apply_recodings
from sluice.utility.comparison import Comparison
from tasks.workbench.arguments import Seed, data_frame, entropy
from tasks.workbench.mask import Masked
from tasks.workbench.masked_file import compared, on_columns, understood
from tasks.workbench.records import Columns, refuse_missing
from tasks.workbench.tabular_file import typed_table


@dataclass(frozen=True)
class Compared:
    """The files, the contract that both are understood by, and what was found of the masked file's columns."""

    files: Comparison
    contract: Contract
    on_columns: tuple[Finding, ...]
    plan: tuple[str, ...] = ("Not known: the file was masked outside Sluice.",)


def compare(
    original: pd.DataFrame,
    masked: pd.DataFrame | Masked,
    columns: Columns,
    *,
    holdout: pd.DataFrame | None = None,
    holdout_name: str = "holdout",
    paired: bool = False,
    minimum_cell: int = 10,
    seed: Seed = None,
    refuse: Callable[[Contract, bool], None] | None = None,
) -> Compared:
    """The files side by side.

    masked       : a DataFrame that anybody made, or what `sluice.mask` returned, whose recodings are known
    columns      : of the original; those of a DataFrame `masked` are understood by them as far as their values allow
    holdout      : records of other people, with the columns of the original
    holdout_name : of the argument, for errors
    paired       : row i of `masked` is the person of row i of the original; known of what `sluice.mask` returned
    refuse       : looks at the contract and at whether the rows are paired, before any record is compared
    raises       : TypeError, DataError, DocumentError
    """
    original = data_frame(original, "original")
    holdout = None if holdout is None else data_frame(holdout, holdout_name)
    drawn = entropy(seed)
    if isinstance(masked, Masked):
        return _with_plan(original, masked, columns, holdout, holdout_name, minimum_cell, drawn, refuse)
    masked = data_frame(masked, "masked")
    contract = columns.contract_for(original)
    refuse_missing(contract.staged, "original", original)
    if holdout is not None:
        refuse_missing(contract.staged, holdout_name, holdout)
    if paired and len(original) != len(masked):
        raise DataError(
            f"paired: masked must have the {len(original):,} records of the original in their order; it has "
            f"{len(masked):,}."
        )
    if refuse:
        refuse(contract, paired)
    found = understood(masked, contract, drawn)
    files = compared(original, found, contract, holdout, paired, minimum_cell, drawn)
    return Compared(files, contract, tuple(on_columns(found)))


def _with_plan(
    original: pd.DataFrame,
    masked: Masked,
    columns: Columns,
    holdout: pd.DataFrame | None,
    holdout_name: str,
    minimum_cell: int,
    drawn: int,
    refuse: Callable[[Contract, bool], None] | None,
) -> Compared:
    if columns != Columns():
        raise DataError("masked knows its columns: name none, and give no contract.")
    if len(original) != len(masked.original) or not original.index.equals(masked.original.index):
        raise DataError(
            f"original must be the frame that was masked, of {len(masked.original):,} records; got another one, of "
            f"{len(original):,}."
        )
    if refuse:
        refuse(masked.contract, True)
    kept = masked.kept.to_numpy()  # who was left out of a sample has opted out: the risk is that of the others
    before, variables = masked.original.frame[kept].reset_index(drop=True), masked.original.variables
    others = recoded_others = None
    if holdout is not None:
        refuse_missing(masked.contract.staged, holdout_name, holdout)
        others = typed_table(holdout, masked.contract, drawn)[0]
        recoded_others = apply_recodings(masked.carried_out, others, variables)
    files = Comparison(
        original=before,
        recoded=apply_recodings(masked.carried_out, before, variables),
        masked=masked.released.frame,
        holdout=others,
        recoded_holdout=recoded_others,
        variables=variables,
        released=masked.released.variables,
        rng=np.random.default_rng(drawn),
        unit=masked.contract.records_are,
        minimum_cell=minimum_cell,
        knowledge=masked.contract.knowledge,
        numbers_alone=masked.contract.numbers_alone,
        record_rules=masked.contract.record_rules,
        undeclared=masked.contract.undeclared,
        carried_out=masked.carried_out,
        blocks=tuple(block.among(np.flatnonzero(kept)) for block in masked.blocks),
    )
    return Compared(files, masked.contract, (), tuple(step.describe() for step in masked.plan))
