"""Other releases, as the ledger knows them: those that the public could read, also where their data were deleted by
rule, and attempts on nearly the same data, those of searches of plans among them.

A trial of a search is an attempt of the search: the plan that wins it is judged once more, with another seed. That so
many were tried must be seen all the same. What is missing from the vault without a recorded deletion was lost or taken.
"""

import json
from collections.abc import Iterator, Mapping, Sequence

from policies.pruned_publications import judge_pruned
from sluice.custody.ledger_entry import Entry, last
from sluice.custody.states import State, state_of
from sluice.custody.workspace import Workspace
from sluice.ground.variables import NAMES, Variable, Variables
from sluice.ground.verdict import Finding
from sluice.publication.records_file import read_typed
from sluice.risk.publications.publication import changed_records
from tasks.release.documented_release import DocumentedRelease, variables_as_json, variables_from_json
from tasks.release.editions.recorded_searches import searches
from tasks.release.vault.seed_names import dice_of
from tasks.release.vault.vault_inventory import pruned_in

# One that was begun will be: it is finished as it was approved, and not held beside what was published meanwhile.
_WERE_PUBLIC = (State.PUBLISHING, State.PUBLISHED, State.SUPERSEDED, State.WITHDRAWN)
_FILES = ("data", "csv", "stata", "spss")  # of what approvals are given to, what goes out
_NEARLY_ALL = 0.95  # of the records: data that share so many are the same data, tried again


def publications(release: DocumentedRelease) -> dict[str, Sequence[Entry]]:
    """Id -> entries of every other release, of whatever data set, that is public, was, or will be."""
    return {other: entries for other, entries in _others(release).items() if _is_public(entries)}


def earlier_publications(release: DocumentedRelease) -> dict[str, Sequence[Entry]]:
    """Id -> entries of every other release of the same data set that is public, was, or will be."""
    return {
        other: entries
        for other, entries in publications(release).items()
        if (received := last(entries, State.RECEIVED))
        and received.body.get("dataset") == release.product.contract.dataset
    }


def earlier_attempts(release: DocumentedRelease, unpublished_since: int | None = None) -> int:
    """How many other releases of nearly the same data were judged before: trying until it passes must be seen.

    A check of the same plan on the same data counts for none: it drew the same seed, and so judged the same file.
    Nor do trials of a search, which `search_trials` counts.

    unpublished_since : count only those that are not public, and were judged after this row of the ledger
    cost              : the data of each other release that has about as many records are read once
    """
    nearly: dict[tuple[str, str], bool] = {}
    return sum(_of_the_same(release, received, nearly) for received in _judged(release, unpublished_since))


def same_bytes(release: DocumentedRelease, made: Mapping[str, str]) -> tuple[str, ...]:
    """The other releases, of whatever name, that are or were public with a file of the very same bytes.

    made : SHA-256 of the files that would be published, by what they are, such as 'csv'
    """
    return _with_bytes(publications(release), made)


def judged_bytes(release: DocumentedRelease, made: Mapping[str, str]) -> tuple[str, ...]:
    """The other releases that were judged with a file of the very same bytes, and are not public; `made` as above."""
    return _with_bytes({other: each for other, each in _others(release).items() if not _is_public(each)}, made)


def _with_bytes(releases: Mapping[str, Sequence[Entry]], made: Mapping[str, str]) -> tuple[str, ...]:
    mine = {made[name] for name in _FILES if name in made}
    found = ((other, last(entries, State.EVALUATED)) for other, entries in releases.items())
    return tuple(
        other
        for other, judged in found
        if judged is not None and mine & {judged.body.get("subject", {}).get(name) for name in _FILES}
    )


def search_trials(release: DocumentedRelease) -> int:
    """How many trials searches of plans took on nearly the same data. Cost: as of `earlier_attempts`."""
    nearly: dict[tuple[str, str], bool] = {}
    found = searches(release.product.workspace)
    return sum(each.trials + each.judged for each in found if _of_the_same(release, each.received, nearly))


def _of_the_same(release: DocumentedRelease, received: Entry, nearly: dict[tuple[str, str], bool]) -> bool:
    """Whether what was received is nearly the same data; `nearly` remembers what was read."""
    key = (received.body["data"]["sha256"], received.body["variables"])
    if key not in nearly:
        nearly[key] = key[0] == release.data.sha256 or _nearly_the_same(release, received)
    return nearly[key]


def _judged(release: DocumentedRelease, unpublished_since: int | None) -> Iterator[Entry]:
    for entries in _others(release).values():
        judged, received = last(entries, State.EVALUATED), last(entries, State.RECEIVED)
        if judged is None or received is None:
            continue
        if unpublished_since is not None and (judged.seq < unpublished_since or _is_public(entries)):
            continue
        concluded = any(last(entries, each) for each in (State.BLOCKED, State.NEEDS_DECISION, State.PENDING_REVIEW))
        if concluded or not _same_dice(release, received):
            yield received


def _same_dice(release: DocumentedRelease, received: Entry) -> bool:
    """Whether it is the same plan on the same data, and so the same seed and the same file."""
    if received.body["data"]["sha256"] != release.data.sha256:
        return False
    plan = json.loads(release.vault.verify(received.body["plan"], ".json").read_bytes())
    return dice_of(plan) == release.product.written.decides_dice()


def _nearly_the_same(release: DocumentedRelease, received: Entry) -> bool:
    """Whether most records, by the variables that both data sets have, stand in both."""
    rows, before = release.data.rows, received.body["data"]["rows"]
    if min(rows, before) < _NEARLY_ALL * max(rows, before):
        return False
    if is_pruned(release.product.workspace, received.body["data"]["sha256"], ".parquet"):
        # Nobody can look any more: what was tried must not be forgotten with the data.
        return bool(received.body["dataset"] == release.product.contract.dataset)
    variables = variables_from_json(release.vault.verify(received.body["variables"], ".json").read_bytes())
    columns = [
        name
        for name, variable in release.staged_variables.items()
        if variable.role not in NAMES and name in variables and variables[name].kind is variable.kind
    ]
    if not columns:
        return False
    earlier = read_typed(release.vault.verify(received.body["data"]["sha256"], ".parquet"), variables, columns)
    few: bool = changed_records(earlier, release.read_staged(columns)) <= (1 - _NEARLY_ALL) * max(rows, before)
    return few


def _is_public(entries: Sequence[Entry]) -> bool:
    return state_of(entry.event for entry in entries) in _WERE_PUBLIC


def _others(release: DocumentedRelease) -> dict[str, Sequence[Entry]]:
    histories = release.product.workspace.ledger.histories()
    return {name: entries for name, entries in histories.items() if name != release.id}


def recorded_as_pruned(workspace: Workspace) -> frozenset[str]:
    """Names in the store of all objects of which a deletion is recorded. Cost: one reading of the ledger."""
    return pruned_in(workspace.ledger.entries())


def is_pruned(workspace: Workspace, sha256: str, suffix: str) -> bool:
    """Whether an object is gone, by a recorded rule. The same data may have come again since: then it is not."""
    name = f"{sha256}{suffix}"
    return not (workspace.vault.objects / name).is_file() and name in recorded_as_pruned(workspace)


def compare_with_pruned(release: DocumentedRelease) -> list[Finding]:
    """A finding on each publication, of the same data set or with a variable of this one, that is out of reach."""
    workspace, dataset = release.product.workspace, release.product.contract.dataset
    found = []
    for name, entries in publications(release).items():
        received = last(entries, State.RECEIVED)
        if received is None or not is_out_of_reach(workspace, entries):
            continue
        variables = variables_from_json(release.vault.verify(received.body["variables"], ".json").read_bytes())
        if received.body["dataset"] == dataset or _described(variables) & _described(release.staged_variables):
            found.append(name)
    return judge_pruned(found)


def is_out_of_reach(workspace: Workspace, entries: Sequence[Entry]) -> bool:
    """Whether anything of a release that a comparison would need was deleted by rule, and is not there."""
    masked = last(entries, State.MASKED)
    named = masked.body if masked else {}
    parts = [("data", ".parquet"), ("sample", ".rows")]
    if "csv" not in named:  # of tables
        parts = [("cells", ".npz"), ("published_cells", ".npz")]
    needed = {f"{named[part]}{suffix}" for part, suffix in parts if named.get(part)}
    received = last(entries, State.RECEIVED)
    if received is not None and "csv" in named:
        tables = (received.body[table] for table in ("data", "original", "holdout"))
        needed |= {f"{table['sha256']}.parquet" for table in tables if table}
    missing = {name for name in needed if not (workspace.vault.objects / name).is_file()}
    return bool(missing and missing & recorded_as_pruned(workspace))


def _described(variables: Variables) -> set[str]:
    return {name for name, variable in variables.items() if variable.role not in NAMES}


def kept_variables(workspace: Workspace, variables: Mapping[str, Variable]) -> str:
    """The hash of the variables, which the vault keeps from now on."""
    return workspace.vault.keep_bytes(variables_as_json(variables), ".json")
