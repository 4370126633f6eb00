"""Intruders who look for no record of a person's own: they read a value of somebody, or tell who took part.

Written apart from the product's measures, as `attacks`, and like them given the pairs only to count what was right.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sluice.utility.comparison import Comparison
from tests.red_team.attacks import Floats, coded, ranks

_PEOPLE = 400
_NEAR = 0.02  # of the ranks: so near a number was read


def alone_with_a_value(files: Comparison) -> float:
    """Of the worst variable, the share of the people who alone have their value, which alone is the same or of the same
    rank in the masked file."""
    before, after = coded(files)
    found = [0.0]
    for mine, released in zip(before.T, after.T, strict=True):
        single = _is_single(mine) & _is_single(released)
        found.append(float((single & ((mine == released) | (_places(mine) == _places(released)))).mean()))
    return max(found)


def value_gained(files: Comparison, known: Sequence[str]) -> float:
    """The same as `values_gained`, of one set of known variables."""
    (gain,) = values_gained(files, [known]).values()
    return gain


def values_gained(files: Comparison, sets: Sequence[Sequence[str]]) -> dict[tuple[str, ...], float]:
    """For each set of known variables, of the variable that is read best by whoever knows these: the share of people
    whose value stands in the record with the most values in common, less that in a file without their own record.

    Of numbers a value nearby in rank is right, too; of several records with as many values in common any is taken.
    """
    names = [name for name in files.recoded if name in files.released]
    before, after = coded(files)
    people = _drawn(len(before))
    mine, theirs, near = before[people], after.copy(), np.zeros(len(names))
    for column, name in enumerate(names):
        if files.released[name].kind.is_numeric:
            mine[:, column] = ranks(mine[:, column], before[:, column])
            theirs[:, column] = ranks(after[:, column], before[:, column])
            near[column] = _NEAR
    gains = {}
    for known in sets:
        at = [names.index(name) for name in known]
        read = np.zeros(len(names))
        released = np.ascontiguousarray(after[:, at].T)
        for place, person in enumerate(people):
            equal = sum(
                (column == value).view(np.int8) for column, value in zip(released, before[person, at], strict=True)
            )
            for taken, sign in ((_best(equal), 1.0), (_best(equal, without=person), -1.0)):
                right = np.abs(theirs[taken] - mine[place]) <= near
                read += sign * right.mean(axis=0) / len(people)
        gains[tuple(known)] = float(max(0.0, np.delete(read, at).max(initial=0.0)))
    return gains


def participation(files: Comparison) -> float:
    """By how much more of the participants than of people set aside lie within a distance of the file, at the distance
    where that is most: 0 tells nothing, 1 everybody.

    files : with a holdout, which has the masked file's categories
    """
    assert files.recoded_holdout is not None
    names = [name for name in files.recoded if name in files.released]
    people, others = (_nearest(frame, files, names) for frame in (files.recoded, files.recoded_holdout))
    at = np.unique(np.r_[people, others])
    share = [np.searchsorted(np.sort(each), at, "right") / len(each) for each in (people, others)]
    return float((share[0] - share[1]).max())


def _nearest(frame: pd.DataFrame, files: Comparison, names: Sequence[str]) -> Floats:
    """The distance of some people to the nearest record, each variable by its ranks, or 1 for another category."""
    as_original = replace(files, recoded=frame)
    before, after = coded(as_original)
    people = _drawn(len(before))
    total = np.zeros((len(people), len(after)), np.float32)
    for column, name in enumerate(names):
        mine, theirs = before[people, column], after[:, column]
        if files.released[name].kind.is_numeric:
            among = after[:, column]
            total += np.abs(ranks(mine, among)[:, None] - ranks(theirs, among)[None, :]).astype(np.float32)
        else:
            total += mine[:, None] != theirs[None, :]
    return np.asarray(total.min(axis=1), np.float64)


def _best(equal: NDArray[np.int8], without: int | None = None) -> NDArray[np.int64]:
    """The records with the most values in common, but for one's own."""
    if without is not None:
        equal = equal.copy()
        equal[without] = -1
    return np.flatnonzero(equal == equal.max())


def _is_single(values: Floats) -> NDArray[np.bool_]:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True, equal_nan=False)
    return np.asarray((counts[place] == 1) & ~np.isnan(values))


def _places(values: Floats) -> NDArray[np.int64]:
    return np.argsort(np.argsort(values, kind="stable"), kind="stable")


def _drawn(records: int) -> NDArray[np.int64]:
    return np.sort(np.random.default_rng(3).choice(records, min(records, _PEOPLE), replace=False))
