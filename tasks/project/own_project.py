"""A project for somebody's own data: the documents that a first check needs, with a drafted plan that was tried.

The data are a file or a table, as `sluice init` is given them; a release definition names them.
"""

import hmac
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from difflib import get_close_matches
from functools import partial
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import sqlalchemy as sa
import yaml

from policies.policy import load_policy, shipped_policies
from schemas.contract import Contract, load_contract
from schemas.reading.column_proposal import Proposal
from schemas.reading.computed_columns import repeats
from schemas.reading.contract_draft import contract_yaml, frequent_categories, read_draft
from schemas.reading.overview import MOST_RECORDS, Overview
from schemas.reading.proposal import Proposals
from schemas.reading.typing import SourceTyping
from sluice.documents.document_reading import parse_document
from sluice.ground.databases import typed_address
from sluice.ground.durable import write_new
from sluice.ground.errors import PlanError, SluiceError
from sluice.ground.variables import Kind, Variable
from sluice.ground.visible_text import one_line
from sluice.settings import settings
from sluice.sources.csv_source import CsvSource
from sluice.sources.dictionary_file import dictionary_descriptions, joined
from sluice.sources.recognition import Recognised, recognise
from sluice.sources.sdmx_structure_file import structure_descriptions
from sluice.sources.separate_reading import read_here
from sluice.sources.sql_source import SqlSource
from sluice.sources.tabular_source import ColumnDescription, Descriptions, TabularSource
from sluice.utility.analyses.asked_analyses import Analyses
from sluice.utility.analyses.drafted_analyses import drafted_analyses
from tasks.project.new_project import PEOPLE, make_project, shipped_file
from tasks.release.records.record_definition import RecordsDefinition
from tasks.tuning.allowance import Allowance, stopping, until_the_end
from tasks.tuning.audiences import USES, breach, chosen_use, families_of, in_order_of_trial
from tasks.tuning.confirmation import recommended_yaml
from tasks.tuning.draft_steps import Draft
from tasks.tuning.first_plan import FirstPlan, drawn_again, first_plan, part_at_hand
from tasks.tuning.records_at_hand import RecordsAtHand
from tasks.tuning.trial import Outcome

CONNECTION = "warehouse"
_MOST_LISTED = 3  # columns in a sentence
_NEAR = 0.75  # from which likeness a name of a dictionary may be that of a column, spelled otherwise


@dataclass(frozen=True)
class OwnData:
    """What is read, and how documents name it.

    records    : what reads it
    file       : None for a table of a database
    described  : what the file says of its columns
    recognised : of a file, what it is
    connection : of a database, for connections.yaml
    """

    records: TabularSource
    file: Path | None = None
    described: Descriptions = field(default_factory=dict)
    recognised: Recognised | None = None
    table: str | None = None
    connection: Mapping[str, Any] | None = None

    @property
    def says(self) -> tuple[str, ...]:
        """What was found of its form, a sentence each."""
        return () if self.recognised is None else self.recognised.says

    def written(self, base: Path) -> dict[str, Any]:
        """The source in a release definition that lies in the folder `base`."""
        if self.recognised is None:
            return {"connection": CONNECTION, "table": self.table}
        return self.recognised.written(base)

    def lies_outside(self, project: Path) -> bool:
        """Whether it is a file that commands in the project's folder may not read unless the operator says so."""
        return self.file is not None and not self.file.resolve().is_relative_to(project.resolve())

    def needs_permission(self, project: Path) -> bool:
        """Whether the operator must say that it may be read: for a database, and for a file that lies neither beside
        the definition nor below the current folder."""
        if self.file is None:
            return True
        file = self.file.resolve()
        return not any(file.is_relative_to(folder.resolve()) for folder in (project / "releases", settings().project))


def own_data(
    source: str,
    table: str | None = None,
    layout: Path | None = None,
    *,
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    columns: tuple[str, ...] = (),
    structure: Path | None = None,
    header_row: int | None = None,
    dictionary: Sequence[Path] | Path | None = None,
) -> OwnData:
    """The data at a path or URL, by their content. Raises SluiceError: what is lacking, or what it is instead.

    structure  : of SDMX-CSV: the structure message, which says what columns and codes mean
    dictionary : says what columns and codes mean, and which stand for missing, in any form that is read; of several
                 a later one counts where both speak
    header_row : of a text or a workbook: the line or row that names the columns
    """
    if "://" in source or source.startswith("${"):
        if structure is not None:
            raise SluiceError(
                "says what the codes of an SDMX-CSV file mean; a database is not such a file", field="--structure"
            )
        return _of_database(source, table)
    path = Path(source)
    found = recognise(
        path, table, layout, separator=separator, decimal=decimal, encoding=encoding, header_row=header_row
    )
    if columns:
        if not isinstance(found.source, CsvSource):
            raise SluiceError(
                "names the columns of a text without a header; this file names its own", field="--columns"
            )
        below = found.source.skip_lines + found.source.header  # the names that the file has are not records
        named = {"header": False, "columns": columns, "skip_lines": below}
        found = replace(found, source=found.source.model_copy(update=named))
    described = found.described()
    if structure is not None:
        described = {**described, **structure_descriptions(structure, tuple(found.records.column_names()))}
    if dictionary:
        names = found.records.column_names()
        told: dict[str, ColumnDescription] = {}
        strangers: dict[str, None] = {}
        for each_path in [dictionary] if isinstance(dictionary, Path) else dictionary:
            read = dictionary_descriptions(each_path, names, strangers)
            told |= {name: joined(told.get(name), each) for name, each in read.items()}
        described = {**described, **{name: joined(described.get(name), each) for name, each in told.items()}}
        left = [name for name in names if name not in told]
        beside = _listed(left)
        says = f"the dictionary describes {len(told)} of {len(names)} columns{beside and f'; not {beside}'}"
        says += f". It also describes {_strange(tuple(strangers), left)}; there is no such column" if strangers else ""
        absent = dict.fromkeys(each.absent_list for each in told.values() if each.absent_list)
        of = {each: _listed([name for name in told if told[name].absent_list == each]) for each in absent}
        held_not = ", ".join(f"{one_line(each)} (of {of[each]})" for each in absent)
        lacks = [f"it names code lists that it does not hold: {held_not}"] if absent else []
        found = replace(found, says=(*found.says, says, *lacks))
    return OwnData(found.records, path, described, found)


def _strange(names: Sequence[str], left: Sequence[str]) -> str:
    """Names of a dictionary that no column has; first those that are nearly the name of a column without a word."""
    plain = {name.casefold(): name for name in left}
    near = {
        name: f"{name} (is it {one_line(plain[found[0]])}?)"
        for name in names
        if (found := get_close_matches(name.casefold(), plain, n=1, cutoff=_NEAR))
    }
    return _listed([*near.values(), *(name for name in names if name not in near)])


def _listed(names: Sequence[str]) -> str:
    """The first few, and how many there are more."""
    more = f" and {len(names) - _MOST_LISTED} more" if len(names) > _MOST_LISTED else ""
    return ", ".join(map(one_line, names[:_MOST_LISTED])) + more


def _of_database(source: str, table: str | None) -> OwnData:
    if table is None:
        raise SluiceError("of a database, name the table, too: sluice init URL --table schema.table")
    try:
        address = typed_address(source)
    except ValueError as error:
        raise SluiceError(f"SOURCE: {error}") from None
    records = parse_document(SqlSource, {"url": address, "table": table}, "the source")
    url = sa.make_url(address)
    named: dict[str, Any] = {"url": address, "tables": [table]}
    if source.startswith("${"):  # may hold a password: only its name is written
        named = {"url": source, "secrets": re.findall(r"\w+", source)[:1], "tables": [table]}
    elif url.database and not url.host and not url.database.startswith(":"):
        named["url"] = url.set(database=str(Path(url.database).resolve())).render_as_string()
    return OwnData(records, table=table, connection=named)


MOST_TRIED_ON = 10_000
"""Records that drafts of the plan are tried on."""

MOST_JUDGED_ON = 100_000
"""Records that a draft that passes there is judged on before it is proposed."""


@dataclass(frozen=True)
class Trying:
    """How drafts of the plan are tried.

    most      : drafts that are tried at most for each use; 0 for none
    allowance : the time, the judgement of the best by other draws included. At its end, or where somebody stops it, the
                best draft that was found is taken
    begins    : hears what begins: the use, the number of the draft, of how many, the draft, and what is done with it
    told      : hears of each draft that was tried: the use, its number, of how many, the draft, and how it did
    """

    most: int | None = None
    allowance: Allowance = field(default_factory=Allowance)
    begins: Callable[[str, int, int, Draft, str], None] = lambda use, number, of, draft, step: None
    told: Callable[[str, int, int, Draft, Outcome], None] = lambda use, number, of, draft, outcome: None


@dataclass(frozen=True)
class Made:
    """What was written, and how the drafted plans did.

    use   : what the written plan is for
    plans : the best of each use that was tried; none where the data could not be typed by the draft, or no draft fits;
            then `fault` says why
    """

    folder: Path
    definition: Path
    contract: Path
    use: str
    plans: Mapping[str, FirstPlan]
    fault: str = ""

    @property
    def plan(self) -> FirstPlan | None:
        """The one that was written."""
        return self.plans.get(self.use)


def own_project(
    folder: Path,
    data: OwnData,
    seen: Overview,
    proposed: Proposals,
    dataset: str,
    uses: tuple[str, ...],
    trying: Trying,
    *,
    keys: Path | None = None,
    finish: Callable[[Path], None] = lambda folder: None,
) -> Made:
    """Draft the documents, try the plan, and write all of it at once: interrupted before, nothing is there.

    uses   : what the file may be for; a plan is drafted for each, and that taken which keeps most
    finish : writes what else belongs into the folder, before it gets its name
    raises : SluiceError where the folder holds anything, or cannot lie there
    cost   : trials of plans on at most MOST_TRIED_ON records
    """
    name = release_name(dataset)
    contract_text = contract_yaml(seen, proposed, dataset)
    contract = read_draft(contract_text, name)
    written = written_definition(data, folder / "releases", dataset, f"../contracts/{name}.yaml", uses[0])
    use, plans, definition_text, fault = _drafted(data, seen, proposed, contract, uses, written, trying)
    write_project(folder, data, name, contract_text, definition_text, keys, finish)
    return Made(folder, folder / "releases" / f"{name}.yaml", folder / "contracts" / f"{name}.yaml", use, plans, fault)


def written_definition(data: OwnData, folder: Path, dataset: str, contract_file: str, use: str) -> dict[str, Any]:
    """A release definition in this folder but for its plan; contract_file: as it names the contract."""
    return {
        "name": release_name(dataset),
        "title": one_line(dataset),
        "owner": next(iter(PEOPLE)),
        "source": data.written(folder.resolve()),
        "contract": contract_file,
        "policy": USES[use].policy,
        "target": "../published",
    }


def write_project(
    folder: Path, data: OwnData, name: str, contract_text: str, definition_text: str, keys: Path | None = None,
    finish: Callable[[Path], None] = lambda folder: None,
) -> None:  # fmt: skip
    """A project with these two documents, whole or not at all. Raises SluiceError as `make_project`."""
    contents = {
        "README.md": _readme(data, name, folder).encode(),
        f"contracts/{name}.yaml": contract_text.encode(),
        f"releases/{name}.yaml": definition_text.encode(),
        "connections.yaml": _connections(data, folder).encode(),
        "environment": shipped_file("environment").encode(),
        ".gitignore": shipped_file("gitignore").encode(),
    }
    make_project(folder, contents, keys, finish)


@dataclass(frozen=True)
class Redrafted:
    """A plan that was drafted again for a contract that a person has looked at: as `Made`, without a project."""

    definition: Path
    use: str
    plans: Mapping[str, FirstPlan]


def redraft(
    contract_path: Path,
    data: OwnData,
    seen: Overview,
    uses: tuple[str, ...],
    trying: Trying,
) -> Redrafted:
    """Draft plans for a contract as it stands, and write the definition beside those that use it; none is overwritten.

    contract_path : in the folder `contracts` of a project the definition goes to its `releases`, else beside it
    uses          : as of `own_project`
    raises        : SluiceError where the contract is none, the data are not what it says, or no draft fits; then
                    nothing is written
    cost          : as of `own_project`
    """
    contract = load_contract(contract_path)
    folder = contract_path.parent
    if folder.resolve().name == "contracts" and (folder.parent / "releases").is_dir():
        folder = folder.parent / "releases"
    name = release_name(contract.dataset)
    beside = Path(os.path.relpath(contract_path, folder)).as_posix()
    written = written_definition(data, folder, contract.dataset, beside, uses[0])
    proposed = declared_roles(contract, seen)
    use, plans, text, fault = _drafted(data, seen, proposed, contract, uses, written, trying)
    if not plans:
        raise SluiceError(f"no plan was drafted, and nothing was written: {fault}")
    for path in (folder / f"{name}-drafted{number}.yaml" for number in ("", *(f"-{n}" for n in range(2, 100)))):
        with suppress(FileExistsError):
            write_new(path, text.encode(), 0o644)
            return Redrafted(path, use, plans)
    raise SluiceError(f"{folder} holds 99 drafts of {name} already; take some away. Nothing was written.")


def declared_roles(contract: Contract, seen: Overview) -> Proposals:
    """What a contract says of each column, in place of proposals."""
    said = "as the contract says"
    same = repeats(seen)
    columns = tuple(
        Proposal(
            each.name, each.kind, each.role, said, missing_codes=each.missing_codes, repeats=same.get(each.name, "")
        )
        for each in contract.variables
        if each.name in seen.columns
    )
    return Proposals(columns, contract.record_key, contract.numbers_alone)


def release_name(dataset: str) -> str:
    """A name that a release may have: small letters, digits and dashes."""
    small = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in dataset.casefold())
    return "-".join(part for part in small.split("-") if part)[:60].strip("-") or "data"


def _drafted(
    data: OwnData, seen: Overview, proposed: Proposals, contract: Contract, uses: tuple[str, ...],
    written: dict[str, Any], trying: Trying,
) -> tuple[str, dict[str, FirstPlan], str, str]:  # fmt: skip
    """The use that is taken, the plan of each, the release definition with that of the use, and what hindered it."""
    plans, fault = _plans(data.records, seen, proposed, contract, uses, written, trying)
    use = chosen_use(plans) if plans else uses[0]
    written["policy"] = USES[use].policy
    return use, plans, _definition_yaml(written, plans.get(use), fault), fault


def _plans(
    source: TabularSource, seen: Overview, proposed: Proposals, contract: Contract, uses: tuple[str, ...],
    written: Mapping[str, Any], trying: Trying,
) -> tuple[dict[str, FirstPlan], str]:  # fmt: skip
    """The first plan for each use, and what hindered it."""
    try:
        frame, variables = typed_records(source, contract, seen.records)
    except SluiceError as error:
        return {}, str(error)
    today = datetime.now(UTC).date()
    groups = {
        each.name: named
        for each in proposed.columns
        if each.kind is Kind.NOMINAL and (named := frequent_categories(each, seen.columns[each.name]))
    }
    repeats = [each.name for each in proposed.columns if each.repeats]
    idle = {"method": "removal", "columns": ["no variable"]}
    definition = parse_document(RecordsDefinition, {**written, "plan": [idle]}, "the drafted definition")
    analyses = Analyses(models=drafted_analyses(variables, frame, contract.undeclared).models)
    plans: dict[str, FirstPlan] = {}
    faults: list[str] = []

    def records_of(use: str) -> RecordsAtHand:
        policy = load_policy(shipped_policies()[USES[use].policy])
        decides = policy.model_copy(update={"attacks": tuple(each for each in policy.attacks if each.decides)})
        return RecordsAtHand.of(frame, variables, contract, decides, definition.name, definition.owner, today)

    def search() -> None:
        for use, plan in _tried(definition, uses, records_of, groups, repeats, analyses, trying, faults):
            plans[use] = plan

    with stopping(trying.allowance):
        until_the_end(trying.allowance, search)
    if trying.allowance.stopped and trying.allowance.left > 0 and not any(each.outcome for each in plans.values()):
        raise KeyboardInterrupt  # somebody stopped it before anything was found
    if not plans and trying.allowance.stopped:
        try:
            plans[uses[0]] = replace(first_plan(definition, records_of(uses[0]), groups, repeats, 0), untried=1)
        except PlanError as error:
            faults.append(str(error))
    # Of equals, as where nothing was tried, the policy is taken that is nearest to what the file holds.
    return {use: plans[use] for use in uses if use in plans}, "" if plans else faults[0]


def _tried(
    definition: RecordsDefinition, uses: tuple[str, ...], records_of: Callable[[str], RecordsAtHand],
    groups: Mapping[str, Sequence[str]], repeats: Sequence[str], analyses: Analyses, trying: Trying, faults: list[str],
) -> Iterator[tuple[str, FirstPlan]]:  # fmt: skip
    """The uses for which there is time, those first under which most is kept, and the first plan of each. The time that
    they left goes to further draws of the best that passes and that anybody may have; where there is none, or it falls
    by these, to the drafts that were not tried, of the use that came nearest first."""
    allowance, given = trying.allowance, trying.allowance.left
    order = in_order_of_trial(uses)
    found: dict[str, FirstPlan] = {}

    def is_time() -> bool:
        """Whether one more draft would not end too late, by what one took on average."""
        tried = sum(max(plan.tried, 1) for plan in found.values())
        return not tried or (not allowance.stopped and allowance.left >= (given - allowance.left) / tried)

    def planned(use: str, seconds: float) -> FirstPlan:
        records = records_of(use)
        return first_plan(
            definition, part_at_hand(records, MOST_TRIED_ON), groups, repeats, trying.most,
            partial(trying.told, use), seconds, analyses, families_of(use, uses),
            part_at_hand(records, MOST_JUDGED_ON), allowance, partial(trying.begins, use), found.get(use),
        )  # fmt: skip

    for use in order:
        if not is_time():
            break
        try:  # what one use does not need, the next has
            plan = planned(use, allowance.left if use == order[-1] else allowance.left / 2)
        except PlanError as error:
            faults.append(str(error))
            continue
        found[use] = plan
        yield use, plan
        if plan.as_tried and plan.passes and plan.as_tried.keeps_enough and not USES[use].researchers:
            break  # no other use can have more that counts
    while is_time():
        passing = {use: plan for use, plan in found.items() if plan.passes and not USES[use].researchers}
        if passing:
            use = chosen_use(passing)
            before = passing[use]
            of = len(before.done) + before.spare
            trying.begins(use, before.number, of, before.draft, "by further draws")
            at_hand = part_at_hand(records_of(use), MOST_TRIED_ON)
            plan = drawn_again(before, definition, at_hand, allowance.part(allowance.left))
            if plan is before:
                return
            if plan.outcome is not None and not plan.passes:
                trying.told(use, before.number, of, before.draft, plan.outcome)
        else:
            left = [use for use, plan in found.items() if plan.untried and not plan.passes]
            if not left:
                return
            use = min(left, key=lambda use: breach(found[use]))
            plan = planned(use, allowance.left)
            if plan.tried == found[use].tried:
                return
        found[use] = plan
        yield use, plan
        if passing and plan.passes:
            return


def typed_records(source: TabularSource, contract: Contract, records: int) -> tuple[pd.DataFrame, dict[str, Variable]]:
    """The records typed in memory, at most MOST_RECORDS of them, drawn at random. Raises DataError.

    Names of people become keyed hashes under a key that nobody keeps.
    """
    key, rng = os.urandom(32), np.random.default_rng(0)
    fraction = min(1.0, MOST_RECORDS / max(records, 1))

    def pseudonym(name: str, value: str) -> str:
        return hmac.new(key, f"{name}\0{value}".encode(), "sha256").hexdigest()

    typing = SourceTyping(contract, pseudonym, source.decimal_mark)
    parts = []
    for raw in read_here(source, list(contract.by_name), most=contract.rows.maximum, keep=False):
        typed = typing.type_batch(raw)
        parts.append(typed if fraction == 1 else typed[rng.random(len(typed)) < fraction])
    variables = typing.variables()
    frame = pd.DataFrame({name: _together([part[name] for part in parts], each) for name, each in variables.items()})
    return frame, variables


def _together(parts: list[pd.Series], variable: Variable) -> pd.Series:
    """Parts of a column, each of which has the categories that it holds."""
    if not variable.kind.is_categorical:
        return pd.concat(parts, ignore_index=True)
    dtype = pd.CategoricalDtype(list(variable.categories or ()), ordered=variable.kind is Kind.ORDINAL)
    if variable.categories is None:  # sets of items
        return pd.concat([part.astype(object) for part in parts], ignore_index=True).astype("category")
    return pd.concat([part.astype(dtype) for part in parts], ignore_index=True)


def _definition_yaml(written: Mapping[str, Any], plan: FirstPlan | None, fault: str) -> str:
    """The release definition, with what each step does and how the plan did as comments."""
    if plan is None:
        steps: list[Mapping[str, Any]] = [{"method": "removal", "columns": ["TO BE NAMED"]}]
        head = ["Drafted by sluice init without a plan: name the steps, once the contract is what the data are."]
    else:
        steps = list(plan.draft.plan)
        head = [f"Drafted by sluice init: {plan.draft.says}.", _did(plan)]
    head.append("Check the title: it is the first that readers of the published file see.")
    definition = parse_document(RecordsDefinition, {**written, "plan": steps}, "the drafted definition")
    return recommended_yaml(written, steps, definition, [], [], [], nan, head)


def _did(plan: FirstPlan) -> str:
    on = f"{plan.records:,} of the records"
    if plan.outcome is None:
        why = ", for lack of time" if plan.untried else ""
        return f"Nothing was tried{why}: sluice check judges it, sluice tune searches for a better one."
    drafts = "1 draft" if plan.tried == 1 else f"{plan.tried} drafts"
    if plan.passes:
        draws = plan.outcome.by_draws
        if plan.tried == 1:
            return f"It passes by {draws} on {on}, and no other draft was judged; sluice check judges all."
        return f"It keeps most of those that pass by {draws}, of {drafts} tried on {on}; sluice check judges all."
    fell = ", ".join(dict.fromkeys(miss.rule for miss in plan.outcome.misses))
    untried = f" {plan.untried} more were not tried for lack of time." if plan.untried else ""
    return f"None of {drafts} passed on {on}; the nearest does not meet {fell}.{untried} See suggest and tune."


def _readme(data: OwnData, name: str, folder: Path) -> str:
    """How it goes on; first of all how these data come to be read, where they lie elsewhere."""
    export = "FOLDER/connections.yaml` lets these data be read, in every shell that runs what follows.\n\n"
    said = f"`export SLUICE_CONNECTIONS={export}" if data.needs_permission(folder) else ""
    text = shipped_file("own_readme.md").replace("EXPORT", said)
    return text.replace("NAME", name).replace("FOLDER", str(folder))


def _connections(data: OwnData, folder: Path) -> str:
    """The shipped file, with what the operator must allow for these data."""
    text = shipped_file("connections.yaml")
    if data.connection is not None:
        named = {"connections": {CONNECTION: dict(data.connection)}}
        written = yaml.safe_dump(named, sort_keys=False, default_flow_style=None, allow_unicode=True, width=4096)
        return text.replace("connections: {}    # replace {} by such lines:\n", f"{written}# others:\n")
    if data.file is not None and data.lies_outside(folder):
        files_line = yaml.safe_dump({"files": [str(data.file.resolve().parent)]}, allow_unicode=True, width=4096)
        return text.replace("# files: [/srv/incoming]\n", files_line)
    return text
