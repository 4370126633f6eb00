"""The Great Expectations form of a contract: what is asked of the batch as a whole.

Great Expectations takes seconds to import. It is imported inside the functions that need it, so that a
command that checks nothing starts at once; with the import its usage statistics are switched off.

Expectations are computed on the canonical values of a batch:

==============================  =================================================================
kind                            canonical column (missing value)
==============================  =================================================================
continuous, integer             a double (NaN)
ordinal, nominal, binary, items a category (NaN)
text                            text (None)
date                            a timestamp in UTC (NaT)
==============================  =================================================================

One column is added: `KEY_COUNT`, the most records that share one record key, the same in every row.
"""

import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from importlib import import_module
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from threading import get_ident
from types import ModuleType
from typing import Any

import numpy as np
import pandas as pd

from schemas.contract import Contract
from sluice.ground.declaration import Declaration
from sluice.ground.errors import DataError
from sluice.ground.machine import without_collecting
from sluice.ground.values import moment
from sluice.ground.variables import Kind, Variable, Variables, as_label

KEY_COUNT = "most records with one record key"


EXPECTATIONS = (
    Declaration(
        "columns",
        helps="Add the missing columns to the batch, or take them out of the contract with the consent of those who "
        "use them.",
    ),
    Declaration(
        "row_count",
        helps="Compare the number of records with the source's own count: a load that broke off or a repeated one is "
        "read again.",
    ),
    Declaration(
        "type",
        helps="Values cannot be read as their kind: correct the format at the source, such as a decimal comma or a "
        "date order.",
    ),
    Declaration(
        "missing_share",
        helps="Ask who collects the data why so many values are missing in this batch before the limit is raised.",
    ),
    Declaration(
        "range",
        helps="Look at the smallest and largest values at the source; codes of missing values belong into "
        "missing_codes of the contract.",
    ),
    Declaration(
        "categories",
        helps="Compare the batch's code list with the contract's; a new edition of a classification needs a new "
        "version of the contract.",
    ),
    Declaration(
        "unique",
        helps="Remove the repeated keys at the source; a record that is loaded twice counts one person twice.",
    ),
    Declaration(
        "freshness",
        helps="The newest record is too old: load the source again, or see why it was not updated.",
    ),
)


@dataclass(frozen=True)
class Clause:
    """One thing that the contract asks of the batch, in words and as an expectation."""

    rule: str
    scope: str
    asks: str
    expectation: str = field(repr=False)
    arguments: dict[str, Any] = field(repr=False)
    limit: float | None = None


def great_expectations() -> ModuleType:
    """The library, imported at the first use and never reporting home.

    In a thread of its own: it keeps the errors of imports that it tried in vain, and with them the frames of whoever
    asked for it and all that these hold, such as the records that are to be checked.
    """
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    if "great_expectations.expectations" not in sys.modules:
        with ThreadPoolExecutor(1) as thread:
            thread.submit(_import).result()
    import great_expectations

    return great_expectations  # type: ignore[no-any-return]


def _import() -> None:
    companions = _Companions(get_ident())
    sys.meta_path.insert(0, companions)
    try:
        with without_collecting():
            import_module("great_expectations.expectations")
    finally:
        sys.meta_path.remove(companions)
        companions.leave()


class _Companions(MetaPathFinder, Loader):
    """Keeps Great Expectations, in the thread that imports it, from loading what none of our checks uses.

    It tries the clients of every warehouse and notebook, and goes on without those that are not installed; where a
    house has some for its own sources, they are a fourth of the time. Others it cannot do without, and needs for a test
    of distributions and a plot: in their place it gets a stand-in, which imports them when something of them is used.
    Of its expectations, each a model that takes milliseconds to build, it gets those of our clauses; any other is
    imported when one is made.
    """

    _CLIENTS = frozenset({
        "IPython", "azure", "boto3", "botocore", "clickhouse_sqlalchemy", "databricks", "google", "pyodbc", "pyspark",
        "redis", "snowflake", "sqlalchemy_bigquery", "sqlalchemy_redshift", "teradatasqlalchemy", "trino",
    })  # fmt: skip
    _LATER = frozenset({"scipy.stats", "altair"})
    _EXPECTATIONS = "great_expectations.expectations.core.expect_"
    _OURS = frozenset({
        "table_row_count_to_be_between", "column_values_to_not_be_null", "column_values_to_be_between",
        "column_values_to_be_in_set", "column_values_to_be_unique", "compound_columns_to_be_unique",
        "column_max_to_be_between",
    })  # fmt: skip

    def __init__(self, thread: int) -> None:
        self._thread = thread

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        if get_ident() != self._thread:
            return None
        if fullname.partition(".")[0] in self._CLIENTS:
            raise ModuleNotFoundError(f"{fullname} is not loaded for Great Expectations", name=fullname)
        return ModuleSpec(fullname, self) if fullname in self._LATER or self._is_another(fullname) else None

    def _is_another(self, fullname: str) -> bool:
        """Whether it is an expectation that no clause of ours has."""
        return fullname.startswith(self._EXPECTATIONS) and fullname[len(self._EXPECTATIONS) :] not in self._OURS

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Another(spec.name) if self._is_another(spec.name) else _StandIn(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing in it."""

    def leave(self) -> None:
        """Everybody else finds the modules themselves."""
        for name in self._LATER:
            _drop(name)


class _StandIn(ModuleType):
    """A module that is imported when something of it is used."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        _drop(self.__name__)
        return getattr(import_module(self.__name__), name)


class _Another(_StandIn):
    """The module of an expectation, which is taken from it by name at once; it is imported when one is made."""

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("Expect"):
            return super().__getattr__(name)
        return lambda *given, **named: super(_Another, self).__getattr__(name)(*given, **named)


def _drop(name: str) -> None:
    """Forget a stand-in, where Python keeps it and in the package that it would be in."""
    if not isinstance(stand_in := sys.modules.get(name), _StandIn):
        return
    del sys.modules[name]
    package, _, child = name.rpartition(".")
    if package and vars(sys.modules[package]).get(child) is stand_in:
        delattr(sys.modules[package], child)


def clauses_of(contract: Contract, variables: Variables, now: datetime) -> list[Clause]:
    """What the contract asks of a batch in its canonical values.

    variables : those of `contract.staged` whose columns are there, in order; that a value can be read is known of them
    now       : the moment by which the batch must be fresh; without a time zone it is UTC
    """
    clauses = [_row_count(contract)]
    for variable in variables.values():
        clauses += _missing_share(variable)
        if variable.minimum is not None or variable.maximum is not None:
            clauses.append(_range(variable))
        if variable.categories is not None:
            clauses.append(_categories(variable))
    if contract.record_key:
        clauses.append(_unique(contract))
    if contract.freshness:
        clauses.append(_fresh(contract.freshness.column, contract.freshness.max_age_days, now))
    return clauses


def suite(dataset: str, version: str, clauses: Sequence[Clause]) -> Any:
    """A contract's clauses as a Great Expectations suite; each expectation carries its clause's number in `meta`."""
    gx = great_expectations()
    expectations = [
        getattr(gx.expectations, clause.expectation)(
            **clause.arguments,
            meta={"clause": number, "rule": clause.rule},
            notes=f"The contract asks that {clause.asks}.",
        )
        for number, clause in enumerate(clauses)
    ]
    about = f"Contract of the data set {dataset}, version {version}."
    return gx.ExpectationSuite(name="contract", expectations=expectations, notes=about)


def _row_count(contract: Contract) -> Clause:
    low, high = contract.rows.minimum, contract.rows.maximum
    asks = f"the batch has at least {low} records" if high is None else f"the batch has {low} to {high} records"
    bounds = {"min_value": low} if high is None else {"min_value": low, "max_value": high}
    return Clause("row_count", "", asks, "ExpectTableRowCountToBeBetween", bounds, low if high is None else None)


def _missing_share(variable: Variable) -> list[Clause]:
    name = variable.name
    share = variable.max_missing_share if variable.nullable else 0.0
    if share is None:
        return []
    # 1 - share in decimals: in floats 1 - 0.42 is a little more than 0.58, and a batch at the limit would fail.
    mostly = float(1 - Fraction(str(share)))
    asks = f"at most {share:.4g} of the records lack '{name}'" if share else f"no record lacks '{name}'"
    arguments = {"column": name} if share == 0 else {"column": name, "mostly": mostly}
    return [Clause("missing_share", name, asks, "ExpectColumnValuesToNotBeNull", arguments, share)]


def _range(variable: Variable) -> Clause:
    name, bounds = variable.name, {"min_value": variable.minimum, "max_value": variable.maximum}
    words = {"min_value": "at least", "max_value": "at most"}
    given = {end: bound for end, bound in bounds.items() if bound is not None}
    asks = " and ".join(f"{words[end]} {as_label(bound)}" for end, bound in given.items())
    is_date = variable.kind is Kind.DATE
    read = {end: moment(str(bound), end == "max_value") if is_date else float(bound) for end, bound in given.items()}
    only = next(iter(read.values())) if len(read) == 1 else None
    return Clause(
        "range",
        name,
        f"every value of '{name}' is {asks}",
        "ExpectColumnValuesToBeBetween",
        {"column": name, **read},
        only if isinstance(only, float) else None,
    )


def _categories(variable: Variable) -> Clause:
    declared = variable.categories or ()
    return Clause(
        "categories",
        variable.name,
        f"every value of '{variable.name}' is one of its {len(declared)} declared categories",
        "ExpectColumnValuesToBeInSet",
        {"column": variable.name, "value_set": list(declared)},
    )


def _unique(contract: Contract) -> Clause:
    # Great Expectations' own expectations of uniqueness leave out a record whose key is missing, in SQL even in part:
    # two records without a key would pass as different. So the canonical values count the records of each key.
    names = ", ".join(contract.record_key)
    return Clause(
        "unique",
        names,
        f"no two records share the record key ({names})",
        "ExpectColumnValuesToBeBetween",
        {"column": KEY_COUNT, "max_value": 1},
        1.0,
    )


def _fresh(column: str, max_age_days: float, now: datetime) -> Clause:
    oldest = _utc(now) - timedelta(days=max_age_days)
    return Clause(
        "freshness",
        column,
        f"the newest '{column}' is no older than {max_age_days:g} days",
        "ExpectColumnMaxToBeBetween",
        {"column": column, "min_value": oldest},
        max_age_days,
    )


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment


def canonical_frame(contract: Contract, frame: pd.DataFrame) -> pd.DataFrame:
    """The canonical values of a typed frame: the same columns, in dtypes that Great Expectations can compare.

    A copy with a fresh index. Raises DataError when a column is not typed as the contract says.
    """
    columns: dict[str, Any] = {}
    for name, variable in contract.staged.items():
        if name not in frame:
            continue
        column = frame[name]
        if variable.kind.is_categorical and isinstance(column.dtype, pd.CategoricalDtype):
            columns[name] = column.array  # a byte or two a record, where texts would take sixteen and more
        elif not variable.kind.is_numeric and variable.kind is not Kind.DATE:
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
    values = pd.DataFrame(columns)
    if contract.record_key and set(contract.record_key) <= set(values):
        key = list(contract.record_key)
        values[KEY_COUNT] = values.groupby(key, dropna=False, sort=False, observed=True).size().max()
    return values
