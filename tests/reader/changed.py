"""What is known of a table whose values were changed, from its file and the description of the method alone.

Every figure says between what the true value lies; an unlisted cell has the figure 0, as empty cells and those that
became 0 look alike. True values add up. Where that does not bound anything (a value was moved or multiplied by a drawn
factor that has no end), a reader guesses: the value that is most likely behind the figure.
"""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np

from tests.reader.judge import Contributors, Successes, Truth
from tests.reader.knowledge import Bounds, Insider
from tests.reader.published import Cell, Hierarchy, Published, read_tables
from tests.reader.solve import UNBOUNDED, Solver


@dataclass(frozen=True)
class Changed:
    """A table as published, what the product says of it, and the truth.

    text   : its CSV
    passes : whether it may be published
    """

    text: str
    says: str
    passes: bool
    hierarchies: Sequence[Hierarchy]
    truth: Truth

    @cached_property
    def figures(self) -> Mapping[Cell, int]:
        """The figure of each listed cell, in whole units."""
        rows = csv.DictReader(io.StringIO(self.text))
        return {tuple(row[h.name] for h in self.hierarchies): int(row["value"]) for row in rows}

    @property
    def steps(self) -> int:
        """A rounded figure is less than so many bases away from the truth, by what is said of the method."""
        return 2 if "at most 1 beyond the adjacent ones" in self.says else 1


def every_cell(hierarchies: Sequence[Hierarchy]) -> Published:
    """All cells that there may be, none of them published."""
    codes = [sorted({code for above in h.above.values() for code in above}) for h in hierarchies]
    lines = [",".join([h.name for h in hierarchies] + ["status", "value"])]
    lines += [",".join([*cell, "suppressed", ""]) for cell in product(*codes)]
    return read_tables(["\n".join(lines)], hierarchies)


def behind_rounding(table: Published, figures: Mapping[Cell, int], base: int) -> Bounds:
    """Of controlled rounding: every value is less than a base away, and not negative."""
    figure = np.array([figures.get(cell, 0) for cell in table.cells], dtype=np.int64)
    return np.maximum(figure - base + 1, 0), figure + base - 1


def behind_small_counts(table: Published, figures: Mapping[Cell, int], base: int) -> Bounds:
    """Of small-count rounding: innermost counts below the base went to 0 or the base, others stayed."""
    leaves = [set(h.leaves) for h in table.hierarchies]
    low, high = np.zeros(len(table.cells), dtype=np.int64), np.full(len(table.cells), UNBOUNDED)
    for at, cell in enumerate(table.cells):
        if all(code in of for code, of in zip(cell, leaves, strict=True)):
            figure = figures.get(cell, 0)
            low[at] = {0: 0, base: 1}.get(figure, figure)
            high[at] = base - 1 if figure == 0 else figure
    return low, high


def successes_behind(table: Published, bounds: Bounds, truth: Truth) -> Successes:
    """What anybody proves of sensitive cells, and contributors who know that cells are at least their own part.

    A count is open that may be empty or be safe; a magnitude that may be its level away to both sides.
    """
    found, solver = Successes(), Solver(table, *bounds)
    cells = [at for at, cell in enumerate(table.cells) if truth.sensitive.get(cell, False)]
    found.sensitive = len(cells)
    for at in cells:
        _prove(found, table, truth, solver, at, frozenset(), None)
    for who, insider in truth.insiders(table):
        if truth.value is None:  # of a count nobody knows to be alone in it: figures do not tell who else is there
            insider = Insider(insider.parts)
        for at in cells:
            if any(solver.together(at, own) for own in insider.bounds(table)):
                _prove(found, table, truth, solver, at, who, insider)
    return found


def _prove(
    found: Successes,
    table: Published,
    truth: Truth,
    solver: Solver,
    at: int,
    who: Contributors,
    insider: Insider | None,
) -> None:
    cell, largest = table.cells[at], truth.largest_sensitive
    if insider and cell in insider.alone:
        return
    total, part = truth.total(cell), insider.parts.get(cell, 0) if insider else 0
    level = truth.level(cell, who)
    if not level:
        return
    asked = (0, largest + 1) if truth.value is None else (total - min(level, total - part), total + level)
    interval = solver.interval(at, insider.bounds(table) if insider else None, asked)
    assert interval.low <= total <= interval.high
    if interval.low == interval.high:
        (found.insider_exact if insider else found.exact).append(cell)
    elif truth.value is None and interval.low >= 1 and interval.high <= largest:
        (found.insider if insider else found.below).append(cell)
    elif truth.value is not None and (interval.low > asked[0] or interval.high < asked[1]):
        (found.insider if insider else found.narrow).append(cell)


def guessed(made: Changed, factor: float) -> tuple[int, int, int]:
    """Who divides the figures of single contributors by a factor: how many, of how many too near, and how many exact.

    Of each contributor the innermost cell: its other cells are the same guess again.
    """
    tried = near = exact = 0
    for cell, parts in made.truth.inner.items():
        if len(parts) == 1 and cell in made.figures:
            off = abs(round(made.figures[cell] / factor) - made.truth.total(cell))
            tried, near, exact = tried + 1, near + (off < made.truth.level(cell)), exact + (off == 0)
    return tried, near, exact
