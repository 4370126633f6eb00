"""Publish: put exactly the approved bytes on the shelf, read them back, and only then say so."""

import json
from datetime import datetime
from pathlib import Path

from schemas.frame_check import check_released
from schemas.profile import compared, profile
from sluice.errors import DataError, SluiceError
from sluice.release import shelf
from sluice.release.datapackage import PublishedFile, build_datapackage
from sluice.release.dossier import Dossier
from sluice.release.ledger import Entry
from sluice.release.manifest import build_manifest
from sluice.release.states import State
from sluice.release.table_file import read_typed
from sluice.verdict import Verdict, decide
from tasks.case import Release, last
from tasks.step import step


@step
def publish(release: Release) -> Path:
    """The published folder. A publication that was interrupted is finished with the very same bytes."""
    tampered = release.case.workspace.ledger.verify()
    if tampered:
        raise SluiceError(f"the ledger was tampered with, so nobody knows who approved what: {'; '.join(tampered)}")
    if release.state is not State.PUBLISHING:
        release.record(State.PUBLISHING, subject=release.subject().digest())
    begun = last(release.entries(), State.PUBLISHING)
    assert begun is not None
    files = _files(release, begun)
    target = release.case.definition.target
    folder = shelf.publish(target, release.id, files, inspect=lambda partial: _inspect(release, partial))
    problems = shelf.read_back(folder)
    if problems:
        raise DataError(f"{folder} is not what was written: {'; '.join(problems)}")
    sources = profile(release.read_staged(), compared(release.case.contract))
    release.record(
        State.PUBLISHED,
        folder=release.id,
        definition=release.case.definition.name,
        profile=release.case.workspace.vault.keep_bytes(sources.model_dump_json().encode(), ".json"),
        sha256=release.subject().data,
    )
    _supersede_earlier(release)
    if release.case.definition.seed == "destroy":
        release.case.workspace.vault.destroy_seed(release.id)
        release.record("seed_destroyed")
    return folder


def _files(release: Release, begun: Entry) -> dict[str, Path | bytes]:
    """The published files. Everything is decided by the ledger up to `begun`, so that a rerun makes the same bytes."""
    subject, vault, name = release.subject(), release.case.workspace.vault, release.case.definition.name
    # Hashed again: the vault is only as trustworthy as the disk it lies on.
    parquet, csv = vault.verify(subject.data, ".parquet"), vault.verify(subject.csv, ".csv")
    dossier = Dossier.model_validate_json(vault.verify(subject.dossier, ".json").read_bytes())
    rows = dossier.records_released
    tables = [
        PublishedFile(path=f"{name}.parquet", sha256=subject.data, bytes=parquet.stat().st_size, rows=rows),
        PublishedFile(path=f"{name}.csv", sha256=subject.csv, bytes=csv.stat().st_size, rows=rows),
    ]
    descriptor = build_datapackage(
        name,
        dossier.title,
        dossier.dataset,
        release.released,
        release.what_was_done(),
        tables,
        release.case.contract.description,
    )
    standing = release.standing(datetime.fromisoformat(begun.at))
    manifest = build_manifest(dossier, standing.valid, tables, begun.seq, begun.hash)
    return {
        f"{name}.parquet": parquet,
        f"{name}.csv": csv,
        "datapackage.json": json.dumps(descriptor, indent=2, ensure_ascii=False).encode(),
        "manifest.json": json.dumps(manifest, indent=2, ensure_ascii=False).encode(),
    }


def _inspect(release: Release, partial: Path) -> None:
    """Read what is about to appear, as a data user would. Raises DataError when it is not the approved table."""
    problems = shelf.read_back(partial)
    if problems:
        raise DataError(f"what was written is not what was approved: {'; '.join(problems)}")
    frame = read_typed(partial / f"{release.case.definition.name}.parquet", release.released)
    findings = check_released(frame, release.released)
    if decide(findings) is not Verdict.PASS:
        raise DataError("the file breaks the released schema: " + " ".join(finding.says for finding in findings))


def _supersede_earlier(release: Release) -> None:
    """Earlier editions of the same definition stay on the shelf, marked as superseded."""
    ledger = release.case.workspace.ledger
    for other in ledger.releases():
        if other == release.id or ledger.state(other) is not State.PUBLISHED:
            continue
        published = last(ledger.entries(other), State.PUBLISHED)
        if published and published.body["definition"] == release.case.definition.name:
            ledger.append(other, State.SUPERSEDED, published.actor, {"by": release.id})
