"""Unions of suppressed cells whose sum follows from what is published, and that are sensitive themselves.

Source: Jewett (1993), implicitly published cells. That a union of cells that are not sensitive is not sensitive either
holds for every subadditive rule: Cox (1981).
"""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csr_array

from sluice.tabular.model.cells import Booleans, Cells, Contributions
from sluice.tabular.model.known_sums import Indices
from sluice.tabular.rules.sensitivity import SensitivityRule

EQUATIONS_COMBINED = 3
_AT_ONCE = 10_000  # unions that the rules look at together, to bound the memory


def sensitive_unions(
    cells: Cells,
    equations: csr_array,
    free: Booleans,
    sensitive: Booleans,
    rules: Sequence[SensitivityRule],
    depth: int = EQUATIONS_COMBINED,
) -> tuple[list[Indices], int]:
    """The sets of unknown cells whose known sum is as good as a published sensitive cell; and how many were decided.

    equations : shape (e, c)
    free      : shape (c,), the cells that are neither published nor computable
    sensitive : shape (c,); only unions with such a cell can be sensitive
    depth     : how many equations an attacker adds up or subtracts, 1 to 3
    cost      : grows with the number of such combinations around sensitive cells, not with the table
    """
    from sluice.tabular.audit.unions_kernel import known_unions

    unknown = np.flatnonzero(free)
    if not rules or not len(unknown):
        return [], 0
    within = equations[:, unknown]
    within = within[np.flatnonzero(np.diff(within.indptr))]
    by_cell = within.T.tocsr()
    starts, members = known_unions(
        within.indptr.astype(np.int64),
        within.indices.astype(np.int64),
        within.data.astype(np.float64),
        by_cell.indptr.astype(np.int64),
        by_cell.indices.astype(np.int64),
        sensitive[unknown],
        np.random.default_rng(0).integers(1, 2**61, len(unknown)),
        depth,
    )
    found = []
    for begin in range(0, len(starts) - 1, _AT_ONCE):
        part = starts[begin : begin + _AT_ONCE + 1]
        inside = unknown[members[part[0] : part[-1]]]
        merged = united(cells, part - part[0], inside)
        level = np.zeros(len(part) - 1, dtype=np.int64)
        for rule in rules:
            level = np.maximum(level, np.where(rule.sensitive(merged), rule.protection(merged), 0))
        found += [np.sort(inside[part[at] - part[0] : part[at + 1] - part[0]]) for at in np.flatnonzero(level)]
    return found, len(starts) - 1


def united(cells: Cells, starts: Indices, members: Indices) -> Contributions:
    """The contributions to unions of cells, those of one contributor added up.

    starts, members : union i holds members[starts[i]:starts[i + 1]]

    Where a cell has more contributors than `largest` holds, the others may each have as much as the last that it holds,
    and may be the same in every cell: the union is taken to be as concentrated as it can be.
    """
    count, kept = len(starts) - 1, cells.largest.shape[1]
    union = np.repeat(np.arange(count), np.diff(starts))
    cut = cells.contributors[members] > kept
    last = np.where(cut, cells.largest[members, -1], 0)
    others = np.bincount(union, weights=last, minlength=count)  # what one more contributor may have in all cells
    owner, share = cells.owners[members], cells.largest[members].astype(np.float64) - last[:, None]
    listed = owner >= 0
    union_of, owner, share = np.repeat(union, kept)[listed.ravel()], owner[listed], share[listed]
    order = np.lexsort((owner, union_of))
    union_of, owner, share = union_of[order], owner[order], share[order]
    heads = np.flatnonzero(np.r_[True, (union_of[1:] != union_of[:-1]) | (owner[1:] != owner[:-1])])
    sums, whose = np.add.reduceat(share, heads), union_of[heads]
    sums += others[whose]
    order = np.lexsort((-sums, whose))
    sums, whose = sums[order], whose[order]
    number = np.bincount(whose, minlength=count)
    rank = np.arange(len(whose)) - np.repeat(np.cumsum(number) - number, number)
    largest = np.repeat(others[:, None], kept, axis=1)
    inside = rank < kept
    largest[whose[inside], rank[inside]] = sums[inside]
    contributors = np.maximum(number, np.maximum.reduceat(cells.contributors[members], starts[:-1]))
    total = np.add.reduceat(cells.contributions.total[members], starts[:-1])
    return Contributions(total, contributors.astype(np.int64), largest.astype(np.int64))
