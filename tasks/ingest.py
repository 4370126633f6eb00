"""Ingest and validate: from the source into the vault, and whether the data are what their contract says.

They come batch by batch, typed by the contract, put in order, counted and hashed, and are validated record by record
and as a whole.
"""

import os
from collections.abc import Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from schemas.checks.expectations_run import check_batch
from schemas.checks.frame_check import check_frame
from schemas.checks.profile import Profile
from schemas.checks.sentinels import check_sentinels
from sluice.custody.edition_order import before, line_of
from sluice.custody.ledger_entry import last
from sluice.custody.states import State
from sluice.custody.vault import Vault
from sluice.custody.workspace import open_workspace
from sluice.documents.document_reading import document_bytes
from sluice.ground.durable import sha256_of
from sluice.ground.verdict import Finding, Verdict, decide
from sluice.sources.permission import meaning_of, permitted_file
from tasks.flow_run import begin_run, suspended_for
from tasks.release.crashed_measures import findings_of
from tasks.release.decisions.adopted_documents import refuse_unadopted
from tasks.release.documented_release import DocumentedRelease, Release, recorded_release, release_id, variables_as_json
from tasks.release.editions.current_edition import refuse_foreign_name, refuse_nested_shelf
from tasks.release.intake.source_counts import refuse_hopeless_source
from tasks.release.intake.staging import reference_period, set_aside, stage
from tasks.release.product import AnyProduct, AnyRelease
from tasks.release.products import load_product
from tasks.release.run_notes import remember_definition
from tasks.step import step


@step
def open_documents(definition: str, rehearse: bool = False) -> AnyProduct:
    """The documents, loaded and cross-checked, before the source is touched; but for a rehearsal, adopted ones."""
    product = load_product(Path(definition), open_workspace())
    if not rehearse:
        refuse_unadopted(product, (product.definition.owner,))  # who runs it is asked before publication
    return product


@step
def known_release(product: AnyProduct, release_id: str | None) -> AnyRelease | None:
    """The release to go on with: the one that is named, or the one that this run was suspended for."""
    begin_run(product.workspace)
    wanted = release_id or suspended_for(product.workspace)
    return recorded_release(product, wanted) if wanted else None


@step
def ingest(product: AnyProduct) -> AnyRelease:
    """Stage the source. The same data under the same documents are the same release, wherever it stands by now."""
    for path in _population_lists(product):  # without one nothing could pass, whatever the records are
        permitted_file(Path(), path, "population")
    refuse_hopeless_source(product, _secret)
    data, variables, remarks = stage(product, _secret)
    release = Release(product, release_id(product, data), data, data, None, variables)
    product.refuse_unfit_data(release)
    remember_definition(release)
    if not release.needs_judgement:
        return recorded_release(product, release.id)
    period = reference_period(release)
    refuse_nested_shelf(product, product.definition.target)
    refuse_foreign_name(product, product.definition.target, period is not None)
    release, vault = set_aside(release), product.workspace.vault
    for document in (product.contract, product.policy, product.written):  # for whoever asks when they have changed
        vault.keep_bytes(document_bytes(document), ".json")
    release.record(
        State.RECEIVED,
        definition=product.definition.name,
        product=product.definition.product,
        dataset=product.contract.dataset,
        **product.hashes,
        connection=vault.pseudonym("connection", meaning_of(product.definition.source)),
        population=[_pseudonym_of_list(vault, path) for path in _population_lists(product)],
        target=str(product.definition.target),
        period=period,
        variables=vault.keep_bytes(variables_as_json(variables), ".json"),
        data=asdict(release.data),
        original=asdict(release.original),
        holdout=asdict(release.holdout) if release.holdout else None,
        reading=[remark.model_dump() for remark in remarks],
    )
    return release


def _population_lists(product: AnyProduct) -> list[str]:
    """Those that policy and plan name."""
    return list(dict.fromkeys((*product.policy.population_lists, *product.definition.population_lists)))


def _pseudonym_of_list(vault: Vault, path: str) -> str:
    """Of the content of a population list. Raises DocumentError or DataError."""
    with permitted_file(Path(), path, "population").open("rb") as file:
        return vault.pseudonym("population", sha256_of(file))


def _secret(name: str) -> str | None:
    """A variable of the environment, or, where there is a Prefect server, what its secret block of this name holds."""
    block = name.removeprefix("block:")
    if block == name or "PREFECT_API_URL" not in os.environ:
        return os.environ.get(name)
    from prefect.blocks.system import Secret

    load: Any = Secret.load  # its types know nothing of _sync
    try:
        return str(load(block, _sync=True).get())
    except ValueError:  # there is no such block
        return None


@step
def validate(release: DocumentedRelease) -> list[Finding]:
    """The findings of the contract; the state becomes `validated` when nothing in them stands against going on."""
    staged, contract = cache(release.read_staged), release.product.contract
    findings = [
        *findings_of("contract", "contract", lambda: check_frame(staged(), contract)),
        *findings_of("sentinels", "contract", lambda: check_sentinels(staged(), contract)),
        *findings_of("expectations", "contract", lambda: _expectations(release, staged())),
    ]
    if is_sound(findings):
        release.record(State.VALIDATED, checks=len(findings))
    return findings


def is_sound(findings: Sequence[Finding]) -> bool:
    """Whether masking may begin: data that broke their contract would make every later figure meaningless."""
    return decide(findings) is Verdict.PASS


def _expectations(release: DocumentedRelease, staged: pd.DataFrame) -> list[Finding]:
    """Great Expectations, on the records that were staged: what is released is what is checked."""
    docs = release.product.workspace.data_docs / release.product.definition.name
    earlier = _profile_before(release)
    return check_batch(release.product.contract, staged, profile=earlier, docs=docs)


def _profile_before(release: DocumentedRelease) -> Profile | None:
    """Of the edition on the shelf that comes before this one; what was withdrawn is nothing to be like."""
    earlier = before(*line_of(release.product.workspace.ledger.histories(), release.id))
    published = last(earlier.entries, State.PUBLISHED) if earlier else None
    if published is None:
        return None
    kept = release.vault.verify(published.body["profile"], ".json")
    return Profile.model_validate_json(kept.read_bytes())
