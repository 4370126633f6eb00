"""The drawing of a map: its colours, runs and labels."""

import re
from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sluice.report.pattern_map import EMPTY, pattern_maps
from sluice.report.tables_page import SHARE_KEY, STATUS_KEY, map_svg
from sluice.tabular.model.aggregation import aggregate
from sluice.tabular.model.cells import Cells
from sluice.tabular.model.dimension import Dimension
from tests.report.pages import names, random_status
from tests.tabular.tables import tables


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
