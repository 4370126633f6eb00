"""Hierarchies outside a release: built, drafted from data, checked and read for the picture of them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from schemas.contract import load_contract
from schemas.declared_hierarchy import declared_hierarchy
from sluice.documents.documents import named_file, parse_document, yaml_mapping
from sluice.generalization.soundness import Remark, remarks_for, remarks_on, remarks_with
from sluice.ground.errors import DataError, DocumentError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.values import plain_array
from sluice.ground.variables import Kind, Variable
from sluice.reading.typed_column import typed_array
from sluice.sources.hierarchy_file import read_hierarchy
from tasks.workbench.tabular_file import errors_of, table_source


def declared_variable(contract_file: Path, name: str) -> Variable:
    """A variable of a contract. Raises DocumentError."""
    variables = load_contract(contract_file).by_name
    if name not in variables:
        raise DocumentError(f"{contract_file}: has no variable '{name}'.", came=name, allowed=variables)
    return variables[name]


def hierarchy_in(source: Path, name: str | None = None) -> Hierarchy:
    """The hierarchy of a CSV file, or of a variable of a contract. Raises DataError, DocumentError."""
    if source.suffix not in (".yaml", ".yml"):
        return read_hierarchy(source)
    if name is None:
        raise DocumentError(f"{source}: name the variable whose hierarchy is meant: --variable NAME")
    hierarchy = declared_variable(source, name).hierarchy
    if hierarchy is None:
        raise DocumentError(f"{source}: '{name}' has no hierarchy")
    return hierarchy


def built_hierarchy(written: str, variable: Variable) -> Hierarchy:
    """The hierarchy that a text asks for in the words of a contract, 'intervals: [5, 10]'. Raises DocumentError."""
    text = written.strip()
    return hierarchy_as_written(
        yaml_mapping(text if text.startswith("{") else f"{{{text}}}", "the hierarchy"), variable
    )


def hierarchy_as_written(given: Mapping[str, Any], variable: Variable) -> Hierarchy:
    """The hierarchy in the form that a contract holds after `hierarchy:`. Raises DocumentError."""
    domain: Mapping[str, Any] = variable.model_dump(exclude={"hierarchy"})
    made = declared_hierarchy(given, domain, Path(), "the hierarchy", named_file)
    return made if isinstance(made, Hierarchy) else parse_document(Hierarchy, dict(made or {}), "the hierarchy")


def value_counts(data: Path, column: str, variable: Variable | None = None) -> Counter[str]:
    """How many records of a file have each value, as `counts_of`. Raises DataError for a file that cannot be read."""
    with errors_of(data):
        return counts_of((batch[column] for batch in table_source(data).batches([column])), column, variable)


def counts_of(parts: "Iterable[pd.Series[Any]]", name: str, variable: Variable | None = None) -> Counter[str]:
    """How many records have each value, by its text as a leaf; missing ones and missing codes are left out.

    parts  : of the column, one after the other
    raises : DataError, with a count, for values that the variable's kind does not have
    cost   : O(n)
    """
    of = variable or Variable(name=name, kind=Kind.NOMINAL)
    if of.kind.is_categorical:  # whatever is found, declared or not
        of = of.model_copy(update={"kind": Kind.NOMINAL, "categories": None})
    counts: Counter[str] = Counter()
    wrong = 0
    for part in parts:
        typed, problems = typed_array(plain_array(part), of)
        wrong += sum(problems.values())
        if pa.types.is_dictionary(typed.type):
            typed = typed.dictionary_decode()
        if pa.types.is_timestamp(typed.type):
            typed = pc.strftime(typed, format="%Y-%m-%d")
        found = typed.drop_null().value_counts()
        texts = map(str, found.field("values").to_pylist())
        counts.update(dict(zip(texts, found.field("counts").to_pylist(), strict=True)))
    if wrong:
        raise DataError(f"'{name}': {wrong:,} values cannot be read as {of.kind}")
    return counts


def check_hierarchy(
    source: Path, variable: Variable | None = None, data: Path | None = None, column: str | None = None
) -> tuple[Hierarchy, list[Remark]]:
    """The hierarchy of a CSV file, and what is wrong with it or may be.

    variable : whose declared domain it should cover
    data     : records whose values should be leaves, in `column`, or in one of the variable's name
    raises   : DataError, DocumentError, for a file that holds no hierarchy, too
    """
    hierarchy = read_hierarchy(source)
    remarks = list(remarks_on(hierarchy))
    if variable is not None:
        remarks += remarks_for(hierarchy, variable)
    if data is not None:
        named = column or (variable.name if variable else None)
        if named is None:
            raise DocumentError("name the column of the data that holds the values", field="--column")
        counts = value_counts(data, named, variable)
        remarks += remarks_with(hierarchy, counts, (variable and variable.categories) or ())
    return hierarchy, remarks
