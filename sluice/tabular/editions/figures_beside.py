"""What further figures of the same cells tell of suppressed ones: rates, means, shares, growth, another unit.

A rate times its denominator is its numerator, so two published tables may give a cell that a third suppresses. Where
numerator and denominator are both suppressed, the rates of a row and the sums of both make equations. No relation need
be declared: a reader finds what fits the published cells, and so does this. From columns x and y it makes x, 100 + x
(growth in percent), x y, x / y and x times the total that a cell is part of, each times a constant.

A figure was rounded to its last decimal, so that it stands for half a unit on either side; figures whose sums hold
exactly are taken as exact.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, vstack

from sluice.tabular.model.cells import Codes, Floats, keys_of
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.feasibility_interval import FeasibleRegion, UnsolvedError

_AGREES = 0.95  # of the published cells: a table may hold an error
_FEWEST = 3  # published cells that agree
_EVIDENCE = 6.0  # digits: columns that have nothing to do with each other agree so by one chance in a million
_SPREAD = 0.3  # of the logarithms of unrelated figures, at least
_POWERS = 10.0 ** np.arange(-6, 7)  # constants that units make: thousands, percent, per 100,000


@dataclass(frozen=True, eq=False)
class Figures:
    """Published figures of c cells.

    name  : for sentences, with its table: 'wage in rates.csv'
    value : shape (c,), NaN where there is none
    half  : how far a figure may lie from what was rounded to it
    """

    name: str
    value: Floats
    half: float


@dataclass(frozen=True, eq=False)
class _Factor:
    """By what a figure may be multiplied. low, high: shape (c,), NaN unless above 0. of: shape (c,), the variables of
    the joint system that stand for it, -1 where none does."""

    says: str
    low: Floats
    high: Floats
    of: NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False)
class Told:
    """What figures beside a table tell of its cells.

    lower, upper : shape (c,), infinite where nothing is told
    relations    : that hold in the published cells, in words
    undecided    : whether a system of sums and relations was not solved
    """

    lower: Floats
    upper: Floats
    relations: tuple[str, ...] = ()
    undecided: bool = False


@dataclass(frozen=True, eq=False)
class FiguresBeside:
    """The published figures of a table, and others of the same cells.

    codes     : shape (c, d)
    equations : shape (e, c), +1 at a sum and -1 at its parts
    value     : shape (c,), NaN where suppressed; in units of the last decimal
    rounded   : to a multiple of how many units each value was rounded by itself; 0 where sums hold
    """

    dimensions: Sequence[Dimension]
    codes: Codes
    equations: csr_array
    value: Floats
    rounded: float = 0.0
    nonnegative: bool = True
    others: Sequence[Figures] = field(default_factory=tuple)

    @property
    def _half(self) -> float:
        """How far a product of others may lie from the value that stands for it."""
        return max(self.rounded, 1.0) / 2

    def told(self) -> Told:
        """Bounds of the suppressed cells that follow from the figures of each cell, and from all sums together.

        cost : O(c) for each of about k (k + d) relations of k columns; where one ties suppressed cells to suppressed
               ones, two linear programs for each of these
        """
        count = len(self.value)
        lower, upper = np.full(count, -np.inf), np.full(count, np.inf)
        hidden, says, ties = np.isnan(self.value), [], []
        for rate, by in self._pairs():
            low, high = (rate.low, rate.high) if by is None else (rate.low * by.low, rate.high * by.high)
            constant = self._constant(low, high)
            if constant is None:
                continue
            at, tied = hidden & ~np.isnan(low), np.zeros(0, dtype=np.intp)
            lower[at] = np.maximum(lower[at], constant[0] * low[at] - self._half)
            upper[at] = np.minimum(upper[at], constant[1] * high[at] + self._half)
            if by is not None and by.of is not None:
                tied = np.flatnonzero(hidden & np.isnan(by.low) & ~np.isnan(rate.low) & (by.of >= 0))
                ties.append((tied, by.of[tied], constant[0] * rate.low[tied], constant[1] * rate.high[tied]))
            if at.any() or len(tied):
                says.append(" times ".join(sorted([rate.says] if by is None else [rate.says, by.says])))
        undecided = False
        if any(len(tied) for tied, *_ in ties):
            lower, upper, undecided = self._together(lower, upper, ties)
        return Told(lower, upper, tuple(dict.fromkeys(says)), undecided)

    def _adds_up(self, figures: Figures) -> bool:
        """Whether its sums hold exactly, and there are some."""
        known = ~np.isnan(figures.value)
        whole = np.flatnonzero(abs(self.equations) @ (~known).astype(np.float64) == 0)
        gap = self.equations[whole] @ np.nan_to_num(figures.value)
        return len(whole) > 0 and bool(
            (np.abs(gap) <= 1e-9 * np.nan_to_num(np.abs(figures.value)).max(initial=1)).all()
        )

    def _pairs(self) -> Iterator[tuple[_Factor, _Factor | None]]:
        """What may be the value, but for a constant."""
        count, others = len(self.value), list(self.others)
        sums = [self._adds_up(each) for each in others]
        halves = [0.0 if adds else each.half for each, adds in zip(others, sums, strict=True)]
        rates = [(at, factor) for at, each in enumerate(others) for factor in _rates(each, halves[at])]
        places = np.cumsum([count] + [count * adds for adds in sums])
        for _, rate in rates:
            yield rate, None
        for at, rate in rates:
            for other, each in enumerate(others):
                if other != at:
                    place = places[other] + np.arange(count) if sums[other] else None
                    low, high = _within(each.value, halves[other])
                    yield rate, _Factor(each.name, low, high, place)
                    if rate.says == others[at].name:
                        yield rate, _Factor(f"1 / {each.name}", 1 / high, 1 / low)
            if rate.says == others[at].name and not sums[at]:
                for total in self._totals():
                    value = np.where(total >= 0, np.append(self.value, np.nan)[total], np.nan)
                    yield rate, _Factor("the total that it is part of", *_within(value, self.rounded / 2), total)

    def _totals(self) -> Iterator[NDArray[np.int64]]:
        """Shape (c,): the cell that each is a share of, -1 where there is none: the next sum, and the last, of each
        dimension; and the last of all."""
        keys = keys_of(self.dimensions, self.codes)
        order = np.argsort(keys, kind="stable")
        axes = range(len(self.dimensions))
        parents = []
        for dimension in self.dimensions:
            parent = np.zeros(len(dimension.codes), dtype=self.codes.dtype)
            for group, parts in reversed(dimension.sums):
                parent[list(parts)] = group
            parents.append(parent)
        moved = []
        for axis in axes:
            for up in (np.zeros_like(parents[axis]), parents[axis]):
                codes = self.codes.copy()
                codes[:, axis] = up[codes[:, axis]]
                moved.append(codes)
        moved.append(np.zeros_like(self.codes))
        seen: set[bytes] = set()
        for codes in moved:
            wanted = keys_of(self.dimensions, codes)
            at = order[np.minimum(np.searchsorted(keys[order], wanted), len(keys) - 1)]
            at = np.where((keys[at] == wanted) & (wanted != keys), at, -1).astype(np.int64)
            if at.tobytes() not in seen:
                seen.add(at.tobytes())
                yield at

    def _constant(self, low: Floats, high: Floats) -> tuple[float, float] | None:
        """The least and the most that the value may be divided by such a product, if that is one and the same in the
        published cells; None where it is not."""
        use = np.flatnonzero((self.value > 0) & (low > 0) & np.isfinite(high))
        if len(use) < _FEWEST:
            return None
        value = self.value[use]
        least = np.maximum(value - self._half, 0) / high[use] * (1 - 1e-12)
        most = (value + self._half) / low[use] * (1 + 1e-12)
        middle = (least + most) / 2
        with np.errstate(divide="ignore"):
            digits = np.maximum(np.log10(_SPREAD / np.log(most / least)), 0)
        for constant, own in [*((power, 0) for power in _POWERS), (float(np.median(middle)), 1)]:
            fits = (least <= constant) & (constant <= most)
            told = np.sort(digits[fits])[: int(fits.sum()) - own].sum()  # one cell tells the constant itself
            if fits.sum() >= max(_FEWEST, _AGREES * len(use)) and told >= _EVIDENCE:
                return (constant, constant) if not own else (float(least[fits].max()), float(most[fits].min()))
        return None

    def _together(
        self,
        lower: Floats,
        upper: Floats,
        ties: Sequence[tuple[NDArray[np.intp], NDArray[np.int64], Floats, Floats]],
    ) -> tuple[Floats, Floats, bool]:
        """The bounds with all sums and ties as one system: the value lies between two multiples of another cell."""
        least = 0.0 if self.nonnegative else -np.inf
        low = np.where(np.isnan(self.value), np.maximum(lower, least), self.value - self.rounded / 2)
        high = np.where(np.isnan(self.value), upper, self.value + self.rounded / 2)
        lows, highs, blocks = [low], [high], [self.equations]
        for each in self.others:
            if self._adds_up(each):
                lows.append(np.where(np.isnan(each.value), least, each.value))
                highs.append(np.where(np.isnan(each.value), np.inf, each.value))
                blocks.append(self.equations)
        one, other, down, up = (np.concatenate(parts) for parts in zip(*ties, strict=True))
        size, begins = sum(block.shape[1] for block in blocks), np.cumsum([0, *(block.shape[1] for block in blocks)])
        links, width = len(one), size + 2 * len(one)
        rows = [_moved(block, int(begin), width) for block, begin in zip(blocks, begins, strict=False)]
        at = np.arange(links)
        for sign, by, first in (
            (1.0, down, size),
            (-1.0, up, size + links),
        ):  # one - down other >= 0, up other - one >= 0
            entries = np.concatenate([np.full(links, sign), -sign * by, np.full(links, -1.0)])
            places = np.concatenate([at, at, at]), np.concatenate([one, other, first + at])
            rows.append(csr_array(coo_array((entries, places), shape=(links, width))))
        matrix = csr_array(vstack(rows))
        low, high = (
            np.concatenate([*lows, np.full(2 * links, -self._half)]),
            np.concatenate([*highs, np.full(2 * links, np.inf)]),
        )
        free = np.flatnonzero(high > low)
        right = -(matrix @ np.where(high > low, 0.0, low))
        within = matrix[:, free]
        rows_used = np.flatnonzero(np.diff(within.indptr))
        region = FeasibleRegion(csr_array(within[rows_used]), right[rows_used], low[free], high[free])
        lower, upper, undecided = lower.copy(), upper.copy(), False
        for cell in np.flatnonzero(np.isnan(self.value)).tolist():
            place = int(np.searchsorted(free, cell))
            if place == len(free) or free[place] != cell:
                continue
            try:
                lower[cell] = max(lower[cell], region.extreme(place, -1)[0])
                upper[cell] = min(upper[cell], region.extreme(place, 1)[0])
            except UnsolvedError:
                undecided = True
            except ValueError:  # no table is left where figures hold an error, or rounding that is not declared
                return lower, upper, True
        return lower, upper, undecided


def _moved(block: csr_array, begin: int, width: int) -> csr_array:
    """The same rows over more columns, its own from a place on."""
    return csr_array(
        (block.data.astype(np.float64), block.indices + begin, block.indptr), shape=(block.shape[0], width)
    )


def _within(value: Floats, half: float) -> tuple[Floats, Floats]:
    """From what to what figures may be; NaN unless above 0."""
    good = value > half
    return np.where(good, value - half, np.nan), np.where(good, value + half, np.nan)


def _rates(figures: Figures, half: float) -> Iterator[_Factor]:
    """A column as a rate, and as growth in percent."""
    yield _Factor(figures.name, *_within(figures.value, half))
    yield _Factor(f"(100 + {figures.name})", *_within(100 + figures.value, half))


def half_unit(texts: Sequence[str]) -> float:
    """Half a unit of the last decimal that any of these numbers has."""
    decimals = max(chain([0], (len(text.partition(".")[2]) for text in texts)))
    return 0.5 * 10.0**-decimals
