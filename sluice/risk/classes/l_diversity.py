"""l-diversity: how many sensitive values remain for a person whose quasi-identifiers are known.

Source: Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam (2007), sections 4 (distinct) and 4.3 (several sensitive
variables), Definitions 4.1 (entropy) and 4.2 (recursive).

Each function gives one figure a class. A blank is no value: who asks leaves the records without one out. Where people
are known, a value that everybody in a class has leaves one possible value, whatever else they have. A harmless value is
one of those that the source does not care about (4.3): it may be known, and counts as an alternative to the others. A
class with no other value has the figure infinity, or the ratio 0.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Any, ClassVar, Literal, Self

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.comparable_values import plain_values
from sluice.ground.errors import DataError
from sluice.ground.sentence import Saying, Sentences
from sluice.ground.variables import Variable
from sluice.risk.classes.class_values import ClassValues, within
from sluice.risk.classes.privacy_model import ROUNDING, SensitiveModel
from sluice.risk.classes.sensitive_rule import GROUPS, NearValuesRule
from sluice.risk.spread import resolution

_FEWEST = "of {name:word} (fewest in any group: {fewest:.4g}); the policy asks for at least {l:g} in each."
_SAYS = Sentences(
    "l_diversity",
    frequent=f"In {GROUPS}, one value of {{name:word}} occurs at least {{c:g}} times as often as number "
    "{l:g} by frequency and all rarer ones together; the policy allows it in none.",
    few=f"In {GROUPS}, there are fewer than {{l:g}} different values {_FEWEST}",
    few_effective=f"In {GROUPS}, there are fewer than {{l:g}} different values, weighed by how often they occur, "
    f"{_FEWEST}",
)


def distinct_values(found: ClassValues) -> FloatArray:
    """For each class, the number of different sensitive values in it. The file's l is the smallest; lower is worse.

    returns : shape (c,), from 1 on where anybody has a value
    cost    : O(pairs)
    """
    different = np.where(found.is_certain, 1.0, found.different)
    return different if found.harmless is None else np.where(found.has_harmful | (found.sizes == 0), different, np.inf)


def effective_values(found: ClassValues) -> FloatArray:
    """For each class, exp(entropy) of its sensitive values: as many as equally frequent values would have it.

    returns : shape (c,), from 1 to the number of different values; the file has entropy l-diversity for every l up to
              the smallest; lower is worse
    cost    : O(pairs), for as many harmless values as a class has

    Harmless values count as far as they make the others less certain: of their records as many as give the largest
    entropy. Each has then exp(-entropy) of those that count, or all its own where these are fewer.
    """
    if found.harmless is not None:
        return np.where(found.is_certain, 1.0, _effective_beside_harmless(found))
    share = found.distribution
    entropy = -found.sums(share * np.log(share))
    return np.asarray(np.where(found.is_certain, 1.0, np.exp(entropy)), dtype=np.float64)


def _effective_beside_harmless(found: ClassValues) -> FloatArray:
    """exp(entropy) of each class, of the harmless records those that make it largest; shape (c,).

    The values are taken from the rarest on. One with fewer records than all taken times exp(-entropy) is taken whole;
    from the first with more on, j values are left, each of which can be cut to just that: with it exp(entropy) grows
    by one, and it stays as it is.
    """
    log_sum = found.records * np.log(found.records)
    taken, weighed = (found.sums(np.where(found.harmful, each, 0.0)) for each in (found.records, log_sum))
    left = np.where(found.harmful, found.records.max(initial=0) + 1, found.records)  # of harmless values the records
    order = np.lexsort((left, found.holder))
    holder, records, logs = found.holder[order], left[order], log_sum[order]
    first = np.searchsorted(holder, np.arange(len(found.sizes)))
    harmless = found.different - np.bincount(found.holder[found.harmful], minlength=len(found.sizes))
    at, going = np.zeros_like(harmless), found.has_harmful & (harmless > 0)
    while going.any():
        which = np.flatnonzero(going)
        pair = (first + at)[which]
        fits = records[pair] < np.exp(weighed[which] / taken[which])  # all taken times exp(-entropy)
        of = which[fits]
        taken[of] += records[pair[fits]]
        weighed[of] += logs[pair[fits]]
        at[of] += 1
        going[which[~fits]] = False
        going &= at < harmless
    whole = np.maximum(taken, 1)
    effective = whole * np.exp(-weighed / whole) + (harmless - at)
    return np.where(found.has_harmful | (found.sizes == 0), effective, np.inf)


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
              has recursive (c,l)-diversity for every c above it; higher is worse. With harmless values it is that of
              the most frequent other value, positive disclosure-recursive diversity: r_y over all rarer than the
              l - 2 most frequent ones beside it
    raises  : DataError if l is below 2: every class is then diverse for a c above 1, whatever it holds
    cost    : a sort of the pairs
    """
    if l < 2:
        raise DataError(f"l of recursive (c,l)-diversity must be 2 or more; got {l}.")
    order = np.lexsort((~found.harmful, -found.records, found.holder))
    holder, records = found.holder[order], found.records[order]  # the holders are in this order already
    rank = np.arange(len(holder)) - np.searchsorted(holder, holder)
    largest = found.largest(np.where(found.harmful, found.records, 0).astype(np.float64))
    place = np.full(len(found.sizes), len(holder))
    np.minimum.at(place, holder, np.where(found.harmful[order], rank, len(holder)))  # of the largest harmful one
    beyond = place >= l - 1  # then those passed over are all more frequent
    rest = found.sums(np.where(rank >= np.where(beyond[holder], l - 2, l - 1), records, 0))
    rest = np.where(beyond, rest - largest, rest)
    rest[found.is_certain] = 0
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(largest / rest, nan=0.0, posinf=np.inf)


@dataclass(frozen=True)
class DistinctLDiversity(SensitiveModel):
    """At least l different values in each class; l is 1 or more."""

    l: int  # noqa: E741  the name that everybody knows

    worse = "lower"

    def __post_init__(self) -> None:
        if self.l < 1:
            raise DataError(f"l of distinct l-diversity must be 1 or more; got {self.l}.")

    monotone = True
    monotone_with_suppression = True

    def figures(self, found: ClassValues) -> FloatArray:
        return distinct_values(found)

    def broken(self, found: ClassValues) -> BoolArray:
        return np.asarray(self.figures(found) < self.l, dtype=np.bool_)

    def describe(self) -> str:
        return f"distinct l-diversity of '{self.sensitive}' with l = {self.l}"


@dataclass(frozen=True)
class DistinctNearValues(DistinctLDiversity):
    """The same of numbers, of which those that lie near each other are one value: the fewest spans that hold a class.

    What satisfies this satisfies the rule, which takes the densest span first and may need more of them. Where people
    are counted it is not known who has two numbers of a span: each counts for another of them, as in a class in which
    everybody has a number of that span.

    near   : share of the spread within which two numbers are one value
    beyond : shape (codes,), for each number, by its rank, that of the first one that is not near; None until the
             column is known
    """

    near: float
    beyond: IntArray | None = field(default=None, compare=False)

    def of_column(self, column: "pd.Series[Any]") -> Self:
        numbers = np.asarray(plain_values(column.dropna()), dtype=np.float64)
        different, width = np.unique(numbers), resolution(numbers, self.near)
        return replace(self, beyond=np.searchsorted(different, within(different, width), "right"))

    def figures(self, found: ClassValues) -> FloatArray:
        """Cost: O(pairs log pairs) for each of l."""
        if self.beyond is None:
            raise DataError(f"{self.describe()} looks at numbers of which it knows the order alone.")
        codes = len(self.beyond) + 1
        pairs = found.holder * codes + found.value
        at = np.searchsorted(found.holder, np.arange(len(found.sizes)))  # of each class the first pair not counted
        spans = np.zeros(len(found.sizes))
        for _ in range(self.l):
            left = (at < len(pairs)) & (found.holder[np.minimum(at, len(pairs) - 1)] == np.arange(len(at)))
            spans += left
            lowest = found.value[at[left]]
            at[left] = np.searchsorted(pairs, np.flatnonzero(left) * codes + self.beyond[lowest])
        held = np.concatenate([[0], np.cumsum(found.records)])
        stop = np.searchsorted(pairs, found.holder * codes + self.beyond[found.value])
        everybody = found.largest((held[stop] - held[:-1]).astype(np.float64)) >= found.sizes
        return np.asarray(np.where(everybody, np.minimum(spans, 1.0), spans), dtype=np.float64)

    def describe(self) -> str:
        return f"{super().describe()}, numbers within {self.near:g} of the spread being one value"


@dataclass(frozen=True)
class EntropyLDiversity(SensitiveModel):
    """exp(entropy) of the values of each class is at least l: as many equally frequent values would have it.

    l         : 1 or more
    corrected : whether the entropy is Grassberger's estimate of that from which the records were drawn: where they are
                few it is larger, so that more classes pass
    """

    l: float  # noqa: E741  the name that everybody knows
    corrected: bool = False

    worse = "lower"

    def __post_init__(self) -> None:
        if not self.l >= 1:
            raise DataError(f"l of entropy l-diversity must be 1 or more; got {self.l:g}.")

    @property
    def monotone(self) -> bool:
        return not self.corrected  # entropy is concave; the estimate need not be

    monotone_with_suppression = False  # two values alike often and a thousand records of one have a lower entropy

    def figures(self, found: ClassValues) -> FloatArray:
        return (estimated_values if self.corrected else effective_values)(found)

    def broken(self, found: ClassValues) -> BoolArray:
        return np.asarray(self.figures(found) < self.l - ROUNDING, dtype=np.bool_)

    def describe(self) -> str:
        by = " (Grassberger's estimate)" if self.corrected else ""
        return f"entropy l-diversity of '{self.sensitive}'{by} with l = {self.l:g}"


@dataclass(frozen=True)
class RecursiveLDiversity(SensitiveModel):
    """The most frequent value of a class has fewer than c times the records of the l-th and all rarer ones together.

    c : more than 0; l : 2 or more
    """

    c: float
    l: int  # noqa: E741  the name that everybody knows

    def __post_init__(self) -> None:
        if not self.c > 0:
            raise DataError(f"c of recursive (c,l)-diversity must be more than 0; got {self.c:g}.")
        if self.l < 2:
            raise DataError(f"l of recursive (c,l)-diversity must be 2 or more; got {self.l}.")

    monotone = True
    monotone_with_suppression = False  # a class with too frequent a value may outweigh one without

    def figures(self, found: ClassValues) -> FloatArray:
        return recursive_ratio(found, self.l)

    def broken(self, found: ClassValues) -> BoolArray:
        return self.figures(found) >= self.c

    def describe(self) -> str:
        return f"recursive (c,l)-diversity of '{self.sensitive}' with c = {self.c:g} and l = {self.l}"


class LDiversity(NearValuesRule):
    """Every group of equal quasi-identifiers has at least l well-represented sensitive values."""

    rule: Literal["l_diversity"] = "l_diversity"
    example: ClassVar[str] = "{rule: l_diversity, variant: distinct, l: 2}"
    advice: ClassVar[str] = (
        "Groups of look-alikes share one sensitive value: recode the quasi-identifiers further so that groups grow and "
        "mix, or anatomize the sensitive variable. A suppressed cell is no value."
    )
    variant: Literal["distinct", "entropy", "recursive"] = Field(
        default="distinct",
        description=(
            "distinct: different values; entropy: exp of their entropy; recursive: the most frequent value "
            "occurs less than c times as often as the l-th and all rarer ones"
        ),
    )
    l: float = Field(gt=1)  # noqa: E741  the name that everybody knows
    c: float | None = Field(default=None, gt=0, description="of recursive (c,l)-diversity; for no other variant")

    @model_validator(mode="after")
    def _c_for_recursive(self) -> Self:
        if (self.variant == "recursive") != (self.c is not None):
            raise ValueError("c is needed for variant 'recursive' and for no other")
        if self.variant == "recursive" and not float(self.l).is_integer():
            raise ValueError(f"l of variant 'recursive' must be a whole number; got {self.l:g}")
        return self

    def threshold(self, variable: Variable) -> float:
        return self.l if self.c is None else self.c

    def model(self, variable: Variable, categories: Sequence[str]) -> SensitiveModel:
        if self.c is not None:
            return RecursiveLDiversity(variable.name, self.c, int(self.l))
        if self.variant == "entropy":
            return EntropyLDiversity(variable.name, self.l)
        return DistinctLDiversity(variable.name, ceil(self.l))

    def model_of_number(self, variable: Variable) -> SensitiveModel | None:
        return DistinctNearValues(variable.name, ceil(self.l), self.near) if self.variant == "distinct" else None

    def say(self, groups: Mapping[str, Any], worst: float, limit: float) -> Saying:
        if self.c is not None:
            return _SAYS.frequent(**groups, c=self.c, l=self.l)
        return (_SAYS.few if self.variant == "distinct" else _SAYS.few_effective)(**groups, l=self.l, fewest=worst)

    def describe(self) -> str:
        if self.c is not None:
            return (
                f"Within {self.who_share}, the most frequent value of {self.of_what} occurs less than {self.c:g} times "
                f"as often as number {self.l:g} by frequency and all rarer ones together (recursive l-diversity)."
            )
        kind = "different" if self.variant == "distinct" else "effectively different (by entropy)"
        return (
            f"{self.who_share[0].upper()}{self.who_share[1:]} show at least {self.l:g} {kind} values of {self.of_what} "
            "(l-diversity)."
        )
