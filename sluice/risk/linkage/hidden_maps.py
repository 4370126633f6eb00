"""Hidden maps: each record was made by one of several maps, and nothing that is known or released says by which.

Whoever knows pairs needs not know either: a person whose pair is known belongs to each map the more, the better it
fits, each map is learned anew from those that belong to it, and so on from a random beginning, ever more sharply, until
everybody belongs to one. A map that many values hide, such as a turn by an angle that moves on with each row, is near
one of a dozen. A person is expected wherever one of the maps leads, and the record nearest to any of these places is
the likeliest.

Sources: Späth (1979) for regressions of clusters; Ueda and Nakano (1998) for the annealing of a mixture.
"""

from dataclasses import dataclass, field
from typing import Self

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.risk.linkage.learned_linker import Candidates
from sluice.risk.linkage.learned_map import SCALES, ridge, spherical
from sluice.risk.linkage.likeliest_records import likeliest_records
from sluice.risk.linkage.mapped_columns import Features, MappedColumns

HIDDEN_SCALES = ("values", "normal scores")
COUNTS = (2, 4, 16)
"""Maps by which a scale is chosen."""
ALL_COUNTS = (2, 3, 4, 6, 8, 12, 16, 24, 40)
"""Maps that are tried on this scale, from the best of those on."""

_LEARNERS = 2_000  # people that maps are learned from
_FEWEST, _WIDEST = 4, 60  # columns of either side, numbers first; with fewer, some map always fits
_PENALTY = 1e-3  # of the map of one part, while people go from map to map
_PENALTIES = (1e-7, 1e-2, 1.0)  # of those that stay
_ROUNDS, _SETTLED = 40, 1e-3  # in which people go to other maps; the gain of one after which it is the last
_REFILLED = 10  # of these rounds, in which a map that hardly anybody is left of begins anew
_SHARPER = (0.03, 0.06, 0.12, 0.25, 0.5, 1.0, 1.0)  # how much of the error counts, step by step,
_OF_STEP = 6  # each of so many rounds
_LEAST = 1e-9  # mean error that is told from none


@dataclass(frozen=True)
class HiddenMaps:
    """Maps on one scale, any of which may have made a record.

    maps : (k, p + 1, d)
    """

    scale: str
    maps: FloatArray = field(repr=False)
    turn: FloatArray = field(repr=False)
    _sides: tuple[Features, Features] = field(repr=False)
    _at: tuple[IntArray, IntArray] = field(repr=False)  # the columns of both that are looked at

    @classmethod
    def learn(
        cls, columns: MappedColumns, scale: str, rows: IntArray, begin: int | Self, starts: int = 1
    ) -> Self | None:
        """From the true pairs of these rows; None where nothing varies, or there are too few people or columns.

        begin  : how many maps, k; or maps from which these begin
        starts : random beginnings, of which the one that leaves least is taken
        cost   : O(k l p (p + t)) for each of some 60 rounds, l of the rows, at most 2,000, p and t columns, at most 60
        """
        rows = rows[:: -(-len(rows) // _LEARNERS) or 1]
        known, released = columns.known_by(rows), columns.shown
        at = _looked_at(known), _looked_at(released)
        if min(map(len, at)) < _FEWEST:
            return None
        take, give, _ = SCALES[scale]
        x, y = known.of(rows, take)[:, at[0]], released.of(rows, (give,))[:, at[1]]
        varies = (y != y[:1]).any(axis=0)
        count = begin if isinstance(begin, int) else len(begin.maps)
        if not varies.any() or len(rows) < 2 * count * (x.shape[1] + 1):
            return None
        at, y = (at[0], at[1][varies]), y[:, varies]
        design = np.column_stack([x, np.ones(len(x))])
        if isinstance(begin, int):
            own = y @ spherical(y)
            tried = [_settled(design, own, _begun(design, own, count, seed), count) for seed in range(starts)]
            of = min(tried, key=lambda each: each[1])[0]
        else:
            made = begin._sides[1].of(rows, (give,))[:, begin._at[1]] @ begin.turn
            before = begin._sides[0].of(rows, take)[:, begin._at[0]]
            of = _nearest(np.column_stack([before, np.ones(len(x))]), made, begin.maps)[0]
        for last in (False, True):
            maps, left = _learned(x, y, of, count)
            turn = spherical(left)
            if not last:
                of, _ = _settled(design, y @ turn, of, count)
        return cls(scale, maps @ turn, turn, (known, released), at)

    def candidates(self, people: IntArray, records: IntArray, most: int) -> Candidates:
        """Of these people the likeliest of these records, which rise and hold all of the people's own.

        cost : O(k q r d) for q people and r records
        """
        take, give, _ = SCALES[self.scale]
        points = self._sides[1].of(records, (give,))[:, self._at[1]] @ self.turn
        x = self._sides[0].of(people, take)[:, self._at[0]]
        return likeliest_records(np.column_stack([x, np.ones(len(x))]), self.maps, points, people, records, most)


def _looked_at(side: Features) -> IntArray:
    is_number = np.array([column.is_number for column in side.spread_over], np.bool_)
    return np.argsort(~is_number, kind="stable")[:_WIDEST]


def _begun(x: FloatArray, y: FloatArray, count: int, seed: int) -> IntArray:
    """To which map each person belongs most, once all maps were learned from everybody, ever more sharply."""
    shares = np.random.default_rng(seed).random((count, len(x)))
    for sharp in np.repeat(_SHARPER, _OF_STEP).tolist():
        shares /= shares.sum(axis=0)
        apart = _apart(x, y, np.stack([_fitted(x, y, x * share[:, None]) for share in shares]))
        least = apart.min(axis=0)
        shares = np.exp((least - apart) * (sharp * y.shape[1] / (2 * max(_LEAST, float(least.mean())))))
    return np.asarray(shares.argmax(axis=0))


def _settled(x: FloatArray, y: FloatArray, of: IntArray, count: int) -> tuple[IntArray, float]:
    """To which map everybody goes in the end, and the mean squared distance that is left."""
    before = np.inf
    for step in range(_ROUNDS):
        maps = np.stack([_fitted(x, y, x * (of == each)[:, None]) for each in range(count)])
        of, apart = _nearest(x, y, maps)
        error = float(apart.mean())
        if step < _REFILLED:
            _refill(of, apart, count, x.shape[1])
        elif error > (1 - _SETTLED) * before:
            break
        before = error
    return of, error


def _fitted(x: FloatArray, y: FloatArray, weighted: FloatArray) -> FloatArray:
    return np.asarray(np.linalg.solve(weighted.T @ x + _PENALTY * np.eye(x.shape[1]), weighted.T @ y))


def _apart(x: FloatArray, y: FloatArray, maps: FloatArray) -> FloatArray:
    """The squared distance that each map leaves, shape (k, l)."""
    return np.stack([((x @ each - y) ** 2).sum(axis=1) for each in maps])


def _nearest(x: FloatArray, y: FloatArray, maps: FloatArray) -> tuple[IntArray, FloatArray]:
    """Which map leads nearest to each, and the squared distance that it leaves."""
    apart = _apart(x, y, maps)
    of = apart.argmin(axis=0)
    return of, apart[of, np.arange(len(x))]


def _refill(of: IntArray, apart: FloatArray, count: int, width: int) -> None:
    """Maps that are left with fewer than they have columns begin anew, with those whom others fit worst."""
    worst = np.argsort(-apart, kind="stable")
    for each in np.flatnonzero(np.bincount(of, minlength=count) < width).tolist():
        of[worst[: 2 * width]], worst = each, worst[2 * width :]


def _learned(x: FloatArray, y: FloatArray, of: IntArray, count: int) -> tuple[FloatArray, FloatArray]:
    """The map of those who went to each, shape (k, p + 1, t), and the residuals, each left out."""
    (centre, middle, slopes), left = ridge(x, y)
    maps = np.repeat(np.vstack([slopes, middle - centre @ slopes])[None], count, axis=0)
    for each in range(count):
        inside = np.flatnonzero(of == each)
        if len(inside) > 2:
            (centre, middle, slopes), left[inside] = ridge(x[inside], y[inside], _PENALTIES)
            maps[each] = np.vstack([slopes, middle - centre @ slopes])
    return maps, left
