"""The rules on single variables: each passes, fails for the right reason, and is UNKNOWN where nothing was measured."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from pydantic import ValidationError

from policies.original_and_masked import OriginalAndMasked
from policies.rules.attribute_divergence import AttributeDivergence
from policies.rules.attribute_inference import AttributeInference
from policies.rules.data_invasion import DataInvasion
from policies.rules.maximum_knowledge import MaximumKnowledge
from sluice.errors import DataError
from sluice.variables import Kind, Role, Variable
from sluice.verdict import Verdict

PASS, REVIEW, FAIL, UNKNOWN = Verdict.PASS, Verdict.REVIEW, Verdict.FAIL, Verdict.UNKNOWN
AREAS = ["Devon", "Essex", "Kent", "Surrey"]
ILLNESSES = ["cold", "flu", "gout"]
VARIABLES = {
    variable.name: variable
    for variable in (
        Variable(name="age", kind=Kind.CONTINUOUS, role=Role.QUASI_IDENTIFIER),
        Variable(name="area", kind=Kind.NOMINAL, role=Role.QUASI_IDENTIFIER, categories=tuple(AREAS)),
        Variable(name="illness", kind=Kind.NOMINAL, role=Role.SENSITIVE, categories=tuple(ILLNESSES), nullable=True),
        Variable(name="salary", kind=Kind.CONTINUOUS, role=Role.SENSITIVE),
    )
}
RULES = (
    DataInvasion(excess=0.1),
    MaximumKnowledge(limit=0.2),
    MaximumKnowledge(limit=0.2, of="attributes"),
    AttributeDivergence(limit=0.05),
    AttributeInference(excess=0.1, trees=10),
)


def people(n: int, seed: int) -> pd.DataFrame:
    """Illness goes with area for half of the people; salary with age."""
    rng = np.random.default_rng(seed)
    area = rng.integers(0, 4, n)
    illness = np.where(rng.random(n) < 0.5, area % 3, rng.integers(0, 3, n))
    age = rng.normal(40, 10, n)
    return pd.DataFrame(
        {
            "age": age,
            "area": pd.Categorical.from_codes(area, categories=AREAS),
            "illness": pd.Categorical.from_codes(illness, categories=ILLNESSES),
            "salary": age * 50 + rng.normal(0, 300, n),
        }
    )


def scrambled(frame: pd.DataFrame) -> pd.DataFrame:
    """Every column by itself in another order: the same values, nobody's record."""
    rng = np.random.default_rng(99)
    return pd.DataFrame({name: frame[name].iloc[rng.permutation(len(frame))].reset_index(drop=True) for name in frame})


ORIGINAL = people(600, 1)


def attacked(masked: pd.DataFrame, **changes) -> OriginalAndMasked:
    files = OriginalAndMasked(ORIGINAL, ORIGINAL, masked, None, VARIABLES, VARIABLES, np.random.default_rng(5))
    return replace(files, **changes)


def by_scope(rule, files: OriginalAndMasked) -> dict:
    return {finding.scope: finding for finding in rule.find(files)}


def test_data_invasion():
    rule = DataInvasion(excess=0.1)
    verbatim = by_scope(rule, attacked(ORIGINAL))
    assert {scope: finding.verdict for scope, finding in verbatim.items()} == {"illness": FAIL, "salary": FAIL}
    assert verbatim["illness"].observed == 1
    assert "From the masked values of illness alone, the original one is guessed for 100.0%" in verbatim["illness"].says
    # Worse than always guessing the most frequent value: the house answers UNKNOWN, unless the policy says otherwise.
    masked = attacked(scrambled(ORIGINAL))
    guess = DataInvasion(excess=0.1, columns=("illness",), when_misled="guess").find(masked)[0]
    assert (guess.verdict, guess.observed) == (PASS, pytest.approx(ORIGINAL["illness"].value_counts().max() / 600))
    turned = (ORIGINAL["illness"].cat.codes + 1) % 3  # everybody's illness is another one
    misled = ORIGINAL.assign(illness=pd.Categorical.from_codes(turned, categories=ILLNESSES))
    assert DataInvasion(excess=0.1, columns=("illness",)).find(attacked(misled))[0].verdict is UNKNOWN
    unpaired = rule.find(attacked(ORIGINAL, paired=False))
    assert {finding.verdict for finding in unpaired} == {UNKNOWN}
    assert "is whose is unknown" in unpaired[0].says


def test_data_invasion_at_level_2_plays_level_1_too():
    # 9 of 10 people are healthy: weighed by that, a rare value is never guessed, though the file is verbatim.
    rare = pd.DataFrame({"illness": pd.Categorical(["cold"] * 540 + ["gout"] * 60, categories=ILLNESSES)})
    files = attacked(rare, original=rare, recoded=rare)
    found = DataInvasion(limit=0.95, columns=("illness",)).find(files)[0]
    assert (found.verdict, found.observed) == (FAIL, 1)


def test_maximum_knowledge_of_records():
    rule = MaximumKnowledge(limit=0.2)
    found = rule.find(attacked(ORIGINAL))[0]
    assert found.verdict is FAIL
    assert found.observed > 0.9
    assert "An intruder who has the original finds a further" in found.says
    assert rule.find(attacked(scrambled(ORIGINAL)))[0].verdict is PASS
    assert rule.find(attacked(ORIGINAL.sample(frac=1, random_state=1), paired=False))[0].verdict is FAIL
    other = {"height": Variable(name="height", kind=Kind.CONTINUOUS)}
    nothing = rule.find(attacked(pd.DataFrame({"height": np.zeros(600)}), released=other))[0]
    assert (nothing.verdict, nothing.completed) == (UNKNOWN, 0)
    divergence = MaximumKnowledge(limit=0.2, comparison="kullback_leibler").find(attacked(ORIGINAL))[0]
    assert divergence.verdict is FAIL
    assert "(kullback leibler; two scrambled copies differ by" in divergence.says


def test_maximum_knowledge_of_attributes():
    rule = MaximumKnowledge(limit=0.25, of="attributes")
    assert {f.verdict for f in rule.find(attacked(ORIGINAL))} == {FAIL}
    assert {f.verdict for f in rule.find(attacked(scrambled(ORIGINAL)))} == {PASS}
    alone = attacked(ORIGINAL[["salary"]], released={"salary": VARIABLES["salary"]})
    assert rule.find(alone)[0].verdict is UNKNOWN  # no other variable to link by


def test_values_that_cannot_be_read_make_no_file_look_safe():
    other = ORIGINAL["illness"].cat.add_categories("else").where(ORIGINAL.index % 2 == 0, "else")
    unread = attacked(ORIGINAL.assign(illness=other))
    for rule in (MaximumKnowledge(limit=0.2), MaximumKnowledge(limit=0.2, of="attributes"), DataInvasion(excess=0.1)):
        found = rule.find(unread)[0]
        assert found.verdict is UNKNOWN
        assert "neither original values nor explained" in found.says


def test_attribute_divergence():
    rule = AttributeDivergence(limit=0.05)
    assert {f.verdict for f in rule.find(attacked(ORIGINAL))} == {FAIL}
    # A distribution that is as it was is a risk even if no record is anybody's.
    assert {f.verdict for f in rule.find(attacked(scrambled(ORIGINAL), paired=False))} == {FAIL}
    moved = ORIGINAL.assign(salary=ORIGINAL["salary"] + 5000, illness=pd.Categorical(["gout"] * 600, ILLNESSES))
    assert {f.verdict for f in rule.find(attacked(moved))} == {PASS}
    assert {f.verdict for f in rule.find(attacked(ORIGINAL[["age"]], released={"age": VARIABLES["age"]}))} == {UNKNOWN}
    smoothed = AttributeDivergence(limit=0.05, divergence="kullback_leibler").find(attacked(moved))
    assert all(np.isfinite(f.observed) for f in smoothed)


def test_attribute_inference():
    rule = AttributeInference(excess=0.1, trees=10, columns=("illness",))
    found = rule.find(attacked(ORIGINAL))[0]
    assert found.verdict is FAIL
    assert "from a file without the person" in found.says
    # The scrambled file teaches nothing, and less than the others would: no price of taking part, and no bad attack.
    assert rule.find(attacked(scrambled(ORIGINAL)))[0].verdict is PASS
    strangers = people(600, 2)
    assert rule.find(attacked(strangers, paired=False))[0].verdict in (PASS, REVIEW)
    held = attacked(ORIGINAL, holdout=strangers, recoded_holdout=strangers)
    assert rule.find(held)[0].verdict is FAIL
    constant = ORIGINAL.assign(illness=pd.Categorical(["flu"] * 600, ILLNESSES))
    blind = rule.find(attacked(constant, original=constant, recoded=constant))[0]
    assert blind.verdict is UNKNOWN
    assert "the attack sees nothing" in blind.says
    nothing_known = attacked(ORIGINAL[["illness"]], released={"illness": VARIABLES["illness"]})
    assert rule.find(nothing_known)[0].verdict is UNKNOWN
    salary = AttributeInference(limit=0.05, trees=10, columns=("salary",), known=("age",)).find(attacked(ORIGINAL))[0]
    assert salary.verdict is FAIL


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.rule)
def test_nothing_to_look_at_is_unknown(rule):
    empty = attacked(ORIGINAL.iloc[:0], original=ORIGINAL.iloc[:0], recoded=ORIGINAL.iloc[:0])
    assert {finding.verdict for finding in rule.find(empty)} == {UNKNOWN}
    few = ORIGINAL.iloc[:6]
    assert {f.verdict for f in rule.find(attacked(few, original=few, recoded=few))} <= {UNKNOWN, FAIL}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.rule)
def test_the_index_does_not_matter_and_no_value_is_told(rule):
    def anew(frame: pd.DataFrame) -> pd.DataFrame:
        return frame.set_axis(np.arange(len(frame))[::-1] + 7)

    masked = scrambled(ORIGINAL)
    here = rule.find(attacked(masked, rng=np.random.default_rng(1)))
    there = rule.find(
        attacked(anew(masked), original=anew(ORIGINAL), recoded=anew(ORIGINAL), rng=np.random.default_rng(1))
    )
    assert here == there
    words = " ".join(finding.says for finding in here) + rule.describe()
    assert not any(label in words for label in (*AREAS, *ILLNESSES))
    assert rule.describe().endswith(".")


def test_a_small_count_is_told_as_a_bound():
    masked = ORIGINAL.assign(illness=pd.Categorical([None] * 600, ILLNESSES))
    rare = ORIGINAL.assign(illness=pd.Categorical(["flu"] * 5 + [None] * 595, ILLNESSES))
    found = DataInvasion(limit=0.5, columns=("illness",)).find(attacked(masked, original=rare, recoded=rare))[0]
    assert found.verdict is UNKNOWN
    assert "Too few records" in found.says
    assert "5" not in found.says


def test_a_variable_that_is_released_as_a_distribution_over_its_labels():
    columns = [f"illness={label}" for label in ILLNESSES]
    released = {name: VARIABLES[name] for name in ("age", "area")}
    released |= {column: Variable(name=column, kind=Kind.CONTINUOUS) for column in columns}

    def published(certainty: float) -> OriginalAndMasked:
        shares = np.full((600, 3), (1 - certainty) / 3)
        shares[np.arange(600), ORIGINAL["illness"].cat.codes] += certainty
        masked = ORIGINAL[["age", "area"]].assign(**dict(zip(columns, shares.T, strict=True)))
        return attacked(masked, released=released)

    for rule in (
        DataInvasion(excess=0.1),
        MaximumKnowledge(limit=0.25, of="attributes"),
        AttributeDivergence(limit=0.01),
    ):
        assert by_scope(rule, published(1.0))["illness"].verdict is FAIL, rule.rule
    assert AttributeInference(excess=0.1, trees=10).find(published(1.0))[0].verdict is FAIL
    # Says nothing of anybody: any of three, or the most frequent.
    assert by_scope(DataInvasion(excess=0.1), published(0.0))["illness"].verdict is PASS
    assert by_scope(AttributeDivergence(limit=0.01), published(0.0))["illness"].verdict is PASS


def test_refusals():
    remark = VARIABLES | {"remark": Variable(name="remark", kind=Kind.TEXT)}
    texts = attacked(ORIGINAL.assign(remark=pd.array(["x"] * 600, dtype="str")), variables=remark, released=remark)
    with pytest.raises(DataError, match="'remark' is free text"):
        AttributeDivergence(limit=0.1, columns=("remark",)).find(texts)
    for rule in (
        DataInvasion(limit=0.5, columns=("ilness",)),
        AttributeInference(limit=0.5, known=("ilness",)),
        MaximumKnowledge(limit=0.5, of="attributes", columns=("ilness",)),
    ):
        with pytest.raises(DataError, match=r"no column 'ilness'\. Did you mean 'illness'"):
            rule.find(attacked(ORIGINAL))
    with pytest.raises(ValidationError, match="data_invasion needs limit, excess or both"):
        DataInvasion()
    for refused in (MaximumKnowledge, AttributeDivergence):
        with pytest.raises(
            ValidationError, match=r"has no excess, its figure is itself a difference; got 0\.1\. Use limit"
        ):
            refused(limit=0.1, excess=0.1)
    with pytest.raises(ValidationError, match="less than or equal to 1"):
        DataInvasion(limit=15)
