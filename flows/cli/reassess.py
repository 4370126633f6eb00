"""The command that judges again what is public: `sluice reassess`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from flows.cli.terminal import BLOCKED, DONE, UNCHECKED, AsJson, print_json, say
from sluice.ground.verdict import Verdict

reassess_app = typer.Typer()


@reassess_app.command()
def reassess(
    releases: Annotated[
        list[str] | None, typer.Argument(metavar="[ID...]", help="these releases; if none, all that are public")
    ] = None,
    policy: Annotated[
        Path | None, typer.Option("--policy", metavar="FILE", help="what would be if this policy were adopted")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Judge what is public once more: by the policies in force now, and by every attack that Sluice knows by now.

    It changes nothing but the ledger, which has each result as a remark. Exit code 0: all would pass; 2: some would
    not; 4: of some nobody can tell, as their data or seed are gone.
    """
    from flows.reassessment import reassess as judge_again
    from policies.policy import load_policy
    from sluice.custody.workspace import open_workspace

    trial = load_policy(policy) if policy else None
    rows: list[dict[str, Any]] = []
    verdicts = []
    for each in judge_again(open_workspace(), releases or (), trial):
        verdicts.append(each.verdict)
        rows.append(
            {
                "release": each.release,
                "state": each.state,
                "policy": each.policy,
                "verdict": each.verdict.name,
                "reasons": each.reasons,
                "news": each.news,
                "published_since": each.since,
            }
        )
        if not as_json:
            say(f"{each.release} ({each.state}), by the policy {each.policy}: {_WORDS[each.verdict]}", style="bold")
            for reason in each.reasons:
                say(f"  {reason}")
    if as_json:
        print_json(rows)
    elif not rows:
        say("Nothing is public that this policy was for." if trial else "Nothing is public.")
    raise typer.Exit(_code(verdicts))


_WORDS = {
    Verdict.PASS: "would pass",
    Verdict.REVIEW: "would need a decision",
    Verdict.FAIL: "would not pass",
    Verdict.UNKNOWN: "nobody can tell",
}


def _code(verdicts: list[Verdict]) -> int:
    if {Verdict.FAIL, Verdict.REVIEW} & {*verdicts}:
        return BLOCKED
    return UNCHECKED if Verdict.UNKNOWN in verdicts else DONE
