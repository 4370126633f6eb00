"""Numbers of contributors beside a pattern that was not made for them: what follows of cells of a single contributor.

Counted are the suppressed cells of one contributor, in generated tables that are protected as magnitudes alone, of
which somebody who reads the numbers of the published cells, and knows that no listed cell has none, computes that it is
one. Of 24 tables of four shapes these were 33 of 325 such cells, 25 of them in the first table below. (Other tables,
which nobody has any more, had 14 of 290 and 3 of 93.)
"""

from dataclasses import replace

import pytest

from sluice.ground.verdict import Verdict
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import Measure
from sluice.tabular.model.numbered_records import records_of
from sluice.tabular.rules.minimum_frequency import MinimumFrequency
from sluice.tabular.rules.p_percent import PPercent
from tasks.release.tables.other_measures import judge_contributor_numbers
from tasks.release.tables.protection import ProtectionRequest, protect_cells
from tests.reader.generate import drawn
from tests.reader.judge import Truth
from tests.reader.knowledge import anybody
from tests.reader.play import MAGNITUDES, as_written
from tests.reader.published import Hierarchy, read_tables
from tests.reader.solve import Solver


@pytest.mark.parametrize(
    ("seed", "branches", "records", "follow", "verdict"),
    [
        (60, {"a": (4, 4), "b": (4, 3)}, 300, True, Verdict.FAIL),
        (64, {"a": (6,), "b": (5, 3)}, 150, False, Verdict.PASS),
    ],
)
def test_numbers_that_follow_are_what_the_audit_of_numbers_finds(
    seed: int, branches: dict[str, tuple[int, ...]], records: int, follow: bool, verdict: Verdict
) -> None:
    firms, rows = drawn(seed, branches, records, firms=records)
    dimensions = [Dimension.of(name, tree) for name, tree in rows.items()]
    cells = records_of(firms, dimensions, Measure("value", "firm")).cells(dimensions)
    request = ProtectionRequest.of(cells, [MinimumFrequency(n=3), PPercent(p=10)], Assumptions())
    status = protect_cells(cells, request).status
    hierarchies = [Hierarchy.of(name, tree) for name, tree in rows.items()]
    counts = read_tables([as_written(replace(cells, total=cells.contributors), status)], hierarchies)
    truth = Truth(firms, hierarchies, MAGNITUDES, "value", "firm")
    solver = Solver(counts, *anybody(counts, counts=True))
    single = [at for at, cell in enumerate(counts.cells) if not counts.known[at] and len(truth.parts[cell]) == 1]
    assert len(single) > 5
    exact = [solver.interval(at, enough=(1, 2)).high == 1 for at in single]
    assert sum(exact) > 5 if follow else not any(exact)
    assert judge_contributor_numbers(cells, status, request, 1)[0].verdict is verdict
