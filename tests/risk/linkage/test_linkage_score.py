"""Disclosure risk and score. Torra's tables are in tests/published/test_torra_linkage.py."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sluice.risk.linkage.linkage_score import disclosure_risk, linkage_score

NEEDED = {
    "generic": ("dld", "pld", "id"),
    "specific": ("rsld", "id"),
    "with_specific": ("rsld", "dld", "pld", "id"),
    "table": ("rsld", "dld", "pld", "id"),
}


@pytest.mark.parametrize("weighting", NEEDED)
@given(figure=st.floats(0, 100))
def test_weights_add_up_to_one(weighting, figure):
    assert disclosure_risk(weighting, **dict.fromkeys(NEEDED[weighting], figure)) == pytest.approx(figure)


def test_extremes():
    assert disclosure_risk("generic", dld=0, pld=0, id=0) == 0
    assert linkage_score(0, 100) == linkage_score(100, 0) == 50
