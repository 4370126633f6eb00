"""Leaf donors: for a new record, a known record that lies in the same leaf of a decision tree.

The tree is grown on known records to predict one variable from others; scikit-learn grows it. Numbers are given to it
as ranks, which leaves its splits as they are and does not depend on units; the categories of a nominal predictor in
the order of what is predicted, among which for a number or two classes the best split of all is found (Breiman and
others 1984, theorem 4.5).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.random import Generator

from sluice.ground.arrays import FloatArray, IntArray, learnable
from sluice.ground.variables import Kind, Variable
from sluice.masking.column_numbers import days, numbers


def as_numbers(column: pd.Series, kind: Kind) -> FloatArray:
    """Numbers as they are, dates as days, categories by position; NaN where missing. Shape (n,)."""
    return days(column) if kind is Kind.DATE else numbers(column.to_frame("x"), ["x"])[:, 0]


@dataclass(frozen=True)
class Predictor:
    """One variable of the known and of the new records: ranks among the known values, or positions of categories."""

    known: FloatArray
    new: FloatArray
    nominal: bool

    @classmethod
    def of(cls, known: pd.Series, new: pd.Series, variable: Variable) -> "Predictor":
        one, other = (as_numbers(column, variable.kind) for column in (known, new))
        if variable.kind.is_categorical:
            return cls(one, other, variable.kind is Kind.NOMINAL)
        values = np.unique(one[~np.isnan(one)])
        one, other = (np.where(np.isnan(side), np.nan, np.searchsorted(values, side)) for side in (one, other))
        return cls(one, other, False)

    def ordered(self, rows: IntArray, target: FloatArray, classes: bool) -> tuple[FloatArray, FloatArray]:
        """Known and new, where nominal with the categories ranked by the `target` of the known `rows`."""
        if not self.nominal:
            return self.known, self.new
        count = int(np.nanmax(np.append(self.known, self.new), initial=-1.0)) + 1
        codes = self.known[rows]
        there = ~np.isnan(codes)
        scores = _category_scores(codes[there].astype(np.int64), count, target[there], classes)
        place = np.append(np.argsort(np.argsort(scores, kind="stable")).astype(np.float64), np.nan)
        known, new = (place[np.where(np.isnan(side), count, side).astype(np.int64)] for side in (self.known, self.new))
        return known, new


def tree_leaves(
    response: FloatArray,
    rows: IntArray,
    wanted: IntArray,
    predictors: Sequence[Predictor],
    *,
    classes: bool,
    minimum_leaf: int,
    rng: Generator,
) -> tuple[IntArray, IntArray]:
    """The leaf of each known record in `rows`, and of each new one in `wanted`.

    response  : shape (m,), of `rows`, without NaN; positions of categories where `classes`
    returns   : shapes (m,) and (w,); without predictors all lie in leaf 0
    cost      : O(m p log m)
    """
    if not predictors or len(rows) == 0:
        return np.zeros(len(rows), dtype=np.int64), np.zeros(len(wanted), dtype=np.int64)
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    size = np.abs(response).max()
    target = response if classes or size == 0 else response / size  # the tree squares it
    columns = [predictor.ordered(rows, target, classes) for predictor in predictors]
    known, new = (np.column_stack(side).astype(np.float32) for side in zip(*columns, strict=True))
    grower = DecisionTreeClassifier if classes else DecisionTreeRegressor
    tree = grower(min_samples_leaf=minimum_leaf, random_state=int(rng.integers(2**31)))
    tree.fit(known[rows], learnable(target) if classes else target)
    return tree.apply(known[rows]), tree.apply(new[wanted]) if len(wanted) else np.zeros(0, dtype=np.int64)


def leaf_donors(leaves: IntArray, wanted: IntArray, rng: Generator) -> IntArray:
    """For each wanted leaf the position of a record of `leaves` that lies in it, each equally likely. Shape (w,)."""
    order = np.argsort(leaves, kind="stable")
    ranked = leaves[order]
    first = np.searchsorted(ranked, wanted, side="left")
    count = np.searchsorted(ranked, wanted, side="right") - first
    return order[first + (rng.random(len(wanted)) * count).astype(np.int64)]


def _category_scores(codes: IntArray, count: int, target: FloatArray, classes: bool) -> FloatArray:
    """Where each of `count` categories stands: the mean of its target, or with classes the first principal component
    of its class shares (for two classes, the share of one of them). A category without a record stands in the middle.
    """
    size = np.bincount(codes, minlength=count)
    there = np.maximum(size, 1)
    if not classes:
        means = np.bincount(codes, weights=target, minlength=count) / there
        return np.where(size > 0, means, target.mean() if len(target) else 0.0)
    _, place = np.unique(target, return_inverse=True)
    number = int(place.max(initial=0)) + 1
    counts = np.bincount(codes * number + place, minlength=count * number).reshape(count, number)
    shares = counts / there[:, None] - counts.sum(axis=0) / max(len(codes), 1)
    shares[size == 0] = 0.0
    axis = np.linalg.svd(np.sqrt(size)[:, None] * shares, full_matrices=False)[2][0]
    scores: FloatArray = shares @ axis
    return scores
