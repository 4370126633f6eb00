"""Names of variables as words of a sentence."""

from collections.abc import Sequence


def word(name: str) -> str:
    return name.replace("_", " ")


def listed(names: Sequence[str]) -> str:
    """'age, years married and children'"""
    *most, last = (word(name) for name in names)
    return f"{', '.join(most)} and {last}" if most else last
