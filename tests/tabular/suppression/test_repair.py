"""Whatever pattern is given, what comes back suppresses it all, and is safe by the audit."""

import numpy as np
import pytest

from sluice.ground.errors import DataError
from sluice.tabular.audit.pattern_audit import audit
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.cells import Cells, Status
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.p_percent import PPercent
from sluice.tabular.rules.sensitivity import requirements_of
from sluice.tabular.suppression.suppression import repair
from tests.golden import golden

RULES = (PPercent(p=10),)


def drawn(seed: int) -> tuple[Cells, np.random.Generator]:
    """A table of 5 by 4, with few contributors in some cells."""
    rng = np.random.default_rng(seed)
    dimensions = [
        Dimension.flat(name, [f"{name}{code}" for code in range(size)]) for name, size in (("a", 5), ("b", 4))
    ]
    leaves = np.column_stack([rng.integers(1, 6, 90), rng.integers(1, 5, 90)]).astype(np.int32)
    values = np.rint(rng.lognormal(4, 1.2, 90)).astype(np.int64) + 1
    return aggregate(dimensions, leaves, np.arange(90), values), rng


@pytest.mark.parametrize("seed", range(6))
def test_a_pattern_grows_until_it_is_safe(seed: int) -> None:
    cells, rng = drawn(seed)
    given = rng.choice(np.array([0, 0, 0, 0, 1, 2], dtype=np.uint8), len(cells))
    requirements = requirements_of(RULES, cells.contributions)
    assert requirements.sensitive.any()
    assert not audit(cells, given, requirements, RULES).safe
    found = repair(cells, given, requirements, RULES)
    hidden = found.status != Status.PUBLISHED
    assert hidden[given != Status.PUBLISHED].all()
    assert audit(cells, found.status, requirements, RULES).safe
    again = repair(cells, found.status, requirements, RULES, forbidden=np.ones(len(cells), dtype=bool))
    assert np.array_equal(again.status, found.status)  # safe already: nothing need be added, and what is given stays


def test_what_must_be_published_can_be_too_much() -> None:
    cells, _ = drawn(0)
    requirements = requirements_of(RULES, cells.contributions)
    given = np.where(requirements.sensitive, Status.PRIMARY, Status.PUBLISHED).astype(np.uint8)
    with golden.raises(DataError):
        repair(cells, given, requirements, RULES, forbidden=~requirements.sensitive)
