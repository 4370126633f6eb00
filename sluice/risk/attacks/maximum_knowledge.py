"""Maximum-knowledge attack: what an intruder who already holds the original could still learn from linking the files.

Source: Yamazoe and Omote (2021), section 2.3, after Domingo-Ferrer, Ricci and Soria-Comas (2015). Each original record
is linked to its nearest masked one. The same is done with a scrambled copy of the masked file, every attribute of which
is permuted by itself, so that no record of it is anybody's. Where both give the same distances, linking finds nothing
that belongs together. For one attribute, records are linked by all others and the distances in that attribute compared.

No intruder knows more, so the figure bounds every linkage attack; and it is no proof of harm: the records of quite
other people also fit better than a scrambled copy, because they keep how the attributes go together. It needs no key
between the files. Differs from the source: the comparison by default is one-sided (the scrambled copy may be the nearer
one, where masking took extremes away; that is no risk), and the scrambling is repeated, which gives an interval.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.divergence import Divergence, divergence, interval_edges
from sluice.ground.errors import DataError
from sluice.ground.variables import Variables
from sluice.risk.attacks.attack_success import LEVEL
from sluice.risk.coding import Coding
from sluice.risk.distances.neighbours import nearest_neighbours
from sluice.risk.measurement import Measurement
from sluice.risk.reference.prediction import equivalence_test
from sluice.risk.row_groups import row_groups

Comparison = Literal["closer"] | Divergence

_BINS = 30
_PSEUDO_COUNT = 0.5
_DRAWS = 10  # of the attacked people, for each scrambled copy


@dataclass(frozen=True)
class MaximumKnowledge:
    """The distances behind the figure, in no order that tells whose they are.

    measurement : value is the median over the scrambled copies; higher is worse. See `compared`
    distance    : shape (r,), of each attacked record to its linked masked one
    scrambled   : shape (c, r), the same in each scrambled copy
    by_chance   : the figure for one scrambled copy against another: what no knowledge at all would show
    """

    measurement: Measurement
    distance: FloatArray
    scrambled: FloatArray
    by_chance: float


@dataclass(frozen=True)
class Space:
    """Both files as points of one space.

    original, masked : shapes (n, d) and (m, d)
    columns          : for each variable that can be compared, its columns
    unread           : masked values that are neither original ones nor explained by the recodings; they lie at the mean
    """

    original: FloatArray
    masked: FloatArray
    columns: dict[str, slice]
    unread: int


def common_space(
    original: pd.DataFrame, recoded: pd.DataFrame, masked: pd.DataFrame, variables: Variables, released: Variables
) -> Space:
    """Typed files as points, coded by `sluice.risk.coding`; see there for the parameters and for missing values."""
    before, after, columns = [np.zeros((len(original), 0))], [np.zeros((len(masked), 0))], {}
    unread = width = 0
    for name, variable in variables.items():
        coding = Coding.fit(original, recoded, {name: variable}, released)
        if coding.dimensions:
            columns[name] = slice(width, width + coding.dimensions)
            points, lost = coding.released(masked)
            before.append(coding.original(original))
            after.append(points)
            unread, width = unread + lost, width + coding.dimensions
    return Space(np.hstack(before), np.hstack(after), columns, unread)


def compared(which: Comparison, distance: FloatArray, scrambled: FloatArray) -> float:
    """How far two samples of distances differ.

    closer  : sup over t of F(t) - F'(t), 0 to 1: the share of people who have their linked record within some distance
              t, beyond those who would have one in the scrambled copy. The t is the worst one
    others  : see `sluice.ground.divergence`, on 30 intervals of equal shares of both samples together, with a
              pseudo-count of 0.5 in each; the source takes kullback_leibler
    """
    if which == "closer":
        return equivalence_test(distance, scrambled).statistic
    edges = interval_edges(np.concatenate([distance, scrambled]), _BINS)

    def counts(values: FloatArray) -> FloatArray:
        return np.bincount(np.searchsorted(edges, values, "right"), minlength=len(edges) + 1).astype(np.float64)

    return divergence(which, counts(distance), counts(scrambled), _PSEUDO_COUNT)


def of_records(
    original: FloatArray,
    masked: FloatArray,
    attributes: Sequence[slice],
    rng: np.random.Generator,
    records: int = 2_000,
    copies: int = 10,
    comparison: Comparison = "closer",
) -> MaximumKnowledge:
    """The attack on whole records.

    original, masked : shapes (n, d) and (m, d), coded in one space (see `sluice.risk.coding`), finite, in any order
    attributes       : the columns that make up each attribute, which are permuted together
    records          : at most so many original records, drawn at random, are linked
    copies           : scrambled copies, at least 2
    returns          : interval from the copies, with the attacked people drawn anew for each where they are a sample
    raises           : DataError when a file is empty or there are fewer than 2 copies
    cost             : that of nearest_neighbours for `records` queries, copies + 1 times
    """
    original, masked = _checked(original, masked, copies)
    attacked = _drawn(original, records, rng)
    distance = _nearest(attacked, masked)
    scrambled = np.empty((copies, len(attacked)))
    for copy in range(copies):
        mixed = masked.copy()
        for attribute in attributes:
            mixed[:, attribute] = masked[rng.permutation(len(masked)), attribute]
        scrambled[copy] = _nearest(attacked, mixed)
    return _measured(comparison, distance, scrambled, len(original), rng)


def of_attribute(
    original: FloatArray,
    masked: FloatArray,
    attribute: slice,
    rng: np.random.Generator,
    records: int = 2_000,
    copies: int = 100,
    comparison: Comparison = "closer",
) -> MaximumKnowledge:
    """The attack on one attribute: linked by all others, is its value near the person's?

    Parameters as above; `attribute` names the target's columns. Among equal nearest records one is drawn at random.
    The links stay the same in every scrambled copy, only the target is permuted.

    raises : DataError also when there is no other attribute to link by
    cost   : that of nearest_neighbours for `records` queries, once
    """
    original, masked = _checked(original, masked, copies)
    others = np.ones(original.shape[1], np.bool_)
    others[attribute] = False
    if not others.any():
        raise DataError("the maximum-knowledge attack on an attribute needs another attribute to link by; got none")
    attacked = _drawn(original, records, rng)
    known = np.ascontiguousarray(masked[:, others])
    groups = row_groups(known.T)
    found = groups.of[nearest_neighbours(attacked[:, others], known, 1).index[:, 0]]
    members, starts = np.argsort(groups.of, kind="stable"), np.cumsum(groups.size) - groups.size
    linked = members[starts[found] + rng.integers(0, groups.size[found])]
    target, values = attacked[:, attribute], masked[:, attribute]

    def apart(rows: IntArray) -> FloatArray:
        return np.asarray(np.sqrt(((target - values[rows]) ** 2).sum(axis=1)))

    scrambled = np.array([apart(rng.permutation(len(masked))[linked]) for _ in range(copies)])
    return _measured(comparison, apart(linked), scrambled, len(original), rng)


def _checked(original: FloatArray, masked: FloatArray, copies: int) -> tuple[FloatArray, FloatArray]:
    """Both files sorted by value, so that the order of the rows does not steer the draws."""
    if copies < 2:
        raise DataError(f"copies of the maximum-knowledge attack must be at least 2; got {copies}")
    if not len(original) or not len(masked):
        raise DataError("the maximum-knowledge attack needs at least one record in each file")
    return _sorted(original), _sorted(masked)


def _sorted(points: FloatArray) -> FloatArray:
    return points[np.argsort(row_groups(points.T).of, kind="stable")]


def _drawn(original: FloatArray, records: int, rng: np.random.Generator) -> FloatArray:
    if len(original) <= records:
        return original
    return original[np.sort(rng.choice(len(original), records, replace=False))]


def _nearest(attacked: FloatArray, masked: FloatArray) -> FloatArray:
    return nearest_neighbours(attacked, masked, 1).distance[:, 0]


def _measured(
    comparison: Comparison, distance: FloatArray, scrambled: FloatArray, records: int, rng: np.random.Generator
) -> MaximumKnowledge:
    copies, r = scrambled.shape
    figures = np.array([compared(comparison, distance, copy) for copy in scrambled])
    again = figures
    if r < records:  # only a sample was attacked: its chance is added to that of the scrambling
        draws = rng.integers(0, r, (copies, _DRAWS, r))
        again = np.array(
            [compared(comparison, distance[d], s[d]) for s, ds in zip(scrambled, draws, strict=True) for d in ds]
        )
    value = float(np.median(figures))
    low, high = np.quantile(again, [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    chance = np.median([compared(comparison, scrambled[c], scrambled[c - 1]) for c in range(copies)])
    measurement = Measurement(value, records, r, interval=(min(value, float(low)), max(value, float(high))))
    return MaximumKnowledge(measurement, np.sort(distance), np.sort(scrambled, axis=1), float(chance))
