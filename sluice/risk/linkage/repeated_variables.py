"""Repeated variables: one thing that was measured several times, such as the income of each year, is known as one.

Whoever knows somebody's income knows it for every year, or at least what it comes to in all. Noise that is drawn for
each year by itself averages out of the total, so that as many numbers of one kind tell far more than any one of them.
Columns are taken for one variable where their names differ in one number alone (income_2019 and income_2020, w1_health
and w2_health) and their values go together; the items of a questionnaire (q1, q2) mostly do not.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from sluice.ground.arrays import BoolArray
from sluice.ground.comparable_values import is_missing, plain_values

_TOGETHER = 0.5  # least correlation of ranks, or agreement of labels beyond chance, of two measurements
_RECORDS = 2_000  # that tell
_FEWEST = 30  # of these with both values
_LOOKED_UP = 4e9  # values that labels of many variables are compared by, at most; the rarest labels are left out
_DIGITS = re.compile(r"\d+")


def repeated_variables(names: Sequence[str], records: pd.DataFrame) -> tuple[tuple[int, ...], ...]:
    """Positions of the names, those that are measurements of one variable together; in the order of the first of each.

    names   : of the columns of `records`, and of what else is compared, which is by itself
    cost    : O(r k^2) for k names that differ in one number alone, on r records, at most 2,000; as much for each label
    """
    from scipy.sparse.csgraph import connected_components  # loaded where people are looked for: a policy needs none

    of_form: dict[tuple[str, str], list[int]] = {}
    for at, name in enumerate(names):
        for digits in _DIGITS.finditer(name) if name in records else ():
            of_form.setdefault((name[: digits.start()], name[digits.end() :]), []).append(at)
    some = records.iloc[:: -(-len(records) // _RECORDS) or 1]
    together = np.eye(len(names), dtype=np.bool_)
    for alike in of_form.values():
        of_kind: dict[str, list[int]] = {}
        values = {at: plain_values(some[names[at]]) for at in alike}
        for at in alike:
            of_kind.setdefault(values[at].dtype.kind, []).append(at)
        for kind, those in of_kind.items():
            if len(those) > 1:
                agree = _numbers_agree if kind == "f" else _labels_agree
                together[np.ix_(those, those)] |= agree([values[at] for at in those])
    _, group = connected_components(together, directed=False)
    return tuple(tuple(np.flatnonzero(group == each).tolist()) for each in dict.fromkeys(group.tolist()))


def _numbers_agree(columns: Sequence[Any]) -> BoolArray:
    """Which two columns are correlated by the ranks of their values, shape (k, k)."""
    ranks = np.column_stack([pd.Series(values).rank() for values in columns])
    there = (~np.isnan(ranks)).astype(np.float64)
    ranks = np.nan_to_num(ranks - len(ranks) / 2)
    both = np.maximum(there.T @ there, 1)
    of_one = ranks.T @ there
    spread = (ranks**2).T @ there - of_one**2 / both
    product = ranks.T @ ranks - of_one * of_one.T / both
    vary = (both >= _FEWEST) & (spread > 0) & (spread.T > 0)
    return np.asarray(vary & (product**2 >= _TOGETHER**2 * spread * spread.T))


def _labels_agree(columns: Sequence[Any]) -> BoolArray:
    """Which two columns have the same label more often than by chance, shape (k, k): Cohen's kappa."""
    missing = np.column_stack([is_missing(values) for values in columns])
    codes, found = pd.factorize(np.concatenate(columns))
    of = np.where(missing, -1, codes.reshape(len(columns), -1).T)
    most = int(_LOOKED_UP / (of.size * len(columns)))
    frequent = np.argsort(-np.bincount(of[~missing], minlength=len(found)), kind="stable")[:most]
    there = (~missing).astype(np.float64)
    both = there.T @ there
    same, chance = np.zeros((2, len(columns), len(columns)))
    for label in frequent:
        has = (of == label).astype(np.float64)
        same += has.T @ has
        of_one = has.T @ there
        chance += of_one * of_one.T
    both = np.maximum(both, 1)
    same, chance = same / both, chance / both**2
    return np.asarray((both >= _FEWEST) & (chance < 1) & (same - chance >= _TOGETHER * (1 - chance)))
