"""Sums within classes: a removed number is a sum of others whose coefficients differ from class to class.

An age is released as a sum of two columns and an amount of each occupation's own, or a rank within occupation is, with
other columns added or multiplied. The sum is fitted in each class by least squares, to the value's ranks; the order of
what is fitted is one more column whose order the value may follow (`order_within_classes`).

Source: Chow (1960), regressions that differ between groups.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.risk.reference.order_within_classes import Part

_LOOKED_AT = 2_000
_NUMBERS = 4  # of a sum: those that count most in one of all
_PEOPLE = 8  # of a class, for each coefficient
_CLASSES = 100
_BETTER = 0.9  # of what is left open by classes of fewer columns, at most
_COUNTS = 0.05  # of the largest coefficient: a number of one spread moves the sum
_LEFT_OPEN = 0.5  # of the value's variance within its classes, at most


def sums_of(
    values: FloatArray,
    numbers: Mapping[str, FloatArray],
    classes: Sequence[Part],
    rows: IntArray,
    rng: np.random.Generator,
) -> list[Part]:
    """Columns that are sums within classes, as they are and of logarithms, in the order of the values.

    values  : (n,) of the variable
    numbers : (n,) of each released number; NaN where there is none
    classes : partitions, of which up to two make the classes
    rows    : the people who are learned from
    cost    : two hundred regressions on four numbers of 2,000 people for each of both; a tenth of a second
    """
    found = []
    ranks = np.zeros(len(values))
    ranks[rows] = np.argsort(np.argsort(values[rows], kind="stable"), kind="stable") / len(rows)
    classes = [part for part in sorted(classes, key=lambda each: not each.whole) if part.levels * _PEOPLE <= len(rows)]
    sample = rows if len(rows) <= _LOOKED_AT else rng.choice(rows, _LOOKED_AT, replace=False)
    for scale in (lambda each: each, _logarithms):
        table = {name: scale(each) for name, each in numbers.items()}
        table = {name: each for name, each in table.items() if np.isfinite(each).all() and np.ptp(each[rows]) > 0}
        if not table:
            continue
        names, design = _that_count(table, ranks, sample)
        for target in (ranks, values):
            within = _classes_of(target[sample], design[sample], classes[:_CLASSES], sample)
            if not within:
                continue
            labels = np.zeros(len(values), np.int64)
            for part in within:
                labels = np.unique(labels * part.levels + part.codes, return_inverse=True)[1]
            sums = _Classes(labels[rows], int(labels.max()) + 1).fit(target[rows], design[rows])
            counts = sums.weights > _COUNTS * sums.weights.max(initial=0)
            made_of = tuple(name for name, each in zip(names, counts, strict=True) if each)
            made_of = (*made_of, *(part.column for part in within))
            _, codes = np.unique(np.round(sums.of(labels, design), 9), return_inverse=True)
            found.append(Part("+".join(names), codes, int(codes.max()) + 1, whole=True, made_of=made_of))
    return found


def _logarithms(values: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(values))


def _that_count(
    table: Mapping[str, FloatArray], target: FloatArray, rows: IntArray
) -> tuple[tuple[str, ...], FloatArray]:
    """The numbers with the largest coefficients in a sum of all, in spreads."""
    every = np.column_stack([*table.values()])
    size = every[rows].std(axis=0)
    scaled = (every - every[rows].mean(axis=0)) / np.where(size > 0, size, 1)
    fit, *_ = np.linalg.lstsq(np.column_stack([np.ones(len(rows)), scaled[rows]]), target[rows], rcond=1e-9)
    best = np.argsort(-np.abs(fit[1:]), kind="stable")[:_NUMBERS]
    return tuple(np.array([*table], dtype=object)[best].tolist()), scaled[:, best]


def _classes_of(target: FloatArray, design: FloatArray, classes: Sequence[Part], rows: IntArray) -> tuple[Part, ...]:
    """Of one column or two, within which a sum leaves least open; none where that is much, or no less than in all."""
    labels, within = np.zeros(len(target), np.int64), tuple[Part, ...]()
    left = _Classes(labels, 1).fit(target, design).left
    for _ in range(2):
        tried = [np.unique(labels * part.levels + part.codes[rows], return_inverse=True)[1] for part in classes]
        left_open = [_Classes(each, int(each.max()) + 1).fit(target, design).left for each in tried]
        if not tried or min(left_open) > left * _BETTER:
            break
        best = int(np.argmin(left_open))
        left, labels, within = left_open[best], tried[best], (*within, classes[best])
    return within if left <= _LEFT_OPEN else ()


class _Classes:
    """Regressions of each class's own."""

    def __init__(self, labels: IntArray, levels: int) -> None:
        self._order = np.argsort(labels.astype(np.uint16) if levels < 2**16 else labels, kind="stable")
        self._present, self._starts = np.unique(labels[self._order], return_index=True)
        self._labels, self._levels = labels, levels
        self._people = np.diff(np.append(self._starts, len(labels)))

    def fit(self, target: FloatArray, design: FloatArray) -> "_Classes":
        """With a constant; in classes of too few people nothing is fitted."""
        x = np.column_stack([np.ones(len(target)), design])
        wide = x.shape[1]
        products = np.column_stack([(x[:, :, None] * x[:, None, :]).reshape(len(x), -1), x * target[:, None]])
        sums = np.add.reduceat(products[self._order], self._starts, axis=0)
        grams = sums[:, : wide * wide].reshape(-1, wide, wide) + 1e-9 * np.eye(wide)
        fit = np.linalg.solve(grams, sums[:, wide * wide :, None])[:, :, 0]
        fit[self._people < _PEOPLE * wide] = 0
        self._fit = np.zeros((self._levels, wide))
        self._fit[self._present] = fit
        fitted = self._people >= _PEOPLE * wide
        self.weights = np.abs(fit[:, 1:]).mean(axis=0)
        means = np.add.reduceat(target[self._order], self._starts) / self._people
        of = np.repeat(np.arange(len(self._present)), self._people)
        error, spread = target - self.of(self._labels, design), target[self._order] - means[of]
        inside = fitted[of]
        total = float(np.square(spread[inside]).sum())
        free = max(1, np.count_nonzero(inside) - wide * np.count_nonzero(fitted))
        scale = max(1, np.count_nonzero(inside) - np.count_nonzero(fitted)) / free
        enough = np.count_nonzero(inside) > len(target) / 2 and total > 0
        self.left = float(np.square(error[self._order][inside]).sum()) / total * scale if enough else 1.0
        return self

    def of(self, labels: IntArray, design: FloatArray) -> FloatArray:
        """What is fitted, for other people, too; 0 where nothing is."""
        fit = self._fit[labels]
        return np.asarray(fit[:, 0] + (fit[:, 1:] * design).sum(axis=1))
