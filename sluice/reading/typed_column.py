"""One column of raw values as the typed column of its variable (sluice.ground.variables), and what was not read."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sluice.ground import values
from sluice.ground.values import LIST_MARK
from sluice.ground.variables import Kind, Variable
from sluice.items.item_sets import ItemSets, joined, split

_EXACT = 2.0**53  # to which a float keeps every whole number
Problems = dict[str, pa.BooleanArray]
"""Which cells have a problem, by check, where any has: number, digits, decimal, leading_zero, whole_number, date,
nanoseconds, category, item, separator."""


def typed_array(raw: pa.Array, variable: Variable, decimal_mark: str = ".") -> tuple[pa.Array, Problems]:
    """The values as the variable has them, missing where there is none or it cannot be read; and what cannot.

    raw     : text or native values, see `values.plain_array`
    returns : float64, int64, timestamps, text, or a dictionary: of the declared categories (else of those found,
              sorted), or of canonical texts of sets
    cost    : O(n)
    """
    if values.is_text(raw):  # what a text means is found out once
        raw = raw.dictionary_encode()
    places = None
    if pa.types.is_dictionary(raw.type):
        raw, places = raw.dictionary, raw.indices
    match variable.kind:
        case Kind.CONTINUOUS | Kind.INTEGER:
            typed, problems = _numbers(raw, variable, decimal_mark)
        case Kind.DATE:
            typed, problems = _dates(raw, variable)
        case Kind.TEXT:
            typed, problems = _labels(raw, variable), {}
        case Kind.ITEMS:
            typed, problems = _items(raw, variable)
        case _:
            typed, problems = _categories(raw, variable, decimal_mark)
    if places is not None:
        typed = typed.take(places)
        problems = {check: cells.take(places) for check, cells in problems.items()}
    return typed, {check: cells for check, cells in problems.items() if pc.any(cells).as_py()}


def as_series(typed: pa.Array, variable: Variable) -> "pd.Series[Any]":
    """What `typed_array` made, in the dtype of the variable's kind."""
    if isinstance(typed, pa.DictionaryArray):
        codes = pc.fill_null(typed.indices, -1).to_numpy(zero_copy_only=False)
        categories = pd.Index(typed.dictionary.to_pylist(), dtype="str")
        return pd.Series(pd.Categorical.from_codes(codes, categories, ordered=variable.kind is Kind.ORDINAL))
    whole = {pa.int64(): pd.Int64Dtype()}.get if variable.kind is Kind.INTEGER else None
    series: pd.Series[Any] = typed.to_pandas(types_mapper=whole)
    return series


def _numbers(raw: pa.Array, variable: Variable, decimal_mark: str) -> tuple[pa.Array, dict[str, pa.Array]]:
    """A missing code may be spelled otherwise than declared: 99 as 99.00."""
    problems = {}
    if values.is_text(raw):
        raw = values.with_decimal_point(_labels(raw, variable), decimal_mark)
        numbers, whole = values.read_numbers(raw), values.read_whole_numbers(raw)
        problems["decimal"] = values.is_decimal_comma(raw)
        if variable.kind is Kind.CONTINUOUS:  # an integer is read to its last digit
            problems["digits"] = values.inexact_texts(raw, numbers)
        problems["leading_zero"] = values.fullmatch(raw, values.LEADING_ZERO)
        strange = pc.and_not(numbers.is_null(), pc.or_(problems["decimal"], problems["leading_zero"]))
    else:
        try:
            numbers = values.floats(raw)
            if pa.types.is_decimal(raw.type):
                whole = values.read_whole_numbers(raw.cast(pa.string()))
                problems["digits"] = values.inexact_decimals(raw, numbers)
                if variable.kind is Kind.INTEGER:  # read to its last digit
                    problems["digits"] = pc.and_(whole.is_null(), problems["digits"])
            else:
                if variable.kind is Kind.CONTINUOUS and pa.types.is_integer(raw.type):
                    problems["digits"] = values.inexact_integers(raw, numbers)
                whole = raw if pa.types.is_signed_integer(raw.type) else values.whole_numbers(numbers)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            numbers, whole = pa.nulls(len(raw), pa.float64()), pa.nulls(len(raw), pa.int64())
        strange = numbers.is_null()
    infinite = pc.fill_null(pc.invert(pc.is_finite(numbers)), False)
    problems["number"] = pc.and_(raw.is_valid(), pc.or_(strange, infinite))
    codes = [float(code) for code in variable.missing_codes if values.is_number(code)]
    gone = pc.is_in(numbers, pa.array(codes, pa.float64()))
    long = pc.and_(gone, pc.greater_equal(pc.abs(numbers), _EXACT))  # two codes of 17 digits are one float
    if pc.any(long).as_py():
        texts = values.trimmed_texts(raw.filter(long))
        gone = pc.replace_with_mask(gone, long, values.are_exactly(texts, variable.missing_codes))
    gone = pc.or_(infinite, pc.fill_null(gone, False))
    if "digits" in problems:
        problems["digits"] = pc.and_not(problems["digits"], gone)
    numbers = pc.if_else(gone, None, numbers)
    if variable.kind is Kind.CONTINUOUS:
        return numbers, problems
    whole = pc.if_else(pc.is_null(numbers), None, whole).cast(pa.int64())
    return whole, problems | {"whole_number": pc.and_(numbers.is_valid(), whole.is_null())}


def _dates(raw: pa.Array, variable: Variable) -> tuple[pa.Array, dict[str, pa.Array]]:
    problems = {}
    if pa.types.is_date(raw.type) or pa.types.is_timestamp(raw.type):
        dates = values.wall_clock(raw)
        problems["nanoseconds"] = values.has_nanoseconds(raw)
    elif values.is_text(raw) or variable.date_format is not None:  # 20241231 may come as a number
        texts = _labels(raw, variable)
        dates = values.read_dates(texts, variable.date_format)
        problems["date"] = pc.and_(texts.is_valid(), dates.is_null())
    else:
        dates = pa.nulls(len(raw), values.MICROSECONDS)
        problems["date"] = raw.is_valid()
    codes = values.read_dates(pa.array(variable.missing_codes, pa.string()), variable.date_format).drop_null()
    return pc.if_else(pc.is_in(dates, codes), None, dates), problems


def _categories(raw: pa.Array, variable: Variable, decimal_mark: str) -> tuple[pa.Array, dict[str, pa.Array]]:
    encoded = _labels(raw, variable).dictionary_encode()
    labels = encoded.dictionary.to_pylist()
    problems = {}
    meant = _Declared((*(variable.categories or ()), *variable.missing_codes), decimal_mark)
    if variable.categories is None:
        missing = {label for label in labels if variable.missing_codes and meant.code(label) is not None}
        categories, wanted = sorted({*labels} - missing), labels
    else:
        categories = list(variable.categories)
        wanted = [meant.code(label) for label in labels]
        foreign = pa.array([label is None for label in wanted], pa.bool_())
        problems["category"] = foreign.take(encoded.indices)
    place = {category: code for code, category in enumerate(categories)}
    codes = pa.array([place.get(label or "") for label in wanted], pa.int32()).take(encoded.indices)
    return pa.DictionaryArray.from_arrays(codes, pa.array(categories, pa.string())), problems


def repeated_items(raw: pa.Array, variable: Variable) -> int:
    """How many cells of sets hold an item more than once, which the typed column has once. Cost: O(n log n)."""
    whole = raw.dictionary_decode() if pa.types.is_dictionary(raw.type) else raw
    texts, mark = _labels(whole, variable), variable.between_items
    lists = pc.fill_null(pc.starts_with(texts, LIST_MARK), False)
    rows, labels = split(pc.if_else(lists, pc.replace_substring(texts, LIST_MARK, mark), texts), mark)
    sets = ItemSets.from_pairs(rows, labels.indices.to_numpy(), len(texts), tuple(labels.dictionary.to_pylist()))
    return int((np.bincount(rows, minlength=len(texts)) > sets.sizes).sum())


def _items(raw: pa.Array, variable: Variable) -> tuple[pa.Array, dict[str, pa.Array]]:
    """Canonical texts of the sets; a cell counts once, however many of its items are not declared."""
    texts, mark = _labels(raw, variable), variable.between_items
    lists = pc.fill_null(pc.starts_with(texts, LIST_MARK), False)
    problems = {"separator": pc.and_(lists, pc.fill_null(pc.match_substring(texts, mark), False))}
    texts = pc.if_else(lists, pc.replace_substring(texts, LIST_MARK, mark), texts)
    rows, labels = split(texts, mark)
    names = labels.dictionary.to_pylist()
    order = np.argsort(np.asarray(names, dtype=object))
    sets = ItemSets.from_pairs(
        rows, np.argsort(order)[labels.indices.to_numpy()], len(texts), tuple(names[code] for code in order)
    )
    if (declared := variable.declared_items) is not None:
        foreign = ~np.isin(np.asarray(sets.names, dtype=object), np.asarray(declared, dtype=object))
        problems["item"] = pa.array(np.bincount(sets.rows, foreign[sets.items], len(texts)) > 0)
    canonical = joined(sets.rows, sets.items, sets.names, len(sets), mark)
    return canonical.dictionary_encode(), problems


def _labels(raw: pa.Array, variable: Variable) -> pa.Array:
    """Values as text without blanks around them; missing where the cell is empty or holds a missing code."""
    texts = values.trimmed_texts(raw)
    return pc.if_else(pc.is_in(texts, pa.array(variable.missing_codes, pa.string())), None, texts)


class _Declared:
    """Which declared code a text stands for: itself, the same number (3 for 3.0, and 3.0 for 3), true for yes, on, True
    (also false), and the other way round."""

    def __init__(self, codes: Sequence[str], decimal_mark: str) -> None:
        self._decimal_mark = decimal_mark
        self._codes = {*codes}
        self._by_truth = {meant: code for code in reversed(codes) if (meant := values.truth(code)) is not None}
        self._by_number = {Decimal(code): code for code in reversed(codes) if values.is_number(code)}

    def code(self, label: str) -> str | None:
        if label in self._codes:
            return label
        pointed = label.replace(self._decimal_mark, ".")
        if values.is_number(pointed):
            return self._by_number.get(Decimal(pointed))  # a float keeps not all digits of a long code
        return self._by_truth.get(values.truth(label) or "") if len(self._by_truth) == len(values.TRUTH) else None
