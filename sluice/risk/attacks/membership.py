"""Membership: whether the file tells who was in the data it was made from.

The intruder knows a person's record and calls the person a member if the file holds a record near enough. Members are
people of the original, non-members people of the control.

Source: Hanley and McNeil (1982); Yeom, Giacomelli, Fredrikson and Jha (2018), Definition 4 (advantage); Newcombe
(1998), method 10; Platzer and Reutterer (2021; nearer records). Differs from them: a tie is shared by both sides, and
the original's ranges scale every file.

Learned membership: an intruder has learned from examples how a person's presence shows in a released file. The examples
are people of whom it is known whether they took part: who knows the published method can make such a file of other
data. Membership shows in how near the released records come, in how many values combinations are more frequent in the
release than among other people, and in rare combinations that only the release holds.

Source: Shokri, Stronati, Song and Shmatikov (2017), attack models learned from examples; van Breugel, Sun, Qian and van
der Schaar (2023), density against a reference. Differs from them: densities are counts of small combinations of values.
"""

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.errors import DataError
from sluice.risk.attacks.attack_success import (
    FEWEST,
    LEVEL,
    LOOKS,
    Attacked,
    AttackSuccess,
    Units,
    adjusted_cases,
    cases_worth,
    is_open,
    looks,
    people_of_looks,
    quantile,
    sides_of,
    without_luck,
)
from sluice.risk.attacks.rare_combinations import cell_of_each, grouped, subsets
from sluice.risk.distances.gower import GowerPoints
from sluice.risk.measurement import Measurement

_SIZES = (1, 2, 3)
_NONE = np.empty(0, np.int64)
_NEIGHBOURS = 5
_SMOOTHING = 0.3  # of a record, added to each count
_OTHERS = 10_000  # records of the original by which is told how far a person is from others anyway, at most


@dataclass(frozen=True)
class Membership:
    """How well distance to the closest released record tells members from others; higher is worse in both.

    area      : probability that a member is nearer to the file than a non-member, ties shared; 0.5 is guessing
    advantage : share of members called members, less the share of non-members called so; 0 is guessing, 1 certainty
    """

    area: Measurement
    advantage: Measurement


def membership(attacked: Attacked) -> Membership:
    """Call people members by the Gower distance to their closest released record.

    attacked : its limit is that of the advantage
    raises   : DataError when a file is empty, for fewer than 2 members or non-members, or columns that `gower_points`
               refuses
    cost     : O(attacks x released records x columns) time at worst, O(released records) memory
    """
    members, file, others = attacked.points
    if not len(file):
        raise DataError("membership needs a released record; got none")
    sides = [(points, points.in_random_order(attacked.rng)) for points in (members, others)]
    of_units, limit = attacked.belonging, attacked.limit
    found, without = [[np.zeros(0), np.zeros(0)] for _ in range(2)]
    for level, people in looks(attacked.attacks, limit, [*map(len, of_units)]):
        for at, (points, order) in enumerate(sides):
            rows = order[len(found[at]) : people]
            found[at] = np.concatenate([found[at], closest(points.take(rows), file)])
            away = _from_others(sides[0], of_units[0], points.take(rows), of_units[0][rows] if at == 0 else None)
            without[at] = np.concatenate([without[at], away])
        area = area_under_curve(found[0], found[1], 2 * people)
        mine, theirs = (of[order[:people]] for of, (_, order) in zip(of_units, sides, strict=True))
        called = advantage(found[0], found[1], 2 * people, level, (mine, theirs), (without[0], without[1]))
        if limit is None or not is_open(called.either_way(), limit):
            break
    return Membership(area, called)


def closest(queries: GowerPoints, points: GowerPoints, units: Units = (_NONE, _NONE)) -> FloatArray:
    """Shape (n,): Gower distance to the closest point.

    units : to whom each point belongs, and each query, whose own are passed over; both empty: nobody's are
    """
    from sluice.risk.distances.gower_kernel import nearest  # compiled code, loaded where it is needed

    distance, _ = nearest(queries.numbers, queries.categories, points.numbers, points.categories, 1, *units)
    return np.asarray(distance[:, 0], dtype=np.float64)


def _from_others(
    original: tuple[GowerPoints, IntArray], units: IntArray, people: GowerPoints, own: IntArray | None
) -> FloatArray:
    """Shape (q,): from each person to the closest of some people of the original that are not of the same unit.

    original : and an order of its rows; own: the unit of each person, None: of nobody in the original
    """
    points, order = original[0], original[1][:_OTHERS]
    place, names = pd.factorize(units)
    whose = np.full(len(people), -1) if own is None else pd.Index(names).get_indexer(pd.Index(own))
    return closest(people, points.take(order), (place[order], np.asarray(whose, np.int64)))


def area_under_curve(members: FloatArray, others: FloatArray, attempted: int | None = None) -> Measurement:
    """The area under the curve of 'nearer is a member', with the interval of Hanley and McNeil.

    members, others : distances, shapes (n,) and (m,), at least one each; a tie counts half
    """
    from scipy.stats import rankdata  # loaded where it is needed

    n, m = len(members), len(others)
    if not n or not m:
        raise DataError(f"membership needs members and non-members; got {n} and {m}")
    ranks = rankdata(np.concatenate([members, others]))
    area = 1 - float(ranks[:n].sum() - n * (n + 1) / 2) / (n * m)
    both_members, both_others = area / (2 - area), 2 * area**2 / (1 + area)
    variance = area * (1 - area) + (n - 1) * (both_members - area**2) + (m - 1) * (both_others - area**2)
    error = quantile(LEVEL) * sqrt(max(0.0, variance) / (n * m))
    return Measurement(
        value=area,
        attempted=n + m if attempted is None else attempted,
        completed=n + m,
        interval=(max(0.0, area - error), min(1.0, area + error)),
        level=LEVEL,
        baseline=0.5,
    )


def advantage(
    members: FloatArray,
    others: FloatArray,
    attempted: int | None = None,
    level: float = LEVEL,
    units: Units | None = None,
    without: tuple[FloatArray, FloatArray] | None = None,
) -> Measurement:
    """Share of members called members less that of non-members, by the threshold that served best on other people.

    members, others : distances in random order, shapes (n,) and (m,), at least 2 each
    units           : who belongs together, of either side; None: everybody is alone
    without         : distances to records that are not of the person, whether a member or not: what they explain is
                      taken off. None: nothing is
    returns         : the threshold is found on every second unit and used on the rest, and the other way round: one
                      that is found on the people it is used on flatters the attack. Newcombe's interval, of as many
                      cases as the units are worth
    """
    of_units = units or (np.arange(len(members)), np.arange(len(others)))
    called = [each.astype(np.float64) for each in _called(members, others, of_units)]
    return _difference_of((called[0], called[1]), of_units, attempted, level, without)


def _called(members: FloatArray, others: FloatArray, units: Units) -> tuple[BoolArray, BoolArray]:
    """Who is called a member, shapes (n,) and (m,)."""
    n, m = len(members), len(others)
    if n < 2 or m < 2:
        raise DataError(f"membership needs 2 members and 2 non-members, to find a threshold by; got {n} and {m}")
    called = np.zeros(n, np.bool_), np.zeros(m, np.bool_)
    halves = [sides_of(each) for each in units]
    for half in (0, 1):
        threshold = _best_threshold(members[halves[0] == half], others[halves[1] == half])
        for each, distances, of in zip(called, (members, others), halves, strict=True):
            each[of != half] = distances[of != half] <= threshold
    return called


def _difference_of(
    called: tuple[FloatArray, FloatArray], units: Units, attempted: int | None, level: float,
    without: tuple[FloatArray, FloatArray] | None = None,
) -> Measurement:  # fmt: skip
    """Of how often each person is called a member, 0 to 1, on either side."""
    cases = [cases_worth(each, of) for each, of in zip(called, units, strict=True)]
    shares = [float(each.mean()) for each in called]
    if without is not None:
        less = [each[:, 0] for each in without_luck([each[:, None] for each in called], _bends(*without))]
        cases = [adjusted_cases(*each) for each in zip(cases, called, less, units, strict=True)]
        shares = [min(1.0, max(0.0, float(each.mean()))) for each in less]
    hits, alarms = (AttackSuccess(n, n, min(n, n * share)) for n, share in zip(cases, shares, strict=True))
    return _difference(hits, alarms, sum(map(len, called)), attempted, level)


def _bends(*distances: FloatArray) -> list[FloatArray]:
    """Powers of the ranks of the distances of both sides, shapes (n, 1, 3) and (m, 1, 3)."""
    from scipy.stats import rankdata  # loaded where it is needed

    ranks = np.split(rankdata(np.concatenate(distances)) / sum(map(len, distances)), [len(distances[0])])
    return [np.stack([each, each**2, each**3], axis=1)[:, None] for each in ranks]


def _difference(
    hits: AttackSuccess, alarms: AttackSuccess, completed: int, attempted: int | None, level: float
) -> Measurement:
    value = hits.share - alarms.share
    (hit, hit_error), (alarm, alarm_error) = hits.wilson(level), alarms.wilson(level)
    below = sqrt((hits.share - hit + hit_error) ** 2 + (alarm + alarm_error - alarms.share) ** 2)
    above = sqrt((hit + hit_error - hits.share) ** 2 + (alarms.share - alarm + alarm_error) ** 2)
    return Measurement(
        value=value,
        attempted=completed if attempted is None else attempted,
        completed=completed,
        interval=(value - below, value + above),
        level=level,
        baseline=0.0,
    )


def widest_interval(members: int, others: int, level: float) -> float:
    """Half of the interval of the advantage where half of the people on either side are called members."""
    hits, alarms = (AttackSuccess(n, n, n / 2) for n in (members, others))
    ends = _difference(hits, alarms, members + others, None, level).interval
    assert ends is not None
    return (ends[1] - ends[0]) / 2


def nearer_to_original(attacked: Attacked) -> Measurement:
    """Share of released records that lie nearer to a person of the original than to one of the control.

    attacked : the larger of original and control is drawn down to the smaller, and its attacks are released records
               that are looked at
    returns  : a tie counts half; higher is worse; half of the records for a file that tells nothing of its members
    raises, cost : as `membership`
    """
    (people, file, others), rng = attacked.points, attacked.rng
    size = min(len(people), len(others))
    if not size or not len(file):
        raise DataError("nearer records need a record in the original, the released and the control file; one is empty")
    looked_at = file.take(file.in_random_order(rng)[: attacked.attacks])
    own, other = (closest(looked_at, points.take(points.in_random_order(rng)[:size])) for points in (people, others))
    return nearer_share(own, other, attacked.attacks)


def nearer_share(own: FloatArray, other: FloatArray, attempted: int | None = None) -> Measurement:
    """Share of the records whose distance to their own side is the smaller one, ties shared; Wilson's interval."""
    n = len(own)
    nearer = AttackSuccess(n, n, float((own < other).sum() + (own == other).sum() / 2))
    centre, half = nearer.wilson(LEVEL)
    return Measurement(
        value=nearer.share,
        attempted=n if attempted is None else attempted,
        completed=n,
        interval=(min(nearer.share, centre - half), max(nearer.share, centre + half)),  # but for rounding, they hold it
        level=LEVEL,
        baseline=0.5,
    )


def _best_threshold(members: FloatArray, others: FloatArray) -> float:
    """The distance up to which most more members lie than non-members, as shares of each."""
    distances = np.unique(np.concatenate([members, others]))
    hits = np.searchsorted(np.sort(members), distances, side="right") / len(members)
    alarms = np.searchsorted(np.sort(others), distances, side="right") / len(others)
    return float(distances[np.argmax(hits - alarms)])


def learned_membership(attacked: Attacked) -> Membership:
    """Call people members by a score that is learned on one half of the people and used on the other, both ways.

    attacked : half of its control are the other people whom the intruder compares the release with, and the other half
               the non-members; units stay together in every half. Where the interval of the advantage crosses its
               limit, both halves of the control are taken in turn, so that each of them is a non-member once and each
               member is called twice
    raises   : DataError for fewer than 20 members or 40 people of the control, or columns that `gower_points` refuses
    cost     : O(attacks x records x columns) for the distances, and O(200 records log(records)) for each of three sizes
               of combinations
    """
    points, of_units, attacks, limit, rng = (
        attacked.points, attacked.belonging, attacked.attacks, attacked.limit, attacked.rng,
    )  # fmt: skip
    order, mixed = points[0].in_random_order(rng), points[2].in_random_order(rng)
    # Members of one household would tell each other among non-members.
    place, names = pd.factorize(of_units[1][mixed])
    if len(names) < len(place):  # whose record comes first has many: halves by that would differ in size of household
        place = rng.permutation(len(names))[place]
    is_known = place < len(names) // 2
    halves = mixed[is_known], mixed[~is_known]
    if min(len(points[0]), *(len(half) for half in halves)) < FEWEST or not len(points[1]):
        raise DataError(f"learned membership needs {FEWEST} members and {2 * FEWEST} others, and a released record")
    tables = attacked.values

    def scores(members: IntArray, known: IntArray, others: IntArray) -> tuple[FloatArray, FloatArray]:
        queried = _stacked(points[0].take(members), points[2].take(others))
        asked = [np.concatenate([own[members], other[others]]) for own, other in zip(tables[0], tables[2], strict=True)]
        signs = np.column_stack(
            [
                *_distances(queried, points[1], points[2].take(known)),
                *_frequencies(asked, tables[1], [column[known] for column in tables[2]], rng),
            ]
        )
        is_member = np.arange(len(signs)) < len(members)
        found = -_cross_fitted(signs, is_member, (of_units[0][members], of_units[1][others]), rng)
        return found[is_member], found[~is_member]

    far, farther = scores(order[:attacks], halves[0], halves[1][:attacks])
    area = area_under_curve(far, farther, 2 * attacks)
    looked_at = of_units[0][order[:attacks]], of_units[1][halves[1][:attacks]]
    once = advantage(far, farther, 2 * attacks, LEVEL if limit is None else LOOKS[0], looked_at)
    if limit is None or not is_open(once.either_way(), limit):
        return Membership(area, once)
    most = people_of_looks(attacks)[-1]
    members = order[:most]
    sides = [(known, others[:most]) for known, others in (halves, halves[::-1])]
    mine, theirs = of_units[0][members], [of_units[1][others] for _, others in sides]
    called = [_called(*scores(members, *side), (mine, of)) for side, of in zip(sides, theirs, strict=True)]
    (one, other), alarms = (each[0] for each in called), np.concatenate([each[1] for each in called])
    each_called = (one.astype(np.float64) + other) / 2, alarms.astype(np.float64)
    attempted = max(2 * most, sum(map(len, each_called)))  # all of both halves of a large control are judged
    return Membership(area, _difference_of(each_called, (mine, np.concatenate(theirs)), attempted, LOOKS[1]))


def _stacked(one: GowerPoints, other: GowerPoints) -> GowerPoints:
    return GowerPoints(np.concatenate([one.numbers, other.numbers]), np.concatenate([one.categories, other.categories]))


def _distances(queried: GowerPoints, file: GowerPoints, known: GowerPoints) -> list[FloatArray]:
    """Distances to the nearest and the nearest few of the release and of other people, and their differences."""
    from sluice.risk.distances.gower_kernel import nearest  # compiled code, loaded where it is needed

    signs: list[FloatArray] = []
    for points in (file, known):
        k = min(_NEIGHBOURS, len(points))
        distance, _ = nearest(queried.numbers, queried.categories, points.numbers, points.categories, k, _NONE, _NONE)
        signs += [distance[:, 0], distance.mean(axis=1)]
    return [*signs, signs[0] - signs[2], signs[1] - signs[3]]


def _frequencies(
    queried: list[npt.NDArray[Any]],
    released: list[npt.NDArray[Any]],
    known: list[npt.NDArray[Any]],
    rng: np.random.Generator,
) -> list[FloatArray]:
    """For each size of combination: how much more frequent a person's are in the release than among the known others,
    on average and at most; how many the release alone holds, and how many it lacks."""
    q, m, others = len(queried[0]), len(released[0]), len(known[0])
    codes = [np.concatenate(grouped(*reversed(columns))) for columns in zip(known, released, queried, strict=True)]
    signs: list[FloatArray] = []
    for size in (*_SIZES, *([len(codes)] if len(codes) > max(_SIZES) else [])):
        if size > len(codes):
            continue
        chosen_sets = list(subsets(len(codes), size, 200, rng))
        mean, most, only, lacks = (np.zeros(q) for _ in range(4))
        most -= np.inf
        for chosen in chosen_sets:
            of, cells = cell_of_each([codes[column] for column in chosen])
            inside = np.bincount(of[q : q + m], minlength=cells)[of[:q]]
            outside = np.bincount(of[q + m :], minlength=cells)[of[:q]]
            ratio = np.log((inside + _SMOOTHING) / m) - np.log((outside + _SMOOTHING) / others)
            mean += ratio / len(chosen_sets)
            most = np.maximum(most, ratio)
            only += (inside > 0) & (outside == 0)
            lacks += inside == 0
        signs += [mean, most, only, lacks]
    return signs


def _cross_fitted(
    signs: FloatArray, is_member: npt.NDArray[np.bool_], units: Units, rng: np.random.Generator
) -> FloatArray:
    """A score for each person by the model that was learned on the other half of the units; shape (n,)."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    half = np.empty(len(signs), np.int64)
    for side, of in zip((is_member, ~is_member), units, strict=True):
        codes, names = pd.factorize(of)
        half[side] = (rng.permutation(len(names)) % 2)[codes]
    scores = np.empty(len(signs))
    for judged in (0, 1):
        model = make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=500))
        model.fit(signs[half != judged], is_member[half != judged])
        scores[half == judged] = model.decision_function(signs[half == judged])
    return scores
