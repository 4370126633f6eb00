"""Noise multipliers: every record's value is multiplied by a factor of its own, and tables are sums of the products.

The factor of a record is 1 plus or minus a share that is never below a least one and has no end but 90 percent. Its
size is decided by the record's secret key, its side by the key of the contributor, so that the records of one
contributor do not cancel each other out. So parts add up to totals, zeros stay zeros, a cell has the same figure in
every table and edition, and what the difference of two cells tells of the record that is in one of them alone is its
noisy value. This is where it differs from noise that looks at the largest contributions of a cell, as the cell key of
counts does: of a record that is not among these such a difference tells the value.

Source: Evans, Zayatz and Slanta (1998); Thompson, Broadfoot and Elazar (2013) on keys of records. Differs: shares are
drawn from an exponential distribution that begins at the least one.
"""

from math import exp

import numpy as np

from sluice.ground.errors import DataError
from sluice.tabular.alternatives.altered_cells import AlteredCells, refuse_unless_additive
from sluice.tabular.alternatives.cell_key import sums_of_records
from sluice.tabular.alternatives.perturbation_table import Keys
from sluice.tabular.model.cells import Booleans, Cells, Codes, Floats, Integers
from sluice.tabular.rules.sensitivity import Requirements

MOST = 0.9  # of a value, up or down: none changes its sign
_SIDE = np.uint64(1) << np.uint64(63)


def multipliers(keys: Keys, sides: Keys, least: float, spread: float = 1.0) -> Floats:
    """The factor of each record.

    keys, sides : shape (n,), of the records, and of their contributors; see `record_keys`
    least       : in percent, how much a value changes at least
    spread      : by how many times as much it changes further, on average, before the end at 90 percent
    returns     : shape (n,), 1 on average
    raises      : DataError for a share that leaves no room, or a spread that is none
    """
    if not 1 <= least <= 50:
        raise DataError(f"least of noise_multipliers must be from 1 to 50, in percent; got {least:g}.")
    if not 0 < spread <= 10:
        raise DataError(f"spread of noise_multipliers must be above 0 and at most 10; got {spread:g}.")
    share = least / 100
    uniform = (keys & (_SIDE - np.uint64(1))).astype(np.float64) * 2.0**-63
    end = (MOST / share - 1) / spread
    beyond = -np.log1p(-uniform * -np.expm1(-end)) * spread
    factors: Floats = 1 + np.where(sides >= _SIDE, 1.0, -1.0) * share * (1 + beyond)
    return factors


def multiplied_cells(
    cells: Cells,
    requirements: Requirements,
    leaves: Codes,
    amounts: Integers,
    factors: Floats,
    least: float,
    spread: float = 1.0,
) -> AlteredCells:
    """The cells with each record's amount multiplied and rounded to whole units.

    leaves  : shape (n, d), the position of each record's leaf in each dimension
    amounts : shape (n,), what each record adds to the totals, in units of the cells
    factors : shape (n,), see `multipliers`
    raises  : DataError when the records do not add up to the cells
    cost    : O(n log n), and O(m log c) for each combination of levels, m being the cells of leaves

    A sensitive cell is safe when the largest contribution changes by the protection level at least. Then no estimate is
    within the level on both sides of the figure, and whoever knows everything but the noise of the largest contributor
    still has to guess its side.
    """
    total = sums_of_records(cells, leaves, amounts)
    if not np.array_equal(total, cells.total):
        raise DataError("the records of noise_multipliers do not add up to the cells.")
    value = sums_of_records(cells, leaves, np.rint(amounts * factors).astype(np.int64))
    refuse_unless_additive(cells, value, "noise_multipliers")
    failing = requirements.sensitive & ~_side_is_open(cells, requirements, least)
    attempted = int(requirements.sensitive.sum())
    unbounded = np.full(len(cells), np.inf)
    return AlteredCells(
        value, -unbounded, unbounded, np.flatnonzero(failing), attempted, attempted, _says(least, spread)
    )


def _side_is_open(cells: Cells, requirements: Requirements, least: float) -> Booleans:
    """Whether the largest contribution changes by the level at least, and by a whole unit."""
    if not cells.largest.shape[1]:
        return np.zeros(len(cells), dtype=bool)
    change = cells.largest[:, 0] * (least / 100)
    level = np.maximum(requirements.lower, requirements.upper)
    # Levels are rounded up to whole units.
    wide: Booleans = ((change > level - 1) & (change >= 1)) | (level == 0)
    return wide


def _says(least: float, spread: float) -> str:
    share = least / 100
    guess = 50 * (1 - exp(-2 * (1 + share) / (1 - share) / spread))
    return (
        f"Every record's value was multiplied by a factor of its own, {least:g} percent or more above or below 1, "
        f"{least * (1 + spread):g} percent on average, and tables are sums of the products: parts add up to totals, "
        "and the same records have the same figure in every table and edition. Who knows everything but the factor "
        f"of one record guesses its value to within {least:g} percent with a chance of about {guess:.0f} percent, and "
        "that of a contributor of several records with one half at most. Who knows the true value of a record knows "
        "its factor, and on which side its contributor's other values lie; ratios of one record's values in two "
        "editions are exact."
    )
