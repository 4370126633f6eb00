"""The commands on documents: list methods, rules and codes, write schemas and deployments."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.terminal import note

documents_app = typer.Typer()


@documents_app.command()
def methods(
    name: Annotated[
        str | None, typer.Argument(metavar="[METHOD]", help="all about this one; the others' list if not given")
    ] = None,
) -> None:
    """List the masking methods with their parameters, or say all about one of them, as Markdown."""
    from sluice.masking.method_catalogue import catalogue, in_full

    print(in_full(name) if name else catalogue(), end="")


@documents_app.command()
def rules() -> None:
    """List the rules and attacks that a policy may name, with their parameters, as Markdown."""
    from policies.rules.rules import catalogue

    print(catalogue(), end="")


@documents_app.command()
def codes() -> None:
    """List the codes of findings, for programs that read them, with the sentence of each, as Markdown."""
    from flows.codes import catalogue, sentences

    print(catalogue(sentences()), end="")


@documents_app.command()
def schemas(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="where to write them")] = Path(),
) -> None:
    """Write the JSON Schemas of contract, policy and release definition, for editors that check YAML."""
    from flows.json_schemas import DOCUMENTS, write_json_schema

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
    from sluice.ground.durable import replace

    text = prefect_yaml(folder, Path.cwd())
    if output is None:
        print(text, end="")
        return
    replace(output, text.encode(), 0o644)
    note(f"To deploy: prefect --no-prompt deploy --prefect-file {output} --all")
