"""The command that audits and repairs anybody's suppression pattern outside a release, with its summary in words."""

from pathlib import Path
from typing import Annotated, Any

import typer

from flows.cli.record_options import (
    Coalition,
    Contributor,
    Decimals,
    Duplicates,
    Hierarchies,
    Holding,
    Missing,
    Negative,
    Rules,
    Tables,
    Value,
    Weight,
    WeightRule,
    Workers,
    measure_given,
)
from flows.cli.terminal import BLOCKED, DONE, AsJson, note, print_json, say, waiting
from sluice.settings import settings

_FEW = 10

audit_app = typer.Typer()

_OF_INTERVAL = ("status", "low", "high", "within_percent")


@audit_app.command("audit-table")
def audit_table(
    source: Annotated[Path, typer.Argument(metavar="CELLS", help="the cells: codes, status, value; CSV, or a folder")],
    hierarchy: Hierarchies = None,
    microdata: Annotated[Path | None, typer.Option("--microdata", help="the records, for the whole audit")] = None,
    rule: Rules = None,
    value: Value = None,
    contributor: Contributor = None,
    holding: Holding = None,
    weight: Weight = None,
    weight_rule: WeightRule = None,
    negative: Negative = "refuse",
    missing: Missing = "refuse",
    duplicates: Duplicates = "refuse",
    decimals: Decimals = None,
    table: Tables = None,
    known: Annotated[
        Path | None,
        typer.Option("--known", help="CSV of what an attacker knows of cells beforehand: codes, lower, upper"),
    ] = None,
    cells_status: Annotated[
        str | None, typer.Option("--cells-status", help="the column that tells what is suppressed; else status")
    ] = None,
    cells_value: Annotated[str, typer.Option("--cells-value", help="the column of the values")] = "value",
    status_word: Annotated[
        list[str] | None,
        typer.Option("--status-word", metavar="WORD=OURS", help="of another program, such as D=secondary"),
    ] = None,
    hide_values: Annotated[
        bool, typer.Option("--hide-values", help="values that stand beside suppressed cells are not published")
    ] = False,
    within: Annotated[
        float | None, typer.Option("--within", min=0, max=100, help="percent: so near is a breach; without microdata")
    ] = None,
    coalition: Coalition = 1,
    repair: Annotated[
        Path | None,
        typer.Option("--repair", help="with microdata: where to write an unsafe table with further cells suppressed"),
    ] = None,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Attack a suppression pattern, whoever made it: what can be computed from it, by anybody and by contributors?

    Without microdata, --rule is for a table of counts, one contributor each: readers know the rule, too.
    """
    from flows.cli.table_options import columns_given, dimensions_given, files_given, rules_given, tables_given
    from sluice.custody.shelf import refuse_to_overwrite
    from sluice.ground.errors import DocumentError
    from tasks.workbench.audit import audit_with_records
    from tasks.workbench.audit_published import audit_published

    dimensions, tables = dimensions_given(hierarchy or [], source, totals=True), tables_given(table or [])
    columns = columns_given(cells_status, cells_value, status_word or [], hide_values)
    with waiting(as_json):
        if microdata is None:
            of_records = {
                "--value": value,
                "--contributor": contributor,
                "--holding": holding,
                "--weight": weight,
                "--repair": repair,
            }
            given = [option for option, what in of_records.items() if what]
            if given:
                raise DocumentError(f"{', '.join(given)}: only the records can tell; give --microdata, too")
            found = audit_published(
                source,
                dimensions,
                tables=tables,
                rules=rules_given(rule or []),
                columns=columns,
                known=known,
                within=within,
                nonnegative=measure_given(None, None, None, None, None, negative, missing, "add", None).negative
                == "refuse",
                workers=workers or settings().workers,
            )
        else:
            if within is not None:
                raise DocumentError("with --microdata, the rules tell how near is too near", field="--within")
            measure = measure_given(
                value, contributor, holding, weight, weight_rule, negative, missing, duplicates, decimals
            )
            if repair is not None:
                refuse_to_overwrite(repair, files_given(hierarchy or []))
            found = audit_with_records(
                source,
                dimensions,
                microdata,
                measure,
                rules_given(rule or []),
                tables=tables,
                columns=columns,
                known=known,
                coalition=coalition,
                repair=repair,
                workers=workers or settings().workers,
            )
    summary = found.summary()
    if as_json:
        print_json(summary)
    else:
        primary, secondary = summary["primary"], summary["secondary"]
        apart = "" if primary is None else f": {primary:,} primary, {secondary:,} secondary"
        say(f"{summary['cells']:,} cells, {summary['suppressed']:,} suppressed{apart}")
        if summary["with_records"]:
            print_audit(summary)
        else:
            _print_intervals(summary)
        if repair is not None:
            _print_repair(summary.get("repaired"))
        say(f"{summary['seconds']:.1f} s")
    mended = found.repaired is not None and found.repaired.safe
    raise typer.Exit(DONE if found.safe or mended else BLOCKED)


def _print_repair(repaired: dict[str, Any] | None) -> None:
    """What came of the repair, in words."""
    if repaired is None:
        say("repair: the table is safe as it is; nothing is written.")
    elif not repaired["safe"]:
        say("repair: no safe pattern was found; nothing is written.")
    else:
        say(
            f"repair: {repaired['added']:,} more cells are suppressed, {repaired['suppressed']:,} in all; safe against "
            f"all {repaired['attacks']['attempted']:,} attacks: {', '.join(repaired['files'])}"
        )


def _print_intervals(summary: dict[str, Any]) -> None:
    """What anybody can compute, in words."""
    breaches = summary["breaches"]
    if breaches:
        say(f"audit: NOT SAFE, {len(breaches):,} breaches")
    elif not summary["complete"]:
        say("audit: UNKNOWN, some intervals were not decided")
    elif not summary["suppressed"]:
        say("audit: nothing is suppressed, so nothing was attacked; rounded or noisy figures are not judged here")
    else:
        say("audit: no cell that may be sensitive can be computed exactly")
    print_breaches(breaches)
    if summary["with_rules"]:
        say("every suppressed cell was taken to be a count that is not 0, as the rules leave it")
    say(f"exactly known: {len(summary['exactly_known']):,} suppressed cells")
    for cell in summary["narrowest"]:
        codes = [f"{name} {code}" for name, code in cell.items() if name not in _OF_INTERVAL]
        known = "?" if cell["within_percent"] is None else f"{cell['within_percent']:g} %"
        say(f"  {', '.join(codes)} ({cell['status']}): {cell['low']} to {cell['high']}, within {known}")
    note(
        "Without --microdata only what anybody can tell was looked at: contributors, who know more, were not.", "yellow"
    )


def print_audit(summary: dict[str, Any]) -> None:
    """What came of the attacks, in words."""
    breaches, attacks = summary["breaches"], summary["attacks"]
    if not breaches and attacks["attempted"] == attacks["completed"]:
        says = f"audit: safe against all {attacks['attempted']:,} attacks"
    elif breaches:
        says = f"audit: NOT SAFE, {len(breaches):,} breaches"
    else:
        says = f"audit: UNKNOWN, {attacks['attempted'] - attacks['completed']:,} attacks were not decided"
    say(says)
    print_breaches(breaches)
    if summary["narrowest"]:
        first = dict(summary["narrowest"][0])
        ratio = first.pop("width_per_width_asked")
        name = ", ".join(f"{dimension} {code}" for dimension, code in first.items())
        wide = "just" if f"{ratio:.3g}" == "1" else f"{ratio:.3g} times"
        say(f"narrowest: {name}, an interval {wide} as wide as asked")


def print_breaches(breaches: list[str]) -> None:
    for breach in breaches[:_FEW]:
        say(f"  - {breach}")
    if len(breaches) > _FEW:
        say(f"  and {len(breaches) - _FEW:,} more (--json lists all)")
