"""Shares of people as a report may disclose them: of a few people it says only that they are few.

Source: Gigerenzer and Hoffrage (1995), "How to improve Bayesian reasoning without instruction: frequency formats".
"""

from math import ceil

from sluice.ground.sentence import percent


def natural_frequency(share: float, people: int, minimum_cell: int, base: int = 1000) -> float | str:
    """A share as so many in every 1,000 people, which most understand better than a percentage, for
    `{share:people_1000}` ('of 1,000' would read as if so many had been counted); a bound in words of fewer than
    `minimum_cell` people, or all but so few.

    share  : 0 to 1, of `people` that were counted
    returns: never 0 for what is not none, nor 1 for what is not all
    """
    count = share * people
    few = max(1, ceil(base * minimum_cell / people)) if people else base
    if 1e-9 < count < minimum_cell - 1e-9:
        return f"fewer than {few:,} in every {base:,} people" if few < base else f"some of {people:,} people"
    if 1e-9 < people - count < minimum_cell - 1e-9:
        return f"more than {max(0, base - few):,} in every {base:,} people"
    if count <= 1e-9:
        return 0.0
    if people - count <= 1e-9:
        return 1.0
    return share


def reported_share(count: int, n: int, minimum_cell: int) -> tuple[float | None, float | str]:
    """A share as a finding observes it, and as its sentence tells it; of a few people only that they are few."""
    return (None, f"fewer than {minimum_cell}") if 0 < count < minimum_cell else (count / n, count / n)


def reported_count(count: int, minimum_cell: int) -> int | str:
    """A count as a sentence tells it; of a few people only that they are few."""
    return f"fewer than {minimum_cell}" if 0 < count < minimum_cell else count


def disclosed_share(share: float, of: int, minimum_cell: int) -> float | str:
    """A share; where it would disclose a small count, or that there is none, a bound in words."""
    if of and 0 <= share * of < minimum_cell:
        return f"at most {100 * min(1.0, minimum_cell / of):.2g} %"
    return share


def share_or_less(share: float, of: int, minimum_cell: int) -> float | str:
    """A share; of too small a count, but not of none, a bound in words."""
    if 0 < share * of < minimum_cell:
        return f"less than {percent(minimum_cell / of)}"
    return share
