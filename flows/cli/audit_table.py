"""The command that audits and repairs anybody's suppression pattern outside a release, with its summary in words."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flows.cli.table_options import RecordsOptions, Workers, told_of_a_table
from flows.cli.terminal import BLOCKED, DONE, AsJson, note, print_json, say, waiting
from sluice.ground.errors import DocumentError
from sluice.settings import settings

if TYPE_CHECKING:
    from tasks.workbench.audited_table import AuditedTable

_FEW = 10

audit_app = typer.Typer()

_OF_INTERVAL = ("status", "low", "high", "within_percent")


@audit_app.command("audit-table")
@told_of_a_table
def audit_table(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="CELLS", help="the cells: codes, status, value; CSV, Excel, px, JSON-stat, .jj, or a folder"
        ),
    ],
    microdata: Annotated[
        Path | None,
        typer.Option("--microdata", help="the records, or with --frequency their cells, for the whole audit"),
    ] = None,
    *,
    options: RecordsOptions,
    known: Annotated[
        Path | None,
        typer.Option("--known", help="CSV of what an attacker knows beforehand: codes, lower, upper"),
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
    only: Annotated[
        list[str] | None,
        typer.Option("--only", metavar="COLUMN=CODE", help="of a file with more cells, such as those of several years"),
    ] = None,
    header_row: Annotated[
        int | None, typer.Option("--header-row", min=1, help="the line or row that names the columns")
    ] = None,
    sum_of: Annotated[
        list[Path] | None,
        typer.Option("--sum-of", help="cells of a part of this publication, such as a quarter of the year"),
    ] = None,
    beside: Annotated[
        list[Path] | None,
        typer.Option("--beside", help="further published figures of the same cells, such as rates and denominators"),
    ] = None,
    decimals: Annotated[
        int | None,
        typer.Option("--decimals", help="of the values, which are rounded to them; else as many as they have"),
    ] = None,
    rounded_to: Annotated[
        float | None,
        typer.Option("--rounded-to", metavar="UNIT", help="each value was rounded to a multiple of this by itself"),
    ] = None,
    within: Annotated[
        float | None,
        typer.Option(
            "--within", min=0, max=100, help="percent within which an estimate is a breach; without microdata"
        ),
    ] = None,
    repair: Annotated[
        Path | None,
        typer.Option("--repair", help="with microdata: where to write an unsafe table with further cells suppressed"),
    ] = None,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Attack any suppression pattern: what can anybody, and contributors, compute from it?

    Without microdata, --rule is for a table of counts, one contributor each: readers know the rule, too.
    """
    from tasks.workbench.audit import audit_file
    from tasks.workbench.audit_jj import audit_jj
    from tasks.workbench.cells_files import CellColumns, codes_given, words_given

    of_records = {
        "--value": options.value,
        "--contributor": options.contributor,
        "--requested": options.requested,
        "--frequency": options.frequency,
        "--largest": options.largest,
        "--status": options.status,
        "--repair": repair,
    }
    if microdata is None and (given := [option for option, what in of_records.items() if what]):
        of_cells = ". The column of the cells' values is named by --cells-value" if options.value else ""
        of_cells += ". That of what is suppressed is named by --cells-status" if options.status else ""
        raise DocumentError(f"{', '.join(given)}: only the records can tell; give --microdata, too{of_cells}")
    if microdata is not None and within is not None:
        raise DocumentError("with --microdata, the rules tell how near is too near", field="--within")
    if microdata is not None and rounded_to is not None:
        raise DocumentError("with --microdata, the records tell the values", field="--rounded-to")
    with waiting(as_json):
        if source.suffix.lower() == ".jj":  # it tells its equations, and no dimensions
            found = audit_jj(source, workers or settings().workers)
            _tell(found, None, as_json)
            return
        specified, files = options.read()
        found = audit_file(
            source,
            specified,
            records=microdata,
            columns=CellColumns(
                cells_status,
                cells_value,
                words_given(status_word or []),
                hide_values,
                decimals,
                rounded_to,
                codes_given(only or []),
                header_row,
            ),
            parts=sum_of or (),
            beside=beside or (),
            known=known,
            within=within,
            repair=repair,
            inputs=files,
            workers=workers or settings().workers,
        )
    _tell(found, repair, as_json)


def _tell(found: "AuditedTable", repair: Path | None, as_json: bool) -> None:
    """Say what was found, and end with the code of it."""
    summary = found.summary()
    if as_json:
        print_json(summary)
    else:
        primary, secondary = summary["primary"], summary["secondary"]
        apart = "" if primary is None else f": {primary:,} primary, {secondary:,} secondary"
        say(f"{summary['cells']:,} cells, {summary['suppressed']:,} suppressed{apart}")
        for remark in summary.get("reading", ()):
            note(f"{remark['says']}.", "yellow")
        if summary.get("told_by"):
            note(f"figures beside the table: the value is {' and '.join(summary['told_by'])}", "yellow")
        if summary["with_records"]:
            print_audit(summary)
        else:
            _print_intervals(summary)
        if repair is not None:
            _print_repair(summary.get("repaired"))
        say(f"{summary['seconds']:.1f} s")
    raise typer.Exit(DONE if found.safe or found.mended else BLOCKED)


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
        say(f"audit: NOT SAFE, {_breaches(breaches)}")
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
        say(f"  {', '.join(codes)} ({cell['status']}): {_interval(cell)}")
    note(
        "Without --microdata only what anybody can tell was looked at: contributors, who know more, were not.", "yellow"
    )


def print_audit(summary: dict[str, Any]) -> None:
    """What came of the attacks, in words."""
    breaches, attacks = summary["breaches"], summary["attacks"]
    if not attacks["attempted"]:
        says = "audit: no cell is sensitive, so nothing was attacked"
    elif not breaches and attacks["attempted"] == attacks["completed"]:
        says = f"audit: safe against all {attacks['attempted']:,} attacks"
    elif breaches:
        says = f"audit: NOT SAFE, {_breaches(breaches)}"
    else:
        says = f"audit: UNKNOWN, {attacks['attempted'] - attacks['completed']:,} attacks were not decided"
    say(says)
    print_breaches(breaches)
    if summary["narrowest"]:
        first = dict(summary["narrowest"][0])
        ratio = first.pop("width_per_width_asked")
        name = ", ".join(f"{dimension} {code}" for dimension, code in first.items())
        wide = "at least" if f"{ratio:.3g}" == "1" else f"at least {ratio:.3g} times"
        say(f"the narrowest interval, of {name}, is {wide} as wide as required")


def _interval(cell: dict[str, Any]) -> str:
    """From what to what, and how near that is, where it is near at all."""
    low, high, within = cell["low"], cell["high"], cell["within_percent"]
    if within is None:
        return "not decided"
    if low is None or high is None:
        return "anything" if low is high else f"{low} or more" if high is None else f"{high} or less"
    return f"{low} to {high}" + (f", within {within:g} %" if within < 100 else "")


def _breaches(found: list[str]) -> str:
    return "1 breach" if len(found) == 1 else f"{len(found):,} breaches"


def print_breaches(breaches: list[str]) -> None:
    for breach in breaches[:_FEW]:
        say(f"  - {breach}")
    if len(breaches) > _FEW:
        say(f"  and {len(breaches) - _FEW:,} more (--json lists all)")
