"""Which cells of a table are suppressed: its cells laid out by two of its dimensions, in the order of their trees.

Holds codes and statuses only, no value. Where a dimension has more codes than a reader can take in, a row (or column)
stands for a code and all below it, with the share of its cells that is suppressed in place of each cell's status.
"""

from collections import defaultdict
from collections.abc import Iterator
from itertools import chain

import numpy as np
from pydantic import Field

from sluice.ground.document_parts import FrozenModel
from sluice.tabular.model.cells import Booleans, Cells, Integers, Status, Statuses, Table, axes_of, in_table, levels_of
from sluice.tabular.model.dimension import Dimension

MOST_ROWS, MOST_COLUMNS = 75, 75  # more labels than this cannot be read on a page
MOST_PANELS = 9

EMPTY, WITHHELD = ".", "w"
STATUS_MARKS = {Status.PUBLISHED: "p", Status.PRIMARY: "1", Status.SECONDARY: "2", Status.WITHHELD: WITHHELD}
SHARE_MARKS = "abcdefg"  # no cell suppressed, up to a tenth, a quarter, a half, three quarters, more, all
_SHARE_LIMITS = (0.0, 0.1, 0.25, 0.5, 0.75)


class Axis(FrozenModel):
    """The rows or the columns of a map: for each its label and its depth in the tree."""

    name: str = Field(description="of the dimension; '' for the single column of a table of one dimension")
    labels: tuple[str, ...]
    depth: tuple[int, ...]


class Panel(FrozenModel):
    """One grid of marks: a text for each row with a letter for each column."""

    title: str
    marks: tuple[str, ...]


class PatternMap(FrozenModel):
    """One or more grids over the same rows and columns."""

    rows: Axis
    columns: Axis
    shares: bool = Field(description="True: marks are SHARE_MARKS, else STATUS_MARKS; EMPTY and WITHHELD in both")
    panels: tuple[Panel, ...]
    says: str = Field(description="what a row and a column stand for, for a reader")


def pattern_maps(cells: Cells, status: Statuses, table: Table) -> tuple[PatternMap, ...]:
    """The maps of one table: its first two dimensions, over all the others, then for codes of the third.

    status : shape (c,), of every cell of the linked tables
    cost   : O(c) time; at most MOST_ROWS x MOST_COLUMNS letters for each of 1 + MOST_PANELS grids
    """
    inside, axes, levels = in_table(cells, table), axes_of(cells, table), levels_of(cells.dimensions, table)
    dimensions = [cells.dimensions[axis].name for axis in axes]
    rows, row_of, row_merged = _axis(cells.dimensions[axes[0]], levels[axes[0]], MOST_ROWS)
    at_row = row_of[cells.codes[:, axes[0]]]
    if len(axes) == 1:
        columns, merged = Axis(name="", labels=("",), depth=(0,)), row_merged
        at_column = np.zeros_like(at_row)
    else:
        columns, column_of, column_merged = _axis(cells.dimensions[axes[1]], levels[axes[1]], MOST_COLUMNS)
        at_column, merged = column_of[cells.codes[:, axes[1]]], row_merged or column_merged
    shape = (len(rows.labels), len(columns.labels))
    place = at_row * shape[1] + at_column
    stands_for = "A row or column stands for a code and all codes below it that have none. " if merged else ""

    def panel(which: Booleans, title: str, shares: bool) -> Panel:
        return Panel(title=title, marks=_marks(place[which], status[which], shape, shares))

    if len(axes) < 3:
        whole = panel(inside, "", merged)
        return (PatternMap(rows=rows, columns=columns, shares=merged, panels=(whole,), says=stands_for.strip()),)
    others = " and ".join(dimensions[2:])
    overview = PatternMap(
        rows=rows,
        columns=columns,
        shares=True,
        panels=(panel(inside, "", True),),
        says=f"{stands_for}A place stands for the cells of all codes of {others}.",
    )
    third = cells.dimensions[axes[2]]
    in_total = inside & (cells.codes[:, axes[3:]] == 0).all(axis=1)
    chosen, left_out = _top_codes(third, np.bincount(cells.codes[in_total, axes[2]], minlength=len(third.codes)) > 0)
    says = stands_for + (f"{left_out} further codes of {third.name} are not shown. " if left_out else "")
    if len(axes) > 3:
        says += f"Shown for the total of {' and '.join(dimensions[3:])}."
    panels = (
        panel(in_total & (cells.codes[:, axes[2]] == code), f"{third.name} {third.codes[code]}", merged)
        for code in chosen
    )
    return overview, PatternMap(rows=rows, columns=columns, shares=merged, panels=tuple(panels), says=says.strip())


def tree_order(dimension: Dimension) -> Iterator[tuple[int, int]]:
    """Each code's position and depth, a code before its parts; one that lies in several groups follows the first."""
    parts_of: dict[int, list[int]] = defaultdict(list)
    for group, parts in dimension.sums:
        parts_of[group] += parts
    below = {part for _, parts in dimension.sums for part in parts}
    seen: set[int] = set()
    for top in (code for code in range(len(dimension.codes)) if code not in below):
        stack = [(top, 0)]
        while stack:
            code, depth = stack.pop()
            if code not in seen:
                seen.add(code)
                yield code, depth
                stack += [(part, depth + 1) for part in reversed(parts_of[code])]


def _axis(dimension: Dimension, deepest: int, most: int) -> tuple[Axis, Integers, bool]:
    """The axis, the line of each code, shape (codes,), and whether a line stands for several codes.

    Lines are the codes of the upper levels, as many levels as fit. Where even the first level does not, neighbours
    share a line.
    """
    order = [(code, depth) for code, depth in tree_order(dimension) if dimension.levels[code] <= deepest]
    level = max((d for d in {d for _, d in order} if sum(depth <= d for _, depth in order) <= most), default=0)
    level = max(level, 1)
    lines: list[list[tuple[int, int]]] = []
    for code, depth in order:
        if depth <= level or not lines:
            lines.append([])
        lines[-1].append((code, depth))
    if len(lines) > most:
        total, rest = lines[:1], lines[1:]
        size = -(-len(rest) // (most - 1))
        lines = total + [list(chain(*rest[at : at + size])) for at in range(0, len(rest), size)]
    line_of = np.zeros(len(dimension.codes), dtype=np.int64)
    labels = []
    for number, line in enumerate(lines):
        line_of[[code for code, _ in line]] = number
        tops = [code for code, depth in line if depth <= level]
        names = dimension.codes[tops[0]], dimension.codes[tops[-1]]
        labels.append(names[0] if len(tops) == 1 else f"{names[0]} … {names[1]}")
    axis = Axis(name=dimension.name, labels=tuple(labels), depth=tuple(line[0][1] for line in lines))
    return axis, line_of, len(lines) < len(order)


def _top_codes(dimension: Dimension, there: Booleans) -> tuple[list[int], int]:
    """The total and its parts that have cells, at most MOST_PANELS, and how many codes are left out."""
    order = [(code, depth) for code, depth in tree_order(dimension) if there[code]]
    chosen = [code for code, depth in order if depth <= 1][:MOST_PANELS]
    return chosen, len(order) - len(chosen)


def _marks(place: Integers, status: Statuses, shape: tuple[int, int], shares: bool) -> tuple[str, ...]:
    size = shape[0] * shape[1]
    marks = np.full(size, EMPTY)
    if not shares:
        marks[place] = np.array([STATUS_MARKS[Status(known)] for known in range(len(STATUS_MARKS))])[status]
    else:
        withheld = status == Status.WITHHELD
        hidden = (status == Status.PRIMARY) | (status == Status.SECONDARY)
        marks[place[withheld]] = WITHHELD
        listed = np.bincount(place[~withheld], minlength=size)
        share = np.bincount(place[hidden], minlength=size) / np.maximum(listed, 1)
        letters = np.searchsorted(_SHARE_LIMITS, share, side="left") + (share == 1)
        marks = np.where(listed > 0, np.array(list(SHARE_MARKS))[letters], marks)
    return tuple("".join(row) for row in marks.reshape(shape))
