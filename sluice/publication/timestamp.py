"""Time stamps (RFC 3161): the signed word of an authority outside the house that a document existed at a time.

With it nobody, whoever owns the vault, can make up a manifest later and say that it is an old one. `openssl ts -verify`
checks the same.
"""

from collections.abc import Sequence
from datetime import datetime
from http import HTTPStatus
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from cryptography.x509 import Certificate, load_pem_x509_certificates
from rfc3161_client import (
    HashAlgorithm,
    TimestampRequestBuilder,
    TimeStampResponse,
    VerificationError,
    VerifierBuilder,
    decode_timestamp_response,
)

from sluice.ground.errors import DataError, DocumentError, SluiceError, TransportError

_WAIT = 30  # seconds for the authority's answer
_MOST_BYTES = 1 << 20  # of an answer


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
