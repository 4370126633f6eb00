"""The first screen as HTML, for report and desk: its text, a dot plot of intruders, bars of what is left."""

import re
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from urllib.parse import quote

from jinja2 import Environment
from markupsafe import Markup

from sluice.ground.page_templates import page_templates
from sluice.report.dossier import TablesView
from sluice.report.first_screen import FirstScreen
from sluice.report.intruder_dots import Intruder
from sluice.report.records_plots import drawing, text
from sluice.report.tables_page import grid_key, whole_grid
from sluice.report.wording import VERDICT_WORDS
from sluice.report.worth import Bar

_LEFT, _AT_LIMIT, _END = 118.0, 262.0, 334.0  # where a share of 0, one of 1 and the largest that is drawn lie
_ROW = 22
_TALLER = 30  # with words above a bar


def first_screen_html(
    screen: FirstScreen,
    tables: TablesView | None = None,
    acts: Sequence[tuple[str, str]] = (),
    address: str = "{}.html",
) -> Markup:
    """The section `verdict` of a page.

    tables : whose first table's grid is drawn; acts: address and words of what replaces the commands
    address: of the page of an earlier release by its id; reports lie beside each other
    """
    marks = {word.style: word.mark for word in VERDICT_WORDS.values()}
    grid = whole_grid(tables) if tables is not None and any(tile.grid for tile in screen.tiles) else None
    key = grid_key(tables) if tables is not None and grid else ()
    page = _environment().get_template("first_screen.html.j2")
    shown = {"screen": screen, "mark": marks[screen.style], "grid": grid, "key": key, "acts": acts}
    return Markup(
        page.render(**shown, questions=[_linked(each, screen.leads_to, address) for each in screen.questions])
    )


def _linked(question: str, leads_to: Sequence[str], address: str) -> Markup:
    """A question, the ids in it as links to what was judged then."""
    parts = re.split(f"({'|'.join(map(re.escape, leads_to))})(?![\\w-])", question) if leads_to else [question]
    link = Markup('<a href="{}">{}</a>')
    return Markup("").join(
        link.format(address.format(quote(part)), part) if part in leads_to else part for part in parts
    )


@cache
def first_screen_style() -> str:
    return files(__package__).joinpath("first_screen.css").read_text(encoding="utf-8")


@cache
def _environment() -> Environment:
    made = page_templates("sluice.report")
    made.filters.update(dots=dots_svg, kept_bars=bars_svg, whole=whole)
    return made


def whole(sentence: str) -> str:
    """With a figure and its per cent sign on one line."""
    return sentence.replace(" %", "\u00a0%")


def dots_svg(rows: Sequence[Intruder]) -> Markup:
    """A row an intruder, its figure a dot on the way to its limit, its 95 % interval a line where one is known."""

    def x(share: float) -> float:
        return min(_LEFT + (_AT_LIMIT - _LEFT) * share, _END)

    base = 18 + _ROW * len(rows)
    drawn = [
        f'<path class="limit" d="M{_AT_LIMIT} 16V{base}"/>',
        text(_AT_LIMIT, 11, "limit", "middle"),
        text(_LEFT, 11, "0", "middle"),
        f'<path d="M{_LEFT} 16V{base}" fill="none" stroke="var(--rule)"/>',
    ]
    for number, row in enumerate(rows):
        y = 18 + _ROW * (number + 0.5)
        drawn.append(text(_LEFT - 8, y + 4, row.name, "end"))
        share = float("inf") if row.share is None else row.share
        if row.low is not None and row.high is not None:
            line = f"M{x(row.low):.1f} {y}H{x(row.high):.1f}"
            drawn.append(f'<path class="{row.verdict}" d="{line}" stroke-width="2" fill="none"/>')
        if x(share) < _END:
            drawn.append(f'<circle class="{row.verdict}" cx="{x(share):.1f}" cy="{y}" r="4"/>')
        else:  # beyond what is drawn: an arrow
            drawn.append(f'<path class="{row.verdict}" d="M{_END - 8} {y - 5}L{_END} {y}L{_END - 8} {y + 5}z"/>')
            drawn.append(text(_END - 13, y + 4, "∞" if row.share is None else f"{row.share:.0f} ×", "end"))
    named = "; ".join(f"{row.name} {row.of_limit}" for row in rows)
    return drawing(base + 4, f"Intruders against their limits: {named}.", drawn)


def bars_svg(rows: Sequence[Bar]) -> Markup:
    """A bar each, full where nothing was lost."""
    full, drawn = 332.0, []
    for number, row in enumerate(rows):
        y = number * _TALLER
        drawn += [
            text(2, y + 11, row.says, "start"),
            text(2 + full, y + 11, row.figure, "end"),
            f'<rect x="2" y="{y + 15}" width="{full}" height="9" fill="var(--band)"/>',
            f'<rect x="2" y="{y + 15}" width="{full * min(row.share, 1.0):.1f}" height="9" fill="var(--masked)"/>',
        ]
    named = "; ".join(f"{row.says} {row.figure}" for row in rows)
    return drawing(_TALLER * len(rows), f"What is left of the original: {named}.", drawn)
