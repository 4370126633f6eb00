"""Patterns that `suppress` makes and `audit` calls safe, under the attack of somebody who shares no code with them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.tabular.audit.pattern_audit import audit
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Status
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent
from sluice.tabular.rules.sensitivity import requirements_of
from sluice.tabular.suppression.suppression import suppress
from tests.tabular.attackers import Table
from tests.tabular.tables import tables

pytestmark = pytest.mark.chain  # an attacker of its own takes each pattern apart

P = 10
CELLS = 100  # of a table at most: the audit of a larger one, nearly all of whose cells are sensitive, takes seconds

ASSUMPTIONS = st.builds(
    Assumptions,
    known_within=st.sampled_from([None, None, None, 60.0]),
    coalition=st.sampled_from([0, 1, 1, 2]),
    zeros_known=st.booleans(),
)


def is_small(cells: Cells) -> bool:
    return len(cells) <= CELLS


@given(tables(least=4, most=10).filter(is_small), ASSUMPTIONS, st.integers(2, 3), st.booleans())
def test_nobody_undoes_a_pattern(cells: Cells, assumptions: Assumptions, n: int, priced: bool) -> None:
    """Outsiders, sole contributors with all the cells that are theirs, and coalitions; in tables and groupings.

    What cannot be protected is not safe with everything suppressed, either.
    """
    rules = [MinimumFrequency(n=n), PPercent(p=P)]
    requirement = requirements_of(rules, cells.contributions)
    rng = np.random.default_rng(len(cells))
    cost, preferred = rng.uniform(0, 5, len(cells)), rng.random(len(cells)) < 0.2
    prices = {"cost": cost, "preferred": preferred} if priced else {}
    try:
        status = suppress(cells, requirement, rules, assumptions, **prices).status
        refused = False
    except DataError:
        status, refused = np.where(requirement.sensitive, 1, 2).astype(np.uint8), True
    assert np.isin(status[requirement.sensitive], (Status.PRIMARY, Status.WITHHELD)).all()
    found = Table(cells, status, requirement, assumptions).found_out(n, P, first=True)
    if refused:
        assert found or not audit(cells, status, requirement, rules, assumptions).safe
    else:
        assert found == []


@given(tables(least=6, most=9).filter(is_small), ASSUMPTIONS, st.integers(0, 2**32 - 1))
def test_the_audit_notices_every_hole_that_is_made_on_purpose(
    cells: Cells, assumptions: Assumptions, seed: int
) -> None:
    rules = [MinimumFrequency(n=3), PPercent(p=P)]
    requirement = requirements_of(rules, cells.contributions)
    try:
        status = suppress(cells, requirement, rules, assumptions).status
    except DataError:
        status = requirement.sensitive.astype(np.uint8)
    secondary = np.flatnonzero(status == Status.SECONDARY)
    if len(secondary):
        status[np.random.default_rng(seed).choice(secondary)] = Status.PUBLISHED
    if Table(cells, status, requirement, assumptions).found_out(3, P, first=True):
        assert audit(cells, status, requirement, rules, assumptions).breaches
