"""A project for somebody's own data: the documents that a first check needs, with a drafted plan that was tried.

The data are a file or a table, as `sluice init` is given them; a release definition names them.
"""

import hmac
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from math import inf, nan
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
import sqlalchemy as sa
import yaml

from policies.policy import Policy, load_policy, shipped_policies
from schemas.contract import Contract, load_contract
from schemas.reading.contract_draft import contract_yaml, frequent_categories
from schemas.reading.overview import MOST_RECORDS, Overview
from schemas.reading.proposal import Proposals
from schemas.reading.typing import SourceTyping
from sluice.documents.document_reading import parse_document
from sluice.ground.databases import typed_address
from sluice.ground.errors import PlanError, SluiceError
from sluice.ground.variables import Kind, Variable
from sluice.ground.visible_text import one_line
from sluice.settings import settings
from sluice.sources.csv_source import CsvSource
from sluice.sources.dictionary_file import dictionary_descriptions, joined
from sluice.sources.recognition import Recognised, recognise
from sluice.sources.sdmx_structure_file import structure_descriptions
from sluice.sources.sql_source import SqlSource
from sluice.sources.tabular_source import Descriptions, TabularSource
from tasks.project.new_project import PEOPLE, make_project, shipped_file
from tasks.release.records.record_definition import RecordsDefinition
from tasks.tuning.confirmation import recommended_yaml
from tasks.tuning.first_drafts import Draft
from tasks.tuning.first_plan import FirstPlan, first_plan, part_at_hand
from tasks.tuning.search_context import RecordsAtHand
from tasks.tuning.trial import Outcome

CONNECTION = "warehouse"


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
    dictionary: Path | None = None,
) -> OwnData:
    """The data at a path or URL, by their content. Raises SluiceError: what is lacking, or what it is instead.

    structure  : of SDMX-CSV: the structure message, which says what columns and codes mean
    dictionary : says what columns and codes mean, and which stand for missing, in any form that is read
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
    if dictionary is not None:
        told = dictionary_descriptions(dictionary, found.records.column_names())
        described = {**described, **{name: joined(described.get(name), each) for name, each in told.items()}}
        says = f"the dictionary describes {len(told)} of {len(found.records.column_names())} columns"
        found = replace(found, says=(*found.says, says))
    return OwnData(found.records, path, described, found)


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

Told = Callable[[int, int, Draft, Outcome], None]


@dataclass(frozen=True)
class Made:
    """What was written, and how the drafted plan did.

    plan  : None where the data could not be typed by the draft; then `fault` says why
    """

    folder: Path
    definition: Path
    contract: Path
    plan: FirstPlan | None
    fault: str = ""


def own_project(
    folder: Path,
    data: OwnData,
    seen: Overview,
    proposed: Proposals,
    dataset: str,
    policy_name: str,
    *,
    most_tried: int | None = None,
    seconds: float = inf,
    keys: Path | None = None,
    told: Told = lambda number, of, draft, outcome: None,
    finish: Callable[[Path], None] = lambda folder: None,
) -> Made:
    """Draft the documents, try the plan, and write all of it at once: interrupted before, nothing is there.

    policy_name : of a shipped policy
    most_tried  : drafts of the plan that are tried at most; 0 for none
    seconds     : of the clock, after which no further draft is tried
    finish      : writes what else belongs into the folder, before it gets its name
    raises      : SluiceError where the folder holds anything, or cannot lie there
    cost        : trials of plans on at most MOST_TRIED_ON records
    """
    name = release_name(dataset)
    contract_text = contract_yaml(seen, proposed, dataset)
    contract = _read(contract_text, name)
    policy = load_policy(shipped_policies()[policy_name])
    written: dict[str, Any] = {
        "name": name,
        "title": f"{one_line(dataset)}, drafted from the data",
        "owner": next(iter(PEOPLE)),
        "source": data.written(folder.resolve() / "releases"),
        "contract": f"../contracts/{name}.yaml",
        "policy": policy_name,
        "target": "../published",
    }
    plan, fault = _plan(data.records, seen, proposed, contract, policy, written, most_tried, told, seconds)
    definition_text = _definition_yaml(written, plan, fault)
    contents = {
        "README.md": shipped_file("own_readme.md").replace("NAME", name).replace("FOLDER", str(folder)).encode(),
        f"contracts/{name}.yaml": contract_text.encode(),
        f"releases/{name}.yaml": definition_text.encode(),
        "connections.yaml": _connections(data, folder).encode(),
        "environment": shipped_file("environment").encode(),
        ".gitignore": shipped_file("gitignore").encode(),
    }
    make_project(folder, contents, keys, finish)
    return Made(folder, folder / "releases" / f"{name}.yaml", folder / "contracts" / f"{name}.yaml", plan, fault)


def release_name(dataset: str) -> str:
    """A name that a release may have: small letters, digits and dashes."""
    small = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in dataset.casefold())
    return "-".join(part for part in small.split("-") if part)[:60].strip("-") or "data"


def _read(text: str, name: str) -> Contract:
    """The drafted contract as it will be read."""
    with TemporaryDirectory() as place:
        path = Path(place) / f"{name}.yaml"
        path.write_text(text, encoding="utf-8")
        return load_contract(path)


def _plan(
    source: TabularSource, seen: Overview, proposed: Proposals, contract: Contract, policy: Policy,
    written: Mapping[str, Any], most_tried: int | None, told: Told, seconds: float,
) -> tuple[FirstPlan | None, str]:  # fmt: skip
    idle = {"method": "removal", "columns": ["no variable"]}
    definition = parse_document(RecordsDefinition, {**written, "plan": [idle]}, "the drafted definition")
    try:
        frame, variables = typed_records(source, contract, seen.records)
    except SluiceError as error:
        return None, str(error)
    today = datetime.now(UTC).date()
    records = RecordsAtHand.of(frame, variables, contract, policy, definition.name, definition.owner, today)
    groups = {
        each.name: named
        for each in proposed.columns
        if each.kind is Kind.NOMINAL and (named := frequent_categories(each, seen.columns[each.name]))
    }
    repeats = [each.name for each in proposed.columns if each.repeats]
    part = part_at_hand(records, MOST_TRIED_ON)
    try:
        return first_plan(definition, part, groups, repeats, most_tried, told, seconds), ""
    except PlanError as error:
        return None, str(error)


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
    for raw in source.batches(list(contract.by_name)):
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
    definition = parse_document(RecordsDefinition, {**written, "plan": steps}, "the drafted definition")
    return recommended_yaml(written, steps, definition, [], [], [], nan, head)


def _did(plan: FirstPlan) -> str:
    on = f"{plan.records:,} of the records"
    if plan.outcome is None:
        return "Nothing was tried: sluice check judges it, sluice tune searches for a better one."
    drafts = "1 draft" if plan.tried == 1 else f"{plan.tried} drafts"
    if plan.passes:
        return f"The first that passes of {drafts} tried on {on}. Its rules are met there; sluice check judges all."
    fell = ", ".join(dict.fromkeys(miss.rule for miss in plan.outcome.misses))
    untried = f" {plan.untried} more were not tried for lack of time." if plan.untried else ""
    return f"None of {drafts} passed on {on}; this one came nearest and fails {fell}.{untried} See suggest and tune."


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
