"""Delta-presence as a rule."""

from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sluice.ground.errors import DataError
from sluice.ground.verdict import Verdict
from sluice.risk.classes.equivalence_classes import equivalence_classes
from sluice.risk.population.delta_presence import DeltaPresence, estimated_presence, presence
from tests.golden import golden
from tests.risk.classes.ill_people import one, people


def test_an_example_by_hand() -> None:
    """Of 4 people in a, 2 are in the file, of 2 in b one, of 3 in c none: 1/2, 1/2 and 0 (Definition 2 by hand)."""
    assert presence(np.array([2, 1, 0]), np.array([4, 2, 3])).tolist() == [0.5, 0.5, 0]


def test_weights_estimate_the_population() -> None:
    classes = equivalence_classes([np.array([0, 0, 1])])
    assert sorted(estimated_presence(classes, np.array([3.0, 5.0, 10.0]))) == [0.1, 0.25]  # by hand: 2 of 8, 1 of 10
    assert estimated_presence(classes, np.ones(3)).tolist() == [1, 1]  # a census


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 50)), min_size=1, max_size=20), st.randoms())
def test_agrees_with_the_definition_in_any_order(people: list[tuple[int, int]], random: "np.random.Generator") -> None:
    random.shuffle(people)
    keys, weights = np.array(people).T
    classes = equivalence_classes([keys])
    expected = [(keys == key).sum() / weights[keys == key].sum() for key in keys]
    assert_allclose(estimated_presence(classes, weights.astype(float))[classes.labels], expected)


def test_delta_presence_by_weights() -> None:
    frame = people([30, 30, 40], "aaa", weights=[2.0, 6.0, 10.0])  # by hand: 2 of 8, 1 of 10
    finding = one(DeltaPresence(at_most=0.2), frame)
    assert (finding.verdict, finding.observed) == (Verdict.FAIL, 0.25)
    golden(finding.says)
    assert one(DeltaPresence(at_most=0.25), frame).verdict is Verdict.PASS
    golden.refused(DataError, one, DeltaPresence(at_most=0.2), people([30], "a", weights=[0.5]))


def test_delta_presence_by_a_list_of_the_population(tmp_path: Path) -> None:
    path = tmp_path / "population.csv"
    path.write_text("age,area,count\n30,a,4\n40,a,10\n50,b,90\n")
    frame = people([30, 40, 40], "aaa")
    finding = one(DeltaPresence(at_most=0.2, population=str(path)), frame)
    assert (finding.verdict, finding.observed) == (Verdict.FAIL, 0.25)
    golden.words(finding.says)
    assert one(DeltaPresence(at_most=0.25, population=str(path)), frame).verdict is Verdict.PASS
    golden.refused(DataError, one, DeltaPresence(at_most=0.2, population=str(path)), people([99], "a"))


def test_missing_keys_that_match_any_need_a_list_of_the_population() -> None:
    assert one(DeltaPresence(at_most=0.2, missing_matches="any"), people([30], "a")).verdict is Verdict.UNKNOWN
