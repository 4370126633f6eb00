"""The commands on documents: draft a contract, list methods and rules, write schemas and deployments."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.terminal import note
from sluice.errors import SluiceError

documents_app = typer.Typer()


@documents_app.command()
def init(
    source: Annotated[
        str, typer.Argument(metavar="SOURCE", help="a file of any format that is read (docs/reading.md), or a URL")
    ],
    dataset: Annotated[str, typer.Option("--dataset", help="name of the data set")] = "",
    table: Annotated[
        str | None, typer.Option("--table", help="the table of a database, or the sheet of a workbook")
    ] = None,
    layout: Annotated[
        Path | None, typer.Option("--layout", help="where the columns of a file of fixed width stand: .rda or .csv")
    ] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="write here instead of to the screen")] = None,
    separator: Annotated[str | None, typer.Option("--separator", help="between the cells of a CSV file")] = None,
    decimal: Annotated[
        str | None, typer.Option("--decimal", help="before the decimals of a CSV file's numbers: . or ,")
    ] = None,
    encoding: Annotated[str | None, typer.Option("--encoding", help="of a text, such as cp1252")] = None,
) -> None:
    """Draft a contract from a table: kinds and ranges guessed, roles left for a person to fill in."""
    from schemas.reading.draft import draft_contract
    from sluice.custody.durable import write_new
    from sluice.reading.visible_text import json_text
    from sluice.sources.recognition import recognise
    from sluice.sources.sql_source import SqlSource

    if output is not None and not output.parent.is_dir():
        raise SluiceError(f"--output: there is no folder {output.parent}. Make it, or name a file elsewhere.")
    if "://" in source or source.startswith("${"):
        if table is None:
            raise SluiceError("of a database, name the table, too: sluice init URL --table schema.table")
        text = draft_contract(SqlSource(url=_address(source), table=table), dataset or table)
    else:
        found = recognise(Path(source), table, layout, separator=separator, decimal=decimal, encoding=encoding)
        for says in found.says:
            note(f"{says}.")
        text = draft_contract(found.records, dataset or Path(source).name.split(".")[0], found.described())
        text = f"# source of the release definition: {json_text(found.written(Path()))}\n{text}"
    if output is None:
        print(text, end="")
        return
    try:
        write_new(output, text.encode(), 0o644)
    except FileExistsError:
        raise SluiceError(f"{output} exists; a contract is never overwritten. Name another file.") from None
    note(f"{output} is a draft: fill in the role of every variable, then name it in a release definition.")


def _address(typed: str) -> str:
    from sluice.sources.database_url import typed_address

    try:
        return typed_address(typed)
    except ValueError as error:
        raise SluiceError(f"SOURCE: {error}") from None


@documents_app.command()
def methods() -> None:
    """List the masking methods with their parameters, as Markdown."""
    from sluice.masking.catalogue import catalogue

    print(catalogue(), end="")


@documents_app.command()
def rules() -> None:
    """List the rules and attacks that a policy may name, with their parameters, as Markdown."""
    from policies.rules.catalogue import catalogue

    print(catalogue(), end="")


@documents_app.command()
def schemas(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="where to write them")] = Path(),
) -> None:
    """Write the JSON Schemas of contract, policy and release definition, for editors that check YAML."""
    from flows.json_schemas import DOCUMENTS
    from schemas.json_schema import write_json_schema

    for name, model in DOCUMENTS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_json_schema(model, folder / name)
        note(f"wrote {folder / name}")


@documents_app.command()
def deployments(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="release definitions, such as deployments/releases")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="write here instead of to the screen")] = None,
) -> None:
    """Write the prefect.yaml that deploys every definition of a folder; run it from the project's root."""
    from flows.deployments import prefect_yaml
    from sluice.custody.durable import replace

    text = prefect_yaml(folder, Path.cwd())
    if output is None:
        print(text, end="")
        return
    replace(output, text.encode(), 0o644)
    note(f"To deploy: prefect --no-prompt deploy --prefect-file {output} --all")
