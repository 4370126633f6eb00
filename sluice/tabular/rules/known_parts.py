"""What contributors know of a magnitude cell by their own part of it, and by being told that it is not sensitive.

Whoever has a part in a cell knows that it is at least as large. A file that distinguishes primary from secondary cells
tells more: that the others' parts of a secondary cell are large enough, beside this one, for every rule to let it out.
The measure is this project's own.
"""

from collections.abc import Sequence

import numpy as np

from sluice.tabular.model.cells import Booleans, Cells, Contributions, Integers
from sluice.tabular.rules.sensitivity import Requirements, SensitivityRule

_ENOUGH = 10**6  # contributors, of which some may contribute 0: their number is never what makes such a cell sensitive
_HALVES = 56  # of an interval that no total exceeds


def known_parts(cells: Cells, requirements: Requirements, rules: Sequence[SensitivityRule]) -> Integers:
    """Shape (c, t): what each of the largest contributors knows a cell to be at least, where the statuses are told.

    Of a sensitive cell its own part; else the least total of a cell that no rule calls sensitive and in which somebody
    has such a part: the others have as little as the rules allow, one unit each, as nothing is less concentrated.

    cost : O(c t) times about fifty looks at the rules
    """
    own, total = cells.largest, cells.total[:, None]
    safe = ~requirements.sensitive
    for rule in rules:
        safe &= ~rule.sensitive(cells.contributions)  # others a person lets out although a rule does not
    at, rank = np.nonzero(safe[:, None] & (own > 0) & (cells.owners >= 0))
    part = own[at, rank]
    low, high = np.full(len(part), -1, dtype=np.int64), (np.broadcast_to(total, own.shape)[at, rank] - part)
    for _ in range(_HALVES):  # low: others with so much leave the cell sensitive; high: with so much they do not
        middle = low + (high - low) // 2
        still = _sensitive(part, middle, rules, cells.largest.shape[1])
        low, high = np.where(still & (high - low > 1), middle, low), np.where(~still & (high - low > 1), middle, high)
    known = own.copy()
    known[at, rank] = part + high
    return known


def status_tells_more(rules: Sequence[SensitivityRule], coalition: int) -> bool:
    """Whether the word 'primary' bounds a cell for some contributors, which nobody measures.

    It tells one contributor nothing where any two make a sensitive cell, however they share it: for all it knows it
    shares the cell with one other. Several who pool what they know are told more, and who asked for protection is.
    """
    if coalition > 1:
        return True
    kept = max(2, *(rule.largest_needed for rule in rules))
    share = np.array([1, 10, 25, 40, 50], dtype=np.int64)[:, None]
    largest = np.pad(np.hstack([100 - share, share]), ((0, 0), (0, kept - 2)))
    two = Contributions(np.full(len(share), 100), np.full(len(share), 2), largest)
    by_rule = [rule.sensitive(two) for rule in rules if rule.rule != "request_rule"]
    asked = any(rule.rule == "request_rule" for rule in rules)
    return coalition > 0 and (asked or not np.logical_or.reduce([np.zeros(len(share), dtype=bool), *by_rule]).all())


def _sensitive(part: Integers, others: Integers, rules: Sequence[SensitivityRule], kept: int) -> Booleans:
    """Whether cells are sensitive in which one has a part, and others together so much, a unit each."""
    ones = (np.arange(kept - 1) < others[:, None]).astype(np.int64)
    cell = Contributions(part + others, np.full(len(part), _ENOUGH), np.column_stack([part, ones]))
    found: Booleans = np.logical_or.reduce([np.zeros(len(part), dtype=bool), *(r.sensitive(cell) for r in rules)])
    return found | (others < 0)
