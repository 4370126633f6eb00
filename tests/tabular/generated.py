"""Generated business tables of several kinds: sparse, mostly sensitive, heavy tails; records in hierarchies.

Every table follows from its seed alone. Counts have a value of 1 in each record.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from sluice.tabular.model.aggregation import LARGEST_KEPT, aggregate
from sluice.tabular.model.cells import Cells
from sluice.tabular.model.dimension import Dimension

Fan = int | tuple[int, int]


@dataclass(frozen=True)
class Shape:
    """How a table is generated.

    fans      : for each dimension how many parts a code of each level has, or between what
    records   : the mean number in a cell of leaves
    spread    : of the logarithm of a record's value; 0 makes counts
    empty     : share of the cells of leaves that are empty
    evenness  : of the numbers of records; the smaller, the more cells with few
    several   : share of the records whose contributor may have others
    """

    seed: int
    fans: Sequence[Sequence[Fan]]
    records: float
    spread: float
    empty: float = 0.1
    evenness: float = 1.0
    several: float = 0.0


SHAPES = {
    "2-D": Shape(11, [[4, 3], [5]], 6, 1.0),
    "wide 2-D": Shape(12, [[12, 3], [6, 4]], 8, 1.2),
    "sparse": Shape(13, [[4, 3], [3, 3], [4]], 2, 1.2, empty=0.3),
    "mostly sensitive": Shape(14, [[5, 3], [4, 3], [4]], 1.2, 1.5, empty=0.2, evenness=0.5),
    "heavy tails": Shape(15, [[4, 3], [3, 3], [4]], 12, 2.2),
    "heavy tails, 2-D": Shape(16, [[6, (2, 5)], [5, (2, 4)]], 20, 2.5),
    "deep": Shape(17, [[3, (2, 4), (2, 3)], [3, (2, 3)], [3]], 8, 1.3),
    "several records": Shape(18, [[4, (2, 4)], [3, (3, 4)], [4]], 6, 1.4, several=0.3),
    "large and sparse": Shape(19, [[5, (3, 4)], [4, 3], [5]], 3, 1.3, empty=0.3, evenness=0.6),
    "large, mostly sensitive": Shape(20, [[5, (3, 5)], [4, (3, 4)], [4]], 1.5, 1.6, empty=0.2, evenness=0.5),
    "counts": Shape(22, [[4, 3], [3, 3], [4]], 4, 0),
    "many counts": Shape(23, [[5, (3, 4)], [4, 3], [5]], 4, 0, evenness=0.5),
    "10,000 cells": Shape(21, [[5, (2, 4), (2, 4)], [4, 3, (2, 3)], [3]], 15, 1.2),
}


@lru_cache
def generated(name: str) -> Cells:
    """One of `SHAPES`."""
    return table_of(SHAPES[name])


def table_of(shape: Shape, kept: int = LARGEST_KEPT) -> Cells:
    """The cells of a generated table; so many of the largest contributions of each are kept."""
    rng = np.random.default_rng(shape.seed)
    dimensions = [_tree("abcde"[axis], fans, rng) for axis, fans in enumerate(shape.fans)]
    sizes = [len(dimension.leaves) for dimension in dimensions]
    mean = np.full(sizes, shape.records) * rng.gamma(shape.evenness, 1 / shape.evenness, sizes)
    for axis, size in enumerate(sizes):
        weight = rng.lognormal(0, 0.6, size)
        mean *= np.expand_dims(weight / weight.mean(), [other for other in range(len(sizes)) if other != axis])
    mean[rng.random(sizes) < shape.empty] = 0
    number = rng.poisson(mean)
    at = np.repeat(np.arange(number.size), number.ravel())
    parts = np.unravel_index(at, sizes)
    leaves = np.column_stack([d.leaves[part] for d, part in zip(dimensions, parts, strict=True)]).astype(np.int32)
    value = np.maximum(1, np.rint(np.exp(rng.normal(3, shape.spread, len(at))))) if shape.spread else np.ones(len(at))
    contributor = np.arange(len(at))
    some = rng.random(len(at)) < shape.several
    contributor[some] = rng.integers(0, max(1, len(at) // 3), int(some.sum()))
    return aggregate(dimensions, leaves, contributor, value.astype(np.int64), kept)


def _tree(name: str, fans: Sequence[Fan], rng: np.random.Generator) -> Dimension:
    rows, level = [("Total", "")], ["Total"]
    for fan in fans:
        below = []
        for code in level:
            number = fan if isinstance(fan, int) else int(rng.integers(fan[0], fan[1] + 1))
            parts = [f"{'' if code == 'Total' else code}.{name}{part}" for part in range(number)]
            rows += [(part, code) for part in parts]
            below += parts
        level = below
    return Dimension.of(name, rows)
