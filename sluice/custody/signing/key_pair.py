"""Key pairs for those who have none: Ed25519, in the format of OpenSSH, so that git and `ssh-keygen` read them, too."""

import shutil
import subprocess
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from sluice.custody.signing.public_key import PublicKey
from sluice.ground.durable import make_folder, write_new
from sluice.ground.errors import SluiceError


def make_key_pair(file: Path, comment: str, passphrase: bool = False) -> PublicKey:
    """Make a key pair: the private key in `file`, for its owner alone, the public key in `file`.pub.

    comment    : of the public key, for people; counts for nothing
    passphrase : let `ssh-keygen` make it, which asks for one on the terminal; else the private key has none
    raises     : SluiceError where either file exists, or there is no `ssh-keygen` to ask for a passphrase
    """
    public_file = file.with_name(f"{file.name}.pub")
    for each in (file, public_file):
        if each.exists() or each.is_symlink():
            raise SluiceError(f"{each} exists; a key is never overwritten. Name another file.")
    make_folder(file.parent, 0o700)
    if passphrase:
        _let_ssh_keygen(file, comment)
        return PublicKey.parse(public_file.read_text(encoding="utf-8"))
    private = Ed25519PrivateKey.generate()
    public = PublicKey.of(private.public_key())
    try:
        write_new(file, private.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()), 0o600)
        write_new(public_file, f"{public.line} {comment}\n".encode(), 0o644)
    except FileExistsError as error:  # it came in between
        raise SluiceError(f"{error.filename} exists; a key is never overwritten. Name another file.") from None
    return public


def _let_ssh_keygen(file: Path, comment: str) -> None:
    program = shutil.which("ssh-keygen")
    if program is None:
        raise SluiceError(
            "only `ssh-keygen` asks for a passphrase, and it is not installed (package openssh-client). Without "
            "--passphrase the key is protected by the file's permissions alone"
        )
    if subprocess.run([program, "-q", "-t", "ed25519", "-C", comment, "-f", str(file)]).returncode:
        raise SluiceError(f"{file}: ssh-keygen made no key")
