"""In what an edition leaves the limits of a series."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.series import SeriesLimits
from sluice.ground.verdict import Finding, Verdict
from tests.golden import golden

LIMITS = SeriesLimits(editions=3, days=100, drift=0.05, records=0.1, room=0.25)
SHARES = st.floats(0, 1, allow_nan=False)


def figure(observed: float | None, limit: float | None = 0.2, rule: str = "singling_out", **further: Any) -> Finding:
    given = {"verdict": Verdict.PASS, "says": "so", "stage": "attack", **further}
    return Finding(rule=rule, observed=observed, limit=limit, **given)


def departures(now: Finding, before: Finding) -> list[str]:
    return LIMITS.departures({}, (1000, 1000), ([now], [before]))


def test_the_same_edition_departs_in_nothing() -> None:
    assert LIMITS.departures({"age": 0.0, "sex": 0.05}, (1100, 1000), ([figure(0.1)], [figure(0.1)])) == []


@pytest.mark.parametrize(
    ("moved", "records"),
    [({"age": 0.06}, (1000, 1000)), ({"age": float("nan")}, (1000, 1000)), ({}, (1101, 1000)), ({}, (899, 1000))],
)
def test_what_moved_is_named(moved: dict[str, float], records: tuple[int, int]) -> None:
    found = LIMITS.departures(moved, records, ([], []))
    assert len(found) == 1
    golden(found)


def test_a_figure_that_came_nearer_to_its_limit_is_named_whether_the_limit_is_a_highest_or_a_lowest() -> None:
    used_up = departures(figure(0.13), figure(0.10))
    assert len(used_up) == 1
    golden(used_up)
    assert departures(figure(0.27), figure(0.30)) == used_up
    assert departures(figure(0.10), figure(0.13)) == []
    assert departures(figure(109, 5), figure(110, 5)) == []  # of a smallest group far above its limit one person less


def test_the_nearest_of_a_rule_counts_whatever_it_looked_at() -> None:
    before, now = [figure(0.1), figure(0.12)], [figure(0.05), figure(0.15)]
    assert len(LIMITS.departures({}, (1, 1), (now, before))) == 1
    assert LIMITS.departures({}, (1, 1), (before, now)) == []


def test_what_is_not_of_the_edition_or_has_no_figure_is_not_compared() -> None:
    for now in (figure(0.2, stage="original"), figure(None), figure(0.2, limit=None), figure(0.2, rule="another")):
        assert departures(now, figure(0.0, stage=now.stage)) == []


def test_each_of_what_a_rule_looks_at_is_compared_with_itself() -> None:
    """The occupation is near its limit in each edition; so would be the illness, unseen."""
    before = [figure(0.19, scope="occupation"), figure(0.0, scope="illness")]
    now = [figure(0.19, scope="occupation"), figure(0.19, scope="illness")]
    assert len(LIMITS.departures({}, (1, 1), (now, before))) == 1
    assert LIMITS.departures({}, (1, 1), ([figure(0.19, scope="occupation, age")], before)) == []


@pytest.mark.parametrize("how", [{"waiver": "mina until then: why"}, {"binding": False}])
def test_what_does_not_pass_and_goes_out_all_the_same_is_no_worse_than_what_people_saw(how: dict[str, Any]) -> None:
    failed = figure(0.21, verdict=Verdict.FAIL, **how)
    golden([each for each in departures(failed, figure(0.19)) if "singling_out" in each])
    assert departures(failed, failed) == []
    golden(departures(figure(0.9, verdict=Verdict.FAIL, **how), failed))
    review = Finding(rule="overlooked_keys", verdict=Verdict.REVIEW, says="so", scope="age", **how)
    assert len(LIMITS.departures({}, (1, 1), ([review], []))) == 1


@given(SHARES, SHARES, st.floats(0.01, 1))
def test_no_step_that_is_allowed_reaches_further_than_the_limit_says(now: float, before: float, limit: float) -> None:
    left, then = abs(now - limit), abs(before - limit)
    assert bool(departures(figure(now, limit), figure(before, limit))) == (then - left > LIMITS.room * then + 1e-9)
