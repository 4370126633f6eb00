"""Distance-based record linkage as a rule.

Probabilistic record linkage as a rule.

Linkage by the window of rank swapping.

Linkage by who knows that each variable was microaggregated by itself.
"""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from policies.rules.linkage_rules import (
    DistanceLinkage,
    MicroaggregationLinkage,
    ProbabilisticLinkage,
    RankSwappingLinkage,
)
from policies.rules.ranked_rules import IntervalDisclosure
from sluice.ground.errors import DataError
from sluice.ground.variables import Kind, Role, Variable
from sluice.ground.verdict import Verdict
from sluice.masking.microaggregation.ordered_microaggregation import UnivariateMicroaggregation
from sluice.masking.swapping.rank_swapping import RankSwapping
from sluice.utility.comparison import Comparison
from tests.golden import golden
from tests.policies.rules.linked_people import COPY, ORIGINAL, QUASI, SHUFFLED, VARIABLES, attacked, find

NAMES = ("age", "weight", "income")

COMPARABLE = ("age", "weight", "size", "area")


def test_a_sample_has_an_interval_and_decides_only_what_it_can():
    masked = ORIGINAL.assign(weight=ORIGINAL.weight + np.random.default_rng(3).normal(0, 3, 600))
    whole = find(DistanceLinkage(limit=0.5, columns=COMPARABLE), attacked(ORIGINAL, masked))
    assert (whole.verdict, whole.completed, whole.attempted) == (Verdict.FAIL, 600, 600)
    sample = find(DistanceLinkage(limit=0.9, records=100, columns=COMPARABLE), attacked(ORIGINAL, masked))
    assert (sample.verdict, sample.completed) == (Verdict.PASS, 100)
    assert sample.observed == pytest.approx(whole.observed, abs=0.15)  # three standard errors
    at_its_limit = DistanceLinkage(limit=sample.observed, records=100, columns=COMPARABLE)
    assert find(at_its_limit, attacked(ORIGINAL, masked)).verdict is Verdict.REVIEW


def test_excess_is_over_guessing():
    assert find(DistanceLinkage(excess=0.01, columns=("age", "weight")), SHUFFLED).verdict is Verdict.PASS
    copy = find(DistanceLinkage(excess=0.01), COPY)
    assert copy.verdict is Verdict.FAIL
    assert copy.limit == pytest.approx(1 / 600 + 0.01)


def test_recoded_variables_are_compared_after_recoding():
    groups = VARIABLES | {"age": Variable(name="age", kind=Kind.NOMINAL, nullable=True, **QUASI)}
    coarse = ORIGINAL.assign(age=(ORIGINAL.age // 10).astype("str").astype("category"))
    rng = np.random.default_rng(0)
    files = Comparison(ORIGINAL, coarse, coarse, None, VARIABLES, groups, rng, minimum_cell=1)
    few = find(DistanceLinkage(limit=0.9, columns=("age",)), files)
    assert few.observed == pytest.approx(coarse.age.nunique(dropna=False) / 600)  # one in each group of ties
    golden.refused(DataError, IntervalDisclosure(limit=0.9, columns=("age",)).find, files)


# 600 people by two keys in groups of ten, of which each shows the mean, and what each of the ten is beside that.
_GROUP = np.arange(600) // 10
_CROWDED = {
    "age": Variable(name="age", kind=Kind.CONTINUOUS, **QUASI),
    "area": Variable(name="area", kind=Kind.NOMINAL, categories=("a", "b", "c"), **QUASI),
    "house": Variable(name="house", kind=Kind.TEXT, role=Role.HOUSEHOLD),
    "person": Variable(name="person", kind=Kind.TEXT, role=Role.PERSON),
}
_LINKED = DistanceLinkage(excess=0.01, alike=10)


def _crowded(shown=_GROUP * 10.0, house=None, person=None, age=None, **given):
    """In ten-year groups, unless other values are shown; the columns that name households and people are removed."""
    age = _GROUP * 10.0 + np.tile(np.linspace(-4, 4, 10), 60) if age is None else age
    area = pd.Categorical.from_codes(_GROUP % 3, ["a", "b", "c"])
    original = pd.DataFrame({"age": age, "area": area})
    for name, of in (("house", house), ("person", person)):
        if of is not None:
            original[name] = pd.Series(of).astype(str).astype("str")
    masked = original[["age", "area"]].assign(age=shown)
    variables = {name: _CROWDED[name] for name in original}
    released = {name: _CROWDED[name] for name in masked}
    recoded, rng = masked.assign(age=age), np.random.default_rng(0)
    return Comparison(original, recoded, masked, None, variables, released, rng, **given)


def test_a_link_to_a_crowd_that_is_alike_names_nobody() -> None:
    every = find(DistanceLinkage(excess=0.01), _crowded())
    assert (every.verdict, every.observed) == (Verdict.FAIL, pytest.approx(0.1))
    crowd = find(_LINKED, _crowded())
    assert (crowd.verdict, crowd.observed) == (Verdict.PASS, 0)
    golden.words(crowd.says)
    larger = find(DistanceLinkage(excess=0.01, alike=11), _crowded())
    assert (larger.verdict, larger.observed) == (Verdict.FAIL, pytest.approx(0.1))


def test_one_group_too_small_counts_in_full_beside_crowds() -> None:
    shown = np.where(np.arange(600) < 200, np.arange(600) // 5 * 5.0, _GROUP * 10.0)
    files = _crowded(shown, age=shown)  # a third of them in groups of five
    assert find(_LINKED, files).observed == pytest.approx(200 / 600 / 5)
    assert find(_LINKED, files).verdict is Verdict.FAIL


@pytest.mark.parametrize("named", ["house", "person"])
def test_a_crowd_is_of_people_and_not_of_records(named: str) -> None:
    apart = find(_LINKED, _crowded(**{named: np.arange(600)}))
    assert (apart.verdict, apart.observed) == (Verdict.PASS, 0)
    for of in (_GROUP, np.arange(600) // 2):  # the ten are one, or five pairs
        together = find(_LINKED, _crowded(**{named: of}))
        assert (together.verdict, together.observed) == (Verdict.FAIL, pytest.approx(0.1))


def test_records_as_near_are_no_crowd_where_their_values_differ() -> None:
    age = np.repeat(np.arange(60) * 10.0, 10)
    either_side = age + np.tile([-2.0, 2.0], 300)  # five show two years less and five two more: all as near
    both = find(_LINKED, _crowded(either_side, age=age))
    assert (both.verdict, both.observed) == (Verdict.FAIL, pytest.approx(0.1))


def test_a_suppressed_value_is_no_part_of_the_crowd_at_the_median() -> None:
    # Where the original has no missing value, a suppressed one lies at the median, as near as those who have it.
    shown = np.where(np.arange(600) % 2, np.nan, 300.0)
    files = _crowded(shown, age=np.full(600, 300.0), minimum_cell=1)
    known = {"columns": ("age",), "excess": 0.01}
    assert find(DistanceLinkage(alike=300, **known), files).observed == 0
    assert find(DistanceLinkage(alike=301, **known), files).observed == pytest.approx(1 / 600)


def test_who_knows_less_stands_before_larger_crowds() -> None:
    worst = find(DistanceLinkage(excess=0.01, alike=10, scenario="worst"), _crowded())
    assert (worst.verdict, worst.observed) == (Verdict.PASS, 0)
    shown = np.arange(600.0)
    worst = find(DistanceLinkage(excess=0.01, alike=10, scenario="worst"), _crowded(shown, age=shown))
    assert (worst.verdict, worst.observed) == (Verdict.FAIL, pytest.approx(1.0))


def test_what_is_said_tells_no_small_count():
    found = find(DistanceLinkage(limit=0.05), SHUFFLED)
    golden(found.says)  # 10 of 600
    assert (found.observed, found.withheld) == (None, True)


def test_what_was_not_compared_is_said() -> None:
    partly = find(DistanceLinkage(limit=0.05), SHUFFLED)
    assert partly.verdict is Verdict.UNKNOWN  # what was not compared may tell them all
    golden.words(partly.says)
    assert find(DistanceLinkage(limit=0.05), COPY).verdict is Verdict.FAIL
    named = find(DistanceLinkage(limit=0.05, columns=("age",)), SHUFFLED)
    assert (named.verdict, "Not compared" in named.says) == (Verdict.PASS, False)


def test_numbers_agree_up_to_the_tolerance() -> None:
    moved = ORIGINAL.assign(weight=ORIGINAL["weight"] + 0.1 * np.std(ORIGINAL["weight"]))
    agreeing = find(ProbabilisticLinkage(limit=0.5, columns=("weight",)), attacked(ORIGINAL, moved, minimum_cell=1))
    strict = find(
        ProbabilisticLinkage(limit=0.5, columns=("weight",), tolerances=(0,)), attacked(ORIGINAL, moved, minimum_cell=1)
    )
    assert agreeing.observed > 3 * strict.observed  # without tolerance no two weights agree
    golden.words(agreeing.says)


def test_the_tolerance_that_serves_the_intruder_best_counts() -> None:
    noise = np.random.default_rng(1).normal(0, 0.5, (600, 2))
    moved = ORIGINAL.assign(
        weight=ORIGINAL["weight"] + noise[:, 0], income=ORIGINAL["income"] * np.exp(noise[:, 1] / 50)
    )
    rule, files = (
        ProbabilisticLinkage(limit=0.5, columns=("weight", "income", "size")),
        attacked(ORIGINAL, moved, minimum_cell=1),
    )
    each = [find(rule.model_copy(update={"tolerances": (share,)}), files).observed for share in rule.tolerances]
    assert find(rule, files).observed == max(each) > 5 * min(each)


def test_an_intruder_who_knows_the_window_finds_more() -> None:
    masked = RankSwapping(columns=NAMES, window=0.05).mask(ORIGINAL, VARIABLES, np.random.default_rng(5))
    generic = find(DistanceLinkage(limit=0.01, columns=NAMES), attacked(ORIGINAL, masked))
    specific = find(RankSwappingLinkage(limit=0.01, window=0.05, columns=NAMES), attacked(ORIGINAL, masked))
    assert specific.observed > generic.observed
    golden.words(specific.says)


def test_an_intruder_who_knows_the_groups_finds_most() -> None:
    names = ("age", "weight", "income")
    step = UnivariateMicroaggregation(columns=names, k=20, algorithm="individual_ranking", missing="by_pattern")
    masked = step.mask(ORIGINAL, VARIABLES, np.random.default_rng(5))
    grouped = replace(COPY, masked=masked, released=dict(step.released(VARIABLES)))
    assert find(MicroaggregationLinkage(limit=0.01, columns=names), grouped).observed > 0.5


def test_categories_are_not_compared() -> None:
    golden.words(find(MicroaggregationLinkage(limit=0.05), SHUFFLED).says)


def test_a_policy_that_names_no_crowd_stays_the_one_that_was_adopted() -> None:
    assert "alike" not in DistanceLinkage(excess=0.01).model_dump(mode="json")
    assert DistanceLinkage(excess=0.01, alike=5).model_dump(mode="json")["alike"] == 5
