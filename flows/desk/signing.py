"""What somebody signs on their own machine: as a file for `ssh-keygen`, and the signature that comes back.

No private key comes to the desk. What is signed names the decision, the words and the SHA-256 of all that was read.
"""

import base64
import binascii
import re
from dataclasses import dataclass

from sluice.custody.signing.envelope import Envelope, Statement, parse_statement, pre_authentication
from sluice.custody.signing.ssh_signature import NAMESPACE
from sluice.ground.errors import SluiceError

LONGEST_STATEMENT = 64 * 1024  # bytes


@dataclass(frozen=True)
class ToSign:
    """A statement, as a page holds it between two requests."""

    payload: bytes

    @classmethod
    def held(cls, text: str) -> "ToSign":
        """The one that a form held. Raises SluiceError for what is none; what it says is held against what is
        recorded when that is done (`tasks.release.acting`)."""
        try:
            payload = base64.b64decode(text.encode("ascii"), validate=True)
        except (binascii.Error, UnicodeEncodeError):
            payload = b""
        if not 0 < len(payload) <= LONGEST_STATEMENT:
            raise SluiceError("the form does not hold what was to be signed; begin again from the page of the release")
        return cls(payload)

    @property
    def statement(self) -> Statement:
        """What it says. Raises SluiceError where it is none."""
        return parse_statement(self.payload)

    @property
    def text(self) -> str:
        return base64.b64encode(self.payload).decode("ascii")

    @property
    def file(self) -> bytes:
        """The bytes under the signature: type and content of the statement, as DSSE has them."""
        return pre_authentication(self.payload)

    def envelope(self, signature: str) -> str:
        """The statement with its signature, as JSON.

        signature : as `ssh-keygen -Y sign` writes it, or the envelope that `sluice sign` prints
        raises    : SluiceError where it is neither, or no signature of this statement
        """
        given = signature.strip()
        if given.startswith("{"):
            return given
        if "-----BEGIN SSH SIGNATURE-----" not in given:
            raise SluiceError(
                "this is no signature: it begins with -----BEGIN SSH SIGNATURE----- and is what the command wrote "
                "into the file whose name ends in .sig. A private key must never be pasted here"
            )
        try:
            return Envelope.sign(self.payload, lambda _: f"{given}\n").model_dump_json(by_alias=True)
        except SluiceError:
            raise SluiceError(
                "this is no signature of what the page shows. Download the file anew, sign that, and leave nothing out"
            ) from None


def file_name(act: str, release: str) -> str:
    """What the file is called: a name that a shell takes as it is."""
    return re.sub(r"[^a-z0-9.-]+", "-", f"{act}-{release}.txt".lower()).strip("-")


def command(file: str) -> str:
    return f"ssh-keygen -Y sign -n {NAMESPACE} -f ~/.ssh/id_sluice {file}"
