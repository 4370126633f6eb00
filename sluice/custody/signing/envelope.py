"""Signed statements: an in-toto Statement (version 1) in a DSSE envelope, its signatures those of SSH.

The envelope (Secure Systems Lab, DSSE 1.0) signs the bytes of the statement as they stand, with their type before
them, so that nobody needs to agree on how JSON is written. `sig` holds an armoured SSH signature, in base64 as the
format asks.
"""

import base64
import binascii
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field

from sluice.custody.signing.public_key import PublicKey
from sluice.custody.signing.ssh_signature import verified_key
from sluice.ground.errors import SluiceError

STATEMENT: Final = "https://in-toto.io/Statement/v1"
PAYLOAD: Final = "application/vnd.in-toto+json"

CLOCK_SKEW = timedelta(minutes=5)  # between the machines that sign, record and verify

_MOST_BYTES = 4 << 20  # of a payload


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)


class Digest(_Strict):
    sha256: str = Field(pattern="^[0-9a-f]{64}$")


class About(_Strict):
    """One thing that a statement is about."""

    name: str
    digest: Digest


class Statement(_Strict):
    """What somebody says (`predicate`, of the kind `predicateType`) about files that are named by their hashes."""

    type: Literal["https://in-toto.io/Statement/v1"] = Field(default=STATEMENT, alias="_type")
    subject: tuple[About, ...] = Field(min_length=1)
    predicate_type: str = Field(alias="predicateType")
    predicate: dict[str, Any]

    @classmethod
    def about(cls, files: Mapping[str, str], predicate_type: str, predicate: Mapping[str, Any]) -> Self:
        """A statement on files: name -> SHA-256."""
        subject = tuple(About(name=name, digest=Digest(sha256=files[name])) for name in sorted(files))
        return cls(subject=subject, predicate_type=predicate_type, predicate=dict(predicate))

    @property
    def files(self) -> dict[str, str]:
        """Name -> SHA-256 of what it is about."""
        return {each.name: each.digest.sha256 for each in self.subject}

    def payload(self) -> bytes:
        """The bytes that are signed."""
        return json.dumps(self.model_dump(mode="json", by_alias=True), sort_keys=True, ensure_ascii=False).encode()


class Signature(_Strict):
    keyid: str = ""  # a hint, as the format has it: what counts is the key within the signature
    sig: str


class Envelope(_Strict):
    """A statement with its signatures, as JSON."""

    payload: str
    payload_type: Literal["application/vnd.in-toto+json"] = Field(default=PAYLOAD, alias="payloadType")
    signatures: tuple[Signature, ...] = Field(min_length=1, max_length=16)

    @classmethod
    def sign(cls, payload: bytes, sign: Callable[[bytes], str]) -> Self:
        """The envelope of a payload.

        sign : gives the armoured SSH signature of what it is given
        """
        signature = sign(pre_authentication(payload))
        key = verified_key(pre_authentication(payload), signature)
        if key is None:
            raise SluiceError("what was signed does not bear a signature that counts: is it a key of another kind?")
        encoded = base64.b64encode(signature.encode()).decode()
        return cls(
            payload=base64.b64encode(payload).decode(), signatures=(Signature(keyid=key.fingerprint, sig=encoded),)
        )

    @classmethod
    def from_json(cls, content: bytes | str) -> Self:
        """Read an envelope. Raises SluiceError for whatever is none."""
        try:
            return cls.model_validate(json.loads(content, object_pairs_hook=_without_duplicates))
        except ValueError:  # not JSON, or not such
            raise SluiceError("this is not a DSSE envelope over an in-toto statement") from None

    def as_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json", by_alias=True)

    def signed_by(self) -> tuple[PublicKey, ...]:
        """The keys whose signatures hold, each once; whose they are is for others to say."""
        message, found = pre_authentication(self.content), []
        for signature in self.signatures:
            try:
                armoured = base64.b64decode(signature.sig, validate=True).decode("ascii")
            except ValueError:
                continue
            key = verified_key(message, armoured)
            if key is not None and key not in found:
                found.append(key)
        return tuple(found)

    @property
    def content(self) -> bytes:
        """The bytes of the statement. Raises SluiceError when they are none."""
        try:
            content = base64.b64decode(self.payload, validate=True)
        except binascii.Error:
            raise SluiceError("the envelope's payload is not base64") from None
        if len(content) > _MOST_BYTES:
            raise SluiceError(f"the envelope's payload is longer than {_MOST_BYTES:,} bytes")
        return content

    def statement(self) -> Statement:
        """What was signed. Raises SluiceError when it is no statement."""
        return parse_statement(self.content)


def parse_statement(payload: bytes) -> Statement:
    """The statement in the bytes that are signed. Raises SluiceError when they are none."""
    try:
        return Statement.model_validate(json.loads(payload, object_pairs_hook=_without_duplicates))
    except ValueError:
        raise SluiceError("this is not an in-toto statement, or it has a key twice") from None


def pre_authentication(payload: bytes) -> bytes:
    """The bytes under the signature (DSSE, protocol: PAE): type and content, each with its length."""
    kind = PAYLOAD.encode()
    return b"DSSEv1 %d %b %d %b" % (len(kind), kind, len(payload), payload)


def _without_duplicates(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key that stands twice: two programs may read two things."""
    content = dict(pairs)
    if len(content) != len(pairs):
        raise ValueError("a key stands twice")
    return content
