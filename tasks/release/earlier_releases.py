"""Other releases, as the ledger knows them: those that the public could read, and those of the same data."""

from collections.abc import Sequence

from sluice.custody.ledger import Entry
from sluice.custody.states import State, state_of
from tasks.release.release import DocumentedRelease, last

_WERE_PUBLIC = (State.PUBLISHED, State.SUPERSEDED, State.WITHDRAWN)


def earlier_publications(release: DocumentedRelease) -> dict[str, Sequence[Entry]]:
    """Id -> entries of every other release of the same data set that is public or was."""
    found = {}
    for other, entries in _others(release).items():
        received = last(entries, State.RECEIVED)
        was_public = state_of(entry.event for entry in entries) in _WERE_PUBLIC
        if was_public and received and received.body.get("dataset") == release.product.contract.dataset:
            found[other] = entries
    return found


def earlier_attempts(release: DocumentedRelease) -> int:
    """How many other releases of the same data were judged before: trying until it passes must be seen."""
    return sum(
        last(entries, State.EVALUATED) is not None
        and (received := last(entries, State.RECEIVED)) is not None
        and received.body["data"]["sha256"] == release.data.sha256
        for entries in _others(release).values()
    )


def _others(release: DocumentedRelease) -> dict[str, Sequence[Entry]]:
    histories = release.product.workspace.ledger.histories()
    return {name: entries for name, entries in histories.items() if name != release.id}
