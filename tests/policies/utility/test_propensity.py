from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from policies.utility.limits import UtilityLimits
from sluice.verdict import Finding, Verdict
from tests.golden import golden
from tests.policies.utility.test_marginals import data, files, judge


def findings(original: pd.DataFrame, masked: pd.DataFrame, at_most: float) -> dict[str, Finding]:
    limits = {"propensity": {"at_most": at_most}, "pair_propensity": {"at_most": at_most}}
    return judge(files(original, masked), **limits)[1]


def test_an_unchanged_file_is_at_0_and_a_moved_one_beyond_the_limit() -> None:
    original = data(1_000)
    for name in ("propensity", "pair_propensity"):
        same = findings(original, original, 0.001)[name]
        assert (same.verdict, same.observed) == (Verdict.PASS, pytest.approx(0, abs=1e-6))
        moved = findings(original, original.assign(x=original["x"] + 0.5), 3)[name]
        assert moved.verdict is Verdict.FAIL
        assert moved.observed is not None
        assert moved.observed > 3
        golden(moved.says)


def test_what_goes_together_is_seen_by_pairs_alone() -> None:
    original = data(2_000)
    rng = np.random.default_rng(1)
    apart = original.assign(x=rng.permutation(original["x"].to_numpy()))
    found = findings(original, apart, 3)
    assert found["propensity"].observed == pytest.approx(0, abs=1e-6)
    assert found["pair_propensity"].observed is not None
    assert found["pair_propensity"].observed > 1
    view = UtilityLimits().find(files(original, apart)).view
    assert view.table_propensity is not None
    assert view.table_propensity.worst_pairs[0].variables == ("town", "x")
    assert view.table_propensity.worst_triples[0].variables == ("town", "sex", "x")
    assert view.propensity is not None
    assert view.propensity.curve is None  # nothing to tell apart


def test_removed_variables_are_left_out_and_named() -> None:
    original = data(500)
    found, by_rule = judge(files(original, original[["town", "sex"]]), propensity={"at_most": 1})
    finding = by_rule["propensity"]
    assert (finding.verdict, finding.attempted, finding.completed) == (Verdict.PASS, 3, 2)
    golden(finding.says)
    assert found.view.propensity is not None
    assert found.view.propensity.left_out == ("x",)
    assert (by_rule["pair_propensity"].attempted, by_rule["pair_propensity"].completed) == (3, 1)


def test_one_variable_has_no_pairs_and_no_record_is_unknown() -> None:
    original = data(300)
    one = findings(original[["town"]], original[["town"]], 1)["pair_propensity"]
    assert (one.verdict, one.binding) == (Verdict.PASS, False)
    nobody = findings(original, original.head(0), 1)
    assert nobody["propensity"].verdict is Verdict.UNKNOWN
    assert nobody["pair_propensity"].verdict is Verdict.UNKNOWN


def test_who_removes_the_variables_does_not_escape_the_limits() -> None:
    original = data(300)
    left = findings(original, original[["town"]], 1)["pair_propensity"]
    assert (left.verdict, left.binding, left.observed, left.completed) == (Verdict.FAIL, True, None, 0)
    of = files(original, original[["town"]])
    other = {"place": of.released["town"].model_copy(update={"name": "place"})}
    renamed = of.masked.rename(columns={"town": "place"})
    limits = {"propensity": {"at_most": 1}, "pair_propensity": {"at_most": 1}}
    found = judge(replace(of, masked=renamed, recoded=renamed, released=other), **limits)[1]
    assert all((found[name].verdict, found[name].binding) == (Verdict.FAIL, True) for name in limits)
