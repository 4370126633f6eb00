"""Small counts: what the report must not give of groups with fewer records than the policy's minimum cell."""

import math
from collections.abc import Sequence

from sluice.ground.errors import SluiceError
from sluice.utility.variable_summary import VariableSummary


def refuse_small_counts(summary: VariableSummary, minimum_cell: int) -> None:
    """Raise SluiceError when a count lies below `minimum_cell`, or the counts do not fit the bins.

    The summary should have left such counts out; a zero is below the minimum too.
    """
    for field in ("counts_before", "counts_after"):
        counts: tuple[int | None, ...] = getattr(summary, field)
        small = sum(count is not None and count < minimum_cell for count in counts)
        if small:
            raise SluiceError(
                f"{field} of '{summary.name}' must be None where a count is below the minimum cell of {minimum_cell}; "
                f"got {small} such counts. Was the summary made with another minimum?"
            )
        if len(counts) not in (0, len(summary.bins)):
            raise SluiceError(
                f"{field} of '{summary.name}' must hold one count for each of {len(summary.bins)} bins; "
                f"got {len(counts)}. Were bins and counts made together?"
            )


def safe_counts(counts: Sequence[int | None], total: int, minimum_cell: int) -> tuple[int | None, ...]:
    """The counts, with the smallest also left out where subtraction from `total` would give a hidden one away.

    What is hidden must hold at least `minimum_cell` records together and be more than one count, or hold none.
    Bounds that follow from several tables together are not looked for.
    """
    kept = list(counts)
    while None in kept and any(count is not None for count in kept):
        rest = total - sum(count for count in kept if count is not None)
        if rest <= 0 or (rest >= minimum_cell and kept.count(None) > 1):
            break
        kept[kept.index(min(count for count in kept if count is not None))] = None
    return tuple(kept)


def share(value: float | None, records: int, minimum_cell: int) -> str:
    """A share in per cent; where it stands for fewer than `minimum_cell` records (or all but so few), only a bound."""
    if value is None:
        return "–"
    count = value * records
    bound = min(100.0, math.ceil(1000 * minimum_cell / records) / 10) if records else 100.0
    if 1e-9 < count < minimum_cell - 1e-9:
        return f"under {bound:g} %"
    if 1e-9 < records - count < minimum_cell - 1e-9:
        return f"over {100 - bound:g} %"
    return f"{100 * value:.1f} %"
