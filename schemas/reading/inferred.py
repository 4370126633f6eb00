"""A contract inferred from a table that has none: enough to try a masking method, never enough to release.

Kinds are those that the values show (sluice.reading.kind). No bounds are known, and no order: both are knowledge about
the variable, which a contract declares.
"""

from collections.abc import Mapping

import pandas as pd

from schemas.contract import Contract
from sluice.ground.errors import DataError
from sluice.ground.variables import Kind, Role, Variable
from sluice.ground.visible_text import one_line, unseen
from sluice.reading.kind import ColumnSummary, summary_of


def inferred_contract(
    table: pd.DataFrame, dataset: str, roles: Mapping[Role, str], kinds: Mapping[str, Kind] | None = None
) -> Contract:
    """A contract that fits the table, with roles for the columns that the user named and `other` for the rest.

    kinds : of columns for which the user knows better; the categories of an ordinal one are in the order of their
            numbers, or of the alphabet
    table : raw columns as a source yields them (pandas.ArrowDtype): text, where an empty cell is '', or native values
    raises: DataError for a column without a name, or with one that is not what it looks
            like, or that cannot have the role that was named
    cost  : O(n) a column
    """
    if any(not name for name in table.columns.astype("str")):
        raise DataError(f"{dataset}: a column has no name. Is it the row numbers of the program that wrote the file?")
    for name in table.columns.astype("str"):
        if character := unseen(name, one_line=True):
            raise DataError(f"{dataset}: the name of a column holds {character}: '{one_line(name)}'. Rename it.")
    of_column = {name: role for role, name in roles.items()}
    known = kinds or {}
    variables = tuple(
        _variable(name, summary_of([table[name]]), of_column.get(name, Role.OTHER), known.get(name))
        for name in table.columns.astype("str")
    )
    return Contract(dataset=one_line(dataset), version="inferred", variables=variables)


def _variable(name: str, seen: ColumnSummary, role: Role, known: Kind | None) -> Variable:
    kind = known or seen.kind
    if role is Role.WEIGHT and not kind.is_numeric:
        raise DataError(f"'{name}' cannot be the {role}, which is a number; its values are {kind}.")
    if kind is Kind.ORDINAL and any(unseen(category, one_line=True) for category in seen.categories):
        raise DataError(f"'{name}' has categories with characters that nobody sees or that break a line; clean it.")
    return seen.variable(name, role, known)
