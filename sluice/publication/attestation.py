"""The attestation of a publication: what the publisher signs, so that outsiders need not ask the ledger.

A statement about every file of the folder, with a verification summary: this was reviewed, meets that policy, and was
decided by these people. Beside it lie the decisions as the people themselves signed them: who has the publisher's key,
which is the vault's, still cannot make up anybody's decision.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Literal

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import BaseModel, ConfigDict, Field

from sluice.custody.shelf import CHECKSUMS
from sluice.custody.signing.envelope import Envelope, Statement
from sluice.custody.signing.ssh_signature import signed_by_key
from sluice.documents.documents import canonical_json
from sluice.publication.manifest import GivenApproval

ATTESTATION = "attestation.json"
PREDICATE = "urn:sluice:publication:1"

_SHA256 = "^[0-9a-f]{64}$"
_DESCRIPTION = re.compile(
    r"(attestation|croissant|datapackage|decision-[1-9][0-9]*|manifest)\.json|manifest\.tsr|structure\.xml|"
    r"codebook\.(html|xml)|CITATION\.cff"
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
        return f"{self.digest} meets {policy}{waived}, decided by {' and '.join(people)}{series}."


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
