"""Categories that are intervals of numbers, such as [70-80), '10 to 19', '<5' and '65+', which have an order."""

import re
from collections.abc import Iterable
from itertools import pairwise
from math import inf

_NUMBER = r"-?[0-9]+(?:[.,][0-9]+)?"
_BETWEEN = re.compile(rf"[\[(\]]?\s*({_NUMBER})\s*(?:-|–|,|;|to|bis|a)\s*({_NUMBER})\s*[\])\[]?")
_BELOW = re.compile(rf"(?:<=?|under|below|less than|up to|unter|bis)\s*({_NUMBER})")
_ABOVE = re.compile(rf"(?:>=?|over|above|more than|from|über|ab)\s*({_NUMBER})|({_NUMBER})\s*(?:\+|and over|and more)")


def intervals_in_order(labels: Iterable[str]) -> tuple[str, ...] | None:
    """The labels from the lowest interval to the highest; None where one is no interval, or two overlap."""
    found = [(_ends(label), label) for label in labels]
    known = sorted((ends, label) for ends, label in found if ends is not None)
    ends = [each for each, _ in known]
    apart = all(before[1] <= after[0] for before, after in pairwise(ends))
    return tuple(label for _, label in known) if len(known) == len(found) > 1 and apart else None


def _ends(label: str) -> tuple[float, float] | None:
    text = label.strip().casefold()
    if between := _BETWEEN.fullmatch(text):
        low, high = map(_number, between.groups())
        return (low, high) if low <= high else None
    if below := _BELOW.fullmatch(text):
        return -inf, _number(below[1])
    if above := _ABOVE.fullmatch(text):
        return _number(above[1] or above[2]), inf
    return None


def _number(text: str) -> float:
    return float(text.replace(",", "."))
