"""One table, one verdict: protection and both audits agree, on random tables with firms that report 0."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

import sluice
from sluice.ground.errors import DataError
from sluice.ground.verdict import Verdict

RULES = {
    "minimum_frequency": {"rule": "minimum_frequency", "n": 3},
    "p_percent": {"rule": "p_percent", "p": 10},
    "dominance": {"rule": "dominance", "n": 1, "k": 75},
    "zero_cells": {"rule": "zero_cells"},
}


@st.composite
def firms(draw: st.DrawFn) -> pd.DataFrame:
    cells = [(a, b) for a in "uvw" for b in "xyz"]
    rows = [
        (a, b, draw(st.sampled_from([0, 0, 1, 7, 20, 300]))) for a, b in cells for _ in range(draw(st.integers(0, 4)))
    ]
    rows.append(("u", "x", 5))
    return pd.DataFrame(rows, columns=["a", "b", "value"]).assign(firm=lambda frame: frame.index.astype(str))


@pytest.mark.chain  # three audits of each table
@given(firms(), st.sets(st.sampled_from(sorted(RULES)), min_size=1))
def test_what_is_protected_is_safe_by_every_door(records: pd.DataFrame, names: set[str]) -> None:
    """Nor does a reader of the file compute a sensitive cell, which needs neither the rules nor the records."""
    rules, dimensions = [RULES[name] for name in sorted(names)], ["a", "b"]
    try:
        made = sluice.protect(records, dimensions, value="value", rules=rules, contributor="firm")
    except DataError:
        return  # it says which cell cannot be protected
    assert made.verdict is Verdict.PASS
    assert all(ratio >= 1 - 1e-9 for _, ratio in made.audit.narrowest)
    again = sluice.audit(made.table, dimensions, records=records, value="value", rules=rules, contributor="firm")
    assert again.verdict is Verdict.PASS
    assert all(row["width_per_width_asked"] >= 1 - 1e-9 for row in again.of_narrowest)
    sensitive = {made.tabulated.cells.name(int(cell)) for cell in np.flatnonzero(made.requirements.sensitive)}
    assert not sensitive & set(sluice.audit(made.table, dimensions).exact)


@pytest.mark.chain  # two integer programs for each sensitive cell
@pytest.mark.parametrize("seed", [1, *(pytest.param(each, marks=pytest.mark.exhaustive) for each in (0, 7))])
def test_a_rounding_to_adjacent_multiples_is_found_and_a_reader_of_base_and_sums_learns_too_little(seed: int) -> None:
    """Nobody needs to believe that a listed count may be 0; who asks for that finds no such rounding of these."""
    rng = np.random.default_rng(seed)
    shares = {"a": [0.5, 0.27, 0.14, 0.09], "b": [0.55, 0.3, 0.15], "c": [0.65, 0.35], "d": [0.65, 0.35]}
    people = pd.DataFrame({name: rng.choice(list("uvwx")[: len(of)], 90, p=of) for name, of in shares.items()})
    rules = {"rule": "minimum_frequency", "n": 3}
    made = sluice.protect(people, list(shares), rules=rules, method={"method": "controlled_rounding", "base": 5})
    assert made.verdict is Verdict.PASS
    cells, value = made.tabulated.cells, made.protected.value
    assert np.abs(value - cells.total).max() < 5
    sums = LinearConstraint(cells.equations, 0, 0)
    bounds = Bounds(np.where(value > 0, np.maximum(value - 4, 1), 0), value + 4)
    for cell in np.flatnonzero(made.requirements.sensitive):
        ends = []
        for side in (1, -1):
            found = milp(side * (np.arange(len(value)) == cell), constraints=sums, bounds=bounds, integrality=1)
            ends.append(round(side * found.fun))
        assert ends[0] < ends[1] >= 3
