import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sluice.errors import DataError
from sluice.risk.classes.delta_presence import delta_presence, estimated_presence, probability
from sluice.risk.classes.equivalence_classes import classes_of, equivalence_classes


def table(areas: str) -> pd.DataFrame:
    return pd.DataFrame({"area": pd.Categorical([None if area == "?" else area for area in areas])})


def test_an_example_by_hand() -> None:
    """Of 4 people in a, 2 are in the file, of 2 in b one, of 3 in c none: 1/2, 1/2 and 0 (Definition 2 by hand)."""
    found = delta_presence(table("aab"), table("aaaabbccc"), ["area"])
    assert sorted(found.probability) == [0, 0.5, 0.5]
    assert (found.delta_min.value, found.delta_max.value) == (0, 0.5)
    assert (found.delta_max.attempted, found.delta_max.completed) == (9, 9)
    assert (found.delta_min.worse, found.delta_max.worse) == ("lower", "higher")


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("ab?"), st.booleans()), min_size=1, max_size=20), st.randoms())
def test_agrees_with_counting_in_any_order(people: list[tuple[str, bool]], random: "np.random.Generator") -> None:
    chosen = [area for area, inside in people if inside] or [people[0][0]]
    everybody = [area for area, _ in people]
    shares = [chosen.count(area) / everybody.count(area) for area in set(everybody)]
    random.shuffle(chosen)
    random.shuffle(everybody)
    found = delta_presence(table("".join(chosen)).set_axis([0] * len(chosen)), table("".join(everybody)), ["area"])
    assert_allclose(sorted(found.probability), sorted(shares))
    assert found.people.sum() == len(people)


def test_numbers_and_missing_keys_match_their_like_only() -> None:
    file = pd.DataFrame({"age": pd.array([30, None], dtype="Int64")})
    population = pd.DataFrame({"age": pd.array([30, 30, None, None, None, 31], dtype="Int64")})
    found = delta_presence(file, population, ["age"])
    assert sorted(found.probability) == pytest.approx([0, 1 / 3, 1 / 2])


def test_extremes() -> None:
    everybody = delta_presence(table("aab"), table("aab"), ["area"])
    assert (everybody.delta_min.value, everybody.delta_max.value) == (1, 1)
    missing = delta_presence(table("?"), table("??"), ["area"])
    assert missing.delta_max.value == 0.5
    classes = classes_of(table("aab"), ["area"])
    assert estimated_presence(classes, np.ones(3)).delta_min.value == 1  # a census


def test_weights_estimate_the_population() -> None:
    classes = equivalence_classes([np.array([0, 0, 1])])
    found = estimated_presence(classes, np.array([3.0, 5.0, 10.0]))  # by hand: 2 of 8, 1 of 10
    assert sorted(found.probability) == [0.1, 0.25]
    assert found.delta_max.attempted == 18


def test_refusals() -> None:
    with pytest.raises(DataError, match="1 times, keys occur more often in the file"):
        delta_presence(table("aab"), table("abb"), ["area"])
    with pytest.raises(DataError, match="more often in the file"):
        probability(np.array([1]), np.array([0]))
    with pytest.raises(DataError, match="at least one record each"):
        delta_presence(table(""), table("a"), ["area"])
    classes = equivalence_classes([np.array([0, 0])])
    for weights in ([1.0, 0.5], [1.0, np.nan]):
        with pytest.raises(DataError, match="1 or more; 1 are missing or smaller"):
            estimated_presence(classes, np.array(weights))
    with pytest.raises(DataError, match="at least one record"):
        estimated_presence(equivalence_classes([np.zeros(0, dtype=np.int64)]), np.zeros(0))
