"""The commands on microdata outside a release: try a masking plan, assess a file that was masked elsewhere."""

from pathlib import Path
from typing import Annotated

import typer

from flows.cli.terminal import BLOCKED, DONE, AsJson, note, out, print_json, say, waiting
from sluice.ground.verdict import Verdict

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
    as_json: AsJson = False,
) -> None:
    """Try a masking plan on a file: nothing is judged, recorded or published, and the result says so."""
    from tasks.workbench.file_masking import NOT_JUDGED, kinds_given, mask_file

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
        )
    kinds = {name: str(variable.kind) for name, variable in made.variables.items()}
    if as_json:
        made_files = {"output": str(made.output), "descriptor": str(made.descriptor), "records": made.records}
        print_json(made_files | {"judged": False, "steps": made.steps, "variables": kinds, "inferred": made.inferred})
        return
    if made.inferred:
        inferred = ", ".join(f"{name} {kind}" for name, kind in kinds.items())
        note(f"no contract, so the kinds were inferred (--kind COLUMN=KIND says otherwise): {inferred}", "yellow")
    for step in made.steps:
        say(f"  {step}")
    say(f"{made.output}: {made.records:,} records. {NOT_JUDGED}")


@microdata_app.command()
def assess(
    original: Annotated[Path, typer.Argument(metavar="ORIGINAL", help="the confidential records, CSV or Parquet")],
    masked: Annotated[Path, typer.Argument(metavar="MASKED", help="anybody's masked or synthetic file of them")],
    contract: Annotated[Path, typer.Option("--contract", help="what the original is")],
    policy: Annotated[Path | None, typer.Option("--policy", help="what must hold; else the public-use policy")] = None,
    holdout: Annotated[Path | None, typer.Option("--holdout", help="records of people who are in neither file")] = None,
    paired: Annotated[bool, typer.Option("--paired", help="row i is the same person in both files")] = False,
    report: Annotated[Path | None, typer.Option("--report", help="write the report here (HTML)")] = None,
    as_json: AsJson = False,
) -> None:
    """Judge a file that was masked elsewhere, as a release would be: measures, verdict, report. Publishes nothing."""
    from flows.cli.listing import show_dossier
    from sluice.report.headline import headline
    from tasks.workbench.assess import assess_files

    with waiting(as_json):
        dossier = assess_files(
            original, masked, contract, policy, holdout_file=holdout, paired=paired, report_file=report
        )
    facts = {"verdict": dossier.verdict.name, "says": headline(dossier)}
    if report:
        facts["report"] = str(report)
    if as_json:
        findings = [finding.model_dump(mode="json") | {"verdict": finding.verdict.name} for finding in dossier.findings]
        print_json(facts | {"findings": findings, "hashes": dossier.hashes})
    else:
        show_dossier(out, facts, dossier)
    raise typer.Exit(DONE if dossier.verdict is Verdict.PASS else BLOCKED)
