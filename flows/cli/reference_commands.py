"""The commands that say what there is: methods, rules and codes, schemas and deployments, and a rule explained."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flows.cli.terminal import AsJson, note, print_json, release_ids, say

if TYPE_CHECKING:
    from sluice.report.dossier import Dossier

explain_app = typer.Typer()

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
def codes(
    family: Annotated[
        str | None, typer.Argument(metavar="[RULE]", help="its codes with their sentences; all codes if not given")
    ] = None,
) -> None:
    """List the codes of findings and their data, for programs that read them, as Markdown."""
    from flows.codes import catalogue, in_full, sentences

    print(in_full(sentences(), family) if family else catalogue(sentences()), end="")


@documents_app.command()
def schemas(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="where to write them")] = Path(),
) -> None:
    """Write the JSON Schemas of contract, policy and release definition, for editors that check YAML."""
    from flows.json_schemas import DOCUMENTS, write_json_schema
    from sluice.custody.shelf import refuse_place

    refuse_place(folder, option="FOLDER")
    for name, model in DOCUMENTS.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        write_json_schema(model, folder / name)
        note(f"wrote {folder / name}")


@documents_app.command()
def deployments(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="release definitions, such as deployments/releases")],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="write here instead of to the screen")] = None,
) -> None:
    """Write the prefect.yaml that deploys every definition of a folder of the project."""
    from flows.deployments import prefect_yaml
    from sluice.custody.shelf import refuse_place
    from sluice.ground.durable import replace
    from sluice.settings import settings

    if output is not None:
        refuse_place(output)
    text = prefect_yaml(folder, settings().project)
    if output is None:
        print(text, end="")
        return
    replace(output, text.encode(), 0o644)
    note(f"To deploy: prefect --no-prompt deploy --prefect-file {output} --all")


def rules_beginning(incomplete: str) -> list[str]:
    """The rules, measures and checks whose names begin so, for the completion of a shell."""
    from tasks.checks import explained

    return [name for name in explained() if name.startswith(incomplete)]


Rule = Annotated[
    str | None,
    typer.Argument(
        metavar="[RULE]",
        help="such as k_anonymity; all names, if not given",
        autocompletion=rules_beginning,
    ),
]


@explain_app.command()
def explain(
    rule: Rule = None,
    release_id: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", help="and what it found in this release", autocompletion=release_ids),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Explain a rule, measure or check: what it asks and why, what it found in a release, what usually helps."""
    from tasks.checks import explain as explanation
    from tasks.checks import explained_by_kind

    if rule is None:
        say_names(explained_by_kind(), as_json)
        return
    of_rule = explanation(rule)  # a wrong name is said before anything is opened
    dossier = None
    if release_id is not None:
        from flows.history import history
        from sluice.custody.workspace import open_workspace
        from sluice.ground.errors import SluiceError

        dossier = history(open_workspace(), release_id).dossier
        if dossier is None:
            raise SluiceError(
                f"{release_id} was not judged yet; `sluice ledger show {release_id}` says where it stands."
            )
    if as_json:
        print_json(in_json(of_rule, dossier))
    else:
        say_explanation(of_rule, dossier)


def say_names(by_kind: "dict[str, list[str]]", as_json: bool) -> None:
    """All that can be explained, by what it is."""
    if as_json:
        print_json(by_kind)
        return
    for kind, names in by_kind.items():
        say(kind, style="bold")
        say(f"  {', '.join(names)}")


def in_json(of_rule: Any, dossier: "Dossier | None") -> dict[str, Any]:
    """For machines: the fields of the explanation, and the findings of the release."""
    found = findings_by(of_rule.rule, dossier)
    rows = [each.model_dump(mode="json") | {"verdict": each.verdict.name} for each in found]
    fields = {name: text for name, text in vars(of_rule).items() if name != "waivable"}
    return fields | ({} if dossier is None else {"release": dossier.release, "findings": rows})


def say_explanation(of_rule: Any, dossier: "Dossier | None") -> None:
    """For people: a line for each thing that is known."""
    from sluice.report.wording import VERDICT_WORDS, figure, rule_words

    say(rule_words(of_rule.rule), style="bold")
    for title, text in (
        ("About", of_rule.about), ("It asks", of_rule.asks), ("In a policy", of_rule.example),
    ):  # fmt: skip
        if text:
            say(f"  {title}: {text}")
    if dossier is not None:
        found = findings_by(of_rule.rule, dossier)
        say(f"  In {dossier.release}, under the policy {dossier.policy} {dossier.policy_version}:")
        for each in found:
            figures = "" if each.observed is None else f" Figure: {figure(each.observed)}"
            figures += "" if not figures or each.limit is None else f", limit: {figure(each.limit)}"
            stage = f" ({each.stage} data)" if each.stage in ("original", "masked") else ""
            word = VERDICT_WORDS[each.verdict].word + ("" if each.binding else ", reported only")
            say(f"    - {word}{stage}: {each.says}{figures and figures + '.'}")
            for where in each.where:
                say(f"        {where}")
        if not found:
            say("    nothing was asked or found by it.")
    for title, text in (("What usually helps", of_rule.helps), ("Where it could not be measured", of_rule.needs)):
        if text:
            say(f"  {title}: {text}")
    if of_rule.source:
        say(f"  {of_rule.source}")


def findings_by(rule: str, dossier: "Dossier | None") -> list[Any]:
    """What it found: of the rule itself, and of its parts such as 'contract.kind' of 'contract'."""
    return [each for each in dossier.findings if f"{each.rule}.".startswith(f"{rule}.")] if dossier else []
