"""What a dossier may say of tables."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.verdict import Verdict
from sluice.report.table_summary import AuditOutcome
from sluice.tabular.audit.pattern_audit import Audit, Breach
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.cells import Cells, Status
from sluice.tabular.model.dimension import Dimension
from tests.report.pages import flat, names, random_status, summary
from tests.tabular.tables import tables


class TestDossier:
    @given(tables(), st.integers(0, 99))
    def test_cells_are_counted_once(self, cells: Cells, seed: int) -> None:
        status = random_status(cells, seed)
        table = summary(cells, status)
        assert table.published + table.suppressed + table.withheld == table.cells == len(cells)
        assert table.cells + table.empty == np.prod([len(d.codes) for d in cells.dimensions])
        assert table.sensitive == table.by_rule["minimum_frequency"] == (cells.contributors < 2).sum()
        for dimension in names(cells):
            levels = [level for level in table.levels if level.dimension == dimension]
            assert sum(level.cells for level in levels) == table.cells - table.withheld
            assert sum(level.suppressed for level in levels) == table.suppressed

    @pytest.mark.parametrize(
        ("suppressed", "minimum", "told"), [(0, 3, True), (2, 1, False), (3, 1, True), (3, 4, False)]
    )
    def test_sums_are_told_only_where_they_say_nothing_of_one_cell(
        self, suppressed: int, minimum: int, told: bool
    ) -> None:
        cells, status = flat(9), np.zeros(10, dtype=np.uint8)
        status[1 : 1 + suppressed] = Status.PRIMARY
        table = summary(cells, status, minimum)
        figures = (table.value_suppressed, table.value_share, table.contributors_suppressed, table.contributors_share)
        assert [figure is not None for figure in figures] == [told] * 4
        if suppressed == 3 and told:
            assert figures == (3010.0, float(f"{3006 / cells.total[0]:.3g}"), 3, 0.333)

    def test_no_figure_leads_back_to_the_exact_sum_of_the_suppressed(self) -> None:
        """Of a table of counts: the published cells, a share and one equation would give the others' exact sum."""
        cells, status = flat(9), np.zeros(10, dtype=np.uint8)
        inner = np.array([52_341, 61_123, 70_007, 4_001, 5_003, 6_007, 7_001, 8_003, 9_005])
        cells = replace(cells, total=np.r_[inner.sum(), inner], contributors=np.r_[inner.sum(), inner])
        status[1:4] = Status.PRIMARY
        table, hidden = summary(cells, status), int(inner[:3].sum())
        seen = int(cells.total[status == 0].sum())
        assert (table.value_suppressed, table.contributors_suppressed) == (183_000, 183_000)
        for share in (table.value_share, table.contributors_share):
            assert share is not None
            assert abs(share * seen / (1 - share) - hidden) > 20

    def test_no_suppressed_marginal_follows_from_what_the_suppressed_add_up_to(self) -> None:
        """Of region north with all its cells suppressed and south without any: the sum of all less the total is it."""
        codes = [("Total", ""), ("north", "Total"), ("south", "Total"), *((f"n{at}", "north") for at in range(9))]
        region = Dimension.of("region", codes)
        depth = [region.codes.index(code) for code, _ in codes]
        inner = np.array([11, 12, 13, 14, 15, 16, 17, 18, 19])
        total = np.r_[inner.sum() + 100, inner.sum(), 100, inner]
        status = np.full(12, Status.PRIMARY, dtype=np.uint8)
        status[0] = Status.PUBLISHED
        order = np.argsort(depth)
        made = aggregate(
            [region],
            np.repeat([[depth[2]], *([at] for at in depth[3:])], [100, *inner], axis=0).astype(np.int32),
            np.arange(int(total[0]), dtype=np.int64),
            np.ones(int(total[0]), dtype=np.int64),
        )
        assert made.total.tolist() == total[order].tolist()
        table = summary(made, status[order], 3)
        assert table.value_suppressed == made.total[0]
        assert table.value_suppressed - made.total[0] != inner.sum()

    def test_nothing_is_added_up_where_the_total_is_suppressed(self) -> None:
        cells, status = flat(9), np.full(10, Status.PRIMARY, dtype=np.uint8)
        status[1:3] = Status.PUBLISHED
        assert summary(cells, status, 3).value_suppressed is None

    def test_cells_of_value_zero_do_not_hide_another(self) -> None:
        cells, status = flat(9), np.full(10, Status.PRIMARY, dtype=np.uint8)
        cells = replace(cells, total=np.array([905, 905, *[0] * 8]))
        assert summary(cells, status).value_suppressed is None

    def test_an_audit_is_told_by_table(self) -> None:
        cells = flat(3)
        breaches = (
            Breach(1, "outsider", "Everybody can compute d c0."),
            Breach(2, "contributor", "Not of this table."),
        )
        found = Audit(False, breaches, np.zeros(4), np.zeros(4), 9, 8, ((1, float("inf")), (2, 1.5)))
        outcome = AuditOutcome.of(found, cells, np.array([True, True, False, False]))
        assert outcome.verdict is Verdict.FAIL
        assert (outcome.breaches, outcome.examples) == (1, ("Everybody can compute d c0.",))
        assert [(interval.cell, interval.times_required) for interval in outcome.narrowest] == [("d c0", 1000.0)]
        assert AuditOutcome.of(replace(found, breaches=()), cells, cells.published).verdict is Verdict.UNKNOWN
        assert AuditOutcome.of(replace(found, breaches=(), safe=True), cells, cells.published).verdict is Verdict.PASS
