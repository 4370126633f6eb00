"""Which edition is current: what follows for each of its line, in the ledger, and what is told of it before; and what
the last reassessment says of it.

Nothing here decides: `sluice.custody.edition_order` says what is current by the ledger alone, and `settle_editions`
records what is not recorded yet. It can be done again and again, by any run, after any crash.
"""

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sluice.custody.edition_order import (
    PUBLIC,
    WAITING,
    Edition,
    before,
    current,
    line_of,
    lines_of_editions,
    overtaken_by,
)
from sluice.custody.ledger_entry import Entry, last
from sluice.custody.shelf_documents import is_same_shelf
from sluice.custody.states import IN_DOUBT, REASSESSED, REINSTATED, State, state_of
from sluice.custody.workspace import Workspace
from sluice.ground.durable import locked
from sluice.ground.errors import SluiceError
from tasks.release.decisions.signing_in import account

if TYPE_CHECKING:
    from tasks.release.documented_release import DocumentedRelease
    from tasks.release.release_definition import Definition
    from tasks.release.release_documents import Documents


def publishing_lock(workspace: Workspace) -> Path:
    """Held by whoever begins a publication or settles what is current: each must know of the others."""
    return workspace.home / "publishing.lock"


def settle_editions(workspace: Workspace) -> list[str]:
    """Record what follows from the order of editions, in every line: one is current, those before it are superseded.

    Where the latest was withdrawn the one before is current again, if any is on the shelf. Releases that wait while
    newer data of their period are public are overtaken: they close, and nothing of them is published.

    returns : the releases that were closed
    cost    : one pass over the entries
    """
    closed = []
    with locked(publishing_lock(workspace)):
        for line in lines_of_editions(workspace.ledger.histories()):
            latest = current(line)
            for edition in line:
                if edition.state is State.PUBLISHED and latest is not None and edition is not latest:
                    workspace.ledger.append(edition.release, State.SUPERSEDED, account(), {"by": latest.release})
                elif edition.state is State.SUPERSEDED and edition is latest:
                    says = "; ".join(filter(None, ["every later edition was withdrawn", doubt_of(edition.entries)]))
                    workspace.ledger.append(edition.release, REINSTATED, account(), {"says": says})
                elif edition.state in WAITING and (newer := overtaken_by(edition, line)):
                    close_overtaken(workspace, edition, newer)
                    closed.append(edition.release)
    return closed


def close_overtaken(workspace: Workspace, edition: Edition, newer: Edition) -> None:
    """Record that a release is overtaken by a newer edition."""
    says = (
        f"{newer.of} was published, of newer data of the same period. Where this one shall go out, that one must be "
        "withdrawn first; then run this one again."
    )
    workspace.ledger.append(edition.release, State.OVERTAKEN, account(), {"by": newer.release, "says": says}, WAITING)


def overtaken(release: "DocumentedRelease") -> tuple[Edition, Edition] | None:
    """The edition that a release is, and the one by which it is overtaken; None where it is not."""
    edition, line = line_of(release.product.workspace.ledger.histories(), release.id)
    newer = overtaken_by(edition, line)
    return (edition, newer) if newer else None


def refuse_foreign_name(product: "Documents[Definition]", shelf: Path, has_period: bool) -> None:
    """Raise SluiceError where the definition's name, on the shelf that it goes to, stands for editions that this is
    none of.

    Else a definition of other data that bears the name would take the place of what everybody reads as current.

    has_period : whether its data say their reference period
    """
    name = product.definition.name
    mine = (product.contract.dataset, product.definition.product)
    for line in lines_of_editions(product.workspace.ledger.histories()):
        for edition in line:
            if edition.name != name or edition.state not in PUBLIC or not is_same_shelf(edition.shelf, shelf):
                continue
            dataset, kind = edition.received.get("dataset"), edition.received.get("product")
            if (dataset, kind) != mine:
                raise SluiceError(
                    f"{product.path}: name: on the shelf {shelf}, '{name}' stands for {kind} of the data set "
                    f"'{dataset}', and this would be {mine[1]} of '{mine[0]}'. Give the definition another name"
                )
            if edition.period and not has_period:
                raise SluiceError(
                    f"{product.path}: the editions of '{name}' are ordered by their reference period, and the contract "
                    "names none any more. Name it there (reference_period), or give the definition another name"
                )


def refuse_nested_shelf(product: "Documents[Definition]", shelf: Path) -> None:
    """Raise SluiceError where a shelf lies in another, or in a folder on it, or another in it.

    What is published there would be added to what was published, signed and verified before.
    """
    for line in lines_of_editions(product.workspace.ledger.histories()):
        other, place = line[0].shelf, shelf.resolve()
        was_public = any(edition.state in (*PUBLIC, State.WITHDRAWN) for edition in line)
        if was_public and not is_same_shelf(other, place) and (other in place.parents or place in other.parents):
            raise SluiceError(
                f"{product.path}: target: {shelf} and the shelf {other} lie one in the other. A shelf is a folder of "
                "its own: name another"
            )


def edition_notices(release: "DocumentedRelease") -> tuple[str, ...]:
    """What the report tells of the place of this release among the editions: what it replaces, or why it does not; and
    that these very data were withdrawn, under whatever name and documents."""
    histories = release.product.workspace.ledger.histories()
    edition, line = line_of(histories, release.id)
    others = [each for each in line if each.release != release.id]
    latest, newer, earlier = current(others), overtaken_by(edition, others), before(edition, others)
    found = []
    if newer:
        found.append(
            f"Newer data of the same period are published, in {newer.of}: this release will close unpublished."
        )
    elif latest and latest.place > edition.place:
        found.append(f"{edition.of} comes late: {latest.of} is and stays the current edition.")
    elif latest:
        found.append(f"When {edition.of} is published, it takes the place of {latest.of} as the current edition.")
    if earlier and (owner := _owner(release, earlier)) not in (None, release.product.definition.owner):
        found.append(f"The edition before it, {earlier.of}, was submitted by {owner}.")
    for each in (each for line in lines_of_editions(histories) for each in line):
        withdrawn = last(each.entries, State.WITHDRAWN)
        if withdrawn and each.received["data"]["sha256"] == edition.received["data"]["sha256"]:
            found.append(f"{each.of}, of these very data, was withdrawn: {withdrawn.body['reason']}")
    return tuple(found)


def _owner(release: "DocumentedRelease", edition: Edition) -> str | None:
    """Who submitted it; None where the vault does not hold its definition any more."""
    with suppress(SluiceError):
        return str(json.loads(release.vault.verify(edition.received["plan"], ".json").read_bytes())["owner"])
    return None


def doubt_of(entries: Sequence[Entry]) -> str:
    """The doubt in words, without a figure; '' where the release would pass, or was never judged again."""
    judged = next((entry for entry in reversed(entries) if entry.event in (IN_DOUBT, REASSESSED)), None)
    verdict = judged.body.get("verdict_now", "UNKNOWN") if judged else "PASS"
    return f"in doubt: judged again on {judged.at[:10]}, verdict {verdict}" if judged and verdict != "PASS" else ""


def editions_of(workspace: Workspace, definition: str) -> list[str]:
    """The releases of a definition that are, or were, current: what happens to one may change another's state."""
    public = (State.PUBLISHED, State.SUPERSEDED, State.WITHDRAWN)
    return [
        release
        for release, entries in workspace.ledger.histories().items()
        if state_of(entry.event for entry in entries) in public
        and (published := last(entries, State.PUBLISHED))
        and published.body["definition"] == definition
    ]
