"""Near records: by which released columns the records of one unit are nearer to each other than to others.

A unit is whatever holds several records: a household, a patient, a firm. Two records are near by a column if they have
one value, or numbers not farther apart than those of a unit usually are; by several columns if they are near by each.
How much that tells is the divergence of pairs of one unit from pairs of two. Columns are added to the one that tells
most as long as they add to it. Numbers are looked at by themselves, as logarithms, and in the sums that vary least
within units: a share that all members have is a difference of logarithms, a total a sum.

Source: Fellegi and Sunter (1969), the weight of an agreement; Fisher's discriminant, the linear combinations with the
smallest variance within groups.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sluice.ground.arrays import BoolArray, FloatArray, IntArray

PAIRS = 4_000  # that are learned from, of one unit and of two
_STARTS = 3  # columns that are begun with
_LONGEST = 6  # columns that are near together
_TELLS = 0.02  # nats a pair, below which a column tells nothing
_ADDS = 0.1  # nats a pair, below which one more column adds nothing
_MATES = 50  # pairs that are near, fewer of which tell nothing of one more column
_SMALLEST = 0.2  # of the variance between units, from which a sum varies as much within
_SUMS = 4


@dataclass(frozen=True)
class Members:
    """The records of some units, unit after unit."""

    units: IntArray
    rows: IntArray
    starts: IntArray

    @classmethod
    def of(cls, units: IntArray, unit_of: IntArray) -> "Members":
        units = np.sort(units)
        wanted = np.zeros(int(unit_of.max()) + 1, bool)
        wanted[units] = True
        rows = np.flatnonzero(wanted[unit_of])
        rows = rows[np.argsort(unit_of[rows], kind="stable")]
        return cls(units, rows, np.searchsorted(unit_of[rows], np.append(units, units[-1] + 1)))


@dataclass(frozen=True)
class ReleasedColumn:
    """What a reader of the released file compares: labels, and for a number its values.

    labels : (n,) codes in the order of the values, equal where the values are
    values : (n,) or None; NaN where missing
    """

    name: str
    labels: IntArray
    values: FloatArray | None = None


@dataclass(frozen=True)
class Event:
    """Two records are near by one column: equal, or a number not farther apart than that."""

    column: int
    within: float | None = None


@dataclass(frozen=True)
class Near:
    """Which records are near each other by some events."""

    by_place: IntArray
    window: IntArray
    others: FloatArray
    within: FloatArray
    place: IntArray

    @classmethod
    def of(cls, columns: Sequence[ReleasedColumn], events: Sequence[Event]) -> "Near":
        from sluice.risk.attacks.unit_reconstruction_kernel import windows  # with Numba, which a start does without

        n = len(columns[0].labels)
        blocks = np.zeros(n, np.int64)
        for event in (each for each in events if each.within is None):
            labels = columns[event.column].labels
            blocks = np.unique(blocks * (int(labels.max(initial=0)) + 1) + labels, return_inverse=True)[1]
        numbers = [(_filled(columns[each.column]), each.within) for each in events if each.within is not None]
        first, width = numbers[0] if numbers else (np.zeros(n), 0.0)
        by_place = np.lexsort((first, blocks))
        found = windows(blocks[by_place], first[by_place], width)
        window, place = np.empty_like(found), np.empty(n, np.int64)
        window[by_place], place[by_place] = found, np.arange(n)
        others = np.column_stack([values for values, _ in numbers[1:]]) if len(numbers) > 1 else np.zeros((n, 0))
        return cls(by_place, window, others, np.array([within for _, within in numbers[1:]], np.float64), place)

    def are_near(self, one: IntArray, other: IntArray) -> BoolArray:
        """Whether the second record is near the first; arrays that fit each other."""
        place = self.place[other]
        inside = (self.window[one, 0] <= place) & (place <= self.window[one, 1])
        return np.asarray(inside & (np.abs(self.others[one] - self.others[other]) <= self.within).all(axis=-1))

    def sizes(self, records: IntArray) -> IntArray:
        """How many records are near each of these, itself among them, shape (q,)."""
        from sluice.risk.attacks.unit_reconstruction_kernel import sizes_near

        return np.asarray(sizes_near(records, self.by_place, self.window, self.others, self.within))

    def mates(self, records: IntArray, unit_of: IntArray, rng: np.random.Generator) -> IntArray:
        """Pairs of records that are near and of two units, shape (., 2)."""
        low, high = self.window[records].T
        other = self.by_place[low + np.floor(rng.uniform(size=len(records)) * (high - low + 1)).astype(np.int64)]
        kept = self.are_near(records, other) & (unit_of[records] != unit_of[other])
        return np.asarray(np.column_stack([records, other])[kept])


def pairs_of_units(units: IntArray, unit_of: IntArray, rng: np.random.Generator) -> IntArray:
    """Pairs of two records of one of these units, shape (., 2): of each as many as it has members, less one."""
    members = Members.of(units, unit_of)
    size = np.diff(members.starts)
    unit = np.repeat(np.arange(len(size)), np.minimum(size - 1, 10))
    if len(unit) > PAIRS:
        unit = np.sort(rng.choice(unit, PAIRS, replace=False))
    one = np.floor(rng.uniform(size=len(unit)) * size[unit]).astype(np.int64)
    step = 1 + np.floor(rng.uniform(size=len(unit)) * (size[unit] - 1)).astype(np.int64)
    start = members.starts[unit]
    return np.stack([members.rows[start + one], members.rows[start + (one + step) % size[unit]]], axis=1)


def pairs_of_two_units(unit_of: IntArray, rng: np.random.Generator) -> IntArray:
    """Pairs of two records that are of two units, shape (., 2)."""
    pairs = rng.integers(len(unit_of), size=(PAIRS, 2))
    return np.asarray(pairs[unit_of[pairs[:, 0]] != unit_of[pairs[:, 1]]])


def event_sets(
    columns: Sequence[ReleasedColumn], same: IntArray, different: IntArray, unit_of: IntArray,
    rng: np.random.Generator,
) -> list[tuple[Event, ...]]:  # fmt: skip
    """Sets of events by which pairs of one unit differ most from pairs of two, each begun with another column.

    same, different : pairs of records of one unit and of two, shape (., 2)
    returns : none where nothing tells them apart
    cost    : O(n log n) for each column, and for each event of a set
    """
    n = len(unit_of)
    events = [event for at, column in enumerate(columns) for event in _events(at, column, same, different)]
    near = {event: _near_pairs(columns, event, same) for event in events}
    chance = {event: _by_chance(columns[event.column], event, different[:1_000, 0]) for event in events}
    tells = {event: _divergence(near[event], chance[event]) for event in events}
    best: dict[str, Event] = {}
    for event in sorted(events, key=lambda each: -tells[each]):
        if tells[event] > _TELLS:
            best.setdefault(columns[event.column].name, event)
    telling = [event for event in events if tells[event] > 0]
    found: dict[frozenset[Event], tuple[Event, ...]] = {}
    for start in [*best.values()][:_STARTS]:
        chosen: tuple[Event, ...] = (start,)
        together, by_chance = near[start], chance[start]
        found.setdefault(frozenset(chosen), chosen)
        while len(chosen) < _LONGEST:
            mates = Near.of(columns, chosen).mates(rng.integers(n, size=PAIRS), unit_of, rng)
            left = [
                each for each in telling if all(columns[each.column].name != columns[e.column].name for e in chosen)
            ]
            if len(mates) < _MATES or not left:
                break
            steps = {
                each: (
                    together & near[each],
                    by_chance * (_near_pairs(columns, each, mates).sum() + 0.5) / (len(mates) + 1),
                )
                for each in left
            }
            more = max(left, key=lambda each: _divergence(*steps[each]))
            if _divergence(*steps[more]) < _divergence(together, by_chance) + _ADDS:
                break
            chosen, (together, by_chance) = (*chosen, more), steps[more]
        found.setdefault(frozenset(chosen), chosen)
    return [*found.values()]


def _events(at: int, column: ReleasedColumn, same: IntArray, different: IntArray) -> list[Event]:
    found = [Event(at)]
    if column.values is None:
        return found
    values = _filled(column)
    apart = np.abs(values[same[:, 0]] - values[same[:, 1]])
    usual = float(np.median(np.abs(values[different[:, 0]] - values[different[:, 1]]))) if len(different) else 0.0
    widths = {float(np.quantile(apart, share)) * (1 + 1e-9) for share in (0.3, 0.6, 0.8, 0.95)}
    return found + [Event(at, width) for width in sorted(widths) if 0 < width < usual]


def _near_pairs(columns: Sequence[ReleasedColumn], event: Event, pairs: IntArray) -> BoolArray:
    column = columns[event.column]
    one, other = pairs.T
    if event.within is None:
        return np.asarray(column.labels[one] == column.labels[other])
    values = _filled(column)
    return np.asarray(np.abs(values[one] - values[other]) <= event.within)


def _by_chance(column: ReleasedColumn, event: Event, anchors: IntArray) -> float:
    """The share of pairs of records that are near, at least that of one record in ten times as many pairs."""
    n = len(column.labels)
    if event.within is None:
        counts = np.bincount(column.labels).astype(np.float64)
        near = float((counts * (counts - 1)).sum()) / max(1, n * (n - 1))
    else:
        values = _filled(column)
        ordered = np.sort(values)
        low = np.searchsorted(ordered, values[anchors] - event.within, "left")
        high = np.searchsorted(ordered, values[anchors] + event.within, "right")
        near = float((high - low - 1).mean()) / max(1, n - 1)
    return max(near, 0.1 / n)


def _divergence(same: BoolArray, chance: float) -> float:
    """How many nats a pair of one unit tells, on average, by being near or not; 0 where it is no nearer than others."""
    share, chance = min(max(float(same.mean()), 1e-3), 1 - 1e-3), min(max(chance, 1e-12), 1 - 1e-3)
    if share <= chance:
        return 0.0
    return float(share * np.log(share / chance) + (1 - share) * np.log((1 - share) / (1 - chance)))


def combined_columns(columns: Sequence[ReleasedColumn], pairs: IntArray, different: IntArray) -> list[ReleasedColumn]:
    """Logarithms of positive numbers, and sums of numbers or logarithms that are nearly the same within units.

    pairs, different : of two records of one unit, and of two, shape (., 2)
    """
    numbers = [column for column in columns if column.values is not None]
    logarithms = []
    for column in numbers:
        values = column.values
        assert values is not None
        if np.nanmin(values, initial=np.inf) > 0 and len(np.unique(column.labels)) > 2:
            logarithms.append(ReleasedColumn(column.name, column.labels, np.log(values)))
    return [*logarithms, *_sums(numbers, pairs, different), *_sums(logarithms, pairs, different)]


def _sums(numbers: Sequence[ReleasedColumn], pairs: IntArray, different: IntArray) -> list[ReleasedColumn]:
    if len(numbers) < 2:
        return []
    values = np.column_stack([column.values for column in numbers if column.values is not None])
    scale = np.nanstd(values[different.ravel()], axis=0) if len(different) else np.zeros(len(numbers))
    used = np.isfinite(scale) & (scale > 0)
    values = values[:, used] / scale[used]
    within, between = (_scatter(values, which) for which in (pairs, different))
    if within is None or between is None:
        return []
    spreads, axes = np.linalg.eigh(between)
    kept = spreads > 1e-10 * spreads.max(initial=0)
    whitened = axes[:, kept] / np.sqrt(spreads[kept])
    shares, directions = np.linalg.eigh(whitened.T @ within @ whitened)
    found = []
    for share, direction in zip(shares[:_SUMS], directions.T, strict=False):
        if share >= _SMALLEST:
            break
        weights = whitened @ direction
        names = [column.name for column, used_one in zip(numbers, used, strict=True) if used_one]
        of = [name for name, weight in zip(names, weights, strict=True) if abs(weight) > 1e-6 * np.abs(weights).max()]
        summed = values @ weights
        found.append(ReleasedColumn(" and ".join(of), np.unique(summed, return_inverse=True)[1], summed))
    return found


def _scatter(values: FloatArray, pairs: IntArray) -> FloatArray | None:
    """Mean products of the differences within pairs; None where there are too few of them."""
    apart = values[pairs[:, 0]] - values[pairs[:, 1]]
    apart = apart[np.isfinite(apart).all(axis=1)]
    return apart.T @ apart / len(apart) if len(apart) > 3 * values.shape[1] else None


def _filled(column: ReleasedColumn) -> FloatArray:
    """The values; missing ones far from all others, and equal."""
    assert column.values is not None
    missing = np.isnan(column.values)
    if not missing.any():
        return column.values
    present = column.values[~missing]
    low, high = (present.min(), present.max()) if len(present) else (0.0, 0.0)
    return np.where(missing, high + 10 * (high - low) + 1, column.values)
