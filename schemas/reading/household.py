"""Columns whose values name somebody: groups of records that belong together, those of a person or of a household, and
numbers of a telephone, an account, a register, a date without its dots, the row.
"""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from schemas.reading.overview import Overview
from sluice.ground import values
from sluice.risk.row_groups import row_groups

_SIZES = (1.3, 12.0)  # records of a group, on average
_GROUPS = 20  # groups of several records: of fewer, agreement is no sign
_AGREE = 0.95  # share of these groups that agree in an attribute
_ATTRIBUTES = 2  # in which they agree; one, of a column whose name says so already
_VARIED = 0.2  # separation of an attribute: one that is the same for nearly all agrees anywhere


def looks_like_groups(seen: Overview, name: str, others: Iterable[str], attributes: int = _ATTRIBUTES) -> bool:
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


_LONG = 7  # digits: amounts nearly all of which have so many, no more and no less, are rare
_ALIKE = 0.95  # share of the numbers
_RUNNING = 0.9  # share of the whole numbers from the smallest to the largest


def are_long(labels: Sequence[str | None]) -> bool:
    """Whether nearly all of some different numbers have as many digits, and many. Amounts of turnover have not."""
    digits = Counter(len(str(abs(number))) for number in _whole(labels))
    if not digits:
        return False
    length, times = digits.most_common(1)[0]
    return length >= _LONG and times >= _ALIKE * digits.total()


def are_running(labels: Sequence[str | None]) -> bool:
    """Whether some different numbers are hardly ever left out from the smallest to the largest, as numbers of rows."""
    numbers = set(_whole(labels))
    return bool(numbers) and len(numbers) >= _RUNNING * (max(numbers) - min(numbers) + 1)


def _whole(labels: Sequence[str | None]) -> list[int]:
    texts = (label.replace(",", ".") for label in labels if label is not None)
    return [int(float(text)) for text in texts if values.is_number(text)]
