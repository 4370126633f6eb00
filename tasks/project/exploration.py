"""What a methodologist tries on a file of their own before a definition is written: roles, levels, a threshold.

Each state is masked and judged on a sample by what is cheap, the policy's rules on groups and the loss, so that an
answer comes within seconds. It is a preview: attacks are played by `sluice check`, on all records.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from math import nan
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from policies.policy import load_policy, shipped_policies
from schemas.contract import Contract
from schemas.reading.contract_draft import contract_yaml, read_draft
from schemas.reading.overview import Overview
from schemas.reading.proposal import Proposals, coherent, with_role
from sluice.documents.document_reading import parse_document
from sluice.ground.durable import write_new
from sluice.ground.errors import SluiceError
from sluice.ground.variables import NAMES, Kind, Role, Variable, Variables
from sluice.ground.verdict import URGENCY, Finding, Verdict
from sluice.masking.recoding.generalized_levels import depth
from sluice.risk.row_groups import row_groups
from sluice.sources.permission import permitted_file
from sluice.utility.analyses.asked_analyses import Analyses
from sluice.utility.analyses.drafted_analyses import drafted_analyses
from sluice.utility.comparison import Comparison
from sluice.utility.marginals import marginal_losses
from tasks.project.own_project import OwnData, release_name, typed_records, write_project, written_definition
from tasks.release.records.record_definition import RecordsDefinition
from tasks.release.records.record_findings import check_masked
from tasks.tuning.audiences import USES, fitting_uses
from tasks.tuning.confirmation import recommended_yaml
from tasks.tuning.draft_steps import COUNTLESS, is_wide, rounded, unused
from tasks.tuning.first_drafts import at_level
from tasks.tuning.first_plan import part_at_hand
from tasks.tuning.near_plans import cut_points
from tasks.tuning.records_at_hand import RecordsAtHand
from tasks.tuning.regressions_kept import KeptRegression, regressions
from tasks.tuning.trial import files_of_trial

MOST_PREVIEWED = 30_000
"""Records that a state is tried on."""

THRESHOLDS = (0, 2, 3, 5, 10, 20, 50)
"""Records that must agree on the quasi-identifiers, else single values are removed; 0: none is."""

GROUP_SIZES = (2, 3, 5, 10, 20)

AS_IT_IS, LEFT_OUT = "as it is", "not released"
_PARTS = (20, 10, 5, 3)
_FREQUENT = (20, 12, 6, 3)
_WINDOWS = (0.05, 0.1, 0.2, 0.4)
_RETENTIONS = (0.9, 0.8, 0.6)
_DRAWN = "drawn anew"
_FEW = 8  # groups of a quasi-identifier at the level from which one begins


@dataclass(frozen=True)
class Form:
    """One way in which a variable may be released; a state names it by `says`."""

    says: str
    step: Mapping[str, Any] | None = None


@dataclass(frozen=True)
class State:
    """What was chosen. Variables that `forms` does not name are as the explorer proposes."""

    roles: Mapping[str, Role]
    use: str
    forms: Mapping[str, str] = field(default_factory=dict)
    k: int = 5


@dataclass(frozen=True)
class Situation:
    """The records under the roles of a state, and the documents that judge them."""

    proposed: Proposals
    contract: Contract
    records: RecordsAtHand
    analyses: Analyses

    @property
    def variables(self) -> Variables:
        return self.records.variables

    @cached_property
    def forms(self) -> dict[str, list[Form]]:
        """Of each variable that may be released the ways in which it may, from fine to coarse."""
        return {name: list(_forms(self.records.frame[name], variable)) for name, variable in self.variables.items()}


@dataclass(frozen=True)
class VariableLoss:
    """lost: the mean total variation distance of the pairs that the variable is in, 0 kept to 1 lost; NaN: not known"""

    name: str
    lost: float


@dataclass(frozen=True)
class Preview:
    """How a state does on the sample; aggregates alone.

    small    : of each of GROUP_SIZES the share of the records in smaller groups of look-alikes, in the original and in
               the masked file; empty without quasi-identifiers
    blanked  : values that local suppression removed, a share of those of the quasi-identifiers
    findings : of the policy's rules, worst first
    refused  : why the plan cannot be carried out; then nothing else is known
    """

    records: int
    of: int
    small: tuple[tuple[int, float, float], ...] = ()
    blanked: float = 0.0
    kept: int = 0
    loss: float = nan
    losses: tuple[VariableLoss, ...] = ()
    findings: tuple[Finding, ...] = ()
    regressions: tuple[KeptRegression, ...] = ()
    unasked: tuple[str, ...] = ()
    refused: str = ""

    @property
    def verdict(self) -> Verdict:
        return self.findings[0].verdict if self.findings else Verdict.UNKNOWN


class Explorer:
    """A file, what is proposed for it, and what came of each state that was tried."""

    def __init__(self, data: OwnData, seen: Overview, proposed: Proposals, dataset: str) -> None:
        self._data, self._seen, self._proposed = data, seen, proposed
        self.dataset = dataset
        self.written: list[Path] = []
        self._repeats = {each.name for each in proposed.columns if each.repeats}
        self._situation = lru_cache(4)(self._found)
        self._preview = lru_cache(64)(self._tried)

    @property
    def names(self) -> list[str]:
        return [each.name for each in self._proposed.columns]

    def why(self, name: str) -> str:
        """Why the drafted role is proposed."""
        return next(each.why for each in self._proposed.columns if each.name == name)

    @property
    def uses(self) -> tuple[str, ...]:
        """Those that fit the file first, then the others."""
        fitting = fitting_uses(
            [each.role for each in self._proposed.columns],
            self._proposed.people(self._seen),
            self._proposed.numbers_alone,
        )
        return (*fitting, *(use for use in USES if use not in fitting))

    def first(self) -> State:
        """The roles that are proposed, and quasi-identifiers in a few groups each."""
        return State({each.name: each.role for each in self._proposed.columns}, self.uses[0])

    def changed(self, state: State, roles: Mapping[str, str], forms: Mapping[str, str], k: str, use: str) -> State:
        """The state that a page asks for. Raises SluiceError: field, allowed, came. Nothing is tried yet."""
        found = {
            name: _one_of(Role, roles.get(name, role), f"the role of {name}") for name, role in state.roles.items()
        }
        coherent(self._with_roles(found))
        of_the_use = _one_of(USES, use, "for whom")
        threshold = int(_one_of([str(each) for each in THRESHOLDS], k, "the threshold"))
        changed = State(found, of_the_use, {}, threshold)
        # A form is that of a role: where this one changed, another is proposed. What is left out stays out.
        allowed = self.forms(changed)
        kept = {
            name: _one_of([each.says for each in allowed[name]], says, f"the form of {name}")
            for name, says in forms.items()
            if name in allowed and (found[name] is state.roles[name] or says == LEFT_OUT)
        }
        return replace(changed, forms=kept)

    def forms(self, state: State) -> dict[str, list[Form]]:
        """Of each variable that may be released the ways in which it may, from fine to coarse."""
        return self._situation(_frozen(state.roles), state.use).forms

    def chosen(self, state: State) -> dict[str, Form]:
        """Of each variable the form that the state has."""
        situation = self._situation(_frozen(state.roles), state.use)
        found = {}
        for name, forms in situation.forms.items():
            wanted = state.forms.get(name)
            proposed = forms[-1]  # of what tells the same as another variable, or names somebody
            if name not in self._repeats:
                proposed = _proposed_form(situation.records.frame[name], situation.variables[name], forms)
            found[name] = next((each for each in forms if each.says == wanted), proposed)
        return found

    def preview(self, state: State) -> Preview:
        """What came of it. Cost: masking and counting at most MOST_PREVIEWED records, once for each state."""
        return self._preview(_frozen(state.roles), _frozen(state.forms), state.k, state.use)

    def write(self, state: State, finish: Callable[[Path], None] = lambda folder: None) -> Path:
        """The documents of the state, and where the definition is: a project in the current folder the first time, then
        another definition in it.

        finish : as of `make_project`
        raises : SluiceError where a folder of that name holds anything, or the plan cannot be carried out
        """
        situation, steps = self._situation(_frozen(state.roles), state.use), self._steps_of(state)
        name = release_name(self.dataset)
        folder, number = Path(name), len(self.written) + 1
        file = f"{name}.yaml" if number == 1 else f"{name}-{number}.yaml"
        contract = contract_yaml(self._seen, situation.proposed, self.dataset)
        written = written_definition(self._data, folder / "releases", self.dataset, f"../contracts/{file}", state.use)
        parsed = parse_document(RecordsDefinition, {**written, "plan": steps}, "the definition")
        head = [
            f"Written by sluice explore, whose preview judged {len(situation.records):,} records, without attacks: "
            "sluice check judges all.",
            "Check the title: it is the first that readers of the published file see.",
        ]
        definition = recommended_yaml(written, steps, parsed, [], [], [], nan, head)
        if number == 1:
            if folder.exists():
                raise SluiceError(
                    f"the folder {folder} exists; nothing was written. Start sluice explore with another name",
                    field="--dataset",
                )
            write_project(folder, self._data, name, contract, definition, finish=finish)
        else:
            write_new(folder / "contracts" / file, contract.encode(), 0o644)
            write_new(folder / "releases" / file, definition.encode(), 0o644)
        self.written.append(folder / "releases" / file)
        return self.written[-1]

    def _steps_of(self, state: State) -> list[dict[str, Any]]:
        if refused := self.preview(state).refused:
            raise SluiceError(f"the plan cannot be carried out, and nothing was written: {refused}")
        return self._steps(state, self._situation(_frozen(state.roles), state.use))

    def _with_roles(self, roles: Mapping[str, Role]) -> Proposals:
        columns = tuple(
            each
            if roles[each.name] is each.role
            else with_role(self._seen, each, roles[each.name], "chosen by a person")
            for each in self._proposed.columns
        )
        return replace(self._proposed, columns=columns)

    def _found(self, roles: tuple[tuple[str, Role], ...], use: str) -> Situation:
        proposed = coherent(self._with_roles(dict(roles)))
        name = release_name(self.dataset)
        contract = read_draft(contract_yaml(self._seen, proposed, self.dataset), name)
        policy = load_policy(shipped_policies()[USES[use].policy])
        frame, variables = typed_records(self._data.records, contract, self._seen.records)
        records = RecordsAtHand.of(frame, variables, contract, policy, name, "", datetime.now(UTC).date())
        analyses = Analyses(models=drafted_analyses(variables, frame, contract.undeclared).models)
        return Situation(proposed, contract, part_at_hand(records, MOST_PREVIEWED), analyses)

    def _tried(
        self, roles: tuple[tuple[str, Role], ...], forms: tuple[tuple[str, str], ...], k: int, use: str
    ) -> Preview:
        situation, state = self._situation(roles, use), State(dict(roles), use, dict(forms), k)
        records = situation.records
        written = written_definition(self._data, Path(), self.dataset, "contract.yaml", use)
        try:
            steps = self._steps(state, situation)
            definition = parse_document(RecordsDefinition, {**written, "plan": steps}, "the plan")
            files = files_of_trial(definition, records, [1])
            return self._judged(situation, files)
        except SluiceError as error:
            return Preview(len(records), self._seen.records, refused=" ".join(str(error).split()))

    def _judged(self, situation: Situation, files: Comparison) -> Preview:
        policy, records = situation.records.policy, situation.records
        found = [*check_masked(policy, files, permitted_file), *policy.overlooked(files.released)]
        bins = files.bins_of_all
        pairs = marginal_losses(bins, min(2, len(bins)), *files.weights_of_all, rng=np.random.default_rng(0))
        of_variable = [
            VariableLoss(name, float(pairs.losses[(pairs.tables == place).any(axis=1)].mean()))
            for place, name in enumerate(pairs.names)
        ]
        keys = [name for name, each in files.released.items() if each.role is Role.QUASI_IDENTIFIER]
        known = [name for name in keys if name in files.original]
        return Preview(
            len(records), self._seen.records,
            small=_small_groups(files, known),
            blanked=_blanked(files, known),
            kept=len(files.kept),
            loss=pairs.mean,
            losses=tuple(of_variable),
            findings=tuple(sorted(found, key=lambda each: (not each.binding, URGENCY.index(each.verdict)))),
            regressions=tuple(regressions(situation.analyses, files)),
            unasked=tuple(str(attack.rule) for attack in policy.attacks),
        )  # fmt: skip

    def _steps(self, state: State, situation: Situation) -> list[dict[str, Any]]:
        return list(_plan(situation.records.frame, situation.variables, self.chosen(state), state.k))


def _one_of(allowed: Any, came: str, what: str) -> Any:
    if came not in list(allowed):
        raise SluiceError(f"must be one of {', '.join(map(str, allowed))}; got {came!r}", field=what)
    return Role(came) if allowed is Role else came


def _frozen(given: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(given.items())


# -- the forms of a variable


def _forms(column: pd.Series, variable: Variable) -> Iterator[Form]:
    if variable.kind not in (Kind.TEXT, Kind.ITEMS) and variable.role not in NAMES:
        yield Form(AS_IT_IS)
        if variable.role is Role.QUASI_IDENTIFIER:
            yield from _coarser(column, variable)
        elif variable.role in (Role.SENSITIVE, Role.OTHER):
            yield from _changed(column, variable)
    yield Form(LEFT_OUT)


def _coarser(column: pd.Series, variable: Variable) -> Iterator[Form]:
    recoded: dict[str, Any] = {"method": "global_recoding", "columns": [variable.name]}
    if variable.hierarchy is not None:
        known = column.dropna()
        for level in range(1, depth(variable)):
            groups = at_level(known, variable, level).nunique()
            if groups > 1:
                yield Form(f"level {level}, {groups} groups", {**recoded, "level": level})
    elif variable.kind.is_numeric:
        seen: set[tuple[float, ...]] = set()
        for parts in _PARTS:
            points = cut_points(column, parts)
            if points and tuple(points) not in seen and len(points) + 1 < column.nunique():
                seen.add(tuple(points))
                yield Form(f"{len(points) + 1} intervals", {**recoded, "bins": points})
    elif variable.kind is Kind.DATE:
        yield from (Form(f"by {period}", {**recoded, "to": period}) for period in ("month", "quarter", "year"))
    elif variable.kind is Kind.ORDINAL:
        yield from _runs(variable, recoded)
    elif variable.kind is Kind.NOMINAL:
        frequent = [str(label) for label in column.value_counts().index]
        for most in _FREQUENT:
            if most < len(frequent) - 1:
                same = {label: [label] for label in frequent[:most]}
                yield Form(
                    f"the {most} most frequent, others together",
                    {**recoded, "categories": same, "others": unused(variable)},
                )


def _runs(variable: Variable, recoded: Mapping[str, Any]) -> Iterator[Form]:
    """Neighbours of an order together: two, then four, and so on."""
    labels, size = list(variable.categories or ()), 2
    while size < len(labels):
        runs = [labels[at : at + size] for at in range(0, len(labels), size)]
        groups = {run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}": run for run in runs}
        yield Form(f"{len(groups)} groups of neighbours", {**recoded, "categories": groups})
        size *= 2


def _changed(column: pd.Series, variable: Variable) -> Iterator[Form]:
    name = variable.name
    if variable.kind.is_numeric:
        yield from (Form("rounded", step) for step in rounded(column.to_frame(), {name: variable}, [name]))
    if variable.kind.is_numeric or variable.kind is Kind.ORDINAL:
        for window in _WINDOWS:
            yield Form(
                f"swapped within {100 * window:.0f} % of the ranks",
                {"method": "rank_swapping", "columns": [name], "window": window},
            )
    elif variable.kind in (Kind.NOMINAL, Kind.BINARY) and variable.role is Role.OTHER:
        for kept in _RETENTIONS:
            yield Form(
                f"{100 * (1 - kept):.0f} % changed at random",
                {"method": "pram", "columns": [name], "retention": kept, "invariant": True},
            )
    if variable.kind is not Kind.DATE and not is_wide(column, variable):
        yield Form(_DRAWN, {"method": "sequential_trees", "columns": [name], "minimum_leaf": 100})


def _proposed_form(column: pd.Series, variable: Variable, forms: Sequence[Form]) -> Form:
    """Of a quasi-identifier the finest in few groups; of names and of countless categories none; else as it is."""
    if variable.role is Role.QUASI_IDENTIFIER:
        if variable.kind is Kind.NOMINAL and variable.hierarchy is None and column.nunique() > COUNTLESS:
            return forms[-1]
        ladder = forms[:-1]
        few = [form for form in ladder if form.step and _groups(form) <= _FEW]
        return ladder[0] if column.nunique() <= _FEW else (few[0] if few else ladder[-1])
    return forms[0]


def _groups(form: Form) -> float:
    """Of a form the groups that it makes, as far as its step tells."""
    step = form.step or {}
    if "bins" in step:
        return len(step["bins"]) + 1
    if "categories" in step:
        return len(step["categories"]) + ("others" in step)
    return float(form.says.split()[-2]) if "level" in step else np.inf


# -- the plan


def _plan(frame: pd.DataFrame, variables: Variables, chosen: Mapping[str, Form], k: int) -> Iterator[dict[str, Any]]:
    """Recodings, then small groups, then the other variables: what is drawn from similar records sees the groups."""
    gone = [name for name, form in chosen.items() if form.says == LEFT_OUT]
    if gone:
        yield {"method": "removal", "columns": gone}
    steps = [dict(form.step) for form in chosen.values() if form.step is not None]
    yield from (step for step in steps if step["method"] == "global_recoding")
    keys = [name for name, each in variables.items() if each.role is Role.QUASI_IDENTIFIER and name not in gone]
    if keys and k:
        yield {"method": "local_suppression", "columns": keys, "k": k}
    others = [step for step in steps if step["method"] != "global_recoding"]
    yield from _together(others, [name for name in keys if variables[name].kind is not Kind.DATE])
    if not gone and not steps and not (keys and k):
        raise SluiceError("Nothing would be changed: choose a coarser form of a variable, or leave one out.")


def _together(steps: Sequence[dict[str, Any]], given: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Steps that are the same but for their columns as one: they are drawn together, and relations stay."""
    same: dict[str, dict[str, Any]] = {}
    for step in steps:
        key = repr({name: value for name, value in step.items() if name != "columns"})
        if key in same:
            same[key]["columns"] = [*same[key]["columns"], *step["columns"]]
        else:
            same[key] = dict(step)
    for step in same.values():
        yield step | ({"given": list(given)} if step["method"] == "sequential_trees" and given else {})


# -- what is counted


def _small_groups(files: Comparison, keys: Sequence[str]) -> tuple[tuple[int, float, float], ...]:
    if not keys:
        return ()
    before, after = (
        row_groups([pd.factorize(frame[name], use_na_sentinel=False)[0] for name in keys]).size
        for frame in (files.original, files.masked)
    )
    return tuple(
        (least, float(before[before < least].sum() / before.sum()), float(after[after < least].sum() / after.sum()))
        for least in GROUP_SIZES
    )


def _blanked(files: Comparison, keys: Sequence[str]) -> float:
    """Values that are missing in the masked file and were known, a share of all."""
    new = [(files.masked[name].isna().to_numpy() & files.original[name].notna().to_numpy()).mean() for name in keys]
    return float(np.mean(new)) if new else 0.0
