"""Report: the dossier of all that was found, and the page that people judge by, made of it and kept in the vault."""

from collections.abc import Sequence
from datetime import UTC, datetime

from policies.acts import digest_of_words
from policies.policy import Policy
from sluice.custody.ledger_entry import last
from sluice.custody.states import State
from sluice.ground.extensions import extensions_of
from sluice.ground.remarks import Remark
from sluice.ground.verdict import Finding, decide
from sluice.report.dossier import Asked, Dossier
from sluice.software_version import versions
from tasks.checks import with_advice
from tasks.release.decisions.adopted_documents import adoption_faults, notices
from tasks.release.decisions.series_approval import place_in_series
from tasks.release.documented_release import Release
from tasks.release.editions.current_edition import edition_notices
from tasks.release.editions.earlier_releases import earlier_attempts, judged_bytes, same_bytes, search_trials
from tasks.release.editions.resubmission import returned
from tasks.release.product import E, M, Product
from tasks.release.release_definition import Definition
from tasks.release.stored_dossier import Reported, keep_reported, kept_suggestions
from tasks.step import step


@step
def report(
    release: Release[Product[Definition, M, E]],
    findings: Sequence[Finding],
    made: M | None = None,
    evaluation: E | None = None,
) -> Reported:
    """Without anything made of the data (they broke their contract) the findings are all there is to report."""
    dossier = _dossier(release, [*findings, *(evaluation.findings if evaluation else ())], made, evaluation)
    return keep_reported(release.product.workspace, dossier)


def _dossier(
    release: Release[Product[Definition, M, E]], findings: Sequence[Finding], made: M | None, evaluation: E | None
) -> Dossier:
    product, now = release.product, datetime.now(UTC)
    received = last(release.entries(), State.RECEIVED)
    definition, policy = product.definition, product.policy
    # One salt for all editions: outsiders see that it is one plan.
    salt = release.vault.pseudonym("dossier", product.hashes["plan"])
    plan = digest_of_words(product.hashes["plan"], salt)
    waived = product.waived(findings, now.date())
    dossier = Dossier(
        release=release.id,
        name=definition.name,
        title=definition.title,
        dataset=product.contract.dataset,
        contract_version=product.contract.version,
        policy=policy.name,
        policy_version=policy.version,
        submitter=definition.owner,
        evaluated_at=now.isoformat(timespec="seconds"),
        verdict=decide(waived),
        findings=tuple(with_advice(waived)),
        plan=product.plan_in_words(),
        notices=(*notices(product), *edition_notices(release)),
        unadopted=tuple(adoption_faults(product, (definition.owner,))),
        same_bytes=same_bytes(release, made.hashes) if made else (),
        judged_bytes=judged_bytes(release, made.hashes) if made else (),
        asked=Asked(count=policy.approvals.count, roles=policy.approvals.roles, valid_days=policy.approvals.valid_days),
        returned=returned(release),
        decides=policy.approvals.decides,
        approvals_needed=policy.approvals.describe(),
        reading=tuple(map(Remark.model_validate, received.body.get("reading", ()) if received else ())),
        records_original=release.original.rows,
        earlier_attempts=earlier_attempts(release),
        search_trials=search_trials(release),
        suggestions=kept_suggestions(product),
        minimum_cell=policy.minimum_cell,
        hashes={**product.hashes, "plan": plan, **(made.hashes if made else {})},
        salt=salt,
        versions=versions() | _extensions(product.policy, getattr(definition, "plan", ())),
        view=product.view(release, made, evaluation),
    )
    return dossier.model_copy(update={"series": place_in_series(release, dossier)})


def _extensions(policy: Policy, plan: Sequence[object]) -> dict[str, str]:
    """Distributions of others whose methods or checks took part, each with version and SHA-256 of its RECORD."""
    took_part = extensions_of(map(type, (*policy.rules, *policy.attacks, *plan)))
    return {each.name: f"{each.version}, RECORD {each.sha256}" for each in took_part}
