"""Whole numbers that name somebody: a telephone's, an account's, of a register, a date without its dots, the row's."""

from collections import Counter
from collections.abc import Sequence

from sluice.ground import values

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
