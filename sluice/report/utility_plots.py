"""The drawings of the report's utility part: heat maps, grids, bars, curves and intervals as inline SVG.

In the page's own colours, as `sluice.report.records_plots`: a hidden figure is hatched, never blank, and every figure
stands in a table beside its drawing as well.
"""

from collections.abc import Sequence
from math import sqrt

from markupsafe import Markup

from sluice.ground.sentence import percent
from sluice.report.records_plots import LETTER, drawing, hatch, shortened, text
from sluice.report.wording import figure

WIDTH = 340
_ROW = 31  # from one bar to the next
MOST_CELLS = 24  # variables of a heat map: more could not be read on a phone

Matrix = Sequence[Sequence[float | None]]


def heat_map_svg(
    names: Sequence[str], matrix: Matrix, description: str, name: str, full: float = 1.0, signed: bool = False
) -> Markup:
    """A square matrix below its diagonal: the darker, the larger; of signed values two colours.

    names  : of at most MOST_CELLS rows; columns are numbered, and rows carry number and name
    matrix : the entry of row i and column j < i is read; None is hatched, what is `full` or more is darkest
    name   : unique on the page
    """
    labels = [f"{shortened(each)} {number}" for number, each in enumerate(names, start=1)]
    left = 8 + min(LETTER * max(len(label) for label in labels), 128)
    size = min(24.0, (WIDTH - left - 4) / max(1, len(names)))
    drawn = [hatch(name, "reference")]
    for row, label in enumerate(labels):
        y = 4 + row * size
        drawn.append(text(left - 5, y + size / 2 + 4, label, "end"))
        for column in range(row):
            drawn.append(_cell(left + column * size, y, size, matrix[row][column], name, full, signed))
        drawn.append(text(left + (row + 0.5) * size, y + size / 2 + 4, str(row + 1), "middle", "var(--soft)"))
    return drawing(len(names) * size + 10, description, drawn)


def _cell(x: float, y: float, size: float, value: float | None, name: str, full: float, signed: bool) -> str:
    at = f'x="{x + 0.5:.1f}" y="{y + 0.5:.1f}" width="{size - 1:.1f}" height="{size - 1:.1f}"'
    if value is None:
        return f'<rect {at} fill="url(#{name})" stroke="var(--rule)" stroke-width="0.5"/>'
    colour = "var(--less)" if signed and value < 0 else "var(--more)"
    strength = min(1.0, abs(value) / full) if full > 0 else 0.0
    return f'<rect {at} fill="{colour}" fill-opacity="{strength:.2f}" stroke="var(--rule)" stroke-width="0.5"/>'


def grid_svg(cells: Matrix, full: float, description: str, name: str) -> Markup:
    """Shares of the records on a square grid, the topmost row first; area of a square proportional to its share.

    full : the share that fills a cell; name : unique on the page. A cell of None is a point
    """
    size = (WIDTH - 20) / max(1, len(cells))
    drawn = [f'<rect x="10" y="4" width="{WIDTH - 20}" height="{WIDTH - 20}" fill="none" stroke="var(--rule)"/>']
    for row, shares in enumerate(cells):
        for column, share in enumerate(shares):
            x, y = 10 + (column + 0.5) * size, 4 + (row + 0.5) * size
            if share is None:
                continue
            half = size / 2 * sqrt(min(1.0, share / full)) if full > 0 else 0.0
            drawn.append(
                f'<rect x="{x - half:.1f}" y="{y - half:.1f}" width="{2 * half:.1f}" height="{2 * half:.1f}" '
                f'fill="var(--{name})"/>'
            )
    return drawing(WIDTH - 8, description, drawn)


def bars_svg(rows: Sequence[tuple[str, float]], description: str) -> Markup:
    """One bar for each share, below its label and with the figure at its end."""
    largest = max(value for _, value in rows) or 1.0
    drawn = []
    for number, (label, value) in enumerate(rows):
        y = 4 + number * _ROW
        wide = (WIDTH - 62) * value / largest
        drawn.append(text(4, y + 10, shortened(label, WIDTH // LETTER), "start"))
        drawn.append(f'<rect x="4" y="{y + 15}" width="{max(wide, 0.5):.1f}" height="9" fill="var(--masked)"/>')
        drawn.append(text(9 + wide, y + 23, percent(value), "start"))
    return drawing(len(rows) * _ROW + 8, description, drawn)


def intervals_svg(
    rows: Sequence[tuple[str, tuple[float, float, float] | None, tuple[float, float, float] | None]],
    description: str,
) -> Markup:
    """Estimates with their intervals, the original's above the masked file's, and a line at 0.

    rows : label, (low, estimate, high) of the original, the same of the masked file; None where there is none
    """
    labels = [shortened(label) for label, *_ in rows]
    left = 8 + min(LETTER * max(len(label) for label in labels), 132)
    ends = [end for _, *both in rows for one in both if one is not None for end in (one[0], one[2])] or [0.0]
    low, high = min(0.0, *ends), max(0.0, *ends)
    span = (high - low) or 1.0

    def x(value: float) -> float:
        return left + 6 + (WIDTH - left - 16) * (value - low) / span

    height = 26 * len(rows) + 26
    drawn = [f'<path d="M{x(0):.1f} 2V{height - 22}" fill="none" stroke="var(--rule)"/>']
    for number, (label, (_, *both)) in enumerate(zip(labels, rows, strict=True)):
        middle = 4 + number * 26 + 11
        drawn.append(text(left - 5, middle + 4, label, "end"))
        for one, colour, offset in zip(both, ("reference", "masked"), (-4.5, 4.5), strict=True):
            if one is None:
                continue
            start, estimate, end = one
            y = middle + offset
            drawn.append(
                f'<path d="M{x(start):.1f} {y:.1f}H{x(end):.1f}" fill="none" stroke="var(--{colour})" '
                'stroke-width="2.2"/>'
            )
            drawn.append(f'<circle cx="{x(estimate):.1f}" cy="{y:.1f}" r="3.2" fill="var(--{colour})"/>')
    for value in dict.fromkeys((low, 0.0, high)):
        drawn.append(text(x(value), height - 6, figure(float(f"{value:.3g}")), "middle"))
    return drawing(height, description, drawn)


def score_curves_svg(rows: Sequence[tuple[float, float, float]], axis: str, description: str) -> Markup:
    """Cumulative curves of a score from 0 to 1: the original's dashed, the masked file's solid.

    rows : mean score of a group, in rising order, and the shares of the original and of the masked records in it
    """
    height, base, left, right = 200.0, 158.0, 34.0, WIDTH - 8.0

    def path(column: int) -> str:
        at, points = 0.0, [(0.0, 0.0)]
        for row in rows:
            at += row[column]
            points.append((row[0], at))
        points.append((1.0, at))
        return "L".join(f"{left + (right - left) * x:.1f} {base - (base - 12) * min(y, 1.0):.1f}" for x, y in points)

    drawn = [f'<path d="M{left} 12V{base}H{right}" fill="none" stroke="var(--rule)"/>']
    drawn.append(
        f'<path d="M{path(1)}" fill="none" stroke="var(--reference)" stroke-width="1.8" stroke-dasharray="7 4"/>'
    )
    drawn.append(f'<path d="M{path(2)}" fill="none" stroke="var(--masked)" stroke-width="2.2"/>')
    for share in (0, 0.5, 1):
        drawn.append(text(left - 5, base - (base - 12) * share + 4, f"{100 * share:.0f} %", "end"))
        drawn.append(text(left + (right - left) * share, base + 16, f"{share:g}", "middle" if share < 1 else "end"))
    drawn.append(text((left + right) / 2, base + 34, axis, "middle"))
    return drawing(height, description, drawn)
