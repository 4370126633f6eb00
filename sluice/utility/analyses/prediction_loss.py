"""Prediction loss: how well a model that learned from the masked file predicts people whom it has not seen.

F of the original is the F measure of a model that learned from the original, F of the masked file that of the same kind
of model that learned from the masked one; both predict originals that neither learned from, each on its own file's
categories. The utility is their ratio.

Source: Yamazoe and Omote (2021), section 3.2, by logistic regression and random forest.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.random import Generator

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.errors import DataError
from sluice.utility.analyses.model_variables import Levels, ModelVariable
from sluice.utility.record_weights import relative_weight

Learner = Literal["logistic", "forest"]
MOST_LEARNT = 20_000
"""Records that a model learns from at most, drawn at random from each file; who is asked is told."""

_MOST_CATEGORIES = 100  # of one variable; rarer ones are taken together
_REPEATS = 200
_TREES = 100


@dataclass(frozen=True)
class SubgroupScores:
    """F measures of those of the predicted people who share a category."""

    category: str
    original: float
    masked: float
    predicted: int

    @property
    def ratio(self) -> float:
        """F of the masked file as a share of that of the original; NaN where that is 0."""
        return self.masked / self.original if self.original > 0 else float("nan")


@dataclass(frozen=True)
class PredictionScores:
    """F measures of one learner: the mean over the classes, weighted by their size, 0 to 1; less is worse.

    original, masked : of the model that learned from each
    guess            : of whoever says the most frequent class of the original to everybody
    low, high        : 95 % interval of the ratio over the people who were predicted, by bootstrap
    predicted, learnt, learnt_masked : records
    subgroups        : of those who were asked for, that of the smallest ratio first
    """

    learner: Learner
    original: float
    masked: float
    guess: float
    low: float
    high: float
    predicted: int
    learnt: int
    learnt_masked: int
    subgroups: tuple[SubgroupScores, ...] = ()

    @property
    def ratio(self) -> float:
        """F of the masked file as a share of that of the original; NaN where that is 0."""
        return self.masked / self.original if self.original > 0 else float("nan")


@dataclass(frozen=True)
class Examples:
    """Records to learn from and records to predict, on one file's own categories.

    learn, learn_class     : (n, d) and (n,)
    predict, predict_class : (m, d) and (m,)
    weight, predict_weight : (n,) and (m,), finite and not negative; None: each record weighs 1. A record to learn from
                             of weight 0 is left out
    """

    learn: FloatArray
    learn_class: IntArray
    predict: FloatArray
    predict_class: IntArray
    weight: FloatArray | None = None
    predict_weight: FloatArray | None = None


def prediction_scores(
    before: Examples,
    after: Examples,
    learner: Learner,
    rng: Generator,
    subgroups: Mapping[str, BoolArray] | None = None,
) -> PredictionScores:
    """Both models of one kind, and how they predict the same people.

    before, after : examples of the original and of the masked file, whose people to predict are the same, in the same
                    order, with classes 0 and up of the same meaning; -1 for a class that only a group tells, which no
                    model learns. The people weigh what the original's examples say
    subgroups     : by category, which of the people to predict belong to it, one at least
    raises        : DataError for no people to predict, no two classes in the original, or weights that do not fit
    cost          : a logistic regression, or a forest of 100 trees, of at most 20,000 records each

    A masked file that tells fewer than two classes predicts the one that it tells, or nothing: F is then 0.
    """
    if not len(before.predict_class) or not np.array_equal(before.predict_class, after.predict_class):
        raise DataError("the same people must be predicted from both files, and at least one.")
    if len(np.unique(before.learn_class[before.learn_class >= 0])) < 2:
        raise DataError("the original must have at least two classes to learn.")
    truth = before.predict_class
    first, learnt = _predicted(before, learner, rng)
    second, learnt_masked = _predicted(after, learner, rng)
    known = before.learn_class >= 0
    weights = None if before.weight is None else before.weight[known]
    guess = np.full(len(truth), np.bincount(before.learn_class[known], weights).argmax())
    classes = int(max(truth.max(), first.max(), second.max())) + 1
    weight = relative_weight(before.predict_weight, len(truth))
    once = np.ones((1, len(truth))) if weight is None else weight[np.newaxis, :]
    drawn = rng.multinomial(len(truth), np.full(len(truth), 1 / len(truth)), size=_REPEATS) * once
    of_original = weighted_f(truth, first, classes, drawn)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = weighted_f(truth, second, classes, drawn) / of_original
    low, high = np.nanquantile(ratios, [0.025, 0.975]) if (of_original > 0).any() else (np.nan, np.nan)
    original, masked, guessed = (float(weighted_f(truth, found, classes, once)[0]) for found in (first, second, guess))
    within = []
    for category, members in (subgroups or {}).items():
        of_them = once * members
        scores = (float(weighted_f(truth, found, classes, of_them)[0]) for found in (first, second))
        within.append(SubgroupScores(category, next(scores), next(scores), int(members.sum())))
    return PredictionScores(
        learner, original, masked, guessed, float(low), float(high), len(truth), learnt, learnt_masked,
        tuple(sorted(within, key=lambda each: np.nan_to_num(each.ratio, nan=np.inf))),
    )  # fmt: skip


def weighted_f(truth: IntArray, predicted: IntArray, classes: int, times: FloatArray) -> FloatArray:
    """The F measure of each repeat, shape (r,): 2 hits / (records of the class + predicted as it), over the classes by
    their records.

    truth, predicted : (n,) classes; -1 is a prediction of none
    times            : (r, n) how often each record counts
    """
    total = np.zeros(len(times))
    for each in range(classes):
        real = times @ (truth == each)
        said = times @ (predicted == each)
        hits = times @ ((truth == each) & (predicted == each))
        both = real + said
        total += real * np.divide(2 * hits, both, out=np.zeros_like(both), where=both > 0)
    counted = times.sum(axis=1)
    return np.asarray(np.divide(total, counted, out=np.zeros_like(total), where=counted > 0))


def _predicted(examples: Examples, learner: Learner, rng: Generator) -> tuple[IntArray, int]:
    """The class of each person, and how many records were learned from."""
    weight = relative_weight(examples.weight, len(examples.learn_class))
    rows = np.flatnonzero((examples.learn_class >= 0) & (True if weight is None else weight > 0))
    if len(rows) > MOST_LEARNT:
        rows = rng.choice(rows, MOST_LEARNT, replace=False)
    classes = examples.learn_class[rows]
    seed = int(rng.integers(2**31))
    if not len(rows) or len(np.unique(classes)) < 2:
        only = classes[0] if len(rows) else -1
        return np.full(len(examples.predict_class), only, dtype=np.int64), len(rows)
    learn, predict = examples.learn[rows], examples.predict
    weight = None if weight is None else weight[rows]
    if learner == "forest":
        from sklearn.ensemble import RandomForestClassifier  # loaded where it is needed

        model = RandomForestClassifier(_TREES, random_state=seed, n_jobs=1)
    else:
        from sklearn.linear_model import LogisticRegression

        centre = np.average(learn, axis=0, weights=weight)
        scale = np.sqrt(np.average((learn - centre) ** 2, axis=0, weights=weight))
        scale[scale == 0] = 1
        learn, predict = (learn - centre) / scale, (predict - centre) / scale
        model = LogisticRegression(max_iter=500)
    # The penalty is for a mean weight of 1, or it would hang on the unit of the weights
    each = None if weight is None else weight * (len(weight) / weight.sum())
    return np.asarray(model.fit(learn, classes, sample_weight=each).predict(predict), dtype=np.int64), len(rows)


def features(learn: Mapping[str, ModelVariable], predict: Mapping[str, ModelVariable]) -> tuple[FloatArray, FloatArray]:
    """What a model sees of the records: numbers as they are, a column for each category, and whether one is missing.

    learn, predict : variables of the records to learn from and of those to predict, on the same file's categories
    returns        : (n, d) and (m, d)

    A missing number is the mean of those to learn from. Of more than 100 categories, the rarer are taken together, as
    are those that nobody to learn from has.
    """
    columns: list[tuple[FloatArray, FloatArray]] = []
    for name, variable in learn.items():
        if variable.order:
            columns += _categories(variable.levels(), predict[name].levels())
            continue
        here, there = variable.numbers(), predict[name].numbers()
        absent = np.isnan(here), np.isnan(there)
        mean = float(here[~absent[0]].mean()) if not absent[0].all() else 0.0
        columns.append((np.where(absent[0], mean, here), np.where(absent[1], mean, there)))
        if absent[0].any() or absent[1].any():
            columns.append((absent[0].astype(float), absent[1].astype(float)))
    n, m = (len(next(iter(each.values())).codes) if each else 0 for each in (learn, predict))
    if not columns:
        return np.zeros((n, 0)), np.zeros((m, 0))
    return np.column_stack([here for here, _ in columns]), np.column_stack([there for _, there in columns])


def _categories(learn: Levels, predict: Levels) -> list[tuple[FloatArray, FloatArray]]:
    counts = np.bincount(learn.codes[learn.codes >= 0], minlength=len(learn.names))
    frequent = [place for place in np.argsort(-counts, kind="stable") if counts[place]][:_MOST_CATEGORIES]
    elsewhere = {name: place for place, name in enumerate(predict.names)}
    return [
        (
            (learn.codes == place).astype(float),
            (predict.codes == elsewhere.get(learn.names[place], -2)).astype(float),
        )
        for place in sorted(frequent)
    ]
