"""Whether the values of a column name groups of records that belong together: those of a person, or of a household."""

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
    different = len(seen.labels[name])
    if seen.missing(name).any() or not _SIZES[0] <= seen.kept / different <= _SIZES[1]:
        return False
    agreeing = sum(_agreement(seen, name, other) is True for other in others if len(seen.labels[other]) < different)
    return agreeing >= attributes


def whose_records(seen: Overview, name: str, traits: Sequence[str]) -> bool | None:
    """Whether records that share a value of `name` are one person's, however many: they agree in all traits.

    traits  : columns of what a person keeps for life, such as the sex
    returns : None where too few share a value, or no trait varies
    cost    : O(traits n log n)
    """
    found = [agrees for trait in traits if (agrees := _agreement(seen, name, trait)) is not None]
    return all(found) if found else None


def _agreement(seen: Overview, name: str, other: str) -> bool | None:
    """Whether nearly all groups of several records agree in another column; None where that would say nothing."""
    known = ~seen.missing(name)
    groups, codes = row_groups([seen.codes[name][known]]), seen.codes[other][known]
    several = groups.size > 1
    shares = np.bincount(codes) / max(len(codes), 1)
    if several.sum() < _GROUPS or 1 - float(shares @ shares) < _VARIED:
        return None
    pairs = row_groups([groups.of, codes])
    values = np.bincount(groups.of[pairs.first], minlength=len(groups.size))
    return bool((values[several] == 1).mean() >= _AGREE)
