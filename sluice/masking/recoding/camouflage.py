"""Camouflage: answer any number of queries about confidential numbers by intervals that hold the true answer.

Source: Torra (2013), "Camouflage"; Gopal, Goes and Garfinkel (1998; confidentiality via camouflage: the true vector is
a convex combination of camouflaging vectors, and a query is answered by the range of its values over them). Differs
from it: the vectors are drawn at random rather than optimised; minimum, maximum and count are answered from the
intervals of the single records, which needs no optimisation and may be wider than the range over the convex hull.

It is no step of a plan: it releases answers, not records.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from numpy.random import Generator

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.errors import PlanError

Subset = npt.NDArray[np.bool_] | IntArray
"""The records that a query is about: a mask of shape (n,), or their positions, each once."""


class Interval(NamedTuple):
    """What a query is answered: the truth is from `low` to `high`, both included."""

    low: float
    high: float


class Camouflage:
    """A column of confidential numbers that answers queries and shows no value more exactly than to `width`.

    Every answer is computed from the camouflaging set: the convex hull of `vectors` drawn vectors of n values each, of
    which the truth is an inner point.

    **What is promised.** For every record, the values that fit all answers together, to all queries that can be asked,
    span `width`. Proof. An answer is an interval that holds the query's value at every member of the set: a sum or a
    mean, being linear, has its range over the hull at the vectors themselves; for minimum, maximum and count each value
    is let free within the range that its record has in the set, which can only widen the answer. So no answer, and no
    number of them, excludes any member of the set, and the range of each record over the set is `width` wide by
    construction. The truth is a member, so every answer holds. Any inner point could have been the truth, so knowing
    the method excludes none either. Nothing is assumed about what is asked, how often, or how answers are combined.
    The object keeps neither the values nor their weights in the combination, and draws nothing after it is made: the
    same query always has the same answer.

    **What is not.** The promise is about those who know none of the values. Who knows `vectors` - 1 of them, as a group
    of respondents may, can solve for the weights and so for every value: choose `vectors` larger than any such group;
    fewer known values narrow the intervals. Who knows a bound (no income is negative) cuts the intervals near it. The
    records of a query must be chosen by what is public, not by the confidential values. A second camouflage of the same
    values is drawn anew, and where the two overlap is narrower: make one and keep it.

    values   : shape (n,), finite
    width    : the interval that protects a record, in the unit of the values; one number, or shape (n,). Answers show
               it, so it must not be computed from the record's value (a tenth of it, say)
    vectors  : number of camouflaging vectors, at least 3
    raises   : PlanError
    cost     : O(n vectors) time and memory; a query about q records O(q vectors)
    answers  : the interval of a sum grows like sqrt(q) width, that of a mean shrinks like width / sqrt(q)
    """

    def __init__(self, values: FloatArray, width: float | FloatArray, rng: Generator, vectors: int = 10) -> None:
        values = np.asarray(values, dtype=np.float64)
        widths = np.broadcast_to(np.asarray(width, dtype=np.float64), values.shape)
        _refuse(values, widths, vectors)
        self.vectors: FloatArray = values + _deviations(len(values), vectors, rng) * widths
        self.low: FloatArray = self.vectors.min(axis=0)
        self.high: FloatArray = self.vectors.max(axis=0)
        if (self.high - self.low < 0.999 * widths).any():
            raise PlanError("width of camouflage is lost in the rounding of the values. Is it in their unit?")

    def sum(self, subset: Subset) -> Interval:
        """The sum of the values of some records."""
        chosen = self._chosen(subset)
        sums = self.vectors[:, chosen].sum(axis=1)
        # Sums are rounded: widened by more than their error, for the truth may lie near an end.
        slack = 1e-13 * float(np.maximum(np.abs(self.low[chosen]), np.abs(self.high[chosen])).sum())
        return Interval(float(sums.min() - slack), float(sums.max() + slack))

    def mean(self, subset: Subset) -> Interval:
        """The mean of the values of some records."""
        count = len(self._chosen(subset))
        low, high = self.sum(subset)
        return Interval(low / count, high / count)

    def minimum(self, subset: Subset) -> Interval:
        """The smallest value of some records."""
        chosen = self._chosen(subset)
        return Interval(float(self.low[chosen].min()), float(self.high[chosen].min()))

    def maximum(self, subset: Subset) -> Interval:
        """The largest value of some records."""
        chosen = self._chosen(subset)
        return Interval(float(self.low[chosen].max()), float(self.high[chosen].max()))

    def count(self, subset: Subset, at_least: float = -np.inf, at_most: float = np.inf) -> Interval:
        """How many of some records have a value from `at_least` to `at_most`."""
        chosen = self._chosen(subset)
        low, high = self.low[chosen], self.high[chosen]
        surely = (low >= at_least) & (high <= at_most)
        possibly = (high >= at_least) & (low <= at_most)
        return Interval(float(surely.sum()), float(possibly.sum()))

    def _chosen(self, subset: Subset) -> IntArray:
        """Positions of the records of a query. Raises PlanError for none, a wrong shape or a record named twice."""
        positions = np.asarray(subset)
        n = self.vectors.shape[1]
        if positions.dtype == np.bool_:
            if positions.shape != (n,):
                raise PlanError(f"subset of camouflage must have {n} values as a mask; got shape {positions.shape}.")
            positions = np.flatnonzero(positions)
        elif positions.ndim != 1 or not np.issubdtype(positions.dtype, np.integer):
            raise PlanError(
                f"subset of camouflage must be a mask or positions; got {positions.dtype}, {positions.ndim}-d."
            )
        if len(positions) == 0:
            raise PlanError("subset of camouflage is empty; ask about at least 1 record.")
        if positions.min() < 0 or positions.max() >= n:
            raise PlanError(f"subset of camouflage must hold positions from 0 to {n - 1}.")
        # In one order, so that the same records have the same answer to the last digit.
        chosen = np.unique(positions)
        if len(chosen) < len(positions):
            raise PlanError("subset of camouflage names a record twice; name each once.")
        return np.asarray(chosen, dtype=np.int64)


def _deviations(n: int, vectors: int, rng: Generator) -> FloatArray:
    """How far each vector is from the truth. Shape (vectors, n); each record's span is 1, and 0 is an inner point.

    The weights of the combination are the same for all records and kept nowhere.
    """
    drawn = rng.standard_normal((vectors, n))
    weights = rng.dirichlet(np.ones(vectors))
    drawn -= weights @ drawn
    deviations: FloatArray = drawn / np.ptp(drawn, axis=0)
    return deviations


def _refuse(values: FloatArray, widths: FloatArray, vectors: int) -> None:
    if values.ndim != 1 or len(values) == 0:
        raise PlanError(f"values of camouflage must be one column of at least 1 value; got shape {values.shape}.")
    if not np.isfinite(values).all():
        raise PlanError(
            f"values of camouflage must be finite; {(~np.isfinite(values)).sum()} are not. Leave missing ones out."
        )
    if not ((widths > 0) & np.isfinite(widths)).all():
        raise PlanError("width of camouflage must be greater than 0, in the unit of the values.")
    if vectors < 3:
        raise PlanError(f"vectors of camouflage must be at least 3; got {vectors}.")
