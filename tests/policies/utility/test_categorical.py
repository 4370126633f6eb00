from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import pytest

from policies.original_and_masked import OriginalAndMasked
from policies.utility.limits import Utility, UtilityLimits
from sluice.masking.noise.pram import Pram
from sluice.masking.step import MaskingStep
from sluice.utility.categorical.entropy_based_loss import ebil, original_probabilities
from sluice.utility.divergence import entropy
from sluice.verdict import Finding, Verdict
from tests.typed_frame import typed_frame

MEASURES = ("category_distance", "ebil")


def towns(n: int = 1_000, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"town": rng.choice(list("abc"), n, p=[0.5, 0.3, 0.2]), "sex": rng.choice(["m", "f"], n)})


def files(
    original: pd.DataFrame,
    masked: pd.DataFrame,
    recoded: pd.DataFrame | None = None,
    steps: Sequence[MaskingStep] | None = None,
) -> OriginalAndMasked:
    before, variables = typed_frame(original)
    after, released = typed_frame(masked)
    between = before[list(masked)] if recoded is None else typed_frame(recoded)[0]
    rng = np.random.default_rng(0)
    return OriginalAndMasked(before, between, after, None, variables, released, rng, carried_out=steps)


def judge(of: OriginalAndMasked, **limits: Any) -> tuple[Utility, dict[str, Finding]]:
    found = UtilityLimits.model_validate(limits).find(of)
    return found, {finding.rule: finding for finding in found.findings}


def test_an_unchanged_file_loses_nothing() -> None:
    found, findings = judge(files(towns(), towns()), **{name: {"at_most": 0} for name in MEASURES})
    assert all((findings[name].verdict, findings[name].observed) == (Verdict.PASS, 0) for name in MEASURES)
    assert found.view.categorical is not None
    assert found.view.categorical.ctbil == 0
    assert (found.view.categorical.tables, found.view.categorical.counted) == (3, 3)


@pytest.mark.parametrize("measure", MEASURES)
def test_each_limit_fails_beyond_it_and_passes_at_it(measure: str) -> None:
    original = towns()
    of = files(original, original.assign(town=towns(seed=1)["town"]))
    observed = judge(of)[1][measure].observed
    assert observed is not None
    assert observed > 0.1
    assert judge(of, **{measure: {"at_most": observed}})[1][measure].verdict is Verdict.PASS
    failed = judge(of, **{measure: {"at_most": observed * 0.99}})[1][measure]
    assert failed.verdict is Verdict.FAIL
    assert "town" in failed.says


def test_recoding_and_removal_are_losses_against_the_unrecoded_original() -> None:
    original = towns()
    recoded = original.replace({"town": {"a": "a or b", "b": "a or b"}})[["town"]]
    found, findings = judge(files(original, recoded, recoded))
    share = (original["town"] != "c").mean()
    assert findings["category_distance"].observed == pytest.approx((share / 2 + 1) / 2)
    assert found.view.categorical is not None
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
    of = OriginalAndMasked(
        before, before, masked, None, variables, variables, np.random.default_rng(0), carried_out=[step]
    )
    view = judge(of)[0].view.categorical
    assert view is not None
    town = view.variables[0]
    assert town.matrix
    counts = before["town"].cat.codes.value_counts().sort_index().to_numpy(float)
    probabilities = original_probabilities(counts, np.full((3, 3), 0.2) + 0.4 * np.eye(3))
    released = masked["town"].cat.codes.value_counts().sort_index().to_numpy(float)
    assert town.ebil == pytest.approx(ebil(probabilities, released) / len(before), abs=0.01)
    twice = OriginalAndMasked(
        before, before, masked, None, variables, variables, np.random.default_rng(0), carried_out=[step, step]
    )
    again = judge(twice)[0].view.categorical
    assert again is not None
    assert not again.variables[0].matrix


def test_probabilities_released_in_place_of_labels_leave_open_what_they_say() -> None:
    original = towns()
    certain = pd.DataFrame({f"town={town}": (original["town"] == town).astype(float) for town in "abc"})
    halves = certain.assign(**{"town=a": 0.5, "town=b": 0.5, "town=c": 0.0})
    rest = original[["sex"]]
    known = judge(files(original, certain.join(rest), rest))[1]
    assert (known["ebil"].observed, known["category_distance"].observed) == (0, 0)
    found, vague = judge(files(original, halves.join(rest), rest))
    assert found.view.categorical is not None
    town = found.view.categorical.variables[0]
    assert (town.released, town.matrix, town.ebil, town.pril) == (True, True, 1.0, None)  # c was said to be impossible
    assert vague["category_distance"].observed == pytest.approx((1 + (original["town"] == "c").mean()) / 4)


def test_a_category_of_few_records_is_not_told_by_what_it_leaves_open() -> None:
    original = towns()
    original.loc[:2, "town"] = "d"
    masked = original.replace({"town": {"d": "a"}})
    view = judge(files(original, masked, masked))[0].view.categorical
    assert view is not None
    assert view.variables[0].ebil == 0
    blanked = original.assign(town=original["town"].where(original["town"] != "d"))
    view = judge(files(original, blanked, original))[0].view.categorical
    assert view is not None
    assert (view.variables[0].ebil, view.variables[0].distance) == (None, None)


def test_rows_that_are_no_pairs_are_unknown_and_a_file_without_categories_is_not_held_to_them() -> None:
    findings = judge(files(towns(100), towns(90)), **{name: {"at_most": 1} for name in MEASURES})[1]
    assert all(findings[name].verdict is Verdict.UNKNOWN for name in MEASURES)
    number = pd.DataFrame({"x": np.arange(50.0)})
    findings = judge(files(number, number), **{name: {"at_most": 0} for name in MEASURES})[1]
    assert all(findings[name].verdict is Verdict.PASS and not findings[name].binding for name in MEASURES)
