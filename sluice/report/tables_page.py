"""The report on tables: each table's maps of suppression, its cells by what became of them, and its audit.

Maps are inline SVG whose colours are the page's own CSS variables. One unit of a drawing is one CSS pixel. All cells of
one colour are one path of runs, so that a map of 5,000 cells takes some 20 kB. The same map gives the same bytes.
"""

from collections import defaultdict
from collections.abc import Sequence

from markupsafe import Markup, escape

from sluice.report.dossier import TablesView
from sluice.report.pattern_map import EMPTY, SHARE_MARKS, STATUS_MARKS, WITHHELD, Axis, Panel, PatternMap
from sluice.report.table_summary import TableSummary
from sluice.tabular.model.cells import Status

# mark -> CSS class, and its words in the key; report.css has the classes' colours
STATUS_KEY = {
    STATUS_MARKS[Status.PUBLISHED]: ("published", "published"),
    STATUS_MARKS[Status.PRIMARY]: ("primary", "suppressed: sensitive itself (primary)"),
    STATUS_MARKS[Status.SECONDARY]: ("secondary", "suppressed: to protect others (secondary)"),
    WITHHELD: ("withheld", "withheld: the marginal is not published"),
    EMPTY: ("empty", "empty: no contributor"),
}
SHARE_KEY = {
    **dict(
        zip(
            SHARE_MARKS,
            (
                ("published", "none"),
                ("tenth", "up to 10 %"),
                ("quarter", "up to 25 %"),
                ("half", "up to 50 %"),
                ("three-quarters", "up to 75 %"),
                ("most", "more"),
                ("all", "every cell"),
            ),
            strict=True,
        )
    ),
    WITHHELD: STATUS_KEY[WITHHELD],
    EMPTY: STATUS_KEY[EMPTY],
}

_LONGEST_LABEL = 80  # characters; beside a column there is less room
_LONGEST_ABOVE = 20
_LETTER = 6.2  # pixels that one takes in a label
_BOLD = 7.0
_INDENT = 7
_LINE_HEIGHT = 11
_MOST_AT_A_GLANCE = 16  # rows of the grid on the first screen
_LEAST_RULED = 6  # pixels
_GAPS = {0: 0, 1: 4, 2: 1.5}  # before a code of this depth, so that the branches stand apart

STAGES = {
    "contract": ("The data against their contract", "Whether the data are what their owner says they are."),
    "original": ("Before protection", "Which cells are sensitive, and what they would have revealed."),
    "masked": ("The protected tables", "What the tables reveal as they are to be published."),
    "attack": ("The protected tables under attack", "What outsiders and contributors can work out, alone or together."),
    "utility": ("What the tables are still good for", "How much of the information is left."),
    "pipeline": ("The run itself", "Whether every step of the evaluation was carried out."),
}
_WIDE, _NARROW = 880, 300  # pixels for the cells of a map that stands alone, and of one of several


def context(view: TablesView) -> dict[str, object]:
    """What `tables.html.j2` needs besides the dossier."""
    return {"tables": [_table_view(view, table, f"table-{number}") for number, table in enumerate(view.tables)]}


def whole_grid(view: TablesView) -> Markup | None:
    """The first grid of few rows, of a table with suppressed cells if there is one; None without any."""
    if (drawn := _first_drawn(view)) is None:
        return None
    table, pattern = drawn
    described = _described(table, pattern, pattern.panels[0], pattern.rows.name)
    return map_svg(_labelled(view, pattern), pattern.panels[0], described, _NARROW, True)


def grid_key(view: TablesView) -> list[tuple[str, str]]:
    """CSS class and words of each colour of that grid."""
    drawn = _first_drawn(view)
    return key_of(drawn[1]) if drawn else []


def _first_drawn(view: TablesView) -> tuple[TableSummary, PatternMap] | None:
    drawn = [
        (table, pattern)
        for table in view.tables
        for pattern in table.maps
        if len(pattern.panels) == 1 and len(pattern.rows.labels) <= _MOST_AT_A_GLANCE
    ]
    return min(drawn, key=lambda pair: not pair[0].suppressed, default=None)


def _labelled(view: TablesView, pattern: PatternMap) -> PatternMap:
    """With what each code means beside it, where the contract says so."""

    def named(axis: Axis) -> Axis:
        return axis.model_copy(update={"labels": tuple(view.label(axis.name, code) for code in axis.labels)})

    return pattern.model_copy(update={"rows": named(pattern.rows), "columns": named(pattern.columns)})


def _table_view(view: TablesView, table: TableSummary, name: str) -> dict[str, object]:
    return {
        "table": table,
        "id": name,
        "listed": table.cells - table.withheld,
        "maps": [_map_view(table, _labelled(view, pattern)) for pattern in table.maps],
        "levels": {
            dimension: [level for level in table.levels if level.dimension == dimension and level.cells]
            for dimension in table.dimensions
        },
    }


def _map_view(table: TableSummary, pattern: PatternMap) -> dict[str, object]:
    alone = len(pattern.panels) == 1
    axes = pattern.rows.name + (f" by {pattern.columns.name}" if pattern.columns.name else "")
    others = [name for name in table.dimensions if name not in (pattern.rows.name, pattern.columns.name)]
    if pattern.shares and alone:
        title = "Where cells are suppressed" + (f", over all codes of {' and '.join(others)}" if others else "")
    else:
        title = f"Cell by cell, for each code of {others[0]}" if others else "Cell by cell"
    return {
        "title": title,
        "axes": axes,
        "pattern": pattern,
        "key": key_of(pattern),
        "alone": alone,
        "panels": [
            (
                panel.title,
                map_svg(pattern, panel, _described(table, pattern, panel, axes), _WIDE if alone else _NARROW, alone),
            )
            for panel in pattern.panels
        ],
    }


def _described(table: TableSummary, pattern: PatternMap, panel: Panel, axes: str) -> str:
    counted = "".join(panel.marks)
    words = ", ".join(
        f"{sum(counted.count(mark) for mark in marks)} {word}"
        for word, marks in (
            (
                ("with no cell suppressed", "a"),
                ("with some suppressed", "bcdef"),
                ("all suppressed", "g"),
                ("empty", "."),
            )
            if pattern.shares
            else (("published", "p"), ("primary", "1"), ("secondary", "2"), ("withheld", "w"), ("empty", "."))
        )
        if sum(counted.count(mark) for mark in marks)
    )
    where = f", {panel.title}" if panel.title else ""
    return f"Map of {axes} in table {table.title}{where}, {len(counted)} places: {words}. The figures are in the text."


def key_of(pattern: PatternMap) -> list[tuple[str, str]]:
    """CSS class and words of each colour that the map uses, in order."""
    used = {mark for panel in pattern.panels for row in panel.marks for mark in row}
    return [entry for mark, entry in (SHARE_KEY if pattern.shares else STATUS_KEY).items() if mark in used]


def map_svg(pattern: PatternMap, panel: Panel, description: str, width: float, labels: bool) -> Markup:
    """One grid of a map.

    description : what it shows, for a reader who cannot see it
    width       : about how many pixels the cells may take together
    labels      : all codes beside the grid; otherwise those of the upper two levels, as far as there is room
    """
    side = max(3.0, min(22.0, (width - 60) / len(pattern.columns.labels)))
    tall = max(3.0, min(side, 13.0)) if labels else min(side, 9.0)
    if labels:
        tall, side = max(tall, _LINE_HEIGHT), max(side, _LINE_HEIGHT)
    rows, columns = _Scale(pattern.rows, tall), _Scale(pattern.columns, side)
    shown_rows = [n for n in range(len(rows.places)) if labels or pattern.rows.depth[n] <= 1]
    shown_columns = [n for n in range(len(columns.places)) if labels or pattern.columns.depth[n] <= 1]
    if not labels:
        shown_rows, shown_columns = rows.with_room(shown_rows), columns.with_room(shown_columns)
    left = 6 + max(
        (_INDENT * pattern.rows.depth[n] + _LETTER * len(_shortened(pattern.rows.labels[n])) for n in shown_rows),
        default=0,
    )
    top = (
        max((_BOLD * len(_shortened(pattern.columns.labels[n], _LONGEST_ABOVE)) for n in shown_columns), default=0) + 6
    )
    texts = [
        f'<text x="{_INDENT * pattern.rows.depth[n]}" y="{top + rows.places[n] + tall / 2 + 3.5:.1f}"'
        f"{_weight(pattern.rows.depth[n])}>{escape(_shortened(pattern.rows.labels[n]))}</text>"
        for n in shown_rows
    ]
    for n in shown_columns:
        x, y = left + columns.places[n] + side / 2 + 3.5, top - 5
        texts.append(
            f'<text transform="translate({x:.1f} {y:.1f}) rotate(-90)"{_weight(pattern.columns.depth[n])}>'
            f"{escape(_shortened(pattern.columns.labels[n], _LONGEST_ABOVE))}</text>"
        )
    paths = _paths(pattern, panel, rows, columns, left, top)
    right, bottom = left + columns.end + 1, top + rows.end + 1
    return Markup(
        f'<svg class="plot map" role="img" aria-label="{escape(description)}" viewBox="0 0 {right:.0f} {bottom:.0f}" '
        f'width="{right:.0f}">{"".join([*paths, *texts])}</svg>'
    )


class _Scale:
    """Where each line of an axis begins, in pixels."""

    def __init__(self, axis: Axis, size: float) -> None:
        self.size = size
        self.places: list[float] = []
        end = 0.0
        for number, depth in enumerate(axis.depth):
            end += _GAPS.get(depth, 0) if number else 0
            self.places.append(end)
            end += size
        self.end = end

    def with_room(self, lines: Sequence[int]) -> list[int]:
        """Of these lines those whose labels do not overlap; the total gives way to what stands below it."""
        kept: list[int] = []
        for line in [*lines[1:], *lines[:1]]:
            if all(abs(self.places[line] - self.places[other]) >= _LINE_HEIGHT for other in kept):
                kept.append(line)
        return kept


def _paths(pattern: PatternMap, panel: Panel, rows: _Scale, columns: _Scale, left: float, top: float) -> list[str]:
    key = SHARE_KEY if pattern.shares else STATUS_KEY
    drawn = defaultdict(list)
    for row, marks in zip(rows.places, panel.marks, strict=True):
        for begin, end in _runs(marks, columns):
            x, wide = left + columns.places[begin], (end - begin) * columns.size
            drawn[marks[begin]].append(f"M{x:.1f} {top + row:.1f}h{wide:.1f}v{rows.size:.1f}h-{wide:.1f}z")
    paths = [f'<path class="{key[mark][0]}" d="{"".join(drawn[mark])}"/>' for mark in key if mark in drawn]
    lines = []  # a pixel of the page between two cells, where they are large enough
    if columns.size >= _LEAST_RULED:
        lines += [f"M{left + place:.1f} {top:.1f}v{rows.end:.1f}" for place in columns.places]
    if rows.size >= _LEAST_RULED:
        lines += [f"M{left:.1f} {top + place:.1f}h{columns.end:.1f}" for place in rows.places]
    return [*paths, f'<path class="ruling" d="{"".join(lines)}"/>'] if lines else paths


def _runs(marks: str, columns: _Scale) -> list[tuple[int, int]]:
    """From and to (not included) of neighbours with the same mark and no gap between them; empty ones left out."""
    runs, begin = [], 0
    for end in range(1, len(marks) + 1):
        if (
            end == len(marks)
            or marks[end] != marks[begin]
            or columns.places[end] - columns.places[end - 1] > columns.size
        ):
            if marks[begin] != EMPTY:
                runs.append((begin, end))
            begin = end
    return runs


def _weight(depth: int) -> str:
    return ' class="upper"' if depth <= 1 else ""


def _shortened(label: str, longest: int = _LONGEST_LABEL) -> str:
    return label if len(label) <= longest else label[: longest - 1].rstrip(" ,;") + "…"
