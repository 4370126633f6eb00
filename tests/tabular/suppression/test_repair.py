"""Whatever pattern is given, what comes back suppresses it all, and is safe by the audit."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from sluice.errors import DataError
from sluice.tabular.audit.audit import audit
from sluice.tabular.model.cells import Cells, Status
from sluice.tabular.rules.p_percent import PPercent
from sluice.tabular.rules.sensitivity import requirements_of
from sluice.tabular.suppression.repair import repair
from tests.tabular.tables import tables

RULES = (PPercent(10),)


@pytest.mark.slow
@settings(max_examples=15, deadline=None)
@given(tables(), st.integers(0, 2**32))
def test_a_pattern_grows_until_it_is_safe(cells: Cells, seed: int) -> None:
    given_status = np.random.default_rng(seed).choice([0, 0, 0, 1, 2], len(cells)).astype(np.uint8)
    requirements = requirements_of(RULES, cells.contributions)
    try:
        found = repair(cells, given_status, requirements, RULES)
    except DataError:
        assume(False)
    hidden = found.status != Status.PUBLISHED
    assert hidden[given_status != Status.PUBLISHED].all()
    assert audit(cells, found.status, requirements, RULES).safe
    forbidden = ~hidden
    again = repair(cells, found.status, requirements, RULES, forbidden=forbidden)
    assert np.array_equal(again.status != Status.PUBLISHED, hidden)  # safe already: nothing is added
