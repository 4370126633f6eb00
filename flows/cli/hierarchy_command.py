"""The commands on hierarchies: build, draft, check and show them."""

from pathlib import Path
from typing import Annotated, Any

import typer

from flows.cli.terminal import DONE, ERROR, AsJson, note, out, print_json, say
from sluice.ground.errors import DocumentError

hierarchy_app = typer.Typer(
    help="Build, draft, check and show the hierarchies along which values are generalised.", no_args_is_help=True
)

Contract = Annotated[Path | None, typer.Option("--contract", help="the contract that declares the variable")]
OfVariable = Annotated[str | None, typer.Option("--variable", help="its name in the contract")]
Data = Annotated[Path | None, typer.Option("--data", help="records, CSV or Parquet")]
Column = Annotated[str | None, typer.Option("--column", help="of the data; the variable's name when not given")]


@hierarchy_app.command()
def build(
    written: Annotated[
        str,
        typer.Argument(metavar="HOW", help="as a contract writes it: 'intervals: [5, 10, 20], highest: 80'"),
    ],
    contract: Contract = None,
    variable: OfVariable = None,
    minimum: Annotated[str | None, typer.Option("--minimum", help="without contract: a whole number or a date")] = None,
    maximum: Annotated[str | None, typer.Option("--maximum", help="without contract: a whole number or a date")] = None,
    categories: Annotated[
        str | None, typer.Option("--categories", metavar="A,B,...", help="without contract: the values")
    ] = None,
    ordered: Annotated[bool, typer.Option("--ordered", help="the categories are in rising order")] = False,
    output: Annotated[Path | None, typer.Option("--output", "-o", help="write here instead of to the screen")] = None,
) -> None:
    """Build a hierarchy over a declared domain, and write it as CSV: a leaf a line."""
    from sluice.ground.durable import replace
    from sluice.sources.hierarchy_file import hierarchy_csv
    from tasks.workbench.hierarchies import built_hierarchy
    from tasks.workbench.tabular_file import refuse_unfit_csv

    if output is not None:
        refuse_unfit_csv(output, [contract])
    domain = _declared(contract, variable) or _domain(minimum, maximum, categories, ordered)
    made = built_hierarchy(written, domain)
    text = hierarchy_csv(made)
    if output is None:
        print(text, end="")
        return
    replace(output, text.encode(), 0o644)
    say(f"{output}: {len(made.rows):,} leaves, {made.depth} levels above them")


@hierarchy_app.command()
def draft(
    data: Annotated[Path, typer.Argument(metavar="DATA", help="records, CSV or Parquet")],
    contract: Contract = None,
    variable: OfVariable = None,
    column: Column = None,
    groups: Annotated[int, typer.Option("--groups", min=2, help="of the narrowest level")] = 8,
    minimum_cell: Annotated[
        int, typer.Option("--minimum-cell", min=2, help="values of fewer records count as absent")
    ] = 10,
) -> None:
    """Draft a hierarchy balanced by the records, as a line for the contract, without rare values."""
    from sluice.generalization.draft import draft_hierarchy
    from sluice.ground.visible_text import json_text
    from tasks.workbench.hierarchies import value_counts

    declared = _declared(contract, variable)
    if declared is None:
        raise DocumentError("a draft needs a contract: it names no value that is not declared", field="--contract")
    counts = value_counts(data, column or declared.name, declared)
    made = draft_hierarchy(declared, counts, minimum_cell, groups)
    print(f"hierarchy: {json_text(made.model_dump(mode='json', exclude_defaults=True))}")
    note("a draft: look at it, name its groups, then put it under the variable in the contract.")


@hierarchy_app.command()
def check(
    source: Annotated[Path, typer.Argument(metavar="FILE", help="CSV: a leaf a line, or columns code and parent")],
    contract: Contract = None,
    variable: OfVariable = None,
    data: Data = None,
    column: Column = None,
    as_json: AsJson = False,
) -> None:
    """Check a hierarchy: its form, names, and whether it covers a contract and the data. Exit code 1 if not."""
    from tasks.workbench.hierarchies import check_hierarchy

    made, remarks = check_hierarchy(source, _declared(contract, variable), data, column)
    faults = [remark.says for remark in remarks if remark.fault]
    others = [remark.says for remark in remarks if not remark.fault]
    if as_json:
        print_json({"leaves": len(made.rows), "levels": made.depth, "faults": faults, "remarks": others})
    else:
        say(f"{source}: {len(made.rows):,} leaves, {made.depth} levels above them")
        for fault in faults:
            say(f"  fault: {fault}", "red")
        for other in others:
            say(f"  look: {other}", "yellow")
        if not remarks:
            say("  nothing is wrong with it")
    raise typer.Exit(ERROR if faults else DONE)


@hierarchy_app.command()
def show(
    source: Annotated[Path, typer.Argument(metavar="SOURCE", help="a CSV file of a hierarchy, or a contract")],
    variable: Annotated[str | None, typer.Option("--variable", help="of the contract")] = None,
    data: Data = None,
    column: Column = None,
    minimum_cell: Annotated[
        int, typer.Option("--minimum-cell", min=2, help="a level with smaller groups has no counts")
    ] = 10,
    most: Annotated[
        int | None, typer.Option("--most", min=2, help="parts of a group that are shown; else as many as fit")
    ] = None,
    svg: Annotated[Path | None, typer.Option("--svg", help="write the picture here")] = None,
    png: Annotated[Path | None, typer.Option("--png", help="write the picture here")] = None,
    html: Annotated[Path | None, typer.Option("--html", help="write a page with the picture here")] = None,
    as_json: AsJson = False,
) -> None:
    """Show a hierarchy as a tree, and its levels; with data, how many records the groups hold."""
    from sluice.custody.shelf import refuse_to_overwrite
    from sluice.generalization.hierarchy_review import outline, summaries
    from sluice.ground.durable import replace
    from tasks.workbench.hierarchies import declared_variable, hierarchy_in, value_counts
    from tasks.workbench.hierarchy_picture import page, picture

    for option, file in (("--svg", svg), ("--png", png), ("--html", html)):
        if file is not None:
            refuse_to_overwrite(file, [source, data], option=option)
    made = hierarchy_in(source, variable)
    is_contract = source.suffix in (".yaml", ".yml")
    declared = declared_variable(source, variable) if is_contract and variable else None
    name = column or (declared.name if declared else None)
    if data is not None and name is None:
        raise DocumentError("name the column of the data that holds the values", field="--column")
    counts = value_counts(data, name, declared) if data is not None and name else None
    branches = outline(made, most, counts, minimum_cell)
    says = [_level(summary, minimum_cell) for summary in summaries(made, counts, minimum_cell)]
    title = declared.name if declared else source.name.split(".")[0]
    if svg is not None:
        replace(svg, picture(branches, title, "svg"), 0o644)
    if png is not None:
        replace(png, picture(branches, title, "png"), 0o644)
    if html is not None:
        replace(html, page(branches, title, says), 0o644)
    if as_json:
        print_json({"leaves": len(made.rows), "levels": says, "rows": {k: list(v) for k, v in made.rows.items()}})
        return
    out.print(_tree(title, branches))
    for line in says:
        say(line)


def _declared(contract: Path | None, variable: str | None) -> Any:
    """The variable of the contract; None without one. Raises DocumentError where one of the two is missing."""
    from tasks.workbench.hierarchies import declared_variable

    if (contract is None) != (variable is None):
        raise DocumentError("--contract and --variable go together: name both, or neither")
    return None if contract is None or variable is None else declared_variable(contract, variable)


def _domain(minimum: str | None, maximum: str | None, categories: str | None, ordered: bool) -> Any:
    """A variable of the domain that the options declare. Raises DocumentError."""
    from sluice.documents.document_reading import parse_document
    from sluice.ground.variables import Kind, Variable

    if categories is not None:
        values = tuple(value.strip() for value in categories.split(","))
        given: dict[str, Any] = {"kind": Kind.ORDINAL if ordered else Kind.NOMINAL, "categories": values}
    elif minimum is not None and maximum is not None:
        is_date = "-" in minimum[1:]
        given = {"kind": Kind.DATE if is_date else Kind.INTEGER, "minimum": minimum, "maximum": maximum}
    else:
        given = {"kind": Kind.NOMINAL}  # for parents and times of day, which bring their leaves
    return parse_document(Variable, {"name": "the variable", **given}, "the domain")


def _level(summary: Any, minimum_cell: int) -> str:
    ends = sorted({summary.smallest, summary.largest})
    groups = "group" if summary.groups == 1 else "groups"
    what = "leaves" if summary.level == 0 else f"{groups} of {' to '.join(f'{end:,}' for end in ends)} leaves"
    few = "" if summary.below_cell is None else f"; {summary.below_cell:,} with fewer than {minimum_cell} records"
    return f"level {summary.level}: {summary.groups:,} {what}{few}"


def _tree(title: str, branches: Any) -> Any:
    from rich.text import Text
    from rich.tree import Tree

    from sluice.generalization.hierarchy_review import parts_in_order
    from sluice.ground.visible_text import one_line
    from tasks.workbench.hierarchy_picture import label

    def grow(tree: Tree, branch: Any) -> None:
        twig = tree.add(Text(one_line(label(branch))))
        for part in parts_in_order(branch):
            twig.add(Text(part)) if isinstance(part, str) else grow(twig, part)

    tree = Tree(Text(one_line(title)))
    for branch in branches:
        grow(tree, branch)
    return tree
