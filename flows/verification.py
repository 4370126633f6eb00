"""Verification: whether what was recorded and what was published are still what they were.

What lies where, the ledger alone says. Definitions and notes of runs can be edited by more people than it.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from flows.manifest_verification import verify_manifests, verify_stamps
from flows.shelf_verification import verify_shelf
from flows.verification_outcome import Verification
from sluice.custody.editions import ON_SHELF, current, lines_of_editions
from sluice.custody.ledger import Entry, last
from sluice.custody.shelf_documents import ShelfDocuments
from sluice.custody.shelf_places import ShelfPlaces
from sluice.custody.states import State
from sluice.custody.workspace import Workspace
from sluice.settings import settings
from tasks.release.retention import inventory
from tasks.release.schema_views import view_problems
from tasks.release.shelf_catalogue import documents_of_shelves
from tasks.release.vault_problems import vault_problems


def verify(workspace: Workspace, copies: Sequence[Path] = ()) -> Verification:
    """Verify the ledger and then, by what it recorded, every shelf that was ever published on, and its manifests.

    A release that is being published meanwhile may be named; of a ledger with problems nothing can be held against the
    shelves. Cost: O(entries), and one pass over the published files.

    copies : of manifests, from elsewhere
    """
    problems = workspace.ledger.verify()
    if problems:
        return Verification(problems=tuple(problems))
    found = Verification(warnings=workspace.ledger.weaknesses)
    histories = workspace.ledger.histories()
    places = ShelfPlaces(line[0].shelf for line in lines_of_editions(histories))
    on_shelves: dict[Path, dict[Path, Sequence[Entry]]] = defaultdict(dict)
    for entries in histories.values():
        if begun := last(entries, State.PUBLISHING):
            folder = Path(begun.body["folder"])
            on_shelves[places.of(folder.parent)][folder] = entries
    documents = documents_of_shelves(histories)
    for place, releases in on_shelves.items():
        found += verify_shelf(place, releases, documents.get(place, ShelfDocuments()))
    found += Verification(unchecked=tuple(_unsettled(histories)))
    problems, unchecked = view_problems(workspace)
    found += Verification(problems=tuple(problems), unchecked=tuple(unchecked))
    found += Verification(problems=tuple(vault_problems(workspace, inventory(workspace))))
    return found + verify_manifests(workspace, copies) + verify_stamps(histories, settings().timestamp_certificates)


def _unsettled(histories: Mapping[str, Sequence[Entry]]) -> Iterator[str]:
    """Lines of editions of which the ledger does not yet say what follows: a run was killed before it did."""
    for line in lines_of_editions(histories):
        latest = current(line)
        if any(
            (edition.state is State.PUBLISHED) != (edition is latest) for edition in line if edition.state in ON_SHELF
        ):
            name, shelf = line[0].name, line[0].shelf
            yield f"{shelf}: it is not recorded yet which edition of {name} is current; run: sluice catalogue"
