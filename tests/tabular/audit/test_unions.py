"""Unions of suppressed cells whose sum is known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.tabular.audit.pattern_audit import audit, united
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Status
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.suppression.suppression import suppress
from sluice.tabular.suppression.suppression_kernel import known_unions
from tests.golden import golden
from tests.tabular.generated import Shape, table_of
from tests.tabular.grids import RULES, at, grid, hiding, needs_of, pattern, run
from tests.tabular.tables import tables


def computed_cells(matrix: np.ndarray) -> np.ndarray:
    """Which unknowns follow one after the other, each as the only one left of its equation."""
    known = np.zeros(matrix.shape[1], dtype=bool)
    while True:
        lonely = [row for row in matrix if ((row != 0) & ~known).sum() == 1]
        if not lonely:
            return known
        for row in lonely:
            known |= row != 0


def sensitive_together(cells: Cells, members: np.ndarray) -> bool:
    shares: dict[int, int] = {}
    for cell in members:
        if cells.contributors[cell] > cells.owners.shape[1]:
            return False
        for owner, share in zip(cells.owners[cell], cells.largest[cell], strict=True):
            if owner >= 0:
                shares[int(owner)] = shares.get(int(owner), 0) + int(share)
    ordered = sorted(shares.values(), reverse=True)
    total = sum(ordered)
    return len(ordered) < 3 or (10 * (total - ordered[0] - ordered[1]) < ordered[0] and total > 0)


def test_two_sole_contributors_in_one_row_make_a_sensitive_union() -> None:
    cells = grid({("a", "u"): 1, ("a", "v"): 2})
    wide = [(r, c) for r in "abc" for c in "uv"]
    needs = needs_of(cells)
    outcome = audit(cells, pattern(cells, wide, needs), needs, RULES, Assumptions(coalition=0))
    (breach,) = outcome.breaches
    assert breach.attacker == "union"
    assert breach.cells == (at(cells, "a", "u"), at(cells, "a", "v"))
    golden(breach.says)
    assert run(cells, wide, Assumptions(coalition=0, unions=False)).safe


def test_a_union_hidden_behind_two_equations_is_found() -> None:
    """Three of row a are suppressed; a third cell of the row can be computed otherwise and hides nothing."""
    cells = grid({("a", "u"): 1, ("a", "v"): 2})
    wide = [(r, c) for r in "abc" for c in "uv"] + [("a", "w")]  # (a, w) is alone in its column
    outcome = run(cells, wide, Assumptions(coalition=0))
    assert [b.attacker for b in outcome.breaches] == ["union"]


def test_a_difference_of_two_sums_is_a_union() -> None:
    """The total and a group of a second grouping are published: what lies outside the group is their difference."""
    d = Dimension.of("d", [("T", ""), *((x, "T") for x in "pqrs")], [("G", ""), ("p", "G"), ("q", "G")])
    leaves = np.array([[d.position[x]] for x in "ppppqqqqrs"], dtype=np.int32)
    cells = aggregate([d], leaves, np.arange(10), np.full(10, 30))
    needs = needs_of(cells)
    status = np.zeros(len(cells), dtype=np.uint8)
    for code in "pqrs":
        status[at(cells, code)] = Status.SECONDARY
    (breach,) = audit(cells, status, needs, RULES, Assumptions(coalition=0)).breaches
    assert breach.attacker == "union"
    assert breach.cells == (at(cells, "r"), at(cells, "s"))


@given(tables(most=12), st.integers(0, 2**32 - 1))
def test_unions_are_sums_that_the_equations_give_away(cells: Cells, seed: int) -> None:
    """Every union told lies in the span of the equations, and every sensitive row of plain parts is told."""
    rng = np.random.default_rng(seed)
    needs = needs_of(cells)
    hidden = (needs.sensitive | (rng.random(len(cells)) < 0.5)) & (cells.total > 0)
    status = hiding(needs, hidden)
    outcome = audit(cells, status, needs, RULES, Assumptions(coalition=0))
    unions = {b.cells for b in outcome.breaches if b.attacker == "union"}
    matrix = cells.equations.toarray()[:, hidden]
    place = np.cumsum(hidden) - 1
    _, sizes, basis = np.linalg.svd(matrix) if matrix.size else (None, np.zeros(0), np.zeros((0, hidden.sum())))
    basis = basis[: (sizes > 1e-9).sum()]
    for members in unions:
        vector = np.zeros(hidden.sum())
        vector[place[list(members)]] = 1
        assert np.allclose(basis.T @ (basis @ vector), vector)
    computed = computed_cells(matrix)
    for row in matrix:
        left = np.flatnonzero((row != 0) & ~computed)
        if len(left) > 1 and len(set(row[left])) == 1:
            members = np.flatnonzero(hidden)[left]
            if sensitive_together(cells, members):
                assert tuple(members.tolist()) in unions


def unions_of(cells: Cells, status: np.ndarray, sensitive: np.ndarray, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Starts and members of the sums of suppressed cells that so many rows give away, of 60,000 combinations each."""
    unknown = np.flatnonzero(status != Status.PUBLISHED)
    within = cells.equations[:, unknown]
    within = within[np.flatnonzero(np.diff(within.indptr))].tocsr()
    by_cell, some = within.T.tocsr(), sensitive[unknown]
    seeds = np.unique(by_cell[np.flatnonzero(some)].indices).astype(np.int32)
    starts, members = known_unions(
        seeds, np.ones(len(unknown), dtype=bool), some, within.indptr, within.indices, within.data, by_cell.indptr,
        by_cell.indices, np.random.default_rng(0).integers(1, 2**62, len(unknown)), rows, 60_000,
    )  # fmt: skip
    return starts, unknown[members]


def sensitive_of(cells: Cells, starts: np.ndarray, members: np.ndarray) -> int:
    merged = united(cells, starts, members)
    return int(np.logical_or.reduce([rule.sensitive(merged) for rule in RULES]).sum())


@pytest.mark.chain
def test_what_seven_rows_give_away_is_not_sensitive_either() -> None:
    """Patterns withstand unions of three rows. One of more seems sensitive by the five largest contributions of each
    cell, the others being taken as large as they can be; by all contributions none is."""
    shape = Shape(38, [[6, (2, 3)], [3, (2, 4)]], 20, 2.5)
    cells, whole = (table_of(shape, kept) for kept in (5, 200))
    needs = needs_of(cells)
    status = suppress(cells, needs, RULES).status
    few, many = (unions_of(cells, status, needs.sensitive, rows) for rows in (3, 7))
    assert len(many[0]) > 4 * len(few[0])
    assert sensitive_of(cells, *few) == 0
    assert sensitive_of(cells, *many) == 1
    assert sensitive_of(whole, *many) == 0
