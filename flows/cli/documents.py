"""The commands on documents: draft a contract, list methods and rules, write schemas and deployments."""

from pathlib import Path
from typing import Annotated, Any

import typer

from flows.cli.terminal import note
from sluice.errors import SluiceError

documents_app = typer.Typer()


@documents_app.command()
def init(
    source: Annotated[str, typer.Argument(metavar="SOURCE", help="a CSV or Parquet file, or a SQLAlchemy URL")],
    dataset: Annotated[str, typer.Option("--dataset", help="name of the data set")] = "",
    table: Annotated[str | None, typer.Option("--table", help="the table, with a URL")] = None,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="write here instead of to the screen")] = None,
    separator: Annotated[str, typer.Option("--separator", help="between the cells of a CSV file")] = ",",
    decimal: Annotated[
        str, typer.Option("--decimal", help="before the decimals of a CSV file's numbers: . or ,")
    ] = ".",
    encoding: Annotated[str, typer.Option("--encoding", help="of a CSV file, such as cp1252")] = "utf-8",
) -> None:
    """Draft a contract from a table: kinds and ranges guessed, roles left for a person to fill in."""
    from schemas.reading.draft import draft_contract
    from sluice.custody.durable import write_new
    from sluice.documents.documents import parse_document
    from sluice.sources.csv_source import CsvSource
    from sluice.sources.parquet_source import ParquetSource
    from sluice.sources.sql_source import SqlSource

    is_url = "://" in source or source.startswith("${")
    if is_url and table is None:
        raise SluiceError("of a database, name the table, too: sluice init URL --table schema.table")
    if not is_url and source.endswith((".duckdb", ".db", ".sqlite")):
        engine = "duckdb" if source.endswith(".duckdb") else "sqlite"
        raise SluiceError(
            f"a database in a file is named by its URL: sluice init {engine}:///{source} --table schema.table"
        )
    if output is not None and not output.parent.is_dir():
        raise SluiceError(f"--output: there is no folder {output.parent}. Make it, or name a file elsewhere.")
    model: Any = SqlSource if is_url else ParquetSource if source.endswith(".parquet") else CsvSource
    written: dict[str, Any] = {"url": _address(source), "table": table} if is_url else {"path": source}
    if model is CsvSource:
        written |= {"separator": separator, "decimal": decimal, "encoding": encoding}
    found = parse_document(model, written, "the source")
    text = draft_contract(found, dataset or table or Path(source).name.split(".")[0])
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
