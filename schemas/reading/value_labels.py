"""The codes that a file labels: which of them a draft may list, and what they are.

A code list that somebody wrote names codes that nobody has, too, so a rare one in it tells of nobody. Programs also
make labels of the texts that they find: then every one is somebody's, and the rare ones single people out.
"""

from collections.abc import Sequence

from sluice.ground.variables import Kind
from sluice.ground.visible_text import unseen
from sluice.reading.kind import ColumnSummary
from sluice.sources.description import ColumnDescription

_MANY = 60  # labels that few records have each: of fewer they are rare categories


def labelled_codes(column: ColumnSummary, said: ColumnDescription) -> tuple[str, ...] | None:
    """The codes that the file labels, where these are all that occur; None where it labels none, or not all."""
    codes = tuple(code for code in said.labels if not said.is_missing(code) and not unseen(code, one_line=True))
    return codes if codes and column.known and column.categories and set(column.categories) <= set(codes) else None


def may_be_listed(codes: Sequence[str], column: ColumnSummary, minimum_cell: int) -> bool:
    """Whether none of the codes is rare, or as many as are rare occur nowhere, so that nobody knows which do."""
    unused = sum(code not in column.categories for code in codes)
    return len(_rare(codes, column, minimum_cell)) <= unused


def are_names(codes: Sequence[str], column: ColumnSummary, minimum_cell: int) -> bool:
    """Whether most labels are of few records each, and many: of people, or of what they wrote."""
    rare = len(_rare(codes, column, minimum_cell))
    return rare > _MANY and 2 * rare > len(codes)


def kind_of_codes(codes: Sequence[str], said: ColumnDescription) -> Kind:
    if said.measure == "ordinal":
        return Kind.ORDINAL
    return Kind.BINARY if len(codes) == 2 else Kind.NOMINAL


def _rare(codes: Sequence[str], column: ColumnSummary, minimum_cell: int) -> list[str]:
    return [code for code in codes if 0 < column.categories.get(code, 0) < minimum_cell]
