"""Unions that need no proof because another proof moves their sum: they need one when that proof is dropped."""

import numpy as np
import pytest

from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Booleans, Cells, Floats
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent
from sluice.tabular.rules.sensitivity import SensitivityRule, requirements_of
from sluice.tabular.suppression.costs import value
from sluice.tabular.suppression.greedy_search import GreedySearch, Problem, search_table
from sluice.tabular.suppression.pattern_search import PatternSearch
from sluice.tabular.suppression.targets import Target
from sluice.tabular.suppression.unknown_cells import UnknownCells
from tests.tabular.generated import Shape, table_of

_HALF_SENSITIVE = Shape(1, [[3, 2], [3, 2], [3]], 8, 1.2, empty=0.0, evenness=2.0)


def problem_of(shape: Shape, share: float) -> Problem:
    """A table of which about this share of the cells is sensitive."""
    cells: Cells = table_of(shape)
    rules: list[SensitivityRule] = [MinimumFrequency(n=int(np.quantile(cells.contributors, share))), PPercent(p=10)]
    nothing = np.zeros(len(cells), dtype=bool)
    needs = requirements_of(rules, cells.contributions)
    return Problem(cells, needs, rules, Assumptions(), value(cells), nothing, nothing, nothing)


def computable(unknowns: UnknownCells, active: Booleans, unions: list[Target]) -> list[Target]:
    """The unions whose sum follows from rows, however many, by linear algebra alone."""
    at = np.flatnonzero(active)
    rows = unknowns.rows[:, at].toarray()
    sums = np.column_stack([np.isin(at, union.unknowns).astype(np.float64) for union in unions])
    by = np.linalg.lstsq(rows.T, sums, rcond=None)[0]
    told = np.abs(rows.T @ by - sums).max(axis=0) < 1e-8
    return [union for union, known in zip(unions, told.tolist(), strict=True) if known]


@pytest.fixture
def left_out(monkeypatch: pytest.MonkeyPatch) -> list[Target]:
    """The unions that the search proves nothing of, as a proof of another target moves them."""
    found: list[Target] = []
    moves = PatternSearch.moves

    def spied(search: PatternSearch, target: Target, begun: Floats) -> bool:
        moved = moves(search, target, begun)
        if moved:
            found.append(target)
        return moved

    monkeypatch.setattr(PatternSearch, "moves", spied)
    return found


@pytest.mark.chain
def test_a_union_that_another_proof_moves_is_a_target_when_that_proof_is_dropped(left_out: list[Target]) -> None:
    problem = problem_of(_HALF_SENSITIVE, 0.5)
    unknowns = problem.unknowns()
    greedy = GreedySearch(problem, unknowns)
    search, unions = greedy.search, greedy.unions
    assert not greedy.protect(greedy.targets)
    assert left_out
    assert not computable(unknowns, search.active, left_out)
    before = search.active
    for at, target in enumerate(search.targets):
        if len(target.unknowns) > 1:
            search.release(at)
    dropped = np.flatnonzero(before & ~search.active).astype(np.int32)
    again = computable(unknowns, search.active, left_out)
    assert again
    near = {target.unknowns for target in unions.sensitive(search.active, dropped)}
    assert all(union.unknowns in near for union in again)
    greedy.dearer_with_unions(np.inf)
    told = computable(unknowns, search.active, again)
    assert all(search.proofs[search.index(union)] for union in told)


@pytest.mark.chain
def test_when_all_is_cleaned_up_no_union_that_was_left_out_can_be_computed_without_a_proof(
    left_out: list[Target],
) -> None:
    problem = problem_of(_HALF_SENSITIVE, 0.5)
    unknowns = problem.unknowns()
    search = search_table(problem, unknowns, workers=1)
    assert left_out
    told = computable(unknowns, search.active, left_out)
    assert all(search.proofs[search.index(union)] for union in told)
