"""Whether the values of a column name groups of records that belong together, such as households."""

from collections.abc import Sequence

import numpy as np

from schemas.reading.overview import Overview
from sluice.risk.row_groups import row_groups

_SIZES = (1.3, 12.0)  # records of a group, on average
_GROUPS = 20  # groups of several records: of fewer, agreement is no sign
_AGREE = 0.95  # share of these groups that agree in an attribute
_ATTRIBUTES = 2  # in which they agree; one, of a column whose name says so already
_VARIED = 0.2  # separation of an attribute: one that is the same for nearly all agrees anywhere


def looks_like_groups(seen: Overview, name: str, others: Sequence[str], attributes: int = _ATTRIBUTES) -> bool:
    """Whether small groups of records share a value of `name`, and agree in so many other columns that vary.

    Only sensible where every record was kept. Cost: O(columns n log n).
    """
    groups = row_groups([seen.codes[name]])
    if seen.missing(name).any() or not _SIZES[0] <= seen.kept / len(groups.size) <= _SIZES[1]:
        return False
    several = groups.size > 1
    if several.sum() < _GROUPS:
        return False
    agreeing = 0
    for other in others:
        codes = seen.codes[other]
        sizes = np.bincount(codes)
        if 1 - float((sizes / len(codes)) @ (sizes / len(codes))) < _VARIED or len(sizes) >= len(groups.size):
            continue
        pairs = row_groups([groups.of, codes])
        values = np.bincount(groups.of[pairs.first], minlength=len(groups.size))
        agreeing += bool((values[several] == 1).mean() >= _AGREE)
    return agreeing >= attributes
