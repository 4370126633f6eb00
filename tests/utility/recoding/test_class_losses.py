import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from sluice.generalization.objectives.class_losses import Classification, Discernibility
from sluice.ground.errors import DataError
from sluice.utility.recoding.recoding_measures import class_losses, misclassified
from tests.generalization.small_files import SmallFile, small_files
from tests.golden import golden
from tests.utility.recoding.test_cell_losses import as_frames, without_missing


@given(small_files().filter(without_missing))
def test_the_losses_are_those_of_the_search(file: SmallFile) -> None:
    _, _, masked, _ = as_frames(file)
    keys = list(masked.columns)
    found = class_losses(masked, keys)
    expected = Discernibility().of(file.bottom).value(file.node, file.hidden_classes)
    assert found.discernibility == pytest.approx(expected)
    assert found.average == pytest.approx(file.n / found.classes)
    assert 0 < found.confusion <= 1
    for name, values in file.sensitive.items():
        masked[name] = pd.Categorical(np.where(values < 0, None, values.astype(str)))
        expected = Classification(name).of(file.bottom).value(file.node, file.hidden_classes)
        share = misclassified(masked, keys, name)
        assert share == pytest.approx(expected) or (np.isnan(share) and not (values >= 0).any())


def test_worked_by_hand() -> None:
    file = pd.DataFrame(
        {"age": ["20s", "20s", "20s", "30s", None], "sick": ["y", "y", "n", "n", "n"]}, dtype="category"
    )
    found = class_losses(file, ["age"])
    # 3 x 3 + 1 + the suppressed record, which is alike with all 5
    assert (found.discernibility, found.classes, found.average) == (15, 3, pytest.approx(5 / 3))
    assert found.confusion == pytest.approx(15 / 25)
    # one of the three, and the suppressed one
    assert misclassified(file, ["age"], "sick") == pytest.approx(2 / 5)


def test_extremes_and_refusals() -> None:
    alike = pd.DataFrame({"age": ["a"] * 4, "sick": [None] * 4}, dtype="category")
    assert class_losses(alike, ["age"])[:3] == (16, 1, 1)
    assert np.isnan(misclassified(alike, ["age"], "sick"))
    assert np.isnan(class_losses(alike.head(0), ["age"]).average)
    golden.refused(DataError, class_losses, alike, [])
    golden.refused(DataError, misclassified, alike, ["age"], "age")
