"""The notice in the folder of an edition that is no longer current, and the pointer to the one that is.

Neither is part of what was signed, and both say so: whoever wants proof verifies a folder. What a reader may take from
them is a release's id, and `sluice ledger verify` holds both against the ledger.
"""

import json
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from sluice.ground.errors import DataError

ReleaseId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=100)]

_MOST_BYTES = 10_000


class _Unsigned(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    says: Literal["Not signed. What a folder holds is proved by its attestation: sluice verify FOLDER --keys KEYS"] = (
        "Not signed. What a folder holds is proved by its attestation: sluice verify FOLDER --keys KEYS"
    )


class EditionNotice(_Unsigned):
    """Lies in a folder that is superseded or was withdrawn."""

    release: ReleaseId
    state: Literal["superseded", "withdrawn"]
    by: ReleaseId | None  # the edition that took its place
    at: str  # ISO 8601, UTC
    current: str  # where the shelf says which edition is current


class CurrentPointer(_Unsigned):
    """Lies on the shelf, for each name that editions are published under."""

    name: ReleaseId
    current: ReleaseId | None  # the folder; None: no edition is current
    period: str | None
    published: str | None  # ISO 8601, UTC
    manifest: str | None  # the SHA-256 of its manifest.json


def unsigned_bytes(document: _Unsigned) -> bytes:
    """The content of the file. The same document gives the same bytes."""
    return json.dumps(document.model_dump(), indent=2).encode() + b"\n"


def read_notice(content: bytes, release: str) -> EditionNotice:
    """The notice in a folder of this release. Raises DataError for whatever is not in the one form that there is."""
    try:
        notice = EditionNotice.model_validate(json.loads(content)) if len(content) <= _MOST_BYTES else None
    except (ValidationError, ValueError, RecursionError):
        notice = None
    if notice is None or unsigned_bytes(notice) != content or notice.release != release:
        raise DataError("is not a notice that this release is superseded or was withdrawn")
    return notice
