"""Intruders who link a masked file to the people behind it, written apart from the product's own measures.

Each knows all variables of the people, and gets the rows paired only to count what was right.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import norm
from sklearn.linear_model import LogisticRegression

from sluice.utility.comparison import Comparison

Floats = NDArray[np.float64]
_PEOPLE = 600  # that are looked for; among all records


def coded(files: Comparison, names: list[str] | None = None) -> tuple[Floats, Floats]:
    """Both files as numbers, shape (n, variables): categories by one common code, missing as NaN."""
    chosen = [name for name in files.recoded if name in files.released and (names is None or name in names)]
    before, after = [], []
    for name in chosen:
        pair = [frame[name].astype(object) for frame in (files.recoded, files.masked)]
        if files.released[name].kind.is_numeric:
            numbers = [pd.to_numeric(column, errors="coerce").to_numpy(float) for column in pair]
        else:
            codes, _ = pd.factorize(pd.concat(pair))
            both = np.where(codes < 0, np.nan, codes.astype(float))
            numbers = [both[: len(pair[0])], both[len(pair[0]) :]]
        before.append(numbers[0])
        after.append(numbers[1])
    return np.column_stack(before), np.column_stack(after)


def found(scores: Floats, people: NDArray[np.int64]) -> float:
    """The share whose own record scores highest, ties shared. `scores` of shape (people, records)."""
    best = scores.max(axis=1, keepdims=True)
    ties = scores >= best - 1e-12
    return float((ties[np.arange(len(people)), people] / ties.sum(axis=1)).mean())


def own_is_nearest(before: Floats, after: Floats, rows: NDArray[np.int64] | None = None) -> float:
    """Of what share of the people, rows of `before`, the nearest row of `after` is their own: the same, or `rows`."""
    nearest = np.array([((after - mine) ** 2).sum(axis=1).argmin() for mine in before])
    return float((nearest == (np.arange(len(before)) if rows is None else rows)).mean())


def ranks(values: Floats, among: Floats) -> Floats:
    """Place of each value in the distribution of `among`, 0 to 1."""
    inside = np.sort(among[np.isfinite(among)])
    both = np.searchsorted(inside, values, "left") + np.searchsorted(inside, values, "right")
    return np.where(np.isfinite(values), both / (2 * max(1, len(inside))), 0.5)


def nearest(files: Comparison, scale: str = "sd") -> float:
    """Whose own record is nearest, each variable by its standard deviation, its quartiles' distance, or its rank."""
    before, after = coded(files)
    people = _people(files)
    total = np.zeros((len(people), len(after)))
    for column in range(before.shape[1]):
        mine, others = before[people, column], after[:, column]
        if scale == "rank":
            mine, others = ranks(mine, before[:, column]), ranks(others, before[:, column])
            width = 1.0
        else:
            low, high = np.nanquantile(before[:, column], [0.25, 0.75])
            width = float(np.nanstd(before[:, column])) if scale == "sd" else float(high - low)
        apart = (mine[:, None] - others[None, :]) / (width or 1.0)
        total += np.where(np.isfinite(apart), np.minimum(apart**2, 25.0), 1.0)
    return found(-total, people)


def most_equal(files: Comparison) -> float:
    """Whose own record has the most values in common with them."""
    before, after = coded(files)
    people = _people(files)
    return found(np.asarray((before[people][:, None, :] == after[None, :, :]).sum(axis=2), float), people)


def windows(files: Comparison, window: float = 0.1) -> float:
    """Whose own record lies within so many ranks in the most variables."""
    before, after = coded(files)
    people = _people(files)
    total = np.zeros((len(people), len(after)))
    for column in range(before.shape[1]):
        mine, others = (ranks(each, before[:, column]) for each in (before[people, column], after[:, column]))
        total += np.abs(mine[:, None] - others[None, :]) <= window
    return found(total, people)


def learned(files: Comparison) -> float:
    """Whose own record is likeliest by a logistic model of closeness, learned on other people."""
    scores, people, _ = _likeness(files)
    return found(scores, people)


def certain(files: Comparison) -> float:
    """Of whom the learned model is sure, by its lead over the second record, and right; beyond those of whom it errs.

    The lead from which it is sure is the one that served best on the people it learned from.
    """
    scores, people, calibration = _likeness(files)
    lead, right = _lead(scores, people)
    known = np.isin(people, calibration)
    order = np.argsort(-lead[known])
    gain = np.cumsum(np.where(right[known][order], 1.0, -1.0))
    if not len(gain) or gain.max() <= 0:
        return 0.0
    least = lead[known][order][int(gain.argmax())]
    sure = lead[~known] >= least
    return float(np.where(right[~known], 1.0, -1.0)[sure].sum() / max(1, (~known).sum()))


def _lead(scores: Floats, people: NDArray[np.int64]) -> tuple[Floats, NDArray[np.bool_]]:
    top = np.argsort(scores, axis=1)[:, -2:]
    every = np.arange(len(people))
    return scores[every, top[:, 1]] - scores[every, top[:, 0]], top[:, 1] == people


def _likeness(files: Comparison) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
    """Scores of people and records; the people, from none of whom it was learned; those to calibrate by among them."""
    before, after = coded(files)
    n, rng = len(before), np.random.default_rng(7)
    order = rng.permutation(n)
    learners, calibration = order[: n // 2], order[n // 2 :][: _PEOPLE // 2]
    people = order[n // 2 :][:_PEOPLE]
    places = [[ranks(f[:, c], before[:, c]) for c in range(before.shape[1])] for f in (before, after)]

    def closeness(persons: NDArray[np.int64], records: NDArray[np.int64]) -> Floats:
        features = []
        for column in range(before.shape[1]):
            apart = np.abs(places[0][column][persons] - places[1][column][records])
            equal = before[persons, column] == after[records, column]
            features += [equal.astype(float), np.log(apart + 1e-4), *((apart < w).astype(float) for w in _WINDOWS)]
        return np.column_stack(features)

    wrong = [rng.permutation(learners) for _ in range(5)]
    same, others = closeness(learners, learners), [closeness(learners, w) for w in wrong]
    model = LogisticRegression(max_iter=300, C=0.3).fit(
        np.vstack([same, *others]), np.r_[np.ones(len(same)), np.zeros(sum(map(len, others)))]
    )
    everyone = np.arange(n)
    scores = np.array([model.decision_function(closeness(np.full(n, person), everyone)) for person in people])
    return scores, people, calibration


def mapped(files: Comparison, scale: str = "as they are", known: int | None = None) -> float:
    """Whose own record lies nearest to what a linear map of all their numbers predicts, learned on other people.

    scale : "as they are", "normal scores" or "logarithms"
    known : so many people it is learned from; half of all where none is given
    """
    before, after = (_on_scale(each, scale) for each in coded(files))
    order = np.random.default_rng(7).permutation(len(before))
    learners, people = order[: known or len(order) // 2], order[len(order) // 2 :][:_PEOPLE]
    design = np.column_stack([np.ones(len(before)), before])
    ridge = 1e-6 * len(learners) * np.eye(design.shape[1])
    gram = design[learners].T @ design[learners] + ridge
    slopes = np.linalg.solve(gram, design[learners].T @ after[learners])
    leverage = np.einsum("ij,ji->i", design[learners], np.linalg.solve(gram, design[learners].T))
    residuals = (after[learners] - design[learners] @ slopes) / np.maximum(1 - leverage, 1e-3)[:, None]
    covariance = residuals.T @ residuals / len(learners)
    covariance = 0.9 * covariance + np.diag(0.1 * covariance.diagonal() + 1e-9)
    turn = np.linalg.inv(np.linalg.cholesky(covariance)).T
    expected, records = (design @ slopes) @ turn, after @ turn
    scores = np.array([-((records - expected[person]) ** 2).sum(axis=1) for person in people])
    return found(scores, people)


def of_several_maps(files: Comparison, maps: int = 6) -> float:
    """Whose own record is nearest to one of the places where so many linear maps expect it, learned on half of all.

    Nobody says which map holds for whom: each person learned from goes to the map that fits best, again and again.
    """
    before, after = (_on_scale(each, "as they are") for each in coded(files))
    kept = [name for name in files.recoded if name in files.released]
    numbers = [place for place, name in enumerate(kept) if files.released[name].kind.is_numeric]
    design, after = np.column_stack([np.ones(len(before)), before[:, numbers]]), after[:, numbers]
    order = np.random.default_rng(7).permutation(len(before))
    learners, people = order[: len(order) // 2], order[len(order) // 2 :][:_PEOPLE]
    chosen = mixture(design[learners], after[learners], maps)
    return found(-least_apart(design[people] @ chosen, after), people)


def mixture(known: Floats, shown: Floats, maps: int) -> Floats:
    """So many linear maps, shape (maps, known columns, shown columns), one of which leads near each person's record:
    everybody goes to the map that fits best, which is learned anew, from four random beginnings."""
    best, chosen = np.inf, np.zeros((maps, known.shape[1], shown.shape[1]))
    for start in range(4):
        of = np.random.default_rng(start).integers(0, maps, len(known))
        for _ in range(40):
            fitted = np.array([np.linalg.lstsq(known[of == at], shown[of == at], rcond=None)[0] for at in range(maps)])
            apart = ((known @ fitted - shown) ** 2).sum(axis=2)
            of = apart.argmin(axis=0)
        if apart.min(axis=0).sum() < best:
            best, chosen = float(apart.min(axis=0).sum()), fitted
    return chosen


def least_apart(expected: Floats, records: Floats) -> Floats:
    """expected : shape (maps, people, columns); returns squared distances to the nearest place, (people, records)"""
    sizes = (records**2).sum(axis=1)
    return np.min([(at**2).sum(axis=1)[:, None] - 2 * at @ records.T + sizes for at in expected], axis=0)


def from_pieces(files: Comparison) -> float:
    """Whose own record has the most numbers near what lies between those of the two known people on either side, each
    number by the variable that tells it best."""
    before, after = coded(files)
    order = np.random.default_rng(7).permutation(len(before))
    learners, others, people = np.split(order, [len(order) // 3, len(order) // 2])
    people, near = people[:_PEOPLE], np.zeros((min(_PEOPLE, len(people)), len(after)))

    def between(mine: Floats, released: Floats, persons: NDArray[np.int64]) -> Floats:
        values, first = np.unique(mine[learners], return_index=True)
        return np.interp(mine[persons], values, released[learners][first])

    for released in after.T:
        far = [float(np.median(np.abs(between(mine, released, others) - released[others]))) for mine in before.T]
        expected = between(before[:, int(np.argmin(far))], released, people)
        near += np.exp(-np.abs(expected[:, None] - released[None, :]) / (0.02 * released.std()))
    return found(near, people)


def from_the_least_on(files: Comparison, by: str = "values") -> float:
    """Whose own record holds the most alike numbers once each record's are put in order, under whatever names.

    by : "values", "ranks" in their columns, or the "distances" of ranks from the middle
    """
    before, after = coded(files)
    if by != "values":
        before, after = (np.column_stack([ranks(column, column) for column in each.T]) for each in (before, after))
    if by == "distances":
        before, after = np.abs(before - 0.5), np.abs(after - 0.5)
    people = _people(files)
    return own_is_nearest(np.sort(before, axis=1)[people], np.sort(after, axis=1), people)


def _on_scale(values: Floats, scale: str) -> Floats:
    columns = []
    for column in values.T:
        filled = np.where(np.isfinite(column), column, np.nanmedian(column) if np.isfinite(column).any() else 0.0)
        if scale == "normal scores":
            filled = norm.ppf(np.clip(ranks(filled, filled), 1e-6, 1 - 1e-6))
        elif scale == "logarithms":
            filled = np.sign(filled) * np.log1p(np.abs(filled) / (0.01 * (np.median(np.abs(filled)) or 1.0)))
        columns.append((filled - filled.mean()) / (filled.std() or 1.0))
    return np.column_stack(columns)


def stands_out(files: Comparison) -> float:
    """Of whom it is rightly claimed that the nearest record is theirs, by how much farther the second one is.

    The ratio from which it is claimed is the one that served best on half of the people; the others are judged.
    """
    before, after = (_on_scale(each, "as they are") for each in coded(files))
    order = np.random.default_rng(7).permutation(len(before))
    ratio, right = np.empty(len(before)), np.empty(len(before), np.bool_)
    for person in order[: 4 * _PEOPLE]:
        apart = ((after - before[person]) ** 2).sum(axis=1)
        first, second = np.argpartition(apart, 1)[:2]
        ratio[person], right[person] = apart[second] / max(apart[first], 1e-12), first == person
    learned_on, people = order[: 4 * _PEOPLE : 2], order[1 : 4 * _PEOPLE : 2]
    highest = learned_on[np.argsort(-ratio[learned_on])]
    gain = np.cumsum(np.where(right[highest], 1.0, -1.0))
    if gain.max() <= 0:
        return 0.0
    return float((right & (ratio >= ratio[highest[int(gain.argmax())]]))[people].mean())


_WINDOWS = (0.003, 0.01, 0.03, 0.1, 0.2)


def _people(files: Comparison) -> NDArray[np.int64]:
    n = len(files.original)
    return np.sort(np.random.default_rng(3).choice(n, min(n, _PEOPLE), replace=False))


ATTACKS: dict[str, Callable[[Comparison], float]] = {
    "nearest by standard deviations": nearest,
    "nearest by quartiles": partial(nearest, scale="quartiles"),
    "nearest by ranks": partial(nearest, scale="rank"),
    "most equal values": most_equal,
    "within 2 % of the ranks": partial(windows, window=0.02),
    "within 10 % of the ranks": windows,
    "learned": learned,
    "learned, and sure of it": certain,
    "a linear map": mapped,
    "a linear map of normal scores": partial(mapped, scale="normal scores"),
    "a linear map of logarithms": partial(mapped, scale="logarithms"),
    "stands out": stands_out,
}
