"""The Markov matrix of PRAM: with which probability each category is released as each other.

Source: Gouweleeuw, Kooiman, Willenborg and de Wolf (1998): the estimator of the original frequencies, and invariant
PRAM in two stages. With shares p and a matrix P, the second stage is its inverse by Bayes,
T(j, k) = p(k) P(k, j) / sum over l of p(l) P(l, j), and the values are drawn once from R = P T, for which
p R = p P T = p.
"""

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.errors import PlanError

_CONDITION = 1e12  # of a matrix beyond which nothing is left of the frequencies but rounding


def retention_matrix(counts: IntArray, retention: float, *, proportional: bool = False) -> FloatArray:
    """A Markov matrix that keeps a category with probability `retention`, and else draws one of the others.

    counts       : shape (k,), frequencies of the categories
    proportional : the others by their frequencies (evenly where all are 0); else evenly
    returns      : shape (k, k), rows that add up to 1; a single category stays
    """
    k = len(counts)
    if k == 1:
        return np.ones((1, 1))
    weights: FloatArray = np.tile(counts.astype(np.float64), (k, 1)) if proportional else np.ones((k, k))
    np.fill_diagonal(weights, 0.0)
    total = weights.sum(axis=1, keepdims=True)
    if (alone := total[:, 0] == 0).any():
        weights[alone] = 1.0
        np.fill_diagonal(weights, 0.0)
        total[alone] = k - 1
    weights *= 1.0 - retention  # in place: of many categories it is large
    weights /= total
    np.fill_diagonal(weights, retention)
    return weights


def invariant_matrix(counts: IntArray, matrix: FloatArray) -> FloatArray:
    """R = P T, with T the inverse of P by Bayes: a Markov matrix with counts R = counts.

    counts  : shape (k,), frequencies of the categories
    matrix  : shape (k, k), P: rows add up to 1
    returns : shape (k, k), rows add up to 1
    """
    joint = counts[:, None] * matrix
    frequencies = joint.sum(axis=0)
    inverse = np.where(
        frequencies[:, None] > 0, joint.T / np.where(frequencies > 0, frequencies, 1.0)[:, None], np.eye(len(counts))
    )
    return np.asarray(matrix @ inverse)


def corrected_frequencies(counts: FloatArray | IntArray, matrix: FloatArray) -> FloatArray:
    """Unbiased estimates of the original frequencies from the masked ones: the x with x P = counts.

    counts  : shape (k,), frequencies in the masked file
    matrix  : shape (k, k), the Markov matrix that the file was masked with
    returns : shape (k,), with the same total; a rare category may come out below 0
    raises  : PlanError when the matrix is singular (several originals explain the masked file equally well)
    cost    : O(k^3)
    """
    if np.linalg.cond(matrix) > _CONDITION:
        raise PlanError(
            "the matrix of pram is singular: several original frequencies explain the masked ones equally well. "
            "Use a higher retention."
        )
    return np.asarray(np.linalg.solve(matrix.T, counts), dtype=np.float64)
