from typing import Any

import numpy as np
import pandas as pd
import pytest

from policies.utility_limits import Utility, UtilityLimits
from sluice.ground.variables import Kind, Role, Variable
from sluice.ground.verdict import Finding, Verdict
from sluice.utility.analyses.analysis_findings import unfit_analyses
from sluice.utility.analyses.asked_analyses import Analyses
from sluice.utility.comparison import Comparison

pytestmark = pytest.mark.chain

VARIABLES = {
    "x": Variable(name="x", kind=Kind.CONTINUOUS),
    "y": Variable(name="y", kind=Kind.CONTINUOUS),
    "town": Variable(name="town", kind=Kind.NOMINAL),
    "home": Variable(name="home", kind=Kind.INTEGER, role=Role.HOUSEHOLD),
}
RNG = np.random.default_rng(0)
GROUP = RNG.integers(0, 3, 240)
ORIGINAL = pd.DataFrame(
    {
        "x": np.array([0, 900, 0])[GROUP] + 60 * RNG.normal(size=240),
        "y": np.array([0, 0, 9])[GROUP] + 0.6 * RNG.normal(size=240),
        "town": pd.Categorical(["a"] * 240),
        "home": 1,
    }
)
CLUSTERING = {"name": "groups", "clusters": 3, "variables": ["x", "y"]}


def judge(clustering: dict[str, Any], masked: pd.DataFrame = ORIGINAL, paired: bool = True) -> tuple[Finding, Utility]:
    released = {name: VARIABLES[name] for name in masked}
    rng = np.random.default_rng(0)
    files = Comparison(
        ORIGINAL, ORIGINAL[list(masked)], masked, None, VARIABLES, released, rng, paired=paired
    )  # fmt: skip
    found = UtilityLimits.model_validate({"clusterings": [clustering]}).find(files)
    return next(finding for finding in found.findings if finding.rule == "clusterings"), found


def test_the_loss_of_the_adjusted_rand_index_has_a_limit() -> None:
    limit = {"loss": {"at_most": 0.2}}
    finding, found = judge(CLUSTERING | limit, ORIGINAL.assign(x=ORIGINAL["x"] + 5))
    assert (finding.verdict, finding.binding, finding.completed) == (Verdict.PASS, True, 240)
    assert [each.index for each in found.view.clusterings[0].indices] == [
        "rand", "jaccard", "adjusted_rand", "wallace", "mantaras",
    ]  # fmt: skip
    shuffled = ORIGINAL.assign(x=ORIGINAL["x"].sample(frac=1, random_state=0).to_numpy())
    finding, _ = judge(CLUSTERING | limit, shuffled)
    assert (finding.verdict, finding.scope) == (Verdict.FAIL, "groups")
    assert judge(CLUSTERING | limit, shuffled)[0] == finding


def test_clusters_of_a_file_without_a_variable_or_without_pairs() -> None:
    fewer, found = judge(CLUSTERING, ORIGINAL[["y", "town"]])
    assert fewer.observed > 0.2
    assert found.view.clusterings[0].left_out == ("x",)
    shuffled = ORIGINAL.sample(frac=1, random_state=0).reset_index(drop=True)
    assert judge(CLUSTERING, shuffled, paired=False)[0].verdict is Verdict.PASS
    assert judge(CLUSTERING | {"method": "fuzzy_c_means"})[0].observed == pytest.approx(0, abs=0.05)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"variables": ["x", "z"]}, "no variable 'z'"),
        ({"variables": ["town"]}, "must be a number or a date; it is nominal"),
        ({"variables": ["home"]}, "with role household"),
    ],
)
def test_a_clustering_that_does_not_fit_says_why(given: dict[str, Any], says: str) -> None:
    finding, found = judge(CLUSTERING | given | {"loss": {"at_most": 1}})
    assert (finding.verdict, finding.binding) == (Verdict.UNKNOWN, True)
    assert says in finding.says
    assert says in found.view.clusterings[0].says
    assert says in unfit_analyses(Analyses.model_validate({"clusterings": [CLUSTERING | given]}), VARIABLES)[0]


def test_no_complete_record_is_unknown() -> None:
    finding, _ = judge(CLUSTERING | {"clusters": 100, "loss": {"at_most": 1}}, ORIGINAL.assign(x=np.nan))
    assert finding.verdict is Verdict.UNKNOWN


def test_suppressing_the_records_that_moved_is_no_way_past_the_limit() -> None:
    """All but a few records lose their values: those that are left agree perfectly."""
    suppressed = ORIGINAL.assign(x=ORIGINAL["x"].where(np.arange(240) % 10 == 0), y=ORIGINAL["y"])
    suppressed.loc[np.arange(240) % 10 > 0, "y"] = np.nan
    finding, _ = judge(CLUSTERING | {"loss": {"at_most": 0.2}}, suppressed)
    assert (finding.verdict, finding.binding, finding.completed) == (Verdict.FAIL, True, 240)
    assert finding.observed > 0.5
