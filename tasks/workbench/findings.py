"""A result that rests on findings: a judgement, with tables and curves for a notebook."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from sluice.ground.errors import DataError
from sluice.ground.verdict import Finding, Verdict
from sluice.risk.reference.reference_attack import Curve
from tasks.workbench.result import COLOURS, Result, axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LABELS = {
    "distance": "distance to the nearest record",
    "ambiguity": "distance to the nearest, by that to the next ones",
    "uncertainty": "spread of the nearest records",
}


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Judgement(Result):
    """What a policy or a standard says of a masked file.

    findings : every finding, as a release has them
    curves   : of the reference standard: the share of the original records at or below each value of a measure, for the
               masked file and for the reference
    """

    verdict: Verdict
    findings: tuple[Finding, ...]
    curves: tuple[Curve, ...]

    @property
    def gravest(self) -> Finding:
        """The finding that decides."""
        return _by_weight(self.findings)[0]

    @property
    def findings_table(self) -> pd.DataFrame:
        """A row for each finding, those that decide first, the gravest before the others."""
        rows = [finding.model_dump() | {"verdict": finding.verdict.name} for finding in _by_weight(self.findings)]
        return pd.DataFrame(rows, columns=list(Finding.model_fields))

    @property
    def curves_table(self) -> pd.DataFrame:
        """Columns measure, value, masked, reference."""
        names = ["measure", "value", "masked", "reference"]
        frames = [
            pd.DataFrame(dict(zip(names, (c.measure, c.grid, c.masked, c.reference), strict=True))) for c in self.curves
        ]
        return pd.concat(frames or [pd.DataFrame(columns=names)], ignore_index=True)

    @property
    def table(self) -> pd.DataFrame:
        return self.findings_table[["rule", "verdict", "says"]]

    def plot(self, ax: "Axes | None" = None, measure: str = "distance") -> "Axes":
        """The two cumulative curves of a measure (distance, ambiguity or uncertainty), and the margin."""
        known = {curve.measure: curve for curve in self.curves}
        if measure not in known:
            raise DataError(
                f"measure must be one of {', '.join(known) or 'none, as nothing was measured'}; got {measure!r}."
            )
        ax, curve = axes(ax), known[measure]
        masked, reference = ([100 * share for share in shares] for shares in (curve.masked, curve.reference))
        tolerated = [min(share + 100 * curve.margin, 100) for share in reference]
        ax.fill_between(curve.grid, reference, tolerated, color=COLOURS["band"], linewidth=0, label="tolerated")
        ax.plot(
            curve.grid, reference, color=COLOURS["reference"], linestyle="--", label="file that the person is not in"
        )
        ax.plot(curve.grid, masked, color=COLOURS["masked"], label="masked file")
        ax.set_xlabel(f"prediction {measure}: {_LABELS[measure]}")
        ax.set_ylabel("% of the original records, at most")
        ax.set_ylim(0, 102)
        ax.legend(loc="lower right")
        return ax


def _by_weight(findings: Sequence[Finding]) -> list[Finding]:
    return sorted(findings, key=lambda finding: (not finding.binding, -finding.verdict))
