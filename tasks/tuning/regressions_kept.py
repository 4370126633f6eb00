"""Regressions kept: what became, in a masked file, of the models that users of such a file run first."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import isnan, nan

from pydantic import BaseModel, ConfigDict, Field

from sluice.ground.errors import DataError
from sluice.risk.people_of_records import people_with_several
from sluice.utility.analyses.asked_analyses import Analyses
from sluice.utility.analyses.formula import read_formula
from sluice.utility.analyses.model_comparison import CoefficientChange, compare_models
from sluice.utility.analyses.model_variables import masked_variables, original_variables
from sluice.utility.analyses.models import HOLDS
from sluice.utility.comparison import Comparison

_WORST = 3  # coefficients of a regression that are named


class AnalysesLoss(BaseModel):
    """What became of the regressions in a masked file."""

    model_config = ConfigDict(frozen=True, ser_json_inf_nan="constants")

    worst: float = Field(
        default=nan, description="largest change of a coefficient, in standard errors of the original's; NaN: of none"
    )
    holds: int = Field(description="regressions of which no coefficient is lost, or moved by more than HOLDS")
    of: int = Field(description="regressions that the original determines")
    lost: int = Field(default=0, description="coefficients that the masked file cannot give")
    where: str = Field(default="", description="the coefficient that moved most, and its regression")
    behind: int = Field(default=0, description="records that make that coefficient in the original; 0: of none")


@dataclass(frozen=True)
class KeptRegression:
    """One regression on both files: its coefficients as far as a report shows them."""

    name: str
    formula: str
    changes: tuple[CoefficientChange, ...]

    @property
    def moved(self) -> list[float]:
        """Changes of those that the masked file gives, in standard errors of the original's."""
        return [change.difference for change in self.changes if not change.is_lost]

    @property
    def lost(self) -> int:
        return len(self.changes) - len(self.moved)

    @property
    def worst(self) -> list[CoefficientChange]:
        """The few that moved most, of those that the masked file gives."""
        given = [change for change in self.changes if not change.is_lost]
        return sorted(given, key=lambda change: -change.difference)[:_WORST]

    @property
    def holds(self) -> bool:
        return bool(self.changes) and not self.lost and max(self.moved, default=0.0) <= HOLDS


def regressions(analyses: Analyses, files: Comparison) -> Iterator[KeptRegression]:
    """Those that can be fitted. What fewer people than the smallest cell make, no file that protects them keeps, and no
    reader is told. Cost: two fits each."""
    for each in analyses.models:
        formula = read_formula(each.formula)
        names = formula.variables
        before = original_variables(names, files.original, files.variables)
        after = masked_variables(names, files.original, files.recoded, files.masked, files.variables, files.released)
        try:
            people = people_with_several(files.original, files.variables)
            found = compare_models(formula, each.kind, before, after, people=people)
        except DataError:
            continue
        shown = tuple(change for change in found.changes if found.may_be_shown(change, files.minimum_cell))
        yield KeptRegression(each.name, each.formula, shown)


def analyses_loss(analyses: Analyses, files: Comparison) -> AnalysesLoss:
    """What became of all of them together."""
    found = [each for each in regressions(analyses, files) if each.changes]
    moved = [(each.formula, change) for each in found for change in each.worst[:1] if not isnan(change.difference)]
    formula, worst = max(moved, key=lambda each: each[1].difference, default=("", None))
    return AnalysesLoss(
        worst=nan if worst is None else worst.difference,
        holds=sum(each.holds for each in found),
        of=len(found),
        lost=sum(each.lost for each in found),
        where="" if worst is None else f"{worst.term} in {formula}",
        behind=0 if worst is None else worst.behind,
    )


def worst_of(several: Sequence[AnalysesLoss]) -> AnalysesLoss | None:
    """Of several draws of one plan, what is lost by the worst of them; None of none."""
    if not several:
        return None
    worst = max(several, key=lambda each: (not isnan(each.worst), each.worst))
    return AnalysesLoss(
        worst=worst.worst, where=worst.where, behind=worst.behind,
        holds=min(each.holds for each in several),
        of=max(each.of for each in several),
        lost=max(each.lost for each in several),
    )  # fmt: skip
