"""What holds of every attack with a control: each passes, fails for its reason, and is unknown."""

import pytest

from policies.rules.control_rule import ControlRule
from policies.rules.inference import Inference
from policies.rules.linkability import Linkability
from policies.rules.membership import MembershipInference
from policies.rules.participant_inference import ParticipantInference
from policies.rules.rare_combinations import RareCombinations
from policies.rules.singling_out import SinglingOut
from policies.rules.subset_inference import SubsetInference
from sluice.verdict import Finding, Verdict
from tests.golden import golden
from tests.policies.rules.people_and_control import CONTROL, ORIGINAL, STRANGERS, attacked, verdicts

RULES = [
    Linkability(limit=0.1, known=(("age", "height"), ("wage", "sex")), k=5),
    SinglingOut(limit=0.1),
    SinglingOut(limit=0.1, mode="univariate"),
    Inference(limit=0.1),
    MembershipInference(limit=0.1, nearer=0.55),
    RareCombinations(limit=0.1, sizes=(3,)),
    ParticipantInference(limit=0.1),
    SubsetInference(limit=0.1),
]


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
        golden.words(finding.says)


@pytest.mark.parametrize("rule", RULES[:-1])
def test_without_a_control_nothing_is_known(rule: ControlRule) -> None:
    (finding,) = rule.find(attacked(STRANGERS, None))
    assert finding.verdict is Verdict.UNKNOWN
    golden.words(finding.says)
    assert verdicts(rule, STRANGERS, CONTROL.iloc[:0]) == {Verdict.UNKNOWN}
    assert verdicts(rule, STRANGERS.iloc[:0]) == {Verdict.UNKNOWN}


@pytest.mark.chain
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


@pytest.mark.parametrize("rule", RULES)
def test_the_rule_in_words(rule: ControlRule) -> None:
    words = rule.describe()
    assert words.endswith(".")
    assert "0.1" in words
    for finding in rule.find(attacked(ORIGINAL)):
        assert not {"h1", "nan"} & set(finding.says.split())
