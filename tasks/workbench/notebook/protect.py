"""`sluice.protect`: the table of a DataFrame of records, with its sensitive cells suppressed and audited."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pandas as pd

from sluice.errors import DataError
from sluice.publication.pattern_file import STATUS_NAMES, pattern_bytes
from sluice.report.pattern_map import EMPTY, STATUS_MARKS, pattern_maps
from sluice.tabular.model.cells import Status
from sluice.tabular.suppression.costs import COSTS
from sluice.verdict import Verdict
from tasks.release.tables.protection import Mode
from tasks.workbench.notebook.arguments import one_of, whole_number
from tasks.workbench.notebook.result import COLOURS, Figure, Result, axes
from tasks.workbench.notebook.table_arguments import Dimensions, Rule, TableOfRecords
from tasks.workbench.protect import ProtectedTable as Protection
from tasks.workbench.protect import protect_tabulated

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = {
    EMPTY: "#ffffff",
    STATUS_MARKS[Status.PUBLISHED]: "#d9dfdd",
    STATUS_MARKS[Status.PRIMARY]: COLOURS["fail"],
    STATUS_MARKS[Status.SECONDARY]: COLOURS["masked"],
}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ProtectedTable(Result):
    """A table whose sensitive cells are suppressed, with as many others as it takes, and its audit.

    pattern  : the table as it may be published: the dimensions' codes, status (published or suppressed) and value,
               none where a cell is suppressed. Refused when the audit did not find it safe
    cells    : confidential: every cell with status, value, contributors, sensitive (by some rule), and lower and upper:
               for a sensitive cell an outsider must believe at least these possible
    breaches : what somebody can learn who must not, in words
    """

    verdict: Verdict
    primary: Annotated[int, Figure("cells", "suppressed because they are sensitive")]
    secondary: Annotated[int, Figure("cells", "suppressed to protect these")]
    published: Annotated[int, Figure("cells", "published")]
    suppressed_share: Annotated[float, Figure("share of the value", "in suppressed cells")]
    attacks: Annotated[int, Figure("attacks", "tried by the audit")]
    attacks_decided: Annotated[int, Figure("attacks", "of these decided")]
    breaches_found: Annotated[int, Figure("breaches", "attacks that succeed")]
    bound: Annotated[float | None, Figure("cost", "no safe pattern costs less (mode optimise)")]
    cost: Annotated[float, Figure("cost", "of the suppressed cells")]
    records_left_out: Annotated[int, Figure("records", "without a value")]
    records_added_up: Annotated[int, Figure("records", "added to another of the same contributor")]
    breaches: tuple[str, ...]
    protection: Protection

    @property
    def pattern(self) -> pd.DataFrame:
        if self.verdict is not Verdict.PASS:
            raise DataError("the audit did not find the pattern safe, so there is none to publish; see breaches.")
        content = BytesIO(pattern_bytes(self.protection.cells, self.protection.status))
        frame = pd.read_csv(content, dtype="str", keep_default_na=False)
        frame["value"] = pd.to_numeric(frame["value"].replace("", pd.NA))
        return frame if self._decimals else frame.astype({"value": "Int64"})

    @property
    def cells(self) -> pd.DataFrame:
        cells, made = self.protection.cells, self.protection
        unit = 10.0**-self._decimals
        return pd.DataFrame(
            {d.name: np.array(d.codes, dtype=object)[cells.codes[:, at]] for at, d in enumerate(cells.dimensions)}
            | {
                "status": [STATUS_NAMES[Status(status)] for status in made.status],
                "value": cells.total * unit if self._decimals else cells.total,
                "contributors": cells.contributors,
                "sensitive": made.requirements.sensitive,
                "lower": made.audit.lower * unit,
                "upper": made.audit.upper * unit,
            }
        )

    @property
    def _decimals(self) -> int:
        return self.protection.cells.decimals

    @property
    def says(self) -> str:
        says = (
            f"{self.primary:,} cells are sensitive and {self.secondary:,} more are suppressed for their sake; "
            f"{self.published:,} are published, {1 - self.suppressed_share:.1%} of the value."
        )
        if self.verdict is Verdict.PASS:
            return f"{says} All {self.attacks:,} attacks on the pattern fail."
        return f"{says} The pattern is not safe: {'; '.join(self.breaches[:3]) or 'some attacks were not decided'}."

    @property
    def table(self) -> pd.DataFrame | None:
        return self.pattern if self.verdict is Verdict.PASS else None

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """Which cells are suppressed, by the first two dimensions; over a third, the total."""
        from matplotlib.colors import ListedColormap
        from matplotlib.patches import Patch

        ax, cells = axes(ax), self.protection.cells
        dimensions = [dimension.name for dimension in cells.dimensions]
        drawn = pattern_maps(cells, self.protection.status, dimensions[:2])[0]
        if drawn.shares:
            raise DataError(f"the table has too many codes to be drawn: {len(drawn.rows.labels):,} rows at least.")
        marks = list(_COLOURS)
        grid = np.array([[marks.index(mark) for mark in row] for row in drawn.panels[0].marks])
        ax.pcolormesh(
            grid, cmap=ListedColormap(list(_COLOURS.values())), vmin=0, vmax=len(marks) - 1, edgecolors="white"
        )
        ax.set_yticks(np.arange(len(grid)) + 0.5, drawn.rows.labels, parse_math=False)
        ax.set_xticks(np.arange(len(grid[0])) + 0.5, drawn.columns.labels, rotation=90, parse_math=False)
        ax.invert_yaxis()
        ax.set_ylabel(drawn.rows.name, parse_math=False)
        ax.set_xlabel(drawn.columns.name, parse_math=False)
        words = {EMPTY: "empty"} | {mark: status.name.lower() for status, mark in STATUS_MARKS.items()}
        present = [mark for at, mark in enumerate(marks) if (grid == at).any() and mark != EMPTY]
        keys = [Patch(color=_COLOURS[mark], label=words[mark]) for mark in present]
        ax.legend(handles=keys, loc="upper left", bbox_to_anchor=(1, 1))
        return ax


def protect(
    records: pd.DataFrame,
    dimensions: Dimensions,
    *,
    value: str | None = None,
    rules: Sequence[Rule] | Rule,
    contributor: str | None = None,
    measure: Mapping[str, Any] | None = None,
    tables: Sequence[Sequence[str]] | None = None,
    cost: str = "value",
    mode: Mode = "fast",
    coalition: int = 1,
    workers: int = 1,
) -> ProtectedTable:
    """Add records up to a table, suppress its sensitive cells and as many others as it takes, and audit the pattern.

    records     : one row a record; codes are text or whole numbers
    dimensions  : columns whose categories add up to 'Total'; or {column: hierarchy}, a hierarchy being a mapping or
                  DataFrame of each code and its parent ('' for the total), the path of a CSV file, or None
    value       : column that is added up; records are counted when not given
    rules       : which cells are sensitive, as in a policy: [{"rule": "p_percent", "p": 10}]; docs/rules.md lists them
    contributor : column of whose record it is; each record is one of its own when not given
    measure     : how values count, such as {"weight": "w", "weight_rule": "argus", "missing": "leave_out"}: the fields
                  of `sluice.tabular.model.measure.Measure`
    tables      : the dimensions of each of several linked tables; one table of all when not given
    cost        : what suppression keeps small: value, cells, contributors or scaled_information
    mode        : fast; or optimise, slower, with a proven bound on the cost
    coalition   : contributors who pool what they know, 0 to 3
    raises      : TypeError, DataError, DocumentError
    time        : for 10,000 cells about 5 seconds
    """
    table = TableOfRecords.of(records, dimensions, rules, value, contributor, measure)
    together = whole_number(coalition, "coalition", 0)
    made = protect_tabulated(
        table.tabulated(tables, together),
        table.rules,
        table.assumptions(together),
        cost=one_of(cost, "cost", COSTS),
        mode=one_of(mode, "mode", ("fast", "optimise")),
        workers=whole_number(workers, "workers", 1),
    )
    hidden = made.status != Status.PUBLISHED
    total = np.abs(made.cells.total)
    verdict = Verdict.PASS if made.audit.safe else Verdict.UNKNOWN if made.audit.unknown else Verdict.FAIL
    return ProtectedTable(
        verdict=verdict,
        primary=int((made.status == Status.PRIMARY).sum()),
        secondary=int((made.status == Status.SECONDARY).sum()),
        published=int((~hidden).sum()),
        suppressed_share=float(total[hidden].sum() / total.sum()) if total.any() else 0.0,
        attacks=made.audit.attempted,
        attacks_decided=made.audit.completed,
        breaches_found=len(made.audit.breaches),
        bound=made.bound,
        cost=made.cost,
        records_left_out=made.tabulated.left_out,
        records_added_up=made.tabulated.added_up,
        breaches=tuple(breach.says for breach in made.audit.breaches),
        protection=made,
    )
