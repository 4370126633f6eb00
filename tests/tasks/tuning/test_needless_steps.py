"""The recommended plan has no step that costs something and that it passes without."""

from collections.abc import Sequence

import pytest

from tasks.release.records.record_definition import RecordsDefinition
from tasks.tuning.confirmation import Judgement, Pruned, pruned
from tasks.tuning.trial import Miss, Outcome
from tests.tasks.tuning.house_of_plans import records, space

PLAN = [
    {"method": "removal", "columns": ["household", "town"]},
    {"method": "global_recoding", "columns": ["age"], "bins": [50]},
    {"method": "rank_swapping", "columns": ["income"], "window": 0.2},
    {"method": "top_bottom_coding", "columns": ["income"], "top": {"quantile": 0.99}},
]
LOSS = {"removal": 0.2, "global_recoding": 0.1, "rank_swapping": 0.05, "top_bottom_coding": 0.0}


def play(
    monkeypatch: pytest.MonkeyPatch, needed: set[str], needed_afresh: set[str], margin_of_shorter: float = 0.1
) -> tuple[Pruned, list[int]]:
    """Plans pass if they have what is needed; with fresh seeds more is."""
    definition = space(PLAN).definition()
    thrown: list[int] = []

    def tried(of: RecordsDefinition, on: object, seed: Sequence[int], *_: object) -> Outcome:
        methods = [step.method for step in of.plan]
        loss = sum(LOSS[method] for method in methods)
        fresh = len(seed) == 4
        thrown.append(fresh)
        if (needed_afresh if fresh else needed) <= {*methods}:
            return Outcome(end="passes", loss=loss, margin=margin_of_shorter)
        return Outcome(end="fails", stage="rules", loss=loss, misses=(Miss(
            rule="k_anonymity", stage="masked", verdict=2, says="", observed=1, limit=5, far=0.8
        ),))  # fmt: skip

    monkeypatch.setattr("tasks.tuning.plan_explanation.try_plan", tried)
    monkeypatch.setattr("tasks.tuning.confirmation.try_plan", tried)
    whole = records()
    judgement = Judgement(on="all records", records=600, outcome=Outcome(end="passes", loss=0.35, margin=0.1))
    return pruned(space(PLAN), definition, (judgement, judgement), 0.35, 0.0, whole, whole, None), thrown


def test_steps_that_cost_something_go_where_the_plan_passes_again_without_them(monkeypatch: pytest.MonkeyPatch) -> None:
    needed = {"removal", "global_recoding"}
    left, thrown = play(monkeypatch, needed, needed)
    # The last step costs nothing, and is no reason to give the plan another form.
    assert [step.method for step in left.definition.plan] == ["removal", "global_recoding", "top_bottom_coding"]
    assert left.kept == (0, 1, 3)
    assert left.loss == left.judgements[-1].outcome.loss == pytest.approx(0.3)
    assert (left.trials, left.judged) == (4 + 3, 2)
    assert thrown.count(True) == left.judged
    ends = {left.definition.plan[reason.step].method: reason.outcome.end for reason in left.reasons}
    assert ends == {"removal": "fails", "global_recoding": "fails", "top_bottom_coding": "passes"}


def test_the_step_that_costs_most_goes_first_and_several_may_go(monkeypatch: pytest.MonkeyPatch) -> None:
    left, _ = play(monkeypatch, {"removal"}, {"removal"})
    assert left.kept == (0, 3)
    assert left.loss == pytest.approx(0.2)


def test_what_passes_without_a_step_by_luck_keeps_it(monkeypatch: pytest.MonkeyPatch) -> None:
    left, _ = play(monkeypatch, {"removal"}, {"removal", "global_recoding", "rank_swapping"})
    assert left.kept == (0, 1, 2, 3)
    assert left.loss == 0.35
    assert left.judged == 2  # one judgement of each, at which it fell
    assert [judgement.outcome.loss for judgement in left.judgements] == [0.35, 0.35]


def test_a_step_stays_without_which_the_next_seed_could_block_the_release(monkeypatch: pytest.MonkeyPatch) -> None:
    left, _ = play(monkeypatch, {"removal"}, {"removal"}, margin_of_shorter=0.004)
    assert left.kept == (0, 1, 2, 3)
    assert left.judged == 4  # both shorter plans passed twice
