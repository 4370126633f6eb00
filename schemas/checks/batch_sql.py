"""The canonical values of a batch, as one SELECT that the database evaluates; no record leaves it."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from enum import StrEnum
from typing import Any

import sqlalchemy as sa

from schemas.checks.canonical_values import KEY_COUNT, readable
from schemas.contract import Contract
from sluice.errors import DataError
from sluice.reading import values
from sluice.variables import Kind, Variable, as_label

_NUMBER, _DATE = f"^({values.NUMBER})$", f"^({values.DATE})$"
_LARGEST = 1.7976931348623157e308

Expression = sa.ColumnElement[Any]


class Stored(StrEnum):
    """What the database keeps in a column; SQLite types each value and not the column: anything."""

    NUMBER = "number"
    MOMENT = "moment"
    OTHER = "other"
    ANYTHING = "anything"


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


def batch_select(
    contract: Contract, source: sa.FromClause, stored: Mapping[str, Stored], dialect: str
) -> sa.Select[Any]:
    """The canonical values of the contract's variables that are stored, in the SQL of 'postgresql' or 'sqlite'."""
    columns: list[Expression] = []
    for name, variable in contract.by_name.items():
        if name not in stored:
            continue
        if variable.kind.is_numeric or variable.kind is Kind.DATE:
            value, can_read = _quantity(variable, stored[name], dialect)
            columns += [value.label(name), can_read.label(readable(name))]
        else:
            columns.append(_category(variable, _text(sa.column(name), stored[name])).label(name))
    if contract.record_key and set(contract.record_key) <= set(stored):
        columns.append(_key_count(contract, source, stored, dialect).label(KEY_COUNT))
    select = sa.select(*columns).select_from(source)
    # A limit that limits nothing: else the planner spells each column out again wherever it is used.
    return select.offset(sa.literal_column("0")) if dialect == "postgresql" else select.limit(sa.literal_column("-1"))


def in_days(moment: Expression, dialect: str) -> Expression:
    """A canonical date as days since 1970-01-01."""
    if dialect == "postgresql":
        return sa.cast(sa.extract("epoch", moment), sa.Double) / 86_400.0
    return sa.func.julianday(moment) - 2_440_587.5


def _key_count(
    contract: Contract, source: sa.FromClause, stored: Mapping[str, Stored], dialect: str
) -> sa.ScalarSelect[Any]:
    key: list[Expression] = []
    for name in contract.record_key:
        text = _text(sa.column(name), stored[name])
        text = sa.case((text.in_(["", *contract.by_name[name].missing_codes]), sa.null()), else_=text)
        key.append(text.collate("C") if dialect == "postgresql" else text)  # bytes sort faster than words
    sizes = sa.select(sa.func.count().label("records")).select_from(source).group_by(*key).subquery("keys")
    return sa.select(sa.func.max(sizes.c.records)).scalar_subquery()


def _text(column: Expression, stored: Stored) -> Expression:
    """A value as trimmed text, numbers as `sluice.variables.as_label` writes them."""
    text = sa.cast(column, sa.Text)
    if stored is Stored.NUMBER:
        return sa.func.regexp_replace(text, "[.]0+$", "")
    if stored is Stored.ANYTHING:
        whole = sa.cast(column, sa.Integer)
        decimal = (sa.func.typeof(column) == "real") & (column == whole)
        return sa.case((decimal, sa.cast(whole, sa.Text)), else_=sa.func.trim(text, values.BLANKS))
    return sa.func.btrim(text, values.BLANKS)


def _category(variable: Variable, text: Expression) -> Expression:
    """The declared category that a text stands for, as the typing reads it: '3' for '3.00', 'true' for 'yes'."""
    declared = variable.categories or ()
    branches: list[Any] = [(text.in_(declared), text)] if declared else []
    branches.append((text.in_(["", *variable.missing_codes]), sa.null()))
    numbers = {float(label): label for label in declared if values.is_number(label) and as_label(float(label)) == label}
    if numbers:
        same = sa.case(numbers, value=sa.cast(text, sa.Double), else_=text)
        branches.append((text.regexp_match(_NUMBER), same))
    branches += [(sa.func.lower(text).in_(words), label) for label, words in values.TRUTH.items() if label in declared]
    return sa.case(*branches, else_=text)


def _quantity(variable: Variable, stored: Stored, dialect: str) -> tuple[Expression, Expression]:
    """A number or date, null when missing or unreadable; and 1 if it can be read, 0 if not, null when missing."""
    column: Expression = sa.column(variable.name)
    codes: list[Any]
    if variable.kind is Kind.DATE:
        codes = _moment_codes(variable, dialect)
        if stored is Stored.MOMENT:
            moment = sa.case((sa.func.isfinite(column), sa.cast(column, sa.TIMESTAMP)), else_=sa.null())
            return _with_readability(variable, column.is_(None), moment, codes)
        text = _text(column, stored)
        return _with_readability(variable, _no_text(variable, text), _moment(text, dialect), codes)
    codes = [float(code) for code in variable.missing_codes if values.is_number(code)]
    double = sa.cast(column, sa.Double) if dialect == "postgresql" else sa.type_coerce(column, sa.Double)
    finite = sa.case((sa.func.abs(double) <= _LARGEST, double), else_=sa.null())
    native_fits = (finite == sa.func.round(finite)) & (sa.func.abs(finite) <= 2.0**63)
    if stored is Stored.NUMBER:  # PostgreSQL's NaN is what pandas calls missing
        missing = column.is_(None) | (double == sa.cast(sa.literal("NaN", sa.Text), sa.Double))
        return _with_readability(variable, missing, finite, codes, native_fits)
    text = _text(column, stored)
    number = sa.case((text.regexp_match(_NUMBER), sa.cast(text, sa.Double)), else_=sa.null())
    value, can_read = _with_readability(variable, _no_text(variable, text), number, codes, _is_whole(text, number))
    if stored is Stored.ANYTHING:
        is_number = sa.func.typeof(column).in_(["integer", "real"])
        native, can_read_native = _with_readability(variable, column.is_(None), finite, codes, native_fits)
        value = sa.case((is_number, native), else_=value)
        can_read = sa.case((is_number, can_read_native), else_=can_read)
    return value, can_read


def _is_whole(text: Expression, number: Expression) -> Expression:
    """As `sluice.reading.values.read_whole_numbers` has it."""
    digits = text.regexp_match(f"^({values.DIGITS})$") & ~text.regexp_match(f"^({values.DIGITS_19}[0-9]*)$")
    most = sa.func.ltrim(text, "+-") <= values.LARGEST_DIGITS
    most_digits = text.regexp_match(f"^({values.DIGITS_19})$") & most
    return digits | most_digits | ((number == sa.func.round(number)) & (sa.func.abs(number) <= values.EXACT))


def _no_text(variable: Variable, text: Expression) -> Expression:
    return text.is_(None) | text.in_(["", *variable.missing_codes])


def _with_readability(
    variable: Variable,
    missing: Expression,
    value: Expression,
    codes: Sequence[Any],
    is_whole: Expression | None = None,
) -> tuple[Expression, Expression]:
    """The value and whether it could be read. A code may be spelled otherwise than declared: 99 as 99.00."""
    absent: list[Any] = [(missing, sa.null()), *([(value.in_(codes), sa.null())] if codes else [])]
    unreadable: Expression = value.is_(None)
    if variable.kind is Kind.INTEGER and is_whole is not None:
        unreadable = unreadable | ~is_whole
    return sa.case(*absent, else_=value), sa.case(*absent, (unreadable, sa.literal(0)), else_=sa.literal(1))


def _moment(text: Expression, dialect: str) -> Expression:
    if dialect == "postgresql":
        utc = sa.cast(sa.cast(text, sa.TIMESTAMP(timezone=True)), sa.TIMESTAMP)
        return sa.case((text.regexp_match(_DATE), utc), else_=sa.null())
    # SQLite knows an offset as +02:00 alone, not as +02 or +0200.
    zoned = sa.case(
        (text.regexp_match("[0-9]:[0-9.]+[+-][0-9]{2}$"), text.concat(":00")),
        (
            text.regexp_match("[+-][0-9]{4}$"),
            sa.func.substr(text, 1, sa.func.length(text) - 2) + ":" + sa.func.substr(text, -2),
        ),
        else_=text,
    )
    iso = sa.func.strftime("%Y-%m-%d %H:%M:%f", zoned, type_=sa.Text).concat("000")
    return sa.case((text.regexp_match(_DATE), iso), else_=sa.null())


def _moment_codes(variable: Variable, dialect: str) -> list[Expression]:
    moments: list[Expression] = []
    for code in variable.missing_codes:
        with suppress(ValueError):
            iso = sa.literal(values.moment(code).isoformat(" ", "microseconds"))
            moments.append(sa.cast(iso, sa.TIMESTAMP) if dialect == "postgresql" else iso)
    return moments
