"""l-diversity: how many sensitive values are possible for a person whose combination of keys is known.

Source: Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam (2007): distinct l-diversity (section 4), Definition 4.1
(entropy l-diversity), Definition 4.2 (recursive (c,l)-diversity) and section 4.3 (several sensitive attributes).

Each function gives one figure a class. A blank is no value: who asks leaves the records without one out. Where people
are known, a value that everybody in a class has leaves one possible value, whatever else they have.
"""

from collections.abc import Sequence

import numpy as np

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.errors import DataError
from sluice.risk.classes.class_values import ClassValues
from sluice.risk.classes.equivalence_classes import Codes, EquivalenceClasses, equivalence_classes


def distinct_values(found: ClassValues) -> IntArray:
    """For each class, the number of different sensitive values in it. The file's l is the smallest; lower is worse.

    returns : shape (c,), from 1 on where anybody has a value
    cost    : O(pairs)
    """
    return np.where(found.is_certain, 1, found.different)


def effective_values(found: ClassValues) -> FloatArray:
    """For each class, exp(entropy) of its sensitive values: as many as equally frequent values would have it.

    returns : shape (c,), from 1 to the number of different values; the file has entropy l-diversity for every l up to
              the smallest; lower is worse
    cost    : O(pairs)
    """
    share = found.distribution
    entropy = -found.sums(share * np.log(share))
    return np.asarray(np.where(found.is_certain, 1.0, np.exp(entropy)), dtype=np.float64)


def estimated_values(found: ClassValues) -> FloatArray:
    """The same by Grassberger's estimate of the entropy, which corrects what few records make too small.

    returns : shape (c,), larger where records are few. Source: Grassberger (2003), equation 28
    """
    sizes = np.maximum(found.sums(found.records), 1)
    entropy = np.log(sizes) - found.sums(found.records * _grassberger(found.records)) / sizes
    known = found.is_certain & (found.different > 1)  # everybody has one value, and some have others besides
    return np.asarray(np.where(known, 1.0, np.exp(entropy)), dtype=np.float64)


def _grassberger(records: IntArray) -> FloatArray:
    """G(n): the entropy is ln N less the sum of n G(n) / N over the values."""
    from scipy.special import psi

    sign = np.where(records % 2 == 0, 0.5, -0.5)
    return np.asarray(psi(records) + sign * (psi((records + 1) / 2) - psi(records / 2)))


def recursive_ratio(found: ClassValues, l: int) -> FloatArray:  # noqa: E741
    """For each class r_1 / (r_l + ... + r_m), with r_1 >= ... >= r_m the records of its m different values.

    returns : shape (c,), above 0, or 0 where nobody has a value; infinite where fewer than l values occur. The class
              has recursive (c,l)-diversity for every c above it; higher is worse
    raises  : DataError if l is below 2: every class is then diverse for a c above 1, whatever it holds
    cost    : a sort of the pairs
    """
    if l < 2:
        raise DataError(f"l of recursive (c,l)-diversity must be 2 or more; got {l}.")
    order = np.lexsort((-found.records, found.holder))
    holder, records = found.holder[order], found.records[order]  # the holders are in this order already
    rank = np.arange(len(holder)) - np.searchsorted(holder, holder)
    rest = found.sums(np.where(rank >= l - 1, records, 0))
    rest[found.is_certain] = 0
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(found.largest(found.records.astype(np.float64)) / rest, nan=0.0, posinf=np.inf)


def knowing_others(classes: EquivalenceClasses, others: Sequence[Codes]) -> EquivalenceClasses:
    """The classes for whoever knows the other sensitive values of a person, too: they count as keys.

    A file with several sensitive variables is l-diverse when it is so for each of them among these classes: else
    knowing one of them by chance tells another.

    others : codes of the other sensitive variables, each of shape (n,)
    """
    return equivalence_classes([classes.labels, *others])
