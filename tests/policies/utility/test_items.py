import numpy as np

from policies.original_and_masked import OriginalAndMasked
from policies.utility.limits import UtilityLimits
from sluice.verdict import Finding, Verdict
from tests.items.set_columns import column_of, variable

MEASURES = ("item_penalty", "items_left_out", "top_items", "pair_counts")


def judge(released: bool, at_most: float) -> dict[str, Finding]:
    sets = column_of([frozenset(each.split()) for each in ("apple pear", "apple beer", "pear apple", "wine")] * 10)
    original = sets.to_frame("basket")
    masked, kept = (original, {"basket": variable()}) if released else (original[[]], {})
    of = OriginalAndMasked(original, masked, masked, None, {"basket": variable()}, kept, np.random.default_rng(0))
    limits = UtilityLimits.model_validate({name: {"at_most": at_most} for name in MEASURES})
    return {each.rule: each for each in limits.find(of).findings if each.rule in MEASURES}


def test_unchanged_sets_lost_nothing() -> None:
    found = judge(released=True, at_most=0)
    assert all((each.verdict, each.binding, each.observed) == (Verdict.PASS, True, 0) for each in found.values())


def test_who_removes_the_sets_does_not_escape_their_limits() -> None:
    found = judge(released=False, at_most=0.9)
    assert {name: each.observed for name, each in found.items()} == dict.fromkeys(MEASURES[:3], 1) | {"pair_counts": 2}
    assert all((each.verdict, each.binding) == (Verdict.FAIL, True) for each in found.values())
