"""Analyses: what users of the data will do with them, done with the original and with the masked file.

A policy names those that decide, in `utility`; a release definition those that its submitter wants to see beside them.
"""

from collections import Counter
from typing import Self

from pydantic import Field, field_validator, model_validator

from sluice.ground.document_parts import FrozenModel
from sluice.ground.errors import DataError
from sluice.ground.visible_text import Name, Prose
from sluice.utility.analyses.clustering_agreement import ClusteringMethod
from sluice.utility.analyses.formula import ModelKind, read_formula
from sluice.utility.analyses.prediction_loss import Learner
from sluice.utility.measured import Floor, Limit, ShareLimit


class ModelAnalysis(FrozenModel):
    """A model, fitted to the original and to the masked file."""

    name: Name = Field(min_length=1, max_length=60)
    kind: ModelKind
    formula: Prose = Field(
        description="income == '>50K' ~ age + age^2 + sex * education; of a Cox model survival(time, event) ~ ..."
    )
    weight: Name | None = Field(default=None, description="the variable that weighs the records")
    by: Name | None = Field(
        default=None, description="a variable whose categories are subgroups, each fitted by itself"
    )
    overlap: Floor | None = Field(
        default=None, description="mean overlap of the confidence intervals of the coefficients, 0 to 1"
    )
    recoded_overlap: Floor | None = Field(
        default=None, description="the same overlap with the original recoded as the file is: what else masking changed"
    )
    difference: Limit | None = Field(
        default=None, description="mean difference of a coefficient, in standard errors of the original's"
    )
    subgroup_overlap: Floor | None = Field(default=None, description="the same overlap in the worst subgroup")

    @field_validator("formula")
    @classmethod
    def _can_be_read(cls, formula: str) -> str:
        try:
            read_formula(formula)
        except DataError as error:
            raise ValueError(str(error)) from None
        return formula

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if (self.kind == "cox") != (read_formula(self.formula).event is not None):
            raise ValueError(f"{self.name}: a model of kind cox, and no other, explains survival(time, event)")
        if self.kind == "cox" and self.weight is not None:
            raise ValueError(f"{self.name}: 'weight' is for linear, logistic and Poisson models")
        if self.subgroup_overlap is not None and self.by is None:
            raise ValueError(f"{self.name}: 'subgroup_overlap' needs 'by', the variable of the subgroups")
        return self


class PredictionAnalysis(FrozenModel):
    """A variable that models predict which learned from the original and from the masked file."""

    name: Name = Field(min_length=1, max_length=60)
    target: Name = Field(description="the variable that is predicted; it has categories")
    variables: tuple[Name, ...] | None = Field(
        default=None, min_length=1, description="by which it is predicted; all others that are values by default"
    )
    learners: tuple[Learner, ...] = Field(
        default=("logistic", "forest"), min_length=1, description="a logistic regression, a random forest"
    )
    ratio: Floor | None = Field(
        default=None, description="F measure after learning from the masked file, as a share of that from the original"
    )
    by: Name | None = Field(
        default=None, description="a variable whose categories are subgroups of the people who are predicted"
    )
    subgroup_ratio: Floor | None = Field(default=None, description="the same ratio in the worst subgroup")

    @model_validator(mode="after")
    def _coherent(self) -> Self:
        if self.subgroup_ratio is not None and self.by is None:
            raise ValueError(f"{self.name}: 'subgroup_ratio' needs 'by', the variable of the subgroups")
        return self


class ClusteringAnalysis(FrozenModel):
    """Clusters of the records by some numbers, in the original and in the masked file."""

    name: Name = Field(min_length=1, max_length=60)
    method: ClusteringMethod = "k_means"
    clusters: int = Field(ge=2, le=100)
    variables: tuple[Name, ...] = Field(min_length=1, description="numbers and dates, each by its standard deviation")
    loss: Limit | None = Field(
        default=None, description="of the adjusted Rand index, beyond what another start on the original loses"
    )


class QueryAnalysis(FrozenModel):
    """A question in SQL, asked of both files."""

    name: Name = Field(min_length=1, max_length=60)
    sql: Prose = Field(
        description="one SELECT over records: groups and named aggregates, "
        "SELECT sex, avg(age) AS mean_age FROM records GROUP BY sex"
    )
    difference: ShareLimit | None = Field(
        default=None, description="mean difference of a figure, as a share of the larger of the two"
    )

    @field_validator("sql")
    @classmethod
    def _can_be_read(cls, sql: str) -> str:
        from sluice.utility.analyses.aggregate_query import read_aggregate_query  # loaded where it is needed

        try:
            read_aggregate_query(sql)
        except DataError as error:
            raise ValueError(str(error)) from None
        return sql


class Analyses(FrozenModel):
    """Analyses by name."""

    models: tuple[ModelAnalysis, ...] = Field(default=(), max_length=20, description="regression models")
    predictions: tuple[PredictionAnalysis, ...] = Field(
        default=(), max_length=20, description="predictions of people whom the models have not seen"
    )
    clusterings: tuple[ClusteringAnalysis, ...] = Field(default=(), max_length=20, description="clusters of records")
    queries: tuple[QueryAnalysis, ...] = Field(default=(), max_length=20, description="users' own questions, in SQL")

    @model_validator(mode="after")
    def _names_are_told_apart(self) -> Self:
        for field in Analyses.model_fields:
            counts = Counter(analysis.name for analysis in getattr(self, field))
            if twice := sorted(name for name, count in counts.items() if count > 1):
                raise ValueError(f"{field}: two are named '{twice[0]}'")
        return self
