import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from sluice.generalization.objectives.class_losses import Classification, Discernibility
from sluice.ground.errors import DataError
from sluice.ground.variables import Role
from sluice.ground.verdict import Verdict
from sluice.utility.recoding.recoding_measures import RecodingView, class_losses, misclassified
from tests.generalization.small_files import SmallFile, small_files
from tests.golden import golden
from tests.utility.files import data, files, judge
from tests.utility.recoding.test_cell_losses import as_frames, without_missing

KEY = {"town": Role.QUASI_IDENTIFIER, "sick": Role.SENSITIVE}


def seen(original: pd.DataFrame, masked: pd.DataFrame, recoded: pd.DataFrame | None = None) -> RecodingView:
    view = judge(files(original, masked, recoded, **KEY))[0].view.recoding
    assert view is not None
    return view


def with_sick(n: int = 900) -> pd.DataFrame:
    rng = np.random.default_rng(5)
    return data(n).assign(sick=rng.choice(["yes", "no", "perhaps"], n))


def test_an_unchanged_file_loses_nothing() -> None:
    original = with_sick()
    view = seen(original, original)
    assert (view.keys, view.classes) == (("town",), 4)
    assert view.average_class == view.average_class_before == 225
    assert view.misclassified[0].before == view.misclassified[0].after
    assert {variable.certainty for variable in view.variables} == {0}


def test_groups_and_removal_count_against_the_unrecoded_original() -> None:
    original = with_sick()
    recoded = original.drop(columns="x").replace({"town": dict.fromkeys("abcd", "any")})
    of = files(original, recoded, recoded, **KEY)
    finding = judge(of, generalization={"at_most": 0.49}, query_error={"at_most": 0.01})[1]
    assert finding["generalization"].observed == pytest.approx(0.5)  # town and x of four variables, whole
    assert (finding["generalization"].verdict, finding["generalization"].scope) == (Verdict.FAIL, "town")
    golden(finding["generalization"].says)
    assert finding["query_error"].verdict is Verdict.FAIL
    golden.words(finding["query_error"].says)
    view = seen(original, recoded, recoded)
    assert [(each.name, each.certainty, each.removed) for each in view.variables[:2]] == [
        ("town", 1, False),
        ("x", 1, True),
    ]
    assert (view.classes, view.average_class, view.discernibility) == (1, 900, 1)
    assert view.queries_released.median < view.queries.median
    assert view.queries.asked == 500


def test_a_few_suppressed_cells_are_not_told() -> None:
    original = with_sick()
    masked = original.copy()
    masked.loc[:2, "town"] = None
    assert judge(files(original, masked))[0].view.recoding is None
    masked.loc[:19, "sick"] = "no"
    view = seen(original, masked)
    assert {variable.certainty for variable in view.variables} == {0}
    assert view.certainty > 0


def test_without_records_nothing_is_shown_and_without_keys_there_are_no_classes() -> None:
    original = with_sick()
    assert judge(files(original, original.head(0)))[0].view.recoding is None
    view = judge(files(original, original))[0].view.recoding
    assert (view.keys, view.classes, view.misclassified) == ((), None, ())


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
