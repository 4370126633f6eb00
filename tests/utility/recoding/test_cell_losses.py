"""Compared with the losses of the search for levels, which are tested against each other and against ARX."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from sluice.generalization.objectives.key_losses import Loss, NonUniformEntropy, Precision
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.variables import Kind, Variable, Variables
from sluice.utility.recoding.cell_losses import cell_losses, mean_certainty_penalty
from sluice.utility.recoding.released_groups import ReleasedGroups, released_groups
from tests.generalization.small_files import SmallFile, small_files


def as_frames(file: SmallFile) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, Variables]:
    """The original, recoded and masked file of a search, its missing values and suppressed records as such."""
    original, recoded, masked, variables = {}, {}, {}, {}
    for key, level, codes in zip(file.keys, file.levels, file.codes, strict=True):
        leaves = [leaf for leaf in range(key.levels.shape[1]) if leaf != key.missing]
        rows = {
            f"0.{leaf}": tuple(f"{height}.{key.levels[height][leaf]}" for height in range(1, len(key.levels)))
            for leaf in leaves
        }
        hierarchy = Hierarchy(rows=rows) if len(key.levels) > 1 else None
        variables[key.name] = Variable(name=key.name, kind=Kind.NOMINAL, hierarchy=hierarchy)
        missing = codes == key.missing if key.missing is not None else np.zeros(len(codes), dtype=bool)
        before = np.where(missing, None, np.array([f"0.{leaf}" for leaf in codes], dtype=object))
        shown = np.array([f"{level}.{key.levels[level][leaf]}" for leaf in codes], dtype=object)
        original[key.name] = pd.Categorical(before)
        recoded[key.name] = pd.Categorical(np.where(missing, None, shown))
        masked[key.name] = pd.Categorical(np.where(missing | file.hidden, None, shown))
    return pd.DataFrame(original), pd.DataFrame(recoded), pd.DataFrame(masked), variables


def groups_of(file: SmallFile) -> tuple[ReleasedGroups, ...]:
    original, recoded, masked, variables = as_frames(file)
    return released_groups(original, recoded, masked, variables, variables)


def without_missing(file: SmallFile) -> bool:
    """A missing value is a leaf to the search, and none here."""
    return all(key.missing is None for key in file.keys)


@given(small_files().filter(without_missing))
def test_the_certainty_penalty_is_that_of_the_search(file: SmallFile) -> None:
    if any(len(key.levels) == 1 or key.weight != file.keys[0].weight or not key.weight for key in file.keys):
        return  # values that do not occur are unknown without a hierarchy, and here every variable counts alike
    value = Loss("mean").of(file.bottom).value(file.node, file.hidden_classes)
    found = [cell_losses(each).certainty for each in groups_of(file)]
    assert np.mean(found) == pytest.approx(value, abs=1e-9)


@given(small_files().filter(without_missing))
def test_entropy_and_precision_are_those_of_the_search(file: SmallFile) -> None:
    groups = groups_of(file)
    for at, each in enumerate(groups):
        only = [0.0] * len(groups)
        only[at] = 1.0
        losses = cell_losses(each)
        entropy = NonUniformEntropy("sum").of(file.bottom)
        parts = [share[level] for share, level in zip(entropy.shares, file.levels, strict=True)]
        if not file.hidden.any() and each.all_bits > 0:
            assert losses.entropy == pytest.approx(parts[at], abs=1e-9)
        precision = Precision("sum").of(file.bottom)
        if not file.hidden.any() and each.height:
            share = precision.shares[at][file.levels[at]]
            assert losses.precision == pytest.approx(share, abs=1e-9)


def one(share: list[float], values: list[float], suppressed: float, all_values: int = 5) -> ReleasedGroups:
    size = len(share)
    return ReleasedGroups(
        "town",
        np.array(share),
        np.array(values),
        None,
        np.zeros(size),
        np.full(size, np.nan),
        suppressed,
        all_values,
        2.0,
        0,
    )


def test_worked_by_hand() -> None:
    # Half of the records in a group of 3 of 5 values, a quarter as they are, a quarter suppressed
    losses = cell_losses(one([0.5, 0.25], [3, 1], 0.25))
    assert losses.certainty == pytest.approx(0.5 * 2 / 4 + 0.25)
    assert losses.distortion == pytest.approx(0.75)
    assert np.isnan(losses.precision)
    assert mean_certainty_penalty([one([1.0], [1], 0.0), one([], [], 1.0)]) == pytest.approx(0.5)


def test_extremes() -> None:
    same = cell_losses(one([1.0], [1], 0.0))
    assert same[:3] == (0, 0, 0)
    gone = cell_losses(one([], [], 1.0))
    assert gone[:3] == (1, 1, 1)
    constant = cell_losses(one([1.0], [1], 0.0, all_values=1))
    assert constant.certainty == 0
    assert all(np.isnan(cell_losses(one([], [], float("nan")))))
    assert np.isnan(mean_certainty_penalty([]))
