"""The command that answers about a confidential column by intervals."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.terminal import AsJson, print_json, say

camouflage_app = typer.Typer()


@camouflage_app.command()
def camouflage(
    source: Annotated[Path, typer.Argument(metavar="INPUT", help="the confidential records, CSV or Parquet")],
    column: Annotated[str, typer.Option("--column", help="the confidential numbers")],
    width: Annotated[float, typer.Option("--width", help="the interval that protects each value, in its unit")],
    output: Annotated[Path, typer.Option("--output", "-o", help="where to write the answers: .csv")],
    seed_file: Annotated[Path, typer.Option("--seed-file", help="the secret behind the answers; made if absent")],
    by: Annotated[
        list[str] | None, typer.Option("--by", metavar="NAME,NAME", help="public columns whose groups are answered")
    ] = None,
    vectors: Annotated[
        int, typer.Option("--vectors", min=3, help="more than the respondents who may pool what they know")
    ] = 10,
    missing: Annotated[
        str, typer.Option("--missing", help="values: refuse; leave_out: leave the record out")
    ] = "refuse",
    as_json: AsJson = False,
) -> None:
    """Answer sums, means and extremes by intervals that hold the truth and give no single value away."""
    from flows.cli.table_options import names_given
    from sluice.ground.errors import DocumentError
    from tasks.workbench.camouflage import NOT_JUDGED, camouflage_file

    if missing not in ("refuse", "leave_out"):
        raise DocumentError(f"must be refuse or leave_out; got '{missing}'", field="--missing")
    made = camouflage_file(
        source,
        column,
        width,
        output,
        seed_file,
        by=names_given(by or []),
        vectors=vectors,
        leave_out_missing=missing == "leave_out",
    )
    if as_json:
        print_json(made.summary())
        return
    if made.left_out:
        say(f"{made.left_out:,} records had no value and were left out")
    say(
        f"{made.output}: {made.answers:,} answers about {made.records:,} records; who knows none of the values cannot "
        f"tell one more exactly than to {made.width:g}. {NOT_JUDGED}"
    )
