from typing import Any

import numpy as np
import pandas as pd
import pytest

from policies.original_and_masked import OriginalAndMasked
from policies.utility.limits import Utility, UtilityLimits
from sluice.utility.continuous.mean_variations import mean_variations
from sluice.utility.continuous.probabilistic_information_loss import probabilistic_information_loss
from sluice.variables import Role
from sluice.verdict import Finding, Verdict
from tests.golden import golden
from tests.typed_frame import typed_frame

MEASURES = ("apil", "eigenvalues", "mean_variations")


def numbers(n: int = 400, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.normal(loc=9, size=n)
    return pd.DataFrame({"x": x, "y": x + rng.normal(size=n), "z": rng.normal(loc=5, size=n)})


def files(original: pd.DataFrame, masked: pd.DataFrame, recoded: pd.DataFrame | None = None) -> OriginalAndMasked:
    before, variables = typed_frame(original)
    after, released = typed_frame(masked)
    between = before[list(masked)] if recoded is None else typed_frame(recoded)[0]
    return OriginalAndMasked(before, between, after, None, variables, released, np.random.default_rng(0))


def judge(of: OriginalAndMasked, **limits: Any) -> tuple[Utility, dict[str, Finding]]:
    found = UtilityLimits.model_validate(limits).find(of)
    return found, {finding.rule: finding for finding in found.findings}


def test_an_unchanged_file_loses_nothing() -> None:
    original = numbers()
    found, findings = judge(files(original, original), **{name: {"at_most": 1e-9} for name in MEASURES})
    assert all(findings[name].verdict is Verdict.PASS and findings[name].completed == 3 for name in MEASURES)
    assert found.view.continuous is not None
    assert found.view.continuous.comparisons.values.mean_square_error == 0


@pytest.mark.parametrize("measure", MEASURES)
def test_each_limit_fails_beyond_it_and_passes_at_it(measure: str) -> None:
    original = numbers()
    of = files(original, original + np.random.default_rng(1).normal(scale=0.3, size=original.shape))
    observed = judge(of)[1][measure].observed
    assert observed is not None
    assert observed > 0
    assert judge(of, **{measure: {"at_most": observed}})[1][measure].verdict is Verdict.PASS
    failed = judge(of, **{measure: {"at_most": observed * 0.99}})[1][measure]
    assert failed.verdict is Verdict.FAIL
    golden.words(failed.says)


def test_the_figures_are_those_of_the_measures() -> None:
    original = numbers()
    masked = original * 1.1
    findings = judge(files(original, masked))[1]
    before, after = original.to_numpy(), masked.to_numpy()
    assert findings["apil"].observed == pytest.approx(probabilistic_information_loss(before, after).average)
    assert findings["mean_variations"].observed == pytest.approx(mean_variations(before, after).loss)


def test_recoding_and_removal_are_losses() -> None:
    original = numbers()
    bands = pd.cut(original["x"], [-np.inf, 9, np.inf], labels=["low", "high"]).astype(object)
    recoded = original.assign(x=bands).drop(columns="z")
    kept = original.drop(columns="z")
    removed = judge(files(original, kept))[1]
    both = judge(files(original, recoded, recoded))[1]
    for name in MEASURES:
        assert 0 < removed[name].observed <= both[name].observed  # type: ignore[operator]
        assert (removed[name].attempted, removed[name].completed) == (3, 2)
        golden(removed[name].says)
    view = judge(files(original, recoded, recoded))[0].view.continuous
    assert view is not None
    assert (view.names, view.removed) == (("x", "y", "z"), ("z",))


def test_rows_that_are_no_pairs_leave_the_variations_unknown_and_a_small_file_shows_nothing() -> None:
    found, findings = judge(files(numbers(400), numbers(300)), mean_variations={"at_most": 9})
    assert findings["mean_variations"].verdict is Verdict.UNKNOWN
    assert findings["apil"].verdict is Verdict.PASS
    assert found.view.continuous is not None
    assert found.view.continuous.comparisons.values.mean_absolute_error is None
    assert judge(files(numbers(9), numbers(9)))[0].view.continuous is None


def test_weights_are_no_numbers_and_a_file_without_numbers_is_not_held_to_them() -> None:
    before, variables = typed_frame(numbers()[["x"]].assign(town="a"))
    variables = variables | {"x": variables["x"].model_copy(update={"role": Role.WEIGHT})}
    of = OriginalAndMasked(before, before, before, None, variables, variables, np.random.default_rng(0))
    findings = judge(of, **{name: {"at_most": 0} for name in MEASURES})[1]
    assert all(findings[name].verdict is Verdict.PASS and not findings[name].binding for name in MEASURES)


def test_no_records_are_unknown() -> None:
    full = files(numbers(), numbers())
    nobody = OriginalAndMasked(
        full.original.head(0), full.recoded.head(0), full.masked.head(0), None,
        full.variables, full.released, np.random.default_rng(0),
    )  # fmt: skip
    findings = judge(nobody, **{name: {"at_most": 1} for name in MEASURES})[1]
    assert all(findings[name].verdict is Verdict.UNKNOWN for name in MEASURES)
