"""The drawings of the report's utility part: sizes, places and darkness follow the figures."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.report.utility_plots import bars_svg, grid_svg, heat_map_svg, intervals_svg, score_curves_svg
from tests.report.pages import Page

SHARE = st.floats(0.001, 1)


@given(st.lists(SHARE, min_size=1, max_size=10))
def test_bars_are_as_long_as_their_shares(values: list[float]) -> None:
    svg = bars_svg([(f"row {n}", value) for n, value in enumerate(values)], "Bars.")
    drawn = [float(wide) for wide in re.findall(r'<rect x="4" [^>]*width="([\d.]+)"', svg)]
    assert drawn == pytest.approx([max(0.5, 278 * value / max(values)) for value in values], abs=0.1)


def test_a_heat_map_is_as_dark_as_its_entries_and_hatches_what_is_hidden() -> None:
    matrix = [[None, 0.5, -0.25], [0.5, None, None], [-0.25, None, None]]
    svg = heat_map_svg(["a", "b <i>", "c"], matrix, "Map.", "map-1", full=0.5, signed=True)
    assert re.findall(r'fill="var\(--(more|less)\)" fill-opacity="([\d.]+)"', svg) == [
        ("more", "1.00"),
        ("less", "0.50"),
    ]
    assert svg.count('fill="url(#map-1)"') == 1
    assert "<i>" not in svg
    Page(svg)


def test_the_area_of_a_square_is_its_share() -> None:
    svg = grid_svg([[0.4, 0.1], [None, 0.0]], 0.4, "Grid.", "masked")
    sides = [float(side) for side in re.findall(r'width="([\d.]+)" height="[\d.]+" fill="var\(--masked\)"', svg)]
    assert sides[0] == pytest.approx(2 * sides[1], abs=0.2)
    assert sides[2] == 0
    assert len(sides) == 3  # what is hidden is not drawn


def test_intervals_lie_on_one_scale_around_zero() -> None:
    svg = intervals_svg([("age", (-1.0, 0.0, 1.0), (0.5, 1.0, 1.5)), ("lost", (0.1, 0.2, 0.3), None)], "Intervals.")
    zero = float(re.findall(r'<path d="M([\d.]+) 2V', svg)[0])
    ends = re.findall(r'<path d="M([\d.]+) [\d.]+H([\d.]+)" fill="none" stroke="var\(--(\w+)\)"', svg)
    assert [colour for *_, colour in ends] == ["reference", "masked", "reference"]
    low, high = float(ends[0][0]), float(ends[0][1])
    assert (low + high) / 2 == pytest.approx(zero, abs=0.2)
    assert float(ends[1][0]) - zero == pytest.approx((high - zero) / 2, abs=0.2)


def test_score_curves_rise_by_their_shares_from_nothing_to_all() -> None:
    svg = score_curves_svg([(0.25, 0.5, 0.0), (0.75, 0.5, 1.0)], "score", "Curves.")
    before, after = (
        [tuple(map(float, point.split())) for point in data.split("L")]
        for data in re.findall(r'<path d="M([^"]+)" fill="none" stroke="var\(--(?:reference|masked)\)"', svg)
    )
    (left, bottom), (right, top) = before[0], before[-1]
    assert [(bottom - y) / (bottom - top) for _, y in before] == pytest.approx([0, 0.5, 1, 1], abs=0.01)
    assert [(bottom - y) / (bottom - top) for _, y in after] == pytest.approx([0, 0, 1, 1], abs=0.01)
    assert [(x - left) / (right - left) for x, _ in after] == pytest.approx([0, 0.25, 0.75, 1], abs=0.01)


def test_nothing_is_drawn_of_nothing() -> None:
    for svg in (
        heat_map_svg(["a"], [[None]], "", "m"),
        grid_svg([[None]], 0.0, "", "masked"),
        intervals_svg([("a", None, None)], ""),
    ):
        Page(svg)
