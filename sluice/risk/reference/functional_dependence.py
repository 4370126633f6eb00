"""Functional dependence: a variable that was removed is a function of columns that stayed.

A stratum was removed, and the weight of its people stayed; a municipality, and the postcode; a total, and its parts.
Whoever has a few examples, or the method's description, reads the removed value off the released record. That is no
inference from what usually goes together: the record itself has the value, in other words.

Values are looked up in tables learned from half of the people (each released column whole, by its first and last digits
or letters, by what it can be divided by, by its calendar; and pairs of these), in a tree over all of them, and, where
they are numbers or are named by one, in a sum of others with any coefficients, and of their squares, products, ratios
and logarithms; and between the next people below and above in the order of a column, or of a sum with coefficients of
each class's own, within classes of others. What is no function to a hundredth of its spread may be one to a tenth or a
fifth: a date of birth by another date and the age there, a number by two others that were rounded. The other half is
read by them. Told is who is read surely and rightly, by a way that hardly errs where it is sure; and not by what the
file is known to tell of the variable, its own coarser form and the quasi-identifiers.

Source: Farkas and Jajodia (2002), inference channels of functional dependencies; Huhtala, Kärkkäinen, Porkka and
Toivonen (1999), whose approximate dependencies hold but for a share of the rows. Differs from them: half of the rows
teach, the others are read, and a dependency need not hold for all.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import BoolArray, FloatArray, IntArray, learnable
from sluice.ground.comparable_values import plain_values
from sluice.risk.attacks.attack_success import AttackSuccess
from sluice.risk.reference.order_within_classes import Order, Part, between, orders_of
from sluice.risk.reference.sums_within_classes import sums_of
from sluice.risk.reference.value_forms import grain_of
from sluice.risk.spread import FINE, on_grid, resolution

Column = npt.NDArray[Any]

_SURE = 0.9  # of the people learned from with the same values have the same value of the variable
_PRIOR = 0.3  # people who have another value, added to these
_LUCK = 1e-3  # chance by which as many would have it as there are
_LIFT = 0.25  # of the doubt that is left without the columns
_RIGHT = 0.95  # of those of whom a way is sure, at least, are read rightly: else it guesses
_FULL = 3  # people a value of a column, at least, on average: else nobody can learn what goes with each
_BEST, _WHOLE = 6, 20  # parts that tell most are paired with all columns, and as many columns with each other
_LEAF = 5
_PILE = 10  # people who share a value that is told apart where most have one of their own
_COUNTS = 0.02  # spreads of a sum that a number moves it by
_LEVELS = 60  # values of a variable that a tree tells apart
_EXACT = 400  # different numbers, at most, that are told apart as they are
_BENT = 5  # numbers whose squares, products and ratios are summed
_OTHERS_RIGHT = 0.8  # of those who have not the commonest value a sum hits, at least: else it tells that one alone
_GRIDS = 0.4, 0.2  # spreads of a number that no columns give exactly, and that are taken for one value; coarse first
_MANY = 0.2  # of those who have not the commonest value: fewer, and sums within classes are looked at, too
_NEAR = 8, 4, 2, 1  # people known on each side of a record in an order
_BANDS = 20, 5  # of as many people each, as classes within which an order may hold
_FEATURES = 40  # parts that tell most by themselves, by which a tree parts people
_PLACES = 6
_FEWEST_NAMED = 5  # labels
_NAMED = re.compile(r"[^\d.]*(\d+(?:\.\d+)?)(?:[-/](\d{1,2}))?[^\d.]*")
_MOST_LEVELS = 2**18  # combinations that are counted and not sorted


@dataclass(frozen=True)
class Told:
    """What the columns tell of a variable.

    people    : (n,) who is told surely and rightly, and not by what is known anyway
    by        : names of the columns
    anyway    : (n,) who is told by what is known
    truth     : (n,) codes of the true values; a missing one is a value
    looked_at : (n,) who was learned from and read
    low, high : (n,) codes between which each one's value lies by what is known of those next to them in an order; all
                codes, where that tells nothing
    orders    : columns by which the value follows an order, perhaps too few people being known to read it
    finer     : the same of the values as they are, where these are told on a coarser grid
    """

    people: BoolArray
    by: tuple[str, ...]

    anyway: BoolArray
    truth: IntArray
    looked_at: BoolArray
    low: IntArray
    high: IntArray
    orders: tuple[str, ...] = ()
    finer: "Told | None" = None

    @property
    def success(self) -> AttackSuccess:
        """Of the people looked at who have not the value that is told most often, how many are told theirs.

        That many young people are told to be unmarried is what everybody infers; a function tells the others, too.
        """
        counts = np.bincount(self.truth[self.looked_at & self.people], minlength=1)
        others = self.looked_at & (self.truth != int(counts.argmax()))
        n = int(np.count_nonzero(others))
        return AttackSuccess(n, n, int(np.count_nonzero(others & self.people)))


def told_of(
    target: Column,
    known: Sequence[str],
    columns: Mapping[str, "pd.Series[Any]"],
    rows: IntArray,
    rng: np.random.Generator,
    parts: Mapping[str, list[Part]] | None = None,
    of: BoolArray | None = None,
    units: IntArray | None = None,
) -> Told:
    """Of which people the columns tell the variable.

    target  : (n,) its true values, numbers or texts; a missing one is a value
    known   : names of the columns by which it is known anyway: its own coarser form and the quasi-identifiers
    columns : typed columns of length n, of the released records of the same people
    rows    : the people who are looked at; half of them are learned from, the others read, both ways
    parts   : of the columns, by `parts_of`, where they were made before
    of      : (n,) of whom the variable is hidden, all by default; who is not is learned from, and not read
    units   : (n,) who belongs together; whoever knows one of a household does not learn the others' values from it, so
              its people are of one half. None: everybody is alone
    returns : `people` are all n, of whom the other ones are read by what the first half taught
    cost    : O(columns n log n), and a tree of the rows looked at
    """
    orders: _Memory = {}  # the same on each grid: they are found by ranks
    told = _told_on(None, target, known, columns, rows, rng, parts, of, units, orders)
    numbers = _numbers_of(target)
    if numbers is None or len(np.unique(numbers[np.isfinite(numbers)])) <= _LEVELS:
        return told
    best = told
    for grid in () if told.success.share >= _SURE else _GRIDS:
        coarse = _told_on(grid, numbers, known, columns, rows, rng, parts, of, units, orders)
        if coarse.success.share <= best.success.share:
            break
        best = replace(coarse, orders=coarse.orders or told.orders, finer=told)
    return best


def _told_on(
    grid: float | None,
    target: Column,
    known: Sequence[str],
    columns: Mapping[str, "pd.Series[Any]"],
    rows: IntArray,
    rng: np.random.Generator,
    parts: Mapping[str, list[Part]] | None,
    of: BoolArray | None,
    units: IntArray | None,
    orders: "_Memory",
) -> Told:
    """The same, numbers on one grid, by sums and orders alone; by default of a hundredth of their spread, where they
    are many, and by every way. The orders that were found are kept for the next grid."""
    truth, levels, in_order = _labels(target, grid)
    by_column = parts if parts is not None else {name: parts_of(name, column) for name, column in columns.items()}
    codes, names = pd.factorize(np.arange(len(rows)) if units is None else units[rows])
    place = np.argsort(rng.permutation(len(names)))[codes]
    order = np.argsort(place, kind="stable")
    halves = np.split(rows[order], [np.count_nonzero(place < len(names) // 2)])
    sides = _Sides(truth, levels, halves, np.ones(len(truth), np.bool_) if of is None else of, grid)
    if levels < 2 or min(map(len, halves)) < _LEAF:
        nobody, bounds = np.zeros(len(truth), np.bool_), sides.all_values
        return Told(nobody, (), nobody, truth, sides.looked_at, *bounds)
    anyway = [part for name in known for part in by_column.get(name, [])]
    others = [part for name in columns if name not in known for part in by_column[name]]
    if grid:
        told, by = _by_sum(columns, sides, target)
    else:
        told, by = _best_of(others, [*others, *anyway], sides, columns, target)
    read = _by_order(others, [*others, *anyway], sides, in_order, rng, columns, target, orders)
    if sides.count(read.told) > sides.count(told):
        told, by = read.told, read.by
    base = np.zeros(len(truth), np.bool_)
    if told.any():
        kept = {name: columns[name] for name in known if name in columns}
        base, _ = _best_of([], anyway, sides, kept, target)
        base |= _by_order([], anyway, sides, in_order, rng, kept, target, orders).told
    return Told(told & ~base, by, base, truth, sides.looked_at, read.low, read.high, read.orders)


class _Sides:
    """Who is learned from and who is read, both ways."""

    def __init__(self, truth: IntArray, levels: int, halves: list[IntArray], of: BoolArray, grid: float | None) -> None:
        self.truth, self.levels, self.halves, self.of, self.grid = truth, levels, halves, of, grid
        self.looked_at = np.zeros(len(truth), np.bool_)
        self.looked_at[np.concatenate(halves)] = True
        self.looked_at &= of
        self.shares = [np.bincount(truth[half], minlength=levels) / max(1, len(half)) for half in halves]
        second = np.zeros(len(truth), np.bool_)
        second[halves[0]] = True  # whoever taught the first way is read by the second
        self.readers = [np.flatnonzero(~second), np.flatnonzero(second)]

    @property
    def all_values(self) -> tuple[IntArray, IntArray]:
        """The bounds of values of which nothing is known."""
        return np.zeros(len(self.truth), np.int64), np.full(len(self.truth), self.levels - 1)

    def by_table(self, codes: IntArray, cells: int) -> BoolArray:
        """Who is told by what goes with each code."""
        return self.right(lambda half, rows: _table(codes, cells, self, half, rows))

    def right(self, read: Callable[[int, IntArray], tuple[IntArray, BoolArray]]) -> BoolArray:
        """Who is told by a way of reading: a function of the half learned from and of the rows read, to values and
        whether it is sure. Nobody, where it errs too often."""
        told, sure = np.zeros(len(self.truth), np.bool_), np.zeros(len(self.truth), np.bool_)
        for half, rows in enumerate(self.readers):
            value, certain = read(half, rows)
            told[rows], sure[rows] = (value == self.truth[rows]) & certain, certain
        if self.count(told) < _RIGHT * self.count(sure):
            told[:] = False
        return told & self.of

    def count(self, told: BoolArray) -> int:
        return int(np.count_nonzero(told & self.looked_at))


def _best_of(
    single: list[Part], every: list[Part], sides: _Sides, columns: Mapping[str, "pd.Series[Any]"], target: Column
) -> tuple[BoolArray, tuple[str, ...]]:
    """The way that tells most, of parts by themselves, of pairs of them, of a tree and a sum; and its columns.

    single : where there are any, each pair and each table has one of these
    """
    nobody = np.zeros(len(sides.truth), np.bool_), tuple[str, ...]()
    if not every:
        return nobody
    full = [part for part in every if part.levels * _FULL <= len(sides.halves[0])]
    scored = []
    for part in full:
        told = sides.by_table(part.codes, part.levels)
        scored.append((sides.count(told), part, told))
    scored.sort(key=lambda each: -each[0])
    best, by = (scored[0][2], (scored[0][1].column,)) if scored and scored[0][0] else nobody
    if sides.count(best) >= _RIGHT * np.count_nonzero(sides.looked_at):
        return best, by
    whole = [part for _, part, _ in scored]
    for one, two in _pairs(whole, single, len(sides.halves[0])):
        told = sides.by_table(one.codes * two.levels + two.codes, one.levels * two.levels)
        if sides.count(told) > sides.count(best):
            best, by = told, (one.column, two.column)
    wide = [part for part in every if part.levels * _FULL > len(sides.halves[0])]
    for told, names in (_by_tree([*whole[:_FEATURES], *wide[:_FEATURES]], sides), _by_sum(columns, sides, target)):
        if sides.count(told) > sides.count(best):
            best, by = told, names
    return best, by


def _pairs(scored: list[Part], single: list[Part], people: int) -> Iterator[tuple[Part, Part]]:
    """Pairs of different columns with people enough for each combination: the best with all, and whole columns."""
    first = list({part.column: part for part in reversed(scored)}.values())[::-1]
    own = {part.column for part in single}
    chosen = [*((one, two) for one in scored[:_BEST] for two in first), *combinations(first[:_WHOLE], 2)]
    for one, two in {(id(a), id(b)): (a, b) for a, b in chosen if a.column != b.column}.values():
        if one.levels * two.levels * _FULL <= people * 2 and (not own or {one.column, two.column} & own):
            yield one, two


_Memory = dict[tuple[bool, bool], list[Order]]
"""Orders, by whether other columns than the known ones count, and whether the columns are sums."""


@dataclass(frozen=True)
class _Ordered:
    """Who is told by an order, the columns, and the bounds of each one's value."""

    told: BoolArray
    by: tuple[str, ...]
    low: IntArray
    high: IntArray
    orders: tuple[str, ...] = ()


def _by_order(
    single: list[Part],
    every: list[Part],
    sides: _Sides,
    in_order: bool,
    rng: np.random.Generator,
    columns: Mapping[str, "pd.Series[Any]"],
    target: Column,
    memory: "_Memory",
) -> _Ordered:
    """By those next to a record in the order of a column, within classes of others.

    Sure is who stands between people with one value. Bounds are told where the values of nearly all lie within theirs,
    and of those who have not the commonest one.
    """
    own = {part.column for part in single}
    rows = np.concatenate(sides.halves)
    plain, summed = (bool(single), False), (bool(single), True)
    if plain not in memory:
        memory[plain] = orders_of(sides.truth, in_order, every, own, rows, rng)
    best = _followed(memory[plain], sides, in_order)
    wanted, others = _numbers_of(target), sides.truth != int(np.bincount(sides.truth[rows]).argmax())
    few = sides.count(best.told & others) < _MANY * sides.count(others)
    if few and summed not in memory and wanted is not None and np.isfinite(wanted).all():
        read = {name: _numbers_of(plain_values(column)) for name, column in columns.items()}
        sums = sums_of(wanted, {name: each for name, each in read.items() if each is not None}, every, rows, rng)
        memory[summed] = orders_of(sides.truth, in_order, every, own, rows, rng, sums) if sums else []
    if few and memory.get(summed):
        found = _followed(memory[summed], sides, in_order)
        best = found if sides.count(found.told) > sides.count(best.told) or not best.orders else best
    return best


def _followed(orders: Sequence[Order], sides: _Sides, in_order: bool) -> _Ordered:
    """By the order that tells most."""
    nobody, levels = np.zeros(len(sides.truth), np.bool_), sides.levels
    rows = np.concatenate(sides.halves)
    others = sides.looked_at & (sides.truth != int(np.bincount(sides.truth[rows]).argmax()))
    best = _Ordered(nobody, (), *sides.all_values)
    narrowest = np.inf
    for order in orders:
        labels, value = order.labels, np.full(len(nobody), -1)
        of_class = _Shares(labels, levels, sides.truth, rows)
        for near in _NEAR:  # whoever is told by many known people, and then by fewer, too
            low, high = sides.all_values
            for half, readers in enumerate(sides.readers):
                low[readers], high[readers] = between(order, labels, sides.truth, sides.halves[half], readers, near)
            agreed = (low == high) & (of_class.of(low) ** (2 * near) <= _LUCK)
            value[agreed] = low[agreed]
            sure = value >= 0
            told = (value == sides.truth) & sides.of
            if sides.count(told) >= _RIGHT * sides.count(sure) and np.count_nonzero(
                told & others
            ) >= _OTHERS_RIGHT * np.count_nonzero(sure & others):
                best = (
                    replace(best, told=told, by=order.columns) if sides.count(told) > sides.count(best.told) else best
                )
            inside = (low <= sides.truth) & (sides.truth <= high)
            bounded = in_order and sides.count(inside) >= _RIGHT * np.count_nonzero(sides.looked_at)
            width = float((high - low)[sides.looked_at].mean())
            if bounded and width < narrowest and np.count_nonzero(inside & others) >= _RIGHT * np.count_nonzero(others):
                best, narrowest = replace(best, low=low, high=high), width
    return replace(best, orders=orders[0].columns if orders and levels > 2 else ())


class _Shares:
    """Of the people of each class, the share who have a value."""

    def __init__(self, labels: IntArray, levels: int, truth: IntArray, rows: IntArray) -> None:
        self._labels, self._levels = labels, levels
        self._places, self._counts = np.unique(labels[rows] * levels + truth[rows], return_counts=True)
        self._people = np.bincount(labels[rows], minlength=int(labels.max()) + 1)

    def of(self, value: IntArray) -> FloatArray:
        """Of each record's class, shape (n,)."""
        place = self._labels * self._levels + value
        found = np.minimum(np.searchsorted(self._places, place), len(self._places) - 1)
        counts = np.where(self._places[found] == place, self._counts[found], 0)
        return np.asarray(counts / np.maximum(1, self._people[self._labels]))


def _table(codes: IntArray, cells: int, sides: _Sides, half: int, rows: IntArray) -> tuple[IntArray, BoolArray]:
    """The value that most people of a half have with the same code, and whether that is sure."""
    learned = sides.halves[half]
    key = codes[learned] * sides.levels + sides.truth[learned]
    if cells * sides.levels <= _MOST_LEVELS:
        count = np.bincount(key, minlength=cells * sides.levels).reshape(cells, sides.levels)
        most, hits, people = count.argmax(axis=1), count.max(axis=1), count.sum(axis=1)
    else:
        pairs, counts = np.unique(key, return_counts=True)
        order = np.lexsort((-counts, pairs // sides.levels))
        cell = pairs[order] // sides.levels
        first = np.append(True, cell[1:] != cell[:-1])
        most, hits, people = np.zeros(cells, np.int64), np.zeros(cells, np.int64), np.zeros(cells, np.int64)
        most[cell[first]], hits[cell[first]] = pairs[order][first] % sides.levels, counts[order][first]
        np.add.at(people, cell, counts[order])
    sure = _is_sure(hits, people, sides.shares[half][most])
    return most[codes[rows]], sure[codes[rows]]


def _is_sure(hits: IntArray, people: IntArray, share: FloatArray) -> BoolArray:
    """Whether so many of so many people with one value tell it, where a share of all people has it."""
    with np.errstate(divide="ignore"):
        by_luck = hits * np.log(np.maximum(share, 1e-12))
    chance = hits / (people + _PRIOR)
    return np.asarray((chance >= _SURE) & (1 - chance <= _LIFT * (1 - share) + 1e-12) & (by_luck <= np.log(_LUCK)))


def _by_tree(parts: list[Part], sides: _Sides) -> tuple[BoolArray, tuple[str, ...]]:
    """By a tree over all parts; of values with many levels none."""
    from sklearn.tree import DecisionTreeClassifier  # loaded where it is needed

    nobody = np.zeros(len(sides.truth), np.bool_), tuple[str, ...]()
    if sides.levels > _LEVELS:
        return nobody
    table = np.column_stack([part.codes for part in parts]).astype(np.float32)
    used: dict[str, float] = {}

    def read(half: int, rows: IntArray) -> tuple[IntArray, BoolArray]:
        learned = sides.halves[half]
        tree = DecisionTreeClassifier(min_samples_leaf=_LEAF, random_state=0)
        tree.fit(table[learned], learnable(sides.truth[learned]))
        for part, weight in zip(parts, tree.feature_importances_, strict=True):
            used[part.column] = used.get(part.column, 0.0) + float(weight)
        leaves, leaf = np.unique(tree.apply(table[learned]), return_inverse=True)
        of = np.searchsorted(leaves, tree.apply(table[rows]))
        count = np.zeros((len(leaves), sides.levels), np.int64)
        np.add.at(count, (leaf, sides.truth[learned]), 1)
        most, hits, people = count.argmax(axis=1), count.max(axis=1), count.sum(axis=1)
        return most[of], _is_sure(hits, people, sides.shares[half][most])[of]

    told = sides.right(read)
    named = [name for name, weight in sorted(used.items(), key=lambda each: -each[1]) if weight > 0.05]
    return told, tuple(named[:3])


def _by_sum(
    columns: Mapping[str, "pd.Series[Any]"], sides: _Sides, target: Column
) -> tuple[BoolArray, tuple[str, ...]]:
    """A number by a sum of the other numbers, each times a coefficient; by a product of powers of them; and by a sum of
    those that count most, their squares, logarithms, products and ratios."""
    told, names = np.zeros(len(sides.truth), np.bool_), tuple[str, ...]()
    read = {name: _numbers_of(plain_values(column)) for name, column in columns.items()}
    numbers = {name: each for name, each in read.items() if each is not None}
    wanted = _numbers_of(target)
    if wanted is None or not numbers:
        return told, names
    table, weights = np.column_stack([*numbers.values()]), np.zeros(len(numbers))
    for scale, back in ((_as_they_are, _as_they_are), (_logarithms, _exponentials)):
        reading = _Sum(scale(table), scale(wanted), wanted, sides, back)
        found = sides.right(reading.read)
        weights = np.maximum(weights, reading.weights)
        if sides.count(found) > sides.count(told):
            told = found
            names = tuple(name for name, each in zip(numbers, reading.weights, strict=True) if each > _COUNTS)
    if sides.count(told) < _RIGHT * np.count_nonzero(sides.looked_at):
        chosen = np.argsort(-weights, kind="stable")[:_BENT]
        if len(chosen) > 1:
            found = sides.right(_Sum(_bent(table[:, chosen]), wanted, wanted, sides, _as_they_are).read)
            if sides.count(found) > sides.count(told):
                told, names = found, tuple(np.array([*numbers], dtype=object)[np.sort(chosen)].tolist())
    return told, names


def _bent(numbers: FloatArray) -> FloatArray:
    """Numbers, their squares and logarithms, and of each two the product and both ratios; NaN where there is none."""
    pairs = [(numbers[:, i], numbers[:, j]) for i, j in combinations(range(numbers.shape[1]), 2)]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        more = [each for a, b in pairs for each in (a * b, a / b, b / a)]
    logarithms = _logarithms(numbers)
    whole = [each for each in (*logarithms.T, *more) if np.isfinite(each).mean() > _RIGHT]
    return np.column_stack([numbers, numbers**2, *whole])


class _Sum:
    """A number read as a sum of others, fitted by least squares; sure where it hits nearly all it was fitted to."""

    def __init__(
        self,
        numbers: FloatArray,
        sums: FloatArray,
        target: FloatArray,
        sides: _Sides,
        back: Callable[[FloatArray], FloatArray],
    ) -> None:
        self._numbers, self._sums, self._target, self._sides, self._back = numbers, sums, target, sides, back
        self._usable = np.isfinite(sums) & np.isfinite(numbers).all(axis=1)
        self._width = _width(target, sides.grid)
        self._others = sides.truth != int(np.bincount(sides.truth[sides.halves[0]]).argmax())
        self.weights = np.zeros(numbers.shape[1])  # of each number, in spreads of the sum

    def read(self, half: int, rows: IntArray) -> tuple[IntArray, BoolArray]:
        learned = self._sides.halves[half][self._usable[self._sides.halves[half]]]
        nothing = np.full(len(rows), -1), np.zeros(len(rows), np.bool_)
        if len(learned) <= 2 * self._numbers.shape[1]:
            return nothing
        centre, size = self._numbers[learned].mean(axis=0), self._numbers[learned].std(axis=0)
        scaled = (self._numbers - centre) / np.where(size > 0, size, 1)
        design = np.column_stack([np.ones(len(learned)), scaled[learned]])
        fit, *_ = np.linalg.lstsq(design, self._sums[learned], rcond=1e-9)
        self.weights += np.abs(fit[1:]) / (float(self._sums[learned].std()) or 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            near = np.abs(self._back(fit[0] + scaled @ fit[1:]) - self._target) <= self._width
        others = learned[self._others[learned]]
        if near[learned].mean() < _RIGHT or not len(others) or near[others].mean() < _OTHERS_RIGHT:
            return nothing
        usable = self._usable[rows]
        return np.where(usable & near[rows], self._sides.truth[rows], -1), usable


def _width(target: FloatArray, grid: float | None) -> float:
    """How near a sum must come: nearer than to any other value where there are few, else within the grid."""
    values = np.unique(target[np.isfinite(target)])
    if not grid and 1 < len(values) <= _EXACT:
        return float(np.diff(values).min()) * 0.49
    return resolution(target, grid / 2 if grid else FINE) or 1.0


def _numbers_of(values: Column) -> FloatArray | None:
    """Numbers as they are, and labels that a number of their own names: a year, or a year and a month; None for others,
    and where there are few. A missing one is NaN."""
    if values.dtype.kind == "f":
        return values
    codes, labels = pd.factorize(values)
    if len(labels) < _FEWEST_NAMED:
        return None
    found = [_NAMED.fullmatch(str(label)) for label in labels]
    if not all(found):
        return None
    read = np.array([float(each[1]) + (float(each[2] or 1) - 1) / 12 for each in found if each])
    return np.append(read, np.nan)[codes] if len(np.unique(read)) == len(read) else None


def _as_they_are(values: FloatArray) -> FloatArray:
    return values


def _logarithms(values: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(values))


def _exponentials(values: FloatArray) -> FloatArray:
    return np.asarray(np.exp(values))


def _labels(target: Column, grid: float | None = None) -> tuple[IntArray, int, bool]:
    """Values as codes, a missing one too; many numbers on a grid, of a hundredth of their spread by default. Their
    number, and whether they are in an order: numbers, and labels that a number names."""
    if target.dtype.kind == "f" and (grid or len(np.unique(target[np.isfinite(target)])) > _EXACT):
        target = on_grid(target, resolution(target, grid or FINE))
    codes, values = pd.factorize(pd.Series(target), sort=True, use_na_sentinel=False)
    numbers = _numbers_of(target)
    if numbers is not None and target.dtype.kind != "f":
        codes = np.unique(numbers, return_inverse=True)[1]
    return codes.astype(np.int64), len(values), numbers is not None


def parts_of(name: str, column: "pd.Series[Any]") -> list[Part]:
    """A released column whole, and by the parts of its values in which a code may stand; each partition once.

    column : typed, of length n
    cost   : O(n) and a sort of the distinct values, some ten times
    """
    values = plain_values(column)
    codes, distinct = pd.factorize(values, sort=values.dtype.kind == "f", use_na_sentinel=False)
    labels = np.asarray(distinct)
    found: list[Part] = []
    seen: set[bytes] = set()
    numbers = labels.astype(np.float64) if values.dtype.kind == "f" else None
    # a limit that many share, where most others have values of their own
    piles = [np.where(np.bincount(codes) >= _PILE, np.arange(len(labels)), -1)]
    piles = piles if len(labels) * 2 * _FULL > len(codes) else []
    bands = [_bands(codes, band) for band in _BANDS] if numbers is not None and len(labels) > _EXACT // 4 else []
    more = _number_parts(numbers, column) if numbers is not None else _text_parts(labels)
    for place, part in enumerate((labels, *piles, *bands, *more)):
        of, levels = pd.factorize(np.asarray(part), sort=True, use_na_sentinel=False)
        first = pd.factorize(of)[0].astype(np.int32).tobytes()
        if len(levels) < 2 or first in seen:
            continue
        seen.add(first)
        found.append(Part(name, of.astype(np.int64)[codes], len(levels), whole=not place))
    return found


def _bands(codes: IntArray, bands: int) -> IntArray:
    """The band of each value, so many of about the same number of people."""
    people = np.bincount(codes)
    return np.asarray((np.cumsum(people) - people / 2) * bands // len(codes)).astype(np.int64)


def _number_parts(values: FloatArray, column: "pd.Series[Any]") -> Iterator[Column]:
    finite = np.where(np.isfinite(values), values, np.nan)
    if pd.api.types.is_datetime64_any_dtype(column.dtype):
        days = pd.Series(np.datetime64("1970-01-01", "us") + (np.nan_to_num(finite) * 86_400_000_000).astype("m8[us]"))
        for part in (days.dt.year, days.dt.month, days.dt.day, days.dt.weekday, days.dt.hour, days.dt.minute):
            yield np.where(np.isnan(finite), -1, part.to_numpy())
        return
    size = np.abs(finite)
    whole = np.floor(size)
    for place in range(1, _PLACES + 1):
        yield np.sign(finite) * np.floor(size / 10.0**place)
    for place in range(1, 4):
        yield whole % 10**place
    yield np.round((size - whole) * 100)
    yield np.round(size - whole, 6)
    yield grain_of(finite)
    yield np.where(np.isnan(finite), -1, np.floor(np.log10(np.maximum(size, 1e-12))))


def _text_parts(labels: Column) -> Iterator[Column]:
    texts = ["" if pd.isna(each) else str(each) for each in labels]
    for length in range(1, _PLACES + 1):
        yield np.array([text[:length] for text in texts], dtype=object)
    for length in range(1, 4):
        yield np.array([text[-length:] for text in texts], dtype=object)
    yield np.array([len(text) for text in texts])
