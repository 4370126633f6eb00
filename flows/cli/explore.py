"""The command that serves the explorer's page: `sluice explore`."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.init import (
    Columns,
    Dataset,
    Decimal,
    Dictionary,
    Encoding,
    HeaderRow,
    Layout,
    Separator,
    Source,
    Structure,
    Table,
    finish_project,
    named_columns,
)
from flows.cli.terminal import note, show_remarks

explore_app = typer.Typer()


@explore_app.command()
def explore(
    source: Source,
    port: Annotated[int, typer.Option("--port", min=1, max=65535)] = 8322,
    dataset: Dataset = "",
    table: Table = None,
    layout: Layout = None,
    structure: Structure = None,
    dictionary: Dictionary = None,
    columns: Columns = "",
    separator: Separator = None,
    decimal: Decimal = None,
    header_row: HeaderRow = None,
    encoding: Encoding = None,
) -> None:
    """Try roles, levels and a threshold on a page that this machine alone serves; then write the definition.

    Shows at once what fails and what is lost, on a sample and without attacks. Publishes nothing. Ends with Ctrl-C.
    """
    import secrets

    from flows.desk.security_middleware import serve
    from flows.explorer.explorer_pages import Session, application
    from schemas.reading.overview import overview, refuse_values_as_names
    from schemas.reading.proposal import propose
    from tasks.project.exploration import Explorer
    from tasks.project.own_project import own_data

    data = own_data(
        source, table, layout, separator=separator, decimal=decimal, encoding=encoding,
        columns=named_columns(columns), structure=structure, header_row=header_row, dictionary=dictionary,
    )  # fmt: skip
    refuse_values_as_names(data.records)
    for line in data.says:
        note(f"{line}.")
    note("looking at the data ...")
    seen = overview(data.records, data.described)
    show_remarks(data.records.remarks.all())
    name = dataset or table or Path(source).name.split(".")[0]
    session = Session(Explorer(data, seen, propose(seen), name), finish_project)
    session.page()  # what cannot be read is refused here, and the first page waits for nothing
    secret, address = secrets.token_urlsafe(32), f"http://127.0.0.1:{port}"
    serve(application(session, address, secret), "127.0.0.1", port, lambda: _ready(f"{address}/{secret}/"))


def _ready(address: str) -> None:
    """Say where the page is: on the terminal and in no log, as whoever has the address has the page."""
    from sluice.ground.log import is_written, write_log

    note(f"the explorer is at {address}")
    if not is_written():
        write_log("text")  # a page that fails sends its reader there
