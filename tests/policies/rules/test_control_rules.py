"""Rules on attacks with a control: each passes, fails for its reason, and is unknown."""

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from policies.original_and_masked import OriginalAndMasked
from policies.rules.control_rule import ControlRule
from policies.rules.inference import Inference
from policies.rules.linkability import Linkability
from policies.rules.membership import MembershipInference
from policies.rules.singling_out import SinglingOut
from sluice.errors import DataError
from sluice.variables import Variable
from sluice.verdict import Finding, Verdict

KEY = "quasi_identifier"
VARIABLES = {
    "height": Variable(name="height", kind="continuous", role=KEY),
    "age": Variable(name="age", kind="integer", role=KEY),
    "sex": Variable(name="sex", kind="binary", role=KEY, categories=("f", "m")),
    "area": Variable(name="area", kind="nominal", role=KEY, categories=tuple("abcd")),
    "wage": Variable(name="wage", kind="continuous", role="sensitive"),
    "ill": Variable(name="ill", kind="nominal", role="sensitive", categories=("yes", "no", "unsure")),
    "house": Variable(name="house", kind="text", role="household"),
}
RULES = [
    Linkability(limit=0.1, known=(("age", "height"), ("wage", "sex")), k=5),
    SinglingOut(limit=0.1),
    SinglingOut(limit=0.1, mode="univariate"),
    Inference(limit=0.1),
    MembershipInference(limit=0.1, nearer=0.55),
]


def people(n: int, seed: int) -> pd.DataFrame:
    """Sex tells of height, age of wage, and area of illness."""
    rng = np.random.default_rng(seed)
    sex, age, area = rng.choice(["f", "m"], n), rng.integers(18, 90, n), rng.choice(list("abcd"), n)
    ill = np.where((area == "a") & (rng.random(n) < 0.7), "yes", rng.choice(["yes", "no", "unsure"], n))
    return pd.DataFrame(
        {
            "height": np.where(sex == "f", 166, 179) + age / 20 + rng.normal(size=n) * 4,
            "age": pd.array(age, dtype="Int64"),
            "sex": pd.Categorical(sex, categories=["f", "m"]),
            "area": pd.Categorical(area, categories=list("abcd")),
            "wage": np.round(1000 + 40 * age + rng.normal(size=n) * 200, 1),
            "ill": pd.Categorical(ill, categories=["yes", "no", "unsure"]),
            "house": [f"h{row}" for row in range(n)],
        }
    ).astype({"house": "str"})


ORIGINAL, CONTROL, STRANGERS = people(1500, 1), people(1500, 2), people(1500, 3)


def attacked(masked: pd.DataFrame, control: pd.DataFrame | None = CONTROL, seed: int = 0) -> OriginalAndMasked:
    return OriginalAndMasked(
        original=ORIGINAL,
        recoded=ORIGINAL,
        masked=masked,
        holdout=control,
        variables=VARIABLES,
        released=VARIABLES,
        rng=np.random.default_rng(seed),
        recoded_holdout=control,
        unit="people",
    )


def verdicts(rule: ControlRule, masked: pd.DataFrame, control: pd.DataFrame | None = CONTROL) -> set[Verdict]:
    return {finding.verdict for finding in rule.find(attacked(masked, control))}


@pytest.mark.parametrize("rule", RULES)
def test_a_file_of_strangers_passes(rule: ControlRule) -> None:
    findings = rule.find(attacked(STRANGERS))
    assert {finding.verdict for finding in findings} == {Verdict.PASS}, findings
    assert all(finding.rule == rule.rule and finding.stage == "attack" for finding in findings)
    assert all(finding.completed for finding in findings)


@pytest.mark.parametrize("rule", RULES)
def test_the_original_itself_fails(rule: ControlRule) -> None:
    findings = rule.find(attacked(ORIGINAL))
    assert {finding.verdict for finding in findings} == {Verdict.FAIL}, findings
    for finding in findings:
        assert finding.observed is not None
        assert finding.limit is not None
        assert finding.observed > finding.limit + 0.1
        assert "The policy allows at most" in finding.says


@pytest.mark.parametrize("rule", RULES)
def test_without_a_control_nothing_is_known(rule: ControlRule) -> None:
    (finding,) = rule.find(attacked(STRANGERS, None))
    assert finding.verdict is Verdict.UNKNOWN
    assert "No people were set aside as a control (a holdout)" in finding.says
    assert verdicts(rule, STRANGERS, CONTROL.iloc[:0]) == {Verdict.UNKNOWN}
    assert verdicts(rule, STRANGERS.iloc[:0]) == {Verdict.UNKNOWN}


@pytest.mark.parametrize("rule", RULES)
def test_the_same_seed_finds_the_same(rule: ControlRule) -> None:
    def shuffled(seed: int) -> list[Finding]:
        return rule.find(attacked(STRANGERS.sample(frac=1, random_state=seed)))

    assert [finding.verdict for finding in shuffled(1)] == [finding.verdict for finding in shuffled(2)]
    for one, two in zip(shuffled(1), shuffled(2), strict=True):
        assert one.observed == pytest.approx(two.observed, abs=1e-12)


def test_few_people_cannot_decide() -> None:
    for rule in (RULES[0], RULES[3], RULES[4]):
        assert Verdict.REVIEW in verdicts(rule, STRANGERS, CONTROL.iloc[:15])


def test_an_attack_that_does_worse_than_guessing_is_unknown() -> None:
    """A published tool reports a risk of 0 with a tight interval."""
    turned = pd.Categorical(np.where(STRANGERS["area"] == "a", "no", "yes"), categories=["yes", "no", "unsure"])
    (finding,) = Inference(limit=0.1, secrets=("ill",), known=("area",)).find(attacked(STRANGERS.assign(ill=turned)))
    assert finding.verdict is Verdict.UNKNOWN
    assert "no better than guessing" in finding.says


def test_an_attack_that_does_no_better_than_guessing_never_passes() -> None:
    """Height and sex tell next to nothing of age and area, in any file."""
    (finding,) = Linkability(limit=0.1).find(attacked(STRANGERS))
    assert finding.scope == "height, sex to age, area"
    assert finding.verdict is Verdict.REVIEW
    assert "no better than guessing" in finding.says


def test_a_file_that_describes_nobody_is_unknown() -> None:
    constant = pd.concat([ORIGINAL.iloc[:1]] * 100)
    (finding,) = SinglingOut(limit=0.1).find(attacked(constant))
    assert finding.verdict is Verdict.UNKNOWN
    assert (finding.attempted, finding.completed) == (2000, 0)
    assert finding.says.startswith("The intruder could make no guess.")


def test_recoded_columns_are_compared_in_their_released_categories() -> None:
    """Age in groups, with the original's own sexes and areas: the original must be looked at in the same groups."""
    groups = ("under 40", "40 to 59", "60 or more")
    released = VARIABLES | {"age": Variable(name="age", kind="ordinal", role=KEY, categories=groups)}

    def recoded(frame: pd.DataFrame) -> pd.DataFrame:
        codes = np.digitize(frame["age"].to_numpy(float), [40, 60])
        return frame.assign(age=pd.Categorical.from_codes(codes, categories=groups, ordered=True))

    case = OriginalAndMasked(
        original=ORIGINAL, recoded=recoded(ORIGINAL), masked=recoded(ORIGINAL), holdout=CONTROL, variables=VARIABLES,
        released=released, rng=np.random.default_rng(0), recoded_holdout=recoded(CONTROL),
    )  # fmt: skip
    (finding,) = Linkability(limit=0.1, known=(("age", "height"), ("wage", "sex"))).find(case)
    assert finding.verdict is Verdict.FAIL
    assert finding.observed is not None
    assert finding.observed > 0.9


def test_columns_that_are_missing_are_told() -> None:
    no_keys = {name: v.model_copy(update={"role": "other"}) for name, v in VARIABLES.items()}
    case = attacked(STRANGERS)
    bare = OriginalAndMasked(**{**vars(case), "released": no_keys})
    for rule, says in (
        (Linkability(limit=0.1), "fewer than 2 quasi-identifiers"),
        (Inference(limit=0.1), "no quasi-identifier to know a person by, or no sensitive variable"),
    ):
        (finding,) = rule.find(bare)
        assert finding.verdict is Verdict.UNKNOWN
        assert says in finding.says
    with pytest.raises(DataError, match=r"no column 'hight' that all files share\. Did you mean 'height'"):
        SinglingOut(limit=0.1, columns=("hight", "age", "sex")).find(case)


def test_released_columns_that_the_original_lacks_are_named() -> None:
    more = VARIABLES | {"area=a": Variable(name="area=a", kind="continuous")}
    case = OriginalAndMasked(**{**vars(attacked(STRANGERS.assign(**{"area=a": 0.5}))), "released": more})
    (finding,) = SinglingOut(limit=0.1).find(case)
    assert finding.verdict is Verdict.PASS
    assert finding.says.endswith("Left out, because the original has no such column: area=a.")


def test_one_secret_that_cannot_be_guessed_does_not_hide_another() -> None:
    findings = Inference(limit=0.1, known=("ill",)).find(attacked(ORIGINAL))
    assert [finding.scope for finding in findings] == ["wage by ill", "ill"]
    assert findings[1].verdict is Verdict.UNKNOWN


def test_refusals() -> None:
    with pytest.raises(ValidationError, match="limit"):
        SinglingOut()  # type: ignore[call-arg]
    with pytest.raises(ValidationError, match="Is it a percentage"):
        Inference(limit=5)
    with pytest.raises(ValidationError, match="must share no column; got age in both"):
        Linkability(limit=0.1, known=(("age", "sex"), ("age",)))
    with pytest.raises(ValidationError, match="excess"):
        Inference(limit=0.1, excess=0.1)  # type: ignore[arg-type]
    with pytest.raises(ValidationError, match="nearer"):
        MembershipInference(limit=0.1, nearer=0.3)
    with pytest.raises(ValidationError, match="attacks"):
        SinglingOut(limit=0.1, attacks=10)


@pytest.mark.parametrize("rule", RULES)
def test_the_rule_in_words(rule: ControlRule) -> None:
    words = rule.describe()
    assert words.endswith(".")
    assert "0.1" in words
    for finding in rule.find(attacked(ORIGINAL)):
        assert not {"h1", "nan"} & set(finding.says.split())
