"""What a plan keeps, in the figures by which plans are compared first: variables, their tables, and S_pMSE.

The loss over all variables says little of a plan that removes many of them, so the loss among those that are kept
stands beside it.
"""

from pydantic import BaseModel, ConfigDict, Field

from sluice.ground.variables import NAMES, Role
from sluice.report.dossier import Dossier, RecordsView
from sluice.report.wording import figure
from sluice.utility.marginal_summary import MarginalSummary
from sluice.utility.variable_summary import VariableSummary


class KeptFigures(BaseModel):
    """None: not measured, or not told."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    variables: int = Field(description="released, with more than one value")
    of: int = Field(description="variables of the original that describe")
    pairs: float | None = Field(default=None, description="mean loss of the tables of two variables, 0 to 1")
    pairs_released: float | None = Field(default=None, description="the same among released variables")
    k_marginal: float | None = Field(default=None, description="score of the tables of three variables, 1,000: no loss")
    k_marginal_released: float | None = Field(default=None, description="the same among released variables")
    propensity: float | None = Field(default=None, description="S_pMSE of all released variables, 1: as good as drawn")

    def in_words(self) -> str:
        """The figures on one line, those that are known."""
        told = [f"{self.variables} of {self.of} variables kept"]
        if self.pairs_released is not None:
            told.append(f"loss among them {figure(self.pairs_released)}")
        if self.propensity is not None:
            told.append(f"S_pMSE {figure(self.propensity)}")
        return ", ".join(told)


def kept_figures(dossier: Dossier) -> KeptFigures | None:
    """The figures of a dossier on records; None of one on tables, or where nothing was masked."""
    view = dossier.view
    if not isinstance(view, RecordsView):
        return None
    described = [summary for summary in view.variables if summary.role not in (*NAMES, Role.WEIGHT)]
    if not described:
        return None
    shown = view.utility
    marginals = None if shown is None else shown.marginals
    pairs, triples = (None, None) if marginals is None else (marginals.pairs, marginals.triples)
    return KeptFigures(
        variables=sum(_is_kept(summary) for summary in described),
        of=len(described),
        pairs=None if pairs is None else pairs.mean,
        pairs_released=_released(pairs),
        k_marginal=None if triples is None else _score(triples.mean),
        k_marginal_released=_score(_released(triples)),
        propensity=None if shown is None or shown.propensity is None else shown.propensity.standardised,
    )


def _is_kept(summary: VariableSummary) -> bool:
    return summary.kind_after is not None and not (summary.entropy_before and summary.entropy_after == 0)


def _released(summary: MarginalSummary | None) -> float | None:
    if summary is None:
        return None
    return summary.mean_released if summary.removed else summary.mean


def _score(loss: float | None) -> float | None:
    return None if loss is None else 1000 * (1 - loss)
