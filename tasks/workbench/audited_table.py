"""What an audit of a table with suppressed cells found, outside any release."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pandas as pd

from sluice.ground.verdict import Verdict
from sluice.publication.published_table_files import to_csv
from sluice.tabular.audit.pattern_audit import Audit
from sluice.tabular.model.cells import Cells, Status, Statuses
from tasks.release.tables.published_cells import PublishedCells
from tasks.workbench.cells_files import frame_of, table_of
from tasks.workbench.result import COLOURS, Figure, Result, axes, figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_DRAWN = 25
_OF_INTERVAL = ("status", "low", "high", "within_percent", "width_per_width_asked")  # beside the codes of a cell


@dataclass(frozen=True, eq=False)
class RepairedPattern:
    """What was suppressed stays so; `added` cells are suppressed besides.

    status : shape (c,), of the cells of the records
    audit  : of the repaired pattern, which is not taken on trust
    files  : that were written
    """

    cells: Cells
    status: Statuses
    added: int
    audit: Audit
    tell_primary: bool
    files: tuple[Path, ...] = ()

    @property
    def frame(self) -> pd.DataFrame:
        """As it may be published."""
        return frame_of(table_of(self.cells, PublishedCells(self.status), self.tell_primary))

    def csv_of(self, dimensions: Sequence[str] | None) -> bytes:
        """What may be published of one table, or of all cells where None is given."""
        return to_csv(table_of(self.cells, PublishedCells(self.status), self.tell_primary, dimensions))

    def summary(self) -> dict[str, Any]:
        """For machines."""
        return {
            "safe": self.audit.safe,
            "added": self.added,
            "suppressed": int((self.status != Status.PUBLISHED).sum()),
            "attacks": {"attempted": self.audit.attempted, "completed": self.audit.completed},
            "breaches": [breach.says for breach in self.audit.breaches],
            "files": [str(file) for file in self.files],
        }


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class AuditedTable(Result):
    """What an audit found.

    safe      : with the records, that every attack was tried and failed; without, that nothing was found
    complete  : every attack, or interval, was decided
    breaches  : what somebody can learn who must not, in words, without values
    intervals : without records, by suppressed cell: its codes, status, low and high (the feasibility interval that
                anybody can compute) and within_percent (to within what share of its value it is known)
    narrowest : with records, the sensitive cells with the least to spare: their codes, and width_per_width_asked, the
                proven width of the interval over the one that the rules ask for; without, the cells known best
    exact     : without records, the suppressed cells that any reader can compute exactly
    details   : the rest, for machines
    repair    : the table with further cells suppressed, where that was asked for and needed, be it safe or not
    repaired  : the same as a DataFrame, where it is safe
    """

    with_records: Annotated[bool, Figure("", "every attack was tried, not only that of readers")]
    cells: Annotated[int, Figure("cells", "in the table")]
    suppressed: Annotated[int, Figure("cells", "suppressed")]
    primary: Annotated[int | None, Figure("cells", "of these sensitive, where the table or the records tell")]
    secondary: Annotated[int | None, Figure("cells", "of these suppressed to protect others")]
    safe: bool
    complete: bool
    breaches: tuple[str, ...]
    of_intervals: tuple[Mapping[str, Any], ...] = ()
    of_narrowest: tuple[Mapping[str, Any], ...] = ()
    exact: tuple[str, ...] | None = None
    details: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 0.0
    repair: RepairedPattern | None = None

    @property
    def verdict(self) -> Verdict:  # type: ignore[override]  # it follows from the breaches
        return Verdict.FAIL if self.breaches else Verdict.PASS if self.safe else Verdict.UNKNOWN

    @figure("breaches", "that were found")
    def breaches_found(self) -> int:
        return len(self.breaches)

    @figure("cells", "suppressed, and known exactly to any reader")
    def exactly_known(self) -> int | None:
        return None if self.exact is None else len(self.exact)

    @figure("cells", "suppressed besides by the repair, where one was needed and found")
    def added(self) -> int | None:
        return self.repair.added if self.mended and self.repair else None

    @property
    def mended(self) -> bool:
        """Whether the repair made the table safe."""
        return self.repair is not None and self.repair.audit.safe

    @property
    def repaired(self) -> pd.DataFrame | None:
        return self.repair.frame if self.mended and self.repair else None

    @property
    def intervals(self) -> pd.DataFrame:
        frame = pd.DataFrame([dict(cell) for cell in self.of_intervals])
        for name in ("low", "high"):
            if name in frame:
                frame[name] = pd.to_numeric(frame[name])
        return frame

    @property
    def narrowest(self) -> pd.DataFrame:
        return pd.DataFrame([dict(cell) for cell in self.of_narrowest])

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

    def summary(self) -> dict[str, Any]:
        """What was found, for machines."""
        summary = {
            **{name: getattr(self, name) for name in ("safe", "complete")},
            "breaches": list(self.breaches),
            **{name: getattr(self, name) for name in ("cells", "suppressed", "primary", "secondary", "with_records")},
            **self.details,
            **({} if self.exact is None else {"exactly_known": list(self.exact)}),
            "narrowest": list(self.of_narrowest),
            **({} if self.with_records else {"intervals": list(self.of_intervals)}),
            "seconds": round(self.seconds, 3),
        }
        return summary if self.repair is None else summary | {"repaired": self.repair.summary()}

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Without records, the feasibility intervals of the cells known best; with them, what the narrowest spare."""
        ax, drawn = axes(ax), self._drawn
        codes = drawn.drop(columns=list(_OF_INTERVAL), errors="ignore")
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
