"""Advice on the design of a table, outside any release: which coarser table would need less suppression."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from sluice.ground.errors import DataError
from sluice.ground.remarks import Remark
from sluice.tabular.advice.table_redesign import Redesign, greedy_redesign, redesigns
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Status
from sluice.tabular.rules.sensitivity import SensitivityRule, requirements_of
from tasks.workbench.standalone_table import StandaloneTable
from tasks.workbench.tabulation import Records, dimensions_of, tabulate

ADVICE_ONLY = (
    "Advice only: nobody judged the table, and nothing was written. Change the hierarchies and the records' codes, "
    "then `sluice table protect`."
)


@dataclass(frozen=True, eq=False)
class RedesignedTable:
    """The changes that are worth most; those of `steps` build on each other, the others stand each for itself.

    suppressed : how many cells the protection of the table suppresses, and of the redesigned one; None: not tried
    """

    cells: int
    sensitive: dict[str, int]
    changes: tuple[Redesign, ...]
    steps: int | None
    suppressed: tuple[int, int] | None
    reading: tuple[Remark, ...] = ()  # what of the file was not read as it stands

    def summary(self) -> dict[str, Any]:
        """For machines; numbers of cells, no cell's value."""
        return {
            "cells": self.cells,
            "sensitive": self.sensitive,
            "one_after_another": self.steps is not None,
            "changes": [
                {
                    "change": each.change.says,
                    "sensitive": each.sensitive,
                    "marginals_with_a_single_sensitive_cell": each.single,
                    "published_cells": each.cells,
                }
                for each in self.changes
            ],
            "suppressed": self.suppressed,
            "reading": [remark.model_dump() for remark in self.reading],
            "judged": False,
        }


def redesign_table(
    source: Records,
    table: StandaloneTable,
    *,
    ordered: Collection[str] = (),
    steps: int | None = None,
    most: int = 10,
    workers: int = 1,
) -> RedesignedTable:
    """What to merge or leave out of the table of records so that less must be suppressed.

    ordered : dimensions of which only neighbouring codes may be merged, such as size classes
    steps   : so many changes one after another, and what the protection suppresses before and after them; without
              it, the single changes, the one first that spares most for each cell given up
    most    : of the single changes that are named
    raises  : DataError, DocumentError
    cost    : a new table for some 40 merges of each dimension and step, and with steps two fast protections
    """
    rules, assumptions, tables = table.sensitivity, table.assumptions, table.linked
    if any(":" in name for each in tables or () for name in each):
        raise DataError("advice is for tables down to the leaves of their dimensions; leave the level (:2) out.")
    if table.cells is not None:
        raise DataError("advice adds records up anew for each change; cells that are added up already cannot be.")
    if table.asked is not None:
        raise DataError("advice judges cells that do not exist yet, and not who asked in them; leave request_rule out.")
    tabulated = tabulate(source, dimensions_of(table, source), table)
    cells, reading = tabulated.cells, tabulated.reading
    by_rule = requirements_of(rules, cells.contributions, assumptions.nonnegative).by_rule
    sensitive = {rule: int(found.sum()) for rule, found in by_rule.items()}
    if steps is None:
        changes = tuple(redesigns(cells, rules, ordered, tables)[:most])
        return RedesignedTable(len(cells), sensitive, changes, None, None, reading)
    taken, last = greedy_redesign(cells, rules, steps, ordered, tables)
    before, after = (_suppressed(each, rules, assumptions, workers) for each in (cells, last))
    return RedesignedTable(len(cells), sensitive, tuple(taken), steps, (before, after), reading)


def _suppressed(cells: Cells, rules: Sequence[SensitivityRule], assumptions: Assumptions, workers: int) -> int:
    """How many cells the fast protection suppresses, marginals that are not published aside."""
    from sluice.tabular.suppression.suppression import suppress

    requirements = requirements_of(rules, cells.contributions, assumptions.nonnegative)
    status = suppress(cells, requirements, rules, assumptions, workers=workers).status
    return int(((status == Status.PRIMARY) | (status == Status.SECONDARY)).sum())
