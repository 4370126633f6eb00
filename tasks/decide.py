"""Decide: all findings to one verdict, and the dossier by which people judge the release."""

from collections.abc import Sequence
from datetime import UTC, datetime

from policies.acts import digest_of_words
from policies.advice import with_advice
from policies.waivers import apply_waivers
from sluice.ground.verdict import Finding
from sluice.ground.verdict import decide as verdict_of
from sluice.report.dossier import Dossier
from tasks.release.adopted import notices
from tasks.release.current_edition import edition_notices
from tasks.release.definition import Definition
from tasks.release.earlier_releases import earlier_attempts, search_trials
from tasks.release.kept_suggestions import kept_suggestions
from tasks.release.product import E, M, Product
from tasks.release.release import Release
from tasks.release.rounds import returned
from tasks.release.series import place_in_series
from tasks.release.versions import versions
from tasks.step import step


@step
def decide(
    release: Release[Product[Definition, M, E]],
    findings: Sequence[Finding],
    made: M | None = None,
    evaluation: E | None = None,
) -> Dossier:
    """The dossier. Without anything made of the data (they broke their contract) its findings are all there is."""
    product, now = release.product, datetime.now(UTC)
    definition, policy = product.definition, product.policy
    salt = release.vault.pseudonym(
        "dossier", product.hashes["plan"]
    )  # one for all editions: outsiders see it is one plan
    plan = digest_of_words(product.hashes["plan"], salt)
    found = [*findings, *(evaluation.findings if evaluation else ())]
    waived = apply_waivers(found, policy.waivers, definition.name, now.date(), definition.owner)
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
        verdict=verdict_of(waived),
        findings=tuple(with_advice(waived)),
        plan=product.plan_in_words(),
        notices=(*notices(product), *edition_notices(release)),
        returned=returned(release),
        approvals_needed=policy.approvals.describe(),
        records_original=release.original.rows,
        earlier_attempts=earlier_attempts(release),
        search_trials=search_trials(release),
        suggestions=kept_suggestions(product),
        minimum_cell=policy.minimum_cell,
        hashes={**product.hashes, "plan": plan, **(made.hashes if made else {})},
        salt=salt,
        versions=versions(),
        view=product.view(release, made, evaluation),
    )
    return dossier.model_copy(update={"series": place_in_series(release, dossier)})
