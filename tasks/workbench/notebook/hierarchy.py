"""`sluice.hierarchy`: the ever wider groups in which each value lies, built, read or drafted."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import pandas as pd

from sluice.generalization.draft import draft_hierarchy
from sluice.generalization.hierarchy_review import outline, summaries
from sluice.ground.errors import DataError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.variables import Kind, Variable, as_label
from sluice.sources.hierarchy_file import read_hierarchy
from tasks.workbench.arguments import document, whole_number
from tasks.workbench.hierarchy import counts_of, draw, hierarchy_as_written
from tasks.workbench.records import Columns, ContractGiven
from tasks.workbench.result import Figure, Result, axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HOW = "a mapping such as {'intervals': [5, 10]}, or the path of a CSV file"


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
