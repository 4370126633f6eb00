"""Codes: values that stand for 'missing', among words and numbers, and the codes that a file labels.

A code list that somebody wrote names codes that nobody has, too, so a rare one in it tells of nobody. Programs also
make labels of the texts that they find: then every one is somebody's, and the rare ones single people out.
"""

import re
from collections.abc import Sequence
from itertools import pairwise

from sluice.ground import values
from sluice.ground.variables import Kind
from sluice.ground.visible_text import unseen
from sluice.reading.kind import ColumnSummary
from sluice.sources.tabular_source import ColumnDescription

_DOUBTFUL = "99+|9+[678]|88+|77+|66+|[789]"
_GRADES = 12  # different numbers of a scale, at most
_NEGATIVE = ("-7", "-8", "-9", "-66", "-77", "-88", "-97", "-98", "-99", "-999", "-9999")


def marks_of(column: ColumnSummary, minimum_cell: int) -> tuple[str, ...]:
    """The marks that stand for 'missing' in this column. Where a rare one is among them all usual marks are given, so
    that which of them it is stays untold."""
    if column.kind is Kind.ITEMS or not column.marks or not column.known:
        return ()
    if all(times >= minimum_cell for times in column.marks.values()):
        return tuple(sorted(column.marks))
    return tuple(dict.fromkeys([*values.MISSING_MARKS, *sorted(column.marks)]))


def declared_codes(column: ColumnSummary, said: ColumnDescription, minimum_cell: int) -> tuple[str, ...]:
    """What the source itself declares as missing, and what of it occurs. Where a rare letter without a label occurs,
    all letters are given; a rare value within a range that cannot be listed is left out, since it is somebody's."""
    listed = tuple(code for code in said.declared_missing if code[0] != "." or code in said.labels)
    rare = any(times < minimum_cell and code not in listed for code, times in column.declared.items())
    declared = said.declared_missing if rare else listed
    often = [code for code, times in column.declared.items() if times >= minimum_cell]
    return tuple(dict.fromkeys([*declared, *often]))


def negative_codes(column: ColumnSummary, minimum_cell: int) -> tuple[str, ...]:
    """Usual negative codes of enough records, in a column that has no other number below nought."""
    if column.kind is not Kind.INTEGER or not column.labels or column.smallest >= 0:
        return ()
    below = {label for label in column.labels if label.startswith("-")}
    if not below <= set(_NEGATIVE) or any(column.labels[label] < minimum_cell for label in below):
        return ()
    return tuple(sorted(below, key=float))


def doubtful_codes(column: ColumnSummary, minimum_cell: int) -> tuple[str, ...]:
    """99, 999, and 88, 888, 98 ... beside them: the largest numbers of the column, of enough records each and twice as
    large as the next; and 8 and 9 at the end of a scale of a few grades, with a gap before them."""
    if column.kind is not Kind.INTEGER or not column.labels:
        return ()
    numbers = sorted((label for label in column.labels if values.is_number(label)), key=float)
    found: list[str] = []
    while numbers and re.fullmatch(_DOUBTFUL, numbers[-1]) and column.labels[numbers[-1]] >= minimum_cell:
        found.insert(0, numbers.pop())
    while found:
        if not numbers or _stand_apart([float(label) for label in numbers], float(found[0]), len(column.labels)):
            return tuple(found) if numbers else ()
        numbers.append(found.pop(0))
    return ()


def _stand_apart(others: Sequence[float], code: float, different: int) -> bool:
    if code < 10:  # on a scale of grades without such a gap
        gaps = [right - left for left, right in pairwise(others)]
        return 2 < different <= _GRADES and code - others[-1] > max(gaps, default=1.0) and others[0] in (0, 1)
    return others[-1] < code / 2


def known_span(column: ColumnSummary, codes: tuple[str, ...]) -> tuple[float, float]:
    """Smallest and largest number that is no missing code."""
    if not codes or not column.labels:
        return column.smallest, column.largest
    numbers = [float(label) for label in column.labels if label not in codes and values.is_number(label)]
    return (min(numbers), max(numbers)) if numbers else (column.smallest, column.largest)


_BY_CHANCE = 4  # labels that may be in the order of the alphabet by themselves
_MANY = 60  # labels that few records have each: of fewer they are rare categories


def labelled_codes(column: ColumnSummary, said: ColumnDescription) -> tuple[str, ...] | None:
    """The codes that the file labels, where these are all that occur; None where it labels none, or not all."""
    codes = tuple(code for code in said.labels if not said.is_missing(code) and not unseen(code, one_line=True))
    return codes if codes and column.known and column.categories and set(column.categories) <= set(codes) else None


def may_be_listed(codes: Sequence[str], said: ColumnDescription, column: ColumnSummary, minimum_cell: int) -> bool:
    """Whether the codes are those of a code list that somebody wrote, the same whoever is in the file; or none is rare,
    or as many as are rare occur nowhere, so that nobody knows which do.

    A program that makes labels of the texts it finds numbers them in the order of the alphabet and leaves none out.
    """
    unused = sum(code not in column.categories for code in codes)
    if (rare := len(_rare(codes, column, minimum_cell))) <= unused:
        return True
    texts = [said.labels[code].casefold() for code in codes]
    made = not unused and len(codes) > _BY_CHANCE and texts == sorted(texts)
    return not made and 3 * rare <= len(codes)


def are_names(codes: Sequence[str], column: ColumnSummary, minimum_cell: int) -> bool:
    """Whether most labels are of few records each, and many: of people, or of what they wrote."""
    rare = len(_rare(codes, column, minimum_cell))
    return rare > _MANY and 2 * rare > len(codes)


def kind_of_codes(codes: Sequence[str], said: ColumnDescription) -> Kind:
    if said.measure == "ordinal":
        return Kind.ORDINAL
    return Kind.BINARY if len(codes) == 2 else Kind.NOMINAL


def _rare(codes: Sequence[str], column: ColumnSummary, minimum_cell: int) -> list[str]:
    return [code for code in codes if 0 < column.categories.get(code, 0) < minimum_cell]
