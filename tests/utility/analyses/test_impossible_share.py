from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from policies.utility_limits import Utility, UtilityLimits
from sluice.ground.record_rule import RecordRule
from sluice.ground.variables import Kind, Variable
from sluice.ground.verdict import Finding, Verdict
from sluice.utility.comparison import Comparison
from tests.golden import golden

VARIABLES = {name: Variable(name=name, kind=Kind.CONTINUOUS) for name in ("a", "b")}
RULE = RecordRule("order", "a is not above b", ("a", "b"), lambda frame: (frame["a"] <= frame["b"]).to_numpy())


def judge(
    broken: int, limit: float | None = None, rules: Any = (RULE,), released: Any = VARIABLES, n: int = 200
) -> Utility:
    original = pd.DataFrame({"a": np.arange(n) * 1.0, "b": np.arange(n) + 1.0})
    masked = original.assign(a=np.where(np.arange(n) < broken, original["b"] + 1, original["a"]))[list(released)]
    recoded = original[list(released)]
    rng = np.random.default_rng(0)
    files = Comparison(original, recoded, masked, None, VARIABLES, released, rng, record_rules=rules)
    given = {} if limit is None else {"impossible_records": {"at_most": limit}}
    limits = UtilityLimits.model_validate(given)
    deciding = [each for each in limits.decide(files) if each.binding]  # what a search of plans asks
    found = limits.find(files)
    assert [each for each in found.findings if each.binding] == deciding
    return found


def finding(found: Utility) -> Finding:
    return next(each for each in found.findings if each.rule == "impossible_records")


def test_the_limit_fails_beyond_it_and_passes_at_it() -> None:
    assert finding(judge(20, 0.1)).verdict is Verdict.PASS
    beyond = finding(judge(20, 0.09))
    assert (beyond.verdict, beyond.observed, beyond.scope, beyond.binding) == (Verdict.FAIL, 0.1, "order", True)
    golden(beyond.says)


def test_a_rule_of_the_source_alone_decides_nothing_and_is_shown() -> None:
    of_source = replace(RULE, kept=False)
    found = judge(20, rules=(of_source,))
    assert all(each.rule != "impossible_records" for each in found.findings)
    golden.words(finding(judge(20, 0, rules=(of_source,))).says)
    assert found.view.impossible_records.rules[0].newly == 0.1
    both = judge(20, 0.05, rules=(of_source, replace(RULE, name="other")))
    assert (finding(both).verdict, finding(both).observed) == (Verdict.FAIL, 0.1)


def test_without_a_limit_any_impossible_record_needs_a_decision_and_more_than_one_in_a_thousand_fail() -> None:
    failing, none = finding(judge(20)), finding(judge(0))
    assert (failing.verdict, failing.binding) == (Verdict.FAIL, True)
    assert (none.verdict, none.binding) == (Verdict.PASS, False)
    few = finding(judge(3))
    assert (few.verdict, few.observed, few.withheld) == (Verdict.FAIL, None, True)
    asked = finding(judge(3, n=3000))
    assert (asked.verdict, asked.binding) == (Verdict.REVIEW, True)


def test_fewer_records_than_the_minimum_cell_decide_and_are_not_counted_in_public() -> None:
    found = judge(3, 0)
    few = finding(found)
    assert (few.verdict, few.observed) == (Verdict.FAIL, None)
    golden.words(few.says)
    assert "1.5" not in few.says
    assert found.view.impossible_records.rules[0].newly is None


def test_a_file_that_nothing_can_be_impossible_in_is_not_held_to_the_limit() -> None:
    only_a = finding(judge(20, 0, released={"a": VARIABLES["a"]}))
    assert (only_a.verdict, only_a.binding, only_a.attempted) == (Verdict.PASS, False, 0)
    without = judge(20, rules=())
    assert "impossible_records" not in [each.rule for each in without.findings]
    assert without.view.impossible_records is None
    asked = finding(judge(20, 0, rules=()))
    assert (asked.verdict, asked.binding) == (Verdict.PASS, False)
    golden.words(asked.says)
