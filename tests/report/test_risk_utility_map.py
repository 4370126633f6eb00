"""Plans on the risk-utility map, and the drawing of it."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.errors import DataError
from sluice.ground.verdict import Finding
from sluice.report.risk_utility_map import Plan, RiskUtilityMap, letter, pareto_front, risk_utility_map
from sluice.report.risk_utility_plot import risk_utility_svg
from sluice.risk.linkage.linkage_score import ScoreView
from sluice.utility.utility_view import UtilityView
from tests.golden import golden
from tests.report.pages import FAIL, PASS, UNKNOWN, Page, dossier, finding


def plan(name: str, loss: float | None, risk: float, *more: Finding, report: str | None = None, **given: Any) -> Plan:
    """A plan whose pair marginals moved by `loss`, and whose worst rule stands at `risk` times its limit."""
    found = (
        finding(PASS if risk <= 1 else FAIL, "linkability", stage="attack", observed=risk * 0.1, limit=0.1),
        finding(PASS, "suda", observed=0.9, limit=0.1, binding=False),
        finding(UNKNOWN if loss is None else PASS, "pair_marginals", stage="utility", observed=loss, binding=False),
        finding(FAIL, stage="original", binding=False, observed=1, limit=5),
    )
    return Plan(name, dossier(*found, *more, **given), report)


def drawn(*plans: Plan, **axes: str) -> RiskUtilityMap:
    return risk_utility_map(plans, **axes)


def place(svg: str, letter: str) -> tuple[float, float]:
    """Where the dot of a plan lies."""
    (found,) = re.findall(rf"<title>{letter}: .*?<circle cx=\"([\d.]+)\" cy=\"([\d.]+)\" r=\"3.6\"", svg)
    return float(found[0]), float(found[1])


def test_a_plan_lies_at_its_loss_and_at_the_worst_margin_of_what_decides() -> None:
    found = drawn(plan("gentle", 0.1, 2.0), plan("strong", 0.3, 0.5), plan("worse", 0.4, 0.6))
    assert [(p.letter, p.loss, p.risk, p.worst) for p in found.points] == [
        ("A", 0.1, pytest.approx(2.0), "linkability"),
        ("B", 0.3, pytest.approx(0.5), "linkability"),
        ("C", 0.4, pytest.approx(0.6), "linkability"),
    ]
    assert [p.on_front for p in found.points] == [True, True, False]
    assert (found.no_masking.loss, found.no_masking.risk) == (0.0, 5.0)  # alone with its combination, where 5 are asked
    assert (found.no_release.loss, found.no_release.risk) == (1.0, 0.0)
    assert found.notes == ()


def test_a_rule_on_the_file_that_is_kept_moves_no_plan_and_one_that_is_broken_does() -> None:
    """Searches use up k: of plans that just meet it each would stand at the limit, whatever the attacks find."""
    kept, broken = (
        finding(verdict, "k_anonymity", stage="masked", observed=k, limit=5) for verdict, k in ((PASS, 5), (FAIL, 2))
    )
    found = drawn(plan("tuned", 0.1, 0.4, kept), plan("broken", 0.05, 0.4, broken))
    assert [(point.risk, point.worst) for point in found.points] == [
        (pytest.approx(0.4), "linkability"), (pytest.approx(2.5), "k_anonymity"),
    ]  # fmt: skip
    unjudged = finding(UNKNOWN, "k_anonymity", stage="masked")
    assert drawn(plan("unjudged", 0.1, 0.4, unjudged)).points[0].unknown == ("k_anonymity",)
    rules_alone = dossier(kept, finding(stage="utility", rule="pair_marginals", observed=0.1))
    assert drawn(Plan("no attacks", rules_alone)).points[0].risk == pytest.approx(1.0)
    assert drawn(plan("tuned", 0.1, 0.4, kept), risk="k_anonymity").points[0].risk == pytest.approx(1.0)


def test_a_loss_that_is_not_told_was_measured_all_the_same() -> None:
    hidden = finding(PASS, "apil", stage="utility", observed=None, withheld=True, binding=False)
    found = drawn(plan("of few", 0.1, 0.5, hidden), loss="apil")
    assert found.points[0].withheld
    golden(found.notes)
    absent = finding(UNKNOWN, "apil", stage="utility", observed=None, binding=False)
    golden(drawn(plan("absent", 0.1, 0.5, absent), loss="apil").notes)


def test_one_rule_may_be_the_risk_whether_it_decides_or_not() -> None:
    (point,) = drawn(plan("gentle", 0.1, 0.5), risk="suda").points
    assert (point.risk, point.worst) == (pytest.approx(1 / 9), "suda")  # it passes above its limit: much is asked


def test_what_was_not_measured_is_said_and_never_nought() -> None:
    blind = finding(UNKNOWN, "ambiguity", stage="reference")
    found = drawn(plan("full", 0.1, 0.5), plan("lossless", None, 0.1), plan("blind", 0.01, 0.1, blind))
    assert found.points[1].loss is None
    assert [p.on_front for p in found.points] == [True, False, False]
    assert found.points[2].unknown == ("ambiguity",)
    assert any("B (lossless)" in note for note in found.notes)
    assert any("C (ambiguity)" in note for note in found.notes)
    svg = risk_utility_svg(found)
    assert "B: lossless" not in svg
    assert 'stroke-dasharray="3 2"' in svg


def test_what_breaks_a_limit_of_nothing_is_beyond_the_scale() -> None:
    (point,) = drawn(plan("open", 0.1, 0.5, finding(FAIL, "identifiers_removed"))).points
    assert point.beyond
    assert point.risk is None
    assert "Infinity" not in drawn(plan("open", 0.1, 0.5, finding(FAIL, "identifiers_removed"))).model_dump_json()


def test_plans_of_other_data_or_by_other_policies_are_told_apart() -> None:
    found = drawn(plan("one", 0.1, 0.5), plan("two", 0.1, 0.5, dataset="census", policy="scientific-use"))
    assert len(found.notes) == 2


@pytest.mark.parametrize("axes", [{"loss": "pair_marginal"}, {"risk": "linkabilty"}])
def test_an_axis_that_no_plan_has_is_refused_with_those_that_there_are(axes: dict[str, str]) -> None:
    with golden.raises(DataError) as refused:
        drawn(plan("one", 0.1, 0.5), **axes)
    assert {refused.value.came} == {*axes.values()}
    assert refused.value.hint


def test_the_drawing_places_plans_on_its_scales_and_links_their_reports() -> None:
    found = drawn(
        plan("gentle", 0.1, 4.0, report="a.html"),
        plan("limit", 0.2, 1.0),
        plan("strong <i>", 0.3, 0.5, report="b.html"),
    )
    svg = risk_utility_svg(found)
    (ax, ay), (bx, by), (cx, cy) = (place(svg, name) for name in "ABC")
    assert ax < bx < cx
    assert bx - ax == pytest.approx(cx - bx, abs=0.2)
    bottom, top = 344, 34
    assert by == pytest.approx((bottom + top) / 2, abs=0.1)
    assert cy == pytest.approx(bottom - (bottom - top) / 4, abs=0.1)
    assert ay == pytest.approx(top + (bottom - top) / 8, abs=0.1)
    page = Page(svg)
    assert [attributes["href"] for attributes, _ in page.all("a")] == ["a.html", "b.html"]
    assert "strong <i>" not in svg
    assert risk_utility_svg(found) == svg
    assert "<style>" in risk_utility_svg(found, standalone=True)


def test_badges_of_plans_at_one_place_do_not_cover_each_other() -> None:
    svg = risk_utility_svg(drawn(*(plan(f"p{n}", 0.2, 0.5) for n in range(6))))
    badges = [(float(x), float(y)) for x, y in re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)" r="10.0"', svg)]
    apart = [abs(complex(*a) - complex(*b)) for i, a in enumerate(badges) for b in badges[:i]]
    assert len(badges) == 6
    assert min(apart) >= 15


def test_a_limit_of_the_loss_is_drawn() -> None:
    limited = finding(PASS, "il1s", stage="utility", observed=0.1, limit=0.25)
    svg = risk_utility_svg(drawn(plan("one", 0.1, 0.5, limited), loss="il1s"))
    assert "limit 0.25" in svg
    assert "no release" not in svg  # a loss without bound has no corner


def test_the_disclosure_risk_may_be_drawn_where_the_score_was_measured() -> None:
    score = ScoreView(
        score=0.3, information_loss=0.2, disclosure_risk=0.4, interval=(0.35, 0.45), weighting="generic",
        parts={"dld": 0.2, "pld": 0.2, "id": 0.6}, names=("age",), linked=1000, records=1000,
    )  # fmt: skip
    found = finding(PASS, "score", stage="utility", observed=0.3, limit=0.5)
    with_score = plan("scored", 0.1, 2.0, found, utility=UtilityView(score=score))
    made = drawn(with_score, plan("other", 0.2, 0.5), risk="dr")
    assert [(p.risk, p.worst) for p in made.points] == [(0.4, "score"), (None, "")]
    assert made.risk.limits == ()
    assert any("B (other)" in note for note in made.notes)
    svg = risk_utility_svg(made)
    assert place(svg, "A")[1] == pytest.approx(344 - 0.4 * 310, abs=0.1)
    assert "at the limit" not in svg
    with golden.raises(DataError):
        drawn(plan("other", 0.2, 0.5), risk="dr")


def test_letters() -> None:
    assert [letter(at) for at in (0, 25, 26, 27, 701, 702)] == ["A", "Z", "AA", "AB", "ZZ", "AAA"]


# The front of undominated plans.


COORDINATE = st.sampled_from([0.0, 0.1, 0.2, 0.3, 0.5, 1.0, 2.0, np.inf, np.nan])


def dominated(at: int, loss: list[float], risk: list[float]) -> bool:
    """Directly by the definition."""
    return any(
        loss[other] <= loss[at] and risk[other] <= risk[at] and (loss[other] < loss[at] or risk[other] < risk[at])
        for other in range(len(loss))
    )


@given(st.lists(st.tuples(COORDINATE, COORDINATE), max_size=12))
def test_the_front_is_what_no_other_point_dominates(points: list[tuple[float, float]]) -> None:
    loss, risk = [point[0] for point in points], [point[1] for point in points]
    expected = [
        not np.isnan(points[at]).any() and not dominated(at, loss, risk) for at in range(len(points))
    ]  # a comparison with NaN is false, so that it dominates nothing
    assert pareto_front(np.array(loss), np.array(risk)).tolist() == expected


def test_equal_points_are_on_the_front_together_and_one_alone_always_is() -> None:
    assert pareto_front(np.array([1.0, 1.0, 2.0]), np.array([1.0, 1.0, 1.0])).tolist() == [True, True, False]
    assert pareto_front(np.array([3.0]), np.array([np.inf])).tolist() == [True]
    assert pareto_front(np.array([]), np.array([])).tolist() == []


def test_unequal_lengths_are_refused() -> None:
    with golden.raises(DataError):
        pareto_front(np.zeros(2), np.zeros(3))
