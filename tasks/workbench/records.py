"""Records in a DataFrame, read as a release reads a source: by a contract, or by the columns that are named.

Without a contract the kind of each column is inferred from its values, by the one definition of `schemas.reading`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pandas.api.types import is_hashable

from schemas.contract import Contract, load_contract
from schemas.reading.contract_draft import inferred_contract
from sluice.ground.errors import DataError
from sluice.ground.values import label, within_calendar
from sluice.ground.variables import Kind, Role, Variable, with_role
from sluice.sources.tabular_source import unfit
from tasks.workbench.arguments import column_name, column_names, data_frame, document, one_of
from tasks.workbench.masked_file import understood
from tasks.workbench.tabular_file import typed_table

ContractGiven = Contract | Path | str


@dataclass(frozen=True)
class Records:
    """Typed records.

    frame     : typed by `variables`, index 0..n-1
    variables : by name, with their roles
    index     : of the DataFrame that they come from
    unit      : what a record is, in the plural
    """

    frame: pd.DataFrame
    variables: dict[str, Variable]
    index: pd.Index
    unit: str = "records"

    def __len__(self) -> int:
        return len(self.frame)

    @property
    def keys(self) -> list[str]:
        """The quasi-identifiers. Raises DataError when there is none."""
        keys = with_role(self.variables, Role.QUASI_IDENTIFIER)
        if not keys:
            raise DataError(
                "no quasi-identifier is known: name the columns by which somebody can be recognised, such as "
                "quasi_identifiers=['age', 'sex'], or give a contract whose variables have that role."
            )
        return keys


class HoldsRecords(ABC):
    """A result whose records may be given in place of a DataFrame: their kinds and roles are known."""

    @property
    @abstractmethod
    def records(self) -> Records:
        """The records of the result."""


@dataclass(frozen=True)
class Columns:
    """What the user says of the columns: a contract, or the names of those that matter."""

    contract: ContractGiven | None = None
    quasi_identifiers: Iterable[str] | None = None
    sensitive: Iterable[str] | None = None
    weight: str | None = None
    household: str | None = None
    kinds: Mapping[str, str] | None = None

    def contract_for(self, frame: pd.DataFrame, only_named: bool = False) -> Contract:
        """The contract that was given, or one that is inferred from the values, with the roles that were named.

        only_named : look at no other columns than those that have a role
        """
        keys = column_names(self.quasi_identifiers, "quasi_identifiers", frame)
        sensitive = column_names(self.sensitive, "sensitive", frame)
        single = {
            role: column_name(name, role, frame)
            for role, name in ((Role.WEIGHT, self.weight), (Role.HOUSEHOLD, self.household))
            if name is not None
        }
        given = [*keys, *sensitive, *single.values()]
        if self.contract is not None:
            if given or self.kinds:
                raise DataError("give either a contract or the names and kinds of columns; got both.")
            return _loaded(self.contract)
        twice = sorted({name for name in given if given.count(name) > 1})
        if twice:
            raise DataError(f"a column has one role; named for several: {', '.join(map(repr, twice))}.")
        if self.kinds is not None and not isinstance(self.kinds, Mapping):
            raise TypeError(
                f"kinds must map columns to kinds, such as {{'age': 'ordinal'}}; got {type(self.kinds).__name__}."
            )
        kinds = {
            column_name(name, "kinds", frame): Kind(one_of(kind, f"kinds of {name!r}", list(Kind)))
            for name, kind in (self.kinds or {}).items()
        }
        chosen = frame[given] if only_named and given else frame
        inferred = inferred_contract(chosen, "frame", single, kinds)
        ordered = {name: labels for name in chosen if name not in kinds and (labels := _ordered(chosen[name]))}
        roles = dict.fromkeys(keys, Role.QUASI_IDENTIFIER) | dict.fromkeys(sensitive, Role.SENSITIVE)
        variables = [
            v.model_copy(
                update={"role": roles.get(v.name, v.role)}
                | ({"kind": Kind.ORDINAL, "categories": ordered[v.name]} if v.name in ordered else {})
            )
            for v in inferred.variables
        ]
        return Contract(dataset="frame", version=inferred.version, variables=tuple(variables))


def read_records(frame: pd.DataFrame | HoldsRecords, name: str, columns: Columns) -> Records:
    """The records with the columns that have a role, to measure risks of; their values need not keep a contract.

    name   : of the argument, for errors
    raises : TypeError, DataError, DocumentError
    """
    if isinstance(frame, HoldsRecords):
        if columns != Columns():
            raise DataError(f"{name} knows its columns: name none, and give no contract.")
        return frame.records
    frame = data_frame(frame, name)
    contract = columns.contract_for(frame, only_named=True)
    roles = (Role.QUASI_IDENTIFIER, Role.SENSITIVE, Role.WEIGHT, Role.PERSON, Role.HOUSEHOLD)
    wanted = [v.name for v in contract.variables if v.role in roles]
    refuse_missing(wanted, name, frame)
    if not wanted:
        return Records(frame[[]], {}, frame.index, contract.records_are)
    if columns.contract is None:
        typed, variables = typed_table(frame[wanted], contract, key=0)
    else:
        found = understood(frame[wanted], contract, key=0)
        typed, variables = found.frame, found.variables
    return Records(typed, variables, frame.index, contract.records_are)


def refuse_missing(wanted: Iterable[str], name: str, frame: pd.DataFrame) -> None:
    """Raise DataError unless the frame has every column that the contract names."""
    for column in wanted:
        if column not in frame.columns:
            raise DataError(
                f"{name} has no column {column!r}, which the contract names.", came=column, allowed=frame.columns
            )


def refuse_unlike_kinds(frame: pd.DataFrame) -> None:
    """Raise DataError for columns of no kind that methods know, or of values that would be taken for one another."""
    for name, column in frame.items():
        if what := _untreated(column):
            raise DataError(
                f"column {name!r} holds {what}, which no method treats: make it numbers, dates or texts first."
            )
        if pd.api.types.is_unsigned_integer_dtype(column.dtype) and (column.dropna() >= 2**63).any():
            raise DataError(f"column {name!r} holds whole numbers beyond 64 bits: make it texts, or use a larger unit.")
        if column.dtype == object:
            values = column.dropna().map(lambda value: value if is_hashable(value) else repr(value))
            alike = values.groupby(values.map(label)).agg(lambda each: len({type(value) for value in each}))
            if (alike > 1).any():
                raise DataError(
                    f"column {name!r} holds values of several types that look the same, such as a number and its text: "
                    "give it one type first."
                )


def _untreated(column: "pd.Series[Any]") -> str:
    """What it holds that would become text without a word; '' where it is treated as it is."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.dtype.categories.to_series()
    dtype = column.dtype
    if isinstance(dtype, pd.PeriodDtype | pd.IntervalDtype) or dtype.kind in "mc":
        return str(dtype)
    if isinstance(dtype, pd.ArrowDtype) and dtype.kind != "M":
        return str(dtype) if unfit(dtype.pyarrow_dtype) or pa.types.is_string_view(dtype.pyarrow_dtype) else ""
    if dtype.kind == "M":
        known = pc.all(within_calendar(pa.array(column.dropna().drop_duplicates()))).as_py()
        return "dates outside the years 1 to 9999" if known is False else ""
    if dtype.kind != "O" or isinstance(dtype, pd.StringDtype):
        return ""
    strange = {type(value).__name__ for value in column.dropna() if isinstance(value, _NO_VALUES)}
    return f"values of type {', '.join(sorted(strange))}" if strange else ""


_NO_VALUES = (bytes, bytearray, memoryview, dict, set, frozenset, tuple, complex, timedelta, pd.Period, pd.Interval)
_ALLOWED = "a Contract or the path of its YAML file"


def _loaded(contract: object) -> Contract:
    if isinstance(contract, Contract):
        return contract
    if isinstance(contract, str | Path):
        return load_contract(document(contract, "contract", _ALLOWED))
    raise TypeError(f"contract must be {_ALLOWED}; got {type(contract).__name__}.")


def _ordered(column: "pd.Series[Any]") -> tuple[str, ...]:
    """The categories of an ordered category column, in their order; none of another column."""
    if isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.ordered:
        return tuple(label(each) for each in column.dtype.categories)
    return ()
