"""The gate: only what passed waits for approval, and the ledger says why anything else does not."""

from collections.abc import Callable

import pytest
from markdown_it import MarkdownIt

from sluice.custody.states import State
from sluice.ground.verdict import Finding, Verdict
from tasks.decide import _show_in_prefect, decide
from tasks.record_steps import mask
from tasks.release.decisions.board import board
from tasks.release.decisions.under_review import subject
from tasks.release.outcome import Outcome
from tasks.release.product import AnyRelease
from tasks.report import report
from tests.flows.house import House
from tests.report.pages import dossier

Bring = Callable[[House], AnyRelease]

FINE = Finding(rule="k_anonymity", verdict=Verdict.PASS, says="Fine.")


@pytest.mark.parametrize("verdict", list(Verdict))
def test_only_what_passed_waits_for_people(house: House, validated: Bring, verdict: Verdict) -> None:
    release = validated(house)
    finding = FINE.model_copy(update={"verdict": verdict})
    decide(release, report(release, [finding], mask(release)))
    follows = {Verdict.PASS: State.PENDING_REVIEW, Verdict.REVIEW: State.NEEDS_DECISION}
    assert release.state is follows.get(verdict, State.BLOCKED)


def test_the_ledger_has_the_codes_of_the_findings_that_block(house: House, validated: Bring) -> None:
    release = validated(house)
    failed = {"verdict": Verdict.FAIL}
    findings = [
        FINE,
        Finding(rule="suda", verdict=Verdict.REVIEW, says="Perhaps.", code="suda.share"),
        FINE.model_copy(update=failed | {"code": "k_anonymity.share"}),
        FINE.model_copy(update=failed | {"code": "k_anonymity.share", "scope": "region"}),
        FINE.model_copy(update=failed | {"code": "l_diversity.share", "waiver": "Somebody, until then."}),
        FINE.model_copy(update=failed | {"rule": "own"}),
    ]
    decide(release, report(release, findings, mask(release)))
    codes = ["k_anonymity.share", "own", "suda.share"]
    assert release.entries()[-1].body["codes"] == codes
    assert Outcome.of(release).codes == (*codes,)
    (stopped,) = board(release.product.workspace).stopped
    assert stopped.codes == (*codes,)


def test_a_row_of_before_codes_were_recorded_is_read(house: House, received: Bring) -> None:
    release = received(house)
    release.record(State.BLOCKED, verdict="FAIL", says="Blocked.", further_reasons=[], report="0", dossier="0")
    assert Outcome.of(release).codes == ()
    assert [each.codes for each in board(release.product.workspace).stopped] == [()]
    assert release.product.workspace.ledger.verify() == []


def test_data_that_were_not_masked_cannot_be_approved(house: House, received: Bring) -> None:
    release = received(house)
    decide(release, report(release, [FINE]))
    assert release.state is State.BLOCKED
    assert "subject" not in release.entries()[-1].body


def test_a_rehearsal_asks_nobody(house: House, validated: Bring) -> None:
    release = validated(house)
    decide(release, report(release, [FINE], mask(release)), rehearse=True)
    assert release.state is State.EVALUATED


def test_a_rehearsal_of_broken_data_leaves_a_note(house: House, received: Bring) -> None:
    release = received(house)
    decide(release, report(release, [FINE.model_copy(update={"verdict": Verdict.FAIL})]), rehearse=True)
    assert release.entries()[-1].event == "note"
    assert release.entries()[-1].body["verdict"] == "FAIL"


def test_approvals_are_bound_to_what_was_reported(house: House, validated: Bring) -> None:
    release = validated(house)
    reported = report(release, [FINE], mask(release))
    decide(release, reported)
    bound = subject(release)
    assert {"report": bound.report, "dossier": bound.dossier} == reported.kept
    assert bound.plan == reported.dossier.hashes["plan"]


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """What an artifact is made of, as in a run of Prefect's."""
    given: dict[str, str] = {}
    monkeypatch.setattr("tasks.decide.in_a_run", lambda: True)
    monkeypatch.setattr("prefect.artifacts.create_markdown_artifact", lambda **parts: given.update(parts))
    return given


def test_prefect_shows_a_title_as_text(shown: dict[str, str]) -> None:
    title = "![x](http://zz.example/x.png) <script>\n# **approved**"
    _show_in_prefect(dossier(FINE, title=title), "/srv/reports/x.html")
    first = shown["markdown"].partition("\n")[0]
    tokens = [child for token in MarkdownIt("commonmark").parse(first) for child in token.children or ()]
    assert {token.type for token in tokens} <= {"text", "text_special", "strong_open", "strong_close"}
    assert "![x](http://zz.example/x.png) <script> # **approved**" in "".join(token.content for token in tokens)


def test_prefect_learns_which_rules_fail_and_no_figure(shown: dict[str, str]) -> None:
    """Whoever reads Prefect's pages need not be one of those who may read the report."""
    alone = Finding(
        rule="k_anonymity", stage="masked", scope="age=97", verdict=Verdict.FAIL, observed=2, limit=5,
        says="2 of 7331 people are alone.",
    )  # fmt: skip
    _show_in_prefect(dossier(alone, FINE.model_copy(update={"rule": "suda"})), "https://reports.example/x.html")
    assert "| FAIL | masked | k\\_anonymity |" in shown["markdown"]
    assert "1 of 2 rules let it pass." in shown["markdown"]
    assert "(https://reports.example/x.html)" in shown["markdown"]
    assert not [figure for figure in ("7331", "97", "alone") if figure in str(shown)]
