import numpy as np
import pandas as pd

from sluice.ground.verdict import Verdict
from tests.policies.utility.files import files, judge

LIMITS = {"quantiles": {"at_most": 0.05}, "gini": {"at_most": 0.01}}


def data(n: int = 1_000) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {"income": np.exp(rng.normal(size=n)).round(4), "x": rng.normal(size=n), "town": list("ab") * (n // 2)}
    )


def test_an_unchanged_file_passes_and_top_coding_moves_inequality() -> None:
    original = data()
    same = judge(files(original, original))[1]
    assert (same["quantiles"].completed, same["gini"].completed) == (2, 1)  # x has negative values
    coded = original.assign(income=original["income"].clip(upper=2.0))
    found, findings = judge(files(original, coded), **LIMITS)
    assert (findings["gini"].verdict, findings["gini"].scope) == (Verdict.FAIL, "income")
    assert (findings["quantiles"].verdict, findings["quantiles"].scope) == (Verdict.FAIL, "income")
    income, x = found.view.quantiles.variables
    assert (income.name, x.name, x.gini) == ("income", "x", None)
    assert income.changes[:3] == (0, 0, 0)
    assert income.gini[1] < income.gini[0]


def test_groups_count_by_the_mean_of_what_they_stand_for() -> None:
    original = data()
    recoded = original.assign(income=np.where(original["income"] < 1, "low", "high"))
    findings = judge(files(original, recoded, recoded), **LIMITS)[1]
    assert findings["quantiles"].observed > 0.1
