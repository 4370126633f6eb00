"""Codes: values that stand for 'missing', among words and numbers, and the codes that a file labels.

A code list that somebody wrote names codes that nobody has, too, so a rare one in it tells of nobody. Programs also
make labels of the texts that they find: then every one is somebody's, and the rare ones single people out.
"""

import re
from collections.abc import Collection, Sequence
from decimal import Decimal
from itertools import pairwise

from schemas.reading.interval_categories import are_ages, intervals_in_order
from schemas.reading.usual_names import is_neutral
from sluice.ground import values
from sluice.ground.variables import Kind
from sluice.ground.visible_text import unseen
from sluice.reading.kind import ColumnSummary
from sluice.sources.dictionary_file import means_missing
from sluice.sources.tabular_source import ColumnDescription

_NUMERIC = (Kind.INTEGER, Kind.CONTINUOUS)
_DOUBTFUL = "99+|9+[678]|88+|77+|66+|[789]"
_GRADES = 12  # different numbers of a scale, at most
_LONG, _FAR = 3, 10  # digits of a code that is far from all others, and how many times as large it is
_FAR_FROM = 3  # different numbers beside it, at least: two may be codes themselves
_SMALL = tuple(f"-{digit}" for digit in range(1, 10))
_NEGATIVE = ("-7", "-8", "-9", "-66", "-77", "-88", "-97", "-98", "-99", "-999", "-9999")

_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]*)(\.0+)?")
_DIGITS = re.compile(f"{values.NUMBER}|{values.LEADING_ZERO}")


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


def negative_codes(column: ColumnSummary, said: ColumnDescription, minimum_cell: int) -> tuple[str, ...]:
    """Usual negative codes of enough records, in a column that has no other number below nought; and beside codes that
    a dictionary labels, all small negative ones that it does not: which of them are rare stays untold."""
    if column.kind not in _NUMERIC or not column.labels or column.smallest >= 0:
        return ()
    below = {label for label in column.labels if label.startswith("-")}
    if beside := _beside_labels(below, said):
        return beside
    if not {_whole(label) for label in below} <= set(_NEGATIVE) or any(
        column.labels[label] < minimum_cell for label in below
    ):
        return ()
    return tuple(sorted(below, key=lambda label: float(_whole(label))))


def _whole(label: str) -> str:
    """A number without decimals that are nought, as beside amounts: -99.00, 9999,0."""
    return re.sub(r"[.,]0+$", "", label)


def _numbers_of(column: ColumnSummary) -> dict[str, float]:
    """The numbers of a column by what is written."""
    pointed = {label: label.replace(column.decimal_mark, ".") for label in column.labels}
    return {label: float(text) for label, text in pointed.items() if values.is_number(text)}


def _beside_labels(below: set[str], said: ColumnDescription) -> tuple[str, ...]:
    """-1 to -9 where only codes from nought on are labelled, and no other number is below it."""
    labelled = said.labels and not any(code.startswith("-") for code in said.labels)
    return _SMALL if labelled and below and below <= {*_SMALL} else ()


def doubtful_codes(column: ColumnSummary, said: ColumnDescription, minimum_cell: int) -> tuple[str, ...]:
    """Values that may stand for missing, of enough records each: numbers such as 99, and codes that are not declared as
    missing but whose label says so. None whose label is an answer: 9 'Other'."""
    meant = {code: means_missing(means) for code, means in said.labels.items() if means.strip() != code}
    numbers = _doubtful_numbers(column, {code for code in meant if not meant[code]}, minimum_cell)
    labelled = (code for code in meant if meant[code] and not said.is_missing(code))
    often = (code for code in labelled if column.categories.get(code, 0) >= minimum_cell)
    return tuple(dict.fromkeys([*numbers, *often]))


def _doubtful_numbers(column: ColumnSummary, answers: Collection[str], minimum_cell: int) -> tuple[str, ...]:
    """99, 999, and 88, 888, 98 ... beside them: the largest numbers of the column, of enough records each and twice as
    large as the next; and 8 and 9 at the end of a scale of a few grades, with a gap before them."""
    if column.kind not in _NUMERIC or not column.labels:
        return ()
    size = _numbers_of(column)
    numbers = sorted(size, key=lambda label: size[label])
    found: list[str] = []
    while numbers and numbers[-1] not in answers and _is_doubtful(numbers[-1], column, minimum_cell):
        found.insert(0, numbers.pop())
    while found:
        if not numbers or _stand_apart([size[label] for label in numbers], size[found[0]], len(column.labels)):
            return tuple(found) if numbers else ()
        numbers.append(found.pop(0))
    return ()


def _is_doubtful(number: str, column: ColumnSummary, minimum_cell: int) -> bool:
    return re.fullmatch(_DOUBTFUL, _whole(number)) is not None and column.labels[number] >= minimum_cell


def far_codes(column: ColumnSummary, doubtful: tuple[str, ...]) -> tuple[str, ...]:
    """Those of three digits and more that are ten times as large as all other numbers: nobody's figure. A nearer one
    may be somebody's, such as a limit that an amount is cut at."""
    if (
        column.kind not in _NUMERIC
        or not doubtful
        or len(_whole(doubtful[0])) < _LONG
        or len(column.labels) < _FAR_FROM + len(doubtful)
    ):
        return ()
    return doubtful if known_span(column, doubtful)[1] <= float(_whole(doubtful[0])) / _FAR else ()


def _stand_apart(others: Sequence[float], code: float, different: int) -> bool:
    if code < 10:  # on a scale of grades without such a gap
        gaps = [right - left for left, right in pairwise(others)]
        return 2 < different <= _GRADES and code - others[-1] > max(gaps, default=1.0) and others[0] in (0, 1)
    return others[-1] < code / 2


def known_span(column: ColumnSummary, codes: tuple[str, ...]) -> tuple[float, float]:
    """Smallest and largest number that is no missing code."""
    if not codes or not column.labels:
        return column.smallest, column.largest
    numbers = [number for label, number in _numbers_of(column).items() if label not in codes]
    return (min(numbers), max(numbers)) if numbers else (column.smallest, column.largest)


_BY_CHANCE = 4  # labels that may be in the order of the alphabet by themselves
_MANY = 60  # labels that few records have each: of fewer they are rare categories


def labelled_codes(column: ColumnSummary, said: ColumnDescription) -> tuple[str, ...] | None:
    """The codes that the file labels, where these are all that occur; None where it labels none, or not all, or most
    labels say nothing but the number: 'under 1 year', 1, 2, 3 are numbers."""
    aside = {code for code in said.labels if said.is_missing(code) or code in column.marks}
    codes = tuple(code for code in said.labels if code not in aside and not unseen(code, one_line=True))
    if 2 * sum(said.labels[code].strip() == code for code in codes) > len(codes):
        return None
    found = set(column.categories) if codes and column.known else set()
    negative = _beside_labels({label for label in found if label.startswith("-")}, said)
    return codes if found and found <= {*codes, *negative, *column.marks} else None


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


def told_labels(column: ColumnSummary, said: ColumnDescription, minimum_cell: int) -> tuple[str, ...]:
    """Labelled codes, though others may have no label, whose labels say more than the code: those of a code list, and
    else those of enough records."""
    codes = tuple(
        code
        for code, means in said.labels.items()
        if means.strip() not in ("", code) and not said.is_missing(code) and not unseen(code, one_line=True)
    )
    if may_be_listed(codes, said, column, minimum_cell):
        return codes
    return tuple(code for code in codes if column.categories.get(code, 0) >= minimum_cell)


def are_names(codes: Sequence[str], column: ColumnSummary, minimum_cell: int) -> bool:
    """Whether most labels are of few records each, and many: of people, or of what they wrote."""
    rare = len(_rare(codes, column, minimum_cell))
    return rare > _MANY and 2 * rare > len(codes)


def with_codes_of(said: ColumnDescription, there: Sequence[str], decimal_mark: str = ".") -> ColumnDescription:
    """What is said, with each code as the values are written that are it: 1.0 or 01 where it was said of 1, and the
    other way round. Codes of a list that do not occur are written like those that do."""
    codes = dict.fromkeys([*said.labels, *said.missing_codes])
    met = _met(codes, there, decimal_mark) if codes else {}
    if all(value == code for value, code in met.items()):
        return said
    written: dict[str, list[str]] = {}
    for value, code in met.items():
        written.setdefault(code, []).append(value)
    endings = {found[1] or "" for value in there if (found := _WHOLE.fullmatch(value.replace(decimal_mark, ".")))}
    ending = endings.pop().replace(".", decimal_mark) if len(endings) == 1 else None
    for code in codes:
        if code not in written and ending is not None and (found := _WHOLE.fullmatch(code)):
            written[code] = [code.removesuffix(found[1] or "") + ending]

    def all_of(some: Sequence[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(value for code in some for value in written.get(code, [code])))

    labels = {value: means for code, means in said.labels.items() for value in written.get(code, [code])}
    missing = {name: all_of(getattr(said, name)) for name in ("missing_codes", "guessed_missing")}
    return said.model_copy(update={"labels": labels, **missing})


def _met(codes: Collection[str], there: Sequence[str], decimal_mark: str) -> dict[str, str]:
    """Which code a value is: the one that is written so, or that is the same number. Where 01 occurs beside 1, among
    the codes or the values, it is another one."""
    found = {value: value for value in there if value in codes}
    if len(found) == len(there):
        return found
    of_values = _by_number(there, decimal_mark)
    for number, same in _by_number(codes, ".").items():
        values_ = of_values.get(number, [])
        apart = any({True, False} == {*map(_has_zeros, each)} for each in (same, values_))
        found |= {value: same[0] for value in values_ if value not in found and not apart}
    return found


def _by_number(texts: Collection[str], decimal_mark: str) -> dict[Decimal, list[str]]:
    found: dict[Decimal, list[str]] = {}
    for text in texts:
        if _DIGITS.fullmatch(pointed := text.replace(decimal_mark, ".")):
            found.setdefault(Decimal(pointed), []).append(text)
    return found


def _has_zeros(code: str) -> bool:
    """Whether it begins with zeros that no number has."""
    return re.match("[+-]?0[0-9]", code) is not None


def kind_of_codes(codes: Sequence[str], said: ColumnDescription) -> Kind:
    ages = tuple(said.labels[code] for code in codes if not is_neutral(said.labels[code]))
    if said.measure == "ordinal" or (are_ages(ages) and len(ages) == len(codes) and intervals_in_order(ages) == ages):
        return Kind.ORDINAL
    return Kind.BINARY if len(codes) == 2 else Kind.NOMINAL


def _rare(codes: Sequence[str], column: ColumnSummary, minimum_cell: int) -> list[str]:
    return [code for code in codes if 0 < column.categories.get(code, 0) < minimum_cell]
