"""Model variables: the variables of one file as its analyst reads them, as numbers or as categories.

On the masked file's own terms, by `released_values`: where numbers were recoded into groups, a group is the mean of the
distinct values that it may stand for, and where categories were, a group is a category of its own. Where a group may
stand for values that meet a condition and others that do not, the condition is unknown, as a missing value is.
"""

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.comparable_values import plain_values
from sluice.ground.released_values import ReleasedValues, at_face_value
from sluice.ground.variables import Variables, as_label

_COMPARISONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


@dataclass(frozen=True)
class Levels:
    """A variable as categories.

    codes : (n,) the category of each record, -1 for a missing value
    names : the categories, in their order
    own   : (categories,) whether one is an original value rather than a group
    """

    codes: IntArray
    names: tuple[str, ...]
    own: BoolArray


@dataclass(frozen=True)
class ModelVariable:
    """One variable of one file.

    codes  : (n,) the value of each record, -1 for a missing one
    values : the distinct values, numbers or texts
    behind : of each value the original values that it may stand for; None where each is itself
    order  : the original's categories in their order, where they have one
    """

    codes: IntArray
    values: npt.NDArray[Any]
    behind: tuple[npt.NDArray[Any], ...] | None = None
    order: tuple[str, ...] = ()

    def take(self, rows: BoolArray) -> "ModelVariable":
        """The same variable of some of the records, shape (n,)."""
        return ModelVariable(self.codes[rows], self.values, self.behind, self.order)

    def numbers(self) -> FloatArray:
        """(n,) NaN for a missing value, and for a group of which nothing is known."""
        if self.behind is None:
            each = self.values.astype(np.float64)
        else:
            each = np.array([np.mean(values.astype(np.float64)) if len(values) else np.nan for values in self.behind])
        return np.append(each, np.nan)[self.codes]

    def levels(self) -> Levels:
        """Its categories: original ones in their order, then groups by name."""
        names = [str(as_label(value)) for value in self.values.tolist()]
        own = np.ones(len(names), np.bool_)
        if self.behind is not None:
            own = np.array(
                [
                    len(values) == 1 and str(as_label(values.tolist()[0])) == name
                    for values, name in zip(self.behind, names, strict=True)
                ],
                dtype=np.bool_,
            )
        place = {name: number for number, name in enumerate(self.order)}

        def key(number: int) -> tuple[Any, ...]:
            value = self.values[number]
            if not own[number]:
                return (2, 0.0, names[number])
            if names[number] in place:
                return (0, float(place[names[number]]), "")
            return (1, float(value) if not isinstance(value, str) else 0.0, names[number])

        order = sorted(range(len(names)), key=key)
        rank = np.empty(len(names) + 1, np.int64)
        rank[order], rank[-1] = np.arange(len(names)), -1
        return Levels(rank[self.codes], tuple(names[number] for number in order), own[order])

    def where(self, comparison: str, value: str | float) -> FloatArray:
        """(n,) 1 where the value meets the condition, 0 where it does not, NaN where it is missing or nobody knows."""
        compare = _COMPARISONS[comparison]

        def meets(values: npt.NDArray[Any]) -> float:
            given = values.tolist()
            wanted = value if not given or not isinstance(given[0], str) else str(as_label(value))
            found = {bool(compare(each, wanted)) for each in given}
            return float(found.pop()) if len(found) == 1 else np.nan

        behind = [np.array([each]) for each in self.values] if self.behind is None else self.behind
        return np.append(np.array([meets(values) for values in behind]), np.nan)[self.codes]


def original_variables(names: Iterable[str], original: pd.DataFrame, variables: Variables) -> dict[str, ModelVariable]:
    """Variables of the original, typed by `variables`; those among `names` that it has."""
    found = {}
    for name in names:
        if name in variables and name in original:
            codes, values = pd.factorize(plain_values(original[name]))
            found[name] = ModelVariable(codes.astype(np.int64), np.asarray(values), None, _order(original[name]))
    return found


def masked_variables(
    names: Iterable[str],
    original: pd.DataFrame,
    recoded: pd.DataFrame,
    masked: pd.DataFrame,
    variables: Variables,
    released: Variables,
) -> dict[str, ModelVariable]:
    """Variables of the masked file, typed by `released`; those among `names` that it has.

    original, recoded : length n, row i of one the record of row i of the other
    masked            : length m
    cost              : O(n log n + m) a variable
    """
    found = {}
    for name in names:
        if name not in variables or name not in released:
            continue
        if at_face_value(original[name], masked[name]):
            codes, values = pd.factorize(plain_values(masked[name]))
            found[name] = ModelVariable(codes.astype(np.int64), np.asarray(values))
            continue
        read = ReleasedValues.of(original[name], recoded.get(name), masked[name], variables[name].hierarchy)
        known, occurs = np.asarray(read.known.distinct), np.flatnonzero(read.told.counts[:-1])
        behind = tuple(known[read.behind(at)] for at in occurs.tolist())
        place = np.full(len(read.counts), -1)
        place[occurs] = np.arange(len(occurs))
        labels = np.asarray(read.told.distinct)[occurs]
        found[name] = ModelVariable(place[read.told.codes], labels, behind, _order(original[name]))
    return found


def _order(column: "pd.Series[Any]") -> tuple[str, ...]:
    return tuple(map(str, column.cat.categories)) if isinstance(column.dtype, pd.CategoricalDtype) else ()
