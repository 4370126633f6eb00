"""Calibration: synthetic values change places, so that regressions on the other variables are the original's.

Values that are drawn from leaves or kernels relate more weakly than the original's. With X the main effects of other
variables, and b the least squares coefficients of a variable on them, regressions are kept where the synthetic values y
meet X'(y - X b) = 0: the score equations of the original's coefficients, the idea of IPSO (Torra 2013), here for
records that were drawn in any other way. Two records at a time exchange their values where that brings the equations
nearer, those of neighbouring values first. No value is new, so that distribution, range, grain and heaps are those
that were drawn, as in data shuffling (Muralidhar and Sarathy 2006). And a state that the original never shows beside
another one of the record is not put there.

The equations are those of each category, of a number, of who has any of an amount that many have none of (and who a
loss), and of the logarithm where it is skewed. Amounts so few and large that they make a variance alone stay where they
were drawn, and are told no further than the amount that enough people reach. Categories come first, in their order,
each on those before. Then the numbers, each on all categories and the numbers before, those that few people vary first:
a slope on such a number is then met itself, and not by a variance that one person makes. So the steps do not undo each
other, and a regression of any variable on any others is near the original's, as far as main effects tell it. Where a
variable could hardly move for what a later one says of it (who has no hours does not work), the later one goes along.

Of numbers two values are drawn for each record, and those taken by which mean and variance are near the original's: a
slope is a covariance by a variance. Were they the original's exactly, whoever knows everybody else, or an edition with
one person less, could compute a value to the last digits: so they are blurred by as much as the furthest person makes
of them, and coefficients by half of their standard errors.

X tells of nobody alone: an effect that fewer than `minimum_people`, or 20, stand behind is left out, and one that would
leave so few as the rest. Who knows all of 20 people but one is told no more of the last by their mean than the others
tell: it is off by 2.2 of their deviations.

Where people have several records, it is their sums that are blurred, each person's by one draw, and that the equations
are held against: what changes within people, such as the effect of a year, is known far better than records of as many
different people would tell (Liang and Zeger 1986), and what differs between them less well.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from zlib import crc32

import numpy as np
from numpy.random import Generator, default_rng

from sluice.ground.arrays import BoolArray, FloatArray, IntArray, behind
from sluice.masking.synthesis.drawn_amounts import is_skewed
from sluice.masking.synthesis.occurring_states import Beside, States, Together

_REACHES = (0.02, 0.05, 0.1, 0.3, 1.0)  # share of the records between whose ranks two values lie that change places
_ANY = (100.0,)
_BESIDE = (1, 3, 10)  # places away, at which it is looked for who to exchange with
_ROUNDS = 40  # in each of which a record exchanges once at most
_NEAR = 0.02  # squared standard errors of a coefficient, on average: no analysis tells such regressions apart
_SHARPEST = 1e-3  # of that: nearer than it the exchanges come hardly ever
_COLLINEAR = 1e-9
_UNKNOWN = 0.02  # of the synthetic file's variation: an effect that varies less in the original tells nothing there
_UNEXPLAINED = 0.05  # of a standard deviation: what is told better than that is not told better still
_HEAPED = 0.05  # share of the records without an amount, from which on who has any counts
BENDS = (0.25, 0.5, 0.75)  # quantiles
_FEW_MAKE = 100  # people: such a number is held against no other, but others against it
_BLUR = 0.5  # standard errors, by which coefficients are off, so that nobody's part can be told from them
_LEAST_PART = 0.5  # of a standard error: where all have one value, and none a part, the blur would tell it
ENOUGH_BEHIND = 20  # people behind an effect: with larger leaves, too, what so many tell is told of nobody
_ASKED = 2000  # pairs of records of which it is asked whether a value could change places
_HINDERED = 0.5  # share of them that can, below which another variable stands in the way
# Records with two states, were they independent: where there are none of so many, the states exclude each other.
_RARE, _EXPECTED = 5.0, 10.0  # of a category, and of a number

_Columns = Callable[[FloatArray], FloatArray]
Keeps = Callable[[IntArray, Mapping[str, IntArray]], BoolArray]
"""Whether records, shape (k,), may be, whose value of each response is that of the records named for it, (k,)."""


@dataclass(frozen=True)
class Sides:
    """One variable of the original and of the synthetic file: numbers, or positions of categories; NaN: missing.

    original, synthetic : shapes (n,) and (m,)
    """

    original: FloatArray
    synthetic: FloatArray
    is_category: bool


def calibrated(
    variables: Mapping[str, Sides], responses: Sequence[str], minimum_people: int, rng: Generator,
    people: IntArray | None = None, keeps: Keeps | None = None,
) -> dict[str, IntArray]:  # fmt: skip
    """From which synthetic record each one has its value of each of `responses`.

    A missing value stays, or goes along with what says of whom it is asked.

    variables      : all that are released, `responses` among them
    minimum_people : fewest that stand behind an effect, where they are fewer than 20
    people         : whose each record of the original is, (n,), where somebody has several
    keeps          : asked before two records exchange values; who may be stays one who may be
    returns        : a permutation of the m records each; as they are where too few people have a category, or a
                     number varies for too few
    cost           : O(n q (q + k)) for q effects and each variable of k categories; memory O(n (q + k))
    """
    minimum_people = min(minimum_people, ENOUGH_BEHIND)
    if people is not None:  # so many records, of as many people on average
        minimum_people = ceil(minimum_people * len(people) / len(np.unique(people)))
    now = {name: each.synthetic for name, each in variables.items()}
    states = {name: States.of(each.original, each.is_category) for name, each in variables.items()}
    effects = {name: _Effects.of(each, minimum_people) for name, each in variables.items()}
    before = {name: effects[name].columns(each.original) for name, each in variables.items()}
    after = {name: effects[name].columns(each.synthetic) for name, each in variables.items()}
    known = [name for name in variables if name not in responses]
    places = {name: np.arange(len(now[name])) for name in responses}
    left = sorted(responses, key=lambda name: _turn(variables[name]))
    while left:
        name = left.pop(0)
        if known:
            of = Sides(variables[name].original, now[name], variables[name].is_category)
            group, together = _that_move(name, left, variables, states, now, rng)
            x, z = (np.column_stack([side[each] for each in known]) for side in (before, after))
            may = None if keeps is None else _that_may_be(keeps, places, group)
            moves = _exchanged(of, together, x, z, minimum_people, rng, people, may)
            for each in group:
                places[each] = places[each][moves]
                now[each] = variables[each].synthetic[places[each]]
            after |= {each: effects[each].columns(now[each]) for each in group}
        known.append(name)
    return places


def _that_may_be(keeps: Keeps, places: Mapping[str, IntArray], group: Sequence[str]) -> Callable[..., BoolArray]:
    """Whether records, (k,), may have the values of `group` that others, (k,), have after `moves`, (m,)."""

    def may(records: IntArray, others: IntArray, moves: IntArray) -> BoolArray:
        after = moves[others]
        return keeps(records, {name: of[after] if name in group else of[records] for name, of in places.items()})

    return may


def _turn(variable: Sides) -> int:
    """Categories, then numbers whose variation few people make, then others; of equal rank as they are given."""
    if variable.is_category:
        return 0
    return 1 if behind(variable.original[~np.isnan(variable.original)]) < _FEW_MAKE else 2


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

    One record after another, in random order, where it brings them nearer. A slope is a covariance by a variance:
    without the one, the other is of no use. What they come near is off by a normal error, as large as what the person
    makes of it who is furthest from the mean; with the same seed it is another for every other original. Mean and
    variance alone would be met by more or fewer people with any amount, so their share counts as well.

    one, other : shape (m,), draws from the same distributions
    original   : shape (n,); what hardly anybody makes of it counts for nothing
    returns    : shape (m,)
    cost       : O(m)
    """
    from sluice.masking.synthesis.calibration_kernel import taken_where_nearer

    chosen = np.zeros(len(one), bool)
    scales = [each for each in _scales(original, ENOUGH_BEHIND) if behind(each(original)) >= ENOUGH_BEHIND]
    if len(one) == 0 or not scales:
        return chosen

    def moments(values: FloatArray) -> FloatArray:
        return np.column_stack([part for each in scales for part in _moments(each(original), each(values))])

    one, other, wanted = (moments(each) for each in (one, other, original))
    size = wanted.std(axis=0)
    furthest = np.abs(wanted - wanted.mean(axis=0)).max(axis=0)
    apart = (wanted.mean(axis=0) - one.mean(axis=0)) * len(one)
    apart += _blur(len(apart), rng, original) * furthest
    differ = rng.permutation(np.flatnonzero((one != other).any(axis=1)))
    chosen[differ] = taken_where_nearer((other - one)[differ] / size, apart / size)
    return chosen


def _moments(original: FloatArray, values: FloatArray) -> list[FloatArray]:
    """The differences from the original's mean, and their squares, where they say anything else."""
    centre, size = original.mean(), original.std()
    apart = (values - centre) / size
    return [apart, apart**2] if np.ptp(np.abs(original - centre)) and len(np.unique(original)) > 2 else [apart]


@dataclass(frozen=True)
class _Effects:
    """How a variable enters a regression: categories that enough people have, or a line that bends at its quartiles.

    Where many have none of an amount, it is another thing to have none: the line jumps there, and bends at quartiles of
    the others.
    """

    is_category: bool
    values: FloatArray  # categories, or where the line bends
    centre: float
    scale: float  # 0: of a number that varies for too few
    tells_missing: bool
    largest: float = np.inf  # of a number
    tells_none: bool = False

    @classmethod
    def of(cls, variable: Sides, minimum_people: int) -> "_Effects":
        known = variable.original[~np.isnan(variable.original)]
        missing = min(len(variable.original) - len(known), len(known)) >= minimum_people
        values, counts = np.unique(known, return_counts=True)
        if variable.is_category:
            among = len(variable.original) - missing * (len(variable.original) - len(known))
            return cls(True, values[_told(counts, among, minimum_people)], 0.0, 1.0, missing)
        largest = _largest_told(known, minimum_people)
        known = np.clip(known, -largest, largest)
        if behind(known) < minimum_people:
            return cls(False, values[:0], 0.0, 0.0, missing)
        some = known[known != 0]
        none = len(known) - len(some) >= max(minimum_people, _HEAPED * len(known)) and len(some) >= minimum_people
        bends = np.unique(np.quantile(some if none else known, BENDS))
        bends = bends[[min((known < each).sum(), (known > each).sum()) >= minimum_people for each in bends]]
        return cls(False, bends, float(known.mean()), float(known.std()), missing, largest, none)

    def columns(self, values: FloatArray) -> FloatArray:
        """Shape (n, q), finite."""
        missing = np.isnan(values)
        found = [missing.astype(np.float64)] if self.tells_missing else []
        if self.is_category:
            found += [(values == value).astype(np.float64) for value in self.values]
        elif self.scale > 0:
            if self.tells_none:
                found.append((values == 0).astype(np.float64))
            values = np.clip(values, -self.largest, self.largest)
            found.append(np.where(missing, 0.0, (values - self.centre) / self.scale))
            found += [np.where(missing, 0.0, np.maximum(values - bend, 0.0) / self.scale) for bend in self.values]
        return np.column_stack(found) if found else np.zeros((len(values), 0))


def _exchanged(
    of: Sides, together: Together, x: FloatArray, z: FloatArray, minimum_people: int, rng: Generator,
    people: IntArray | None, may: Callable[[IntArray, IntArray, IntArray], BoolArray] | None = None,
) -> IntArray:  # fmt: skip
    """Two records at a time exchange their values, where that brings the equations nearer."""
    from sluice.masking.synthesis.calibration_kernel import exchanged_where_nearer

    places, there = np.arange(len(of.synthetic)), np.flatnonzero(~np.isnan(of.synthetic))
    known = ~np.isnan(of.original)
    columns = _response(of.original[known], of.is_category, minimum_people)
    y, now = columns(of.original[known]), columns(of.synthetic[there])
    if min(len(y), len(there)) < 2 * minimum_people or not y.shape[1]:
        return places
    x, z = _uncorrelated(*_estimable(x[known], z[there], y, minimum_people))
    whose = None if people is None else people[known]
    wanted, unexplained, sharper = _blurred_coefficients(x, y, rng, whose)
    now, effects = now / unexplained, z / np.sqrt(len(z))
    apart = np.sqrt(len(z)) * wanted / unexplained - effects.T @ now
    beyond = np.abs(of.synthetic) > (np.inf if of.is_category else _largest_told(of.original[known], minimum_people))
    expected = _RARE if of.is_category else _EXPECTED
    reaches = _ANY if of.is_category else _REACHES
    for reach in reaches:
        for _ in range(_ROUNDS // len(reaches)):
            if (apart**2).mean() < _NEAR * sharper:
                return places
            one, other = _pairs(of.synthetic[places[there]], reach, now, effects @ apart, rng)
            goes = ~(beyond[places[there[one]]] | beyond[places[there[other]]])
            goes &= together.allow(places[there[other]], there[one], expected)
            goes &= together.allow(places[there[one]], there[other], expected)
            if may is not None:
                goes[goes] &= may(there[one[goes]], there[other[goes]], places)
                goes[goes] &= may(there[other[goes]], there[one[goes]], places)
            one, other = one[goes], other[goes]
            done = exchanged_where_nearer(one, other, effects, now, apart)
            if not done.any():
                break
            one, other = there[one[done]], there[other[done]]
            places[one], places[other] = places[other], places[one]
    return places


def _response(original: FloatArray, is_category: bool, minimum_people: int) -> _Columns:
    """What of a variable is explained: each category, or the number and its logarithm; of what enough people make."""
    if is_category:
        values, counts = np.unique(original, return_counts=True)
        values = values[_told(counts, len(original), minimum_people)]
        return lambda some: (some[:, None] == values).astype(np.float64)
    scales = [each for each in _scales(original, minimum_people) if behind(each(original)) >= minimum_people]
    return lambda some: np.stack([each(some) for each in scales], 1) if scales else np.zeros((len(some), 0))


def _scales(original: FloatArray, minimum_people: int) -> list[_Columns]:
    """The number; whether it is above 0, and below, where many have none; the logarithm of its size where it is skewed.

    So `log(y)` of those who have an amount, who has any, `log(y + 1)` and the inverse hyperbolic sine are kept at once.
    """
    size = np.abs(original[original != 0])
    if not len(size):
        return []
    largest, middle = _largest_told(original, minimum_people), float(np.median(size))
    skewed, signed = is_skewed(original), original.min() < 0
    none = len(original) - len(size)
    scales: list[_Columns] = [lambda some: np.clip(some, -largest, largest)]
    if none >= (minimum_people if skewed else _HEAPED * len(original)) or (skewed and signed):
        scales.append(lambda some: (some > 0).astype(np.float64))
        if signed and none >= minimum_people:
            scales.append(lambda some: (some < 0).astype(np.float64))
    if skewed:
        scales.append(lambda some: np.sign(some) * np.log(np.abs(np.where(some == 0, middle, some)) / middle))
    return scales


def _told(counts: IntArray, people: int, minimum_people: int) -> BoolArray:
    """Which categories are told: those that enough people have, unless it tells of few others, too.

    What all have together is known. So the rest is told as well: if few are left, the largest category is told with
    them, as one. Shape (categories,).
    """
    told = counts >= minimum_people
    if 0 < people - counts[told].sum() < minimum_people and told.any():
        told[counts.argmax()] = False
    return told


def _largest_told(original: FloatArray, minimum_people: int) -> float:
    """The size from which on amounts are so few that they make a variance alone: those stay where they were drawn."""
    if behind(original) >= minimum_people or len(original) < minimum_people:
        return np.inf
    return float(np.sort(np.abs(original))[-minimum_people:].min())


def _pairs(
    values: FloatArray, reach: float, now: FloatArray, slopes: FloatArray, rng: Generator
) -> tuple[IntArray, IntArray]:
    """Disjoint pairs of records of near rank, whose exchange brings the equations nearer than that with others would.

    values, now, slopes : shapes (m,), (m, k), (m, k); what brings the equations nearer if `now` rises
    returns             : two shapes (p,); p at most m // 2
    """
    m = len(values)
    ranked = rng.permutation(m)
    ranked = ranked[np.argsort(values[ranked], kind="stable")]
    ranked = ranked[np.argsort(np.arange(m) + reach * m * rng.random(m))]
    one = np.tile(ranked, len(_BESIDE))
    other = np.concatenate([np.roll(ranked, -step) for step in _BESIDE])
    nearer = ((slopes[one] - slopes[other]) * (now[other] - now[one])).sum(axis=1)
    order = np.argsort(-nearer, kind="stable")
    order = order[nearer[order] > 0]
    one, other = one[order], other[order]
    place = np.arange(len(order))
    best = np.full(m, len(order))
    np.minimum.at(best, one, place)
    np.minimum.at(best, other, place)
    chosen = (best[one] == place) & (best[other] == place)
    return one[chosen], other[chosen]


def _estimable(x: FloatArray, z: FloatArray, y: FloatArray, minimum_people: int) -> tuple[FloatArray, FloatArray]:
    """An intercept and the effects: of those that tell most, as many as there are `minimum_people` for each."""
    spread = x.std(axis=0)
    kept = np.flatnonzero((spread > 0) & (z.std(axis=0) > 0))
    strength = np.abs((x[:, kept] - x[:, kept].mean(axis=0)).T @ (y / y.std(axis=0))).max(axis=1) / spread[kept]
    kept = np.sort(kept[np.argsort(-strength, kind="stable")[: max(len(y) // minimum_people - 1, 0)]])
    return np.column_stack([np.ones(len(x)), x[:, kept]]), np.column_stack([np.ones(len(z)), z[:, kept]])


def _uncorrelated(x: FloatArray, z: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The same effects as combinations that do not correlate in either file, of variance 1 in the synthetic one.

    Those that hardly vary in the original, beside the synthetic file, are left out: there what others tell of them is
    all that is known, and the rest of a coefficient would be noise.
    """
    size = np.sqrt((z**2).mean(axis=0))
    variation, axes = np.linalg.eigh((z / size).T @ (z / size) / len(z))
    kept = variation > _COLLINEAR * variation.max()
    turn = axes[:, kept] / np.sqrt(variation[kept]) / size[:, None]
    x, z = x @ turn, z @ turn
    variation, axes = np.linalg.eigh(x.T @ x / len(x))
    axes = axes[:, variation > _UNKNOWN]
    return x @ axes, z @ axes


def _blurred_coefficients(
    x: FloatArray, y: FloatArray, rng: Generator, people: IntArray | None = None
) -> tuple[FloatArray, FloatArray, float]:
    """Least squares coefficients of y on x, off by half of their standard errors, and what x leaves of y.

    Everybody's part of them is blurred by itself (the wild bootstrap; Wu 1986), so most where somebody's is large.

    x, y    : shapes (n, q), uncorrelated, and (n, k)
    people  : whose each record is, (n,)
    returns : shapes (q, k), and (k,) in standard deviations of y's unit; and the variance of the effect that is known
              best, as a share of what it would be were all records different people's
    """
    variation = (x**2).sum(axis=0)[:, None]
    found = x.T @ y / variation
    left = y - x @ found
    unexplained = np.sqrt((left**2).mean(axis=0))
    parts = np.maximum(np.abs(left), _LEAST_PART * unexplained)
    spread, sharper = np.maximum(unexplained, _UNEXPLAINED * y.std(axis=0)), 1.0
    if people is None:
        blur = _blur(len(x), rng, x, y)
    else:
        whose = np.unique(people, return_inverse=True)[1]
        parts *= np.where(left < 0, -1.0, 1.0)  # a person's cancel each other where the person's mean explains them
        blur = _blur(int(whose.max()) + 1, rng, x, y)[whose]
        sharper = _sharper(x, left / spread, whose)
    return found + _BLUR * (x.T @ (blur[:, None] * parts) / variation), spread, sharper


def _sharper(x: FloatArray, left: FloatArray, whose: IntArray) -> float:
    """The smallest variance of an effect by sums of people, as a share of that by records; 1 at most."""
    least = 1.0
    for of_response in left.T:
        scores = np.stack([np.bincount(whose, each * of_response) for each in x.T])
        least = min(least, float(np.linalg.eigvalsh(scores @ scores.T / len(x)).min()))
    return max(least, _SHARPEST)


def _blur(size: int, rng: Generator, *original: FloatArray) -> FloatArray:
    """Normal errors, shape (size,): by the same seed others for every other original, so that no difference tells."""
    return default_rng([int(rng.integers(2**32)), *(crc32(each.tobytes()) for each in original)]).normal(size=size)
