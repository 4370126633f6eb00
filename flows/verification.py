"""Verification: whether what was recorded and what was published are still what they were.

What lies where, the ledger alone says. Definitions and notes of runs can be edited by more people than it.
"""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from sluice.custody import shelf
from sluice.custody.ledger import Entry
from sluice.custody.states import State, state_of
from sluice.custody.workspace import Workspace
from sluice.errors import DataError
from sluice.publication.manifest import read_manifest
from tasks.release.release import last

_DESCRIPTIONS = (shelf.CHECKSUMS, "datapackage.json", "manifest.json")  # no event has them before the last


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


def verify(workspace: Workspace, copies: Sequence[Path] = ()) -> Verification:
    """Verify the ledger and then, by what it recorded, every shelf that was ever published on.

    Each manifest on a shelf has the Merkle root of the ledger that it was published on, and so has every copy of one
    that somebody kept: who rewrites history with the vault's key would have to rewrite all of them.

    copies : manifests from elsewhere

    A release that is being published meanwhile may be named; of a ledger with problems nothing can be held against the
    shelves. Cost: O(entries), and one pass over the published files.
    """
    problems = workspace.ledger.verify()
    if problems:
        return Verification(problems=tuple(problems))
    found = Verification(warnings=workspace.ledger.weaknesses)
    on_shelves: dict[Path, dict[Path, Sequence[Entry]]] = defaultdict(dict)
    for entries in workspace.ledger.histories().values():
        if begun := last(entries, State.PUBLISHING):
            folder = Path(begun.body["folder"])
            on_shelves[folder.parent][folder] = entries
    for place, releases in on_shelves.items():
        found += _verify_shelf(place, releases)
    return found + _verify_manifests(workspace, copies)


def _verify_manifests(workspace: Workspace, copies: Sequence[Path]) -> Verification:
    """Whether the ledger still begins as it did when the manifests on the shelves, and these copies, were written."""
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
    rows = sum(map(len, histories.values()))
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


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _verify_shelf(place: Path, releases: Mapping[Path, Sequence[Entry]]) -> Verification:
    """releases : folder -> all entries of the release that was put there"""
    try:
        present = {path.name for path in place.iterdir()}
    except OSError as error:
        names = ", ".join(folder.name for folder in releases)
        return Verification(unchecked=(f"{place} cannot be read ({error.strerror}). Published there: {names}",))
    found, explained = Verification(), set()
    for folder, entries in releases.items():
        state = state_of(entry.event for entry in entries)
        explained.add(folder.name)
        if state is State.WITHDRAWN:
            explained |= {shelf.withdrawn_of(folder).name, shelf.tombstone_of(folder).name}
        elif state is State.PUBLISHING:
            explained |= {name for name in present if name.startswith(f".{folder.name}.partial-")}
        try:
            found += _VERIFY.get(state, _verify_published)(folder, entries)
        except OSError as error:
            found += Verification(unchecked=(f"{folder} cannot be read ({error.strerror})",))
    strangers = (f"{place / name} belongs to no release of this ledger" for name in sorted(present - explained))
    return found + Verification(problems=tuple(strangers))


def _verify_published(folder: Path, entries: Sequence[Entry]) -> Verification:
    published = last(entries, State.PUBLISHED)
    assert published is not None
    return _compare(folder, published.body["files"])


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
    found = _compare(folder, begun.body["files"], _DESCRIPTIONS) if folder.exists() else Verification()
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
