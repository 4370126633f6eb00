"""The rules on linkage: each passes a safe file, fails an unsafe one, and judges nothing it cannot know."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from policies.original_and_masked import OriginalAndMasked
from policies.rules.distance_linkage import DistanceLinkage
from policies.rules.interval_disclosure import IntervalDisclosure
from policies.rules.microaggregation_linkage import MicroaggregationLinkage
from policies.rules.probabilistic_linkage import ProbabilisticLinkage
from policies.rules.rank_swapping_linkage import RankSwappingLinkage
from sluice.errors import DataError
from sluice.masking.microaggregation.univariate_microaggregation import UnivariateMicroaggregation
from sluice.masking.swapping.rank_swapping import RankSwapping
from sluice.variables import Kind, Role, Variable
from sluice.verdict import Verdict

QUASI = {"role": Role.QUASI_IDENTIFIER}
VARIABLES = {
    "age": Variable(name="age", kind=Kind.INTEGER, nullable=True, **QUASI),
    "weight": Variable(name="weight", kind=Kind.CONTINUOUS, **QUASI),
    "size": Variable(name="size", kind=Kind.ORDINAL, categories=("s", "m", "l"), **QUASI),
    "area": Variable(name="area", kind=Kind.NOMINAL, categories=("a", "b", "c"), **QUASI),
    "remark": Variable(name="remark", kind=Kind.TEXT, **QUASI),
    "income": Variable(name="income", kind=Kind.CONTINUOUS, role=Role.SENSITIVE),
}


def people(n=600, seed=0):
    rng = np.random.default_rng(seed)
    ages = pd.array(rng.integers(18, 90, n), dtype="Int64")
    ages[rng.random(n) < 0.05] = pd.NA
    return pd.DataFrame(
        {
            "age": ages,
            "weight": rng.normal(75, 12, n),
            "size": pd.Categorical.from_codes(rng.integers(0, 3, n), ["s", "m", "l"], ordered=True),
            "area": pd.Categorical.from_codes(rng.integers(0, 3, n), ["a", "b", "c"]),
            "remark": pd.Series([f"text {i}" for i in range(n)], dtype="str"),
            "income": rng.lognormal(10, 1, n),
        }
    )


def attacked(original, masked, **given):
    return OriginalAndMasked(original, original, masked, None, VARIABLES, VARIABLES, np.random.default_rng(0), **given)


ORIGINAL = people()
COPY = attacked(ORIGINAL, ORIGINAL)
SHUFFLED = attacked(  # every column for itself: no row is anybody's
    ORIGINAL,
    ORIGINAL.apply(lambda column: column.sample(frac=1, random_state=7).reset_index(drop=True)),
)
RULES = [
    DistanceLinkage(limit=0.05),
    DistanceLinkage(limit=0.05, scenario="average", distance="mahalanobis"),
    DistanceLinkage(limit=0.05, scenario="worst", columns=("age", "weight")),
    ProbabilisticLinkage(limit=0.05),
    RankSwappingLinkage(limit=0.05, window=0.02),
    MicroaggregationLinkage(limit=0.05),
    IntervalDisclosure(limit=0.3),
    IntervalDisclosure(limit=0.3, by="standard_deviation", widths=(0.05,)),
]


def find(rule, files):
    (finding,) = rule.find(files)
    assert finding.rule == rule.rule
    assert finding.stage == "attack"
    return finding


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.rule)
def test_each_rule_passes_fails_and_judges_nothing(rule):
    safe, unsafe = find(rule, SHUFFLED), find(rule, COPY)
    assert safe.verdict is Verdict.PASS
    assert unsafe.verdict is Verdict.FAIL
    assert unsafe.observed > 0.3 > 0.2 > safe.observed
    nobody = find(rule, replace(COPY, paired=False))
    assert nobody.verdict is Verdict.UNKNOWN
    assert "belong to nobody" in nobody.says
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


def test_a_sample_has_an_interval_and_decides_only_what_it_can():
    masked = ORIGINAL.assign(weight=ORIGINAL.weight + np.random.default_rng(3).normal(0, 3, 600))
    whole = find(DistanceLinkage(limit=0.5), attacked(ORIGINAL, masked))
    assert (whole.verdict, whole.completed, whole.attempted) == (Verdict.FAIL, 600, 600)
    sample = find(DistanceLinkage(limit=0.9, records=100), attacked(ORIGINAL, masked))
    assert (sample.verdict, sample.completed) == (Verdict.PASS, 100)
    assert sample.observed == pytest.approx(whole.observed, abs=0.15)  # three standard errors
    at_its_limit = DistanceLinkage(limit=sample.observed, records=100)
    assert find(at_its_limit, attacked(ORIGINAL, masked)).verdict is Verdict.REVIEW


def test_excess_is_over_guessing():
    assert find(DistanceLinkage(excess=0.01), SHUFFLED).verdict is Verdict.PASS
    copy = find(DistanceLinkage(excess=0.01), COPY)
    assert copy.verdict is Verdict.FAIL
    assert copy.limit == pytest.approx(1 / 600 + 0.01)


def test_an_attack_that_does_worse_than_guessing_tells_nothing():
    opposite = ORIGINAL.assign(weight=150 - ORIGINAL.weight)
    finding = find(IntervalDisclosure(limit=0.5, columns=("weight",)), attacked(ORIGINAL, opposite))
    assert finding.verdict is Verdict.UNKNOWN
    assert "worse than guessing" in finding.says


def test_intruders_who_know_the_method_find_more():
    names = ("age", "weight", "income")
    swapping = RankSwapping(columns=names, window=0.05)
    masked = swapping.mask(ORIGINAL, VARIABLES, np.random.default_rng(5))
    files = attacked(ORIGINAL, masked)
    generic = find(DistanceLinkage(limit=0.01, columns=names), files)
    specific = find(RankSwappingLinkage(limit=0.01, window=0.05, columns=names), files)
    assert specific.observed > generic.observed
    assert "it was the only one left" in specific.says
    step = UnivariateMicroaggregation(columns=names, k=20, algorithm="individual_ranking", missing="by_pattern")
    grouped = replace(files, masked=step.mask(ORIGINAL, VARIABLES, np.random.default_rng(5)))
    released = dict(step.released(VARIABLES))
    assert find(MicroaggregationLinkage(limit=0.01, columns=names), replace(grouped, released=released)).observed > 0.5


def test_recoded_variables_are_compared_after_recoding():
    groups = VARIABLES | {"age": Variable(name="age", kind=Kind.NOMINAL, nullable=True, **QUASI)}
    coarse = ORIGINAL.assign(age=(ORIGINAL.age // 10).astype("str").astype("category"))
    files = OriginalAndMasked(ORIGINAL, coarse, coarse, None, VARIABLES, groups, np.random.default_rng(0))
    few = find(DistanceLinkage(limit=0.9, columns=("age",)), files)
    assert few.observed == pytest.approx(coarse.age.nunique(dropna=False) / 600)  # one in each group of ties
    with pytest.raises(DataError, match="'age' is released as nominal"):
        IntervalDisclosure(limit=0.9, columns=("age",)).find(files)


def test_what_is_said_tells_no_small_count():
    says = find(DistanceLinkage(limit=0.05), SHUFFLED).says
    assert "at most 1.7 % were linked" in says  # 10 of 600


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


def test_what_was_not_compared_is_said():
    assert "Not compared: remark." in find(DistanceLinkage(limit=0.05), SHUFFLED).says
    assert "Not compared: area, remark." in find(MicroaggregationLinkage(limit=0.05), SHUFFLED).says
    assert "Not compared" not in find(DistanceLinkage(limit=0.05, columns=("age",)), SHUFFLED).says


def test_refusals():
    with pytest.raises(DataError, match=r"'wait' is not. Did you mean 'weight'"):
        DistanceLinkage(limit=0.1, columns=("wait",)).find(COPY)
    with pytest.raises(DataError, match="600 original and 9 masked"):
        DistanceLinkage(limit=0.1).find(attacked(ORIGINAL, ORIGINAL[:9]))
    with pytest.raises(ValidationError, match="needs limit, excess or both"):
        DistanceLinkage()
    with pytest.raises(ValidationError, match="window"):
        RankSwappingLinkage(limit=0.1, window=15)
    with pytest.raises(ValidationError, match="widths"):
        IntervalDisclosure(limit=0.1, widths=())
