"""Values that stand for 'missing': marks among words and numbers, and the numbers that are used for it."""

import re

from sluice.ground import values
from sluice.ground.variables import Kind
from sluice.reading.kind import ColumnSummary
from sluice.sources.description import ColumnDescription

_NEGATIVE = ("-7", "-8", "-9", "-66", "-77", "-88", "-97", "-98", "-99", "-999", "-9999")


def marks_of(column: ColumnSummary, minimum_cell: int) -> tuple[str, ...]:
    """The marks that stand for 'missing' in this column. Where a rare one is among them all usual marks are given, so
    that which of them it is stays untold."""
    if column.kind is Kind.ITEMS or not column.marks or not column.known:
        return ()
    if all(times >= minimum_cell for times in column.marks.values()):
        return tuple(sorted(column.marks))
    return values.MISSING_MARKS


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
    """99, 999 ...: the largest number of the column, of enough records and twice as large as the next."""
    if column.kind is not Kind.INTEGER or not column.labels:
        return ()
    numbers = sorted((label for label in column.labels if values.is_number(label)), key=float)
    if len(numbers) < 2 or column.labels[numbers[-1]] < minimum_cell:
        return ()
    last, before = numbers[-1], float(numbers[-2])
    return (last,) if re.fullmatch("99+", last) and before < float(last) / 2 else ()


def known_span(column: ColumnSummary, codes: tuple[str, ...]) -> tuple[float, float]:
    """Smallest and largest number that is no missing code."""
    if not codes or not column.labels:
        return column.smallest, column.largest
    numbers = [float(label) for label in column.labels if label not in codes and values.is_number(label)]
    return (min(numbers), max(numbers)) if numbers else (column.smallest, column.largest)
