"""A plan that wins by luck of the dice falls when it is judged with seeds that no trial had."""

from collections.abc import Sequence

import numpy as np
import pytest

from tasks.tuning import confirmation
from tasks.tuning.confirmation import confirm
from tasks.tuning.journal import Found, TrialRecord
from tasks.tuning.other_draws import OtherDraws
from tasks.tuning.plan_search import Search
from tasks.tuning.records_at_hand import RecordsAtHand
from tasks.tuning.trial import Miss, Outcome
from tests.tasks.tuning.house_of_plans import records, space

GAMED = [
    {"method": "removal", "columns": ["household", "town"]},
    {"method": "global_recoding", "columns": ["age"], "bins": [50]},
    {"method": "rank_swapping", "columns": ["income"], "window": {"from": 0.05, "to": 0.0501}},
]


def passed(number: int, loss: float) -> TrialRecord:
    return TrialRecord(number=number, point={}, outcome=Outcome(end="passes", loss=loss, margin=0.1))


def drawn_from(seed: Sequence[int]) -> tuple[int, ...]:
    """What all draws follow from: two seeds of which one only has noughts at its end have the same."""
    return tuple(np.random.SeedSequence(seed).generate_state(4).tolist())


def test_what_passes_by_luck_is_not_recommended(monkeypatch: pytest.MonkeyPatch) -> None:
    """A space in which all plans are nearly one, so that a search of it is nothing but many throws of the dice.

    Each trial passes by a chance that is not the plan's: one in eight, as of a figure beside its limit.
    """
    thrown: list[Sequence[int]] = []

    def by_luck(definition: object, on: object, seed: Sequence[int], *_: object, **__: object) -> Outcome:
        thrown.append(seed)
        lucky = sum(seed) % 8 == 0 and len(seed) == 2  # with the seeds of trials alone
        if lucky:
            return Outcome(end="passes", loss=0.3, margin=0.0)
        return Outcome(end="fails", stage="attacks", loss=0.3, misses=(Miss(
            rule="learned_linkage", stage="reference", verdict=2, says="", observed=0.1, limit=0.09, far=0.1
        ),))  # fmt: skip

    monkeypatch.setattr("tasks.tuning.plan_search.try_plan", by_luck)
    monkeypatch.setattr(confirmation, "try_plan", by_luck)
    of = space(GAMED, search={"trials": 60, "seed": 7, "people": 1})
    found = Search(of, records()).run()
    assert found.passing
    judged = confirm(of, found, records(), None)
    assert judged.winner is None
    assert len(judged.finalists) == min(of.search.finalists, len(found.passing))
    searched, fresh = ({drawn_from(seed) for seed in thrown if (len(seed) == 2) == trial} for trial in (True, False))
    assert not searched & fresh
    assert len(fresh) == judged.judged


def test_the_best_that_passes_twice_wins_and_on_the_records_that_were_not_searched_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(confirmation, "DRAWS", 1)
    of = space(search={"trials": 8, "seed": 7, "people": 0.5})
    searched, rest = records(1200).split(of.search)
    assert rest is not None
    found = Search(of, searched).run()
    judged = confirm(of, found, records(1200), rest)
    assert judged.winner is not None
    assert [each.on for each in judged.of_winner] == ["the other records", "all records"]


def test_a_plan_that_falls_by_other_draws_leaves_the_place_to_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first passes twice, and by three of ten draws: a release by it would be blocked most days."""
    judged: list[float] = []

    def passes(definition: object, on: object, *_: object, **__: object) -> Outcome:
        return Outcome(end="passes", loss=0.3, margin=0.1)

    def by_plan(definition: object, on: object, draws: int, *_: object, **__: object) -> OtherDraws:
        judged.append(draws)
        return OtherDraws(3 if len(judged) == 1 else 9, 10, {})

    monkeypatch.setattr(confirmation, "try_plan", passes)
    monkeypatch.setattr(confirmation, "other_draws", by_plan)
    found = confirm(space(), Found((passed(0, 0.2), passed(1, 0.25))), records(), None)
    assert found.winner is not None
    assert (found.winner.number, found.draws and found.draws.passed, len(found.of_winner)) == (1, 9, 2)
    assert found.judged == 4 + 20


def test_of_plans_none_of_which_has_room_the_nearest_is_taken_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    rooms = iter([OtherDraws(7, 10, {}), OtherDraws(1, 3, {})])
    outcome = Outcome(end="passes", loss=0.3, margin=0.1)
    monkeypatch.setattr(confirmation, "try_plan", lambda *_, **__: outcome)
    monkeypatch.setattr(confirmation, "other_draws", lambda *_, **__: next(rooms))
    found = confirm(space(), Found((passed(0, 0.2), passed(1, 0.25))), records(), None)
    assert found.winner is not None
    assert (found.winner.number, found.draws and found.draws.has_room) == (0, False)


def test_a_plan_that_loses_as_much_as_the_definition_is_not_looked_at() -> None:
    judged = confirm(space(), Found((passed(0, 0.5),)), records(), None, better_than=0.5)
    assert judged.finalists == ()
    assert judged.winner is None


def test_what_passes_by_the_order_of_the_records_is_not_recommended(monkeypatch: pytest.MonkeyPatch) -> None:
    """A method that breaks ties by the order leaves a group unsafe in every other order than the one searched."""
    whole = records()

    def by_order(definition: object, on: RecordsAtHand, seed: Sequence[int], *_: object, **__: object) -> Outcome:
        assert sorted(on.frame["income"]) == sorted(whole.frame["income"])
        if on.frame["income"].equals(whole.frame["income"]):
            return Outcome(end="passes", loss=0.3, margin=0.5)
        return Outcome(end="fails", stage="rules", loss=0.3, misses=(Miss(
            rule="l_diversity", stage="masked", verdict=2, says="", observed=1, limit=2, far=0.5
        ),))  # fmt: skip

    monkeypatch.setattr(confirmation, "try_plan", by_order)
    judged = confirm(space(), Found((passed(0, 0.3),)), whole, None)
    assert judged.winner is None
    ((_, judgements),) = judged.finalists
    assert [judgement.outcome.misses[0].rule for judgement in judgements] == ["l_diversity"]
