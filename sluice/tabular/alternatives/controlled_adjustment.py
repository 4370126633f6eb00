"""Controlled tabular adjustment: sensitive cells move by more than their protection level, others as little as adds up.

Source: Dandekar and Cox (2002); Cox, Kelly and Patil (2004); Castro (2006). Differs in what is drawn. Where each
sensitive cell moves by its level exactly, the truth is one of two values, and of a cell of one contributor they are the
published figure divided by 1 + p and by 1 - p. So how far a cell goes is drawn, its level times one plus an exponential
number, and so is the side; the weights of the other cells are drawn, too, so that nothing follows from which of them
changed. A side is turned only where the table cannot add up otherwise.
"""

from collections.abc import Sequence
from math import exp

import numpy as np
from numpy.random import Generator

from sluice.ground.errors import DataError
from sluice.tabular.alternatives.additive_multiples import additive_multiples, blocks_of
from sluice.tabular.alternatives.adjustment_intruder import read_adjustment
from sluice.tabular.alternatives.adjustment_region import AdjustedTable
from sluice.tabular.alternatives.adjustment_sides import AdjustmentRequest, totals_on_drawn_sides
from sluice.tabular.alternatives.altered_cells import AlteredCells, refuse_negative, refuse_unless_additive
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Booleans, Cells, Floats, Integers
from sluice.tabular.rules.sensitivity import Requirements, SensitivityRule

_ALL_RISE = (
    "The table adds up with no sides that were drawn, so every sensitive cell that can rises. A reader who supposes "
    "that knows that each is at least its level below its figure."
)


def controlled_adjustment(
    cells: Cells,
    requirements: Requirements,
    rng: Generator,
    assumptions: Assumptions = Assumptions(),  # noqa: B008
    rules: Sequence[SensitivityRule] = (),
    spread: float = 1.0,
    weight: Floats | None = None,
    cap: float | None = None,
    nodes: int = 2_000,
) -> AlteredCells:
    """Totals that add up, whole and of the same sign, with every sensitive cell more than its level from the truth.

    requirements : `sliding` is not looked at; a side whose level is 0 is not taken
    rng          : secret; who has it undoes the moves
    rules        : that called cells sensitive; a reader knows them, and so how levels follow from contributions
    spread       : above 0, by how many levels a cell moves beyond its own, on average. The best guess of who knows the
                   method is within the level with a chance of (1 - exp(-2 / spread)) / 2
    weight       : shape (c,), 0 or more, of a unit of each cell's change; when not given 1 / total for cells that are
                   published, so that relative changes count, and 0 for the others
    cap          : in percent of the total, how far a published cell that is not sensitive may change at most
    nodes        : of branch and bound
    raises       : DataError when a cell cannot move, or others cannot follow within the cap, naming one
    cost         : a linear program, one with a warm start for each side that is turned, and those of `read_adjustment`
    """
    total, published = cells.total, cells.published
    if cap is not None and not 0 <= cap <= 100:
        raise DataError(f"cap of controlled_adjustment must be 0 to 100, in percent; got {cap:g}.")
    if not spread > 0:
        raise DataError(
            f"spread of controlled_adjustment must be above 0, in protection levels; got {spread:g}. Without one, only "
            "two values are left for each sensitive cell."
        )
    if assumptions.nonnegative:
        refuse_negative(cells, "controlled_adjustment", "Say nonnegative: false if contributions may be negative.")
    if weight is None:
        weight = np.where(published, 1.0 / np.maximum(np.abs(total), 1), 0.0)
    if (weight < 0).any():
        raise DataError("weight of controlled_adjustment must be 0 or more.")
    request = _request(cells, requirements, rng, assumptions, spread, weight, cap)
    near, rises, drawn = totals_on_drawn_sides(request, rng)
    value = _whole(request, near, rises, nodes)
    refuse_unless_additive(cells, value, "controlled_adjustment")
    found = read_adjustment(AdjustedTable(cells, value, request.moving, requirements, rules, assumptions, spread, cap))
    concern = None if drawn else _ALL_RISE
    return AlteredCells.attacked(
        value,
        assumptions.bounds(cells, requirements.sensitive),
        requirements.sensitive,
        found,
        _says(cap, spread),
        concern,
    )


def _request(
    cells: Cells,
    requirements: Requirements,
    rng: Generator,
    assumptions: Assumptions,
    spread: float,
    weight: Floats,
    cap: float | None,
) -> AdjustmentRequest:
    """How far each sensitive cell goes, as drawn, and what bounds the others."""
    total, published = cells.total, cells.published
    level = np.maximum(requirements.lower, requirements.upper)
    moving = requirements.sensitive & (level > 0)
    amount = np.ceil(level * (1 + rng.exponential(spread, len(cells)))).astype(np.int64)
    room_up = np.full(len(cells), np.inf)
    # A figure below the level would say that the cell rose: there is nothing that it could have fallen from.
    must_fall = moving & (requirements.upper == 0)
    room_down = np.maximum(np.where(moving & ~must_fall, total - level, total), 0).astype(np.float64)
    if not assumptions.nonnegative:
        room_down = np.full(len(cells), np.inf)
    limited = published & ~moving
    if cap is not None:
        most = np.array([int(abs(int(x)) * cap // 100) for x in total], dtype=np.float64)
        room_up = np.where(limited, most, room_up)
        room_down = np.where(limited, np.minimum(most, room_down), room_down)
    fixed = (total == 0) & ~moving & assumptions.zeros_known
    room_down, room_up = np.where(fixed, 0, room_down), np.where(fixed, 0, room_up)
    must_rise = moving & ~must_fall & ((requirements.lower == 0) | (amount > room_down))
    amount = np.where(must_fall, np.minimum(amount, room_down), amount).astype(np.int64)
    drawn = weight * rng.exponential(1.0, len(cells))
    return AdjustmentRequest(cells, amount, moving, must_rise, must_fall, room_down, room_up, drawn)


def _whole(request: AdjustmentRequest, value: Floats, rises: Booleans, nodes: int) -> Integers:
    """Whole totals that add up, next to those found and within the same bounds."""
    cells = request.cells
    nearest = np.rint(value)
    target = np.where(np.abs(value - nearest) < 1e-5, nearest, value)
    least = np.where(request.moving & rises, cells.total + request.amount, cells.total - request.room_down)
    most = np.where(request.moving & ~rises, cells.total - request.amount, cells.total + request.room_up)
    weight = np.maximum(request.weight, 1e-9)
    for steps in range(4):
        lowest = np.maximum(np.floor(target) - steps, least).astype(np.int64)
        highest = np.minimum(np.ceil(target) + steps, most).astype(np.int64)
        found = additive_multiples(cells.equations, target, lowest, highest, weight, False, blocks_of(cells), nodes)
        if found is not None:
            return found
    raise DataError(
        "controlled_adjustment found totals that add up, but no whole ones. Give one decimal more, or more nodes."
    )


def _says(cap: float | None, spread: float) -> str:
    others = "as little as adds up" if cap is None else f"as little as adds up and by at most {cap:g} percent"
    guess = 50 * (1 - exp(-2 / spread))
    return (
        "Every sensitive total was moved up or down by its protection level and a drawn part more, "
        f"{spread:g} times as much on average, and the others {others}. The published figure of a sensitive cell is "
        "further from the truth than its level. An attacker who knows the method, which cells were moved and their "
        "levels can say between which two values the truth is not, and has no bound beyond them; the best guess is "
        f"within the level with a chance of about {guess:.0f} percent."
    )
