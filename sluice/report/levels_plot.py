"""The ladder of a search of levels: a row for each variable, a box for each of its levels, the chosen one filled.

Inline SVG whose colours are the page's own CSS variables; the same figures give the same bytes.
"""

from collections.abc import Sequence

from markupsafe import Markup

from sluice.generalization.levels_found import KeyLevel
from sluice.report.records_plots import LETTER, drawing, hatch, shortened, text

_BOX = 20  # pixels
_PITCH = 27
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
        y = 18 + row * _PITCH
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
    return drawing(18 + len(keys) * _PITCH + 6, description, drawn)
