"""Proofs that are handed to the audit: they spare a search, and a false one is not believed."""

from dataclasses import replace

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sluice.tabular.assumptions import Assumptions
from sluice.tabular.audit import audit
from sluice.tabular.cells import Cells, Status
from sluice.tabular.certificate import Certificate
from sluice.tabular.minimum_frequency import MinimumFrequency
from sluice.tabular.p_percent import PPercent
from sluice.tabular.sensitivity import requirements_of
from sluice.tabular.suppression import suppress
from tests.tabular.tables import business, tables

RULES = (MinimumFrequency(3), PPercent(10))


def test_with_the_proofs_of_the_protection_the_verdict_is_the_same() -> None:
    cells = business("s1k")
    asked = requirements_of(RULES, cells.contributions)
    found = suppress(cells, asked, RULES)
    assert audit(cells, found.status, asked, RULES, certificates=found.certificates).safe
    assert audit(cells, found.status, asked, RULES).safe


@settings(max_examples=40, deadline=None)
@given(tables(least=4, most=30), st.integers(0, 2**32 - 1))
def test_false_proofs_do_not_make_a_pattern_safe(cells: Cells, seed: int) -> None:
    """Of a pattern of sensitive cells alone, with proofs that say of each that it may be anything."""
    asked = requirements_of(RULES, cells.contributions)
    status = np.where(asked.sensitive, Status.PRIMARY, Status.PUBLISHED).astype(np.uint8)
    rng = np.random.default_rng(seed)
    lies = []
    for cell in np.flatnonzero(asked.sensitive).tolist():
        some = np.unique(np.r_[cell, rng.integers(0, len(cells), 2)]).astype(np.int32)
        lies.append(Certificate((cell,), some, rng.normal(0, 1e6, len(some)), True))
        lies.append(Certificate((cell,), np.array([cell], dtype=np.int32), np.array([1e6]), True))
    honest, misled = audit(cells, status, asked, RULES), audit(cells, status, asked, RULES, certificates=lies)
    assert misled.safe == honest.safe
    assert {(b.cell, b.attacker, b.owners) for b in misled.breaches} == {
        (b.cell, b.attacker, b.owners) for b in honest.breaches
    }


def test_proofs_that_leave_the_bounds_are_not_believed() -> None:
    cells = business("s1k")
    asked = requirements_of(RULES, cells.contributions)
    found = suppress(cells, asked, RULES)
    stretched = [replace(proof, change=proof.change * 1e6) for proof in found.certificates]
    known = Assumptions(known_within=1)  # nobody can be in doubt by so much
    assert not audit(cells, found.status, asked, RULES, known, certificates=stretched).safe
