"""Variables inferred from a table that has no contract: enough to try a masking method, never enough to release.

A column whose values are all numbers is a number (whole: integer), all ISO dates a date, all else a nominal variable. A
number that begins with 0, such as 01, is a code. A date with a time is a date. Nothing is ordinal unless it is said to
be, and no bounds are known: an order and a range are knowledge about the variable, which a contract declares.
"""

from collections.abc import Mapping

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from schemas.contract import Contract
from sluice.errors import DataError
from sluice.variables import Kind, Role, Variable, as_label

_NUMBER = r"^[+-]?(0|[1-9]\d*|0?\.\d+|0\.\d*|[1-9]\d*\.\d*)([eE][+-]?\d+)?$"
_WHOLE = r"^[+-]?(0|[1-9]\d{0,14})$"
_DATE = r"^\d{4}-\d{2}-\d{2}([T ].*)?$"
MISSING_NUMBERS = ("NA", "NaN", "nan", "NULL", "null", "N/A", ".", "?")
"""Texts that stand for 'missing' in a column whose other values are all numbers or dates."""


def inferred_contract(
    table: pd.DataFrame, dataset: str, roles: Mapping[Role, str], kinds: Mapping[str, Kind] | None = None
) -> Contract:
    """A contract that fits the table, with roles for the columns that the user named and `other` for the rest.

    kinds : of columns for which the user knows better; the categories of an ordinal one are in the order of their
            numbers, or of the alphabet
    table : raw columns as a source yields them (pandas.ArrowDtype): text, where an empty cell is '', or native values
    raises: DataError for a column without a name, or that cannot have the role that was named
    cost  : O(n) a column
    """
    if any(not name for name in table.columns.astype("str")):
        raise DataError(f"{dataset}: a column has no name. Is it the row numbers of the program that wrote the file?")
    of_column = {name: role for role, name in roles.items()}
    known = kinds or {}
    variables = tuple(
        _variable(name, table[name], of_column.get(name, Role.OTHER), known.get(name))
        for name in table.columns.astype("str")
    )
    return Contract(dataset=dataset, version="inferred", variables=variables)


def _variable(name: str, column: "pd.Series[pd.ArrowDtype]", role: Role, known: Kind | None) -> Variable:
    values = pa.array(column)
    kind, codes = _kind(values)
    empty = values.null_count > 0 or (_is_text(values) and pc.any(pc.equal(values, "")).as_py())
    categories = _in_order(values, codes) if known is Kind.ORDINAL else None
    if role is Role.WEIGHT and not (known or kind).is_numeric:
        raise DataError(f"'{name}' cannot be the {role}, which is a number; its values are {known or kind}.")
    return Variable(
        name=name,
        kind=known or kind,
        role=role,
        missing_codes=codes,
        nullable=bool(codes or empty),
        categories=categories,
    )


def _in_order(values: pa.Array, missing_codes: tuple[str, ...]) -> tuple[str, ...]:
    """The categories found: by their numbers if all are numbers, else by the alphabet."""
    found = [str(as_label(value)).strip() for value in pc.unique(values).to_pylist() if value is not None]
    labels = {label for label in found if label and label not in missing_codes}
    try:
        return tuple(sorted(labels, key=float))
    except ValueError:
        return tuple(sorted(labels))


def _is_text(values: pa.Array) -> bool:
    return bool(pa.types.is_string(values.type) or pa.types.is_large_string(values.type))


def _kind(values: pa.Array) -> tuple[Kind, tuple[str, ...]]:
    """The kind, and which texts mean 'missing' in it."""
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if pa.types.is_integer(values.type):
        return Kind.INTEGER, ()
    if pa.types.is_floating(values.type) or pa.types.is_decimal(values.type):
        return Kind.CONTINUOUS, ()
    if pa.types.is_date(values.type) or pa.types.is_timestamp(values.type):
        return Kind.DATE, ()
    if not _is_text(values):
        return Kind.NOMINAL, ()
    texts = pc.utf8_trim_whitespace(pc.unique(values.drop_null()))
    texts = texts.filter(pc.not_equal(texts, ""))
    known = texts.filter(pc.invert(pc.is_in(texts, pa.array(MISSING_NUMBERS, texts.type))))
    codes = tuple(code for code in texts.to_pylist() if code in MISSING_NUMBERS) if len(known) < len(texts) else ()
    for pattern, kind in ((_WHOLE, Kind.INTEGER), (_NUMBER, Kind.CONTINUOUS), (_DATE, Kind.DATE)):
        if len(known) and pc.all(pc.match_substring_regex(known, pattern)).as_py():
            return kind, codes
    return Kind.NOMINAL, ()
