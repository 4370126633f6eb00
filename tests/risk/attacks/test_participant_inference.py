"""Participant inference: against scikit-learn's neighbours, and on files that do and do not copy their people."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import NearestNeighbors

from sluice.ground.errors import DataError
from sluice.risk.attacks.attack_success import Attacked, is_open
from sluice.risk.attacks.participant_inference import InferenceGain, _judged, participant_inference
from sluice.risk.attacks.participant_inference_kernel import nearest_without_each
from tests.golden import golden
from tests.risk.attacks.people import VARIABLES, people


def attack(released: pd.DataFrame, columns: tuple[str, ...] = tuple(VARIABLES)) -> InferenceGain:
    rng = np.random.default_rng(0)
    return participant_inference(Attacked(people(800, 1), released, people(800, 2), VARIABLES, columns, 800, rng))


@given(seed=st.integers(0, 2**20), k=st.integers(1, 5))
def test_nearest_as_by_brute_force(seed: int, k: int) -> None:
    """scikit-learn, city-block distance, one variable left out at a time; nothing was checked of missing values."""
    rng = np.random.default_rng(seed)
    numbers, others = rng.normal(size=(6, 3)), rng.normal(size=(40, 3))
    none, no_others = np.empty((6, 0), np.int32), np.empty((40, 0), np.int32)
    index = nearest_without_each(numbers, none, others, no_others, k, np.zeros(40, np.int64), np.full(6, -1))
    for left_out in range(3):
        kept = [column for column in range(3) if column != left_out]
        brute = NearestNeighbors(n_neighbors=k, metric="manhattan", algorithm="brute").fit(others[:, kept])
        assert np.array_equal(index[:, left_out], brute.kneighbors(numbers[:, kept], return_distance=False))


def test_missing_equals_missing_and_labels_count_one() -> None:
    numbers, others = np.array([[np.nan, 0.0]]), np.array([[0.0, 0.0], [np.nan, 0.3]])
    labels, other_labels = np.array([[1]], np.int32), np.array([[1], [2]], np.int32)
    index = nearest_without_each(numbers, labels, others, other_labels, 1, np.zeros(2, np.int64), np.full(1, -1))
    assert index[0, :, 0].tolist() == [0, 0, 1]  # without the label, the missing value decides


def test_records_of_the_own_household_are_passed_over() -> None:
    numbers, none = np.array([[0.0, 0.0], [1.0, 1.0]]), np.empty((2, 0), np.int32)
    others, no_others = np.array([[0.1, 0.1], [0.2, 0.2], [0.9, 0.9]]), np.empty((3, 0), np.int32)
    units, own = np.array([7, 7, 8]), np.array([7, 9])
    index = nearest_without_each(numbers, none, others, no_others, 2, units, own)
    assert index[:, 0].tolist() == [[2, -1], [2, 1]]


def test_the_variable_that_leaks_is_found() -> None:
    """All but one variable permuted apart from each other: what is left is a pair of variables, each by the other."""
    own, rng = people(800, 1), np.random.default_rng(4)
    torn = own.assign(
        **{name: own[name].to_numpy()[rng.permutation(800)] for name in own if name not in ("age", "wage")}
    )
    torn = torn.astype({name: own[name].dtype for name in own})
    assert set(attack(torn, ("job", "age", "wage")).variables) <= {"age", "wage"}


def test_one_column_is_refused() -> None:
    golden.refused(DataError, attack, people(800, 1), ("age",))
    with golden.raises(DataError):
        participant_inference(
            Attacked(
                people(10, 1), people(10, 1), people(50, 2), VARIABLES, list(VARIABLES), 10, np.random.default_rng(0)
            )
        )


@pytest.mark.parametrize(("inside", "outside"), [(90, 30), (30, 90)])
def test_all_of_one_side_were_attacked_at_the_first_look(inside: int, outside: int) -> None:
    """A fifth is set aside, so that the others last longer; the second look adds some of one side alone."""
    one, two, rng = people(inside, 1), people(outside, 2), np.random.default_rng(0)
    found = participant_inference(Attacked(one, people(90, 3), two, VARIABLES, ["age", "wage"], 40, rng, limit=0.1))
    assert is_open(found.measurement.beyond_baseline(), 0.1)


def test_numbers_of_few_values_are_right_where_they_are_equal() -> None:
    original, control = (people(400, seed).assign(age=lambda each: each["age"].round()) for seed in (1, 2))
    rng = np.random.default_rng(0)
    found = participant_inference(Attacked(original, original, control, VARIABLES, ["age", "wage"], 400, rng))
    assert found.measurement.value == 1


@pytest.mark.chain
@pytest.mark.parametrize("size", [1, 3])
def test_the_interval_is_as_wide_as_the_figure_varies(size: int) -> None:
    """Of twelve guesses none is better of participants; which seems so is chosen anew by every split. Of a household
    the first of three succeeds where the others do."""
    covered = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        share = rng.uniform(0.3, 0.7, 12)
        right = [(rng.random((n, 12)) < share).repeat(size, axis=0) for n in (600, 240)]
        found, _ = _judged([*right, right[0]], [np.arange(len(each)) // size for each in right], rng, 0.95, 1)
        covered.append(found.interval[0] <= found.baseline <= found.interval[1])
    assert np.mean(covered) > 0.93


def test_whoever_all_belongs_together_is_refused() -> None:
    one, two = people(40, 1), people(40, 2)
    units = np.zeros(40, np.int64), np.arange(40)
    rng = np.random.default_rng(0)
    with golden.raises(DataError):
        participant_inference(Attacked(one, one, two, VARIABLES, ["age", "wage"], 40, rng, units=units))
    two_units = np.arange(40) % 2, np.arange(40)
    found = participant_inference(
        Attacked(one, two, two, VARIABLES, ["age", "wage"], 40, rng, units=two_units)
    ).measurement
    assert found.interval is not None
    assert found.interval[1] - found.interval[0] > 0.5
