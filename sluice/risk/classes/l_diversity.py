"""l-diversity: how many sensitive values are possible for a person whose combination of keys is known.

Source: Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam (2007): distinct l-diversity (section 4), Definition 4.1
(entropy l-diversity), Definition 4.2 (recursive (c,l)-diversity) and section 4.3 (several sensitive attributes).

Each function gives one figure a class. A blank is no value: who asks leaves the records without one out. Where people
are known, a value that everybody in a class has leaves one possible value, whatever else they have.
"""

from collections.abc import Sequence

import numpy as np

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.errors import DataError
from sluice.risk.classes.class_values import ClassValues, Sensitive, class_values
from sluice.risk.classes.equivalence_classes import Codes, EquivalenceClasses, equivalence_classes


def distinct_values(classes: EquivalenceClasses, sensitive: Sensitive) -> IntArray:
    """For each class, the number of different sensitive values in it. The file's l is the smallest; lower is worse.

    sensitive : shape (n,), codes of the sensitive variable (see `category_codes`), or near numbers
    returns   : shape (c,), from 1 on
    cost      : O(n)
    """
    found = class_values(classes, sensitive)
    return np.where(_certain(found, classes), 1, np.bincount(found.holder, minlength=len(classes.sizes)))


def effective_values(classes: EquivalenceClasses, sensitive: Sensitive) -> FloatArray:
    """For each class, exp(entropy) of its sensitive values: as many as equally frequent values would have it.

    returns : shape (c,), from 1 to the number of different values; the file has entropy l-diversity for every l up to
              the smallest; lower is worse
    cost    : O(n)
    """
    found = class_values(classes, sensitive)
    share = found.records / np.bincount(found.holder, weights=found.records)[found.holder]
    entropy = -np.bincount(found.holder, weights=share * np.log(share), minlength=len(classes.sizes))
    return np.asarray(np.where(_certain(found, classes), 1.0, np.exp(entropy)), dtype=np.float64)


def recursive_ratio(classes: EquivalenceClasses, sensitive: Sensitive, l: int) -> FloatArray:  # noqa: E741
    """For each class r_1 / (r_l + ... + r_m), with r_1 >= ... >= r_m the records of its m different values.

    returns : shape (c,), above 0; infinite where fewer than l values occur. The class has recursive (c,l)-diversity for
              every c above it; higher is worse
    raises  : DataError if l is below 2: every class is then diverse for a c above 1, whatever it holds
    cost    : O(n) and a sort of the different pairs of a class and a value
    """
    if l < 2:
        raise DataError(f"l of recursive (c,l)-diversity must be 2 or more; got {l}.")
    found = class_values(classes, sensitive)
    order = np.lexsort((-found.records, found.holder))
    holder, records = found.holder[order], found.records[order]
    first = np.searchsorted(holder, np.arange(len(classes.sizes)))
    rank = np.arange(len(holder)) - first[holder]
    rest = np.bincount(holder, weights=np.where(rank >= l - 1, records, 0), minlength=len(classes.sizes))
    rest[_certain(found, classes)] = 0
    with np.errstate(divide="ignore"):
        return np.asarray(records[first] / rest, dtype=np.float64)


def _certain(found: ClassValues, classes: EquivalenceClasses) -> BoolArray:
    """Whether everybody in a class has one and the same value."""
    certain = np.zeros(len(classes.sizes), dtype=np.bool_)
    certain[found.holder[found.records == classes.sizes[found.holder]]] = True
    return certain


def knowing_others(classes: EquivalenceClasses, others: Sequence[Codes]) -> EquivalenceClasses:
    """The classes for whoever knows the other sensitive values of a person, too: they count as keys.

    A file with several sensitive variables is l-diverse when it is so for each of them among these classes: else
    knowing one of them by chance tells another.

    others : codes of the other sensitive variables, each of shape (n,)
    """
    return equivalence_classes([classes.labels, *others])
