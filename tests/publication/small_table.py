"""A small table for tests, and its files."""

import hashlib
from dataclasses import replace
from typing import Any

import numpy as np

from sluice.publication.manifest import PublishedFile
from sluice.publication.published_table import PublishedTable, published_table
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.cells import Cells, Status, Statuses
from sluice.tabular.model.dimension import Dimension

P, S = Status.PRIMARY, Status.SECONDARY
EVERYTHING = {"tell_primary": True, "tell_contributors": True}


def small(decimals: int = 0) -> tuple[Cells, Statuses]:
    """Codes '01' and 'NA' by x and y; (01, x) is primary, its row and column neighbours secondary."""
    dimensions = [Dimension.flat("area", ["01", "NA"]), Dimension.flat("kind", ["x", "y"])]
    leaves = np.array([[1, 1], [1, 2], [1, 2], [2, 1], [2, 1], [2, 2]], dtype=np.int32)
    cells = aggregate(dimensions, leaves, np.arange(6), np.array([905, 10, 11, 20, 1, 300]))
    cells = replace(cells, decimals=decimals)
    status = np.array([0, 0, 0, 0, P, S, 0, S, S], dtype=np.uint8)
    return cells, status


def whole(cells: Cells, status: Statuses, **options: Any) -> PublishedTable:
    """The table of all dimensions, with all that may be published of it."""
    told = {**EVERYTHING, **options}
    return published_table(cells, status, "t", [dimension.name for dimension in cells.dimensions], **told)


def file_of(path: str, content: bytes, table: PublishedTable | None) -> PublishedFile:
    digest = hashlib.sha256(content).hexdigest()
    return PublishedFile(path=path, sha256=digest, bytes=len(content), rows=len(table.codes) if table else None)
