"""The attestation of a publication: what the publisher signs, so that outsiders need not ask the ledger.

A statement about every file of the folder, with a verification summary: this was reviewed, meets that policy, and was
decided by these people. Beside it lie the decisions as the people themselves signed them: who has the publisher's key,
which is the vault's, still cannot make up anybody's decision.

A time stamp (RFC 3161) is the signed word of an authority outside the house that a document existed at a time. With it
nobody, whoever owns the vault, can make up a manifest later and say that it is an old one. `openssl ts -verify` checks
the same.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import partial
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from typing import Literal
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.x509 import Certificate, load_pem_x509_certificates
from pydantic import BaseModel, ConfigDict, Field
from rfc3161_client import (
    HashAlgorithm,
    TimestampRequestBuilder,
    TimeStampResponse,
    VerificationError,
    VerifierBuilder,
    decode_timestamp_response,
)

from sluice.custody.shelf import CHECKSUMS
from sluice.custody.signing.envelope import Envelope, Statement
from sluice.custody.signing.ssh_signature import signed_by_key
from sluice.documents.document_reading import canonical_json
from sluice.ground.errors import DataError, DocumentError, SluiceError, TransportError
from sluice.publication.manifest import AcceptedFinding, GivenApproval

_WAIT = 30  # seconds for the authority's answer
_MOST_BYTES = 1 << 20  # of an answer

ATTESTATION = "attestation.json"
PREDICATE = "urn:sluice:publication:1"

_SHA256 = "^[0-9a-f]{64}$"
_DESCRIPTION = re.compile(
    r"(attestation|croissant|datacite|datapackage|decision-[1-9][0-9]*|manifest)\.json|manifest\.tsr|structure\.xml|"
    r"codebook\.(html|xml)|CITATION\.cff|README\.md|read\.(R|do|py)"
)


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class JudgedBy(_Strict):
    """A document that decided, by its name and the SHA-256 of its canonical JSON."""

    name: str
    version: str
    sha256: str = Field(pattern=_SHA256)


class ApprovedSeries(_Strict):
    """An earlier release that people approved with those that follow it."""

    release: str
    reviewed: dict[str, str | None] = Field(description="SHA-256 of each thing that was reviewed of it")


class VerificationSummary(_Strict):
    """`digest` meets `policy`, decided by these people."""

    release: str
    at: str = Field(description="ISO 8601, UTC: when the publication was begun")
    verdict: Literal["PASS"]
    digest: str = Field(pattern=_SHA256, description="of all that was reviewed: what people decide on")
    reviewed: dict[str, str | None] = Field(description="SHA-256 of each thing that was reviewed")
    policy: JudgedBy
    contract: JudgedBy
    waived: tuple[str, ...] = Field(description="rules that it does not meet, each excused by a waiver")
    accepted: tuple[AcceptedFinding, ...] = Field(
        default=(),
        exclude_if=lambda accepted: not accepted,
        description="findings that needed a decision, each accepted by a person for this release",
    )
    decided_by: tuple[GivenApproval, ...]
    series: ApprovedSeries | None = Field(
        default=None, description="what they decided on: not this release, but an earlier one and those that follow it"
    )

    @property
    def says(self) -> str:
        """In a sentence."""
        people = [
            f"{each.who} ({f'{each.role}, ' if each.role else ''}known by {each.identity})" for each in self.decided_by
        ]
        policy = f"policy '{self.policy.name}', version {self.policy.version}"
        waived = f", with waivers of {', '.join(self.waived)}" if self.waived else ""
        series = f", who approved the series with {self.series.release}" if self.series else ""
        accepted = "".join(
            f" {each.by} accepted the finding {each.code or each.rule} for this release until {each.until}: "
            f"{each.reason.rstrip('.')}."
            for each in self.accepted
        )
        return f"{self.digest} meets {policy}{waived}, decided by {' and '.join(people)}{series}.{accepted}"


def digest_of(reviewed: Mapping[str, str | None]) -> str:
    """One SHA-256 over all that was reviewed, as approvals are bound to it."""
    return hashlib.sha256(canonical_json(dict(reviewed))).hexdigest()


def attestation(files: Mapping[str, str], summary: VerificationSummary, key: Ed25519PrivateKey) -> bytes:
    """The content of `attestation.json`. The same input makes the same bytes.

    files : all others of the folder but the checksums: name -> SHA-256
    """
    statement = Statement.about(files, PREDICATE, summary.model_dump(mode="json"))
    return envelope_bytes(Envelope.sign(statement.payload(), partial(signed_by_key, key=key)))


def decision_files(envelopes: Sequence[Envelope]) -> dict[str, bytes]:
    """The signed decisions as files of the folder, in their order."""
    return {f"decision-{number}.json": envelope_bytes(each) for number, each in enumerate(envelopes, 1)}


def envelope_bytes(envelope: Envelope) -> bytes:
    """A field a line, so that `sed` can take it apart."""
    return json.dumps(envelope.as_json(), indent=2).encode()


def describes(file: str) -> bool:
    """Whether a file of a published folder describes the others, and holds no data."""
    return file == CHECKSUMS or _DESCRIPTION.fullmatch(file) is not None


def read_certificates(path: Path) -> list[Certificate]:
    """The certificates in a PEM file: whoever one of them leads to is believed. Raises DocumentError."""
    try:
        return load_pem_x509_certificates(path.read_bytes())
    except OSError as error:
        raise DocumentError(f"{path}: the authority's certificates cannot be read ({error.strerror})") from None
    except ValueError:
        raise DocumentError(f"{path}: must hold the time-stamping authority's certificates in PEM") from None


def request_stamp(content: bytes, url: str, certificates: Sequence[Certificate]) -> bytes:
    """Have the SHA-256 of `content` stamped, which is all that the authority learns; its response in DER.

    url    : of an authority that answers RFC 3161 over HTTP
    raises : TransportError when it does not answer; SluiceError when it refuses, or its answer is no
             stamp of this content by these certificates
    """
    request = TimestampRequestBuilder().data(content).hash_algorithm(HashAlgorithm.SHA256).cert_request(
        cert_request=True
    ).build()  # fmt: skip
    post = Request(url, request.as_bytes(), {"Content-Type": "application/timestamp-query"})
    try:
        with urlopen(post, timeout=_WAIT) as answer:
            response: bytes = answer.read(_MOST_BYTES)
    except (OSError, HTTPException) as error:
        refused = isinstance(error, HTTPError) and error.code < HTTPStatus.INTERNAL_SERVER_ERROR
        raise (SluiceError if refused else TransportError)(
            f"the time-stamping authority {url} does not answer ({type(error).__name__})"
        ) from None
    try:
        _verify(response, content, VerifierBuilder(roots=[*certificates], nonce=request.nonce))
    except DataError as error:
        raise SluiceError(f"the answer of the time-stamping authority {url} {error}") from None
    return response


def stamped_at(response: bytes, content: bytes, certificates: Sequence[Certificate]) -> datetime:
    """When `content` was stamped, by an authority that one of the certificates leads to.

    The authority's certificate need only have held at that time. Raises DataError when this is no stamp of `content`.
    """
    return _verify(response, content, VerifierBuilder(roots=[*certificates])).tst_info.gen_time


def _verify(response: bytes, content: bytes, builder: VerifierBuilder) -> TimeStampResponse:
    try:
        stamp = decode_timestamp_response(response)
        builder.build().verify_message(stamp, content)
    except (ValueError, VerificationError):  # whose texts are the library's
        raise DataError("is not a time stamp of this document by these certificates") from None
    return stamp
