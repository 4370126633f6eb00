"""A learned map: every released column predicted from all that is known of a person, under whatever names.

A released column may tell nothing of the variable of its own name, and together with others everything: turned in
space, exchanged, multiplied by one factor a record. So each is predicted from all known variables by ridge regression;
of categories by the table of one or two known variables where that errs less, and of numbers within the strata of a
known category where maps differ between them, or by the curve of one known number, in pieces. Values stand as they are,
as normal scores, as logarithms (which see products and ratios), or known ones in all three ways; or each record's own
numbers are put in order first, which sees them under whatever names they stand in each record; or its categories are
compared with each other, which sees them whatever codes each record has. The released records are ranked by the
likelihood of their residuals, whose covariance is that of the learned pairs, each left out of its own prediction, and
drawn towards its diagonal the more, the fewer they are.

The penalty is chosen for each column by the same residuals, so that a map is learned from ten people as from thousands.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import combinations
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.risk.coded_points import ByValue, CodedPoints, Points
from sluice.risk.linkage.learned_curve import LearnedCurves
from sluice.risk.linkage.mapped_columns import Column, Features, Labels, MappedColumns, NumberScale

Predict = Callable[[IntArray], FloatArray]  # of q people: numbers that are predicted, shape (q, t)
Scale = tuple[tuple[int, ...], int, str]
"""The scales of `NumberScale` that known values take, the one of released values, and the order that numbers are in."""

SCALES: dict[str, Scale] = {
    "values": ((0,), 0, ""),
    "normal scores": ((1,), 1, ""),
    "logarithms": ((2,), 2, ""),
    "values on three scales": ((0, 1, 2), 1, ""),
    "the values of each record from the least on": ((0,), 0, "in_order"),
    "the logarithms of each record from the least on": ((2,), 2, "in_order"),
    "the normal scores of each record from the least on": ((0,), 0, "in_order_of_scores"),
    "the distances from the middle of each record's normal scores from the least on": ((0,), 0, "in_order_of_sizes"),
    "the products of each record's numbers": ((0,), 0, "in_products"),
    "the products of each record's logarithms": ((0,), 0, "in_products_of_logarithms"),
    "the differences of each record's codes": ((1,), 1, "in_differences"),
    "which codes of each record are alike": ((1,), 1, "in_patterns"),
}

_IN_COMMON = ("in_products", "in_products_of_logarithms")
"""Orders whose columns are turned first, as a function that both sides have in common is a small part of each."""

_PENALTIES = (1e-7, 1e-4, 1e-2, 0.1, 1.0, 10.0, 1000.0)  # for each person learned from, of standardised values
_ROUNDING = 1e-7  # least variance of a direction that is looked at, of the largest
_SINGULAR = 1e-9  # least variance of a residual, of that of the column
_LEARNERS = 4_000  # people that a map is learned from
_TRIED, _AMONG = 200, 4_000  # people, and records, that tell whether files are in one order
_BY_CHANCE = 6  # of these people so many are not found by chance, on any scale
_FOR_SCALE = 1_500  # people by whom a scale is chosen
_CELLS = 8  # groups of a number, in tables
_MOST_LABELS = 40  # of a category, in tables; rarer labels are one
_TABLES = 4_000  # pairs of known variables that are tried as tables, for all released categories together
_PRIOR = 2.0  # people that the share of a label counts for, in each cell of a table
_STRATA = 8  # most categories of a variable whose strata have maps of their own
_GAIN = 0.05  # of the logarithm of the residuals' variance, on average, from which strata are worth it


@dataclass(frozen=True)
class LearnedMap:
    """A map on one scale, learned from some pairs.

    learned = LearnedMap.learn(columns, "normal scores", rows)
    queries = learned.expected(people)     # (q, d) where their records are expected
    points = learned.points()              # (m, d) the released records; the nearest are the likeliest
    """

    scale: str
    turn: FloatArray = field(repr=False)  # (t, d) under which residuals are spherical
    _expected: Predict = field(repr=False)
    _released: Features = field(repr=False)
    _records: int

    @classmethod
    def learn(cls, columns: MappedColumns, scale: str, rows: IntArray, linear: bool = False) -> Self | None:
        """From the true pairs of these rows; None where nothing varies.

        linear : without tables and strata, from fewer people: enough to choose a scale
        cost   : O(l (p + t)^2) for l of the rows, at most 4,000, by which p known columns tell t released ones; of
                 tables O(l) for each released category and pair of known variables, at most 4,000 of them
        """
        take, give, order = SCALES[scale]
        columns = getattr(columns, order) if order else columns
        if columns is None:
            return None
        records = len(columns.released[0].values) if columns.released else 0
        rows = learners_of_scale(rows) if linear else _some(rows, _LEARNERS)
        if not len(rows) or not records:
            return None
        known, released = columns.known_by(rows), columns.shown
        if not known.columns or not released.columns:
            return None
        x, y = known.of(rows, take), released.of(rows, (give,))
        # A label that none of them has tells nothing, and would outweigh all that does.
        varies = (y != y[0]).any(axis=0)
        if not varies.any():
            return None
        common = np.eye(y.shape[1])
        if order in _IN_COMMON:
            common = _in_common(x, y)
            y = y @ common
            varies = np.ones(y.shape[1], np.bool_)
        slopes, left = ridge(x, y)
        ways: list[Predict] = [lambda people: _applied(slopes, known.of(people, take))]
        if not linear and order not in _IN_COMMON:
            numbers = [j for j, of in enumerate(released.spread_over) if of.is_number]
            for tried in (
                _strata(columns.known, known, take, y, numbers, left, rows),
                _tables(known, released, y, rows),
                _curves(columns.known, y, numbers, left, rows),
            ):
                if tried is not None:
                    better = (tried.left**2).mean(axis=0) < (left**2).mean(axis=0)
                    left = np.where(better, tried.left, left)
                    ways.append(partial(_either, ways[-1], tried.predict, better))
        # Once more in directions in which residuals are alike: what all columns share, such as a factor, hides in none.
        turn = np.zeros((len(varies), np.count_nonzero(varies)))
        turn[varies] = spherical(left[:, varies])
        turned, again = ridge(x, y @ turn)
        left = left @ turn
        better = (again**2).mean(axis=0) < (left**2).mean(axis=0)
        first = ways[-1]

        def predict(people: IntArray) -> FloatArray:
            with np.errstate(over="ignore", invalid="ignore"):  # of columns whose variation is next to none
                return np.where(better, _applied(turned, known.of(people, take)), first(people) @ turn)

        last = spherical(np.where(better, again, left))
        return cls(scale, common @ turn @ last, lambda people: predict(people) @ last, released, records)

    def expected(self, people: IntArray) -> FloatArray:
        """Where their released records are expected, shape (q, d)."""
        return self._expected(people)

    def points(self, rows: IntArray) -> FloatArray:
        """These released records, shape (r, d)."""
        return np.asarray(self._released.of(rows, (SCALES[self.scale][1],)) @ self.turn)

    def all_points(self, at_once: int) -> Points:
        """All released records, shape (m, d); worked out when they are asked for if they have more coordinates."""
        if self._records * len(self.turn) <= at_once:
            return self.points(np.arange(self._records))
        give = SCALES[self.scale][1]
        columns = [
            ByValue(pd.Series(column.values), partial(_coded, scale, give), scale.width)
            for scale, column in zip(self._released.scales, self._released.columns, strict=True)
        ]
        return CodedPoints(columns, self._records).turned(0.0, self.turn)


def learners_of_scale(rows: IntArray) -> IntArray:
    """Those of these people by whom a scale is chosen."""
    return _some(rows, _FOR_SCALE)


def _some(rows: IntArray, most: int) -> IntArray:
    return rows[:: -(-len(rows) // most) or 1]


def found_in_order(columns: MappedColumns, rng: np.random.Generator) -> float:
    """The share of some people whose own record a map ranks first if row i of both files is one person, beyond chance.

    Of files of the same length; 0 where it is no more than draws explain. Learned from half of at most 3,000 people,
    and tried on 200 others among 4,000 records, on whichever scale serves best.
    """
    from sluice.risk.linkage.learned_rulers import by_product  # loaded where it is needed

    records = len(columns.released[0].values) if columns.released else 0
    order = rng.permutation(records)
    learners, people = (
        np.sort(order[: min(_FOR_SCALE, records // 2)]),
        np.sort(order[-min(_TRIED, records // 4) or records :]),
    )
    if not len(people) or not len(learners):
        return 0.0
    among = np.union1d(order[-_AMONG:], people)
    held = np.union1d(among, learners)
    columns = columns.take(held)
    learners, people, among = (np.searchsorted(held, each) for each in (learners, people, among))
    shares = [0.0]
    for scale in SCALES:
        learned = LearnedMap.learn(columns, scale, learners, linear=True)
        if learned is not None:
            ranked = by_product(learned.expected(people), learned.points(among), among, people, 1)
            shares.append(float(ranked.found.mean()))
    return max(shares) if max(shares) * len(people) >= _BY_CHANCE else 0.0


def spherical(left: FloatArray) -> FloatArray:
    """The matrix that makes residuals, shape (l, t), spread alike in all directions."""
    drawn = left.shape[1] / sum(left.shape)
    covariance = left.T @ left / len(left)
    covariance = (1 - drawn) * covariance + drawn * np.diag(np.diag(covariance))
    spread, axes = np.linalg.eigh(covariance)
    return np.asarray(axes / np.sqrt(np.maximum(spread, _SINGULAR)))


def _in_common(x: FloatArray, y: FloatArray) -> FloatArray:
    """The matrix that turns y, shape (l, t), to what it has in common with x, most of it first: canonical variates.

    cost : O(l (p + t)^2)
    """
    sides = []
    for side in (x, y):
        centred = side - side.mean(axis=0)
        spread, axes = np.linalg.eigh(centred.T @ centred / len(side))
        kept = spread > _ROUNDING * spread[-1]
        sides.append((centred, axes[:, kept] / np.sqrt(spread[kept])))
    (a, of_known), (b, of_released) = sides
    together = (a @ of_known).T @ (b @ of_released)
    return np.asarray(of_released @ np.linalg.svd(together, full_matrices=False)[2].T)


def _coded(scale: NumberScale | Labels, give: int, values: "pd.Series[Any]") -> FloatArray:
    return scale.code(values.to_numpy(), (give,))


_Slopes = tuple[FloatArray, FloatArray, FloatArray]  # means of the known and of the released columns, and (p, t)


def ridge(
    x: FloatArray, y: FloatArray, penalties: Sequence[float] = _PENALTIES
) -> tuple[_Slopes, FloatArray]:  # fmt: skip
    """The slopes, and the residuals of each person left out, shape (l, t)."""
    centre_x, centre_y = x.mean(axis=0), y.mean(axis=0)
    a, b = x - centre_x, y - centre_y
    spread, axes = np.linalg.eigh(a.T @ a)
    spread = np.maximum(spread, 0)
    scores, loadings = a @ axes, axes.T @ (a.T @ b)
    slopes, left = np.zeros((x.shape[1], y.shape[1])), b * len(b) / max(1, len(b) - 1)
    least = (left**2).mean(axis=0)
    squares = scores**2
    for penalty in penalties:
        shrunk = 1 / (spread + penalty * len(x))
        leverage = np.minimum(squares @ shrunk + 1 / len(x), 0.999)
        tried = axes @ (shrunk[:, None] * loadings)
        apart = (b - a @ tried) / (1 - leverage)[:, None]
        error = (apart**2).mean(axis=0)
        better = error < least
        slopes[:, better], left[:, better], least[better] = tried[:, better], apart[:, better], error[better]
    return (centre_x, centre_y, slopes), left


def _applied(slopes: _Slopes, x: FloatArray) -> FloatArray:
    centre_x, centre_y, by = slopes
    return np.asarray(centre_y + (x - centre_x) @ by)


@dataclass(frozen=True)
class _Way:
    """Another way to predict: of people, and the residuals of those learned from, each left out; infinite: in none."""

    predict: Predict
    left: FloatArray


def _either(one: Predict, other: Predict, better: BoolArray, people: IntArray) -> FloatArray:
    return np.where(better, other(people), one(people))


def _strata(
    all_known: Sequence[Column], known: Features, take: Sequence[int], y: FloatArray, numbers: Sequence[int],
    left: FloatArray, rows: IntArray,
) -> _Way | None:  # fmt: skip
    """Released numbers from known ones within the categories of the known variable where the maps differ most."""
    of_numbers = Features(
        tuple(scale for scale in known.scales if isinstance(scale, NumberScale)),
        tuple(column for column in known.columns if column.is_number),
    )
    if not of_numbers.columns or not numbers:
        return None
    x, y = of_numbers.of(rows, take), y[:, numbers]
    fewest, before = 2 * x.shape[1], np.log((left[:, numbers] ** 2).mean(axis=0) + _SINGULAR)
    found, worth = None, _GAIN
    for column in all_known:
        of = column.values[rows]
        levels, sizes = np.unique(of[~_missing(of)], return_counts=True)
        if not 2 <= len(levels) <= _STRATA or sizes.max() < fewest:
            continue
        tried, slopes = left[:, numbers].copy(), {}
        for level in levels[sizes >= fewest].tolist():
            inside = of == level
            slopes[level], tried[inside] = ridge(x[inside], y[inside])
        gain = float(np.mean(before - np.log((tried**2).mean(axis=0) + _SINGULAR)))
        if gain > worth:
            worth, found = gain, (column, slopes, tried)
    if found is None:
        return None
    chosen, of_strata, residuals = found
    everybody, _ = ridge(x, y)
    infinite = np.full(left.shape, np.inf)
    infinite[:, numbers] = residuals

    def predict(people: IntArray) -> FloatArray:
        of_people = of_numbers.of(people, take)
        made = np.zeros((len(people), left.shape[1]))
        made[:, numbers] = _applied(everybody, of_people)
        for level, slopes in of_strata.items():
            inside = np.flatnonzero(chosen.values[people] == level)
            made[np.ix_(inside, np.asarray(numbers))] = _applied(slopes, of_people[inside])
        return made

    return _Way(predict, infinite)


def _curves(
    known: Sequence[Column], y: FloatArray, numbers: Sequence[int], left: FloatArray, rows: IntArray
) -> _Way | None:
    """Released numbers each from one known number, in pieces."""
    curves = LearnedCurves.learn(known, y[:, numbers], left[:, numbers], rows)
    if curves is None:
        return None
    infinite = np.full(left.shape, np.inf)
    infinite[:, numbers] = curves.left

    def predict(people: IntArray) -> FloatArray:
        made = np.zeros((len(people), left.shape[1]))
        made[:, numbers] = curves.of(people)
        return made

    return _Way(predict, infinite)


def _tables(known: Features, released: Features, y: FloatArray, rows: IntArray) -> _Way | None:
    """Released categories from the table of one or two known variables."""
    categories = [j for j, column in enumerate(released.columns) if not column.is_number]
    if not categories:
        return None
    cells = [_cells(column, rows) for column in known.columns]
    coded = [of(rows) for of in cells]
    levels = [int(codes.max(initial=0)) + 1 for codes in coded]
    keys: list[tuple[int, ...]] = [(i,) for i in range(len(cells))]
    pairs = [(i, j) for i, j in combinations(range(len(cells)), 2) if levels[i] * levels[j] <= len(rows) / 2]
    keys += pairs if len(pairs) * len(categories) <= _TABLES else []
    of_label = [_label_codes(released, j, rows) for j in categories]
    widths = [len(scale.labels) for _, scale in of_label]
    spans = [slice(end - width, end) for end, width in zip(np.cumsum(widths), widths, strict=True)]
    total, shares = sum(widths), np.concatenate([scale.shares for _, scale in of_label])
    variances = shares * (1 - shares)
    # Of each category, one after the other, the columns of its labels; all without one have the last together.
    columns = np.column_stack([
        np.where(labels < width, labels + span.start, total)
        for (labels, _), width, span in zip(of_label, widths, spans, strict=True)
    ])  # fmt: skip
    least = np.full(len(categories), np.inf)
    made: list[tuple[tuple[int, ...], FloatArray]] = [((), np.zeros((0, 0)))] * len(categories)
    for key in keys:
        cell, size = _cell_of([coded[i] for i in key], [levels[i] for i in key])
        cells_of = np.bincount((cell[:, None] * (total + 1) + columns).ravel(), minlength=size * (total + 1))
        counts = cells_of.reshape(size, total + 1)[:, :-1].astype(np.float64)
        held = np.bincount(cell, minlength=size)[:, None].astype(np.float64)
        missed, others = held - counts, np.maximum(held - 1 + _PRIOR, _PRIOR)
        wrong = counts * ((missed + _PRIOR * (1 - shares)) / others) ** 2
        wrong += missed * ((counts + _PRIOR * shares) / others) ** 2
        for at, span in enumerate(spans):
            error = float((wrong[:, span].sum(axis=0) / variances[span]).sum())
            if error < least[at]:
                table = (counts[:, span] + _PRIOR * shares[span]) / (held + _PRIOR)
                least[at], made[at] = error, (key, table)
    places = [np.flatnonzero(np.asarray(released.spread_index) == j) for j in categories]

    def predict(people: IntArray) -> FloatArray:
        found = np.zeros((len(people), y.shape[1]))
        for (key, table), (_, scale), place in zip(made, of_label, places, strict=True):
            given = [np.minimum(cells[i](people), levels[i] - 1) for i in key]
            found[:, place] = scale.standard(table[_cell_of(given, [levels[i] for i in key])[0]])
        return found

    # What a table says of one of those it was made of, without that one.
    left = np.full(y.shape, np.inf)
    for (key, table), (labels, scale), place in zip(made, of_label, places, strict=True):
        cell, size = _cell_of([coded[i] for i in key], [levels[i] for i in key])
        held = np.bincount(cell, minlength=size)[cell][:, None].astype(np.float64)
        own = labels[:, None] == np.arange(len(scale.labels))
        shares = (table[cell] * (held + _PRIOR) - own) / np.maximum(held - 1 + _PRIOR, _PRIOR)
        left[:, place] = (own - shares) / np.sqrt(scale.shares * (1 - scale.shares))
    return _Way(predict, left)


def _label_codes(released: Features, j: int, rows: IntArray) -> tuple[IntArray, "Labels"]:
    """Of the j-th released column: the place of each label among those with a column, the last for any other."""
    scale = released.scales[j]
    assert isinstance(scale, Labels)
    order = np.argsort(scale.labels)
    codes = released.columns[j].values[rows]
    at = order[np.clip(np.searchsorted(scale.labels[order], codes), 0, len(order) - 1)]
    return np.where(scale.labels[at] == codes, at, len(order)).astype(np.int64), scale


def _cells(column: Column, rows: IntArray) -> Callable[[IntArray], IntArray]:
    """Groups of the values of a known variable: as many people each of a number, frequent labels of a category."""
    if column.is_number:
        values = column.values[rows]
        present = values[np.isfinite(values)]
        distinct = np.unique(present)
        if len(distinct) <= _CELLS:
            ends = distinct[:-1]
        else:
            ends = np.unique(np.quantile(present, np.linspace(0, 1, _CELLS + 1)[1:-1]))
        return lambda people: np.searchsorted(ends, column.values[people], "left").astype(np.int64)
    labels, counts = np.unique(column.values[rows], return_counts=True)
    kept = np.sort(labels[np.argsort(-counts, kind="stable")[:_MOST_LABELS]])

    def cell(people: IntArray) -> IntArray:
        codes = column.values[people]
        at = np.clip(np.searchsorted(kept, codes), 0, len(kept) - 1)
        return np.where(kept[at] == codes, at + 1, 0)

    return cell


def _cell_of(codes: Sequence[IntArray], levels: Sequence[int]) -> tuple[IntArray, int]:
    if len(codes) == 1:
        return codes[0], levels[0]
    return codes[0] * levels[1] + codes[1], levels[0] * levels[1]


def _missing(values: npt.NDArray[Any]) -> BoolArray:
    return np.asarray(np.isnan(values) if values.dtype.kind == "f" else values < 0)
