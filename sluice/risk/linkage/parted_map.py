"""A map for each part of a file: what one secret hides from a map of the whole file, and from no map of its part.

In each part every released column is expected as everywhere, or with an amount added, or by a map of the part's own:
of numbers from all known numbers, of a category from the known one of its name. What serves best on those learned from,
each left out, is taken, of each part and column. Where the place of the record tells the part, a person is expected
elsewhere in each; so the likeliest record is looked for part by part.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Self

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.risk.linkage.learned_linker import Candidates
from sluice.risk.linkage.learned_map import SCALES, ridge, spherical
from sluice.risk.linkage.likeliest_records import likeliest_records
from sluice.risk.linkage.mapped_columns import Features, MappedColumns, NumberScale
from sluice.risk.linkage.parts_of_files import Parts, found_parts, told_parts

PARTED_SCALES = ("values", "normal scores", "logarithms")

_LEARNERS = 200_000  # people that maps are learned from
_STRETCHES, _STRETCH = 10, 1_000  # of these people, by whom parts are chosen
_TRIED = np.arange(1, 7) * 0.618034 % 1.0  # where parts stand by which a way is tried: no other way has ends there, too
_OF_CELL = 150  # most people of each
_FEWEST, _MORE = 8, 4  # people of a part that has a map of its own, and of those tried more than known numbers
_SHARE = 0.3  # of the people in such parts
_GAIN = 0.1  # of the logarithm of the residuals' variance, on average
_PENALTY = 1e-6
_PENALTIES = (1e-7, 1e-2, 1.0)  # of the map of one part
_SINGULAR = 1e-9

_Block = tuple[IntArray, IntArray]  # places of known columns, and of the released ones that they tell


@dataclass(frozen=True)
class PartedMap:
    """Maps of all parts on one scale.

    maps : (parts + 1, p + 1, d), the last one for whoever is in no part that was learned
    """

    scale: str
    parts: Parts
    numbers: IntArray = field(repr=False)  # of the parts, rising
    maps: FloatArray = field(repr=False)
    turn: FloatArray = field(repr=False)
    _known: Features = field(repr=False)
    _released: Features = field(repr=False)

    @classmethod
    def learn(cls, columns: MappedColumns, scale: str, rows: IntArray, parts: Parts) -> Self | None:
        """From the true pairs of these rows; None where nothing varies. Cost: O(l p^2) for l of the rows."""
        rows = rows[:: -(-len(rows) // _LEARNERS) or 1]
        known, released = columns.known_by(rows), columns.shown
        x, y, blocks = _learned_from(known, released, scale, rows)
        varies = (y != y[:1]).any(axis=0)
        if not varies.any():
            return None
        numbers, cell = np.unique(parts.of(rows), return_inverse=True)
        maps, left = _maps(x, y, blocks, cell, numbers)
        turn = np.zeros((len(varies), np.count_nonzero(varies)))
        turn[varies] = spherical(left[:, varies])
        return cls(scale, parts, numbers, maps @ turn, turn, known, released)

    def candidates(self, people: IntArray, records: IntArray, most: int) -> Candidates:
        """Of these people the likeliest of these records, which rise and hold all of the people's own.

        cost : O(q r d) for q people and r records
        """
        points = self._released.of(records, (SCALES[self.scale][1],)) @ self.turn
        x = self._known.of(people, SCALES[self.scale][0])
        x = np.column_stack([x, np.ones(len(x))])
        if self.parts.of_records:
            return likeliest_records(x, self.maps, points, people, records, most, self._places(records))
        expected = np.empty((len(people), points.shape[1]))
        places = self._places(people)
        for place in np.unique(places):
            expected[places == place] = x[places == place] @ self.maps[place]
        as_expected = np.column_stack([expected, np.ones(len(x))]), np.eye(points.shape[1] + 1)[None, :, :-1]
        return likeliest_records(*as_expected, points, people, records, most)

    def _places(self, rows: IntArray) -> IntArray:
        of = self.parts.of(rows)
        at = np.clip(np.searchsorted(self.numbers, of), 0, len(self.numbers) - 1)
        return np.where(self.numbers[at] == of, at, len(self.numbers))


def likeliest_parts(columns: MappedColumns, scale: str, rows: IntArray, records: int) -> Parts | None:
    """The parts by which the pairs of these people are told best: where the residuals' variance is the smallest part of
    what one map leaves, on average of its logarithm. None where none is worth it.

    cost : that of some hundred maps learned from a few hundred of them
    """
    everybody, rows = rows, np.unique(np.concatenate([part[:_STRETCH] for part in np.array_split(rows, _STRETCHES)]))
    known, released = columns.known_by(rows), columns.shown
    if not len(rows) or not known.columns or not released.columns:
        return None
    x, y, blocks = _learned_from(known, released, scale, rows)
    _, left = ridge(x, y)
    before = left**2 + _SINGULAR

    def values(some: IntArray) -> tuple[FloatArray, FloatArray]:
        (take, give), (of_known, of_released, _) = blocks[0], SCALES[scale]
        return known.of(some, of_known)[:, take], released.of(some, (of_released,))[:, give]

    told = told_parts((*columns.known, *columns.kept_back), columns.released, records)
    ways: Iterable[Parts] = told
    if len(blocks[0][0]) and len(blocks[0][1]):
        ways = chain(told, found_parts(columns.known, values, everybody, records))
    best, most = None, _GAIN
    for parts in ways:
        gain = _gain(x, y, blocks, parts.of(rows), before)
        if gain > most:
            best, most = parts, gain
    return best


def _gain(x: FloatArray, y: FloatArray, blocks: Sequence[_Block], of: IntArray, before: FloatArray) -> float:
    """What maps of some parts gain, times the share of the people in parts that are large enough."""
    numbers, cell, sizes = np.unique(of, return_inverse=True, return_counts=True)
    tells = np.flatnonzero((sizes >= max(_FEWEST, len(blocks[0][0]) + _MORE)) & (numbers >= 0))
    share = float(sizes[tells].sum() / len(of))
    if len(numbers) < 2 or share < _SHARE:
        return 0.0
    gains = []
    for place in np.unique(tells[(_TRIED * len(tells)).astype(np.int64)]).tolist():
        inside = np.flatnonzero(cell == place)
        inside = inside[:: -(-len(inside) // _OF_CELL)]
        error = np.full(y.shape[1], np.inf)
        for take, give in blocks:
            if len(inside) >= len(take) + _MORE:
                error[give] = (_left_out(x[np.ix_(inside, take)], y[np.ix_(inside, give)]) ** 2).mean(axis=0)
        plain = before[inside].mean(axis=0)
        varies = y[inside].var(axis=0) > _SINGULAR  # what a part has in common needs no map
        gains.append(float(np.where(varies, np.log(plain / np.minimum(plain, error + _SINGULAR)), 0.0).mean()))
        if np.mean(gains) < _GAIN / 2:
            break
    return float(np.mean(gains)) * share


def _left_out(x: FloatArray, y: FloatArray) -> FloatArray:
    """Residuals of least squares, each person left out."""
    a, b = x - x.mean(axis=0), y - y.mean(axis=0)
    inverse = np.linalg.inv(a.T @ a + _PENALTY * len(a) * np.eye(a.shape[1]))
    leverage = np.minimum(((a @ inverse) * a).sum(axis=1) + 1 / len(a), 0.98)
    return np.asarray((b - a @ (inverse @ (a.T @ b))) / (1 - leverage)[:, None])


def _learned_from(
    known: Features, released: Features, scale: str, rows: IntArray
) -> tuple[FloatArray, FloatArray, tuple[_Block, ...]]:
    """Both sides as numbers, and which tell which within a part: numbers all numbers, a category that of its name."""
    take, give, _ = SCALES[scale]
    sides = known, released
    names = [np.array([column.name for column in side.spread_over]) for side in sides]
    is_number = [
        np.repeat([isinstance(scale, NumberScale) for scale in side.scales], [scale.width for scale in side.scales])
        for side in sides
    ]
    of_numbers = np.flatnonzero(is_number[0]), np.flatnonzero(is_number[1])
    categories = dict.fromkeys(names[1][~is_number[1].astype(bool)].tolist())
    blocks = [of_numbers] + [
        (told_by, np.flatnonzero(names[1] == name))
        for name in categories
        if len(told_by := np.flatnonzero(names[0] == name))
    ]
    return known.of(rows, take), released.of(rows, (give,)), tuple(blocks)


def _maps(
    x: FloatArray, y: FloatArray, blocks: Sequence[_Block], cell: IntArray, numbers: IntArray
) -> tuple[FloatArray, FloatArray]:
    """The map of each part, shape (parts + 1, p + 1, t), the last one that of all; and the residuals, each left out."""
    sizes = np.bincount(cell, minlength=len(numbers))
    (centre, middle, slopes), left = ridge(x, y)
    means = [np.column_stack([np.bincount(cell, column, len(numbers)) for column in side.T]) / sizes[:, None]
             for side in (x, y)]  # fmt: skip
    (_, _, within), added = ridge(x - means[0][cell], y - means[1][cell])
    added = added * (sizes / np.maximum(sizes - 1, 1e-3))[cell][:, None]
    everywhere = np.vstack([slopes, middle - centre @ slopes])
    maps = np.repeat(everywhere[None], len(numbers) + 1, axis=0)
    order, starts = np.argsort(cell, kind="stable"), np.cumsum([0, *sizes])
    for place in np.flatnonzero((sizes > 1) & (numbers >= 0)).tolist():
        inside = order[starts[place] : starts[place + 1]]
        least = (left[inside] ** 2).mean(axis=0)
        error = (added[inside] ** 2).mean(axis=0)
        better = error < least
        maps[place][:-1, better] = within[:, better]
        maps[place][-1, better] = (means[1][place] - means[0][place] @ within)[better]
        left[np.ix_(inside, np.flatnonzero(better))] = added[np.ix_(inside, np.flatnonzero(better))]
        least = np.where(better, error, least)
        for take, give in blocks if sizes[place] >= _FEWEST else ():
            if not len(take) or not len(give):
                continue
            (own_centre, own_middle, own), apart = ridge(x[np.ix_(inside, take)], y[np.ix_(inside, give)], _PENALTIES)
            better = (apart**2).mean(axis=0) < least[give]
            chosen = give[better]
            maps[place][:, chosen] = 0.0
            maps[place][np.ix_(take, chosen)] = own[:, better]
            maps[place][-1, chosen] = (own_middle - own_centre @ own)[better]
            left[np.ix_(inside, chosen)] = apart[:, better]
    return maps, left
