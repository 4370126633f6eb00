"""A protected table, outside any release, and what was found of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from sluice.ground.errors import DataError
from sluice.ground.sentence import percent
from sluice.ground.verdict import Finding, Verdict, decide
from sluice.publication.pattern_file import STATUS_NAMES, codes_of
from sluice.publication.published_table import in_decimals
from sluice.publication.published_table_files import to_csv
from sluice.report.table_summary import marginals
from sluice.tabular.audit.pattern_audit import Audit
from sluice.tabular.model.cells import Booleans, Status, Statuses
from sluice.tabular.rules.sensitivity import Requirements
from sluice.tabular.suppression.manual_status import MANUAL
from tasks.release.tables.protection import ProtectionRequest
from tasks.release.tables.protection_method import Protection
from tasks.release.tables.published_cells import PublishedCells
from tasks.release.tables.suppressed_tables import SuppressedCells
from tasks.workbench.cells_files import frame_of, table_of
from tasks.workbench.result import COLOURS, Result, axes, figure
from tasks.workbench.tabulation import Tabulated

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OF_FINDING = {"rule", "says", "code", "data", "notes", "scope", "binding", "waiver"}  # beside its verdict


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ProtectedTable(Result):
    """A protected table, and what was found of it.

    pattern    : the table as it may be published: the dimensions' codes, status (published or suppressed) and value,
                 none where a cell is suppressed. Refused where something failed, or was not decided
    cells      : confidential: every cell with status, value, contributors, sensitive (by some rule); for a sensitive
                 suppressed cell lower and upper, between which an outsider must believe all possible; or, where values
                 are changed, to what
    breaches   : what somebody can learn who must not, in words
    findings   : on the table, on the edition before it and on waivers; together they are the verdict
    audit      : of a pattern of suppressed cells; None where values were changed
    suppressed : what the search for that pattern found
    seconds    : that it took
    files      : that were written
    """

    tabulated: Tabulated
    method: Protection
    request: ProtectionRequest
    protected: PublishedCells
    findings: tuple[Finding, ...]
    audit: Audit | None = None
    suppressed: SuppressedCells | None = None
    seconds: float = 0.0
    files: tuple[Path, ...] = ()

    @property
    def verdict(self) -> Verdict:  # type: ignore[override]  # it follows from the findings
        return decide(self.findings)

    @figure("cells", "that a rule or a person calls sensitive")
    def sensitive(self) -> int:
        return int(self.requirements.sensitive.sum())

    @figure("cells", "suppressed because they are sensitive")
    def primary(self) -> int:
        return int((self.status == Status.PRIMARY).sum())

    @figure("cells", "suppressed to protect these")
    def secondary(self) -> int:
        return int((self.status == Status.SECONDARY).sum())

    @figure("cells", "published, with their values or with changed ones")
    def published(self) -> int:
        return int((self.status == Status.PUBLISHED).sum())

    @figure("share of the value of cells that are no marginal", "in suppressed ones")
    def suppressed_share(self) -> float:
        of = np.abs(self.tabulated.cells.total[self._innermost]).sum()
        return self._suppressed_units / float(of) if of else 0.0

    @figure("attacks", "that were to be tried")
    def attacks(self) -> int:
        return self.findings[0].attempted or 0

    @figure("attacks", "of these decided")
    def attacks_decided(self) -> int:
        return self.findings[0].completed or 0

    @figure("breaches", "attacks that succeed")
    def breaches_found(self) -> int:
        return int(self.findings[0].observed or 0)

    @figure("cost", "no safe pattern costs less (mode optimise)")
    def bound(self) -> float | None:
        return self.suppressed.bound if self.suppressed else None

    @figure("cost", "of the suppressed cells")
    def cost(self) -> float | None:
        return self.suppressed.cost if self.suppressed else None

    @figure("records", "without a value")
    def records_left_out(self) -> int:
        return self.tabulated.left_out

    @figure("records", "added to another of the same contributor")
    def records_added_up(self) -> int:
        return self.tabulated.added_up

    @figure("names", "of contributors that are others' but for capital letters, and count apart")
    def contributors_alike(self) -> int:
        return self.tabulated.alike

    @figure("names", "of contributors that were read as what they look like, with single blanks and nothing unseen")
    def contributors_respelled(self) -> int:
        return self.tabulated.respelled

    @figure("names", "of contributors that were taken for others', which differ in capital letters alone")
    def contributors_joined(self) -> int:
        return self.tabulated.joined

    @property
    def status(self) -> Statuses:
        return self.protected.status

    @property
    def _hidden(self) -> Booleans:
        return np.isin(self.status, (Status.PRIMARY, Status.SECONDARY))

    @property
    def _innermost(self) -> Booleans:
        """Marginals would count the value of their cells again; see `TableSummary`."""
        cells = self.tabulated.cells
        listed: Booleans = cells.published & (self.status != Status.WITHHELD)
        return np.logical_and(listed, ~marginals(cells, listed))

    @property
    def _suppressed_units(self) -> int:
        return int(np.abs(self.tabulated.cells.total[self._hidden & self._innermost]).sum())

    @property
    def requirements(self) -> Requirements:
        return self.request.requirements

    @property
    def breaches(self) -> tuple[str, ...]:
        return tuple(breach.says for breach in self.audit.breaches) if self.audit else ()

    @property
    def may_be_published(self) -> bool:
        """Nothing failed, and nothing that was to be tried is open; what a person should look at is said."""
        return self.verdict in (Verdict.PASS, Verdict.REVIEW)

    @property
    def pattern(self) -> pd.DataFrame:
        if not self.may_be_published:
            raise DataError("the audit did not find the pattern safe, so there is none to publish; see breaches.")
        return frame_of(table_of(self.tabulated.cells, self.protected))

    @property
    def cells(self) -> pd.DataFrame:
        cells = self.tabulated.cells
        unit = 10.0**-cells.decimals

        def in_units(numbers: Any) -> Any:
            return numbers * unit if cells.decimals else numbers

        frame = pd.DataFrame(
            {d.name: np.array(d.codes, dtype=object)[cells.codes[:, at]] for at, d in enumerate(cells.dimensions)}
            | {
                "status": [STATUS_NAMES.get(Status(status), "not listed") for status in self.status],
                "value": in_units(cells.total),
                "contributors": cells.contributors,
                "sensitive": self.requirements.sensitive,
            }
        )
        if self.protected.value is not None:
            frame["changed_to"] = in_units(self.protected.value)
        if self.audit is not None:
            frame["lower"], frame["upper"] = self.audit.lower * unit, self.audit.upper * unit
        return frame

    @property
    def says(self) -> str:
        if self.audit is None:
            return f"{self.method.describe()} {' '.join(finding.says for finding in self.findings)}"
        says = (
            f"{self.primary:,} cells are sensitive and {self.secondary:,} more are suppressed for their sake; "
            f"{self.published:,} are published, totals included, and {percent(1 - self.suppressed_share)} of the value "
            "of inner cells."
        )
        if self.verdict is Verdict.PASS:
            return f"{says} All {self.attacks:,} attacks on the pattern fail."
        if self.verdict is Verdict.REVIEW:
            return f"{says} Somebody should decide: {' '.join(_open(self.findings))}"
        open_ = "; ".join([*self.breaches, *_open(self.findings[1:])][:3])
        return f"{says} The pattern is not safe: {open_ or 'some attacks were not decided'}."

    @property
    def table(self) -> pd.DataFrame | None:
        return self.pattern if self.may_be_published else None

    def summary(self) -> dict[str, Any]:
        """What was done, for machines; totals and numbers of cells, no single cell's value."""
        by_rule = {rule: int(found.sum()) for rule, found in self.requirements.by_rule.items()}
        return {
            "method": self.method.model_dump(exclude={"a_priori", "p_table"}),
            "cells": len(self.tabulated.cells),
            "sensitive": {rule: count for rule, count in by_rule.items() if rule != MANUAL or count},
            "verdict": self.verdict.name,
            "safe": self.verdict is Verdict.PASS,
            "findings": [
                finding.model_dump(mode="json", include=_OF_FINDING) | {"verdict": finding.verdict.name}
                for finding in self.findings
            ],
            **(self._of_pattern(self.audit, self.suppressed) if self.audit and self.suppressed else {}),
            "records_left_out": self.records_left_out,
            "records_added_up": self.records_added_up,
            "added_up": self.tabulated.added,
            "largest_told": self.tabulated.largest_told,
            "contributors_alike": self.contributors_alike,
            "contributors_respelled": self.contributors_respelled,
            "contributors_joined": self.contributors_joined,
            "reading": [remark.model_dump() for remark in self.tabulated.reading],
            "seconds": round(self.seconds, 3),
        }

    def _of_pattern(self, audit: Audit, found: SuppressedCells) -> dict[str, Any]:
        cells = self.tabulated.cells
        figures: dict[str, Any] = {
            "primary": self.primary,
            "secondary": self.secondary,
            "counts": self.request.assumptions.counts is not None,
            "suppressed_value": in_decimals(self._suppressed_units, cells.decimals),
            "suppressed_share": self.suppressed_share,
            "attacks": {"attempted": audit.attempted, "completed": audit.completed},
            "narrowest": [
                {**codes_of(cells.dimensions, cells.codes, cell), "width_per_width_asked": ratio}
                for cell, ratio in audit.narrowest
            ],
            "breaches": list(self.breaches),
        }
        if found.bound is not None:
            figures |= {"cost": found.cost, "proven_bound": found.bound}
        if found.first is not None:
            figures |= {"cost": found.cost, "first_cost": found.first, "time_ran_out": found.stopped}
        return figures

    def csv_of(self, tell_primary: bool, dimensions: Sequence[str] | None) -> bytes:
        """What is published of one table, or of all cells where None is given."""
        return to_csv(table_of(self.tabulated.cells, self.protected, tell_primary, dimensions))

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Which cells are suppressed, by the first two dimensions; over a third, the total."""
        from matplotlib.colors import ListedColormap
        from matplotlib.patches import Patch

        from sluice.report.pattern_map import EMPTY, STATUS_MARKS, WITHHELD, pattern_maps

        colours = {
            EMPTY: "#ffffff",
            WITHHELD: "#ffffff",
            STATUS_MARKS[Status.PUBLISHED]: "#d9dfdd",
            STATUS_MARKS[Status.PRIMARY]: COLOURS["fail"],
            STATUS_MARKS[Status.SECONDARY]: COLOURS["masked"],
        }
        ax, cells = axes(ax), self.tabulated.cells
        dimensions = [dimension.name for dimension in cells.dimensions]
        drawn = pattern_maps(cells, self.status, dimensions[:2])[0]
        if drawn.shares:
            raise DataError(f"the table has too many codes to be drawn: {len(drawn.rows.labels):,} rows at least.")
        marks = list(colours)
        grid = np.array([[marks.index(mark) for mark in row] for row in drawn.panels[0].marks])
        ax.pcolormesh(
            grid, cmap=ListedColormap(list(colours.values())), vmin=0, vmax=len(marks) - 1, edgecolors="white"
        )
        ax.set_yticks(np.arange(len(grid)) + 0.5, drawn.rows.labels, parse_math=False)
        ax.set_xticks(np.arange(len(grid[0])) + 0.5, drawn.columns.labels, rotation=90, parse_math=False)
        ax.invert_yaxis()
        ax.set_ylabel(drawn.rows.name, parse_math=False)
        ax.set_xlabel(drawn.columns.name, parse_math=False)
        words = {EMPTY: "empty"} | {mark: status.name.lower() for status, mark in STATUS_MARKS.items()}
        present = [mark for at, mark in enumerate(marks) if (grid == at).any() and mark not in (EMPTY, WITHHELD)]
        keys = [Patch(color=colours[mark], label=words[mark]) for mark in present]
        ax.legend(handles=keys, loc="upper left", bbox_to_anchor=(1, 1))
        return ax


def _open(findings: Sequence[Finding]) -> list[str]:
    """What did not pass, in words."""
    return [each.says for each in findings if each.binding and not each.excused and each.verdict is not Verdict.PASS]
