"""Predictions view: how models predict that learned from each file, as the report shows it."""

from math import isfinite

from pydantic import BaseModel, ConfigDict, Field

from sluice.utility.analyses.prediction_loss import PredictionScores

_WORST = 5  # subgroups that are shown


class PredictedSubgroup(BaseModel):
    """F measures of one kind of model among those who share a category."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    subgroup: str
    original: float
    masked: float
    ratio: float | None


class ComparedLearner(BaseModel):
    """F measures of one kind of model, 0 to 1; of few people to predict there are none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    learner: str
    original: float
    masked: float
    guess: float = Field(description="of whoever says the most frequent class to everybody")
    ratio: float | None = None
    low: float | None = Field(default=None, description="95 % interval of the ratio")
    high: float | None = None
    learnt: int = Field(description="records that the original's model learned from; more are drawn from")
    subgroups: tuple[PredictedSubgroup, ...] = Field(default=(), description="of people to predict, the worst first")


class ComparedPrediction(BaseModel):
    """One variable that is predicted."""

    model_config = ConfigDict(frozen=True, extra="forbid")

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
