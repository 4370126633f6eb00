"""The command that puts plans, releases and masked files on one risk-utility map."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.terminal import DONE, AsJson, note, print_json, say

compare_app = typer.Typer()


@compare_app.command()
def compare(
    plans: Annotated[
        list[str],
        typer.Argument(metavar="A B C ...", help="each a release definition (YAML), a release's id, or a masked file"),
    ],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="write the page here (HTML)")] = None,
    svg: Annotated[Path | None, typer.Option("--svg", help="write the map alone here (SVG)")] = None,
    loss: Annotated[str, typer.Option("--loss", help="the measure of utility that is drawn")] = "pair_marginals",
    risk: Annotated[
        str, typer.Option("--risk", help="margin: the worst of all rules that decide; a rule; or dr: of the score")
    ] = "margin",
    original: Annotated[
        Path | None, typer.Option("--original", help="of masked files: the confidential records, CSV or Parquet")
    ] = None,
    contract: Annotated[Path | None, typer.Option("--contract", help="of masked files: what the original is")] = None,
    policy: Annotated[
        Path | None, typer.Option("--policy", help="of masked files: what must hold; else the public-use policy")
    ] = None,
    holdout: Annotated[
        Path | None, typer.Option("--holdout", help="of masked files: records of people who are in none of them")
    ] = None,
    paired: Annotated[
        bool, typer.Option("--paired", help="of masked files: row i is the same person as in the original")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Compare plans: what each keeps, what each tells, where each fails, and all of them on a risk-utility map.

    A definition is checked as `sluice check` does; of a release, what was judged is read; a masked file is judged as
    `sluice assess` does. Nothing is published.
    """
    from sluice.custody.workspace import open_workspace
    from sluice.ground.errors import DataError
    from tasks.workbench.compare import Original, candidates, refuse_unfit
    from tasks.workbench.compare import compare as put_together

    if (original is None) != (contract is None):
        raise DataError("--original and --contract go together: a masked file is compared with the one by the other.")
    behind = Original(original, contract, policy, holdout, paired) if original and contract else None
    workspace = open_workspace()
    found = candidates(plans, workspace, behind)
    refuse_unfit(found, behind, output, svg, loss)  # before anything is judged, which may take long
    checked = _checked(found.definitions, as_json)
    made = put_together(found, checked, workspace, behind, output, svg=svg, loss=loss, risk=risk)
    if as_json:
        print_json(made.model_dump(mode="json"))
    else:
        from sluice.ground.verdict import Verdict
        from sluice.report.comparison_page import loss_in_words, risk_in_words
        from sluice.report.wording import rule_words

        for remark in made.map.notes:
            note(f"note: {remark}", "yellow")
        for point, plan in zip(made.map.points, made.plans, strict=True):
            front = ", on the front" if point.on_front else ""
            by = f" ({rule_words(point.worst)})" if point.worst else ""
            say(f"{point.letter}  {point.name}: {point.verdict}{front}", style="bold")
            say(f"   {rule_words(made.map.loss.name)} {loss_in_words(point)}, risk {risk_in_words(point)}{by}")
            if plan.kept:
                say(f"   {plan.kept.in_words()}")
            if Verdict[plan.verdict] is not Verdict.PASS:
                say(f"   {plan.says}")
        for path in (output, svg):
            if path:
                say(f"written: {path}")
    raise typer.Exit(DONE)


def _checked(definitions: dict[str, Path], as_json: bool) -> dict[str, str]:
    """Of each definition, the release that its check made. A wrong document is said before any check starts."""
    from flows.cli.terminal import progress
    from sluice.custody.workspace import open_workspace
    from sluice.ground.errors import DataError
    from tasks.release.products import load_product
    from tasks.release.records.record_product import Records

    products = {one: load_product(path, open_workspace()) for one, path in definitions.items()}
    for one, product in products.items():
        if not isinstance(product, Records):
            raise DataError(f"{one} publishes tables; only files of records can be compared.")
    checked = {}
    for one, product in products.items():
        if not as_json:
            note(f"checking {one}")
        with progress(as_json):
            from flows.follow_up import run_flow

            checked[one] = run_flow(product, rehearse=True).release
    return checked
