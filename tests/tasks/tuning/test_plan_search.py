"""The same seed gives the same trials, in however many processes and whether the search was stopped or not."""

from math import inf, nan
from pathlib import Path

import pytest

from sluice.ground.errors import SluiceError
from tasks.tuning.allowance import Allowance
from tasks.tuning.journal import Found, Journal, TrialRecord
from tasks.tuning.parameter_ranges import at
from tasks.tuning.plan_search import Search, outcome_at, point_of, starting_points
from tasks.tuning.trial import Miss, Outcome
from tests.golden import golden
from tests.tasks.tuning.house_of_plans import PLAN, records, space, uniform


def trials(found: Found) -> list[TrialRecord]:
    """Without the time that they took."""
    return [
        each.model_copy(update={"outcome": each.outcome.model_copy(update={"seconds": 0.0})}) for each in found.trials
    ]


@pytest.fixture(scope="module")
def found() -> Found:
    return Search(space(), records()).run()


def test_a_search_finds_a_plan_that_passes_and_keeps_to_its_budget(found: Found) -> None:
    assert len(found.trials) == 10
    assert found.best is not None
    assert found.best.outcome.end == "passes"
    assert [t.outcome.loss for t in found.passing] == sorted(t.outcome.loss for t in found.passing)
    assert found.front[0] == found.best


def test_another_seed_gives_other_trials(found: Found) -> None:
    other = space(search={"trials": 5, "seed": 8, "people": 1})
    assert repr(trials(Search(other, records()).run())) != repr(trials(found)[:5])


@pytest.mark.servers
@pytest.mark.reads_apart
def test_two_processes_try_the_same_as_one() -> None:
    of = space(search={"trials": 6, "seed": 7, "people": 1})
    assert repr(trials(Search(of, records(), workers=2).run())) == repr(trials(Search(of, records()).run()))


def test_a_search_that_was_stopped_goes_on_where_it_stood(found: Found, tmp_path: Path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    """Its trials are those of the same seed in one go, which were made before."""
    journal = tmp_path / "tuning" / "search.jsonl"
    short = space(search={"trials": 5, "seed": 7, "people": 1})
    Search(short, records(), Journal(journal)).run()
    with journal.open("a") as file:
        file.write('{"number": 5, "poi')  # killed while it wrote
    tried: list[int] = []

    def counted(known, of, point, number, bound, whole=None):  # type: ignore[no-untyped-def]
        tried.append(number)
        return outcome_at(known, of, point, number, bound, whole)

    monkeypatch.setattr("tasks.tuning.plan_search.outcome_at", counted)
    resumed = Search(space(), records(), Journal(journal)).run()
    assert repr(trials(resumed)) == repr(trials(found))
    assert all(number >= 5 for number in tried)
    assert len(Journal(journal)) == 10


def test_a_journal_that_is_damaged_in_the_middle_is_refused(tmp_path: Path) -> None:
    (tmp_path / "search.jsonl").write_text('{"number": "x"}\n{"number": 1}\n')
    golden.refused(SluiceError, Journal, tmp_path / "search.jsonl")


def test_a_journal_holds_no_value_of_the_data(tmp_path: Path) -> None:
    known = records()
    Search(space(search={"trials": 4, "seed": 7, "people": 1}), known, Journal(tmp_path / "j.jsonl")).run()
    text = (tmp_path / "j.jsonl").read_text()
    assert (tmp_path / "j.jsonl").stat().st_mode & 0o777 == 0o600
    assert not any(str(income) in text for income in known.frame["income"].unique() if income > 10_000)


def test_a_plan_that_comes_again_is_not_tried_again(found: Found) -> None:
    one = [{"method": "removal", "columns": ["household", "town"]}]
    few = Search(space(one, may_drop={"region": 0}), records()).run()
    assert few.attempts == 2
    assert {trial.same for trial in few.trials} <= {None, 0, 1}


def test_a_search_begins_with_the_first_values_and_everything_dropped() -> None:
    of = space(may_drop={"region": 0.2})
    starts = starting_points(of)
    assert of.definition(at(starts[0])) == of.definition()
    assert any(point["may_drop.region"] for point in starts)


@pytest.mark.parametrize("seed", range(5))
def test_a_point_leads_back_to_its_plan(seed: int) -> None:
    of = space()
    point = point_of(of, uniform(seed))
    assert of.steps(at(point)) == of.steps(uniform(seed))


def test_no_time_is_no_search_but_one_trial() -> None:
    none = space(search={"trials": 100, "minutes": 1e-9, "seed": 7, "people": 1})
    assert len(Search(none, records()).run().trials) == 1


def test_a_search_that_somebody_stops_has_what_it_found_and_writes_no_trial_that_was_cut_off(tmp_path: Path) -> None:
    allowance, journal = Allowance(), Journal(tmp_path / "search.jsonl")
    search = Search(space(), records(), journal, allowance=allowance)

    def press(trial: TrialRecord, best: TrialRecord | None) -> None:
        if trial.number == 1:
            allowance.stop()  # a library makes another error of it, and the next trial looks refused

    with pytest.raises(KeyboardInterrupt):
        search.run(press)
    assert [trial.number for trial in search.found.trials] == [0, 1]
    assert len(journal) == 2


def test_each_way_of_a_space_is_tried_at_first_and_plans_that_are_the_same_once() -> None:
    removed = {"method": "removal", "columns": ["household", "town"]}
    ways = [[removed, PLAN[1]], [removed, {**PLAN[1], "bins": [40, 60]}], [removed]]
    starts = starting_points(space([{"alternatives": ways}]))
    assert [point["plan.0.alternative"] for point in starts] == [0, 2]


def test_the_nearest_miss_of_each_rule_is_the_one_that_fell_by_it_alone() -> None:
    def fallen(number: int, *misses: tuple[str, float]) -> TrialRecord:
        fell = tuple(Miss(rule=r, stage="masked", verdict=2, says="", far=far) for r, far in misses)
        return TrialRecord(number=number, point={}, outcome=Outcome(end="fails", stage="rules", loss=inf, misses=fell))

    found = Found((fallen(0, ("k", 0.1), ("l", 0.2)), fallen(1, ("k", 0.3)), fallen(2, ("k", 0.2))))
    assert {rule: trial.number for rule, (trial, _) in found.nearest.items()} == {"k": 2, "l": 0}


def test_what_passes_on_a_part_must_meet_the_rules_on_all_records() -> None:
    """Of more people some are alone: of the part everybody is under 30, of all nobody shares the age of the oldest."""
    whole = records(600)
    part = whole.part("a part", (whole.frame["age"] < 60).to_numpy(dtype=bool))
    plan = [*PLAN[:1], {"method": "global_recoding", "columns": ["age"], "bins": [40, 79]}, PLAN[3]["alternatives"][0]]
    of, point = space(plan), {"plan.2.window": 0.4}
    alone = int((whole.frame["age"] >= 79).sum())
    assert 0 < alone < 20
    assert outcome_at(part, of, point, 1, inf).end == "passes"
    outcome = outcome_at(part, of, point, 1, inf, whole)
    assert (outcome.end, outcome.stage, outcome.misses[0].rule) == ("fails", "all records", "k_anonymity")
    assert outcome.breach < 1


def test_a_plan_whose_loss_is_not_known_is_never_the_best() -> None:
    """A figure of utility that would tell of few people is not told, nor its loss."""

    def trial(number: int, loss: float) -> TrialRecord:
        return TrialRecord(number=number, point={"k": number}, outcome=Outcome(end="passes", loss=loss))

    found = Found((trial(0, 0.4), trial(1, nan), trial(2, 0.3)))
    assert [each.number for each in found.passing] == [each.number for each in found.candidates] == [2, 0, 1]
