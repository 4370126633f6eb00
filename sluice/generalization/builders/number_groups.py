"""Intervals of whole numbers: of widths that nest, with open ends, or between cut points that are written out.

Source: Prasser, Eicher, Spengler, Bild and Kuhn (2020), the interval-based hierarchies of ARX. Differs from them: every
interval begins at a multiple of its width, so that neither smallest nor largest value shows.

The names of intervals of numbers: 'under 20', '20 to 29' and '30 and over'.

Groups with names of their own, each of ranges of numbers or codes: chapters of ICD-9, recodings of mu-ARGUS.
"""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Annotated, ClassVar, Self

import numpy as np
from pydantic import Field, model_validator

from sluice.generalization.builders.builder import Groups, HierarchyBuilder, Levels, whole_numbers
from sluice.ground.arrays import FloatArray
from sluice.ground.errors import DocumentError
from sluice.ground.values import is_number
from sluice.ground.variables import Kind, Label, Variable, as_label

_RANGE = re.compile(r"up to (?P<most>\S+)|(?P<low>\S+) to (?P<high>\S+)|(?P<least>\S+) and over|(?P<only>.+)")
_Holds = Callable[[str], bool]


class Intervals(HierarchyBuilder):
    """Numbers in intervals of equal width, level by level: 5, 10 and 20 years."""

    intervals: tuple[int, ...] = Field(
        min_length=1,
        description="width of the intervals of each level, each a multiple of the one before",
    )
    origin: int = Field(default=0, description="a number at which an interval of every level begins")
    lowest: int | None = Field(default=None, description="all numbers below it are one group at every level")
    highest: int | None = Field(default=None, description="it and all numbers above it are one group at every level")

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.INTEGER, Kind.ORDINAL, Kind.NOMINAL)

    @model_validator(mode="after")
    def _nested(self) -> Self:
        if self.intervals[0] < 1 or any(wide <= narrow or wide % narrow for narrow, wide in pairwise(self.intervals)):
            got = ", ".join(map(str, self.intervals))
            raise ValueError(f"intervals must rise from at least 1, each a multiple of the one before; got {got}")
        if self.lowest is not None and self.highest is not None and self.lowest >= self.highest:
            raise ValueError(f"'lowest' must be below 'highest', {self.highest}; got {self.lowest}")
        return self

    def grouped(self, variable: Variable, leaves: tuple[str, ...]) -> Levels:
        numbers = whole_numbers(variable, leaves)
        first, last = int(numbers.min()), int(numbers.max())
        levels = []
        for width in self.intervals:
            begin = self.origin + (first - self.origin) // width * width
            cuts = [float(cut) for cut in range(begin, last + width + 1, width)]
            if self.lowest is not None:
                cuts = [-np.inf, float(self.lowest), *(cut for cut in cuts if cut > self.lowest)]
            if self.highest is not None:
                cuts = [*(cut for cut in cuts if cut < self.highest), float(self.highest), np.inf]
            names = labels(cuts, whole=True)
            places = np.searchsorted(np.array(cuts), numbers, side="right") - 1
            levels.append([names[place] for place in places])
        return levels


class CutPoints(HierarchyBuilder):
    """Numbers in intervals of any width: a new one begins at each cut point."""

    cuts: tuple[Annotated[tuple[int, ...], Field(min_length=1)], ...] = Field(
        min_length=1,
        description="cut points of each level in rising order, from the narrowest level; a wider level "
        "has only cut points of the one before",
    )

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.INTEGER, Kind.ORDINAL, Kind.NOMINAL)

    @model_validator(mode="after")
    def _nested(self) -> Self:
        for level, cuts in enumerate(self.cuts, start=1):
            if any(low >= high for low, high in pairwise(cuts)):
                raise ValueError(f"cuts of level {level} must rise strictly; got {', '.join(map(str, cuts))}")
        for level, (narrow, wide) in enumerate(pairwise(self.cuts), start=2):
            if new := sorted(set(wide) - set(narrow)):
                raise ValueError(f"cuts of level {level} must be among those of level {level - 1}; got {new[0]}")
        return self

    def grouped(self, variable: Variable, leaves: tuple[str, ...]) -> Levels:
        numbers = whole_numbers(variable, leaves)
        levels = []
        for cuts in self.cuts:
            names = labels([-np.inf, *map(float, cuts), np.inf], whole=True)
            levels.append([names[place] for place in np.searchsorted(cuts, numbers, side="right")])
        return levels


def labels(cuts: FloatArray | Sequence[float], whole: bool) -> tuple[str, ...]:
    """'under 20', '20 to 29' (of fractions '20 to under 30'), '30 and over'.

    cuts : shape (k + 1,), rising; -inf or inf for an open end
    """
    return tuple(interval_label(low, high, whole) for low, high in pairwise(cuts))


def interval_label(low: float, high: float, whole: bool) -> str:
    if low == -np.inf:
        return f"under {as_label(float(high))}"
    if high == np.inf:
        return f"{as_label(float(low))} and over"
    if not whole:
        return f"{as_label(float(low))} to under {as_label(float(high))}"
    first, last = as_label(float(low)), as_label(float(high - 1))
    return str(first) if first == last else f"{first} to {last}"


class Ranges(HierarchyBuilder):
    """Values in named groups of ranges: 'children: up to 14', 'adults: 15 to 64', 'digestive: 520 to 579'."""

    ranges: tuple[dict[Label, Label], ...] = Field(
        min_length=1,
        description="groups of each level, from the narrowest: name: ranges, separated by commas, each 'a to b', "
        "'up to b', 'a and over' or a single value. Numbers are compared as such; codes by their first characters, as "
        "many as the range has, so that '240 to 279' holds 250.83",
    )
    others: Label | None = Field(default=None, description="the group of all values in no range")

    kinds: ClassVar[tuple[Kind, ...]] = (Kind.INTEGER, Kind.NOMINAL, Kind.ORDINAL)

    def grouped(self, variable: Variable, leaves: tuple[str, ...]) -> Levels:
        as_numbers = all(map(is_number, leaves))
        return [
            self._level(f"hierarchy of '{variable.name}', level {level}", given, leaves, as_numbers)
            for level, given in enumerate(self.ranges, start=1)
        ]

    def _level(self, where: str, given: dict[str, str], leaves: tuple[str, ...], as_numbers: bool) -> Groups:
        holds = {
            name: [_reader(where, name, part.strip(), as_numbers) for part in ranges.split(",")]
            for name, ranges in given.items()
        }
        groups, left = [], 0
        for leaf in leaves:
            names = [name for name, parts in holds.items() if any(part(leaf) for part in parts)]
            if len(names) > 1:
                raise DocumentError(f"'{names[0]}' and '{names[1]}' have a value in common", field=where)
            left += not names
            groups.append(names[0] if names else self.others or "")
        if left and self.others is None:
            raise DocumentError(
                f"{left} of {len(leaves)} values lie in no range; add them, or name their group as 'others'",
                field=where,
            )
        return groups


def _reader(where: str, name: str, text: str, as_numbers: bool) -> _Holds:
    """Whether a value lies in one range. Raises DocumentError for a range that is none."""
    found = _RANGE.fullmatch(text)
    if found is None:
        raise DocumentError(f"'{name}' has an empty range; write such as '15 to 64'", field=where)
    low, high = found["low"] or found["least"], found["high"] or found["most"]
    if found["only"]:
        return found["only"].__eq__
    if as_numbers:
        if not all(is_number(end) for end in (low, high) if end) or (low and high and float(low) > float(high)):
            raise DocumentError(
                f"'{name}' must have ranges of rising numbers such as '15 to 64'; got '{text}'", field=where
            )
        least, most = float(low or "-inf"), float(high or "inf")
        return lambda leaf: least <= float(leaf) <= most
    if low and high and (len(low) != len(high) or low > high):
        raise DocumentError(
            f"'{name}' must have ranges of rising codes, both ends equally long, such as '001 to 139'; got '{text}'",
            field=where,
        )
    return lambda leaf: (
        (low is None or _begins(leaf, low) >= low) and (high is None or "" < _begins(leaf, high) <= high)
    )


def _begins(code: str, end: str) -> str:
    """As many characters of a code as the end of a range has; '' for a shorter code, which lies in no range."""
    return code[: len(end)] if len(code) >= len(end) else ""
