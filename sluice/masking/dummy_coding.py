"""Dummy coding: categories as columns of -1 and +1, and back through the inverse logit.

Source: Lasko and Vinterbo (2010), section III. Its worked example rounds an intermediate: (-2.5, -1.5, 0.41) gives
(.0883, .2123, .6995), where the text prints (.088, .212, .700).
"""

import numpy as np
from numpy.random import Generator

from sluice.ground.arrays import FloatArray, IntArray


def dummy_code(codes: IntArray, categories: int) -> FloatArray:
    """One column a category: +1 where the record has it, -1 elsewhere; NaN in every column where the code is -1.

    codes   : shape (n,), category numbers 0 .. categories - 1, or -1 for missing
    returns : shape (n, categories)
    """
    coded = np.where(codes[:, None] == np.arange(categories), 1.0, -1.0)
    coded[codes < 0] = np.nan
    return coded


def category_probabilities(coded: FloatArray) -> FloatArray:
    """The inverse logit of each coded value, normalised over a record's categories.

    coded   : shape (n, q), any finite values
    returns : shape (n, q), at least 0, each row adding up to 1
    """
    # By logarithms: far from zero the inverse logits of a whole row can vanish, and 0 / 0 is no probability.
    logarithms = -np.logaddexp(0.0, -coded)
    weights = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
    probabilities: FloatArray = weights / weights.sum(axis=1, keepdims=True)
    return probabilities


def most_probable(probabilities: FloatArray) -> IntArray:
    """The category of largest probability in each row, the first of equals. Shape (n,)."""
    return np.asarray(np.argmax(probabilities, axis=1), dtype=np.int64)


def sampled(probabilities: FloatArray, rng: Generator) -> IntArray:
    """One category a row, drawn with the row's probabilities, never one of probability 0. Shape (n,)."""
    cumulative = np.cumsum(probabilities, axis=1)
    # The last sum is 1 only up to rounding, so the draw is scaled by it: it then stays below, never at the end.
    draws = rng.random(len(cumulative)) * cumulative[:, -1]
    return np.asarray((cumulative <= draws[:, None]).sum(axis=1), dtype=np.int64)
