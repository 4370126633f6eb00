"""A first draft of a contract, guessed from the data: kinds, ranges and frequent categories, for a person to complete.

The draft is a document that travels: it is read, mailed and put under version control. So it holds no rare category, no
exact extreme and no count. The roles are left empty, and a contract with an empty role does not load: which variables
identify a person is not for a program to guess.
"""

import math
import re
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from types import MappingProxyType

from sluice.errors import DataError
from sluice.reading.kind import ColumnSummary
from sluice.reading.values import LEADING_ZERO, NUMBER
from sluice.reading.visible_text import json_text
from sluice.sources.description import ColumnDescription, Descriptions
from sluice.sources.tabular_source import TabularSource
from sluice.variables import Kind, Role, as_label

MINIMUM_CELL = 10
"""A category that fewer records have is not written, nor is the range of fewer values."""

_MOST_CATEGORIES = 60
_FEW_CODES = 12  # whole numbers with so few distinct values may be codes
_YEARS = (1850, 2150)  # of dates that may be anybody's
_REMARK = {
    Kind.TEXT: "  # check: most values are different",
    Kind.NOMINAL: "  # check: ordinal if the categories have an order; then list them in it",
}


def draft_contract(source: TabularSource, dataset: str, described: Descriptions = MappingProxyType({})) -> str:
    """YAML of a contract for this source, with comments on what a person must decide or check.

    described : what the file itself says of its columns: labels and missing codes are taken from it

    Raises DataError as the source does. Cost: one pass over the source; memory for at most 10,000 distinct values a
    column and one batch.
    """
    names = source.column_names()
    if any(re.fullmatch(f"{NUMBER}|{LEADING_ZERO}", name) for name in names):
        raise DataError(f"{source.title}: a column is named by a number. Is the first line a record, not the header?")
    if len(names) == 1 and (other := re.search(r"[,;|\t]", names[0])):
        raise DataError(f"{source.title}: there is one column, whose name holds {other[0]!r}. Is that the separator?")
    said = {name: described.get(name, ColumnDescription()) for name in names}
    columns = {
        name: ColumnSummary(source.decimal_mark, said[name].missing_codes, said[name].missing_ranges, name)
        for name in names
    }
    for batch in source.batches(names):
        for name in names:
            columns[name].add(batch[name])
    lines = [
        "# Drafted from the data: complete it, then take these comments out. It does not load while a role is empty.",
        f"# Categories that fewer than {MINIMUM_CELL} records have are left out of this file, and ranges are rounded "
        "outward,",
        "# so that the draft gives no single record away. Add the other legal categories, or the data are refused.",
        f"dataset: {_quoted(dataset)}",
        'version: "1"',
        'description: ""',
        "record_key: []  # the variables that together name one record",
        "# Who knows what of a person; a policy may ask what each of them finds, and what they then learn:",
        "# knowledge:",
        "#   register: []  # for instance sex, date of birth, region",
        "#   employer: []",
        "variables:",
    ]
    for name, column in columns.items():
        lines += _variable(name, column, said[name])
    return "\n".join(lines) + "\n"


def _variable(name: str, column: ColumnSummary, said: ColumnDescription) -> Iterable[str]:
    codes = _labelled_codes(column, said)
    kind = column.kind if codes is None else _kind_of_codes(codes, said)
    remark = _REMARK.get(kind, "")
    if not column.known:
        remark = "  # no value was found: leave this variable out, a contract asks for at least one"
    elif codes is not None:
        remark = "  # by the value labels of the file; check"
    elif column.classification is not None:
        remark = f"  # codes of a classification: {column.classification}; check"
    elif kind is Kind.INTEGER and column.distinct <= _MOST_CATEGORIES:
        remark = "  # check: ordinal or nominal if these are codes"
    if kind in (Kind.TEXT, Kind.NOMINAL) and column.separator:
        remark = f"  # check: items if a cell holds several values; then add separator: {_quoted(column.separator)}"
    yield f"  - name: {_quoted(name)}"
    yield f"    kind: {kind}{remark}"
    yield f"    role: # {' | '.join(Role)}"
    yield f"    description: {_quoted(said.label)}"
    if kind.is_numeric:
        yield "    unit: # for instance years, euros a month"
    yield from _missing(column, said)
    if codes is None:
        yield from _range(kind, column)
        yield from _categories(kind, column)
    else:
        yield "    categories:"
        yield from (f"      - {_quoted(code)}" for code in codes)
    meant = [code for code in said.labels if code in (codes or ()) or (said.is_missing(code) and codes is not None)]
    if meant:
        yield "    labels:"
        yield from (f"      {_quoted(code)}: {_quoted(said.labels[code])}" for code in meant)


def _missing(column: ColumnSummary, said: ColumnDescription) -> Iterable[str]:
    """Codes for missing: what the file declares and shows, and marks that enough records have."""
    declared = [code for code in said.declared_missing if code[0] != "." or code in said.labels]
    declared += [code for code in column.declared if code not in declared]
    marks = [code for code in column.missing_codes if code not in declared and column.marks[code] >= MINIMUM_CELL]
    if declared:
        yield f"    missing_codes: {_listed([*declared, *marks])}  # as the file declares them"
    elif marks:
        yield f"    missing_codes: {_listed(marks)}  # check: may also be a category"
    if column.nullable or declared:
        yield "    nullable: true"


def _labelled_codes(column: ColumnSummary, said: ColumnDescription) -> list[str] | None:
    """The codes that the file labels, where these are all that occur: rare ones, too, since the file lists them."""
    codes = [code for code in said.labels if not said.is_missing(code)]
    return codes if codes and column.known and set(column.categories) <= set(codes) and column.categories else None


def _kind_of_codes(codes: Sequence[str], said: ColumnDescription) -> Kind:
    if said.measure == "ordinal":
        return Kind.ORDINAL
    return Kind.BINARY if len(codes) == 2 else Kind.NOMINAL


def _categories(kind: Kind, column: ColumnSummary) -> Iterable[str]:
    """The categories that enough records have: as such, of whole numbers as a proposal."""
    all_found = column.categories
    frequent = [label for label, times in all_found.items() if times >= MINIMUM_CELL]
    few = 0 < len(all_found) <= _MOST_CATEGORIES
    if kind is Kind.ITEMS:
        yield "    # items: without this line all that are found are taken; or give a hierarchy of them"
    elif column.truth_categories:
        yield f"    categories: {_listed(column.truth_categories)}"
    elif kind is Kind.INTEGER and 0 < len(frequent) == len(all_found) <= _FEW_CODES:
        labels = dict.fromkeys(as_label(float(label.replace(",", "."))) for label in frequent)
        yield f"    # if these are codes: categories: {_listed(sorted(labels, key=float))}, without minimum and maximum"
        values = sorted(map(float, labels))
        if len(values) > 1 and re.fullmatch("99+", last := as_label(values[-1])) and values[-2] < values[-1] / 2:
            yield f"    # check: {last} may stand for missing; then it belongs into missing_codes"
    elif kind is Kind.BINARY and len(frequent) < len(all_found):
        yield "    # categories: too rare to be listed; without this line the two that are found are taken"
    elif kind.is_categorical and few and frequent:
        yield "    categories:"
        yield from (f"      - {_quoted(category)}" for category in sorted(frequent))
        if len(frequent) < len(all_found):
            yield "      # rarer categories are in the data and not listed here"
        for mark in sorted(set(frequent) & set(column.marks)):
            yield f"      # check: {_quoted(mark)} may stand for missing; then it belongs into missing_codes"
    elif kind is Kind.NOMINAL:
        yield "    # categories: too many or too rare to be listed; without this line all that are found are taken"


def _range(kind: Kind, column: ColumnSummary) -> Iterable[str]:
    if column.known < MINIMUM_CELL:
        return
    if kind.is_numeric and column.smallest <= column.largest:
        span = column.largest - column.smallest or abs(column.largest) or 1.0
        step = 10.0 ** math.floor(math.log10(span))
        natural = column.smallest >= 0 and column.smallest < step  # nought says nothing of anyone
        minimum = 0.0 if natural else _below(column.smallest, step)
        yield f"    minimum: {as_label(float(f'{minimum:.12g}'))}  # rounded outward; check"
        yield f"    maximum: {as_label(float(f'{-_below(-column.largest, step):.12g}'))}  # rounded outward; check"
    elif kind is Kind.DATE:
        if not _YEARS[0] <= int(column.first[:4]) <= int(column.last[:4]) <= _YEARS[1]:
            yield "    # check: the first or last date may mean missing or no end; then it belongs into missing_codes"
            return
        first = date.fromisoformat(column.first).replace(month=1, day=1)
        last = date.fromisoformat(column.last).replace(month=12, day=31)
        beyond = last + timedelta(days=365) if column.last[5:] == "12-31" and last.year < 9998 else last
        before = first - timedelta(days=1) if column.first[5:] == "01-01" and first.year > 1 else first
        yield f'    minimum: "{before.replace(month=1, day=1)}"  # rounded outward; check'
        yield f'    maximum: "{beyond.replace(month=12, day=31)}"  # rounded outward; check'


def _below(number: float, step: float) -> float:
    """The nearest multiple of `step` that is truly below."""
    return (math.ceil(number / step) - 1) * step


def _listed(texts: Iterable[str]) -> str:
    return f"[{', '.join(map(_quoted, texts))}]"


def _quoted(text: str) -> str:
    """Text as YAML takes it whatever it holds: JSON's strings are YAML's double-quoted ones."""
    return json_text(text)
