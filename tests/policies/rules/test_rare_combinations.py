"""Rare combinations as a rule."""

from policies.rules.participation_attacks import RareCombinations
from sluice.ground.verdict import Verdict
from tests.golden import golden
from tests.policies.rules.people_and_control import ORIGINAL, STRANGERS, attacked


def test_each_size_is_judged_by_itself() -> None:
    pairs, triples = RareCombinations(limit=0.1, sizes=(2, 3)).find(attacked(ORIGINAL))
    assert (pairs.scope, triples.scope) == ("2 values", "3 values")
    assert triples.verdict is Verdict.FAIL
    golden(triples.says)


def test_without_anybody_alone_nothing_is_known() -> None:
    (finding,) = RareCombinations(limit=0.1, sizes=(2,), columns=("sex", "area")).find(attacked(STRANGERS))
    assert finding.verdict is Verdict.UNKNOWN
    golden(finding.says)
