"""Public keys as people have them: OpenSSH lines, and what each kind of key signs.

Ed25519 (RFC 8709), ECDSA on NIST P-256 (RFC 5656), as smart cards have it, and Ed25519 in hardware tokens (OpenSSH,
PROTOCOL.u2f). RSA is refused: of it alone there are weak keys and weak signatures.
"""

import base64
import binascii
import hashlib
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ec import ECDSA, SECP256R1, EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.utils import encode_dss_signature
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from sluice.ground.errors import SluiceError

ED25519, TOKEN, ECDSA_P256 = "ssh-ed25519", "sk-ssh-ed25519@openssh.com", "ecdsa-sha2-nistp256"
KINDS = (ED25519, TOKEN, ECDSA_P256)

_TOUCHED = 0x01  # the flag of a token that somebody touched it


@dataclass(frozen=True)
class PublicKey:
    """A key by its kind and its bytes; the comment of the line is no part of it."""

    kind: str
    blob: bytes  # in the format of RFC 4253, 6.6

    @classmethod
    def parse(cls, line: str) -> Self:
        """The key of an OpenSSH line `KIND BASE64 [COMMENT]`. Raises SluiceError, without repeating the line."""
        parts = line.split()
        if len(parts) < 2 or parts[0] not in KINDS:
            came = f"got a key of the kind '{parts[0]}'" if parts and parts[0].startswith(("ssh-", "ecdsa-")) else ""
            raise SluiceError(
                f"key must be a line of an OpenSSH .pub file, of the kind {', '.join(KINDS)}"
                + (f"; {came}" if came else "; got another text")
            )
        try:
            key = cls(parts[0], base64.b64decode(parts[1], validate=True))
            _ = key.point
        except (binascii.Error, ValueError, struct.error):
            raise SluiceError(f"key of the kind {parts[0]} is damaged: its second word is not such a key") from None
        return key

    @classmethod
    def of(cls, key: Ed25519PublicKey | EllipticCurvePublicKey) -> Self:
        """A key as `cryptography` has it; of elliptic curves that of P-256."""
        if isinstance(key, Ed25519PublicKey):
            return cls(ED25519, packed(ED25519.encode()) + packed(key.public_bytes_raw()))
        if not isinstance(key.curve, SECP256R1):
            raise SluiceError(f"the key must be on the curve P-256; it is on {key.curve.name}")
        point = key.public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        return cls(ECDSA_P256, packed(ECDSA_P256.encode()) + packed(b"nistp256") + packed(point))

    @property
    def line(self) -> str:
        """The key as an OpenSSH line without a comment."""
        return f"{self.kind} {base64.b64encode(self.blob).decode()}"

    @property
    def fingerprint(self) -> str:
        """As `ssh-keygen -l` shows it."""
        return "SHA256:" + base64.b64encode(hashlib.sha256(self.blob).digest()).decode().rstrip("=")

    def has_signed(self, message: bytes, signature: bytes) -> bool:
        """Whether `signature`, in the wire format of SSH, is this key's of `message`."""
        try:
            fields = Fields(signature)
            if fields.string() != self.kind.encode():
                return False
            key, value = _public(self.kind, self.point), fields.string()
            if isinstance(key, EllipticCurvePublicKey):
                numbers = Fields(value)
                r, s = (int.from_bytes(numbers.string(), "big", signed=True) for _ in range(2))
                numbers.end()
                fields.end()
                key.verify(encode_dss_signature(r, s), message, ECDSA(SHA256()))
                return True
            if self.kind == TOKEN:
                flags = fields.take(5)  # and the counter
                if not flags[0] & _TOUCHED:
                    return False
                message = hashlib.sha256(self._application).digest() + flags + hashlib.sha256(message).digest()
            fields.end()
            key.verify(value, message)
        except (InvalidSignature, ValueError, struct.error):
            return False
        return True

    @cached_property
    def point(self) -> bytes:
        """The public point in the one spelling that counts: what two keys with one private part have in common.

        Raises ValueError for another spelling, and for a point by which anybody could sign.
        """
        fields = Fields(self.blob)
        if fields.string() != self.kind.encode():
            raise ValueError("another kind")
        if self.kind == ECDSA_P256 and fields.string() != b"nistp256":
            raise ValueError("another curve")
        point = fields.string()
        if self.kind == TOKEN:
            fields.string()
        fields.end()
        if self.kind == ECDSA_P256 and point[:1] != b"\x04":
            raise ValueError("written short")
        _public(self.kind, point)
        if self.kind != ECDSA_P256 and _is_anybody_s(point):
            raise ValueError("of small order")
        return point

    @property
    def _application(self) -> bytes:
        *_, application = Fields(self.blob).strings()
        return application


def _public(kind: str, point: bytes) -> Ed25519PublicKey | EllipticCurvePublicKey:
    if kind == ECDSA_P256:
        return EllipticCurvePublicKey.from_encoded_point(SECP256R1(), point)
    return Ed25519PublicKey.from_public_bytes(point)


def _is_anybody_s(point: bytes) -> bool:
    """Whether a point of Ed25519 is of small order, so that a signature of any message is made without a private key,
    or is written in another than the one way (RFC 8032, 5.1.3). By doubling it three times; x enters by its square."""
    prime = 2**255 - 19
    d = -121665 * pow(121666, -1, prime)
    y = int.from_bytes(point, "little") % 2**255
    if y >= prime:
        return True
    square = (y * y - 1) * pow(d * y * y + 1, -1, prime) % prime
    for _ in range(3):
        t = d * square * y * y
        doubled = (y * y + square) * pow(1 - t, -1, prime) % prime
        square = 4 * square * y * y * pow(1 + t, -2, prime) % prime
        y = doubled
    return (square, y) == (0, 1)


class Fields:
    """Reads the wire format of SSH (RFC 4251, 5). Raises ValueError where there is too little, or too much."""

    def __init__(self, content: bytes) -> None:
        self._rest = content

    def take(self, number: int) -> bytes:
        if len(self._rest) < number:
            raise ValueError("cut off")
        taken, self._rest = self._rest[:number], self._rest[number:]
        return taken

    def number(self) -> int:
        return int.from_bytes(self.take(4), "big")

    def string(self) -> bytes:
        return self.take(self.number())

    def strings(self) -> Iterator[bytes]:
        while self._rest:
            yield self.string()

    def end(self) -> None:
        if self._rest:
            raise ValueError("goes on")


def packed(content: bytes) -> bytes:
    """A string in the wire format of SSH."""
    return struct.pack(">I", len(content)) + content
