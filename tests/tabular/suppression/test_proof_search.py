"""Proofs that convince contributors who are in many cells: each by itself finds one that it must believe."""

from functools import cache

import numpy as np
import pytest

from sluice.tabular.audit.pattern_audit import audit
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Status
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.suppression import proof_search
from sluice.tabular.suppression.effort import Effort
from sluice.tabular.suppression.greedy_search import Problem, search_table
from sluice.tabular.suppression.pattern_search import PatternSearch
from sluice.tabular.suppression.suppression import suppress
from tests.tabular.grids import RULES, needs_of

pytestmark = pytest.mark.chain  # tables of fewer cells need no proof besides the first


@cache
def chains() -> Cells:
    """270 leaves; twelve chains with shops in a third of them each, and few others."""
    rng = np.random.default_rng(5)
    trade = Dimension.of("trade", [("Total", ""), *((f"{a}", "Total") for a in "ABC"),
                                   *((f"{a}{b}", a) for a in "ABC" for b in range(6))])  # fmt: skip
    region = Dimension.of("region", [("Total", ""), *((f"{a}", "Total") for a in "XYZ"),
                                     *((f"{a}{b}", a) for a in "XYZ" for b in range(5))])  # fmt: skip
    sites = len(trade.leaves) * len(region.leaves)
    shops = [np.flatnonzero(rng.random(sites) < 0.33) for _ in range(12)]
    others = rng.integers(0, sites, 3 * sites)
    at = np.concatenate([*shops, others])
    owner = np.concatenate([*(np.full(len(of), chain) for chain, of in enumerate(shops)), 100 + np.arange(len(others))])
    value = np.rint(np.exp(rng.normal(4, 1.5, len(at))) * np.where(owner < 100, 5, 1) + 1).astype(np.int64)
    leaves = np.column_stack([trade.leaves[at // len(region.leaves)], region.leaves[at % len(region.leaves)]])
    return aggregate([trade, region], leaves.astype(np.int32), owner, value)


def searched(cells: Cells) -> PatternSearch:
    nothing = np.zeros(len(cells), dtype=bool)
    asked, cost = needs_of(cells), cells.total.astype(np.float64)
    problem = Problem(cells, asked, RULES, Assumptions(), cost, nothing, nothing, nothing, Effort())
    return search_table(problem, problem.unknowns(), workers=1)


@pytest.mark.parametrize("hard", [0, 3])
def test_every_contributor_believes_a_proof_of_every_target(monkeypatch: pytest.MonkeyPatch, hard: int) -> None:
    """Also when the last resort is asked for many at once, because nothing near convinces the first of them."""
    monkeypatch.setattr(proof_search, "_HARD", hard)
    search = searched(chains())
    several = 0
    for target, proofs in zip(search.targets, search.proofs, strict=True):
        if not proofs:
            continue  # a union whose sum cannot be computed any more
        several += len(proofs) > 2
        for owner in frozenset().union(*(known for proof in proofs for known in proof.known)):
            alone = frozenset([owner])
            need = target.need_against(alone)
            assert need.nothing or any(need.within(proof.need) and alone not in proof.known for proof in proofs)
    assert several  # targets for which one proof besides the first convinces not all


def test_a_table_of_chains_is_safe_without_the_proofs() -> None:
    """The audit is handed none, and searches by itself."""
    cells = chains()
    asked = needs_of(cells)
    made = suppress(cells, asked, RULES)
    found = audit(cells, made.status, asked, RULES)
    assert found.safe, [breach.says for breach in found.breaches]
    assert (made.status == Status.SECONDARY).any()
