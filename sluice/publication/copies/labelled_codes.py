"""Labelled codes: categories as a statistics package holds them, whole numbers with a text for each.

Only declared categories become numbers. Those that were merely found in the data stay text: a list of them would name
categories that masking took out of the file.
"""

import re
from collections.abc import Mapping

from sluice.ground.variables import Variable

_WHOLE = re.compile(r"0|-?[1-9][0-9]{0,8}")  # within 32 bits; with a leading zero it is a name, no number


def codes(variable: Variable) -> dict[str, int] | None:
    """Category -> number, in the order of the categories; None: its values stay text, or are no categories.

    Where all categories are whole numbers these are the codes; else they are numbered from 1.
    """
    if variable.categories is None:
        return None
    if _are_numbers(variable):
        return {category: int(category) for category in variable.categories}
    return {category: place for place, category in enumerate(variable.categories, start=1)}


def value_labels(variable: Variable) -> Mapping[int, str]:
    """Number -> what it stands for: the label; where the number is none of the data's own, the category comes first."""
    numbers = codes(variable) or {}
    if _are_numbers(variable):
        return {code: variable.labels[category] for category, code in numbers.items() if category in variable.labels}
    return {
        code: f"{category}: {variable.labels[category]}" if category in variable.labels else category
        for category, code in numbers.items()
    }


def _are_numbers(variable: Variable) -> bool:
    return all(_WHOLE.fullmatch(category) for category in variable.categories or ())
