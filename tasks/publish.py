"""Publish: put exactly the approved bytes on the shelf, read them back, and only then say so."""

import hashlib
import json
from datetime import UTC, datetime
from pathlib import Path

from policies.waivers import apply_waivers
from schemas.checks.frame_check import check_released
from schemas.checks.profile import compared, profile
from sluice.custody import shelf
from sluice.custody.durable import sha256_of
from sluice.custody.ledger import Entry
from sluice.custody.states import State, state_of
from sluice.errors import DataError, SluiceError
from sluice.publication.datapackage import PublishedFile, build_datapackage
from sluice.publication.manifest import build_manifest
from sluice.publication.table_file import read_typed
from sluice.report.dossier import Dossier
from sluice.verdict import Verdict, decide
from tasks.case import Release, last
from tasks.editions import few_changes
from tasks.step import step
from tasks.table_editions import beside_earlier_editions, read_judged
from tasks.table_files import problems_of, table_descriptor


@step
def publish(release: Release) -> Path:
    """The published folder. A publication that was interrupted is finished with the very same bytes."""
    vault = release.case.workspace.vault
    tampered = release.case.workspace.ledger.verify()
    if tampered:
        raise SluiceError(f"the ledger was tampered with, so nobody knows who approved what: {'; '.join(tampered)}")
    if release.state is not State.PUBLISHING:
        release.verify_subject()
        _refuse_unfit(release)
        release.record(State.PUBLISHING, subject=release.subject().digest())
    begun = last(release.entries(), State.PUBLISHING)
    assert begun is not None
    source = profile(release.read_staged(), compared(release.case.contract)).model_dump_json().encode()
    files = _files(release, begun)
    target = release.case.definition.target
    folder = shelf.publish(target, release.id, files, inspect=lambda partial: _inspect(release, partial))
    problems = _unlike_approved(release, folder)
    if problems:
        raise DataError(f"{folder} is not what was approved: {'; '.join(problems)}")
    _supersede_earlier(release)
    if not release.case.is_of_tables and release.case.definition.seed == "destroy":
        vault.destroy_seed(release.id)
        if last(release.entries(), "seed_destroyed") is None:
            release.record("seed_destroyed")
    # Last of all: a run that is killed before this is taken up again, and one that is killed after it has done it all.
    release.record(
        State.PUBLISHED,
        folder=release.id,
        definition=release.case.definition.name,
        profile=vault.keep_bytes(source, ".json"),
        sha256=release.subject().data,
        manifest=hashlib.sha256(files["manifest.json"]).hexdigest(),
    )
    return folder


def _refuse_unfit(release: Release) -> None:
    """Raise SluiceError unless what was approved met the policy, and still does, without the waivers that ended."""
    case, subject = release.case, release.subject()
    dossier = Dossier.model_validate_json(case.workspace.vault.verify(subject.dossier, ".json").read_bytes())
    anew = "earlier_editions" if case.is_of_tables else "few_changes"
    found = [f.model_copy(update={"waiver": None}) for f in dossier.findings if f.rule != anew]
    # Another edition may have been published since.
    found += beside_earlier_editions(release) if case.is_of_tables else few_changes(release)
    waivers, today = case.policy.waivers, datetime.now(UTC).date()
    verdict = decide(apply_waivers(found, waivers, case.definition.name, today, case.definition.owner))
    if max(verdict, dossier.verdict) is not Verdict.PASS:
        why = [f"The waiver of {w.rule} by {w.owner} ended on {w.expires}." for w in waivers if w.expires < today]
        why += [finding.says for finding in found[-1:] if finding.verdict is not Verdict.PASS]
        raise SluiceError(" ".join([f"{release.id} does not meet its policy today, so it is not published.", *why]))


def _unlike_approved(release: Release, folder: Path) -> list[str]:
    """What is wrong with a folder that should hold the approved bytes, in words."""
    problems = shelf.read_back(folder)
    if problems:
        return problems
    for file, (approved, _) in release.files().items():
        with (folder / file).open("rb") as published:
            problems += [] if sha256_of(published) == approved else [f"{file} differs from what was approved"]
    return problems


def _files(release: Release, begun: Entry) -> dict[str, Path | bytes]:
    """The published files. Everything is decided by the ledger up to `begun`, so that a rerun makes the same bytes."""
    subject, vault, case = release.subject(), release.case.workspace.vault, release.case
    # Hashed again: the vault is only as trustworthy as the disk it lies on.
    files = {file: vault.verify(sha256, suffix) for file, (sha256, suffix) in release.files().items()}
    dossier = Dossier.model_validate_json(vault.verify(subject.dossier, ".json").read_bytes())
    rows = None if case.is_of_tables else dossier.view.records_released
    listed = [
        PublishedFile(path=file, sha256=release.files()[file][0], bytes=path.stat().st_size, rows=rows)
        for file, path in files.items()
    ]
    if case.is_of_tables:
        descriptor = table_descriptor(case, *read_judged(release), listed, dossier.plan)
    else:
        descriptor = build_datapackage(
            case.definition.name,
            dossier.title,
            dossier.dataset,
            case.described,
            release.what_was_done(),
            listed,
            case.contract.description,
            dossier.view.parameters,
        )
    manifest = build_manifest(dossier, release.standing(begun).valid, listed, begun.seq, begun.hash)
    return {
        **files,
        "datapackage.json": json.dumps(descriptor, indent=2, ensure_ascii=False).encode(),
        "manifest.json": json.dumps(manifest, indent=2, ensure_ascii=False).encode(),
    }


def _inspect(release: Release, partial: Path) -> None:
    """Read what is about to appear, as a data user would. Raises DataError when it is not the approved table."""
    problems = _unlike_approved(release, partial)
    if problems:
        raise DataError(f"what was written is not what was approved: {'; '.join(problems)}")
    if release.case.is_of_tables:
        files = {file: partial / file for file in release.files()}
        problems = problems_of(release.case, files, *read_judged(release))
        if problems:
            raise DataError(f"the tables are not those that were judged: {'; '.join(problems)}")
        return
    frame = read_typed(partial / f"{release.case.definition.name}.parquet", release.released)
    findings = check_released(frame, release.released)
    if decide(findings) is not Verdict.PASS:
        raise DataError("the file breaks the released schema: " + " ".join(finding.says for finding in findings))


def _supersede_earlier(release: Release) -> None:
    """Earlier editions of the same definition stay on the shelf, marked as superseded."""
    ledger = release.case.workspace.ledger
    for other, entries in ledger.histories().items():
        if other == release.id or state_of(entry.event for entry in entries) is not State.PUBLISHED:
            continue
        published = last(entries, State.PUBLISHED)
        if published and published.body["definition"] == release.case.definition.name:
            ledger.append(other, State.SUPERSEDED, published.actor, {"by": release.id})
