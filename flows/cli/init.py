"""The command that begins with somebody's own data: `sluice init`, a conversation, or a draft for scripts."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from flows.cli.terminal import note, say, show_remarks
from sluice.ground.errors import SluiceError

if TYPE_CHECKING:
    from schemas.reading.overview import Overview
    from schemas.reading.proposal import Proposals
    from tasks.project.own_project import Made, Redrafted, Trying
    from tasks.tuning.first_plan import FirstPlan

init_app = typer.Typer()

# What is read, as other commands ask for it, too.
Source = Annotated[
    str, typer.Argument(metavar="SOURCE", help="a file of any format that is read (docs/reading.md), or a URL")
]
Table = Annotated[str | None, typer.Option("--table", help="the table of a database, or the sheet of a workbook")]
Layout = Annotated[Path | None, typer.Option("--layout", help="layout of a file of fixed width: .rda or .csv")]
Structure = Annotated[
    Path | None, typer.Option("--structure", help="of SDMX-CSV: the structure message (XML) with its code lists")
]
Dictionary = Annotated[
    list[Path] | None,
    typer.Option(
        "--dictionary",
        metavar="FILE",
        help="data dictionary: CSV, Excel, JSON, dbt's manifest.json, DDI, or statements of SAS, SPSS or Stata; may be "
        "given several times",
    ),
]
Columns = Annotated[str, typer.Option("--columns", metavar="A,B,...", help="names for a CSV file without a header")]
Separator = Annotated[str | None, typer.Option("--separator", help="between the cells of a CSV file")]
Decimal = Annotated[str | None, typer.Option("--decimal", help="before the decimals of a CSV file's numbers: . or ,")]
HeaderRow = Annotated[int | None, typer.Option("--header-row", min=1, help="the line or row that names the columns")]
Encoding = Annotated[str | None, typer.Option("--encoding", help="of a text, such as cp1252")]
Dataset = Annotated[str, typer.Option("--dataset", help="name of the data set")]


@init_app.command()
def init(
    source: Source,
    project: Annotated[
        Path | None, typer.Argument(metavar="[PROJECT]", help="the folder to make; else one called as the data set")
    ] = None,
    use: Annotated[
        str | None,
        typer.Option("--for", metavar="USE", help="public, scientific, perturbed, synthetic, business or small"),
    ] = None,
    yes: Annotated[
        bool, typer.Option("--yes", "--non-interactive", help="take every proposal; nothing is asked")
    ] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="write a contract here and nothing else; - for the screen")
    ] = None,
    contract: Annotated[
        Path | None,
        typer.Option("--contract", metavar="FILE", help="draft a plan for this contract, and write a definition alone"),
    ] = None,
    tries: Annotated[
        int | None, typer.Option("--tries", min=0, help="drafts of the plan tried at most; 0 for none")
    ] = None,
    minutes: Annotated[
        float,
        typer.Option(
            "--minutes",
            min=0,
            help="to try drafts, the last judgement included; then the best so far is written",
        ),
    ] = 10,
    keys: Annotated[
        Path | None, typer.Option("--keys", metavar="FOLDER", help="make the keys of three people there, to try alone")
    ] = None,
    dataset: Dataset = "",
    table: Table = None,
    layout: Layout = None,
    structure: Structure = None,
    dictionary: Dictionary = None,
    columns: Columns = "",
    separator: Separator = None,
    decimal: Decimal = None,
    header_row: HeaderRow = None,
    encoding: Encoding = None,
) -> None:
    """Look at your data, draft contract, plan and project from them, and say what to do next."""
    from flows.cli.init_conversation import ask_about_columns, ask_use, show_columns
    from schemas.contract import load_contract
    from schemas.reading.overview import overview, refuse_values_as_names
    from schemas.reading.proposal import propose
    from tasks.project.new_project import refuse_misplaced
    from tasks.project.own_project import own_data, release_name
    from tasks.tuning.audiences import USES

    name = dataset or table or Path(source).name.split(".")[0]
    folder = project or Path(release_name(name))
    # What the options alone say is refused before a large file is read.
    if use is not None and use not in USES:
        raise SluiceError(f"must be one of {', '.join(USES)}; got {use!r}", field="--for")
    _refuse_output(output)
    if contract is not None and (project, output, keys) != (None, None, None):
        raise SluiceError("drafts a plan alone: no PROJECT, --output or --keys beside it", field="--contract")
    if contract is not None:
        load_contract(contract)
    elif output is None:
        refuse_misplaced(folder, keys)
    named = named_columns(columns)
    data = own_data(
        source, table, layout, separator=separator, decimal=decimal, encoding=encoding, columns=named,
        structure=structure, header_row=header_row, dictionary=dictionary,
    )  # fmt: skip
    refuse_values_as_names(data.records)
    for line in data.says:
        note(f"{line}.")
    note("looking at the data ...")
    seen = overview(data.records, data.described)
    show_remarks(data.records.remarks.all())
    if contract is not None:
        _draft_again(contract, data, seen, use, tries, minutes)
        return
    proposed = propose(seen)
    if output is not None:
        _write_contract(output, seen, proposed, name)
        return
    show_columns(seen, proposed)
    told: list[str] = []
    if not yes:
        use = use or ask_use(USES)
        for each in (use,) if use else _fitting(seen, proposed):  # before the roles are asked for, which may mend it
            for reason in _in_vain(USES[each].policy, seen, proposed):
                note(reason, "yellow")
                told.append(reason)
        proposed = ask_about_columns(seen, proposed)
    uses, tries = _not_in_vain(use, seen, proposed, tries, told)
    _make(folder, data, seen, proposed, name, uses, tries, minutes, keys)


def _fitting(seen: "Overview", proposed: "Proposals") -> tuple[str, ...]:
    from tasks.tuning.audiences import fitting_uses

    return fitting_uses([each.role for each in proposed.columns], proposed.people(seen), proposed.numbers_alone)


def _not_in_vain(
    use: str | None, seen: "Overview", proposed: "Proposals", tries: int | None, told: Sequence[str] = ()
) -> tuple[tuple[str, ...], int | None]:
    """For what plans are drafted, and how many are tried: none where no plan can pass, whatever it is.

    told : what was said of it already
    """
    from tasks.tuning.audiences import USES

    uses = (use,) if use else _fitting(seen, proposed)
    reasons = {each: [*_in_vain(USES[each].policy, seen, proposed)] for each in uses}
    for reason in dict.fromkeys(reason for each in uses for reason in reasons[each]):
        if reason not in told:
            note(reason, "yellow")
    possible = tuple(each for each in uses if not reasons[each])
    return possible or uses, tries if possible else 0


def _in_vain(name: str, seen: "Overview", proposed: "Proposals") -> Iterator[str]:
    """Why no plan can pass this policy, whatever it is, and what to change."""
    from policies.policy import load_policy, shipped_policies
    from policies.power import too_few
    from sluice.ground.variables import Role
    from sluice.risk.classes.sensitive_rule import SensitiveRule

    policy, people = load_policy(shipped_policies()[name]), proposed.people(seen)
    unit = "records" if people == seen.records else "people"
    if few := too_few(policy, people, unit):
        fits_small = name != "small-file" and not too_few(load_policy(shipped_policies()["small-file"]), people, unit)
        yield few + (" Take --for small." if fits_small else "")
    asking = [rule.rule for rule in policy.rules if isinstance(rule, SensitiveRule) and not rule.columns]
    if asking and all(each.role is not Role.SENSITIVE for each in proposed.columns):
        yield (
            f"no column is proposed as sensitive, and {name} asks by {asking[0]} what the file tells of such a one. No "
            "plan can pass until the contract says what nobody should learn of a person."
        )


def _refuse_output(output: Path | None) -> None:
    """Raise SluiceError for a file that no contract can be written to."""
    from sluice.custody.shelf import refuse_place

    if output is None or str(output) == "-":
        return
    if not output.parent.is_dir():
        raise SluiceError(f"there is no folder {output.parent}. Make it, or name a file elsewhere.", field="--output")
    refuse_place(output)
    if output.exists():
        raise _exists(output)


def _exists(output: Path) -> SluiceError:
    return SluiceError(f"{output} exists; a contract is never overwritten. Name another file.")


def _write_contract(output: Path, seen: "Overview", proposed: "Proposals", dataset: str) -> None:
    from flows.cli.init_conversation import say_other_forms
    from schemas.reading.contract_draft import contract_yaml
    from sluice.ground.durable import write_new

    text = contract_yaml(seen, proposed, dataset)
    if str(output) == "-":
        print(text, end="")
        return
    try:
        write_new(output, text.encode(), 0o644)
    except FileExistsError:
        raise _exists(output) from None
    say_other_forms(proposed)
    note(f"{output} is a draft: look at the role of every variable, then name it in a release definition.")


def _draft_again(
    contract: Path, data: Any, seen: "Overview", use: str | None, tries: int | None, minutes: float
) -> None:
    from schemas.contract import load_contract
    from tasks.project.own_project import declared_roles, redraft

    proposed = declared_roles(load_contract(contract), seen)
    uses, tries = _not_in_vain(use, seen, proposed, tries)
    with _trying(uses, tries, minutes) as trying:
        made = redraft(contract, data, seen, uses, trying)
    _say_plan(made, proposed)
    say("next:")
    _say_trials(made.definition, made.plans.get(made.use))
    _refuse_stopped(trying)


@contextmanager
def _trying(uses: tuple[str, ...], tries: int | None, minutes: float) -> Iterator["Trying"]:
    """Say what is drafted, what is done with each draft, and how it did."""
    from flows.cli.terminal import duration, note_first_use, waiting
    from tasks.project.own_project import Trying
    from tasks.tuning.allowance import Allowance
    from tasks.tuning.audiences import USES

    policies = ", ".join(USES[use].policy for use in uses)
    if tries != 0:
        note_first_use()
    limit = f", and trying it for at most {duration(60 * minutes)}"
    note(f"drafting a plan for {policies}{'' if tries == 0 else limit} ...")
    with waiting(quiet=False) as shown:
        reasons: set[str] = set()

        def begins(use: str, number: int, of: int, draft: Any, step: str) -> None:
            if shown is not None:
                shown.step(f"{USES[use].policy}, draft {number} of {of} {step}")

        def told(use: str, number: int, of: int, draft: Any, outcome: Any) -> None:
            fell = ", ".join(dict.fromkeys(miss.rule for miss in outcome.misses))
            ended = "passes" if outcome.end == "passes" else f"does not meet {fell}"
            if outcome.end == "refused":
                why = "; ".join(dict.fromkeys(miss.says for miss in outcome.misses))
                reason = why.partition(": ")[2] or why  # without the columns of this draft
                ended = "cannot be carried out on these records" + ("" if reason in reasons else f": {why}")
                reasons.add(reason)
            note(f"  {USES[use].policy}: {draft.says}: {ended}", "dim")

        yield Trying(tries, Allowance(minutes), begins, told)


def _refuse_stopped(trying: "Trying") -> None:
    """End as what was interrupted, where somebody stopped it: what was found until then is written."""
    from flows.cli.terminal import INTERRUPTED

    if trying.allowance.stopped and trying.allowance.left > 0:
        raise typer.Exit(INTERRUPTED)


def _make(
    folder: Path, data: Any, seen: "Overview", proposed: "Proposals", dataset: str, uses: tuple[str, ...],
    tries: int | None, minutes: float, keys: Path | None,
) -> None:  # fmt: skip
    from tasks.project.own_project import own_project

    with _trying(uses, tries, minutes) as trying:
        made = own_project(folder, data, seen, proposed, dataset, uses, trying, keys=keys, finish=finish_project)
    _say_next(made, proposed, data.needs_permission(folder), keys)
    _refuse_stopped(trying)


def finish_project(draft: Path) -> None:
    """What belongs into a project beside its documents: the deployments of its releases."""
    from flows.deployments import prefect_yaml
    from sluice.ground.durable import write_new

    write_new(draft / "prefect.yaml", prefect_yaml(draft / "releases", draft).encode(), 0o644)


def named_columns(given: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in given.split(",")) if given else ()


def _left_out(steps: Sequence[Mapping[str, Any]], proposed: "Proposals") -> list[str]:
    """What users may have wanted and a plan takes out whole; sure names of people are no surprise."""
    from sluice.ground.variables import NAMES, Role
    from sluice.ground.visible_text import one_line

    gone = {name for step in steps if step["method"] == "removal" for name in step["columns"]}
    return [
        one_line(each.name)
        for each in proposed.columns
        if (each.name in gone or each.role is Role.IDENTIFIER)
        and not (each.sure and each.role in NAMES)
        and not each.repeats
    ]


def _say_plan(made: "Made | Redrafted", proposed: "Proposals") -> None:
    """What each use would keep, and how the plan did that was written."""
    from flows.cli.init_conversation import show_plans
    from sluice.ground.visible_text import one_line
    from tasks.tuning.audiences import USES

    plan = made.plans.get(made.use)
    show_plans(made.plans)
    if plan is None:
        return
    if plan.passes:
        whom, policy = USES[made.use].whom, USES[made.use].policy
        say(f"the drafted plan passed on {plan.records:,} records ({policy}): {plan.draft.says}", "green")
        if plan.outcome is None or plan.outcome.draws == 1:
            say("  by 1 draw: a release draws anew, and may not pass; with more --minutes others are tried", "yellow")
        else:
            say(f"  by {plan.outcome.by_draws}; a release draws anew")
        if USES[made.use].researchers:
            say(f"no draft passed that anybody may have; this one is for {whom}", "yellow")
        if proposed.panel is not None:
            units, key = proposed.panel.units, one_line(proposed.panel.key)
            say(
                f"a panel: {units:,} different {key}, of up to {proposed.panel.most} records each. The file does not "
                "say which records belong together, so changes within one cannot be studied with it",
                "yellow",
            )
        if left_out := _left_out(plan.draft.plan, proposed):
            say(
                f"it does not release {', '.join(left_out)}; to keep more, change the plan and check it again", "yellow"
            )
    elif plan.outcome is not None:
        nearest = f"{plan.draft.says} ({USES[made.use].policy})"
        say(f"no draft of the plan passed; the nearest: {nearest}. What it does not meet:", "yellow")
        for says in list(dict.fromkeys(miss.says for miss in plan.outcome.misses))[:3]:
            say(f"  - {says}", "yellow")
        kept, of = plan.outcome.kept, plan.outcome.of
        if (
            kept is not None
            and of is not None
            and kept < of
            and any(miss.rule == "pair_marginals" for miss in plan.outcome.misses)
        ):
            say(
                f"  it leaves {of - kept} of {of} variables out, and each table with one of them counts whole", "yellow"
            )
        if untried := sum(each.untried for each in made.plans.values()):
            say(f"  {untried} more drafts were not tried, for lack of time; --minutes gives more", "yellow")
    elif plan.untried:
        say("the time was up before a draft was judged; --minutes gives more", "yellow")


def _say_trials(definition: Path, plan: "FirstPlan | None") -> None:
    """The commands by which a definition is judged and its plan made better."""
    say(f"  sluice check {definition}        # judge all records; publishes nothing")
    if plan is not None and not plan.passes:
        say(f"  sluice suggest {definition}      # the smallest changes that would pass")
    if plan is not None:
        say(f"  sluice tune {definition}         # search for a plan that keeps more")


def _say_next(made: "Made", proposed: "Proposals", needs_permission: bool, keys: Path | None) -> None:
    """Where it stands, and the commands that come next."""
    from tasks.project.new_project import PEOPLE

    plan = made.plan
    say(f"{made.folder} is a project; {made.folder / 'README.md'} says how it goes on.", style="bold")
    if plan is None:
        say(f"no plan was drafted: {made.fault}", "yellow")
    _say_plan(made, proposed)
    say("next:")
    if needs_permission:
        say(f"  export SLUICE_CONNECTIONS={made.folder / 'connections.yaml'}   # lets these data be read")
    if plan is None:
        say(f"  $EDITOR {made.contract} {made.definition}   # the roles, then the steps of a plan: docs/methods.md")
    _say_trials(made.definition, plan)
    people = f"--people {made.folder / 'people.yaml'}"
    if keys is None:
        say(f"  sluice office {made.contract} {people}   # once it has your people")
    else:
        say(f"  sluice office {made.contract} {people} --key {keys / next(iter(PEOPLE))}   # as the head of the office")
    say(f"  sluice release {made.definition}      # for review, approval and publication")
    say(f"read {made.contract} first: every role there is a proposal.")
