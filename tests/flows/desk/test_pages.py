"""What stands on the pages: everything a person wrote is text there, and a reviewer finds what changed."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from flows.desk import pages as desk_pages
from flows.desk import reading, release_page
from flows.desk.desk import Desk
from flows.desk.pages import environment
from flows.history import History, history
from sluice.ground.verdict import Finding, Verdict
from sluice.report.dossier import Returned
from tests.flows.desk.signing_office import adopt_keys, begun
from tests.flows.desk.visitor import Visitor, visitor
from tests.flows.house import House
from tests.golden import golden
from tests.injection.corpus import UNSEEN, WRITABLE, Page
from tests.report import pages as report_pages
from tests.report.pages import holds_together, loads_nothing

AtDesk = Callable[[str], Visitor]
PEOPLE_WRITE = "  ".join(WRITABLE)


def injected(visitor: Visitor, path: str) -> list[str]:
    answer = visitor.get(path)
    assert answer.status_code == 200
    return Page(answer.text).injected


def test_every_page_is_whole_and_loads_nothing_but_its_style(
    at_desk: AtDesk, desk: Desk, pending: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By what `tests/report/test_contract.py` asks of a report; of each template."""
    rendered: set[str] = set()
    template = environment().get_template
    monkeypatch.setattr(
        environment(), "get_template", lambda name, *given: rendered.add(name) or template(name, *given)
    )
    amara = at_desk("amara")
    release = f"/releases/{pending.id}"
    paths = ("/", "/editions", "/ledger", "/accesses", release, f"{release}/history", f"{release}/documents")
    answers = [Visitor(desk).get("/sign-in"), amara.get("/releases/none"), *map(amara.get, paths)]
    adopt_keys(pending, tmp_path / "keys")
    answers.append(begun(amara, pending.id, "approve"))
    for answer in answers:
        holds_together(answer.text)
        loads_nothing(answer.text, "/")
        assert "default-src 'none'" in answer.headers["content-security-policy"]
    templates = {path.name for path in Path(desk_pages.__file__).parent.glob("*.j2")}
    assert rendered == templates


def test_words_of_people_are_text(at_desk: AtDesk, pending: House) -> None:
    """Comments of all who decide, before and after they are told; what is asked of a filter; what broke."""
    for name in ("amara", "jonas"):
        who = at_desk(name)
        what = {"what": "request_changes", "comment": PEOPLE_WRITE}
        assert who.send(f"/releases/{pending.id}", f"/releases/{pending.id}/act", **what).status_code == 303
    amara = at_desk("amara")
    release = f"/releases/{pending.id}"
    assert "<zz onload=zz(1)>" in Page(amara.get(release).text).text
    for path in (release, f"{release}/history", "/ledger", "/", "/accesses", "/editions"):
        assert injected(amara, path) == [], path
    for text in WRITABLE:
        for path in ("/ledger", "/accesses"):
            answer = amara.client.get(path, params={"release": text, "event": text, "person": text, "since": text})
            assert Page(answer.text).injected == []
        absent = amara.client.get(f"/releases/{text}")
        assert Page(absent.text).injected == []


def test_a_form_that_is_shown_again_holds_text(at_desk: AtDesk, pending: House) -> None:
    amara = at_desk("amara")
    for text in ("</textarea><zz onload=zz(1)>", *UNSEEN):
        answer = amara.send(
            f"/releases/{pending.id}", f"/releases/{pending.id}/act", what="reject", comment=f"{text}\u202e"
        )
        assert answer.status_code == 409
        assert Page(answer.text).injected == []
        assert not set(answer.text) & set("\x1b\u202e\u200b\x07")


def test_texts_of_documents_and_findings_are_text(
    at_desk: AtDesk, pending: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Titles, names of categories and columns, and what was asked in the last round."""

    def evil(workspace: Any, release: str) -> History:
        found = history(workspace, release)
        assert found.dossier is not None
        finding = Finding(rule=PEOPLE_WRITE, verdict=Verdict.FAIL, says=PEOPLE_WRITE, scope=PEOPLE_WRITE)
        texts = ("title", "dataset", "policy", "policy_version", "submitter", "evaluated_at")
        changed = dict.fromkeys(texts, PEOPLE_WRITE) | {
            "plan": WRITABLE,
            "notices": WRITABLE,
            "findings": (*found.dossier.findings, finding, finding),
            "returned": Returned(release=PEOPLE_WRITE, round=2, asked=WRITABLE, changes=WRITABLE),
        }
        return History(
            found.release, found.state, found.entries, found.dossier.model_copy(update=changed), found.subject, {}
        )

    monkeypatch.setattr(release_page, "history", evil)
    since = release_page.SinceEdition(PEOPLE_WRITE, WRITABLE, ())
    monkeypatch.setattr(release_page, "_since_edition", lambda *_: since)
    amara = at_desk("amara")
    shown = amara.get(f"/releases/{pending.id}").text
    assert Page(shown).injected == []
    assert "${zz}" in Page(shown).text
    monkeypatch.setattr(
        reading, "kept_documents", lambda *_: dict.fromkeys(("plan", "policy", "contract"), PEOPLE_WRITE)
    )
    assert injected(amara, f"/releases/{pending.id}/documents") == []


def test_the_queue_says_what_waits_for_whom(at_desk: AtDesk, pending: House) -> None:
    waits, others = "Waiting for you", "Waiting for others"
    mine = at_desk("amara").get("/").text
    assert pending.id in mine.partition(waits)[2].partition(others)[0]
    submitted = at_desk("emil").get("/").text
    assert pending.id in submitted.partition(others)[2]
    assert "yours" in submitted
    assert pending.id not in at_desk("noor").get("/").text
    pending.approve("amara")
    assert pending.id in at_desk("amara").get("/").text.partition(others)[2]


def test_documents_of_the_office_wait_too(at_desk: AtDesk, pending: House) -> None:
    pending.policy["rules"][0]["k"] = 7
    pending.write()
    pending.sluice("adopt", str(pending.documents / "policy.yaml"), "--as", "amara")
    assert "test-policy" in at_desk("jonas").get("/").text
    assert "test-policy" not in at_desk("amara").get("/").text


def test_the_ledger_is_filtered(at_desk: AtDesk, pending: House) -> None:
    amara = at_desk("amara")

    def rows(query: str) -> int:
        return int(amara.get(f"/ledger?{query}").text.count('<th scope="row">'))

    everything = rows("")
    assert rows("event=received") == rows(f"release={pending.id}&event=received") == 1
    assert 0 < rows("release=office") < everything
    assert 0 < rows("person=JONAS") < everything
    assert rows("since=2999-01-01") == rows("release=none") == 0
    assert rows("before=3") == 2
    assert amara.get("/ledger?before=x").status_code == 400


def test_long_ledgers_are_shown_in_pages(at_desk: AtDesk, pending: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "_MOST_ROWS", 2)
    amara = at_desk("amara")
    shown = amara.get("/ledger?person=a")
    earlier = shown.text.partition('href="/ledger?')[2].partition('"')[0].replace("&amp;", "&")
    assert "person=a" in earlier
    first, second = (page.count('<th scope="row">') for page in (shown.text, amara.get(f"/ledger?{earlier}").text))
    assert first == second == 2


def test_the_page_says_what_changed_since_the_edition_before(desk_after: Desk, published: House) -> None:
    published.definition["plan"][-1]["window"] = 0.3
    published.new_edition()
    published.release()
    lines = report_pages.Page(visitor(desk_after, "amara").get(f"/releases/{published.id}").text).lines
    assert "definition, plan.3.window: 0.2, now 0.3" in lines
    golden([line for line in lines if line.startswith(("Since the last edition", "the data"))])
