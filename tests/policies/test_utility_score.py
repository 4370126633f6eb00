"""The score of a paired file: its parts, its limit, and what it needs. The arithmetic is in tests/published."""

import numpy as np
import pandas as pd
import pytest

from policies.utility_limits import UtilityLimits, score
from sluice.ground.variables import Kind, Role, Variable
from sluice.ground.verdict import Verdict
from sluice.masking.swapping.rank_swapping import RankSwapping
from sluice.risk.linkage.linkage_score import disclosure_risk
from sluice.utility.comparison import Comparison
from sluice.utility.continuous.mean_variations import mean_variations
from sluice.utility.measured import Limit

NAMES = ("age", "height", "income")
VARIABLES = {
    name: Variable(name=name, kind=Kind.CONTINUOUS, role=role)
    for name, role in zip(NAMES, (Role.QUASI_IDENTIFIER, Role.QUASI_IDENTIFIER, Role.SENSITIVE), strict=True)
}
ORIGINAL = pd.DataFrame(np.random.default_rng(1).normal(10, 2, size=(500, 3)), columns=NAMES)
SWAPPING = RankSwapping(columns=NAMES, window=0.1)
SWAPPED = SWAPPING.mask(ORIGINAL, VARIABLES, np.random.default_rng(2))


def files(masked: pd.DataFrame, **options: object) -> Comparison:
    rng = np.random.default_rng(0)
    return Comparison(ORIGINAL, ORIGINAL, masked, None, VARIABLES, VARIABLES, rng, **options)


def test_the_parts_add_up_to_the_risk_and_with_the_loss_to_the_score() -> None:
    found = score(files(SWAPPED, carried_out=(SWAPPING,)), 0.3)
    view = found.view["score"]
    assert view.weighting == "table"
    assert set(view.parts) == {"rsld", "dld", "pld", "id"}
    assert view.disclosure_risk == pytest.approx(disclosure_risk("table", **view.parts))
    assert found.measured["score"].value == pytest.approx((0.3 + view.disclosure_risk) / 2)
    assert view.interval[0] <= view.disclosure_risk <= view.interval[1]


def test_without_a_known_window_the_intruder_has_none() -> None:
    view = score(files(SWAPPED), 0.3).view["score"]
    assert view.weighting == "generic"
    assert view.weights == {"dld": 0.25, "pld": 0.25, "id": 0.5}


def test_verbatim_records_have_all_risk_and_no_loss() -> None:
    limits = UtilityLimits(score=Limit(at_most=0.4))
    utility = limits.find(files(ORIGINAL))
    (finding,) = [finding for finding in utility.findings if finding.rule == "score"]
    assert utility.view.score.disclosure_risk == pytest.approx(1)
    assert finding.observed == pytest.approx(0.5)
    assert finding.verdict is Verdict.FAIL


def test_the_loss_is_that_of_the_five_mean_variations() -> None:
    view = UtilityLimits(score=Limit(at_most=1)).find(files(SWAPPED)).view.score
    assert view.information_loss == pytest.approx(mean_variations(ORIGINAL.to_numpy(), SWAPPED.to_numpy()).loss)


def test_no_part_tells_of_few_records() -> None:
    view = score(files(SWAPPED, minimum_cell=50), 0.3).view["score"]
    for name in ("dld", "pld"):
        assert view.parts[name] * 10 == pytest.approx(round(view.parts[name] * 10))  # of 500 records, 50 at a time


def test_it_is_measured_where_it_has_a_limit_and_unknown_without_pairs() -> None:
    assert "score" not in {finding.rule for finding in UtilityLimits().find(files(SWAPPED)).findings}
    found = UtilityLimits(score=Limit(at_most=1)).find(files(SWAPPED, paired=False)).findings
    assert next(finding for finding in found if finding.rule == "score").verdict is Verdict.UNKNOWN
