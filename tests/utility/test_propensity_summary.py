from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.utility_limits import UtilityLimits
from sluice.ground.verdict import Finding, Verdict
from sluice.utility.marginals import MarginalLosses
from sluice.utility.propensity import Propensity
from sluice.utility.propensity_summary import propensity_curve, propensity_view, table_propensities
from tests.golden import golden
from tests.utility.files import data, files, judge

NAMES = ("a", "b", "c")
PAIRS = np.array([[0, 1], [0, 2], [1, 2]])
TRIPLE = np.array([[0, 1, 2]])


def losses(tables: np.ndarray, *values: float) -> MarginalLosses:
    return MarginalLosses(NAMES, tables.shape[1], tables, np.array(values), len(tables))


def test_the_matrix_has_the_released_variables_and_hides_what_few_records_make() -> None:
    found = table_propensities(
        losses(PAIRS, 4.0, 900.0, 1.234),
        losses(TRIPLE, 5.0),
        (losses(PAIRS, 0.2, 1.0, 0.005), losses(TRIPLE, 0.3)),
        {"a", "b"},
        1_000,
        10,
    )
    assert (found.names, found.mean) == (("a", "b"), 4.0)
    assert found.pairs == ((None, 4.0), (4.0, None))
    assert (found.worst_triples, found.triples, found.triples_of) == ((), 0, 0)
    whole = table_propensities(
        losses(PAIRS, 4.0, 900.0, 1.234),
        losses(TRIPLE, 5.0),
        (losses(PAIRS, 0.2, 1.0, 0.005), losses(TRIPLE, 0.3)),
        NAMES,
        1_000,
        10,
    )
    assert whole.pairs[1][2] is None  # 5 of 1,000 records differ
    assert [table.variables for table in whole.worst_pairs] == [("a", "c"), ("a", "b")]
    assert whole.worst_triples[0].standardised == 5.0


def test_without_pairs_or_records_there_is_nothing() -> None:
    nan = float("nan")
    none = losses(PAIRS, nan, nan, nan), losses(TRIPLE, nan)
    assert table_propensities(*none, none, NAMES, 0, 10) is None
    assert table_propensities(*none, none, {"a"}, 0, 10) is None
    assert propensity_view(Propensity(nan, nan, 0, np.zeros(0), np.zeros(0)), [], 10) is None


@given(st.integers(0, 2**32), st.integers(1, 300), st.integers(1, 300), st.integers(1, 30))
def test_no_small_count_is_drawn_and_nobody_is_left_out(seed: int, n: int, m: int, minimum_cell: int) -> None:
    rng = np.random.default_rng(seed)
    curve = propensity_curve(rng.beta(2, 3, n).round(1), rng.beta(3, 2, m).round(1), minimum_cell)
    if curve is None:
        return
    assert min(*curve.original, *curve.masked) >= minimum_cell
    assert (sum(curve.original), sum(curve.masked)) == (n, m)
    assert list(curve.scores) == sorted(curve.scores)


def test_the_curve_tells_moved_records_from_others() -> None:
    rng = np.random.default_rng(0)
    curve = propensity_curve(rng.normal(0.4, 0.05, 2_000), rng.normal(0.6, 0.05, 2_000), 10)
    assert curve.original[0] > curve.masked[0]
    assert curve.original[-1] < curve.masked[-1]
    assert propensity_curve(np.full(50, 0.5), np.full(50, 0.5), 10) is None  # one group alone
    view = propensity_view(Propensity(0.01, 2.0, 3, np.full(50, 0.5), np.full(150, 0.5)), ["x"], 10)
    assert (view.masked_share, view.curve, view.left_out) == (pytest.approx(0.75), None, ("x",))


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
