"""What `sluice.protect` and `sluice.audit` take, as a specification of a table: the arguments are its fields."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from policies.waivers import Waiver
from sluice.documents.document_reading import read_yaml
from sluice.ground.errors import DataError
from sluice.sources.hierarchy_file import read_rows
from sluice.sources.perturbation_file import read_intervals
from sluice.tabular.rules.sensitivity import SensitivityRule
from tasks.workbench.arguments import column_name, data_frame, document, whole_number
from tasks.workbench.standalone_table import StandaloneTable
from tasks.workbench.tabulation import text_frame, texts

Hierarchy = pd.DataFrame | Mapping[str, str] | Path | str
Dimensions = Sequence[str] | Mapping[str, Hierarchy | Sequence[Hierarchy] | None]
Total = Mapping[str, str] | str | None
Rule = SensitivityRule | Mapping[str, Any]
Waivers = Sequence[Mapping[str, Any]] | Path | str | None

_HIERARCHY = (
    "a mapping of each code to its parent, a DataFrame with the columns code and parent, a path, a list of these, or "
    "None"
)


def table_of_records(
    records: pd.DataFrame,
    dimensions: Dimensions,
    rules: object,
    value: str | None,
    contributor: str | None,
    measure: Mapping[str, Any] | None,
    tables: Sequence[Sequence[str]] | None,
    coalition: int,
    *,
    total: Total = None,
    measures: Sequence[str] = (),
    cells: object = None,
    method: object = "suppression",
    waivers: Waivers = None,
    a_priori: object = None,
    **of_suppression: Any,
) -> StandaloneTable:
    """The table that the arguments of `sluice.protect` specify, of columns of the records.

    a_priori, of_suppression : fields of the method suppression that stand beside it; None for one that does not
    raises                   : TypeError, DataError, DocumentError
    """
    records = data_frame(records, "records")
    if measure is not None and not isinstance(measure, Mapping):
        raise TypeError(f"measure must be a mapping; got {type(measure).__name__}.")
    table = StandaloneTable.of(
        {
            "dimensions": _dimensions(dimensions, records, total),
            "measures": list(measures),
            "cells": dict(cells) if isinstance(cells, Mapping) else cells,
            "measure": _once("measure", measure or {}, variable=value, contributor=contributor),
            "tables": _tables(tables),
            "protection": _protection(method, a_priori=list(rows_of(a_priori, "a_priori")) or None, **of_suppression),
            **_rules_by_measure(rules),
            "table_attackers": {"coalition": whole_number(coalition, "coalition", 0)},
            "waivers": _waivers(waivers),
        },
        "the table",
    )
    for variable in table.measures:
        column_name(variable, "measures", records)
    summed = table.measure.measure
    for name in ("value", "contributor", "holding", "weight"):
        if getattr(summed, name) is not None:
            column_name(getattr(summed, name), name, records)
    return table


def table_of_cells(
    cells: pd.DataFrame,
    dimensions: Dimensions,
    rules: object,
    tables: Sequence[Sequence[str]] | None,
    total: Total = None,
) -> StandaloneTable:
    """The table whose cells alone are known. Raises TypeError, DataError, DocumentError."""
    written = {
        "dimensions": _dimensions(dimensions, cells, total),
        "tables": _tables(tables),
        "rules": [] if rules is None else _rules(rules),
    }
    return StandaloneTable.of(written, "the table")


def rows_of(table: object, name: str) -> tuple[dict[str, str], ...]:
    """The rows of a DataFrame or of a list of mappings as text; none where None is given. Raises TypeError."""
    if table is None:
        return ()
    if isinstance(table, pd.DataFrame):
        return tuple({str(key): str(text) for key, text in row.items()} for row in text_frame(table).to_dict("records"))
    if isinstance(table, str) or not isinstance(table, Sequence) or not all(isinstance(row, Mapping) for row in table):
        raise TypeError(f"{name} must be a DataFrame or a list of mappings; got {type(table).__name__}.")
    return rows_of(pd.DataFrame([dict(row) for row in table]), name) if table else ()


def _dimensions(given: Dimensions, frame: pd.DataFrame, total: Total) -> list[dict[str, Any]]:
    """As a specification writes them; the first of several hierarchies is that of the dimension."""
    if total is not None and not isinstance(total, str | Mapping):
        raise TypeError(f"total must be a code, or a mapping of dimensions to codes; got {type(total).__name__}.")
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
    written = []
    for name, hierarchy in hierarchies.items():
        column_name(name, "dimensions", frame)
        several = hierarchy if isinstance(hierarchy, list | tuple) else [] if hierarchy is None else [hierarchy]
        rows = [_rows_in(name, each) for each in several]
        written.append({"variable": name, "hierarchy": rows[0] if rows else None, "groupings": rows[1:]})
        if (called := total if isinstance(total, str) else (total or {}).get(str(name))) is not None:
            written[-1]["total"] = called
    if strange := sorted((total.keys() if isinstance(total, Mapping) else set()) - hierarchies.keys()):
        raise DataError(
            f"total names '{strange[0]}', and no dimension is called so.", came=strange[0], allowed=hierarchies
        )
    return written


def _rows_in(name: str, hierarchy: object) -> list[tuple[str, str]]:
    """(code, parent) of a hierarchy in any form."""
    if isinstance(hierarchy, str | Path):
        return read_rows(document(hierarchy, f"the hierarchy of {name!r}", _HIERARCHY))
    if isinstance(hierarchy, Mapping):
        return [(str(code), str(parent or "")) for code, parent in hierarchy.items()]
    if not isinstance(hierarchy, pd.DataFrame):
        raise TypeError(f"the hierarchy of {name!r} must be {_HIERARCHY}; got {type(hierarchy).__name__}.")
    for column in ("code", "parent"):
        if column not in hierarchy.columns:
            raise DataError(f"the hierarchy of {name!r} must have the columns code and parent; {column} is missing.")
    return list(zip(texts(hierarchy["code"]), texts(hierarchy["parent"]), strict=True))


def _tables(tables: object) -> list[dict[str, Any]]:
    if tables is None:
        return []
    if isinstance(tables, str) or not isinstance(tables, Sequence) or any(isinstance(table, str) for table in tables):
        raise TypeError("tables must be a list of lists of dimensions, one for each table; got text.")
    return [{"name": f"table-{number}", "dimensions": list(table)} for number, table in enumerate(tables, start=1)]


def _rules_by_measure(rules: object) -> dict[str, Any]:
    """The rules; or those of each measure, where they are given by its name."""
    if isinstance(rules, Mapping) and "rule" not in rules:
        return {"rules_of": {name: _rules(each) for name, each in rules.items()}}
    return {"rules": _rules(rules)}


def _rules(rules: object) -> list[Any]:
    written = [rules] if isinstance(rules, SensitivityRule | Mapping) else rules
    if not isinstance(written, Sequence) or not all(isinstance(rule, SensitivityRule | Mapping) for rule in written):
        raise TypeError(
            "rules must be a list of mappings as in a policy, such as [{'rule': 'p_percent', 'p': 10}]; got "
            f"{type(rules).__name__}."
        )
    if not written:
        raise DataError("rules must say which cells are sensitive, such as [{'rule': 'p_percent', 'p': 10}].")
    return [rule if isinstance(rule, SensitivityRule) else dict(rule) for rule in written]


def _protection(method: object, **of_suppression: Any) -> dict[str, Any]:
    if not isinstance(method, str | Mapping):
        raise TypeError(
            "method must be a mapping as in a release, such as {'method': 'controlled_rounding', 'base': 5}; got "
            f"{type(method).__name__}."
        )
    written = {"method": method} if isinstance(method, str) else dict(method)
    if isinstance(file := written.get("p_table"), str | Path):
        written["p_table"] = read_intervals(Path(file))
    beside = [name for name, value in of_suppression.items() if value is not None]
    if beside and written.get("method") != "suppression":
        raise DataError(f"{', '.join(beside)}: only for the method suppression; got {written.get('method')!r}.")
    return _once("method", written, **of_suppression)


def _waivers(given: Waivers) -> list[Any]:
    if isinstance(given, str | Path):
        file = document(given, "waivers", "a list of mappings as in a policy, or the path of a YAML file")
        return list(read_yaml(file, list_is="waivers").get("waivers", []))
    return [waiver if isinstance(waiver, Waiver) else dict(waiver) for waiver in given or ()]


def _once(name: str, written: Mapping[str, Any], **beside: Any) -> dict[str, Any]:
    """A mapping with what was given beside it. Raises DataError for what was given twice."""
    given = {field: value for field, value in beside.items() if value is not None}
    if twice := sorted(given.keys() & written.keys()):
        raise DataError(f"{', '.join(twice)} must be given once; got it in {name} and beside it.")
    return {**written, **given}
