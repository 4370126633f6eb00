"""Shared ratios: numbers of one record that are in the same proportion as those of the records that it belongs to.

A survey's replicate weights are its weight, times what each replicate does to a cluster: nought for the cluster that is
left out, more for its neighbours. However the weights themselves are masked, if all of a record are multiplied alike,
their ratios say which records were drawn together; so do the two weights of a household. Whoever knows one of a
cluster, or is one, reads off the others' records.

Ratios that only amounts in round numbers have in common are those that the same numbers have in any other order. What
goes beyond them may still be a tariff or a tax rate: records belong together where those of one ratio agree in another
column, or in their place in the source, and those of nearly the same ratio do not.

Source: Lu, W. W. and Sitter, R. R. (2008). Disclosure risk and replication-based variance estimation. Statistica Sinica
18, 1669-1687, on clusters that replicate weights give back.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.risk.row_groups import row_groups

_DIGITS = 4  # of a ratio that are compared
_ROWS = 5_000
_BASES = 5  # columns that the others are divided by
_BEYOND = 0.3  # share of the records that have one ratio in common with others, beyond chance
_USUAL = 0.95  # share of the records that one ratio may have, at most
_PAIRS, _FEWEST = 2_000, 20  # of records that are looked at
_AGREE = 0.8  # of the pairs with one ratio agree in another column, and of those that any two records do not agree in
_COMMON = 0.9  # share of any two records that agree in it, at most
_MANY = 20  # different ratios, from which on some are near each other
_NEAR = 50  # records between two that are at one place of the source


@dataclass(frozen=True)
class SharedRatios:
    """Columns that are in one proportion for records that belong together, and the group of each record, (n,)."""

    columns: tuple[str, ...]
    group: IntArray


def shared_ratios(
    numbers: Mapping[str, FloatArray], others: Sequence[IntArray], rng: np.random.Generator
) -> Iterator[SharedRatios]:
    """Groups of records by their ratios to one column; none where chance or a rate that many have explains them.

    numbers : of each released column its numbers, shape (n,), in the order of the source, weights first
    others  : codes of columns of the original, each of shape (n,), that records which belong together may share
    cost    : O(n log n) for each column whose ratios are shared, and 5,000 records for the others
    """
    left = list(numbers)
    for base in [*numbers][:_BASES]:
        if base not in left:
            continue
        left.remove(base)
        found = [name for name in left if _is_shared(numbers[base], numbers[name], rng)]
        if not found:
            continue
        ratios = [_ratios(numbers[base], numbers[name]) for name in found]
        group = row_groups(ratios).of
        if belong_together(group, ratios, others, rng, numbers[base]):
            left = [name for name in left if name not in found]
            yield SharedRatios((base, *found), group)


def _ratios(base: FloatArray, numbers: FloatArray) -> FloatArray:
    """Each number by the base's, to four digits; -1 where there is none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = numbers / base
        size = 10.0 ** (np.floor(np.log10(np.abs(ratio))) - (_DIGITS - 1))
        rounded = np.where(ratio == 0, 0.0, np.rint(ratio / size) * size)
    return np.where(np.isfinite(ratio), np.round(rounded, 12), -1.0)


def _is_shared(base: FloatArray, numbers: FloatArray, rng: np.random.Generator) -> bool:
    rows = np.arange(len(base)) if len(base) <= _ROWS else np.sort(rng.choice(len(base), _ROWS, replace=False))
    own, chance = (_shared(_ratios(base[rows], numbers[order])) for order in (rows, rng.permutation(rows)))
    return own[0] > chance[0] + _BEYOND and own[1] < _USUAL


def _shared(ratios: FloatArray) -> tuple[float, float]:
    """The share of the records whose ratio another one has, too, and of those with the most frequent one."""
    count = np.unique(ratios, return_counts=True)[1]
    return float(count[count > 1].sum() / len(ratios)), float(count.max() / len(ratios))


def belong_together(
    group: IntArray,
    numbers: Sequence[FloatArray],
    others: Sequence[IntArray],
    rng: np.random.Generator,
    size: FloatArray | None = None,
) -> bool:
    """Whether records of one group agree in another column, or in their place in the source, where any two records do
    not, nor two whose numbers are merely near.

    group   : (n,) codes from 0 of the records with equal numbers, in the order of the source
    numbers : that make the groups, each of shape (n,)
    others  : codes of other columns, each of shape (n,)
    size    : (n,) only records of different ones are looked at: others agree because they are equal
    cost    : a sort of each of the numbers, and some thousand pairs
    """
    n = len(group)
    order = rng.permutation(n)
    order = order[np.argsort(group[order], kind="stable")]
    same = group[order][1:] == group[order][:-1]
    pairs = [_neighbours(order, same & (size is None or np.diff(size[order]) != 0), rng)]
    if len(pairs[0][0]) < _FEWEST:
        return False
    pairs.append(tuple(rng.integers(0, n, (2, _PAIRS))))
    for each in numbers:
        if len(np.unique(each)) > _MANY:
            order = np.argsort(each, kind="stable")
            pairs.append(_neighbours(order, np.diff(each[order]) != 0, rng))
    place = np.arange(n)
    agree = [[float((np.abs(place[a] - place[b]) <= _NEAR).mean()) for a, b in pairs]]
    agree += [[float((codes[a] == codes[b]).mean()) for a, b in pairs] for codes in others]
    usual = [max(by_chance) for _, *by_chance in agree]
    return any(
        chance <= _COMMON and of_one >= chance + _AGREE * (1 - chance)
        for (of_one, *_), chance in zip(agree, usual, strict=True)
    )


def _neighbours(order: IntArray, chosen: BoolArray, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Some pairs of records that follow each other in this order, of those chosen."""
    some = rng.permutation(np.flatnonzero(chosen))[:_PAIRS]
    return order[some], order[some + 1]
