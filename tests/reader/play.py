"""A generated table through the product, written as the product writes it, and read by the reader."""

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

import sluice
from policies.table_attackers import TableAttackers
from sluice.ground.verdict import Verdict
from sluice.publication.published_table import published_table
from sluice.publication.published_table_files import to_csv
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Statuses
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.model.measure import Measure
from sluice.tabular.model.numbered_records import records_of
from sluice.tabular.rules.sensitivity import SensitivityRule
from tasks.release.tables.protection import ProtectionRequest, audit_cells, protect_cells
from tests.reader.generate import Rows, drawn
from tests.reader.judge import Rules, Successes, Truth, successes
from tests.reader.published import Hierarchy, Published, read_tables

# Contributors know what the product assumes that they know.
OWN_PARTS = TableAttackers().assumptions(Measure()).own_parts

MAGNITUDES: Rules = [{"rule": "minimum_frequency", "n": 3}, {"rule": "p_percent", "p": 10}]


def fewer_than(n: int) -> Rules:
    """The rule of tables of counts."""
    return [{"rule": "minimum_frequency", "n": n}]


@dataclass(frozen=True)
class Played:
    """What is published of records, and the truth behind it."""

    published: Published
    truth: Truth
    together: int

    def found(self) -> Successes:
        return successes(self.published, self.truth, self.together, OWN_PARTS)


def protected(records: pd.DataFrame, rows: dict[str, Rows], rules: Rules, together: int = 1) -> Played:
    """Protect a table of records and read what the product would publish; firms' values where there are firms."""
    firms = "firm" in records
    measure = {"value": "value", "contributor": "firm"} if firms else {}
    made = sluice.protect(
        records, {name: dict(tree) for name, tree in rows.items()}, rules=rules, coalition=together, **measure
    )
    assert made.verdict is Verdict.PASS, made.says
    hierarchies = [Hierarchy.of(name, tree) for name, tree in rows.items()]
    published = read_tables([made.pattern.to_csv(index=False)], hierarchies)
    return Played(published, Truth(records, hierarchies, rules, *measure.values()), together)


def as_written(cells: Cells, status: Statuses, tell_primary: bool = False) -> str:
    """The CSV file of a pattern of one table, as a release writes it."""
    dimensions = [dimension.name for dimension in cells.dimensions]
    return to_csv(published_table(cells, status, "table", dimensions, tell_primary=tell_primary)).decode()


def with_two_words(
    records: pd.DataFrame, rows: dict[str, Rows], rules: Sequence[SensitivityRule], written: Rules, *, told: bool
) -> Played:
    """A magnitude table whose file tells primary from secondary; told: protected against who reads these words."""
    dimensions = [Dimension.of(name, tree) for name, tree in rows.items()]
    cells = records_of(records, dimensions, Measure("value", "firm")).cells(dimensions)
    request = ProtectionRequest.of(cells, rules, Assumptions(statuses=told))
    made = protect_cells(cells, request)
    assert audit_cells(cells, made.status, request, made.certificates).safe
    hierarchies = [Hierarchy.of(name, tree) for name, tree in rows.items()]
    published = read_tables([as_written(cells, made.status, tell_primary=True)], hierarchies)
    return Played(published, Truth(records, hierarchies, written, "value", "firm"), 1)


def generated(
    seed: int,
    branches: dict[str, tuple[int, ...]],
    records: int,
    rules: Rules,
    *,
    firms: int | None = None,
    skew: float = 1.0,
    together: int = 1,
) -> Played:
    """A table of records drawn from a seed; see `drawn`."""
    return protected(*drawn(seed, branches, records, firms=firms, skew=skew), rules, together)
