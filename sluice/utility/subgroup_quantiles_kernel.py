"""The compiled loops of quantiles within subgroups: one pass over records in the order of a number, for all of them.

A file's records are given by `rows`, those with a value of the number in rising order; by `by`, the code of each record
by which it belongs to subgroups; and by a list of these for each code: `at[code]` to `at[code + 1]` are places in
`group` and `share`, the subgroups that the code may stand for and how much of it. The weights are of the records, an
empty array where each weighs 1.
"""

import numpy as np
from numba import njit

from sluice.ground.arrays import Codes, FloatArray, IntArray


@njit(cache=True, nogil=True)
def rising(codes: IntArray, values: int) -> IntArray:
    """The records whose code is below `values`, in the order of their codes. Shape (k,); a counting sort."""
    starts = np.zeros(values + 1, dtype=np.int64)
    for code in codes:
        if code < values:
            starts[code + 1] += 1
    for value in range(values):
        starts[value + 1] += starts[value]
    found = np.empty(starts[values], dtype=np.int64)
    for row in range(len(codes)):
        code = codes[row]
        if code < values:
            found[starts[code]] = row
            starts[code] += 1
    return found


@njit(cache=True, nogil=True)
def quantile_codes(
    rows: IntArray,
    codes: IntArray,
    by: Codes,
    at: IntArray,
    group: IntArray,
    share: FloatArray,
    weight: FloatArray,
    groups: int,
    levels: FloatArray,
) -> tuple[IntArray, FloatArray, FloatArray]:
    """The code of each quantile of each subgroup, shape (groups, levels), -1 without a record; what its records weigh,
    by the part that belongs to it; and their effective number (Kish 1965), shapes (groups,)."""
    total, squares, reached = np.zeros(groups), np.zeros(groups), np.zeros(groups)
    for row in rows:
        w = weight[row] if len(weight) else 1.0
        if w > 0.0:
            for place in range(at[by[row]], at[by[row] + 1]):
                total[group[place]] += w * share[place]
                squares[group[place]] += w * w * share[place]
    found = np.full((groups, len(levels)), -1, dtype=np.int64)
    following = np.zeros(groups, dtype=np.int64)
    for row in rows:
        w = weight[row] if len(weight) else 1.0
        if w > 0.0:
            for place in range(at[by[row]], at[by[row] + 1]):
                one = group[place]
                reached[one] += w * share[place]
                # A rounding error must not move a quantile to the next value
                enough = reached[one] / (total[one] * (1 - 1e-12))
                while following[one] < len(levels) and enough >= levels[following[one]]:
                    found[one, following[one]] = codes[row]
                    following[one] += 1
    effective = np.zeros(groups)
    for one in range(groups):
        if squares[one] > 0.0:
            effective[one] = total[one] * total[one] / squares[one]
    return found, total, effective


@njit(cache=True, nogil=True)
def add_held(
    rows: IntArray,
    start: int,
    codes: IntArray,
    code: int,
    by: Codes,
    at: IntArray,
    group: IntArray,
    share: FloatArray,
    weight: FloatArray,
    factor: FloatArray,
    held: FloatArray,
) -> int:
    """Add what the records of one code weigh, times `factor`, to what each subgroup holds of it; returns where the next
    code starts in `rows`."""
    while start < len(rows) and codes[rows[start]] == code:
        row = rows[start]
        w = weight[row] if len(weight) else 1.0
        for place in range(at[by[row]], at[by[row] + 1]):
            held[group[place]] += w * share[place] * factor[group[place]]
        start += 1
    return start


@njit(cache=True, nogil=True)
def lacking(
    rows: IntArray,
    codes: IntArray,
    by: Codes,
    at: IntArray,
    group: IntArray,
    share: FloatArray,
    weight: FloatArray,
    other_rows: IntArray,
    other_codes: IntArray,
    other_by: Codes,
    other_at: IntArray,
    other_group: IntArray,
    other_share: FloatArray,
    other_weight: FloatArray,
    unit: FloatArray,
) -> FloatArray:
    """Shape (groups,): what the records weigh whose value the other file's subgroup lacks, as often as it lacks it.

    codes, other_codes : of the same values
    unit               : (groups,) what the other file's weights are multiplied by, so that both weigh the same
    """
    groups = len(unit)
    found, held, one_each = np.zeros(groups), np.zeros(groups), np.ones(groups)
    minus_unit = -unit
    one, other = 0, 0
    while one < len(rows):
        code = codes[rows[one]]
        while other < len(other_rows) and other_codes[other_rows[other]] < code:
            other += 1
        first, first_other = one, other
        one = add_held(rows, one, codes, code, by, at, group, share, weight, one_each, held)
        other = add_held(
            other_rows, other, other_codes, code, other_by, other_at, other_group, other_share, other_weight,
            minus_unit, held,
        )  # fmt: skip
        for row in rows[first:one]:
            for place in range(at[by[row]], at[by[row] + 1]):
                found[group[place]] += max(0.0, held[group[place]])
                held[group[place]] = 0.0
        for row in other_rows[first_other:other]:
            for place in range(other_at[other_by[row]], other_at[other_by[row] + 1]):
                held[other_group[place]] = 0.0
    return found
