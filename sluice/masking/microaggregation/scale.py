"""The scale of measurement of a column: a number, or categories with or without an order."""

from typing import Literal, NamedTuple

import pandas as pd

from sluice.ground.variables import Kind, Variable


class Scale(NamedTuple):
    """What the values of a column mean: numbers, or the positions 0, 1, ... of its categories."""

    kind: Literal["number", "ordinal", "nominal"]
    categories: int = 0  # how many there are; 0 of a number


NUMBER = Scale("number")


def scale_of(column: pd.Series, variable: Variable) -> Scale:
    if variable.kind.is_numeric:
        return NUMBER
    return Scale("ordinal" if variable.kind is Kind.ORDINAL else "nominal", len(column.cat.categories))
