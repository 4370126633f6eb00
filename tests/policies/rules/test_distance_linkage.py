"""Distance-based record linkage as a rule."""

import numpy as np
import pytest

from policies.rules.linkage_rules import DistanceLinkage
from policies.rules.ranked_rules import IntervalDisclosure
from sluice.ground.errors import DataError
from sluice.ground.variables import Kind, Variable
from sluice.ground.verdict import Verdict
from sluice.utility.comparison import Comparison
from tests.golden import golden
from tests.policies.rules.linked_people import COPY, ORIGINAL, QUASI, SHUFFLED, VARIABLES, attacked, find

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


def test_what_is_said_tells_no_small_count():
    found = find(DistanceLinkage(limit=0.05), SHUFFLED)
    golden(found.says)  # 10 of 600
    assert (found.observed, found.withheld) == (None, True)


def test_what_was_not_compared_is_said() -> None:
    partly = find(DistanceLinkage(limit=0.05), SHUFFLED)
    assert (partly.verdict, "Not compared: remark." in partly.says) == (Verdict.UNKNOWN, True)  # it may tell them all
    assert find(DistanceLinkage(limit=0.05), COPY).verdict is Verdict.FAIL
    named = find(DistanceLinkage(limit=0.05, columns=("age",)), SHUFFLED)
    assert (named.verdict, "Not compared" in named.says) == (Verdict.PASS, False)
