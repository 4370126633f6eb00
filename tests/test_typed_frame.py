"""A frame of a notebook as a typed frame; tests/reading/test_kind.py has what its columns are taken for."""

import numpy as np
import pandas as pd
import pytest

from sluice.errors import DataError
from sluice.typed_frame import typed_frame
from sluice.variables import Kind


def test_types_are_those_of_the_kinds_and_the_index_stays() -> None:
    frame = pd.DataFrame(
        {
            "n": [1, 2, 3, 4],
            "x": [0.5, np.nan, 1.0, 2.0],
            "word": ["a", "b", None, "c"],
            "flag": [True, False, True, True],
            "when": pd.to_datetime(["2020-01-01"] * 4),
            "size": pd.Categorical(["S", "M", "S", "M"], categories=["S", "M"], ordered=True),
        },
        index=list("wxyz"),
    )
    typed, variables = typed_frame(frame)
    assert [str(variable.kind) for variable in variables.values()] == [
        "integer",
        "continuous",
        "nominal",
        "binary",
        "date",
        "ordinal",
    ]
    assert [name for name, variable in variables.items() if variable.nullable] == ["x", "word"]
    assert typed["flag"].tolist() == ["true", "false", "true", "true"]
    assert typed.index.tolist() == list("wxyz")
    assert [str(dtype) for dtype in typed.dtypes] == [
        "Int64",
        "float64",
        "category",
        "category",
        "datetime64[us]",
        "category",
    ]


def test_spellings_of_truth_are_two_categories() -> None:
    typed, variables = typed_frame(pd.DataFrame({"x": ["yes", "NO", "true", ""]}))
    assert (variables["x"].kind, variables["x"].categories) == (Kind.BINARY, ("false", "true"))
    assert typed["x"].tolist() == ["true", "false", "true", np.nan]


def test_refusals() -> None:
    with pytest.raises(DataError, match="named by texts, each once; got 0"):
        typed_frame(pd.DataFrame([[1]]))
    with pytest.raises(DataError, match="'x' holds infinite numbers"):
        typed_frame(pd.DataFrame({"x": [np.inf]}))
    with pytest.raises(DataError, match="'x' is ordered and has no category"):
        typed_frame(pd.DataFrame({"x": pd.Categorical([None], categories=[], ordered=True)}))
