"""The dossier: all that a reviewer sees of one evaluated release. Aggregates and document texts, no record."""

from typing import Annotated, Any, Literal

from pydantic import Field

from sluice.generalization.levels_found import LevelsFound
from sluice.ground.document_parts import FrozenModel
from sluice.ground.remarks import Remark
from sluice.ground.verdict import Finding, Verdict
from sluice.report.table_summary import TableSummary
from sluice.risk.reference.reference_attack import Curve
from sluice.utility.utility_view import UtilityView
from sluice.utility.variable_summary import VariableSummary


class Treatment(FrozenModel):
    """What one way of masking was done to."""

    how: str = Field(description="such as 'grouped'; a word of `sluice.masking.treatments`")
    variables: tuple[str, ...]


class RecordsView(FrozenModel):
    """What a dossier says of masked records."""

    kind: Literal["records"] = "records"
    records_holdout: int
    records_released: int = Field(default=0, description="0 when nothing was masked")
    treatments: tuple[Treatment, ...] = Field(default=(), description="what masking did, by the plan; () if not known")
    curves: tuple[Curve, ...] = ()
    variables: tuple[VariableSummary, ...] = ()
    utility: UtilityView | None = Field(
        default=None, description="what the file is still good for, beside the findings"
    )
    levels: tuple[LevelsFound, ...] = Field(default=(), description="what searches of levels chose, and why")
    parameters: tuple[dict[str, Any], ...] = Field(
        default=(), description="of the steps that an analyst of the file has to correct for, such as PRAM's matrices"
    )

    @property
    def use_of_records(self) -> str:
        """What was done with the original records."""
        return f"masked, {self.records_holdout:,} held out"


class TablesView(FrozenModel):
    """What a dossier says of protected tables."""

    kind: Literal["tables"] = "tables"
    measure: str = Field(description="what is counted or summed, in words")
    unit: str | None = None
    tables: tuple[TableSummary, ...] = ()
    labels: dict[str, dict[str, str]] = Field(
        default_factory=dict, description="dimension -> code -> what it means, where the contract says so"
    )

    def label(self, dimension: str, code: str) -> str:
        """The code with what it means; the code alone where nobody says."""
        meaning = self.labels.get(dimension, {}).get(code)
        return f"{code} {meaning}" if meaning else code

    @property
    def use_of_records(self) -> str:
        """What was done with the original records."""
        return "added up"

    @property
    def records_released(self) -> int:
        """Tables hold none."""
        return 0

    @property
    def parameters(self) -> tuple[dict[str, Any], ...]:
        """Nobody has to correct for them."""
        return ()


class Returned(FrozenModel):
    """The release that people sent back and that comes again as another."""

    release: str
    round: int = Field(description="of this release; the first that was sent back was round 1")
    asked: tuple[str, ...] = Field(description="who asked for changes, and for which")
    changes: tuple[str, ...] = Field(description="what differs now")


class InSeries(FrozenModel):
    """The approval of a series under which this edition may go out, and in what it leaves its limits."""

    approved: str = Field(description="the release that people approved, with those that follow it")
    last: str = Field(description="the latest release of the series")
    departures: tuple[str, ...] = Field(description="why it needs decisions of its own; none: it needs none")


class Asked(FrozenModel):
    """Whose approvals a policy asks for."""

    count: int = Field(description="people; the submitter is none of them")
    roles: tuple[str, ...] = ()
    valid_days: int = Field(description="days that an approval holds")


ASSESSMENT = "assessment-"
"""How the id of what is judged outside any release begins."""


class Dossier(FrozenModel):
    """What is known of every release, and the view of what it publishes: records or tables."""

    release: str = Field(description="id of the release")
    name: str = Field(description="name of the release definition")
    title: str
    dataset: str
    contract_version: str
    policy: str
    policy_version: str
    submitter: str
    evaluated_at: str = Field(description="ISO 8601, UTC")
    verdict: Verdict
    findings: tuple[Finding, ...]
    plan: tuple[str, ...] = Field(description="one sentence for each step of masking or protection, in order")
    notices: tuple[str, ...] = Field(
        default=(),
        description="what is to be known before anything else: which documents do not count, who is believed",
    )
    unadopted: tuple[str, ...] = Field(
        default=(), description="why nothing can be released by these documents, such as that no office was founded"
    )
    same_bytes: tuple[str, ...] = Field(
        default=(), description="other releases that are or were public with a file of the very same bytes"
    )
    judged_bytes: tuple[str, ...] = Field(
        default=(),
        exclude_if=lambda releases: not releases,
        description="other releases that were judged with a file of the very same bytes, and are not public",
    )
    asked: Asked | None = Field(default=None, description="None: nobody is asked, as of an assessment")
    returned: Returned | None = Field(default=None, description="what came back as this release")
    series: InSeries | None = Field(default=None, description="the approved series in which this is the next edition")
    decides: tuple[str, ...] = Field(
        default=(),
        exclude_if=lambda roles: not roles,
        description="roles of which any may decide on findings that need a decision",
    )
    approvals_needed: str = Field(description="in words: how many, which roles, how long an approval holds")
    reading: tuple[Remark, ...] = Field(
        default=(), exclude_if=lambda met: not met, description="what of the data was not read as it stands"
    )
    records_original: int
    earlier_attempts: int = Field(description="other releases of nearly the same data that were evaluated before")
    suggestions: tuple[str, ...] = Field(
        default=(), description="changes of a plan that did not pass, each of which passed when it was tried"
    )
    search_trials: int = Field(
        default=0, description="plans that searches tried on nearly the same data; the plan that won was judged anew"
    )
    minimum_cell: int = Field(ge=1, description="counts below this are not given")
    hashes: dict[str, str] = Field(
        description="SHA-256 of data, csv, contract and policy, and that of the plan, salted"
    )
    salt: str = Field(
        default="",
        description="known inside the house alone. The hashes of the dossier, of its report and of the plan are "
        "published: nobody outside may try out by them what they say",
    )
    versions: dict[str, str] = Field(description="Sluice and the libraries that computed the figures")
    view: Annotated[RecordsView | TablesView, Field(discriminator="kind")]

    @property
    def is_assessment(self) -> bool:
        """Whether it is of a file outside any release, which has no definition."""
        return self.release.startswith(ASSESSMENT)
