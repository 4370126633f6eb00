"""`sluice.singling_out` and `reference_standard`: what a masked file gives away to an intruder.

Whether it lets somebody describe exactly one person, and whether taking part costs more than staying out would have.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import pandas as pd

from policies.rules.control_rules import SinglingOut as SinglingOutRule
from policies.standard.reference_standard import ReferenceStandard
from sluice.documents.document_reading import parse_document
from sluice.ground.errors import DataError
from sluice.ground.sentence import percent
from sluice.ground.verdict import decide
from sluice.risk.attacks.singling_out import Mode
from tasks.release.records.record_findings import against_reference
from tasks.workbench.arguments import Seed, column_names, one_of, whole_number
from tasks.workbench.compared import compare
from tasks.workbench.findings import Judgement
from tasks.workbench.mask import Masked
from tasks.workbench.records import Columns, ContractGiven
from tasks.workbench.result import COLOURS, Figure, Result, axes, written

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_MOST_HELD_OUT = 0.499  # the standard's share of a holdout is below a half

Interval = tuple[float, float]


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class SinglingOut(Result):
    """How often descriptions read off the masked file fit exactly one person."""

    risk: Annotated[float, Figure("share", "won by the attack of what the control leaves to win; below 0: nothing")]
    risk_interval: Annotated[Interval, Figure("share", "95 % confidence interval of the risk")]
    success: Annotated[float, Figure("share, 0 to 1", "right guesses on people in the file")]
    control: Annotated[float, Figure("share, 0 to 1", "right guesses on people who are not in it")]
    baseline: Annotated[float, Figure("share, 0 to 1", "right guesses at random")]
    success_interval: Annotated[Interval, Figure("share, 0 to 1", "95 % interval of the success (Wilson)")]
    control_interval: Annotated[Interval, Figure("share, 0 to 1", "95 % interval of the control (Wilson)")]
    guesses: Annotated[int, Figure("guesses", "made on people in the file")]
    control_guesses: Annotated[int, Figure("guesses", "made on the control")]
    informative: Annotated[bool, Figure("", "the attack beats guessing; otherwise it tells nothing of the risk")]
    unit: str

    @property
    def says(self) -> str:
        says = (
            f"A description read off the file fits exactly one of the {self.unit} behind it in "
            f"{percent(self.success)} of {self.guesses:,} guesses, and one of others in {percent(self.control)}: "
            f"a risk of {max(self.risk, 0):.3g} ({written(self.risk_interval)}) through the file."
        )
        if self.informative:
            return says
        return f"{says} Guessing at random is right in {percent(self.baseline)}: the attack tells nothing of the risk."

    def plot(self, ax: "Axes | None" = None) -> "Axes":
        """The share of right guesses on both sides, with intervals, and that of guessing."""
        ax = axes(ax)
        shown = ((self.success, self.success_interval), (self.control, self.control_interval))
        for place, ((share, (low, high)), colour) in enumerate(zip(shown, ("masked", "reference"), strict=True)):
            ax.bar(place, 100 * share, 0.6, color=COLOURS[colour])
            ax.vlines(place, 100 * low, 100 * high, color="black", linewidth=1.5)
        ax.axhline(100 * self.baseline, color=COLOURS["fail"], linestyle=":", label="guessing")
        ax.set_xticks([0, 1], [f"{self.unit} in the file", "others (control)"], parse_math=False)
        ax.set_ylabel("% of the guesses are right")
        ax.legend()
        return ax


def singling_out(
    original: pd.DataFrame,
    masked: pd.DataFrame | Masked,
    control: pd.DataFrame,
    *,
    mode: Mode = "multivariate",
    attributes: int = 3,
    attacks: int = 2000,
    contract: ContractGiven | None = None,
    kinds: Mapping[str, str] | None = None,
    columns: Iterable[str] | None = None,
    seed: Seed = None,
) -> SinglingOut:
    """Describe records of a masked file, and count the people that the descriptions fit.

    original   : the records behind the masked file
    masked     : what anybody made of them, or what `sluice.mask` returned
    control    : people of the same kind who are in neither, with the columns of the original
    mode       : univariate: by one column; multivariate: by several
    attributes : columns in a multivariate description, at least 2
    attacks    : guesses on each side, at least 100; fewer where there are fewer records
    contract, kinds : what the columns are; inferred from their values when not given
    columns    : that descriptions may speak of; all when not given
    seed       : a whole number, a numpy Generator, or none for new guesses each time
    raises     : TypeError, DataError, DocumentError
    source     : Giomi et al. (2023); see `sluice.risk.attacks.singling_out`
    """
    rule = SinglingOutRule(
        limit=1,
        mode=one_of(mode, "mode", ("univariate", "multivariate")),
        attributes=whole_number(attributes, "attributes", 2),
        attacks=whole_number(attacks, "attacks", 100),
    )
    found = compare(
        original, masked, Columns(contract, kinds=kinds), holdout=control, holdout_name="control", seed=seed
    )
    files = found.files
    if columns is not None:
        rule = rule.model_copy(update={"columns": tuple(column_names(columns, "columns", files.masked))})
    others = files.recoded_holdout
    attack = None if others is None else rule.attack(files, others)
    if attack is None or not attack.completed:
        raise DataError("no description could be made: original, masked and control need a column in common.")
    risk = attack.risk()
    assert risk.interval is not None
    sides = [attack.main.wilson(), attack.control.wilson()]
    intervals = [(max(0.0, centre - half), min(1.0, centre + half)) for centre, half in sides]
    return SinglingOut(
        risk=risk.value,
        risk_interval=risk.interval,
        success=attack.main.share,
        control=attack.control.share,
        baseline=attack.baseline,
        success_interval=intervals[0],
        control_interval=intervals[1],
        guesses=attack.main.completed,
        control_guesses=attack.control.completed,
        informative=attack.informative,
        unit=files.unit,
    )


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class AgainstReference(Judgement):
    """The verdict of the reference standard.

    standard : as it was applied
    """

    excess: Annotated[
        float | None, Figure("share of the records", "largest difference of a curve that decides from the reference")
    ]
    margin: Annotated[float, Figure("share of the records", "tolerated difference")]
    records: Annotated[int, Figure("records", "of the original")]
    records_attacked: Annotated[int | None, Figure("records", "of these looked for")]
    standard: ReferenceStandard

    @property
    def says(self) -> str:
        return self.gravest.says if self.verdict else f"The standard is met: {self.standard.describe()}"


def reference_standard(
    original: pd.DataFrame,
    masked: pd.DataFrame | Masked,
    *,
    holdout: pd.DataFrame | None = None,
    standard: ReferenceStandard | Mapping[str, Any] | None = None,
    paired: bool = False,
    contract: ContractGiven | None = None,
    quasi_identifiers: Iterable[str] | None = None,
    sensitive: Iterable[str] | None = None,
    kinds: Mapping[str, str] | None = None,
    seed: Seed = None,
) -> AgainstReference:
    """Attack a masked file and a reference that the person is not in, and compare.

    original : the records behind the masked file
    masked   : what anybody made of them, or what `sluice.mask` returned
    holdout  : other people of the same population, the reference; without it, the original without the person
    standard : margins and limits, as under `reference_standard` of a policy; the defaults when not given
    paired   : row i of `masked` is the person of row i of the original: then lone copies and re-identification are
               looked for, too
    contract, quasi_identifiers, sensitive, kinds : what the columns are; kinds are inferred when not given
    seed     : a whole number, a numpy Generator, or none: only some records are attacked where there are many
    raises   : TypeError, DataError, DocumentError
    source   : Lasko and Vinterbo (2010); see docs/reference-standard.md
    """
    columns = Columns(contract, quasi_identifiers, sensitive, kinds=kinds)
    found = compare(original, masked, columns, holdout=holdout, paired=paired, seed=seed)
    applied = _standard(standard, found.files.holdout, len(found.files.original))
    findings, curves = against_reference(applied, found.files)
    compared = [finding for finding in findings if finding.rule.startswith("prediction_")]
    return AgainstReference(
        verdict=decide(findings),
        excess=max((f.observed for f in compared if f.binding and f.observed is not None), default=None),
        margin=applied.margin,
        records=len(found.files.original),
        records_attacked=compared[0].completed if compared else None,
        findings=tuple(findings),
        curves=curves,
        standard=applied,
    )


def _standard(given: object, holdout: pd.DataFrame | None, records: int) -> ReferenceStandard:
    if isinstance(given, ReferenceStandard):
        return given
    if given is not None and not isinstance(given, Mapping):
        raise TypeError(f"standard must be a mapping or a ReferenceStandard; got {type(given).__name__}.")
    settings = dict(given or {})
    if holdout is not None:
        share = min(len(holdout) / (len(holdout) + records), _MOST_HELD_OUT)
        settings = {"reference": "holdout", "holdout_share": share} | settings
    return parse_document(ReferenceStandard, settings, "standard")
