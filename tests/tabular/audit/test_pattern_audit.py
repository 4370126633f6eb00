"""The audit of suppression patterns, against brute force and patterns made unsafe on purpose."""

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

import sluice.tabular.audit.reader_attacks
from sluice.ground.errors import DataError
from sluice.tabular.audit.pattern_audit import Audit, audit, united
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Contributions, Status
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.sensitivity import Requirements, requirements_of
from sluice.tabular.suppression.suppression import suppress
from sluice.tabular.suppression.suppression_kernel import known_unions
from tests.golden import golden
from tests.tabular.generated import Shape, table_of
from tests.tabular.grids import ALONE, BOX, RULES, at, grid, hiding, needs_of, pattern, run, table
from tests.tabular.tables import business, tables


def test_a_box_around_a_sole_contributor_is_safe() -> None:
    cells = grid({("a", "u"): 1})
    outcome = run(cells, BOX, Assumptions())
    assert outcome.safe
    assert outcome.attempted == outcome.completed > 0
    assert not outcome.unknown
    cell = at(cells, "a", "u")
    assert outcome.lower[cell] <= 90
    assert outcome.upper[cell] >= 110
    assert np.isnan(outcome.lower[at(cells, "b", "v")])
    assert outcome.narrowest[0][0] == cell
    assert outcome.narrowest[0][1] >= 1


@pytest.mark.parametrize(
    ("suppressed", "says"),
    [
        ([], "r a, c u is published although it is sensitive"),
        ([("a", "u"), ("b", "u")], "anybody can compute r a, c u exactly"),
    ],
)
def test_a_cell_that_is_published_or_that_its_row_gives_away_is_a_breach(
    suppressed: list[tuple[str, str]], says: str
) -> None:
    outcome = run(grid({("a", "u"): 1}), suppressed)
    assert [(b.attacker, b.says, b.exact) for b in outcome.breaches] == [("outsider", says, True)]
    assert not outcome.safe
    assert not outcome.unknown


def test_an_interval_that_is_too_narrow_is_a_breach() -> None:
    """The opposite corner of the box holds 4, the sensitive cell of 100 must stay open by 10."""
    records = [("a", "u", 1, 100), *(("b", "v", n, 1) for n in range(2, 6))]
    records += [(r, c, 10 * k + n, 25) for k, (r, c) in enumerate((("a", "v"), ("b", "u")), 1) for n in range(4)]
    records += [("c", c, 100 * k + n, 25) for k, c in enumerate("uvw", 1) for n in range(4)]
    records += [(r, "w", 1000 * k + n, 25) for k, r in enumerate("ab", 1) for n in range(4)]
    outcome = run(table(records), BOX)
    (breach,) = outcome.breaches
    assert (breach.attacker, breach.exact) == ("outsider", False)
    golden(breach.says)


def test_withheld_marginals_protect_and_are_protected() -> None:
    """Without its row's total, a cell alone in its row is open upwards; a sensitive marginal must be, too."""
    cells = grid({("a", "u"): 1})
    published = np.ones(len(cells), dtype=bool)
    for codes in (("a", "Total"), ("Total", "u"), ("Total", "Total"), ("b", "Total"), ("c", "Total")):
        published[at(cells, *codes)] = False
    cells = replace(cells, published=published)
    needs = needs_of(cells)
    status = pattern(cells, [("a", "u")], needs)
    status[~published] = Status.WITHHELD
    assert audit(cells, status, needs, RULES).safe
    visible = replace(cells, published=np.ones(len(cells), dtype=bool))
    status[~published] = Status.PUBLISHED
    assert not audit(visible, status, needs, RULES).safe
    marginal = at(cells, "a", "Total")
    requirement = replace(needs, sensitive=needs.sensitive.copy(), upper=needs.upper.copy())
    requirement.sensitive[marginal], requirement.upper[marginal] = True, 5
    status[~published] = Status.WITHHELD
    (breach,) = audit(cells, status, requirement, RULES).breaches  # open along (a, u), but not to whom that belongs
    assert (breach.cell, breach.owners) == (marginal, (1,))
    assert audit(cells, status, requirement, RULES, Assumptions(coalition=0)).safe
    status[at(cells, "a", "u")] = Status.PUBLISHED
    assert marginal in {b.cell for b in audit(cells, status, requirement, RULES).breaches}


def test_zero_cells_that_everybody_knows_protect_nothing() -> None:
    records = [
        (r, c, 1000 * i + 10 * j + n, 25) for i, r in enumerate("abc") for j, c in enumerate("uvw") for n in range(4)
    ]
    records = [(r, c, who, 0 if (r, c) == ("b", "v") else value) for r, c, who, value in records]
    records = [r for r in records if r[:2] != ("a", "u")] + [("a", "u", 1, 100)]
    cells = table(records)
    assert not run(cells, BOX, Assumptions(zeros_known=True, unions=False)).safe
    open_zero = run(cells, BOX, Assumptions(zeros_known=False, unions=False))
    assert [b.exact for b in open_zero.breaches] == [False]  # it may only grow, so the neighbour only shrink or grow


@pytest.mark.parametrize(
    ("known", "safe"), [({"known_within": 50}, True), ({"known_within": 5}, False), ({"nonnegative": False}, True)]
)
def test_what_attackers_know_beforehand_narrows(known: dict[str, Any], safe: bool) -> None:
    assert run(grid({("a", "u"): 1}), BOX, Assumptions(unions=False, **known)).safe is safe


def test_a_sliding_level_asks_for_width_alone() -> None:
    cells = grid({("a", "u"): 1})
    cell, needs = at(cells, "a", "u"), needs_of(cells)
    for width, safe in ((200, True), (201, False)):  # 0 to 200
        sliding = np.zeros(len(cells), dtype=np.int64)
        sliding[cell] = width
        requirement = replace(needs, lower=0 * needs.lower, upper=0 * needs.upper, sliding=sliding)
        outcome = audit(cells, pattern(cells, BOX, needs), requirement, RULES, Assumptions(coalition=0, unions=False))
        assert outcome.safe is safe


def test_totals_that_do_not_add_and_patterns_of_another_table_are_refused() -> None:
    cells = grid({("a", "u"): 1})
    total = cells.total + (np.arange(len(cells)) == at(cells, "a", "u"))
    with golden.raises(DataError):
        run(replace(cells, total=total), BOX)
    for few, known in ((3, Assumptions()), (len(cells), Assumptions(coalition=6))):
        with golden.raises(DataError):
            audit(cells, np.zeros(few, dtype=np.uint8), needs_of(cells), RULES, known)


def brute_force(
    cells: Cells, hidden: np.ndarray, needs: Requirements, size: int, targets: np.ndarray
) -> set[tuple[int, frozenset[int]]]:
    """Every (target, coalition) that succeeds, by two integer programmes each over the whole table."""
    owners = sorted(set(cells.owners[hidden].ravel().tolist()) - {-1})
    total = cells.total.astype(float)
    unknown = np.flatnonzero(hidden & (total > 0))
    sums = cells.equations[:, unknown].toarray()
    sums = sums[(sums != 0).any(axis=1)]
    held = [LinearConstraint(sums, 0, 0)] if len(sums) else []
    found = set()
    for count in range(size + 1):
        for coalition in map(frozenset, combinations(owners, count)):
            inside = np.isin(cells.owners[unknown], list(coalition)) & (cells.owners[unknown] >= 0)
            part = (cells.largest[unknown] * inside).sum(axis=1)
            wholly = inside.sum(axis=1) == cells.contributors[unknown]
            ends = Bounds(part - total[unknown], np.where(wholly, 0, 1e6))
            for cell in targets:
                at = int(np.flatnonzero(unknown == cell)[0])
                if wholly[at]:
                    continue
                down, up = required(cells, needs, int(cell), coalition)
                far = []
                for sign in (-1, 1):
                    cost = np.zeros(len(unknown))
                    cost[at] = -sign
                    solved = milp(cost, constraints=held, bounds=ends, integrality=np.ones(len(unknown)))
                    far.append(-solved.fun)
                if far[0] < down - 0.5 or far[1] < up - 0.5:
                    found.add((int(cell), coalition))
    return found


def required(cells: Cells, needs: Requirements, cell: int, coalition: frozenset[int]) -> tuple[float, float]:
    inside = np.isin(cells.owners[cell], list(coalition))
    if not inside.any():
        return float(needs.lower[cell]), float(needs.upper[cell])
    left = np.r_[cells.largest[cell][~inside], np.zeros(inside.sum(), dtype=np.int64)]
    total = cells.total[cell] - cells.largest[cell][inside].sum()
    rest = Contributions(np.array([total]), np.array([cells.contributors[cell] - inside.sum()]), left[None, :])
    level = max(int(r.protection(rest, outsider=True)[0]) for r in RULES if needs.by_rule[r.rule][cell])
    return float(min(level, max(total, 0))), float(level)


@pytest.mark.chain
@given(tables(most=12), st.integers(0, 2**32 - 1), st.sampled_from([0, 1, 1, 1, 2]))
def test_breaches_are_those_of_brute_force(cells: Cells, seed: int, size: int) -> None:
    """A coalition that succeeds because a part of it does need not be named with that part.

    Everybody in the table is tried, with all that is theirs: cells of their own, and their parts of others.
    """
    rng = np.random.default_rng(seed)
    needs = needs_of(cells)
    hidden = needs.sensitive | (rng.random(len(cells)) < rng.choice([0.2, 0.5, 0.8]))
    status = hiding(needs, hidden)
    outcome = audit(cells, status, needs, RULES, Assumptions(coalition=size, unions=False))
    assert outcome.completed == outcome.attempted
    targets = np.flatnonzero(needs.sensitive & hidden & (cells.total > 0))
    targets = rng.permutation(targets)[: 6 if size < 2 else 2]
    ours = {(b.cell, frozenset(b.owners)) for b in outcome.breaches if b.cell in targets}
    theirs = brute_force(cells, hidden, needs, size, targets)
    assert ours <= theirs
    for cell, coalition in theirs:
        if cells.largest[cell][np.isin(cells.owners[cell], list(coalition))].sum() == cells.total[cell]:
            continue  # the others have nothing there, which everybody knows of a cell of zero
        assert any(cell == c and who <= coalition for c, who in ours)
    assert outcome.safe is (not outcome.breaches)


@pytest.mark.parametrize(
    "many", [pytest.param(0, id="in processes", marks=pytest.mark.servers), pytest.param(10_000, id="in threads")]
)
def test_workers_change_nothing(monkeypatch: pytest.MonkeyPatch, many: int) -> None:
    monkeypatch.setattr(sluice.tabular.audit.reader_attacks, "_MANY", many)
    monkeypatch.setattr(sluice.tabular.audit.reader_attacks, "_TOGETHER", 7)
    cells = business("s1k")
    needs = needs_of(cells)
    rng = np.random.default_rng(3)
    hidden = needs.sensitive | (rng.random(len(cells)) < 0.3)
    status = hiding(needs, hidden)
    one, two = (audit(cells, status, needs, RULES, workers=workers) for workers in (1, 2))
    assert not one.safe
    assert {b.says for b in one.breaches} == {b.says for b in two.breaches}
    assert one.attempted == two.attempted == one.completed
    assert one.narrowest == two.narrowest
    assert (np.isnan(one.lower) == np.isnan(two.lower)).all()


def test_where_processes_do_not_share_memory_threads_attack(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(sluice.tabular.audit.reader_attacks, "_MANY", 0)
    monkeypatch.setattr(sluice.tabular.audit.reader_attacks, "get_start_method", lambda: "spawn")
    monkeypatch.setattr(sluice.tabular.audit.reader_attacks, "ProcessPoolExecutor", refuse)
    cells = grid({("a", "u"): 1})
    needs = needs_of(cells)
    status = np.where(needs.sensitive, Status.PRIMARY, Status.PUBLISHED).astype(np.uint8)
    one, two = (audit(cells, status, needs, RULES, workers=workers) for workers in (1, 2))
    assert not two.safe
    assert [b.says for b in one.breaches] == [b.says for b in two.breaches]


COUNTS = Assumptions(counts="contributors", unions=False)
THREE = (MinimumFrequency(n=3),)


def counted(numbers: list[list[int]], suppressed: list[tuple[str, str]], assumptions: Assumptions = COUNTS) -> Audit:
    """The audit of a table of counts: rows a, b, c and columns u, v, w of so many people each."""
    people = [
        (row, column)
        for row, line in zip("abc", numbers, strict=False)
        for column, number in zip("uvw", line, strict=False)
        for _ in range(number)
    ]
    cells = table([(*place, who, 1) for who, place in enumerate(people)])
    needs = requirements_of(THREE, cells.contributions)
    return audit(cells, pattern(cells, suppressed, needs), needs, THREE, assumptions)


CORNERS = [("a", "u"), ("a", "v"), ("c", "u"), ("c", "v")]


def test_two_cells_that_are_not_empty_add_up_to_two() -> None:
    """1 + 1 = 2, in two rows: a count that is listed is no 0, so there is nothing else that they can be."""
    square = [[1, 1, 9], [9, 9, 9], [1, 1, 9]]
    found = counted(square, CORNERS)
    golden([breach.says for breach in found.breaches if breach.attacker == "outsider"])
    assert counted(square, CORNERS, replace(COUNTS, counts=None, coalition=0)).safe  # as a magnitude it would be open


def test_who_knows_what_is_sensitive_reads_two_and_two() -> None:
    """2 + 2 = 4 and 1 + 3 for others; but nothing sensitive has 3, by a minimum of 3."""
    found = counted([[2, 2, 9], [9, 9, 9], [2, 2, 9]], CORNERS, replace(COUNTS, coalition=0))
    golden(sorted({breach.says for breach in found.breaches}))
    assert all(breach.exact for breach in found.breaches)


def test_that_a_count_must_be_sensitive_is_a_breach() -> None:
    """1 and 2 change places, but none of them can be 3."""
    found = counted([[1, 2, 9], [9, 9, 9], [2, 1, 9]], CORNERS)
    golden([each.says for each in found.breaches if each.attacker == "outsider" and "r a, c u" in each.says])
    assert not any(breach.exact for breach in found.breaches if breach.attacker == "outsider")


def test_large_counts_beside_small_ones_keep_them_open() -> None:
    found = counted([[1, 9, 9], [9, 9, 9], [9, 9, 9]], BOX)
    assert found.safe
    assert found.attempted == found.completed


def test_a_contributor_who_is_not_alone_reads_by_its_own_part() -> None:
    """(b, v) has 100, of which 95 are one firm's, so for that firm (a, u) cannot be lower by 10, nor by 6."""
    records = [("a", "u", 1, 100), ("b", "v", 2, 95), ("b", "v", 3, 3), ("b", "v", 4, 2)]
    records += [(r, c, 10 * k + n, 25) for k, (r, c) in enumerate((("a", "v"), ("b", "u")), 2) for n in range(4)]
    records += [("c", c, 100 * k + n, 25) for k, c in enumerate("uvw", 1) for n in range(4)]
    records += [(r, "w", 1000 * k + n, 25) for k, r in enumerate("ab", 1) for n in range(4)]
    cells = table(records)
    by_part, without = (
        [breach for breach in run(cells, BOX, known).breaches if breach.cell == at(cells, "a", "u")]
        for known in (ALONE, replace(ALONE, own_parts=False))
    )
    assert [(breach.owners, breach.exact) for breach in by_part] == [((2,), False)]
    golden(by_part[0].says)
    assert without == []


# Unions of suppressed cells whose sum is known.


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


@pytest.mark.exhaustive
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
