"""What is said of how far suppressed cells are from the cheapest safe pattern.

Proofs come back from the vault as they went in.
"""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.ground.sentence import percent
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Status
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent
from tasks.release.tables.protection import Mode, ProtectionRequest
from tasks.release.tables.protection_method import SecondarySuppression
from tasks.release.tables.suppressed_tables import (
    KeptProof,
    SuppressedCells,
    proofs_as_bytes,
    read_proofs,
    suppress_cells,
)
from tests.golden import golden
from tests.tabular.generated import generated

_CHANGE = st.dictionaries(st.integers(0, 10_000), st.floats(-1e12, 1e12), max_size=6)


def suppressed(mode: Mode, seconds: float | None) -> SuppressedCells:
    cells = generated("2-D")
    request = ProtectionRequest.of(cells, [MinimumFrequency(n=3), PPercent(p=10)], Assumptions())
    method = SecondarySuppression(mode=mode, seconds=seconds)
    made = suppress_cells(cells, request, method, kept=np.zeros(len(cells), dtype=bool))
    assert made.cost == cells.total[made.published.status != Status.PUBLISHED].sum()
    return made


def test_only_the_search_that_proves_a_bound_speaks_of_a_gap() -> None:
    assert suppressed("fast", None).optimality is None


def test_a_budget_tells_what_it_made_of_the_first_safe_pattern_and_whether_it_ended_the_search() -> None:
    none, much = suppressed("fast", 1e-6), suppressed("fast", 1000.0)
    assert none.first == none.cost == much.first
    golden(none.optimality)
    assert much.cost < none.cost
    golden(much.optimality)
    assert percent(1 - much.cost / none.cost) in much.optimality


def test_the_gap_is_that_of_bound_and_cost_and_time_narrows_it() -> None:
    for seconds in (1e-6, 100.0):
        made = suppressed("optimise", seconds)
        assert made.bound is not None
        assert made.optimality is not None
        assert f"a gap of {percent(1 - made.bound / made.cost)}." in made.optimality
        assert (1 - made.bound / made.cost < 0.05) == (seconds > 1)


@given(given_=st.lists(_CHANGE, max_size=5))
def test_proofs_come_back_as_they_were(
    given_: list[dict[int, float]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    kept = [
        KeptProof(np.array(list(change), dtype=np.int32), np.array(list(change.values()), dtype=np.float64))
        for change in given_
    ]
    path = tmp_path_factory.mktemp("proofs") / "proofs.npz"
    path.write_bytes(proofs_as_bytes(kept))
    read = read_proofs(path)
    assert [(proof.cells.tolist(), proof.change.tolist()) for proof in read] == [
        (proof.cells.tolist(), proof.change.tolist()) for proof in kept
    ]
    assert proofs_as_bytes(read) == path.read_bytes()


def test_another_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "proofs.npz"
    path.write_bytes(b"no archive")
    golden.refused(DataError, read_proofs, path)
