"""Entropy-based losses of a category: what its released value leaves open, by record (PRIL) and on average (EBIL).

Source: Torra (2013), "Information Loss Measures: Categorical Data", entropy-based measures and the per-record
alternative. Both rest on P(V = i | V' = j): how probable the original category i is for whoever reads j. Bits here; the
slide leaves the logarithm's base open. Its example gives P(Albany | New York) = 101,082 / 17,990,455 as 0.05; it is
0.0056, or 7.48 bits.

EBIL is a mean over what may be behind each released value, whatever is; PRIL takes what is. With probabilities counted
in the two files themselves the means of both are the same number, the conditional entropy of V given V'.
"""

import numpy as np

from sluice.ground.arrays import Codes, FloatArray, IntArray
from sluice.ground.errors import DataError

_TOLERANCE = 1e-6  # of a row's sum


def original_probabilities(prior: FloatArray, matrix: FloatArray) -> FloatArray:
    """P(V = i | V' = j) by Bayes, for a released value that was drawn by the row of its category.

    prior   : (k,), frequencies or shares of the original categories, not negative, not all 0
    matrix  : (k, l), P(V' = j | V = i), such as a PRAM matrix: rows add up to 1
    returns : (k, l), columns that add up to 1; NaN for a released value that cannot occur
    raises  : DataError for other shapes, negative entries, or rows that add up to something else
    """
    if matrix.ndim != 2 or prior.shape != matrix.shape[:1]:
        raise DataError(f"a matrix needs a row for each of {len(prior)} categories; got shape {matrix.shape}.")
    if not ((matrix >= 0).all() and np.abs(matrix.sum(axis=1) - 1).max(initial=0) <= _TOLERANCE):
        raise DataError("each row of the matrix must be probabilities that add up to 1.")
    if not ((prior >= 0).all() and prior.sum() > 0):
        raise DataError("frequencies of the original categories must not be negative, and not all 0.")
    return probabilities_of_counts(prior[:, np.newaxis] * matrix)


def probabilities_of_counts(joint: FloatArray) -> FloatArray:
    """The same where the matrix is not known: from the records that have each pair of categories.

    joint   : (k, l), counts; see `joint_counts`
    returns : (k, l), columns that add up to 1; NaN for a released value that nobody has

    With few records of a released value the probabilities look more certain than they are, and the losses smaller.
    """
    total = joint.sum(axis=0)
    return np.asarray(joint / np.where(total > 0, total, np.nan), dtype=np.float64)


def conditional_entropy(probabilities: FloatArray) -> FloatArray:
    """H(V | V' = j) in bits, shape (l,): 0 where j tells the category, log2(k) where it tells nothing; NaN kept."""
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.where(probabilities == 0, 0.0, probabilities * np.log2(probabilities))
    return np.asarray(np.maximum(-terms.sum(axis=0), 0.0))


def ebil(probabilities: FloatArray, released: FloatArray | IntArray) -> float:
    """Entropy-based information loss: the sum of H(V | V' = j_r) over the masked records, in bits; higher is worse.

    probabilities : (k, l), P(V = i | V' = j)
    released      : (l,), how many records were released as j
    returns       : NaN if a record has a value that cannot occur
    raises        : DataError if the lengths differ
    """
    if released.shape != probabilities.shape[1:]:
        raise DataError(f"counts of {probabilities.shape[1]} released values are needed; got {len(released)}.")
    occur = released > 0
    return float((released[occur] * conditional_entropy(probabilities)[occur]).sum())


def pril(probabilities: FloatArray, original: Codes, released: Codes) -> FloatArray:
    """Per-record information loss, -log2 P(V = i | V' = j) in bits, (n,); higher is worse, infinite if impossible.

    probabilities     : (k, l), P(V = i | V' = j)
    original, released: (n,), the row and the column of each record
    raises            : DataError if the lengths differ
    """
    if original.shape != released.shape:
        raise DataError(f"PRIL compares record by record; got {len(original)} and {len(released)} records.")
    with np.errstate(divide="ignore"):
        bits = -np.log2(probabilities)
    return np.asarray(np.maximum(bits, 0.0)[original, released])


def mean_pril(probabilities: FloatArray, joint: FloatArray) -> float:
    """The mean of `pril` over all records, from their joint counts, shape (k, l); NaN without a record."""
    total = float(joint.sum())
    if not total:
        return float("nan")
    occur = joint > 0
    with np.errstate(divide="ignore"):
        return max(0.0, float(-(joint[occur] * np.log2(probabilities[occur])).sum()) / total)
