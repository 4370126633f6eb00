"""Whether the documents of a release count in this office, and for this release."""

import re
from collections.abc import Sequence
from datetime import UTC, datetime

from policies.adoption import Office
from policies.decision_table import OFFICE_DECISIONS
from policies.people import stronger
from policies.policy import shipped_policies
from sluice.custody.ledger_entry import Entry
from sluice.ground.errors import SluiceError
from tasks.release.decisions.office import open_office
from tasks.release.release_definition import Definition
from tasks.release.release_documents import Documents


def refuse_unadopted(product: Documents[Definition], submitters: Sequence[str], begun: Entry | None = None) -> None:
    """Raise SluiceError unless contract, policy and waivers count, saying who can make them count, and how.

    submitters : the definition's owner first, and the accounts that run it
    begun      : a publication at whose time they must have counted; None: now
    """
    faults = adoption_faults(product, submitters, begun)
    if not faults:
        return
    office = open_office(product.workspace, begun.seq if begun else None)
    if office is None:
        raise SluiceError(
            "this office has no people yet, so nothing can be released. Set it up with: sluice office. "
            f"To judge without releasing: sluice check {product.path}"
        )
    paths = {
        "contract": product.definition.contract,
        "policy": shipped_policies().get(str(product.written.policy), product.definition.policy),
    }
    uncounted = _uncounted(product, office, submitters, begun) or {"policy": ""}  # whose waivers are at fault
    files = " ".join(str(path) for kind, path in paths.items() if kind in uncounted and path.exists())
    people = OFFICE_DECISIONS["policy"].people
    raise SluiceError(
        f"{product.path}: {'; '.join(faults)}. Releases are judged by adopted documents only: {people} "
        f"people run `sluice adopt {files}`, a methodologist among them for a policy, an owner for a contract. "
        f"To judge without releasing: sluice check {product.path}"
    )


def notices(product: Documents[Definition]) -> tuple[str, ...]:
    """What the report says before anything else: who is merely believed."""
    office = open_office(product.workspace)
    if office is None:
        return ()
    return _BELIEVED.get(stronger(office.roster.identity, product.policy.approvals.identity), ())


_RELEASE = re.compile("-[0-9a-f]{12}$")  # the id of another one, as findings on two publications name it

_BELIEVED = {
    "declared": ("Who approves is believed: approvers type their name, and whoever can run the command can type it.",),
    "account": ("Approvers are known by their account on this machine; nobody outside can verify what they decided.",),
}


def adoption_faults(product: Documents[Definition], submitters: Sequence[str], begun: Entry | None = None) -> list[str]:
    """Why the documents do not count, a sentence each; empty when they do. Parameters as of `refuse_unadopted`."""
    office = open_office(product.workspace, begun.seq if begun else None)
    if office is None:
        return ["no office was founded, so no document was adopted"]
    return [*_uncounted(product, office, submitters, begun).values()] or _faults_of_waivers(product, office, submitters)


def _uncounted(
    product: Documents[Definition], office: Office, submitters: Sequence[str], begun: Entry | None
) -> dict[str, str]:
    """Which of contract and policy does not count, and why."""
    contract, policy = product.contract, product.policy
    of_release = (contract.dataset, submitters, datetime.fromisoformat(begun.at) if begun else datetime.now(UTC))
    found = {
        "contract": office.fault("contract", contract.dataset, product.hashes["contract"], *of_release),
        "policy": office.fault("policy", policy.name, product.hashes["policy"], *of_release),
    }
    return {kind: fault for kind, fault in found.items() if fault}


def _faults_of_waivers(product: Documents[Definition], office: Office, submitters: Sequence[str]) -> list[str]:
    """A waiver is signed by who answers for it: one of those who adopted the policy that holds it; no submitter."""
    adopters = {act.who for act in office.in_force["policy", product.policy.name].acts}
    own = {*map(office.roster.person, submitters)}
    name, found = product.definition.name, []
    for waiver in product.policy.waivers:
        person = office.roster.person(waiver.owner)
        if waiver.scope == name and (name in product.contract.by_name or _RELEASE.search(name)):
            found.append(
                f"the waiver of {waiver.rule} is for '{name}', and the release bears that name, so it would be waived "
                "whole; name it otherwise"
            )
        if person not in adopters:
            found.append(
                f"the waiver of {waiver.rule} names '{waiver.owner}', who is none of those who adopted the policy: "
                f"{', '.join(sorted(adopters))}"
            )
        elif person in own:
            found.append(f"the waiver of {waiver.rule} is granted by '{person}', who submits this release")
    return found
