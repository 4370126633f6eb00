import numpy as np
import pandas as pd
import pytest

from sluice.ground.divergence import entropy
from sluice.masking.noise.pram import Pram
from sluice.utility.categorical.category_losses import ebil, original_probabilities
from sluice.utility.comparison import Comparison
from tests.typed_frame import typed_frame
from tests.utility.files import files, judge

MEASURES = ("category_distance", "ebil")


def towns(n: int = 1_000, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"town": rng.choice(list("abc"), n, p=[0.5, 0.3, 0.2]), "sex": rng.choice(["m", "f"], n)})


def test_recoding_and_removal_are_losses_against_the_unrecoded_original() -> None:
    original = towns()
    recoded = original.replace({"town": {"a": "a or b", "b": "a or b"}})[["town"]]
    found, findings = judge(files(original, recoded, recoded))
    share = (original["town"] != "c").mean()
    assert findings["category_distance"].observed == pytest.approx((share / 2 + 1) / 2)
    town, sex = found.view.categorical.variables
    assert (sex.released, sex.distance) == (False, 1)
    assert sex.ebil == sex.entropy
    counts = original["town"].value_counts()
    assert town.ebil == pytest.approx(share * entropy(counts[["a", "b"]].to_numpy(float)), abs=0.01)
    assert town.pril == town.ebil  # by counts both are the conditional entropy


def test_pram_is_judged_by_its_matrix() -> None:
    original = towns()
    before, variables = typed_frame(original)
    step = Pram(columns=("town",), retention=0.6).fit(before, variables)[0]
    masked = step.mask(before, variables, np.random.default_rng(0))
    of = Comparison(before, before, masked, None, variables, variables, np.random.default_rng(0), carried_out=[step])
    view = judge(of)[0].view.categorical
    town = view.variables[0]
    assert town.matrix
    counts = before["town"].cat.codes.value_counts().sort_index().to_numpy(float)
    probabilities = original_probabilities(counts, np.full((3, 3), 0.2) + 0.4 * np.eye(3))
    released = masked["town"].cat.codes.value_counts().sort_index().to_numpy(float)
    assert town.ebil == pytest.approx(ebil(probabilities, released) / len(before), abs=0.01)
    twice = Comparison(
        before, before, masked, None, variables, variables, np.random.default_rng(0), carried_out=[step, step]
    )
    again = judge(twice)[0].view.categorical
    assert not again.variables[0].matrix


def test_probabilities_released_in_place_of_labels_leave_open_what_they_say() -> None:
    original = towns()
    certain = pd.DataFrame({f"town={town}": (original["town"] == town).astype(float) for town in "abc"})
    halves = certain.assign(**{"town=a": 0.5, "town=b": 0.5, "town=c": 0.0})
    rest = original[["sex"]]
    known = judge(files(original, certain.join(rest), rest))[1]
    assert (known["ebil"].observed, known["category_distance"].observed) == (0, 0)
    found, vague = judge(files(original, halves.join(rest), rest))
    town = found.view.categorical.variables[0]
    assert (town.released, town.matrix, town.ebil, town.pril) == (True, True, 1.0, None)  # c was said to be impossible
    assert vague["category_distance"].observed == pytest.approx((1 + (original["town"] == "c").mean()) / 4)


def test_a_category_of_few_records_is_not_told_by_what_it_leaves_open() -> None:
    original = towns()
    original.loc[:2, "town"] = "d"
    masked = original.replace({"town": {"d": "a"}})
    view = judge(files(original, masked, masked))[0].view.categorical
    assert view.variables[0].ebil == 0
    blanked = original.assign(town=original["town"].where(original["town"] != "d"))
    view = judge(files(original, blanked, original))[0].view.categorical
    assert (view.variables[0].ebil, view.variables[0].distance) == (None, None)
