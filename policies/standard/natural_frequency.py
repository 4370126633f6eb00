"""Natural frequencies: a share as so many in every 1,000 people, which most understand better than a percentage. 'Of
1,000' would read as if so many had been counted.

Source: Gigerenzer and Hoffrage (1995), "How to improve Bayesian reasoning without instruction: frequency formats".
"""

from math import ceil


def natural_frequency(share: float, people: int, minimum_cell: int, base: int = 1000) -> str:
    """'497 in every 1,000', rounded; of fewer than `minimum_cell` people, or all but so few, only a bound.

    share  : 0 to 1, of `people` that were counted
    returns: never '0' for what is not none, nor `base` for what is not all
    """
    count = share * people
    few = max(1, ceil(base * minimum_cell / people)) if people else base
    if 1e-9 < count < minimum_cell - 1e-9:
        return f"fewer than {few:,} in every {base:,}" if few < base else f"fewer than {minimum_cell:,} of {people:,}"
    if 1e-9 < people - count < minimum_cell - 1e-9:
        return f"more than {max(0, base - few):,} in every {base:,}"
    if count <= 1e-9:
        return f"none in every {base:,}"
    if people - count <= 1e-9:
        return f"all in every {base:,}"
    return f"{per(share, base)} in every {base:,}"


def per(share: float, base: int = 1000) -> str:
    """So many of `base`, of a share that tells of no few people, such as a tolerance: '50', '2.5', 'under 1'."""
    number = share * base
    if number >= 10 or number == round(number):
        return f"{min(round(number), base - (share < 1)):,}"
    return f"{number:.2g}" if number >= 0.1 or not number else "under 0.1"
