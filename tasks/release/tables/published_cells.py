"""What is published of the cells of tables: the status of each, and where values were changed, which value."""

from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from sluice.ground.errors import DataError
from sluice.tabular.alternatives.feasible_table import feasible_table
from sluice.tabular.audit.published_intervals import published_intervals
from sluice.tabular.model.assumptions import Assumptions
from sluice.tabular.model.cells import Cells, Integers, Status, Statuses
from tasks.release.tables.protection import ProtectionRequest


@dataclass(frozen=True, eq=False)
class PublishedCells:
    """For each of c cells of the tables.

    status   : shape (c,), a `Status` each
    value    : shape (c,), published in place of the totals, in their units; None where the totals are
    interval : from and to, each of shape (c,), published of suppressed cells; None where none is
    synthetic : shape (c,), drawn for suppressed cells; None where none is
    """

    status: Statuses
    value: Integers | None = None
    interval: tuple[Integers, Integers] | None = None
    synthetic: Integers | None = None

    @classmethod
    def of_altered(cls, cells: Cells, value: Integers) -> "PublishedCells":
        """All cells with changed values. One that became 0 is not listed: it looks like an empty one."""
        unlisted = ~cells.published | (value == 0)
        return cls(np.where(unlisted, Status.WITHHELD, Status.PUBLISHED).astype(np.uint8), value)

    @classmethod
    def with_intervals(
        cls, cells: Cells, status: Statuses, request: ProtectionRequest, workers: int
    ) -> "PublishedCells":
        """A pattern with the interval of each suppressed cell that anybody could compute.

        raises : DataError where nothing bounds a cell
        """
        known = request.assumptions
        least = 0 if known.counts is None else 10**cells.decimals
        found = published_intervals(cells, status, request.requirements, known.nonnegative, least, workers=workers)
        suppressed = (status == Status.PRIMARY) | (status == Status.SECONDARY)
        unbounded = suppressed & ~(np.isfinite(found.low) & np.isfinite(found.high))
        if unbounded.any():
            raise DataError(
                f"intervals cannot be published: nothing bounds {int(unbounded.sum())} suppressed cells, such as "
                f"{cells.name(int(np.flatnonzero(unbounded)[0]))}. Leave 'intervals' out."
            )
        low, high = (np.where(suppressed, np.nan_to_num(end), 0).astype(np.int64) for end in (found.low, found.high))
        return cls(status, interval=(low, high))

    def with_synthetic_values(self, cells: Cells, assumptions: Assumptions) -> "PublishedCells":
        """The same, with a value for each suppressed cell that fits all that is published, drawn from that alone.

        raises : DataError where nothing bounds a cell, or no whole values were found
        """
        suppressed = (self.status == Status.PRIMARY) | (self.status == Status.SECONDARY)
        least = np.full(len(cells), 0.0 if assumptions.nonnegative else -np.inf)
        if assumptions.counts is not None:
            least[suppressed] = 10**cells.decimals  # a cell that is listed is not empty
        hidden = self.status != Status.PUBLISHED
        found = feasible_table(cells.equations, cells.total, hidden, suppressed, least, np.full(len(cells), np.inf))
        return replace(self, synthetic=np.where(suppressed, found, 0))

    def to_bytes(self) -> bytes:
        """As the vault keeps it; the same cells give the same bytes."""
        held = BytesIO()
        arrays: dict[str, Statuses | Integers] = {"status": self.status.astype(np.uint8)}
        if self.value is not None:
            arrays["value"] = self.value
        if self.interval is not None:
            arrays["low"], arrays["high"] = self.interval
        if self.synthetic is not None:
            arrays["synthetic"] = self.synthetic
        np.savez_compressed(held, allow_pickle=False, **arrays)
        return held.getvalue()

    @classmethod
    def read(cls, path: Path) -> "PublishedCells":
        """What `to_bytes` wrote. Raises DataError for another file."""
        try:
            with np.load(path, allow_pickle=False) as held:
                arrays = {name: held[name] for name in held.files}
            interval = (arrays["low"], arrays["high"]) if "low" in arrays else None
            return cls(arrays["status"], arrays.get("value"), interval, arrays.get("synthetic"))
        except (OSError, EOFError, ValueError, KeyError, BadZipFile):
            raise DataError(f"{path}: does not hold what is published of tables") from None
