"""Traces of a masking that nobody described, and what comes back where one is found.

An intruder guesses how a file may have been masked, learns what the guess leaves open from some people whose records
are known, and is judged by others. A trace that gives nothing back is none.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.comparable_values import plain_values
from sluice.ground.variables import NAMES
from sluice.risk.people_of_records import groups_of_people
from sluice.risk.spread import spread
from sluice.risk.transparency.attack import Attack, Leak, Pairs, paired_share
from sluice.risk.transparency.linear_change import CLOSE, linear_map

_FEWEST = 200  # records that tell
_MISSING = 0.1  # most of a column
_DECIMALS = 6
_NOTHING = 0.01  # share up to which nothing came back

_COLUMNS = 3  # fewest that changed together
_PLACES = 4  # columns by which neighbours are looked for; all are compared
_NEIGHBOURS = 6
_ALIKE = 0.3  # of what changes of any two people lie apart: candidates for one draw
_PAIRS = 30  # of them, by which the scale is learned
_MOST_PAIRS = 400
_ROUNDS = 4
_OPEN = 0.002  # of the spread of changes, which a learned scale leaves open
_READ = 0.05  # share of values more than without the guess: neighbours in a time series tell a little
_SIGMAS = 6.0  # by which columns go with other rows: of 1,500 harmless files none had four
_SEED_SIGMAS = 7.0  # of some ten thousand figures by chance none has five
_SEEDS = (*(0, 1, 42, 123, 1234, 12345, 123456, 2023, 2024, 2025, 2026), *range(2, 300))
_SHOWN, _SHUFFLED = 128, 3_000_000  # rows that show a seed; rows shuffled in all
_BLOCK, _REACH = 64, 16  # rows that are learned from together, and around which others are looked for
_MIXTURE, _BY_CHANCE = 0.1, 0.02  # of what is left fits a record; of what is no mixture does
_TRIED, _MIXED = 150, 1_000  # people by whom the part of the other record is found, and judged
_JUDGED, _DECOYS = 40, 1_500  # by which it is told how many other records fit a known change
_FOLLOWED, _STRAY = 200, 0.05  # people whose ranks are followed; places as a share of all, beyond which all are as far


@dataclass(frozen=True)
class Trace(Attack):
    """An attack by a guess, already played.

    method : what the guess is called
    how    : to follow 'knows'
    """

    method: str
    how: str
    leaks: tuple[Leak, ...]

    @property
    def knows(self) -> str:
        return self.how

    def play(self, pairs: Pairs) -> tuple[Leak, ...]:
        return self.leaks


@dataclass(frozen=True)
class _Numbers:
    """The numbers of both files, shape (n, columns), row i of both the same record; what is missing is a mean."""

    names: tuple[str, ...]
    before: FloatArray
    after: FloatArray
    units: IntArray  # (n,) who belongs together

    @classmethod
    def of(cls, pairs: Pairs) -> Self:
        found: dict[str, tuple[FloatArray, FloatArray]] = {}
        for name, variable in pairs.released.items():
            if name not in pairs.variables or name not in pairs.masked or variable.role in NAMES:
                continue
            known, sent = plain_values(pairs.recoded[name]), plain_values(pairs.masked[name])
            if known.dtype.kind != "f" or sent.dtype.kind != "f":
                continue
            gaps = np.isnan(known) | np.isnan(sent)
            if gaps.mean() <= _MISSING and (known != sent)[~gaps].any():
                found[name] = _filled(known, gaps), _filled(sent, gaps)
        none = np.zeros((len(pairs.masked), 0))
        before, after = (np.column_stack([none, *(each[side] for each in found.values())]) for side in (0, 1))
        return cls(tuple(found), before, after, groups_of_people(pairs.original, pairs.variables))

    def only(self, columns: BoolArray) -> Self:
        names = tuple(name for name, kept in zip(self.names, columns.tolist(), strict=True) if kept)
        return type(self)(names, self.before[:, columns], self.after[:, columns], self.units)


def _filled(values: FloatArray, gaps: BoolArray) -> FloatArray:
    return np.where(gaps, values[~gaps].mean(), values)


def traces(pairs: Pairs) -> Iterator[Trace]:
    """What each guess gives back, for those by which anything comes back.

    cost : below a second for 30,000 records of 20 numbers
    """
    numbers = _Numbers.of(pairs)
    if len(pairs.masked) < _FEWEST or not numbers.names:
        return
    for guess in _GUESSES:
        trace = guess(numbers, pairs.rng.spawn(1)[0])
        if trace is not None:
            yield trace


def _half(units: IntArray, rng: np.random.Generator) -> BoolArray:
    """Who is learned from: half of the people, units whole."""
    return np.asarray((rng.random(int(units.max()) + 1) < 0.5)[units])


def _shared_changes(numbers: _Numbers, rng: np.random.Generator) -> Trace | None:
    """One draw of noise for several people, as for all of an interviewer: who knows one of them knows what was added to
    the others. Changes are differences, ratios, or what is left where noise was shrunk so that variances stay."""
    moved = numbers.only((numbers.before != numbers.after).mean(axis=0) > 0.5)
    if len(moved.names) < _COLUMNS:
        return None
    learning = _half(numbers.units, rng)
    found = [_found_by_changes(*scale, learning, rng) for scale in _scales(moved.before, moved.after, learning)]
    right, anyway, claims = max(found, key=lambda each: float((each[0] - each[1]).mean()))
    if (right - anyway).mean() <= _NOTHING:
        return None
    measured = paired_share(right, anyway, len(learning))
    leak = Leak("confident", measured, "by the changes of people who are known", claims)
    return Trace(moved.names, "shared changes", "that several people may have the same changes", (leak,))


_Scale = tuple[FloatArray, FloatArray, FloatArray]  # both files, and by what equal changes differ for being rounded


def _scales(x: FloatArray, y: FloatArray, learning: BoolArray) -> Iterator[_Scale]:
    grains = np.array([max(_grain(x[:, j]), _grain(y[:, j])) for j in range(x.shape[1])])
    yield x, y, grains
    known, sent = x[learning], y[learning]
    slopes = _slopes(known - known.mean(axis=0), sent - sent.mean(axis=0))
    for _ in range(_ROUNDS):  # two people with one change differ after masking as before, but for the scale
        one, other = _alike(sent - slopes * known)
        if len(one) < _PAIRS:
            break
        slopes = _slopes(known[one] - known[other], sent[one] - sent[other])
    else:
        change = (sent - slopes * known).std(axis=0)
        yield slopes * x, y, grains * (1 + np.abs(slopes)) / 2 + _OPEN * change
    if min(x.min(), y.min()) > 0:
        least = np.minimum(np.quantile(x, 0.01, axis=0), np.quantile(y, 0.01, axis=0))
        yield np.log(x), np.log(y), 2 * grains / least


def _slopes(x: FloatArray, y: FloatArray) -> FloatArray:
    return np.asarray((x * y).sum(axis=0) / np.maximum((x**2).sum(axis=0), 1e-300))


def _grain(values: FloatArray) -> float:
    """By what numbers are rounded; a millionth of their spread where they are not."""
    some = values[:: -(-len(values) // 1_000)]
    for decimals in range(_DECIMALS + 1):
        scaled = some * 10.0**decimals
        if (np.abs(scaled - np.round(scaled)) <= 1e-6 + 1e-12 * np.abs(scaled)).mean() > 0.9:
            return float(10.0**-decimals)
    return float(1e-6 * values.std())


def _alike(changes: FloatArray) -> tuple[IntArray, IntArray]:
    """Pairs of people whose changes are alike, the most alike first."""
    from scipy.spatial import cKDTree  # loaded where it is needed

    scaled = changes / np.maximum(changes.std(axis=0), 1e-300)
    places = scaled[:, :_PLACES]
    near = cKDTree(places).query(places, _NEIGHBOURS)[1]
    one, other = np.repeat(np.arange(len(scaled)), _NEIGHBOURS), near.ravel()
    apart = ((scaled[one] - scaled[other]) ** 2).mean(axis=1)
    any_two = float(np.median(((scaled[1:] - scaled[:-1]) ** 2).mean(axis=1)))
    chosen = np.flatnonzero((one < other) & (apart < _ALIKE**2 * any_two))
    chosen = chosen[apart[chosen].argsort()][:_MOST_PAIRS]
    return one[chosen], other[chosen]


def _found_by_changes(
    before: FloatArray, after: FloatArray, grains: FloatArray, learning: BoolArray, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray, float]:
    """How surely each judged person's record is found as the one that a known change makes of theirs, and how surely as
    the nearest one; and the share of whom it is claimed by changes."""
    from scipy.spatial import cKDTree

    changes = (after - before) / grains
    known = changes[learning & (np.abs(changes) > 1).any(axis=1)]
    judged = np.flatnonzero(~learning)
    none = np.zeros(len(judged))
    if not len(known):
        return none, none, 0.0
    order = np.argsort(-known.std(axis=0))  # by the columns in which changes differ most
    tree = cKDTree(known[:, order[:_PLACES]])

    def fits(change: FloatArray) -> BoolArray:
        near, at = tree.query(change[:, order[:_PLACES]], _NEIGHBOURS, p=np.inf, distance_upper_bound=1.1)
        same = known[np.minimum(at, len(known) - 1)] - change[:, None]
        return np.asarray(((np.abs(same) <= 1.1).all(axis=2) & np.isfinite(near)).any(axis=1))

    own = fits(changes[judged])
    if not own.any():
        return none, none, 0.0
    people = rng.choice(judged, min(len(judged), _JUDGED), replace=False)
    decoys = rng.choice(len(after), min(len(after), _DECOYS), replace=False)
    others = (after[decoys] - before[people][:, None]) / grains
    wrong = fits(others.reshape(-1, others.shape[2])).reshape(others.shape[:2]) & (decoys != people[:, None])
    many = wrong.sum(axis=1) * len(after) / len(decoys)
    alone, another = float(np.exp(-many).mean()), float((many * np.exp(-many)).mean())
    spread = np.maximum(after.std(axis=0), grains)
    mine = (((after - before)[people] / spread) ** 2).sum(axis=1)[:, None]
    nearer = ((others * grains / spread) ** 2).sum(axis=2) < mine
    nearest = float(np.exp(-nearer.sum(axis=1) * len(after) / len(decoys)).mean())
    return np.where(own, alone, 0.0), none + nearest, float(own.mean()) * alone + float(1 - own.mean()) * another


def _other_rows(numbers: _Numbers, rng: np.random.Generator) -> Trace | None:
    """Columns that were rolled by some rows, or averaged over neighbouring rows: released values go with the original
    ones of other rows, more than these go with each other. What every row passed to the others is learned on half of
    the rows, and taken back."""
    n, guess, found = len(numbers.before), numbers.after.copy(), np.zeros(len(numbers.names), np.bool_)
    learning = np.arange(n) // _BLOCK % 2 == int(rng.integers(2))
    for j in range(len(numbers.names)):
        x, y = numbers.before[:, j], numbers.after[:, j]
        one, other = (np.fft.rfft(_standard_ranks(each)) for each in (x, y))
        together, own = (np.fft.irfft(np.conj(one) * each, n=n) / n for each in (other, one))
        beyond = (np.abs(together) - np.abs(own)) * np.sqrt(n)
        beyond[0] = 0
        lag = int(beyond.argmax())
        if beyond[lag] > _SIGMAS:
            guess[:, j], found[j] = _taken_back(x, y, lag, learning), True
    how = "that values may have moved by some rows, or been averaged over neighbouring ones"
    return _read("values of other rows", how, numbers, guess, found, learning) if found.any() else None


def _standard_ranks(values: FloatArray) -> FloatArray:
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ranks = (counts.cumsum() - counts / 2)[places]
    return np.asarray((ranks - ranks.mean()) / max(float(ranks.std()), 1e-300))


def _taken_back(x: FloatArray, y: FloatArray, lag: int, learning: BoolArray) -> FloatArray:
    """The original values, by least squares from what the rows around that lag passed on, and from what is known."""
    from scipy.linalg import solveh_banded
    from scipy.sparse import diags

    n, middle, reach = len(x), x.mean(), np.arange(-_REACH, _REACH + 1)
    moved, released = np.roll(x - middle, lag), y - y.mean()
    passed = np.column_stack([np.roll(moved, step) for step in reach])
    inner = (np.arange(n) >= 2 * _REACH) & (np.arange(n) < n - 2 * _REACH)  # averages end otherwise, and rolls wrap
    rows = inner & learning
    weights = np.linalg.lstsq(passed[rows], released[rows], rcond=1e-10)[0]
    variance = max(float(x.var()), 1e-300)
    left = max(float(((released - passed @ weights)[rows] ** 2).mean()), 1e-9 * variance)
    known = np.roll(learning, lag)
    from_rows = diags(list(weights), list(-reach), shape=(n, n), format="csr")
    of_inner = diags(inner / left)
    squares = from_rows.T @ of_inner @ from_rows + diags(np.where(known, 1e6, 1.0) / variance)
    banded = np.array([np.pad(squares.diagonal(step), (0, step)) for step in range(2 * _REACH + 1)])
    target = from_rows.T @ (of_inner @ released) + np.where(known, 1e6 * moved, 0.0) / variance
    return np.asarray(middle + np.roll(solveh_banded(banded, target, lower=True), -lag))


def _read(
    method: str, how: str, numbers: _Numbers, guess: FloatArray, columns: BoolArray, learning: BoolArray
) -> Trace | None:
    """Which share of the values is read closely off a guess, and off the release as it stands."""
    x, y, guess = numbers.before[:, columns], numbers.after[:, columns], guess[:, columns]
    spreads = np.array([spread(values) for values in x.T])
    back, _ = linear_map(y[learning], x[learning])
    plain = y, np.column_stack([y, np.ones(len(y))]) @ back, np.median(x[learning], axis=0) + 0 * x
    close = [np.abs(each - x) <= CLOSE * spreads for each in plain]
    best = np.argmax([each[learning].mean(axis=0) for each in close], axis=0)
    anyway = np.choose(best, close)[~learning].mean(axis=1)
    right = (np.abs(guess - x) <= CLOSE * spreads)[~learning].mean(axis=1)
    if (right - anyway).mean() <= _READ:
        return None
    leak = Leak("reconstructed", paired_share(right, anyway, len(x)), "to within a tenth of the spread")
    return Trace(numbers.only(columns).names, method, how, (leak,))


def _mixtures(numbers: _Numbers, rng: np.random.Generator) -> Trace | None:
    """Values mixed with those of another record: who knows a person takes their part away, and has the other's record.

    A record that fits in all columns is the other's, where hardly any fits what is on the other side of the known
    values, or what is left with other people's taken away.
    """
    from scipy.spatial import cKDTree

    moved = numbers.only((numbers.before != numbers.after).mean(axis=0) > 0.5)
    if len(moved.names) < _COLUMNS:
        return None
    x, y = moved.before, moved.after
    grains = np.array([max(_grain(x[:, j]), _grain(y[:, j])) for j in range(x.shape[1])])
    order = np.argsort(-x.std(axis=0) / grains)
    tree = cKDTree((x / grains)[:, order[:_PLACES]])
    slope = float(np.median(_slopes(x - x.mean(axis=0), y - y.mean(axis=0))))
    near = np.round(slope, 2) + np.arange(-6, 7) / 100
    parts = np.unique(np.round(np.concatenate([np.arange(1, 20) / 20, near, [1 / 3, 2 / 3]]), 6))
    people = rng.permutation(len(x))

    def fits(sought: FloatArray, own: IntArray, part: float) -> BoolArray:
        within = 0.6 / (1 - part)
        apart, at = tree.query((sought / grains)[:, order[:_PLACES]], 2, p=np.inf, distance_upper_bound=within)
        at = np.where(np.isfinite(apart), at, own[:, None])
        same = np.abs(x[at] - sought[:, None]) / grains <= within
        return np.asarray((same.all(axis=2) & (at != own[:, None])).any(axis=1))

    def left(rows: IntArray, part: float) -> FloatArray:
        return np.asarray((y[rows] - part * x[rows]) / (1 - part))

    first, judged = people[:_TRIED], people[_TRIED : _TRIED + _MIXED]
    shares = [float(fits(left(first, part), first, part).mean()) for part in parts if 0 < part < 1]
    parts = parts[(parts > 0) & (parts < 1)]
    part = float(parts[int(np.argmax(shares))])
    if max(shares) <= _MIXTURE:
        return None
    rest = left(judged, part)
    right = fits(rest, judged, part)
    others = (y[judged] - part * x[np.roll(judged, 7)]) / (1 - part)
    anyway = fits(2 * x[judged] - rest, judged, part) | fits(others, judged, part)
    measured = paired_share(right.astype(np.float64), anyway.astype(np.float64), len(x))
    if anyway.mean() > _BY_CHANCE or measured.value - anyway.mean() <= _NOTHING:
        return None
    leak = Leak("reconstructed", measured, "those of the other record, from what is known of the one")
    return Trace(moved.names, "mixtures", "that values may be mixed with those of another record", (leak,))


_Draws = np.random.Generator | np.random.RandomState


def _drawn_with(number: int) -> tuple[_Draws, _Draws]:
    return np.random.RandomState(number), np.random.default_rng(number)


def _guessed_noise(numbers: _Numbers, rng: np.random.Generator) -> Trace | None:
    """Noise from a seed that anybody would try: what the known values leave open goes with the seed's own draws."""
    n, columns = numbers.before.shape
    known = np.column_stack([numbers.before, np.ones(n)])
    left = numbers.after - known @ np.linalg.lstsq(known, numbers.after, rcond=None)[0]
    shown = np.column_stack([_standard_ranks(each) for each in left[:_SHOWN].T])
    best, seed, way = 0.0, 0, 0
    for number in _SEEDS:
        for which, draws in enumerate(_drawn_with(number)):
            flat = draws.normal(size=len(shown) * columns)
            drawn = np.column_stack([flat.reshape(len(shown), columns), flat[: len(shown)]])
            score = float(np.abs(shown.T @ drawn).max()) / np.sqrt(len(shown))
            if score > best:
                best, seed, way = score, number, which
    if best <= _SEED_SIGMAS:
        return None
    learning, everything = _half(numbers.units, rng), np.ones(columns, np.bool_)
    tables = (
        _drawn_with(seed)[way].normal(size=(n, columns)),
        _drawn_with(seed)[way].normal(size=(columns, n)).T,
    )
    guesses = []
    for table in tables:
        seen = np.column_stack([numbers.after, table])
        back, _ = linear_map(seen[learning], numbers.before[learning])
        guesses.append(np.column_stack([seen, np.ones(n)]) @ back)
    guess = min(guesses, key=lambda each: float(((each - numbers.before)[learning] ** 2 / left.var()).sum()))
    how = "that noise may have been drawn with a seed that anybody tries"
    return _read("a guessed seed", how, numbers, guess, everything, learning)


def _guessed_order(numbers: _Numbers, rng: np.random.Generator) -> Trace | None:
    """Columns shuffled with a seed that anybody would try, one for all or each its own."""
    n, columns = numbers.before.shape
    x, y = (np.column_stack([_standard_ranks(each) for each in side.T]) for side in (numbers.before, numbers.after))
    shown, guess, best = min(n, _SHOWN), numbers.after.copy(), np.full(columns, _SEED_SIGMAS)
    for number in _SEEDS[: max(20, _SHUFFLED // n)]:
        for draws in _drawn_with(number):
            order = draws.permutation(n)
            scores = np.abs((x[order[:shown]] * y[:shown]).sum(axis=0)) / np.sqrt(shown)
            for j in np.flatnonzero(scores > best):
                guess[order, j], best[j] = numbers.after[:, j], scores[j]
    found = best > _SEED_SIGMAS
    how = "that columns may have been shuffled with a seed that anybody tries"
    learning = _half(numbers.units, rng)
    return _read("a guessed order", how, numbers, guess, found, learning) if found.any() else None


def _same_ranks(numbers: _Numbers, rng: np.random.Generator) -> Trace | None:
    """Ranks exchanged in each column by one order, as where its seed is set anew for each: where a value of some rank
    went in one column, told by people who are known, all values of that rank went in all columns."""
    moved = numbers.only((numbers.before != numbers.after).mean(axis=0) > 0.5)
    if len(moved.names) < _COLUMNS:
        return None
    n = len(moved.before)
    rank, sent, ties = (np.empty(moved.before.shape) for _ in range(3))
    for j, values in enumerate(moved.after.T):
        rank[np.argsort(moved.before[:, j], kind="stable"), j] = np.arange(n)
        inside = np.sort(values)
        low, high = (np.searchsorted(inside, values, side) for side in ("left", "right"))
        sent[:, j], ties[:, j] = (low + high - 1) / 2, high - low
    learning = _half(moved.units, rng)
    known, went = rank[learning].ravel().astype(np.int64), sent[learning].ravel()
    table, order = np.full(n, np.nan), np.argsort(-ties[learning].ravel(), kind="stable")
    table[known[order]] = went[order]  # of several, what the column with fewest ties tells
    others = np.flatnonzero(~learning)
    people = rng.choice(others, min(len(others), _FOLLOWED), replace=False)

    def nearest(places: FloatArray, among: IntArray) -> FloatArray:
        expected = places[rank[people].astype(np.int64)]
        shown, right = sent[among], np.zeros(len(people))
        for at, (person, place) in enumerate(zip(people, expected, strict=True)):
            told = ~np.isnan(place)
            apart = np.minimum(np.abs(shown[:, told] - place[told]), _STRAY * n).sum(axis=1)
            own = np.minimum(np.abs(sent[person, told] - place[told]), _STRAY * n).sum()
            nearer = np.count_nonzero((apart <= own) & (among != person))
            right[at] = told.any() and nearer == 0
        return right

    # The ranks beside tell as much of how far values go, and nothing of where.
    beside, as_it_stands = np.roll(table, 1), np.arange(n, dtype=np.float64)
    some = rng.choice(n, min(n, _DECOYS), replace=False)
    if float(nearest(table, some).mean() - nearest(beside, some).mean()) <= _READ:
        return None
    everybody = np.arange(n)
    right = nearest(table, everybody)
    anyway = max((nearest(each, everybody) for each in (beside, as_it_stands)), key=lambda each: float(each.mean()))
    if (right - anyway).mean() <= _READ:
        return None
    leak = Leak("confident", paired_share(right, anyway, n), "by where others' values of the same ranks went")
    return Trace(moved.names, "one order of ranks", "that ranks of all columns may have been exchanged alike", (leak,))


_GUESSES: tuple[Callable[[_Numbers, np.random.Generator], Trace | None], ...] = (
    _shared_changes, _other_rows, _mixtures, _guessed_noise, _guessed_order, _same_ranks,
)  # fmt: skip
