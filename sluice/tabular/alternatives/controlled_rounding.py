"""Controlled rounding: every cell becomes a multiple of a base next to it, and the table still adds up.

Source: Cox (1987): zero-restricted, that is, a multiple stays what it is and any other number goes to one of the two
multiples around it. Salazar-González (2006): the integer program, protection levels against an attacker who knows the
base, the attacker's problems, and wider steps for tables of three and more dimensions without a zero-restricted
rounding (Causey, Cox and Ernst 1985). Differs: the attacker's intervals are checked after the rounding, for intruders
of this project's own (`RoundedTable`); which of the two multiples are safe is known before it.
"""

from dataclasses import dataclass
from decimal import Decimal
from math import ceil, log10

import numpy as np

from sluice.ground.errors import DataError, InfeasibleError
from sluice.tabular.alternatives.additive_multiples import BLOCK, additive_multiples, blocks_of
from sluice.tabular.alternatives.altered_cells import (
    AlteredCells,
    Disclosed,
    alone_in,
    parts_of,
    play_contributors,
    refuse_negative,
    refuse_unless_additive,
)
from sluice.tabular.alternatives.attacker_interval import NEAR, attacker_interval
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Booleans, Cells, Floats, Integers
from sluice.tabular.rules.sensitivity import Requirements

STEPS = 3  # multiples beyond the adjacent ones, at most, where there is no table without


def controlled_rounding(
    cells: Cells,
    requirements: Requirements,
    base: int,
    assumptions: Assumptions = Assumptions(),  # noqa: B008
    weight: Floats | None = None,
    squared: bool = False,
    steps: int = STEPS,
    nodes: int = 2_000,
    open_above: Integers | None = None,
) -> AlteredCells:
    """Multiples of the base that add up, near the totals, each sensitive cell open as far as is required.

    base    : a whole number of units, at least 2
    weight  : shape (c,), 0 or more, of each cell's distance; 1 for published cells and 0 for others when not given
    squared : whether squared distances are minimised, in place of absolute ones
    steps   : how many multiples beyond the adjacent ones are allowed where there is no rounding without; a cell that
              is 0 stays 0 in any case
    nodes   : of branch and bound, see `additive_multiples`
    open_above : shape (c,), how far above its total anybody must believe a sensitive cell possible that is listed,
              beside what is required of it against those who know which cells are sensitive
    raises  : DataError for a base that cannot give the protection, saying which can, and for negative totals under
              `nonnegative`; InfeasibleError when no such table was found
    cost    : small tables to the optimum; 10,000 cells in seconds, see the benchmark table_rounding
    """
    _refuse_base(base)
    if steps < 0:
        raise DataError(f"steps of controlled_rounding must be 0 or more; got {steps}.")
    if assumptions.nonnegative:
        refuse_negative(cells, "controlled_rounding", "Say nonnegative: false if contributions may be negative.")
    if weight is None:
        weight = cells.published.astype(np.float64)
    if (weight < 0).any():
        raise DataError("weight of controlled_rounding must be 0 or more.")
    target = cells.total / base
    above = requirements.upper if open_above is None else np.maximum(requirements.upper, open_above)
    for beyond in range(steps + 1):
        blocks = blocks_of(cells, BLOCK // (2 * beyond + 1))
        lowest, highest = _safe_multiples(cells, requirements, above, assumptions, base, beyond)
        number = additive_multiples(cells.equations, target, lowest, highest, weight, squared, blocks, nodes)
        if number is not None:
            break
    else:
        raise InfeasibleError(
            f"controlled_rounding found no table that adds up with base {_in_unit(base, cells)} and {steps} "
            f"{'step' if steps == 1 else 'steps'} beyond the adjacent multiples. Allow more steps, or more nodes."
        )
    value = number * base
    refuse_unless_additive(cells, value, "controlled_rounding")
    table = RoundedTable(cells, value, (beyond + 1) * base - 1, requirements, assumptions, above)
    concern = _not_adjacent(cells, value, base) if beyond else None
    says = _says(_in_unit(base, cells), beyond)
    return AlteredCells.attacked(value, table.bounds(), requirements.sensitive, table.read(), says, concern)


def _refuse_base(base: int) -> None:
    if not isinstance(base, int | np.integer) or isinstance(base, bool):
        raise DataError(f"base of controlled_rounding must be a whole number of units of the last decimal; got {base}.")
    if base < 2:
        raise DataError(f"base of controlled_rounding must be 2 or more; got {base}. Base 1 changes nothing.")


def _safe_multiples(
    cells: Cells, requirements: Requirements, above: Integers, assumptions: Assumptions, base: int, beyond: int
) -> tuple[Integers, Integers]:
    """From which to which multiple each cell may go so that the interval around it holds what is required."""
    total, open_ = cells.total, (beyond + 1) * base - 1
    lowest, highest = _around(total, base, beyond, assumptions.nonnegative)
    least = -(-(total + requirements.upper - open_) // base)
    listed = -(-(total + above - open_) // base)  # of a figure that is not 0; 0 does not tell that anybody is there
    most = (total - requirements.lower + open_) // base
    fixed = lowest == highest
    sensitive = requirements.sensitive & cells.published
    low, high = np.maximum(lowest, least), np.minimum(highest, most)
    zero = (low <= 0) & (listed > 0)
    low, high = np.where(zero, low, np.maximum(low, listed)), np.where(zero & (listed > 1), 0, high)
    narrow = sensitive & (np.where(fixed, (least > lowest) | (most < highest), low > high))
    wide = sensitive & (requirements.sliding > 2 * open_)
    # Of a smaller base only those cells would be protected that lie well by chance, which tells where they lie.
    both = requirements.lower + above + 1
    bad = np.flatnonzero(narrow | wide | (sensitive & (both > open_ + 1)))
    if len(bad):
        needed = both[sensitive].max()
        # A figure of 0 leaves nothing below it, where it is one of the multiples that a cell may go to.
        low_cells = sensitive & (total + above < _neat(int(needed))) & assumptions.nonnegative
        needed = max(int(needed), int((both + above)[low_cells].max(initial=0)))
        enough = _neat(max(needed, int(requirements.sliding[sensitive].max()) // 2 + 1))
        raise DataError(
            f"base {_in_unit(base, cells)} of controlled_rounding is too small for the protection of {len(bad)} "
            f"cells, the first of them {cells.name(int(bad[0]))}. Base {_in_unit(enough, cells)} is large enough for "
            "all."
        )
    free = ~cells.published & (total != 0)
    far = np.abs(total).sum() // base + len(total)  # a marginal that nobody sees may go where its parts lead it
    highest = np.where(free, highest + far, highest)
    lowest = np.where(free, 0 if assumptions.nonnegative else lowest - far, lowest)
    return np.where(sensitive, low, lowest), np.where(sensitive, high, highest)


def _around(total: Integers, base: int, beyond: int, nonnegative: bool) -> tuple[Integers, Integers]:
    lowest, highest = total // base - beyond, -(-total // base) + beyond
    if nonnegative:
        lowest = np.maximum(lowest, 0)
    zero = total == 0
    return np.where(zero, 0, lowest), np.where(zero, 0, highest)


def _not_adjacent(cells: Cells, value: Integers, base: int) -> str | None:
    """What a person must decide on where cells went further than to the next multiple; None where none did."""
    far = np.flatnonzero(cells.published & (np.abs(value - cells.total) >= base))
    if not len(far):
        return None
    return (
        f"{len(far):,} of {int(cells.published.sum()):,} cells are a base or more from their true total, as no table "
        "that adds up and protects was found with every cell at a multiple next to it; readers take rounded figures "
        "for nearer. Choose another base, publish fewer dimensions, or approve it."
    )


def _neat(number: int) -> int:
    """The least of 1, 2, 5, 10, 20, 50, ... that is not below the number, so that it does not tell the number."""
    size: int = 10 ** max(0, ceil(log10(number)) - 1)
    return next(factor * size for factor in (1, 2, 5, 10) if factor * size >= number)


def _in_unit(base: int, cells: Cells) -> str:
    """A base as people write it, who do not count in units of the last decimal: 50, not 500 tenths."""
    return f"{Decimal(base).scaleb(-cells.decimals).normalize():f}"


def _says(base: str, beyond: int) -> str:
    if beyond == 0:
        how, open_ = "an adjacent multiple", "less than the base"
    else:
        how = (
            f"a multiple at most {beyond} beyond the adjacent ones (nearer ones that add up and protect were not found)"
        )
        open_ = f"less than {beyond + 1} times the base"
    return (
        f"Every cell was rounded to {how} of {base}, so that the table adds up. An attacker who knows the base learns "
        f"of each total that it lies {open_} from the published value, and whatever follows from the sums; a cell that "
        "became 0 is not listed, and may be larger. Small differences between cells, and small changes between "
        "editions, are hidden only as far as that."
    )


@dataclass(frozen=True, eq=False)
class RoundedTable:
    """A rounded table beside the truth; every published cell is at most `open_` units from its figure.

    What intruders cannot exclude are whole tables that add up, each cell near its figure. Three of them. Anybody must
    believe each sensitive cell possible at its level below and above the truth. Who knows which cells are sensitive,
    and their levels, knows that no multiple was taken that would have left less than that, and so a little more; to it
    the cell must be as wide open as both levels together, wherever in that the truth is. Contributors who are alone in
    cells know these, and have their own part of others.

    above : shape (c,), how far above the truth anybody must believe a sensitive cell possible; as required, without it
    """

    cells: Cells
    value: Integers
    open_: int
    requirements: Requirements
    assumptions: Assumptions
    above: Integers | None = None

    def bounds(self) -> tuple[Floats, Floats]:
        """Between what each total lies for anybody; shapes (c,)."""
        low, high = self.assumptions.bounds(self.cells, self.requirements.sensitive)
        near = self.cells.published
        return np.maximum(low, np.where(near, self.value - self.open_, -np.inf)), np.minimum(
            high, np.where(near, self.value + self.open_, np.inf)
        )

    def read(self) -> Disclosed:
        """Of which sensitive cells somebody can tell too much, and of which that stayed open; shapes (c,)."""
        needs, sensitive = self.requirements, self.requirements.sensitive
        low, high = self.bounds()
        above = needs.upper if self.above is None else np.where(self.value == 0, needs.upper, self.above)
        anybody = self._play(low, high, needs.lower, above, needs.sliding)
        seen = sensitive & self.cells.published
        knowing_low = np.where(seen, np.maximum(low, self.value - self.open_ + needs.lower), low)
        knowing_high = np.where(seen, np.minimum(high, self.value + self.open_ - needs.upper), high)
        # Cells that no rounding protects in full are found by the first reader; here they must hold the truth.
        total = self.cells.total
        knowing_low, knowing_high = np.minimum(knowing_low, total), np.maximum(knowing_high, total)
        nothing = np.zeros(len(total), dtype=np.int64)
        width = np.where(sensitive, needs.lower + needs.upper, 0)
        return Disclosed.to_any(
            anybody,
            self._play(knowing_low, knowing_high, nothing, nothing, width),
            play_contributors(self.cells, sensitive, self.assumptions.coalition, self._contributors),
        )

    def _contributors(self, readers: Booleans, asked: Booleans, alone: bool) -> Disclosed:
        cells, needs, total = self.cells, self.requirements, self.cells.total
        low, high = self.bounds()
        if self.assumptions.own_parts and self.assumptions.nonnegative and cells.largest.shape[1] > 1:
            others = needs.sensitive & ~readers
            low = np.maximum(low, parts_of(cells, self.assumptions.coalition, others))
        known = readers & alone_in(cells, self.assumptions.coalition)
        low, high = np.where(known, total, np.minimum(low, total)), np.where(known, total, high)
        # Nobody asks for more than one's own part of a cell leaves.
        lower = np.where(asked, np.minimum(needs.lower, total - low), 0).astype(np.int64)
        return self._play(low, high, lower, np.where(asked, needs.upper, 0), np.zeros(len(total), dtype=np.int64))

    def _play(self, low: Floats, high: Floats, lower: Integers, upper: Integers, sliding: Integers) -> Disclosed:
        equations, total = self.cells.equations, self.cells.total
        down, up = attacker_interval(equations, total, low, high, lower, upper)
        undecided = np.isnan(down) | np.isnan(up)
        wide = sliding > np.nan_to_num(down) + np.nan_to_num(up) + NEAR
        if wide.any():
            # The sum of both sides may be reached where a side asks for less; it is looked at for these cells alone.
            more = np.where(wide, sliding, 0)
            far_down, far_up = attacker_interval(equations, total, low, high, more, more)
            undecided |= wide & (np.isnan(far_down) | np.isnan(far_up))
            wide &= sliding > np.nan_to_num(far_down) + np.nan_to_num(far_up) + NEAR
        failing: Booleans = (down < lower) | (up < upper) | (wide & ~undecided)
        return Disclosed(failing, undecided & ~failing)
