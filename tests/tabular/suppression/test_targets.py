"""What must stay in doubt of a cell that a person asks for, to those who have part of it; the audit's twin agrees."""

from collections.abc import Sequence

import numpy as np
import pytest

from sluice.tabular.audit.coalitions import Insiders
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Status
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.intruders import intruders
from sluice.tabular.rules.p_percent import PPercent
from sluice.tabular.rules.sensitivity import Requirements, SensitivityRule, requirements_of
from sluice.tabular.suppression.manual_status import apply_manual, manual_rows
from sluice.tabular.suppression.suppression import suppress
from sluice.tabular.suppression.targets import Need, Target
from tasks.release.tables.protection import ProtectionRequest, audit_cells


def firms() -> Cells:
    """Of A one firm of 520 and one of 12; of the others four firms of 100 each."""
    dimension = Dimension.flat("nace", ["A", "B", "C"])
    records = [("A", 520), ("A", 12), *((code, 100) for code in "BC" for _ in range(4))]
    leaves = np.array([[dimension.position[code]] for code, _ in records], dtype=np.int32)
    return aggregate([dimension], leaves, np.arange(len(records)), np.array([value for _, value in records]))


def asked(cells: Cells, rules: Sequence[SensitivityRule], percent: float = 20) -> Requirements:
    rows = manual_rows([{"nace": "A", "status": "sensitive"}], ["nace"])
    requirement = requirements_of(rules, cells.contributions)
    cost = cells.total.astype(np.float64)
    return apply_manual(cells, requirement, rows, cost, safety_percent=percent).requirements


def target_of(cells: Cells, requirements: Requirements, rules: tuple[SensitivityRule, ...], cell: int) -> Target:
    need = Need(int(requirements.upper[cell]), int(requirements.lower[cell]))
    return Target(
        (0,), need, rules, int(cells.total[cell]), int(cells.contributors[cell]), cells.largest[cell],
        cells.owners[cell], stated=True,
    )  # fmt: skip


@pytest.mark.parametrize(("rules", "level"), [((), 107), ((PPercent(p=10),), 52)])
def test_a_contributor_is_left_in_doubt_about_all_that_others_have(
    rules: tuple[SensitivityRule, ...], level: int
) -> None:
    """20 percent of 532 are 107, 10 of 520 are 52; 12 are left without the largest part. To ask for more could never be
    met; and what a rule asks is not lost because a person asks, too."""
    cells = firms()
    cell = [cells.name(at) for at in range(len(cells))].index("nace A")
    requirements = asked(cells, rules)
    large, small = (int(owner) for owner in cells.owners[cell, :2])
    target = target_of(cells, requirements, rules, cell)
    assert target.need_against(frozenset([large])) == Need(level, 12)
    assert target.need_against(frozenset([small])) == Need(level, level)
    free = np.ones(len(cells), dtype=bool)
    reader = intruders(cells, requirements, rules, Assumptions())[0]
    insiders = Insiders(cells, free, requirements, rules, 1, reader.others)
    for owner in (large, small):
        need, other = insiders.need_of(cell, frozenset([owner])), target.need_against(frozenset([owner]))
        assert (need.upper, need.lower) == (other.up, other.down)


def test_people_alone_may_say_which_cells_are_sensitive() -> None:
    """Without any rule; such a cell was found impossible to protect wherever one contributor towers over the others."""
    cells = firms()
    request = ProtectionRequest.of(
        cells, [], Assumptions(), rows=manual_rows([{"nace": "A", "status": "sensitive"}], ["nace"]), manual_percent=5
    )
    assert request.requirements.upper.max() == 27  # 5 percent of 532, rounded up
    found = suppress(cells, request.requirements, (), request.assumptions)
    assert (found.status == Status.SECONDARY).sum() == 1
    assert audit_cells(cells, found.status, request).safe
    assert not audit_cells(
        cells, np.where(found.status == Status.SECONDARY, Status.PUBLISHED, found.status), request
    ).safe
