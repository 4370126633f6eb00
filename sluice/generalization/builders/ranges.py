"""Groups with names of their own, each of ranges of numbers or codes: chapters of ICD-9, recodings of mu-ARGUS."""

import re
from collections.abc import Callable
from typing import ClassVar

from pydantic import Field

from sluice.generalization.builders.builder import Groups, HierarchyBuilder, Levels
from sluice.ground.errors import DocumentError
from sluice.ground.values import is_number
from sluice.ground.variables import Kind, Label, Variable

_RANGE = re.compile(r"up to (?P<most>\S+)|(?P<low>\S+) to (?P<high>\S+)|(?P<least>\S+) and over|(?P<only>.+)")
_Holds = Callable[[str], bool]


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
