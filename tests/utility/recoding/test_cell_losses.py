"""Compared with the losses of the search for levels, which are tested against each other and against ARX."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from sluice.generalization.objectives.key_losses import Loss, NonUniformEntropy, Precision
from sluice.ground.errors import DataError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.variables import Kind, Role, Variable, Variables
from sluice.utility.recoding.cell_losses import ReleasedGroups, cell_losses, mean_certainty_penalty, released_groups
from tests.generalization.small_files import SmallFile, small_files
from tests.golden import golden
from tests.typed_frame import typed_frame

TOWNS = Hierarchy(rows={"a": ("ab", "any"), "b": ("ab", "any"), "c": ("cd", "any"), "d": ("cd", "any")})


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


def groups_by_name(
    original: pd.DataFrame, recoded: pd.DataFrame, masked: pd.DataFrame, paired: bool = True, **hierarchies: Hierarchy
) -> dict[str, ReleasedGroups]:
    before, variables = typed_frame(original)
    between, _ = typed_frame(recoded)
    after, released = typed_frame(masked)
    variables = {name: each.model_copy(update={"hierarchy": hierarchies.get(name)}) for name, each in variables.items()}
    return {each.name: each for each in released_groups(before, between, after, variables, released, paired)}


def test_a_group_stands_for_what_was_recoded_to_it() -> None:
    original = pd.DataFrame({"town": [*list("aaabbc"), None], "age": [20, 21, 30, 34, 40, 60, 60]})
    recoded = pd.DataFrame({"town": ["ab"] * 5 + ["c", None], "age": ["20s", "20s", "30s", "30s", "40", "60", "60"]})
    masked = recoded.copy()
    masked.loc[0, "town"] = None
    found = groups_by_name(original, recoded, masked)
    town = found["town"]
    assert (town.share * 7).tolist() == [4, 1]
    assert town.values.tolist() == [2, 1]
    assert town.bits == pytest.approx([-(0.6 * np.log2(0.6) + 0.4 * np.log2(0.4)), 0])
    assert (town.suppressed, town.all_values, town.width) == (pytest.approx(1 / 7), 3, None)
    age = found["age"]
    assert age.width is not None
    assert sorted(age.width) == pytest.approx([0, 0, 1 / 40, 4 / 40])


def test_levels_and_leaves_are_those_of_the_hierarchy() -> None:
    original = pd.DataFrame({"town": list("aabb")})
    recoded, masked = pd.DataFrame({"town": ["ab"] * 4}), pd.DataFrame({"town": ["ab", "ab", "a", "any"]})
    town = groups_by_name(original, recoded, masked, town=TOWNS)["town"]
    assert (town.all_values, town.height) == (4, 2)
    levels = dict(zip(town.values.tolist(), town.level.tolist(), strict=True))
    assert levels == {2: 0.5, 4: 1.0, 1: 0.0}


def test_what_no_recoding_made_stands_for_itself_or_for_anything() -> None:
    original = pd.DataFrame({"town": list("aabb"), "x": [1.5, 2.5, 3.5, 4.5]})
    found = groups_by_name(original, original, pd.DataFrame({"town": list("zaab"), "x": [9.5, 2.5, 3.5, 4.5]}))
    assert sorted(found["town"].values) == [1, 1, 2]
    assert found["x"].width.tolist() == [0]
    top = pd.DataFrame({"x": [1.5, 2.5, 4.0, 4.0]})  # top-coded: 3.5 and 4.5 are one value
    coded = groups_by_name(original, top, pd.DataFrame({"x": [1.5, 2.25, 4.0, 4.0]}))["x"]
    assert coded.width is not None
    assert sorted(coded.width) == pytest.approx([0, 0, 1 / 3])


def test_removal_and_files_without_pairs() -> None:
    original = pd.DataFrame({"town": ["a", "b", None, "b"], "sex": list("mfmf")})
    gone = groups_by_name(original, original[["town"]], original[["town"]])["sex"]
    assert (gone.removed, gone.suppressed, len(gone.share)) == (True, 1.0, 0)
    masked = pd.DataFrame({"town": ["a", None]})
    assert groups_by_name(original, original, masked, paired=False)["town"].suppressed == pytest.approx(0.25)
    none = groups_by_name(original, original, original.head(0))["town"]
    assert np.isnan(none.suppressed)


def test_names_and_texts_are_left_out_and_another_length_is_refused() -> None:
    frame = pd.DataFrame({"id": ["1", "2"], "says": ["x", "y"]})
    variables = {
        "id": Variable(name="id", kind=Kind.NOMINAL, role=Role.IDENTIFIER),
        "says": Variable(name="says", kind=Kind.TEXT),
    }
    assert released_groups(frame, frame, frame, variables, variables) == ()
    golden.refused(DataError, released_groups, frame, frame.head(1), frame, variables, variables)
