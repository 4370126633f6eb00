"""Category losses: what a released value leaves open of the original category, how far from it it lies, and the counts
that differ in tables of several categories.

Source of all: Torra (2013), "Information Loss Measures: Categorical Data".

Entropy-based losses, by record (PRIL) and on average (EBIL), rest on P(V = i | V' = j): how probable the original
category i is for whoever reads j. Bits here; the slide leaves the logarithm's base open. Its example gives P(Albany |
New York) = 101,082 / 17,990,455 as 0.05; it is 0.0056, or 7.48 bits. EBIL is a mean over what may be behind each
released value, whatever is; PRIL takes what is. With probabilities counted in the two files themselves the means of
both are the same number, the conditional entropy of V given V'.

Direct comparison. Differs from the source: the ordinal distance of a category from itself is 0, as in Xiong (CS573
slides) and in any distance; the slide counts the categories from one to the other with both ends, which gives 1 / |D|.
Here it is the number of steps from one to the other, of those from the lowest to the highest. Added to it: a released
group lies at its mean distance from the original category, over all categories that it may stand for, each as likely
as another; and what is missing in one file alone lies at distance 1.

Contingency-table loss CTBIL. Differs from the source: the original is the one before any recoding, a released group is
shared out among the categories that it may stand for (see `common_bins`), and the masked file is scaled to the
original's number of records (or sum of weights), so that a sample loses nothing but by its draw.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sluice.ground.arrays import Codes, FloatArray, IntArray
from sluice.ground.errors import DataError
from sluice.utility.common_bins import CommonBins
from sluice.utility.marginals import marginal_losses

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


def joint_counts(bins: CommonBins, weight: FloatArray | None = None) -> FloatArray:
    """Shape (bins, codes): the records of each original bin that were released as each code.

    bins   : one variable of two files whose rows are the same records. Missing is a category, the last of the bins
    weight : (n,), finite and not negative; None: every record weighs 1
    raises : DataError if the files differ in length, or the weights do
    cost   : O(n + bins x codes)
    """
    if len(bins.original) != len(bins.masked):
        raise DataError(
            f"'{bins.name}' is compared record by record; got {len(bins.original):,} and {len(bins.masked):,} records."
        )
    if weight is not None and weight.shape != bins.original.shape:
        raise DataError(f"'{bins.name}' has {len(bins.original):,} records; got {len(weight):,} weights.")
    cells = bins.original.astype(np.int64) * bins.codes + bins.masked
    counts = np.bincount(cells, weight, minlength=bins.bins * bins.codes)
    return np.asarray(counts.reshape(bins.bins, bins.codes), dtype=np.float64)


def category_distances(labels: Sequence[str], order: Sequence[str] | None = None) -> FloatArray:
    """Shape (bins, bins): the distance of each category from each other one, 0 to 1.

    labels : the categories, the last of them for a missing value
    order  : of an ordinal variable its categories in rising order; None for a nominal one
    raises : DataError if a label is none of the ordered categories

    Nominal: 1 unless they are the same. Ordinal: steps between them, of those from end to end. Missing lies at 1.
    """
    distance = 1.0 - np.eye(len(labels))
    if order is None or len(order) < 2:
        return distance
    rank = {label: place for place, label in enumerate(order)}
    if any(label not in rank for label in labels[:-1]):
        raise DataError("a category of an ordinal variable is not in its order.")
    places = np.array([rank[label] for label in labels[:-1]], dtype=np.float64)
    distance[:-1, :-1] = np.abs(np.subtract.outer(places, places)) / (len(order) - 1)
    return distance


def direct_comparison(bins: CommonBins, distances: FloatArray, weight: FloatArray | None = None) -> float:
    """The mean distance of the released category from the original one: 0 for none, at most 1; higher is worse.

    bins      : one variable of two files whose rows are the same records
    distances : (bins, bins), `category_distances` of its labels
    weight    : (n,), not negative; None: every record weighs 1
    returns   : NaN without a record, or without one that weighs anything
    raises    : DataError if the files differ in length, or the distances are of other bins
    cost      : O(n + codes x bins^2)
    """
    if len(bins.original) != len(bins.masked):
        raise DataError(
            f"'{bins.name}' is compared record by record; got {len(bins.original):,} and {len(bins.masked):,} records."
        )
    if distances.shape != (bins.bins, bins.bins):
        raise DataError(f"'{bins.name}' has {bins.bins} bins; got distances of shape {distances.shape}.")
    total = float(len(bins.original) if weight is None else weight.sum())
    if not total:
        return float("nan")
    of_record = (bins.spread @ distances.T)[bins.masked, bins.original]
    return min(1.0, float(of_record.sum() if weight is None else of_record @ weight) / total)


class ContingencyTableLoss(NamedTuple):
    """Of all tables of 1 to K variables; NaN without a record or a variable."""

    total: float  # CTBIL: the sum over tables and cells of |x - x'|, in records
    normalised: float  # the same of the most that it can be, 0 to 1: the mean share of records in another cell
    tables: int  # that there are
    counted: int  # fewer where they were drawn; the total is then that of all tables by the mean of those drawn


def contingency_table_loss(
    bins: Sequence[CommonBins],
    order: int,
    original_weight: FloatArray | None = None,
    masked_weight: FloatArray | None = None,
    rng: np.random.Generator | None = None,
) -> ContingencyTableLoss:
    """CTBIL(F, G; W, K) of the variables in `bins`; 0 for equal tables, higher is worse.

    order  : K, at least 1
    raises : DataError for an order below 1, or more tables of a size than are counted without a generator
    cost   : that of `marginal_losses` for each size
    """
    if order < 1:
        raise DataError(f"contingency tables need an order of at least 1; got {order}.")
    sizes = range(1, min(order, len(bins)) + 1)
    found = [marginal_losses(bins, size, original_weight, masked_weight, rng) for size in sizes]
    tables = sum(each.of for each in found)
    if not tables:
        return ContingencyTableLoss(float("nan"), float("nan"), 0, 0)
    records = float(len(bins[0].original) if original_weight is None else original_weight.sum())
    lost = sum(each.of * each.mean for each in found)  # half the sum of |p - p'| of each table
    return ContingencyTableLoss(2 * records * lost, lost / tables, tables, sum(len(each.losses) for each in found))
