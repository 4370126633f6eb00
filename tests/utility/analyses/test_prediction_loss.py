from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from sluice.ground.errors import DataError
from sluice.ground.variables import Kind, Variable
from sluice.utility.analyses import prediction_loss
from sluice.utility.analyses.model_variables import masked_variables, original_variables
from sluice.utility.analyses.prediction_loss import (
    Examples,
    Learner,
    PredictionScores,
    features,
    prediction_scores,
    weighted_f,
)
from tests.golden import golden

pytestmark = pytest.mark.chain

RNG = np.random.default_rng(0)
N = 600
POINTS = RNG.normal(size=(2 * N, 3))
CLASSES = (POINTS[:, 0] + POINTS[:, 1] + RNG.normal(size=2 * N) / 2 > 0.5).astype(np.int64)
BEFORE = Examples(POINTS[:N], CLASSES[:N], POINTS[N:], CLASSES[N:])


def scores(learn: np.ndarray, classes: np.ndarray = CLASSES[:N], learner: Any = "logistic") -> PredictionScores:
    after = Examples(learn, classes, POINTS[N:, : learn.shape[1]], CLASSES[N:])
    return prediction_scores(BEFORE, after, learner, np.random.default_rng(1))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=50))
def test_f_measures_are_those_of_scikit_learn(pairs: list[tuple[int, int]]) -> None:
    truth, said = np.array([a for a, _ in pairs]), np.array([b for _, b in pairs])
    expected = f1_score(truth, said, average="weighted", zero_division=0)
    twice = np.vstack([np.ones(len(pairs)), np.full(len(pairs), 2.0)])
    np.testing.assert_allclose(weighted_f(truth, said, 4, twice), expected)


@pytest.mark.parametrize("learner", ["logistic", "forest"])
def test_the_same_file_predicts_as_well_and_a_shuffled_one_as_a_guess(learner: Any) -> None:
    same = scores(POINTS[:N], learner=learner)
    assert same.original > 0.8 > same.guess
    assert same.ratio == pytest.approx(1, abs=0.05)
    assert same.low <= same.ratio <= same.high
    shuffled = scores(RNG.permutation(POINTS[:N]), learner=learner)
    assert shuffled.ratio < 0.85
    assert shuffled.high < 1
    assert (same.predicted, same.learnt, same.learnt_masked) == (N, N, N)


def test_a_file_without_the_classes_predicts_nothing() -> None:
    assert scores(POINTS[:N], np.full(N, -1)).masked == 0
    one = scores(POINTS[:N], np.zeros(N, np.int64))
    assert one.masked == pytest.approx(one.guess)
    assert scores(POINTS[:N, :1]).ratio < 0.95


def test_more_records_than_the_limit_are_drawn_at_random_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prediction_loss, "MOST_LEARNT", 200)
    found = scores(POINTS[:N])
    assert (found.learnt, found.learnt_masked) == (200, 200)


def test_the_same_seed_finds_the_same() -> None:
    assert scores(POINTS[:N], learner="forest") == scores(POINTS[:N], learner="forest")


def test_nobody_to_predict_and_one_class_are_refused() -> None:
    nobody = Examples(POINTS[:N], CLASSES[:N], POINTS[:0], CLASSES[:0])
    golden.refused(DataError, prediction_scores, nobody, nobody, "logistic", np.random.default_rng(0))
    one = Examples(POINTS[:N], np.zeros(N, np.int64), POINTS[N:], CLASSES[N:])
    golden.refused(DataError, prediction_scores, one, one, "logistic", np.random.default_rng(0))


def test_features_are_numbers_categories_and_what_is_missing() -> None:
    variables = {
        "age": Variable(name="age", kind=Kind.CONTINUOUS),
        "town": Variable(name="town", kind=Kind.NOMINAL, categories=("a", "b", "c")),
    }
    learn = pd.DataFrame({"age": [20, 40, np.nan], "town": pd.Categorical(["a", "b", "a"], ["a", "b", "c"])})
    people = pd.DataFrame({"age": [np.nan, 50], "town": pd.Categorical(["c", "b"], ["a", "b", "c"])})
    here, there = features(
        original_variables(variables, learn, variables), original_variables(variables, people, variables)
    )
    np.testing.assert_array_equal(here, [[20, 0, 1, 0], [40, 0, 0, 1], [30, 1, 1, 0]])
    np.testing.assert_array_equal(there, [[30, 1, 0, 0], [50, 0, 0, 1]])
    labels = ("young", "old")
    recoded = learn.assign(age=pd.Categorical(["young", "old", None], labels, ordered=True))
    released = {**variables, "age": Variable(name="age", kind=Kind.ORDINAL, categories=labels)}
    grouped = masked_variables(variables, learn, recoded, recoded, variables, released)
    np.testing.assert_array_equal(features(grouped, grouped)[0][:, 0], [20, 40, 30])
    assert features({}, {})[0].shape == (0, 0)


def test_whole_weights_are_repeated_records() -> None:
    """A logistic regression and F measures: as many people, and as many to learn from, as the weights say."""
    rng = np.random.default_rng(3)
    times, of_people = rng.integers(1, 4, N), rng.integers(1, 4, len(POINTS) - N)
    weighted = replace(BEFORE, weight=times * 7.0, predict_weight=of_people * 0.1)
    again = Examples(
        np.repeat(BEFORE.learn, times, axis=0),
        np.repeat(BEFORE.learn_class, times),
        np.repeat(BEFORE.predict, of_people, axis=0),
        np.repeat(BEFORE.predict_class, of_people),
    )
    one, other = (prediction_scores(each, each, "logistic", np.random.default_rng(0)) for each in (weighted, again))
    assert (one.original, one.masked, one.guess) == pytest.approx(
        (other.original, other.masked, other.guess), abs=0.003
    )
    counted = prediction_scores(BEFORE, BEFORE, "logistic", np.random.default_rng(0))
    assert one.original != counted.original


@pytest.mark.parametrize("learner", ["logistic", "forest"])
def test_who_weighs_nothing_is_neither_learned_from_nor_counted(learner: Learner) -> None:
    weight, of_people = (np.ones(len(each)) for each in (BEFORE.learn, BEFORE.predict))
    weight[: N // 2] = 0
    of_people[::2] = 0
    wrong = np.where(np.arange(N) < N // 2, 1 - np.minimum(BEFORE.learn_class, 1), BEFORE.learn_class)
    ignored = replace(BEFORE, learn_class=wrong, weight=weight, predict_weight=of_people)
    half = Examples(
        BEFORE.learn[N // 2 :], BEFORE.learn_class[N // 2 :], BEFORE.predict[1::2], BEFORE.predict_class[1::2]
    )
    one, other = (prediction_scores(each, each, learner, np.random.default_rng(0)) for each in (ignored, half))
    assert one.learnt == other.learnt == N - N // 2
    # A forest draws its samples anew by the weights
    assert one.original == pytest.approx(other.original, abs=0.03 if learner == "forest" else 1e-9)
    with golden.raises(DataError):
        prediction_scores(replace(BEFORE, weight=weight[1:]), BEFORE, learner, np.random.default_rng(0))


def test_subgroups_have_the_scores_of_their_own_people() -> None:
    first = BEFORE.predict[:, 0] > 0
    groups = {"high": first, "low": ~first}
    found = prediction_scores(BEFORE, BEFORE, "logistic", np.random.default_rng(0), groups)
    assert {each.category: each.predicted for each in found.subgroups} == {"high": first.sum(), "low": (~first).sum()}
    assert all(each.ratio == 1 for each in found.subgroups)
    for each in found.subgroups:
        members = groups[each.category]
        alone = replace(BEFORE, predict=BEFORE.predict[members], predict_class=BEFORE.predict_class[members])
        expected = prediction_scores(alone, alone, "logistic", np.random.default_rng(0))
        assert each.original == pytest.approx(expected.original)
