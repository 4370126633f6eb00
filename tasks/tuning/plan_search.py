"""The search of a space of plans: least loss under the policy, by Optuna's tree-structured Parzen estimator.

Sources: Bergstra, Bardenet, Bengio and Kégl (2011), the estimator; Ozaki, Tanigaki, Watanabe and Onishi (2020), several
aims; Akiba, Sano, Yanase, Ohta and Koyama (2019), Optuna. Two aims, the loss and how near the figures of reference and
attacks come to their limits, under the condition that the plan passes. Every second trial varies one that did well
(`tasks/tuning/variation.py`).

Trials go in batches of a fixed size, each asked from a sampler of its own seed that knows the batches before: the same
seed gives the same trials in however many processes, and whether the search was stopped and taken up again or not.
"""

import json
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from functools import partial
from math import inf, isfinite, nan
from typing import Any

import numpy as np
from pydantic import ValidationError

from sluice.ground.verdict import Verdict
from tasks.tuning.allowance import Allowance
from tasks.tuning.journal import Found, Journal, TrialRecord
from tasks.tuning.parameter_ranges import Between, Choice, Choose, Range, at, first, is_scale, last
from tasks.tuning.records_at_hand import RecordsAtHand
from tasks.tuning.search_context import fits
from tasks.tuning.space import WAYS, SpaceOfPlans
from tasks.tuning.trial import Miss, Outcome, processes, records_there, try_plan
from tasks.tuning.variation import drawn, parent_of, varied

BATCH = 4  # trials asked for together; the same on every machine
_COMFORT = 0.2  # a margin beyond it is worth no loss
_WORST = 10.0  # told to the sampler of a plan whose loss nobody could measure
_SAMPLER, _VARIATION = 2**41, 2**41 + 1  # of the search's seed: no trial has such a number
_OF_ALL = 2**41 + 2
_TRIES = 20  # other points in place of one that teaches nothing, before it is taken all the same

Told = Callable[[TrialRecord, TrialRecord | None], None]
"""What is called after each trial, with the best that passes so far."""


@dataclass
class Search:
    """A search on records at hand.

    workers : processes; the trials are the same for any number
    whole   : all records, where `records` are a part of them: what passes on the part must meet the rules and the
              limits on utility there, too, as more people make other groups
    allowance : how long it may take; None: as the space says, from when the search begins
    """

    space: SpaceOfPlans
    records: RecordsAtHand
    journal: Journal = field(default_factory=Journal)
    workers: int = 1
    whole: RecordsAtHand | None = None
    allowance: Allowance | None = None
    trials: list[TrialRecord] = field(default_factory=list, init=False)

    @property
    def found(self) -> Found:
        """What was found so far: of a search that was stopped, too."""
        return Found(tuple(self.trials))

    def run(self, told: Told | None = None) -> Found:
        """Try plans until the budget is spent: at most `trials`, and one at least. Cost: that of trials.

        raises : KeyboardInterrupt where somebody stops it; `found` has what was found until then
        """
        settings, trials = self.space.search, self.trials
        allowance = self.allowance or Allowance(settings.minutes)
        with processes(self.records, self.workers, self.whole) as pool:
            while len(trials) < settings.trials and (allowance.for_search or not trials):
                batch = self._asked(trials)[: settings.trials - len(trials)]
                for record in self._tried(batch, list(trials), pool, allowance):
                    trials.append(record)
                    if told:
                        told(record, self.found.best)
                    if not allowance.for_search:
                        break
        return self.found

    def _tried(
        self, batch: Sequence[Mapping[str, Any]], before: Sequence[TrialRecord], pool: Executor | None,
        allowance: Allowance,
    ) -> Iterator[TrialRecord]:  # fmt: skip
        """The trials of a batch, each written down at once; none knows of another of the same batch but that it is the
        same plan."""
        best = Found(tuple(before)).best
        bound = best.outcome.loss if best else inf
        known = {self._plan_of(trial.point): trial for trial in before if trial.same is None}
        waiting: list[tuple[int, dict[str, Any], TrialRecord | Future[Outcome] | Callable[[], Outcome] | int]] = []
        place_of: dict[str, int] = {}
        for offset, point in enumerate(batch):
            number, key = len(before) + offset, self._plan_of(point)
            if key in known:
                waiting.append((number, dict(point), known[key].number))
            elif key in place_of:
                waiting.append((number, dict(point), place_of[key]))
            elif (tried := self.journal.find(number, point)) is not None:
                waiting.append((number, dict(point), tried))
            else:
                arguments = (self.space, dict(point), number, bound)
                if pool is None:
                    waiting.append(
                        (number, dict(point), partial(outcome_at, self.records, *arguments, whole=self.whole))
                    )
                else:
                    waiting.append((number, dict(point), pool.submit(_outcome_there, *arguments)))
            place_of.setdefault(key, number)
        found: list[TrialRecord] = []
        for number, point, result in waiting:
            found.append(self._recorded(number, point, result, [*before, *found], allowance))
            yield found[-1]

    def _plan_of(self, point: Mapping[str, Any]) -> str:
        """The plan at a point, as text: several points may have the same one."""
        return _key({"plan": self.space.steps(at(point))})

    def _recorded(
        self, number: int, point: dict[str, Any], result: Any, before: Sequence[TrialRecord], allowance: Allowance
    ) -> TrialRecord:
        if isinstance(result, TrialRecord):
            return result
        if isinstance(result, int):
            record = TrialRecord(number=number, point=point, outcome=before[result].outcome, same=result)
        else:
            outcome = result.result() if isinstance(result, Future) else result()
            allowance.refuse_stopped()
            if outcome.end == "passes":
                allowance.took(outcome.seconds * len(self.whole or self.records) / len(self.records))
            record = TrialRecord(number=number, point=point, outcome=outcome)
        self.journal.add(record)
        return record

    def _asked(self, trials: Sequence[TrialRecord]) -> list[dict[str, Any]]:
        """The points of the next batch: first some that every search begins with, then what the sampler asks for.

        None is known already, or refused by contract or policy whatever the records are, where others are found.
        """
        starts = [point for point in starting_points(self.space) if fits(self.space, point, self.records)]
        found = starts[len(trials) : len(trials) + BATCH]
        if len(found) == BATCH:
            return found
        seed = self.space.search.seed
        study = _study(self.space, trials, seed)
        rng = np.random.default_rng([seed, _VARIATION, len(trials)])
        known = {self._plan_of(point) for point in (*(trial.point for trial in trials), *found)}
        while len(found) < BATCH:
            point = self._next(study, trials, rng, varies=len(found) % 2 == 1)
            for _ in range(_TRIES):
                if not fits(self.space, point, self.records):
                    point = point_of(self.space, lambda place, of: drawn(of, rng))
                elif self._plan_of(point) in known:
                    point = varied(self.space, point, rng)
                else:
                    break
            known.add(self._plan_of(point))
            found.append(point)
        return found

    def _next(
        self, study: Any, trials: Sequence[TrialRecord], rng: np.random.Generator, varies: bool
    ) -> dict[str, Any]:
        """In turn what the sampler asks for, and a variation of what did well."""
        parent = parent_of(trials, rng) if varies else None
        if parent is not None:
            return varied(self.space, parent, rng)
        asked = study.ask()
        return point_of(self.space, lambda place, of: _suggested(asked, place, of))


def starting_points(space: SpaceOfPlans) -> list[dict[str, Any]]:
    """The point of all first values, those of the ways to begin with, that of all last values, and that with every
    variable dropped that may be."""
    ways = range(1, space.ways)
    choosers: list[Choose] = [first, *(partial(_way, way) for way in ways), last, _all_dropped]
    found: dict[str, dict[str, Any]] = {}
    for choose in choosers:
        point = point_of(space, choose)
        found.setdefault(_key({"plan": space.steps(at(point))}), point)
    return [*found.values()]


def point_of(space: SpaceOfPlans, choose: Choose) -> dict[str, Any]:
    """Every choice that leads to one plan, by its place."""
    point: dict[str, Any] = {}

    def note(place: str, of: Range) -> Any:
        point[place] = choose(place, of)
        return point[place]

    space.steps(note)
    return point


def price_of(space: SpaceOfPlans, point: Mapping[str, Any]) -> float:
    """What the variables cost that the plan drops."""
    return sum(space.may_drop[name] for name in space.dropped(at(point)))


def outcome_at(
    records: RecordsAtHand, space: SpaceOfPlans, point: Mapping[str, Any], number: int, bound: float,
    whole: RecordsAtHand | None = None, without: frozenset[str] = frozenset(),
) -> Outcome:  # fmt: skip
    """The trial of this number at a point. The same for the same arguments.

    without : rules that decide nothing
    """
    try:
        definition = space.definition(at(point))
    except ValidationError as error:
        return refused(str(error.errors()[0]["msg"]))
    seed, loss, price = (space.search.seed, number), space.search.loss, price_of(space, point)
    try:
        outcome = try_plan(definition, records, seed, loss, price, bound, without=without)
        if outcome.end != "passes" or whole is None:
            return outcome
        of_all = try_plan(definition, whole, (*seed, _OF_ALL), loss, price, attacked=False, without=without)
    except Exception as error:  # a method or measure that stops: this plan cannot be judged, others can
        return refused(f"The trial stopped with {type(error).__name__}.")
    seconds = outcome.seconds + of_all.seconds
    if of_all.end == "passes":
        return outcome.model_copy(update={"seconds": seconds})
    fallen = {"end": "fails", "stage": "all records", "misses": of_all.misses, "margin": nan, "seconds": seconds}
    return outcome.model_copy(update=fallen)


def refused(says: str) -> Outcome:
    """The outcome of a plan that cannot be carried out."""
    miss = Miss(rule="plan", stage="plan", verdict=Verdict.UNKNOWN, says=says, far=1.0)
    return Outcome(end="refused", stage="plan", misses=(miss,))


def _key(point: Mapping[str, Any]) -> str:
    return json.dumps(point, sort_keys=True, default=list)


def _way(way: int, place: str, of: Range) -> Any:
    return way if place == WAYS else of.first


def _all_dropped(place: str, of: Range) -> Any:
    return True if place.startswith("may_drop.") else of.first


def _outcome_there(space: SpaceOfPlans, point: Mapping[str, Any], number: int, bound: float) -> Outcome:
    """`outcome_at` in a process of its own."""
    records, whole = records_there()
    return outcome_at(records, space, point, number, bound, whole)


# -- Optuna


def _study(space: SpaceOfPlans, trials: Sequence[TrialRecord], seed: int) -> Any:
    """A study in memory that knows the trials, with a sampler of the seed of its batch."""
    import optuna  # takes time to load

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    of_batch = int(np.random.SeedSequence([seed, _SAMPLER, len(trials)]).generate_state(1)[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sampler = optuna.samplers.TPESampler(seed=of_batch)
        study = optuna.create_study(directions=["minimize", "minimize"], sampler=sampler)
        for trial in trials:
            study.add_trial(_as_optuna_knows(space, trial))
    return study


def _as_optuna_knows(space: SpaceOfPlans, trial: TrialRecord) -> Any:
    import optuna

    params: dict[str, Any] = {}
    distributions: dict[str, Any] = {}

    def note(place: str, of: Range) -> Any:
        value = trial.point.get(place, of.first)
        distributions[place] = _distribution(place, of)
        params[place] = _index(of, value) if isinstance(of, Choice) else value
        return value

    space.steps(note)
    outcome = trial.outcome
    loss = outcome.loss if isfinite(outcome.loss) else _WORST
    return optuna.trial.create_trial(
        values=[loss, max(outcome.breach, -_COMFORT)],
        params=params,
        distributions=distributions,
        constraints={"the plan passes": outcome.breach},
    )


def _distribution(place: str, of: Range) -> Any:
    from optuna.distributions import CategoricalDistribution, FloatDistribution, IntDistribution

    if isinstance(of, Between):
        if of.whole:
            return IntDistribution(int(of.low), int(of.high), log=of.log)
        return FloatDistribution(of.low, of.high, log=of.log)
    if is_scale(place, of):
        return IntDistribution(0, len(of.any_of) - 1)
    return CategoricalDistribution(tuple(range(len(of.any_of))))


def _suggested(asked: Any, place: str, of: Range) -> Any:
    if isinstance(of, Between):
        if of.whole:
            return asked.suggest_int(place, int(of.low), int(of.high), log=of.log)
        return of.tidy(asked.suggest_float(place, of.low, of.high, log=of.log))
    if is_scale(place, of):
        return of.any_of[asked.suggest_int(place, 0, len(of.any_of) - 1)]
    return of.any_of[asked.suggest_categorical(place, tuple(range(len(of.any_of))))]


def _index(of: Choice, value: Any) -> int:
    return next(index for index, each in enumerate(of.any_of) if _key({"": each}) == _key({"": value}))
