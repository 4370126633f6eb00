"""A house whose ledger says that a release was judged, or published: for tests of what reads the ledger alone.

No record was masked for it, which would take most of the time.
"""

from policies.policy import load_policy
from sluice.custody.states import State
from sluice.documents.document_reading import document_bytes
from sluice.ground.verdict import Finding, Verdict
from tasks.release.decisions.decisions_of_people import decide
from tasks.release.decisions.open_findings import open_codes
from tasks.release.decisions.signing_in import Credentials
from tasks.release.products import load_definition
from tasks.release.stored_dossier import keep_reported
from tests.flows.house import House
from tests.report.pages import dossier

RELEASE = "people-puf-0123456789ab"
_SHA256 = "0" * 64


class LedgerHouse(House):
    """`pending` and `published` bring its one release there."""

    def pending(self) -> None:
        self.write()
        self.adopt()
        workspace = self.workspace()
        documents = {"policy": load_policy(self.documents / "policy.yaml"), "plan": load_definition(self.file)}
        kept = {name: workspace.vault.keep_bytes(document_bytes(each), ".json") for name, each in documents.items()}
        judged = {"verdict": "PASS", "says": "Meets the policy: 7331 records."}
        names = ("data", "contract", "policy", "plan", "report", "dossier")
        for event, body in {
            State.RECEIVED: {"definition": "people-puf", **kept},
            State.VALIDATED: {},
            State.MASKED: {},
            State.EVALUATED: judged | {"subject": dict.fromkeys(names, _SHA256)},
            State.PENDING_REVIEW: judged,
        }.items():
            workspace.ledger.append(RELEASE, event, "sluice", body)

    def needs_decision(self, *findings: Finding) -> None:
        """Judged, and its worst finding is one that needs a decision. Again after it was: judged anew."""
        self.write()
        self.adopt()
        workspace = self.workspace()
        documents = {"policy": load_policy(self.documents / "policy.yaml"), "plan": load_definition(self.file)}
        kept = {name: workspace.vault.keep_bytes(document_bytes(each), ".json") for name, each in documents.items()}
        hashes = dict.fromkeys(("data", "contract", "policy", "plan"), _SHA256)
        judged = dossier(*findings, release=RELEASE, hashes=hashes, verdict=Verdict.REVIEW, decides=("methodologist",))
        reported = keep_reported(workspace, judged).kept
        body = {"verdict": "REVIEW", "says": "Needs a decision.", **reported}
        for event, more in {
            State.RECEIVED: {"definition": "people-puf", **kept},
            State.VALIDATED: {},
            State.MASKED: {},
            State.EVALUATED: body | {"subject": hashes | reported, "open": open_codes([*findings])},
            State.NEEDS_DECISION: body,
        }.items():
            workspace.ledger.append(RELEASE, event, "sluice", more)

    def decide(self, who: str, decision: str = "approve") -> None:
        decide(self.workspace(), RELEASE, decision, Credentials(declared=who), "a word on it")  # type: ignore[arg-type]

    def publish(self) -> None:
        """As a run records it once all have approved."""
        ledger, folder = self.workspace().ledger, str(self.target / RELEASE)
        ledger.append(RELEASE, State.APPROVED, "sluice", {})
        ledger.append(RELEASE, State.PUBLISHING, "sluice", {"folder": folder})
        ledger.append(RELEASE, State.PUBLISHED, "sluice", {"folder": folder, "definition": "people-puf"})

    def published(self) -> None:
        self.pending()
        for who in ("amara", "jonas"):
            self.decide(who)
        self.publish()
