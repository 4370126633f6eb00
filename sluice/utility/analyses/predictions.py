"""Predictions: how much worse a model predicts that learned from the masked file, as a finding and in the report."""

from collections.abc import Iterator
from math import isfinite, nan

import numpy as np
import pandas as pd
from numpy.random import Generator
from pydantic import Field

from sluice.ground.arrays import BoolArray, FloatArray, IntArray
from sluice.ground.document_parts import FrozenModel
from sluice.ground.errors import DataError
from sluice.ground.sentence import END, Sentences, text_of
from sluice.ground.variables import NAMES, Kind, Role, Variables
from sluice.ground.verdict import Finding
from sluice.utility.analyses.asked_analyses import PredictionAnalysis
from sluice.utility.analyses.model_variables import ModelVariable, masked_variables, original_variables
from sluice.utility.analyses.prediction_loss import Examples, Learner, PredictionScores, features, prediction_scores
from sluice.utility.comparison import Comparison
from sluice.utility.measured import Floor, few_told, floor_finding
from sluice.utility.record_weights import effective_records, record_weights
from sluice.utility.utility_measure import AnalysisKind

_WORST = 5  # subgroups that are shown


class PredictedSubgroup(FrozenModel):
    """F measures of one kind of model among those who share a category."""

    subgroup: str
    original: float
    masked: float
    ratio: float | None


class ComparedLearner(FrozenModel):
    """F measures of one kind of model, 0 to 1; of few people to predict there are none."""

    learner: str
    original: float
    masked: float
    guess: float = Field(description="of whoever says the most frequent class to everybody")
    ratio: float | None = None
    low: float | None = Field(default=None, description="95 % interval of the ratio")
    high: float | None = None
    learnt: int = Field(description="records that the original's model learned from; more are drawn from")
    subgroups: tuple[PredictedSubgroup, ...] = Field(default=(), description="of people to predict, the worst first")


class ComparedPrediction(FrozenModel):
    """One variable that is predicted."""

    name: str
    target: str
    says: str = Field(default="", description="why there are no figures; empty: there are")
    predicted: int = Field(default=0, description="people whom no model learned from")
    by: str | None = Field(default=None, description="the variable whose categories are subgroups")
    learners: tuple[ComparedLearner, ...] = ()


def compared_learner(scores: PredictionScores) -> ComparedLearner:
    """The scores to three digits."""

    def rounded(value: float) -> float | None:
        return round(value, 3) if isfinite(value) else None

    return ComparedLearner(
        learner=scores.learner,
        original=round(scores.original, 3),
        masked=round(scores.masked, 3),
        guess=round(scores.guess, 3),
        ratio=rounded(scores.ratio),
        low=rounded(scores.low),
        high=rounded(scores.high),
        learnt=scores.learnt,
        subgroups=tuple(
            PredictedSubgroup(
                subgroup=each.category,
                original=round(each.original, 3),
                masked=round(each.masked, 3),
                ratio=rounded(each.ratio),
            )
            for each in scores.subgroups[:_WORST]
        ),
    )


_SUBGROUPS = "How well {target} is predicted in subgroups by {by} is not known:"
_SAYS = Sentences(
    "predictions",
    not_compared="The prediction {name} cannot be compared: {why}",
    worst_subgroup="In the worst of {count} subgroups by {by} ({category}), who learned {target} from the file "
    "predicts it with F {masked:.3f}, who learned from the original with {original:.3f}: {ratio:.3f} of it",
    original_guesses=f"{_SUBGROUPS} who learned from the original does no better than to guess",
    none_large=f"{_SUBGROUPS} none has {{fewest}} people to predict",
    learned="A {learner} that learned {target} from the file predicts it with F {masked:.3f}, one that learned from "
    "the original with {original:.3f}",
    no_better_than_guessing=", no better than to guess ({guess:.3f})",
    ratio=": {ratio:.3f} of it ({low:.3f} to {high:.3f}; a guess has {guess:.3f})",
)

_FEWEST = 100  # people to predict; of fewer, an F measure says little
_PREDICTED = 0.3  # of the records, where nobody was held out
_CALLED = {"logistic": "logistic regression", "forest": "random forest"}


def refuse_unfit_prediction(analysis: PredictionAnalysis, variables: Variables) -> None:
    """Raise DataError where an analysis does not fit the variables of the data."""
    for name in (analysis.target, *(analysis.variables or ())):
        if name not in variables:
            raise DataError(f"the data have no variable '{name}'.", came=name, allowed=variables)
        if variables[name].kind in (Kind.TEXT, Kind.ITEMS):
            raise DataError(f"'{name}' is of kind {variables[name].kind} and no value to predict, or predict by.")
    if not variables[analysis.target].kind.is_categorical:
        raise DataError(
            f"'{analysis.target}' must have categories; it is {variables[analysis.target].kind}.", field="target"
        )
    if analysis.target in (analysis.variables or ()):
        raise DataError(f"'{analysis.target}' is the target itself.", field="variables")
    if analysis.by is not None and not (analysis.by in variables and variables[analysis.by].kind.is_categorical):
        raise DataError(f"the data have no variable with categories '{analysis.by}'.", field="by")


def judge_prediction(
    analysis: PredictionAnalysis, files: Comparison, rng: Generator
) -> tuple[list[Finding], ComparedPrediction]:
    """A finding on each learner, and what is shown. People held out are predicted, or else three records in ten."""
    of_analysis = {"name": analysis.name, "target": analysis.target}
    try:
        refuse_unfit_prediction(analysis, files.variables)
        before, after, subgroups = _examples(analysis, files, rng)
        found = [prediction_scores(before, after, learner, rng, subgroups) for learner in analysis.learners]
    except DataError as error:
        says = _SAYS.not_compared(name=analysis.name, why=str(error).rstrip("."))
        findings = [
            floor_finding("predictions", floor, nan, says, scope, 1, 0)
            for learner in analysis.learners
            for floor, scope in _floors(analysis, learner)
        ]
        return findings, ComparedPrediction(**of_analysis, says=str(error))
    findings = [finding for scores in found for finding in _findings(analysis, scores)]
    if few := _of_few(analysis, files):
        says = few_told(f"What models learn of {analysis.target} ({analysis.name})", few) + END()
        told = [finding.as_withheld(says) for finding in findings]
        return told, ComparedPrediction(**of_analysis, says=text_of(says))
    view = ComparedPrediction(
        **of_analysis,
        predicted=found[0].predicted,
        by=analysis.by,
        learners=tuple(map(compared_learner, found)),
    )
    return findings, view


def _of_few(analysis: PredictionAnalysis, files: Comparison) -> frozenset[str]:
    """Of the variables that the analysis looks at, those of which a comparison would tell of a few people; all of
    these, where nothing else changed."""
    looked_at = {analysis.target, *(analysis.variables or files.variables)} | {analysis.by or analysis.target}
    return files.of_few & looked_at


def _floors(analysis: PredictionAnalysis, learner: Learner) -> list[tuple[Floor | None, str]]:
    """What is asked of a learner, and its scope: of all people, and of the worst subgroup where these are named."""
    scope = f"{analysis.name}: {learner}"
    worst = [] if analysis.by is None else [(analysis.subgroup_ratio, f"{scope}, by {analysis.by}")]
    return [(analysis.ratio, scope), *worst]


def _findings(analysis: PredictionAnalysis, scores: PredictionScores) -> Iterator[Finding]:
    yield _finding(analysis, scores)
    if analysis.by is None:
        return
    _, (floor, scope) = _floors(analysis, scores.learner)
    known = [each for each in scores.subgroups if not np.isnan(each.ratio)]
    if known and not scores.original > scores.guess:
        says = _SAYS.original_guesses(target=analysis.target, by=analysis.by)
        yield floor_finding("predictions", floor, nan, says, scope, 1, 0)
        return
    if not known:
        says = _SAYS.none_large(target=analysis.target, by=analysis.by, fewest=_FEWEST)
        yield floor_finding("predictions", floor, nan, says, scope, 0, 0)
        return
    worst, many = known[0], len(scores.subgroups)
    says = _SAYS.worst_subgroup(
        count=many,
        by=analysis.by,
        category=worst.category,
        target=analysis.target,
        masked=worst.masked,
        original=worst.original,
        ratio=worst.ratio,
    )
    yield floor_finding("predictions", floor, worst.ratio, says, scope, many, len(known))


def _finding(analysis: PredictionAnalysis, scores: PredictionScores) -> Finding:
    called = _CALLED[scores.learner]
    ratio = scores.ratio if scores.original > scores.guess else nan
    says = _SAYS.learned(learner=called, target=analysis.target, masked=scores.masked, original=scores.original)
    if np.isnan(ratio):
        says += _SAYS.no_better_than_guessing(guess=scores.guess)
    else:
        says += _SAYS.ratio(ratio=ratio, low=scores.low, high=scores.high, guess=scores.guess)
    scope = f"{analysis.name}: {scores.learner}"
    return floor_finding("predictions", analysis.ratio, ratio, says, scope, scores.predicted, scores.predicted)


def _examples(
    analysis: PredictionAnalysis, files: Comparison, rng: Generator
) -> tuple[Examples, Examples, dict[str, BoolArray]]:
    """Those of both files, and which of the people to predict belong to each subgroup with enough of them."""
    names = analysis.variables or tuple(
        name
        for name, variable in files.variables.items()
        if name != analysis.target
        and variable.role not in (*NAMES, Role.WEIGHT)
        and variable.kind not in (Kind.TEXT, Kind.ITEMS)
    )
    wanted = [analysis.target, *names]
    learn, people, recoded_people, masked = _people(files, rng)

    def on_released(frame: pd.DataFrame) -> dict[str, ModelVariable]:
        return masked_variables(wanted, files.original, files.recoded, frame, files.variables, files.released)

    original, truth = original_variables(wanted, learn, files.variables), people[analysis.target]
    known = truth.notna().to_numpy()
    to_predict = original_variables(wanted, people[known], files.variables)
    released, released_to_predict = on_released(masked), on_released(recoded_people[known])
    of_people = record_weights(people[known], files.variables)
    if effective_records(of_people, int(known.sum())) < _FEWEST:
        raise DataError(
            f"at least {_FEWEST} people must be predicted, of whom the target is known, by their effective number "
            "where they have weights; there are fewer."
        )
    target = original.pop(analysis.target)
    levels = target.levels()
    real = to_predict.pop(analysis.target).levels()
    place = {name: number for number, name in enumerate([*levels.names, *real.names])}
    classes = np.array([place[name] for name in real.names], np.int64)[real.codes]
    learnt = np.where(levels.codes >= 0, np.array([place[name] for name in levels.names], np.int64)[levels.codes], -1)
    released_target = released.pop(analysis.target, None)
    released_to_predict.pop(analysis.target, None)
    matrix, matrix_of_people = features(original, to_predict)
    there, there_of_people = features(released, released_to_predict)
    told = _released_classes(released_target, place, len(masked))
    first = Examples(matrix, learnt, matrix_of_people, classes, record_weights(learn, files.variables), of_people)
    second = Examples(there, told, there_of_people, classes, record_weights(masked, files.released), of_people)
    return first, second, _subgroups(analysis.by, people[known], of_people)


def _subgroups(by: str | None, people: pd.DataFrame, weight: FloatArray | None) -> dict[str, BoolArray]:
    if by is None:
        return {}
    held = {str(label): (people[by] == label).to_numpy(np.bool_, na_value=False) for label in people[by].cat.categories}

    def enough(members: BoolArray) -> bool:
        return effective_records(None if weight is None else weight[members], int(members.sum())) >= _FEWEST

    return {label: members for label, members in held.items() if enough(members)}


def _released_classes(target: ModelVariable | None, place: dict[str, int], n: int) -> IntArray:
    """The class of each masked record, -1 where the file tells none or a group of several."""
    if target is None:
        return np.full(n, -1, np.int64)
    levels = target.levels()
    codes = [place.get(name, -1) if own else -1 for name, own in zip(levels.names, levels.own, strict=True)]
    return np.append(np.array(codes, np.int64), -1)[levels.codes]


def _people(files: Comparison, rng: Generator) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Originals to learn from; people to predict, and these on the masked file's categories; masked records to learn
    from."""
    if files.holdout is not None and files.recoded_holdout is not None and len(files.holdout) >= _FEWEST:
        return files.original, files.holdout, files.recoded_holdout, files.masked
    n = len(files.original)
    predicted = np.zeros(n, np.bool_)
    predicted[rng.choice(n, int(_PREDICTED * n), replace=False)] = True
    masked = files.masked[~predicted] if files.paired and len(files.masked) == n else files.masked
    return files.original[~predicted], files.original[predicted], files.recoded[predicted], masked


PREDICTIONS = AnalysisKind(
    "predictions",
    advice=(
        "A model learns less from the file: keep the variables that predict, recode them less, or mask them together "
        "with the target (data_shuffling, microaggregation of a group) instead of each by itself."
    ),
    judge=lambda analysis, files, draws, answer: judge_prediction(analysis, files, next(draws)),
    refuse=refuse_unfit_prediction,
    draws=True,
)
