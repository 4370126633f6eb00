"""Verification: whether what was recorded and what was published are still what they were.

What lies where, the ledger alone says. Definitions and notes of runs can be edited by more people than it. Each
manifest has the Merkle root of the ledger that it was published on: whoever rewrites history with the vault's key would
have to rewrite every copy of every manifest, and cannot have them stamped in the past.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise
from pathlib import Path

from policies.adoption import Office, read_office
from sluice.custody import shelf
from sluice.custody.edition_order import ON_SHELF, current, lines_of_editions
from sluice.custody.ledger import CLOCK_TOLERANCE
from sluice.custody.ledger_entry import Entry, last
from sluice.custody.shelf_documents import ShelfDocuments, ShelfPlaces, document_problems
from sluice.custody.states import OFFICE, State, state_of
from sluice.custody.workspace import Workspace
from sluice.ground.errors import DataError, SluiceError
from sluice.publication.attestation import describes, read_certificates, stamped_at
from sluice.publication.manifest import read_manifest
from sluice.settings import settings
from tasks.release.decisions.series_approval import standing_in_series
from tasks.release.decisions.under_review import UnderReview
from tasks.release.editions.schema_views import view_problems
from tasks.release.editions.shelf_catalogue import documents_of_shelves
from tasks.release.vault.vault_retention import inventory, vault_problems

_CLOCKS_DIFFER = timedelta(minutes=15)  # at most, those of the house and of the authority


@dataclass(frozen=True)
class Verification:
    """What was found, in words. Without `problems` and `unchecked`, everything is as it was recorded."""

    problems: tuple[str, ...] = ()  # altered, missing or added
    unchecked: tuple[str, ...] = ()  # could not be read
    warnings: tuple[str, ...] = ()  # what would let somebody alter it

    def __add__(self, other: "Verification") -> "Verification":
        return Verification(
            self.problems + other.problems, self.unchecked + other.unchecked, self.warnings + other.warnings
        )


def verify(workspace: Workspace, copies: Sequence[Path] = (), from_checkpoint: bool = False) -> Verification:
    """Verify the ledger and then, by what it recorded, every shelf that was ever published on, and its manifests.

    A release that is being published meanwhile may be named; of a ledger with problems nothing can be held against the
    shelves. Cost: O(entries), and one pass over the published files.

    copies          : of manifests, from elsewhere
    from_checkpoint : neither rows before the last whole verification are hashed again, nor approvals of publications
                      that began before it; without that, one that finds nothing becomes the checkpoint
    """
    before = workspace.ledger.checkpoint if from_checkpoint else 0
    problems = workspace.ledger.verify(from_checkpoint)
    if problems:
        return Verification(problems=tuple(problems))
    found = Verification(warnings=workspace.ledger.weaknesses)
    if workspace.ledger.head() is None and not copies:
        home = workspace.home
        nothing = f"the workspace {home} has an empty ledger: nothing was recorded in it. SLUICE_HOME names another"
        found += Verification(unchecked=(nothing,))
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
    found += Verification(warnings=tuple(_dated_back(workspace.ledger.entries())))
    found += _verify_approvals(workspace, histories, before)
    problems, unchecked = view_problems(workspace)
    found += Verification(problems=tuple(problems), unchecked=tuple(unchecked))
    found += Verification(problems=tuple(vault_problems(workspace, inventory(workspace))))
    found += verify_manifests(workspace, copies) + verify_stamps(histories, settings().timestamp_certificates)
    if not before and not found.problems and not found.unchecked:
        workspace.ledger.keep_checkpoint()
    return found


def _unsettled(histories: Mapping[str, Sequence[Entry]]) -> Iterator[str]:
    """Lines of editions of which the ledger does not yet say what follows: a run was killed before it did."""
    for line in lines_of_editions(histories):
        latest = current(line)
        if any(
            (edition.state is State.PUBLISHED) != (edition is latest) for edition in line if edition.state in ON_SHELF
        ):
            name, shelf = line[0].name, line[0].shelf
            yield f"{shelf}: it is not recorded yet which edition of {name} is current; run: sluice catalogue"


def _dated_back(entries: Sequence[Entry]) -> Iterator[str]:
    """Rows that say that they are older than the row in front of them."""
    for before, entry in pairwise(entries):
        apart = datetime.fromisoformat(before.at) - datetime.fromisoformat(entry.at)
        if apart > CLOCK_TOLERANCE:
            minutes = int(apart.total_seconds()) // 60
            yield (
                f"row {entry.seq} of the ledger, '{entry.event}' of {entry.release}, is dated {minutes} minutes before "
                "the row in front of it: a clock was set back, or somebody wrote it with the vault's key"
            )


def _verify_approvals(workspace: Workspace, histories: Mapping[str, Sequence[Entry]], before: int = 0) -> Verification:
    """Whether each publication had the approvals that its policy asks for when it was begun: whoever has the vault's
    key can make up the row by which it begins, and not what people signed.

    before : row up to which that was verified earlier

    Cost: a reading of the release's documents and a verification of each decision, some milliseconds a release.
    """
    acts = workspace.ledger.entries(OFFICE)
    offices: dict[int, Office | None] = {}
    problems, unchecked = [], []
    for release, entries in histories.items():
        for begun in (entry for entry in entries if entry.event == State.PUBLISHING and entry.seq > before):
            number = sum(act.seq < begun.seq for act in acts)
            try:
                if number not in offices:
                    offices[number] = read_office(acts[:number])
                case = UnderReview.of(workspace, release, begun, offices[number], entries)
                if not (case.standing().complete or standing_in_series(case).complete):
                    problems.append(f"{release}: row {begun.seq} begins its publication, and it was not approved then")
            except SluiceError as error:
                unchecked.append(f"{release}: its approvals cannot be verified: {error}")
    return Verification(tuple(problems), tuple(unchecked))


def verify_shelf(place: Path, releases: Mapping[Path, Sequence[Entry]], says: ShelfDocuments) -> Verification:
    """What is altered, missing, added or cannot be read on one shelf. Cost: one pass over its files.

    releases : folder -> all entries of the release that was put there
    says     : what the shelf should say of them
    """
    try:
        present = {path.name for path in place.iterdir()}
    except OSError as error:
        names = ", ".join(folder.name for folder in releases)
        return Verification(unchecked=(f"{place} cannot be read ({error.strerror}). Published there: {names}",))
    found, explained = Verification(), {*says.names, shelf.LOCK}
    for folder, entries in releases.items():
        state = state_of(entry.event for entry in entries)
        explained.add(folder.name)
        if state is State.WITHDRAWN:
            explained |= {shelf.withdrawn_of(folder).name, shelf.tombstone_of(folder).name}
        elif state is State.PUBLISHING:
            explained |= {name for name in present if name.startswith(f".{folder.name}.partial-")}
        try:
            if verify := _VERIFY.get(state):
                found += verify(folder, entries)
            else:
                found += _verify_published(folder, entries, says.in_folder(folder.name))
        except OSError as error:
            found += Verification(unchecked=(f"{folder} cannot be read ({error.strerror})",))
    try:
        found += Verification(problems=tuple(document_problems(place, says)))
    except OSError as error:
        found += Verification(unchecked=(f"{error.filename} cannot be read ({error.strerror})",))
    explained |= {path for path in says.absent if "/" not in path}  # each was named
    strangers = (f"{place / name} belongs to no release of this ledger" for name in sorted(present - explained))
    return found + Verification(problems=tuple(strangers))


def _verify_published(folder: Path, entries: Sequence[Entry], notices: Mapping[str, bytes]) -> Verification:
    """The files that were signed, and the notice that the edition is superseded, where it is."""
    published = last(entries, State.PUBLISHED)
    assert published is not None
    beside = {name: hashlib.sha256(content).hexdigest() for name, content in notices.items()}
    return _compare(folder, published.body["files"] | beside)


def _compare(folder: Path, files: Mapping[str, str], whatever: Sequence[str] = ()) -> Verification:
    if folder.is_symlink() or not folder.is_dir():
        fault = "is not a plain folder" if folder.is_symlink() or folder.exists() else "is missing"
        return Verification(problems=(f"{folder} {fault}",))
    compared = shelf.compare(folder, files, whatever)
    return Verification(
        problems=tuple(f"{folder}: {problem}" for problem in compared.problems),
        unchecked=tuple(f"{folder}: {problem}" for problem in compared.unread),
    )


def _verify_unfinished(folder: Path, entries: Sequence[Entry]) -> Verification:
    begun = last(entries, State.PUBLISHING)
    assert begun is not None
    says = f"{folder}: its publication was not finished; run the release again, or approve it again"
    found = Verification()
    if folder.exists():  # only the last event will name what describes the data
        found = _compare(folder, begun.body["files"], [path.name for path in folder.iterdir() if describes(path.name)])
    return found + Verification(unchecked=(says,))


def _verify_withdrawn(folder: Path, entries: Sequence[Entry]) -> Verification:
    """Its files may be disposed of; the note in its place may not."""
    withdrawn = last(entries, State.WITHDRAWN)
    assert withdrawn is not None
    problems = [f"{folder} was withdrawn, and is there again"] if folder.exists() or folder.is_symlink() else []
    tombstone = shelf.tombstone_of(folder)
    plain = tombstone.is_file() and not tombstone.is_symlink()
    if not plain or tombstone.read_bytes() != shelf.epitaph(folder, withdrawn.body["reason"]):
        problems.append(f"{tombstone} is not the note of its withdrawal")
    return Verification(problems=tuple(problems))


_VERIFY: Mapping[State | None, Callable[[Path, Sequence[Entry]], Verification]] = {
    State.PUBLISHING: _verify_unfinished,
    State.WITHDRAWN: _verify_withdrawn,
}


def verify_manifests(workspace: Workspace, copies: Sequence[Path]) -> Verification:
    """The manifests on the shelves, as far as they are what was published, and copies of manifests from elsewhere."""
    histories = workspace.ledger.histories()
    recorded: dict[str, str] = {}
    manifests: dict[Path, bytes] = {}
    found = Verification()
    for release, entries in histories.items():
        if published := last(entries, State.PUBLISHED):
            recorded[release] = published.body["files"]["manifest.json"]
            path = Path(published.body["folder"]) / "manifest.json"
            with suppress(OSError):  # said of the shelf, as it is of a manifest that was altered
                content = path.read_bytes()
                manifests |= {path: content} if _sha256(content) == recorded[release] else {}
    for path in copies:
        try:
            manifests[path] = path.read_bytes()
        except OSError as error:
            found += Verification(unchecked=(f"{path}: cannot be read ({error.strerror})",))
    read = {}
    for path, content in manifests.items():
        try:
            read[path] = read_manifest(content)
        except DataError as error:
            found += Verification(unchecked=(f"{path}: {error}",))
    heads = workspace.ledger.heads([head.size for _, head in read.values()])
    last_row = workspace.ledger.head()
    rows = last_row.seq if last_row else 0
    for path, (manifest, head) in read.items():
        or_forged = ", or this is no copy of a manifest" if path in copies else ""
        if head.size > rows:
            fault = f"the ledger has {rows} rows, and {head.size} when it was written: its end was cut off{or_forged}"
        elif heads[head.size] != (head.hash, head.root) or head.seq != head.size:
            fault = f"the first {head.size} rows are others than when it was written: history was rewritten{or_forged}"
        elif _sha256(manifests[path]) != recorded.get(manifest["release"]):
            fault = "is not the manifest that was published"
        else:
            continue
        found += Verification(problems=(f"{path}: {fault}",))
    return found


def verify_stamps(histories: Mapping[str, Sequence[Entry]], certificates: Path | None) -> Verification:
    """The time stamps on the shelves: of these manifests, by the authority, at the times that the ledger gives.

    certificates : of the authority; without them no stamp can be checked
    """
    found = Verification()
    for entries in histories.values():
        stamped, published = last(entries, "stamped"), last(entries, State.PUBLISHED)
        withdrawn = last(entries, State.WITHDRAWN)
        if withdrawn or not (stamped and published and "manifest.tsr" in published.body["files"]):
            continue
        stamp = Path(published.body["folder"]) / "manifest.tsr"
        if certificates is None:
            says = f"{stamp}: SLUICE_TIMESTAMP_CERTIFICATES does not name the authority's certificates"
            found += Verification(unchecked=(says,))
            continue
        with suppress(OSError):  # said of the shelf
            try:
                at = stamped_at(
                    stamp.read_bytes(), stamp.with_suffix(".json").read_bytes(), read_certificates(certificates)
                )
            except DataError:
                found += Verification(problems=(f"{stamp}: is no time stamp of its manifest by this authority",))
                continue
            if abs(at - datetime.fromisoformat(stamped.at)) > _CLOCKS_DIFFER:
                says = f"{stamp}: stamped on {at:%Y-%m-%d %H:%M} UTC, which the ledger dates {stamped.at[:16]} UTC: "
                found += Verification(problems=(says + "history was rewritten, or a clock was wrong",))
    return found


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
