"""Calibration: synthetic values change places, so that regressions on the other variables are the original's.

Values that are drawn from leaves or kernels relate more weakly than the original's. With X the main effects of other
variables, and b the least squares coefficients of a number on them, y + X (b of the original - b of the synthetic file)
has the original's coefficients: the idea of IPSO (Torra 2013), here for records that were drawn in any other way. Two
changes keep what that would break. The sum is the order in which the drawn values are handed out again, as in data
shuffling (Muralidhar and Sarathy 2006): no value is new, so that distribution, range, grain and heaps are those that
were drawn. And a state that the original never shows beside another one of the record is not put there.

Categories come first, in their order, each on those before: one category against the rest, then the next one among
what is left. Then the numbers, each on all categories and the numbers before. So the steps do not undo each other, and
a regression of any variable on any others is near the original's, as far as main effects tell it.

X tells of nobody alone: an effect that fewer than `minimum_people` stand behind is left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from sluice.ground.arrays import BoolArray, FloatArray, IntArray, behind
from sluice.masking.synthesis.occurring_states import Beside, States

_ROUNDS = 6  # what is lost where values cannot go further is made good
_FURTHEST = 1.0  # a value is sent at most so many standard deviations away
_FEW = 20  # different values, each of which is as easily left
_LEAST_EASE = 0.05  # of the average
_LEAST_CHANCE = 0.02  # of a category, for the weight of those who have it
_COLLINEAR = 1e-9
_BENDS = (0.25, 0.5, 0.75)  # quantiles
_RETRIED = 20
_EXPECTED = 15.0  # records with two states, were they independent: where there are none, they exclude each other


@dataclass(frozen=True)
class Sides:
    """One variable of the original and of the synthetic file: numbers, or positions of categories; NaN: missing.

    original, synthetic : shapes (n,) and (m,)
    """

    original: FloatArray
    synthetic: FloatArray
    is_category: bool


def calibrated(
    variables: Mapping[str, Sides], responses: Sequence[str], minimum_people: int, rng: Generator
) -> dict[str, IntArray]:
    """From which synthetic record each one has its value of each of `responses`; a missing value stays.

    variables      : all that are released, `responses` among them
    minimum_people : fewest that stand behind an effect
    returns        : a permutation of the m records each; as they are where too few people have a category, or a
                     number varies for too few
    cost           : O(n q^2) for q effects and each number and category; memory O(n q)
    """
    now = {name: each.synthetic for name, each in variables.items()}
    states = {name: States.of(each.original, each.is_category) for name, each in variables.items()}
    effects = {name: _Effects.of(each, minimum_people) for name, each in variables.items()}
    before = {name: effects[name].columns(each.original) for name, each in variables.items()}
    after = {name: effects[name].columns(each.synthetic) for name, each in variables.items()}
    known = [name for name in variables if name not in responses]
    places = {name: np.arange(len(now[name])) for name in responses}
    for name in sorted(responses, key=lambda name: not variables[name].is_category):
        of = variables[name]
        if known:
            others = [(states[each], variables[each].original, now[each]) for each in variables if each != name]
            beside = Beside.of(states[name], of.original, others)
            x, z = (np.column_stack([side[each] for each in known]) for side in (before, after))
            exchange = _labels_exchanged if of.is_category else _numbers_exchanged
            places[name] = exchange(of, states[name], beside, x, z, minimum_people, rng)
            now[name] = of.synthetic[places[name]]
            after[name] = effects[name].columns(now[name])
        known.append(name)
    return places


@dataclass(frozen=True)
class _Effects:
    """How a variable enters a regression: categories that enough people have, or a line that bends at its quartiles."""

    is_category: bool
    values: FloatArray  # categories, or where the line bends
    centre: float
    scale: float  # 0: of a number that varies for too few
    tells_missing: bool

    @classmethod
    def of(cls, variable: Sides, minimum_people: int) -> "_Effects":
        known = variable.original[~np.isnan(variable.original)]
        missing = min(len(variable.original) - len(known), len(known)) >= minimum_people
        values, counts = np.unique(known, return_counts=True)
        if variable.is_category:
            return cls(True, values[counts >= minimum_people], 0.0, 1.0, missing)
        if behind(known) < minimum_people:
            return cls(False, values[:0], 0.0, 0.0, missing)
        bends = np.unique(np.quantile(known, _BENDS))
        bends = bends[[min((known < each).sum(), (known > each).sum()) >= minimum_people for each in bends]]
        return cls(False, bends, float(known.mean()), float(known.std()), missing)

    def columns(self, values: FloatArray) -> FloatArray:
        """Shape (n, q), finite."""
        missing = np.isnan(values)
        found = [missing.astype(np.float64)] if self.tells_missing else []
        if self.is_category:
            found += [(values == value).astype(np.float64) for value in self.values]
        elif self.scale > 0:
            found.append(np.where(missing, 0.0, (values - self.centre) / self.scale))
            found += [np.where(missing, 0.0, np.maximum(values - bend, 0.0) / self.scale) for bend in self.values]
        return np.column_stack(found) if found else np.zeros((len(values), 0))


def _numbers_exchanged(
    of: Sides, states: States, beside: Beside, x: FloatArray, z: FloatArray, minimum_people: int, rng: Generator
) -> IntArray:
    """Heaped values change places with others where the original has both; all others change places anyway."""
    places, there = np.arange(len(of.synthetic)), np.flatnonzero(~np.isnan(of.synthetic))
    known = ~np.isnan(of.original)
    original = of.original[known]
    if min(len(original), len(there)) < 2 * minimum_people or behind(original) < minimum_people:
        return places
    centre, size = original.mean(), original.std()
    x, z = _estimable(x[known], z[there], original, minimum_people)
    wanted = z @ _solved(x.T @ x, x.T @ ((original - centre) / size))
    free = np.ones(len(there), bool)
    if len(states.heaps):
        heaped = np.arange(1, 1 + len(states.heaps))
        free = beside.allow_either(heaped, np.arange(1 + len(heaped), states.count))[there]
    for _ in range(_ROUNDS):
        now = of.synthetic[places[there]]
        drawn, at_heap = (now - centre) / size, np.isin(now, states.heaps)
        ease = np.where(free | ~at_heap, _ease(now, original, at_heap), 0.0)
        if (ease > 0).sum() < 2 * minimum_people:
            break
        steps = ease * (z @ _solved(z.T @ (ease[:, None] * z), z.T @ (wanted - drawn)))
        aimed = drawn + np.clip(steps, -_FURTHEST, _FURTHEST) + _within_ties(drawn, rng)
        for part in (free, ~free & ~at_heap):
            rows = there[part]
            places[rows] = places[rows[_handed_out(now[part], aimed[part], rows, states, beside)]]
    return places


def _handed_out(values: FloatArray, aimed: FloatArray, records: IntArray, states: States, beside: Beside) -> IntArray:
    """The places of the values in the order of what is aimed at; who would get what does not go with the rest keeps
    the own."""
    own, taking = states.codes(values), np.ones(len(values), bool)
    for _ in range(_RETRIED):
        found, rows = np.arange(len(values)), np.flatnonzero(taking)
        found[rows[np.argsort(aimed[rows], kind="stable")]] = rows[np.argsort(values[rows], kind="stable")]
        becomes = own[found]
        changed = np.flatnonzero(becomes != own)
        wrong = changed[~beside.allow(becomes[changed], records[changed], _EXPECTED)]
        if len(wrong) == 0:
            return found
        taking[wrong] = False
    return np.arange(len(values))


def _ease(now: FloatArray, original: FloatArray, at_heap: BoolArray) -> FloatArray:
    """How far a value goes for the same push: the less, the nearer it is to an end of the range."""
    if len(np.unique(original)) <= _FEW:
        return np.ones(len(now))
    size = original.std()
    room = np.maximum((now - original.min()) / size, 0.0) * np.maximum((original.max() - now) / size, 0.0)
    mean = float(room.mean()) or 1.0
    return np.asarray(np.where(at_heap, np.maximum(room / mean, 1.0), room / mean + _LEAST_EASE))


def _within_ties(values: FloatArray, rng: Generator) -> FloatArray:
    """Equal values lie anywhere from halfway to the next smaller to halfway to the next larger one."""
    ranked, place = np.unique(values, return_inverse=True)
    if len(ranked) < 2:
        return np.zeros(len(values))
    gaps = np.diff(ranked)
    draws = rng.random(len(values)) - 0.5
    return np.asarray(draws * np.where(draws < 0, np.r_[gaps[0], gaps][place], np.r_[gaps, gaps[-1]][place]))


def _labels_exchanged(
    of: Sides, states: States, beside: Beside, x: FloatArray, z: FloatArray, minimum_people: int, rng: Generator
) -> IntArray:
    """From the most frequent category on, each against those that are left."""
    places, now = np.arange(len(of.synthetic)), of.synthetic.copy()
    values, counts = np.unique(of.original[~np.isnan(of.original)], return_counts=True)
    order = values[np.argsort(-counts, kind="stable")]
    left, mine = ~np.isnan(of.original), ~np.isnan(now)
    for place, value in enumerate(order[:-1]):
        records = np.flatnonzero(mine)
        y, own = of.original[left] == value, now[records] == value
        if min(y.sum(), (~y).sum(), own.sum(), (~own).sum()) < minimum_people:
            break
        inner, outer = _estimable(x[left], z[records], y.astype(np.float64), minimum_people)
        wanted, products = outer @ _solved(inner.T @ inner, inner.T @ y), outer.T @ outer
        chance = np.clip(wanted, _LEAST_CHANCE, 1 - _LEAST_CHANCE)
        either = beside.allow_either(states.codes(order[place : place + 1]), states.codes(order[place + 1 :]))
        free = np.flatnonzero(either[records])
        for _ in range(_ROUNDS):
            own = now[records] == value
            steps = outer @ _solved(products, outer.T @ (wanted - own))
            # Only who has it can lose it: the rarer it is, the more of them have to.
            aimed = own + rng.random(len(own)) - 0.5 + steps / np.where(own, chance, 1 - chance)
            chosen = own.copy()
            chosen[free] = False
            chosen[free[np.argsort(-aimed[free], kind="stable")[: own[free].sum()]]] = True
            lose, gain = (records[rng.permutation(np.flatnonzero(each))] for each in (own & ~chosen, chosen & ~own))
            allowed = beside.allow(states.codes(now[gain]), lose)
            lose, gain = lose[allowed], gain[allowed]
            places[lose], places[gain] = places[gain], places[lose]
            now[lose], now[gain] = now[gain], value
        left, mine = left & (of.original != value), mine & (now != value)
    return places


def _estimable(x: FloatArray, z: FloatArray, y: FloatArray, minimum_people: int) -> tuple[FloatArray, FloatArray]:
    """An intercept and the effects: of those that tell most, as many as there are `minimum_people` for each."""
    spread = x.std(axis=0) if len(x) else np.zeros(x.shape[1])
    kept = np.flatnonzero(spread > 0)
    strength = np.abs((x[:, kept] - x[:, kept].mean(axis=0)).T @ y) / spread[kept]
    kept = np.sort(kept[np.argsort(-strength, kind="stable")[: max(len(y) // minimum_people - 1, 0)]])
    return np.column_stack([np.ones(len(x)), x[:, kept]]), np.column_stack([np.ones(len(z)), z[:, kept]])


def _solved(products: FloatArray, right: FloatArray) -> FloatArray:
    """The least solution of equations that may repeat each other."""
    size = np.sqrt(np.maximum(np.diag(products), 1e-300))
    values, vectors = np.linalg.eigh(products / np.outer(size, size))
    kept = values > _COLLINEAR * max(float(values.max(initial=0.0)), 1e-300)
    return np.asarray(vectors[:, kept] / values[kept] @ (vectors[:, kept].T @ (right / size)) / size)
