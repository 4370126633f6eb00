"""The office of a workspace: who counts in it, which documents and which key of the publisher count, and what changes
them.

The publisher's first key follows from the vault's secret. Another takes its place when two people of the office adopt
it, one of them the head: what was published before is verified by the old key, up to that adoption, and what comes by
the new one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import BaseModel

from policies.adoption import (
    PREDICATE,
    PUBLISHER_KEY,
    Adoption,
    Kind,
    Office,
    adoption_of_publisher,
    adoption_predicate,
    read_office,
)
from policies.key_history import publisher_history
from policies.people import HEAD, Roster
from sluice.custody.ledger_entry import Entry
from sluice.custody.signing.allowed_signers import AllowedSigner
from sluice.custody.signing.public_key import PublicKey
from sluice.custody.states import ADOPTED, FOUNDED, OFFICE
from sluice.custody.workspace import Workspace
from sluice.documents.document_reading import KINDS, document_bytes, document_sha256, parse_document, read_yaml
from sluice.ground.errors import DocumentError, SluiceError
from tasks.release.decisions.signing_in import Credentials, Request, act, refuse_unseen

_ADOPTED: tuple[Kind, ...] = ("roster", "policy", "contract")


def open_office(workspace: Workspace, before: int | None = None) -> Office | None:
    """The office as the ledger makes it, up to a row; None before it was founded.

    Raises as `Ledger.entries` and `read_office` do. A release asks for it fifty times: the rows are read each time, and
    what they make only once.
    """
    entries = [entry for entry in workspace.ledger.entries(OFFICE) if before is None or entry.seq < before]
    rows = tuple(entry.hash for entry in entries)  # keyed hashes of all that each row says
    latest = _latest.get(rows)
    if latest is None and (latest := read_office(entries)):
        _latest.clear()
        _latest[rows] = latest
    return latest


_latest: dict[tuple[str, ...], Office] = {}


@dataclass(frozen=True)
class Terms:
    """Under which terms documents are adopted."""

    valid_until: date | None = None
    datasets: tuple[str, ...] = ()
    submitters: tuple[str, ...] = ()


def adopt(
    workspace: Workspace, paths: Sequence[Path], terms: Terms, credentials: Credentials, comment: str
) -> tuple[Office, list[Adoption]] | Request:
    """Record that one person adopts documents; the first such act founds the office.

    paths  : YAML files of rosters, policies and contracts; what each is follows from its keys
    terms  : of all of them; where none are given, those under which somebody else has proposed the same content
    returns: the office after it, and what was adopted or proposed; or only what is to be signed, if that is asked
    raises : DocumentError for a document that is wrong; SluiceError when the act would not count
    """
    refuse_unseen("comment", comment)
    office = open_office(workspace)
    documents = [read_document(path) for path in paths]
    rosters = [document for _, document in documents if isinstance(document, Roster)]
    if len(rosters) > 1:
        raise SluiceError("an office has one roster; two were given")
    if office is None and not rosters:
        raise SluiceError(
            "this office has no people yet: the first act must bring a roster, by somebody in it with the role "
            f"{HEAD}. Run: sluice office"
        )
    if rosters:
        _refuse_publisher(workspace, office, rosters[0])
    adoptions = [_adoption(kind, document, terms, office) for kind, document in documents]
    brought = {"roster": rosters[0].model_dump(mode="json")} if rosters else {}
    contents = [document_bytes(document) for _, document in documents]
    roster = office.roster if office else rosters[0]
    now = record(workspace, office, roster, adoptions, brought, contents, credentials, comment)
    return now if isinstance(now, Request) else (now, adoptions)


def _refuse_publisher(workspace: Workspace, office: Office | None, roster: Roster) -> None:
    """Raise SluiceError for a person with a key that the installation signs by, and so by itself."""
    for number in range(1, 1 + (office.next_publisher if office else 1)):
        try:
            key = PublicKey.of(workspace.vault.signing_key(number).public_key())
        except SluiceError:  # of a number that is not drawn yet
            continue
        if name := roster.by_key(key):
            raise SluiceError(f"people.{name}.keys: the installation signs publications by this key; give their own")


def record(
    workspace: Workspace,
    office: Office | None,
    roster: Roster,
    adoptions: Sequence[Adoption],
    brought: Mapping[str, Any],
    contents: Sequence[bytes],
    credentials: Credentials,
    comment: str,
) -> Office | Request:
    """Record one person's adoptions; the office after it, or what is to be signed. Raises when they would not count.

    roster   : by which that person is known
    brought  : what the entry holds besides, a new roster or key
    contents : of the documents, for the vault
    """
    office_id = office.id if office else workspace.vault.pseudonym("office", "")
    said = act(
        roster,
        roster.identity,
        credentials,
        PREDICATE,
        lambda words, at, salt: adoption_predicate(office_id, dumped(adoptions), words, at, salt),
        {f"{each.kind} {each.name}": each.sha256 for each in adoptions},
        comment,
        workspace.vault,
    )
    if isinstance(said, Request):
        return said
    if office is None and said.person not in roster.with_role(HEAD):
        raise SluiceError(
            f"'{said.person}' cannot found the office: the roster gives the role {HEAD} to "
            f"{', '.join(roster.with_role(HEAD)) or 'nobody'}"
        )
    for content in contents:
        workspace.vault.keep_bytes(content, ".json")
    body = {**said.body, "office": office_id, "adoptions": dumped(adoptions), **brought}
    entry = workspace.ledger.append(OFFICE, ADOPTED if office else FOUNDED, said.person, body)
    now = open_office(workspace)
    assert now is not None
    if entry.seq in now.void:
        raise SluiceError(now.void[entry.seq])
    return now


def dumped(adoptions: Sequence[Adoption]) -> list[dict[str, Any]]:
    return [each.model_dump(mode="json") for each in adoptions]


def read_document(path: Path) -> tuple[Kind, BaseModel]:
    """The kind of a document and its content. Raises DocumentError."""
    written = read_yaml(path)
    kinds = {KINDS[key] for key in written if key in KINDS}
    found = [kind for kind in _ADOPTED if kind in kinds]
    if len(found) != 1:
        raise DocumentError(
            f"{path}: is not one of the documents that can be adopted: a roster has 'people', a policy 'approvals', "
            "a contract 'variables'"
        )
    return found[0], _load(found[0], path)


def _load(kind: Kind, path: Path) -> BaseModel:
    """A document as a release loads it, so that both hash the same. Raises DocumentError.

    Contracts and policies bring what judges data; who only looks at the office starts without.
    """
    if kind == "contract":
        from schemas.contract import load_contract
        from sluice.sources.permission import permitted_file

        return load_contract(path, permitted_file)
    if kind == "policy":
        from policies.policy import load_policy

        return load_policy(path)
    return parse_document(Roster, read_yaml(path), str(path))


def _adoption(kind: Kind, document: BaseModel, terms: Terms, office: Office | None) -> Adoption:
    sha256 = document_sha256(document)
    if terms == Terms() and office is not None:
        proposed = [each for each in office.proposed if (each.kind, each.sha256) == (kind, sha256)]
        if len(proposed) > 1:
            differing = "; ".join(each.terms or "without limits" for each in proposed)
            raise SluiceError(
                f"{proposed[0].called} was proposed with different terms: {differing}. "
                "Say by --valid-until, --dataset and --submitter which of them you adopt"
            )
        if proposed:
            return proposed[0]
    if terms.valid_until and terms.valid_until < datetime.now(UTC).date():
        raise SluiceError(f"--valid-until must be today or later; got {terms.valid_until}")
    named, name, version = {"contract": "dataset", "policy": "name"}.get(kind), "roster", ""
    if named:
        said = document.model_dump(include={named, "version"})
        name, version = said[named], said["version"]
    for_use = {} if kind == "roster" else {"datasets": terms.datasets, "submitters": terms.submitters}
    return Adoption(kind=kind, name=name, version=version, sha256=sha256, valid_until=terms.valid_until, **for_use)


def rotate(workspace: Workspace, credentials: Credentials, comment: str) -> tuple[Office, Adoption] | Request:
    """Record that one person adopts the next key of the publisher, which is drawn in the vault for the first of them.

    returns: the office after it, and what was adopted or proposed; or only what is to be signed, if that is asked
    raises : SluiceError when the act would not count
    """
    refuse_unseen("comment", comment)
    office = open_office(workspace)
    if office is None:
        raise SluiceError("this office has no people yet. Set it up with: sluice office")
    number = office.next_publisher
    key = PublicKey.of(workspace.vault.signing_key(number, draw=True).public_key())
    adoption, brought = adoption_of_publisher(key, number), {"publisher": key.line}
    now = record(workspace, office, office.roster, [adoption], brought, [], credentials, comment)
    return now if isinstance(now, Request) else (now, adoption)


def publisher_key(workspace: Workspace, begun: Entry) -> Ed25519PrivateKey:
    """The key that counted when a publication was begun, so that one that was interrupted ends with the same bytes."""
    office = open_office(workspace, begun.seq)
    held = office.in_force.get((PUBLISHER_KEY, PUBLISHER_KEY)) if office else None
    number = int(held.adoption.version) if held else 1
    key = workspace.vault.signing_key(number)
    if held and held.adoption != adoption_of_publisher(PublicKey.of(key.public_key()), number):
        raise SluiceError(
            f"the vault's publisher key number {number} is not the one that was adopted. Restore the backup."
        )
    return key


def publisher_keys(workspace: Workspace, office: Office) -> list[AllowedSigner]:
    """All that it ever signed by, each with its times."""
    return publisher_history(PublicKey.of(workspace.vault.signing_key().public_key()), office.publishers)
