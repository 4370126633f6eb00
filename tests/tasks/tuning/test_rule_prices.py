"""The price of a rule is told by a plan that passes without it, judged to the end."""

from collections.abc import Mapping
from typing import Any

import pytest

from policies.policy import Policy
from tasks.tuning.journal import Found, TrialRecord
from tasks.tuning.plan_explanation import rule_prices
from tasks.tuning.plan_search import Search
from tasks.tuning.trial import Miss, Outcome
from tests.golden import golden
from tests.tasks.tuning.house_of_plans import policy, records, space

REMOVED = {"method": "removal", "columns": ["household", "town"]}
SWAPPED = {"method": "rank_swapping", "columns": ["income"], "window": 0.4}


@pytest.fixture
def unattacked(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rules alone decide."""
    monkeypatch.setattr("tasks.tuning.trial.risk_findings", lambda *_: iter(()))


def asks(k: int = 5) -> Policy:
    return policy(rules=[{"rule": "k_anonymity", "k": k}])


def fallen(number: int, loss: float, *rules: str, point: Mapping[str, Any] | None = None) -> TrialRecord:
    misses = tuple(Miss(rule=rule, stage="masked", verdict=2, says="", far=0.1) for rule in rules)
    outcome = Outcome(end="fails", stage="rules", loss=loss, misses=misses)
    return TrialRecord(number=number, point=dict(point or {"plan.1.taken": number}), outcome=outcome)


@pytest.mark.usefixtures("unattacked")
def test_a_plan_that_passes_without_one_rule_tells_what_the_rule_costs() -> None:
    coarse = {"method": "global_recoding", "columns": ["age"], "bins": [50], "optional": True}
    of, known = space([REMOVED, coarse, SWAPPED]), records(of=asks())
    found = Search(of, known).run()
    assert found.best is not None
    prices, judged = rule_prices(of, found, known, bound=found.best.outcome.loss)
    assert [price.rule for price in prices] == ["k_anonymity"]
    assert judged == 1
    assert prices[0].saved == pytest.approx(found.best.outcome.loss - prices[0].loss)
    assert prices[0].saved > 0
    assert f"{prices[0].saved:.3f}" in prices[0].in_words()
    golden.words(prices[0].in_words())


@pytest.mark.usefixtures("unattacked")
def test_where_nothing_passes_the_loss_without_the_rule_is_told_alone() -> None:
    of, known = space([REMOVED, SWAPPED]), records(of=asks(k=500))
    prices, _ = rule_prices(of, Search(of, known).run(), known)
    assert [(price.rule, price.saved) for price in prices] == [("k_anonymity", None)]
    golden.words(prices[0].in_words())


def test_a_plan_that_falls_by_what_nobody_had_asked_yet_tells_no_price() -> None:
    """Its incomes are as they were: without the rule it falls by the attack, which the trial never reached."""
    plan = [REMOVED, {"method": "rank_swapping", "columns": ["income"], "window": 0.4, "optional": True}]
    of, known = space(plan), records(of=policy(rules=[{"rule": "k_anonymity", "k": 500}]))
    found = Found((fallen(0, 0.1, "k_anonymity", point={"plan.1.taken": False}),))
    prices, judged = rule_prices(of, found, known)
    assert (prices[0].rule, prices[0].saved, judged) == ("k_anonymity", None, 1)
    assert prices[0].then
    golden.words(prices[0].in_words())


def test_plans_that_fall_by_two_rules_or_lose_more_than_the_best_are_not_judged() -> None:
    of, known = space([REMOVED, SWAPPED]), records()
    best = TrialRecord(number=9, point={"x": 1}, outcome=Outcome(end="passes", loss=0.2))
    found = Found((fallen(0, 0.1, "k_anonymity", "distance_linkage"), fallen(1, 0.3, "k_anonymity"), best))
    assert rule_prices(of, found, known, bound=0.2) == ((), 0)


@pytest.mark.usefixtures("unattacked")
def test_a_rule_that_the_levels_obey_is_priced_by_levels_that_need_not() -> None:
    levels = {"method": "generalization", "columns": ["age", "sex", "region"], "under": "policy"}
    cut = {"method": "global_recoding", "columns": ["age"], "bins": list(range(20, 80, 2))}
    of, known = space([REMOVED, cut, levels, SWAPPED]), records(of=asks())
    found = Search(of, known).run()
    assert found.best is not None
    assert not any(miss.rule == "k_anonymity" for trial in found.trials for miss in trial.outcome.misses)
    prices, judged = rule_prices(of, found, known, bound=found.best.outcome.loss)
    assert judged == 1
    assert [price.rule for price in prices] == ["k_anonymity"]
    assert (prices[0].saved or 0) > 0
