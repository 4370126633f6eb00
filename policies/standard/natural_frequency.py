"""Natural frequencies: a share as so many in every 1,000 people, which most understand better than a percentage. 'Of
1,000' would read as if so many had been counted.

Source: Gigerenzer and Hoffrage (1995), "How to improve Bayesian reasoning without instruction: frequency formats".
"""

from math import ceil


def natural_frequency(share: float, people: int, minimum_cell: int, base: int = 1000) -> str:
    """'497 in every 1,000 people', rounded; of fewer than `minimum_cell`, or all but so few, only a bound.

    None and all are no number: 'all in every 1,000 people' could be read as one thousand that was found.

    share  : 0 to 1, of `people` that were counted
    returns: never '0' for what is not none, nor `base` for what is not all
    """
    count = share * people
    few = max(1, ceil(base * minimum_cell / people)) if people else base
    if 1e-9 < count < minimum_cell - 1e-9:
        bound = f"{few:,} in every {base:,}" if few < base else f"{minimum_cell:,} of {people:,}"
        return f"fewer than {bound} people"
    if 1e-9 < people - count < minimum_cell - 1e-9:
        return f"more than {max(0, base - few):,} in every {base:,} people"
    if count <= 1e-9:
        return "none of the people"
    if people - count <= 1e-9:
        return "all of the people"
    return f"{per(share, base)} in every {base:,} people"


def per(share: float, base: int = 1000) -> str:
    """So many of `base`, of a share that tells of no few people, such as a tolerance: '50', '2.5', 'under 1'."""
    number = share * base
    if number >= 10 or number == round(number):
        return f"{min(round(number), base - (share < 1)):,}"
    return f"{number:.2g}" if number >= 0.1 or not number else "under 0.1"
