"""A trial stops at the first stage that says no, keeps how far the figure was from its limit, and repeats."""

import pytest

from sluice.ground.verdict import Finding, Verdict
from tasks.tuning.parameter_ranges import at
from tasks.tuning.plan_search import outcome_at
from tasks.tuning.space import LossWeights
from tasks.tuning.trial import distance_from_limit, has_margin, try_plan
from tests.golden import golden
from tests.tasks.tuning.house_of_plans import policy, records, space

PASSES = {"plan.1.bins": [50], "plan.2.k": 5, "plan.3.0.0.window": 0.4}


def test_a_plan_that_meets_the_policy_passes_with_a_loss_and_a_margin() -> None:
    outcome = try_plan(space().definition(at(PASSES)), records(), (1, 2), LossWeights())
    assert (outcome.end, outcome.misses) == ("passes", ())
    assert 0 < outcome.loss < 1
    assert outcome.margin >= 0
    assert outcome.breach <= 0


def test_the_same_seed_gives_the_same_outcome_and_a_dropped_variable_costs_its_price() -> None:
    definition, known = space().definition(at(PASSES)), records()
    one, again = (try_plan(definition, known, (1, 2), LossWeights()) for _ in range(2))
    assert one.model_copy(update={"seconds": 0.0}) == again.model_copy(update={"seconds": 0.0})
    assert try_plan(definition, known, (1, 2), LossWeights(), price=0.25).loss == pytest.approx(one.loss + 0.25)


def test_a_plan_that_breaks_a_cheap_rule_stops_there() -> None:
    plan = [{"method": "removal", "columns": ["household", "town"]}]
    outcome = try_plan(space(plan).definition(), records(), (1, 2), LossWeights())
    assert (outcome.end, outcome.stage) == ("fails", "rules")
    assert outcome.misses[0].rule == "k_anonymity"
    assert 0 < outcome.far < 1
    assert outcome.breach > 2


def test_a_plan_that_loses_more_than_the_bound_is_not_attacked() -> None:
    outcome = try_plan(space().definition(at(PASSES)), records(), (1, 2), LossWeights(), bound=0.01)
    assert outcome.end == "dearer"


def test_who_asks_for_no_attacks_gets_none() -> None:
    plan = [
        {"method": "removal", "columns": ["household", "town"]},
        {"method": "global_recoding", "columns": ["age"], "bins": [50]},
    ]
    definition, known = space(plan).definition(), records()  # incomes as they are
    assert try_plan(definition, known, (1, 2), LossWeights()).stage == "attacks"
    assert try_plan(definition, known, (1, 2), LossWeights(), attacked=False).end == "passes"


def test_a_limit_on_utility_comes_before_the_attacks() -> None:
    strict = policy(utility={"rank_correlation": {"at_most": 0}, "il1s": {"at_most": 0}})
    outcome = try_plan(space().definition(at(PASSES)), records(of=strict), (1, 2), LossWeights())
    assert (outcome.stage, outcome.misses[-1].rule) == ("utility", "il1s")


def test_a_plan_that_cannot_be_carried_out_is_refused_and_says_why() -> None:
    plan = [{"method": "removal", "columns": ["household", "twon"]}]
    outcome = try_plan(space(plan).definition(), records(), (1, 2), LossWeights())
    assert outcome.end == "refused"
    golden(outcome.misses[0].says)


def test_a_combination_that_no_definition_allows_is_refused_when_the_document_is_read() -> None:
    clash = [
        {"method": "rank_swapping", "columns": ["age"], "window": 0.1, "optional": True},
        {
            "method": "generalization", "columns": ["age", "sex", "region"], "under": "policy",
            "refine": {"any_of": [False, True]},
        },
    ]  # fmt: skip
    golden.refused(ValueError, space, clash)


@pytest.mark.parametrize(
    ("observed", "limit", "far"), [(5, 5, 0), (1, 5, 4 / 9), (0.3, 0, 0.3), (7, 0, 1), (None, 5, 1)]
)
def test_how_far_a_figure_is_from_its_limit(observed: float | None, limit: float, far: float) -> None:
    finding = Finding(rule="k", verdict=Verdict.FAIL, says="", observed=observed, limit=limit)
    assert distance_from_limit(finding) == pytest.approx(far)
    unknown = finding.model_copy(update={"verdict": Verdict.UNKNOWN})
    assert distance_from_limit(unknown) == 1


def test_nothing_found_of_what_is_not_allowed_leaves_no_margin_to_use_up() -> None:
    def finding(observed: float | None, limit: float | None) -> Finding:
        return Finding(rule="k", verdict=Verdict.PASS, says="", observed=observed, limit=limit)

    assert not has_margin(finding(0, 0))
    assert not has_margin(finding(None, 0.2))
    assert has_margin(finding(0.1, 0.2))
    assert has_margin(finding(0, 0.2))


def test_what_crashes_is_refused_and_stops_no_search(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(*_: object, **__: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("tasks.tuning.plan_search.try_plan", crash)
    outcome = outcome_at(records(), space(), PASSES, 3, 1.0)
    assert outcome.end == "refused"
    assert "ZeroDivisionError" in outcome.misses[0].says
