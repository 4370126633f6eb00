"""`sluice.compare`: masked frames side by side, what each tells and what each keeps."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import pandas as pd

from policies.policy import Policy
from sluice.documents.document_reading import document_sha256
from sluice.ground.errors import DataError
from sluice.ground.verdict import Verdict
from sluice.report.comparison_page import render_comparison
from sluice.report.plan_comparison import Comparison
from sluice.report.plan_comparison import compare as put_together
from sluice.report.risk_utility_map import DEFAULT_LOSS, MARGIN, MapPoint, Plan
from tasks.workbench.arguments import Seed
from tasks.workbench.assess import Assessment, assess, policy_given
from tasks.workbench.mask import Masked
from tasks.workbench.records import ContractGiven
from tasks.workbench.result import COLOURS, Figure, Result, axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_HIGHEST = 3.0  # times what the policy allows: what is beyond lies at the upper edge of the plot


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ComparedPlans(Result):
    """Masked frames on one map. Nothing is released by it.

    assessments : of each by its name, as `sluice.assess` gives it
    comparison  : the figures of all
    """

    plans: Annotated[int, Figure("masked files", "compared")]
    passing: Annotated[int, Figure("masked files", "that meet the policy")]
    to_be_decided: Annotated[int, Figure("masked files", "that need a decision")]
    failing: Annotated[int, Figure("masked files", "that do not meet it, or could not be judged")]
    assessments: Mapping[str, Assessment]
    comparison: Comparison

    @property
    def says(self) -> str:
        policy = next(iter(self.assessments.values())).policy
        points = {point.name: point for point in self.comparison.map.points}
        passing = [points[name] for name, each in self.assessments.items() if each.verdict is Verdict.PASS]
        if not passing:
            return f"None of {self.plans} meets the policy '{policy}'."
        names = ", ".join(point.name for point in passing)
        says = (
            f"{len(passing)} of {self.plans} {'meets' if len(passing) == 1 else 'meet'} the policy '{policy}': {names}."
        )
        measured = [(point.loss, point.name) for point in passing if point.loss is not None]
        if len(measured) > 1:
            says += f" Of these {min(measured)[1]} loses least ({self.comparison.map.loss.name})."
        return says

    @property
    def table(self) -> pd.DataFrame:
        """A row for each: verdict, what it keeps, the analyses, and what stops it."""
        rows = []
        for plan, point in zip(self.comparison.plans, self.comparison.map.points, strict=True):
            kept = plan.kept
            rows.append(
                {
                    "plan": plan.name,
                    "verdict": plan.verdict,
                    "risk": point.risk,
                    "loss": point.loss,
                    "variables": None if kept is None else f"{kept.variables} of {kept.of}",
                    **plan.analyses,
                    "stopped by": ", ".join(self._stopping(plan.name)),
                }
            )
        return pd.DataFrame(rows)

    def _stopping(self, name: str) -> list[str]:
        deciding = (each for each in self.assessments[name].findings if each.binding and not each.excused)
        return list(dict.fromkeys(each.rule for each in deciding if each.verdict is not Verdict.PASS))

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """The risk-utility map: loss to the right, risk upwards, 1 being what the policy allows."""
        ax, drawn = axes(ax), self.comparison.map
        for point in drawn.points:
            if point.loss is None:
                continue
            colour = COLOURS["pass"] if self.assessments[point.name].verdict is Verdict.PASS else COLOURS["fail"]
            ax.plot(point.loss, _height(point), "o", color=colour, clip_on=False)
            ax.annotate(point.name, (point.loss, _height(point)), (6, 4), textcoords="offset points", parse_math=False)
        for limit in drawn.risk.limits:
            ax.axhline(limit, color=COLOURS["reference"], linestyle="--")
        ax.set_xlim(0, 1 if drawn.loss.share else None)
        ax.set_ylim(0, 1.05 * _HIGHEST)
        ax.set_xlabel(f"loss: {drawn.loss.name}")
        ax.set_ylabel("risk; 1 is what the policy allows")
        return ax

    def report(self) -> str:
        """The comparison as an HTML page of its own."""
        return render_comparison(self.comparison)


def _height(point: MapPoint) -> float:
    return _HIGHEST if point.risk is None or point.beyond else min(point.risk, _HIGHEST)


def compare(
    original: pd.DataFrame,
    masked: Mapping[str, pd.DataFrame | Masked | Assessment],
    *,
    policy: Policy | Path | str | None = None,
    holdout: pd.DataFrame | None = None,
    paired: bool = False,
    contract: ContractGiven | None = None,
    quasi_identifiers: Iterable[str] | None = None,
    sensitive: Iterable[str] | None = None,
    weight: str | None = None,
    household: str | None = None,
    kinds: Mapping[str, str] | None = None,
    loss: str = DEFAULT_LOSS,
    seed: Seed = None,
) -> ComparedPlans:
    """Hold several masked files of the same records to one policy, and put them side by side.

    masked   : by name, such as {"noise": a, "trees": b}: what anybody made of the records, or what `sluice.mask`
               returned, which knows its columns; then name none. What `sluice.assess` returned is not judged again
    loss     : the measure of the map, such as pair_marginals
    others   : as `sluice.assess` takes them
    raises   : TypeError, DataError, DocumentError
    cost     : an assessment of each that was not assessed before
    """
    if not isinstance(masked, Mapping):
        raise TypeError(f'masked must be a mapping such as {{"noise": a, "trees": b}}; got {type(masked).__name__}.')
    if not masked:
        raise DataError("masked must have one masked file at least; got none.", field="masked")
    drawn = seed if seed is None or isinstance(seed, int) else int(seed.integers(2**63))

    held_to = policy_given(policy)

    def judged(name: str, each: pd.DataFrame | Masked | Assessment) -> Assessment:
        if isinstance(each, Assessment):
            _refuse_unlike(name, each, held_to, len(original))
            return each
        if isinstance(each, Masked):
            return assess(original, each, policy=held_to, holdout=holdout, seed=drawn)
        return assess(
            original, each, policy=held_to, holdout=holdout, paired=paired, contract=contract, weight=weight,
            quasi_identifiers=quasi_identifiers, sensitive=sensitive, household=household, kinds=kinds, seed=drawn,
        )  # fmt: skip

    assessments = {str(name): judged(str(name), each) for name, each in masked.items()}
    verdicts = [each.verdict for each in assessments.values()]
    plans = [Plan(name, each.dossier) for name, each in assessments.items()]
    return ComparedPlans(
        plans=len(plans),
        passing=verdicts.count(Verdict.PASS),
        to_be_decided=verdicts.count(Verdict.REVIEW),
        failing=len(verdicts) - verdicts.count(Verdict.PASS) - verdicts.count(Verdict.REVIEW),
        assessments=assessments,
        comparison=put_together(plans, loss, MARGIN),
    )


def _refuse_unlike(name: str, assessment: Assessment, policy: Policy, records: int) -> None:
    """What was judged by other rules, or of other records, has no place on the same map."""
    if assessment.dossier.hashes["policy"] != document_sha256(policy):
        raise DataError(
            f"masked['{name}'] was assessed by the policy '{assessment.policy}' and not by '{policy.name}' as it is "
            "given here. Name the policy that it was assessed by, or assess it by this one.",
            field="masked",
        )
    if assessment.records_original != records:
        raise DataError(
            f"masked['{name}'] was assessed with {assessment.records_original:,} records of the original; the original "
            f"given here has {records:,}.",
            field="masked",
        )
