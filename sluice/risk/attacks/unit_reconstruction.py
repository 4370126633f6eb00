"""Unit reconstruction: records that belong together find each other by the values that they share.

A household's number may be removed and its rent be masked: where all its members still have one rent, and others have
another, whoever reads the file puts households together. The intruder knows a household by its members' keys, such as
their ages and sexes. Nobody is alone by these; a whole household often is.

What shows that two records are of one unit is learned from half of the units: values that are equal, or nearly so, in
one released variable or in several together; a sum or a ratio of numbers counts as a variable. For each other unit,
every record with the keys of its rarest member is weighed: each other member by how much likelier a record with their
keys is near it than by chance, and the unit's size by how many are near. The share of people found is compared with
what their own keys alone would find; the intruder is sure where the probability is above what served best on the first
half. Where only some units share a value, the others are left as they were: the likelihood is that of a mixture.

Source: Hundepool et al. (2012), section 3.3, the household risk, which takes the household as released; Fellegi and
Sunter (1969), the weights. Differs from them: the household is put together from the released file.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.risk.attacks.near_records import (
    Event,
    Members,
    Near,
    ReleasedColumn,
    combined_columns,
    event_sets,
    pairs_of_two_units,
    pairs_of_units,
)

_PLAYED = 150  # units on which the rulers are compared
_UNITS = 500  # that are judged at least: of none found, 0.8 % may still be
_LEARNED = 400  # units by which it is learned what is near
_FELLOWS = 6  # other members that are looked at of each
_RETAINED = (0.5, 0.8, 0.98)  # share of the people whose key is released as it is: those kept less are not compared
_SIZED = 5_000  # records by which it is learned how many are near
_FEW = 40  # units, of which no half can be spared to learn from
_LARGEST = 200  # members from which a unit's size is not told apart


@dataclass(frozen=True)
class Reconstruction:
    """What the intruder reached of the people who were judged.

    rows    : (people,) of the records; units : (people,) theirs
    found   : (people,) 1 / t where the own record is one of t that fit best, 0 where it is not among them
    alone   : (people,) the same by the own keys alone, without the others of the unit
    claimed : (people,) whether the intruder is sure of a record
    right   : (people,) and it is theirs; whom the own keys alone would find for sure is not counted
    near    : names of the columns by which records were put together
    complete: whether all people of the file were judged
    """

    rows: IntArray
    units: IntArray
    found: FloatArray
    alone: FloatArray
    claimed: BoolArray
    right: BoolArray
    near: tuple[str, ...]
    complete: bool


@dataclass(frozen=True)
class Keys:
    """Classes of the keys, of each released record and of each person as known; -1 where no record has these."""

    released: IntArray
    known: IntArray
    starts: IntArray  # (classes + 1,)

    @classmethod
    def of(cls, known: Sequence[IntArray], released: Sequence[IntArray], n: int) -> "Keys":
        both = np.zeros(2 * n, np.int64)
        for one, other in zip(known, released, strict=True):
            column = np.concatenate([one, other])
            both = np.unique(both * (int(column.max(initial=0)) + 1) + column, return_inverse=True)[1]
        present, classes = np.unique(both[n:], return_inverse=True)
        places = np.minimum(np.searchsorted(present, both[:n]), len(present) - 1)
        found = np.where(present[places] == both[:n], places, -1)
        starts = np.concatenate([[0], np.cumsum(np.bincount(classes, minlength=len(present)))])
        return cls(classes, found, starts.astype(np.int64))


@dataclass(frozen=True)
class _Ruler:
    """Keys and what makes records near, with what was learned of units whose members are known.

    ordered  : (n,) released records by class and place
    together : share of the other members that are near, and have their keys, where any is; any: where one is
    sizes    : (largest unit + 1, SIZES) log likelihood ratios of how many more records are near
    """

    keys: Keys
    columns: tuple[int, ...]
    near: Near
    ordered: IntArray
    together: float
    any: float
    sizes: FloatArray


@dataclass(frozen=True)
class _Play:
    """Of each person: found, by the own keys alone, probability of the record that is taken, and whether it is own."""

    found: FloatArray
    alone: FloatArray
    probability: FloatArray
    right: BoolArray


def reconstruct_units(
    known: Sequence[IntArray],
    released: Sequence[IntArray],
    columns: Sequence[ReleasedColumn],
    unit_of: IntArray,
    rng: np.random.Generator,
    people: int = 2_000,
) -> Reconstruction | None:
    """Whom an intruder finds who knows the keys of all members of a unit and puts units together from the file.

    known, released : of each key the codes that the people have and that their released records have, (n,) each
    columns : what else is released; a key may be among them
    unit_of : (n,) the unit of each record, from 0
    people  : about so many are judged, whole units at random and at least 500; of a file of fewer people, or up to
              1,000 units, all are, each by what others taught
    returns : None where no unit has two records, or nothing released tells which of them belong together
    cost    : O(n log n) for each of some ten rulers, and for each unit judged the records with its rarest member's keys
              by the other members
    """
    count = int(unit_of.max(initial=-1)) + 1
    sizes = np.bincount(unit_of, minlength=count)
    if sizes.max(initial=0) < 2 or not columns:
        return None
    order = rng.permutation(count)
    halves = (order[::2], order[1::2])
    complete = len(unit_of) <= people or count <= 2 * _UNITS
    folds = [halves, halves[::-1]] if complete else [halves]
    if count < _FEW:
        folds, complete = [(order, order)], True
    parts: list[tuple[Members, _Play, BoolArray]] = []
    near: dict[str, None] = {}
    for learners, judged in folds:
        if not complete:
            judged = judged[: max(_UNITS, int(np.searchsorted(np.cumsum(sizes[judged]), people)) + 1)]
        members = Members.of(judged, unit_of)
        finder, claimer, least, names = _best_rulers(known, released, columns, unit_of, learners, rng)
        found = _played(finder, members, unit_of)
        claims = found if claimer is finder else _played(claimer, members, unit_of)
        near |= dict.fromkeys(names)
        parts.append((members, found, np.array([claims.probability > least, claims.right])))
    if not near:
        return None
    rows = np.concatenate([members.rows for members, _, _ in parts])
    alone = np.concatenate([found.alone for _, found, _ in parts])
    claimed, right = np.concatenate([claims for _, _, claims in parts], axis=1)
    return Reconstruction(
        rows=rows,
        units=unit_of[rows],
        found=np.concatenate([found.found for _, found, _ in parts]),
        alone=alone,
        claimed=claimed,
        right=claimed & right & (alone < 1),
        near=tuple(near),
        complete=complete,
    )


def _best_rulers(
    known: Sequence[IntArray], released: Sequence[IntArray], columns: Sequence[ReleasedColumn], unit_of: IntArray,
    learners: IntArray, rng: np.random.Generator,
) -> tuple[_Ruler, _Ruler, float, list[str]]:  # fmt: skip
    """Which ruler finds most, which one's claims are best, from what probability, and by what records are near."""
    n = len(unit_of)
    kept = {tuple(at for at in range(len(known)) if (known[at] == released[at]).mean() >= least) for least in _RETAINED}
    keys = [Keys.of([known[at] for at in each], [released[at] for at in each], n) for each in sorted(kept)]
    same = pairs_of_units(learners, unit_of, rng)
    different = pairs_of_two_units(unit_of, rng)
    every = [*columns, *combined_columns(columns, same, different)] if len(same) else []
    some = Members.of(learners[:_LEARNED], unit_of)
    rulers = [_untaught(each, n) for each in keys]
    for events in event_sets(every, same, different, unit_of, rng) if len(same) else []:
        near = Near.of(every, events)
        rulers += [_taught(each, events, near, some, unit_of, rng) for each in keys]
    sample = Members.of(learners[:_PLAYED], unit_of)
    tried = [_played(each, sample, unit_of) for each in rulers]
    finder = rulers[int(np.argmax([(each.found - each.alone).mean() for each in tried]))]
    claims = [_threshold(each.probability, each.right) for each in tried]
    at = int(np.argmax([gain for _, gain in claims]))
    names = [every[column].name for column in dict.fromkeys((*finder.columns, *rulers[at].columns))]
    return finder, rulers[at], claims[at][0], names


def _untaught(keys: Keys, n: int) -> _Ruler:
    """By which all records are near each other, so that nobody is found but by the own keys."""
    from sluice.risk.attacks.unit_reconstruction_kernel import SIZES

    place = np.arange(n)
    near = Near(place, np.broadcast_to(np.array([0, n - 1]), (n, 2)).copy(), np.zeros((n, 0)), np.zeros(0), place)
    return _Ruler(keys, (), near, np.argsort(keys.released, kind="stable"), 0.0, 0.0, np.zeros((2, SIZES)))


def _taught(
    keys: Keys, events: tuple[Event, ...], near: Near, some: Members, unit_of: IntArray, rng: np.random.Generator
) -> _Ruler:
    """A ruler that has learned from these units how many of the others are near each member and have their keys, and
    how many more records are near than the unit has."""
    from sluice.risk.attacks.unit_reconstruction_kernel import SIZES

    n, size = len(unit_of), np.diff(some.starts)
    unit = np.repeat(np.arange(len(size)), size)
    step = 1 + np.floor(rng.uniform(size=(len(unit), _FELLOWS)) * (size[unit, None] - 1)).astype(np.int64)
    position = np.arange(len(unit)) - some.starts[unit]
    fellows = some.rows[some.starts[unit, None] + (position[:, None] + step) % size[unit, None]]
    inside = near.are_near(some.rows[:, None], fellows) & (keys.known[fellows] == keys.released[fellows])
    inside &= size[unit, None] > 1
    has_any = inside.any(axis=1)
    several = size[unit] > 1
    of_any = (float(has_any.sum()) + 0.5) / (several.sum() + 1)
    together = (float(inside[has_any].sum()) + 0.5) / (has_any.sum() * _FELLOWS + 1)
    taught = has_any | ~several
    own = _size_classes(near.sizes(some.rows[taught]) - size[unit][taught])
    drawn = np.arange(n) if n <= _SIZED else np.sort(rng.choice(n, _SIZED, replace=False))
    anybody = near.sizes(drawn)
    weights = np.zeros((min(_LARGEST, int(np.bincount(unit_of).max())) + 1, SIZES))
    for members in range(1, len(weights)):
        weights[members] = np.log(own / _size_classes(anybody - members))
    ordered = np.lexsort((near.place, keys.released))
    return _Ruler(keys, tuple(event.column for event in events), near, ordered, together, of_any, weights)


def _size_classes(more: IntArray) -> FloatArray:
    """The share in each class of how many more records are near than a unit has, as in `size_class`; none is 0."""
    from sluice.risk.attacks.unit_reconstruction_kernel import SIZES

    wide = 9 + np.floor(2 * np.log2(np.maximum(more, 5) / 5)).astype(np.int64)
    classes = np.where(more < -3, 0, np.where(more <= 4, more + 4, np.minimum(wide, SIZES - 1)))
    counts = np.bincount(classes, minlength=SIZES) + 0.2
    return np.asarray(counts / counts.sum())


def _played(ruler: _Ruler, members: Members, unit_of: IntArray) -> _Play:
    """What the intruder reaches of each of these members."""
    from sluice.risk.attacks.unit_reconstruction_kernel import count_near, play

    keys, near = ruler.keys, ruler.near
    rows, known = members.rows, keys.known[members.rows]
    kept = known == keys.released[rows]
    sizes = np.diff(keys.starts)
    alone = np.where(kept, 1 / sizes[known], 0.0)
    if not ruler.columns:
        return _Play(alone, alone, np.where(known < 0, 0.0, 1 / sizes[known]), kept & (sizes[known] == 1))
    unit = np.repeat(np.arange(len(members.units)), np.diff(members.starts))
    order = np.lexsort((known, np.where(known < 0, len(unit_of), sizes[known]), unit))
    places = near.place[ruler.ordered]
    likely, best = np.empty((len(members.units), 2)), np.empty((len(members.units), 2), np.int64)
    play(
        members.starts, known[order], members.units, unit_of, keys.starts, ruler.ordered, places, near.by_place,
        near.window, near.others, near.within, ruler.together, ruler.any, ruler.sizes, likely, best,
    )  # fmt: skip
    taken, own = best[unit].T
    counts = [
        count_near(record, known, keys.starts, places, ruler.ordered, near.window, near.others, near.within)
        for record in (own, taken)
    ]
    here = [near.are_near(record, rows) & kept & (record >= 0) for record in (own, taken)]
    found = np.where(here[0], likely[unit, 0] / np.maximum(1, counts[0]), 0.0)
    probability = np.where(counts[1] > 0, likely[unit, 1] / np.maximum(1, counts[1]), 0.0)
    return _Play(found, alone, probability, here[1] & (counts[1] == 1))


def _threshold(probability: FloatArray, right: BoolArray) -> tuple[float, float]:
    """Above which probability claims are made, at least a half, and by what share the right ones outweigh the wrong."""
    order = np.argsort(-probability, kind="stable")
    ranked = probability[order]
    sums = np.cumsum(np.where(right[order], 1.0, -1.0))
    last = np.append(np.diff(ranked) != 0, True) & (ranked > 0.5)  # claims of one probability are made together
    if not last.any() or sums[last].max() <= 0:
        return 1.0, 0.0
    at = np.flatnonzero(last)[int(np.argmax(sums[last]))]
    below = ranked[at + 1] if at + 1 < len(ranked) else 0.0
    return float(max(0.5, (ranked[at] + below) / 2)), float(sums[at]) / len(ranked)
