from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from policies.policy import load_policy
from sluice.ground.variables import Role
from sluice.ground.verdict import Verdict
from sluice.utility.marginal_summary import marginals
from sluice.utility.marginals import marginal_losses
from sluice.utility.measured import Measured
from tests.golden import golden
from tests.utility.files import data, files, judge

POLICIES = Path(__file__).resolve().parents[2] / "policies"
SHIPPED = [path.stem for path in POLICIES.glob("*.yaml") if "\nutility:" in path.read_text(encoding="utf-8")]


def test_an_unchanged_file_loses_nothing_and_is_as_good_as_all_records() -> None:
    original = data(500)
    found, findings = judge(files(original, original))
    for name, tables in (("pair_marginals", 3), ("triple_marginals", 1)):
        assert (findings[name].attempted, findings[name].completed) == (tables, tables)
        golden(findings[name].says)
    assert found.view.marginals.pairs.by_variable == {"town": 0, "sex": 0, "x": 0}
    two = judge(files(data(2), data(2)), pair_marginals={"at_most": 0})[1]["pair_marginals"]
    assert "random sample" not in two.says  # of two records there is none


def test_what_a_variable_lost_is_not_what_the_removed_ones_lost() -> None:
    original = data(400)
    view = judge(files(original, original.drop(columns="x")))[0].view.marginals
    assert view.pairs.mean > 0
    assert view.pairs.by_variable == {"town": 0, "sex": 0}


def test_recoding_and_removal_are_losses_that_the_limit_sees() -> None:
    original = data(2_000)
    recoded = original.drop(columns="x").replace({"town": {"a": "ab", "b": "ab"}})
    of = files(original, recoded, recoded)
    found, findings = judge(of, pair_marginals={"at_most": 0.5})
    observed = findings["pair_marginals"].observed
    assert observed == pytest.approx(marginal_losses(of.common_bins, 2).mean)
    assert observed > 2 / 3  # two of the three pairs are lost whole
    assert findings["pair_marginals"].verdict is Verdict.FAIL
    golden.words(findings["pair_marginals"].says)
    pairs = found.view.marginals.pairs
    assert pairs.removed == ("x",)
    assert pairs.mean_released < 0.05
    assert [table.variables for table in pairs.worst] == [("town", "sex")]
    assert pairs.equivalent.share < 0.02


@cache
def of_nine(kind: type, way: str) -> tuple[Measured, Measured]:
    """What pairs lose of nine variables as they are, and of two as they are while the others tell nothing, in a way."""
    rng = np.random.default_rng(4)
    original = pd.DataFrame({f"answer_{number}": rng.integers(0, 5, 500) for number in range(9)}).astype(kind)
    lost = [*original.columns[2:]]
    match way:
        case "left out":
            masked = original.drop(columns=lost)
            recoded = masked
        case "one value":
            masked, recoded = original.assign(**dict.fromkeys(lost, original[lost[0]].iloc[0])), original
        case _:
            few = original.index >= (len(original) if way == "one group" else 490)
            masked = recoded = original.assign(**{each: original[each].where(few, "any") for each in lost})
    both = (files(original, original), files(original, masked, recoded))
    kept, two = (marginals(each).measured["pair_marginals"] for each in both)
    return kept, two


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.parametrize("kind", [int, str])
@pytest.mark.parametrize("way", ["left out", "one group", "one value", "one group, a few kept"])
def test_no_shipped_policy_passes_two_variables_of_nine(name: str, kind: type, way: str) -> None:
    """Every mean, variance and correlation of what is left is as it was."""
    limits = load_policy(POLICIES / f"{name}.yaml").utility
    kept, two = (each.finding("pair_marginals", limits.pair_marginals) for each in of_nine(kind, way))
    assert kept.verdict is Verdict.PASS
    assert two.verdict is Verdict.FAIL
    assert two.binding


def test_a_subsample_is_found_to_be_as_good_as_its_share() -> None:
    original = data(4_000)
    _, findings = judge(files(original, original.sample(frac=0.1, random_state=5)))
    for name in ("pair_marginals", "triple_marginals"):
        says = findings[name].says
        share = float(says.partition("random sample of ")[2].partition(" %")[0])
        assert 5 < share < 20


def test_records_weigh_what_the_contract_says() -> None:
    original = data(1_000).assign(weight=1.0)
    original.loc[original["town"] == "a", "weight"] = 9.0
    weighted = files(original, original, weight=Role.WEIGHT)
    assert [each.name for each in weighted.common_bins] == ["town", "sex", "x"]
    assert judge(weighted)[1]["pair_marginals"].observed == pytest.approx(0)
    without = original.drop(columns="weight")
    observed = judge(files(original, without, weight=Role.WEIGHT))[1]["pair_marginals"].observed
    assert observed > 0.2  # whoever has the file counts a tenth of what 'a' stands for


def test_the_view_tells_of_no_change_of_a_few_records() -> None:
    original = data(1_000)
    masked = original.copy()
    masked.loc[:2, "town"] = None
    found, findings = judge(files(original, masked), pair_marginals={"at_most": 0})
    assert found.view.marginals is None
    assert (findings["pair_marginals"].verdict, findings["pair_marginals"].observed) == (Verdict.FAIL, None)
    golden.words(findings["pair_marginals"].says)
    masked.loc[:19, "sex"] = None  # others, too, but of each table a few again
    masked.loc[20:39, "sex"] = "m"
    view = judge(files(original, masked))[0].view.marginals
    assert view.pairs.mean > 0


def test_a_variable_of_which_distributions_were_released_was_not_removed() -> None:
    original = data(400)
    shares = {f"town={town}": (original["town"] == town).astype(float) for town in "abcd"}
    masked = original.drop(columns="town").assign(**shares)
    found, findings = judge(files(original, masked, original))
    assert findings["pair_marginals"].observed == pytest.approx(0)
    assert findings["propensity"].observed == pytest.approx(0, abs=1e-6)
    assert findings["generalization"].observed == 0
    assert found.view.marginals.pairs.removed == ()


def test_what_a_sample_leaves_out_is_lost() -> None:
    original = data(4_000)
    kept = original.iloc[:200].reset_index(drop=True)
    of = files(kept, kept)
    others = files(original.iloc[200:].reset_index(drop=True), kept).original
    sampled = replace(of, left_out=(others, others))
    found, findings = judge(sampled, pair_marginals={"at_most": 0})
    assert judge(of)[1]["pair_marginals"].observed == 0
    assert findings["pair_marginals"].verdict is Verdict.FAIL
    equivalent = found.view.marginals.pairs.equivalent
    assert 0.02 < equivalent.share < 0.12
    assert len(sampled.bins_of_all[0].original) == 4_000
    assert sampled.weights_of_all == (None, None)
