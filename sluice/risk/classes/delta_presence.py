"""delta-presence: how sure one can be that a person of the population is in the file, or is not.

Source: Nergiz, Atzori and Clifton (2007), Definition 2; the concern is that of Desfontaines (2020), "Limits of
k-anonymity": being in the data is itself sensitive.

Of the N persons of the population with one combination of keys, n are in the file: whoever knows the combination of a
person holds it for n / N likely that the person is in it. delta_max is the largest n / N, delta_min the smallest; a
combination of the population that nobody in the file has makes delta_min 0. A missing key is a category of its own in
both tables: it matches only a missing key.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sluice.errors import DataError
from sluice.risk.classes.equivalence_classes import EquivalenceClasses, IntArray, classes_of
from sluice.risk.measurement import Measurement


@dataclass(frozen=True)
class Presence:
    """The probability of being in the file, by combination of keys.

    probability : shape (c,), n / N of each combination that the population has, 0 to 1
    people      : shape (c,), how many of the population have it
    """

    probability: NDArray[np.float64]
    people: NDArray[np.float64]

    @property
    def delta_max(self) -> Measurement:
        """How sure one can be that a person is in the file. Higher is worse; cases are people of the population."""
        return self._measured(float(self.probability.max()), "higher")

    @property
    def delta_min(self) -> Measurement:
        """How likely presence is where it is least so: 0 tells of somebody that they are not in the file. Lower is
        worse; the harm is where absence is sensitive.
        """
        return self._measured(float(self.probability.min()), "lower")

    def _measured(self, value: float, worse: str) -> Measurement:
        people = round(float(self.people.sum()))
        return Measurement(value, people, people, "higher" if worse == "higher" else "lower")


def delta_presence(frame: pd.DataFrame, population: pd.DataFrame, keys: Sequence[str]) -> Presence:
    """Presence in a file drawn from a population whose table is known.

    frame, population : typed frames that have the keys, any index; every record of the file is one of the population
    raises            : DataError if either has no record, or a combination occurs more often in the file than in the
                        population: it is then not the population of this file
    cost              : O(n + N), and a sort of the distinct values of each key
    """
    if not len(frame) or not len(population):
        raise DataError("delta-presence needs a file and a population with at least one record each.")
    both = pd.concat(
        [table[list(keys)].astype("str").where(table[list(keys)].notna()) for table in (frame, population)],
        ignore_index=True,
    )
    classes = classes_of(both, list(keys))
    count = len(classes.sizes)
    inside = np.bincount(classes.labels[: len(frame)], minlength=count)
    people = np.bincount(classes.labels[len(frame) :], minlength=count)
    return Presence(probability(inside, people), people.astype(np.float64))


def probability(inside: IntArray, people: IntArray) -> NDArray[np.float64]:
    """n / N, element by element. Raises DataError where more are in the file than in the population."""
    beyond = int((inside > people).sum())
    if beyond:
        raise DataError(
            f"{beyond:,} times, keys occur more often in the file than in the population. "
            "Are the keys of both coded alike?"
        )
    return np.asarray(inside / people, dtype=np.float64)


def estimated_presence(classes: EquivalenceClasses, weights: NDArray[np.float64]) -> Presence:
    """The same where the population is known through sampling weights: N is the sum of the weights of the class.

    weights : shape (n,), how many people of the population each record stands for
    returns : for the combinations in the file only, so that delta_min is no bound for those that nobody in it has
    raises  : DataError if there is no record, a weight is missing or below 1: a record stands for itself at least
    cost    : O(n)
    """
    if not len(weights):
        raise DataError("delta-presence needs at least one record; got none.")
    below = int((~(weights >= 1)).sum())
    if below:
        raise DataError(f"sampling weights must be 1 or more; {below:,} are missing or smaller.")
    people = np.bincount(classes.labels, weights=weights, minlength=len(classes.sizes)).astype(np.float64)
    return Presence(np.minimum(classes.sizes / people, 1.0), people)
