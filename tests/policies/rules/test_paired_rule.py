"""What holds of every rule on linkage: it passes a safe file, fails an unsafe one, and judges what it can."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from policies.rules.distance_linkage import DistanceLinkage
from policies.rules.interval_disclosure import IntervalDisclosure
from policies.rules.microaggregation_linkage import MicroaggregationLinkage
from policies.rules.probabilistic_linkage import ProbabilisticLinkage
from policies.rules.rank_swapping_linkage import RankSwappingLinkage
from sluice.variables import Role
from sluice.verdict import Verdict
from tests.golden import golden
from tests.policies.rules.linked_people import COPY, ORIGINAL, SHUFFLED, VARIABLES, attacked, find

COMPARABLE = ("age", "weight", "size", "area")
RULES = [
    DistanceLinkage(limit=0.05, columns=COMPARABLE),
    DistanceLinkage(limit=0.05, scenario="average", distance="mahalanobis", columns=COMPARABLE),
    DistanceLinkage(limit=0.05, scenario="worst", columns=("age", "weight")),
    ProbabilisticLinkage(limit=0.05, columns=COMPARABLE),
    RankSwappingLinkage(limit=0.05, window=0.02),
    MicroaggregationLinkage(limit=0.05),
    IntervalDisclosure(limit=0.3),
    IntervalDisclosure(limit=0.3, by="spread", widths=(0.05,)),
]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.rule)
def test_each_rule_passes_fails_and_judges_nothing(rule):
    safe, unsafe = find(rule, SHUFFLED), find(rule, COPY)
    assert safe.verdict is Verdict.PASS
    assert unsafe.verdict is Verdict.FAIL
    assert unsafe.observed > 0.3 > 0.2 > safe.observed
    nobody = find(rule, replace(COPY, paired=False))
    assert nobody.verdict is Verdict.REVIEW
    golden.words(nobody.says)
    nothing = find(rule, attacked(ORIGINAL[:0], ORIGINAL[:0]))
    assert nothing.verdict is Verdict.UNKNOWN
    assert rule.describe().endswith(".")


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.rule)
def test_the_order_of_the_rows_and_the_index_do_not_matter(rule):
    files = attacked(ORIGINAL, ORIGINAL.assign(weight=ORIGINAL.weight + np.random.default_rng(3).normal(0, 3, 600)))
    order = np.random.default_rng(1).permutation(600)
    other = attacked(files.original.iloc[order], files.masked.iloc[order].set_axis(range(600, 0, -1)))
    assert find(rule, files).observed == pytest.approx(find(rule, other).observed, abs=1e-12)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.rule)
def test_nothing_to_compare(rule):
    other = {name: variable.model_copy(update={"role": Role.OTHER}) for name, variable in VARIABLES.items()}
    finding = find(rule.model_copy(update={"columns": None}), replace(COPY, variables=other, released=other))
    assert finding.verdict is Verdict.UNKNOWN
    assert "no variable" in finding.says


def test_suppressing_everything_is_judged_or_unknown_but_never_an_error():
    empty = ORIGINAL.assign(
        age=pd.array([pd.NA] * 600, dtype="Int64"),
        weight=np.nan,
        size=ORIGINAL["size"].where([False] * 600),
        area=ORIGINAL["area"].where([False] * 600),
        income=np.nan,
    )
    for rule in RULES:
        finding = find(rule, attacked(ORIGINAL, empty))
        assert finding.verdict is (Verdict.UNKNOWN if isinstance(rule, IntervalDisclosure) else Verdict.PASS)
