"""The command that explains a rule: what it asks and why, what it found in a release, and what usually helps."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from flows.cli.terminal import AsJson, print_json, release_ids, say

if TYPE_CHECKING:
    from sluice.report.dossier import Dossier

explain_app = typer.Typer()


def rules_beginning(incomplete: str) -> list[str]:
    """The rules, measures and checks whose names begin so, for the completion of a shell."""
    from tasks.checks import explained

    return [name for name in explained() if name.startswith(incomplete)]


Rule = Annotated[
    str | None,
    typer.Argument(
        metavar="[RULE]",
        help="its name, as a policy, a report or a finding has it, such as k_anonymity; all names, if not given",
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
    """Explain a rule, a measure or a check: what it asks and why, what it found in a release, what usually helps."""
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
