"""How near findings come to their limits."""

from math import inf, isnan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.ground.verdict import Verdict
from sluice.report.risk_margin import risk_margin, worst_margin
from tests.report.pages import FAIL, PASS, REVIEW, UNKNOWN, finding

FIGURE = st.floats(1e-6, 1e6)


@pytest.mark.parametrize(
    ("verdict", "observed", "limit", "margin"),
    [
        (PASS, 0.02, 0.04, 0.5),  # at most
        (FAIL, 0.08, 0.04, 2.0),
        (PASS, 40, 5, 0.125),  # at least, as k-anonymity
        (FAIL, 2, 5, 2.5),
        (PASS, 5, 5, 1.0),
        (REVIEW, 0.03, 0.04, 1.0),  # the end of its interval does not keep the limit
        (PASS, 0, 0, 0.0),
        (FAIL, 3, 0, inf),
        (FAIL, None, None, inf),
    ],
)
def test_margin(verdict: Verdict, observed: float | None, limit: float | None, margin: float) -> None:
    assert risk_margin(finding(verdict, observed=observed, limit=limit)) == pytest.approx(margin)


def test_what_was_not_judged_has_no_margin() -> None:
    assert isnan(risk_margin(finding(UNKNOWN, observed=0.1, limit=0.2)))
    assert isnan(risk_margin(finding(PASS)))


@given(FIGURE, FIGURE, st.booleans())
def test_the_margin_agrees_with_the_verdict(observed: float, limit: float, at_most: bool) -> None:
    passes = observed <= limit if at_most else observed >= limit
    margin = risk_margin(finding(PASS if passes else FAIL, observed=observed, limit=limit))
    assert (margin <= 1) is passes
    assert margin == pytest.approx(observed / limit if at_most else limit / observed)


def test_the_worst_of_several_and_what_is_unknown() -> None:
    near = finding(PASS, "near", observed=0.9, limit=1)
    found = worst_margin([finding(PASS, "far", observed=0.1, limit=1), near, finding(UNKNOWN, "blind"), finding(PASS)])
    assert (found.value, found.worst, found.unknown) == (0.9, near, ("blind",))
    nothing = worst_margin([])
    assert isnan(nothing.value)
    assert nothing.worst is None
