from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from policies.utility_limits import Utility, UtilityLimits
from sluice.ground.variables import Kind, Role, Variable
from sluice.ground.verdict import Finding, Verdict
from sluice.utility.analyses.analysis_findings import unfit_analyses
from sluice.utility.analyses.asked_analyses import Analyses
from sluice.utility.comparison import Comparison
from tests.golden import golden

pytestmark = pytest.mark.chain

LEVELS = ("low", "middle", "high")
VARIABLES = {
    "age": Variable(name="age", kind=Kind.CONTINUOUS),
    "town": Variable(name="town", kind=Kind.NOMINAL, categories=("a", "b")),
    "pay": Variable(name="pay", kind=Kind.ORDINAL, categories=LEVELS),
    "note": Variable(name="note", kind=Kind.TEXT),
}
PREDICTION = {"name": "pay", "target": "pay", "learners": ["logistic"]}


def people(n: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    age, town = rng.uniform(18, 65, n), rng.integers(0, 2, n)
    level = np.digitize(age + 20 * town + 8 * rng.normal(size=n), [40, 60])
    return pd.DataFrame(
        {
            "age": age,
            "town": pd.Categorical.from_codes(town, ["a", "b"]),
            "pay": pd.Categorical.from_codes(level, LEVELS, ordered=True),
            "note": "x",
        }
    )


ORIGINAL = people(900, 0)
HOLDOUT = people(300, 1)


def judge(prediction: dict[str, Any], masked: pd.DataFrame = ORIGINAL, **given: Any) -> tuple[list[Finding], Utility]:
    released = given.pop("released", {name: VARIABLES[name] for name in masked})
    recoded = given.pop("recoded", ORIGINAL[list(masked)])
    rng = np.random.default_rng(0)
    files = Comparison(
        ORIGINAL, recoded, masked, given.pop("holdout", None), VARIABLES, released, rng, **given
    )  # fmt: skip
    found = UtilityLimits.model_validate({"predictions": [prediction]}).find(files)
    return [finding for finding in found.findings if finding.rule == "predictions"], found


def test_people_who_were_held_out_are_predicted_and_the_limit_decides() -> None:
    given = {"holdout": HOLDOUT, "recoded_holdout": HOLDOUT}
    findings, found = judge(PREDICTION | {"ratio": {"at_least": 0.9}}, **given)
    assert (findings[0].verdict, findings[0].scope, findings[0].completed) == (Verdict.PASS, "pay: logistic", 300)
    assert findings[0].observed == pytest.approx(1, abs=0.02)
    shown = found.view.predictions[0]
    assert (shown.predicted, shown.learners[0].learnt) == (300, 900)
    shuffled = ORIGINAL.assign(pay=ORIGINAL["pay"].sample(frac=1, random_state=0).array)
    findings, _ = judge(PREDICTION | {"ratio": {"at_least": 0.9}}, shuffled, **given)
    assert findings[0].verdict is Verdict.FAIL
    golden(findings[0].says)


def test_without_a_holdout_three_records_of_ten_are_predicted_and_not_learned_from() -> None:
    findings, found = judge(PREDICTION)
    assert (findings[0].completed, findings[0].binding) == (270, False)
    assert found.view.predictions[0].learners[0].learnt == 630
    assert judge(PREDICTION)[0] == findings  # the same release draws the same
    unpaired = ORIGINAL.sample(frac=0.9, random_state=1).reset_index(drop=True)
    assert judge(PREDICTION, unpaired, paired=False)[0][0].verdict is Verdict.PASS


def test_a_target_that_was_merged_or_removed_is_not_predicted() -> None:
    merged = ORIGINAL.assign(pay=pd.Categorical(["any"] * 900, ["any"], ordered=True))
    groups = VARIABLES | {"pay": Variable(name="pay", kind=Kind.ORDINAL, categories=("any",))}
    findings, _ = judge(PREDICTION | {"ratio": {"at_least": 0.5}}, merged, released=groups, recoded=merged)
    assert (findings[0].verdict, findings[0].observed) == (Verdict.FAIL, 0)
    findings, _ = judge(PREDICTION | {"ratio": {"at_least": 0.5}}, ORIGINAL[["age", "town"]])
    assert (findings[0].verdict, findings[0].observed) == (Verdict.FAIL, 0)


def test_numbers_in_groups_still_predict() -> None:
    labels = ("under 30", "30 to 49", "50 and over")
    recoded = ORIGINAL.assign(age=pd.cut(ORIGINAL["age"], [0, 30, 50, 99], labels=labels))
    groups = VARIABLES | {"age": Variable(name="age", kind=Kind.ORDINAL, categories=labels)}
    findings, _ = judge(PREDICTION, recoded, released=groups, recoded=recoded)
    assert 0.7 < findings[0].observed < 1.01


def test_what_nobody_can_predict_is_unknown() -> None:
    chance = ORIGINAL.assign(pay=ORIGINAL["pay"].sample(frac=1, random_state=3).array)
    files = Comparison(chance, chance, chance, None, VARIABLES, VARIABLES, np.random.default_rng(0))
    limits = {"predictions": [PREDICTION | {"variables": ["town"], "ratio": {"at_least": 0.1}}]}
    finding = UtilityLimits.model_validate(limits).find(files).findings[-1]
    assert (finding.verdict, finding.binding) == (Verdict.UNKNOWN, True)
    golden.words(finding.says)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"target": "payy"}, "no variable 'payy'. Did you mean 'pay'"),
        ({"target": "age"}, "must have categories; it is continuous"),
        ({"variables": ["note"]}, "of kind text"),
        ({"variables": ["pay"]}, "is the target itself"),
    ],
)
def test_a_prediction_that_does_not_fit_says_why(given: dict[str, Any], says: str) -> None:
    findings, found = judge(PREDICTION | given | {"ratio": {"at_least": 0.1}})
    assert findings[0].verdict is Verdict.UNKNOWN
    assert says in findings[0].says
    assert says in found.view.predictions[0].says
    declared = Analyses.model_validate({"predictions": [PREDICTION | given]})
    assert says in unfit_analyses(declared, VARIABLES)[0]


def test_other_learners_are_refused() -> None:
    with golden.raises(ValidationError):
        UtilityLimits.model_validate({"predictions": [PREDICTION | {"learners": ["boosting"]}]})


def test_the_worst_subgroup_of_the_people_is_named_and_held_to_its_limit() -> None:
    """In town b pay is drawn anew: who learned from the file knows nothing of it."""
    masked = ORIGINAL.copy()
    there = (masked["town"] == "b").to_numpy()
    masked.loc[there, "pay"] = np.random.default_rng(5).permutation(masked.loc[there, "pay"])
    asked = PREDICTION | {"by": "town", "ratio": {"at_least": 0.5}, "subgroup_ratio": {"at_least": 0.99}}
    given = {"holdout": HOLDOUT, "recoded_holdout": HOLDOUT}
    findings, found = judge(asked, masked, **given)
    assert [each.scope for each in findings] == ["pay: logistic", "pay: logistic, by town"]
    worst = findings[1]
    assert (worst.verdict, worst.completed) == (Verdict.FAIL, 2)
    golden(worst.says)
    (learner,) = found.view.predictions[0].learners
    assert len(learner.subgroups) == 2
    assert worst.observed == pytest.approx(learner.subgroups[0].ratio, abs=0.0006)
    same = judge(asked, **given)[0][1]
    assert (same.verdict, same.observed) == (Verdict.PASS, 1)


def test_subgroups_need_a_variable_and_enough_people() -> None:
    golden.refused(ValidationError, judge, PREDICTION | {"subgroup_ratio": {"at_least": 0.9}})
    findings, found = judge(PREDICTION | {"by": "age", "subgroup_ratio": {"at_least": 0.9}})
    assert {each.verdict for each in findings} == {Verdict.UNKNOWN}
    golden.words(findings[1].says)
    few = HOLDOUT.head(150)
    findings, found = judge(
        PREDICTION | {"by": "town", "subgroup_ratio": {"at_least": 0.9}}, holdout=few, recoded_holdout=few
    )
    assert (findings[1].verdict, findings[1].binding) == (Verdict.UNKNOWN, True)
    golden(findings[1].says)
    assert found.view.predictions[0].learners[0].subgroups == ()


def test_where_the_original_does_no_better_than_to_guess_nothing_is_known_of_subgroups_either() -> None:
    original, holdout = (
        each.assign(age=0.0, pay=each["pay"].sample(frac=1, random_state=8).set_axis(each.index))
        for each in (ORIGINAL, HOLDOUT)
    )
    variables = {name: VARIABLES[name] for name in original}
    files = Comparison(
        original, original, original, holdout, variables, variables, np.random.default_rng(0), recoded_holdout=holdout
    )
    asked = PREDICTION | {"by": "town", "subgroup_ratio": {"at_least": 0.5}}
    found = UtilityLimits.model_validate({"predictions": [asked]}).find(files)
    overall, worst = (each for each in found.findings if each.rule == "predictions")
    golden.words(overall.says)
    assert (worst.verdict, worst.binding) == (Verdict.UNKNOWN, True)
    golden.words(worst.says)


def test_one_heavy_person_to_predict_is_too_few() -> None:
    """Of people set aside, too: whether the heavy one is predicted rightly would be the F measure."""
    weight = Variable(name="weight", kind=Kind.CONTINUOUS, role=Role.WEIGHT)
    original, holdout = ORIGINAL.assign(weight=1.0), HOLDOUT.assign(weight=1.0)
    holdout.loc[0, "weight"] = 1e9
    variables = VARIABLES | {"weight": weight}
    files = Comparison(
        original, original, original, holdout, variables, variables, np.random.default_rng(0), recoded_holdout=holdout
    )
    limits = UtilityLimits.model_validate({"predictions": [PREDICTION | {"ratio": {"at_least": 0.5}}]})
    (finding,) = (each for each in limits.find(files).findings if each.rule == "predictions")
    assert (finding.verdict, finding.observed) == (Verdict.UNKNOWN, None)
    golden.words(finding.says)
