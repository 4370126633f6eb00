"""Weights of one variable: logarithms of how often true pairs look so, over how many released records do."""

import numpy as np
import pandas as pd
import pytest

from sluice.ground.variables import Variable
from sluice.risk.linkage.learned_variable import ComparedCategory, ComparedNumber, compared_variables


def compared(original, masked, recoded=None, kind="continuous", released=None):
    variables = {"x": Variable(name="x", kind=kind)}
    recoded = original if recoded is None else recoded
    frames = [pd.DataFrame({"x": column}) for column in (original, recoded)]
    masked = masked if isinstance(masked, pd.DataFrame) else pd.DataFrame({"x": masked})
    return compared_variables(*frames, masked, variables, released or variables)


def labels(values):
    return pd.Categorical(values)


def test_a_category_counts_as_fellegi_and_sunter_say():
    """4,000 people, half 'a'; one in ten is released as the other label: weights log(.9 / .5) and log(.1 / .5)."""
    original = np.repeat(["a", "b"], 2000)
    masked = original.copy()
    masked[:200], masked[2000:2200] = "b", "a"
    (variable,) = compared(labels(original), labels(masked), kind="nominal")
    assert isinstance(variable, ComparedCategory)
    weights = variable.learn(np.arange(4000)).weights(np.array([0, 3999]))
    weight = {label: weights[:, variable.released[np.argmax(masked == label)]] for label in "ab"}
    assert weight["a"] == pytest.approx(np.log([0.9 / 0.5, 0.1 / 0.5]), abs=0.02)
    assert weight["b"] == pytest.approx(np.log([0.1 / 0.5, 0.9 / 0.5]), abs=0.02)


def test_equal_values_weigh_by_how_many_released_records_have_them():
    """Half of 3,000 distinct values are verbatim, the others shuffled: log(.5 m); of a heap of 1,000, by its share."""
    rng = np.random.default_rng(0)
    original = np.concatenate([np.zeros(1000), 1.0 + rng.permutation(3000)])
    masked = original.copy()
    mixed = 1000 + np.flatnonzero(np.arange(3000) % 2)
    masked[mixed] = rng.permutation(masked[mixed])
    (variable,) = compared(original, masked)
    learned = variable.learn(np.arange(4000))
    _, _, weights = learned.tables(np.array([0, 1000]))
    assert weights[0, 0] == pytest.approx(np.log(1 * 4000 / 1000), abs=0.02)
    assert weights[1, 0] == pytest.approx(np.log(0.5 * 4000), abs=0.05)


@pytest.mark.parametrize(("kind_of_noise", "scale"), [("constant", 1), ("proportional", 2), ("ranks", 0)])
def test_the_scale_on_which_masking_worked_is_found(kind_of_noise, scale):
    rng = np.random.default_rng(1)
    original = np.exp(2 * rng.normal(size=3000))
    if kind_of_noise == "constant":
        masked = original + 0.5 * rng.normal(size=3000)
    elif kind_of_noise == "proportional":
        masked = original * np.exp(0.2 * rng.normal(size=3000))
    else:
        order = np.argsort(original)
        moved = np.argsort(np.arange(3000) + rng.uniform(-60, 60, 3000))
        masked = np.empty(3000)
        masked[order] = original[order][moved]
    (variable,) = compared(original, masked)
    assert isinstance(variable, ComparedNumber)
    assert variable.learn(np.arange(3000)).scale is variable.scales[scale]


def test_no_increasing_change_of_scale_hides_equal_values_and_ranks():
    rng = np.random.default_rng(2)
    original = rng.normal(size=500)
    masked = original + 0.1 * rng.normal(size=500)
    masked[:100] = original[:100]
    wild_original, wild = np.append(np.exp(original), 999_999_999), np.append(np.exp(masked), 999_999_999)
    plain, changed = compared(original, masked)[0], compared(wild_original[:500], wild[:500])[0]
    assert plain.scales[0] == pytest.approx(changed.scales[0])
    (with_sentinel,) = compared(wild_original, wild)
    rows = np.arange(500)
    own = with_sentinel.learn(rows).weights(rows)[rows, with_sentinel.released[:500]]
    assert own.mean() > 2  # one wild value blinds nothing


def test_missing_values_meet_missing_values():
    original = np.arange(400.0)
    original[::4] = np.nan
    masked = original.copy()
    masked[1::4] = np.nan  # 100 suppressed
    (variable,) = compared(original, masked)
    weights = variable.learn(np.arange(400)).weights(np.array([0, 1, 2]))[:, variable.released]
    assert weights[0, 0] == pytest.approx(np.log(400 / 200), abs=0.1)  # missing stays missing, as half of the file is
    assert weights[0, 2] < -2
    assert weights[2, 0] == pytest.approx(np.log(1 / 3 * 400 / 200), abs=0.15)  # a third of the values were suppressed


def test_a_recoded_number_is_compared_by_its_label():
    rng = np.random.default_rng(3)
    age = rng.integers(20, 60, 2000).astype(float)
    group = labels([f"{int(a) // 10}0s" for a in age])
    released = {"x": Variable(name="x", kind="ordinal", categories=("20s", "30s", "40s", "50s"))}
    (variable,) = compared(age, group, recoded=group, released=released)
    rows = np.arange(2000)
    weights = variable.learn(rows).weights(rows)[:, variable.released]
    same = np.asarray(group)[:, None] == np.asarray(group)[None, :]
    assert np.abs(weights[same] - np.log(4)).max() < 0.15
    assert weights[~same].max() < -2


def test_categories_of_many_labels_are_compared_by_equality():
    names = np.array([f"street {j}" for j in range(5000)])
    (variable,) = compared(labels(names), labels(names), kind="nominal")
    assert isinstance(variable, ComparedNumber)
    assert variable.learn(np.arange(5000)).tables(np.array([7]))[2][0, 0] == pytest.approx(np.log(5000), abs=0.01)


def test_released_probabilities_of_a_label_tell_whose_it_is():
    rng = np.random.default_rng(4)
    original = rng.choice(["north", "south"], 2000)
    north = np.clip(np.where(original == "north", 0.7, 0.3) + 0.1 * rng.normal(size=2000), 0, 1)
    masked = pd.DataFrame({"x=north": north, "x=south": 1 - north})
    released = {name: Variable(name=name, kind="continuous") for name in masked}
    found = compared(labels(original), masked, kind="nominal", released=released)
    assert [each.name for each in found] == ["x=north", "x=south"]
    rows = np.arange(2000)
    weights = found[0].learn(rows).weights(rows)
    assert weights[rows, found[0].released].mean() > 0.3
