"""Calibration: synthetic values change places, so that regressions on the other variables are the original's.

Values that are drawn from leaves or kernels relate more weakly than the original's. With X the main effects of other
variables, and b the least squares coefficients of a number on them, y + X (b of the original - b of the synthetic file)
has the original's coefficients: the idea of IPSO (Torra 2013), here for records that were drawn in any other way. Two
changes keep what that would break. The sum is the order in which the drawn values are handed out again, as in data
shuffling (Muralidhar and Sarathy 2006): no value is new, so that distribution, range, grain and heaps are those that
were drawn. And a state that the original never shows beside another one of the record is not put there.

Categories come first, in their order, each on those before: one category against the rest, then the next one among
what is left. Then the numbers, each on all categories and the numbers before. So the steps do not undo each other, and
a regression of any variable on any others is near the original's, as far as main effects tell it. Where a variable
could hardly move for what a later one says of it (who has no hours does not work), the later one goes along. Of numbers
two values are drawn for each record, and those taken by which mean and variance are near the original's: a slope is a
covariance by a variance. Were they the original's exactly, whoever knows everybody else, or an edition with one person
less, could compute a value to the last digits: so they are blurred by as much as the furthest person makes of them.

X tells of nobody alone: an effect that fewer than `minimum_people`, or 20, stand behind is left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from numpy.random import Generator, default_rng

from sluice.ground.arrays import BoolArray, FloatArray, IntArray, behind
from sluice.masking.synthesis.occurring_states import Beside, States, Together

_ROUNDS = 12  # at most: what is lost where values cannot go further is made good
_LABEL_ROUNDS = 6  # the same for categories
_FURTHEST = 3.0  # a value is sent at most so many standard deviations away
_HARDER = 1.4  # times the push of the round before, while it brings the regressions nearer
_WEAKEST = 0.1  # push: with less nothing comes nearer
_NEAR = 0.05  # squared standard deviations, all records together: no analysis tells such regressions apart
_FEW = 20  # different values, each of which is as easily left
_LEAST_EASE = 0.05  # of the average
_LEAST_CHANCE = 0.02  # of a category, for the weight of those who have it
_COLLINEAR = 1e-9
_BENDS = (0.25, 0.5, 0.75)  # quantiles
_RETRIED = 3
_PAIRED = 4  # times that records with and without a category are put in pairs anew, whose exchange was not allowed
_BLUR = 0.5  # standard errors, by which coefficients are off, so that nobody's part can be told from them
_ENOUGH_BEHIND = 20  # people behind an effect: with larger leaves, too, what so many tell is told of nobody
_ASKED = 2000  # pairs of records of which it is asked whether a value could change places
_HINDERED = 0.5  # share of them that can, below which another variable stands in the way
# Records with two states, were they independent: where there are none of so many, the states exclude each other.
_RARE, _EXPECTED = 5.0, 15.0  # of a category, and of a number


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
    """From which synthetic record each one has its value of each of `responses`.

    A missing value stays, or goes along with what says of whom it is asked.

    variables      : all that are released, `responses` among them
    minimum_people : fewest that stand behind an effect, where they are fewer than 20
    returns        : a permutation of the m records each; as they are where too few people have a category, or a
                     number varies for too few
    cost           : O(n q^2) for q effects and each number and category; memory O(n q)
    """
    minimum_people = min(minimum_people, _ENOUGH_BEHIND)
    now = {name: each.synthetic for name, each in variables.items()}
    states = {name: States.of(each.original, each.is_category) for name, each in variables.items()}
    effects = {name: _Effects.of(each, minimum_people) for name, each in variables.items()}
    before = {name: effects[name].columns(each.original) for name, each in variables.items()}
    after = {name: effects[name].columns(each.synthetic) for name, each in variables.items()}
    known = [name for name in variables if name not in responses]
    places = {name: np.arange(len(now[name])) for name in responses}
    left = sorted(responses, key=lambda name: not variables[name].is_category)
    while left:
        name = left.pop(0)
        if known:
            of = Sides(variables[name].original, now[name], variables[name].is_category)
            group, together = _that_move(name, left, variables, states, now, rng)
            x, z = (np.column_stack([side[each] for each in known]) for side in (before, after))
            exchange = _labels_exchanged if of.is_category else _numbers_exchanged
            moves = exchange(of, states[name], together, x, z, minimum_people, rng)
            for each in group:
                places[each] = places[each][moves]
                now[each] = variables[each].synthetic[places[each]]
            after |= {each: effects[each].columns(now[each]) for each in group}
        known.append(name)
    return places


def _that_move(
    name: str, later: Sequence[str], variables: Mapping[str, Sides], states: Mapping[str, States],
    now: Mapping[str, FloatArray], rng: Generator,
) -> tuple[list[str], Together]:  # fmt: skip
    """The variable and those of `later` that go along: they say nearly the same, and without them none could move."""
    codes = {each: states[each].codes(values) for each, values in now.items()}
    one, other = (rng.integers(0, len(codes[name]), _ASKED) for _ in range(2))
    group: list[str] = [name]
    for member in group:  # grows while it is gone through
        differ = np.flatnonzero(codes[member][one] != codes[member][other])
        for each in [each for each in later if each not in group]:
            of = variables[member]
            beside = Beside.of(states[member], of.original, [(states[each], variables[each].original, now[each])])
            goes = beside.allow(codes[member][one[differ]], other[differ], _EXPECTED)
            if len(differ) and goes.mean() < _HINDERED:
                group.append(each)
    stay = [each for each in variables if each not in group]
    return group, Together(
        [codes[each] for each in group],
        [
            Beside.of(
                states[each],
                variables[each].original,
                [(states[one], variables[one].original, now[one]) for one in stay],
            )
            for each in group
        ],
    )


def chosen_of_two(one: FloatArray, other: FloatArray, original: FloatArray, rng: Generator) -> BoolArray:
    """For which records the other of two drawn values is taken, so that mean and variance are near the original's.

    One record after another, in random order, where it brings both nearer. A slope is a covariance by a variance:
    without the one, the other is of no use. What both come near is off by a normal error, as large as what the person
    makes of it who is furthest from the mean; with the same seed it is another for every other original.

    one, other : shape (m,), draws from the same distributions
    original   : shape (n,); where hardly anybody makes the variance, nothing is chosen
    returns    : shape (m,)
    cost       : O(m)
    """
    chosen = np.zeros(len(one), bool)
    if len(one) == 0 or behind(original) < _ENOUGH_BEHIND:
        return chosen
    centre, size = original.mean(), original.std()
    one, other, wanted = ((each - centre) / size for each in (one, other, original))
    furthest = float(np.abs(wanted).max())
    blur = _blur(2, rng, original)
    first, second = (
        (wanted.mean() - one.mean()) * len(one) + blur[0] * furthest,
        ((wanted**2).mean() - (one**2).mean()) * len(one) + blur[1] * furthest**2,
    )
    differ = rng.permutation(np.flatnonzero(one != other))
    moves = zip(differ.tolist(), (other - one)[differ].tolist(), (other**2 - one**2)[differ].tolist(), strict=True)
    for record, by, by_square in moves:
        if (first - by) ** 2 + (second - by_square) ** 2 < first**2 + second**2:
            chosen[record] = True
            first, second = first - by, second - by_square
    return chosen


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
    of: Sides, states: States, together: Together, x: FloatArray, z: FloatArray, minimum_people: int, rng: Generator
) -> IntArray:
    """Heaped values change places with others where the original has both; all others change places anyway."""
    places, there = np.arange(len(of.synthetic)), np.flatnonzero(~np.isnan(of.synthetic))
    known = ~np.isnan(of.original)
    original = of.original[known]
    if min(len(original), len(there)) < 2 * minimum_people or behind(original) < minimum_people:
        return places
    centre, size = original.mean(), original.std()
    x, z = _estimable(x[known], z[there], original, minimum_people)
    wanted = z @ _blurred_coefficients(x, (original - centre) / size, rng)
    free = np.ones(len(there), bool)
    if len(states.heaps):
        heaped = np.arange(1, 1 + len(states.heaps))
        free = together.beside[0].allow_either(heaped, np.arange(1 + len(heaped), states.count))[there]
    products, best, least, push = z.T @ z, places, np.inf, 1.0
    for _ in range(_ROUNDS):
        now = of.synthetic[places[there]]
        far = _distance(z, products, wanted - (now - centre) / size)
        if far < least:
            push *= _HARDER if far > least / 2 else 1.0
            best, least = places.copy(), far
        else:
            places, push = best.copy(), push / _HARDER**2
            now = of.synthetic[places[there]]
        drawn, at_heap = (now - centre) / size, np.isin(now, states.heaps)
        ease = np.where(free | ~at_heap, _ease(now, original, at_heap), 0.0)
        if least < _NEAR or push < _WEAKEST or (ease > 0).sum() < 2 * minimum_people:
            break
        steps = push * ease * (z @ _solved(z.T @ (ease[:, None] * z), z.T @ (wanted - drawn)))
        aimed = drawn + np.clip(steps, -_FURTHEST, _FURTHEST) + _within_ties(drawn, rng)
        for part in (free, ~free & ~at_heap):
            rows = there[part]
            places[rows] = _handed_out(now[part], aimed[part], places[rows], rows, together)
    return best


def _distance(z: FloatArray, products: FloatArray, apart: FloatArray) -> float:
    """How much the effects explain of what the values are apart from the wanted ones: squared, summed over records."""
    moments = z.T @ apart
    return float(moments @ _solved(products, moments))


def _handed_out(
    values: FloatArray, aimed: FloatArray, sources: IntArray, records: IntArray, together: Together
) -> IntArray:
    """The sources of the values in the order of what is aimed at, as far as they go with the rest of each record.

    Most often all do but a few, which keep their own. Else two records at a time exchange what they have, where that
    brings both nearer to the order; from records that lie far apart in it to those that are neighbours.
    """
    taking = np.ones(len(values), bool)
    for _ in range(_RETRIED):
        found, rows = sources.copy(), np.flatnonzero(taking)
        found[rows[np.argsort(aimed[rows], kind="stable")]] = sources[rows[np.argsort(values[rows], kind="stable")]]
        changed = np.flatnonzero(together.differ(found, sources))
        wrong = changed[~together.allow(found[changed], records[changed], _EXPECTED)]
        if len(wrong) == 0:
            return found
        taking[wrong] = False
    order = np.argsort(aimed, kind="stable")
    held, found, at = values[order], sources[order], records[order]
    gap = len(order) // 2
    while gap:
        for first in (0, 1):
            lower = np.flatnonzero(np.arange(len(order) - gap) // gap % 2 == first)
            lower = lower[held[lower] > held[lower + gap]]
            upper = lower + gap
            goes = together.allow(found[upper], at[lower], _EXPECTED) & together.allow(
                found[lower], at[upper], _EXPECTED
            )
            lower, upper = lower[goes], upper[goes]
            for each in (held, found):
                each[lower], each[upper] = each[upper], each[lower]
        gap = gap * 2 // 3
    exchanged = np.empty_like(found)
    exchanged[order] = found
    return exchanged


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
    of: Sides, states: States, together: Together, x: FloatArray, z: FloatArray, minimum_people: int, rng: Generator
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
        wanted, products = outer @ _blurred_coefficients(inner, y.astype(np.float64), rng), outer.T @ outer
        chance = np.clip(wanted, _LEAST_CHANCE, 1 - _LEAST_CHANCE)
        either = together.beside[0].allow_either(
            states.codes(order[place : place + 1]), states.codes(order[place + 1 :])
        )
        free = np.flatnonzero(either[records])
        best, least = (places.copy(), now.copy()), np.inf
        for last in (*[False] * _LABEL_ROUNDS, True):
            own = now[records] == value
            if (far := _distance(outer, products, wanted - own)) < least:
                best, least = (places.copy(), now.copy()), far
            if last:
                break
            steps = outer @ _solved(products, outer.T @ (wanted - own))
            # Only who has it can lose it: the rarer it is, the more of them have to.
            aimed = own + rng.random(len(own)) - 0.5 + steps / np.where(own, chance, 1 - chance)
            chosen = own.copy()
            chosen[free] = False
            chosen[free[np.argsort(-aimed[free], kind="stable")[: own[free].sum()]]] = True
            lose, gain = (records[np.flatnonzero(each)] for each in (own & ~chosen, chosen & ~own))
            for _ in range(_PAIRED):
                lose, gain = rng.permutation(lose), rng.permutation(gain)
                goes = together.allow(places[gain], lose, _RARE) & together.allow(places[lose], gain, _RARE)
                one, other = lose[goes], gain[goes]
                places[one], places[other] = places[other], places[one]
                now[one], now[other] = now[other], value
                lose, gain = lose[~goes], gain[~goes]
        places, now = best
        left, mine = left & (of.original != value), mine & (now != value)
    return places


def _estimable(x: FloatArray, z: FloatArray, y: FloatArray, minimum_people: int) -> tuple[FloatArray, FloatArray]:
    """An intercept and the effects: of those that tell most, as many as there are `minimum_people` for each."""
    spread = x.std(axis=0) if len(x) else np.zeros(x.shape[1])
    kept = np.flatnonzero(spread > 0)
    strength = np.abs((x[:, kept] - x[:, kept].mean(axis=0)).T @ y) / spread[kept]
    kept = np.sort(kept[np.argsort(-strength, kind="stable")[: max(len(y) // minimum_people - 1, 0)]])
    return np.column_stack([np.ones(len(x)), x[:, kept]]), np.column_stack([np.ones(len(z)), z[:, kept]])


def _blurred_coefficients(x: FloatArray, y: FloatArray, rng: Generator) -> FloatArray:
    """Least squares coefficients of y on x, off by half of their standard errors.

    Everybody's part of them is blurred by itself (the wild bootstrap; Wu 1986), so most where somebody's is large.
    """
    products = x.T @ x
    found = _solved(products, x.T @ y)
    return found + _BLUR * _solved(products, x.T @ (_blur(len(x), rng, x, y) * (y - x @ found)))


def _blur(size: int, rng: Generator, *original: FloatArray) -> FloatArray:
    """Normal errors, shape (size,): by the same seed others for every other original, so that no difference tells."""
    return default_rng([int(rng.integers(2**32)), *(crc32(each.tobytes()) for each in original)]).normal(size=size)


def _solved(products: FloatArray, right: FloatArray) -> FloatArray:
    """The least solution of equations that may repeat each other."""
    size = np.sqrt(np.maximum(np.diag(products), 1e-300))
    values, vectors = np.linalg.eigh(products / np.outer(size, size))
    kept = values > _COLLINEAR * max(float(values.max(initial=0.0)), 1e-300)
    return np.asarray(vectors[:, kept] / values[kept] @ (vectors[:, kept].T @ (right / size)) / size)
