"""delta-presence: how sure one can be that a person of the population is in the file.

Source: Nergiz, Atzori and Clifton (2007), Definition 2; the concern is that of Desfontaines (2020), "Limits of
k-anonymity": being in the data is itself sensitive.

Of the N persons of the population with one combination of keys, n are in the file: whoever knows the combination of a
person holds it for n / N likely that the person is in it. delta_max is the largest n / N; higher is worse.
"""

import numpy as np
from numpy.typing import NDArray

from sluice.ground.arrays import IntArray
from sluice.ground.errors import DataError
from sluice.risk.classes.equivalence_classes import EquivalenceClasses


def presence(inside: IntArray, people: IntArray) -> NDArray[np.float64]:
    """n / N, element by element. Raises DataError where more are in the file than in the population."""
    beyond = int((inside > people).sum())
    if beyond:
        raise DataError(
            f"{beyond:,} times, keys occur more often in the file than in the population. "
            "Are the keys of both coded alike?"
        )
    return np.asarray(inside / people, dtype=np.float64)


def estimated_presence(classes: EquivalenceClasses, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same for each class where the population is known through sampling weights: N is the sum of the weights.

    weights : shape (n,), how many people of the population each record stands for
    returns : shape (c,)
    raises  : DataError if there is no record, a weight is missing or below 1: a record stands for itself at least
    cost    : O(n)
    """
    if not len(weights):
        raise DataError("delta-presence needs at least one record; got none.")
    below = int((~(weights >= 1)).sum())
    if below:
        raise DataError(f"sampling weights must be 1 or more; {below:,} are missing or smaller.")
    people = np.bincount(classes.labels, weights=weights, minlength=len(classes.sizes))
    return np.asarray(np.minimum(classes.sizes / people, 1.0), dtype=np.float64)
