"""What the documents alone show before a run: why a release must end blocked, or wait for people who are not there."""

from policies.adoption import Office
from policies.standing import assign
from tasks.release.decisions.adopted_documents import adoption_faults
from tasks.release.decisions.office import open_office
from tasks.release.product import AnyProduct


def document_warnings(product: AnyProduct) -> list[str]:
    """A sentence for each; none when only the data can tell."""
    office = open_office(product.workspace)
    if office is None:  # somebody tries it out
        return product.warnings()
    unadopted = [
        f"this release can be checked, and not be published: {fault}."
        for fault in adoption_faults(product, (product.definition.owner,))
    ]
    return [*product.warnings(), *unadopted, *_missing_approvers(product, office)]


def _missing_approvers(product: AnyProduct, office: Office) -> list[str]:
    approvals, owner = product.policy.approvals, office.roster.person(product.definition.owner)
    others = {name: person.roles for name, person in office.roster.people.items() if name != owner}
    filled = assign(approvals.roles, others)
    empty = [role for place, role in enumerate(approvals.roles) if place not in filled]
    who = f"of the people of this office, without the owner '{product.definition.owner}',"
    if empty:
        return [f"{who} nobody is left for the role {' and '.join(empty)}: this release could never be approved."]
    if len(others) < approvals.count:
        return [f"{who} {len(others)} may approve, and {approvals.count} must: this release could never be approved."]
    return []
