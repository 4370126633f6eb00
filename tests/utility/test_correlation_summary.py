import numpy as np
import pandas as pd

from sluice.ground.verdict import Verdict
from tests.golden import golden
from tests.utility.files import files, judge


def data(n: int = 600, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n).round(3)
    town = np.select([x > 0.5, x > -0.5], ["a", "b"], "c")
    return pd.DataFrame(
        {"x": x, "y": (x + rng.normal(size=n)).round(3), "town": town, "club": rng.choice(["p", "q", "r"], n)}
    )


def test_an_unchanged_file_has_the_same_correlations() -> None:
    found, findings = judge(files(data(), data()))
    assert (findings["kendall"].completed, findings["cramers_v"].completed) == (1, 6)
    pearson, kendall, v = found.view.correlations.matrices
    assert [each.measure for each in (pearson, kendall, v)] == ["pearson", "kendall", "cramers_v"]
    assert v.names == ("x", "y", "town", "club")
    assert v.original[0][0] is None
    assert v.original == v.masked


def test_variables_that_were_masked_apart_are_named_and_fail() -> None:
    original = data()
    rng = np.random.default_rng(1)
    masked = original.assign(y=rng.permutation(original["y"].to_numpy()))
    found, findings = judge(files(original, masked), kendall={"at_most": 0.1}, cramers_v={"at_most": 0.01})
    kendall = findings["kendall"]
    assert kendall.verdict is Verdict.FAIL
    golden(kendall.says)
    assert findings["cramers_v"].verdict is Verdict.FAIL
    assert found.view.correlations.matrices[0].worst[0].variables == ("x", "y")


def test_what_few_records_have_is_not_shown() -> None:
    original = data()
    few = original.assign(y=original["y"].where(original.index < 5))
    view = judge(files(original, few))[0].view.correlations
    for each in view.matrices:
        assert each.masked[0][1] is None
        assert all("y" not in pair.variables for pair in each.worst)
