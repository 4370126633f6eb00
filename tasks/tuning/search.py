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
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from math import inf, isfinite, isnan, nan
from time import monotonic
from typing import Any

import numpy as np
from pydantic import ValidationError

from sluice.verdict import Verdict
from tasks.tuning.journal import Journal, TrialRecord
from tasks.tuning.processes import processes, records_there
from tasks.tuning.ranges import Between, Choice, Choose, Range, first, is_scale
from tasks.tuning.records_at_hand import RecordsAtHand
from tasks.tuning.space import SpaceOfPlans
from tasks.tuning.trial import Miss, Outcome, try_plan
from tasks.tuning.variation import parent_of, varied

BATCH = 4  # trials asked for together; the same on every machine
_COMFORT = 0.2  # a margin beyond it is worth no loss
_WORST = 10.0  # told to the sampler of a plan whose loss nobody could measure
_SAMPLER, _VARIATION = 2**41, 2**41 + 1  # of the search's seed: no trial has such a number
_OF_ALL = 2**41 + 2
_TRIES = 20  # variations of a point that is known, before it is taken all the same

Told = Callable[[TrialRecord, TrialRecord | None], None]
"""What is called after each trial, with the best that passes so far."""


@dataclass(frozen=True)
class Found:
    """All trials of a search, in order."""

    trials: tuple[TrialRecord, ...] = ()

    @property
    def attempts(self) -> int:
        """How often a plan met the gate: plans that came twice met it once."""
        return sum(trial.same is None for trial in self.trials)

    @property
    def passing(self) -> list[TrialRecord]:
        """Those that pass, least loss first, each plan once."""
        found = [trial for trial in self.trials if trial.outcome.end == "passes" and trial.same is None]
        return sorted(found, key=lambda trial: (_known(trial.outcome.loss), trial.number))

    @property
    def best(self) -> TrialRecord | None:
        return next(iter(self.passing), None)

    @property
    def candidates(self) -> list[TrialRecord]:
        """Those that pass, and then those that were not judged further as they lose more; of each least loss first."""
        found = [t for t in self.trials if t.outcome.end in ("passes", "dearer") and t.same is None]
        return sorted(
            found, key=lambda trial: (trial.outcome.end != "passes", _known(trial.outcome.loss), trial.number)
        )

    @property
    def front(self) -> list[TrialRecord]:
        """Those that pass and of which no other loses less and keeps a larger margin; least loss first."""
        front: list[TrialRecord] = []
        for trial in self.passing:
            margin = trial.outcome.margin if isfinite(trial.outcome.margin) else 1.0
            if all(margin > other.outcome.margin for other in front):
                front.append(trial)
        return front

    @property
    def nearest(self) -> dict[str, tuple[TrialRecord, Miss]]:
        """Rule -> the trial that fell by this rule alone, or with others, and came nearest to its limit."""
        found: dict[str, tuple[TrialRecord, Miss]] = {}
        for trial in self.trials:
            for miss in trial.outcome.misses:
                key = (len(trial.outcome.misses), miss.far)
                if miss.rule not in found or key < (
                    len(found[miss.rule][0].outcome.misses), found[miss.rule][1].far
                ):  # fmt: skip
                    found[miss.rule] = (trial, miss)
        return found


def _known(loss: float) -> float:
    """What sorts last where a loss is not known, or not told."""
    return inf if isnan(loss) else loss


@dataclass
class Search:
    """A search on records at hand.

    workers : processes; the trials are the same for any number
    whole   : all records, where `records` are a part of them: what passes on the part must meet the rules and the
              limits on utility there, too, as more people make other groups
    """

    space: SpaceOfPlans
    records: RecordsAtHand
    journal: Journal = field(default_factory=Journal)
    workers: int = 1
    whole: RecordsAtHand | None = None

    def run(self, told: Told | None = None) -> Found:
        """Try plans until the budget is spent: at most `trials`, none begun after `minutes`. Cost: that of trials."""
        settings = self.space.search
        ends = monotonic() + 60 * settings.minutes if settings.minutes else inf
        trials: list[TrialRecord] = []
        with processes(self.records, self.workers, self.whole) as pool:
            while len(trials) < settings.trials and (monotonic() < ends or not trials):
                batch = self._asked(trials)[: settings.trials - len(trials)]
                for record in self._tried(batch, trials, pool):
                    trials.append(record)
                    if told:
                        told(record, Found(tuple(trials)).best)
        return Found(tuple(trials))

    def _tried(
        self, batch: Sequence[Mapping[str, Any]], before: Sequence[TrialRecord], pool: Executor | None
    ) -> list[TrialRecord]:
        """The trials of a batch; none knows of another of the same batch but that it is the same plan."""
        best = Found(tuple(before)).best
        bound = best.outcome.loss if best else inf
        known = {_key(trial.point): trial for trial in before if trial.same is None}
        waiting: list[tuple[int, dict[str, Any], TrialRecord | Future[Outcome] | Outcome | int]] = []
        place_of: dict[str, int] = {}
        for offset, point in enumerate(batch):
            number, key = len(before) + offset, _key(point)
            if key in known:
                waiting.append((number, dict(point), known[key].number))
            elif key in place_of:
                waiting.append((number, dict(point), place_of[key]))
            elif (tried := self.journal.find(number, point)) is not None:
                waiting.append((number, dict(point), tried))
            else:
                arguments = (self.space, dict(point), number, bound)
                if pool is None:
                    waiting.append((number, dict(point), outcome_at(self.records, *arguments, whole=self.whole)))
                else:
                    waiting.append((number, dict(point), pool.submit(_outcome_there, *arguments)))
            place_of.setdefault(key, number)
        found: list[TrialRecord] = []
        for number, point, result in waiting:
            found.append(self._recorded(number, point, result, [*before, *found]))
        return found

    def _recorded(self, number: int, point: dict[str, Any], result: Any, before: Sequence[TrialRecord]) -> TrialRecord:
        if isinstance(result, TrialRecord):
            return result
        if isinstance(result, int):
            record = TrialRecord(number=number, point=point, outcome=before[result].outcome, same=result)
        else:
            outcome = result.result() if isinstance(result, Future) else result
            record = TrialRecord(number=number, point=point, outcome=outcome)
        self.journal.add(record)
        return record

    def _asked(self, trials: Sequence[TrialRecord]) -> list[dict[str, Any]]:
        """The points of the next batch: first some that every search begins with, then what the sampler asks for."""
        starts = starting_points(self.space)
        found = starts[len(trials) : len(trials) + BATCH]
        if len(found) == BATCH:
            return found
        seed = self.space.search.seed
        study = _study(self.space, trials, seed)
        rng = np.random.default_rng([seed, _VARIATION, len(trials)])
        known = {_key(trial.point) for trial in trials} | {_key(point) for point in found}
        while len(found) < BATCH:
            point = self._next(study, trials, rng, varies=len(found) % 2 == 1)
            for _ in range(_TRIES):  # a point that is known already teaches nothing
                if _key(point) not in known:
                    break
                point = varied(self.space, point, rng)
            known.add(_key(point))
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
    """The point of all first values, that of all last ones, and that with every variable dropped that may be."""
    choosers: list[Choose] = [first, lambda place, of: of.ends[-1], _all_dropped]
    found: list[dict[str, Any]] = []
    for choose in choosers:
        point = point_of(space, choose)
        if point not in found:
            found.append(point)
    return found


def point_of(space: SpaceOfPlans, choose: Choose) -> dict[str, Any]:
    """Every choice that leads to one plan, by its place."""
    point: dict[str, Any] = {}

    def note(place: str, of: Range) -> Any:
        point[place] = choose(place, of)
        return point[place]

    space.steps(note)
    return point


def at(point: Mapping[str, Any]) -> Choose:
    """What finds the values of a point."""
    return lambda place, of: point.get(place, of.first)


def price_of(space: SpaceOfPlans, point: Mapping[str, Any]) -> float:
    """What the variables cost that the plan drops."""
    return sum(space.may_drop[name] for name in space.dropped(at(point)))


def outcome_at(
    records: RecordsAtHand, space: SpaceOfPlans, point: Mapping[str, Any], number: int, bound: float,
    whole: RecordsAtHand | None = None,
) -> Outcome:  # fmt: skip
    """The trial of this number at a point. The same for the same arguments."""
    try:
        definition = space.definition(at(point))
    except ValidationError as error:
        return refused(str(error.errors()[0]["msg"]))
    seed, loss, price = (space.search.seed, number), space.search.loss, price_of(space, point)
    try:
        outcome = try_plan(definition, records, seed, loss, price, bound)
        if outcome.end != "passes" or whole is None:
            return outcome
        of_all = try_plan(definition, whole, (*seed, _OF_ALL), loss, price, attacked=False)
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
    drawn = int(np.random.SeedSequence([seed, _SAMPLER, len(trials)]).generate_state(1)[0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sampler = optuna.samplers.TPESampler(seed=drawn)
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
