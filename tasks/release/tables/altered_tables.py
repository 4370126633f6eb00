"""Tables that are protected by changing their values instead of suppressing cells.

Nothing here knows of a release: cells and a method in, the values to publish out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sluice.ground.errors import DataError
from sluice.tabular.alternatives.altered_cells import AlteredCells, Disclosed
from sluice.tabular.alternatives.attacker_interval import NoisyCounts
from sluice.tabular.alternatives.cell_key import PerturbedCounts, cell_keys, perturb_counts, record_keys
from sluice.tabular.alternatives.controlled_adjustment import controlled_adjustment
from sluice.tabular.alternatives.controlled_rounding import controlled_rounding
from sluice.tabular.alternatives.drawn_keys import not_drawn
from sluice.tabular.alternatives.likely_counts import LikelyCounts
from sluice.tabular.alternatives.noise_multipliers import multiplied_cells, multipliers
from sluice.tabular.alternatives.small_count_rounding import small_count_rounding
from sluice.tabular.model.cells import Cells, Codes, Integers
from sluice.tabular.model.column_values import is_missing
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import Measure
from sluice.tabular.model.numbered_records import records_of
from sluice.tabular.rules.intruders import intruders
from tasks.release.tables.protection import ProtectionRequest
from tasks.release.tables.protection_method import (
    Alteration,
    CellKey,
    ControlledAdjustment,
    ControlledRounding,
    NoiseMultipliers,
)


@dataclass(frozen=True, eq=False)
class KeyedRecords:
    """For each of n records, its innermost cell and its key, which is the same in every release.

    sides   : shape (n,), the keys of those to whom the records belong
    amounts : shape (n,), what each adds to the totals
    """

    leaves: Codes
    keys: NDArray[np.uint64]
    sides: NDArray[np.uint64]
    amounts: Integers

    @classmethod
    def of(
        cls,
        frame: pd.DataFrame,
        dimensions: Sequence[Dimension],
        measure: Measure,
        names: Sequence[str],
        secret: bytes,
    ) -> "KeyedRecords":
        """names: of the columns by which a record is known again. Raises DataError for what is no record."""
        records = records_of(frame, dimensions, measure)
        keys = record_keys(frame[list(names)].astype(str).agg("\n".join, axis=1), secret)
        owner = frame[measure.holding or measure.contributor] if measure.contributor else None
        if owner is not None and measure.holding:
            owner = owner.where(~is_missing(owner), frame[measure.contributor])
        sides = keys if owner is None else record_keys(owner.astype(str), secret)
        return cls(records.leaves, keys, sides, records.value if records.weighted is None else records.weighted)


@dataclass(frozen=True, eq=False)
class OwnKeys:
    """Keys that come with the data, fractions of 1 with so many decimals at most.

    leaves   : shape (n, d), the innermost cell of each of n records; None where the keys are those of the cells
    keys     : of the records, shape (n,), or of the cells, shape (c,); as fractions of 2 ** 64
    """

    keys: NDArray[np.uint64]
    decimals: int
    leaves: Codes | None = None

    @classmethod
    def of(cls, column: "pd.Series[str]", leaves: Codes | None = None) -> "OwnKeys":
        """Raises DataError for a key that is no number from 0 to 1, or has more than 15 decimals."""
        text = column.astype(str).str.strip()
        decimals = int(text.str.partition(".")[2].str.len().max()) if len(text) else 0
        strange = int((~text.str.fullmatch(r"0?\.\d{1,15}|[01](?:\.0{0,15})?")).sum())
        if strange:
            raise DataError(
                f"'{column.name}', the key of a record or a cell, must be from 0 to 1, with at most 15 decimals; it is "
                f"not in {strange:,} of {len(text):,}."
            )
        whole = np.array([int(Fraction(each) * 10**decimals) for each in text], dtype=object)
        made = cls(_of_tenths(whole, decimals), decimals, leaves)
        found = not_drawn(made.keys, decimals, leaves)
        if found:
            raise DataError(
                f"'{column.name}', the key of a record or a cell, must be drawn at random for each; of {len(text):,} "
                f"keys {found}, so that who knows the perturbation table can take the noise out."
            )
        return made

    def of_cells(self, cells: Cells) -> NDArray[np.uint64]:
        """Shape (c,): of a sum of keys the fraction alone, to the decimals that it has, so that 0.3 + 0.7 is 0."""
        keys = self.keys if self.leaves is None else cell_keys(cells, self.leaves, self.keys)[1]
        unit = 10**self.decimals
        nearest = np.array([(int(key) * unit + (1 << 63)) >> 64 for key in keys], dtype=object)
        return _of_tenths(nearest, self.decimals)


def _of_tenths(whole: NDArray[np.object_], decimals: int) -> NDArray[np.uint64]:
    """Numbers of units of 10 ** -decimals as fractions of 2 ** 64, without whole ones."""
    unit = 10**decimals
    return np.array([(int(each) % unit << 64) // unit for each in whole], dtype=np.uint64)


def alter_cells(
    cells: Cells,
    request: ProtectionRequest,
    method: Alteration,
    *,
    is_count: bool,
    rng: Callable[[], np.random.Generator],
    records: Callable[[], KeyedRecords],
    own_keys: Callable[[], OwnKeys] | None = None,
) -> AlteredCells:
    """The values to publish in place of the totals.

    is_count : a cell holds a number of records
    rng      : secret, for what is drawn for the whole table
    records  : for cell_key and noise_multipliers
    own_keys : for cell_key, where keys come with the data
    raises   : DataError when the method does not fit the table, or cannot give the protection that is asked for
    """
    requirements, known = request.requirements, request.assumptions
    if isinstance(method, ControlledRounding):
        # Of a count that is listed everybody knows that it is not 0: nothing asks that it may be. But it may not be
        # told to be so small that it must be sensitive.
        anybody = intruders(cells, requirements, request.rules, known)[0].requirements
        asked = replace(requirements, lower=anybody.lower)
        return controlled_rounding(cells, asked, method.base * 10**cells.decimals, known, open_above=anybody.upper)
    if isinstance(method, ControlledAdjustment):
        return controlled_adjustment(
            cells, requirements, rng(), known, request.rules, spread=method.spread, cap=method.cap
        )
    if isinstance(method, NoiseMultipliers):
        if is_count:
            raise DataError("noise_multipliers is for magnitudes, and this table counts records; choose cell_key.")
        given = records()
        factors = multipliers(given.keys, given.sides, method.least, method.spread)
        return multiplied_cells(cells, requirements, given.leaves, given.amounts, factors, method.least, method.spread)
    if not is_count:
        raise DataError(
            f"{method.method} is for counts, and this table adds up a variable: count records or choose another."
        )
    if isinstance(method, CellKey):
        if own_keys is not None:
            keys = own_keys().of_cells(cells)
            found = PerturbedCounts(cells.total + method.table.noise(cells.total, keys), keys, method.table)
        else:
            given = records()
            found = perturb_counts(cells, given.leaves, given.keys, method.table)
        return _read_noise(cells, request, found)
    return _read(cells, request, small_count_rounding(cells, method.base, rng()))


def _read(cells: Cells, request: ProtectionRequest, altered: AlteredCells) -> AlteredCells:
    """Judge rounded counts, of which each figure says between what its count lies."""
    intruders = NoisyCounts(cells, altered.low, altered.high, request.requirements, request.rules, request.assumptions)
    found, says = intruders.read(), altered.says
    if found.failing.any():
        says += " Together with what adds up the figures tell too much: choose a larger base, or publish fewer cells."
    return AlteredCells.attacked(altered.value, intruders.bounds(), request.requirements.sensitive, found, says)


def _read_noise(cells: Cells, request: ProtectionRequest, noisy: PerturbedCounts) -> AlteredCells:
    """Judge counts with noise: by what their figures prove, and by what they make likely."""
    low, high = (bound.astype(np.float64) for bound in noisy.bounds())
    intruders = NoisyCounts(cells, low, high, request.requirements, request.rules, request.assumptions)
    certain, likely = intruders.read(), LikelyCounts(intruders, noisy.table, noisy.keys).read()
    found, says = Disclosed.to_any(certain, Disclosed(likely.failing, np.zeros(len(cells), dtype=bool))), noisy.says()
    if certain.failing.any():
        says += (
            f" Figures and sums together are proof for {int(certain.failing.sum()):,} sensitive cells: every possible "
            "count is too small, or too few are possible."
        )
    says += likely.says()
    if found.failing.any():
        says += " Choose a larger maximum, a larger variance or a threshold, or publish fewer cells."
    return AlteredCells.attacked(noisy.published, intruders.bounds(), request.requirements.sensitive, found, says)
