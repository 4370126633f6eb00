"""Manifests held against the ledger: whether it still begins as it did when they were written.

Each manifest has the Merkle root of the ledger that it was published on. Whoever rewrites history with the vault's key
would have to rewrite every copy of every manifest, and cannot have them stamped in the past.
"""

import hashlib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from flows.verification_outcome import Verification
from sluice.custody.ledger import Entry, last
from sluice.custody.states import State
from sluice.custody.workspace import Workspace
from sluice.ground.errors import DataError
from sluice.publication.manifest import read_manifest
from sluice.publication.timestamp import read_certificates, stamped_at

_CLOCKS_DIFFER = timedelta(minutes=15)  # at most, those of the house and of the authority


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
