"""An assessment: anybody's masked or synthetic file judged beside its original, by the measures of a release.

Nothing is published and nothing recorded; the report is a page like that of a release.
"""

import hashlib
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
import pandas as pd

from policies.original_and_masked import OriginalAndMasked
from policies.policy import Policy, load_policy
from policies.waivers import apply_waivers
from schemas.contract import Contract, load_contract
from schemas.reading.inferred import inferred_contract
from sluice.custody.durable import replace, sha256_of
from sluice.documents.documents import document_sha256
from sluice.errors import DataError
from sluice.masking.recoding.global_recoding import GlobalRecoding
from sluice.report.dossier import Dossier
from sluice.report.report import render_report
from sluice.risk.coding import plain_values
from sluice.risk.reference.copies import unexplained_duplicates
from sluice.risk.row_groups import row_groups
from sluice.variables import Kind, Variable
from sluice.verdict import Finding, Verdict
from sluice.verdict import decide as verdict_of
from tasks.release.records.judgement import check_rules, evaluate_file
from tasks.release.versions import versions
from tasks.workbench.tabular_file import table_source, typed_table

DEFAULT_POLICY = "public-use-file.yaml"
_IDLE = np.random.default_rng(0)  # recodings draw nothing


@dataclass(frozen=True)
class _Masked:
    """The masked file as it was understood."""

    frame: pd.DataFrame
    variables: dict[str, Variable]
    identifiers: tuple[str, ...]  # columns that the contract calls identifiers
    unknown: tuple[str, ...]  # columns that the contract does not know


def assess(
    original_file: Path,
    masked_file: Path,
    contract_file: Path,
    policy_file: Path | None = None,
    *,
    holdout_file: Path | None = None,
    paired: bool = False,
    report_file: Path | None = None,
) -> Dossier:
    """Judge a masked file. The same files and documents give the same figures.

    contract_file : what the original is. A column of the masked file is understood by it as far as its values allow:
                    numbers need not be whole nor within bounds, and groups of the contract's hierarchies are known
    policy_file   : what must hold; the shipped policy for public-use files when not given
    holdout_file  : records of other people of the same population, who are in neither file
    paired        : row i of the masked file is the person of row i of the original; some attacks need to know
    report_file   : where to write the report (HTML), if anywhere
    raises        : DocumentError, DataError
    """
    contract = load_contract(contract_file)
    policy = load_policy(policy_file) if policy_file else _shipped_policy()
    hashes = {"original": _sha256(original_file), "masked": _sha256(masked_file)}
    seed = int.from_bytes(hashlib.sha256("".join(hashes.values()).encode()).digest())
    original, variables = _read(original_file, contract, seed)
    masked = _understood(masked_file, contract, variables, seed)
    if paired and len(original) != len(masked.frame):
        raise DataError(
            f"--paired: {masked_file} must have the {len(original):,} records of {original_file} in their order; it "
            f"has {len(masked.frame):,}"
        )
    holdout = None if holdout_file is None else _read(holdout_file, contract, seed)[0]
    attacked = OriginalAndMasked(
        original=original,
        recoded=_recoded(original, masked, variables, paired),
        masked=masked.frame,
        holdout=holdout,
        recoded_holdout=None if holdout is None else _recoded(holdout, masked, variables, paired=False),
        variables=variables,
        released=masked.variables,
        rng=np.random.default_rng(seed),
        paired=paired,
        unit=contract.records_are,
        minimum_cell=policy.minimum_cell,
    )
    measured = evaluate_file(policy, attacked, _declared(variables, contract), _declared(masked.variables, contract))
    findings = [
        *_on_columns(masked),
        *check_rules(policy, original, variables, "original", contract.records_are),
        *check_rules(policy, masked.frame, masked.variables, "masked", contract.records_are),
        *policy.overlooked(masked.variables),
        *([] if holdout is None else [_on_holdout(original, holdout)]),
        *([_on_pairs(attacked)] if paired else []),
        *measured.findings,
    ]
    today = datetime.now(UTC)
    findings = apply_waivers(findings, policy.waivers, masked_file.name, today.date(), "")
    dossier = Dossier(
        release=f"assessment-{hashes['masked'][:12]}",
        name=masked_file.name,
        title=f"Assessment of {masked_file.name}",
        dataset=contract.dataset,
        contract_version=contract.version,
        policy=policy.name,
        policy_version=policy.version,
        submitter="nobody",
        evaluated_at=today.isoformat(timespec="seconds"),
        verdict=verdict_of(findings),
        findings=tuple(findings),
        curves=measured.curves,
        variables=measured.variables,
        plan=("Not known: the file was masked outside Sluice.",),
        approvals_needed="this is an assessment, which releases nothing.",
        records_original=len(original),
        records_holdout=0 if holdout is None else len(holdout),
        records_released=len(masked.frame),
        earlier_attempts=0,
        minimum_cell=policy.minimum_cell,
        hashes=hashes | {"contract": document_sha256(contract), "policy": document_sha256(policy)},
        versions=versions(),
    )
    if report_file:
        replace(report_file, render_report(dossier).encode(), 0o600)
    return dossier


def _shipped_policy() -> Policy:
    with as_file(files("policies").joinpath(DEFAULT_POLICY)) as path:
        return load_policy(path)


def _read(path: Path, contract: Contract, key: int) -> tuple[pd.DataFrame, dict[str, Variable]]:
    source = table_source(path)
    raw = pd.concat(source.batches(list(contract.staged)), ignore_index=True)
    return typed_table(raw, contract, source, key)


def _understood(path: Path, contract: Contract, variables: dict[str, Variable], key: int) -> _Masked:
    """The masked file's columns as the contract's variables, changed as their values show that masking changed them."""
    source = table_source(path)
    names = source.column_names()
    raw = pd.concat(source.batches(names), ignore_index=True)
    identifiers = [name for name in names if name in contract.by_name and name not in variables]
    unknown = [name for name in names if name not in contract.by_name]
    released: dict[str, Variable] = {}
    for name in names:
        if name in identifiers:
            continue
        known = contract.by_name.get(name)
        found = inferred_contract(raw[[name]], contract.dataset, {}).variables[0]
        released[name] = found if known is None else _after_masking(raw[name], known, found)
    if not released:
        raise DataError(f"{path}: holds no variable of the contract; it has {', '.join(names)}")
    by_kind = Contract(dataset=contract.dataset, version=contract.version, variables=tuple(released.values()))
    frame, typed = typed_table(raw, by_kind, source, key)
    return _Masked(frame, typed, tuple(identifiers), tuple(unknown))


def _after_masking(column: pd.Series, known: Variable, found: Variable) -> Variable:
    """The contract's variable as its masked values show it: without bounds, a number a fraction, or with new groups."""
    free = {"minimum": None, "maximum": None, "nullable": True, "max_missing_share": None}
    if known.kind.is_numeric and found.kind.is_numeric:
        return known.model_copy(update=free | {"kind": found.kind, "missing_codes": found.missing_codes})
    if known.kind.is_categorical or known.kind is Kind.TEXT:
        labels = {str(label).strip() for label in column.dropna().unique()} - {"", *known.missing_codes}
        if known.categories is None or labels <= set(known.categories):
            return known.model_copy(update={"nullable": True, "max_missing_share": None})
    elif known.kind is found.kind:
        return known.model_copy(update=free)
    return found.model_copy(
        update={"role": known.role, "description": known.description, "unit": known.unit, "kind": Kind.NOMINAL}
    )


def _recoded(original: pd.DataFrame, masked: _Masked, variables: dict[str, Variable], paired: bool) -> pd.DataFrame:
    """The original records on the masked file's categories, as far as they can be known.

    A column whose categories are others than the contract's is recoded by the level of its hierarchy that holds them.
    With pairs, one in which each original value always becomes the same category was recoded in that way. What remains
    cannot be compared, and stands as missing.
    """
    columns = {}
    for name, variable in masked.variables.items():
        if name not in variables:
            continue
        column, before = original[name], variables[name]
        comparable = before.kind is variable.kind and before.categories == variable.categories
        if comparable or (before.kind.is_numeric and variable.kind.is_numeric):
            columns[name] = column.astype(masked.frame[name].dtype) if not comparable else column
        elif (grouped := _by_hierarchy(column, before, variable)) is not None:
            columns[name] = grouped.astype(masked.frame[name].dtype)
        elif paired and _is_function(column, masked.frame[name]):
            columns[name] = masked.frame[name]
        else:
            columns[name] = pd.Series(pd.Categorical.from_codes([-1] * len(column), dtype=masked.frame[name].dtype))
    return pd.DataFrame(columns, index=original.index)


def _by_hierarchy(column: pd.Series, before: Variable, after: Variable) -> pd.Series | None:
    """The column at the lowest level of its hierarchy that has all the masked file's categories."""
    if before.hierarchy is None or after.categories is None:
        return None
    for level in range(1, before.hierarchy.depth + 1):
        if set(after.categories) <= set(before.hierarchy.at_level(level).values()):
            step = GlobalRecoding(columns=(before.name,), level=level)
            return step.mask(pd.DataFrame({before.name: column}), {before.name: before}, _IDLE)[before.name]
    return None


def _is_function(before: pd.Series, after: pd.Series) -> bool:
    pairs = pd.DataFrame({"before": before.astype("string"), "after": after.astype("string")}).drop_duplicates()
    return not pairs["before"].duplicated().any()


def _declared(variables: dict[str, Variable], contract: Contract) -> dict[str, Variable]:
    """The variables without categories that only the data tell."""
    return {
        name: v
        if name in contract.by_name and contract.by_name[name].categories == v.categories
        else v.model_copy(update={"categories": None} if v.kind is not Kind.ORDINAL else {})
        for name, v in variables.items()
    }


def _on_columns(masked: _Masked) -> list[Finding]:
    found = []
    if masked.identifiers:
        says = f"The file still holds {', '.join(masked.identifiers)}, which the contract calls an identifier."
        found.append(Finding(rule="identifiers_removed", verdict=Verdict.FAIL, stage="masked", says=says))
    else:
        says = "The file holds no variable that the contract calls an identifier."
        found.append(Finding(rule="identifiers_removed", verdict=Verdict.PASS, stage="masked", says=says))
    if masked.unknown:
        says = f"The contract does not know {', '.join(masked.unknown)}; what they tell of people was not judged."
        found.append(Finding(rule="unknown_columns", verdict=Verdict.REVIEW, stage="masked", says=says))
    return found


def _on_holdout(original: pd.DataFrame, holdout: pd.DataFrame) -> Finding:
    """Whether the holdout is of other people, as far as can be seen: with the same ones every attack looks harmless."""
    both = pd.concat([original, holdout], ignore_index=True)
    if unexplained_duplicates(row_groups(plain_values(both[name]) for name in both).size).unexplained:
        says = (
            "More records of the original and the holdout are equal than those of different people would be. The "
            "holdout must be of other people; with the same ones it cannot tell what the file adds to an intruder."
        )
        return Finding(rule="holdout_of_others", verdict=Verdict.UNKNOWN, stage="original", says=says)
    says = "No more records of the original and the holdout are equal than those of different people can be."
    return Finding(rule="holdout_of_others", verdict=Verdict.PASS, stage="original", says=says)


def _on_pairs(attacked: OriginalAndMasked) -> Finding:
    """Whether row i resembles the person of row i more than somebody else: in a wrong order nobody would be found."""
    n = len(attacked.masked)
    others = np.random.default_rng(0).permutation(n)
    gained = np.zeros(n)
    for name, column in attacked.recoded.items():
        before, after = plain_values(column), plain_values(attacked.masked[name])
        if attacked.released[str(name)].kind.is_categorical:
            gained += (before == after).astype(float) - (before == after[others])
        else:
            ranks, found = (pd.Series(values).rank(pct=True).to_numpy() for values in (before, after))
            gained += np.nan_to_num(np.abs(ranks - found[others]) - np.abs(ranks - found))
    if gained.mean() > 3 * gained.std() / np.sqrt(n):
        says = "The rows resemble the original rows that they are paired with."
        return Finding(rule="pairs", verdict=Verdict.PASS, stage="masked", says=says)
    says = (
        "The rows resemble the original rows that they are paired with no more than other rows. Either their order is "
        "another, and attacks that need pairs found nobody for that reason; or nothing is left to pair: then judge "
        "the file without pairs."
    )
    return Finding(rule="pairs", verdict=Verdict.REVIEW, stage="masked", says=says)


def _sha256(path: Path) -> str:
    if not path.is_file():
        table_source(path).column_names()  # says what is wrong with it
        raise DataError(f"{path}: no such file")
    with path.open("rb") as file:
        return sha256_of(file)
