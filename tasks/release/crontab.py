"""The five fields that say when something runs, as in crontab(5): minute, hour, day, month, weekday.

Prefect takes more forms (seconds, `@daily`, `L`, `5/15`), which others read in other ways or not at all. A definition
may use the common ones; and it is read without importing Prefect, which takes its settings when it is imported.
"""

import re

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS: tuple[tuple[str, int, int, tuple[str, ...]], ...] = (  # name, least and largest value, names of the values
    ("minute", 0, 59, ()),
    ("hour", 0, 23, ()),
    ("day", 1, 31, ()),
    ("month", 1, 12, _MONTHS),
    ("weekday", 0, 7, _WEEKDAYS),  # 0 and 7 are both Sunday
)
_PART = re.compile(r"(?:\*|(\w{1,3})-(\w{1,3}))(?:/([1-9]\d?))?|(\w{1,3})", re.ASCII)
_LONGEST = dict(enumerate((31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31), 1))  # days of each month


def refuse_wrong_crontab(expression: str) -> None:
    """Raise ValueError, which names the field, when it is no such expression, or none of its days ever comes."""
    fields = expression.split()
    if len(fields) != len(_FIELDS):
        raise ValueError(f"must be five fields as in crontab: {' '.join(name for name, *_ in _FIELDS)}")
    _, _, days, months, _ = (_values(*field) for field in zip(fields, _FIELDS, strict=True))
    if min(days) > max(_LONGEST[month] for month in months):  # Prefect's scheduler fails on it
        raise ValueError("must mean a day that there is; none of its months is that long")


def _values(text: str, field: tuple[str, int, int, tuple[str, ...]]) -> set[int]:
    """The values that a field stands for, such as {0, 15, 30, 45} for the minute `*/15`."""
    name, least, largest, names = field
    ranges = [_range(part, least, largest, names) for part in text.lower().split(",")]
    if not all(ranges):
        raise ValueError(
            f"must have as {name} *, values from {least} to {largest}{' or ' if names else ''}{', '.join(names)}, "
            f"ranges such as {least}-{least + 2}, or several with commas; * and ranges may have a step, such as */2"
        )
    return {value for values in ranges for value in values}


def _range(part: str, least: int, largest: int, names: tuple[str, ...]) -> range:
    """The values of one part of a field; none when it is wrong."""
    found = _PART.fullmatch(part)
    if not found:
        return range(0)
    first, last, step, alone = found.groups()

    def value(word: str) -> int:
        if word in names:
            return least + names.index(word)
        return int(word) if word.isdigit() else -1

    low, high = value(alone or first or str(least)), value(alone or last or str(largest))
    return range(low, high + 1, int(step or 1)) if least <= low <= high <= largest else range(0)
