"""The commands on tables outside a release: protect a table, audit anybody's suppression pattern."""

from pathlib import Path
from typing import Annotated, Any

import typer

from flows.cli.terminal import BLOCKED, DONE, AsJson, note, out, print_json
from sluice.settings import settings

tables_app = typer.Typer()

_FEW = 10

Hierarchies = Annotated[
    list[str] | None,
    typer.Option(
        "--hierarchy", metavar="NAME=FILE", help="of each dimension: code,parent; a name again is a further grouping"
    ),
]
Rules = Annotated[
    list[str] | None, typer.Option("--rule", metavar="RULE=NUMBERS", help="such as p_percent=10 or dominance=2,85")
]
Tables = Annotated[
    list[str] | None, typer.Option("--table", metavar="NAME,NAME", help="dimensions of one of several linked tables")
]
Value = Annotated[str | None, typer.Option("--value", help="the column that is added up; else records are counted")]
Contributor = Annotated[str | None, typer.Option("--contributor", help="the column that tells whose a record is")]
Holding = Annotated[str | None, typer.Option("--holding", help="the column that tells to whom a contributor belongs")]
Weight = Annotated[str | None, typer.Option("--weight", help="the column of sampling weights")]
WeightRule = Annotated[
    str | None,
    typer.Option("--weight-rule", help="argus: w contributors of that size; gconfid_exact: one of w times it"),
]
Negative = Annotated[str, typer.Option("--negative", help="refuse; absolute: rules look at sizes without sign")]
Missing = Annotated[str, typer.Option("--missing", help="values: refuse; leave_out: leave the record out")]
Duplicates = Annotated[
    str, typer.Option("--duplicates", help="of a contributor in one cell of the lowest level: refuse; add")
]
Decimals = Annotated[int | None, typer.Option("--decimals", help="of the totals; else as many as the values have")]
Coalition = Annotated[int, typer.Option("--coalition", min=0, max=3, help="contributors who pool what they know")]
Workers = Annotated[
    int | None, typer.Option("--workers", min=1, help="processes to work with, for large tables; else SLUICE_WORKERS")
]


@tables_app.command("protect-table")
def protect_table(
    source: Annotated[Path, typer.Argument(metavar="MICRO", help="the records, CSV or Parquet")],
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", help="a .csv file for the cells of all tables, or a folder for a file of each table"
        ),
    ],
    hierarchy: Hierarchies = None,
    rule: Rules = None,
    value: Value = None,
    contributor: Contributor = None,
    holding: Holding = None,
    weight: Weight = None,
    weight_rule: WeightRule = None,
    negative: Negative = "refuse",
    missing: Missing = "refuse",
    duplicates: Duplicates = "refuse",
    decimals: Decimals = None,
    table: Tables = None,
    method: Annotated[
        str,
        typer.Option(
            "--method",
            metavar="NAME=NUMBERS",
            help="suppression, or a change of values: controlled_rounding=BASE, small_count_rounding=BASE, "
            "controlled_adjustment=CAP,SPREAD, cell_key=MAXIMUM,VARIANCE,THRESHOLD, noise_multipliers=LEAST,SPREAD",
        ),
    ] = "suppression",
    cost: Annotated[
        str | None,
        typer.Option("--cost", help="of suppression: value (if not given), cells, contributors, scaled_information"),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option("--mode", help="of suppression: fast (if not given); optimise: slower, with a proven bound"),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", help="a budget for suppression: safe in any case, as cheap as it gets meanwhile"),
    ] = None,
    intervals: Annotated[
        bool, typer.Option("--intervals", help="write the interval of each suppressed cell that anybody could compute")
    ] = False,
    synthetic: Annotated[
        bool,
        typer.Option(
            "--synthetic", help="write for each suppressed cell a synthetic value that fits the published ones"
        ),
    ] = False,
    a_priori: Annotated[
        Path | None, typer.Option("--a-priori", help="CSV of cells that a person has decided on: codes, status")
    ] = None,
    waivers: Annotated[
        Path | None,
        typer.Option("--waivers", help="YAML list, as in a policy: sensitive cells that --a-priori may have published"),
    ] = None,
    previous: Annotated[
        Path | None,
        typer.Option(
            "--previous", help="cells published before, as --output writes them: suppressed again, judged together"
        ),
    ] = None,
    seed_file: Annotated[
        Path | None,
        typer.Option(
            "--seed-file", help="a secret, made if absent: of what draws, and of noise on the costs of suppression"
        ),
    ] = None,
    tell_primary: Annotated[
        bool, typer.Option("--tell-primary", help="write primary and secondary instead of suppressed")
    ] = False,
    coalition: Coalition = 1,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Protect a table as a release would, by suppressing cells or changing values; written only if nothing fails."""
    from flows.cli.search_progress import search_progress
    from flows.cli.table_options import dimensions_given, files_given, method_given, rules_given, tables_given
    from sluice.custody.durable import refuse_to_overwrite
    from sluice.errors import DocumentError
    from tasks.workbench.protect import protect_table as protect

    measure = measure_given(value, contributor, holding, weight, weight_rule, negative, missing, duplicates, decimals)
    chosen = method_given(
        method, mode=mode, cost=cost, seconds=seconds, intervals=intervals or None, synthetic=synthetic or None
    )
    if waivers is not None and a_priori is None:
        raise DocumentError("--waivers: give --a-priori, too, which says what should be published")
    refuse_to_overwrite(output, files_given(hierarchy or []))
    with search_progress(as_json) as progress:
        made = protect(
            source,
            dimensions_given(hierarchy or []),
            measure,
            rules_given(rule or []),
            output,
            tables=tables_given(table or []),
            method=chosen,
            a_priori=a_priori,
            waivers=waivers,
            previous=previous,
            seed_file=seed_file,
            coalition=coalition,
            tell_primary=tell_primary,
            workers=workers or settings().workers,
            progress=progress,
        )
    summary = made.summary()
    written = [str(file) for file in made.files]
    if as_json:
        print_json({"output": str(output) if written else None, "files": written, **summary})
    else:
        _print_protection(summary, written, made.method.describe())
    if not made.files:
        raise typer.Exit(BLOCKED)


def _print_protection(summary: dict[str, Any], written: list[str], method: str) -> None:
    """What was done and what was found, in words."""
    sensitive = ", ".join(f"{count:,} by {name}" for name, count in summary["sensitive"].items())
    out.print(f"{summary['cells']:,} cells; sensitive: {sensitive}", soft_wrap=True)
    if "primary" in summary:
        out.print(
            f"suppressed: {summary['primary']:,} primary, {summary['secondary']:,} secondary; value "
            f"{summary['suppressed_value']}, {summary['suppressed_share']:.2%} of all cells' values",
            soft_wrap=True,
        )
    else:
        out.print(method, soft_wrap=True)
    if "proven_bound" in summary:
        out.print(
            f"cost {summary['cost']:g}; no safe pattern costs less than {summary['proven_bound']:g}", soft_wrap=True
        )
    for count, what in (
        (summary["records_left_out"], "had no value and were left out"),
        (summary["records_added_up"], "were added to another of the same contributor"),
    ):
        if count:
            out.print(f"{count:,} records {what}", soft_wrap=True)
    if "attacks" in summary:
        _print_audit(summary)
    for finding in summary["findings"]:
        if finding["rule"] == "table_audit" and "attacks" in summary:
            continue  # said in full already
        waived = f" Waived by {finding['waiver']}" if finding["waiver"] else ""
        out.print(f"{finding['rule']}: {finding['verdict']}. {finding['says']}{waived}", soft_wrap=True)
    out.print(f"{', '.join(written)}, {summary['seconds']:.1f} s" if written else "nothing is written.", soft_wrap=True)
    if written and summary["verdict"] == "REVIEW":
        note("Not everything passed: somebody should decide before this goes anywhere.", "yellow")


@tables_app.command("audit-table")
def audit_table(
    source: Annotated[Path, typer.Argument(metavar="CELLS", help="the cells: codes, status, value; CSV, or a folder")],
    hierarchy: Hierarchies = None,
    microdata: Annotated[Path | None, typer.Option("--microdata", help="the records, for the whole audit")] = None,
    rule: Rules = None,
    value: Value = None,
    contributor: Contributor = None,
    holding: Holding = None,
    weight: Weight = None,
    weight_rule: WeightRule = None,
    negative: Negative = "refuse",
    missing: Missing = "refuse",
    duplicates: Duplicates = "refuse",
    decimals: Decimals = None,
    table: Tables = None,
    known: Annotated[
        Path | None,
        typer.Option("--known", help="CSV of what an attacker knows of cells beforehand: codes, lower, upper"),
    ] = None,
    within: Annotated[
        float | None, typer.Option("--within", min=0, max=100, help="percent: so near is a breach; without microdata")
    ] = None,
    coalition: Coalition = 1,
    repair: Annotated[
        Path | None,
        typer.Option("--repair", help="with microdata: where to write an unsafe table with further cells suppressed"),
    ] = None,
    workers: Workers = None,
    as_json: AsJson = False,
) -> None:
    """Attack a suppression pattern, whoever made it: what can be computed from it, by anybody and by contributors?

    Without microdata, --rule is for a table of counts, one contributor each: readers know the rule, too.
    """
    from flows.cli.table_options import dimensions_given, files_given, rules_given, tables_given
    from sluice.custody.durable import refuse_to_overwrite
    from sluice.errors import DocumentError
    from tasks.workbench.audit import audit_with_records
    from tasks.workbench.audit_published import audit_published

    dimensions, tables = dimensions_given(hierarchy or []), tables_given(table or [])
    if microdata is None:
        of_records = {
            "--value": value,
            "--contributor": contributor,
            "--holding": holding,
            "--weight": weight,
            "--repair": repair,
        }
        given = [option for option, what in of_records.items() if what]
        if given:
            raise DocumentError(f"{', '.join(given)}: only the records can tell; give --microdata, too")
        found = audit_published(
            source,
            dimensions,
            tables=tables,
            rules=rules_given(rule or []),
            known=known,
            within=within,
            nonnegative=_refuses(negative),
            workers=workers or settings().workers,
        )
    else:
        if within is not None:
            raise DocumentError("--within: with --microdata, the rules tell how near is too near")
        measure = measure_given(
            value, contributor, holding, weight, weight_rule, negative, missing, duplicates, decimals
        )
        if repair is not None:
            refuse_to_overwrite(repair, files_given(hierarchy or []))
        found = audit_with_records(
            source,
            dimensions,
            microdata,
            measure,
            rules_given(rule or []),
            tables=tables,
            known=known,
            coalition=coalition,
            repair=repair,
            workers=workers or settings().workers,
        )
    summary = found.summary()
    if as_json:
        print_json(summary)
    else:
        primary, secondary = summary["primary"], summary["secondary"]
        apart = "" if primary is None else f": {primary:,} primary, {secondary:,} secondary"
        out.print(f"{summary['cells']:,} cells, {summary['suppressed']:,} suppressed{apart}", soft_wrap=True)
        if summary["with_records"]:
            _print_audit(summary)
        else:
            _print_intervals(summary)
        if repair is not None:
            _print_repair(summary.get("repaired"))
        out.print(f"{summary['seconds']:.1f} s")
    mended = found.repaired is not None and found.repaired.safe
    raise typer.Exit(DONE if found.safe or mended else BLOCKED)


def _print_repair(repaired: dict[str, Any] | None) -> None:
    """What came of the repair, in words."""
    if repaired is None:
        out.print("repair: the table is safe as it is; nothing is written.", soft_wrap=True)
    elif not repaired["safe"]:
        out.print("repair: no safe pattern was found; nothing is written.", soft_wrap=True)
    else:
        out.print(
            f"repair: {repaired['added']:,} more cells are suppressed, {repaired['suppressed']:,} in all; safe against "
            f"all {repaired['attacks']['attempted']:,} attacks: {', '.join(repaired['files'])}",
            soft_wrap=True,
        )


def measure_given(
    value: str | None,
    contributor: str | None,
    holding: str | None,
    weight: str | None,
    weight_rule: str | None,
    negative: str,
    missing: str,
    duplicates: str,
    decimals: int | None,
) -> Any:
    """How to read records, as the options say. Raises DataError."""
    from sluice.tabular.model.measure import Measure

    return Measure(
        value,
        contributor,
        holding,
        weight,
        weight_rule or "none",  # type: ignore[arg-type]  # it says which are allowed
        negative,  # type: ignore[arg-type]
        missing,  # type: ignore[arg-type]
        duplicates if contributor else "add",  # type: ignore[arg-type]
        decimals,
    )


def _refuses(negative: str) -> bool:
    from sluice.tabular.model.measure import Measure

    return Measure(negative=negative).negative == "refuse"  # type: ignore[arg-type]


def _print_audit(summary: dict[str, Any]) -> None:
    """What came of the attacks, in words."""
    breaches, attacks = summary["breaches"], summary["attacks"]
    if not breaches and attacks["attempted"] == attacks["completed"]:
        says = f"audit: safe against all {attacks['attempted']:,} attacks"
    elif breaches:
        says = f"audit: NOT SAFE, {len(breaches):,} breaches"
    else:
        says = f"audit: UNKNOWN, {attacks['attempted'] - attacks['completed']:,} attacks were not decided"
    out.print(says, soft_wrap=True)
    _print_breaches(breaches)
    if summary["narrowest"]:
        first = dict(summary["narrowest"][0])
        ratio = first.pop("width_per_width_asked")
        name = ", ".join(f"{dimension} {code}" for dimension, code in first.items())
        wide = "just" if f"{ratio:.3g}" == "1" else f"{ratio:.3g} times"
        out.print(f"narrowest: {name}, an interval {wide} as wide as asked", soft_wrap=True)


def _print_intervals(summary: dict[str, Any]) -> None:
    """What anybody can compute, in words."""
    breaches = summary["breaches"]
    if breaches:
        out.print(f"audit: NOT SAFE, {len(breaches):,} breaches", soft_wrap=True)
    elif not summary["complete"]:
        out.print("audit: UNKNOWN, some intervals were not decided", soft_wrap=True)
    else:
        out.print("audit: no cell that may be sensitive can be computed exactly", soft_wrap=True)
    _print_breaches(breaches)
    if summary["with_rules"]:
        out.print("every suppressed cell was taken to be a count that is not 0, as the rules leave it", soft_wrap=True)
    out.print(f"exactly known: {len(summary['exactly_known']):,} suppressed cells", soft_wrap=True)
    for cell in summary["narrowest"]:
        codes = [f"{name} {code}" for name, code in cell.items() if name not in _OF_INTERVAL]
        known = "?" if cell["within_percent"] is None else f"{cell['within_percent']:g} %"
        out.print(
            f"  {', '.join(codes)} ({cell['status']}): {cell['low']} to {cell['high']}, within {known}", soft_wrap=True
        )
    note(
        "Without --microdata only what anybody can tell was looked at: contributors, who know more, were not.", "yellow"
    )


_OF_INTERVAL = ("status", "low", "high", "within_percent")


def _print_breaches(breaches: list[str]) -> None:
    for breach in breaches[:_FEW]:
        out.print(f"  - {breach}", soft_wrap=True)
    if len(breaches) > _FEW:
        out.print(f"  and {len(breaches) - _FEW:,} more (--json lists all)")
