"""The cheapest change of suppressed cells that moves a sensitive one: a small linear program.

Source: the attacker's problem of Fischetti and Salazar-González (2001), section 2, turned round: among the changes that
a certificate may use, the one whose cells cost least, with the fixed cost of a cell spread over the change that it has
to make (Kelly, Golden and Assad 1992). Only cells near the sensitive one take part at first; the whole table does when
these do not suffice.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sluice.tabular.model.cells import Cells, Codes, Floats, keys_of
from sluice.tabular.suppression.signed_paths import SignedPaths
from sluice.tabular.suppression.targets import quantum
from sluice.tabular.suppression.unknown_cells import ProtectionRanges, UnknownCells
from sluice.tabular.suppression.whole_change import NEAR, STILL, WholeBlock

_CLOSE = 0.6  # of the unknowns near a target: if its siblings are as few, they are tried first
_WIDE = 3000  # unknowns near a target, from which on fewer are tried first: the free ones, then more
_FEW, _SOME = 400, 2000
_FREE = 300  # unknowns that are free, near a target: tried before all that lie there, which mostly takes longer
_CROWDED, _FREE_IN_TURN = 1000, (150, 300, 600)  # of more near it, so many: nine in ten programs are of these then
_MANY = (3000, 20_000)  # anywhere
_STRETCHES = 6  # units beyond the level that are tried where its own change is a fraction
_DISTURBED = (0.0, 0.3)  # attempts at a whole change: by how much prices are changed at random
_ROUNDINGS, _MOST_ROUNDINGS = 12, 200  # of one unknown each; where they succeed few suffice, mostly
_PROGRAM = 50_000  # the work of a program besides its iterations, each of which looks at all rows
_NEARLY_FREE = 0.01  # the price of a suppressed cell, relative to its cost: short changes leave more cells to publish


@dataclass(frozen=True, eq=False)
class Change:
    """A change in whole units that keeps every sum: shapes (s,) and (s,), in rising order of the unknowns."""

    cells: Codes
    change: Floats


class BlockProgram:
    """Finds changes at prices that its user sets between calls; holds scratch memory and the solver.

    price : shape (u,), what it costs to change an unknown: 0 when it is suppressed anyway, infinite when it is not to
    cost  : shape (u,), what suppressing each costs
    work  : done so far, in about 20 nanoseconds each; the same on every machine, unlike time
    """

    def __init__(self, cells: Cells, unknowns: UnknownCells, price: Floats, cost: Floats) -> None:
        import highspy

        self.price, self.cost, self.work = price, cost, 0.0
        self._solver: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        self._optimal = highspy.HighsModelStatus.kOptimal
        options: dict[str, Any] = {
            "output_flag": False,
            "solver": "simplex",
            "presolve": "off",
            "primal_feasibility_tolerance": 1e-9,
            "dual_simplex_cost_perturbation_multiplier": 0.0,  # many prices are equal: more iterations with it
        }
        for option, value in options.items():  # presolve takes 6 times as long as so small a program itself
            self._solver.setOptionValue(option, value)
        self._unknowns = unknowns
        self._paths = SignedPaths.of(cells.dimensions)
        sizes = [len(dimension.codes) for dimension in cells.dimensions]
        self._strides = np.cumprod([1, *sizes[:0:-1]], dtype=np.int64)[::-1].copy()
        keys = keys_of(cells.dimensions, cells.codes)
        order = np.argsort(keys, kind="stable")
        self._keys, self._of_key = keys[order], unknowns.of_cell[order]
        self._codes = (cells.codes[unknowns.first] + self._paths.offset).astype(np.int32)
        self._place = np.full(len(unknowns), -1, dtype=np.int32)
        self._active = np.zeros(unknowns.rows.shape[0], dtype=np.int32)
        self._seen = np.zeros(len(unknowns), dtype=np.int32)
        self._nears: dict[bytes, tuple[NDArray[np.bool_], int]] = {}

    def cheapest(
        self,
        targets: Sequence[int],
        level: int,
        side: int,
        limit: float,
        ranges: ProtectionRanges,
        last_resort: bool = False,
    ) -> Change | None:
        """A cheap change that moves the sum of the targets by the level; None when there is none below the limit.

        side  : 1 upwards, -1 downwards, 0 upwards within bounds that let the opposite change pass as well
        limit : of the price of the unknowns that change, together
        ranges : how far each unknown may change
        last_resort : look at the whole table where what lies near does not suffice, and for whole numbers by all means
        cost  : 0.1 ms for what boxes settle, else about 2 ms; a second for 100,000 unknowns when the block is too small
        """
        down, up = ranges.within(side)
        targets = [target for target in targets if up[target] > 0 and np.isfinite(self.price[target])]
        if up[targets].sum() < level:
            return None
        best, found = limit, None
        if len(targets) == 1:
            price, change = self._box(targets[0], level, down, up, limit)
            if change is not None:
                best, found = price, change
        if best > 0 or found is None:
            for dearest, near, most, go_on in self._stages(targets[0], last_resort):
                dearest = min(best, dearest, np.finfo(np.float64).max)
                change = self._program(targets, level, down, up, dearest, near, most, last_resort, best)
                if change is not None:
                    price = float(self.price[change.cells].sum())
                    if price < best or (price == 0 and found is None):
                        best, found = price, change
                if found is not None and (best == 0 or not go_on):
                    break
        if found is not None and side < 0:
            return Change(found.cells, -found.change)
        return found

    def _stages(self, target: int, last_resort: bool) -> list[tuple[float, NDArray[np.bool_] | None, int, bool]]:
        """Which programs to try in turn.

        returns : of each the dearest unknown, the codes among which all lie (None: anywhere), how many there are at
                  most, and whether to try the next when something was found that is not free
        """
        all_of_them = len(self.price)
        siblings, few = self._among(self._paths.siblings[self._codes[target]])
        near, many = self._near(target)
        wide = many > _WIDE
        stages: list[tuple[float, NDArray[np.bool_] | None, int, bool]] = []
        if few <= _CLOSE * many and not last_resort:
            stages.append((np.inf, siblings, all_of_them, True))
        if _FREE < many <= _WIDE and not last_resort:
            stages += [(0.0, near, free, True) for free in (_FREE_IN_TURN if many > _CROWDED else (_FREE,))]
        stages += [(0.0, near, _FEW, True), (np.inf, near, _SOME, False)] if wide else []
        if last_resort and all_of_them > _SOME:  # mostly, what is suppressed anyway suffices
            stages.append((0.0, None, _SOME, True))
        if last_resort and all_of_them > _MANY[-1]:  # programs of all unknowns of a large table take minutes
            stages += [(np.inf, None, many, False) for many in _MANY]
        if not wide or last_resort:
            stages.append((np.inf, near, all_of_them, False))
        return [*stages, (np.inf, None, all_of_them, False)] if last_resort else stages

    @staticmethod
    def _largest(best: float) -> float:
        return best if np.isfinite(best) else np.finfo(np.float64).max

    def _box(self, target: int, level: int, down: Floats, up: Floats, limit: float) -> tuple[float, Change | None]:
        from sluice.tabular.suppression.suppression_kernel import cheapest_box

        paths = self._paths
        below = self._largest(limit) if limit else np.finfo(np.float64).tiny  # a box that costs nothing is below 0, too
        price, cells, signs = cheapest_box(
            self._codes[target], self._strides, paths.offset, paths.start, paths.at, paths.code, paths.sign,
            self._keys, self._of_key, self.price, down, up, level, below, self._seen,
        )  # fmt: skip
        if not len(cells):
            return np.inf, None
        order = np.argsort(cells)
        return price, Change(cells[order], signs[order] * float(level))

    def wide(self, target: int) -> bool:
        """Whether many cells lie near a target, so that programs are slow."""
        return self._near(target)[1] > _WIDE

    def _near(self, target: int) -> tuple[NDArray[np.bool_], int]:
        """Shape (codes,): the codes under the grandparents of a target's; and how many unknowns these are."""
        return self._among(self._paths.group[self._codes[target]])

    def _among(self, groups: Codes) -> tuple[NDArray[np.bool_], int]:
        name = groups.tobytes()
        if name not in self._nears:
            near = np.asarray(self._paths.below[groups[groups >= 0]].any(axis=0))
            self._nears[name] = near, int(near[self._codes].all(axis=1).sum())
        return self._nears[name]

    def _program(
        self,
        targets: Sequence[int],
        level: int,
        down: Floats,
        up: Floats,
        dearest: float,
        near: NDArray[np.bool_] | None,
        most: int,
        by_all_means: bool,
        limit: float,
    ) -> Change | None:
        from sluice.tabular.suppression.suppression_kernel import block

        rows, columns = self._unknowns.rows, self._unknowns.columns
        cells, row_count, start, row, sign = block(
            np.array(targets, dtype=np.int32), self._paths.below[0] if near is None else near, near is None, most,
            self._codes, self.price, dearest, down, up,
            rows.indptr, rows.indices, columns.indptr, columns.indices, columns.data, self._place, self._active,
        )  # fmt: skip
        moved = np.flatnonzero(np.isin(cells, targets)) if len(targets) > 1 else np.flatnonzero(cells == targets[0])
        if not len(moved):
            return None
        unit = quantum(level) if level % quantum(level) == 0 else 1
        within = self._block(level, unit, cells, down, up, start, row, sign, moved)
        roundings = _MOST_ROUNDINGS if by_all_means else _ROUNDINGS
        change = None
        for disturbed in _DISTURBED:
            solved = self._solved(within, row_count, disturbed)
            if solved is None:
                return None
            change = within.whole(solved)
            if change is None and self.price[cells[np.abs(solved) > STILL]].sum() > limit:
                return None  # a whole change hardly moves fewer unknowns
            if change is None:
                change = self._stretched(within, row_count)
            if change is None:
                change = self._rounded(within, solved, roundings)
            if change is not None:
                break
            if by_all_means:
                change = within.by_program(solved)
                break
        if change is None:
            return None
        used = np.flatnonzero(change)
        used = used[np.argsort(cells[used])]
        return Change(cells[used], change[used])

    def _block(
        self, level: int, unit: int, cells: Codes, down: Floats, up: Floats, start: Codes, row: Codes, sign: Floats,
        moved: NDArray[np.intp],
    ) -> WholeBlock:  # fmt: skip
        """The change of these unknowns by the level or a little more; it and the bounds are multiples of the unit."""
        level = -(-level // unit) * unit
        # in this order: 49 * (1 / 49) is below 1, and a target that may move just so far would not
        gains, losses = (np.floor(room[cells] / unit) * unit / level for room in (up, down))
        price = np.where(self.price[cells] > 0, self.price[cells], _NEARLY_FREE * self.cost[cells])
        price = (price + 1e-9 * price.max() + 1e-12) / np.minimum(np.maximum(np.minimum(gains, losses), 1e-6), 1)
        return WholeBlock(level, unit, price / price.max(), gains, losses, start, row, sign, moved)

    def _solved(self, block: WholeBlock, row_count: int, disturbed: float) -> Floats | None:
        """Shape (s,), in levels: the cheapest change of a block, fractions included; None when there is none.

        disturbed : by how much prices are changed at random, so that another solution may be the cheapest
        """
        count, targets = len(block.price), block.targets
        lower, upper = np.zeros(2 * count), np.concatenate([block.gains, block.losses])
        starts = np.concatenate([block.start[:-1], block.start + block.start[-1]])
        indices, values = np.concatenate([block.row, block.row]), np.concatenate([block.sign, -block.sign])
        right = np.zeros(row_count)
        if len(targets) == 1:
            at = int(targets[0])
            if block.gains[at] < 1:
                return None
            lower[at] = upper[at] = 1
            upper[count + at] = 0
        else:  # one row more: the targets together
            right = np.append(right, 1.0)
            starts, indices, values = _with_row(starts, indices, values, targets, count, row_count)
        price = block.price
        if disturbed:
            price = price * np.exp(np.random.default_rng(0).normal(0, disturbed, count))
        solved = self._solve(np.tile(price, 2), lower, upper, starts, indices, values, right)
        return None if solved is None else solved[:count] - solved[count:]

    def _stretched(self, block: WholeBlock, rows: int) -> Floats | None:
        """Shape (s,): a whole change that moves the targets a little further than the level; None when none was found.

        Halves of a level are whole where the level is even, so a few units more are often enough. The solver goes on
        from its last answer.
        """
        for more in range(1, _STRETCHES + 1):
            levels = 1 + more * block.unit / block.level
            if len(block.targets) == 1 and levels > block.gains[block.targets[0]]:
                break
            self._demand(block, rows, levels)
            solved = self._run()
            if solved is None:
                break
            change = block.whole(solved[: len(block.price)] - solved[len(block.price) :])
            if change is not None:
                return change
        self._demand(block, rows, 1.0)
        return None

    def _demand(self, block: WholeBlock, rows: int, levels: float) -> None:
        """Let the solver look for so large a change of the targets from now on."""
        if len(block.targets) == 1:
            at = int(block.targets[0])
            self._solver.changeColBounds(at, levels, levels)
        else:
            self._solver.changeRowBounds(rows, levels, levels)

    def _rounded(self, block: WholeBlock, change: Floats, most: int) -> Floats | None:
        """Shape (s,), in units: a whole change near the one that the program just found, which is in levels.

        What is nearest to a whole number is fixed there, until all is whole ("diving" in Achterberg 2007, section 9.2).
        The solver goes on from its last answer, so that each step takes few iterations.
        """
        parts, count = block.level // block.unit, len(change)
        for _ in range(most):
            exact = parts * change
            off = np.abs(exact - np.rint(exact))
            if off.max(initial=0) < NEAR:
                return block.whole(change)
            at = int(np.where(off < NEAR, np.inf, off).argmin())
            nearest = float(np.rint(exact[at]))
            for value in (nearest, nearest + np.copysign(1, exact[at] - nearest)):
                for column, end in ((at, max(value, 0.0) / parts), (count + at, max(-value, 0.0) / parts)):
                    self._solver.changeColBounds(column, end, end)
                solved = self._run()
                if solved is not None:
                    break
            else:
                return None
            change = solved[:count] - solved[count:]
        return None

    def _solve(
        self, price: Floats, lower: Floats, upper: Floats, start: Codes, index: Codes, value: Floats, right: Floats
    ) -> Floats | None:
        solver: Any = self._solver
        solver.clearModel()
        solver.passModel(
            len(price), len(right), len(index), 1, 1, 0.0, price, lower, upper, right, right,
            start, index, value, np.zeros(len(price), dtype=np.int32),
        )  # fmt: skip
        self.work += _PROGRAM
        return self._run()

    def _run(self) -> Floats | None:
        self._solver.run()
        self.work += self._solver.getInfo().simplex_iteration_count * self._solver.getNumRow()
        if self._solver.getModelStatus() != self._optimal:
            return None
        return np.array(self._solver.getSolution().col_value)


def _with_row(
    start: Codes, index: Codes, value: Floats, moved: NDArray[np.int64], count: int, row: int
) -> tuple[Codes, Codes, Floats]:
    """The columns with an entry in one row more at the targets: +1 where they gain, -1 where they lose."""
    ends = np.concatenate([start[moved + 1], start[count + moved + 1]])
    index = np.insert(index, ends, row).astype(np.int32)
    value = np.insert(value, ends, np.repeat([1.0, -1.0], len(moved)))
    more = np.zeros(len(start), dtype=np.int32)
    more[moved + 1] += 1
    more[count + moved + 1] += 1
    return (start + np.cumsum(more)).astype(np.int32), index, value
