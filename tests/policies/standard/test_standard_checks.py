"""The gate: what must pass it, what must not, and for which reason. Published verdicts are in tests/published."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.standard.standard_checks import PARTS
from sluice.ground.errors import DocumentError
from sluice.ground.verdict import Verdict, decide
from tests.golden import golden
from tests.policies.standard.population_sample import (
    HOLDOUT,
    NUMBERS,
    ORIGINAL,
    RECODED,
    SAFE,
    VARIABLES,
    judge,
    people,
    planted,
    recode,
    verdicts,
)
from tests.report.decided import misquoted


@pytest.mark.parametrize("masked", [SAFE, people(2000, 3), SAFE.iloc[:1950]])
def test_other_people_pass(masked):
    findings, _ = judge(ORIGINAL, masked)
    assert decide(findings.values()) is Verdict.PASS
    by_themselves = {
        "reidentification", "learned_linkage", "learned_claims", "learned_distance", "attribute_gain", "unique_values",
        "recovered_values", "hidden_names",
        "reconstructed_units", "reconstructed_claims",
    }  # fmt: skip
    assert set(findings) == {part.rule for part in PARTS} - {
        "worst_subgroup",
        "lone_copies",
        "numbers_alone",
        "transparency",
        *by_themselves,
    }


def test_the_original_itself_fails_in_every_way():
    findings, curves = judge(ORIGINAL, ORIGINAL.sample(frac=1, random_state=1))
    for rule in ("prediction_distance", "prediction_ambiguity", "closest_records", "near_copies", "exact_copies"):
        assert findings[rule].verdict is Verdict.FAIL
        assert findings[rule].observed == 1
    assert misquoted(findings.values()) == []
    assert curves["distance"].verdict is Verdict.FAIL
    assert (curves["distance"].grid[0], curves["distance"].masked[0]) == (0, 1)
    golden.words(findings["prediction_distance"].says)


def test_weak_noise_fails():
    rng = np.random.default_rng(4)
    masked = ORIGINAL.assign(**{name: ORIGINAL[name] + rng.normal(size=2000) * 0.3 for name in NUMBERS})
    findings, _ = judge(ORIGINAL, masked)
    assert findings["prediction_distance"].verdict is Verdict.FAIL
    assert findings["prediction_ambiguity"].verdict is Verdict.FAIL
    assert findings["exact_copies"].verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("original", "masked"),
    [(ORIGINAL.iloc[:0], SAFE), (ORIGINAL, SAFE.iloc[:0]), (ORIGINAL, SAFE.iloc[:5]), (ORIGINAL.iloc[:5], SAFE)],
)
def test_nothing_to_compare_is_unknown(original, masked):
    findings, curves = judge(original, masked, when_fewer="judge")
    assert verdicts(findings) == {"reference_size": Verdict.UNKNOWN}
    assert curves == {}


@pytest.mark.chain
def test_a_holdout_smaller_than_the_file_is_matched_in_size():
    findings, _ = judge(people(3000, 10), people(3000, 11), holdout=people(1200, 12), **HOLDOUT)
    assert decide(findings.values()) is Verdict.PASS  # unmatched, all 3,000 would lie nearer than 1,200 can
    findings, _ = judge(ORIGINAL, ORIGINAL, holdout=people(1200, 12), **HOLDOUT)
    assert findings["prediction_distance"].verdict is Verdict.FAIL


def test_copies_do_not_hide_in_the_part_of_the_file_left_out():
    original, other = people(3000, 10), people(3000, 11)
    masked = pd.concat([original.iloc[:60], other.iloc[60:]])  # 2 %; in a part of 1,200 records only 24 would be seen
    findings, _ = judge(original, masked, holdout=people(1200, 12), **HOLDOUT)
    assert findings["near_copies"].verdict is Verdict.FAIL
    assert findings["near_copies"].observed == pytest.approx(0.02, abs=0.001)
    assert findings["exact_copies"].verdict is Verdict.FAIL


@pytest.mark.parametrize("holdout", [None, people(1200, 12).iloc[:0]])
def test_without_its_holdout_the_standard_is_unknown(holdout):
    findings, _ = judge(ORIGINAL, SAFE, holdout=holdout, **HOLDOUT)
    assert verdicts(findings) == {"reference_size": Verdict.UNKNOWN}


def test_a_small_share_of_the_people_is_held_to_a_small_margin():
    sample = ORIGINAL.sample(frac=0.02, random_state=1)  # 40 verbatim records: an excess of 2 % of 2,000
    findings, _ = judge(ORIGINAL, sample)
    assert findings["prediction_distance"].limit == pytest.approx(0.001)
    assert findings["prediction_distance"].verdict > Verdict.PASS
    assert findings["exact_copies"].verdict is Verdict.FAIL
    assert decide(judge(ORIGINAL, people(1000, 3))[0].values()) is Verdict.PASS


def test_a_larger_file_is_not_closer_by_its_size():
    findings, _ = judge(ORIGINAL, people(8000, 3))
    assert findings["prediction_distance"].verdict is Verdict.PASS
    assert findings["near_copies"].verdict is Verdict.PASS


@pytest.fixture(scope="module")
def as_they_lie():
    """Two files, and what is found of them."""
    original, masked = ORIGINAL.iloc[:500], planted(0.02, noise=0.1).iloc[1500:]
    return original, masked, judge(original, masked)[0]


@pytest.mark.chain
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_order_and_index_do_not_show(as_they_lie, seed):
    rng = np.random.default_rng(seed)
    original, masked, base = as_they_lie
    order = rng.permutation(500)
    moved, _ = judge(
        original.iloc[order].set_axis(rng.permutation(5000)[:500]),
        masked.iloc[order].set_axis(rng.permutation(500)),  # as many: row i of both is one person
    )
    for rule, finding in base.items():
        assert (finding.verdict, finding.observed) == (moved[rule].verdict, pytest.approx(moved[rule].observed))


@pytest.mark.exhaustive
@given(seed=st.integers(0, 2**32))
def test_no_order_shows(as_they_lie, seed):
    test_order_and_index_do_not_show(as_they_lie, seed)


def test_recoded_variables():
    recoded = recode(ORIGINAL)
    findings, _ = judge(ORIGINAL, recode(SAFE), recoded=recoded, released=RECODED)
    assert decide(findings.values()) is Verdict.PASS
    assert findings["comparable_values"].observed == 0
    # Wider groups on two columns do not hide eight verbatim measurements: after the recoding the records are copies.
    findings, _ = judge(ORIGINAL, recoded, recoded=recoded, released=RECODED)
    assert findings["prediction_distance"].verdict is Verdict.FAIL
    assert findings["exact_copies"].verdict is Verdict.FAIL


@pytest.mark.chain
def test_suppressed_cells_do_not_make_a_verbatim_file_safe():
    gaps = np.random.default_rng(7).random((2000, 8)) < 0.25
    masked = ORIGINAL.assign(**{name: ORIGINAL[name].mask(gaps[:, j]) for j, name in enumerate(NUMBERS)})
    findings, _ = judge(ORIGINAL, masked)
    assert findings["prediction_distance"].verdict is Verdict.FAIL
    # Neither where the original has a few gaps of its own.
    original = ORIGINAL.assign(**{name: ORIGINAL[name].mask(ORIGINAL.index % 100 == 0) for name in NUMBERS})
    findings, _ = judge(original, masked)
    assert findings["prediction_distance"].verdict is Verdict.FAIL


def test_missing_values_on_both_sides():
    def gaps(frame, seed):
        holes = np.random.default_rng(seed).random((2000, 2)) < 0.2
        return frame.assign(x0=frame["x0"].mask(holes[:, 0]), sex=frame["sex"].mask(holes[:, 1]))

    assert decide(judge(gaps(ORIGINAL, 1), gaps(SAFE, 2))[0].values()) is Verdict.PASS
    original = gaps(ORIGINAL, 1)
    findings, _ = judge(original, original)
    assert findings["prediction_distance"].observed == 1
    assert findings["exact_copies"].observed == 1


@pytest.mark.chain
def test_a_large_file_is_judged_like_a_small_one(monkeypatch):
    # Once a file of more coordinates than fit into memory was not judged at all; now it is looked at part by part.
    expected = judge(ORIGINAL, SAFE)
    monkeypatch.setattr("sluice.risk.distances.neighbours._COORDINATES", 1000)
    assert judge(ORIGINAL, SAFE) == expected


def test_weights_change_what_counts():
    # Only x0 is copied. Weighted alone, its verbatim values are as near as in the reference's plenty or nearer.
    masked = SAFE.assign(x0=ORIGINAL["x0"])
    others = dict.fromkeys([name for name in VARIABLES if name != "x0"], 0.0)
    assert judge(ORIGINAL, masked)[0]["exact_copies"].verdict is Verdict.PASS
    assert judge(ORIGINAL, masked, weights=others)[0]["exact_copies"].verdict is Verdict.FAIL
    golden.refused(DocumentError, judge, ORIGINAL, SAFE, weights={"x99": 2.0})


def test_binding_decides_which_measures_count():
    findings, _ = judge(ORIGINAL, SAFE, binding=("distance",))
    assert [findings[f"prediction_{m}"].binding for m in ("distance", "ambiguity", "uncertainty")] == [
        True,
        False,
        False,
    ]
