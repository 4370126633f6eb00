"""Repair of a pattern that is not safe, whoever made it: what is suppressed stays so, and further cells with it."""

from collections.abc import Sequence

import numpy as np

from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Booleans, Cells, Floats, Status, Statuses
from sluice.tabular.rules.sensitivity import Requirements, SensitivityRule
from sluice.tabular.suppression.suppression import Suppression, suppress


def repair(
    cells: Cells,
    status: Statuses,
    requirements: Requirements,
    rules: Sequence[SensitivityRule] = (),
    assumptions: Assumptions = Assumptions(),  # noqa: B008
    cost: Floats | None = None,
    forbidden: Booleans | None = None,
    workers: int = 1,
) -> Suppression:
    """A safe pattern that suppresses all that the given one does, and further cells of low cost.

    status    : shape (c,), of the given pattern
    forbidden : shape (c,), must be published, as far as the given pattern does
    raises    : as `suppress`
    """
    given = (status == Status.PRIMARY) | (status == Status.SECONDARY)
    return suppress(
        cells,
        requirements,
        rules,
        assumptions,
        cost=cost,
        forbidden=None if forbidden is None else np.logical_and(forbidden, ~given),
        suppressed=given,
        workers=workers,
    )
