"""Probabilistic record linkage: how many original records an intruder links by on how many variables they agree.

Source: Torra (2013), "Rank swapping: Example II" (PLD) and "Experiments for IPSO-A,B,C" (PRL), which name
it; the model is that of Fellegi and Sunter (1969), with the estimates of Jaro (1989): agreements on different variables
are independent given whether the pair is a true one, and expectation-maximisation finds their probabilities from all
pairs, without the truth. Differs from it: the share of true pairs is not estimated, as every attacked record has
exactly one in the file.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.comparable_values import plain_values
from sluice.ground.errors import DataError
from sluice.ground.parallel_jobs import each_in_threads
from sluice.ground.progress import counted
from sluice.ground.variables import Kind

MOST_VARIABLES = 16  # 2^16 patterns of agreement
MOST_ASSIGNED = 2_000  # records a side for the one-to-one assignment, O(n^3) time and n^2 weights
_RECORDS = 64  # attacked records that a thread takes at a time
_STEPS, _CONVERGED = 2_000, 1e-7  # most steps of expectation-maximisation; change of any probability at which it stops
_NEVER = 1e-9  # no agreement is taken as impossible or certain


@dataclass(frozen=True)
class ProbabilisticLinks:
    """What probabilistic linkage makes of each of q attacked records, and what it learnt of the d variables."""

    correct: FloatArray  # (q,) 0 to 1: 1 / t where the own record is one of t that weigh most
    agree_when_true: FloatArray  # (d,) probability m that a true pair agrees on the variable
    agree_when_false: FloatArray  # (d,) probability u that any other pair does


def probabilistic_linkage(
    original: FloatArray,
    released: FloatArray,
    tolerance: FloatArray,
    rows: IntArray | None = None,
    assigned_by: np.random.Generator | None = None,
) -> ProbabilisticLinks:
    """Link each attacked record to the released one with the highest weight of agreement.

    original, released : shape (n, d), d <= 16, row i of both being the same record; categories as codes
    tolerance          : shape (d,), difference up to which two numbers agree, 0 for categories
    rows               : the original records that are attacked, shape (q,); all of them when not given
    assigned_by        : when given, no two records are linked to the same released one: the assignment of the highest
                         total weight (at most 2,000 records, all attacked), ties broken by this generator
    missing            : NaN; a missing value agrees with a missing value and with nothing else
    raises             : DataError when the shapes differ, or there are too many variables or records
    cost               : O(q n d) time, O(n d + 2^d d) memory; 5,000 of a million records with 5 variables take a minute
    """
    n, d = original.shape
    if released.shape != (n, d) or 0 in (n, d) or tolerance.shape != (d,) or not (tolerance >= 0).all():
        raise DataError(
            f"probabilistic linkage needs files of one shape and a tolerance of 0 or more for each variable; got "
            f"{original.shape}, {released.shape} and {tolerance.shape}."
        )
    if d > MOST_VARIABLES:
        raise DataError(f"probabilistic linkage takes at most {MOST_VARIABLES} variables; got {d}. Name fewer.")
    if assigned_by is not None and (n > MOST_ASSIGNED or rows is not None):
        raise DataError(
            f"the one-to-one assignment takes whole files of at most {MOST_ASSIGNED:,} records; got {n:,}"
            f"{'' if rows is None else ' and a part of the rows'}. Link each record by itself."
        )
    rows = np.arange(n) if rows is None else rows
    columns = np.ascontiguousarray(released.T)
    counts = _pattern_counts(original[rows], columns, tolerance)
    m, u = agreement_probabilities(counts, d, 1 / n)
    bits = (np.arange(2**d)[:, None] >> np.arange(d)) & 1
    weights = bits @ np.log(m / u) + (1 - bits) @ np.log((1 - m) / (1 - u))
    if assigned_by is not None:
        return ProbabilisticLinks(_assigned(original, columns, tolerance, weights, assigned_by), m, u)
    as_likely = _as_likely(original[rows], rows, columns, tolerance, weights)
    correct = np.divide(1.0, as_likely, out=np.zeros(len(rows)), where=as_likely > 0)
    return ProbabilisticLinks(correct, m, u)


def agreement_probabilities(counts: IntArray, variables: int, true_share: float) -> tuple[FloatArray, FloatArray]:
    """m and u, shape (variables,) each, by expectation-maximisation.

    counts     : shape (2^variables,), pairs that show each pattern of agreement, bit j for variable j
    true_share : share of the pairs that are true
    The start is m = 0.9, and u as often as any pair agrees; from there the estimates climb to the next maximum of the
    likelihood, which need not be the highest. With one or two variables many estimates are equally likely, and the
    climb is slow: after 2,000 steps it is left where it is, as only the order of the weights matters.
    """
    seen = np.flatnonzero(counts)
    agree = ((seen[:, None] >> np.arange(variables)) & 1).astype(np.float64)
    pairs = counts[seen] / counts.sum()
    m, u = np.full(variables, 0.9), np.clip(pairs @ agree, _NEVER, 1 - _NEVER)
    for _ in range(_STEPS):
        odds = np.exp(agree @ np.log(m / u) + (1 - agree) @ np.log((1 - m) / (1 - u)))
        true = true_share * odds / (true_share * odds + 1 - true_share)
        new_m = np.clip((pairs * true) @ agree / max(float(pairs @ true), _NEVER), _NEVER, 1 - _NEVER)
        new_u = np.clip((pairs * (1 - true)) @ agree / max(float(pairs @ (1 - true)), _NEVER), _NEVER, 1 - _NEVER)
        converged = max(np.abs(new_m - m).max(), np.abs(new_u - u).max()) < _CONVERGED
        m, u = new_m, new_u
        if converged:
            break
    return m, u


def agreement_values(
    original: "pd.Series[Any]", released: "pd.Series[Any]", kind: Kind
) -> tuple[FloatArray, FloatArray]:
    """One variable of two typed frames as numbers (dates in days) or common codes, shapes (n,), NaN where missing."""
    if kind.is_numeric or kind is Kind.DATE:
        return plain_values(original).astype(np.float64), plain_values(released).astype(np.float64)
    codes = pd.factorize(np.concatenate([plain_values(original), plain_values(released)]))[0].astype(np.float64)
    codes[codes < 0] = np.nan
    return codes[: len(original)], codes[len(original) :]


def _pattern_counts(records: FloatArray, columns: FloatArray, tolerance: FloatArray) -> IntArray:
    from sluice.risk.linkage.probabilistic_linkage_kernel import count_patterns

    def count(start: int) -> IntArray:
        counts = np.zeros(2 ** len(columns), np.int64)
        count_patterns(records[start : start + _RECORDS], columns, tolerance, counts)
        return counts

    total = np.zeros(2 ** len(columns), np.int64)
    starts = range(0, len(records), _RECORDS)
    for counts in counted(each_in_threads(count, starts), "agreement of pairs", len(starts)):
        total += counts
    return total


def _as_likely(
    records: FloatArray, own: IntArray, columns: FloatArray, tolerance: FloatArray, weights: FloatArray
) -> IntArray:
    from sluice.risk.linkage.probabilistic_linkage_kernel import as_likely_as_own

    as_likely = np.empty(len(records), np.int64)

    def link(start: int) -> None:
        block = slice(start, start + _RECORDS)
        as_likely_as_own(records[block], own[block], columns, tolerance, weights, as_likely[block])

    starts = range(0, len(records), _RECORDS)
    list(counted(each_in_threads(link, starts), "linkage of records", len(starts)))
    return as_likely


def _assigned(
    records: FloatArray, columns: FloatArray, tolerance: FloatArray, weights: FloatArray, rng: np.random.Generator
) -> FloatArray:
    from scipy.optimize import linear_sum_assignment

    from sluice.risk.linkage.probabilistic_linkage_kernel import patterns_of

    n = len(records)
    patterns, of_pairs = np.empty(n, np.int32), np.empty((n, n))
    for i, record in enumerate(records):
        patterns_of(record, columns, tolerance, patterns)
        of_pairs[i] = weights[patterns]
    # In a random order of both files, so that the solver's taste among equals tells nothing.
    known, masked = rng.permutation(n), rng.permutation(n)
    at, to = linear_sum_assignment(of_pairs[known][:, masked], maximize=True)
    correct = np.zeros(n)
    correct[known[at]] = known[at] == masked[to]
    return correct
