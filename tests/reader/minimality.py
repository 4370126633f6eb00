"""A reader who can run the method again: which of the tables that fit would have been published just so?

Source: the minimality attack of Wong, Fu, Wang and Pei (2007), on k-anonymous records; here on suppressed cells.

Played by brute force on small tables of counts of which each record is a contributor of its own: all tables of whole
numbers that fit what is published are candidates, the method is run on each, and those that it would have published
otherwise are excluded. Only the method itself is the product's, as it is for such a reader.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from tests.reader.knowledge import anybody
from tests.reader.published import Booleans, Cell, Integers, Published
from tests.reader.solve import Solver, suppressed

Counts = Mapping[Cell, int]  # of the innermost cells
Factors = Callable[[Cell], float]  # by which the costs of cells are multiplied, as by the agency's secret
Method = Callable[[Counts, Factors], frozenset[Cell]]  # which cells would be suppressed; none where it refuses


def candidates(published: Published, most: int) -> Integers | None:
    """All tables of whole numbers that fit for anybody, shape (k, c); None where there are more than `most`."""
    solver, hidden = Solver(published, *anybody(published, counts=True)), np.flatnonzero(suppressed(published))
    ends = {at: solver.interval(at) for at in hidden.tolist()}
    order = sorted(ends, key=lambda at: ends[at].high - ends[at].low)
    low = np.where(published.known, published.value, 0)
    high = low.copy()
    for at, interval in ends.items():
        low[at], high[at] = interval.low, interval.high
    rows = [
        (published.equations.indices[a:b], published.equations.data[a:b].astype(np.int64))
        for a, b in zip(published.equations.indptr, published.equations.indptr[1:], strict=False)
    ]
    rows = [(members, signs) for members, signs in rows if np.isin(members, hidden).any()]
    found = []
    for table in _completed(low, high, order, rows):
        found.append(table)
        if len(found) > most:
            return None
    return np.array(found)


def _completed(
    low: Integers, high: Integers, order: list[int], rows: list[tuple[Integers, Integers]]
) -> Iterator[Integers]:
    """Every table between the bounds in which all rows add up to 0."""
    low, high = low.copy(), high.copy()
    changed = True
    while changed:
        changed = False
        for members, signs in rows:
            least = np.where(signs > 0, low[members], -high[members])
            most = np.where(signs > 0, high[members], -low[members])
            if least.sum() > 0 or most.sum() < 0:
                return
            up, down = least - least.sum(), most - most.sum()  # of signs * value: at most, at least
            new_low = np.where(signs > 0, np.maximum(low[members], down), np.maximum(low[members], -up))
            new_high = np.where(signs > 0, np.minimum(high[members], up), np.minimum(high[members], -down))
            if (new_low > new_high).any():
                return
            if (new_low > low[members]).any() or (new_high < high[members]).any():
                low[members], high[members], changed = new_low, new_high, True
    open_cells = [at for at in order if low[at] < high[at]]
    if not open_cells:
        yield low
        return
    at = min(open_cells, key=lambda cell: high[cell] - low[cell])
    for value in range(low[at], high[at] + 1):
        below, above = low.copy(), high.copy()
        below[at] = above[at] = value
        yield from _completed(below, above, order, rows)


def innermost(published: Published, table: Integers) -> Counts:
    """The counts of the innermost cells of a candidate."""
    leaves = [set(h.leaves) for h in published.hierarchies]
    return {
        cell: int(table[at])
        for at, cell in enumerate(published.cells)
        if all(code in of for code, of in zip(cell, leaves, strict=True))
    }


def as_published(published: Published, tables: Integers, method: Method, secrets: int, seed: int = 0) -> Booleans:
    """Shape (k,): the candidates of which the method would have published the same, for one secret or another.

    secrets : 0: costs without noise, as if the reader knew them; else so many are tried, under which the cells that are
              suppressed are cheap and the others dear, as these give the pattern if any do
    """
    hidden = frozenset(c for c, is_hidden in zip(published.cells, suppressed(published), strict=True) if is_hidden)
    rng = np.random.default_rng(seed)
    noise = [
        dict(zip(published.cells, np.exp(rng.standard_normal(len(published.cells))), strict=True))
        for _ in range(secrets)
    ]

    def gives_the_same(table: Integers) -> bool:
        counts = innermost(published, table)
        if method(counts, lambda cell: 1.0) == hidden:
            return True
        return any(method(counts, lambda cell, n=n: n[cell] * (1 if cell in hidden else 1e4)) == hidden for n in noise)

    return np.array([gives_the_same(table) for table in tables], dtype=bool)


@dataclass(frozen=True)
class Excluded:
    """Of sensitive cells: how many become exactly known, or provably too small, by running the method again alone."""

    exact: int
    below: int


def learned(published: Published, tables: Integers, left: Booleans, true: Counts, largest: int) -> Excluded:
    """What the candidates that are left tell beyond what all of them do.

    true    : every cell's count, by which alone it is known which cells are sensitive
    largest : count that the rules call sensitive
    """
    exact = below = 0
    for at in np.flatnonzero(suppressed(published)):
        if true[published.cells[at]] <= largest:
            all_of, few = tables[:, at], tables[left][:, at]
            exact += int(np.ptp(few) == 0 and np.ptp(all_of) > 0)
            below += int(few.max() <= largest < all_of.max())
    return Excluded(exact, below)
