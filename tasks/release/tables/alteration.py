"""Tables that are protected by changing their values instead of suppressing cells.

Nothing here knows of a release: cells and a method in, the values to publish out.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sluice.errors import DataError
from sluice.tabular.alternatives.altered_cells import AlteredCells
from sluice.tabular.alternatives.cell_key import perturb_counts
from sluice.tabular.alternatives.controlled_adjustment import controlled_adjustment
from sluice.tabular.alternatives.controlled_rounding import controlled_rounding
from sluice.tabular.alternatives.perturbation_table import PerturbationTable
from sluice.tabular.alternatives.small_count_rounding import small_count_rounding
from sluice.tabular.model.cells import Cells, Codes
from sluice.tabular.rules.sensitivity import Requirements
from tasks.release.tables.protection import ProtectionRequest
from tasks.release.tables.protection_method import Alteration, CellKey, ControlledAdjustment, ControlledRounding


@dataclass(frozen=True, eq=False)
class KeyedRecords:
    """For each of n records, its innermost cell and its key, which is the same in every release."""

    leaves: Codes
    keys: NDArray[np.uint64]


def alter_cells(
    cells: Cells,
    request: ProtectionRequest,
    method: Alteration,
    *,
    is_count: bool,
    rng: Callable[[], np.random.Generator],
    records: Callable[[], KeyedRecords],
) -> AlteredCells:
    """The values to publish in place of the totals.

    is_count : a cell holds a number of records
    rng      : secret, for what is drawn for the whole table
    records  : for cell_key
    raises   : DataError when the method does not fit the table, or cannot give the protection that is asked for
    """
    requirements, known = request.requirements, request.assumptions
    if isinstance(method, ControlledRounding):
        return controlled_rounding(cells, requirements, method.base * 10**cells.decimals, known)
    if isinstance(method, ControlledAdjustment):
        return controlled_adjustment(
            cells, requirements, rng(), known, request.rules, spread=method.spread, cap=method.cap
        )
    if not is_count:
        raise DataError(
            f"{method.method} is for counts: leave 'variable' out of the measure, or choose another method."
        )
    if isinstance(method, CellKey):
        return _perturbed(cells, requirements, method, records())
    return _judged_by_width(small_count_rounding(cells, method.base, rng()), requirements)


def _perturbed(cells: Cells, requirements: Requirements, method: CellKey, records: KeyedRecords) -> AlteredCells:
    """Counts with noise that the records of a cell determine."""
    found = perturb_counts(
        cells,
        records.leaves,
        records.keys,
        PerturbationTable.of_largest_entropy(method.maximum, method.variance, method.threshold),
    )
    low, high = (bound.astype(np.float64) for bound in found.bounds())
    return _judged_by_width(
        AlteredCells(found.published, low, high, np.array([], int), 0, 0, found.says()), requirements
    )


def _judged_by_width(altered: AlteredCells, requirements: Requirements) -> AlteredCells:
    """Judge counts that chance may bring to an end of what is possible of them: how much is possible is what counts."""
    narrow = requirements.sensitive & (altered.high - altered.low < requirements.lower + requirements.upper)
    attempted = int(requirements.sensitive.sum())
    return replace(altered, failing=np.flatnonzero(narrow), attempted=attempted, completed=attempted)
