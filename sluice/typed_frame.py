"""From any pandas frame to a typed frame with its variables, for the analyst who has a notebook and no contract."""

import pandas as pd

from sluice.errors import DataError
from sluice.reading.kind import summary_of
from sluice.reading.typed_column import as_series, typed_array
from sluice.reading.values import label, plain_array
from sluice.variables import Kind, Variable


def typed_frame(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Variable]]:
    """The frame with the columns' types as masking methods take them, and what they are taken for.

    The kind is what the values show (sluice.reading.kind); a category column that is ordered is ordinal. Categories
    are those found, of a category column those of its type. Roles are left open.

    frame  : any index, which is kept; columns named by texts
    raises : DataError for a column that is not named by a text, or named twice; for infinite numbers
    cost   : O(n) a column
    """
    variables: dict[str, Variable] = {}
    columns: dict[str, pd.Series] = {}
    for name in frame.columns:
        if not isinstance(name, str) or name in variables:
            raise DataError(f"columns must be named by texts, each once; got {name!r}")
        is_category = isinstance(frame[name].dtype, pd.CategoricalDtype)
        columns[name], variables[name] = (_category_column if is_category else _typed)(frame[name], name)
    return pd.DataFrame(columns, index=frame.index), variables


def _typed(column: pd.Series, name: str) -> tuple[pd.Series, Variable]:
    variable = summary_of([column]).variable(name)
    array, problems = typed_array(plain_array(column), variable)
    if problems:
        raise DataError(f"'{name}' holds infinite numbers; numbers must be finite or missing")
    categories = tuple(array.dictionary.to_pylist()) or None if variable.kind.is_categorical else None
    variable = variable.model_copy(update={"categories": categories, "missing_codes": ()})
    return as_series(array, variable).set_axis(column.index), variable


def _category_column(column: pd.Series, name: str) -> tuple[pd.Series, Variable]:
    """A column that is categories already: their labels as text, in their order."""
    labelled = column.cat.rename_categories([label(each) for each in column.cat.categories])
    categories = tuple(labelled.cat.categories)
    kind = Kind.ORDINAL if labelled.cat.ordered else Kind.BINARY if len(categories) == 2 else Kind.NOMINAL
    if kind is Kind.ORDINAL and not categories:
        raise DataError(f"'{name}' is ordered and has no category")
    nullable = bool(column.isna().any())
    return labelled, Variable(name=name, kind=kind, nullable=nullable, categories=categories or None)
