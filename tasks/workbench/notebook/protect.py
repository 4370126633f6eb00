"""`sluice.protect`: the table of a DataFrame of records, protected as in a release, and judged."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pandas as pd

from policies.waivers import Waiver
from sluice.ground.errors import DataError
from sluice.ground.verdict import Finding, Verdict
from sluice.publication.pattern_file import STATUS_NAMES
from sluice.report.pattern_map import EMPTY, STATUS_MARKS, WITHHELD, pattern_maps
from sluice.tabular.model.cells import Status
from sluice.tabular.suppression.costs import COSTS
from tasks.release.tables.protection import Mode
from tasks.workbench.cells_files import table_of
from tasks.workbench.draw import Draw
from tasks.workbench.notebook.arguments import Seed, data_frame, document, entropy, number, one_of, whole_number
from tasks.workbench.notebook.result import COLOURS, Figure, Result, axes
from tasks.workbench.notebook.table_arguments import (
    Dimensions,
    Rule,
    TableOfRecords,
    frame_of,
    pattern_of,
    protection_method,
    rows_of,
)
from tasks.workbench.previous_pattern import PreviousPattern
from tasks.workbench.protect import ProtectedTable as Protection
from tasks.workbench.protect import protect_tabulated
from tasks.workbench.waivers_file import read_waivers, waivers_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLOURS = {
    EMPTY: "#ffffff",
    WITHHELD: "#ffffff",
    STATUS_MARKS[Status.PUBLISHED]: "#d9dfdd",
    STATUS_MARKS[Status.PRIMARY]: COLOURS["fail"],
    STATUS_MARKS[Status.SECONDARY]: COLOURS["masked"],
}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ProtectedTable(Result):
    """A protected table, and what was found of it.

    pattern  : the table as it may be published: the dimensions' codes, status (published or suppressed) and value,
               none where a cell is suppressed. Refused where something failed, or was not decided
    cells    : confidential: every cell with status, value, contributors, sensitive (by some rule); for a sensitive
               suppressed cell lower and upper, between which an outsider must believe all possible; or, where values
               are changed, to what
    breaches : what somebody can learn who must not, in words
    findings : those, and what else decides: the edition before, waivers
    """

    verdict: Verdict
    sensitive: Annotated[int, Figure("cells", "that a rule or a person calls sensitive")]
    primary: Annotated[int, Figure("cells", "suppressed because they are sensitive")]
    secondary: Annotated[int, Figure("cells", "suppressed to protect these")]
    published: Annotated[int, Figure("cells", "published, with their values or with changed ones")]
    suppressed_share: Annotated[float, Figure("share of the value", "in suppressed cells")]
    attacks: Annotated[int, Figure("attacks", "that were to be tried")]
    attacks_decided: Annotated[int, Figure("attacks", "of these decided")]
    breaches_found: Annotated[int, Figure("breaches", "attacks that succeed")]
    bound: Annotated[float | None, Figure("cost", "no safe pattern costs less (mode optimise)")]
    cost: Annotated[float | None, Figure("cost", "of the suppressed cells")]
    records_left_out: Annotated[int, Figure("records", "without a value")]
    records_added_up: Annotated[int, Figure("records", "added to another of the same contributor")]
    contributors_alike: Annotated[
        int, Figure("names", "of contributors that are others' but for capital letters, and count apart")
    ]
    breaches: tuple[str, ...]
    findings: tuple[Finding, ...]
    protection: Protection

    @property
    def pattern(self) -> pd.DataFrame:
        if not self.protection.may_be_written:
            raise DataError("the audit did not find the pattern safe, so there is none to publish; see breaches.")
        return frame_of(table_of(self.protection.cells, self.protection.published))

    @property
    def cells(self) -> pd.DataFrame:
        cells, made = self.protection.cells, self.protection
        unit = 10.0**-self._decimals

        def in_units(numbers: Any) -> Any:
            return numbers * unit if self._decimals else numbers

        frame = pd.DataFrame(
            {d.name: np.array(d.codes, dtype=object)[cells.codes[:, at]] for at, d in enumerate(cells.dimensions)}
            | {
                "status": [STATUS_NAMES.get(Status(status), "not listed") for status in made.status],
                "value": in_units(cells.total),
                "contributors": cells.contributors,
                "sensitive": made.requirements.sensitive,
            }
        )
        if made.published.value is not None:
            frame["changed_to"] = in_units(made.published.value)
        if made.audit is not None:
            frame["lower"], frame["upper"] = made.audit.lower * unit, made.audit.upper * unit
        return frame

    @property
    def _decimals(self) -> int:
        return self.protection.cells.decimals

    @property
    def says(self) -> str:
        if self.protection.audit is None:
            return f"{self.protection.method.describe()} {' '.join(finding.says for finding in self.findings)}"
        says = (
            f"{self.primary:,} cells are sensitive and {self.secondary:,} more are suppressed for their sake; "
            f"{self.published:,} are published, {1 - self.suppressed_share:.1%} of the value."
        )
        if self.verdict is Verdict.PASS:
            return f"{says} All {self.attacks:,} attacks on the pattern fail."
        if self.verdict is Verdict.REVIEW:
            return f"{says} Somebody should decide: {' '.join(_open(self.findings))}"
        open_ = "; ".join([*self.breaches, *_open(self.findings[1:])][:3])
        return f"{says} The pattern is not safe: {open_ or 'some attacks were not decided'}."

    @property
    def table(self) -> pd.DataFrame | None:
        return self.pattern if self.protection.may_be_written else None

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
        present = [mark for at, mark in enumerate(marks) if (grid == at).any() and mark not in (EMPTY, WITHHELD)]
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
    method: Mapping[str, Any] | str = "suppression",
    cost: str | None = None,
    mode: Mode | None = None,
    seconds: float | None = None,
    a_priori: pd.DataFrame | Sequence[Mapping[str, Any]] | None = None,
    waivers: Sequence[Mapping[str, Any]] | Path | str | None = None,
    previous: pd.DataFrame | None = None,
    seed: Seed = None,
    coalition: int = 1,
    workers: int = 1,
) -> ProtectedTable:
    """Add records up to a table and protect it as a release would: by suppressing cells, or by changing values.

    records     : one row a record; codes are text or whole numbers
    dimensions  : columns whose categories add up to 'Total'; or {column: hierarchy}, a hierarchy being a mapping or
                  DataFrame of each code and its parent ('' for the total), the path of a CSV file, or None
    value       : column that is added up; records are counted when not given
    rules       : which cells are sensitive, as in a policy: [{"rule": "p_percent", "p": 10}]; docs/rules.md lists them
    contributor : column of whose record it is; each record is one of its own when not given
    measure     : how values count, such as {"weight": "w", "weight_rule": "argus", "missing": "leave_out"}: the fields
                  of `sluice.tabular.model.measure.Measure`
    tables      : the dimensions of each of several linked tables; one table of all when not given
    method      : as `protection` in a release: {"method": "controlled_rounding", "base": 5}; docs/tables.md lists them
    cost        : what suppression keeps small: value (when not given), cells, contributors or scaled_information
    mode        : fast (when not given); or optimise, slower, with a proven bound on the cost
    seconds     : a budget for suppression: a safe pattern in any case, as cheap as the search gets meanwhile
    a_priori    : what people ask of single cells: codes, status and, if wanted, lower, upper and cost
    waivers     : as in a policy, a list or a YAML file: which sensitive cells `a_priori` may have published
    previous    : the pattern that was published before: what it suppressed is suppressed again, and neither must undo
                  the other
    seed        : of methods that draw, and of noise on the costs of suppression; without one, those draw anew and these
                  have none. For what leaves the house it must be one that nobody guesses
    coalition   : contributors who pool what they know, 0 to 3
    raises      : TypeError, DataError, DocumentError
    time        : for 10,000 cells about 5 seconds
    """
    table = TableOfRecords.of(records, dimensions, rules, value, contributor, measure)
    chosen = protection_method(
        method,
        cost=None if cost is None else one_of(cost, "cost", COSTS),
        mode=None if mode is None else one_of(mode, "mode", ("fast", "optimise")),
        seconds=None if seconds is None else number(seconds, "seconds"),
        a_priori=rows_of(a_priori, "a_priori") or None,
    )
    before = None
    if previous is not None:
        pattern = pattern_of(data_frame(previous, "previous"), table.dimensions, "previous")
        before = PreviousPattern("the previous pattern", pattern, tables)
    granted: tuple[Waiver, ...] = ()
    if isinstance(waivers, str | Path):
        granted = read_waivers(
            document(waivers, "waivers", "a list of mappings as in a policy, or the path of a YAML file")
        )
    elif waivers is not None:
        granted = waivers_of(waivers)
    drawn = entropy(seed)
    together = whole_number(coalition, "coalition", 0)
    made = protect_tabulated(
        table.tabulated(tables, together),
        table.rules,
        table.assumptions(together),
        chosen,
        waivers=granted,
        previous=before,
        draw=Draw(lambda: drawn, lambda: table.frame, table.dimensions, table.measure, secret_costs=seed is not None),
        workers=whole_number(workers, "workers", 1),
    )
    return _result(made)


def _result(made: Protection) -> ProtectedTable:
    hidden = (made.status == Status.PRIMARY) | (made.status == Status.SECONDARY)
    total = np.abs(made.cells.total)
    judged = made.findings[0]
    breaches = made.audit.breaches if made.audit else ()
    return ProtectedTable(
        verdict=made.verdict,
        sensitive=int(made.requirements.sensitive.sum()),
        primary=int((made.status == Status.PRIMARY).sum()),
        secondary=int((made.status == Status.SECONDARY).sum()),
        published=int((made.status == Status.PUBLISHED).sum()),
        suppressed_share=float(total[hidden].sum() / total.sum()) if total.any() else 0.0,
        attacks=judged.attempted or 0,
        attacks_decided=judged.completed or 0,
        breaches_found=int(judged.observed or 0),
        bound=made.bound,
        cost=made.cost,
        records_left_out=made.tabulated.left_out,
        records_added_up=made.tabulated.added_up,
        contributors_alike=made.tabulated.alike,
        breaches=tuple(breach.says for breach in breaches),
        findings=made.findings,
        protection=made,
    )


def _open(findings: Sequence[Finding]) -> list[str]:
    """What did not pass, in words."""
    return [each.says for each in findings if each.binding and not each.waiver and each.verdict is not Verdict.PASS]
