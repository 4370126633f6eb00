"""The drawings of the report on records: bars as long as their counts, curves through their points."""

import re
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.report.records_plots import curve_svg, distribution_svg, round_values
from tests.report.pages import curve

NUMBER = r"-?[\d.]+"


def bars(svg: str, colour: str) -> list[tuple[float, float]]:
    """Vertical place and length of each bar of a colour, hatched or filled, from top to bottom."""
    found = re.findall(rf'<rect x="{NUMBER}" y="({NUMBER})" width="({NUMBER})" [^>]*(?:--|-){colour}\)', svg)
    return [(float(y), float(wide)) for y, wide in found]


def points(svg: str, colour: str) -> list[tuple[float, float]]:
    (data,) = re.findall(rf'<path d="M([^"]+)" fill="none" stroke="var\(--{colour}\)"', svg)
    return [(float(x), float(y)) for x, y in (point.split() for point in data.split("L"))]


def texts(svg: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", svg)


@given(st.lists(st.tuples(st.integers(10, 10**7), st.integers(10, 10**7)), min_size=1, max_size=24))
def test_bars_are_as_long_as_their_counts(counts: list[tuple[int, int]]) -> None:
    svg = distribution_svg([(f"bin {n}", *pair) for n, pair in enumerate(counts)], "Counts.", "variable-0")
    largest = max(max(pair) for pair in counts)
    longest = max(wide for colour in ("reference", "masked") for _, wide in bars(svg, colour))
    for which, colour in enumerate(("reference", "masked")):
        drawn = bars(svg, colour)
        assert [wide for _, wide in drawn] == pytest.approx(
            [longest * pair[which] / largest for pair in counts], abs=0.1
        )
        assert drawn == sorted(drawn, key=lambda bar: bar[0])
    assert all(
        before < after for (before, _), (after, _) in zip(bars(svg, "reference"), bars(svg, "masked"), strict=True)
    )


def test_a_hidden_count_is_a_hatched_mark_of_one_length_whatever_the_others_are() -> None:
    for others in (20, 20_000):
        svg = distribution_svg([("a", None, others), ("b", others, None)], "Counts.", "variable-3")
        hidden = [
            float(wide)
            for wide in re.findall(rf'width="({NUMBER})" [^>]*fill="url\(#variable-3-(?:reference|masked)', svg)
        ]
        assert len(hidden) == 2
        assert len(set(hidden)) == 1
        assert len(re.findall("<pattern ", svg)) == 2


def test_where_all_counts_are_hidden_there_is_no_scale() -> None:
    svg = distribution_svg([("a", None, None)], "Counts.", "variable-0")
    assert texts(svg) == ["records", "a"]


def test_a_curve_runs_from_zero_through_its_points_to_the_end() -> None:
    svg = curve_svg(
        curve(grid=(0.2, 0.4, 0.8), masked=(0.2, 0.5, 1.0), reference=(0.1, 0.4, 1.0)), "distance", "Curves."
    )
    for colour, shares in (("masked", (0, 0.2, 0.5, 1.0, 1.0)), ("reference", (0, 0.1, 0.4, 1.0, 1.0))):
        drawn = points(svg, colour)
        (left, bottom), (right, top) = drawn[0], drawn[-1]
        across = [(x - left) / (right - left) for x, _ in drawn]
        up = [(bottom - y) / (bottom - top) for _, y in drawn]
        assert across == pytest.approx([0, 0.25, 0.5, 1, 1], abs=1e-3)
        assert up == pytest.approx(list(shares), abs=1e-3)


@pytest.mark.parametrize(("low", "high", "at"), [(0.4, 0.5, 0.4), (0.05, 0.3, 0.4), (0.0, 1.0, 0.2), (0.05, 0.99, 0.7)])
def test_d_is_marked_from_one_curve_to_the_other(low: float, high: float, at: float) -> None:
    shares = {"masked": (high, high, 1.0), "reference": (low, low, 1.0), "grid": (0.2, 0.7, 0.8)}
    svg = curve_svg(curve(**shares, statistic=high - low, at=at), "distance", "Curves.")
    (stroke,) = re.findall(
        rf'd="M({NUMBER}) ({NUMBER})L({NUMBER}) ({NUMBER})" fill="none" stroke="var\(--ink\)" stroke-width="2', svg
    )
    x, bottom, same, top = map(float, stroke)
    assert x == same
    _, axis = points(svg, "masked")[0]
    _, full = points(svg, "masked")[-1]
    assert [(axis - y) / (axis - full) for y in (bottom, top)] == pytest.approx([low, high], abs=2e-3)
    assert f"D+ {high - low:.3f}" in texts(svg)


@given(st.floats(0, 1e300, exclude_min=True), st.integers(1, 9))
def test_figures_of_an_axis_are_round_few_and_reach_far(end: float, most: int) -> None:
    values = round_values(end, most)
    assert values[0] == 0
    assert len(values) <= most + 1
    assert values[-1] <= end * (1 + 1e-6)
    if end > 1e-300:
        assert values[-1] + 5 * end / most > end
        steps = {f"{after - before:.3e}" for before, after in pairwise(values)}
        assert len(steps) <= 1
        assert all(step[0] in "125" for step in steps)


@pytest.mark.parametrize("largest", [1, 2, 3, 7])
def test_small_counts_have_whole_figures(largest: int) -> None:
    assert all(value == int(value) for value in round_values(largest, 3, least=1))
