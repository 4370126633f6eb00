"""The command that advises on the design of a table: what to merge so that less must be suppressed."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.table_options import (
    Contributor,
    Hierarchies,
    Rules,
    Settings,
    Spec,
    TableOptions,
    Tables,
    Value,
    Workers,
)
from flows.cli.terminal import AsJson, print_json, say
from sluice.settings import settings

redesign_app = typer.Typer()


@redesign_app.command("redesign-table")
def redesign_table(
    source: Annotated[Path, typer.Argument(metavar="MICRO", help="the records, CSV or Parquet")],
    spec: Spec = None,
    hierarchy: Hierarchies = None,
    rule: Rules = None,
    value: Value = None,
    contributor: Contributor = None,
    table: Tables = None,
    setting: Settings = None,
    ordered: Annotated[
        list[str] | None, typer.Option("--ordered", help="a dimension of which only neighbours may be merged")
    ] = None,
    steps: Annotated[
        int | None, typer.Option("--steps", min=1, help="so many changes one after another; else single ones")
    ] = None,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Advise which categories to merge or leave out so that less of a table must be suppressed. Writes nothing."""
    from tasks.workbench.redesign import ADVICE_ONLY
    from tasks.workbench.redesign import redesign_table as redesign

    specified, _ = TableOptions(spec, hierarchy, rule, value, contributor, table, setting).read()
    made = redesign(source, specified, ordered=ordered or [], steps=steps, workers=workers or settings().workers)
    if as_json:
        print_json(made.summary())
        return
    sensitive = ", ".join(f"{count:,} by {name}" for name, count in made.sensitive.items())
    say(f"{made.cells:,} cells; sensitive: {sensitive}")
    if not made.changes:
        say("no merge and no level left out would spare a sensitive cell.")
    for number, change in enumerate(made.changes, 1):
        say(f"  {number}. {change.says}" if steps else f"  - {change.says}")
    if made.suppressed:
        before, after = made.suppressed
        say(f"suppressed by protect-table: {before:,} cells, {after:,} after these changes")
    say(ADVICE_ONLY)
