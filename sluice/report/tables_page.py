"""The report on tables: each table's maps of suppression, its cells by what became of them, and its audit."""

from sluice.report.dossier import TablesView
from sluice.report.pattern_map import Panel, PatternMap
from sluice.report.pattern_map_plot import key_of, map_svg
from sluice.report.table_summary import TableSummary

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
    return {"tables": [_table_view(table, f"table-{number}") for number, table in enumerate(view.tables)]}


def _table_view(table: TableSummary, name: str) -> dict[str, object]:
    return {
        "table": table,
        "id": name,
        "listed": table.cells - table.withheld,
        "maps": [_map_view(table, pattern) for pattern in table.maps],
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
    return f"Map of {axes} in table {table.name}{where}, {len(counted)} places: {words}. The figures are in the text."
