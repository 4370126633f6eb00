"""Signatures as `ssh-keygen -Y sign` makes and `ssh-keygen -Y verify` checks them (OpenSSH, PROTOCOL.sshsig).

Everything is signed for one namespace, `sluice`: what somebody signed for git or mail is nothing here, nor the reverse.
"""

import base64
import binascii
import hashlib
import subprocess
from collections.abc import Callable
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_ssh_private_key

from sluice.custody.signing.public_key import KINDS, Fields, PublicKey, packed
from sluice.ground.errors import SluiceError

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
