"""Variables inferred from a table that has no contract: enough to try a masking method, never enough to release.

A column whose values are all numbers is a number (whole: integer), all ISO dates a date, all else a nominal variable. A
number that begins with 0, such as 01, is a code. A date with a time is a date. Nothing is ordinal, and no bounds are
known: an order and a range are knowledge about the variable, which a contract declares.
"""

from collections.abc import Mapping

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from schemas.contract import Contract
from sluice.variables import Kind, Role, Variable

_NUMBER = r"^[+-]?(0|[1-9]\d*|0?\.\d+|0\.\d*|[1-9]\d*\.\d*)([eE][+-]?\d+)?$"
_WHOLE = r"^[+-]?(0|[1-9]\d{0,14})$"
_DATE = r"^\d{4}-\d{2}-\d{2}([T ].*)?$"
MISSING_NUMBERS = ("NA", "NaN", "nan", "NULL", "null", "N/A", ".", "?")
"""Texts that stand for 'missing' in a column whose other values are all numbers or dates."""


def inferred_contract(table: pd.DataFrame, dataset: str, roles: Mapping[Role, str]) -> Contract:
    """A contract that fits the table, with roles for the columns that the user named and `other` for the rest.

    table : raw columns as a source yields them (pandas.ArrowDtype): text, where an empty cell is '', or native values
    cost  : O(n) a column
    """
    of_column = {name: role for role, name in roles.items()}
    variables = tuple(_variable(name, table[name], of_column.get(name, Role.OTHER)) for name in table.columns.astype("str"))
    return Contract(dataset=dataset, version="inferred", variables=variables)


def _variable(name: str, column: "pd.Series[pd.ArrowDtype]", role: Role) -> Variable:
    values = pa.array(column)
    kind, codes = _kind(values)
    empty = values.null_count > 0 or (_is_text(values) and pc.any(pc.equal(values, "")).as_py())
    return Variable(name=name, kind=kind, role=role, missing_codes=codes, nullable=bool(codes or empty))


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
    if pa.types.is_temporal(values.type):
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
