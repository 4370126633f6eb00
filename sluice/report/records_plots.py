"""The report's plots: inline SVG, drawn by matplotlib, whose colours are the page's own CSS variables.

One unit of a drawing is one CSS pixel at its natural size; the page fits it to its column. Text stays text, so that
it is small and takes the page's typeface. The same input gives the same bytes.
"""

import io
import math
import re
import warnings
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import matplotlib as mpl
import matplotlib.style
import numpy as np
import numpy.typing as npt
from markupsafe import Markup, escape
from matplotlib.axes import Axes
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, StrMethodFormatter

from sluice.reading.visible_text import visible
from sluice.risk.reference.curve import Curve

FloatArray = npt.NDArray[np.float64]

# matplotlib is given stand-in colours, the page gets CSS variables: light, dark and print need one drawing only.
_INK, _MASKED, _REFERENCE, _BAND, _RULE = (f"#0{i}0{i}0{i}" for i in range(1, 6))
_VARIABLES = {_INK: "ink", _MASKED: "masked", _REFERENCE: "reference", _BAND: "band", _RULE: "rule"}

_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "sluice",
    "text.parse_math": False,  # a category such as '$10 to $20' is no formula
    "font.family": "sans-serif",
    "font.size": 11,
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _RULE,
    "axes.linewidth": 1,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.unicode_minus": True,
    "xtick.color": _RULE,
    "ytick.color": _RULE,
    "xtick.labelcolor": _INK,
    "ytick.labelcolor": _INK,
    "grid.color": _RULE,
    "grid.linewidth": 0.6,
    "hatch.linewidth": 1,
    "path.simplify": True,
}
_WIDTH = 340  # the column that is left on a narrow phone
_LONGEST_LABEL = 22  # characters
MOST_BARS = 24


def curve_svg(curve: Curve, axis: str, description: str, name: str) -> Markup:
    """The two cumulative curves of one measure, with the margin as a band above the reference and D+ marked.

    axis : label of the horizontal axis; description : what it shows, for a reader who cannot see it;
    name : unique on the page. The grid holds at least one value.
    """
    with _styled():
        figure, axes = _figure(height=260, left=34, right=10, top=26, bottom=40)
        # Every measure is at least 0, so both curves start from share 0 at value 0.
        end = max(curve.grid) or 1.0
        grid = np.array([0.0, *curve.grid, end])
        masked, reference = (np.array([0.0, *shares, shares[-1]]) for shares in (curve.masked, curve.reference))
        upper = np.minimum(reference + curve.margin, 1.0)
        axes.fill_between(grid, reference, upper, color=_BAND, linewidth=0)
        axes.plot(grid, reference, color=_REFERENCE, linewidth=1.6, linestyle=(0, (5, 2.5)))
        axes.plot(grid, masked, color=_MASKED, linewidth=2, clip_on=False)
        axes.set_xlim(0, end)
        axes.set_ylim(0, 1.02)
        axes.set_yticks([0, 0.25, 0.5, 0.75, 1], ["0", "25", "50", "75", "100"])
        axes.xaxis.set_major_locator(MaxNLocator(5))
        axes.grid(axis="y")
        axes.set_axisbelow(True)
        axes.set_xlabel(axis)
        axes.text(0, 1.06, "% of original records", transform=axes.transAxes, ha="left", va="bottom")
        if math.isfinite(curve.statistic):
            _mark_excess(axes, curve, grid, masked, reference)
        return _inline(figure, description, name)


def _mark_excess(axes: Axes, curve: Curve, grid: FloatArray, masked: FloatArray, reference: FloatArray) -> None:
    """D+ as a vertical stroke between the curves, its figure where no rising curve can run through it."""
    at, end = float(curve.at), axes.get_xlim()[1]
    low, high = (float(np.interp(at, grid, shares)) for shares in (reference, masked))
    label = f"D+ {curve.statistic:.3f}"
    if high <= low:
        axes.text(0.97, 0.06, label, transform=axes.transAxes, ha="right", va="bottom")
        return
    axes.plot([at, at], [low, high], color=_INK, linewidth=2.2, solid_capstyle="butt", clip_on=False)
    if low >= 0.1 and at <= 0.78 * end:  # right of and below the stroke both curves are higher already
        axes.annotate(label, (at, low), (6, 1), ha="left", va="top", textcoords="offset points")
    elif high <= 0.93 and at >= 0.22 * end:  # left of and above it they are lower still
        axes.annotate(label, (at, high), (-6, -1), ha="right", va="bottom", textcoords="offset points")
    else:
        line = {"arrowstyle": "-", "color": _INK, "linewidth": 0.7, "shrinkA": 2, "shrinkB": 0}
        spot = (0.97, 0.06) if at <= end / 2 else (0.55, 0.5)
        axes.annotate(
            label, (at, (low + high) / 2), spot, textcoords="axes fraction", ha="right", va="bottom", arrowprops=line
        )


def distribution_svg(rows: Sequence[tuple[str, int | None, int | None]], description: str, name: str) -> Markup:
    """Bars of counts before (upper, light) and after masking (lower, dark), a pair for each bin.

    rows : bin, count before, count after; 1 to MOST_BARS of them. A count of None is a hatched mark of fixed length.
    """
    with _styled():
        bins, before, after = zip(*rows, strict=True)
        labels = [_shortened(label) for label in bins]
        left = 10 + min(int(6.0 * max(len(label) for label in labels)), 132)
        pitch, bottom, top = 23, 34, 4
        figure, axes = _figure(height=pitch * len(bins) + bottom + top, left=left, right=14, top=top, bottom=bottom)
        largest = max((count for count in (*before, *after) if count is not None), default=0)
        places = np.arange(len(bins))
        for counts, offset, colour in ((before, -0.2, _REFERENCE), (after, 0.2, _MASKED)):
            drawn = [(row + offset, count) for row, count in zip(places, counts, strict=True) if count is not None]
            hidden = [row + offset for row, count in zip(places, counts, strict=True) if count is None]
            axes.barh([y for y, _ in drawn], [float(count) for _, count in drawn], 0.36, color=colour)
            axes.barh(
                hidden, 0.045 * (largest or 1), 0.36, facecolor="none", edgecolor=colour, hatch="//////", linewidth=0.8
            )
        axes.set_xlim(0, 1.04 * (largest or 1))
        axes.set_ylim(len(bins) - 0.5, -0.5)
        axes.set_yticks(places, labels)
        axes.tick_params(axis="y", length=0)
        axes.xaxis.set_major_locator(MaxNLocator(3, integer=True))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        if not largest:  # every count is hidden: no scale
            axes.set_xticks([])
        axes.grid(axis="x")
        axes.set_axisbelow(True)
        axes.set_xlabel("records")
        return _inline(figure, description, name)


def _shortened(label: str) -> str:
    label = visible(" ".join(label.split()))
    return label if len(label) <= _LONGEST_LABEL else label[: _LONGEST_LABEL - 1].rstrip(" ,;") + "…"


def _styled() -> AbstractContextManager[None]:
    """matplotlib's own defaults and the report's, whatever the user has configured."""
    return mpl.style.context(["default", _STYLE])


def _figure(height: float, left: float, right: float, top: float, bottom: float) -> tuple[Figure, Axes]:
    """A figure of the report's width and one pair of axes; all lengths in CSS pixels."""
    figure = Figure(figsize=(_WIDTH / 72, height / 72), dpi=72)
    FigureCanvasSVG(figure)
    figure.patch.set_visible(False)
    axes = figure.add_axes(
        (left / _WIDTH, bottom / height, (_WIDTH - left - right) / _WIDTH, (height - top - bottom) / height)
    )
    axes.patch.set_visible(False)
    return figure, axes


def _inline(figure: Figure, description: str, name: str) -> Markup:
    """The figure as an <svg> element that may stand beside others in one page."""
    buffer = io.StringIO()
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # a letter that matplotlib's fonts lack; the page's typeface has it
        figure.savefig(buffer, format="svg", metadata={"Date": None})
    drawing = buffer.getvalue()
    drawing = drawing[drawing.index("<svg") :]
    drawing = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", "", drawing, flags=re.DOTALL)
    used = set(re.findall(r'(?:url\(|href=")#([^")]+)', drawing))
    width, height = figure.get_size_inches() * 72

    def mended(tag: re.Match[str]) -> str:
        text = re.sub(r' id="([^"]+)"', lambda m: f' id="{name}-{m[1]}"' if m[1] in used else "", tag[0])
        text = re.sub(r'(url\(|href=")#', rf"\g<1>#{name}-", text).replace("xlink:href", "href")
        for stand_in, variable in _VARIABLES.items():
            text = text.replace(stand_in, f"var(--{variable})")
        text = re.sub(r"font-family: [^;\"]*;? ?", "", text)  # the page's own typeface
        return re.sub(r"(\.\d\d)\d+", r"\1", text)  # a hundredth of a pixel will do

    body = re.sub(r"<[^>]+>", mended, drawing[drawing.index(">") + 1 :])
    body = re.sub(r"\s*\n\s*", "\n", body.replace("<g/>", ""))
    opening = f'<svg class="plot" role="img" aria-label="{escape(description)}" viewBox="0 0 {width:g} {height:g}">'
    return Markup(opening + body)  # matplotlib has escaped the labels
