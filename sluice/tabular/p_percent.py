"""The p% rule: a cell is sensitive when its second largest contributor can come within p percent of its largest.

Source: 004_1eece6b9d3791e64.txt, "Detection of sensitive cells (II)". Differs from its example, which compares with
half the cell's total (181.5) where the rule's own words ask for half the largest contribution (175).
"""

from sluice.errors import DataError
from sluice.tabular.contributions import Contributions, exceeds, largest_first


def p_percent(contributions: Contributions, p: float) -> bool:
    """True when the cell is sensitive: total - x1 - x2 < p / 100 * x1, x1 and x2 being the two largest contributions.

    contributions : shape (c,), 0 or more, in any order
    p             : percent, from 1 to 100
    raises        : DataError if p is out of bounds or a contribution is negative or not finite
    cost          : O(c log c); near the boundary exact fractions decide

    Exactly on the boundary is safe. One or two contributors are always sensitive, unless all contribute 0: of a cell
    of zeros the rule says nothing, although its total tells every contribution.
    """
    if not 1 <= p <= 100:
        raise DataError(f"p of p_percent must be from 1 to 100, in percent; got {p}. Is it a share? Use {100 * p:g}.")
    values = largest_first(contributions, "p_percent")
    return exceeds((p, values[:1]), (100, values[2:]))
