"""The normal form of a batch: what the expectations and the drift are computed on, alike at the source and in pandas.

==============================  =================================================================
kind                            column of the normal form (missing value)
==============================  =================================================================
continuous, integer             a double (null)
ordinal, nominal, binary, text  trimmed text; a number that is whole has no decimals: 3.0 is '3' (null)
date                            a timestamp in UTC; on SQLite, ISO text with microseconds (null)
==============================  =================================================================

Blank text and the declared missing codes are null. Two kinds of column are added: `KEY_COUNT`, how many records share
the record key, and, at the source, `readable(name)` for each number and date: 1 where the value can be read as its
kind, 0 where not, null where it is missing.

At the source this is one SELECT that the database evaluates; no record leaves it.
"""

import math
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any

import numpy as np
import pandas as pd
import sqlalchemy as sa

from schemas.contract import Contract
from sluice.errors import DataError
from sluice.variables import Kind, Variable, Variables, as_label

KEY_COUNT = "records with this record key"

_NUMBER = r"^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$"
_DATE = (
    r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
    r"([ T][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]+)?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)?)?$"
)
_TRUTH = {"true": ("true", "yes", "on"), "false": ("false", "no", "off")}
_LARGEST = 1.7976931348623157e308

Expression = sa.ColumnElement[Any]


def readable(name: str) -> str:
    """The column that says whether a value of this variable can be read as its kind."""
    return f"{name} (readable)"


def relation(table: str | None = None, query: str | None = None) -> sa.FromClause:
    """A table ('name' or 'schema.name') or a query, to select from. Raises DataError unless one is given."""
    if (table is None) == (query is None):
        raise DataError("a source must have either 'table' or 'query'; give exactly one of them")
    if table is not None:
        schema, _, name = table.rpartition(".")
        return sa.table(name, schema=schema or None)
    text = (query or "").strip().rstrip(";")
    # SQLAlchemy takes ':word' for a parameter. The new line keeps the bracket out of a comment at the query's end.
    return sa.text(text.replace(":", r"\:") + "\n").columns().subquery("source")


def normal_select(contract: Contract, source: sa.FromClause, variables: Variables, dialect: str) -> sa.Select[Any]:
    """The normal form of these of the contract's variables, in the SQL of 'postgresql' or 'sqlite'."""
    columns: list[Expression] = []
    texts: dict[str, Expression] = {}
    for name, variable in variables.items():
        texts[name] = text = _without_codes(variable, _text(sa.column(name), dialect))
        if variable.kind.is_numeric or variable.kind is Kind.DATE:
            value, can_read = _quantity(variable, text, dialect)
            columns += [value.label(name), can_read.label(readable(name))]
        else:
            columns.append(_category(variable, text).label(name))
    if contract.record_key and set(contract.record_key) <= set(texts):
        key = [texts[name] for name in contract.record_key]
        columns.append(sa.func.count().over(partition_by=key).label(KEY_COUNT))
    return sa.select(*columns).select_from(source)


def in_days(moment: Expression, dialect: str) -> Expression:
    """A date of the normal form as days since 1970-01-01."""
    if dialect == "postgresql":
        return sa.cast(sa.extract("epoch", moment), sa.Double) / 86_400.0
    return sa.func.julianday(moment) - 2_440_587.5


def normal_frame(contract: Contract, frame: pd.DataFrame) -> pd.DataFrame:
    """The normal form of a typed frame: the same columns, in dtypes that Great Expectations can compare.

    A copy with a fresh index. Raises DataError when a column is not typed as the contract says.
    """
    columns: dict[str, Any] = {}
    for name, variable in contract.staged.items():
        if name not in frame:
            continue
        column = frame[name]
        if not variable.kind.is_numeric and variable.kind is not Kind.DATE:
            columns[name] = column.astype(object).where(column.notna(), None).to_numpy()
        elif variable.kind is Kind.DATE and pd.api.types.is_datetime64_dtype(column.dtype):
            columns[name] = column.to_numpy()
        elif variable.kind.is_numeric and pd.api.types.is_numeric_dtype(column.dtype):
            columns[name] = column.to_numpy(dtype=float, na_value=np.nan)
        else:
            raise DataError(
                f"column '{name}' of a typed frame must hold {variable.kind} values; its dtype is {column.dtype}. "
                "Type the frame by its contract first."
            )
    normal = pd.DataFrame(columns)
    if contract.record_key and set(contract.record_key) <= set(normal):
        key = list(contract.record_key)
        normal[KEY_COUNT] = normal.groupby(key, dropna=False, sort=False)[key[0]].transform("size")
    return normal


def _text(column: Expression, dialect: str) -> Expression:
    """A value as trimmed text, numbers as `sluice.variables.as_label` writes them."""
    text = sa.cast(column, sa.Text)
    if dialect == "postgresql":
        decimal = sa.cast(sa.func.pg_typeof(column), sa.Text).in_(["real", "double precision", "numeric"])
        return sa.case((decimal, sa.func.regexp_replace(text, "[.]0+$", "")), else_=sa.func.trim(text))
    whole = sa.cast(column, sa.Integer)
    return sa.case(
        ((sa.func.typeof(column) == "real") & (column == whole), sa.cast(whole, sa.Text)), else_=sa.func.trim(text)
    )


def _without_codes(variable: Variable, text: Expression) -> Expression:
    codes = ["", *variable.missing_codes]
    if variable.kind.is_numeric:
        codes.append("NaN")  # PostgreSQL's NaN is what pandas calls missing
    return sa.case((text.in_(codes), sa.null()), else_=text)


def _category(variable: Variable, text: Expression) -> Expression:
    """The declared category that a text stands for, as the typing reads it: '3' for '3.00', 'true' for 'yes'."""
    declared = variable.categories or ()
    branches: list[Any] = [(text.in_(declared), text)]
    numbers = {float(label): label for label in declared if _is_number(label) and as_label(float(label)) == label}
    if numbers:
        same = sa.case(numbers, value=sa.cast(text, sa.Double), else_=text)
        branches.append((text.regexp_match(_NUMBER), same))
    branches += [(sa.func.lower(text).in_(words), label) for label, words in _TRUTH.items() if label in declared]
    return sa.case(*branches, else_=text) if declared else text


def _quantity(variable: Variable, text: Expression, dialect: str) -> tuple[Expression, Expression]:
    """A number or date, null when missing or unreadable; and 1 if it can be read, 0 if not, null when missing."""
    codes: Sequence[Any]
    if variable.kind is Kind.DATE:
        value, codes = _moment(text, dialect), _moment_codes(variable, dialect)
    else:
        value = _number(text, sa.column(variable.name), dialect)
        codes = [float(code) for code in variable.missing_codes if _is_number(code)]
    missing: Expression = text.is_(None)
    if codes:
        # A code may be spelled otherwise than declared: 99 as 99.00, a day with a time of day.
        missing = sa.or_(missing, sa.func.coalesce(value.in_(codes), sa.false()))
    unreadable: Expression = value.is_(None)
    if variable.kind is Kind.INTEGER:
        unreadable = sa.or_(unreadable, value != sa.func.floor(value))
    return (
        sa.case((missing, sa.null()), else_=value),
        sa.case((missing, sa.null()), (unreadable, sa.literal(0)), else_=sa.literal(1)),
    )


def _number(text: Expression, column: Expression, dialect: str) -> Expression:
    if dialect == "postgresql":
        return sa.case((text.regexp_match(_NUMBER), sa.cast(text, sa.Double)), else_=sa.null())
    # SQLite types each value, not the column; its text of a number has 15 digits only, so a number is taken as it is.
    kind = sa.func.typeof(column)
    return sa.case(
        (kind.in_(["integer", "real"]) & (sa.func.abs(column) <= _LARGEST), sa.type_coerce(column, sa.Double)),
        ((kind == "text") & text.regexp_match(_NUMBER), sa.cast(text, sa.Double)),
        else_=sa.null(),
    )


def _moment(text: Expression, dialect: str) -> Expression:
    if dialect == "postgresql":
        utc = sa.cast(sa.cast(text, sa.TIMESTAMP(timezone=True)), sa.TIMESTAMP)
        return sa.case((text.regexp_match(_DATE), utc), else_=sa.null())
    day = sa.func.substr(text, 1, 10)
    # SQLite reads the 31st of February as the 3rd of March: the day must come back as it went in.
    real_day = text.regexp_match(_DATE) & (sa.func.date(day) == day)
    iso = sa.func.strftime("%Y-%m-%d %H:%M:%f", text, type_=sa.Text).concat("000")
    return sa.case((real_day, iso), else_=sa.null())


def _moment_codes(variable: Variable, dialect: str) -> list[Expression]:
    moments: list[Expression] = []
    for code in variable.missing_codes:
        with suppress(ValueError):
            iso = sa.literal(f"{datetime.fromisoformat(code).replace(tzinfo=None):%Y-%m-%d %H:%M:%S.%f}")
            moments.append(sa.cast(iso, sa.TIMESTAMP) if dialect == "postgresql" else iso)
    return moments


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
