"""What a masked file is worth: three bars, and one sentence on what it is good for and what it is not.

Only what was measured of this file is said, never what a method promises.
"""

from collections.abc import Sequence

from pydantic import Field

from sluice.ground.document_parts import FrozenModel
from sluice.ground.verdict import Finding
from sluice.report.dossier import RecordsView
from sluice.report.wording import percent
from sluice.utility.analyses.models import HOLDS, ComparedModel

_MOVED_MEAN = 0.1  # standard deviations, up to which averages are told as kept
_MOVED_CORRELATION = 0.1  # up to which a correlation is told as kept
_LOST_PAIR = 0.2  # share of the records in another cell, from which on a table is told as lost
CRITERION = (
    f"Called good are averages that moved by at most {_MOVED_MEAN:g} standard deviations in the middle case, "
    f"correlations of which nine in ten moved by at most {_MOVED_CORRELATION:g}, models of which every coefficient "
    f"lies within {HOLDS:g} standard errors, and tables in which at most {100 * _LOST_PAIR:.0f} % of the records "
    "stand in another cell."
)


class Bar(FrozenModel):
    """A bar with its words; share from 0 (nothing is left) to 1 (as in the original)."""

    says: str
    share: float
    of: str = Field(default="", description="the figure in words, such as '8 of 9'; empty: the share in per cent")

    @property
    def figure(self) -> str:
        return self.of or percent(self.share)


def bars(findings: Sequence[Finding], view: RecordsView) -> tuple[Bar, ...]:
    """Variables kept, tables of pairs, and the users' own analyses, or correlations where none is compared."""
    found = []
    if view.variables:
        kept, of = sum(each.kind_after is not None for each in view.variables), len(view.variables)
        found.append(Bar(says="Variables kept", share=kept / of, of=f"{kept} of {of}"))
    if (lost := _observed(findings, "pair_marginals")) is not None:
        found.append(Bar(says="Tables of two variables", share=max(0.0, 1 - lost)))
    if models := _models(view):
        total = sum(len(each.coefficients) + each.lost for each in models)
        kept = sum(one.holds for each in models for one in each.coefficients)
        if total:
            hidden = sum(each.hidden for each in view.utility.models or ()) if view.utility else 0
            told = f"{kept} of {total}" + (f" shown; {hidden} rest on too few records to be shown" if hidden else "")
            found.append(Bar(says=f"Coefficients within {HOLDS:g} errors", share=kept / total, of=told))
    elif pairs := _correlations(view):
        kept = sum(moved <= _MOVED_CORRELATION for moved in pairs)
        says = f"Correlations within {_MOVED_CORRELATION:g}"
        found.append(Bar(says=says, share=kept / len(pairs), of=f"{kept} of {len(pairs)}"))
    return tuple(found)


def good_for(findings: Sequence[Finding], view: RecordsView) -> str:
    """'Good for averages, correlations; not for educ by occupation, occupation_husb (left out).'"""
    good: list[str] = []
    bad: list[str] = []
    if (moved := _observed(findings, "mean")) is not None:
        (good if moved <= _MOVED_MEAN else bad).append("averages")
    if pairs := _correlations(view):
        within = sum(moved <= _MOVED_CORRELATION for moved in pairs) / len(pairs)
        (good if within >= 0.9 else bad).append("correlations")
    for model in _models(view):
        holds = not model.lost and all(one.holds for one in model.coefficients)
        if not (holds and model.hidden):  # what is not shown may not hold
            (good if holds else bad).append(f"the model of {model.name}")
    worst = view.utility.marginals.pairs.worst if view.utility and view.utility.marginals else ()
    if worst and worst[0].loss > _LOST_PAIR:
        bad.append(" by ".join(worst[0].variables))
    elif worst:
        good.append("tables of two variables")
    bad += [f"{each.name} (left out)" for each in view.variables if each.kind_after is None and each.bins][:1]
    groups = view.utility.subgroups.worst if view.utility and view.utility.subgroups else ()
    if groups and groups[0].loss > _LOST_PAIR:
        bad.append(f"the group {groups[0].variable} {groups[0].category} alone")
    says = f"Good for {_listed(good)}" if good else "Good for nothing that was measured"
    return f"{says}; not for {_listed(bad)}." if bad else f"{says}."


def _listed(what: Sequence[str], most: int = 2) -> str:
    return ", ".join(what[:most])


def _observed(findings: Sequence[Finding], rule: str) -> float | None:
    return next((each.observed for each in findings if each.rule == rule and each.stage == "utility"), None)


def _models(view: RecordsView) -> tuple[ComparedModel, ...]:
    models = view.utility.models if view.utility else None
    return tuple(each for each in models or () if each.coefficients or each.lost)


def _correlations(view: RecordsView) -> list[float]:
    """By how much the correlation of each pair of numbers moved."""
    found = view.utility.correlations if view.utility else None
    for matrices in found.matrices if found else ():
        if matrices.measure == "pearson":
            return [
                abs(after - before)
                for row, (befores, afters) in enumerate(zip(matrices.original, matrices.masked, strict=True))
                for before, after in zip(befores[:row], afters[:row], strict=True)
                if before is not None and after is not None
            ]
    return []
