"""`sluice.reference_standard`: whether taking part costs a person more than staying out would have."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import pandas as pd

from policies.standard.reference_standard import ReferenceStandard
from sluice.documents.documents import parse_document
from sluice.risk.reference.curve import Curve
from sluice.verdict import Finding, Verdict, decide
from tasks.release.records.judgement import against_reference
from tasks.workbench.notebook.arguments import Seed
from tasks.workbench.notebook.comparison import compare
from tasks.workbench.notebook.findings import by_weight, curves_table, findings_table, plot_curve
from tasks.workbench.notebook.mask import Masked
from tasks.workbench.notebook.records import Columns, ContractGiven
from tasks.workbench.notebook.result import Figure, Result

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MOST_HELD_OUT = 0.499  # the standard's share of a holdout is below a half


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class AgainstReference(Result):
    """The verdict of the reference standard.

    findings : one or more for each comparison, as a release has them; `findings_table` has them as a DataFrame
    curves   : the share of the original records at or below each value of a measure, for the masked file and for the
               reference; `curves_table` has them as a DataFrame
    standard : as it was applied
    """

    verdict: Verdict
    excess: Annotated[
        float | None, Figure("share of the records", "largest difference of a curve that decides from the reference")
    ]
    margin: Annotated[float, Figure("share of the records", "tolerated difference")]
    records: Annotated[int, Figure("records", "of the original")]
    records_attacked: Annotated[int | None, Figure("records", "of these looked for")]
    findings: tuple[Finding, ...]
    curves: tuple[Curve, ...]
    standard: ReferenceStandard

    @property
    def says(self) -> str:
        return by_weight(self.findings)[0].says if self.verdict else f"The standard is met: {self.standard.describe()}"

    @property
    def findings_table(self) -> pd.DataFrame:
        """A row for each finding, the gravest first."""
        return findings_table(self.findings)

    @property
    def curves_table(self) -> pd.DataFrame:
        """Columns measure, value, masked, reference."""
        return curves_table(self.curves)

    @property
    def table(self) -> pd.DataFrame:
        return self.findings_table[["rule", "verdict", "says"]]

    def plot(self, ax: "Axes | None" = None, measure: str = "distance") -> "Axes":
        """The curves of one measure: distance, ambiguity or uncertainty."""
        return plot_curve(self.curves, measure, ax)


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
