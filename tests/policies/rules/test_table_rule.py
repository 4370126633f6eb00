"""What holds of every rule on the cells of a table."""

import pytest

from policies.rules.dominance import Dominance
from policies.rules.minimum_frequency import MinimumFrequency
from policies.rules.p_percent import PPercent
from policies.rules.table_rule import TableRule
from sluice.errors import DataError
from sluice.verdict import Verdict
from tests.golden import golden
from tests.policies.rules.married_women import VARIABLES, typed
from tests.policies.rules.written_rules import is_sensitive

TABLE: list[TableRule] = [MinimumFrequency(n=3), Dominance(n=1, k=75), PPercent(p=10)]


@pytest.mark.parametrize("rule", TABLE, ids=lambda rule: rule.rule)
def test_a_table_rule_never_lets_a_file_of_records_out(rule: TableRule) -> None:
    (finding,) = rule.find(typed([30] * 10), VARIABLES, "masked")
    assert finding.verdict is Verdict.UNKNOWN
    assert finding.binding
    assert (finding.attempted, finding.completed) == (10, 0)
    golden.words(finding.says)


@pytest.mark.parametrize("rule", TABLE, ids=lambda rule: rule.rule)
def test_a_table_rule_judges_a_cell(rule: TableRule) -> None:
    assert is_sensitive(rule, [22])
    assert not is_sensitive(rule, [10, 10, 10, 10])
    with golden.raises(DataError):
        is_sensitive(rule, [1, -1])
