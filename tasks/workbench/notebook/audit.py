"""`sluice.audit`: what can be worked out of a table's suppressed cells, whoever suppressed them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pandas as pd

from sluice.ground.errors import DataError
from sluice.ground.verdict import Verdict
from tasks.release.tables.published_cells import PublishedCells
from tasks.workbench.audit import AuditedTable as Found
from tasks.workbench.audit import audit_pattern_with_records
from tasks.workbench.audit_published import audit_pattern
from tasks.workbench.cells_files import table_of
from tasks.workbench.known_bounds import known_bounds
from tasks.workbench.notebook.arguments import data_frame, number, whole_number
from tasks.workbench.notebook.result import COLOURS, Figure, Result, axes
from tasks.workbench.notebook.table_arguments import (
    Dimensions,
    Rule,
    TableOfRecords,
    dimensions_of,
    frame_of,
    pattern_of,
    sensitivity_rules,
    text_frame,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_DRAWN = 25


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class AuditedTable(Result):
    """What an audit found.

    intervals : without records, by suppressed cell: its codes, status, low and high (the feasibility interval that
                anybody can compute) and within_percent (to within what share of its value it is known)
    narrowest : with records, the sensitive cells with the least to spare: their codes, and width_per_width_asked, the
                proven width of the interval over the one that the rules ask for
    breaches  : what somebody can learn who must not, in words
    repaired  : the table with further cells suppressed so that it is safe, where that was asked for and needed
    """

    verdict: Verdict
    with_records: Annotated[bool, Figure("", "every attack was tried, not only that of readers")]
    cells: Annotated[int, Figure("cells", "in the table")]
    suppressed: Annotated[int, Figure("cells", "suppressed")]
    primary: Annotated[int | None, Figure("cells", "of these sensitive, where the table or the records tell")]
    secondary: Annotated[int | None, Figure("cells", "of these suppressed to protect others")]
    breaches_found: Annotated[int, Figure("breaches", "that were found")]
    exactly_known: Annotated[int | None, Figure("cells", "suppressed, and known exactly to any reader")]
    added: Annotated[int | None, Figure("cells", "suppressed besides by the repair, where one was needed and found")]
    breaches: tuple[str, ...]
    intervals: pd.DataFrame
    narrowest: pd.DataFrame
    repaired: pd.DataFrame | None

    @property
    def says(self) -> str:
        if self.breaches:
            more = f", and {len(self.breaches) - 2:,} more" if len(self.breaches) > 2 else ""
            mended = "" if self.added is None else f" With {self.added:,} more cells suppressed it is."
            return f"Not safe: {'; '.join(self.breaches[:2])}{more}.{mended}"
        if self.verdict is not Verdict.PASS:
            return "Nothing was found, but not every attack was decided."
        if self.with_records:
            return f"Every attack on the {self.suppressed:,} suppressed of {self.cells:,} cells fails."
        if not self.suppressed:
            return "Nothing is suppressed, so nothing was attacked; rounded or noisy figures are not judged here."
        return (
            f"From the table alone, no cell that may be sensitive among the {self.suppressed:,} suppressed of "
            f"{self.cells:,} can be computed. "
            "Whether the intervals are wide enough only the rules and the records can tell."
        )

    @property
    def table(self) -> pd.DataFrame:
        return self.narrowest if self.with_records else self.intervals

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Without records, the feasibility intervals of the cells known best; with them, what the narrowest spare."""
        ax, drawn = axes(ax), self._drawn
        codes = drawn.drop(
            columns=["status", "low", "high", "within_percent", "width_per_width_asked"], errors="ignore"
        )
        places, labels = np.arange(len(drawn)), codes.astype("str").agg(", ".join, axis=1).tolist()
        if self.with_records:
            ax.barh(places, drawn["width_per_width_asked"], color=COLOURS["masked"])
            ax.axvline(1, color=COLOURS["fail"], linestyle="--", label="asked for")
            ax.set_xlabel("proven width of the interval / width asked for")
            ax.legend()
        else:
            high = drawn["high"].fillna(2 * drawn["high"].max())
            colours = [COLOURS["masked" if status == "secondary" else "fail"] for status in drawn["status"]]
            ax.hlines(places, drawn["low"].fillna(0), high, color=colours, linewidth=4)
            ax.set_xlabel("feasibility interval of the suppressed value (red: may be sensitive)")
        ax.set_yticks(places, labels, parse_math=False)
        ax.set_ylabel(", ".join(codes.columns), parse_math=False)
        ax.invert_yaxis()
        return ax

    @property
    def _drawn(self) -> pd.DataFrame:
        if self.with_records:
            return self.narrowest
        return self.intervals.sort_values("within_percent", kind="stable").head(_MOST_DRAWN)


def audit(
    table: pd.DataFrame,
    dimensions: Dimensions,
    *,
    records: pd.DataFrame | None = None,
    value: str | None = None,
    rules: Sequence[Rule] | Rule | None = None,
    contributor: str | None = None,
    measure: Mapping[str, Any] | None = None,
    tables: Sequence[Sequence[str]] | None = None,
    known: pd.DataFrame | None = None,
    within: float | None = None,
    nonnegative: bool = True,
    coalition: int = 1,
    repair: bool = False,
    workers: int = 1,
) -> AuditedTable:
    """Audit a table with suppressed cells: as any reader could, or with the records as every attacker could.

    table       : a row for each cell, its total and marginals too: the dimensions' codes; status: published or
                  suppressed (or primary or secondary); value: missing where suppressed. As `sluice.protect` gives it
    dimensions  : as for `sluice.protect`; where a column has no hierarchy, its total is called 'Total'
    records     : behind the table, added up as for `sluice.protect` by value, contributor and measure
    rules       : with records, which cells are sensitive; without, of a table of counts, what readers of the rules know
    tables      : the dimensions of each of several linked tables; one table of all when not given
    known       : what an attacker knows of single cells beforehand: their codes, lower and upper, missing for no end
    within      : without records: percent; a primary cell that is known as closely as that is a breach, too
    nonnegative : without records: no value can be negative, which everybody knows
    coalition   : with records: contributors who pool what they know, 0 to 3
    repair      : with records: of a pattern that is not safe, find which further cells must be suppressed
    raises      : TypeError, DataError (also for totals that do not add up), DocumentError
    """
    table = data_frame(table, "table")
    workers = whole_number(workers, "workers", 1)
    within = None if within is None else number(within, "within")
    bounds = None if known is None else text_frame(data_frame(known, "known"))
    if records is None:
        for name, given in (("value", value), ("contributor", contributor), ("measure", measure), ("repair", repair)):
            if given:
                raise DataError(f"{name} is for an audit with records; give records, too, or leave {name} out.")
        pattern = pattern_of(table, dimensions_of(dimensions, table, totals=True))
        readers = () if rules is None else sensitivity_rules(rules)
        return _result(
            audit_pattern(
                pattern,
                tables=tables,
                rules=readers,
                known=None if bounds is None else known_bounds(bounds, pattern),
                within=within,
                nonnegative=nonnegative,
                workers=workers,
            )
        )
    if rules is None:
        raise DataError("rules must say which cells are sensitive, such as [{'rule': 'p_percent', 'p': 10}].")
    behind = TableOfRecords.of(records, dimensions, rules, value, contributor, measure)
    together = whole_number(coalition, "coalition", 0)
    pattern, cells = pattern_of(table, behind.dimensions), behind.tabulated(tables, together).cells
    tell_primary = pattern.tells_primary and behind.measure.counts is None  # of counts it tells how small they are
    assumptions = replace(behind.assumptions(together), statuses=tell_primary)
    if bounds is not None:
        assumptions = replace(assumptions, beforehand=known_bounds(bounds, cells))
    found = audit_pattern_with_records(pattern, cells, behind.rules, assumptions, repair=repair, workers=workers)
    mended = found.repaired
    if mended is None or not mended.safe:
        return _result(found)
    published = table_of(cells, PublishedCells(mended.status), tell_primary)
    return _result(found, frame_of(published), mended.added)


def _result(found: Found, repaired: pd.DataFrame | None = None, added: int | None = None) -> AuditedTable:
    figures = found.summary()
    verdict = Verdict.FAIL if found.breaches else Verdict.PASS if found.safe else Verdict.UNKNOWN
    intervals = pd.DataFrame(figures.get("intervals", []))
    for name in ("low", "high"):
        if name in intervals:
            intervals[name] = pd.to_numeric(intervals[name])
    exact = figures.get("exactly_known")
    return AuditedTable(
        verdict=verdict,
        with_records=figures["with_records"],
        cells=figures["cells"],
        suppressed=figures["suppressed"],
        primary=figures["primary"],
        secondary=figures["secondary"],
        breaches_found=len(found.breaches),
        exactly_known=None if exact is None else len(exact),
        breaches=found.breaches,
        intervals=intervals,
        narrowest=pd.DataFrame(figures["narrowest"]),
        repaired=repaired,
        added=added,
    )
