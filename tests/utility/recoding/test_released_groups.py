import numpy as np
import pandas as pd
import pytest

from sluice.ground.errors import DataError
from sluice.ground.hierarchy import Hierarchy
from sluice.ground.variables import Kind, Role, Variable
from sluice.utility.recoding.released_groups import ReleasedGroups, released_groups
from tests.golden import golden
from tests.typed_frame import typed_frame

TOWNS = Hierarchy(rows={"a": ("ab", "any"), "b": ("ab", "any"), "c": ("cd", "any"), "d": ("cd", "any")})


def groups_of(
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
    found = groups_of(original, recoded, masked)
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
    town = groups_of(original, recoded, masked, town=TOWNS)["town"]
    assert (town.all_values, town.height) == (4, 2)
    levels = dict(zip(town.values.tolist(), town.level.tolist(), strict=True))
    assert levels == {2: 0.5, 4: 1.0, 1: 0.0}


def test_what_no_recoding_made_stands_for_itself_or_for_anything() -> None:
    original = pd.DataFrame({"town": list("aabb"), "x": [1.5, 2.5, 3.5, 4.5]})
    found = groups_of(original, original, pd.DataFrame({"town": list("zaab"), "x": [9.5, 2.5, 3.5, 4.5]}))
    assert sorted(found["town"].values) == [1, 1, 2]
    assert found["x"].width.tolist() == [0]
    top = pd.DataFrame({"x": [1.5, 2.5, 4.0, 4.0]})  # top-coded: 3.5 and 4.5 are one value
    coded = groups_of(original, top, pd.DataFrame({"x": [1.5, 2.25, 4.0, 4.0]}))["x"]
    assert coded.width is not None
    assert sorted(coded.width) == pytest.approx([0, 0, 1 / 3])


def test_removal_and_files_without_pairs() -> None:
    original = pd.DataFrame({"town": ["a", "b", None, "b"], "sex": list("mfmf")})
    gone = groups_of(original, original[["town"]], original[["town"]])["sex"]
    assert (gone.removed, gone.suppressed, len(gone.share)) == (True, 1.0, 0)
    masked = pd.DataFrame({"town": ["a", None]})
    assert groups_of(original, original, masked, paired=False)["town"].suppressed == pytest.approx(0.25)
    none = groups_of(original, original, original.head(0))["town"]
    assert np.isnan(none.suppressed)


def test_names_and_texts_are_left_out_and_another_length_is_refused() -> None:
    frame = pd.DataFrame({"id": ["1", "2"], "says": ["x", "y"]})
    variables = {
        "id": Variable(name="id", kind=Kind.NOMINAL, role=Role.IDENTIFIER),
        "says": Variable(name="says", kind=Kind.TEXT),
    }
    assert released_groups(frame, frame, frame, variables, variables) == ()
    golden.refused(DataError, released_groups, frame, frame.head(1), frame, variables, variables)
