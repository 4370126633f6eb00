from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from policies.utility.limits import UtilityLimits
from sluice.ground.verdict import Finding, Verdict
from tests.golden import golden
from tests.policies.utility.files import data, files, judge


def findings(original: pd.DataFrame, masked: pd.DataFrame, at_most: float) -> dict[str, Finding]:
    limits = {"propensity": {"at_most": at_most}, "pair_propensity": {"at_most": at_most}}
    return judge(files(original, masked), **limits)[1]


def test_what_goes_together_is_seen_by_pairs_alone() -> None:
    original = data(2_000)
    rng = np.random.default_rng(1)
    apart = original.assign(x=rng.permutation(original["x"].to_numpy()))
    found = findings(original, apart, 3)
    assert found["propensity"].observed == pytest.approx(0, abs=1e-6)
    assert found["pair_propensity"].observed > 1
    view = UtilityLimits().find(files(original, apart)).view
    assert view.table_propensity.worst_pairs[0].variables == ("town", "x")
    assert view.table_propensity.worst_triples[0].variables == ("town", "sex", "x")
    assert view.propensity.curve is None  # nothing to tell apart


def test_variables_under_other_names_do_not_escape_the_limits() -> None:
    of = files(data(300), data(300)[["town"]])
    other = {"place": of.released["town"].model_copy(update={"name": "place"})}
    renamed = of.masked.rename(columns={"town": "place"})
    limits = {"propensity": {"at_most": 1}, "pair_propensity": {"at_most": 1}}
    found = judge(replace(of, masked=renamed, recoded=renamed, released=other), **limits)[1]
    assert all((found[name].verdict, found[name].binding) == (Verdict.FAIL, True) for name in limits)


def test_removed_variables_are_left_out_and_named() -> None:
    original = data(500)
    found, by_rule = judge(files(original, original[["town", "sex"]]), propensity={"at_most": 1})
    finding = by_rule["propensity"]
    assert (finding.verdict, finding.attempted, finding.completed) == (Verdict.PASS, 3, 2)
    golden(finding.says)
    assert found.view.propensity.left_out == ("x",)
    assert (by_rule["pair_propensity"].attempted, by_rule["pair_propensity"].completed) == (3, 1)
