"""Protected tables with groups, a hidden cell and its codebook, for tests."""

from typing import Any

from sluice.ground.variables import Kind, Variable
from sluice.publication.published_table import PublishedTable
from sluice.publication.tables_codebook import TablesCodebook
from sluice.tabular.model.dimension import Dimension

WORK = Dimension.of("work", [("Total", ""), ("manual", "Total"), ("1", "manual"), ("3", "manual"), ("2", "Total")])
JOBS = PublishedTable(
    "jobs",
    (WORK,),
    0,
    (("Total",), ("manual",), ("1",), ("3",), ("2",)),
    ("published", "suppressed", "suppressed", "published", "published"),
    (200, None, None, 20, 130),
    is_total=(1, 1, 0, 0, 0),
)
MEANINGS = {"work": Variable(name="work", kind=Kind.NOMINAL, description="Group of work", labels={"1": "a | <farm>"})}


def tables_codebook(**changed: Any) -> TablesCodebook:
    known: dict[str, Any] = {
        "release": "jobs-0a1b2c3d4e5f",
        "title": "Jobs",
        "dataset": "jobs",
        "description": "Firms, and what they pay.",
        "published": "2026-03-31T10:00:00+00:00",
        "software": "Sluice 0.2.0",
        "files": ("jobs.csv", "jobs.parquet"),
        "tables": (JOBS,),
        "measure": "wages",
        "unit": "EUR",
        "meanings": MEANINGS,
        "protection": ("Cells were suppressed.",),
        "withheld": ("work: level 1",),
    }
    return TablesCodebook(**{**known, **changed})
