"""Mask a file by a plan, outside any release. Nothing is judged, approved, recorded or published.

The masked file says so itself: in the metadata of a Parquet file, and in the descriptor beside it.
"""

import json
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
from pydantic import BaseModel, ConfigDict, Field

from schemas.contract import HASHED, Contract, load_contract
from schemas.reading.contract_draft import inferred_contract
from sluice.custody.shelf import refuse_to_overwrite
from sluice.documents.document_reading import named_file, parse_document, read_yaml
from sluice.ground.durable import sha256_of
from sluice.ground.errors import DataError, DocumentError, PlanError, did_you_mean
from sluice.ground.frame_columns import with_columns
from sluice.ground.record_rule import RecordRule
from sluice.ground.remarks import Remark
from sluice.ground.values import LIST_MARK, TRUTH, is_text, plain_array
from sluice.ground.variables import Kind, Role, Variable, Variables
from sluice.ground.visible_text import one_line
from sluice.masking import Step
from sluice.masking.masking_step import MaskingStep
from sluice.masking.plan import apply_plan, apply_recodings, released_variables
from sluice.masking.recoding.generalization import Generalization
from sluice.publication.datapackage import records_datapackage
from sluice.publication.manifest import PublishedFile
from sluice.publication.records_file import columns_with_time, write_csv, write_parquet
from sluice.reading.typed_column import typed_array
from sluice.sources.csv_source import CsvSource
from sluice.sources.fixed_width_source import FixedWidthSource
from tasks.workbench.seed_file import seed_of
from tasks.workbench.tabular_file import read_records, table_source, typed_table

NOT_JUDGED = (
    "Masked by `sluice mask` to try a method. Nobody measured its disclosure risk or approved it: not for release."
)


class MaskingPlan(BaseModel):
    """Masking steps, in order; a release definition's `plan` is one."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    plan: tuple[Annotated[Step, Field(discriminator="method")], ...] = Field(
        min_length=1, description="masking steps, in order"
    )


@dataclass(frozen=True)
class MaskedOutput:
    """The masked file that was written, and what was done."""

    output: Path
    descriptor: Path
    records: int
    steps: tuple[str, ...]  # what each step did, in words
    variables: dict[str, Variable]  # as they were before masking
    inferred: bool  # there was no contract
    remarks: tuple[Remark, ...]  # what of the file was not read as it stands
    emptied: tuple[str, ...]  # variables of which no record has a value left
    impossible: tuple[str, ...]  # rules of the contract that records break which kept them


def mask_file(
    source: Path,
    plan_file: Path,
    output: Path,
    *,
    contract_file: Path | None = None,
    seed_file: Path | None = None,
    household: str | None = None,
    weight: str | None = None,
    kinds: Mapping[str, Kind] | None = None,
    accept_broken_rules: bool = False,
) -> MaskedOutput:
    """Mask a file and write the result, CSV or Parquet by its name, with a descriptor beside it.

    contract_file : what the variables are; without it their kinds are inferred from the values
    seed_file     : a whole number; the same seed, plan and data give the same file. A file that is not there is made
                    with a new seed, readable for its owner alone. Without it the seed is new and forgotten
    kinds         : without a contract, the kinds of columns for which the user knows better than their values tell
    accept_broken_rules : write the file though records break rules of the contract that they kept before
    raises        : DocumentError, DataError, PlanError; then nothing is written
    """
    _refuse_unfit_output(output, [source, plan_file, contract_file, seed_file])
    plan = load_plan(plan_file)
    entropy = seed_of(seed_file) if seed_file else secrets.randbits(128)
    contract = load_contract(contract_file) if contract_file else None
    table = table_source(source)
    names = list(contract.staged) if contract else table.column_names()
    raw = read_records(table, contract, names)
    if contract is None:
        roles = {role: name for role, name in ((Role.HOUSEHOLD, household), (Role.WEIGHT, weight)) if name}
        for option, name in [*roles.items(), *(("kind", name) for name in kinds or {})]:
            if name not in names:
                hint = f"{did_you_mean(name, names)} It has {', '.join(names)}."
                raise DocumentError(f"--{option}: {source} has no column '{name}'.{hint}")
        contract = inferred_contract(raw, source.name.split(".")[0], roles, kinds, marks=True)
    # A text of a CSV file has no type of its own: there the kind that its column was taken for is the type.
    typeless = contract_file is not None or isinstance(table, CsvSource | FixedWidthSource)
    unnamed = not_named(plan, names)
    as_it_came = [] if typeless else [name for name in unnamed if not _holds_lists(raw[name])]
    if typeless and contract_file is None:  # the spellings of truth values stay: yes, Yes and TRUE
        as_it_came = [name for name in unnamed if set(contract.by_name[name].categories or ()) == set(TRUTH)]
    beside = [name for name in as_it_came if typed_array(plain_array(raw[name]), contract.by_name[name])[1]]
    kept = tuple(variable for variable in contract.variables if variable.name not in beside)
    frame, variables = typed_table(raw, contract.model_copy(update={"variables": kept}), entropy, table.remarks)
    declared = contract.by_name if contract_file else {}
    released = _released(plan, variables, declared)
    seed, rules = np.random.SeedSequence(entropy), contract.record_rules
    masked, carried_out = apply_plan(plan, frame, variables, seed, rules=rules)
    positions, masked = masked.index.to_numpy(), masked.reset_index(drop=True)
    in_file = _in_the_file(released, declared, masked)
    original = frame.iloc[positions].reset_index(drop=True)
    recoded = apply_recodings(carried_out, frame, variables).iloc[positions] if rules else frame
    impossible = newly_broken(rules, original, recoded, masked, variables, released)
    if not accept_broken_rules:
        refuse_impossible(impossible, rules, plan, "--accept-broken-rules")
    left = [name for name in as_it_came if name in beside or _is_left(masked, original, variables[name])]
    if output.suffix == ".csv":
        left = [name for name in left if not _is_whole_float(raw[name], contract.by_name[name])]
    given = {name: raw[name].iloc[positions].reset_index(drop=True) for name in left}
    if typeless:
        given = {name: texts.where(masked[name].notna()) for name, texts in given.items()}
    types = {name: pa.Array.from_pandas(column).type for name, column in given.items()}
    in_file |= {name: _described(contract.by_name[name], kind) for name, kind in types.items()}
    masked = with_columns(masked, given)[_in_order(list(released), beside, names)]
    in_file = {str(name): in_file[str(name)] for name in masked}
    parameters = [found for step in carried_out if (found := step.parameters())]
    with_time = columns_with_time(masked)
    descriptor = output.with_name(f"{output.name}.datapackage.json")
    with _whole(output) as partial:
        if output.suffix == ".parquet":
            write_parquet(masked, partial, in_file, {"sluice:judged": "no", "sluice:note": NOT_JUDGED}, types)
        else:
            write_csv(masked, partial)
        package = _descriptor(output, partial, len(masked), contract, plan, variables, in_file, parameters, with_time)
        with _whole(descriptor) as partial_descriptor:
            partial_descriptor.write_text(json.dumps(package, indent=2, ensure_ascii=False), encoding="utf-8")
    steps = tuple(step.describe() for step in plan)
    return MaskedOutput(
        output=output,
        descriptor=descriptor,
        records=len(masked),
        steps=steps,
        variables=variables,
        inferred=contract_file is None,
        remarks=table.remarks.all(),
        emptied=emptied(original, masked),
        impossible=impossible,
    )


def emptied(original: pd.DataFrame, masked: pd.DataFrame) -> tuple[str, ...]:
    """The variables of which the plan left no record a value."""
    left = [name for name in masked if name in original and masked[name].isna().all()]
    return tuple(str(name) for name in left if original[name].notna().any())


def newly_broken(
    rules: Sequence[RecordRule],
    original: pd.DataFrame,
    recoded: pd.DataFrame,
    masked: pd.DataFrame,
    variables: Variables,
    released: Variables,
) -> tuple[str, ...]:
    """The rules that masked records must keep, and that some break whose originals kept them."""
    if not any(rule.kept for rule in rules):
        return ()
    from sluice.utility.analyses.impossible_records import impossible_records  # needed by few

    before, same, after = (each.reset_index(drop=True) for each in (original, recoded, masked))
    found = impossible_records(rules, before, same, after, variables, released, paired=True)
    return tuple(each.rule.name for each in found.rules if each.rule.kept and each.newly)


def refuse_impossible(names: Sequence[str], rules: Sequence[RecordRule], plan: Sequence[MaskingStep], how: str) -> None:
    """Raise PlanError where the plan makes records break rules of the contract that they kept before.

    how : the switch that accepts it
    """
    columns = {name for rule in rules if rule.name in names for name in rule.columns}
    steps = [f"{number} ({step.method})" for number, step in enumerate(plan, start=1) if columns & {*step.columns}] or [
        "the plan"
    ]
    if names:
        raise PlanError(
            f"plan: {told_of_impossible(names)} They are masked by step {', '.join(steps)}. A rule that masked records "
            f"may break says so in the contract by 'of: source'; {how} accepts it once."
        )


def told_of_impossible(names: Sequence[str]) -> str:
    """What to do about these; '' where there are none."""
    listed = ", ".join(map(one_line, names))
    how = "mask the variables of a rule together, recode them, or take one of them out"
    return f"Masked records break rules that they kept before: {listed}. To keep them, {how}." if names else ""


def told_of_absent(variables: Iterable[Variable]) -> str:
    """Which texts were taken for missing, and where; '' where none was."""
    where: dict[str, list[str]] = {}
    for variable in variables:
        for code in variable.missing_codes:
            where.setdefault(code, []).append(one_line(variable.name))
    found = "; ".join(f"{one_line(code)} in {', '.join(names)}" for code, names in where.items())
    return f"taken for missing, unless a contract says otherwise: {found}" if found else ""


def told_of_emptied(names: Sequence[str]) -> str:
    """What to do about these; '' where there are none."""
    listed = ", ".join(map(one_line, names))
    return f"No record has a value of {listed} left: recode first, ask for less, or leave it out." if names else ""


def not_named(plan: Sequence[MaskingStep], names: Iterable[str]) -> list[str]:
    """The columns that no step names: they leave as they came."""
    named = {name for step in plan for name in (*step.columns, *step.strata)}
    return [name for name in names if name not in named]


def _holds_lists(column: "pd.Series[Any]") -> bool:
    texts = pa.Array.from_pandas(column)
    return bool(is_text(texts) and pc.any(pc.starts_with(texts.cast(pa.string()), LIST_MARK)).as_py())


def _is_left(masked: pd.DataFrame, original: pd.DataFrame, variable: Variable) -> bool:
    """Whether a step without names, such as one on all keys, left the column as it was; pseudonyms stay ones."""
    name = variable.name
    return name in masked and variable.role not in HASHED and masked[name].equals(original[name])


def _is_whole_float(column: "pd.Series[Any]", variable: Variable) -> bool:
    """Whether all are whole numbers: in a CSV file they stand without decimals that are 0."""
    return pd.api.types.is_float_dtype(column.dtype) and variable.kind is not Kind.CONTINUOUS


def _in_order(released: list[str], beside: Sequence[str], names: Sequence[str]) -> list[str]:
    """The released columns, and those beside them, where these stood in the source."""
    order = released
    for name in reversed(beside):
        after = next((each for each in names[names.index(name) + 1 :] if each in order), None)
        order.insert(len(order) if after is None else order.index(after), name)
    return order


def _described(variable: Variable, kind: pa.DataType) -> Variable:
    """A column that left as it came, for the descriptor: what its own type says, not what its values look like."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    as_written = variable.kind
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        as_written = Kind.CONTINUOUS
    elif not pa.types.is_boolean(kind) and not pa.types.is_integer(kind) and not pa.types.is_timestamp(kind):
        as_written = Kind.DATE if pa.types.is_date(kind) else Kind.TEXT
    free = {"categories": None, "missing_codes": ()}
    return variable if as_written is variable.kind else variable.model_copy(update={"kind": as_written} | free)


def load_plan(path: Path) -> tuple[MaskingStep, ...]:
    """The steps in a YAML file: a list, or the `plan` of a release definition, under whose policy a step may search.
    Raises DocumentError."""
    written = read_yaml(path, list_is="plan")
    steps = with_files(parse_document(MaskingPlan, written, str(path)))
    named = written.get("policy")
    if not isinstance(named, str) or not any(getattr(step, "under", None) for step in steps):
        return steps
    from policies.policy import load_policy, shipped_policies  # and all rules, which few plans need

    policy = load_policy(shipped_policies().get(named, path.parent / named))
    return tuple(step.under_policy(policy) if isinstance(step, Generalization) else step for step in steps)


def with_files(plan: MaskingPlan) -> tuple[MaskingStep, ...]:
    """The steps, which may read the files that they name."""
    return tuple(step.reading(named_file) for step in plan.plan)


def kinds_given(written: Sequence[str]) -> dict[str, Kind]:
    """What was written as COLUMN=KIND. Raises DocumentError."""
    kinds = {}
    for each in written:
        name, _, kind = each.rpartition("=")
        if not name or kind not in list(Kind):
            raise DocumentError(f"must be COLUMN=KIND with one of {', '.join(Kind)}; got '{each}'", field="--kind")
        kinds[name] = Kind(kind)
    return kinds


def _refuse_unfit_output(output: Path, inputs: list[Path | None]) -> None:
    if output.suffix not in (".csv", ".parquet"):
        raise DataError(f"--output {output}: must end in .csv or .parquet")
    if not output.resolve().parent.is_dir():
        raise DataError(f"--output {output}: there is no folder {output.parent}")
    refuse_to_overwrite(output, inputs, output.with_name(f"{output.name}.datapackage.json"))


def _released(
    plan: tuple[MaskingStep, ...], variables: dict[str, Variable], declared: Mapping[str, Variable]
) -> dict[str, Variable]:
    """The variables after the plan. An error names no category that only the data hold."""
    try:
        return released_variables(plan, variables)
    except PlanError as error:
        undeclared = [
            name
            for name, variable in variables.items()
            if not _declares(declared, name) and any(f"'{label}'" in str(error) for label in variable.categories or ())
        ]
        if not undeclared:
            raise
    raise DataError(
        f"the plan does not fit the categories of {', '.join(undeclared)} in the data. Declare them in a contract, or "
        "give 'others' in the plan."
    )


def _in_the_file(
    released: dict[str, Variable], declared: Mapping[str, Variable], masked: pd.DataFrame
) -> dict[str, Variable]:
    """The released variables, without categories that only the original data held and masking took away."""
    in_file = dict(released)
    for name, variable in released.items():
        if variable.categories is not None and not _declares(declared, name):
            left = set(masked[name].dropna().unique())
            in_file[name] = variable.model_copy(
                update={"categories": tuple(c for c in variable.categories if c in left)}
            )
    return in_file


def _declares(declared: Mapping[str, Variable], name: str) -> bool:
    return name in declared and declared[name].categories is not None


def _descriptor(
    output: Path,
    written: Path,
    records: int,
    contract: Contract,
    plan: tuple[MaskingStep, ...],
    variables: dict[str, Variable],
    released: dict[str, Variable],
    parameters: list[dict[str, Any]],
    with_time: list[str],
) -> dict[str, Any]:
    with written.open("rb") as file:
        sha256 = sha256_of(file)
    resource = PublishedFile(path=output.name, sha256=sha256, bytes=written.stat().st_size, rows=records)
    done = {name: [step.describe() for step in plan if step.concerns(name)] for name in variables}
    package = records_datapackage(
        output.stem,
        f"Trial of a masking plan on {contract.dataset}",
        contract.dataset,
        released,
        done,
        [resource],
        NOT_JUDGED,
        parameters,
        with_time,
    )
    return package | {"sluice:judged": False, "sluice:plan": [step.describe() for step in plan]}


@contextmanager
def _whole(path: Path) -> Iterator[Path]:
    """A file beside `path` to write to, which takes its place when all went well."""
    partial = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        yield partial
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
