"""Tables that are protected by changing their values in place of leaving blanks."""

from dataclasses import replace

import numpy as np

from sluice.errors import DataError
from sluice.publication.table_file import read_typed
from sluice.tabular.alternatives.altered_cells import AlteredCells
from sluice.tabular.alternatives.cell_key import perturb_counts, record_keys
from sluice.tabular.alternatives.controlled_adjustment import controlled_adjustment
from sluice.tabular.alternatives.controlled_rounding import controlled_rounding
from sluice.tabular.alternatives.perturbation_table import PerturbationTable
from sluice.tabular.alternatives.small_count_rounding import small_count_rounding
from sluice.tabular.model.cells import Cells
from sluice.tabular.model.records import records_of
from sluice.tabular.rules.sensitivity import Requirements
from tasks.case import Release
from tasks.release.tables.protection import ProtectionRequest
from tasks.table_terms import CellKey, ControlledAdjustment, ControlledRounding, SmallCountRounding
from tasks.tables_fit import measure_of


def alter(release: Release, cells: Cells, request: ProtectionRequest) -> AlteredCells:
    """The values to publish in place of the totals, by the definition's method.

    raises : DataError when the method does not fit the table, or cannot give the protection that is asked for
    """
    method, asked, known = release.case.definition.protection, request.requirements, request.assumptions
    match method:
        case ControlledRounding():
            return controlled_rounding(cells, asked, method.base * 10**cells.decimals, known)
        case SmallCountRounding():
            _refuse_amounts(release, method.method)
            rng = np.random.default_rng(release.seeds().plan)
            return _judged_by_width(small_count_rounding(cells, method.base, rng), asked)
        case ControlledAdjustment():
            return controlled_adjustment(cells, asked, known, cap=method.cap)
    _refuse_amounts(release, method.method)
    return _perturbed(release, cells, asked, method)


def _perturbed(release: Release, cells: Cells, asked: Requirements, method: CellKey) -> AlteredCells:
    """Counts with noise. A record's key comes from its contributor, or its record key: it is always the same."""
    case = release.case
    measure = measure_of(case.definition, case.contract)
    names = [measure.contributor] if measure.contributor else list(case.contract.record_key)
    if not names:
        raise DataError("cell_key needs a contributor, or a record_key in the contract, to know a record again.")
    frame = read_typed(case.workspace.vault.verify(release.data.sha256, ".parquet"), release.staged_variables)
    records = records_of(frame, cells.dimensions, measure)
    secret = case.workspace.vault.pseudonym("cell_key", case.contract.dataset).encode()
    told = frame[names].astype(str).agg("\n".join, axis=1)
    found = perturb_counts(
        cells,
        records.leaves,
        record_keys(told, secret),
        PerturbationTable.of_largest_entropy(method.maximum, method.variance, method.threshold),
    )
    low, high = (bound.astype(np.float64) for bound in found.bounds())
    return _judged_by_width(AlteredCells(found.published, low, high, np.array([], int), 0, 0, found.says()), asked)


def _judged_by_width(altered: AlteredCells, asked: Requirements) -> AlteredCells:
    """Judge counts that chance may bring to an end of what is possible of them: how much is possible is what counts."""
    narrow = asked.sensitive & (altered.high - altered.low < asked.lower + asked.upper)
    judged = int(asked.sensitive.sum())
    return replace(altered, failing=np.flatnonzero(narrow), attempted=judged, completed=judged)


def _refuse_amounts(release: Release, method: str) -> None:
    if release.case.definition.measure.variable is not None:
        raise DataError(f"{method} is for counts: leave 'variable' out of the measure, or choose another method.")
