"""A first draft of a contract, guessed from the data: kinds, ranges and frequent categories, for a person to complete.

The draft is a document that travels: it is read, mailed and put under version control. So it holds no rare category, no
exact extreme and no count. The roles are left empty, and a contract with an empty role does not load: which variables
identify a person is not for a program to guess.
"""

import json
import math
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

import pandas as pd

from sluice.errors import DataError
from sluice.sources.sources import TabularSource
from sluice.variables import Kind, Role, as_label

MINIMUM_CELL = 10
"""A category that fewer records have is not written, nor is the range of fewer values."""

_MOST_CATEGORIES = 60
_MOST_DISTINCT = 10_000  # distinct values of a column that are counted; beyond, only its form and range are followed
_FEW_CODES = 12  # whole numbers with so few distinct values may be codes
_MISSING = ("?", "NA", "N/A", "n/a", "NULL", "null", "NaN", "nan", ".", "-")
_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_WHOLE = re.compile(r"[+-]?\d+(\.0*)?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}([T ].*)?")


@dataclass
class _Column:
    """What was seen of one column so far."""

    counts: Counter[str] = field(default_factory=Counter)
    many: bool = False
    empty: int = 0
    values: int = 0
    forms: Counter[str] = field(default_factory=Counter)  # number, whole, date
    smallest: float = math.inf
    largest: float = -math.inf
    first: str = "9999"
    last: str = ""
    codes: Counter[str] = field(default_factory=Counter)  # that look like 'missing'

    def see(self, series: "pd.Series[Any]", decimal_mark: str) -> None:
        counted = series.value_counts(dropna=True)
        self.empty += len(series) - int(counted.sum())
        for value, times in zip(counted.index.astype(object), counted, strict=True):
            text = _text(value).strip()
            self._see(text.replace(",", ".") if decimal_mark == "," and _COMMA.fullmatch(text) else text, int(times))
        if len(self.counts) > _MOST_DISTINCT:
            self.many = True
            self.counts = Counter(dict(self.counts.most_common(_MOST_CATEGORIES)))

    def _see(self, text: str, times: int) -> None:
        if not text:
            self.empty += times
        elif text in _MISSING:
            self.codes[text] += times
        else:
            self.values += times
            self.counts[text] += times
            if _DATE.fullmatch(text):
                self.forms["date"] += times
                self.first, self.last = min(self.first, text[:10]), max(self.last, text[:10])
            elif _NUMBER.fullmatch(text):
                number = float(text)
                self.forms["number"] += times
                self.forms["whole"] += times if _WHOLE.fullmatch(text) and abs(number) < 2**53 else 0
                self.smallest, self.largest = min(self.smallest, number), max(self.largest, number)


def draft_contract(source: TabularSource, dataset: str) -> str:
    """YAML of a contract for this source, with comments on what a person must decide or check.

    Raises DataError as the source does. Cost: one pass over the source; memory for at most 10,000 distinct values a
    column beside one batch.
    """
    names = source.column_names()
    if any(_NUMBER.fullmatch(name) for name in names):
        raise DataError(f"{source.title}: a column is named by a number. Is the first line a record, not the header?")
    columns = {name: _Column() for name in names}
    for batch in source.batches(names):
        for name in names:
            columns[name].see(batch[name], source.decimal_mark)
    lines = [
        "# Drafted from the data: complete it, then take these comments out. It does not load while a role is empty.",
        f"# Categories that fewer than {MINIMUM_CELL} records have are left out of this file, and ranges are rounded "
        "outward,",
        "# so that the draft tells nothing of single records. Add the other legal categories, or the data are refused.",
        f"dataset: {_quoted(dataset)}",
        'version: "1"',
        'description: ""',
        "record_key: []  # the variables that together name one record",
        "variables:",
    ]
    for name, column in columns.items():
        lines += _variable(name, column)
    return "\n".join(lines) + "\n"


def _variable(name: str, column: _Column) -> Iterable[str]:
    kind, remark = _kind(column)
    yield f"  - name: {_quoted(name)}"
    yield f"    kind: {kind}{remark}"
    yield f"    role: # {' | '.join(Role)}"
    yield '    description: ""'
    if kind.is_numeric:
        yield "    unit: # for instance years, euros a month"
    codes = [code for code, times in column.codes.items() if times >= MINIMUM_CELL]
    if codes:
        yield f"    missing_codes: [{', '.join(map(_quoted, sorted(codes)))}]  # check: may also be a category"
    if column.empty or column.codes:
        yield "    nullable: true"
    yield from _range(kind, column)
    frequent = _frequent(column)
    if kind.is_categorical and frequent and len(column.counts) <= _MOST_CATEGORIES:
        yield "    categories:"
        yield from (f"      - {_quoted(category)}" for category in frequent)
        if len(frequent) < len(column.counts):
            yield "      # rarer categories are in the data and not listed here"
    elif kind is Kind.NOMINAL:
        yield "    # categories: too many or too rare to be listed; without this line all that are found are taken"


def _kind(column: _Column) -> tuple[Kind, str]:
    """The kind a column seems to have, and a remark on what it may be instead."""
    n, distinct = column.values, len(column.counts)
    frequent = len(_frequent(column)) == distinct and not column.many
    if not n:
        return Kind.TEXT, "  # no value was found: leave this variable out, a contract asks for at least one"
    if column.forms["date"] == n:
        return Kind.DATE, ""
    if distinct == 2 and frequent:
        return Kind.BINARY, ""
    if column.forms["whole"] == n:
        if distinct <= _FEW_CODES and frequent and distinct > 2:
            return Kind.ORDINAL, "  # check: nominal if the codes have no order, integer if they count something"
        return (
            Kind.INTEGER,
            "  # check: ordinal or nominal if these are codes"
            if distinct <= _MOST_CATEGORIES and not column.many
            else "",
        )
    if column.forms["number"] == n:
        return Kind.CONTINUOUS, ""
    if column.many or (distinct > _MOST_CATEGORIES and distinct > n / 10):
        return Kind.TEXT, "  # check: most values are different"
    return Kind.NOMINAL, "  # check: ordinal if the categories have an order; then list them in it"


def _frequent(column: _Column) -> list[str]:
    """Categories that enough records have, numbers in rising order, texts by alphabet."""
    labels = [label for label, times in column.counts.items() if times >= MINIMUM_CELL]
    if column.forms["number"] == column.values:
        return list(dict.fromkeys(as_label(float(label)) for label in sorted(labels, key=float)))
    return sorted(labels)


def _range(kind: Kind, column: _Column) -> Iterable[str]:
    if column.values < MINIMUM_CELL:
        return
    if kind.is_numeric:
        span = column.largest - column.smallest or abs(column.largest) or 1.0
        step = 10.0 ** math.floor(math.log10(span))
        natural = column.smallest >= 0 and column.smallest < step  # nought says nothing of anyone
        minimum = 0.0 if natural else _below(column.smallest, step)
        yield f"    minimum: {as_label(float(f'{minimum:.12g}'))}  # rounded outward; check"
        yield f"    maximum: {as_label(float(f'{-_below(-column.largest, step):.12g}'))}  # rounded outward; check"
    elif kind is Kind.DATE:
        first = date.fromisoformat(column.first).replace(month=1, day=1)
        last = date.fromisoformat(column.last).replace(month=12, day=31)
        beyond = last + timedelta(days=365) if column.last[5:] == "12-31" and last.year < 9998 else last
        before = first - timedelta(days=1) if column.first[5:] == "01-01" and first.year > 1 else first
        yield f'    minimum: "{before.replace(month=1, day=1)}"  # rounded outward; check'
        yield f'    maximum: "{beyond.replace(month=12, day=31)}"  # rounded outward; check'


def _below(number: float, step: float) -> float:
    """The nearest multiple of `step` that is truly below."""
    return (math.ceil(number / step) - 1) * step


def _text(value: object) -> str:
    return value.isoformat() if isinstance(value, date) else str(as_label(value))


def _quoted(text: str) -> str:
    """Text as YAML takes it whatever it holds: JSON's strings are YAML's double-quoted ones."""
    return json.dumps(text, ensure_ascii=False)
