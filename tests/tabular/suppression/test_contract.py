"""What holds for every way to choose the cells that are suppressed: what must stay, what must go, what is free."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from sluice.ground.errors import DataError
from sluice.tabular.audit.pattern_audit import audit
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Status
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.sensitivity import requirements_of
from sluice.tabular.suppression.optimal_suppression import optimise
from sluice.tabular.suppression.suppression import Suppression, repair, suppress
from tests.golden import golden
from tests.tabular.grids import RULES, needs_of, square

Search = Callable[..., Suppression]
SEARCHES: dict[str, Search] = {"greedy": suppress, "optimal": partial(optimise, gap=0)}
each_search = pytest.mark.parametrize("search", SEARCHES.values(), ids=SEARCHES)

CELLS = square([[40, 40, 400], [40, 80, 400], [400, 400, 400]], contributors=4, alone=[(0, 0)])
NEEDS = needs_of(CELLS)
NAMES = [CELLS.name(cell) for cell in range(len(CELLS))]
FAR = np.isin(NAMES, ["a a1, b b3", "a a3, b b1", "a a3, b b3"])  # a box, too, that costs more
NEAR = np.isin(NAMES, ["a a2, b b2"])


@each_search
def test_a_forbidden_cell_is_published_and_what_is_preferred_or_begun_is_used(search: Search) -> None:
    for kind, which in {"forbidden": NEAR, "preferred": FAR, "suppressed": FAR}.items():
        chosen = search(CELLS, NEEDS, RULES, **{kind: which}).status
        assert audit(CELLS, chosen, NEEDS, RULES).safe
        assert (chosen[NEEDS.sensitive] == Status.PRIMARY).all()
        assert not chosen[NEAR].any()
        assert kind == "forbidden" or (chosen[FAR] == Status.SECONDARY).all()
        assert (chosen > 0).sum() == 4


@each_search
def test_nothing_sensitive_suppresses_nothing(search: Search) -> None:
    rules = [MinimumFrequency.model_construct(n=1)]
    assert not search(CELLS, requirements_of(rules, CELLS.contributions), rules).status.any()


@pytest.mark.parametrize("search", [suppress, optimise])
@pytest.mark.parametrize(
    "wrong",
    [
        {"forbidden": NEEDS.sensitive},
        {"forbidden": ~NEEDS.sensitive},
        {"assumptions": Assumptions(known_within=1)},
        {"assumptions": Assumptions(coalition=6)},
        {"cost": np.zeros(3)},
        {"cost": np.full(16, -1.0)},
    ],
    ids=["sensitive forbidden", "all others forbidden", "too well known", "too many together", "too few", "negative"],
)
def test_what_cannot_be_protected_so_is_refused(search: Search, wrong: dict[str, object]) -> None:
    with golden.raises(DataError):
        search(CELLS, NEEDS, RULES, **wrong)


def test_a_pattern_that_is_repaired_keeps_all_that_it_had() -> None:
    status = np.where(FAR, Status.SECONDARY, Status.PUBLISHED).astype(np.uint8)
    found = repair(CELLS, status, NEEDS, RULES).status
    assert (found[FAR] == Status.SECONDARY).all()
    assert audit(CELLS, found, NEEDS, RULES).safe
