"""What masking did to one variable, as counts and moments that may be shown to a reader of the report."""

from pydantic import BaseModel, ConfigDict

from sluice.variables import Kind, Role


class VariableSummary(BaseModel):
    """Before and after of one variable. A count below the report's minimum cell count is None, never the number."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    description: str
    unit: str | None
    role: Role
    kind_before: Kind
    kind_after: Kind | None  # None: not released
    mean_before: float | None = None  # numeric kinds only
    mean_after: float | None = None
    deviation_before: float | None = None  # standard deviation, n - 1
    deviation_after: float | None = None
    missing_before: float  # share of records
    missing_after: float | None = None
    changed: float | None = None  # share of cells whose value differs from the recoded original, suppressed ones apart
    suppressed: float | None = None  # share of cells missing now and not before
    bins: tuple[str, ...] = ()  # categories, or intervals such as '20 to 30'
    counts_before: tuple[int | None, ...] = ()
    counts_after: tuple[int | None, ...] = ()
