"""What masking made of the numbers of a file as a whole, for the report."""

from math import isnan

from pydantic import BaseModel, ConfigDict, Field

from sluice.utility.continuous.matrix_comparisons import MatrixComparisons
from sluice.utility.continuous.mean_variations import MeanVariations
from sluice.utility.continuous.probabilistic_information_loss import ProbabilisticInformationLoss


class ProbabilityParts(BaseModel):
    """PIL: how sure one can be that a statistic changed, 0 to 1; None where there is no such statistic."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    means: float | None
    variances: float | None
    covariances: float | None
    correlations: float | None
    quantiles: float | None

    @classmethod
    def of(cls, loss: ProbabilisticInformationLoss) -> "ProbabilityParts":
        return cls.model_validate({name: _known(value) for name, value in loss._asdict().items()})


class VariationParts(BaseModel):
    """IL1 to IL5: mean relative changes, 1 for 100 %, those of correlations absolute; None where there are none."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    values: float | None
    means: float | None
    variances: float | None
    covariances: float | None
    correlations: float | None

    @classmethod
    def of(cls, variations: MeanVariations) -> "VariationParts":
        return cls.model_validate({name: _known(value) for name, value in variations._asdict().items()})


class ContinuousView(BaseModel):
    """Means over all numbers of the original, removed ones included; higher is worse."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    names: tuple[str, ...] = Field(description="the numbers of the original, ordered categories by their position")
    removed: tuple[str, ...] = Field(description="those that were not released")
    comparisons: MatrixComparisons = Field(description="values and covariances in standard deviations of the original")
    eigenvalues: float | None = Field(description="share of the variance no longer on the component that held it")
    probabilities: ProbabilityParts
    variations: VariationParts


def _known(value: float) -> float | None:
    return None if isnan(value) else value
