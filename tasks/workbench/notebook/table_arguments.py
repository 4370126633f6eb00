"""What `sluice.protect` and `sluice.audit` take: dimensions with their hierarchies, rules, patterns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pydantic import BaseModel, ConfigDict, Field

from policies.rules.rules import TablePolicyRule
from sluice.documents.document_reading import parse_document
from sluice.ground.errors import DataError
from sluice.ground.values import plain_array, trimmed_texts
from sluice.publication.pattern_file import Pattern, read_pattern
from sluice.publication.published_table import PublishedTable, in_decimals
from sluice.sources.hierarchy_file import read_dimension
from sluice.tabular.model.aggregation import LARGEST_KEPT
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import refuse_hidden_ties
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import Measure
from sluice.tabular.model.numbered_records import records_of
from sluice.tabular.rules.sensitivity import SensitivityRule
from tasks.release.tables.protection_method import Protection
from tasks.workbench.notebook.arguments import column_name, data_frame, document, one_of
from tasks.workbench.tabulation import Tabulated, attackers

Hierarchy = Dimension | pd.DataFrame | Mapping[str, str] | Path | str | None
Dimensions = Sequence[str] | Mapping[str, Hierarchy]
Rule = SensitivityRule | Mapping[str, Any]


_HIERARCHY = "a mapping of each code to its parent, a DataFrame with the columns code and parent, a path, or None"


class _Method(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    method: Protection


class _Rules(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    rules: tuple[TablePolicyRule, ...] = Field(min_length=1, description="that say which cells are sensitive")


def dimensions_of(given: Dimensions, frame: pd.DataFrame, totals: bool = False) -> list[Dimension]:
    """The dimensions of a table, of columns of the frame.

    given  : names of columns, whose categories add up to 'Total'; or by name a hierarchy: a mapping or DataFrame of
             each code and its parent ('' for the total), the path of a CSV file of them, or None for no hierarchy
    totals : the frame holds the total, too, as the cells of a table do
    raises : TypeError, DataError
    """
    if isinstance(given, str) or not isinstance(given, Sequence | Mapping):
        raise TypeError(
            "dimensions must be a list of column names, or a mapping of each to its hierarchy; got "
            f"{type(given).__name__}."
        )
    if not given:
        raise DataError("dimensions must name at least 1 column; got none.")
    hierarchies = given if isinstance(given, Mapping) else dict.fromkeys(given)
    if len(hierarchies) < len(given):
        raise DataError("dimensions must name each column once.")
    return [
        _dimension(column_name(name, "dimensions", frame), hierarchy, frame, totals)
        for name, hierarchy in hierarchies.items()
    ]


def _dimension(name: str, hierarchy: object, frame: pd.DataFrame, totals: bool) -> Dimension:
    if isinstance(hierarchy, Dimension):
        return hierarchy
    if isinstance(hierarchy, str | Path):
        return read_dimension(name, [document(hierarchy, f"the hierarchy of {name!r}", _HIERARCHY)])
    if isinstance(hierarchy, Mapping):
        return Dimension.of(name, [(str(code), str(parent or "")) for code, parent in hierarchy.items()])
    if isinstance(hierarchy, pd.DataFrame):
        for column in ("code", "parent"):
            if column not in hierarchy.columns:
                raise DataError(
                    f"the hierarchy of {name!r} must have the columns code and parent; {column} is missing."
                )
        rows = zip(texts(hierarchy["code"]), texts(hierarchy["parent"]), strict=True)
        return Dimension.of(name, list(rows))
    if hierarchy is None:
        codes = set(texts(frame[name])) - {""}
        if totals and "Total" not in codes:
            raise DataError(
                f"no cell is the 'Total' of {name!r}; give its hierarchy, which says what its total is called."
            )
        return Dimension.flat(name, sorted(codes - {"Total"} if totals else codes))
    raise TypeError(f"the hierarchy of {name!r} must be {_HIERARCHY}; got {type(hierarchy).__name__}.")


def sensitivity_rules(rules: object) -> list[SensitivityRule]:
    """The rules on cells, as a policy writes them. Raises TypeError, DocumentError, DataError."""
    written = [rules] if isinstance(rules, SensitivityRule | Mapping) else rules
    if not isinstance(written, Sequence) or not all(isinstance(rule, SensitivityRule | Mapping) for rule in written):
        raise TypeError(
            "rules must be a list of mappings as in a policy, such as [{'rule': 'p_percent', 'p': 10}]; got "
            f"{type(rules).__name__}."
        )
    content = [rule if isinstance(rule, SensitivityRule) else dict(rule) for rule in written]
    return list(parse_document(_Rules, {"rules": content}, "rules").rules)


def protection_method(given: object, **of_suppression: Any) -> Protection:
    """A method and its parameters, as `protection` in a release: a mapping, or the name of one without parameters.

    of_suppression : fields of the method suppression that were given beside it; None for one that was not
    raises         : TypeError, DataError, DocumentError
    """
    if not isinstance(given, str | Mapping):
        raise TypeError(
            "method must be a mapping as in a release, such as {'method': 'controlled_rounding', 'base': 5}; got "
            f"{type(given).__name__}."
        )
    written = {"method": given} if isinstance(given, str) else dict(given)
    beside = {name: value for name, value in of_suppression.items() if value is not None}
    if beside and written.get("method") != "suppression":
        raise DataError(f"{', '.join(beside)}: only for the method suppression; got {written.get('method')!r}.")
    twice = sorted(beside.keys() & written.keys())
    if twice:
        raise DataError(f"{', '.join(twice)} must be given once; got it in method and beside it.")
    return parse_document(_Method, {"method": {**written, **beside}}, "protect").method


@dataclass(frozen=True)
class TableOfRecords:
    """What a table of records adds up: see `sluice.protect`."""

    records: pd.DataFrame
    dimensions: list[Dimension]
    rules: list[SensitivityRule]
    measure: Measure

    @classmethod
    def of(
        cls,
        records: pd.DataFrame,
        dimensions: Dimensions,
        rules: object,
        value: str | None,
        contributor: str | None,
        measure: Mapping[str, Any] | None,
    ) -> "TableOfRecords":
        """Raises TypeError, DataError, DocumentError for what cannot be added up."""
        records = data_frame(records, "records")
        if measure is not None and not isinstance(measure, Mapping):
            raise TypeError(f"measure must be a mapping; got {type(measure).__name__}.")
        known = [field.name for field in fields(Measure) if field.name not in ("value", "contributor", "hashed")]
        settings = {one_of(name, "measure", known): setting for name, setting in (measure or {}).items()}
        summed = Measure(value=value, contributor=contributor, **settings)
        for name in ("value", "contributor", "holding", "weight"):
            if getattr(summed, name) is not None:
                column_name(getattr(summed, name), name, records)
        return cls(records, dimensions_of(dimensions, records), sensitivity_rules(rules), summed)

    def assumptions(self, coalition: int) -> Assumptions:
        """What attackers know, with so many contributors who pool what they contributed."""
        return attackers(self.measure, coalition)

    @property
    def frame(self) -> pd.DataFrame:
        """The records, with codes and contributors as text."""
        names = [name for name in (self.measure.contributor, self.measure.holding) if name is not None]
        columns = dict.fromkeys([*(dimension.name for dimension in self.dimensions), *names])
        return self.records.assign(**{name: texts(self.records[name]) for name in columns})

    def tabulated(self, tables: Sequence[Sequence[str]] | None, coalition: int) -> Tabulated:
        """The cells. Raises TypeError, DataError."""
        if tables is not None and (isinstance(tables, str) or any(isinstance(table, str) for table in tables)):
            raise TypeError("tables must be a list of lists of dimensions, one for each table; got text.")
        refuse_hidden_ties(self.dimensions, tables)
        found = records_of(self.frame, self.dimensions, self.measure)
        kept = max(LARGEST_KEPT, coalition, *(rule.largest_needed for rule in self.rules))
        return Tabulated(found.cells(self.dimensions, kept, tables), found.left_out, found.added_up, found.alike)


def pattern_of(table: pd.DataFrame, dimensions: Sequence[Dimension], argument: str = "table") -> Pattern:
    """The pattern in a DataFrame with the columns of the dimensions, status and value. Raises DataError."""
    columns = [*(dimension.name for dimension in dimensions), "status", "value"]
    for name in columns:
        column_name(name, argument, table)
    return read_pattern(pd.DataFrame({name: texts(table[name]) for name in columns}), dimensions)


def rows_of(table: object, name: str) -> tuple[dict[str, str], ...]:
    """The rows of a DataFrame or of a list of mappings as text; none where None is given. Raises TypeError."""
    if table is None:
        return ()
    if isinstance(table, pd.DataFrame):
        return tuple({str(key): str(text) for key, text in row.items()} for row in text_frame(table).to_dict("records"))
    if isinstance(table, str) or not isinstance(table, Sequence) or not all(isinstance(row, Mapping) for row in table):
        raise TypeError(f"{name} must be a DataFrame or a list of mappings; got {type(table).__name__}.")
    return rows_of(pd.DataFrame([dict(row) for row in table]), name) if table else ()


def frame_of(table: PublishedTable) -> pd.DataFrame:
    """What is published, as a DataFrame: numbers as numbers, missing where there is none."""

    def in_units(entries: Sequence[int | None]) -> "pd.Series[Any]":
        if not table.decimals:
            return pd.Series(entries, dtype="Int64")
        numbers = [np.nan if each is None else float(in_decimals(each, table.decimals)) for each in entries]
        return pd.Series(numbers, dtype="float64")

    numeric = ("value", "lower", "upper")
    return pd.DataFrame(
        {name: in_units(each) if name in numeric else list(each) for name, each in table.columns.items()}
    )


def text_frame(table: pd.DataFrame) -> pd.DataFrame:
    """All columns as text, as a CSV file has them."""
    return pd.DataFrame({str(column): texts(table[column]) for column in table.columns})


def texts(column: "pd.Series[Any]") -> "pd.Series[str]":
    """Codes and numbers as a CSV file has them: 3.0 is '3', a missing value ''."""
    return pd.Series(trimmed_texts(plain_array(column)).fill_null("").to_pylist(), column.index, "str")
