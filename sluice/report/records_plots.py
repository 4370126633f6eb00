"""The report's plots: inline SVG whose colours are the page's own CSS variables.

One unit of a drawing is one CSS pixel at its natural size; the page fits it to its column. Text stays text, so that
it is small and takes the page's typeface. The same input gives the same bytes.

The ladder of a search of levels: a row for each variable, a box for each of its levels, the chosen one filled.

Inline SVG whose colours are the page's own CSS variables; the same figures give the same bytes.
"""

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from markupsafe import Markup, escape

from sluice.generalization.levels_found import KeyLevel
from sluice.ground.visible_text import visible
from sluice.risk.reference.reference_attack import Curve

FloatArray = npt.NDArray[np.float64]

MOST_BARS = 24

_WIDTH = 340  # the column that is left on a narrow phone
_LONGEST_LABEL = 22  # characters
LETTER = 6  # pixels that one takes in a label
_LINE_HEIGHT = 15
_PITCH = 23  # from one pair of bars to the next
_BAR = 8.3
_GRID = 'fill="none" stroke="var(--rule)" stroke-width="0.6"'
_AXIS = 'fill="none" stroke="var(--rule)"'
_MASKED = 'fill="none" stroke="var(--masked)" stroke-width="2"'
_REFERENCE = 'fill="none" stroke="var(--reference)" stroke-width="1.6" stroke-dasharray="8 4"'
_EXCESS = 'fill="none" stroke="var(--ink)" stroke-width="2.2"'
_POINTER = 'fill="none" stroke="var(--ink)" stroke-width="0.7"'


@dataclass(frozen=True)
class _Panel:
    """Where values lie in a drawing: rightwards from 0 to `end`, upwards from 0 to `top_value`."""

    end: float
    top_value: float
    height: float
    left: float
    right: float
    top: float
    bottom: float

    @property
    def base(self) -> float:
        return self.height - self.bottom

    def x(self, value: float) -> float:
        return self.left + (_WIDTH - self.left - self.right) * value / self.end

    def y(self, value: float) -> float:
        return self.base - (self.base - self.top) * value / self.top_value

    def line(self, xs: Iterable[float], ys: Iterable[float]) -> str:
        """The path through points given by their values."""
        points = [f"{self.x(x):.1f} {self.y(y):.1f}" for x, y in zip(xs, ys, strict=True)]
        return f"M{'L'.join(points)}"

    def frame(self, ticks: Sequence[float], label: str, figures: str) -> list[str]:
        """The two axes, and below the horizontal one its figures and its label."""
        centre = (self.left + _WIDTH - self.right) / 2
        return [
            _path(f"M{self.left} {self.top}V{self.base}H{_WIDTH - self.right}", _AXIS),
            *(text(self.x(tick), self.base + _LINE_HEIGHT, format(tick, figures), "middle") for tick in ticks),
            text(centre, self.base + 2 * _LINE_HEIGHT, label, "middle"),
        ]


def curve_svg(curve: Curve, axis: str, description: str) -> Markup:
    """The two cumulative curves of one measure, with the margin as a band above the reference and D+ marked.

    axis : label of the horizontal axis; description : what it shows, for a reader who cannot see it. The grid holds at
    least one value.
    """
    # Every measure is at least 0, so both curves start from share 0 at value 0.
    end = max(curve.grid) or 1.0
    panel = _Panel(end, 1.02, height=260, left=34, right=10, top=26, bottom=40)
    grid = np.array([0.0, *curve.grid, end])
    masked, reference = (np.array([0.0, *shares, shares[-1]]) for shares in (curve.masked, curve.reference))
    upper = np.minimum(reference + curve.margin, 1.0)
    band = panel.line(np.append(grid, grid[::-1]), np.append(reference, upper[::-1]))
    shares = (0, 0.25, 0.5, 0.75, 1)
    ruled = "".join(f"M{panel.left} {panel.y(share):.1f}H{_WIDTH - panel.right}" for share in shares)
    drawn = [
        _path(band, 'fill="var(--band)"'),
        _path(ruled, _GRID),
        *panel.frame(round_values(end, 5), axis, ".6g"),
        *(text(panel.left - 5, panel.y(share) + 4, f"{share:.0%}".rstrip("%"), "end") for share in shares),
        text(panel.left, panel.top - 14, "% of original records", "start"),
        _path(panel.line(grid, reference), _REFERENCE),
        _path(panel.line(grid, masked), _MASKED),
    ]
    if math.isfinite(curve.statistic):
        drawn += _excess(panel, curve, grid, masked, reference)
    return drawing(panel.height, description, drawn)


def _excess(panel: _Panel, curve: Curve, grid: FloatArray, masked: FloatArray, reference: FloatArray) -> list[str]:
    """D+ as a vertical stroke between the curves, its figure where no rising curve can run through it."""
    low, high = (float(np.interp(curve.at, grid, shares)) for shares in (reference, masked))
    label, at = f"D+ {curve.statistic:.3f}", curve.at
    corner = panel.x(0.97 * panel.end), panel.y(0.06)
    if high <= low:
        return [text(*corner, label, "end")]
    stroke = _path(panel.line([at, at], [low, high]), _EXCESS)
    if low >= 0.1 and at <= 0.78 * panel.end:  # right of and below the stroke both curves are higher already
        return [stroke, text(panel.x(at) + 6, panel.y(low) + 9, label, "start")]
    if high <= 0.93 and at >= 0.22 * panel.end:  # left of and above it they are lower still
        return [stroke, text(panel.x(at) - 6, panel.y(high) - 2, label, "end")]
    middle = f"{panel.x(at):.1f} {panel.y((low + high) / 2):.1f}"
    if at <= panel.end / 2:
        x, y = corner
        pointer = f"M{x - LETTER * len(label) / 2:.1f} {y - 11:.1f}L{middle}"
    else:
        x, y = panel.x(0.55 * panel.end), panel.y(0.5)
        pointer = f"M{x + 3:.1f} {y - 4:.1f}L{middle}"
    return [stroke, _path(pointer, _POINTER), text(x, y, label, "end")]


def distribution_svg(rows: Sequence[tuple[str, int | None, int | None]], description: str, name: str) -> Markup:
    """Bars of counts before (upper, light) and after masking (lower, dark), a pair for each bin.

    rows : bin, count before, count after; 1 to MOST_BARS of them. A count of None is a hatched mark of fixed length;
    name : unique on the page
    """
    labels = [shortened(label) for label, _, _ in rows]
    left = 10 + min(LETTER * max(len(label) for label in labels), 132)
    largest = max((count for _, *counts in rows for count in counts if count is not None), default=0)
    height = _PITCH * len(rows) + 38
    panel = _Panel(1.04 * (largest or 1), len(rows), height, left=left, right=14, top=4, bottom=34)
    ticks = round_values(largest, 3, least=1) if largest else []  # every count is hidden: no scale
    drawn = [_path("".join(f"M{panel.x(tick):.1f} {panel.top}V{panel.base}" for tick in ticks), _GRID)]
    series = (("reference", 0.3, [before for _, before, _ in rows]), ("masked", 0.7, [after for *_, after in rows]))
    for colour, place, counts in series:
        pattern = f"{name}-{colour}"
        if None in counts:
            drawn.append(hatch(pattern, colour))
        for number, count in enumerate(counts):
            y = panel.top + (number + place) * _PITCH - _BAR / 2
            wide = panel.x(0.045 * (largest or 1) if count is None else count) - panel.left
            fill = (
                f'fill="var(--{colour})"' if count is not None else f'fill="url(#{pattern})" stroke="var(--{colour})"'
            )
            drawn.append(f'<rect x="{left}" y="{y:.1f}" width="{wide:.1f}" height="{_BAR}" {fill}/>')
    drawn += panel.frame(ticks, "records", ",.0f")
    drawn += [
        text(left - 5, panel.top + (number + 0.5) * _PITCH + 4, label, "end") for number, label in enumerate(labels)
    ]
    return drawing(height, description, drawn)


def hatch(name: str, colour: str) -> str:
    line = f'<path d="M0 0V4" stroke="var(--{colour})" stroke-width="2"/>'
    return (
        f'<pattern id="{name}" width="4" height="4" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">'
        f"{line}</pattern>"
    )


def round_values(end: float, most: int, least: float = 0.0) -> list[float]:
    """Values from 0 to `end`, at most so many steps of 1, 2 or 5 times a power of ten, which are not below `least`."""
    wanted = max(end / most, least, sys.float_info.min)
    power = 10.0 ** math.floor(math.log10(wanted))
    step = next(each * power for each in (1, 2, 5, 10) if each * power >= wanted * (1 - 1e-9))
    return [number * step for number in range(int(end / step + 1e-9) + 1)]


def shortened(label: str, longest: int = _LONGEST_LABEL) -> str:
    label = visible(" ".join(label.split()))
    return label if len(label) <= longest else label[: longest - 1].rstrip(" ,;") + "…"


def _path(data: str, style: str) -> str:
    return f'<path d="{data}" {style}/>'


def text(x: float, y: float, words: str, anchor: str, ink: str = "") -> str:
    colour = f' fill="{ink}"' if ink else ""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}"{colour}>{escape(words)}</text>'


def drawing(height: float, description: str, drawn: Iterable[str]) -> Markup:
    return Markup(
        f'<svg class="plot" role="img" aria-label="{escape(visible(description))}" viewBox="0 0 {_WIDTH} {height:g}" '
        f'font-size="11" fill="var(--ink)">{"".join(drawn)}</svg>'
    )


_BOX = 20  # pixels
_LEVEL_PITCH = 27
_GAP = 4


def ladder_svg(keys: Sequence[KeyLevel], description: str, name: str) -> Markup:
    """Boxes from the finest level to the coarsest, with the number of groups in each.

    description : what it shows, for a reader who cannot see it; name : unique on the page
    """
    labels = [shortened(key.name) for key in keys]
    left = 10 + min(LETTER * max(len(label) for label in labels), 132)
    wide = min(46.0, (330 - left) / max(len(key.groups) for key in keys) - _GAP)
    drawn = [hatch(name, "reference"), text(left, 10, "finest level …", "start")]
    for row, (key, label) in enumerate(zip(keys, labels, strict=True)):
        y = 18 + row * _LEVEL_PITCH
        drawn.append(text(left - 5, y + _BOX / 2 + 4, label, "end"))
        for at, groups in enumerate(key.groups):
            level, x = key.lowest + at, left + at * (wide + _GAP)
            fill, ink = 'fill="none" stroke="var(--rule)"', "var(--ink)"
            if level == key.level:
                fill, ink = 'fill="var(--masked)"', "var(--paper)"
            elif key.finer is not None and level == key.level - 1:
                fill = f'fill="url(#{name})" fill-opacity="0.35" stroke="var(--reference)"'  # the number stays legible
            drawn.append(f'<rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="{_BOX}" {fill}/>')
            drawn.append(text(x + wide / 2, y + _BOX / 2 + 4, f"{groups:,}", "middle", ink))
    return drawing(18 + len(keys) * _LEVEL_PITCH + 6, description, drawn)
