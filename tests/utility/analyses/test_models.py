from typing import Any

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from policies.utility_limits import Utility, UtilityLimits
from sluice.ground.variables import Kind, Variable
from sluice.ground.verdict import Finding, Verdict
from sluice.utility.analyses.analysis_findings import unfit_analyses
from sluice.utility.analyses.asked_analyses import Analyses
from sluice.utility.comparison import Comparison
from tests.golden import golden

N = 600
VARIABLES = {
    "pay": Variable(name="pay", kind=Kind.CONTINUOUS),
    "age": Variable(name="age", kind=Kind.CONTINUOUS),
    "sex": Variable(name="sex", kind=Kind.BINARY, categories=("f", "m")),
}
RNG = np.random.default_rng(0)
AGE = RNG.uniform(18, 65, N)
ORIGINAL = pd.DataFrame(
    {
        "pay": AGE + 5 * RNG.normal(size=N),
        "age": AGE,
        "sex": pd.Categorical.from_codes(RNG.integers(0, 2, N), ["f", "m"]),
    }
)
MASKED = ORIGINAL.assign(age=AGE + 4 * RNG.normal(size=N))
MODEL = {"name": "pay by age", "kind": "linear", "formula": "pay ~ age + sex"}


def judge(model: dict[str, Any], masked: pd.DataFrame = MASKED, asked: Any = None) -> tuple[list[Finding], Utility]:
    released = {name: VARIABLES[name] for name in masked}
    files = Comparison(
        ORIGINAL, ORIGINAL[list(masked)], masked, None, VARIABLES, released, np.random.default_rng(0),
        analyses=Analyses.model_validate(asked or {}),
    )  # fmt: skip
    found = UtilityLimits.model_validate({"models": [model] if model else []}).find(files)
    return [finding for finding in found.findings if finding.rule == "models"], found


def test_without_limits_a_model_is_reported_and_drawn() -> None:
    findings, found = judge(MODEL)
    scopes = [finding.scope.removeprefix("pay by age: ") for finding in findings]
    assert scopes == ["overlap", "as recoded", "difference"]
    assert all(not finding.binding and finding.verdict is Verdict.PASS for finding in findings)
    model = found.view.models[0]
    assert len(model.coefficients) == 3
    worst = model.coefficients[0]
    assert worst.before_low < worst.before < worst.before_high
    assert worst.after is not None
    assert model.overlap == pytest.approx(findings[0].observed, rel=1e-3)


@pytest.mark.chain
def test_limits_fail_beyond_and_pass_at_the_figure() -> None:
    overlap, recoded, difference = (finding.observed for finding in judge(MODEL)[0])
    assert overlap == recoded  # nothing was recoded
    assert overlap is not None
    assert difference is not None
    at_it = {
        "overlap": {"at_least": overlap},
        "recoded_overlap": {"at_least": overlap},
        "difference": {"at_most": difference},
    }
    assert all(each.verdict is Verdict.PASS and each.binding for each in judge(MODEL | at_it)[0])
    more = {"at_least": overlap + 0.01}
    beyond = {"overlap": more, "recoded_overlap": more, "difference": {"at_most": difference * 0.99}}
    assert all(each.verdict is Verdict.FAIL and each.binding for each in judge(MODEL | beyond)[0])
    golden.words(judge(MODEL | beyond)[0][0].says)
    relaxed = {"overlap": {"at_least": 1, "binding": False}}
    assert not judge(MODEL | relaxed)[0][0].binding


def test_the_worst_subgroup_has_a_limit_of_its_own() -> None:
    women = (ORIGINAL["sex"] == "f").to_numpy()
    masked = ORIGINAL.assign(pay=np.where(women, ORIGINAL["pay"].sample(frac=1, random_state=0), ORIGINAL["pay"]))
    model: dict[str, Any] = {
        "name": "pay",
        "kind": "linear",
        "formula": "pay ~ age",
        "by": "sex",
        "subgroup_overlap": {"at_least": 0.5},
    }
    findings, found = judge(model, masked)
    assert (findings[-1].scope, findings[-1].verdict) == ("pay: by sex", Verdict.FAIL)
    assert "(f)" in findings[-1].says
    assert [each.subgroup for each in found.view.models[0].subgroups] == ["f", "m"]
    gone = judge(model, masked[["pay", "age"]])[0][-1]
    assert (gone.verdict, gone.observed) == (Verdict.FAIL, 0)
    golden.words(gone.says)


def test_one_group_of_all_is_no_subgroup() -> None:
    together = ORIGINAL.assign(sex=pd.Categorical(["f or m"] * N))
    model = {"name": "pay", "kind": "linear", "formula": "pay ~ age", "by": "sex"}
    files = Comparison(
        ORIGINAL, together, together, None, VARIABLES, VARIABLES, np.random.default_rng(0), analyses=Analyses()
    )
    gone = UtilityLimits.model_validate({"models": [model | {"subgroup_overlap": {"at_least": 0.1}}]}).find(files)
    last = [each for each in gone.findings if each.rule == "models"][-1]
    assert (last.verdict, last.observed) == (Verdict.FAIL, 0)


def test_recoding_alone_is_no_change_on_the_file_s_own_categories() -> None:
    labels = ("to 40", "over 40")
    recoded = ORIGINAL.assign(age=pd.cut(ORIGINAL["age"], [0, 40, 99], labels=labels))
    released = VARIABLES | {"age": Variable(name="age", kind=Kind.ORDINAL, categories=labels)}
    model = {"name": "m", "kind": "linear", "formula": "pay ~ C(age) + sex"}
    rng = np.random.default_rng(0)
    rounded = ORIGINAL.assign(age=ORIGINAL["age"].round())
    files = Comparison(rounded, recoded, recoded, None, VARIABLES, released, rng)
    found = UtilityLimits.model_validate({"models": [model]}).find(files)
    overlap, as_recoded, *_ = (finding for finding in found.findings if finding.rule == "models")
    assert overlap.observed < 0.1  # of some fifty ages, none is left
    assert as_recoded.observed == pytest.approx(1)
    terms = {each.term for each in found.view.models[0].recoded}
    assert len(terms) == 3
    assert any("40" in term for term in terms)
    gone = judge(MODEL, ORIGINAL[["age", "sex"]])[0]
    assert (gone[1].verdict, gone[1].observed, gone[0].observed) == (Verdict.UNKNOWN, None, 0)


def test_what_the_definition_asks_for_never_decides() -> None:
    model = MODEL | {"overlap": {"at_least": 1}}
    findings, found = judge({}, asked={"models": [model]})
    assert findings[0].verdict is Verdict.FAIL
    assert not any(finding.binding for finding in findings)
    assert found.view.models is not None


def test_a_model_that_does_not_fit_is_unknown_under_its_limit_and_says_why() -> None:
    for formula in ["pay ~ agee", "pay > 1000 ~ age"]:
        model = {"name": "m", "kind": "logistic", "formula": formula, "overlap": {"at_least": 0.5}}
        findings, found = judge(model)
        assert (findings[0].verdict, findings[0].binding, findings[1].binding) == (Verdict.UNKNOWN, True, False)
        golden(findings[0].says)
        golden(found.view.models[0].says)
    declared = Analyses.model_validate({"models": [MODEL, MODEL | {"name": "b", "formula": "sex == 'x' ~ age"}]})
    assert unfit_analyses(declared, VARIABLES) == ["models: 'b': 'sex' has no category 'x'."]


def test_no_models_no_findings() -> None:
    findings, found = judge({})
    assert findings == []
    assert found.view.models is not None
    assert all(model.drafted for model in found.view.models)


@pytest.mark.parametrize(
    "given",
    [
        {"formula": "pay ~ exec('1')"},
        {"formula": "pay ~"},
        {"kind": "cox"},
        {"kind": "probit"},
        {"subgroup_overlap": {"at_least": 0.5}},
        {"overlap": {"at_least": 80}},
        {"name": ""},
    ],
)
def test_wrong_models_are_refused(given: dict[str, Any]) -> None:
    golden.refused(ValidationError, UtilityLimits.model_validate, {"models": [MODEL | given]})


def test_two_models_of_one_name_are_refused() -> None:
    golden.refused(ValidationError, UtilityLimits.model_validate, {"models": [MODEL, MODEL]})
    survival = {"name": "s", "kind": "cox", "formula": "survival(pay, sex) ~ age", "weight": "age"}
    golden.refused(ValidationError, UtilityLimits.model_validate, {"models": [survival]})


def test_a_model_that_one_heavy_record_decides_is_not_told() -> None:
    """Any number may be named as the weight: where one person has nearly all of it, the coefficients are that one's."""
    capital = np.ones(N)
    capital[0] = 1e9
    variables = VARIABLES | {"capital": Variable(name="capital", kind=Kind.CONTINUOUS)}
    noise = 0.01 * np.random.default_rng(1).normal(size=N)

    def reported(weight: str | None) -> tuple[list[Finding], Utility]:
        masked = MASKED.assign(capital=capital * (1 + noise))
        original = ORIGINAL.assign(capital=capital)
        files = Comparison(original, original, masked, None, variables, variables, np.random.default_rng(0))
        limits = {"models": [MODEL | ({"weight": weight} if weight else {}) | {"by": "sex"}]}
        found = UtilityLimits.model_validate(limits).find(files)
        return [finding for finding in found.findings if finding.rule == "models"], found

    findings, found = reported("capital")
    assert {(each.withheld, each.observed) for each in findings} == {(True, None)}
    golden(sorted({each.says for each in findings}))
    assert found.view.models[0].coefficients == ()
    told, _ = reported(None)
    assert not any(each.withheld for each in told)
