"""What holds of every rule on the quasi-identifiers of a file."""

import pytest

from policies.rules.k_anonymity import KAnonymity
from policies.rules.l_diversity import LDiversity
from policies.rules.rule import Rule
from policies.rules.sample_uniques_share import SampleUniquesShare
from policies.rules.t_closeness import TCloseness
from sluice.errors import DataError
from sluice.variables import Role
from sluice.verdict import Verdict
from tests.golden import golden
from tests.policies.rules.married_women import QUASI, VARIABLES, typed

MICRODATA: list[Rule] = [KAnonymity(k=2), LDiversity(l=2), TCloseness(t=0.5), SampleUniquesShare(at_most=0.9)]


@pytest.mark.parametrize("rule", MICRODATA, ids=lambda rule: rule.rule)
def test_nothing_to_judge_is_unknown_never_a_pass(rule: Rule) -> None:
    frame = typed([30, 30])
    plain = {name: variable.model_copy(update={"role": Role.OTHER}) for name, variable in VARIABLES.items()}
    (no_keys,) = rule.find(frame, plain, "masked")
    (no_records,) = rule.find(frame.head(0), VARIABLES, "masked")
    for finding in (no_keys, no_records):
        assert finding.verdict is Verdict.UNKNOWN
        golden(finding.says)
        assert finding.completed == 0


@pytest.mark.parametrize("rule", [LDiversity(l=2), TCloseness(t=0.5)], ids=lambda rule: rule.rule)
def test_no_sensitive_variable_is_unknown(rule: Rule) -> None:
    keys = {name: variable for name, variable in VARIABLES.items() if variable.role is QUASI}
    (finding,) = rule.find(typed([30, 30]), keys, "masked")
    assert (finding.verdict, finding.attempted, finding.completed) == (Verdict.UNKNOWN, 2, 0)
    golden.words(finding.says)
    golden.words(type(rule).needs)
    (finding,) = rule.find(typed([30, 30]), keys, "original")
    golden.words(finding.says)


@pytest.mark.parametrize("rule", MICRODATA, ids=lambda rule: rule.rule)
def test_a_column_that_is_not_in_the_file_is_an_error(rule: Rule) -> None:
    with golden.raises(DataError):
        rule.find(typed([30, 30]).drop(columns="age"), VARIABLES, "masked")
    named = rule.model_copy(update={"columns": ("agee",)})
    with golden.raises(DataError):
        named.find(typed([30, 30]), VARIABLES, "masked")
