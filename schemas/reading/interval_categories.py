"""Categories that are intervals of numbers, such as [70-80), '10 to 19', '<5' and '65+', which have an order."""

import re
from collections.abc import Collection, Iterable
from itertools import pairwise
from math import inf

_UNIT = re.compile(
    r"^(age[ds]?|alter|edad|idade)\b:?|\b(years?|yrs?|jahren?|ans|anos|años|anni|jaar|lata)\b( old| of age| alt)?"
)
_NUMBER = r"-?[0-9]+(?:[.,][0-9]+)?"
_FEWEST = 3  # groups of ages
_BETWEEN = re.compile(rf"[\[(\]]?\s*({_NUMBER})\s*(?:-|–|,|;|to|bis|a)\s*({_NUMBER})\s*[\])\[]?")
_BELOW = re.compile(rf"(?:<=?|under|below|less than|up to|unter|bis)\s*({_NUMBER})")
_ABOVE = re.compile(
    rf"(?:>=?|over|above|more than|from|über|ab)\s*({_NUMBER})|({_NUMBER})\s*"
    r"(?:\+|(?:and|or|&) (?:over|more|older|above|up)|und (?:älter|mehr)|et plus|y más|o más)"
)


def intervals_in_order(labels: Iterable[str]) -> tuple[str, ...] | None:
    """The labels from the lowest interval to the highest; None where one is no interval, or two overlap."""
    found = [(_ends(label), label) for label in labels]
    known = sorted((ends, label) for ends, label in found if ends is not None)
    ends = [each for each, _ in known]
    apart = all(before[1] <= after[0] for before, after in pairwise(ends))
    return tuple(label for _, label in known) if len(known) == len(found) > 1 and apart else None


_TOP = (40.0, 100.0)  # where the highest group of ages begins
_WIDEST = 30  # years in a group
_FROM = {15, 16, 18}  # with which groups of adults begin


def are_ages(labels: Collection[str]) -> bool:
    """Whether these are groups of ages: three and more that meet, up to the old, in years or of adults."""
    if len(labels) < _FEWEST or (found := intervals_in_order(labels)) is None:
        return False
    ends = [each for label in found if (each := _ends(label))]
    inner = [(low, high) for low, high in ends if low > -inf and high < inf]
    meet = all(before[1] in (after[0], after[0] - 1) for before, after in pairwise(ends))
    if not inner or not meet or not _TOP[0] <= ends[-1][0] <= _TOP[1] or inner[0][0] > _WIDEST:
        return False
    named = any(_UNIT.search(label.casefold()) for label in found)
    narrow = all(high - low <= _WIDEST for low, high in inner)
    return narrow and (named or any(low in _FROM for low, _ in inner))


def _ends(label: str) -> tuple[float, float] | None:
    text = " ".join(_UNIT.sub(" ", label.strip().casefold()).split())
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
