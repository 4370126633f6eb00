"""The drawings of the report on records: bars as long as their counts, curves through their points."""

import re
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.generalization.levels_found import Finer, KeyLevel, LevelsFound
from sluice.report.records_plots import curve_svg, distribution_svg, ladder_svg, round_values
from sluice.report.report_page import render
from tests.golden import golden
from tests.report.pages import Page, curve, dossier

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


# The searched levels in the report: the picture, and why no level is finer, with no count below the minimum cell.


AGE = KeyLevel(
    name="age",
    level=2,
    groups=(75, 15, 4, 1),
    highest=3,
    loss=0.31,
    finer=Finer(
        breaks=("k-anonymity with k = 5",), records=1234, group={"age": "20 to 24", "sex": "f"}, group_records=4
    ),
)
SEX = KeyLevel(name="sex", level=0, groups=(2, 1), highest=1, loss=0.02)
FOUND = LevelsFound(
    keys=(AGE, SEX),
    objective="loss",
    value=0.165,
    excess=0.0,
    checked=7,
    choices=8,
    suppressed=20,
    records=1000,
    unsearched=("suda",),
)


def test_a_box_for_each_level_with_its_groups() -> None:
    drawn = ElementTree.fromstring(str(ladder_svg(FOUND.keys, "levels", "levels-0")))
    boxes = [each for each in drawn.iter() if each.tag.endswith("rect")]
    assert len(boxes) == 6
    assert [box.get("fill") for box in boxes] == [
        "none", "url(#levels-0)", "var(--masked)", "none", "var(--masked)", "none",
    ]  # fmt: skip
    assert [each.text for each in drawn.iter() if (each.text or "").isdigit()] == ["75", "15", "4", "1", "2", "1"]


def finer(**changes: object) -> LevelsFound:
    """The same where what a finer level of age would do is another."""
    assert AGE.finer
    return FOUND.model_copy(
        update={"keys": (AGE.model_copy(update={"finer": AGE.finer.model_copy(update=changes)}), SEX)}
    )


FOR_SHARES = AGE.model_copy(update={"shares": (0.125, 0.5, 0.375)})
REFINED = FOUND.model_copy(update={"keys": (FOR_SHARES, SEX), "before": 0.31})
TOLD = {
    "why no level is finer, and no group of four": FOUND.reported(10),
    "nearly the best": FOUND.model_copy(update={"excess": 0.013}).reported(10),
    "nobody knows how good": FOUND.model_copy(update={"excess": None}).reported(10),
    "too few suppressed to tell": FOUND.model_copy(update={"suppressed": 3}).reported(10),
    "left to a later step": FOUND.model_copy(update={"left": True}).reported(10),
    "the largest group, where it is large enough": finer(group_records=60).reported(10),
    "finer would lose more": finer(breaks=(), records=None, group={}, group_records=None).reported(10),
    "for how many records a level is finer": REFINED.reported(10),
    "and where they are too few to tell": REFINED.reported(130),  # 122 of 980 records are at level 0
}


@pytest.mark.parametrize("which", TOLD)
def test_the_report_says_what_was_chosen_and_no_more_than_may_be_told(which: str) -> None:
    lines = Page(render(dossier(levels=(TOLD[which],)))).lines
    assert ("20 to 24" in " ".join(lines)) is (which == "the largest group, where it is large enough")
    start = lines.index("Levels that were searched")
    golden("\n".join(lines[start : lines.index("What was done", start)]))


def test_a_loss_does_not_give_a_small_number_of_suppressed_records_away() -> None:
    """Of a variable that is not generalised nothing is lost but what was suppressed: 3 of 1,000."""
    found = FOUND.model_copy(
        update={"suppressed": 3, "keys": (SEX.model_copy(update={"loss": 0.003}),), "value": 0.003}
    )
    reported = found.reported(10)
    assert (reported.suppressed, reported.keys[0].loss, reported.value) == (None, 0, 0)
