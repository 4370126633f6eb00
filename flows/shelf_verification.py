"""A shelf held against what the ledger recorded of each folder that was put there."""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from flows.verification_outcome import Verification
from sluice.custody import shelf
from sluice.custody.ledger import Entry, last
from sluice.custody.shelf_documents import ShelfDocuments, document_problems
from sluice.custody.states import State, state_of
from sluice.publication.attestation import describes


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
