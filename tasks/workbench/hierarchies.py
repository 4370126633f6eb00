"""Hierarchies outside a release, the ever wider groups in which each value lies: built, read, drafted and checked.

`sluice.hierarchy` shows one in a notebook; `sluice hierarchy` has a command for each.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from schemas.contract import load_contract
from schemas.declared_hierarchy import declared_hierarchy
from sluice.documents.document_reading import named_file, parse_document, yaml_mapping
from sluice.generalization.draft import draft_hierarchy
from sluice.generalization.hierarchy_review import (
    Remark,
    outline,
    remarks_for,
    remarks_on,
    remarks_with,
    summaries,
)
from sluice.ground.errors import DataError, DocumentError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.values import plain_array
from sluice.ground.variables import Kind, Variable, as_label
from sluice.reading.typed_column import typed_array
from sluice.sources.hierarchy_file import read_hierarchy
from sluice.sources.separate_reading import read_here
from tasks.workbench.arguments import document, whole_number
from tasks.workbench.hierarchy_picture import draw
from tasks.workbench.records import Columns, ContractGiven
from tasks.workbench.result import Figure, Result, axes
from tasks.workbench.tabular_file import errors_of, table_source

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HOW = "a mapping such as {'intervals': [5, 10]}, or the path of a CSV file"


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
        return counts_of(
            (batch[column] for batch in read_here(table_source(data), [column], keep=False)), column, variable
        )


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
        wrong += sum(pc.sum(cells).as_py() for cells in problems.values())
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


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class HierarchyTree(Result):
    """A hierarchy.

    hierarchy : as a contract's variable holds it; Hierarchy.rows is leaf: its groups
    written   : what a contract may hold after `hierarchy:`; None for one that was read from a file
    counts    : records of each value, where records were given
    """

    leaves: Annotated[int, Figure("values", "that are grouped")]
    levels: Annotated[int, Figure("levels", "above them")]
    narrowest: Annotated[int, Figure("groups", "of the narrowest level")]
    widest: Annotated[int, Figure("groups", "of the widest level")]
    outside: Annotated[int | None, Figure("records", "whose value is not in the hierarchy")]
    hierarchy: Hierarchy
    written: dict[str, Any] | None
    name: str
    counts: dict[str, int] | None
    minimum_cell: int

    @property
    def says(self) -> str:
        told = "" if self.outside is None else f" {self.outside:,} records have a value that is not in it."
        many = "level" if self.levels == 1 else "levels"
        return f"{self.leaves:,} values of {self.name} in {self.levels} {many} of ever wider groups.{told}"

    @property
    def rows(self) -> pd.DataFrame:
        """One row a leaf: columns leaf, level 1, level 2, ..."""
        names = ["leaf", *(f"level {level}" for level in range(1, self.levels + 1))]
        return pd.DataFrame([(leaf, *groups) for leaf, groups in self.hierarchy.rows.items()], columns=names)

    @property
    def table(self) -> pd.DataFrame:
        """Each level: its groups, the leaves of the smallest and the largest, and groups below the minimum cell."""
        found = pd.DataFrame(summaries(self.hierarchy, self.counts, self.minimum_cell))
        return found if self.counts is not None else found.drop(columns="below_cell")

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """The groups as blocks; with records, their counts of each level that has no group below the minimum cell."""
        ax = axes(ax)
        draw(outline(self.hierarchy, None, self.counts, self.minimum_cell), ax)
        ax.set_xlabel("from the values to the widest groups")
        return ax


def hierarchy(
    how: Mapping[str, Any] | str | Path | None = None,
    *,
    records: "pd.Series[Any] | None" = None,
    values: Iterable[object] | None = None,
    ordered: bool = False,
    minimum: object = None,
    maximum: object = None,
    contract: ContractGiven | None = None,
    variable: str | None = None,
    minimum_cell: int = 10,
) -> HierarchyTree:
    """The ever wider groups in which each value of a variable lies.

    how          : as a contract writes it, such as {"intervals": [5, 10, 20]}; or the path of a CSV file. When it is
                   not given, a draft that is balanced by the records and tells of no rare value
    records      : values of people, to count those outside the hierarchy, or to draft one from
    values       : the declared domain: categories, from the lowest when they are `ordered`
    minimum, maximum : or whole numbers or days from one to the other
    contract, variable : or what a contract declares
    minimum_cell : records that a group holds at least, or its level has no counts
    raises       : TypeError, DataError, DocumentError
    source       : Prasser, Eicher, Spengler, Bild and Kuhn (2020)
    """
    cell = whole_number(minimum_cell, "minimum_cell", 1)
    declared = _declared(contract, variable) or _domain(values, ordered, minimum, maximum, records)
    counts = None if records is None else dict(counts_of([_series(records)], declared.name, declared))
    written: dict[str, Any] | None = None
    if how is None:
        if counts is None:
            raise DataError("how: say how the hierarchy is built, or give the records that a draft is balanced by.")
        builder = draft_hierarchy(declared, counts, cell)
        written, made = builder.model_dump(mode="json", exclude_defaults=True), builder.build(declared)
    elif isinstance(how, Mapping):
        written, made = dict(how), hierarchy_as_written(how, declared)
    elif isinstance(how, str | Path):
        made = read_hierarchy(document(how, "how", _HOW))
    else:
        raise TypeError(f"how must be {_HOW}; got {type(how).__name__}.")
    groups = [len(set(made.at_level(level).values())) for level in (1, made.depth)]
    return HierarchyTree(
        leaves=len(made.rows),
        levels=made.depth,
        narrowest=groups[0],
        widest=groups[1],
        outside=None if counts is None else sum(n for value, n in counts.items() if value not in made.rows),
        hierarchy=made,
        written=written,
        name=declared.name,
        counts=counts,
        minimum_cell=cell,
    )


def _declared(contract: ContractGiven | None, variable: str | None) -> Variable | None:
    if (contract is None) != (variable is None):
        raise DataError("contract and variable go together: give both, or neither.")
    if contract is None or variable is None:
        return None
    variables = Columns(contract).contract_for(pd.DataFrame()).by_name
    if variable not in variables:
        raise DataError(f"the contract has no {variable!r}.", field="variable", came=variable, allowed=variables)
    return variables[variable]


def _domain(
    values: Iterable[object] | None, ordered: bool, minimum: object, maximum: object, records: object
) -> Variable:
    name = str(getattr(records, "name", None) or "the variable")
    if values is not None:
        labels = tuple(str(as_label(value)) for value in values)
        return Variable(name=name, kind=Kind.ORDINAL if ordered else Kind.NOMINAL, categories=labels)
    if minimum is None or maximum is None:
        return Variable(name=name, kind=Kind.NOMINAL)
    first, last = (end if isinstance(end, int | float) else str(end) for end in (minimum, maximum))
    kind = Kind.DATE if isinstance(first, str) else Kind.INTEGER
    return Variable(name=name, kind=kind, minimum=first, maximum=last)


def _series(records: object) -> "pd.Series[Any]":
    if not isinstance(records, pd.Series):
        raise TypeError(f"records must be a column, such as frame['age']; got {type(records).__name__}.")
    return records
