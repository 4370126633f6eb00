"""Numbers of contributors as a table of counts, which is linked to the table of values by its pattern."""

from dataclasses import replace

import numpy as np

from sluice.tabular.model.cells import Cells


def contributor_counts(cells: Cells) -> Cells | None:
    """The same cells, each holding how many contribute to it, each contributor counting 1.

    None where these numbers do not add up: where a contributor is in several parts of a cell, or counts as a fraction.
    Then the numbers bound each other, but no sum holds between them.
    """
    number = cells.contributors
    if (np.abs(cells.equations @ number.astype(np.float64)) > 0.5).any():
        return None
    ones = (np.arange(cells.largest.shape[1]) < number[:, None]).astype(np.int64)
    return replace(cells, total=number, largest=ones, decimals=0, sizes=None)
