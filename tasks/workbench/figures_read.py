"""Published figures beside a table, such as rates and their denominators, by the cells that they are of."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from sluice.ground.errors import DataError
from sluice.ground.values import NUMBER
from sluice.publication.pattern_file import Pattern
from sluice.tabular.editions.figures_beside import Figures, half_unit
from sluice.tabular.model.cells import keys_of
from tasks.workbench.tabular_file import errors_of, read_text, with_points
from tasks.workbench.tabulation import text_frame


def read_figures(tables: Sequence[Path] | Sequence[pd.DataFrame], pattern: Pattern) -> list[Figures]:
    """The columns of numbers in published tables of the same cells; see `FiguresBeside`.

    A table without the column of a dimension has cells of its total. Cells of other codes, and marks in place of
    numbers, are passed over.

    raises : DataError, which names the table: it has none of the dimensions, no number, or gives a cell twice
    """
    found: list[Figures] = []
    given: list[Path | pd.DataFrame] = [*tables]
    for at, table in enumerate(given, start=1):
        if isinstance(table, pd.DataFrame):
            try:
                found += _figures(text_frame(table), f"beside {at}", pattern)
            except DataError as error:
                raise DataError(f"beside {at} {error}") from None
        else:
            with errors_of(table):
                found += _figures(read_text(table), table.name, pattern)
    return found


def _figures(frame: pd.DataFrame, name: str, pattern: Pattern) -> list[Figures]:
    own = [dimension for dimension in pattern.dimensions if dimension.name in frame]
    if not own:
        names = ", ".join(dimension.name for dimension in pattern.dimensions)
        raise DataError(f"has none of the dimensions: {names}. Its columns are: {', '.join(map(str, frame))}")
    frame = frame[np.logical_and.reduce([frame[each.name].isin(each.position) for each in own])]
    codes = np.zeros((len(frame), len(pattern.dimensions)), dtype=np.int32)
    for axis, dimension in enumerate(pattern.dimensions):
        if dimension in own:
            codes[:, axis] = [dimension.position[code] for code in frame[dimension.name]]
    given, keys = keys_of(pattern.dimensions, codes), keys_of(pattern.dimensions, pattern.codes)
    if len(np.unique(given)) < len(given):
        raise DataError("gives a cell twice. Name a table of the cells of one year, or of one unit")
    order = np.argsort(keys)
    at = order[np.minimum(np.searchsorted(keys[order], given), len(keys) - 1)]
    same = keys[at] == given
    found = []
    for column in frame.columns.difference([each.name for each in own], sort=False):
        texts = with_points(frame[[column]], [column])[column][same]
        numeric = texts.str.fullmatch(NUMBER).to_numpy(dtype=bool)
        if numeric.any():
            value = np.full(len(pattern), np.nan)
            value[at[same][numeric]] = texts[numeric].astype(np.float64)
            found.append(Figures(f"{column} in {name}", value, half_unit(texts[numeric].tolist())))
    if not found:
        raise DataError("has no figure of a cell of the table")
    return found
