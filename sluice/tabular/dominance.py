"""The (n, k) rule, dominance: a cell whose n largest contributors hold more than k percent of it is sensitive.

Source: 004_1eece6b9d3791e64.txt, "Detection of sensitive cells (I)". As in tau-ARGUS, exactly k percent is safe.
"""

from sluice.errors import DataError
from sluice.tabular.contributions import Contributions, exceeds, largest_first


def dominance(contributions: Contributions, n: int, k: float) -> bool:
    """True when the cell is sensitive: its n largest contributions are together more than k percent of its total.

    contributions : shape (c,), 0 or more, in any order
    n, k          : 1 or more; percent, from 1 to 100
    raises        : DataError if n or k is out of bounds or a contribution is negative or not finite
    cost          : O(c log c); near the boundary exact fractions decide

    A cell of at most n contributors is sensitive as soon as its total is positive and k is below 100.
    """
    if n < 1:
        raise DataError(f"n of dominance must be 1 or more; got {n}.")
    if not 1 <= k <= 100:
        raise DataError(f"k of dominance must be from 1 to 100, in percent; got {k}. Is it a share? Use {100 * k:g}.")
    values = largest_first(contributions, "dominance")
    return exceeds((100, values[:n]), (k, values))
