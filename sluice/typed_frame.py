"""From any pandas frame to a typed frame with its variables, for the analyst who has a notebook and no contract."""

from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from sluice.errors import DataError
from sluice.reading import values
from sluice.reading.kind import summary_of
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
        columns[name], variables[name] = _typed(frame[name], name)
    return pd.DataFrame(columns, index=frame.index), variables


def _typed(column: pd.Series, name: str) -> tuple[pd.Series, Variable]:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return _category_column(column, name)
    seen = summary_of([column])
    array, kind = values.plain_array(column), seen.kind
    if values.is_text(array) or kind.is_categorical or kind is Kind.TEXT:
        texts = values.trimmed_texts(array)
        texts = pc.if_else(pc.is_in(texts, pa.array(seen.missing_codes, pa.string())), None, texts)
        read = {
            Kind.INTEGER: values.read_whole_numbers,
            Kind.CONTINUOUS: values.read_numbers,
            Kind.DATE: values.read_dates,
        }
        array = read[kind](texts) if kind in read else texts
    categories = None
    if kind.is_categorical:
        spelled = array.to_pylist()
        if seen.truth_categories:
            spelled = [text if text is None else values.truth(text) for text in spelled]
        made = pd.Series(spelled, index=column.index, dtype="str").astype("category")
        categories = tuple(made.cat.categories) or None
    elif kind is Kind.TEXT:
        made = pd.Series(array.to_pylist(), index=column.index, dtype="str")
    elif kind is Kind.DATE:
        made = _with_index(array.cast(values.MICROSECONDS, safe=False), column)
    elif kind is Kind.INTEGER:
        made = _with_index(array.cast(pa.int64()), column, pd.Int64Dtype())
    else:
        made = _with_index(array.cast(pa.float64(), safe=False), column)
        if made.isin([float("inf"), float("-inf")]).any():
            raise DataError(f"'{name}' holds infinite numbers; numbers must be finite or missing")
    return made, Variable(name=name, kind=kind, nullable=seen.nullable, categories=categories)


def _category_column(column: pd.Series, name: str) -> tuple[pd.Series, Variable]:
    """A column that is categories already: their labels as text, in their order."""
    labelled = column.cat.rename_categories([values.label(each) for each in column.cat.categories])
    categories = tuple(labelled.cat.categories)
    kind = Kind.ORDINAL if labelled.cat.ordered else Kind.BINARY if len(categories) == 2 else Kind.NOMINAL
    if kind is Kind.ORDINAL and not categories:
        raise DataError(f"'{name}' is ordered and has no category")
    nullable = bool(column.isna().any())
    return labelled, Variable(name=name, kind=kind, nullable=nullable, categories=categories or None)


def _with_index(array: pa.Array, column: pd.Series, dtype: Any = None) -> pd.Series:
    made: pd.Series = array.to_pandas(types_mapper=(lambda _: dtype) if dtype else None)
    return made.set_axis(column.index)
