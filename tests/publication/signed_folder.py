"""A published folder as its publisher and two people signed it, and the keys by which that is verified."""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sluice.custody import shelf
from sluice.custody.signing.allowed_signers import PUBLISHER, AllowedSigner
from sluice.custody.signing.envelope import Envelope, Statement
from sluice.custody.signing.public_key import PublicKey
from sluice.custody.signing.ssh_signature import signed_by_key
from sluice.custody.states import DECISION_PREDICATE
from sluice.publication.attestation import ATTESTATION, PREDICATE, decision_files, digest_of, envelope_bytes

RELEASE = "fair-0123456789ab"
AT = "2026-11-21T05:00:00.000000+00:00"
PUBLISHING, AMARA, JONAS, STRANGER = (Ed25519PrivateKey.from_private_bytes(bytes([each]) * 32) for each in range(1, 5))
SIGNERS = [
    AllowedSigner((name,), PublicKey.of(key.public_key()))
    for name, key in ((PUBLISHER, PUBLISHING), ("Amara-Diallo", AMARA), ("jonas", JONAS))
]
Change = Callable[[dict[str, Any]], object]


def nothing(_: dict[str, Any]) -> None:
    pass


def signed(files: Mapping[str, str], kind: str, predicate: Mapping[str, Any], key: Ed25519PrivateKey) -> Envelope:
    return Envelope.sign(Statement.about(files, kind, predicate).payload(), partial(signed_by_key, key=key))


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@dataclass(frozen=True)
class Publication:
    """What is published; whoever has the publisher's key can change each part and sign the whole anew."""

    release: str = RELEASE
    content: bytes = b"age,income\n30,2\n"
    decided_on: bytes | None = None  # the content that people signed, if another
    deciders: tuple[tuple[Ed25519PrivateKey, Change], ...] = ((AMARA, nothing), (JONAS, nothing))
    publisher: Ed25519PrivateKey = PUBLISHING
    waived: tuple[str, ...] = ()  # rules
    manifest: Change = nothing
    summary: Change = nothing
    attested: Change = nothing  # the files that the publisher signs

    @property
    def data(self) -> dict[str, bytes]:
        return {"fair.csv": self.content, "fair.parquet": b"PAR1"}

    @property
    def reviewed(self) -> dict[str, str | None]:
        others = {name: sha256(name.encode()) for name in ("contract", "policy", "plan", "report", "dossier")}
        return {"data": sha256(self.data["fair.parquet"]), "csv": sha256(self.content), **others}

    def decision(self, key: Ed25519PrivateKey, change: Change) -> Envelope:
        before = self if self.decided_on is None else replace(self, content=self.decided_on)
        predicate = {
            "office": "house", "release": self.release, "decision": "approve", "subject": digest_of(before.reviewed),
            "comment": "", "at": "2026-11-20T09:00:00+00:00",
        }  # fmt: skip
        change(predicate)
        return signed(
            {file: sha256(content) for file, content in before.data.items()}, DECISION_PREDICATE, predicate, key
        )

    def put(self, target: Path) -> Path:
        """The folder, on a shelf."""
        approvals = [
            {"who": who, "role": role, "at": "2026-11-20T09:00:01+00:00", "identity": "account"}
            for who, role in (("Amara Diallo", "methodologist"), ("jonas", "data_steward"))
        ]
        manifest = {
            "manifest": 1, "release": self.release, "verdict": "PASS", "dataset": "fair", "contract_version": "3",
            "policy": {"name": "public use", "version": "2"}, "approvals": approvals, "hashes": self.reviewed,
            "findings": {"waived": [{"rule": rule} for rule in self.waived]},
            "files": [{"path": file, "sha256": sha256(content), "bytes": len(content), "rows": 1}
                      for file, content in self.data.items()],
            "ledger": {"seq": 12, "hash": "f" * 64, "size": 12, "root": "e" * 64},
        }  # fmt: skip
        self.manifest(manifest)
        files = {**self.data, "datapackage.json": b"{}", "manifest.json": json.dumps(manifest, indent=2).encode()}
        files |= decision_files([self.decision(key, change) for key, change in self.deciders])
        summary = {
            "release": self.release, "at": AT, "verdict": "PASS", "digest": digest_of(self.reviewed),
            "reviewed": self.reviewed, "decided_by": manifest["approvals"], "waived": list(self.waived),
            "policy": {"name": "public use", "version": "2", "sha256": self.reviewed["policy"]},
            "contract": {"name": "fair", "version": "3", "sha256": self.reviewed["contract"]},
        }  # fmt: skip
        self.summary(summary)
        hashes: dict[str, Any] = {file: sha256(content) for file, content in files.items()}
        self.attested(hashes)
        envelope = signed(hashes, PREDICATE, summary, self.publisher)
        return shelf.publish(target, self.release, {**files, ATTESTATION: envelope_bytes(envelope)})


def write_checksums(folder: Path) -> None:
    """Make the checksums fit, as anybody can."""
    files = {path.name: sha256(path.read_bytes()) for path in folder.iterdir() if path.name != shelf.CHECKSUMS}
    (folder / shelf.CHECKSUMS).write_bytes(shelf.checksums(files))
