"""Matched people: records that stand out as somebody's, in a file of which nobody knows whose each record is.

A file may be called synthetic though its records are masked ones, or some of them, or some columns. Then people who are
in it have a released record that is nearer than any other, by far more often than people who are not. So an intruder
who knows some who took part and some who did not learns from both when a nearest record may be called a person's own:
where more than twice as large a share of participants as of others would be claimed, most claims are right. From those
claims, taken for pairs, a map is learned, by which there are more. What is reached is counted on other people of both
sides: no file is looked at for how it was made.

Numbers are known and compared to a hundredth of the people, as nearly unique ones that a model drew from its donors
would else tell whose they were; that is looked for among values, and tells nothing of the rest of a record.

Source: Lasko and Vinterbo (2010), section II, the reference of people who took no part; Torra (2013), "Rank swapping:
Specific record linkage for rank swapping", an intruder who knows the method. Pairs are not given here but claimed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.frame_columns import with_columns
from sluice.ground.variables import Variables
from sluice.risk.coded_points import Points
from sluice.risk.coding import Coding
from sluice.risk.distances.neighbours import nearest_neighbours
from sluice.risk.linkage.learned_map import LearnedMap
from sluice.risk.linkage.mapped_columns import Column, Labels, MappedColumns

FEWEST = 20  # units of either side

_SHARES = 100  # of the people, by which numbers are told apart
_PAIRS = 2_000_000_000  # people and records that are compared by one ruler, of each side
_MOST, _LEAST = 1_000, 300  # people of each side that are looked at
# By so many most claims are right; with 3, of few people, trees with leaves of 20 are claimed at times.
_SIGMAS = (4.0, 3.0)
_MANY = 400  # participants, and half as many others, for the smaller one
_ROUNDS = 3  # of a map learned from claims
_TOP = 0.1  # of the people are taken for pairs where none are claimed
_MOST_AXES = 300
_SINGULAR = 1e-6

_REDISTRIBUTED = 0.2  # of the records
_FEWEST_IN_ORDER = 3  # numbers of a record

_SPREAD_OVER = 20_000  # records that tell the file's spread
_AT_ONCE = 8_000_000  # coordinates that are held as an array


@dataclass(frozen=True)
class MatchedPeople:
    """For people on whom nothing was learned, whether their nearest record is claimed to be theirs.

    ruler   : that by which most are claimed
    people  : shape (p,), rows of the original
    claimed : shape (p,)
    others  : shape (q,), rows of those who took no part
    without : shape (q,), claims on them, all wrong
    """

    ruler: str
    people: IntArray
    claimed: BoolArray
    others: IntArray
    without: BoolArray


@dataclass(frozen=True)
class _Rule:
    """From which value of a sign on a match is claimed; `gain` is what is learned to be right over wrong."""

    sign: str
    least: float
    gain: float
    sigmas: float  # by which any are

    def claims(self, distances: FloatArray) -> BoolArray:
        return _SIGNS[self.sign](distances) >= self.least if self.sign else np.zeros(len(distances), np.bool_)


_Ruler = tuple[str, FloatArray, Points]  # its name, everybody's points, and those of the released records


def matched_people(
    original: pd.DataFrame, recoded: pd.DataFrame, masked: pd.DataFrame, others: pd.DataFrame, variables: Variables,
    released: Variables, units: tuple[IntArray, IntArray], rng: np.random.Generator,
) -> MatchedPeople | None:  # fmt: skip
    """Whose record stands out, of people who are in the file and of others.

    original, others : typed by `variables`, any index
    recoded, masked  : typed by `released`; records of `masked` in any order
    units            : who belongs together among the original's people, shape (n,), and among the others
    returns          : None where there are fewer than 20 units of a side, fewer than four records, or no column to
                       compare
    cost             : that of nearest_neighbours for up to 2,000 people of each side, some dozen times; of more than
                       250,000 records for fewer people
    """
    if min(len(np.unique(each)) for each in units) < FEWEST or len(masked) < 4:
        return None
    grids = _grids(original)
    frames = [original, recoded, masked, others]
    of_all = dict.fromkeys(grids, np.unique(np.concatenate([*grids.values(), []])))
    original, recoded, masked, others = (_coarse(frame, grids, False) for frame in frames)
    coding = Coding.fit(original, recoded, variables, released)
    if not 0 < coding.dimensions <= _MOST_AXES:
        return None
    most = int(np.clip(_PAIRS // (4 * len(masked)), _LEAST, _MOST))
    sides = [_halves(each, most, rng) for each in units]
    n = len(original)
    everybody = pd.concat([original, others], ignore_index=True)
    looked_at = np.concatenate([*sides[0], *(n + rows for rows in sides[1])])
    place = np.full(len(everybody), -1)
    place[looked_at] = np.arange(len(looked_at))
    within = looked_at[looked_at < n], looked_at[looked_at >= n] - n
    rulers = _distances(coding, within, original, masked, others, "")
    if grids:
        original, recoded, masked, others = (_coarse(frame, grids, True) for frame in frames)
        on_ranks = Coding.fit(original, recoded, variables, released)
        rulers += _distances(on_ranks, within, original, masked, others, " of normal scores")
    columns = MappedColumns.of(everybody.iloc[looked_at], masked, variables, released)
    whole = pd.concat([frames[0], frames[3]], ignore_index=True).iloc[looked_at]
    on_one_scale = MappedColumns.of(
        _coarse(whole, of_all, False), _coarse(frames[2], of_all, False), variables, released
    )
    rulers += [*_in_order(columns, on_one_scale), *_beside_each_other(columns)]
    claimed, rulers_used = np.zeros(len(looked_at), np.bool_), []
    for learning, judged in ((0, 1), (1, 0)):
        own, theirs = (place[start + side[learning]] for start, side in zip((0, n), sides, strict=True))
        rules = [_learned_rule(_nearest(ruler, own[1::2]), _nearest(ruler, theirs)) for ruler in rulers]
        rule, ruler = max(zip(rules, rulers, strict=True), key=lambda each: (each[0].gain, each[0].sigmas))
        mapped = _learned(ruler, columns, len(masked), own[::2], theirs)
        by_map = _learned_rule(_nearest(mapped, own[1::2]), _nearest(mapped, theirs))
        if by_map.gain > rule.gain:
            rule, ruler = by_map, mapped
        if rule.sign:
            rulers_used.append(ruler[0])
            rows = np.concatenate([place[start + side[judged]] for start, side in zip((0, n), sides, strict=True)])
            claimed[rows] = rule.claims(_nearest(ruler, rows))
    inside = looked_at < n
    return MatchedPeople(
        " or ".join(dict.fromkeys(rulers_used)), looked_at[inside], claimed[inside], looked_at[~inside] - n,
        claimed[~inside],
    )  # fmt: skip


def _halves(units: IntArray, most: int, rng: np.random.Generator) -> list[IntArray]:
    """The rows of either half of the units, at most so many each, in random order but for units, which are whole."""
    drawn = rng.random(int(units.max()) + 1)
    half = drawn[units] >= np.median(drawn[np.unique(units)])
    return [rng.permutation(rows)[:most] for rows in (np.flatnonzero(half), np.flatnonzero(~half))]


def _grids(original: pd.DataFrame) -> dict[str, FloatArray]:
    """Values of the original by which a number is known, of columns that have more."""
    grids = {}
    for name in original:
        if pd.api.types.is_numeric_dtype(original[name].dtype):
            values = np.sort(original[name].dropna().to_numpy(np.float64))
            if len(np.unique(values)) > _SHARES:
                grids[str(name)] = np.unique(values[((np.arange(_SHARES) + 0.5) / _SHARES * len(values)).astype(int)])
    return grids


def _coarse(frame: pd.DataFrame, grids: dict[str, FloatArray], scores: bool) -> pd.DataFrame:
    """Numbers to a hundredth of the people, as values or as normal scores."""
    from scipy.special import ndtri  # loaded where it is needed

    made: dict[str, Any] = {}
    for name, grid in grids.items():
        if name in frame and pd.api.types.is_numeric_dtype(frame[name].dtype):
            values = frame[name].to_numpy(np.float64, na_value=np.nan)
            shown = ndtri((np.arange(len(grid)) + 0.5) / len(grid)) if scores else grid
            middles = (grid[1:] + grid[:-1]) / 2
            made[name] = np.where(np.isnan(values), np.nan, shown[np.searchsorted(middles, values)])
    return with_columns(frame, made).reset_index(drop=True)


def _distances(
    coding: Coding, rows: tuple[IntArray, IntArray], original: pd.DataFrame, masked: pd.DataFrame,
    others: pd.DataFrame, scale: str,
) -> list[_Ruler]:  # fmt: skip
    points = np.vstack([coding.original_points(side)[of] for side, of in zip((original, others), rows, strict=True)])
    file = coding.released_points(masked)[0]
    held = file[np.arange(len(file))] if len(file) * points.shape[1] <= _AT_ONCE else None
    some = file[np.arange(0, len(file), -(-len(file) // _SPREAD_OVER))] if held is None else held
    spread, axes = np.linalg.eigh(np.cov(some, rowvar=False).reshape(points.shape[1], -1))
    turn = axes / np.sqrt(np.maximum(spread, _SINGULAR * max(float(spread.max()), 1e-300)))
    return [
        ("the distance" + scale, points, file if held is None else held),
        (f"the distance{scale} in units of the file's spread", points @ turn,
         file.turned(0.0, turn) if held is None else held @ turn),
    ]  # fmt: skip


def _in_order(scores: MappedColumns, amounts: MappedColumns) -> Iterator[_Ruler]:
    """Distances between each record's own numbers from the least on, under whatever names they stand.

    scores, amounts : numbers by their place in their columns, and on one scale for all
    """
    ways = [("scores", scores.in_order), ("distances from the middle", scores.in_order_of_sizes)]
    if _distributed_anew(amounts):  # else the scores tell as much, and the amounts no more than under their names
        ways.append(("amounts", amounts.in_order))
    for what, made in ways:
        if made is None:
            continue
        sides = [[each.values for each in side if each.is_number] for side in (made.known, made.released)]
        if len(sides[0]) != len(sides[1]) or len(sides[0]) < _FEWEST_IN_ORDER:
            continue
        known, file = (np.column_stack(side) for side in sides)
        centre, spread = np.nanmean(file, axis=0), np.nanstd(file, axis=0)
        known, file = (np.nan_to_num((side - centre) / np.where(spread > 0, spread, 1.0)) for side in (known, file))
        yield f"each record's {what} from the least on", known, file


def _beside_each_other(columns: MappedColumns) -> Iterator[_Ruler]:
    """Distances between each record's categories as they stand to each other, whatever codes the record has."""
    ways = (("differences of codes", columns.in_differences), ("alike codes", columns.in_patterns))
    for what, made in ways:
        if made is None:
            continue
        released = {column.name: column for column in made.released if not column.is_number}
        scales = {name: Labels.fit(column.values) for name, column in released.items()}
        pairs = [
            (scale.code(column.values, ()), scale.code(released[column.name].values, ()))
            for column in made.known
            if not column.is_number and (scale := scales.get(column.name)) is not None
        ]
        if pairs and sum(file.shape[1] for _, file in pairs) <= _MOST_AXES:
            known, file = (np.hstack(side) for side in zip(*pairs, strict=True))
            yield f"each record's {what}", known, file


def _distributed_anew(columns: MappedColumns) -> bool:
    """Whether some column holds other numbers than the variable of its name does, for a fifth of the records."""
    released = {column.name: column.values for column in columns.released if column.is_number}
    for column in columns.known:
        if column.is_number and column.name in released:
            before, after = (np.sort(each[np.isfinite(each)]) for each in (column.values, released[column.name]))
            at = np.searchsorted(before, before, "right") / max(1, len(before))
            apart = np.abs(at - np.searchsorted(after, before, "right") / max(1, len(after)))
            if apart.max(initial=0.0) > _REDISTRIBUTED:
                return True
    return False


def _nearest(ruler: _Ruler, rows: IntArray) -> FloatArray:
    """Distances to the two nearest released records, shape (q, 2)."""
    return nearest_neighbours(ruler[1][rows], ruler[2], 2).distance


def _learned(ruler: _Ruler, columns: MappedColumns, records: int, own: IntArray, theirs: IntArray) -> _Ruler:
    """The map that is learned from what is claimed by another ruler, and then by itself."""
    name, expected, points = ruler
    for _ in range(_ROUNDS):
        found, without = (nearest_neighbours(expected[rows], points, 2) for rows in (own, theirs))
        rule = _learned_rule(found.distance, without.distance)
        signs = _times_farther(found.distance)
        claimed = rule.claims(found.distance) if rule.sign else signs >= np.quantile(signs, 1 - _TOP)
        pairs = np.flatnonzero(claimed)
        learned = LearnedMap.learn(
            _beside(columns, own[pairs], found.index[pairs, 0]), "normal scores", np.arange(len(pairs)), linear=True
        )  # fmt: skip
        if learned is None:
            break
        everybody = len(pairs) + np.arange(len(expected))
        expected = learned.expected(everybody)
        points = learned.points(len(pairs) + np.arange(records))
    return f"a map learned from those found by {name}", expected, points


def _beside(columns: MappedColumns, people: IntArray, records: IntArray) -> MappedColumns:
    """Pairs as the first rows of both, and after them everybody and all records."""

    def with_first(side: Sequence[Column], rows: IntArray) -> tuple[Column, ...]:
        return tuple(replace(each, values=np.concatenate([each.values[rows], each.values])) for each in side)

    return replace(
        columns, known=with_first(columns.known, people), released=with_first(columns.released, records)
    )  # fmt: skip


def _learned_rule(own: FloatArray, theirs: FloatArray) -> _Rule:
    """The sign, and from which value on, by which most participants are claimed over twice the share of others."""
    best = _Rule("", np.inf, 0.0, 0.0)
    enough = _SIGMAS[len(own) >= _MANY and len(theirs) >= _MANY // 2]
    for name, sign in _SIGNS.items():
        inside, outside = sign(own), np.sort(sign(theirs))
        values = np.unique(inside[np.isfinite(inside)])
        if not len(values):
            continue
        p = 1 - np.searchsorted(np.sort(inside), values) / len(inside)
        q = 1 - np.searchsorted(outside, values) / len(outside)
        least = np.maximum(q, 1 / len(outside))
        error = np.sqrt(p * (1 - p) / len(inside) + 4 * least * (1 - least) / len(outside))
        gain = np.where(p - 2 * q > enough * error, p - 2 * q, 0.0)
        at, sigmas = int(gain.argmax()), max(best.sigmas, float(((p - 2 * q) / np.maximum(error, 1e-12)).max()))
        best = _Rule(name, float(values[at]), float(gain[at]), sigmas) if gain[at] > best.gain else replace(
            best, sigmas=sigmas
        )  # fmt: skip
    return best


def _untied(distances: FloatArray, sign: FloatArray) -> FloatArray:
    return np.where(distances[:, 1] > distances[:, 0] * (1 + 1e-9), sign, -np.inf)


def _closeness(distances: FloatArray) -> FloatArray:
    return _untied(distances, -distances[:, 0])


def _lead(distances: FloatArray) -> FloatArray:
    return _untied(distances, distances[:, 1] ** 2 - distances[:, 0] ** 2)


def _times_farther(distances: FloatArray) -> FloatArray:
    near = np.maximum(distances, 1e-9)
    return _untied(distances, np.log(near[:, 1]) - np.log(near[:, 0]))


_SIGNS = {"closeness": _closeness, "lead": _lead, "times farther": _times_farther}
