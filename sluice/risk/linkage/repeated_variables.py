"""Repeated variables: one thing that was measured several times, such as the income of each year, is known as one.

Whoever knows somebody's income knows it for every year, or at least what it comes to in all. Noise that is drawn for
each year by itself averages out of the total, so that as many numbers of one kind tell far more than any one of them.
Columns are taken for one variable where their names differ in one number alone (income_2019 and income_2020, w1_health
and w2_health) and their values go together; the items of a questionnaire (q1, q2) mostly do not.
"""

import re
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

from sluice.ground.comparable_values import is_missing, plain_values

_TOGETHER = 0.5  # least correlation of ranks, or agreement of labels beyond chance, of two measurements
_RECORDS = 2_000  # that tell
_FEWEST = 30  # of these with both values
_DIGITS = re.compile(r"\d+")


def repeated_variables(names: Sequence[str], records: pd.DataFrame) -> tuple[tuple[int, ...], ...]:
    """Positions of the names, those that are measurements of one variable together; in the order of the first of each.

    names   : of the columns of `records`, and of what else is compared, which is by itself
    cost    : that of a correlation for each two names that differ in one number alone, on at most 2,000 records
    """
    of_form: dict[tuple[str, str], list[int]] = {}
    for at, name in enumerate(names):
        for digits in _DIGITS.finditer(name) if name in records else ():
            of_form.setdefault((name[: digits.start()], name[digits.end() :]), []).append(at)
    some = records.iloc[:: -(-len(records) // _RECORDS) or 1]
    group = list(range(len(names)))
    for alike in of_form.values():
        for one, other in combinations(alike, 2):
            if group[one] != group[other] and _go_together(some[names[one]], some[names[other]]):
                first, last = sorted((group[one], group[other]))
                group = [first if each == last else each for each in group]
    return tuple(tuple(at for at, of in enumerate(group) if of == first) for first in dict.fromkeys(group))


def _go_together(one: "pd.Series[Any]", other: "pd.Series[Any]") -> bool:
    first, second = plain_values(one), plain_values(other)
    both = ~is_missing(first) & ~is_missing(second)
    if both.sum() < _FEWEST or first.dtype.kind != second.dtype.kind:
        return False
    first, second = first[both], second[both]
    if first.dtype.kind == "f":
        ranks = rankdata(first), rankdata(second)
        return bool(min(map(np.ptp, ranks)) > 0 and abs(np.corrcoef(*ranks)[0, 1]) >= _TOGETHER)
    shares = [pd.Series(values).value_counts(normalize=True) for values in (first, second)]
    chance = float(shares[0].mul(shares[1], fill_value=0).sum())  # Cohen's kappa
    return bool(chance < 1 and float((first == second).mean()) - chance >= _TOGETHER * (1 - chance))
