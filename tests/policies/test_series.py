"""In what an edition leaves the limits of a series."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.series import SeriesLimits
from sluice.verdict import Finding, Verdict

LIMITS = SeriesLimits(editions=3, days=100, drift=0.05, records=0.1, nearer=0.1)
SHARES = st.floats(0, 1, allow_nan=False)


def figure(
    observed: float | None, limit: float | None = 0.2, rule: str = "singling_out", binding: bool = True
) -> Finding:
    return Finding(
        rule=rule, verdict=Verdict.PASS, says="so", stage="attack", observed=observed, limit=limit, binding=binding
    )


def departures(now: Finding, before: Finding) -> list[str]:
    return LIMITS.departures({}, (1000, 1000), ([now], [before]))


def test_the_same_edition_departs_in_nothing() -> None:
    assert LIMITS.departures({"age": 0.0, "sex": 0.05}, (1100, 1000), ([figure(0.1)], [figure(0.1)])) == []


@pytest.mark.parametrize(
    ("moved", "records", "says"),
    [
        ({"age": 0.06}, (1000, 1000), "the distribution of 'age' moved by 6.0%, more than 5.0%"),
        ({"age": float("nan")}, (1000, 1000), "the distribution of 'age' could not be compared"),
        ({}, (1101, 1000), "there are 1,101 records, and were 1,000: more than 10.0% of a change"),
        ({}, (899, 1000), "there are 899 records, and were 1,000: more than 10.0% of a change"),
    ],
)
def test_what_moved_is_named(moved: dict[str, float], records: tuple[int, int], says: str) -> None:
    assert LIMITS.departures(moved, records, ([], [])) == [says]


def test_a_figure_that_came_nearer_to_its_limit_is_named_whether_the_limit_is_a_highest_or_a_lowest() -> None:
    says = "singling_out (attack) came nearer to its limit by 15.0% of it, more than 10.0%"
    assert departures(figure(0.13), figure(0.10)) == [says]
    assert departures(figure(0.27), figure(0.30)) == [says]
    assert departures(figure(0.10), figure(0.13)) == []


def test_the_nearest_of_a_rule_counts_whatever_it_looked_at() -> None:
    before, now = [figure(0.1), figure(0.12)], [figure(0.05), figure(0.15)]
    assert len(LIMITS.departures({}, (1, 1), (now, before))) == 1
    assert LIMITS.departures({}, (1, 1), (before, now)) == []


def test_a_rule_that_is_met_no_longer_but_waived_is_named_and_so_is_one_that_is_further_from_being_met() -> None:
    met, waived = figure(0.19), {"verdict": Verdict.FAIL, "waiver": "amara until 2027-01-01: the register is closed"}
    missed, far = figure(0.21).model_copy(update=waived), figure(0.5).model_copy(update=waived)
    assert departures(missed, met)[0] == "singling_out is not met and needs a waiver now"
    assert departures(far, missed) == [
        "singling_out (attack) came nearer to its limit by 145.0% of it, more than 10.0%"
    ]
    assert departures(missed, far) == departures(missed, missed) == []


def test_what_decides_nothing_or_has_no_figure_is_not_compared() -> None:
    for now in (figure(0.2, binding=False), figure(None), figure(0.2, limit=None), figure(0.2, rule="another")):
        assert departures(now, figure(0.0)) == []


@given(SHARES, SHARES, st.floats(0.01, 1))
def test_no_step_that_is_allowed_reaches_further_than_the_limit_says(now: float, before: float, limit: float) -> None:
    lost = (abs(before - limit) - abs(now - limit)) / limit
    assert bool(departures(figure(now, limit), figure(before, limit))) == (lost > LIMITS.nearer + 1e-9)
