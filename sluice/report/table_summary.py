"""What the dossier of a release says of its tables: all that reviewers and auditors see of them.

Numbers of cells, shares, codes and texts; no contribution and no value of a suppressed cell. Sums over suppressed
cells are given only where they say nothing of one of them: see `summarise`.

Where a method changes values, reviewers weigh by the distance from the true ones what is left for users; a figure must
not lead back to a single cell. An intruder who knows the method knows of each changed cell a few values that it may
have, and a figure is an equation between them: with few cells, one exact figure can leave a single solution. So figures
come as ranges of a ladder (1, 2, 5, 10, ...), which hold some three bits each, and only over so many changed cells that
these are few beside what is unknown of the cells.
"""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Self

import numpy as np
from pydantic import Field

from sluice.ground.document_parts import FrozenModel
from sluice.ground.verdict import Verdict
from sluice.report.pattern_map import PatternMap, pattern_maps
from sluice.tabular.advice.table_utility import table_utility
from sluice.tabular.model.cells import Booleans, Cells, Integers, Status, Statuses, Table, axes_of, in_table, levels_of
from sluice.tabular.rules.sensitivity import Requirements

if TYPE_CHECKING:
    from sluice.tabular.audit.pattern_audit import Audit

LEAST_CHANGED = 30  # changed cells, other than marginals: those follow from the others where a table is additive
_LADDER = (1, 2, 5)

Range = tuple[float, float]


class Alteration(FrozenModel):
    """Ranges that hold the figures; None where too few cells were changed, or there is nothing to measure."""

    mean_absolute: Range | None = Field(default=None, description="of |published - true|, in units of the measure")
    mean_relative: Range | None = Field(default=None, description="of |published - true| / |true|, true values not 0")
    hellinger: Range | None = Field(default=None, description="distance of the two distributions, 0 (the same) to 1")

    @classmethod
    def of(cls, cells: Cells, visible: Booleans, value: Integers, minimum_cell: int) -> Self:
        """The distance of published values from the totals; see `table_utility` for the figures.

        visible      : shape (c,), the cells of the table that have a published value
        value        : shape (c,), what is published instead of the totals, in their units
        minimum_cell : of the policy; figures need at least so many changed cells, and LEAST_CHANGED
        """
        inner = np.ones(len(cells), dtype=bool)
        inner[cells.equations.indices[cells.equations.data > 0]] = False
        changed = int((visible & inner & (value != cells.total)).sum())
        if changed < max(LEAST_CHANGED, minimum_cell):
            return cls()
        found = table_utility(cells, np.where(visible, value.astype(np.float64), np.nan))
        return cls(
            mean_absolute=_range(found.mean_absolute * 10.0**-cells.decimals),
            mean_relative=_range(found.mean_relative),
            hellinger=_range(found.hellinger),
        )


def _range(figure: float) -> Range | None:
    """The steps of the ladder between which the figure lies."""
    if math.isnan(figure):
        return None
    if figure == 0:
        return (0.0, 0.0)
    power = math.floor(math.log10(figure))
    steps = [float(f"{step}e{exponent}") for exponent in (power - 1, power, power + 1) for step in _LADDER]
    return max(pair for pair in pairwise(steps) if pair[0] <= figure)


MOST_LOST = 3
MOST_BREACHES = 20  # given in words
# Times what is required. In steps, rounded down: the width can be computed from what is published, and what is required
# is a share of a contribution, so the exact ratio would reveal that. JSON has no infinity.
_WIDTHS = (1.0, 2.0, 5.0, 10.0, 100.0, 1000.0)
_LEAST_SUMMED = 3  # with two cells, whoever knows one would know the other


class IntervalWidth(FrozenModel):
    """How wide the feasibility interval of a sensitive cell is."""

    cell: str = Field(description="its codes")
    times_required: float = Field(description="its width, divided by the width that is required, in steps")


class AuditOutcome(FrozenModel):
    """What the audit of the release's tables found, and what of it lies in one table."""

    verdict: Verdict = Field(description="PASS: every attack was tried and failed; UNKNOWN: some could not be decided")
    attempted: int = Field(ge=0, description="attacks, on all tables together")
    completed: int = Field(ge=0, description="of them those that were decided")
    breaches: int = Field(ge=0, description="cells (or unions) of this table that are not protected as required")
    examples: tuple[str, ...] = Field(default=(), description="the first breaches, one sentence each, without values")
    narrowest: tuple[IntervalWidth, ...] = Field(default=(), description="those of this table, narrowest first")

    @classmethod
    def of(cls, audit: "Audit", cells: Cells, inside: Booleans) -> "AuditOutcome":
        """What an audit found; inside: shape (c,), the cells of this table."""
        found = [breach for breach in audit.breaches if inside[breach.cell]]
        verdict = Verdict.FAIL if audit.breaches else Verdict.UNKNOWN
        return cls(
            verdict=Verdict.PASS if audit.safe else verdict,
            attempted=audit.attempted,
            completed=audit.completed,
            breaches=len(found),
            examples=tuple(breach.says for breach in found[:MOST_BREACHES]),
            narrowest=tuple(
                IntervalWidth(cell=cells.name(cell), times_required=_coarse(float(width)))
                for cell, width in audit.narrowest
                if inside[cell]
            ),
        )


class Level(FrozenModel):
    """The cells whose code of a dimension lies at one depth of its tree."""

    dimension: str
    depth: int = Field(ge=0, description="0 is the total")
    cells: int = Field(description="that are not withheld")
    suppressed: int


class TableSummary(FrozenModel):
    """One table of the release."""

    name: str
    measure: str | None = Field(
        default=None,
        exclude_if=lambda measure: measure is None,
        description="of several with one pattern, whose figures these are",
    )
    dimensions: dict[str, int] = Field(description="name -> number of codes, in the table's order")
    cells: int = Field(description="that are not empty, withheld ones among them")
    empty: int = Field(description="combinations of codes without a contributor")
    zero: int = Field(description="cells that are not empty and have the value 0")
    sensitive: int
    by_rule: dict[str, int] = Field(description="rule -> cells that it calls sensitive; a cell may break several")
    published: int
    primary: int
    secondary: int
    withheld: int
    value_suppressed: float | None = Field(
        description="of cells that are no marginal, to three digits, units of the measure; None: would reveal a cell"
    )
    value_share: float | None = Field(
        description="of the value of all cells that are no marginal and not withheld; None: would reveal a cell"
    )
    contributors_suppressed: int | None = Field(
        description="to three digits, contributions in suppressed cells that are no marginal; None: would reveal a cell"
    )
    contributors_share: float | None
    levels: tuple[Level, ...] = ()
    maps: tuple[PatternMap, ...] = ()
    alteration: Alteration | None = Field(default=None, description="None: the true values are published")
    largest_lost: tuple[dict[str, str], ...] = Field(
        default=(),
        description="the suppressed cells, no marginals, that are largest by what the published marginals lead one to "
        "expect; dimension -> code. By their true values they must not be ordered: that would bound them",
    )
    audit: AuditOutcome | None = Field(description="None: the pattern was not audited")
    statements: tuple[str, ...] = Field(default=(), description="the method's own: its safety, its cost in utility")
    before: tuple[str, ...] = Field(default=(), description="what attackers could have learned without protection")
    now: tuple[str, ...] = Field(default=(), description="what they can learn from what is to be published")

    @property
    def suppressed(self) -> int:
        return self.primary + self.secondary

    @property
    def title(self) -> str:
        return f"{self.name}, {self.measure}" if self.measure else self.name


def summarise(
    cells: Cells,
    status: Statuses,
    requirements: Requirements,
    name: str,
    table: Table,
    minimum_cell: int,
    audit: "Audit | None" = None,
    value: Integers | None = None,
    statements: Sequence[str] = (),
    before: Sequence[str] = (),
    now: Sequence[str] = (),
    measure: str | None = None,
) -> TableSummary:
    """One table in figures that a reviewer may see.

    status       : shape (c,), of every cell of the linked tables; so are the requirements
    value        : shape (c,), what is published instead of the totals, where a method changes values
    minimum_cell : the value and the contributors of the suppressed cells are given as sums over those that are no
                   marginal, when at least so many (and three) have any and the table's total is published: then
                   anybody can subtract the published ones from it. With marginals among them, which count their
                   cells twice, such a sum would be a further equation, by which a marginal may be computed. To three
                   digits, the shares too, as the sum of contributors is not published
    """
    inside, axes = in_table(cells, table), axes_of(cells, table)
    counts = {known: int(((status == known) & inside).sum()) for known in Status}
    hidden = inside & ((status == Status.PRIMARY) | (status == Status.SECONDARY))
    listed = inside & (status != Status.WITHHELD)
    innermost = inside & ~marginals(cells, inside)
    lost_cells, summed = hidden & innermost, listed & innermost
    levels = levels_of(cells.dimensions, table)
    sizes = {cells.dimensions[axis].name: int((cells.dimensions[axis].levels <= levels[axis]).sum()) for axis in axes}
    size = np.abs(cells.total.astype(np.float64)) * 10.0**-cells.decimals
    total_is_published = bool(((cells.codes == 0).all(axis=1) & inside & (status == Status.PUBLISHED)).any())
    enough = int((lost_cells & (cells.total != 0)).sum()) >= max(_LEAST_SUMMED, minimum_cell)
    give = not hidden.any() or (enough and total_is_published)
    lost, contributors = float(size[lost_cells].sum()), int(cells.contributors[lost_cells].sum())
    return TableSummary(
        name=name,
        measure=measure,
        dimensions=sizes,
        cells=int(inside.sum()),
        empty=int(np.prod(list(sizes.values()), dtype=object)) - int(inside.sum()),
        zero=int((inside & (cells.total == 0)).sum()),
        sensitive=int((requirements.sensitive & inside).sum()),
        by_rule={rule: int((broken & inside).sum()) for rule, broken in requirements.by_rule.items()},
        published=counts[Status.PUBLISHED],
        primary=counts[Status.PRIMARY],
        secondary=counts[Status.SECONDARY],
        withheld=counts[Status.WITHHELD],
        value_suppressed=_three_digits(lost) if give else None,
        value_share=_share(lost, float(size[summed].sum())) if give else None,
        contributors_suppressed=int(_three_digits(contributors)) if give else None,
        contributors_share=_share(contributors, int(cells.contributors[summed].sum())) if give else None,
        levels=tuple(_levels(cells, listed, hidden, axes)),
        maps=pattern_maps(cells, status, table),
        alteration=None
        if value is None
        else Alteration.of(cells, inside & (status == Status.PUBLISHED), value, minimum_cell),
        largest_lost=_largest_lost(cells, status, cells.total if value is None else value, inside, lost_cells, axes),
        audit=AuditOutcome.of(audit, cells, inside) if audit else None,
        statements=tuple(statements),
        before=tuple(before),
        now=tuple(now),
    )


def _largest_lost(
    cells: Cells, status: Statuses, value: Integers, inside: Booleans, lost: Booleans, axes: Sequence[int]
) -> tuple[dict[str, str], ...]:
    """By the product of a cell's published one-way marginals; a cell of which one is not published is left out."""
    public, at_total = inside & (status == Status.PUBLISHED), cells.codes == 0
    expected = np.ones(len(cells))
    for axis in axes:
        margin = np.full(len(cells.dimensions[axis].codes), np.nan)
        alone = public & np.delete(at_total, axis, axis=1).all(axis=1)
        margin[cells.codes[alone, axis]] = value[alone]
        expected *= margin[cells.codes[:, axis]]
    named = np.flatnonzero(lost & np.isfinite(expected))
    largest = named[np.argsort(-expected[named], kind="stable")][:MOST_LOST]
    return tuple(
        {cells.dimensions[axis].name: cells.dimensions[axis].codes[cells.codes[cell, axis]] for axis in axes}
        for cell in largest
    )


def marginals(cells: Cells, inside: Booleans) -> Booleans:
    """Shape (c,): the cells that are sums of other cells of one table."""
    equations = cells.equations
    within = equations[abs(equations) @ (~inside).astype(np.int64) == 0]
    marginals = np.zeros(len(cells), dtype=bool)
    marginals[within.indices[within.data > 0]] = True
    return marginals


def _coarse(width: float) -> float:
    return max((step for step in _WIDTHS if step <= width * (1 + 1e-6)), default=0.0)


def _share(part: float, whole: float) -> float:
    return _three_digits(part / whole) if whole else 0.0


def _three_digits(figure: float) -> float:
    return float(f"{figure:.3g}")


def _levels(cells: Cells, listed: Booleans, hidden: Booleans, axes: Sequence[int]) -> list[Level]:
    levels = []
    for axis in axes:
        dimension = cells.dimensions[axis]
        level = dimension.levels[cells.codes[:, axis]]
        levels += [
            Level(
                dimension=dimension.name,
                depth=at,
                cells=int(((level == at) & listed).sum()),
                suppressed=int(((level == at) & hidden).sum()),
            )
            for at in range(int(dimension.levels.max()) + 1)
        ]
    return levels
