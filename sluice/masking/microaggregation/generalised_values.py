"""Generalised values: one text for all records of a cluster, the range or the narrowest group that holds them.

Source: Xiong (CS573 slides), "Cost Function - Information loss (IL)": the records of a cluster are generalised to share
one value that represents every value in the cluster.
"""

import numpy as np
import numpy.typing as npt
import pandas as pd

from sluice.ground.arrays import FloatArray, IntArray
from sluice.ground.taxonomy import Taxonomy
from sluice.ground.variables import as_label
from sluice.masking.microaggregation.cluster_loss import ends


def generalised_values(
    values: FloatArray, groups: IntArray, column: pd.Series, tree: Taxonomy | None
) -> npt.NDArray[np.object_]:
    """'20 to 29', of categories with a tree the lowest node that holds all of the cluster, shape (n,).

    values : shape (n,), finite; a category by its position
    groups : shape (n,), numbered from 0 without a gap
    column : where the categories have their names
    tree   : None for numbers, and for ordinal categories that are measured like numbers
    cost   : O(n log n)
    """
    lows, highs = ends(values, groups)
    if tree is not None:
        leaves = lows.astype(np.int64)
        first, last = ends(tree.nodes[values.astype(np.int64)], groups)
        levels = (first != last).sum(axis=1)
        texts = [tree.names[level][leaf] for level, leaf in zip(levels, leaves, strict=True)]
    else:
        names = column.cat.categories if isinstance(column.dtype, pd.CategoricalDtype) else None
        low, high = ([as_label(end) if names is None else names[int(end)] for end in each] for each in (lows, highs))
        texts = [one if one == other else f"{one} to {other}" for one, other in zip(low, high, strict=True)]
    return np.array(texts, dtype=object)[groups]
