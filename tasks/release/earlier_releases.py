"""Other releases, as the ledger knows them: those that the public could read, and those of nearly the same data."""

import json
from collections.abc import Iterator, Sequence

from sluice.custody.ledger import Entry, last
from sluice.custody.states import State, state_of
from sluice.ground.variables import NAMES
from sluice.publication.records_file import read_typed
from sluice.risk.publications.changed_records import changed_records
from tasks.release.definition import dice_of
from tasks.release.pruned import is_pruned
from tasks.release.release import DocumentedRelease, variables_from_json
from tasks.release.searches import searches

# One that was begun will be: it is finished as it was approved, and not held beside what was published meanwhile.
_WERE_PUBLIC = (State.PUBLISHING, State.PUBLISHED, State.SUPERSEDED, State.WITHDRAWN)
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
        if last(entries, State.BLOCKED) or last(entries, State.PENDING_REVIEW) or not _same_dice(release, received):
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
