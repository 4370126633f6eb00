"""Variation: a point of the space near to one that did well, as an evolution strategy finds it.

Source: Beyer and Schwefel (2002), "Evolution strategies": the parent's values, a few of them changed a little, the
number of changes drawn so that one is the most probable. A tree-structured Parzen estimator looks at values one by
one; where plans have many parts it comes back to the best it knows, and this takes it from there.
"""

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

import numpy as np

from tasks.tuning.journal import TrialRecord
from tasks.tuning.parameter_ranges import Between, Range, is_scale
from tasks.tuning.space import SpaceOfPlans

_PARENTS = 4  # of the best points, from which one is drawn
_STEP = 0.15  # standard deviation of a change, in widths of a range


def varied(space: SpaceOfPlans, parent: Mapping[str, Any], rng: np.random.Generator) -> dict[str, Any]:
    """A point with some of the parent's values changed; what a change brings in besides is drawn at random."""
    places = list(parent)
    changes = min(int(rng.geometric(0.5)), len(places))
    changed = {places[at] for at in rng.permutation(len(places))[:changes]}
    point: dict[str, Any] = {}

    def choose(place: str, of: Range) -> Any:
        if place not in parent:
            point[place] = drawn(of, rng)
        elif place in changed:
            point[place] = _near(place, of, parent[place], rng)
        else:
            point[place] = parent[place]
        return point[place]

    space.steps(choose)
    return point


def parent_of(trials: Sequence[TrialRecord], rng: np.random.Generator) -> Mapping[str, Any] | None:
    """A point to begin from: one of those that lose least and pass, or of those that lose less still and nearly pass.

    None before the first trial.
    """
    once = [trial for trial in trials if trial.same is None and isfinite(trial.outcome.loss)]
    passing = sorted((t for t in once if t.outcome.end == "passes"), key=lambda t: (t.outcome.loss, t.number))
    least = passing[0].outcome.loss if passing else float("inf")
    nearly = [trial for trial in once if trial.outcome.end == "fails" and trial.outcome.loss < least]
    nearly.sort(key=lambda trial: (trial.outcome.breach, trial.outcome.loss, trial.number))
    # Of what fails a cheap rule, too, some keeps so much that it is worth mending.
    keeps = sorted(nearly, key=lambda trial: (trial.outcome.loss + trial.outcome.far, trial.number))
    pools = [pool[:_PARENTS] for pool in (passing, nearly, keeps) if pool]
    if not pools:
        return None
    pool = pools[int(rng.integers(len(pools)))]
    return pool[int(rng.integers(len(pool)))].point


def drawn(of: Range, rng: np.random.Generator) -> Any:
    """A value of the range, each as likely as another, or, where factors count, each factor."""
    if isinstance(of, Between):
        return of.at(float(rng.random()))
    return of.any_of[int(rng.integers(len(of.any_of)))]


def _near(place: str, of: Range, value: Any, rng: np.random.Generator) -> Any:
    if isinstance(of, Between):
        return of.at(float(np.clip(of.share(value) + _STEP * rng.standard_normal(), 0, 1)))
    if is_scale(place, of):
        at = of.any_of.index(value) + int(rng.choice([-1, 1]))
        return of.any_of[min(max(at, 0), len(of.any_of) - 1)]
    others = [each for each in of.any_of if repr(each) != repr(value)]
    return others[int(rng.integers(len(others)))] if others else value
