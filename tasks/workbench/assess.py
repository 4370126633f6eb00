"""Anybody's masked or synthetic records are judged against their original, by the measures of a release.

`sluice.assess` is on DataFrames, `sluice assess` on files. Nothing is published and nothing recorded; the report is a
page like that of a release.
"""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import resources
from math import sqrt
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd

import policies
from policies.formula_cells import formula_cells
from policies.policy import Policy, load_policy
from policies.power import judge_power
from policies.standard.known_methods import is_perturbed
from policies.waivers import apply_waivers
from schemas.contract import Contract, load_contract
from schemas.reading.contract_draft import contract_yaml, read_draft
from schemas.reading.overview import overview, refuse_values_as_names
from schemas.reading.proposal import propose
from sluice.custody.shelf import refuse_to_overwrite
from sluice.documents.document_reading import document_sha256
from sluice.ground.comparable_values import plain_values
from sluice.ground.durable import replace, sha256_of
from sluice.ground.errors import DataError
from sluice.ground.remarks import Remark
from sluice.ground.sentence import Sentences, as_fields
from sluice.ground.variables import GROUPS, Kind, Role, Variable, Variables
from sluice.ground.verdict import Finding, Verdict
from sluice.ground.verdict import decide as verdict_of
from sluice.ground.visible_text import one_line
from sluice.report.dossier import ASSESSMENT, Dossier, RecordsView
from sluice.report.report_page import render
from sluice.risk.reference.copies import unexplained_duplicates
from sluice.risk.row_groups import row_groups
from sluice.software_version import versions
from sluice.utility.comparison import Comparison
from tasks.checks import with_advice
from tasks.release.records.record_findings import check_masked_and_locate, check_original, evaluate_file
from tasks.workbench.arguments import Seed
from tasks.workbench.compared import compare
from tasks.workbench.findings import Judgement
from tasks.workbench.mask import Masked
from tasks.workbench.records import Columns, ContractGiven
from tasks.workbench.result import Figure
from tasks.workbench.tabular_file import read_records, remarks_on, table_source

_HOLDOUT_OF_OTHERS = Sentences(
    "holdout_of_others",
    same_people="More records of the original and the holdout are equal than those of different people would be. The "
    "holdout must be of other people; with the same ones it cannot tell what the file adds to an intruder.",
    others="No more records of the original and the holdout are equal than those of different people can be.",
)
_PAIRS = Sentences(
    "pairs",
    resemble="The rows resemble the original rows that they are paired with.",
    do_not_resemble="The rows resemble the original rows that they are paired with no more than other rows. Either "
    "their order is another, and attacks that need pairs found nobody for that reason; or nothing is left to pair: "
    "then judge the file without pairs.",
)
_ORDER = Sentences(
    "row_order",
    told="Neighbouring rows are alike in {name}, which the file does not show otherwise: the order of the rows tells "
    "it to everybody who has the file.",
    nothing="The order of the rows shows no removed variable, and not who belongs together.",
)
_TOLD_OF_UNITS, _TOLD = 0.05, 0.2  # of the way from rows in random order to rows that are all beside their like
_MORE_THAN_SHOWN = 0.1  # the same, beyond what the order tells of a released variable

_FEWEST_ROWS = 100  # or pairs of neighbours
_BEYOND_CHANCE = 4  # standard errors
_ROWS = 100_000  # of the file that are looked at

DEFAULT_POLICY = "public-use-file.yaml"


def assess_files(
    original_file: Path,
    masked_file: Path,
    contract_file: Path | None = None,
    policy_file: Path | None = None,
    *,
    holdout_file: Path | None = None,
    paired: bool = False,
    report_file: Path | None = None,
) -> Dossier:
    """Judge a masked file. The same files and documents give the same figures.

    contract_file : what the original is. A column of the masked file is understood by it as far as its values allow:
                    numbers need not be whole nor within bounds, and groups of the contract's hierarchies are known.
                    When not given, one is drafted from the original; a notice says which kinds and roles it took
    policy_file   : what must hold; the shipped policy for public-use files when not given
    holdout_file  : records of other people of the same population, who are in neither file
    paired        : row i of the masked file is the person of row i of the original; some attacks need to know
    report_file   : where to write the report (HTML), if anywhere
    raises        : DocumentError, DataError
    """
    if report_file:
        inputs = [original_file, masked_file, contract_file, policy_file, holdout_file]
        refuse_to_overwrite(report_file, inputs, option="--report")
    contract, notices = (load_contract(contract_file), ()) if contract_file else _drafted(original_file, holdout_file)
    policy = load_policy(policy_file) if policy_file else shipped_policy()
    refuse_unjudgeable(policy, contract, holdout_file is not None, paired, "option")
    hashes = {"original": _sha256(original_file), "masked": _sha256(masked_file)}
    seed = int.from_bytes(hashlib.sha256("".join(hashes.values()).encode()).digest())
    sources = {file: table_source(file) for file in (original_file, masked_file, holdout_file) if file}
    original = read_records(sources[original_file], contract, list(contract.staged))
    holdout = None if holdout_file is None else read_records(sources[holdout_file], contract, list(contract.staged))
    raw = read_records(sources[masked_file], contract)
    if paired and len(original) != len(raw):
        raise DataError(
            f"{masked_file} must have the {len(original):,} records of {original_file} in their order; it "
            f"has {len(raw):,}",
            field="--paired",
        )
    found = compare(
        original, raw, Columns(contract), holdout=holdout, paired=paired, minimum_cell=policy.minimum_cell, seed=seed
    )
    reading = [remark.of(file.name) for file, source in sources.items() for remark in source.remarks.all()]
    dossier = assess_compared(
        found.files, contract, policy, found.on_columns, masked_file.name, hashes, reading=reading, notices=notices
    )
    if report_file:
        replace(report_file, render(dossier).encode(), 0o600)
    return dossier


def _drafted(original_file: Path, holdout_file: Path | None) -> tuple[Contract, tuple[str, ...]]:
    """A contract as `sluice init` drafts it of all people who are known, as some categories may be of those set aside
    alone; and the kinds and roles that it took."""
    source, more = table_source(original_file), []
    refuse_values_as_names(source)
    if holdout_file is not None:
        aside = table_source(holdout_file)
        if {*source.column_names()} <= {*aside.column_names()} and aside.decimal_mark == source.decimal_mark:
            more.append(aside)
    seen = overview(source, more=more)
    proposed = propose(seen)
    contract = read_draft(contract_yaml(seen, proposed, original_file.name.split(".")[0]), "contract")
    taken = {
        role: [f"{one_line(each.name)} ({each.kind})" for each in contract.variables if each.role is role]
        for role in Role
    }
    roles = "; ".join(f"{role.replace('_', '-')}: {', '.join(names)}" for role, names in taken.items() if names)
    return contract.model_copy(update={"version": "drafted"}), (
        f"No contract was given, so one was drafted from {one_line(original_file.name)}"
        f"{f' and {one_line(holdout_file.name)}' if holdout_file and more else ''}. It took these roles and "
        f"kinds. {roles[:1].upper()}{roles[1:]}.",
        "Where one is wrong, so is the verdict: sluice init ORIGINAL --output contract.yaml writes the draft, and "
        "--contract takes it.",
    )


def assess_compared(
    files: Comparison,
    contract: Contract,
    policy: Policy,
    on_columns: Sequence[Finding],
    name: str,
    hashes: Mapping[str, str],
    plan: Sequence[str] = ("Not known: the file was masked outside Sluice.",),
    reading: Sequence[Remark] = (),
    notices: Sequence[str] = (),
) -> Dossier:
    """Judge files that are in memory.

    on_columns : findings on what the masked file should not hold, to go first
    name       : of the masked file
    hashes     : SHA-256 of original and masked
    plan       : how the file was masked, in words
    reading    : what of the files was not read as it stands
    notices    : what is to be known before anything else
    """
    variables, released = files.variables, files.released
    aside = None if files.holdout is None else len(files.holdout)
    measured = evaluate_file(policy, files, _declared(variables, contract), _declared(released, contract))
    findings = [
        *on_columns,
        *judge_power(policy, files.original, variables, contract.records_are, aside, files.paired),
        *check_original(policy, files.original, variables, contract.records_are, numbers_alone=contract.numbers_alone),
        *check_masked_and_locate(policy, files),
        *policy.overlooked(released),
        *formula_cells(
            files.masked, "report" if policy.formula_cells == "report" else "block"
        ),  # as it is, it goes out
        *([] if files.holdout is None else [_on_holdout(files.original, files.holdout)]),
        *([_on_pairs(files), *_on_order(files)] if files.paired and files.carried_out is None else []),
        *(_on_plan(policy, files, each) for each in measured.findings),
    ]
    today = datetime.now(UTC)
    findings = with_advice(apply_waivers(findings, policy.waivers, name, today.date(), ""))
    return Dossier(
        release=f"{ASSESSMENT}{hashes['masked'][:12]}",
        name=name,
        title=f"Assessment of {name}",
        dataset=contract.dataset,
        contract_version=contract.version,
        policy=policy.name,
        policy_version=policy.version,
        submitter="nobody",
        evaluated_at=today.isoformat(timespec="seconds"),
        verdict=verdict_of(findings),
        findings=tuple(findings),
        plan=tuple(plan),
        approvals_needed="this is an assessment, which releases nothing.",
        reading=tuple(reading),
        notices=tuple(notices),
        records_original=len(files.original),
        earlier_attempts=0,
        minimum_cell=policy.minimum_cell,
        hashes={**hashes, "contract": document_sha256(contract), "policy": document_sha256(policy)},
        versions=versions(),
        view=RecordsView(
            records_holdout=0 if files.holdout is None else len(files.holdout),
            records_released=len(files.masked),
            curves=measured.curves,
            variables=measured.variables,
            utility=measured.utility,
        ),
    )


def refuse_unjudgeable(
    policy: Policy, contract: Contract, holdout: bool, paired: bool, how: Literal["argument", "option"]
) -> None:
    """Raise DataError where a check that decides lacks what it needs, so that nothing could pass; names all of it.

    holdout : whether other people were handed in
    how     : whether it is given by arguments of a function or by options of a command
    """
    lacking = policy.unmet(
        contract.staged, holdout=holdout, knowledge=contract.knowledge, paired=paired, how=how,
        numbers_alone=contract.numbers_alone,
    )  # fmt: skip
    if lacking:
        raise DataError("\n".join([f"the policy '{policy.name}' cannot be judged by what was given:", *lacking]))


def shipped_policy() -> Policy:
    """The policy for public-use files that Sluice ships."""
    with resources.as_file(resources.files(policies).joinpath(DEFAULT_POLICY)) as path:
        return load_policy(path)


def _declared(variables: Variables, contract: Contract) -> dict[str, Variable]:
    """The variables without categories that only the data tell."""
    return {
        name: v
        if name in contract.by_name and contract.by_name[name].categories == v.categories
        else v.model_copy(update={"categories": None} if v.kind is not Kind.ORDINAL else {})
        for name, v in variables.items()
    }


def _on_holdout(original: pd.DataFrame, holdout: pd.DataFrame) -> Finding:
    """Whether the holdout is of other people, as far as can be seen: with the same ones every attack looks harmless."""
    both = pd.concat([original, holdout], ignore_index=True)
    if unexplained_duplicates(row_groups(plain_values(both[name]) for name in both).size).unexplained:
        says = _HOLDOUT_OF_OTHERS.same_people()
        return Finding(rule="holdout_of_others", verdict=Verdict.UNKNOWN, stage="original", **as_fields(says))
    says = _HOLDOUT_OF_OTHERS.others()
    return Finding(rule="holdout_of_others", verdict=Verdict.PASS, stage="original", **as_fields(says))


def _on_pairs(files: Comparison) -> Finding:
    """Whether row i resembles the person of row i more than somebody else: in a wrong order nobody would be found."""
    n = len(files.masked)
    others = np.random.default_rng(0).permutation(n)
    gained = np.zeros(n)
    for name, column in files.recoded.items():
        before, after = plain_values(column), plain_values(files.masked[name])
        if files.released[str(name)].kind.is_categorical:
            gained += (before == after).astype(float) - (before == after[others])
        else:
            ranks, found = (pd.Series(values).rank(pct=True).to_numpy() for values in (before, after))
            gained += np.nan_to_num(np.abs(ranks - found[others]) - np.abs(ranks - found))
    if gained.mean() > 3 * gained.std() / np.sqrt(n):
        says = _PAIRS.resemble()
        return Finding(rule="pairs", verdict=Verdict.PASS, stage="masked", **as_fields(says))
    says = _PAIRS.do_not_resemble()
    return Finding(rule="pairs", verdict=Verdict.REVIEW, stage="masked", **as_fields(says))


def _on_order(files: Comparison) -> list[Finding]:
    """Whether rows that stand together are nearer in a variable than what the file tells of it, or of one unit, as in a
    file that was sorted before it was masked. Sluice itself draws the order of what it releases. Of a name or a running
    number nobody is asked: whose it is, few outside know."""
    if len(files.masked) < _FEWEST_ROWS:
        return []
    some = slice(0, _ROWS)
    original, masked = files.original.iloc[some], files.masked.iloc[some]
    everybody = np.zeros(len(masked), np.int64)
    shown = max((_told(masked[name], everybody) for name in masked), default=0.0)
    for name, variable in files.variables.items():
        if variable.role is Role.IDENTIFIER:
            continue
        is_unit = variable.role in GROUPS
        told = _told(original[name], everybody) > (_TOLD_OF_UNITS if is_unit else max(_TOLD, shown + _MORE_THAN_SHOWN))
        if not told and not is_unit and name in masked:  # sorted by years of age, of which groups are released
            groups = pd.factorize(masked[name], use_na_sentinel=False)[0]
            within = _told(original[name], groups)
            told = within > _TOLD and within > _MORE_THAN_SHOWN + max(_told(masked[each], groups) for each in masked)
        if told:
            says = _ORDER.told(name=name)
            return [Finding(rule="row_order", verdict=Verdict.REVIEW, stage="masked", **as_fields(says))]
    return [Finding(rule="row_order", verdict=Verdict.PASS, stage="masked", **as_fields(_ORDER.nothing()))]


def _told(column: pd.Series, groups: npt.NDArray[np.int64]) -> float:
    """How much nearer neighbouring rows of one group lie than in random order: 0 no nearer, or no more so than chance
    explains, 1 always equal.

    column : shape (n,); numbers are near by their ranks, other values if they are equal
    groups : shape (n,), of values that the file tells
    """
    values = plain_values(column)
    is_number = values.dtype.kind == "f"
    codes = pd.Series(values).rank().to_numpy() if is_number else pd.factorize(values, use_na_sentinel=False)[0]
    mixed, order = np.empty_like(codes), np.argsort(groups, kind="stable")
    mixed[order] = codes[np.lexsort((np.random.default_rng(0).random(len(codes)), groups))]
    same = groups[1:] == groups[:-1]

    def apart(of: npt.NDArray[Any]) -> tuple[float, float]:
        """The mean of the pairs of neighbours, and its variance where each row stands in two of them."""
        far = (np.abs(np.diff(of)) if is_number else np.diff(of) != 0)[same].astype(np.float64)
        far = far[np.isfinite(far)]
        return (far.mean(), 2 * far.var() / len(far)) if len(far) >= _FEWEST_ROWS else (0.0, 0.0)

    (found, varies), (by_chance, by_chance_varies) = apart(codes), apart(mixed)
    # Within groups of which few rows were left blank, few pairs differ at all: half of them is nothing.
    return 1 - found / by_chance if by_chance - found > _BEYOND_CHANCE * sqrt(varies + by_chance_varies) else 0.0


def _on_plan(policy: Policy, files: Comparison, finding: Finding) -> Finding:
    """What would undo a method that nobody names was not looked for, so a person decides where the policy asks for it.

    Recoded and suppressed values are what they seem, and need no method.
    """
    standard = policy.reference_standard
    if finding.rule != "transparency" or standard is None or not standard.transparency.binding:
        return finding
    if files.carried_out is not None or not any(is_perturbed(files, str(name)) for name in files.masked):
        return finding
    return finding.model_copy(update={"binding": True})


def _sha256(path: Path) -> str:
    if not path.is_file():
        table_source(path).column_names()  # says what is wrong with it
        raise DataError(f"{path}: no such file")
    with path.open("rb") as file:
        return sha256_of(file)


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class Assessment(Judgement):
    """What a policy says of a masked file. Nothing is released by it.

    dossier : all of it, as the report of a release shows it; `report()` is that page
    """

    rules_broken: Annotated[int, Figure("findings", "that decide and fail")]
    to_be_decided: Annotated[int, Figure("findings", "that need a decision")]
    not_measured: Annotated[int, Figure("findings", "that could not be measured; they block")]
    records_original: Annotated[int, Figure("records", "of the original")]
    records_masked: Annotated[int, Figure("records", "of the masked file")]
    policy: str
    dossier: Dossier

    @property
    def says(self) -> str:
        if self.verdict is Verdict.PASS:
            return f"The masked file meets the policy '{self.policy}'. Nobody approved it."
        return self.gravest.says

    def report(self) -> str:
        """The report as an HTML page of its own."""
        return render(self.dossier)


def assess(
    original: pd.DataFrame,
    masked: pd.DataFrame | Masked,
    *,
    policy: Policy | Path | str | None = None,
    holdout: pd.DataFrame | None = None,
    paired: bool = False,
    contract: ContractGiven | None = None,
    quasi_identifiers: Iterable[str] | None = None,
    sensitive: Iterable[str] | None = None,
    weight: str | None = None,
    household: str | None = None,
    kinds: Mapping[str, str] | None = None,
    seed: Seed = None,
) -> Assessment:
    """Hold a masked file to a policy: its rules, the reference standard, attacks and limits on information loss.

    original : the records behind the masked file
    masked   : what anybody made of them, or what `sluice.mask` returned
    policy   : a Policy or the path of its YAML file; the shipped one for public-use files when not given
    holdout  : other people of the same population, who are in neither file
    paired   : row i of `masked` is the person of row i of the original; some attacks need to know
    contract : what the columns are; without one, their kinds are inferred, and the roles are those that are named
    seed     : a whole number, a numpy Generator, or none: some attacks draw records
    raises   : TypeError, DataError, DocumentError; before a record is looked at where a rule of the policy that decides
               cannot be judged by what was given
    """
    held_to = policy_given(policy)
    columns = Columns(contract, quasi_identifiers, sensitive, weight, household, kinds)

    def refuse(understood: Contract, paired: bool) -> None:
        refuse_unjudgeable(held_to, understood, holdout is not None, paired, "argument")

    found = compare(
        original,
        masked,
        columns,
        holdout=holdout,
        paired=paired,
        minimum_cell=held_to.minimum_cell,
        seed=seed,
        refuse=refuse,
    )
    hashes = {"original": _frame_sha256(found.files.original), "masked": _frame_sha256(found.files.masked)}
    reading = [
        remark.of(name)
        for name, frame in (("original", original), ("masked", masked), ("holdout", holdout))
        if isinstance(frame, pd.DataFrame)
        for remark in remarks_on(frame)
    ]
    dossier = assess_compared(
        found.files, found.contract, held_to, found.on_columns, "frame", hashes, plan=found.plan, reading=reading
    )
    deciding = [finding.verdict for finding in dossier.findings if finding.binding and not finding.excused]
    return Assessment(
        verdict=dossier.verdict,
        findings=dossier.findings,
        curves=dossier.view.curves if isinstance(dossier.view, RecordsView) else (),
        rules_broken=deciding.count(Verdict.FAIL),
        to_be_decided=deciding.count(Verdict.REVIEW),
        not_measured=deciding.count(Verdict.UNKNOWN),
        records_original=len(found.files.original),
        records_masked=len(found.files.masked),
        policy=held_to.name,
        dossier=dossier,
    )


_POLICY = "a Policy, the path of its YAML file or the name of one that comes with Sluice"


def policy_given(policy: object) -> Policy:
    if policy is None:
        return shipped_policy()
    if isinstance(policy, Policy):
        return policy
    if isinstance(policy, str | Path):
        return load_policy(Path(policy))
    raise TypeError(f"policy must be {_POLICY}; got {type(policy).__name__}.")


def _frame_sha256(frame: pd.DataFrame) -> str:
    return hashlib.sha256(frame.to_csv(index=False).encode()).hexdigest()
