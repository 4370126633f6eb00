import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sluice.risk.classes.equivalence_classes import equivalence_classes
from sluice.risk.population.delta_presence import estimated_presence, presence


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
