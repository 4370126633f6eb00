"""From any pandas frame to a typed frame with its variables, for the analyst who has a notebook and no contract."""

import pandas as pd
from pandas.api import types

from sluice.errors import DataError
from sluice.variables import Kind, Variable, as_label


def typed_frame(frame: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, Variable]]:
    """The frame with the columns' types as masking methods take them, and what they are taken for.

    Whole numbers are integer, other numbers continuous, dates date, all else nominal with the values found; a category
    column that is ordered is ordinal, one with two categories binary. Roles are left open.

    frame  : any index, which is kept; columns named by texts
    raises : DataError for a column that is not named by a text, or named twice; for infinite numbers
    cost   : O(n) a column; columns that are typed already are not copied
    """
    variables: dict[str, Variable] = {}
    columns: dict[str, pd.Series] = {}
    for name in frame.columns:
        if not isinstance(name, str) or name in variables:
            raise DataError(f"columns must be named by texts, each once; got {name!r}")
        columns[name], variables[name] = _typed(frame[name], name)
    return pd.DataFrame(columns, index=frame.index), variables


def _typed(column: pd.Series, name: str) -> tuple[pd.Series, Variable]:
    nullable = bool(column.isna().any())
    if types.is_bool_dtype(column.dtype) or not (
        types.is_numeric_dtype(column.dtype) or types.is_datetime64_any_dtype(column.dtype)
    ):
        labels = column if isinstance(column.dtype, pd.CategoricalDtype) else column.map(as_label, na_action="ignore")
        texts = labels.astype("category")
        texts = texts.cat.rename_categories([str(as_label(each)) for each in texts.cat.categories])
        categories = tuple(texts.cat.categories)
        kind = Kind.ORDINAL if texts.cat.ordered else Kind.BINARY if len(categories) == 2 else Kind.NOMINAL
        if kind is Kind.ORDINAL and not categories:
            raise DataError(f"'{name}' is ordered and has no category")
        return texts, Variable(name=name, kind=kind, nullable=nullable, categories=categories or None)
    if types.is_integer_dtype(column.dtype):
        return column.astype("Int64"), Variable(name=name, kind=Kind.INTEGER, nullable=nullable)
    if types.is_numeric_dtype(column.dtype):
        numbers = column.astype("float64")
        if numbers.isin([float("inf"), float("-inf")]).any():
            raise DataError(f"'{name}' holds infinite numbers; numbers must be finite or missing")
        return numbers, Variable(name=name, kind=Kind.CONTINUOUS, nullable=nullable)
    return column.astype("datetime64[us]"), Variable(name=name, kind=Kind.DATE, nullable=nullable)
