"""Keys in smart cards and hardware security modules, which sign by PKCS#11 and never leave them: `hsm:ID?label=TOKEN`.

The URI is that of securesystemslib's HSMSigner (secure-systems-lab/securesystemslib, docs/signer.rst), and so is what
finds token and key. The key must be of ECDSA on P-256, which becomes a signature of SSH like any other. `PYKCS11LIB`
names the token's PKCS#11 library.
"""

import getpass
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import load_pem_public_key

from sluice.custody.signing.public_key import PublicKey, packed
from sluice.custody.signing.ssh_signature import signed_by
from sluice.ground.errors import SluiceError
from sluice.settings import settings

if TYPE_CHECKING:
    from securesystemslib.signer import HSMSigner

SCHEME = "hsm:"


def token_key(uri: str) -> PublicKey:
    """The public part of a key in a token. Raises SluiceError where there is none, or it is of another kind."""
    return _open(uri)[1]


def signed_by_token(message: bytes, uri: str) -> str:
    """The armoured signature of `message` by a key in a token. Raises SluiceError when it cannot sign.

    The PIN is asked for on the terminal, once: a card that was given three wrong ones is locked.
    """
    signer, key = _open(uri)

    def sign(content: bytes) -> bytes:
        with _refusals(uri):
            signature = signer.sign(content).signature
        return b"".join(packed(_mpint(each)) for each in decode_dss_signature(bytes.fromhex(signature)))

    return signed_by(message, key, sign)


def _open(uri: str) -> "tuple[HSMSigner, PublicKey]":
    try:
        import pkcs11  # noqa: F401 - without it HSMSigner fails only when it is used
        from securesystemslib.signer import HSMSigner
    except ImportError:
        raise SluiceError(
            f"{uri}: a key in a token needs the extra 'hsm', which is not installed: pip install 'sluice-sdc[hsm]'"
        ) from None
    number, label = _parts(uri)
    pin = _pin(label)
    with _refusals(uri):
        _, found = HSMSigner.import_(number, label, pin)
        public = load_pem_public_key(found.keyval["public"].encode())
        assert isinstance(public, EllipticCurvePublicKey)
        return HSMSigner(number, found, pin, label), PublicKey.of(public)


def _parts(uri: str) -> tuple[int, str | None]:
    """The number of the key on the token, and the token's label."""
    parts = urlsplit(uri)
    asked = dict(parse_qsl(parts.query))
    if not parts.path.isdecimal() or asked.keys() - {"label"}:
        raise SluiceError(
            f"a key in a token is hsm:ID, or hsm:ID?label=TOKEN, such as hsm:2 for the signature slot of a PIV card; "
            f"got {uri}"
        )
    return int(parts.path), asked.get("label")


def _pin(label: str | None) -> Callable[[str], str]:
    given = settings().hsm_pin

    @cache  # asked once, although it may be needed to find the key and to sign by it
    def pin(_: str) -> str:
        return given.get_secret_value() if given else getpass.getpass(f"PIN of {label or 'the token'}: ")

    return pin


@contextmanager
def _refusals(uri: str) -> Iterator[None]:
    """What a token and its library refuse, in words; their exceptions often have none."""
    try:
        yield
    except SluiceError:
        raise
    except Exception as error:
        raise SluiceError(f"{uri}: the token cannot be used: {str(error) or type(error).__name__}") from None


def _mpint(number: int) -> bytes:
    """A positive number as SSH writes it (RFC 4251, 5)."""
    return number.to_bytes(number.bit_length() // 8 + 1, "big")
