"""`sluice.reference_standard`: whether taking part costs a person more than staying out would have."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import pandas as pd

from policies.standard.reference_standard import ReferenceStandard
from sluice.documents.document_reading import parse_document
from sluice.ground.verdict import decide
from tasks.release.records.record_findings import against_reference
from tasks.workbench.arguments import Seed
from tasks.workbench.compared import compare
from tasks.workbench.findings import Judgement
from tasks.workbench.mask import Masked
from tasks.workbench.records import Columns, ContractGiven
from tasks.workbench.result import Figure

if TYPE_CHECKING:
    pass

_MOST_HELD_OUT = 0.499  # the standard's share of a holdout is below a half


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
