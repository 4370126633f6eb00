"""The commands on microdata outside a release.

They try a masking plan, assess a file that was masked elsewhere, put plans and files on one risk-utility map, and
answer about a confidential column by intervals.
"""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.terminal import BLOCKED, DONE, AsJson, note, out, print_json, say, show_remarks, waiting
from sluice.ground.verdict import Verdict

camouflage_app = typer.Typer()

compare_app = typer.Typer()

microdata_app = typer.Typer()


@microdata_app.command()
def mask(
    source: Annotated[Path, typer.Argument(metavar="INPUT", help="a CSV or Parquet file")],
    plan: Annotated[Path, typer.Option("--plan", help="masking steps (YAML): a list, or a release definition")],
    output: Annotated[Path, typer.Option("--output", "-o", help="where to write: .csv or .parquet")],
    contract: Annotated[Path | None, typer.Option("--contract", help="what the variables are; else inferred")] = None,
    seed_file: Annotated[
        Path | None, typer.Option("--seed-file", help="a whole number, to make the same file again; made if absent")
    ] = None,
    household: Annotated[str | None, typer.Option("--household", help="its column; without contract")] = None,
    weight: Annotated[str | None, typer.Option("--weight", help="its column; without contract")] = None,
    kind: Annotated[
        list[str] | None, typer.Option("--kind", metavar="COLUMN=KIND", help="such as roof=nominal; without contract")
    ] = None,
    accept_broken_rules: Annotated[
        bool, typer.Option("--accept-broken-rules", help="write it though records break rules of the contract anew")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Try a masking plan on a file; nothing is judged, recorded or published."""
    from tasks.workbench.file_masking import (
        NOT_JUDGED,
        kinds_given,
        mask_file,
        told_of_absent,
        told_of_emptied,
        told_of_impossible,
    )

    with waiting(as_json):
        made = mask_file(
            source,
            plan,
            output,
            contract_file=contract,
            seed_file=seed_file,
            household=household,
            weight=weight,
            kinds=kinds_given(kind or []),
            accept_broken_rules=accept_broken_rules,
        )
    kinds = {name: str(variable.kind) for name, variable in made.variables.items()}
    if as_json:
        made_files = {"output": str(made.output), "descriptor": str(made.descriptor), "records": made.records}
        reading = [remark.model_dump() for remark in made.remarks]
        print_json(
            made_files
            | {"judged": False, "steps": made.steps, "variables": kinds, "inferred": made.inferred, "reading": reading}
            | {"emptied": made.emptied, "impossible": made.impossible}
        )
        return
    if made.inferred:
        inferred = ", ".join(f"{name} {kind}" for name, kind in kinds.items())
        note(f"no contract, so the kinds were inferred (--kind COLUMN=KIND says otherwise): {inferred}", "yellow")
        if absent := told_of_absent(made.variables.values()):
            note(absent, "yellow")
    show_remarks(made.remarks)
    for step in made.steps:
        say(f"  {step}")
    for told in filter(None, (told_of_emptied(made.emptied), told_of_impossible(made.impossible))):
        note(told, "yellow")
    say(f"{made.output}: {made.records:,} records. {NOT_JUDGED}")


@microdata_app.command()
def assess(
    original: Annotated[Path, typer.Argument(metavar="ORIGINAL", help="the confidential records, CSV or Parquet")],
    masked: Annotated[Path, typer.Argument(metavar="MASKED", help="anybody's masked or synthetic file of them")],
    contract: Annotated[
        Path | None, typer.Option("--contract", help="what the original is; else drafted from it")
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option("--policy", help="a file, or the name of a shipped policy; else public-use-file"),
    ] = None,
    holdout: Annotated[Path | None, typer.Option("--holdout", help="records of people who are in neither file")] = None,
    paired: Annotated[bool, typer.Option("--paired", help="row i is the same person in both files")] = False,
    report: Annotated[Path | None, typer.Option("--report", help="write the report here (HTML)")] = None,
    as_json: AsJson = False,
) -> None:
    """Judge a file that was masked elsewhere, as a release would be: measures, verdict, report. Publishes nothing."""
    from flows.cli.listing import show_dossier
    from sluice.report.first_screen import first_screen
    from sluice.report.headline import headline
    from tasks.workbench.assess import assess_files

    with waiting(as_json):
        dossier = assess_files(
            original, masked, contract, policy, holdout_file=holdout, paired=paired, report_file=report
        )
    facts = {"verdict": dossier.verdict.name, "says": headline(dossier)}
    if report:
        facts["report"] = str(report)
    for notice in dossier.notices:
        note(notice, "yellow")
    if as_json:
        findings = [finding.model_dump(mode="json") | {"verdict": finding.verdict.name} for finding in dossier.findings]
        shown_first = first_screen(dossier).model_dump(mode="json")
        reading = [remark.model_dump() for remark in dossier.reading]
        print_json(
            facts
            | {"first_screen": shown_first, "notices": dossier.notices, "findings": findings, "reading": reading}
            | {"hashes": dossier.hashes}
        )
    else:
        show_dossier(out, first_screen(dossier), facts, dossier)
    raise typer.Exit(DONE if dossier.verdict is Verdict.PASS else BLOCKED)


@compare_app.command()
def compare(
    plans: Annotated[
        list[str],
        typer.Argument(metavar="A B C ...", help="a release definition (YAML), a release's id, or a masked file"),
    ],
    output: Annotated[Path | None, typer.Option("--output", "-o", help="write the page here (HTML)")] = None,
    svg: Annotated[Path | None, typer.Option("--svg", help="write the map alone here (SVG)")] = None,
    loss: Annotated[str, typer.Option("--loss", help="the measure of utility that is drawn")] = "pair_marginals",
    risk: Annotated[
        str, typer.Option("--risk", help="margin (the worst of all rules that decide), a rule, or dr")
    ] = "margin",
    original: Annotated[
        Path | None, typer.Option("--original", help="the original of masked files, CSV or Parquet")
    ] = None,
    contract: Annotated[
        Path | None, typer.Option("--contract", help="of masked files: contract of the original; else drafted")
    ] = None,
    policy: Annotated[
        Path | None,
        typer.Option(
            "--policy",
            help="of masked files: a file, or the name of a shipped policy; else public-use-file",
        ),
    ] = None,
    holdout: Annotated[
        Path | None, typer.Option("--holdout", help="of masked files: records of people who are in none of them")
    ] = None,
    paired: Annotated[
        bool, typer.Option("--paired", help="of masked files: row i is the same person as in the original")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Compare plans: what each keeps, discloses and fails, with a risk-utility map.

    A definition is judged as by `sluice check`, a masked file as by `sluice assess`. Nothing is published.
    """
    from sluice.custody.workspace import open_workspace
    from sluice.ground.errors import DataError
    from tasks.workbench.compare import Original, candidates, refuse_unfit
    from tasks.workbench.compare import compare as put_together

    if contract is not None and original is None:
        raise DataError("--contract says what the original is: name that, too, with --original.")
    behind = Original(original, contract, policy, holdout, paired) if original else None
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
            passes = Verdict[plan.verdict] is Verdict.PASS
            front = ", on the front" if point.on_front and passes else ""  # what does not pass is no choice
            by = f" ({rule_words(point.worst)})" if point.worst else ""
            say(f"{point.letter}  {point.name}: {point.verdict}{front}", style="bold")
            say(f"   {rule_words(made.map.loss.name)} {loss_in_words(point)}, risk {risk_in_words(point)}{by}")
            if plan.kept:
                say(f"   {plan.kept.in_words()}")
            if not passes:
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
    """Answer sums, means and extremes by intervals that contain the truth and disclose no single value."""
    from flows.cli.table_options import names_given
    from sluice.ground.errors import DocumentError
    from tasks.workbench.camouflaged_file import NOT_JUDGED as NOTHING_JUDGED
    from tasks.workbench.camouflaged_file import camouflage_file

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
        f"tell one more exactly than to {made.width:g}. {NOTHING_JUDGED}"
    )
