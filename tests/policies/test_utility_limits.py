from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import BaseModel

from policies.utility_limits import FAMILIES, UtilityLimits, _window, limits_on, score
from sluice.documents.document_reading import parse_document
from sluice.ground.errors import DocumentError
from sluice.ground.variables import Kind, Role, Variable
from sluice.ground.verdict import Finding, Verdict, decide
from sluice.masking.swapping.rank_swapping import RankSwapping
from sluice.risk.linkage.linkage_score import disclosure_risk
from sluice.utility.comparison import Comparison
from sluice.utility.continuous.mean_variations import il1s, mean_variations
from sluice.utility.continuous.moments import moment_differences
from sluice.utility.measured import WORST, Found, Limit, ShareLimit
from sluice.utility.utility_measure import Family, Figure, Measure, Occasion
from sluice.utility.utility_measures import measures_table
from tests.golden import golden

MEASURES = [
    "mean",
    "variance",
    "correlation",
    "rank_correlation",
    "il1s",
    "changed_share",
    "suppressed_share",
    "entropy",
]
VARIABLES = {
    "x": Variable(name="x", kind=Kind.CONTINUOUS),
    "y": Variable(name="y", kind=Kind.CONTINUOUS),
    "town": Variable(name="town", kind=Kind.NOMINAL),
}
TOWN = {"town": VARIABLES["town"]}


def typed(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    return pd.DataFrame(
        {"x": x, "y": x + rng.normal(size=n), "town": pd.Categorical(rng.choice(["a", "b"], n), categories=["a", "b"])}
    )


def files(original: pd.DataFrame, masked: pd.DataFrame, released: Any = VARIABLES, recoded: Any = None) -> Comparison:
    recoded = original if recoded is None else recoded
    return Comparison(original, recoded, masked, None, VARIABLES, released, np.random.default_rng(0), minimum_cell=1)


def find(
    limits: UtilityLimits, original: pd.DataFrame, masked: pd.DataFrame, released: Any = VARIABLES
) -> dict[str, Finding]:
    findings = limits.find(files(original, masked, released)).findings
    findings = tuple(finding for finding in findings if finding.rule in MEASURES)  # the others have tests of their own
    assert [finding.rule for finding in findings] == MEASURES
    assert all(finding.stage == "utility" and finding.says.endswith(".") for finding in findings)
    return {finding.rule: finding for finding in findings}


def test_the_figures_are_those_of_the_measures() -> None:
    original = typed(50)
    masked = original.assign(x=original["x"] + 1)
    found = find(UtilityLimits(), original, masked)
    before, after = original[["x", "y"]].to_numpy(), masked[["x", "y"]].to_numpy()
    moments = moment_differences(before, after)
    assert [found[name].observed for name in MEASURES[:4]] == pytest.approx(list(moments))
    assert found["il1s"].observed == pytest.approx(il1s(before, after))
    assert (found["mean"].attempted, found["mean"].completed) == (3, 2)


def test_the_shares_are_those_of_the_worst_variable() -> None:
    original = typed(10)
    masked = original.copy()
    masked.loc[:3, "x"] = 0.0
    masked.loc[:1, "town"] = None
    found = find(UtilityLimits(), original, masked)
    assert (found["changed_share"].observed, found["changed_share"].scope) == (0.4, "x")
    assert (found["suppressed_share"].observed, found["suppressed_share"].scope) == (0.2, "town")
    golden(found["suppressed_share"].says)


def test_the_entropy_is_that_of_the_variable_which_lost_most() -> None:
    original = typed(400).assign(town=pd.Categorical(["a", "b"] * 200))
    masked = original.assign(town=pd.Categorical(["a"] * 400, categories=["a", "b"]))
    finding = find(UtilityLimits(), original, masked)["entropy"]
    assert (finding.observed, finding.scope, finding.attempted, finding.completed) == (1.0, "town", 3, 3)
    golden(finding.says)


def all_limits() -> UtilityLimits:
    return UtilityLimits.model_validate({name: {"at_most": 1} for name in MEASURES})


def test_numbers_of_which_no_value_is_left_are_lost_whatever_the_plan_calls_it() -> None:
    """Else whoever suppresses the number that moved most keeps the limit on those that are left."""
    original = typed(20)
    all_missing = find(all_limits(), original, original.assign(x=np.nan, y=np.nan))
    assert {all_missing[name].verdict for name in MEASURES[:5]} == {Verdict.FAIL}
    golden.words(all_missing["mean"].says)
    one_left = find(all_limits(), original, original.assign(y=np.nan))
    golden.words(one_left["mean"].says)
    golden.words(one_left["correlation"].says)


def test_who_leaves_one_number_has_lost_what_went_together() -> None:
    original = typed(400)
    one = {name: VARIABLES[name] for name in ("x", "town")}
    one_number = find(all_limits(), original, original[["x", "town"]], one)
    assert (one_number["mean"].verdict, one_number["mean"].binding) == (Verdict.PASS, True)
    for name in ("correlation", "rank_correlation"):
        assert (one_number[name].verdict, one_number[name].binding) == (Verdict.FAIL, True)
        golden.words(one_number[name].says)


def test_of_a_new_variable_no_cell_was_changed() -> None:
    original = typed(20)
    released = {**VARIABLES, "group": Variable(name="group", kind=Kind.CONTINUOUS)}
    found = find(all_limits(), original, original.assign(group=1.0), released)
    finding = found["changed_share"]
    assert (finding.verdict, finding.attempted, finding.completed) == (Verdict.PASS, 3, 3)


def test_a_variable_that_cannot_be_compared_makes_the_shares_unknown() -> None:
    original = typed(20)
    findings = all_limits().find(files(original, original, recoded=original.drop(columns="x"))).findings
    finding = next(finding for finding in findings if finding.rule == "changed_share")
    assert (finding.verdict, finding.attempted, finding.completed) == (Verdict.UNKNOWN, 3, 2)


def test_a_changed_constant_is_an_unbounded_loss_not_a_missing_one() -> None:
    original = typed(20).assign(x=1.0, y=2.0)
    found = find(all_limits(), original, original.assign(x=3.0, y=4.0))
    for name in ("mean", "il1s"):
        assert (found[name].verdict, found[name].observed) == (Verdict.FAIL, None)
        golden.words(found[name].says)


class _Document(BaseModel):
    utility: UtilityLimits


def test_limits_load_from_a_document_and_wrong_ones_are_refused() -> None:
    loaded = parse_document(_Document, {"utility": {"mean": {"at_most": 0.1}}}, "policy").utility
    assert loaded == UtilityLimits(mean=Limit(at_most=0.1))
    assert ShareLimit(at_most=0.2).binding

    def refusal(**limits: Any) -> str:
        with pytest.raises(DocumentError) as error:
            parse_document(_Document, {"utility": limits}, "policy")
        return str(error.value)

    golden(refusal(correlations={"at_most": 0.1}))
    golden(refusal(mean={"at_most": -1}))
    golden(refusal(suppressed_share={"at_most": 20}))
    assert "utility.il1s.at_most" in refusal(il1s={})
    assert "finite" in refusal(variance={"at_most": float("inf")})


def test_numbers_that_were_recoded_are_held_to_the_limits_on_numbers() -> None:
    """A file whose numbers all became groups has means and correlations still, those of the groups' middles."""
    original = typed(400)
    halves = {
        name: pd.Series(pd.Categorical(np.where(original[name] < 0, "low", "high"), categories=["low", "high"]))
        for name in ("x", "y")
    }
    recoded = original.assign(**halves)
    released = VARIABLES | {name: Variable(name=name, kind=Kind.NOMINAL) for name in halves}
    found = {
        finding.rule: finding for finding in all_limits().find(files(original, recoded, released, recoded)).findings
    }
    centres = np.column_stack(
        [original[name].groupby(half, observed=True).mean()[half].to_numpy() for name, half in halves.items()]
    )
    expected = moment_differences(original[["x", "y"]].to_numpy(), centres)
    assert found["variance"].observed == pytest.approx(expected.variance)
    assert found["correlation"].observed == pytest.approx(expected.correlation)
    assert found["il1s"].observed == pytest.approx(il1s(original[["x", "y"]].to_numpy(), centres))
    assert all(
        found[name].binding and found[name].completed == 2 for name in ("mean", "variance", "correlation", "il1s")
    )


def counted_records(files: Comparison) -> Found:
    occasion = Occasion(1, (), ())
    kept = len(files.masked) / len(files.original)
    return Found({"records": RECORDS.judge(files, occasion, lambda: Figure(1 - kept, WORST(name="records"), 1))})


RECORDS = Measure("records", "share of the records that are gone", "How many are gone", "Keep more.", ShareLimit)


def test_a_measure_is_declared_and_nothing_else() -> None:
    families = (*FAMILIES, Family(counted_records, (RECORDS,)))
    limits = limits_on(families)
    assert limits.model_json_schema()["properties"]["records"]["description"] == RECORDS.description
    original = typed(200)
    judged = limits.model_validate({"records": {"at_most": 0.1}}).decide(files(original, original.head(100)))
    (finding,) = (each for each in judged if each.rule == "records")
    assert (finding.rule, finding.verdict, finding.observed) == ("records", Verdict.FAIL, 0.5)
    reported = limits().find(files(original, original.head(100))).findings
    assert "records" in {each.rule for each in reported}
    assert "| `records` | share of the records that are gone |" in measures_table(families)


def test_the_documentation_lists_every_measure_as_it_is_declared() -> None:
    table = measures_table(FAMILIES)
    text = (Path(__file__).parents[2] / "docs" / "utility.md").read_text(encoding="utf-8")
    assert table in text, f"docs/utility.md lists other measures, or in other words. It should say:\n{table}"


def test_weighted_figures_stand_beside_those_of_the_records() -> None:
    original = typed(400).assign(weight=np.where(np.arange(400) < 300, 1.0, 9.0))
    masked = original.copy()
    masked.loc[300:, "town"] = "a"
    weight = {"weight": Variable(name="weight", kind=Kind.CONTINUOUS, role=Role.WEIGHT)}
    variables = {**VARIABLES, **weight}
    rng = np.random.default_rng(0)
    of = Comparison(original, original, masked, None, variables, variables, rng, minimum_cell=5)
    found = UtilityLimits().find(of)
    assert found.view.unweighted is not None
    both = {each.name: each for each in found.view.unweighted}
    alike = replace(of, variables=VARIABLES, released=VARIABLES, rng=np.random.default_rng(0))
    bare = UtilityLimits().find(alike)
    assert bare.view.unweighted is None
    observed, without = ({each.rule: each.observed for each in one.findings} for one in (found, bare))
    for name in ("pair_marginals", "entropy", "cramers_v"):
        assert both[name].weighted == pytest.approx(observed[name], rel=0.01)
        assert both[name].unweighted == pytest.approx(without[name], rel=0.01)
        assert both[name].weighted != both[name].unweighted
    assert "changed_share" not in both  # cells are counted


def test_a_weight_that_was_removed_is_named_as_the_cause_of_what_only_it_moved() -> None:
    original = typed(400).assign(weight=np.where(np.arange(400) < 300, 1.0, 9.0))
    weight = {"weight": Variable(name="weight", kind=Kind.CONTINUOUS, role=Role.WEIGHT)}
    masked = original.drop(columns="weight")
    rng = np.random.default_rng(0)
    of = Comparison(original, masked, masked, None, {**VARIABLES, **weight}, VARIABLES, rng, minimum_cell=5)
    found = {each.rule: each for each in UtilityLimits().find(of).findings}
    golden(found["mean"].says)
    kept = replace(of, masked=original, recoded=original, released=of.variables, rng=np.random.default_rng(0))
    assert "The cause" not in "".join(each.says for each in UtilityLimits().find(kept).findings)


def test_a_limit_that_is_not_measured_is_refused() -> None:
    frame = typed(200)
    with pytest.raises(ValueError, match="declares"):
        Family(counted_records, ())(files(frame, frame))
    with pytest.raises(ValueError, match="one name"):
        limits_on((*FAMILIES, *FAMILIES))


def test_who_judges_many_files_asks_for_what_decides_alone() -> None:
    limits = UtilityLimits(mean=Limit(at_most=0.1), entropy=ShareLimit(at_most=0.5, binding=False))
    of = files(typed(200), typed(200, 1))
    every = {finding.rule: finding for finding in limits.find(of).findings}
    decisive = {finding.rule: finding for finding in limits.decide(of)}
    assert set(decisive) == {"mean", "variance", "correlation", "rank_correlation", "il1s"}
    assert all(decisive[name] == every[name] for name in decisive)
    assert decide(decisive.values()) is decide(every.values())
    assert "ebil" in {finding.rule for finding in limits.decide(of, ["ebil"])}
    assert UtilityLimits().decide(of) == ()


# The score of a paired file: its parts, its limit, and what it needs. The arithmetic is in tests/published.


NAMES = ("age", "height", "income")
SCORED = {
    name: Variable(name=name, kind=Kind.CONTINUOUS, role=role)
    for name, role in zip(NAMES, (Role.QUASI_IDENTIFIER, Role.QUASI_IDENTIFIER, Role.SENSITIVE), strict=True)
}
ORIGINAL = pd.DataFrame(np.random.default_rng(1).normal(10, 2, size=(500, 3)), columns=NAMES)
SWAPPING = RankSwapping(columns=NAMES, window=0.1)
SWAPPED = SWAPPING.mask(ORIGINAL, SCORED, np.random.default_rng(2))


def scored(masked: pd.DataFrame, **options: object) -> Comparison:
    rng = np.random.default_rng(0)
    return Comparison(ORIGINAL, ORIGINAL, masked, None, SCORED, SCORED, rng, **options)


def test_the_parts_add_up_to_the_risk_and_with_the_loss_to_the_score() -> None:
    found = score(scored(SWAPPED, carried_out=(SWAPPING,)), 0.3)
    view = found.view["score"]
    assert view.weighting == "table"
    assert set(view.parts) == {"rsld", "dld", "pld", "id"}
    assert view.disclosure_risk == pytest.approx(disclosure_risk("table", **view.parts))
    assert found.measured["score"].value == pytest.approx((0.3 + view.disclosure_risk) / 2)
    assert view.interval[0] <= view.disclosure_risk <= view.interval[1]


def test_of_several_windows_the_intruder_knows_the_widest() -> None:
    """By a narrower one the own record would often be no candidate, and the file would look safe."""
    narrow = RankSwapping(columns=NAMES, window=0.01)
    for steps in ((SWAPPING, narrow), (narrow, SWAPPING)):
        assert _window(scored(SWAPPED, carried_out=steps)) == SWAPPING.window


def test_without_a_known_window_the_intruder_has_none() -> None:
    view = score(scored(SWAPPED), 0.3).view["score"]
    assert view.weighting == "generic"
    assert view.weights == {"dld": 0.25, "pld": 0.25, "id": 0.5}


def test_verbatim_records_have_all_risk_and_no_loss() -> None:
    limits = UtilityLimits(score=Limit(at_most=0.4))
    utility = limits.find(scored(ORIGINAL))
    (finding,) = [finding for finding in utility.findings if finding.rule == "score"]
    assert utility.view.score.disclosure_risk == pytest.approx(1)
    assert finding.observed == pytest.approx(0.5)
    assert finding.verdict is Verdict.FAIL


def test_the_loss_is_that_of_the_five_mean_variations() -> None:
    view = UtilityLimits(score=Limit(at_most=1)).find(scored(SWAPPED)).view.score
    assert view.information_loss == pytest.approx(mean_variations(ORIGINAL.to_numpy(), SWAPPED.to_numpy()).loss)


def test_no_part_tells_of_few_records() -> None:
    view = score(scored(SWAPPED, minimum_cell=50), 0.3).view["score"]
    for name in ("dld", "pld"):
        assert view.parts[name] * 10 == pytest.approx(round(view.parts[name] * 10))  # of 500 records, 50 at a time


def test_it_is_measured_where_it_has_a_limit_and_unknown_without_pairs() -> None:
    assert "score" not in {finding.rule for finding in UtilityLimits().find(scored(SWAPPED)).findings}
    found = UtilityLimits(score=Limit(at_most=1)).find(scored(SWAPPED, paired=False)).findings
    assert next(finding for finding in found if finding.rule == "score").verdict is Verdict.UNKNOWN
