import numpy as np
import pandas as pd
import pytest

from sluice.ground.errors import DataError
from sluice.risk.attacks.attribute_inference import LabelledFile, attribute_inference, labelled_files
from tests.golden import golden


def population(n, seed, noise=0.3):
    """Labels that follow from the first of three known columns for 1 - noise of the people."""
    rng = np.random.default_rng(seed)
    known = rng.normal(size=(n, 3))
    value = np.where(rng.random(n) < noise, rng.integers(0, 4, n), known[:, 0] > 0).astype(float)
    return LabelledFile(known, value)


def attack(original, masked, **settings):
    return attribute_inference(original, masked, np.random.default_rng(3), trees=10, **settings)


def test_taking_part_verbatim_costs_and_strangers_cost_nothing():
    people = population(800, 1)
    verbatim = attack(people, people)
    assert verbatim.measurement.value > 0.9
    assert verbatim.measurement.interval[0] > verbatim.measurement.baseline + 0.1
    assert not verbatim.blind
    strangers = attack(people, population(800, 2), paired=False)
    low, high = strangers.measurement.interval
    assert low - 0.02 <= strangers.measurement.baseline <= high + 0.02
    # What the population tells: 0.7 + 0.3 / 4 of the labels follow the rule, and a forest gets near that.
    assert 0.6 < strangers.measurement.baseline < 0.79


def test_a_holdout_takes_the_place_of_cross_fitting():
    people, others = population(600, 1), population(400, 2)
    found = attack(people, people, holdout=others)
    crossed = attack(people, people)
    assert (found.measurement.attempted, found.measurement.completed) == (600, 400)  # the files are of one size
    assert found.measurement.baseline == pytest.approx(crossed.measurement.baseline, abs=0.08)
    assert found.measurement.value > 0.9


def test_numbers_within_a_tolerance():
    rng = np.random.default_rng(5)
    known = rng.normal(size=(500, 2))
    people = LabelledFile(known, known[:, 0] + rng.normal(size=500))
    found = attack(people, people, tolerance=0.5)
    assert found.measurement.value > found.measurement.baseline + 0.1
    # A normal error of standard deviation 1 lies within 0.5 for 38 %; the forest's own error makes it fewer.
    assert 0.25 < found.measurement.baseline < 0.38
    assert attack(people, people, tolerance=100.0).measurement.value == 1


def test_people_of_one_household_are_no_more_evidence_than_one_of_them():
    """Four times the same person in each household, who are guessed together: as wide as of one each."""
    rng = np.random.default_rng(3)
    one = population(200, 3)
    four = LabelledFile(*(np.repeat(each, 4, axis=0) for each in (one.known, one.value)))
    masked = LabelledFile(four.known, np.where(np.repeat(rng.random(200) < 0.3, 4), 0, four.value))
    houses = np.repeat(np.arange(200), 4)

    def width(people, masked, units):
        low, high = attack(people, masked, units=units).measurement.interval
        return high - low

    together, alone = width(four, masked, houses), width(four, masked, np.arange(800))
    assert together > 1.6 * alone
    of_one = width(one, masked.rows(np.arange(0, 800, 4)), np.arange(200))
    assert together == pytest.approx(of_one, rel=0.25)


@pytest.mark.parametrize("seed", range(3))
def test_names_of_labels_do_not_matter(seed):
    people = population(80, seed)
    renamed = LabelledFile(people.known, people.value * 3 + 1)
    assert attack(renamed, renamed).measurement == attack(people, people).measurement


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("seed", range(2))
def test_the_order_of_the_rows_does_not_matter(seed, paired):
    people, masked, others = (population(80, at) for at in (1, 2, 3))
    order = np.random.default_rng(seed).permutation(80)
    if paired:
        found = attack(people.rows(order), masked.rows(order)), attack(people, masked)
    else:
        found = (
            attack(people.rows(order), masked, paired=False, holdout=others.rows(order)),
            attack(people, masked, paired=False, holdout=others),
        )
    assert found[0].measurement == found[1].measurement


def test_missing_values():
    people = population(300, 1)
    holes = LabelledFile(
        np.where(np.arange(300)[:, None] % 3, people.known, np.nan),
        np.where(np.arange(300) % 10 > 0, people.value, np.nan),
    )
    found = attack(holes, holes)
    assert (found.measurement.attempted, found.measurement.completed) == (300, 270)
    assert found.measurement.value > found.measurement.baseline
    nothing = LabelledFile(people.known, np.full(300, np.nan))
    assert attack(nothing, nothing).measurement.completed == 0
    assert attack(people, nothing).measurement.completed == 0


def test_extremes():
    people = population(200, 1)
    constant = LabelledFile(people.known, np.zeros(200))
    assert attack(constant, constant).measurement.value == 1
    assert attack(constant, constant).blind  # a constant is guessed without any file
    one = LabelledFile(people.known[:1], people.value[:1])
    assert attack(one, one).measurement.completed == 0


def test_typed_files_share_their_codes():
    first = pd.DataFrame({"area": pd.Categorical(["n", "s"]), "age": [1.0, np.nan], "ill": pd.Categorical(["x", "y"])})
    second = pd.DataFrame({"area": pd.Categorical(["s", None]), "age": [1.0, 2.0], "ill": pd.Categorical(["z", "y"])})
    (one, two), spread = labelled_files([first, second], ["area", "age"], "ill")
    assert spread is None
    np.testing.assert_array_equal(one.known, [[0, 1], [1, np.nan]])
    np.testing.assert_array_equal(two.known, [[1, 1], [np.nan, 2]])
    assert (one.value.tolist(), two.value.tolist()) == ([0, 1], [2, 1])
    (one, two), spread = labelled_files([first, second], ["area"], "age")
    assert (spread, two.value.tolist()) == (0.0, [1, 2])


def test_a_released_distribution_over_labels_can_be_learned_from():
    first = pd.DataFrame({"area": pd.Categorical(["n", "s"]), "ill": pd.Categorical(["x", "y"])})
    second = pd.DataFrame({"area=n": [0.9, 0.2], "area=s": [0.1, 0.8], "ill=y": [0.6, 0.0], "ill=x": [0.4, 0.0]})
    (one, two), _ = labelled_files([first, second], ["area"], "ill")
    np.testing.assert_array_equal(one.known, [[1, 0], [0, 1]])
    np.testing.assert_array_equal(two.known, np.float32([[0.9, 0.1], [0.2, 0.8]]))
    np.testing.assert_array_equal(two.value, [1, np.nan])


def test_refusals():
    people = population(50, 1)
    golden.refused(DataError, attack, LabelledFile(np.zeros((50, 0)), people.value), people)
    golden.refused(DataError, attack, people, people.rows(np.arange(10)))
    golden.refused(DataError, attack, people, people, tolerance=-1.0)
    golden.refused(DataError, labelled_files, [pd.DataFrame({"ill": [1.0]})], ["age"], "ill")
