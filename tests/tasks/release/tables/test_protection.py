"""Cells, rules and a pattern, without a release: what is asked, what is suppressed, and what attackers find."""

import numpy as np
import pandas as pd
import pytest

from sluice.ground.errors import DataError
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Status
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import Measure
from sluice.tabular.model.numbered_records import records_of
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.suppression.manual_status import manual_rows
from tasks.release.tables.altered_tables import alter_cells
from tasks.release.tables.protection import Mode, ProtectionRequest, audit_cells, protect_cells
from tasks.release.tables.protection_method import CellKey, ControlledRounding, SmallCountRounding
from tasks.release.tables.published_cells import PublishedCells
from tests.golden import golden

RULES = [MinimumFrequency(rule="minimum_frequency", n=3)]


@pytest.fixture(scope="module")
def cells() -> Cells:
    """A table of 3 by 3 counts; one cell holds a single record."""
    counts = {("a", "x"): 1, ("a", "y"): 9, ("a", "z"): 7, ("b", "x"): 8, ("b", "y"): 6, ("b", "z"): 5}
    counts |= {("c", "x"): 4, ("c", "y"): 11, ("c", "z"): 12}
    frame = pd.DataFrame([pair for pair, count in counts.items() for _ in range(count)], columns=["row", "column"])
    dimensions = [
        Dimension.of(name, [("Total", ""), *((code, "Total") for code in codes)])
        for name, codes in (("row", "abc"), ("column", "xyz"))
    ]
    return records_of(frame, dimensions, Measure()).cells(dimensions)


def request_on(cells: Cells, **options: object) -> ProtectionRequest:
    return ProtectionRequest.of(cells, RULES, Assumptions(nonnegative=True), **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("mode", ["fast", "optimise"])
def test_what_is_protected_withstands_every_attack_and_the_sensitive_cell_alone_does_not(
    cells: Cells, mode: Mode
) -> None:
    request = request_on(cells)
    assert request.requirements.sensitive.sum() == 1
    made = protect_cells(cells, request, mode)
    assert (made.status == Status.SECONDARY).any()
    assert audit_cells(cells, made.status, request, made.certificates).safe
    alone = np.where(request.requirements.sensitive, Status.PRIMARY, Status.PUBLISHED).astype(np.uint8)
    found = audit_cells(cells, alone, request)
    assert found.breaches
    assert not found.safe


def test_what_is_suppressed_in_any_case_stays_suppressed(cells: Cells) -> None:
    request = request_on(cells)
    kept = np.zeros(len(cells), dtype=bool)
    kept[int(np.argmax(cells.total[request.manual.cost < cells.total.max()]))] = True
    made = protect_cells(cells, request, suppressed=kept)
    assert (made.status[kept] != Status.PUBLISHED).all()


def test_secret_costs_differ_from_the_values_and_ask_nothing_else(cells: Cells) -> None:
    request = request_on(cells)
    one, same, other = (request.with_secret_costs(cells, secret) for secret in ("one", "one", "other"))
    assert (one.manual.cost == same.manual.cost).all()
    assert not (one.manual.cost == other.manual.cost).any()
    assert not (one.manual.cost == request.manual.cost).any()
    assert one.requirements is request.requirements


def test_a_sensitive_cell_is_published_on_a_persons_word_only_with_a_waiver(cells: Cells) -> None:
    wanted = [{"row": "a", "column": "x", "status": "published"}]
    rows = manual_rows(wanted, ["row", "column"], cells.decimals)
    with pytest.raises(DataError):
        request_on(cells, rows=rows)
    waived = request_on(cells, rows=rows, waive=lambda needed: ([], set(needed)))
    assert waived.manual.forbidden.sum() == 1
    assert not waived.requirements.sensitive.any()


def test_intervals_hold_the_true_values_and_an_unbounded_one_is_refused(cells: Cells) -> None:
    request = request_on(cells)
    made = protect_cells(cells, request)
    published = PublishedCells.with_intervals(cells, made.status, request, workers=1)
    assert published.interval is not None
    low, high = published.interval
    hidden = made.status != Status.PUBLISHED
    assert ((low <= cells.total) & (cells.total <= high))[hidden].all()
    everything = np.full(len(cells), Status.SECONDARY, dtype=np.uint8)
    golden.refused(DataError, PublishedCells.with_intervals, cells, everything, request, workers=1)


def test_rounded_cells_are_multiples_of_the_base_and_amounts_are_refused_where_counts_are_meant(cells: Cells) -> None:
    def unused() -> object:
        raise AssertionError("this method needs neither randomness nor records")

    request = request_on(cells)
    made = alter_cells(
        cells,
        request,
        ControlledRounding(method="controlled_rounding", base=10),
        is_count=True,
        rng=unused,  # type: ignore[arg-type]
        records=unused,  # type: ignore[arg-type]
    )
    assert (made.value % 10 == 0).all()
    assert (np.abs(made.value - cells.total) < 10).all()
    for method in (
        SmallCountRounding(method="small_count_rounding", base=3),
        CellKey(method="cell_key", maximum=2, variance=1.0),
    ):
        golden.refused(DataError, alter_cells, cells, request, method, is_count=False, rng=unused, records=unused)
