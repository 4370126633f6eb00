"""Publish: put exactly the approved bytes on the shelf, read them back, and only then say so."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from pathlib import Path

from policies.acceptances import FindingDecisions
from schemas.checks.profile import compared, profile
from sluice.custody import shelf
from sluice.custody.clock import refuse_wrong_clock
from sluice.custody.ledger_entry import Entry, last
from sluice.custody.signing.envelope import Envelope
from sluice.custody.states import SEED_DESTROYED, State
from sluice.ground.durable import locked, sha256_of
from sluice.ground.errors import DataError, SluiceError
from sluice.ground.verdict import Finding, Verdict, decide
from sluice.publication.attestation import (
    ATTESTATION,
    ApprovedSeries,
    JudgedBy,
    VerificationSummary,
    attestation,
    decision_files,
    read_certificates,
    request_stamp,
)
from sluice.publication.manifest import LedgerHead, PublishedFile, accepted_findings, build_manifest
from sluice.report.dossier import Dossier
from sluice.settings import settings
from sluice.transport import persistently
from tasks.release.decisions.adopted_documents import refuse_unadopted
from tasks.release.decisions.office import publisher_key
from tasks.release.decisions.open_findings import decided
from tasks.release.decisions.series_approval import standing
from tasks.release.decisions.under_review import (
    UnderReview,
    approved_files,
    subject,
    subject_of,
    submitters,
    verify_subject,
)
from tasks.release.editions.current_edition import (
    close_overtaken,
    overtaken,
    publishing_lock,
    refuse_foreign_name,
    refuse_nested_shelf,
)
from tasks.release.editions.schema_edition import load_into_schema, rehearse_in_schema
from tasks.release.product import AnyRelease
from tasks.step import step


@step
def publish(release: AnyRelease) -> Path | None:
    """The published folder; None where newer data were published since it was approved, so that it closes instead.

    A publication that was interrupted is finished with the very same bytes.
    """
    product, vault = release.product, release.vault
    tampered = product.workspace.ledger.verify()
    if tampered:
        raise SluiceError(f"the ledger was tampered with, so the approvals are unknown: {'; '.join(tampered)}")
    if release.state is not State.PUBLISHING:
        verify_subject(release)
        if product.definition.publish_to:  # what no database takes stays approved: once begun, it must be finished
            _refuse_unready(release)
            rehearse_in_schema(release, _data_files(release))
        with locked(publishing_lock(product.workspace)):  # else two could each find that the other is not there
            if newer := overtaken(release):
                close_overtaken(product.workspace, *newer)
                return None
            _begin(release)
    begun = last(release.entries(), State.PUBLISHING)
    assert begun is not None
    _refuse_unfounded(release, begun)
    source = profile(release.read_staged(), compared(product.contract)).model_dump_json().encode()
    place = Path(begun.body["folder"])  # of the definition as it was then: what is on that shelf already, stays there
    data, documents = _data_files(release), _documents(release, begun)
    if stamp := _stamp(release, documents["manifest.json"], place):
        documents["manifest.tsr"] = stamp
    documents |= decision_files(_signed_decisions(release, begun))
    documents[ATTESTATION] = attestation(
        _hashes(release, documents), _summary(release, begun), publisher_key(product.workspace, begun)
    )
    folder = shelf.publish(
        place.parent, place.name, {**data, **documents}, inspect=lambda partial: _inspect(release, partial)
    )
    files, problems = _hashes(release, documents), _unlike_approved(release, folder)
    if problems:
        raise DataError(f"{folder} is not what was approved: {'; '.join(problems)}")
    load_into_schema(release, {file: folder / file for file in data})
    _destroy_seed(release)
    study = product.contract.study
    # Last of all: a run that is killed before this is taken up again. What it means for other editions follows from it.
    release.record(
        State.PUBLISHED,
        folder=str(folder),
        files=files | {shelf.CHECKSUMS: hashlib.sha256(shelf.checksums(files)).hexdigest()},
        definition=product.definition.name,
        title=product.definition.title,
        description=product.contract.description,
        publisher=product.definition.publisher,
        doi=product.definition.doi,
        license=product.definition.license,
        **({"study": study.model_dump(mode="json", exclude_defaults=True)} if study else {}),
        profile=vault.keep_bytes(source, ".json"),
        sha256=subject(release).data,
    )
    return folder


def _refuse_unready(release: AnyRelease) -> None:
    """Raise SluiceError unless all that a publication needs is there."""
    refuse_wrong_clock(release.product.workspace.ledger)
    refuse_unadopted(release.product, submitters(release))
    refuse_nested_shelf(release.product, release.shelf)
    refuse_foreign_name(release.product, release.shelf, release.product.contract.reference_period is not None)
    _refuse_unfit(release)
    _refuse_unapproved(release)


def _begin(release: AnyRelease) -> None:
    """Record that the publication begins, if all that it needs is there."""
    _refuse_unready(release)
    release.record(
        State.PUBLISHING,
        subject=subject(release).digest(),
        folder=str(release.shelf / release.id),
        files={file: sha256 for file, (sha256, _) in approved_files(release).items()},
    )


def _dossier(release: AnyRelease) -> Dossier:
    """What was judged, hashed again: the vault is only as trustworthy as the disk it lies on."""
    return Dossier.model_validate_json(release.vault.verify(subject(release).dossier, ".json").read_bytes())


def _refuse_unapproved(release: AnyRelease) -> None:
    """Raise SluiceError unless the approvals in the verified ledger, of which none is hidden now, are complete."""
    now = standing(release)
    if not now.complete:
        raise SluiceError(f"{release.id} is not approved, so it is not published. {now.says}")


def _refuse_unfounded(release: AnyRelease, begun: Entry) -> None:
    """Raise SluiceError unless all that a publication needs was there when it began: it may have begun long ago, or
    never, in a ledger that somebody with the vault's key wrote into."""
    then, files = standing(release, begun), {file: sha256 for file, (sha256, _) in approved_files(release).items()}
    if not then.complete:
        raise SluiceError(
            f"{release.id} was not approved when its publication began, so it is not finished. {then.says}"
        )
    if (begun.body["subject"], begun.body["files"]) != (subject(release).digest(), files):
        raise SluiceError(f"{release.id} is not what it was when its publication began, so it is not finished")
    dossier, day = _dossier(release), datetime.fromisoformat(begun.at).date()
    held = decided(UnderReview.of(release.product.workspace, release.id, begun))
    if max(dossier.verdict, _verdict(release, dossier.findings, day, held)) is not Verdict.PASS:
        raise SluiceError(
            f"{release.id} did not meet its policy when its publication began, so it is not finished."
            f"{_ended(release, day)}"
        )
    refuse_unadopted(release.product, submitters(release), begun)


def _refuse_unfit(release: AnyRelease) -> None:
    """Raise SluiceError unless what was approved met the policy, and still does, without the waivers that ended."""
    product, dossier = release.product, _dossier(release)
    rest = [finding for finding in dossier.findings if finding.rule not in product.editions_rules]
    compared = product.compare_editions(release)  # another may have been published since
    today = datetime.now(UTC).date()
    held = decided(UnderReview.of(product.workspace, release.id))
    if max(dossier.verdict, _verdict(release, [*rest, *compared], today, held)) is not Verdict.PASS:
        why = [finding.says for finding in compared if finding.verdict is not Verdict.PASS]
        says = f"{release.id} does not meet its policy today, so it is not published.{_ended(release, today)}"
        raise SluiceError(" ".join([says, *why]))


def _verdict(release: AnyRelease, findings: Iterable[Finding], day: date, held: FindingDecisions) -> Verdict:
    """What findings amount to with the waivers that held on a day, and what people accepted."""
    plain = [finding.model_copy(update={"waiver": None, "accepted": None}) for finding in findings]
    return decide(held.apply(release.product.waived(plain, day)))


def _ended(release: AnyRelease, day: date) -> str:
    """Which waivers had ended by a day, in sentences."""
    waivers = (waiver for waiver in release.product.policy.waivers if waiver.expires < day)
    return "".join(f" The waiver of {each.rule} by {each.owner} ended on {each.expires}." for each in waivers)


def _unlike_approved(release: AnyRelease, folder: Path) -> list[str]:
    """What is wrong with a folder that should hold the approved bytes, in words."""
    problems = shelf.read_back(folder)
    if problems:
        return problems
    for file, (approved, _) in approved_files(release).items():
        with (folder / file).open("rb") as published:
            problems += [] if sha256_of(published) == approved else [f"{file} differs from what was approved"]
    return problems


def _data_files(release: AnyRelease) -> dict[str, Path]:
    return {file: release.vault.verify(sha256, suffix) for file, (sha256, suffix) in approved_files(release).items()}


def _documents(release: AnyRelease, begun: Entry) -> dict[str, bytes]:
    """What describes the data files, by the ledger up to `begun`, so that a rerun makes the same bytes."""
    dossier, files = _dossier(release), approved_files(release)
    rows = dossier.view.records_released or None  # tables differ in their rows
    listed = [
        PublishedFile(path=file, sha256=files[file][0], bytes=path.stat().st_size, rows=rows)
        for file, path in _data_files(release).items()
    ]
    descriptions = release.product.descriptions(release, dossier, listed, datetime.fromisoformat(begun.at))
    row_hash, root = release.product.workspace.ledger.heads([begun.seq])[begun.seq]
    head = LedgerHead(seq=begun.seq, hash=row_hash, size=begun.seq, root=root)
    allowed = standing(release, begun)
    manifest = build_manifest(dossier, allowed.valid, listed, head, allowed.series)
    return {**descriptions, "manifest.json": json.dumps(manifest, indent=2, ensure_ascii=False).encode()}


def _stamp(release: AnyRelease, manifest: bytes, place: Path) -> bytes | None:
    """The time stamp of the manifest, where there is an authority; one that was given is kept, as no other is equal.

    Raises SluiceError when the authority does not answer: the publication waits for it.
    """
    chosen, sha256 = settings(), hashlib.sha256(manifest).hexdigest()
    stamped = last(release.entries(), "stamped")
    if stamped is None or stamped.body["manifest"] != sha256:
        if not (chosen.timestamp_url and chosen.timestamp_certificates) or place.exists():
            return None
        try:
            authority, certificates = chosen.timestamp_url, read_certificates(chosen.timestamp_certificates)
            response = persistently(lambda: request_stamp(manifest, authority, certificates))
        except SluiceError as error:
            raise SluiceError(
                f"{error}. {release.id} is approved and waits: approve it again when the authority answers, or without "
                "SLUICE_TIMESTAMP_URL to publish it unstamped"
            ) from None
        stamped = release.record("stamped", manifest=sha256, response=release.vault.keep_bytes(response, ".tsr"))
    return release.vault.verify(stamped.body["response"], ".tsr").read_bytes()


def _signed_decisions(release: AnyRelease, begun: Entry) -> list[Envelope]:
    """What the people signed whose approvals count; nothing of those who are known by account or typed name."""
    given = standing(release, begun)
    bodies = {entry.at: entry.body for entry in release.product.workspace.ledger.entries(given.series or release.id)}
    found = (bodies[approval.at].get("envelope") for approval in given.valid)
    return [Envelope.from_json(json.dumps(each)) for each in found if each]


def _summary(release: AnyRelease, begun: Entry) -> VerificationSummary:
    dossier, reviewed, given = _dossier(release), subject(release), standing(release, begun)
    entries = release.product.workspace.ledger.entries
    series = given.series and ApprovedSeries(
        release=given.series, reviewed=subject_of(given.series, entries(given.series)).model_dump()
    )
    return VerificationSummary(
        release=release.id,
        at=begun.at,
        verdict="PASS",
        digest=reviewed.digest(),
        reviewed=reviewed.model_dump(),
        policy=JudgedBy(name=dossier.policy, version=dossier.policy_version, sha256=reviewed.policy),
        contract=JudgedBy(name=dossier.dataset, version=dossier.contract_version, sha256=reviewed.contract),
        waived=tuple(finding.rule for finding in dossier.findings if finding.waiver),
        accepted=accepted_findings(dossier.findings),
        decided_by=given.valid,
        series=series or None,
    )


def _hashes(release: AnyRelease, documents: Mapping[str, bytes]) -> dict[str, str]:
    """Name -> SHA-256 of the data files and of what describes them."""
    files = {file: sha256 for file, (sha256, _) in approved_files(release).items()}
    return files | {file: hashlib.sha256(content).hexdigest() for file, content in documents.items()}


def _inspect(release: AnyRelease, partial: Path) -> None:
    """Read what is about to appear, as a data user would. Raises DataError when it is not what was approved."""
    problems = _unlike_approved(release, partial)
    if problems:
        raise DataError(f"what was written is not what was approved: {'; '.join(problems)}")
    problems = release.product.read_back(release, partial.joinpath)
    if problems:
        raise DataError(f"what was written is not what was judged: {'; '.join(problems)}")


def _destroy_seed(release: AnyRelease) -> None:
    """Make sure that nobody can undo the noise, where the definition asks for it."""
    if release.product.destroys_seed:
        release.vault.destroy_seed(release.seed_name)
        if last(release.entries(), SEED_DESTROYED) is None:
            release.record(SEED_DESTROYED)
