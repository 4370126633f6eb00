"""Findings of a judgement as tables and plots of a notebook."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import pandas as pd

from sluice.errors import DataError
from sluice.risk.reference.curve import Curve
from sluice.verdict import Finding
from tasks.workbench.notebook.result import COLOURS, axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LABELS = {
    "distance": "distance to the nearest record",
    "ambiguity": "distance to the nearest, by that to the next ones",
    "uncertainty": "spread of the nearest records",
}


def findings_table(findings: Sequence[Finding]) -> pd.DataFrame:
    """A row for each finding, the gravest that decide first: rule, verdict, says, scope, stage, observed, limit, ..."""
    rows = [finding.model_dump() | {"verdict": finding.verdict.name} for finding in by_weight(findings)]
    return pd.DataFrame(rows, columns=list(Finding.model_fields))


def by_weight(findings: Sequence[Finding]) -> list[Finding]:
    """Those that decide first, the gravest before the others."""
    return sorted(findings, key=lambda finding: (not finding.binding, -finding.verdict))


def curves_table(curves: Sequence[Curve]) -> pd.DataFrame:
    """Columns measure, value, masked, reference: the shares of the original records at or below the value."""
    return pd.concat(
        [
            pd.DataFrame({"measure": c.measure, "value": c.grid, "masked": c.masked, "reference": c.reference})
            for c in curves
        ]
        or [pd.DataFrame(columns=["measure", "value", "masked", "reference"])],
        ignore_index=True,
    )


def plot_curve(curves: Sequence[Curve], measure: str, ax: "Axes | None") -> "Axes":
    """The two cumulative curves of a measure, and the margin above the reference."""
    known = {curve.measure: curve for curve in curves}
    if measure not in known:
        raise DataError(
            f"measure must be one of {', '.join(known) or 'none, as nothing was measured'}; got {measure!r}."
        )
    ax, curve = axes(ax), known[measure]
    masked, reference = ([100 * share for share in shares] for shares in (curve.masked, curve.reference))
    tolerated = [min(share + 100 * curve.margin, 100) for share in reference]
    ax.fill_between(curve.grid, reference, tolerated, color=COLOURS["band"], linewidth=0, label="tolerated")
    ax.plot(curve.grid, reference, color=COLOURS["reference"], linestyle="--", label="file that the person is not in")
    ax.plot(curve.grid, masked, color=COLOURS["masked"], label="masked file")
    ax.set_xlabel(f"prediction {measure}: {_LABELS[measure]}")
    ax.set_ylabel("% of the original records, at most")
    ax.set_ylim(0, 102)
    ax.legend(loc="lower right")
    return ax
