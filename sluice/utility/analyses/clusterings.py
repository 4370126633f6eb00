"""Clusterings: how far the clusters of a masked file differ from the original's, as a finding and in the report."""

from collections.abc import Sequence
from math import nan

import numpy as np
from numpy.random import Generator
from pydantic import Field

from sluice.ground.arrays import FloatArray
from sluice.ground.document_parts import FrozenModel
from sluice.ground.errors import DataError
from sluice.ground.sentence import END, Sentences, text_of
from sluice.ground.variables import NAMES, Kind, Variables
from sluice.ground.verdict import Finding
from sluice.utility.analyses.asked_analyses import ClusteringAnalysis
from sluice.utility.analyses.clustering_agreement import IndexLoss, clustering_agreement
from sluice.utility.analyses.model_variables import masked_variables, original_variables
from sluice.utility.comparison import Comparison
from sluice.utility.measured import Measured, written_number
from sluice.utility.record_weights import Weights
from sluice.utility.utility_measure import AnalysisKind


class ComparedIndex(FrozenModel):
    """One index of the original with itself from another start, and with the masked file; the loss and its interval."""

    index: str
    itself: float
    masked: float
    loss: float
    low: float
    high: float


class ComparedClustering(FrozenModel):
    """One clustering."""

    name: str
    method: str
    clusters: int
    variables: tuple[str, ...]
    left_out: tuple[str, ...] = Field(default=(), description="variables that the masked file lacks")
    says: str = Field(default="", description="why there are no figures; empty: there are")
    indices: tuple[ComparedIndex, ...] = ()


def compared_indices(losses: Sequence[IndexLoss]) -> tuple[ComparedIndex, ...]:
    """The indices to three digits."""
    return tuple(
        ComparedIndex(
            index=each.index,
            itself=round(each.itself, 3),
            masked=round(each.masked, 3),
            loss=round(each.loss, 3),
            low=round(each.low, 3),
            high=round(each.high, 3),
        )
        for each in losses
    )


_SAYS = Sentences(
    "clusterings",
    not_compared="The clusters {name} cannot be compared: {why}",
    agree="The clusters of {method} ({name}) agree with the original's by {masked:.2f} (adjusted Rand index), those "
    "from another start on the original by {itself:.2f}: a loss of {loss:.2f}",
)

_CALLED = {"k_means": "k-means", "fuzzy_c_means": "fuzzy c-means"}


def refuse_unfit_clustering(analysis: ClusteringAnalysis, variables: Variables) -> None:
    """Raise DataError where an analysis does not fit the variables of the data."""
    for name in analysis.variables:
        if name not in variables:
            raise DataError(f"the data have no variable '{name}'.", came=name, allowed=variables)
        variable = variables[name]
        if variable.role in NAMES or not (variable.kind.is_numeric or variable.kind is Kind.DATE):
            raise DataError(f"'{name}' must be a number or a date; it is {variable.kind} with role {variable.role}.")


def judge_clustering(
    analysis: ClusteringAnalysis, files: Comparison, rng: Generator
) -> tuple[list[Finding], ComparedClustering]:
    """A finding on the loss of the adjusted Rand index, and all indices. Records whose originals lack a value are left
    out; of a value that masking took away, whoever has the file knows no more than the mean."""
    lacking = tuple(name for name in analysis.variables if name not in files.released)
    of_analysis = {
        "name": analysis.name,
        "method": analysis.method,
        "clusters": analysis.clusters,
        "variables": analysis.variables,
        "left_out": lacking,
    }
    try:
        refuse_unfit_clustering(analysis, files.variables)
        original, masked, paired, weights = _points(analysis, files)
        found = clustering_agreement(original, masked, analysis.method, analysis.clusters, paired, rng, weights)
    except DataError as error:
        says = _SAYS.not_compared(name=analysis.name, why=str(error).rstrip("."))
        measured = Measured(nan, says, analysis.name, len(files.original), 0, written_number)
        return [measured.finding("clusterings", analysis.loss)], ComparedClustering(**of_analysis, says=str(error))
    index = next(each for each in found if each.index == "adjusted_rand")
    says = _SAYS.agree(
        method=_CALLED[analysis.method], name=analysis.name, masked=index.masked, itself=index.itself, loss=index.loss
    )
    measured = Measured(index.loss, says, analysis.name, len(files.original), len(original), written_number)
    if few := files.of_few & {*analysis.variables}:
        hidden = measured.told(f"How far the clusters {analysis.name} agree", few)
        return [hidden.finding("clusterings", analysis.loss)], ComparedClustering(
            **of_analysis, says=text_of(hidden.says + END())
        )
    view = ComparedClustering(**of_analysis, indices=compared_indices(found))
    return [measured.finding("clusterings", analysis.loss)], view


def _points(analysis: ClusteringAnalysis, files: Comparison) -> tuple[FloatArray, FloatArray, bool, Weights]:
    """Records of both files that weigh anything, in standard deviations of the original, whether they are paired, and
    their weights."""
    weight, masked_weight = files.weights
    before = original_variables(analysis.variables, files.original, files.variables)
    after = masked_variables(
        analysis.variables, files.original, files.recoded, files.masked, files.variables, files.released
    )
    original = np.column_stack([before[name].numbers() for name in analysis.variables])
    numbers = [after[name].numbers() for name in analysis.variables if name in after]
    masked = np.column_stack(numbers) if numbers else np.zeros((len(files.masked), 0))
    known = ~np.isnan(original).any(axis=1)
    if weight is not None:
        known &= weight > 0
    if not known.any():
        raise DataError("every record lacks a value of the variables to be clustered by.")
    of_known = None if weight is None else weight[known]
    centre = np.average(original[known], axis=0, weights=of_known)
    scale = np.sqrt(np.average((original[known] - centre) ** 2, axis=0, weights=of_known))
    scale[scale == 0] = 1
    kept = [place for place, name in enumerate(analysis.variables) if name in after]
    original, masked = (original - centre) / scale, (masked - centre[kept]) / scale[kept]
    complete = ~np.isnan(masked).any(axis=1)
    if masked_weight is not None:
        complete &= masked_weight > 0
    if kept and not complete.any():
        raise DataError("every masked record lacks a value of the variables to be clustered by.")
    if files.paired and len(original) == len(masked):
        # left out, suppressed records would cost nothing
        of_masked = None if masked_weight is None else masked_weight[known]
        return original[known], np.nan_to_num(masked[known]), True, (of_known, of_masked)
    of_masked = None if masked_weight is None else masked_weight[complete]
    return original[known], masked[complete], False, (of_known, of_masked)


CLUSTERINGS = AnalysisKind(
    "clusterings",
    advice=(
        "Records fall into other clusters: mask the variables of the clustering together (microaggregation of a "
        "group, spectral_swapping), with smaller groups or less noise."
    ),
    judge=lambda analysis, files, draws, answer: judge_clustering(analysis, files, next(draws)),
    refuse=refuse_unfit_clustering,
    draws=True,
)
