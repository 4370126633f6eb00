"""Tables that the public could read once, and what differences from them tell of those who came, left or changed."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from policies.policy import Policy
from schemas.contract import Contract
from sluice.custody.ledger_entry import Entry, last
from sluice.custody.states import State
from sluice.custody.vault import Vault
from sluice.custody.workspace import Workspace
from sluice.ground.sentence import Saying, Sentences, as_fields
from sluice.ground.variables import Variable
from sluice.ground.verdict import Finding, Verdict
from sluice.publication.records_file import read_typed
from sluice.tabular.editions.changes import EditionRecords, changes
from sluice.tabular.model.aggregation import LARGEST_KEPT
from sluice.tabular.model.cells import Booleans, Cells, Contributions
from sluice.tabular.model.measure import Measure
from sluice.tabular.model.numbered_records import records_of
from sluice.tabular.rules.intruders import sensitive_counts
from sluice.tabular.rules.p_percent import PPercent, PriorPosterior
from sluice.tabular.rules.sensitivity import SensitivityRule
from tasks.release.documented_release import variables_from_json
from tasks.release.editions.earlier_releases import is_pruned
from tasks.release.tables.definition import TablesDefinition
from tasks.release.tables.feasibility_checks import dimension_of, measure_of
from tasks.release.tables.protection import ProtectionRequest
from tasks.release.tables.published_cells import PublishedCells, TablesRelease, cells_in

_SAYS = Sentences(
    "earlier_editions",
    few_changes="{cells:count,_cell} that {earlier} published {cells:verb_differ} now by the changes of at most "
    "{most:,} contributors, which the policy calls too few: the difference of both figures tells what they "
    "contribute. Suppress them (a_priori), or publish when more has changed.",
    corrected="{cells:count,_cell} that {earlier} published {cells:verb_differ} now because at most {most:,} "
    "contributors report another amount; nobody came or left, and no change is nearly a whole contribution. An "
    "intruder who knows the contributors learns how much was changed, and either of two learns the "
    "other's change. If that is acceptable, a person must say so; otherwise suppress the cells (a_priori), or publish "
    "when more has changed.",
    counted="{cells:count,_cell} that {earlier} published changed by at most {most:,}, which the policy calls too "
    "few, and little else did: who knows of one that it came or left guesses its cell right with a chance of "
    "{guess:percent}. Publish when more has changed.",
    one_contributor="{cells:count,_cell} that {earlier} published {cells:verb_differ} now mostly by what one "
    "contributor brought or took along: by the policy's rules the difference of both figures tells it too closely.",
    added_up="{cells:count,_cell} that {earlier} published {cells:verb_differ} now. The cells came added up already, "
    "so nobody can tell how many contributors came or left: the difference of both figures may be the amount of one.",
    totals="This release and {earlier} have no dimension in common and publish different totals: the number of "
    "contributors to the difference is unknown.",
)

_LIKELY = 0.5  # chance of a right guess beyond which too much is told

_OTHERS = 2**61  # above every number of a contributor


@dataclass(frozen=True, eq=False)
class EarlierTables:
    """The cells of an earlier release, what was published of them, and by which documents.

    definition : as if it had no other measure
    """

    release: str
    definition: TablesDefinition
    policy: Policy
    cells: Cells
    published: PublishedCells

    @property
    def rules(self) -> list[SensitivityRule]:
        return list(self.policy.table_rules)

    @property
    def request(self) -> ProtectionRequest:
        """What its rules ask."""
        assumptions = self.policy.table_attackers.assumptions(self.definition.measure.measure)
        return ProtectionRequest.of(self.cells, self.rules, assumptions)


def read_earlier_tables(workspace: Workspace, release: str, entries: Sequence[Entry]) -> list[EarlierTables]:
    """The tables of each measure of a release by its entries; none of another product, or of what was deleted by rule.

    Raises DataError where the vault lost them.
    """
    vault, received, protected = workspace.vault, last(entries, State.RECEIVED), last(entries, State.MASKED)
    if received is None or protected is None or received.body["product"] != TablesDefinition.product:
        return []
    if any(is_pruned(workspace, protected.body[part], ".npz") for part in ("cells", "published_cells")):
        return []  # `pruned_publications` speaks of it
    plan, contract, policy = (
        vault.verify(received.body[document], ".json").read_bytes() for document in ("plan", "contract", "policy")
    )
    known, judged_by = Contract.model_validate_json(contract), Policy.model_validate_json(policy)
    published = PublishedCells.read(vault.verify(protected.body["published_cells"], ".npz"))
    found, file = [], vault.verify(protected.body["cells"], ".npz")
    for place, definition in enumerate(TablesDefinition.model_validate_json(plan).by_measure.values()):
        cells = cells_in(file, definition, known, place)
        if not measure_of(definition, known).hashed:  # records are numbered anew each time: nobody is known again
            cells = cells.renumbered(lambda owners: np.where(owners < 0, owners, owners + _OTHERS))
        found.append(EarlierTables(release, definition, definition.stricter(judged_by), cells, published))
    return found


def judge_differences(
    release: TablesRelease, cells: Cells, other: Booleans, earlier: str, request: ProtectionRequest
) -> list[Finding]:
    """A finding where cells that this release and an earlier one publish differ by the changes of too few.

    cells  : of this release
    other  : shape (c,), those that both publish, with another total
    raises : SluiceError when the vault does not hold the records of both
    cost   : O(n log n) of the records of both, all of them in memory
    """
    if not other.any():
        return []
    received = last(release.product.workspace.ledger.entries(earlier), State.RECEIVED)
    assert received is not None  # it was published
    vault, body, product = release.vault, received.body, release.product
    written = TablesDefinition.model_validate_json(vault.verify(body["plan"], ".json").read_bytes())
    before = _Staged(
        written.by_measure.get(product.definition.measure.variable or "", written),
        Contract.model_validate_json(vault.verify(body["contract"], ".json").read_bytes()),
        variables_from_json(vault.verify(body["variables"], ".json").read_bytes()),
        body["data"]["sha256"],
    )
    now = _Staged(product.definition, product.contract, release.staged_variables, release.data.sha256)
    if before.added_up or now.added_up:
        return [_finding(Verdict.REVIEW, _SAYS.added_up(cells=int(other.sum()), earlier=earlier), earlier)]
    names = [each.name for each in cells.dimensions if each.name in before.dimensions and each.name in now.dimensions]
    if not names:
        return [_finding(Verdict.REVIEW, _total(earlier), earlier)]
    axes = [axis for axis, each in enumerate(cells.dimensions) if each.name in names]
    recognised = now.hashed and now.contributors <= before.variables.keys()
    rules = list(request.rules)
    kept = max([LARGEST_KEPT, *(rule.largest_needed for rule in rules)])
    then, since = (each.records(vault, names, now, cells.decimals, recognised) for each in (before, now))
    found = changes(then, since, cells.codes[other][:, axes], kept, recognised, _nearly(rules))
    inside = found.contributions
    most = int(sensitive_counts(rules)[1]) - 1
    few = (inside.contributors > 0) & (inside.contributors <= most)
    if product.definition.measure.variable is None:
        innermost = few & are_innermost(cells)[other]
        guess = int(inside.contributors[innermost].max(initial=0)) / max(found.everybody, 1)
        if few.any() and (found.everybody <= most or guess > _LIKELY):
            return [_finding(Verdict.FAIL, _counted(int(few.sum()), earlier, most, guess), earlier)]
        return []
    corrected = few & (found.arrivals == 0) & recognised  # else who left and who came may look like one who changed
    told = few & ~corrected
    if told.any():
        return [_finding(Verdict.FAIL, _few(int(told.sum()), earlier, most), earlier)]
    if corrected.any():
        return [_finding(Verdict.REVIEW, _corrected(int(corrected.sum()), earlier, most), earlier)]
    close = found.arrival & _sensitive(rules, inside)
    return [_finding(Verdict.REVIEW, _close(int(close.sum()), earlier), earlier)] if close.any() else []


class _Staged:
    """The records of a release in the vault, and the documents by which its tables add them up."""

    def __init__(
        self, definition: TablesDefinition, contract: Contract, variables: dict[str, Variable], sha256: str
    ) -> None:
        self.measure = measure_of(definition, contract)
        self.added_up = definition.cells is not None
        self.dimensions = {each.variable: dimension_of(each, contract, self.added_up) for each in definition.dimensions}
        self.variables = variables
        asked = definition.measure.requested
        self._sha256, self._requested = sha256, None if asked is None else asked.asked

    @property
    def hashed(self) -> bool:
        """Whether contributors are known again in another release."""
        return self.measure.hashed

    @property
    def contributors(self) -> set[str]:
        """The columns that say whose a record is."""
        return {name for name in (self.measure.contributor, self.measure.holding) if name is not None}

    def records(
        self, vault: Vault, names: list[str], whose: "_Staged", decimals: int, recognised: bool
    ) -> EditionRecords:
        """The records by these dimensions, of the contributors of the other release where these are known again."""
        owner, holding = (whose.measure.contributor, whose.measure.holding) if recognised else (None, None)
        measure = replace(
            self.measure, contributor=owner, holding=holding, hashed=recognised, duplicates="add", decimals=decimals
        )
        dimensions = [self.dimensions[name] for name in names]
        records = records_of(self._read(vault, names, measure), dimensions, measure, self._requested)
        return EditionRecords(dimensions, records)

    def _read(self, vault: Vault, names: list[str], measure: Measure) -> pd.DataFrame:
        asked_in = [] if self._requested is None else [self._requested.column]
        columns = list(dict.fromkeys([*names, *measure.columns, *asked_in]))
        return read_typed(vault.verify(self._sha256, ".parquet"), self.variables, columns)


def _nearly(rules: list[SensitivityRule]) -> float:
    """The share of a contribution that tells it to within what the rules protect it to, or to within 10 percent."""
    within = [rule.p for rule in rules if isinstance(rule, PPercent | PriorPosterior)]
    return 1 - max([10, *within]) / 100


def _sensitive(rules: list[SensitivityRule], found: Contributions) -> Booleans:
    nobody = np.zeros(len(found.total), dtype=bool)
    sensitive: Booleans = np.logical_or.reduce([nobody, *(rule.sensitive(found) for rule in rules)])
    return sensitive


def are_innermost(cells: Cells) -> Booleans:
    """Shape (c,): which cells are no sums."""
    inner = np.ones(len(cells), dtype=bool)
    inner[cells.equations.indices[cells.equations.data > 0]] = False
    return inner


def _few(number: int, earlier: str, most: int) -> Saying:
    return _SAYS.few_changes(cells=number, earlier=earlier, most=most)


def _corrected(number: int, earlier: str, most: int) -> Saying:
    return _SAYS.corrected(cells=number, earlier=earlier, most=most)


def _counted(number: int, earlier: str, most: int, guess: float) -> Saying:
    return _SAYS.counted(cells=number, earlier=earlier, most=most, guess=guess)


def _close(number: int, earlier: str) -> Saying:
    return _SAYS.one_contributor(cells=number, earlier=earlier)


def _total(earlier: str) -> Saying:
    return _SAYS.totals(earlier=earlier)


def _finding(verdict: Verdict, says: Saying, scope: str) -> Finding:
    return Finding(rule="earlier_editions", verdict=verdict, stage="masked", **as_fields(says), scope=scope)
