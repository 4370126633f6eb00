"""Small-count rounding: small counts of the inner cells become 0 or the base; all other cells are summed anew.

Source: Langsrud and Heldal (2018). Larger inner counts stay exact, and the choice of who goes up keeps marginals near.
Differs: the search is this project's own: small counts are drawn so that the expected number goes up, then single cells
and pairs are changed as long as the squared differences of all marginals together become smaller.

Differs, too, in that some small counts stay as they are drawn, each by itself. A reader knows the method, and that the
search always brings a lonely count to its nearer end: an unlisted cell of base 4 would hold 2 at most, and not 3. With
these, no counts that give the figures are impossible for want of a better choice.
"""

import numpy as np
from numpy.random import Generator
from scipy.sparse import csc_array, csr_array, identity

from sluice.ground.errors import DataError
from sluice.tabular.alternatives.altered_cells import AlteredCells, refuse_negative, refuse_unless_additive
from sluice.tabular.model.cells import Booleans, Cells, Integers
from sluice.tabular.rules.sensitivity import Requirements

AS_DRAWN = 0.25  # share of the small counts, on average, that the search leaves alone
SWEEPS = 20  # times that all small counts are gone through, at most; the search stops by itself long before


def small_count_rounding(
    cells: Cells, base: int, rng: Generator, requirements: Requirements | None = None
) -> AlteredCells:
    """Counts of which none lies between 0 and the base, that add up, with marginals near the true ones.

    base         : a whole number, at least 2
    requirements : sensitive cells must stay open as far as this; without it, the one promise is that no count from 1
                   to base - 1 is published
    raises       : DataError for a base, a negative count, or tables whose inner cells differ (use controlled_rounding)
    cost         : O(m k) for each sweep over the m small inner counts, each part of k cells
    """
    _refuse_base(base)
    refuse_negative(cells, "small_count_rounding", "It takes counts.")
    inner, membership = _inner_cells(cells)
    count = cells.total[inner]
    small = (count > 0) & (count < base)
    rounded = count.copy()
    up = _chosen(membership[:, np.flatnonzero(small)], count[small], base, cells.published, rng)
    rounded[small] = np.where(up, base, 0)
    value = (membership @ rounded).astype(np.int64)
    refuse_unless_additive(cells, value, "small_count_rounding")
    # A published 0 was 0 to base - 1, a published base 1 to base; larger inner counts are exact in any case.
    inner_low = np.where(rounded == 0, 0, np.where(rounded == base, 1, rounded))
    inner_high = np.where(rounded == 0, base - 1, rounded)
    low, high = (membership @ inner_low).astype(np.float64), (membership @ inner_high).astype(np.float64)
    failing = np.zeros(len(cells), dtype=bool)
    if requirements is not None:
        failing = requirements.sensitive & (
            (low > cells.total - requirements.lower)
            | (high < cells.total + requirements.upper)
            | (high - low < requirements.sliding)
        )
    # The promise of the method itself, on every cell that is published.
    failing |= cells.published & (value > 0) & (value < base)
    attempted = len(cells) if requirements is None else int(requirements.sensitive.sum())
    return AlteredCells(value, low, high, np.flatnonzero(failing), attempted, attempted, _says(base))


def _refuse_base(base: int) -> None:
    if not isinstance(base, int | np.integer) or isinstance(base, bool):
        raise DataError(f"base of small_count_rounding must be a whole number; got {base}.")
    if base < 2:
        raise DataError(f"base of small_count_rounding must be 2 or more; got {base}. Base 1 changes nothing.")


def _inner_cells(cells: Cells) -> tuple[Integers, csr_array]:
    """Positions of the cells that are no sum, and of which of them each cell is the sum; shape (c, inner), of 0 and 1.

    raises : DataError when a cell is the sum of two different sets, as in tables with different dimensions
    """
    equations = cells.equations.tocsr()
    sums = csr_array(equations > 0)
    first: dict[int, int] = {}
    for row, cell in zip(*sums.nonzero(), strict=True):
        first.setdefault(int(cell), int(row))
    inner = np.array([cell for cell in range(len(cells)) if cell not in first], dtype=np.int64)
    # Parts, parts of parts and so on: each step replaces a sum by its parts until inner cells alone are left.
    chosen = np.array(sorted(first), dtype=np.int64)
    rows = equations[[first[int(cell)] for cell in chosen]]
    parts = csr_array((-rows).multiply(rows < 0))
    lift = csr_array((np.ones(len(chosen)), (chosen, np.arange(len(chosen)))), shape=(len(cells), len(chosen)))
    stays = np.zeros(len(cells))
    stays[inner] = 1
    step = csr_array(csr_array((stays, (np.arange(len(cells)), np.arange(len(cells))))) + lift @ parts)
    membership = csr_array(identity(len(cells), format="csr"))
    while True:
        further = csr_array(membership @ step)
        if abs(further - membership).nnz == 0:
            break
        membership = further
    membership = csr_array(membership.tocsc()[:, inner])
    wrong = np.flatnonzero(np.diff(csr_array(_clean(equations @ membership)).indptr))
    if len(wrong):
        named = int(sums[[int(wrong[0])]].indices[0])
        raise DataError(
            "small_count_rounding needs tables that are sums of the same inner cells; "
            f"{cells.name(named)} is the sum of two different sets. Use controlled_rounding."
        )
    return inner, membership


def _clean(matrix: csr_array) -> csr_array:
    matrix.eliminate_zeros()
    return matrix


def _chosen(membership: csr_array, count: Integers, base: int, published: Booleans, rng: Generator) -> Booleans:
    """Which small counts go up: of those that may change, none mends the squared differences of the published cells."""
    number = len(count)
    up = rng.random(number) * base < count
    free = np.flatnonzero(rng.random(number) >= AS_DRAWN)
    if not len(free):
        return up
    # Systematic sampling in proportion to the counts, over cells in a random order: the total is right from the start.
    order = rng.permutation(free)
    edges = np.cumsum(count[order]) / base + rng.random()
    up[order] = np.floor(edges) > np.floor(edges - count[order] / base)
    published_sums = csr_array(membership[np.flatnonzero(published)])
    difference = published_sums @ (np.where(up, base, 0) - count)
    changing = csr_array(published_sums[:, free])
    by_cell = csc_array(changing)
    from sluice.tabular.alternatives.small_count_kernel import improve

    chosen = up[free]
    improve(
        chosen,
        difference,
        by_cell.indptr,
        by_cell.indices,
        changing.indptr,
        changing.indices,
        base,
        rng.permutation(len(free)),
        SWEEPS,
    )
    up[free] = chosen
    return up


def _says(base: int) -> str:
    return (
        f"Counts of inner cells from 1 to {base - 1} were replaced by 0 or {base} and all margins summed anew, so that "
        "the table adds up. A cell that became 0 is not listed, like one without anybody. An attacker learns that an "
        f"inner cell which is not listed holds 0 to {base - 1}, and one shown as {base} holds 1 to {base}. Larger "
        "inner counts are published exactly."
    )
