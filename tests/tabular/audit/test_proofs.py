"""Proofs that are handed to the audit: they spare a search, and a false one is not believed."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.tabular.audit.coalitions import Insiders
from sluice.tabular.audit.pattern_audit import audit
from sluice.tabular.audit.proofs import CheckedProofs
from sluice.tabular.audit.proven_interval import Need, ProvenInterval, Question
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Status
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.suppression.suppression import Certificate
from tests.tabular.grids import RULES, line, needs_of
from tests.tabular.tables import business, protected_business, tables


def asked(cell: int) -> Question:
    """Whether a cell is open by a unit, to somebody who knows nothing more."""
    nothing = np.zeros(0)
    return Question(cell, Need(1.0, 1.0, 0.0), nothing.astype(np.intp), nothing, nothing)


def test_with_the_proofs_of_the_protection_the_verdict_is_the_same() -> None:
    cells = business("s1k")
    requirement = needs_of(cells)
    found = protected_business()
    assert audit(cells, found.status, requirement, RULES, certificates=found.certificates).safe
    assert audit(cells, found.status, requirement, RULES).safe


@pytest.mark.chain
@given(tables(least=4, most=20), st.integers(0, 2**32 - 1))
def test_false_proofs_do_not_make_a_pattern_safe(cells: Cells, seed: int) -> None:
    """Of a pattern of sensitive cells alone, with proofs that say of each that it may be anything."""
    requirement = needs_of(cells)
    status = np.where(requirement.sensitive, Status.PRIMARY, Status.PUBLISHED).astype(np.uint8)
    rng = np.random.default_rng(seed)
    lies = []
    for cell in np.flatnonzero(requirement.sensitive).tolist():
        some = np.unique(np.r_[cell, rng.integers(0, len(cells), 2)]).astype(np.int32)
        lies.append(Certificate((cell,), some, rng.normal(0, 1e6, len(some)), True))
        lies.append(Certificate((cell,), np.array([cell], dtype=np.int32), np.array([1e6]), True))
    honest, misled = (
        audit(cells, status, requirement, RULES),
        audit(cells, status, requirement, RULES, certificates=lies),
    )
    assert misled.safe == honest.safe
    assert {(b.cell, b.attacker, b.owners) for b in misled.breaches} == {
        (b.cell, b.attacker, b.owners) for b in honest.breaches
    }


def test_limits_that_limit_nothing_change_no_answer() -> None:
    """Asked by the cells that are limited, or by those that proofs move: whichever are fewer."""
    cells = business("s1k")
    found = protected_business()
    free = found.status != Status.PUBLISHED
    total, everywhere = cells.total.astype(float), np.full(len(cells), np.inf)
    proofs = CheckedProofs(cells.equations, free, -total, everywhere, found.certificates)
    rng = np.random.default_rng(3)
    hidden, answered = np.flatnonzero(free), 0
    for cell in hidden[:60].tolist():
        need = Need(*(float(rng.integers(0, 1 + total[cell] // 20)) for _ in range(2)), 0.0)
        some = np.sort(rng.choice(hidden, 4, replace=False))
        lower, upper = np.full(len(cells), -np.inf), everywhere.copy()
        lower[some], upper[some] = -rng.integers(0, 2, 4) * total[some] / 2, rng.choice([0, np.inf], 4)
        few = proofs.alternatives(Question(cell, need, some, lower[some], upper[some]))
        many = proofs.alternatives(Question(cell, need, hidden, lower[hidden], upper[hidden]))
        told = [[(each.below, each.above, each.support.tolist()) for each in of] for of in (few, many)]
        assert told[0] == told[1]
        answered += bool(few)
        for each in few:  # it moves no cell further than the limits, which tell how far each may fall
            assert (each.drop <= -lower[each.support]).all()
    assert 10 < answered < 60


def test_proofs_that_leave_the_bounds_are_not_believed() -> None:
    cells = business("s1k")
    requirement = needs_of(cells)
    found = protected_business()
    stretched = [replace(proof, change=proof.change * 1e6) for proof in found.certificates]
    known = Assumptions(known_within=1)  # nobody can be in doubt by so much
    assert not audit(cells, found.status, requirement, RULES, known, certificates=stretched).safe


def answer(values: list[int], moved: list[int], *change: float) -> ProvenInterval | None:
    """Of a row of three cells under a published sum: what a proof tells of the first."""
    cells = line(*values)
    free, lower, upper = np.arange(4) > 0, -cells.total.astype(np.float64), np.full(4, np.inf)
    proof = Certificate((1,), np.array(moved, dtype=np.int32), np.array(change), True)
    return CheckedProofs(cells.equations, free, lower, upper, [proof]).answer(asked(1))


def test_a_proof_whose_sums_are_off_by_more_than_it_shows_is_not_believed() -> None:
    """A small cell beside two large ones: next to what these move, its own move is nothing."""
    for change, believed in (
        ((5.0, 1e9, -1e9), False),  # adds up but for 5, a two hundred millionth of what is moved
        ((5.0, 1e9, -1e9 - 5), True),
        ((5.0, 1e11, -1e11 - 5), False),  # below nothing
    ):
        assert (answer([10, 10**10, 10**10], [1, 2, 3], *change) is not None) is believed


@pytest.mark.parametrize(
    ("moved", "change"),
    [
        ([1, 1], [5.0, -5.0]),  # up and down at once: nothing moves
        ([1, -1], [5.0, -5.0]),  # the last cell by another number, under which nobody knows it
        ([2, 1], [-5.0, 5.0]),
        ([1, 4], [5.0, -5.0]),
        ([1, 2], [np.nan, -5.0]),
        ([1, 2], [np.inf, -np.inf]),
        ([1, 2], [5.0]),
    ],
)
def test_a_proof_that_is_none_is_not_believed(moved: list[int], change: list[float]) -> None:
    assert answer([10, 10, 10], moved, *change) is None


def test_that_another_contributes_nothing_is_no_news_where_zeros_are_known() -> None:
    axis = Dimension.flat("a", ["A", "B", "C"])
    leaves = np.array([[axis.position[code]] for code in "AAABBCC"], dtype=np.int32)
    owner, value = np.array([0, 1, 1, 0, 2, 3, 4]), np.array([100, 0, 0, 50, 60, 70, 80])
    cells = aggregate([axis], leaves, owner, value)
    requirement = needs_of(cells)
    hidden = np.ones(len(cells), dtype=bool)
    needs = [
        Insiders(cells, hidden, requirement, RULES, 1, np.zeros(len(cells)), zeros_known=known).need_of(
            1, frozenset({0})
        )
        for known in (True, False)
    ]
    assert needs[0] == Need(0.0, 0.0, 0.0)
    assert needs[1].upper > 0
