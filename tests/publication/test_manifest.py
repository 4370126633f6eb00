"""The manifest: what it says of a release, and all that it must not say."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sluice.ground.errors import DataError
from sluice.ground.verdict import Finding, Verdict
from sluice.publication.manifest import GivenApproval, LedgerHead, PublishedFile, build_manifest, read_manifest, summary
from sluice.report.dossier import Dossier, RecordsView
from tests.golden import golden

FINDINGS = (
    Finding(rule="k_anonymity", verdict=Verdict.PASS, says="Every class has 7 people.", observed=7.0, limit=5.0),
    Finding(
        rule="prediction", verdict=Verdict.FAIL, scope="income", says="x", observed=0.123456, waiver="amara until x: y"
    ),
    Finding(rule="linkage", verdict=Verdict.UNKNOWN, says="not informative", binding=False),
)
DOSSIER = Dossier(
    release="fair-0123456789ab",
    name="fair",
    title="Fair",
    dataset="fair",
    contract_version="1",
    policy="public use file",
    policy_version="2",
    submitter="submitter-name",
    evaluated_at="2026-11-21T04:31:00+00:00",
    verdict=Verdict.PASS,
    findings=FINDINGS,
    plan=("Noise was added to income.",),
    approvals_needed="2 people",
    records_original=987654,
    earlier_attempts=0,
    minimum_cell=10,
    hashes={"policy": "b" * 64, "data": "a" * 64},
    versions={"sluice": "0.1.0", "numpy": "2.4.0"},
    view=RecordsView(records_holdout=1000, records_released=5366),
)
APPROVAL = GivenApproval(who="amara", role="methodologist", at="2026-11-21T05:00:00+00:00", identity="account")
HEAD = LedgerHead(seq=12, hash="f" * 64, size=12, root="e" * 64)
FILES = [
    PublishedFile(path="report.html", sha256="c" * 64, bytes=7),
    PublishedFile(path="data.csv", sha256="a" * 64, bytes=120, rows=5366),
]


def build() -> dict[str, Any]:
    return json.loads(json.dumps(build_manifest(DOSSIER, [APPROVAL], FILES, HEAD), allow_nan=False))


def test_the_manifest_says_what_was_published_and_who_allowed_it_and_no_more() -> None:
    """What is added to this golden file must be weighed first: the manifest is public."""
    golden(json.dumps(build(), indent=1))
    assert build()["hashes"] == {"data": "a" * 64, "policy": "b" * 64}
    assert build()["ledger"] == HEAD.model_dump()
    assert [file["sha256"] for file in build()["files"]] == ["a" * 64, "c" * 64]


@pytest.mark.parametrize("secret", ["987654", "submitter-name", "0.123456", "seed", "vault", "://"])
def test_the_manifest_keeps_quiet(secret: str) -> None:
    assert secret not in json.dumps(build())


@given(st.lists(st.tuples(st.sampled_from(Verdict), st.booleans(), st.none() | st.just("w")), max_size=20))
def test_no_finding_is_lost_in_the_summary(given_findings: list[tuple[Verdict, bool, str | None]]) -> None:
    findings = [Finding(rule="r", verdict=v, says="s", binding=b, waiver=w) for v, b, w in given_findings]
    counted = summary(findings)
    assert sum(counted["deciding"].values()) + counted["reported_only"] == len(findings)
    assert len(counted["waived"]) == sum(w is not None for _, _, w in given_findings)


def test_the_same_release_makes_the_same_bytes_in_any_order_of_its_files() -> None:
    again = build_manifest(DOSSIER, [APPROVAL], FILES[::-1], HEAD)
    assert json.dumps(again) == json.dumps(build())


@pytest.mark.parametrize("wrong", [{"identity": "guessed"}, {"who": None}, {"seed": "1"}])
def test_an_approval_of_another_form_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        GivenApproval.model_validate({**APPROVAL.model_dump(), **wrong})


def test_a_manifest_is_read_back() -> None:
    manifest, head = read_manifest(json.dumps(build()).encode())
    assert (manifest, head) == (build(), HEAD)


@pytest.mark.parametrize(
    "change",
    [{"seq": 0}, {"seq": "12"}, {"seq": True}, {"seq": 12.5}, {"root": "E" * 64}, {"root": "e" * 63}, {"more": 1}],
)
def test_a_ledger_that_is_not_in_its_form_is_refused(change: dict[str, Any]) -> None:
    manifest = build()
    manifest["ledger"] |= change
    with golden.raises(DataError):
        read_manifest(json.dumps(manifest).encode())
