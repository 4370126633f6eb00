"""Signatures as `ssh-keygen -Y sign` makes and `ssh-keygen -Y verify` checks them (OpenSSH, PROTOCOL.sshsig).

Everything is signed for one namespace, `sluice`: what somebody signed for git or mail is nothing here, nor the reverse.

A key may lie in a smart card or hardware security module, which signs by PKCS#11 and never lets it out:
`hsm:ID?label=TOKEN`. The URI is that of securesystemslib's HSMSigner (secure-systems-lab/securesystemslib,
docs/signer.rst), and so is what finds token and key. The key must be of ECDSA on P-256, which becomes a signature of
SSH like any other. `PYKCS11LIB` names the token's PKCS#11 library.
"""

import base64
import binascii
import getpass
import hashlib
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePublicKey
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import load_pem_public_key, load_ssh_private_key

from sluice.custody.signing.public_key import KINDS, Fields, PublicKey, packed
from sluice.ground.errors import SluiceError
from sluice.settings import settings

if TYPE_CHECKING:
    from securesystemslib.signer import HSMSigner

SCHEME = "hsm:"

NAMESPACE = "sluice"

_MAGIC = b"SSHSIG"
_BEGIN, _END = "-----BEGIN SSH SIGNATURE-----", "-----END SSH SIGNATURE-----"
_HASHES = {"sha256": hashlib.sha256, "sha512": hashlib.sha512}
_WIDTH = 70  # of a line, as OpenSSH breaks them


def verified_key(message: bytes, signature: str) -> PublicKey | None:
    """The key that signed `message`, which says nothing of whose it is; None where it is no signature of it.

    signature : armoured, as `ssh-keygen -Y sign` writes it
    """
    try:
        lines = signature.strip().splitlines()
        if (lines[0], lines[-1]) != (_BEGIN, _END):
            return None
        fields = Fields(base64.b64decode("".join(lines[1:-1]), validate=True))
        if fields.take(len(_MAGIC)) != _MAGIC or fields.number() != 1:
            return None
        blob, namespace, reserved, algorithm, value = (fields.string() for _ in range(5))
        fields.end()
        kind = Fields(blob).string().decode("ascii")
        if namespace != NAMESPACE.encode() or reserved or kind not in KINDS:
            return None
        key = PublicKey.parse(f"{kind} {base64.b64encode(blob).decode()}")
        signed = _signed(message, algorithm.decode("ascii"))
    except (SluiceError, ValueError, KeyError, IndexError, binascii.Error):
        return None
    return key if key.has_signed(signed, value) else None


def signed_by_key(message: bytes, key: Ed25519PrivateKey) -> str:
    """The armoured signature of `message` by a key that is at hand."""
    return signed_by(message, PublicKey.of(key.public_key()), key.sign)


def signed_by(message: bytes, key: PublicKey, sign: Callable[[bytes], bytes]) -> str:
    """The armoured signature of `message` by the private part of a key, wherever it is.

    sign : gives the signature of what it is given, as SSH writes it: 64 bytes of Ed25519, r and s of ECDSA
    """
    value = packed(key.kind.encode()) + packed(sign(_signed(message, "sha512")))
    parts = (key.blob, NAMESPACE.encode(), b"", b"sha512", value)
    text = base64.b64encode(_MAGIC + (1).to_bytes(4, "big") + b"".join(map(packed, parts))).decode()
    rows = [text[start : start + _WIDTH] for start in range(0, len(text), _WIDTH)]
    return "\n".join([_BEGIN, *rows, _END, ""])


def signed_by_file(message: bytes, key: Path) -> str:
    """The armoured signature of `message` by the key in a file, or by the agent that holds its private part.

    key    : an OpenSSH private key, or a .pub file whose private part an SSH agent, a token or a smart card holds
    raises : SluiceError when the file cannot be read, or the key cannot sign

    A plain Ed25519 key signs in this process; for every other, `ssh-keygen` asks for its passphrase, agent or a touch.
    """
    try:
        plain = load_ssh_private_key(key.read_bytes(), password=None)
    except OSError as error:
        raise SluiceError(f"{key}: the key cannot be read ({error.strerror})") from None
    except (ValueError, TypeError, UnsupportedAlgorithm):  # a public key, one with a passphrase, or one in a token
        plain = None
    if isinstance(plain, Ed25519PrivateKey):
        return signed_by_key(message, plain)
    try:
        run = subprocess.run(
            ["ssh-keygen", "-Y", "sign", "-f", str(key), "-n", NAMESPACE], input=message, capture_output=True
        )
    except FileNotFoundError:
        raise SluiceError(
            f"{key}: only `ssh-keygen` can sign by this key (it has a passphrase, or lies in an agent or a token), "
            "and it is not installed (package openssh-client)"
        ) from None
    if run.returncode:
        raise SluiceError(f"{key}: ssh-keygen cannot sign by it: {run.stderr.decode(errors='replace').strip()}")
    return run.stdout.decode("ascii")


def _signed(message: bytes, algorithm: str) -> bytes:
    """What the key itself signs."""
    digest = _HASHES[algorithm](message).digest()
    return _MAGIC + b"".join(packed(part) for part in (NAMESPACE.encode(), b"", algorithm.encode(), digest))


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
