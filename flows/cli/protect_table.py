"""The commands that protect a table outside a release, from options or a batch of tau-ARGUS, and advise on its design:
what to merge so that less is lost."""

from pathlib import Path
from typing import Annotated, Any

import typer

from flows.cli.audit_table import print_audit
from flows.cli.table_options import ProtectionOptions, TableOptions, Workers, told_of_a_table
from flows.cli.terminal import BLOCKED, AsJson, note, print_json, say, show_remarks, waiting
from sluice.ground.sentence import percent
from sluice.settings import settings

redesign_app = typer.Typer()

protect_app = typer.Typer()

argus_app = typer.Typer()


@protect_app.command("protect-table")
@told_of_a_table
def protect_table(
    source: Annotated[Path, typer.Argument(metavar="MICRO", help="the records, CSV or Parquet")],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="a .csv file for the cells of all tables, or a folder for a file of each table"
        ),
    ],
    *,
    options: ProtectionOptions,
    previous: Annotated[
        Path | None,
        typer.Option("--previous", help="cells published before, as --output writes them; judged together"),
    ] = None,
    seed_file: Annotated[
        Path | None,
        typer.Option("--seed-file", help="the secret of what draws, made if absent"),
    ] = None,
    p_table: Annotated[
        Path | None,
        typer.Option("--p-table", help="a .txt for the perturbation table of cell_key, as R's ptable exports it"),
    ] = None,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Protect a table as a release would; written only if nothing fails."""
    from sluice.ground.progress import report
    from tasks.workbench.protect import protect_file

    with waiting(as_json):
        specified, files = options.read()
        made = protect_file(
            source,
            specified,
            output,
            previous=previous,
            seed_file=seed_file,
            p_table=p_table,
            inputs=files,
            workers=workers or settings().workers,
            progress=report,
        )
    summary = made.summary()
    written = [str(file) for file in made.files]
    if as_json:
        print_json({"output": str(output) if written else None, "files": written, **summary})
    else:
        show_remarks(made.tabulated.reading)
        for name, each in summary.get("measures", {}).items():
            say(f"{name}:")
            _print_table(each, made.method.describe())
        if "measures" in summary:
            safe = ", safe for each measure" if summary["safe"] else ""
            say(f"one pattern: {summary['primary']:,} primary and {summary['secondary']:,} secondary cells{safe}")
            for told in (each for each in summary["together"] if each["verdict"] != "PASS"):
                note(told["says"], "yellow")
        else:
            _print_table(summary, made.method.describe())
        if specified.counts_weights:
            note(
                "minimum_frequency counts weights here (rule argus), not records; gconfid_exact counts records.",
                "yellow",
            )
        say(f"{', '.join(written)}, {summary['seconds']:.1f} s" if written else "nothing is written.")
        if written and summary["verdict"] == "REVIEW":
            note("Not everything passed: somebody should decide before this goes anywhere.", "yellow")
    if not made.files:
        raise typer.Exit(BLOCKED)


def _print_table(summary: dict[str, Any], method: str) -> None:
    """What was done and what was found, in words."""
    sensitive = ", ".join(f"{count:,} by {name}" for name, count in summary["sensitive"].items())
    say(f"{summary['cells']:,} cells; sensitive: {sensitive}")
    if "primary" in summary:
        what = "count" if summary["counts"] else "value"
        say(
            f"suppressed: {summary['primary']:,} primary, {summary['secondary']:,} secondary; {what} "
            f"{summary['suppressed_value']}, {percent(summary['suppressed_share'])} of that of all inner cells"
        )
    else:
        say(method)
    if "proven_bound" in summary:
        say(
            f"cost {summary['cost']:g}; no safe pattern costs less than {summary['proven_bound']:g}: a gap of "
            f"{percent(1 - summary['proven_bound'] / max(summary['cost'], summary['proven_bound'], 1e-9))}"
        )
    if "first_cost" in summary:
        saved = 1 - summary["cost"] / max(summary["first_cost"], 1e-9)
        end = "time ran out" if summary["time_ran_out"] else "the search ended before its time did"
        say(f"the first safe pattern cost {summary['first_cost']:g}, this one {percent(saved)} less; {end}")
    for count, what in (
        (summary["records_left_out"], "records were left out, without a value"),
        (summary["records_added_up"], "records were added to another of the same contributor"),
    ):
        if count:
            say(f"{count:,} {what}" if count > 1 else f"1 {what.replace('records were', 'record was')}")
    if alike := summary["contributors_alike"]:
        note(
            f"names of contributors that are those of others but for capital letters: {alike:,}. They count as "
            "others; if they are the same, spell them alike.",
            "yellow",
        )
    if joined := summary["contributors_joined"]:
        note(
            "names of contributors that differ from others in capital letters alone, and count as the same: "
            f"{joined:,}. If they are others, number them.",
            "yellow",
        )
    if respelled := summary["contributors_respelled"]:
        note(
            "names of contributors spelled with other blanks than single ones, or characters nobody sees: "
            f"{respelled:,}. Names that look the same count as one contributor.",
            "yellow",
        )
    if "attacks" in summary:
        print_audit(summary)
    if summary["added_up"]:
        note(
            "The file holds cells, not records: each contributor was taken to be in one cell of the lowest level. "
            "Who is alone in several cells, or part of a holding, may learn more: that attack needs the records.",
            "yellow",
        )
    if not summary["largest_told"]:
        note(
            "No largest contributions were named: one contributor of each cell was taken to have all of it. With "
            "--largest less may be suppressed.",
            "yellow",
        )
    for finding in summary["findings"]:
        if finding["rule"] == "table_audit" and "attacks" in summary:
            continue  # said in full already
        waived = f" Waived by {finding['waiver']}" if finding["waiver"] else ""
        say(f"{finding['rule']}: {finding['verdict']}. {finding['says']}{waived}")


@argus_app.command("argus")
def argus(
    batch: Annotated[Path, typer.Argument(metavar="BATCH.arb", help="the batch; its paths begin at its folder")],
    *,
    seed_file: Annotated[
        Path | None, typer.Option("--seed-file", help="the secret of what draws, made if absent")
    ] = None,
    confidential: Annotated[
        bool,
        typer.Option("--confidential", help="write values of suppressed cells where the batch asks for them"),
    ] = False,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Run a batch of tau-ARGUS: its tables are protected and audited here; written only if nothing fails.

    Each line that is done otherwise is named. A line that is not understood stops the batch.
    """
    from sluice.ground.progress import report
    from tasks.workbench.argus import run_batch

    with waiting(as_json):
        run = run_batch(
            batch,
            seed_file=seed_file,
            confidential=confidential,
            workers=workers or settings().workers,
            progress=report,
        )
    if as_json:
        print_json(run.summary())
    else:
        for remark in run.remarks:
            note(f"{remark}.", "yellow")
        for each in run.protected:
            show_remarks(each.made.tabulated.reading)
            lines = ", ".join(str(table.line) for table in each.tables)
            say(f"line {lines}: {' and '.join(' by '.join(table.dimensions) for table in each.tables)}")
            _print_table(each.made.summary(), each.made.method.describe())
        say(f"{', '.join(map(str, run.files))}, {run.seconds:.1f} s" if run.files else "nothing is written.")
        if confidential and run.files:
            note("These files may hold the values of suppressed cells: they stay inside.", "yellow")
    if not run.may_be_published:
        raise typer.Exit(BLOCKED)


@redesign_app.command("redesign-table")
@told_of_a_table
def redesign_table(
    source: Annotated[Path, typer.Argument(metavar="MICRO", help="the records, CSV or Parquet")],
    *,
    options: TableOptions,
    ordered: Annotated[
        list[str] | None, typer.Option("--ordered", help="a dimension of which only neighbours may be merged")
    ] = None,
    steps: Annotated[
        int | None, typer.Option("--steps", min=1, help="so many changes one after another; else single ones")
    ] = None,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Advise which categories to merge or leave out so that less must be suppressed. Writes nothing."""
    from tasks.workbench.redesign import ADVICE_ONLY
    from tasks.workbench.redesign import redesign_table as redesign

    specified, _ = options.read()
    made = redesign(source, specified, ordered=ordered or [], steps=steps, workers=workers or settings().workers)
    if as_json:
        print_json(made.summary())
        return
    show_remarks(made.reading)
    sensitive = ", ".join(f"{count:,} by {name}" for name, count in made.sensitive.items())
    say(f"{made.cells:,} cells; sensitive: {sensitive}")
    if not made.changes:
        say("no merge and no level left out would spare a sensitive cell.")
    for number, change in enumerate(made.changes, 1):
        say(f"  {number}. {change.says}" if steps else f"  - {change.says}")
    if made.suppressed:
        before, after = made.suppressed
        say(f"suppressed: {before:,} cells before these changes, {after:,} after them")
    say(ADVICE_ONLY)
