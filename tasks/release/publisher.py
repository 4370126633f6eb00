"""The publisher's key: which one the installation signs by, which ones it signed by, and how it gets another.

The first follows from the vault's secret. Another takes its place when two people of the office adopt it, one of them
the head: what was published before is verified by the old key, up to that adoption, and what comes by the new one.
"""

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from policies.adoption import PUBLISHER_KEY, Adoption, Office, adoption_of_publisher
from policies.key_history import publisher_history
from sluice.custody.ledger import Entry
from sluice.custody.signing.allowed_signers import AllowedSigner
from sluice.custody.signing.public_key import PublicKey
from sluice.custody.workspace import Workspace
from sluice.ground.errors import SluiceError
from tasks.release.acting import Means, Request, refuse_unseen
from tasks.release.office import open_office, record


def rotate(workspace: Workspace, means: Means, comment: str) -> tuple[Office, Adoption] | Request:
    """Record that one person adopts the next key of the publisher, which is drawn in the vault for the first of them.

    returns: the office after it, and what was adopted or proposed; or only what is to be signed, if that is asked
    raises : SluiceError when the act would not count
    """
    refuse_unseen("comment", comment)
    office = open_office(workspace)
    if office is None:
        raise SluiceError("this office has no people yet. Set it up with: sluice office")
    number = office.next_publisher
    key = PublicKey.of(workspace.vault.signing_key(number, draw=True).public_key())
    adoption, brought = adoption_of_publisher(key, number), {"publisher": key.line}
    now = record(workspace, office, office.roster, [adoption], brought, [], means, comment)
    return now if isinstance(now, Request) else (now, adoption)


def publisher_key(workspace: Workspace, begun: Entry) -> Ed25519PrivateKey:
    """The key that counted when a publication was begun, so that one that was interrupted ends with the same bytes."""
    office = open_office(workspace, begun.seq)
    held = office.in_force.get((PUBLISHER_KEY, PUBLISHER_KEY)) if office else None
    number = int(held.adoption.version) if held else 1
    key = workspace.vault.signing_key(number)
    if held and held.adoption != adoption_of_publisher(PublicKey.of(key.public_key()), number):
        raise SluiceError(
            f"the vault's publisher key number {number} is not the one that was adopted. Restore the backup."
        )
    return key


def publisher_keys(workspace: Workspace, office: Office) -> list[AllowedSigner]:
    """All that it ever signed by, each with its times."""
    return publisher_history(PublicKey.of(workspace.vault.signing_key().public_key()), office.publishers)
