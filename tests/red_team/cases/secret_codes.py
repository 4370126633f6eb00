"""Each record's categories under codes of its own: shifted by one secret number, or each code by another one.

No label tells anything, in any record. But what two variables of one record have in common stays, and what all pairs
have is nearly unique.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from itertools import combinations
from math import gcd

import numpy as np
import pandas as pd

from sluice.utility.comparison import Comparison
from tests.red_team.case import Case
from tests.red_team.files import Data, diabetes, files_of

Codes = Callable[[np.ndarray, int], np.ndarray]  # of one variable, and how many it may have


@cache
def categories(records: int) -> Data:
    """22 variables of 2 to 10 categories."""
    frame, variables = diabetes(records)
    names = [
        name
        for name in variables
        if isinstance(frame[name].dtype, pd.CategoricalDtype) and 1 < frame[name].nunique() < 30
    ]
    return frame[names].reset_index(drop=True), {name: variables[name] for name in names}


def shifted(people: int) -> Codes:
    by = np.random.default_rng(1).integers(0, 10**6, people)
    return lambda codes, labels: (codes + by) % labels


def exchanged(people: int) -> Codes:
    """All variables of a record with as many categories by the same table."""
    draws = np.random.default_rng(2)
    tables = {labels: draws.random((people, labels)).argsort(axis=1) for labels in range(2, 30)}
    return lambda codes, labels: tables[labels][np.arange(people), codes]


def released(change: Callable[[int], Codes], paired: bool = True, number: int = 3_600) -> Comparison:
    """Of so many people, and a quarter as many who are set aside."""
    everybody, variables = categories(number + number // 4)
    people, others = everybody.iloc[:number], everybody.iloc[number:].reset_index(drop=True)
    changed, masked = change(number), people.copy()
    for name in people:
        held, codes = people[name].cat, people[name].cat.codes.to_numpy(np.int64)
        new = np.where(codes < 0, -1, changed(np.maximum(codes, 0), len(held.categories)))
        masked[name] = pd.Categorical.from_codes(new, held.categories, ordered=held.ordered)
    if paired:
        return files_of(people, masked, variables)
    masked = masked.iloc[np.random.default_rng(3).permutation(number)].reset_index(drop=True)
    return replace(files_of(people, masked, variables, paired=False), holdout=others, recoded_holdout=others)


def by_what_they_share(files: Comparison, shift: bool) -> float:
    """The share of the people whose own record is the only one, or one of t, in which all pairs of variables stand to
    each other as in theirs: by the difference of their codes, or by whether they are equal."""
    sides = []
    for frame in (files.original, files.masked):
        labels = [len(frame[name].cat.categories) for name in frame]
        codes = [frame[name].cat.codes.to_numpy(np.int64) for name in frame]
        shared = [
            np.where(np.minimum(codes[a], codes[b]) < 0, -1, (codes[a] - codes[b]) % gcd(labels[a], labels[b]))
            for a, b in combinations(range(len(codes)), 2)
            if (gcd(labels[a], labels[b]) > 1 if shift else labels[a] == labels[b])
        ]
        table = np.column_stack(shared)
        sides.append(table if shift else np.where(table > 0, 1, table))
    counts = pd.Series(map(bytes, sides[1])).value_counts()
    return float(np.mean([1 / counts[each] if each in counts else 0.0 for each in map(bytes, sides[0])]))


_CASE = partial(Case, reaches=0.1, rules=("learned_linkage", "learned_claims"), policy="perturbed-file")
_SHIFT, _TABLE = partial(by_what_they_share, shift=True), partial(by_what_they_share, shift=False)

CASES = (
    _CASE("codes shifted by a number of each record's own", lambda: released(shifted, number=700), _SHIFT),
    _CASE("codes exchanged by a table of each record's own", lambda: released(exchanged), _TABLE, more=True),
    _CASE(
        "codes shifted so, rows in random order", lambda: released(shifted, paired=False), _SHIFT,
        policy="synthetic-file", more=True,
    ),
)  # fmt: skip
