"""The maps of suppression against a plain count."""

import re
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.report import pattern_map
from sluice.report.pattern_map import EMPTY, SHARE_MARKS, STATUS_MARKS, WITHHELD, Axis, pattern_maps, tree_order
from sluice.report.table_summary import summarise
from sluice.report.tables_page import SHARE_KEY, STATUS_KEY, map_svg
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.cells import Cells, Status
from sluice.tabular.model.dimension import Dimension
from sluice.tabular.rules.sensitivity import requirements_of
from tests.golden import golden
from tests.report.pages import flat, names, random_status
from tests.tabular.tables import tables


class TestPatternMap:
    def test_a_tree_is_walked_branch_by_branch(self) -> None:
        rows = [("T", ""), ("A", "T"), ("B", "T"), ("b1", "B"), ("a1", "A"), ("a2", "A")]
        other = [("X", ""), ("a2", "X"), ("b1", "X")]
        dimension = Dimension.of("d", rows, other)
        walked = [(dimension.codes[code], depth) for code, depth in tree_order(dimension)]
        assert walked == [("T", 0), ("A", 1), ("a1", 2), ("a2", 2), ("B", 1), ("b1", 2), ("X", 0)]

    @given(tables(), st.integers(0, 99))
    def test_each_place_bears_the_status_of_its_cell(self, cells: Cells, seed: int) -> None:
        status = random_status(cells, seed)
        maps = pattern_maps(cells, status, names(cells))
        told = {
            tuple(d.codes[code] for d, code in zip(cells.dimensions, codes, strict=True)): STATUS_MARKS[Status(known)]
            for codes, known in zip(cells.codes.tolist(), status, strict=True)
        }
        last, third = maps[-1], cells.dimensions[2] if len(cells.dimensions) > 2 else None
        assert not last.shares
        places = 0
        for panel in last.panels:
            for row, marks in zip(last.rows.labels, panel.marks, strict=True):
                for column, mark in zip(last.columns.labels, marks, strict=True):
                    place = (row, column, panel.title.removeprefix("c "))[: len(cells.dimensions)]
                    assert mark == told.get(place, EMPTY)
                    places += mark != EMPTY
        if third is None:
            assert places == len(cells)

    @given(tables(), st.integers(0, 99), st.integers(2, 4))
    def test_shares_are_those_of_all_cells_at_and_below_two_codes(self, cells: Cells, seed: int, most: int) -> None:
        status = random_status(cells, seed)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pattern_map, "MOST_ROWS", most)
            patch.setattr(pattern_map, "MOST_COLUMNS", most)
            shown = pattern_maps(cells, status, names(cells))[0]
        if not shown.shares:
            return
        counted: dict[tuple[int, int], Counter[Status]] = {}
        for codes, known in zip(cells.codes.tolist(), status, strict=True):
            at = [_line(axis, cells.dimensions[n], codes[n]) for n, axis in enumerate((shown.rows, shown.columns))
                  if axis.name]  # fmt: skip
            counted.setdefault((at[0], at[1] if len(at) > 1 else 0), Counter())[Status(known)] += 1
        for row, marks in enumerate(shown.panels[0].marks):
            for column, mark in enumerate(marks):
                assert mark == _share_mark(counted.get((row, column), Counter()))

    def test_neighbours_share_a_line_where_even_the_first_level_does_not_fit(self) -> None:
        cells = flat(200)
        shown = pattern_maps(cells, np.zeros(201, dtype=np.uint8), ["d"])[0]
        assert shown.rows.labels[:2] == ("Total", "c0 … c2")
        assert shown.rows.labels[-1] == "c198 … c199"
        assert len(shown.rows.labels) <= pattern_map.MOST_ROWS
        assert shown.shares

    def test_a_large_hierarchy_is_cut_at_the_level_that_fits(self) -> None:
        rows = [
            ("T", ""),
            *((f"g{g}", "T") for g in range(20)),
            *((f"g{g}l{i}", f"g{g}") for g in range(20) for i in range(5)),
        ]
        dimension = Dimension.of("d", rows)
        cells = aggregate([dimension], dimension.leaves[:, None], np.arange(100), np.arange(1, 101))
        shown = pattern_maps(cells, np.zeros(len(cells), dtype=np.uint8), ["d"])[0]
        assert shown.rows.labels == ("T", *(f"g{g}" for g in range(20)))
        golden.words(shown.says)

    def test_a_table_that_ends_at_a_level_has_no_lines_below_it(self) -> None:
        dimension = Dimension.of("d", [("T", ""), ("A", "T"), ("B", "T"), ("a1", "A"), ("a2", "A")])
        leaves = np.array([[2, 1], [3, 1], [4, 1]], dtype=np.int32)
        cells = aggregate([dimension, Dimension.flat("e", ["x"])], leaves, np.arange(3), np.arange(3))
        status = np.zeros(len(cells), dtype=np.uint8)
        assert pattern_maps(cells, status, ["e", "d:1"])[0].columns.labels == ("T", "A", "B")
        table = summarise(cells, status, requirements_of([], cells.contributions), "t", ["d:1"], 3)
        assert (table.dimensions, table.cells, table.empty) == ({"d": 3}, 3, 0)

    def test_further_codes_of_the_third_dimension_are_counted_not_shown(self) -> None:
        two = [Dimension.flat("a", ["x", "y"]), Dimension.flat("b", ["x", "y"])]
        third = Dimension.flat("c", [str(n) for n in range(12)])
        leaves = np.array([[1, 1, 1 + n] for n in range(12)], dtype=np.int32)
        cells = aggregate([*two, third], leaves, np.arange(12), np.arange(1, 13))
        panels = pattern_maps(cells, np.zeros(len(cells), dtype=np.uint8), ["a", "b", "c"])[1]
        assert [panel.title for panel in panels.panels] == ["c Total", *(f"c {n}" for n in range(8))]
        golden(panels.says)


def _line(axis: Axis, dimension: Dimension, code: int) -> int:
    """The line that holds a code: its own or its nearest upper one's, by the first grouping that has it."""
    above: dict[int, int] = {}
    for group, parts in dimension.sums:
        for part in parts:
            above.setdefault(part, group)
    lines = {name: line for line, label in enumerate(axis.labels) for name in _held(label, dimension)}
    while dimension.codes[code] not in lines:
        code = above[code]
    return lines[dimension.codes[code]]


def _held(label: str, dimension: Dimension) -> list[str]:
    """The codes of a label, those between its ends too."""
    first, _, last = label.partition(" … ")
    if not last:
        return [first]
    order = [dimension.codes[code] for code, _ in tree_order(dimension)]
    return order[order.index(first) : order.index(last) + 1]


def _share_mark(counted: Counter[Status]) -> str:
    hidden = counted[Status.PRIMARY] + counted[Status.SECONDARY]
    listed = hidden + counted[Status.PUBLISHED]
    if not listed:
        return WITHHELD if counted[Status.WITHHELD] else EMPTY
    share = Fraction(hidden, listed)
    limits = [Fraction(0), Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)]
    return "g" if share == 1 else SHARE_MARKS[sum(share > limit for limit in limits)]


# The drawing of a map: its colours, runs and labels.


class TestPlots:
    @given(tables(), st.integers(0, 99), st.booleans())
    def test_each_colour_covers_as_many_places_as_bear_its_mark(self, cells: Cells, seed: int, labels: bool) -> None:
        for shown in pattern_maps(cells, random_status(cells, seed), names(cells)):
            panel = shown.panels[0]
            svg = str(map_svg(shown, panel, "A map.", 880 if labels else 300, labels))
            counted = Counter("".join(panel.marks))
            for mark, (style, _) in (SHARE_KEY if shown.shares else STATUS_KEY).items():
                path = re.search(rf'<path class="{style}" d="([^"]*)"/>', svg)
                runs = re.findall(r"h([\d.]+)v([\d.]+)h-", path[1]) if path else []
                if mark == EMPTY:
                    assert path is None
                    continue
                side = _side(svg, labels, len(shown.columns.labels))
                assert round(sum(float(wide) for wide, _ in runs) / side) == counted[mark]

    def test_no_run_crosses_the_gap_between_two_branches(self) -> None:
        dimensions = [Dimension.flat("a", ["x", "y"]), Dimension.flat("b", ["x", "y"])]
        leaves = np.array([[1, 1], [1, 2], [2, 1], [2, 2]], dtype=np.int32)
        cells = aggregate(dimensions, leaves, np.arange(4), np.arange(4))
        shown = pattern_maps(cells, np.zeros(9, dtype=np.uint8), ["a", "b"])[0]
        svg = str(map_svg(shown, shown.panels[0], "A map.", 880, True))
        runs = re.findall(r"M([\d.]+) [\d.]+h([\d.]+)v", svg)
        width = re.search(r'viewBox="0 0 (\d+) ', svg)
        assert width
        assert len(runs) == 9
        assert round(max(float(x) + float(wide) for x, wide in runs)) == int(width[1]) - 1

    def test_labels_are_escaped_and_shortened(self) -> None:
        cells = aggregate(
            [Dimension.flat("d", ["<b>&", "a code that is far too long" * 4])],
            np.array([[1], [2]], dtype=np.int32),
            np.arange(2),
            np.arange(2),
        )
        shown = pattern_maps(cells, np.zeros(3, dtype=np.uint8), ["d"])[0]
        svg = str(map_svg(shown, shown.panels[0], 'Says "so".', 880, True))
        assert "&lt;b&gt;&amp;" in svg
        assert f">{('a code that is far too long' * 4)[:79]}…<" in svg
        assert 'aria-label="Says &#34;so&#34;."' in svg


def _side(svg: str, labels: bool, columns: int) -> float:
    """The width of a place, as the module's documentation gives it."""
    return max(11.0 if labels else 3.0, min(22.0, ((880 if labels else 300) - 60) / columns))
