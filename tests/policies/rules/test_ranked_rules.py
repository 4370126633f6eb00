"""The rule on DR and Score; the figures themselves are in tests/risk/linkage and tests/published."""

from functools import cache

import numpy as np
import pandas as pd
import pytest

from policies.rules.linkage_rules import DistanceLinkage, ProbabilisticLinkage, RankSwappingLinkage
from policies.rules.ranked_rules import IntervalDisclosure, LinkageScore
from sluice.ground.variables import Kind, Role, Variable
from sluice.ground.verdict import Verdict
from sluice.masking.swapping.rank_swapping import RankSwapping
from sluice.risk.linkage.linkage_score import disclosure_risk
from sluice.utility.comparison import Comparison
from sluice.utility.continuous.mean_variations import il1s
from tests.golden import golden

VARIABLES = {
    "age": Variable(name="age", kind=Kind.CONTINUOUS, role=Role.QUASI_IDENTIFIER),
    "weight": Variable(name="weight", kind=Kind.CONTINUOUS, role=Role.QUASI_IDENTIFIER),
    "income": Variable(name="income", kind=Kind.CONTINUOUS, role=Role.SENSITIVE),
    "area": Variable(name="area", kind=Kind.NOMINAL, role=Role.QUASI_IDENTIFIER),
}
ORIGINAL = pd.DataFrame(np.random.default_rng(1).normal(size=(400, 3)), columns=["age", "weight", "income"]).assign(
    area=pd.Categorical(["a", "b"] * 200)
)
NAMES = ("age", "weight", "income")


def files(masked: pd.DataFrame, **options: object) -> Comparison:
    return Comparison(ORIGINAL, ORIGINAL, masked, None, VARIABLES, VARIABLES, np.random.default_rng(0), **options)


@cache
def swapped() -> pd.DataFrame:
    return RankSwapping(columns=NAMES, window=0.1).mask(ORIGINAL, VARIABLES, np.random.default_rng(2))


SHUFFLED = ORIGINAL.apply(lambda column: column.sample(frac=1, random_state=7).reset_index(drop=True))


@pytest.mark.chain
@pytest.mark.parametrize("weighting", ["generic", "specific", "with_specific", "table"])
def test_the_risk_is_the_weighted_mean_of_what_the_single_attacks_find(weighting: str) -> None:
    window = None if weighting == "generic" else 0.1
    (finding,) = LinkageScore(limit=1, weighting=weighting, window=window).find(files(swapped()))
    single = {
        "dld": DistanceLinkage(limit=1, scenario="average", columns=NAMES),
        "pld": ProbabilisticLinkage(limit=1, columns=NAMES),
        "rsld": RankSwappingLinkage(limit=1, window=0.1, columns=NAMES),
        "id": IntervalDisclosure(limit=1),
    }
    if weighting == "generic":
        del single["rsld"]
    elif weighting == "specific":
        del single["dld"], single["pld"]
    found = {name: rule.find(files(swapped()))[0].observed for name, rule in single.items()}
    assert finding.observed == pytest.approx(disclosure_risk(weighting, **found))
    assert finding.scope == "age, weight, income"
    golden.words(finding.says)


@pytest.mark.chain
def test_the_score_is_the_mean_of_risk_and_information_loss() -> None:
    risk = LinkageScore(limit=1).find(files(swapped()))[0].observed
    (score,) = LinkageScore(of="score", limit=1).find(files(swapped()))
    loss = il1s(ORIGINAL[list(NAMES)].to_numpy(), swapped()[list(NAMES)].to_numpy())
    assert score.observed == pytest.approx((risk + loss) / 2)
    assert score.verdict is Verdict.PASS
    (beyond,) = LinkageScore(of="score", limit=score.observed * 0.9).find(files(swapped()))
    assert beyond.verdict is Verdict.FAIL


@pytest.mark.parametrize("limit", [0.5, 1])
def test_no_limit_on_the_score_lets_a_verbatim_file_pass(limit: float) -> None:
    """It has no information loss, and so a score of at most 0.5, whoever is linked."""
    (finding,) = LinkageScore(of="score", limit=limit).find(files(ORIGINAL))
    assert finding.verdict is Verdict.FAIL
    golden.words(finding.says)


def test_what_has_no_figure_is_unknown() -> None:
    constant = ORIGINAL.assign(age=1.0)
    changed = Comparison(
        constant, constant, constant.assign(age=2.0), None, VARIABLES, VARIABLES, np.random.default_rng(0)
    )
    assert LinkageScore(of="score", limit=1).find(changed)[0].verdict is Verdict.UNKNOWN
    assert LinkageScore(limit=1).find(files(ORIGINAL, paired=False))[0].verdict is Verdict.REVIEW
    missing = ORIGINAL.assign(**dict.fromkeys(NAMES, np.nan))
    assert LinkageScore(limit=1).find(files(missing))[0].verdict is Verdict.UNKNOWN


def test_it_says_what_it_asks() -> None:
    assert "(Score)" in LinkageScore(limit=0.5, of="score").describe()
